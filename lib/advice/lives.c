#include "lib/advice/lives.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

struct mt_lives mt_lives_copy(const struct mt_lives *l)
{
    struct mt_lives copy = {0};
    mt_vec_room(&copy.all, l->all.n);
    for (size_t i = 0; i < l->all.n; i++)
        *mt_vec_push(&copy.all) = l->all.v[i];
    return copy;
}

int64_t mt_lives_peak(const struct mt_lives *l, int64_t base_b, int64_t record_n, int64_t *record)
{
    int64_t *changes = mt_alloc(((size_t)record_n + 1) * sizeof *changes), level = base_b,
            peak = base_b, at = -1;
    for (size_t i = 0; i < l->all.n; i++) {
        const struct mt_life *life = &l->all.v[i];
        int64_t from = life->from < 0 ? 0 : life->from;
        int64_t to = life->to < record_n ? life->to : record_n;
        if (from >= to)
            continue;
        mt_wrap_inc(&changes[from], life->bytes);
        changes[to] = mt_wrap_sub(changes[to], life->bytes);
    }
    for (int64_t i = 0; i < record_n; i++) {
        mt_wrap_inc(&level, changes[i]);
        if (level > peak) {
            peak = level;
            at = i;
        }
    }
    free(changes);
    if (record)
        *record = at;
    return peak;
}
