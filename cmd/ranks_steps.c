/* memtool ranks --per step: the peak of each rank in each step, as rows or as shades. */
#include "cmd/common.h"
#include "cmd/ranks.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/render/term.h"
#include "lib/usage/levels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The steps of a rank. */
struct steps {
    MT_VEC(struct step_peak { int64_t number, peak_b; }) all;
};

/* Levels exact at the ends of the steps, with what is highest in between. */
static enum mt_status load_levels(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, const struct mt_steps *steps,
                                  struct mt_levels *out, struct mt_err *err)
{
    const size_t n = steps->all.n;
    int64_t *moments = mt_alloc((2 * n + 1) * sizeof *moments);
    for (size_t i = 0; i < n; i++) {
        moments[2 * i] = steps->all.v[i].start_ns;
        moments[2 * i + 1] = steps->all.v[i].end_ns;
    }
    enum mt_status st = mt_levels_load_near(db, run, device, moments, 2 * n, out, err);
    free(moments);
    return st;
}

static enum mt_status load_steps(const struct mt_ranks *r, const struct mt_rank *rank,
                                 struct steps *out, struct mt_err *err)
{
    struct mt_db *db;
    struct mt_run run;
    struct mt_steps steps = {0};
    struct mt_levels levels = {0};
    enum mt_status st = mt_ranks_open(r, rank, &db, &run, err);
    if (st == MT_OK)
        st = mt_steps_load(db, &run, &steps, err);
    if (st == MT_OK)
        st = load_levels(db, &run, rank->device, &steps, &levels, err);
    for (size_t i = 0; i < steps.all.n && st == MT_OK; i++) {
        int64_t first = mt_levels_before(&levels, steps.all.v[i].start_ns);
        int64_t last = mt_levels_before(&levels, mt_steps_until(&steps, i));
        *mt_vec_push(&out->all) = (struct step_peak){
            steps.all.v[i].number, mt_levels_value(&levels, mt_levels_peak(&levels, first, last))};
    }
    mt_levels_free(&levels);
    mt_steps_free(&steps);
    mt_ranks_close(r, db);
    return st;
}

static struct mt_row *new_row(struct mt_report *out, const struct mt_rank *rank)
{
    struct mt_row *row = mt_report_row(out);
    if (rank->place.rank != MT_UNKNOWN)
        row->cells[0] = mt_cell_int(rank->place.rank);
    row->cells[1] = mt_cell_text(mt_report_text(out, rank->name));
    return row;
}

static void add_rows(const struct mt_rank *rank, const struct steps *s, struct mt_report *out)
{
    for (size_t i = 0; i < s->all.n; i++) {
        struct mt_row *row = new_row(out, rank);
        row->cells[2] = mt_cell_int(s->all.v[i].number);
        row->cells[3] = mt_cell_int(s->all.v[i].peak_b);
    }
}

/* What the shades stand between. */
struct scale {
    int64_t least, most;
    size_t step_n, width; /* of the rank with most steps; marks it is drawn in */
};

static void widen(struct scale *scale, const struct steps *s)
{
    for (size_t i = 0; i < s->all.n; i++) {
        int64_t peak = s->all.v[i].peak_b;
        if (!scale->step_n || peak < scale->least)
            scale->least = peak;
        if (!scale->step_n || peak > scale->most)
            scale->most = peak;
        if (i + 1 > scale->step_n)
            scale->step_n = i + 1;
    }
}

/* A mark for each step, or, where they are too many, for a few of them: their highest. */
static const char *shades(struct mt_report *out, const struct scale *scale, const struct steps *s)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {".", ":", "-", "=", "+", "*", "#", "@"};
    const struct mt_term term = mt_term_probe(MT_COLOR_NEVER);
    const char *const *marks = mt_common.ascii || !term.utf8 ? letters : blocks;
    const double range = (double)scale->most - (double)scale->least;
    struct mt_buf text = {0};
    for (size_t mark = 0; mark < scale->width; mark++) {
        size_t i = mark * scale->step_n / scale->width;
        size_t end = (mark + 1) * scale->step_n / scale->width;
        if (i >= s->all.n)
            break;
        int64_t most = s->all.v[i].peak_b;
        for (; i < end && i < s->all.n; i++)
            most = s->all.v[i].peak_b > most ? s->all.v[i].peak_b : most;
        double part = range > 0 ? ((double)most - (double)scale->least) / range : 1;
        mt_buf_adds(&text, marks[(size_t)(part * 7 + 0.5)]);
    }
    const char *kept = mt_report_text(out, text.s ? text.s : "");
    mt_buf_free(&text);
    return kept;
}

static void describe(const struct scale *scale, struct mt_report *out)
{
    char least[MT_HUMAN_MAX], most[MT_HUMAN_MAX], steps[MT_HUMAN_LONG];
    mt_report_footer(out, "%s, from %s (lowest mark) to %s (highest)%s",
                     mt_human_plural((int64_t)scale->step_n, "step", steps),
                     mt_human_bytes(scale->least, least), mt_human_bytes(scale->most, most),
                     scale->width < scale->step_n ? "; a mark is the highest of several steps"
                                                  : "");
}

static void add_shades(const struct mt_ranks *r, const struct steps *all, struct mt_report *out)
{
    enum { WIDTH = 60 };
    struct scale scale = {0};
    for (size_t i = 0; i < r->all.n; i++)
        widen(&scale, &all[i]);
    scale.width = scale.step_n < WIDTH ? scale.step_n : WIDTH;
    mt_report_columns(out, "rank run peak_b steps");
    out->keep_order = true;
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_row *row = new_row(out, &r->all.v[i]);
        if (r->all.v[i].figure_b != MT_UNKNOWN)
            row->cells[2] = mt_cell_int(r->all.v[i].figure_b);
        row->cells[3] = mt_cell_text(all[i].all.n ? shades(out, &scale, &all[i]) : NULL);
    }
    describe(&scale, out);
}

static enum mt_status no_steps(const struct mt_ranks *r, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "no rank has steps on %s", r->device);
    mt_err_hint(err, "prof.step() in a profile with a schedule marks them; import --step-marker "
                     "takes another name.");
    return MT_EUSAGE;
}

enum mt_status mt_ranks_per_step(const struct mt_ranks *r, const struct mt_rows *rows,
                                 struct mt_report *out, struct mt_err *err)
{
    struct steps *all = mt_alloc((r->all.n + 1) * sizeof *all);
    enum mt_status st = MT_OK;
    size_t step_n = 0;
    for (size_t i = 0; i < r->all.n && st == MT_OK; i++) {
        if (r->all.v[i].device)
            st = load_steps(r, &r->all.v[i], &all[i], err);
        step_n += all[i].all.n;
    }
    if (st == MT_OK && !step_n)
        st = no_steps(r, err);
    if (st == MT_OK && mt_people_read())
        add_shades(r, all, out);
    if (st == MT_OK && !mt_people_read()) {
        mt_report_columns(out, "rank run step peak_b");
        for (size_t i = 0; i < r->all.n; i++)
            add_rows(&r->all.v[i], &all[i], out);
    }
    if (st == MT_OK)
        st = mt_rows_apply(rows, out, "peak_b", err);
    if (st == MT_OK)
        mt_rows_footer(rows, out, NULL, "");
    for (size_t i = 0; i < r->all.n; i++)
        mt_vec_free(&all[i].all);
    free(all);
    return st;
}
