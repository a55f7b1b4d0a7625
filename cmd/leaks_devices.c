/* memtool leaks: the devices that are not shown. A leak on one of them is a leak of the run. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include <stdlib.h>

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

static enum mt_status judge_device(struct mt_allocations *lives, const struct mt_run_device *d,
                                   const struct mt_leaks_wanted *w, int64_t warmup,
                                   struct mt_leaks_answer *answer, struct mt_err *err)
{
    struct mt_leaks found = {0};
    if (!mt_allocations_are_known(d)) {
        answer->unknown = true;
        return MT_OK;
    }
    enum mt_status st = mt_leaks_find(lives, d, w->keys, w->key_n, warmup, &found, err);
    mt_leaks_answer_all(&found, w->min_b, answer);
    mt_leaks_free(&found);
    return st;
}

void mt_leaks_note_device(struct mt_report *r, const char *device,
                          const struct mt_leaks_answer *answer)
{
    if (answer->leaking)
        mt_report_note(r, "There is a leak on %s; --device %s shows it.", device, device);
    else if (answer->unknown)
        mt_report_note(r, "Cannot tell whether %s leaks; --device %s shows what is known.", device,
                       device);
    else
        mt_report_note(r, "No leak on %s; --device %s shows it.", device, device);
}

void mt_leaks_answer_add(struct mt_leaks_answer *to, const struct mt_leaks_answer *from)
{
    to->leaking |= from->leaking;
    to->unknown |= from->unknown;
}

enum mt_status mt_leaks_other_devices(struct mt_allocations *lives,
                                      const struct mt_run_device *shown,
                                      const struct mt_leaks_wanted *w, int64_t warmup,
                                      struct mt_report *r, struct mt_leaks_answer *answer,
                                      struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    bool few = !mt_leaks_can_tell((int64_t)lives->steps.all.n, warmup);
    enum mt_status st = mt_run_devices(lives->db, lives->run, &all, &n, err);
    for (size_t i = 0; i < n && st == MT_OK; i++) {
        struct mt_leaks_answer one = {.unknown = few};
        if (all[i].id == shown->id)
            continue;
        st = judge_device(lives, &all[i], w, warmup, &one, err);
        mt_leaks_note_device(r, all[i].name, &one);
        mt_leaks_answer_add(answer, &one);
    }
    free(all);
    return st;
}
