/* The rows of `memtool leaks RUN RUN ...`, and what is said of them. */
#include "cmd/common.h"
#include "cmd/leaks_runs.h"
#include "lib/analysis/trend.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include <stdlib.h>
#include <string.h>

enum {
    ENDS_SHOWN = 64,     /* with so many runs, each has a column, */
    ENDS_FOR_PEOPLE = 6, /* and with so many people see them */
};

bool mt_leaks_runs_hide(const struct mt_leaks_runs *s)
{
    return s->ends.unknown || s->leaves_out || s->at_least || s->leaking_n ||
           mt_run_ends_renamed(&s->ends, s->wanted->min_b);
}

static struct mt_cell known_cell(bool known, struct mt_cell cell)
{
    return known ? cell : (struct mt_cell){0};
}

static bool is_known(const struct mt_leaks_runs *s, size_t i)
{
    return !s->all.v[i].unknown;
}

static bool ends_known(const struct mt_leaks_runs *s)
{
    return is_known(s, 0) && is_known(s, s->ends.run_n - 1);
}

/* Time between the dumps of one process, from the first to the last; MT_UNKNOWN. */
static int64_t time_between(const struct mt_leaks_runs *s)
{
    int64_t from = s->all.v[0].written_ns, to = s->all.v[s->ends.run_n - 1].written_ns;
    for (size_t i = 0; i < s->ends.run_n; i++)
        if (s->all.v[i].written_ns == MT_UNKNOWN ||
            (i && s->all.v[i].written_ns < s->all.v[i - 1].written_ns))
            return MT_UNKNOWN;
    return to > from ? to - from : MT_UNKNOWN;
}

static enum mt_trend trend_of(const struct mt_leaks_runs *s, const struct mt_run_ends_site *site)
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

static void add_row(struct mt_leaks_runs *s, const struct mt_run_ends_site *site,
                    enum mt_verdict verdict)
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

void mt_leaks_runs_columns(const struct mt_leaks_runs *s)
{
    struct mt_report *r = s->r;
    const size_t run_n = s->ends.run_n;
    const bool timed = mt_trend_per_hour(0, time_between(s)) != MT_UNKNOWN;
    mt_report_columns(r,
                      timed ? "change_b per_run_b per_hour_b" : "change_b per_run_b -per_hour_b");
    add_ends(r, run_n);
    mt_report_columns(r, run_n > 2 ? "trend verdict" : "-trend verdict");
    for (int k = 0; k < s->wanted->key_n; k++)
        mt_report_column(r, mt_group_key_name(s->wanted->keys[k]), NULL, MT_UNIT_NONE);
    r->keep_order = true;
    r->empty = "nothing is alive at the end of any run";
}

/* --min is about the growth per run of what grows, else about what is alive. */
static bool large_enough(const struct mt_leaks_runs *s, const struct mt_run_ends_site *site,
                         enum mt_verdict verdict)
{
    int64_t first = site->at_end[0].most_b, last = site->at_end[s->ends.run_n - 1].most_b;
    if (verdict == MT_VERDICT_STATE)
        return (first > last ? first : last) >= s->wanted->min_b;
    double intervals = (double)(s->ends.run_n - 1);
    return (double)mt_wrap_sub(last, first) / intervals >= (double)s->wanted->min_b;
}

void mt_leaks_runs_use(struct mt_leaks_runs *s, const struct mt_run_ends_site *site,
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

static const char *end_text(const struct mt_leaks_runs *s, int end, int64_t bytes, char *out)
{
    return is_known(s, end ? s->ends.run_n - 1 : 0) ? mt_human_bytes(bytes, out) : "unknown";
}

/* What grows depends on the order, which is that given. */
static void note_order(struct mt_leaks_runs *s)
{
    for (size_t i = 1; i < s->all.n; i++) {
        const struct mt_leaks_end *before = &s->all.v[i - 1], *end = &s->all.v[i];
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
static bool same_twice(struct mt_leaks_runs *s)
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
static const char *leak_word(const struct mt_leaks_runs *s)
{
    if (s->may_leak_n)
        return s->may_leak_n == s->leaking_n ? "may leak" : "leak or may leak";
    return s->leaking_n == 1 ? "leaks" : "leak";
}

static void describe(struct mt_leaks_runs *s, const struct mt_leaks_answer *answer)
{
    struct mt_report *r = s->r;
    char first[MT_HUMAN_MAX], last[MT_HUMAN_MAX], time[MT_HUMAN_MAX];
    int64_t sum[2] = {0, 0}, between = time_between(s);
    for (size_t i = 0; i < s->ends.sites.n; i++) {
        mt_wrap_inc(&sum[0], s->ends.sites.v[i].at_end[0].most_b);
        mt_wrap_inc(&sum[1], s->ends.sites.v[i].at_end[s->ends.run_n - 1].most_b);
    }
    bool timed = between != MT_UNKNOWN;
    const bool narrowed = s->device.only != 0;
    r->title = mt_asprintf("%zu runs, %s to %s%s%s%s%s · alive at the end %s -> %s", s->ends.run_n,
                           r->runs[0].name, r->runs[1].name, timed ? ", " : "",
                           timed ? mt_human_ns(between, time) : "", narrowed ? " · " : "",
                           narrowed ? s->device.shown : "", end_text(s, 0, sum[0], first),
                           end_text(s, 1, sum[1], last));
    mt_report_param(r, "device", mt_cell_text(mt_report_text(r, s->device.name)));
    if (narrowed)
        mt_report_param(r, "category",
                        mt_cell_text(mt_report_text(r, mt_device_categories(&s->device))));
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
    if (!answer->leaking && !s->ends.unknown && mt_run_ends_renamed(&s->ends, s->wanted->min_b))
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

enum mt_status mt_leaks_runs_show(struct mt_leaks_runs *s, struct mt_leaks_answer *answer,
                                  struct mt_err *err)
{
    static const struct mt_sort by_change = {.column = "change_b", .by_size = true};
    struct mt_rows asked = *s->wanted->rows;
    char bytes[MT_HUMAN_MAX], sites[MT_HUMAN_LONG];
    for (size_t i = 0; i < s->ends.sites.n; i++)
        mt_leaks_runs_use(s, &s->ends.sites.v[i], answer);
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
                         mt_leaks_runs_hide(s) ? "alive at the end" : "not leaking",
                         mt_human_bytes(s->rest.bytes, bytes),
                         mt_human_plural(s->rest.n, "site", sites));
    return MT_OK;
}
