/* memtool diff --exit-code: says whether NEW got worse. */
#include "cmd/common.h"
#include "cmd/diff.h"
#include "lib/base/human.h"
#include <math.h>
#include <string.h>

/* " on cuda:1"; of a device that is shown "". */
static const char *on(struct mt_report *r, const char *device)
{
    return device ? mt_report_textf(r, " on %s", device) : "";
}

static const char *bytes_text(struct mt_report *r, double bytes, bool exact)
{
    char text[MT_HUMAN_LONG];
    int64_t whole = (int64_t)fmin(ceil(bytes), 9e18);
    return mt_report_text(r,
                          exact ? mt_human_with_exact(whole, text) : mt_human_bytes(whole, text));
}

/* "0", "5 B", "5 % (847.4 KiB)" */
static const char *tolerance_text(struct mt_report *r, const struct mt_diff_levels *levels,
                                  const struct mt_diff_threshold *t, bool exact)
{
    char text[MT_HUMAN_MAX];
    if (t->percent >= 0)
        return mt_report_textf(r, "%s %% (%s)", mt_human_number(t->percent, text),
                               bytes_text(r, levels->was * t->percent / 100, exact));
    return t->bytes ? bytes_text(r, (double)t->bytes, exact) : "0";
}

/* What got worse, by how much, and what would have been tolerated. */
static void note(const char *what, enum mt_diff_answer answer, const struct mt_diff_levels *levels,
                 const struct mt_diff_threshold *t, const char *device, struct mt_report *r)
{
    if (answer == MT_DIFF_OPEN)
        mt_report_note(r, "Cannot tell whether the %s%s got worse.", what, on(r, device));
    if (answer != MT_DIFF_WORSE)
        return;
    double more = levels->is - levels->was;
    double most = t->percent >= 0 ? levels->was * t->percent / 100 : (double)t->bytes;
    bool exact = strcmp(bytes_text(r, more, false), bytes_text(r, most, false)) == 0;
    mt_report_note(r, "The %s%s got worse by %s; the tolerance is %s.%s", what, on(r, device),
                   bytes_text(r, more, exact), tolerance_text(r, levels, t, exact),
                   device ? mt_report_textf(r, " --device %s shows it.", device) : "");
}

/* device: its name where it is not shown, else NULL. */
static enum mt_diff_answer tell(const struct mt_diff_verdict *v, const struct mt_diff_threshold *t,
                                const char *device, struct mt_report *r)
{
    note("peak", v->peak, &v->peaks, t, device, r);
    if (v->peak == MT_DIFF_OPEN && v->steps_turn)
        mt_report_note(
            r,
            "The runs%s differ in steps: with equally many, their peaks could compare differently.",
            on(r, device));
    note("growth per step", v->growth, &v->rates, t, device, r);
    if (v->growth_turns)
        mt_report_note(
            r,
            "The runs%s differ in steps: over those that both have, growth compares differently.",
            on(r, device));
    if (device && v->peak == MT_DIFF_NOT_WORSE && v->growth == MT_DIFF_NOT_WORSE)
        mt_report_note(r, "Nothing got worse on %s; --device %s shows it.", device, device);
    return mt_diff_worst(v->peak, v->growth);
}

/* Why a run has no such device, nobody knows; or it is the one that is compared. */
static enum mt_diff_answer tell_missing(const struct mt_diff *d, int side, const char *device,
                                        struct mt_report *r)
{
    bool compared = strcmp(device, d->side[side].device.name) == 0;
    mt_report_note(r, "Run '%s' has no %sdevice %s: cannot tell whether that got worse.",
                   d->side[side].run.name, compared ? "further " : "", device);
    return MT_DIFF_OPEN;
}

enum mt_status mt_diff_tell(const struct mt_diff *d, const struct mt_diff_threshold *t,
                            const char *asked, int64_t warmup, struct mt_report *r,
                            enum mt_diff_answer *answer, struct mt_err *err)
{
    struct mt_diff_verdict shown;
    struct mt_diff_verdicts others = {0};
    enum mt_status st = mt_diff_judge(d, t, warmup, &shown, err);
    if (st == MT_OK)
        st = mt_diff_judge_others(d, t, asked, warmup, &others, err);
    if (st == MT_OK)
        *answer = tell(&shown, t, NULL, r);
    for (size_t i = 0; i < others.v.n && st == MT_OK; i++) {
        const struct mt_diff_verdict *v = &others.v.v[i];
        *answer = mt_diff_worst(*answer, v->missing >= 0 ? tell_missing(d, v->missing, v->device, r)
                                                         : tell(v, t, v->device, r));
    }
    if (others.has_children)
        mt_report_note(r, "Processes that the first one started are not compared: they are others "
                          "in every run.");
    mt_vec_free(&others.v);
    return st;
}
