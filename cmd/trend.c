/* memtool trend: memory over runs or commits, and where it went to another level. */
#include "cmd/common.h"
#include "cmd/ranks.h"
#include "lib/analysis/change_point.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/page/page.h"
#include "lib/render/chart.h"
#include "lib/render/columns.h"
#include "lib/render/term.h"
#include <stdlib.h>
#include <string.h>

static const char *device_name;
static struct mt_rows rows = MT_ROWS(20);

/* What is followed over the runs. */
enum figure { PEAK, ALLOCATED, AT_END, FIGURE_N };
static const struct {
    const char *name, *words;
} figures[FIGURE_N] = {[PEAK] = {"peak_b", "peak"},
                       [ALLOCATED] = {"alloc_b", "allocated"},
                       [AT_END] = {"at_end_b", "alive at the end"}};

static int64_t figure_of(const struct mt_rank *run, enum figure f)
{
    const struct mt_run_device *d = run->device;
    const int64_t all[FIGURE_N] = {[PEAK] = run->figure_b,
                                   [ALLOCATED] = d ? d->alloc_b : MT_UNKNOWN,
                                   [AT_END] = d ? d->at_end_b : MT_UNKNOWN};
    return all[f] < 0 ? MT_UNKNOWN : all[f];
}

/* The runs that know a figure, in their order. */
struct series {
    int64_t *v;
    size_t *of; /* runs, by index */
    size_t n;
    bool judged;
    struct mt_change_point change;
};

static void read_series(const struct mt_ranks *r, enum figure f, struct series *out)
{
    *out = (struct series){.v = mt_alloc((r->all.n + 1) * sizeof *out->v),
                           .of = mt_alloc((r->all.n + 1) * sizeof *out->of)};
    for (size_t i = 0; i < r->all.n; i++) {
        int64_t v = figure_of(&r->all.v[i], f);
        if (v == MT_UNKNOWN)
            continue;
        out->v[out->n] = v;
        out->of[out->n++] = i;
    }
    out->judged = r->apart == MT_RANKS_ALIKE || (r->apart == MT_RANKS_OLDER && f == ALLOCATED);
    if (out->judged)
        mt_change_point_of(out->v, out->n, &out->change);
}

static void free_series(struct series *s)
{
    free(s->v);
    free(s->of);
}

static void add_rows(const struct mt_ranks *ranks, struct mt_report *r)
{
    int64_t before = MT_UNKNOWN;
    if (!mt_people_read())
        mt_report_columns(r, "section");
    mt_report_columns(r, ranks->at_end ? "run peak_b=ALIVE change_b -alloc_b -at_end_b"
                                       : "run peak_b change_b alloc_b at_end_b");
    r->keep_order = true;
    for (size_t i = 0; i < ranks->all.n; i++) {
        const struct mt_rank *run = &ranks->all.v[i];
        struct mt_row *row = mt_report_row(r);
        mt_report_put(r, row, "section", mt_cell_text("run"));
        mt_report_put(r, row, "run", mt_cell_text(mt_report_text(r, run->name)));
        for (int f = 0; f < FIGURE_N; f++)
            mt_report_put(r, row, figures[f].name, mt_cell_known(figure_of(run, (enum figure)f)));
        if (run->figure_b == MT_UNKNOWN)
            continue;
        if (before != MT_UNKNOWN)
            mt_report_put(r, row, "change_b", mt_cell_int(mt_wrap_sub(run->figure_b, before)));
        before = run->figure_b;
    }
}

/* The newest runs are those that one wants to see. */
static void cut_oldest(struct mt_report *r)
{
    int64_t limit = mt_rows_limit(&rows), n = (int64_t)r->rows.n;
    if (!limit || n <= limit)
        return;
    for (int64_t i = 0; i < n - limit; i++)
        free(r->rows.v[i].cells);
    memmove(r->rows.v, r->rows.v + (n - limit), (size_t)limit * sizeof *r->rows.v);
    r->rows.n = (size_t)limit;
    r->left_out_n = r->cut_n = n - limit;
}

/* Of runs without a history all is of the moment when they were dumped. */
static const char *words_of(const struct mt_ranks *ranks, enum figure f)
{
    return ranks->at_end && f == PEAK ? "alive" : figures[f].words;
}

static void describe_figure(const struct mt_ranks *ranks, const struct series *s, enum figure f,
                            struct mt_report *r)
{
    enum { MARKS = 60 };
    const char *words = words_of(ranks, f);
    const struct mt_term term = mt_term_probe(MT_COLOR_NEVER);
    char before[MT_HUMAN_MAX], after[MT_HUMAN_MAX], n[MT_HUMAN_LONG];
    struct mt_buf line = {0};
    if (ranks->at_end && f == AT_END) /* the same again */
        return;
    if (s->n < MT_CHANGE_POINT_MIN) {
        if (s->n)
            mt_report_footer(r, "%s: %s, too few to tell a change from noise", words,
                             mt_human_plural((int64_t)s->n, "run", n));
        return;
    }
    mt_sparkline(&line, s->v, s->n, s->n < MARKS ? s->n : MARKS, mt_common.ascii || !term.utf8);
    if (s->change.found)
        mt_report_footer(
            r, "%s: %s  changed from %s to %s with %s, the run after %s", words, line.s,
            mt_human_bytes(s->change.before, before), mt_human_bytes(s->change.after, after),
            ranks->all.v[s->of[s->change.at]].name, ranks->all.v[s->of[s->change.at - 1]].name);
    else if (s->change.unsure)
        mt_report_footer(r, "%s: %s  %s, too few to tell whether it changed with %s", words, line.s,
                         mt_human_plural((int64_t)s->n, "run", n),
                         ranks->all.v[s->of[s->change.at]].name);
    else
        mt_report_footer(r, "%s: %s  %s", words, line.s,
                         s->judged ? "no change beyond noise" : "not judged");
    if (s->change.unsure && !mt_people_read())
        mt_report_note(r, "%s: %s are too few to tell whether it changed with %s.", words,
                       mt_human_plural((int64_t)s->n, "run", n),
                       ranks->all.v[s->of[s->change.at]].name);
    mt_buf_free(&line);
    mt_report_total(
        r, mt_report_textf(r, "%.*s_changed_in", (int)strlen(figures[f].name) - 2, figures[f].name),
        mt_cell_text(s->change.found ? mt_report_text(r, ranks->all.v[s->of[s->change.at]].name)
                                     : NULL));
}

/* A kind of device is what most is allocated on: that need not be the same one in all runs. */
static void note_devices(const struct mt_ranks *ranks, struct mt_report *r)
{
    const char *first = NULL;
    for (size_t i = 0; i < ranks->all.n; i++) {
        const struct mt_run_device *d = ranks->all.v[i].device;
        if (!d || !first || strcmp(d->name, first) == 0) {
            first = d && !first ? d->name : first;
            continue;
        }
        mt_report_note(r,
                       "Of each run the device is shown on which most was allocated: %s, but %s of "
                       "%s. --device %s shows one.",
                       first, d->name, ranks->all.v[i].name, first);
        return;
    }
}

/* What lies side by side in a job is no development. */
static void note_ranks(const struct mt_ranks *ranks, struct mt_report *r)
{
    bool differ = !ranks->numbered && ranks->all.n > 1;
    for (size_t i = 0; i < ranks->all.n && differ; i++) {
        differ = mt_rank_is_known(&ranks->all.v[i]);
        for (size_t k = 0; k < i && differ; k++)
            differ = !mt_rank_is_same(&ranks->all.v[k], &ranks->all.v[i]);
    }
    if (differ)
        mt_report_note(r, "Each of these runs is of another rank: if they are one job, memtool "
                          "ranks compares them.");
}

static void describe(const struct mt_ranks *ranks, struct mt_report *r)
{
    char n[MT_HUMAN_LONG], peak[MT_HUMAN_MAX];
    const bool in_group = *ranks->group != '\0';
    size_t uncertain_n = 0, unknown_n = 0;
    const struct mt_rank *last = &ranks->all.v[ranks->all.n - 1];
    mt_human_plural((int64_t)ranks->all.n, "run", n);
    r->title = mt_asprintf(
        "%s%s%s · %s · %s %s", in_group ? ranks->group : "", in_group ? " · " : "", n,
        ranks->device, ranks->at_end ? "alive in the latest" : "peak of the latest",
        last->figure_b == MT_UNKNOWN ? "unknown" : mt_human_bytes(last->figure_b, peak));
    mt_report_param(r, "group", mt_cell_text(in_group ? mt_report_text(r, ranks->group) : NULL));
    mt_report_param(r, "device", mt_cell_text(mt_report_text(r, ranks->device)));
    mt_report_total(r, "run_n", mt_cell_int((int64_t)ranks->all.n));
    for (size_t i = 0; i < ranks->all.n; i++) {
        uncertain_n += ranks->all.v[i].device && !ranks->all.v[i].certain;
        unknown_n += ranks->all.v[i].figure_b == MT_UNKNOWN;
    }
    if (unknown_n)
        mt_report_note(r, "The peak of %s on %s is not known.",
                       mt_human_plural((int64_t)unknown_n, "run", n), ranks->device);
    if (uncertain_n)
        mt_report_note(r,
                       "The recordings of %s do not cover all of the peak, or leave something "
                       "open: memtool info RUN says what.",
                       mt_human_plural((int64_t)uncertain_n, "run", n));
    note_ranks(ranks, r);
    mt_ranks_note_apart(ranks, r);
    note_devices(ranks, r);
    mt_ranks_note_moment(ranks, r);
}

/* What stands behind the change of the peak, by site. */
static enum mt_status show_change(const struct mt_ranks *ranks, const struct series *peaks,
                                  struct mt_report *out, struct mt_err *err)
{
    const struct mt_peak_change how = {"change", "BEFORE", "AFTER", &rows};
    if (!peaks->change.found)
        return MT_OK;
    const struct mt_rank *before = &ranks->all.v[peaks->of[peaks->change.at - 1]];
    const struct mt_rank *after = &ranks->all.v[peaks->of[peaks->change.at]];
    if (mt_people_read())
        out->title = mt_asprintf("what %s holds%s beyond %s", after->name,
                                 ranks->at_end ? "" : " at its peak", before->name);
    return mt_ranks_change(ranks, before, after, &how, out, err);
}

static enum mt_status show(const struct mt_ranks *ranks, struct mt_report *r, struct mt_err *err)
{
    struct series all[FIGURE_N];
    struct mt_report more;
    const struct mt_report *both[] = {r, &more};
    const bool people = mt_people_read();
    char older[MT_HUMAN_LONG];
    mt_report_init(&more, "memtool.trend", 1);
    add_rows(ranks, r);
    cut_oldest(r);
    describe(ranks, r);
    for (int f = 0; f < FIGURE_N; f++) {
        read_series(ranks, (enum figure)f, &all[f]);
        describe_figure(ranks, &all[f], (enum figure)f, r);
    }
    if (r->left_out_n)
        mt_report_footer(r, "%s not shown; --limit 0 shows all",
                         mt_human_plural(r->left_out_n, "older run", older));
    enum mt_status st = show_change(ranks, &all[PEAK], people ? &more : r, err);
    if (st == MT_OK && rows.columns)
        st = mt_rows_apply(&(struct mt_rows){.columns = rows.columns}, r, "", err);
    if (st == MT_OK)
        st = mt_show_all(both, people && more.columns.n ? 2 : 1, err);
    for (int f = 0; f < FIGURE_N; f++)
        free_series(&all[f]);
    mt_report_free(&more);
    return st;
}

/* The peaks, and the levels before and after they changed. */
static enum mt_status show_svg(const struct mt_ranks *ranks, struct mt_report *r,
                               struct mt_err *err)
{
    struct series peaks;
    struct mt_page_columns c = {.caption =
                                    ranks->at_end ? "what each run holds" : "the peak of each run",
                                .lines = {{MT_UNKNOWN, 0, 0, NULL}, {MT_UNKNOWN, 0, 0, NULL}}};
    struct mt_buf out = {0};
    char words[2][MT_HUMAN_MAX];
    describe(ranks, r);
    read_series(ranks, PEAK, &peaks);
    const struct mt_change_point *change = &peaks.change;
    const size_t changed_in = change->found ? peaks.of[change->at] : ranks->all.n;
    const double at = (double)changed_in / (double)ranks->all.n;
    for (size_t i = 0; i < ranks->all.n; i++) {
        const struct mt_rank *run = &ranks->all.v[i];
        *mt_vec_push(&c.all) =
            (struct mt_page_bar){run->name, run->name, run->figure_b, i == changed_in};
    }
    for (int i = 0; i < 2 && change->found; i++) {
        c.lines[i].bytes = i ? change->after : change->before;
        c.lines[i].from = i ? at : 0;
        c.lines[i].to = i ? 1 : at;
        c.lines[i].words = mt_human_bytes(c.lines[i].bytes, words[i]);
    }
    mt_page_columns_svg(&c, r->title, &out);
    enum mt_status st = mt_show_text(out.s, err);
    mt_show_notes(r);
    mt_buf_free(&out);
    mt_vec_free(&c.all);
    free_series(&peaks);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    struct mt_ranks ranks = {0};
    struct mt_report r;
    (void)exit_code;
    MT_TRY(mt_rows_check_svg(&rows, NULL, "every run", err));
    mt_report_init(&r, "memtool.trend", 1);
    enum mt_status st = mt_ranks_load_all(args, device_name, &ranks, &r, err);
    if (st == MT_OK)
        st = mt_show_wants_svg() ? show_svg(&ranks, &r, err) : show(&ranks, &r, err);
    mt_report_free(&r);
    mt_ranks_free(&ranks);
    return st;
}

static const struct mt_opt opts[] = {
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cpu, cuda, cuda:0, ... (default: the kind on which most bytes were allocated)"},
    {"limit", 'n', MT_OPT_INT, &rows.limit, "N",
     "show the latest N runs; 0 = all (default: 20; csv, tsv and json: all)"},
    {"columns", 0, MT_OPT_STRING, &rows.columns, "LIST",
     "these columns, in this order, by their csv names or headings"},
    {0},
};

const struct mt_cmd mt_cmd_trend = {
    .name = "trend",
    .summary = "memory over runs or commits, and with which run it changed",
    .usage = "[options] [RUN|GROUP ...]",
    .examples = "  memtool import trace.json.gz --name \"$COMMIT\" --group nightly\n"
                "  memtool trend nightly\n"
                "  memtool trend run1 run2 run3\n"
                "  memtool trend nightly -o trend.svg\n",
    .more_formats = "svg",
    .opts = opts,
    .args_max = 100000,
    .run = run,
};
