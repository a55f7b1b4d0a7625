#include "lib/export/tar.h"

#include <string.h>

enum { BLOCK = 512 };

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* In octal digits; what is longer (8 GiB) in binary, as GNU's and all others read it. */
static void put_size(char field[12], uint64_t n)
{
    if (n < (uint64_t)1 << 33) {
        snprintf(field, 12, "%011llo", (unsigned long long)n);
        return;
    }
    field[0] = (char)0x80;
    for (int i = 11; i > 3; i--, n >>= 8)
        field[i] = (char)(n & 0xff);
}

void mt_tar_begin(FILE *out, const char *name, uint64_t n)
{
    struct header h = {.mode = "0000644",
                       .uid = "0000000",
                       .gid = "0000000",
                       .mtime = "00000000000",
                       .sum = "       ",
                       .type = '0',
                       .magic = "ustar",
                       .version = {'0', '0'}};
    unsigned sum = 0;
    snprintf(h.name, sizeof h.name, "%s", name);
    put_size(h.size, n);
    h.sum[7] = ' ';
    for (size_t i = 0; i < sizeof h; i++)
        sum += ((const unsigned char *)&h)[i];
    snprintf(h.sum, 7, "%06o", sum & 0777777);
    fwrite(&h, 1, sizeof h, out);
}

void mt_tar_pad(FILE *out, uint64_t n)
{
    static const char zeros[BLOCK];
    if (n % BLOCK)
        fwrite(zeros, 1, BLOCK - n % BLOCK, out);
}

void mt_tar_end(FILE *out)
{
    static const char zeros[2 * BLOCK];
    fwrite(zeros, 1, sizeof zeros, out);
}
