/* memtool ranks: the runs of a job side by side, and what the one that holds most has more. */
#include "cmd/ranks.h"
#include "cmd/common.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include <stdlib.h>
#include <string.h>

static const char *device_name, *by, *per, *sort_key;
static struct mt_rows rows = MT_ROWS(20);

/* When it peaked. Times of other units (instructions, samples) are no column's: people read them.
 */
static struct mt_cell peak_time(struct mt_report *r, const struct mt_rank *rank)
{
    const struct mt_run_device *d = rank->device;
    char text[MT_HUMAN_LONG];
    if (!d || d->one_moment || d->peak_ns == MT_UNKNOWN)
        return (struct mt_cell){0};
    if (strcmp(rank->time_unit, "ns") == 0)
        return mt_cell_int(d->peak_ns);
    bool said = mt_people_read() && *rank->time_unit;
    return mt_cell_text(said ? mt_report_text(r, mt_human_time(rank->time_unit, d->peak_ns, text))
                             : NULL);
}

static void add_row(const struct mt_ranks *ranks, const struct mt_rank *rank, struct mt_report *r)
{
    const struct mt_rank_cluster *c = &ranks->clusters.v[rank->cluster];
    const bool known = rank->figure_b != MT_UNKNOWN;
    const struct mt_run_device *d = rank->device;
    struct mt_row *row = mt_report_row(r);
    int at = 0;
    if (!mt_people_read())
        row->cells[at++] = mt_cell_text("rank");
    row->cells[at++] = mt_cell_known(rank->place.rank);
    row->cells[at++] = mt_cell_text(rank->name);
    row->cells[at++] = mt_cell_known(rank->place.stage);
    row->cells[at++] = mt_cell_text(d ? mt_report_text(r, d->name) : NULL);
    row->cells[at++] = mt_cell_known(rank->figure_b);
    row->cells[at++] =
        known ? mt_cell_int(mt_wrap_sub(rank->figure_b, c->spread.median)) : (struct mt_cell){0};
    if (known && c->judged)
        row->cells[at] = mt_cell_bool(rank->outside);
    row->cells[++at] = peak_time(r, rank);
    mt_report_put(r, row, "at_end_b", mt_cell_known(d ? d->at_end_b : MT_UNKNOWN));
    mt_rank_put(r, row, rank);
}

static void add_columns(const struct mt_ranks *ranks, struct mt_report *r)
{
    if (!mt_people_read())
        mt_report_columns(r, "section");
    mt_report_columns(r, ranks->staged ? "rank run stage -device" : "rank run -stage -device");
    mt_report_columns(r, ranks->at_end ? "peak_b=ALIVE" : "peak_b");
    mt_report_columns(r, "over_median_b -outlier peak_ns peak_step");
    mt_report_column(r, "phase", NULL, MT_UNIT_NONE);
    mt_report_columns(r, "reserved_peak_b oom_n at_end_b site=LARGEST_SITE -host -local_rank");
    r->keep_order = true;
    r->empty = "there are no runs";
}

/* What the other outliers hold is not shown. */
static const char *how_to_compare(const struct mt_ranks *ranks, const struct mt_rank *median,
                                  const struct mt_rank *rank, struct mt_report *r)
{
    struct mt_buf words = {0};
    mt_buf_adds(&words, ": memtool diff ");
    mt_shell_word(&words, median->ref ? median->ref : median->name);
    mt_buf_adds(&words, " ");
    mt_shell_word(&words, rank->ref ? rank->ref : rank->name);
    if (ranks->asked) {
        mt_buf_adds(&words, " --device ");
        mt_shell_word(&words, ranks->asked);
    }
    mt_buf_adds(&words, " --section peak");
    const char *kept = mt_report_text(r, words.s);
    mt_buf_free(&words);
    return kept;
}

/* The outliers of a cluster; or why there are none to tell. */
static void describe_cluster(const struct mt_ranks *ranks, size_t k, struct mt_report *r)
{
    enum { NAMED = 5 };
    char figure[MT_HUMAN_MAX], median[MT_HUMAN_MAX], n[MT_HUMAN_LONG];
    const struct mt_rank_cluster *c = &ranks->clusters.v[k];
    const size_t most = mt_ranks_most(ranks);
    size_t named = 0;
    if (c->spread.n < MT_SPREAD_MIN)
        mt_report_footer(r, "%s: %s, too few to call one an outlier",
                         mt_rank_cluster_words(r, ranks, c),
                         mt_human_plural((int64_t)c->spread.n, "rank", n));
    else if (!c->judged)
        mt_report_footer(r, "%s: the peaks do not compare, so none is called an outlier",
                         mt_rank_cluster_words(r, ranks, c));
    for (size_t i = 0; i < ranks->all.n; i++) {
        const struct mt_rank *rank = &ranks->all.v[i];
        if (rank->cluster != k || !rank->outside || named++ >= NAMED)
            continue;
        mt_report_footer(r, "outlier: %s with %s%s; the median of %s is %s%s",
                         mt_rank_words(r, rank), rank->figure_b < c->spread.median ? "only " : "",
                         mt_human_bytes(rank->figure_b, figure), mt_rank_cluster_words(r, ranks, c),
                         mt_human_bytes(c->spread.median, median),
                         i == most ? "" : how_to_compare(ranks, &ranks->all.v[c->median], rank, r));
    }
    if (named > NAMED)
        mt_report_footer(r, "and %zu more outliers", named - NAMED);
}

void mt_ranks_describe_outside(const struct mt_ranks *ranks, struct mt_report *r)
{
    for (size_t k = 0; k < ranks->clusters.n; k++)
        describe_cluster(ranks, k, r);
}

static void describe(const struct mt_ranks *ranks, struct mt_report *r)
{
    char n[MT_HUMAN_LONG], figures[3][MT_HUMAN_MAX];
    struct mt_spread s;
    int64_t *known = mt_alloc((ranks->all.n + 1) * sizeof *known);
    size_t known_n = 0, uncertain_n = 0;
    for (size_t i = 0; i < ranks->all.n; i++) {
        if (ranks->all.v[i].figure_b != MT_UNKNOWN)
            known[known_n++] = ranks->all.v[i].figure_b;
        uncertain_n += ranks->all.v[i].device && !ranks->all.v[i].certain;
    }
    mt_spread_of(known, known_n, &s);
    free(known);
    mt_human_plural((int64_t)ranks->all.n, "rank", n);
    const char *group = *ranks->group ? ranks->group : NULL;
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s%s%s · %s", group ? group : "", group ? " · " : "", n, ranks->device);
    if (known_n)
        mt_buf_addf(&title, " · %s %s to %s, median %s", ranks->at_end ? "alive" : "peak",
                    mt_human_bytes(s.least, figures[0]), mt_human_bytes(s.most, figures[1]),
                    mt_human_bytes(s.median, figures[2]));
    r->title = title.s;
    mt_report_param(r, "group", mt_cell_text(mt_report_text(r, group)));
    mt_report_param(r, "device", mt_cell_text(mt_report_text(r, ranks->device)));
    mt_report_total(r, "rank_n", mt_cell_int((int64_t)ranks->all.n));
    mt_report_total(r, "least_peak_b", mt_cell_known(known_n ? s.least : MT_UNKNOWN));
    mt_report_total(r, "median_peak_b", mt_cell_known(known_n ? s.median : MT_UNKNOWN));
    mt_report_total(r, "peak_b", mt_cell_known(known_n ? s.most : MT_UNKNOWN));
    if (known_n < ranks->all.n)
        mt_report_note(r, "Nothing is known of the peak of %s on %s: these are not compared.",
                       mt_human_plural((int64_t)(ranks->all.n - known_n), "rank", n),
                       ranks->device);
    if (uncertain_n)
        mt_report_note(r,
                       "The recordings of %s do not cover all of the peak, or leave something "
                       "open: memtool info RUN says what.",
                       mt_human_plural((int64_t)uncertain_n, "rank", n));
    mt_ranks_note_apart(ranks, r);
    mt_ranks_note_moment(ranks, r);
    if (ranks->block_n)
        mt_report_note(r,
                       "Nothing says which stage of a pipeline a rank is in, but ranks are alike "
                       "in %zu equal blocks: each is compared with those of its block.",
                       ranks->block_n);
}

/* A row for each rank; what is slow to find out only for those shown, where that will do. */
static enum mt_status add_ranks(const struct mt_ranks *ranks, struct mt_report *r,
                                struct mt_err *err)
{
    const char *column = sort_key ? sort_key : "peak_b";
    struct mt_rows chosen = rows;
    bool early = rows.name || mt_rank_is_detail(sort_key);
    chosen.columns = NULL;
    add_columns(ranks, r);
    for (size_t i = 0; i < ranks->all.n; i++)
        add_row(ranks, &ranks->all.v[i], r);
    if (early)
        MT_TRY(mt_ranks_add_details(ranks, r, err));
    bool text = r->columns.v[mt_report_find_column(r, column)].unit == MT_UNIT_NONE;
    mt_table_sort(r, &(struct mt_sort){.column = column, .by_size = !text});
    MT_TRY(mt_rows_apply(&chosen, r, mt_rows_size(r, column, "peak_b"), err));
    if (!early)
        MT_TRY(mt_ranks_add_details(ranks, r, err));
    mt_rows_footer(&rows, r, NULL, "");
    if (mt_people_read())
        mt_report_hide_empty(r);
    return MT_OK;
}

/* A row for each cluster. */
static enum mt_status add_clusters(const struct mt_ranks *ranks, struct mt_report *r,
                                   struct mt_err *err)
{
    mt_report_columns(r, ranks->staged || !(ranks->parted || ranks->block_n) ? "stage" : "-stage");
    mt_report_columns(r, ranks->parted ? "tp" : "-tp");
    mt_report_columns(r, ranks->block_n ? "first_rank last_rank" : "-first_rank -last_rank");
    mt_report_columns(r, "rank_n=RANKS least_peak_b median_peak_b peak_b deviation_b "
                         "outlier_n");
    r->keep_order = true;
    for (size_t i = 0; i < ranks->clusters.n; i++) {
        const struct mt_rank_cluster *c = &ranks->clusters.v[i];
        struct mt_row *row = mt_report_row(r);
        const bool known = c->spread.n > 0;
        int at = 0;
        row->cells[at++] = mt_cell_known(c->stage);
        row->cells[at++] = mt_cell_known(c->tp);
        row->cells[at++] = mt_cell_known(c->first_rank);
        row->cells[at++] = mt_cell_known(c->last_rank);
        row->cells[at++] = mt_cell_int((int64_t)c->rank_n);
        row->cells[at++] = mt_cell_known(known ? c->spread.least : MT_UNKNOWN);
        row->cells[at++] = mt_cell_known(known ? c->spread.median : MT_UNKNOWN);
        row->cells[at++] = mt_cell_known(known ? c->spread.most : MT_UNKNOWN);
        row->cells[at++] = mt_cell_known(known ? c->spread.deviation : MT_UNKNOWN);
        if (c->judged)
            row->cells[at] = mt_cell_int((int64_t)c->outside_n);
    }
    if (ranks->clusters.n == 1)
        mt_report_note(r, "Nothing says that these ranks differ by design, as the stages of a "
                          "pipeline do: they are one cluster.");
    MT_TRY(mt_rows_apply(&rows, r, "peak_b", err));
    mt_rows_footer(&rows, r, NULL, "");
    return MT_OK;
}

/* For people what the rank that has most holds beyond the median one is a report of its own; for
 * programs it is a section. */
static enum mt_status show_ranks(const struct mt_ranks *ranks, struct mt_report *r,
                                 struct mt_err *err)
{
    struct mt_report more;
    const struct mt_report *both[] = {r, &more};
    const bool people = mt_people_read();
    mt_report_init(&more, "memtool.ranks", 1);
    enum mt_status st = add_ranks(ranks, r, err);
    mt_ranks_describe_outside(ranks, r);
    if (st == MT_OK)
        st = mt_ranks_compare(ranks, &rows, people ? &more : r, err);
    if (st == MT_OK && rows.columns)
        st = mt_rows_apply(&(struct mt_rows){.columns = rows.columns}, r, "", err);
    if (st == MT_OK)
        st = mt_show_all(both, people && more.columns.n ? 2 : 1, err);
    mt_report_free(&more);
    return st;
}

static enum mt_status refuse(const char *option, const char *value, const char *known,
                             struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "%s does not take '%s'", option, value);
    mt_err_hint(err, "It takes %s.", known);
    return MT_EUSAGE;
}

static enum mt_status check_options(struct mt_err *err)
{
    static const char *const keys[] = {
        "rank",    "run",   "peak_b",          "over_median_b", "at_end_b", "peak_step",
        "peak_ns", "phase", "reserved_peak_b", "oom_n",         "site"};
    if (by && strcmp(by, "cluster") != 0) {
        MT_FAIL(err, MT_EUSAGE, "ranks: unknown --by key '%s'", by);
        mt_err_hint(err, "Keys: cluster.");
        return MT_EUSAGE;
    }
    if (per && strcmp(per, "step") != 0)
        return refuse("--per", per, "step", err);
    if (by && mt_show_wants_svg()) {
        MT_FAIL(err, MT_EUSAGE, "the picture is of ranks and steps, not of clusters");
        mt_err_hint(err, "Nothing was drawn. Leave out --by.");
        return MT_EUSAGE;
    }
    if (by && per) {
        MT_FAIL(err, MT_EUSAGE, "--by and --per cannot be combined");
        mt_err_hint(err, "Ask for one of them.");
        return MT_EUSAGE;
    }
    MT_TRY(mt_rows_check_svg(&rows, sort_key ? "--sort" : NULL, "every rank", err));
    if (sort_key && (by || per)) {
        MT_FAIL(err, MT_EUSAGE, "--sort orders ranks, and %s has rows of its own",
                by ? "--by cluster" : "--per step");
        mt_err_hint(err, "Leave one of them out.");
        return MT_EUSAGE;
    }
    for (size_t i = 0; sort_key && i < MT_ARRAY_LEN(keys); i++)
        if (strcmp(sort_key, keys[i]) == 0)
            return MT_OK;
    return sort_key ? refuse("--sort", sort_key,
                             "rank, run, peak_b, over_median_b, peak_ns, peak_step, phase, "
                             "reserved_peak_b, oom_n, at_end_b or site",
                             err)
                    : MT_OK;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    struct mt_ranks ranks = {0};
    struct mt_report r;
    enum mt_status st = MT_OK;
    (void)exit_code;
    MT_TRY(check_options(err));
    mt_report_init(&r, "memtool.ranks", 1);
    MT_TRY_OUT(mt_ranks_load(args, device_name, &ranks, &r, err));
    describe(&ranks, &r);
    if (!by && !per && !mt_show_wants_svg()) {
        st = show_ranks(&ranks, &r, err);
        goto out;
    }
    if (per || mt_show_wants_svg()) {
        st = mt_ranks_show_steps(&ranks, &rows, &r, err);
        goto out;
    }
    MT_TRY_OUT(add_clusters(&ranks, &r, err));
    st = mt_show(&r, err);
out:
    mt_report_free(&r);
    mt_ranks_free(&ranks);
    return st;
}

static const struct mt_opt opts[] = {
    {"by", 0, MT_OPT_STRING, &by, "KEY",
     "cluster: a row for ranks that are alike by design, such as a stage of a pipeline"},
    {"per", 0, MT_OPT_STRING, &per, "WHAT", "step: the peak of each rank in each step"},
    {"sort", 's', MT_OPT_STRING, &sort_key, "COLUMN", "by this column (default: peak_b)"},
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cpu, cuda, cuda:0, ... (default: the kind on which most bytes were allocated)"},
    MT_ROWS_OPTS(rows, "in PEAK", "20"),
    {0},
};

static const struct mt_values values[] = {
    {"per", "step", NULL},
    {"sort",
     "rank run peak_b over_median_b peak_ns peak_step phase reserved_peak_b oom_n at_end_b site",
     NULL},
    {0}};

static const struct mt_glossary_entry terms[] = {
    {"outlier", "further from the median than 3.5 times the scaled median absolute deviation, and "
                "than 5 % of it; of at least 4 ranks"},
    {"rank", "as the recorder says (distributedInfo), else of the file's name: rank3, rank_3, TP-3 "
             "alone, or the one number in which the names differ"},
    {0}};
static const struct mt_glossary_entry keys[] = {
    {"cluster", "ranks of one stage of a pipeline, and of these those with the same part of its "
                "tensors (copies of each other, if there are 4), as the recorder (mesh_pp, "
                "mesh_tp) or the file's name (pp0, tp1) says; else equal blocks of ranks that are "
                "alike, else all"},
    {0}};
static const struct mt_glossary words[] = {
    {"Words of --by", keys, "by"}, {"Terms", terms, NULL}, {0}};

const struct mt_cmd mt_cmd_ranks = {
    .name = "ranks",
    .summary = "the ranks of a job side by side: which holds most, and what it holds beyond others",
    .usage = "[options] [RUN|GROUP ...]",
    .examples = "  memtool import traces/ --group job42\n"
                "  memtool ranks job42\n"
                "  memtool ranks dumps/*.pickle\n"
                "  memtool ranks job42 --per step\n"
                "  memtool ranks job42 -o heat.svg\n",
    .more_formats = "svg",
    .opts = opts,
    .values = values,
    .words = words,
    .args_max = 100000,
    .run = run,
};
