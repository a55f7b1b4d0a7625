/* memtool leaks RUN RUN ...: what grows from run to run. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "cmd/view.h"
#include "lib/analysis/run_ends.h"
#include "lib/analysis/trend.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/render/columns.h"
#include "lib/render/run_notes.h"
#include "lib/render/table.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

enum {
    ENDS_SHOWN = 64,     /* with so many runs, each has a column, */
    ENDS_FOR_PEOPLE = 6, /* and with so many people see them */
};

struct sites {
    const struct mt_leaks_wanted *wanted;
    struct mt_report *r;
    struct mt_run_ends ends;
    struct mt_run_device device; /* of the run before: all are asked for the same */
    struct mt_strtab devices;    /* names of those of all runs; not of a device beside */
    struct {
        int64_t bytes, n;
    } rest; /* alive at the end of the last run, and not listed */
    struct {
        int64_t bytes, n;
    } came;             /* of the rows: that came once and stayed */
    int64_t doubtful_n; /* that would be leaks */
    MT_VEC(struct end {
        bool unknown;               /* what is alive then */
        int64_t written_ns;         /* MT_UNKNOWN: the file does not say */
        const char *name, *content; /* content: "" = unknown */
    })
    all; /* runs so far */
    const char *counts,
        *leaves_out; /* runs that know what is older than they are, and that do not */
    bool at_least;   /* at some end more may be alive */
    bool beside;     /* of a device that is not shown */
    /* Runs that leak from step to step; the last of them, and by how much a step. */
    size_t leaking_n;
    struct mt_run first; /* of the runs */
    const char *leaking;
    double leaking_b;
    size_t may_leak_n;   /* of these runs: what is freed there, nobody knows */
    const char *unfreed; /* says it of the last such run behind the first; NULL: there is none */
    size_t unfreed_n;    /* sites that would be leaks but for these */
};

/* Whether what is alive at the end is known; says if not. */
static enum mt_status note_gaps(struct sites *s, size_t i, struct mt_db *db,
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
static void note_recorder(struct sites *s, size_t i, const struct mt_run *run)
{
    s->ends.unknown |= s->wanted->apart;
    if (i == 0)
        s->first = *run;
    else if (!mt_formats_alike(s->first.format, run->format)) {
        s->ends.unknown = true;
        mt_note_recorders(s->r, &s->first, run);
    }
}

static void note_older(struct sites *s, const struct mt_run *run)
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
static enum mt_status look_at_steps(struct sites *s, struct mt_allocations *lives,
                                    struct mt_err *err)
{
    const struct mt_leaks_wanted *w = s->wanted;
    struct mt_leaks found = {0};
    enum mt_status st = mt_leaks_find(lives, &s->device, w->keys, w->key_n, w->warmup, &found, err);
    const enum mt_verdict verdict = found.frees_unknown ? MT_VERDICT_CANDIDATE : MT_VERDICT_LEAK;
    const double leaking_b = mt_leaks_sum(&found, verdict, &w->min_b).per_step_b;
    const bool unfreed = found.frees_unknown;
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

/* Whether there may be a leak that the ends do not show. */
static bool ends_hide(const struct sites *s)
{
    return s->ends.unknown || s->leaves_out || s->at_least || s->leaking_n ||
           mt_run_ends_renamed(&s->ends);
}

/* The device of a run that is asked for. *none: nothing is alive there, as it has no such device,
 * which is no error where another run has it. */
static enum mt_status find_device(struct sites *s, struct mt_db *db, const struct mt_run *run,
                                  bool *none, struct mt_err *err)
{
    const struct mt_leaks_wanted *w = s->wanted;
    const char *name = w->device ? w->device : s->device.id ? s->device.name : NULL;
    struct mt_run_device *all = NULL;
    size_t n = 0;
    int others;
    *none = false;
    if (!s->beside)
        return mt_run_device_like(db, run, name, s->device.name, &s->device, none, &others, err);
    enum mt_status st = mt_run_devices(db, run, &all, &n, err);
    *none = true;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0) {
            s->device = all[i];
            *none = false;
        }
    free(all);
    return st;
}

static enum mt_status add_devices(struct sites *s, struct mt_db *db, const struct mt_run *run,
                                  struct mt_err *err)
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
static enum mt_status add_run(struct sites *s, size_t i, const char *ref, struct mt_err *err)
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
    *mt_vec_push(&s->all) = (struct end){.written_ns = mt_run_written_ns(&run),
                                         .name = mt_report_text(s->r, run.name),
                                         .content = mt_report_text(s->r, run.content)};
    MT_TRY_OUT(note_gaps(s, i, db, &run, err));
    if (s->beside && (none || !mt_allocations_are_known(&s->device))) {
        s->ends.unknown |= !none;
        goto out;
    }
    if (none)
        MT_TRY_OUT(mt_fail_no_memory(&run, "", err));
    if (s->wanted->narrow)
        MT_TRY_OUT(mt_narrow_device(db, &run, s->wanted->narrow, &s->device, err));
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

static struct mt_cell known_cell(bool known, struct mt_cell cell)
{
    return known ? cell : (struct mt_cell){0};
}

static bool is_known(const struct sites *s, size_t i)
{
    return !s->all.v[i].unknown;
}

static bool ends_known(const struct sites *s)
{
    return is_known(s, 0) && is_known(s, s->ends.run_n - 1);
}

/* Time between the dumps of one process, from the first to the last; MT_UNKNOWN. */
static int64_t time_between(const struct sites *s)
{
    int64_t from = s->all.v[0].written_ns, to = s->all.v[s->ends.run_n - 1].written_ns;
    for (size_t i = 0; i < s->ends.run_n; i++)
        if (s->all.v[i].written_ns == MT_UNKNOWN ||
            (i && s->all.v[i].written_ns < s->all.v[i - 1].written_ns))
            return MT_UNKNOWN;
    return to > from ? to - from : MT_UNKNOWN;
}

static enum mt_trend trend_of(const struct sites *s, const struct mt_run_ends_site *site)
{
    int64_t *held = mt_alloc(s->ends.run_n * sizeof *held);
    bool known = true;
    for (size_t i = 0; i < s->ends.run_n; i++) {
        held[i] = site->at_end[i].most_b;
        known &= is_known(s, i);
    }
    enum mt_trend trend = known ? mt_trend_of(held, s->ends.run_n) : MT_TREND_UNKNOWN;
    free(held);
    return trend;
}

static void add_row(struct sites *s, const struct mt_run_ends_site *site, enum mt_verdict verdict)
{
    struct mt_report *r = s->r;
    struct mt_row *row = mt_report_row(r);
    const size_t n = s->ends.run_n;
    int64_t change = mt_wrap_sub(site->at_end[n - 1].most_b, site->at_end[0].most_b);
    int64_t intervals = (int64_t)n - 1, per_hour = mt_trend_per_hour(change, time_between(s));
    enum mt_trend trend = trend_of(s, site);
    const char *text = mt_trend_names[trend];
    int c = 0;
    row->explicit_row = site->explicit_row;
    const struct mt_cell rate = change % intervals
                                    ? mt_cell_real((double)change / (double)intervals)
                                    : mt_cell_int(change / intervals);
    row->cells[c++] = known_cell(ends_known(s), mt_cell_int(change));
    row->cells[c++] = known_cell(ends_known(s), rate);
    row->cells[c++] = known_cell(ends_known(s) && per_hour != MT_UNKNOWN, mt_cell_int(per_hour));
    for (size_t i = 0; i < n; i++)
        if (i == 0 || i == n - 1 || n <= ENDS_SHOWN)
            row->cells[c++] = known_cell(is_known(s, i), mt_cell_int(site->at_end[i].most_b));
    row->cells[c++] = known_cell(text, mt_cell_text(text));
    row->cells[c++] = mt_cell_text(mt_verdict_names[verdict]);
    for (int k = 0; k < s->wanted->key_n; k++)
        row->cells[c++] = mt_cell_text(mt_report_text(r, site->key[k]));
    s->came.n += trend == MT_TREND_CAME;
    mt_wrap_inc(&s->came.bytes, trend == MT_TREND_CAME ? change : 0);
}

/* What each run holds at its end is a column, of so many runs people see all. */
static void add_ends(struct mt_report *r, size_t run_n)
{
    mt_report_columns(r, "first_at_end_b");
    for (size_t i = 1; i + 1 < run_n && run_n <= ENDS_SHOWN; i++) {
        mt_report_column(r, mt_report_textf(r, "at_end_%zu_b", i + 1),
                         mt_report_textf(r, "%zu", i + 1), MT_UNIT_BYTES);
        r->columns.v[r->columns.n - 1].hidden = run_n > ENDS_FOR_PEOPLE;
    }
    mt_report_columns(r, "at_end_b=LAST");
}

/* timed: it is known how much time lies between the runs. */
static void add_columns(struct mt_report *r, const struct mt_leaks_wanted *w, size_t run_n,
                        bool timed)
{
    mt_report_columns(r,
                      timed ? "change_b per_run_b per_hour_b" : "change_b per_run_b -per_hour_b");
    add_ends(r, run_n);
    mt_report_columns(r, run_n > 2 ? "trend verdict" : "-trend verdict");
    for (int k = 0; k < w->key_n; k++)
        mt_report_column(r, mt_group_key_name(w->keys[k]), NULL, MT_UNIT_NONE);
    r->keep_order = true;
    r->empty = "nothing is alive at the end of any run";
}

/* --min is about the growth per run of what grows, else about what is alive. */
static bool large_enough(const struct sites *s, const struct mt_run_ends_site *site,
                         enum mt_verdict verdict)
{
    int64_t first = site->at_end[0].most_b, last = site->at_end[s->ends.run_n - 1].most_b;
    if (verdict == MT_VERDICT_STATE)
        return (first > last ? first : last) >= s->wanted->min_b;
    double intervals = (double)(s->ends.run_n - 1);
    return (double)mt_wrap_sub(last, first) / intervals >= (double)s->wanted->min_b;
}

static void use_site(struct sites *s, const struct mt_run_ends_site *site,
                     struct mt_leaks_answer *answer)
{
    bool doubtful;
    enum mt_verdict verdict = mt_run_ends_judge(&s->ends, site, &doubtful);
    const bool unfreed = s->unfreed && verdict == MT_VERDICT_LEAK;
    if (unfreed)
        verdict = MT_VERDICT_CANDIDATE;
    bool large = large_enough(s, site, verdict);
    if (!s->wanted->all && verdict == MT_VERDICT_STATE) {
        mt_wrap_inc(&s->rest.bytes, site->at_end[s->ends.run_n - 1].most_b);
        s->rest.n++;
        return;
    }
    if (large)
        add_row(s, site, verdict);
    s->r->left_out_n += !large;
    answer->leaking |= verdict == MT_VERDICT_LEAK && large;
    answer->unknown |=
        verdict == MT_VERDICT_CANDIDATE && large &&
        (s->ends.run_n < MT_RUN_ENDS_MIN || doubtful || trend_of(s, site) != MT_TREND_CAME);
    s->doubtful_n += doubtful && large;
    s->unfreed_n += unfreed && large;
}

static const char *end_text(const struct sites *s, int end, int64_t bytes, char *out)
{
    return is_known(s, end ? s->ends.run_n - 1 : 0) ? mt_human_bytes(bytes, out) : "unknown";
}

/* What grows depends on the order, which is that given. */
static void note_order(struct sites *s)
{
    for (size_t i = 1; i < s->all.n; i++) {
        const struct end *before = &s->all.v[i - 1], *end = &s->all.v[i];
        if (before->written_ns == MT_UNKNOWN || end->written_ns == MT_UNKNOWN ||
            end->written_ns >= before->written_ns)
            continue;
        mt_report_note(s->r,
                       "%s was written before %s: growth is shown in the order given. Give the "
                       "oldest first.",
                       end->name, before->name);
        return;
    }
}

/* Nothing grows from a recording to itself. Of a device beside, the shown one says so. */
static bool same_twice(struct sites *s)
{
    for (size_t i = 1; i < s->all.n; i++)
        for (size_t k = 0; k < i; k++)
            if (*s->all.v[i].content && strcmp(s->all.v[i].content, s->all.v[k].content) == 0) {
                mt_report_note(s->r,
                               "%s and %s are the same recording: between them nothing can grow.",
                               s->all.v[k].name, s->all.v[i].name);
                return true;
            }
    return false;
}

/* What the runs do that leak from step to step. */
static const char *leak_word(const struct sites *s)
{
    if (s->may_leak_n)
        return s->may_leak_n == s->leaking_n ? "may leak" : "leak or may leak";
    return s->leaking_n == 1 ? "leaks" : "leak";
}

static void describe(struct sites *s, const struct mt_leaks_answer *answer)
{
    struct mt_report *r = s->r;
    char first[MT_HUMAN_MAX], last[MT_HUMAN_MAX], time[MT_HUMAN_MAX];
    int64_t sum[2] = {0, 0}, between = time_between(s);
    for (size_t i = 0; i < s->ends.sites.n; i++) {
        mt_wrap_inc(&sum[0], s->ends.sites.v[i].at_end[0].most_b);
        mt_wrap_inc(&sum[1], s->ends.sites.v[i].at_end[s->ends.run_n - 1].most_b);
    }
    bool timed = between != MT_UNKNOWN;
    r->title = mt_asprintf("%zu runs, %s to %s%s%s · alive at the end %s -> %s", s->ends.run_n,
                           r->runs[0].name, r->runs[1].name, timed ? ", " : "",
                           timed ? mt_human_ns(between, time) : "", end_text(s, 0, sum[0], first),
                           end_text(s, 1, sum[1], last));
    note_order(s);
    if (s->doubtful_n)
        mt_report_note(r, "What grows in every run may not be a leak: frees of such sites went "
                          "unrecorded, so the remaining blocks may be freed too.");
    if (s->unfreed_n)
        mt_report_note(r,
                       "%s: what grows may be a leak, or a thread that the program starts frees "
                       "it, which the profiler does not see.",
                       s->unfreed);
    if (answer->unknown && s->ends.run_n < MT_RUN_ENDS_MIN)
        mt_report_note(r, "Two runs are too few to call growth a leak; compare %d or more.",
                       MT_RUN_ENDS_MIN);
    if (s->leaves_out)
        mt_report_note(r,
                       "Blocks older than the runs are left out: what one run leaves is older than "
                       "the next, so that no leak from run to run can be ruled out. --base at "
                       "import counts them.");
    if (s->at_least)
        mt_report_note(r, "At the end of runs more may be alive than is listed, so that no leak "
                          "from run to run can be ruled out.");
    if (!answer->leaking && !s->ends.unknown && mt_run_ends_renamed(&s->ends))
        mt_report_note(r, "More is alive at the end of each run, though no site grows in all of "
                          "them: some may be called otherwise in other runs, as without stacks.");
    if (s->leaking_n)
        mt_report_note(r,
                       "%zu of %zu runs %s from step to step; %s grows %s a step. memtool "
                       "leaks %s shows it.",
                       s->leaking_n, s->ends.run_n, leak_word(s), s->leaking,
                       mt_human_bytes((int64_t)(s->leaking_b + 0.5), first), s->leaking);
    mt_report_total(r, "first_at_end_b", known_cell(is_known(s, 0), mt_cell_int(sum[0])));
    mt_report_total(r, "at_end_b", known_cell(is_known(s, s->ends.run_n - 1), mt_cell_int(sum[1])));
}

/* What of the sites goes into the report. */
static enum mt_status show_sites(struct sites *s, struct mt_leaks_answer *answer,
                                 struct mt_err *err)
{
    static const struct mt_sort by_change = {"change_b", true, NULL, false};
    struct mt_rows asked = *s->wanted->rows;
    char bytes[MT_HUMAN_MAX], sites[MT_HUMAN_LONG];
    for (size_t i = 0; i < s->ends.sites.n; i++)
        use_site(s, &s->ends.sites.v[i], answer);
    mt_table_sort(s->r, &by_change);
    describe(s, answer);
    answer->unknown |= same_twice(s);
    MT_TRY(mt_rows_apply(&asked, s->r, "change_b", err));
    asked.min_b = s->wanted->min_b; /* applied above */
    if (s->ends.unknown || s->leaves_out || s->at_least)
        s->r->empty = "growth from run to run is unknown";
    else if (s->rest.n)
        s->r->empty = "nothing grows from run to run";
    mt_rows_footer(&asked, s->r, NULL, "");
    if (s->came.n && s->ends.run_n > 2)
        mt_report_footer(s->r, "came and stayed: %s in %s", mt_human_bytes(s->came.bytes, bytes),
                         mt_human_plural(s->came.n, "site", sites));
    if (s->rest.n)
        mt_report_footer(s->r, "%s: %s in %s that did not grow in every run. --all lists them",
                         ends_hide(s) ? "alive at the end" : "not leaking",
                         mt_human_bytes(s->rest.bytes, bytes),
                         mt_human_plural(s->rest.n, "site", sites));
    return MT_OK;
}

/* A device that is not shown, as far as the answer is about it. */
static enum mt_status judge_beside(const struct mt_args *refs, const struct mt_leaks_wanted *wanted,
                                   const char *device, struct mt_report *r,
                                   struct mt_leaks_answer *answer, struct mt_err *err)
{
    struct mt_leaks_wanted w = *wanted;
    struct mt_report unseen;
    struct mt_leaks_answer one = {0};
    struct sites s = {.wanted = &w, .r = &unseen, .beside = true};
    enum mt_status st = MT_OK;
    w.device = device;
    mt_run_ends_init(&s.ends, w.keys, w.key_n, refs->n);
    mt_report_init(&unseen, "", 1);
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY_OUT(add_run(&s, i, refs->v[i], err));
    add_columns(&unseen, &w, refs->n, false);
    for (size_t i = 0; i < s.ends.sites.n; i++)
        use_site(&s, &s.ends.sites.v[i], &one);
    one.unknown |= ends_hide(&s);
    mt_leaks_note_device(r, device, w.min_b, &one);
    mt_leaks_answer_add(answer, &one);
out:
    mt_vec_free(&s.all);
    mt_run_ends_free(&s.ends);
    mt_report_free(&unseen);
    return st;
}

static enum mt_status judge_others(const struct mt_args *refs, const struct sites *shown,
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
    struct sites s = {.wanted = wanted, .r = r};
    enum mt_status st = MT_OK;
    mt_strtab_init(&s.devices);
    mt_run_ends_init(&s.ends, wanted->keys, wanted->key_n, refs->n);
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY_OUT(add_run(&s, i, refs->v[i], err));
    add_columns(r, wanted, refs->n, mt_trend_per_hour(0, time_between(&s)) != MT_UNKNOWN);
    MT_TRY_OUT(show_sites(&s, answer, err));
    answer->unknown |= ends_hide(&s);
    st = judge_others(refs, &s, answer, err);
out:
    mt_strtab_free(&s.devices);
    mt_vec_free(&s.all);
    mt_run_ends_free(&s.ends);
    return st;
}
