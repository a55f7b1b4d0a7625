#include "lib/analysis/oom_settings.h"

#include "gen/queries.h"

enum {
    BLOCK = 512,
    MIB = 1 << 20,
    SPARE = 20 * MIB /* as much a block that stays whole may have */
};

static int bits_of(uint64_t v)
{
    return 63 - __builtin_clzll(v | 1);
}

static void keep(struct mt_oom_settings *s, int64_t mib, int64_t value)
{
    if (value < 0)
        return;
    if (!mib)
        s->max_split_b = value;
    else if (mib > 0 && !(mib & (mib - 1)) && bits_of((uint64_t)mib) < MT_OOM_INTERVALS)
        s->divisions[bits_of((uint64_t)mib)] = value;
}

enum mt_status mt_oom_settings_load(struct mt_db *db, const struct mt_run *run,
                                    struct mt_oom_settings *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (struct mt_oom_settings){0};
    MT_TRY(mt_db_query(db, MT_Q_ALLOCATOR_SETTINGS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        keep(out, mt_stmt_int(s, 0), mt_stmt_int(s, 1));
    }
}

int64_t mt_oom_round(const struct mt_oom_settings *settings, int64_t size_b)
{
    int64_t whole = (size_b + BLOCK - 1) / BLOCK * BLOCK;
    int power = bits_of((uint64_t)size_b), at = power - bits_of(MIB);
    at = at < 0 ? 0 : at < MT_OOM_INTERVALS ? at : MT_OOM_INTERVALS - 1;
    int64_t n = settings->divisions[at];
    if (size_b <= BLOCK)
        return BLOCK;
    if (n <= 1 || n > size_b / BLOCK || size_b == BLOCK * n || !(size_b & (size_b - 1)))
        return whole;
    int64_t part = ((int64_t)1 << power) >> bits_of((uint64_t)n);
    return (size_b + part - 1) / part * part;
}

bool mt_oom_takes(const struct mt_oom_settings *settings, int64_t block_b, int64_t hole_b)
{
    int64_t most = settings->max_split_b;
    if (hole_b < block_b)
        return false;
    return !most || (block_b < most ? hole_b < most : hole_b < block_b + SPARE);
}
