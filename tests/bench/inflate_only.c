/*
 * inflate_only.c - the yardstick of `make bench`: decompresses a .gz with zlib's inflate() and
 * drops the result. Prints the number of decompressed bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BLOCK (256 << 10)

static unsigned char in[BLOCK], out[BLOCK];

int main(int argc, char **argv)
{
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    z_stream z = {0};
    if (f == NULL || inflateInit2(&z, 15 + 16) != Z_OK) {
        fprintf(stderr, "usage: inflate_only FILE.gz\n");
        return 2;
    }
    setvbuf(f, NULL, _IONBF, 0);
    unsigned long long total = 0;
    int status = Z_OK;
    while ((z.avail_in = (uInt)fread(in, 1, BLOCK, f)) > 0) {
        z.next_in = in;
        do {
            if (status == Z_STREAM_END)
                inflateReset(&z); /* the next member */
            z.next_out = out;
            z.avail_out = BLOCK;
            status = inflate(&z, Z_NO_FLUSH);
            total += BLOCK - z.avail_out;
        } while ((status == Z_OK && z.avail_out == 0) ||
                 (status == Z_STREAM_END && z.avail_in > 0));
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            break;
    }
    inflateEnd(&z);
    fclose(f);
    printf("%llu\n", total);
    return status == Z_STREAM_END ? 0 : 1;
}
