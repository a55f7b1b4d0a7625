#include "lib/usage/memstats.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include "lib/usage/live.h"
#include "lib/usage/oom.h"
#include "lib/usage/samples.h"

const char *const mt_memstat_names[MT_STAT_N] = {"allocated", "active",         "reserved",
                                                 "requested", "inactive_split", "rss"};

static struct mt_memstat_row nothing(void)
{
    const int64_t u = MT_STAT_UNKNOWN;
    return (struct mt_memstat_row){false, false, false, u, u, u, u, u, u, u, u};
}

/* What a row is of remains, its figures are unknown. */
static void keep_nothing(struct mt_memstat_row *row)
{
    struct mt_memstat_row unknown = nothing();
    unknown.known = row->known;
    unknown.cut = row->cut;
    unknown.unseen = row->unseen;
    *row = unknown;
}

/* Follows one figure through the window. */
struct follow {
    const struct mt_window *window;
    int64_t now_b, now_n;
    bool inside; /* the window has begun */
    bool cut;    /* there are changes behind it */
    struct mt_memstat_row row;
};

static void enter(struct follow *f)
{
    f->inside = true;
    f->row = (struct mt_memstat_row){.known = true, .peak_b = f->now_b, .peak_n = f->now_n};
}

static void change(struct follow *f, int64_t t_ns, int64_t bytes, int64_t n)
{
    if (t_ns >= f->window->to_ns) {
        f->cut = true;
        return;
    }
    if (!f->inside && t_ns >= f->window->from_ns)
        enter(f);
    mt_wrap_inc(&f->now_b, bytes);
    f->now_n += n;
    if (!f->inside)
        return;
    if (bytes > 0)
        mt_wrap_inc(&f->row.total_alloc_b, bytes);
    else
        mt_wrap_dec(&f->row.total_freed_b, bytes);
    *(n > 0 ? &f->row.total_alloc_n : &f->row.total_freed_n) += n > 0 ? n : -n;
    f->row.peak_b = f->now_b > f->row.peak_b ? f->now_b : f->row.peak_b;
    f->row.peak_n = f->now_n > f->row.peak_n ? f->now_n : f->row.peak_n;
}

static struct mt_memstat_row leave(struct follow *f)
{
    if (!f->inside)
        enter(f);
    f->row.cut = f->cut;
    f->row.current_b = f->now_b;
    f->row.current_n = f->now_n;
    return f->row;
}

/* The figures of the one row that a query about the blocks of a device has. */
static enum mt_status ask_blocks(struct mt_db *db, int query, const struct mt_run *run,
                                 const struct mt_run_device *device, int64_t *out, int out_n,
                                 struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, query, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, run->alloc_first + run->alloc_n, device->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    for (int i = 0; i < out_n; i++)
        out[i] = row ? mt_stmt_int(s, i) : 0;
    return row ? mt_stmt_step(s, &row, err) : MT_OK;
}

static void use_change(void *closure, const struct mt_change *c)
{
    change(closure, c->level.t_ns, c->bytes, c->bytes > 0 ? 1 : -1);
}

/* Blocks as recorded: bytes asked for in snapshots, bytes allocated in traces. */
static enum mt_status follow_blocks(struct mt_db *db, const struct mt_run *run,
                                    const struct mt_run_device *device,
                                    const struct mt_window *window, struct mt_memstat_row *out,
                                    struct mt_err *err)
{
    struct follow f = {.window = window, .now_b = device->start_b};
    MT_TRY(ask_blocks(db, MT_Q_MEMORY_START, run, device, &f.now_n, 1, err));
    if (!mt_allocations_are_known(device))
        f.now_n = 0; /* no free is known to be of an older block */
    MT_TRY(mt_changes_each(db, run, device, use_change, &f, err));
    *out = leave(&f);
    if (mt_run_kept(run, device) ||
        !mt_allocations_are_known(device)) /* of how many blocks, who knows */
        out->current_n = out->peak_n = MT_STAT_UNKNOWN;
    return MT_OK;
}

/* What the process has in memory, of which only levels are known. */
static enum mt_status follow_rss(struct mt_db *db, const struct mt_run *run,
                                 const struct mt_run_device *device, struct mt_memstat_row *out,
                                 struct mt_err *err)
{
    struct mt_levels rss;
    enum mt_status st = mt_samples_load(db, run, device, "rss", &rss, err);
    int64_t last = (int64_t)rss.all.n - 1;
    if (st == MT_OK && rss.all.n) {
        out->known = true;
        out->current_b = mt_levels_value(&rss, last);
        out->peak_b = mt_levels_value(&rss, mt_levels_peak(&rss, 0, last));
    }
    mt_levels_free(&rss);
    return st;
}

static enum mt_status follow_reserved(struct mt_db *db, const struct mt_run *run,
                                      const struct mt_run_device *device,
                                      const struct mt_window *window, struct mt_memstat_row *out,
                                      struct mt_err *err)
{
    struct mt_levels samples;
    enum mt_status st = mt_samples_load(db, run, device, "reserved", &samples, err);
    if (st == MT_OK && samples.all.n) {
        struct follow f = {.window = window, .now_b = samples.start_b};
        for (size_t i = 0; i < samples.all.n; i++)
            change(&f, samples.all.v[i].t_ns, mt_wrap_sub(samples.all.v[i].level_b, f.now_b), 0);
        *out = leave(&f);
        out->current_n = out->peak_n = out->total_alloc_n = out->total_freed_n = MT_STAT_UNKNOWN;
        if (samples.all.v[0].t_ns >= window->to_ns && !mt_run_is_snapshot(run))
            keep_nothing(out); /* a trace says it first behind the window */
        int64_t peak = mt_levels_peak(&samples, 0, (int64_t)samples.all.n - 1);
        out->unseen = mt_reserved_is_unseen(run, device, mt_levels_value(&samples, peak));
    }
    mt_levels_free(&samples);
    return st;
}

/* How many segments there were, where segments are recorded. Those of one event are one change: a
 * segment that grows does not come and go. */
static enum mt_status count_segments(struct mt_db *db, const struct mt_run *run,
                                     const struct mt_run_device *device,
                                     const struct mt_window *window, struct mt_memstat_row *out,
                                     struct mt_err *err)
{
    struct mt_stmt *s;
    bool row, any = false;
    struct follow f = {.window = window};
    MT_TRY(mt_db_query(db, MT_Q_MEMORY_SEGMENTS, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;; any = true) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        int64_t n = mt_stmt_int(s, 1);
        if (mt_stmt_kind(s, 2) == MT_VALUE_NULL)
            mt_wrap_inc(&f.now_n, n);
        else
            change(&f, mt_stmt_int_or(s, 0, run->dur_ns), 0, n);
    }
    if (!any)
        return MT_OK;
    const struct mt_memstat_row counted = leave(&f);
    out->cut |= counted.cut;
    out->current_n = counted.current_n;
    out->peak_n = counted.peak_n;
    out->total_alloc_n = counted.total_alloc_n;
    out->total_freed_n = counted.total_freed_n;
    return MT_OK;
}

/* Free stretches at the end. Those of expandable segments do not count as split, as in PyTorch. */
static enum mt_status sum_holes(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_memstat_row *out,
                                struct mt_err *err)
{
    struct mt_segments segments;
    enum mt_status st = mt_segments_load(db, run, device, MT_SEG_AT_END, &segments, err);
    out->current_b = out->current_n = 0;
    for (size_t i = 0; i < segments.all.n; i++) {
        const struct mt_seg *g = &segments.all.v[i];
        if (g->expandable || !g->block_n)
            continue;
        mt_wrap_inc(&out->current_b, g->hole_b);
        out->current_n += g->hole_n;
    }
    mt_segments_free(&segments);
    return st;
}

/* What only the final list of blocks tells: rounded sizes. */
static enum mt_status add_final(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device,
                                struct mt_memstat_row out[MT_STAT_N], struct mt_err *err)
{
    int64_t sums[4];
    MT_TRY(ask_blocks(db, MT_Q_MEMORY_BLOCKS, run, device, sums, 4, err));
    out[MT_STAT_ALLOCATED].current_b = sums[0];
    out[MT_STAT_ALLOCATED].current_n = sums[1];
    out[MT_STAT_ACTIVE].current_b = sums[2];
    out[MT_STAT_ACTIVE].current_n = sums[3];
    return sum_holes(db, run, device, &out[MT_STAT_INACTIVE_SPLIT], err);
}

/* Of one moment nobody knows what was before it. */
static void keep_current(struct mt_memstat_row *row)
{
    const int64_t current_b = row->current_b, current_n = row->current_n;
    keep_nothing(row);
    row->current_b = current_b;
    row->current_n = current_n;
}

/* Of what is not all recorded the end alone is known, by the file's list. */
static void keep_end(struct mt_memstat_row *row, bool end)
{
    if (!end)
        row->current_b = row->current_n = MT_STAT_UNKNOWN;
    keep_current(row);
}

/* Of runs of sums: what the device itself says. */
static struct mt_memstat_row of_device(const struct mt_run_device *d)
{
    return (struct mt_memstat_row){.known = true,
                                   .current_b = d->at_end_b,
                                   .current_n = d->at_end_n,
                                   .peak_b = d->peak_b,
                                   .peak_n = MT_STAT_UNKNOWN,
                                   .total_alloc_b = d->alloc_b,
                                   .total_alloc_n = d->alloc_n,
                                   .total_freed_b = d->freed_b,
                                   .total_freed_n = d->freed_n};
}

enum mt_status mt_memstats(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, const struct mt_window *window,
                           struct mt_memstat_row out[MT_STAT_N], struct mt_err *err)
{
    struct mt_memstat_row blocks;
    bool snapshot = mt_run_is_snapshot(run);
    for (int i = 0; i < MT_STAT_N; i++)
        out[i] = nothing();
    if (!mt_device_has_events(device)) {
        out[MT_STAT_ALLOCATED] = of_device(device);
        return follow_rss(db, run, device, &out[MT_STAT_RSS], err);
    }
    MT_TRY(follow_blocks(db, run, device, window, &blocks, err));
    MT_TRY(follow_reserved(db, run, device, window, &out[MT_STAT_RESERVED], err));
    if (!snapshot) {
        out[MT_STAT_ALLOCATED] = blocks;
        return MT_OK;
    }
    MT_TRY(count_segments(db, run, device, window, &out[MT_STAT_RESERVED], err));
    for (int i = 0; i < MT_STAT_RSS; i++)
        out[i].known = true;
    out[MT_STAT_REQUESTED] = blocks;
    /* A block is active as long as it counts as requested. */
    out[MT_STAT_ACTIVE].current_n = blocks.current_n;
    out[MT_STAT_ACTIVE].peak_n = blocks.peak_n;
    out[MT_STAT_ACTIVE].total_alloc_n = blocks.total_alloc_n;
    out[MT_STAT_ACTIVE].total_freed_n = blocks.total_freed_n;
    const bool end = !blocks.cut && !out[MT_STAT_RESERVED].cut;
    if (end)
        MT_TRY(add_final(db, run, device, out, err));
    if (out[MT_STAT_RESERVED].unseen)
        keep_end(&out[MT_STAT_RESERVED], end);
    for (int i = 0; i < MT_STAT_N && device->one_moment; i++)
        keep_current(&out[i]);
    return MT_OK;
}
