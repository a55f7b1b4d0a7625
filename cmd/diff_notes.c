/* What diff says of two runs beside its figures. */
#include "cmd/by.h"
#include "cmd/common.h"
#include "cmd/diff.h"
#include "lib/base/human.h"
#include "lib/model/kind_words.h"
#include "lib/render/run_notes.h"
#include <string.h>

static bool by_lines(const struct mt_diff *d)
{
    return mt_group_has(d->keys, d->key_n, MT_BY_SITE) ||
           mt_group_has(d->keys, d->key_n, MT_BY_LINE);
}

void mt_diff_note_lines(const struct mt_diff *live, const bool lines[2], struct mt_report *r)
{
    const struct mt_diff_side *side = live->side;
    if (lines[0] == lines[1]) {
        if (lines[0] && by_lines(live))
            mt_report_note(r, MT_NOTE_OF_LINES);
        return;
    }
    mt_report_note(r,
                   "Sites of %s are lines of code, those of %s, which was recorded without stacks, "
                   "are top ops: %s.",
                   side[lines[1]].run.name, side[lines[0]].run.name,
                   by_lines(live) ? "they cannot be matched; --by top,scope can"
                                  : "both are compared by top op and scope");
}

bool mt_diff_is_one(const struct mt_diff *d)
{
    const struct mt_run *a = &d->side[0].run, *b = &d->side[1].run;
    return mt_run_same(a, b) && strcmp(a->name, b->name) == 0;
}

void mt_diff_note(const struct mt_diff *d, bool per_step, struct mt_report *r)
{
    const struct mt_diff_side *a = &d->side[0], *b = &d->side[1];
    char first[MT_HUMAN_LONG], second[MT_HUMAN_MAX];
    struct mt_by keys = {.n = d->key_n};
    memcpy(keys.v, d->keys, sizeof d->keys);
    int64_t in_both =
        d->match_n[MT_MATCH_SAME] + d->match_n[MT_MATCH_FORM] + d->match_n[MT_MATCH_NAME];
    if (!mt_formats_alike(a->run.format, b->run.format))
        mt_note_recorders(r, &a->run, &b->run);
    bool one_device = strcmp(a->device.name, b->device.name) == 0;
    if (!one_device && !mt_diff_of_processes(d))
        mt_report_note(r, "Compared is %s on %s with %s on %s.", a->run.name, a->device.name,
                       b->run.name, b->device.name);
    bool one = mt_diff_is_one(d);
    if (mt_run_same(&a->run, &b->run))
        mt_report_note(r, "Both are the same %s.", one ? "run" : "recording");
    if (a->step_n != b->step_n && !per_step && !mt_diff_of_processes(d))
        mt_report_note(r, "%s has %s, %s %s: %s.", a->run.name,
                       mt_human_plural(a->step_n, "step", first), b->run.name,
                       mt_human_count(b->step_n, second),
                       a->step_n && b->step_n ? "compare totals with --per-step"
                                              : "growth per step cannot be compared");
    for (int s = 0; s < (one && one_device ? 1 : 2); s++) {
        const struct mt_diff_side *side = &d->side[s];
        /* said by the run's notes */
        unsigned gaps = side->gaps & ~(unsigned)(MT_GAP_END | MT_GAP_REST | MT_GAP_MEANING |
                                                 MT_GAP_THREADS | MT_GAP_YIELDED);
        mt_report_narrowed(r, &side->run, &side->device);
        mt_by_note_frames(&keys, &side->run, r);
        mt_report_older(r, &side->run, &side->device);
        unsigned apart = mt_device_is_bounded(&side->device) ? 0 : MT_ABOUT_UNSEEN;
        mt_notes_of_run(r, side->run.name, &side->run.notes, MT_ABOUT_ALL & ~apart);
        if (gaps)
            mt_report_note(r, "%s %s: its peak may have been higher%s.", side->run.name,
                           mt_gaps_text(gaps), gaps & MT_GAPS_OF_LEVELS ? ", or lower" : "");
    }
    mt_diff_note_older(d, r);
    if (in_both * 2 < d->match_n[MT_MATCH_ONLY])
        mt_report_note(r, "The runs have little in common: %s of %s are in only one of them.",
                       mt_human_count(d->match_n[MT_MATCH_ONLY], second),
                       mt_human_plural(in_both + d->match_n[MT_MATCH_ONLY], "row", first));
}
