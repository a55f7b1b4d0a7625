#include "lib/base/gzip.h"

#include "lib/base/mem.h"
#include <isa-l/igzip_lib.h>
#include <stdint.h>

enum { LEVEL = 2, LEVEL_BYTES = ISAL_DEF_LVL2_DEFAULT, OUT = 1 << 16, MOST = 1 << 30 };

struct mt_gzip {
    struct isal_zstream z;
    FILE *out;
    uint8_t level[LEVEL_BYTES], bytes[OUT];
};

struct mt_gzip *mt_gzip_open(FILE *out)
{
    struct mt_gzip *z = mt_alloc(sizeof *z);
    z->out = out;
    isal_deflate_init(&z->z);
    z->z.level = LEVEL;
    z->z.level_buf = z->level;
    z->z.level_buf_size = LEVEL_BYTES;
    z->z.gzip_flag = IGZIP_GZIP;
    return z;
}

/* Takes what is next in, and writes what comes of it. */
static void deflate(struct mt_gzip *z)
{
    do {
        z->z.next_out = z->bytes;
        z->z.avail_out = OUT;
        isal_deflate(&z->z);
        fwrite(z->bytes, 1, OUT - z->z.avail_out, z->out);
    } while (z->z.avail_out == 0);
}

void mt_gzip_write(struct mt_gzip *z, const void *bytes, size_t n)
{
    const uint8_t *next = bytes;
    while (n) {
        uint32_t part = n < MOST ? (uint32_t)n : MOST;
        z->z.next_in = (uint8_t *)(uintptr_t)next;
        z->z.avail_in = part;
        deflate(z);
        next += part;
        n -= part;
    }
}

void mt_gzip_close(struct mt_gzip *z)
{
    z->z.avail_in = 0;
    z->z.end_of_stream = 1;
    deflate(z);
    free(z);
}
