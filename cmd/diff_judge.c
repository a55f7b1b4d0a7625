/* memtool diff --exit-code: says whether NEW got worse. */
#include "cmd/common.h"
#include "cmd/diff.h"

/* " on cuda:1"; of a device that is shown "". */
static const char *on(struct mt_report *r, const char *device)
{
    return device ? mt_report_textf(r, " on %s", device) : "";
}

static void note(const char *what, enum mt_diff_answer answer, const char *device,
                 struct mt_report *r)
{
    if (answer == MT_DIFF_OPEN)
        mt_report_note(r, "Cannot tell whether the %s%s got worse.", what, on(r, device));
    else if (answer == MT_DIFF_WORSE && device)
        mt_report_note(r, "The %s%s got worse; --device %s shows it.", what, on(r, device), device);
}

/* device: its name where it is not shown, else NULL. */
static enum mt_diff_answer tell(const struct mt_diff_verdict *v, const char *device,
                                struct mt_report *r)
{
    note("peak", v->peak, device, r);
    if (v->peak == MT_DIFF_OPEN && v->steps_turn)
        mt_report_note(
            r,
            "The runs%s differ in steps: with equally many, their peaks could compare differently.",
            on(r, device));
    note("growth per step", v->growth, device, r);
    if (device && v->peak == MT_DIFF_NOT_WORSE && v->growth == MT_DIFF_NOT_WORSE)
        mt_report_note(r, "Nothing got worse on %s; --device %s shows it.", device, device);
    return mt_diff_worst(v->peak, v->growth);
}

enum mt_status mt_diff_tell(const struct mt_diff *d, const struct mt_diff_threshold *t,
                            bool one_device, int64_t warmup, struct mt_report *r,
                            enum mt_diff_answer *answer, struct mt_err *err)
{
    struct mt_diff_verdict shown;
    struct mt_diff_verdicts others = {0};
    enum mt_status st = mt_diff_judge(d, t, &shown, err);
    if (st == MT_OK && !one_device)
        st = mt_diff_judge_others(d, t, warmup, &others, err);
    if (st == MT_OK)
        *answer = tell(&shown, NULL, r);
    for (size_t i = 0; i < others.v.n && st == MT_OK; i++)
        *answer = mt_diff_worst(*answer, tell(&others.v.v[i], others.v.v[i].device, r));
    mt_vec_free(&others.v);
    return st;
}
