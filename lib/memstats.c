#include "lib/memstats.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

const char *const mt_memstat_names[MT_STAT_N] = {"allocated", "active", "reserved", "requested",
                                                 "inactive_split"};

static struct mt_memstat_row nothing(void)
{
    const int64_t u = MT_STAT_UNKNOWN;
    return (struct mt_memstat_row){false, u, u, u, u, u, u, u, u};
}

/* Follows one figure through the window. */
struct follow {
    int64_t now_b, now_n;
    bool inside; /* the window has begun */
    struct mt_memstat_row row;
};

static void enter(struct follow *f)
{
    f->inside = true;
    f->row = (struct mt_memstat_row){.known = true, .peak_b = f->now_b, .peak_n = f->now_n};
}

static void change(struct follow *f, int64_t bytes, int64_t n)
{
    f->now_b += bytes;
    f->now_n += n;
    if (!f->inside)
        return;
    *(bytes > 0 ? &f->row.total_alloc_b : &f->row.total_freed_b) += bytes > 0 ? bytes : -bytes;
    *(n > 0 ? &f->row.total_alloc_n : &f->row.total_freed_n) += n > 0 ? n : -n;
    f->row.peak_b = f->now_b > f->row.peak_b ? f->now_b : f->row.peak_b;
    f->row.peak_n = f->now_n > f->row.peak_n ? f->now_n : f->row.peak_n;
}

static void leave(struct follow *f)
{
    if (!f->inside)
        enter(f);
    f->row.current_b = f->now_b;
    f->row.current_n = f->now_n;
}

static enum mt_status one_row(struct mt_db *db, int query, const int64_t in[3], int n, int64_t *out,
                              int out_n, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, query, &s, err));
    mt_stmt_bind(s, n == 3 ? "iii" : "i", in[0], in[1], in[2]);
    MT_TRY(mt_stmt_step(s, &row, err));
    for (int i = 0; i < out_n; i++)
        out[i] = row ? mt_stmt_int(s, i) : 0;
    return row ? mt_stmt_step(s, &row, err) : MT_OK;
}

/* Blocks as recorded: bytes asked for in snapshots, bytes allocated in traces. */
static enum mt_status follow_blocks(struct mt_db *db, const struct mt_run *run,
                                    const struct mt_run_device *device,
                                    const struct mt_window *window, struct mt_memstat_row *out,
                                    struct mt_err *err)
{
    struct mt_levels levels = {0};
    const int64_t blocks[] = {run->alloc_first, run->alloc_first + run->alloc_n, device->id};
    int64_t older;
    MT_TRY(one_row(db, MT_Q_MEMORY_START, blocks, 3, &older, 1, err));
    if (device->at_end_b == INT64_MIN)
        older = 0; /* no addresses: no free is known to be of an older block */
    enum mt_status st = mt_levels_load(db, run, device, &levels, err);
    struct follow f = {.now_b = levels.start_b, .now_n = older};
    for (size_t i = 0; i < levels.all.n; i++) {
        const struct mt_level *l = &levels.all.v[i];
        if (l->t_ns > window->to_ns)
            break;
        if (!f.inside && l->t_ns >= window->from_ns)
            enter(&f);
        int64_t bytes = l->level_b - f.now_b;
        change(&f, bytes, bytes > 0 ? 1 : bytes < 0 ? -1 : 0);
    }
    leave(&f);
    *out = f.row;
    mt_levels_free(&levels);
    return st;
}

static enum mt_status follow_reserved(struct mt_db *db, const struct mt_run *run,
                                      const struct mt_run_device *device,
                                      const struct mt_window *window, struct mt_memstat_row *out,
                                      struct mt_err *err)
{
    struct mt_stmt *s;
    bool row, first = true;
    struct follow f = {0};
    MT_TRY(mt_db_query(db, MT_Q_MEMORY_RESERVED, &s, err));
    mt_stmt_bind(s, "ii", run->id, device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        int64_t t_ns = mt_stmt_int(s, 0), value = mt_stmt_int(s, 1);
        if (t_ns > window->to_ns && !first)
            continue;
        if (first)
            f.now_b = value; /* the first sample is the level the recording begins with */
        first = false;
        if (!f.inside && t_ns >= window->from_ns)
            enter(&f);
        change(&f, value - f.now_b, 0);
    }
    if (first)
        return MT_OK;
    leave(&f);
    *out = f.row;
    out->current_n = out->peak_n = out->total_alloc_n = out->total_freed_n = MT_STAT_UNKNOWN;
    return MT_OK;
}

struct turn {
    int64_t t_ns;
    int change;
};

static int turn_cmp(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return y->change - x->change;
}

/* How many segments there were, where segments are recorded. */
static enum mt_status count_segments(struct mt_db *db, const struct mt_run_device *device,
                                     const struct mt_window *window, struct mt_memstat_row *out,
                                     struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_VEC(struct turn) turns = {0};
    struct follow f = {0};
    MT_TRY(mt_db_query(db, MT_Q_MEMORY_SEGMENTS, &s, err));
    mt_stmt_bind(s, "i", device->id);
    enum mt_status st;
    while ((st = mt_stmt_step(s, &row, err)) == MT_OK && row) {
        *mt_vec_push(&turns) = (struct turn){mt_stmt_int_or(s, 0, INT64_MIN), 1};
        if (mt_stmt_kind(s, 1) != MT_VALUE_NULL)
            *mt_vec_push(&turns) = (struct turn){mt_stmt_int(s, 1), -1};
    }
    if (turns.n)
        qsort(turns.v, turns.n, sizeof *turns.v, turn_cmp);
    for (size_t i = 0; i < turns.n && turns.v[i].t_ns <= window->to_ns; i++) {
        if (!f.inside && turns.v[i].t_ns >= window->from_ns && turns.v[i].t_ns != INT64_MIN)
            enter(&f);
        change(&f, 0, turns.v[i].change);
    }
    leave(&f);
    if (turns.n) {
        out->current_n = f.row.current_n;
        out->peak_n = f.row.peak_n;
        out->total_alloc_n = f.row.total_alloc_n;
        out->total_freed_n = f.row.total_freed_n;
    }
    mt_vec_free(&turns);
    return st;
}

/* Free stretches at the end. Those of expandable segments do not count as split, as in PyTorch. */
static enum mt_status sum_holes(struct mt_db *db, const struct mt_run_device *device,
                                struct mt_memstat_row *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    int64_t bytes = 0, n = 0;
    MT_TRY(mt_db_query(db, MT_Q_HOLES, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        if (mt_stmt_int(s, 3) || mt_stmt_int(s, 4))
            continue;
        bytes += mt_stmt_int(s, 2);
        n++;
    }
    out->current_b = bytes;
    out->current_n = n;
    return MT_OK;
}

/* What only the final list of blocks tells: rounded sizes. */
static enum mt_status add_final(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device,
                                struct mt_memstat_row out[MT_STAT_N], struct mt_err *err)
{
    const int64_t blocks[] = {run->alloc_first, run->alloc_first + run->alloc_n, device->id};
    int64_t sums[4];
    MT_TRY(one_row(db, MT_Q_MEMORY_BLOCKS, blocks, 3, sums, 4, err));
    out[MT_STAT_ALLOCATED].current_b = sums[0];
    out[MT_STAT_ALLOCATED].current_n = sums[1];
    out[MT_STAT_ACTIVE].current_b = sums[2];
    out[MT_STAT_ACTIVE].current_n = sums[3];
    return sum_holes(db, device, &out[MT_STAT_INACTIVE_SPLIT], err);
}

enum mt_status mt_memstats(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, const struct mt_window *window,
                           struct mt_memstat_row out[MT_STAT_N], struct mt_err *err)
{
    struct mt_memstat_row blocks;
    bool snapshot = mt_run_is_snapshot(run);
    for (int i = 0; i < MT_STAT_N; i++)
        out[i] = nothing();
    MT_TRY(follow_blocks(db, run, device, window, &blocks, err));
    MT_TRY(follow_reserved(db, run, device, window, &out[MT_STAT_RESERVED], err));
    if (!snapshot) {
        out[MT_STAT_ALLOCATED] = blocks;
        return MT_OK;
    }
    MT_TRY(count_segments(db, device, window, &out[MT_STAT_RESERVED], err));
    for (int i = 0; i < MT_STAT_N; i++)
        out[i].known = true;
    out[MT_STAT_REQUESTED] = blocks;
    /* A block is active as long as it counts as requested. */
    out[MT_STAT_ACTIVE].current_n = blocks.current_n;
    out[MT_STAT_ACTIVE].peak_n = blocks.peak_n;
    out[MT_STAT_ACTIVE].total_alloc_n = blocks.total_alloc_n;
    out[MT_STAT_ACTIVE].total_freed_n = blocks.total_freed_n;
    if (window->to_ns < run->dur_ns)
        return MT_OK;
    return add_final(db, run, device, out, err);
}
