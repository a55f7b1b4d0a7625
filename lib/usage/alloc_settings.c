#include "lib/usage/alloc_settings.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, MIB = 1 << 20, LARGE = 20 * MIB, MOST = 1 << 20 /* MiB */ };
enum { CONF = -2, EXPANDABLE = -1, MAX_SPLIT = 0 }; /* beside sizes in MiB */

static int bits_of(uint64_t v)
{
    return 63 - __builtin_clzll(v | 1);
}

static void keep(struct mt_alloc_settings *s, int64_t mib, int64_t value)
{
    if (value < 0)
        return;
    if (mib == EXPANDABLE)
        s->expandable = value;
    else if (mib == MAX_SPLIT)
        s->max_split_b = value;
    else if (mib > 0 && !(mib & (mib - 1)) && bits_of((uint64_t)mib) < MT_ALLOC_INTERVALS)
        s->divisions[bits_of((uint64_t)mib)] = value;
}

/* The number of an option of PYTORCH_CUDA_ALLOC_CONF, in MiB, as bytes; it stays as it is where it
 * is not there, or no size. */
static void read_mib(const char *conf, const char *option, int64_t *bytes)
{
    size_t n = strlen(option);
    for (const char *at = conf; (at = strstr(at, option)) != NULL; at += n) {
        int64_t mib;
        char *end;
        if ((at > conf && at[-1] != ',' && at[-1] != '"' && at[-1] != ' ') || at[n] != ':')
            continue;
        mib = strtoll(at + n + 1, &end, 10);
        if (end > at + n + 1 && mib > 0 && mib <= MOST)
            *bytes = mib * MIB;
    }
}

enum mt_status mt_alloc_settings_load(struct mt_db *db, const struct mt_run *run,
                                      struct mt_alloc_settings *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (struct mt_alloc_settings){.spare_b = LARGE, .large_b = LARGE};
    MT_TRY(mt_db_query(db, MT_Q_ALLOCATOR_SETTINGS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        if (mt_stmt_int(s, 0) == CONF) {
            read_mib(mt_stmt_text(s, 1), "large_segment_size_mb", &out->large_b);
            read_mib(mt_stmt_text(s, 1), "max_non_split_rounding_mb", &out->spare_b);
        } else
            keep(out, mt_stmt_int(s, 0), mt_stmt_int(s, 1));
    }
}

int64_t mt_alloc_round(const struct mt_alloc_settings *settings, int64_t size_b)
{
    int64_t whole = (size_b + BLOCK - 1) / BLOCK * BLOCK;
    int power = bits_of((uint64_t)size_b), at = power - bits_of(MIB);
    at = at < 0 ? 0 : at < MT_ALLOC_INTERVALS ? at : MT_ALLOC_INTERVALS - 1;
    int64_t n = settings->divisions[at];
    if (size_b <= BLOCK)
        return BLOCK;
    if (n <= 1 || n > size_b / BLOCK || size_b == BLOCK * n || !(size_b & (size_b - 1)))
        return whole;
    int64_t part = ((int64_t)1 << power) >> bits_of((uint64_t)n);
    return (size_b + part - 1) / part * part;
}

bool mt_alloc_takes(const struct mt_alloc_settings *settings, int64_t block_b, int64_t hole_b)
{
    int64_t most = settings->max_split_b;
    if (hole_b < block_b)
        return false;
    return !most || (block_b < most ? hole_b < most : hole_b < block_b + settings->spare_b);
}
