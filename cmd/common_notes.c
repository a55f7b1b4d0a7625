/* What reports say of the runs that they are about. */
#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/model/kind_words.h"
#include "lib/render/run_notes.h"
#include "lib/run/knows.h"
#include <stdlib.h>
#include <string.h>

void mt_report_categories(struct mt_report *report, const struct mt_run *run)
{
    if (run->kind == MT_RUN_SNAPSHOT)
        mt_report_note_once(report, MT_NOTE_BY_FRAMES);
    else if (run->kind == MT_RUN_TRACE && mt_run_notes_lost(&run->notes))
        mt_report_note_once(
            report, mt_report_textf(report,
                                    "Categories of %s are less sure: what a block is for is told "
                                    "by when it is freed, too, and frees may be missing.",
                                    run->name));
}

void mt_report_narrowed(struct mt_report *report, const struct mt_run *run,
                        const struct mt_run_device *device)
{
    if (device->only && mt_device_categorizes(device))
        mt_report_categories(report, run);
}

void mt_report_about(struct mt_report *report, const struct mt_run *run,
                     const struct mt_run_device *device, unsigned shown)
{
    bool bounded = !device || mt_device_is_bounded(device);
    shown |= bounded ? MT_ABOUT_UNSEEN : 0u;
    shown |= device && device->only ? MT_ABOUT_CATEGORIES : 0u;
    mt_report_run(report, 0, run->id, run->name, run->time_unit);
    if (device)
        mt_report_param(report, "device", mt_cell_text(mt_report_text(report, device->name)));
    if (device && device->only)
        mt_report_param(report, "category",
                        mt_cell_text(mt_report_text(report, mt_device_categories(device))));
    if (device)
        mt_report_narrowed(report, run, device);
    mt_notes_of_run(report, run->name, &run->notes, shown);
}

void mt_note_recorders(struct mt_report *report, const struct mt_run *a, const struct mt_run *b)
{
    char was[96], is[96];
    mt_format_words(a->format, was);
    mt_format_words(b->format, is);
    mt_report_note(report,
                   "%s is %s, %s is %s: these count differently, so no verdict rests on it.",
                   a->name, was, b->name, is);
}

void mt_report_others(struct mt_report *report, int other_n)
{
    char others[MT_HUMAN_LONG];
    if (other_n > 0)
        mt_report_note(report, "%s; choose with --device.",
                       mt_human_plural(other_n, "more device", others));
}

void mt_report_unread(struct mt_report *report, const struct mt_run *run, int64_t known_until_ns)
{
    char when[MT_HUMAN_LONG];
    if (known_until_ns != INT64_MAX)
        mt_report_note(
            report, "%s was read from a file that ends early: what happened after %s is unknown.",
            run->name, mt_human_time(run->time_unit, known_until_ns, when));
}

/* What figures leave out, in a line: `info` says what it is, and what counts it. */
static void note_left_out(struct mt_report *report, const struct mt_run *run,
                          const struct mt_run_device *d)
{
    char least[MT_HUMAN_MAX], most[MT_HUMAN_MAX];
    int64_t a = d->older_least_b, b = d->older_most_b;
    struct mt_buf note = {0};
    mt_human_bytes(a, least);
    mt_human_bytes(b, most);
    mt_buf_addf(&note, "%s, %s: ", run->name, d->name);
    if (a < 0 || (!a && b < 0))
        mt_buf_adds(&note, "memory of unknown size");
    else if (b < 0)
        mt_buf_addf(&note, "%s or more", least);
    else if (strcmp(least, most) == 0)
        mt_buf_addf(&note, "about %s", least);
    else
        mt_buf_addf(&note, "%s%s%s", a ? least : "up to ", a ? " to " : "", most);
    mt_buf_adds(&note, " allocated before the recording is not counted (see memtool info).");
    mt_report_note_once(report, note.s);
    mt_buf_free(&note);
}

void mt_report_older(struct mt_report *report, const struct mt_run *run,
                     const struct mt_run_device *device)
{
    char older[MT_HUMAN_MAX];
    if (mt_run_is_snapshot(run))
        return;
    if (device->before_freed_b)
        mt_report_note(report,
                       "%s: %s were allocated before the recording began and freed during it.%s",
                       run->name, mt_human_bytes(device->before_freed_b, older),
                       device->older_used || device->older_from[0]
                           ? ""
                           : " Older blocks that were never freed are not in the trace.");
    if (device->older_used)
        note_left_out(report, run, device);
}

void mt_report_no_memory(struct mt_report *report, const struct mt_run *run)
{
    free(report->title);
    report->title = mt_asprintf("%s · no memory records", run->name);
    report->empty = "nothing to show";
    mt_report_note(report, "%s", mt_run_how_to_record(run));
    mt_report_unanswered(report,
                         mt_report_textf(report, "Run '%s' has no memory records.", run->name),
                         mt_run_how_to_record(run));
}

void mt_report_no_history(struct mt_report *report, const struct mt_run *run)
{
    mt_report_cannot_tell(
        report, mt_report_textf(report, "Run '%s' has no history, only what was alive.", run->name),
        "Call torch.cuda.memory._record_memory_history() before the run.");
}

enum mt_status mt_fail_no_memory(const struct mt_run *run, const char *so, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no memory records%s", run->name, so);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "%s", mt_run_how_to_record(run));
    return MT_EUSAGE;
}

enum mt_status mt_show_no_memory(struct mt_report *report, const struct mt_run *run,
                                 struct mt_err *err)
{
    if (mt_show_wants_svg())
        return mt_fail_no_memory(run, ": nothing to draw", err);
    mt_report_no_memory(report, run);
    return mt_show(report, err);
}
