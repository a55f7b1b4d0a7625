/* memtool leaks RUN RUN ...: what grows from run to run. Here the runs are read. */
#include "cmd/leaks_runs.h"
#include "cmd/common.h"
#include "cmd/view.h"
#include "lib/model/kind_words.h"
#include "lib/render/run_notes.h"
#include "lib/run/job.h"
#include "lib/run/job_folder.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

/* Whether what is alive at the end is known; says if not. */
static enum mt_status note_gaps(struct mt_leaks_runs *s, size_t i, struct mt_db *db,
                                const struct mt_run *run, struct mt_err *err)
{
    unsigned gaps;
    MT_TRY(mt_run_gaps(db, run, &s->device, &gaps, err));
    if (!(gaps & (MT_GAPS_OF_FREES | MT_GAP_MEANING))) {
        s->at_least |= (gaps & MT_GAPS_OF_ENDS) != 0;
        return MT_OK;
    }
    s->ends.unknown = true;
    s->all.v[i].unknown = true;
    mt_report_note(s->r, "%s %s: what is alive at its end is unknown.", run->name,
                   mt_gaps_text(gaps));
    return MT_OK;
}

/* Ends do not compare where blocks older than the runs are left out: what one run leaves is older
 * than the next. Nor where some runs count them and others do not. */
static void note_recorder(struct mt_leaks_runs *s, size_t i, const struct mt_run *run)
{
    s->ends.unknown |= s->wanted->apart;
    if (i == 0)
        s->first = *run;
    else if (!mt_formats_alike(s->first.format, run->format)) {
        s->ends.unknown = true;
        mt_note_recorders(s->r, &s->first, run);
    }
}

/* The ranks of a job lie side by side: from one to another nothing grows, nor is anything freed. */
static enum mt_status note_rank(struct mt_leaks_runs *s, struct mt_db *db, const struct mt_run *run,
                                struct mt_err *err)
{
    struct mt_leaks_rank this = {.run = run->name};
    struct mt_job_place place;
    MT_TRY(mt_job_place(db, run, &place, err));
    if (place.rank == MT_UNKNOWN)
        return MT_OK;
    this.rank = place.rank;
    if (!place.told)
        mt_folder_hosts(run->source, this.host, sizeof this.host);
    if (!s->rank.run) {
        s->rank = this;
        s->rank.run = mt_report_text(s->r, run->name);
    } else if (!s->other_ranks &&
               (this.rank != s->rank.rank || strcmp(this.host, s->rank.host) != 0)) {
        s->other_ranks = s->ends.unknown = true;
        mt_report_note(s->r,
                       "%s and %s are of different ranks: what one has more than another did not "
                       "grow. memtool ranks compares ranks of one job; name runs of one rank.",
                       s->rank.run, run->name);
    }
    return MT_OK;
}

static void note_older(struct mt_leaks_runs *s, const struct mt_run *run)
{
    const char **first = s->device.older_from[0] ? &s->counts
                         : s->device.older_used  ? &s->leaves_out
                                                 : NULL;
    bool known = s->counts && s->leaves_out;
    mt_report_older(s->r, run, &s->device);
    if (first && !*first)
        *first = mt_report_text(s->r, run->name);
    if (known || !s->counts || !s->leaves_out)
        return;
    s->ends.unknown = true;
    mt_report_note(s->r,
                   "%s includes memory allocated before its recording, %s excludes it: what is "
                   "alive at their ends is not comparable. Import all with --base.",
                   s->counts, s->leaves_out);
}

/* Whether the run leaks from step to step, whatever the others do. */
static enum mt_status look_at_steps(struct mt_leaks_runs *s, struct mt_allocations *lives,
                                    struct mt_err *err)
{
    const struct mt_leaks_wanted *w = s->wanted;
    struct mt_leaks found = {0};
    enum mt_status st = mt_leaks_find(lives, &s->device, w->keys, w->key_n, w->warmup, &found, err);
    const bool unfreed = found.frees_unknown;
    const enum mt_verdict verdict = unfreed ? MT_VERDICT_CANDIDATE : MT_VERDICT_LEAK;
    const double leaking_b = mt_leaks_sum(&found, verdict, &w->min_b).per_step_b;
    mt_leaks_free(&found);
    if (unfreed && s->all.n > 1) /* less at the end of the first would be more growth */
        s->unfreed =
            mt_report_textf(s->r,
                            s->device.frees_nothing ? "Nothing was freed in %s"
                                                    : "In most steps of %s nothing was freed",
                            lives->run->name);
    if (leaking_b <= 0)
        return st;
    s->leaking_n++;
    s->may_leak_n += unfreed;
    s->leaking = mt_report_text(s->r, lives->run->name);
    s->leaking_b = leaking_b;
    return st;
}

/* The device of a run that is asked for. *none: it has no such device, which is no error where
 * another run has it. */
static enum mt_status find_device(struct mt_leaks_runs *s, struct mt_db *db,
                                  const struct mt_run *run, bool *none, struct mt_err *err)
{
    const struct mt_leaks_wanted *w = s->wanted;
    const char *name = w->device ? w->device : s->device.id ? s->device.name : NULL;
    struct mt_run_device *all = NULL;
    size_t n = 0;
    int others;
    enum mt_status st;
    *none = false;
    if (!s->beside) {
        st = mt_run_device_like(db, run, name, s->device.name, &s->device, none, &others, err);
        if (st == MT_EUSAGE && !w->device) /* it is that of the run before, which nobody named */
            mt_err_cannot_tell(err);
        return st;
    }
    st = mt_run_devices(db, run, &all, &n, err);
    *none = true;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0) {
            s->device = all[i];
            *none = false;
        }
    free(all);
    return st;
}

/* What is alive on a device beside that the run lacks: nothing, if it is a list of all that is. */
static void note_lacking(struct mt_leaks_runs *s, const struct mt_run *run)
{
    if (run->kind != MT_RUN_SNAPSHOT && !s->lacking)
        s->lacking = mt_report_text(s->r, run->name);
}

static enum mt_status add_devices(struct mt_leaks_runs *s, struct mt_db *db,
                                  const struct mt_run *run, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    enum mt_status st = mt_run_devices(db, run, &all, &n, err);
    for (size_t i = 0; i < n; i++)
        mt_strtab_add(&s->devices, all[i].name, strlen(all[i].name));
    free(all);
    return st;
}

/* What is alive at the end of one run. */
static enum mt_status add_run(struct mt_leaks_runs *s, size_t i, const char *ref,
                              struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    struct mt_allocations lives = {0};
    bool none = false;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_open_run(ref, &db, &run, err));
    if (!s->beside)
        MT_TRY_OUT(add_devices(s, db, &run, err));
    MT_TRY_OUT(find_device(s, db, &run, &none, err));
    if (i == 0 || i == s->ends.run_n - 1)
        mt_report_run(s->r, i > 0, run.id, run.name, run.time_unit);
    mt_notes_of_run(s->r, run.name, &run.notes,
                    mt_device_is_bounded(&s->device) ? MT_LEAKS_ABOUT | MT_ABOUT_UNSEEN
                                                     : MT_LEAKS_ABOUT);
    note_recorder(s, i, &run);
    MT_TRY_OUT(note_rank(s, db, &run, err));
    *mt_vec_push(&s->all) = (struct mt_leaks_end){.written_ns = mt_run_written_ns(&run),
                                                  .name = mt_report_text(s->r, run.name),
                                                  .content = mt_report_text(s->r, run.content)};
    MT_TRY_OUT(note_gaps(s, i, db, &run, err));
    if (s->beside && none) {
        note_lacking(s, &run);
        goto out;
    }
    if (s->beside && !mt_allocations_are_known(&s->device)) {
        s->ends.unknown = true;
        goto out;
    }
    if (none)
        MT_TRY_OUT(mt_fail_no_memory(&run, "", err));
    if (s->wanted->narrow)
        MT_TRY_OUT(mt_narrow_device(db, &run, s->wanted->narrow, &s->device, err));
    mt_report_narrowed(s->r, &run, &s->device);
    note_older(s, &run);
    MT_TRY_OUT(mt_knows(&run, &s->device, MT_KNOWS_AT_END, err));
    MT_TRY_OUT(mt_leaks_keys_known(s->wanted, i == s->ends.run_n - 1, db, &run, &s->device, err));
    MT_TRY_OUT(mt_allocations_open(db, &run, &lives, err));
    MT_TRY_OUT(look_at_steps(s, &lives, err));
    st = mt_run_ends_add(&s->ends, i, &lives, &s->device, err);
out:
    mt_allocations_close(&lives);
    mt_db_close(db);
    return st;
}

/* A device that is not shown, as far as the answer is about it. */
static enum mt_status judge_beside(const struct mt_args *refs, const struct mt_leaks_wanted *wanted,
                                   const char *device, struct mt_report *r,
                                   struct mt_leaks_answer *answer, struct mt_err *err)
{
    struct mt_leaks_wanted w = *wanted;
    struct mt_report unseen;
    struct mt_leaks_answer one = {0};
    struct mt_leaks_runs s = {.wanted = &w, .r = &unseen, .beside = true};
    enum mt_status st = MT_OK;
    w.device = device;
    mt_run_ends_init(&s.ends, w.keys, w.key_n, refs->n);
    mt_report_init(&unseen, "", 1);
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY_OUT(add_run(&s, i, refs->v[i], err));
    mt_leaks_runs_columns(&s);
    for (size_t i = 0; i < s.ends.sites.n; i++)
        mt_leaks_runs_use(&s, &s.ends.sites.v[i], &one);
    one.unknown |= s.lacking || mt_leaks_runs_hide(&s);
    if (s.lacking && !one.leaking)
        mt_report_note(r, MT_LEAKS_PERHAPS "%s leaks; run '%s' has no such device.", device,
                       s.lacking);
    else
        mt_leaks_note_device(r, device, w.min_b, &one);
    mt_leaks_answer_add(answer, &one);
out:
    mt_vec_free(&s.all);
    mt_run_ends_free(&s.ends);
    mt_report_free(&unseen);
    return st;
}

static enum mt_status judge_others(const struct mt_args *refs, const struct mt_leaks_runs *shown,
                                   struct mt_leaks_answer *answer, struct mt_err *err)
{
    enum mt_status st = MT_OK;
    for (uint32_t i = 0; i < shown->devices.n && st == MT_OK; i++) {
        const char *name = mt_strtab_get(&shown->devices, i);
        if (strcmp(name, shown->device.name) != 0 &&
            mt_device_is(name, shown->wanted->device, false))
            st = judge_beside(refs, shown->wanted, name, shown->r, answer, err);
    }
    return st;
}

enum mt_status mt_leaks_over_runs(const struct mt_args *refs, const struct mt_leaks_wanted *wanted,
                                  struct mt_report *r, struct mt_leaks_answer *answer,
                                  struct mt_err *err)
{
    struct mt_leaks_runs s = {.wanted = wanted, .r = r};
    enum mt_status st = MT_OK;
    mt_strtab_init(&s.devices);
    mt_run_ends_init(&s.ends, wanted->keys, wanted->key_n, refs->n);
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY_OUT(add_run(&s, i, refs->v[i], err));
    mt_leaks_runs_columns(&s);
    MT_TRY_OUT(mt_leaks_runs_show(&s, answer, err));
    answer->unknown |= mt_leaks_runs_hide(&s);
    st = judge_others(refs, &s, answer, err);
out:
    mt_strtab_free(&s.devices);
    mt_vec_free(&s.all);
    mt_run_ends_free(&s.ends);
    return st;
}
