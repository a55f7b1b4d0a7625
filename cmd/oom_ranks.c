/* memtool oom of several dumps: which ran out of memory first. */
#include "cmd/common.h"
#include "cmd/oom.h"
#include "cmd/ranks.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"
#include <stdlib.h>
#include <string.h>

/* Times of snapshots are those of the system's clock; others say nothing of other machines. */
#define A_CLOCK_NS ((int64_t)100000000000000000) /* 1973: no counter since a boot is as large */

struct found {
    size_t n, unknown_n; /* ranks that ran out of memory; whose recordings would not say so */
    int64_t first_ns, second_ns; /* of the clock; MT_UNKNOWN */
    const struct mt_rank *first, *any;
    const char *first_on, *any_on; /* the devices where these did */
    bool several;                  /* allocations failed in one of them */
    bool unclocked, elsewhere;     /* not on the kind of device that ranks are compared by */
};

/* The rank that it began with; NULL: none, or not known. */
static const struct mt_rank *culprit(const struct found *f)
{
    return f->n == 1 ? f->any : f->unclocked ? NULL : f->first;
}

static const char *culprit_on(const struct found *f)
{
    return f->n == 1 ? f->any_on : f->first_on;
}

static void remember(struct found *f, const struct mt_rank *rank, const char *device, int64_t at_ns)
{
    if (f->first_ns == MT_UNKNOWN || at_ns < f->first_ns) {
        f->second_ns = f->first_ns;
        f->first_ns = at_ns;
        f->first = rank;
        f->first_on = device;
    } else if (f->second_ns == MT_UNKNOWN || at_ns < f->second_ns) {
        f->second_ns = at_ns;
    }
}

static enum mt_status add_segments(struct mt_report *r, struct mt_row *row, struct mt_db *db,
                                   const struct mt_run *run, const struct mt_run_device *device,
                                   const struct mt_oom *oom, struct mt_err *err)
{
    struct mt_segments s = {0};
    if (!mt_device_knows(device, MT_KNOWS_SEGMENTS))
        return MT_OK;
    enum mt_status st = mt_segments_load(db, run, device, oom->at, &s, err);
    if (st == MT_OK) {
        mt_report_put(r, row, "in_use_b", mt_cell_int(s.used_b));
        mt_report_put(r, row, "reserved_b", mt_cell_int(s.size_b));
    }
    mt_segments_free(&s);
    return st;
}

static enum mt_status add_oom(struct mt_report *r, struct found *f, const struct mt_rank *rank,
                              struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const struct mt_ooms *ooms,
                              struct mt_err *err)
{
    const struct mt_oom *oom = &ooms->all.v[0]; /* with which it began; others follow from it */
    struct mt_tree tree = {0};
    struct mt_row *row = mt_report_row(r);
    bool clocked = run->start_ns >= A_CLOCK_NS;
    mt_rank_put(r, row, rank);
    mt_report_put(r, row, "run", mt_cell_text(mt_report_text(r, rank->name)));
    const char *on = mt_report_text(r, device->name);
    mt_report_put(r, row, "device", mt_cell_text(on));
    mt_report_put(r, row, "at_ns", mt_cell_int(oom->t_ns));
    if (clocked)
        mt_report_put(r, row, "epoch_ns", mt_cell_int(mt_wrap_add(run->start_ns, oom->t_ns)));
    mt_report_put(r, row, "asked_for_b", mt_cell_int(oom->asked_b));
    if (oom->device_free_b != INT64_MIN)
        mt_report_put(r, row, "device_free_b", mt_cell_int(oom->device_free_b));
    mt_report_put(r, row, "oom_n", mt_cell_int((int64_t)ooms->all.n));
    f->n++;
    f->several |= ooms->all.n > 1;
    f->any = rank;
    f->any_on = on;
    f->unclocked |= !clocked;
    if (clocked)
        remember(f, rank, on, mt_wrap_add(run->start_ns, oom->t_ns));
    MT_TRY(add_segments(r, row, db, run, device, oom, err));
    enum mt_status st = mt_load_nodes(db, run, &tree, err);
    if (st == MT_OK)
        mt_report_put(r, row, "site", mt_cell_text(mt_oom_asker(r, &tree, oom)));
    mt_tree_free(&tree);
    return st;
}

/* asked: the device, or its kind; NULL: any, for what fails may not be where most is allocated. */
static enum mt_status look_at(const struct mt_ranks *ranks, const struct mt_rank *rank,
                              const char *asked, struct mt_report *r, struct found *f,
                              struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    struct mt_run_device device;
    struct mt_ooms ooms = {0};
    bool failed;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_ranks_open(ranks, rank, &db, &run, err));
    MT_TRY_OUT(mt_oom_device(db, &run, asked, &device, &failed, err));
    f->unknown_n += !failed && !mt_knows_failures(&run);
    if (!failed)
        goto out;
    f->elsewhere |= !mt_device_is(device.name, ranks->device, true) &&
                    !mt_device_is(device.name, ranks->device, false);
    MT_TRY_OUT(mt_ooms_load(db, &run, &device, &ooms, err));
    st = add_oom(r, f, rank, db, &run, &device, &ooms, err);
out:
    mt_ooms_free(&ooms);
    mt_ranks_close(ranks, db);
    return st;
}

static int epoch_column; /* for by_time */

/* The earliest first, those of no known time last. */
static int by_time(const void *a, const void *b)
{
    const struct mt_cell *x = &((const struct mt_row *)a)->cells[epoch_column];
    const struct mt_cell *y = &((const struct mt_row *)b)->cells[epoch_column];
    if (x->kind == MT_CELL_NULL || y->kind == MT_CELL_NULL)
        return (x->kind == MT_CELL_NULL) - (y->kind == MT_CELL_NULL);
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Brings rows into the order of time, and says how long after the first each failed. */
static void order_rows(struct mt_report *r, const struct found *f)
{
    const int epoch = epoch_column = mt_report_find_column(r, "epoch_ns");
    if (r->rows.n)
        qsort(r->rows.v, r->rows.n, sizeof *r->rows.v, by_time);
    for (size_t i = 0; i < r->rows.n; i++)
        if (r->rows.v[i].cells[epoch].kind == MT_CELL_INT)
            mt_report_put(r, &r->rows.v[i], "after_first_ns",
                          mt_cell_int(mt_wrap_sub(r->rows.v[i].cells[epoch].i, f->first_ns)));
    if (mt_people_read())
        mt_report_hide_empty(r);
}

static void describe(const struct mt_ranks *ranks, const struct found *f, struct mt_report *r)
{
    char n[MT_HUMAN_LONG], later[MT_HUMAN_MAX];
    const bool in_group = *ranks->group != '\0';
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s%s%s", in_group ? ranks->group : "", in_group ? " · " : "",
                mt_human_plural((int64_t)ranks->all.n, "rank", n));
    if (f->unknown_n < ranks->all.n)
        mt_buf_addf(&title, " · %zu ran out of memory%s%s", f->n, f->elsewhere ? "" : " on ",
                    f->elsewhere ? "" : ranks->device);
    r->title = title.s;
    if (f->unknown_n == ranks->all.n)
        mt_report_cannot_tell(r, "None of these runs records failed allocations.",
                              "`memtool ranks` shows which holds most.");
    else if (f->unknown_n)
        mt_report_note(r, "%s of these %s failed allocations.",
                       mt_human_count((int64_t)f->unknown_n, n),
                       f->unknown_n == 1 ? "does not record" : "do not record");
    r->empty = "no allocation failed while these were recorded";
    if (!f->unclocked && f->second_ns > f->first_ns)
        mt_report_footer(r, "%s ran out first, %s before the next", mt_rank_words(r, f->first),
                         mt_human_ns(mt_wrap_sub(f->second_ns, f->first_ns), later));
    if (f->unclocked && f->n > 1)
        mt_report_note(r, "Not all recordings say when they were made: which failed first is not "
                          "known.");
    if (f->several)
        mt_report_note(r, "Where several allocations failed, the first is shown; `memtool oom RUN` "
                          "shows the last.");
    mt_report_total(r, "rank_n", mt_cell_int((int64_t)ranks->all.n));
    mt_report_total(r, "oom_rank_n", mt_cell_int((int64_t)f->n));
    mt_report_total(r, "first_run",
                    mt_cell_text(culprit(f) ? mt_report_text(r, culprit(f)->name) : NULL));
}

/* What to look at first: the line in which the rank differs, or that it does not. more: what it
 * held beyond others, or the report of all; device: that was asked for, or NULL. */
static void say_first(const struct mt_ranks *ranks, const struct mt_rank *first, const char *device,
                      struct mt_report *more)
{
    char bytes[MT_HUMAN_MAX];
    const struct mt_rank_cluster *c = &ranks->clusters.v[first->cluster];
    const int site = mt_report_find_column(more, "site");
    const int change = mt_report_find_column(more, "at_peak_delta_b");
    const struct mt_cell *cells = NULL;
    struct mt_buf name = {0};
    for (size_t i = 0; i < more->rows.n && change >= 0 && !cells; i++)
        if (more->rows.v[i].cells[change].i > 0) /* of others it may have less */
            cells = more->rows.v[i].cells;
    if (first->outside && cells)
        mt_report_footer(more, "look first at %s: %s more there than in a usual rank",
                         cells[site].s, mt_human_bytes(cells[change].i, bytes));
    else if (!first->outside && c->judged)
        mt_report_footer(more, "no more than others: what it holds, all ranks hold");
    mt_shell_word(&name, first->name);
    if (device) {
        mt_buf_adds(&name, " --device ");
        mt_shell_word(&name, device);
    }
    mt_report_footer(more, "memtool oom %s: who held what when it failed, and what would have fit",
                     name.s);
    mt_buf_free(&name);
}

/* For people: what the rank that it began with held beyond the median one. */
static enum mt_status compare(const struct mt_ranks *ranks, const struct mt_rank *first,
                              struct mt_report *more, struct mt_err *err)
{
    static const struct mt_rows rows = MT_ROWS(10);
    static const struct mt_peak_change how = {"first", "MEDIAN", "FIRST", &rows};
    const struct mt_rank_cluster *c = &ranks->clusters.v[first->cluster];
    const struct mt_rank *median = &ranks->all.v[c->median];
    more->title = mt_asprintf("what %s held%s", mt_rank_words(more, first),
                              ranks->at_end ? "" : " at its peak");
    if (c->spread.n < 2 || median == first || first->figure_b == MT_UNKNOWN ||
        ranks->apart == MT_RANKS_RECORDERS)
        return MT_OK;
    free(more->title);
    more->title = mt_asprintf("what %s held%s beyond %s%s", mt_rank_words(more, first),
                              ranks->at_end ? "" : " at its peak", mt_rank_words(more, median),
                              c->spread.n > 2 ? ", the median" : "");
    return mt_ranks_change(ranks, median, first, &how, more, err);
}

static enum mt_status show(const struct mt_ranks *ranks, const struct found *f, const char *device,
                           struct mt_report *r, struct mt_err *err)
{
    struct mt_report more;
    const struct mt_report *both[] = {r, &more};
    const struct mt_rank *first = mt_people_read() && !f->elsewhere ? culprit(f) : NULL;
    enum mt_status st = MT_OK;
    mt_report_init(&more, "memtool.oom", 1);
    /* Ranks are compared on the device that each allocates most on: one may run out on another. */
    if (first && strcmp(first->device->name, culprit_on(f)) != 0) {
        mt_report_footer(r, "--device %s: what it held there beyond the others", culprit_on(f));
    } else if (first) {
        st = compare(ranks, first, &more, err);
        say_first(ranks, first, device, more.columns.n ? &more : r);
    }
    if (st == MT_OK)
        st = mt_show_all(both, more.columns.n ? 2 : 1, err);
    mt_report_free(&more);
    return st;
}

enum mt_status mt_oom_of_ranks(const struct mt_args *args, const char *device,
                               const struct mt_rows *rows, int *exit_code, struct mt_err *err)
{
    struct mt_ranks ranks = {.failed_first = true, .failed_on = device};
    struct mt_report r;
    struct found f = {.first_ns = MT_UNKNOWN, .second_ns = MT_UNKNOWN};
    mt_report_init(&r, "memtool.oom", 1);
    enum mt_status st = mt_ranks_load(args, device, &ranks, &r, err);
    mt_report_columns(
        &r, "rank run -device after_first_ns -at_ns -epoch_ns asked_for_b device_free_b in_use_b "
            "reserved_b oom_n=FAILED site=ASKED_BY -host -local_rank");
    r.keep_order = true;
    for (size_t i = 0; i < ranks.all.n && st == MT_OK; i++)
        st = look_at(&ranks, &ranks.all.v[i], device, &r, &f, err);
    if (st == MT_OK) {
        order_rows(&r, &f);
        st = mt_rows_apply(rows, &r, "", err);
    }
    if (st == MT_OK) {
        mt_rows_footer(rows, &r, NULL, "");
        describe(&ranks, &f, &r);
        st = show(&ranks, &f, device, &r, err);
        if (r.cannot_tell.why)
            *exit_code = 3;
    }
    mt_report_free(&r);
    mt_ranks_free(&ranks);
    return st;
}
