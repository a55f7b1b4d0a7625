/* memtool ranks --per step: the peak of each rank in each step, as rows or as shades. */
#include "cmd/common.h"
#include "cmd/ranks.h"
#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/render/chart.h"
#include "lib/render/columns.h"
#include "lib/render/term.h"
#include "lib/usage/step_peaks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mt_status load_steps(const struct mt_ranks *r, const struct mt_rank *rank,
                                 struct mt_step_peaks *out, struct mt_err *err)
{
    struct mt_db *db;
    struct mt_run run;
    enum mt_status st = mt_ranks_open(r, rank, &db, &run, err);
    if (st == MT_OK)
        st = mt_step_peaks_load(db, &run, rank->device, out, err);
    mt_ranks_close(r, db);
    return st;
}

/* How many are known: of a file that ends early the last are not. */
static size_t known_n(const struct mt_step_peaks *s)
{
    size_t n = s->all.n;
    while (n && s->all.v[n - 1].peak_b == MT_UNKNOWN)
        n--;
    return n;
}

static struct mt_row *new_row(struct mt_report *out, const struct mt_rank *rank)
{
    struct mt_row *row = mt_report_row(out);
    mt_rank_put(out, row, rank);
    row->cells[1] = mt_cell_text(mt_report_text(out, rank->name));
    return row;
}

static void add_rows(const struct mt_rank *rank, const struct mt_step_peaks *s,
                     struct mt_report *out)
{
    for (size_t i = 0; i < s->all.n; i++) {
        struct mt_row *row = new_row(out, rank);
        row->cells[2] = mt_cell_int(s->all.v[i].number);
        if (s->all.v[i].peak_b != MT_UNKNOWN)
            row->cells[3] = mt_cell_int(s->all.v[i].peak_b);
    }
}

/* A mark for each step, or, where they are too many, for a few of them: their highest. A full one
 * is the highest peak of all ranks. */
static const char *marks(struct mt_report *out, const struct mt_step_peaks *s, size_t most_n,
                         int64_t most)
{
    enum { WIDTH = 60 };
    const struct mt_term term = mt_term_probe(MT_COLOR_NEVER);
    const size_t n = known_n(s);
    struct mt_buf text = {0};
    int64_t *peaks = mt_alloc((n + 1) * sizeof *peaks);
    for (size_t i = 0; i < n; i++)
        peaks[i] = s->all.v[i].peak_b;
    mt_sparkline_below(&text, peaks, n, most_n < WIDTH ? n : (n * WIDTH + most_n - 1) / most_n,
                       most, mt_common.ascii || !term.utf8);
    const char *kept = mt_report_text(out, text.s);
    mt_buf_free(&text);
    free(peaks);
    return kept;
}

/* Of more ranks than are shown the outliers, and those that hold most: n of them. */
static bool *choose(const struct mt_ranks *r, size_t n)
{
    bool *chosen = mt_alloc((r->all.n + 1) * sizeof *chosen);
    memset(chosen, 0, (r->all.n + 1) * sizeof *chosen);
    for (; n; n--) {
        const struct mt_rank *best = NULL;
        for (size_t i = 0; i < r->all.n; i++) {
            const struct mt_rank *rank = &r->all.v[i];
            if (!chosen[i] && (!best || rank->outside > best->outside ||
                               (rank->outside == best->outside && rank->figure_b > best->figure_b)))
                best = rank;
        }
        chosen[best - r->all.v] = true;
    }
    return chosen;
}

static void add_marks(const struct mt_ranks *r, const struct mt_step_peaks *all, size_t shown_n,
                      struct mt_report *out)
{
    bool *chosen = choose(r, shown_n);
    char most[MT_HUMAN_MAX], n[MT_HUMAN_LONG];
    int64_t most_b = 0;
    size_t most_n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        most_n = all[i].all.n > most_n ? all[i].all.n : most_n;
        for (size_t k = 0; k < all[i].all.n; k++)
            most_b = all[i].all.v[k].peak_b > most_b ? all[i].all.v[k].peak_b : most_b;
    }
    mt_report_columns(out, "rank run peak_b steps");
    out->keep_order = true;
    for (size_t i = 0; i < r->all.n; i++) {
        if (!chosen[i])
            continue;
        struct mt_row *row = new_row(out, &r->all.v[i]);
        if (r->all.v[i].figure_b != MT_UNKNOWN)
            row->cells[2] = mt_cell_int(r->all.v[i].figure_b);
        row->cells[3] = mt_cell_text(marks(out, &all[i], most_n, most_b));
    }
    free(chosen);
    out->left_out_n = out->cut_n = (int64_t)(r->all.n - shown_n);
    mt_report_footer(out, "%s; a full mark is %s", mt_human_plural((int64_t)most_n, "step", n),
                     mt_human_bytes(most_b, most));
    mt_ranks_describe_outside(r, out);
}

static enum mt_status no_steps(const struct mt_ranks *r, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "no run has steps on %s", r->device);
    mt_err_hint(err, "prof.step() in a profile with a schedule marks them; import --step-marker "
                     "takes another name.");
    return MT_EUSAGE;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The numbers of all steps, each once. */
static void take_numbers(struct mt_page_heat *h, const struct mt_ranks *r,
                         const struct mt_step_peaks *all, size_t step_n)
{
    size_t n = 0, kept = 0;
    h->columns = mt_alloc((step_n + 1) * sizeof *h->columns);
    for (size_t i = 0; i < r->all.n; i++)
        for (size_t k = 0; k < all[i].all.n; k++)
            h->columns[n++] = all[i].all.v[k].number;
    qsort(h->columns, n, sizeof *h->columns, by_number);
    for (size_t i = 0; i < n; i++)
        if (!kept || h->columns[kept - 1] != h->columns[i])
            h->columns[kept++] = h->columns[i];
    h->column_n = kept;
}

/* A step of a number that comes again counts with its highest. */
static void take_peaks(struct mt_page_heat *h, size_t row, const struct mt_step_peaks *s)
{
    int64_t *bytes = h->bytes + row * h->column_n;
    for (size_t k = 0; k < h->column_n; k++)
        bytes[k] = MT_UNKNOWN;
    for (size_t k = 0; k < s->all.n; k++) {
        const int64_t *at =
            bsearch(&s->all.v[k].number, h->columns, h->column_n, sizeof *h->columns, by_number);
        if (at && s->all.v[k].peak_b > bytes[at - h->columns])
            bytes[at - h->columns] = s->all.v[k].peak_b;
    }
}

static enum mt_status show_svg(const struct mt_ranks *r, const struct mt_step_peaks *all,
                               size_t step_n, struct mt_report *texts, struct mt_err *err)
{
    struct mt_page_heat h = {.row_n = r->all.n};
    struct mt_buf out = {0};
    take_numbers(&h, r, all, step_n);
    h.rows = mt_alloc((h.row_n + 1) * sizeof *h.rows);
    h.bytes = mt_alloc((h.row_n * h.column_n + 1) * sizeof *h.bytes);
    for (size_t i = 0; i < h.row_n; i++) {
        h.rows[i] = mt_rank_words(texts, &r->all.v[i]);
        take_peaks(&h, i, &all[i]);
    }
    mt_page_heat_svg(&h, texts->title, &out);
    enum mt_status st = mt_show_text(out.s, err);
    mt_show_notes(texts);
    mt_buf_free(&out);
    mt_page_heat_free(&h);
    return st;
}

static enum mt_status show_rows(const struct mt_ranks *r, const struct mt_step_peaks *all,
                                const struct mt_rows *rows, struct mt_report *out,
                                struct mt_err *err)
{
    const size_t limit = (size_t)mt_rows_limit(rows);
    if (mt_people_read()) {
        const bool cut = limit && limit < r->all.n && !rows->min_b && !rows->name;
        add_marks(r, all, cut ? limit : r->all.n, out);
    } else {
        mt_report_columns(out, "rank run step peak_b -host -local_rank");
        for (size_t i = 0; i < r->all.n; i++)
            add_rows(&r->all.v[i], &all[i], out);
    }
    MT_TRY(mt_rows_apply(rows, out, "peak_b", err));
    mt_rows_footer(rows, out, NULL, "");
    return mt_show(out, err);
}

enum mt_status mt_ranks_show_steps(const struct mt_ranks *r, const struct mt_rows *rows,
                                   struct mt_report *out, struct mt_err *err)
{
    struct mt_step_peaks *all = mt_alloc((r->all.n + 1) * sizeof *all);
    enum mt_status st = MT_OK;
    size_t step_n = 0;
    for (size_t i = 0; i < r->all.n && st == MT_OK; i++) {
        if (r->all.v[i].device)
            st = load_steps(r, &r->all.v[i], &all[i], err);
        step_n += all[i].all.n;
    }
    if (st == MT_OK && !step_n)
        st = no_steps(r, err);
    if (st == MT_OK)
        st = mt_show_wants_svg() ? show_svg(r, all, step_n, out, err)
                                 : show_rows(r, all, rows, out, err);
    for (size_t i = 0; i < r->all.n; i++)
        mt_vec_free(&all[i].all);
    free(all);
    return st;
}
