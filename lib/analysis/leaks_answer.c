#include "lib/analysis/leaks_answer.h"

#include "lib/base/wrap.h"

bool mt_leaks_large_enough(const struct mt_leak *l, int64_t min_b)
{
    return l->growth_steps ? mt_leak_rate_b(l) >= (double)min_b : l->at_end_b >= min_b;
}

void mt_leaks_answer_all(const struct mt_leaks *found, int64_t min_b,
                         struct mt_leaks_answer *answer)
{
    for (size_t i = 0; i < found->rows.n; i++) {
        const struct mt_leak *l = &found->rows.v[i];
        bool large = mt_leaks_large_enough(l, min_b);
        answer->leaking |= l->verdict == MT_VERDICT_LEAK && large;
        answer->unknown |= l->verdict == MT_VERDICT_CANDIDATE && l->growth_steps && large;
    }
    answer->unknown |= found->gaps != 0;
}

void mt_leaks_answer_add(struct mt_leaks_answer *to, const struct mt_leaks_answer *from)
{
    to->leaking |= from->leaking;
    to->unknown |= from->unknown;
}

enum mt_status mt_leaks_answer_device(struct mt_allocations *blocks,
                                      const struct mt_run_device *device,
                                      const enum mt_group_key *keys, int key_n, int64_t min_b,
                                      int64_t warmup, struct mt_leaks_answer *out,
                                      struct mt_err *err)
{
    struct mt_leaks found = {0};
    *out = (struct mt_leaks_answer){.unknown =
                                        !mt_allocations_are_known(device) ||
                                        !mt_leaks_can_tell((int64_t)blocks->steps.all.n, warmup)};
    if (!mt_allocations_are_known(device))
        return MT_OK;
    enum mt_status st = mt_leaks_find(blocks, device, keys, key_n, warmup, &found, err);
    mt_leaks_answer_all(&found, min_b, out);
    mt_leaks_free(&found);
    return st;
}

struct mt_leaks_sum mt_leaks_sum(const struct mt_leaks *found, enum mt_verdict verdict,
                                 const int64_t *min_b)
{
    struct mt_leaks_sum s = {0};
    for (size_t i = 0; i < found->rows.n; i++) {
        const struct mt_leak *l = &found->rows.v[i];
        if (l->verdict != verdict || (min_b && !mt_leaks_large_enough(l, *min_b)))
            continue;
        s.rows++;
        s.growing_n += l->growth_steps > 0;
        s.doubtful_n += l->growth_steps > 0 && l->doubt_b;
        mt_wrap_inc(&s.at_end_b, l->at_end_b);
        s.per_step_b += mt_leak_rate_b(l);
        s.per_step_n += mt_leak_rate_n(l);
    }
    return s;
}
