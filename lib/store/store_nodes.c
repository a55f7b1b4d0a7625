/* The rows of `device`, `node`, `node_op`, `node_stat` and `node_category`. */
#include "gen/queries.h"
#include "lib/store/store_parts.h"
#include <limits.h>
#include <string.h>

/* What it takes to know how many blocks. */
enum {
    ALLOC_N = MT_KNOWS_ALLOC | MT_KNOWS_COUNTS,
    AT_PEAK_N = MT_KNOWS_AT_PEAK | MT_KNOWS_COUNTS,
    AT_END_N = MT_KNOWS_AT_END | MT_KNOWS_COUNTS
};

/* A figure of a device that knows so much. */
static int64_t known(unsigned knows, unsigned need, int64_t v)
{
    return (knows & need) == need ? v : MT_UNKNOWN;
}

/* What a call path held at the peak, or at the end, of which small ones may not be listed. */
static int64_t held(unsigned knows, unsigned need, unsigned large, int64_t v)
{
    return v || !(knows & large) ? known(knows, need, v) : MT_UNKNOWN;
}

static int64_t frame_or_null(const struct mt_writer *w, uint32_t frame)
{
    return frame == MT_NONE ? INT64_MIN : w->frame_id[frame];
}

static void node_row(void *closure, uint64_t i, int64_t *c)
{
    const struct mt_writer *w = closure;
    const struct mt_node *n = &w->r->nodes.v[i];
    const int64_t cells[] = {n->parent == MT_NONE ? INT64_MIN : w->node + (int64_t)n->parent,
                             w->frame_id[n->frame],
                             n->top == n->frame ? INT64_MIN : w->frame_id[n->top],
                             frame_or_null(w, n->scope),
                             n->line ? (int64_t)n->line : INT64_MIN,
                             n->stat_node == MT_NONE ? INT64_MIN : w->node + (int64_t)n->stat_node};
    memcpy(c, cells, sizeof cells);
}

/* Rows that not all have; which comes next. */
struct some_rows {
    const struct mt_writer *w;
    size_t at;
};

static bool is_of_op(const struct mt_node *n)
{
    return n->module != MT_NONE || n->phase || n->calls_n || n->time_ns || n->self_time_ns;
}

static void op_row(void *closure, uint64_t row, int64_t *c)
{
    struct some_rows *rows = closure;
    const struct mt_writer *w = rows->w;
    (void)row;
    while (!is_of_op(&w->r->nodes.v[rows->at]))
        rows->at++;
    const struct mt_node *n = &w->r->nodes.v[rows->at];
    const int64_t cells[] = {w->node + (int64_t)rows->at++,
                             frame_or_null(w, n->module),
                             (int64_t)n->phase,
                             n->calls_n,
                             n->time_ns,
                             n->self_time_ns};
    memcpy(c, cells, sizeof cells);
}

static enum mt_status write_ops(struct mt_writer *w, struct mt_err *err)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w->r->nodes.n; i++)
        n += is_of_op(&w->r->nodes.v[i]);
    return mt_db_insert_rows(w->db, MT_Q_NODE_OP_ADD_ALL, n, op_row, &(struct some_rows){.w = w},
                             err);
}

/* Seven cells, in the order of the columns. */
static void put_sums(const struct mt_device *d, const struct mt_sums *s, int64_t *c)
{
    const unsigned k = d->knows;
    bool freed = d->freed_b != MT_UNKNOWN;
    c[0] = known(k, MT_KNOWS_ALLOC, s->alloc_b);
    c[1] = known(k, freed ? MT_KNOWS_ALLOC : UINT_MAX, s->freed_b);
    c[2] = known(k, ALLOC_N, s->alloc_n);
    c[3] = held(k, MT_KNOWS_AT_PEAK, MT_LARGE_AT_PEAK, s->at_peak_b);
    c[4] = held(k, MT_KNOWS_AT_END, MT_LARGE_AT_END, s->at_end_b);
    c[5] = held(k, AT_PEAK_N, MT_LARGE_AT_PEAK, s->at_peak_n);
    c[6] = held(k, AT_END_N, MT_LARGE_AT_END, s->at_end_n);
}

static const struct mt_sums *self_of(const struct mt_writer *w, const struct mt_node_total *t)
{
    static const struct mt_sums none = {0};
    return t->stat == MT_NONE ? &none : &w->r->stats.v[t->stat].self;
}

/* Most nodes have none below, and most others do nothing themselves: which rows there are. */
static bool has_stat_row(const struct mt_writer *w, const struct mt_node_total *t, bool subtree)
{
    const bool same = memcmp(self_of(w, t), &t->total, sizeof t->total) == 0;
    const unsigned some = MT_LARGE_AT_PEAK | MT_LARGE_AT_END; /* 0 may be unknown */
    return subtree ? !same : same || t->stat != MT_NONE || w->r->devices.v[t->device].knows & some;
}

static void stat_row(void *closure, uint64_t row, int64_t *c)
{
    struct some_rows *rows = closure; /* at: twice the total, and the subtree */
    const struct mt_writer *w = rows->w;
    const struct mt_node_total *t;
    bool subtree;
    (void)row;
    do {
        t = &w->r->totals.v[rows->at / 2];
        subtree = rows->at++ % 2;
    } while (!has_stat_row(w, t, subtree));
    c[0] = w->node + (int64_t)t->node;
    c[1] = w->device + (int64_t)t->device;
    c[2] = subtree;
    put_sums(&w->r->devices.v[t->device], subtree ? &t->total : self_of(w, t), c + 3);
}

static enum mt_status write_stats(struct mt_writer *w, struct mt_err *err)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w->r->totals.n; i++)
        n += (uint64_t)has_stat_row(w, &w->r->totals.v[i], false) +
             has_stat_row(w, &w->r->totals.v[i], true);
    return mt_db_insert_rows(w->db, MT_Q_NODE_STAT_ADD_ALL, n, stat_row,
                             &(struct some_rows){.w = w}, err);
}

static void category_row(void *closure, uint64_t i, int64_t *c)
{
    const struct mt_writer *w = closure;
    const struct mt_category_stat *s = &w->r->category_stats.v[i];
    const int64_t cells[] = {w->device + (int64_t)s->device,
                             s->node == MT_NONE ? 0 : w->node + (int64_t)s->node,
                             (int64_t)s->category,
                             s->self.alloc_b,
                             s->self.freed_b,
                             s->self.alloc_n,
                             s->self.at_peak_b,
                             s->self.at_end_b,
                             s->self.at_peak_n,
                             s->self.at_end_n};
    memcpy(c, cells, sizeof cells);
}

/* Id of a string that may be none. */
static enum mt_status string_or_none(struct mt_writer *w, uint32_t string, int64_t *id,
                                     struct mt_err *err)
{
    *id = INT64_MIN;
    return string == MT_NONE ? MT_OK : mt_store_string(w, string, id, err);
}

static enum mt_status frame_id(struct mt_writer *w, uint32_t frame, int64_t *id, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    int64_t name, object, file;
    const struct mt_frame *f = &w->r->frames.v[frame];
    if ((*id = w->frame_id[frame]))
        return MT_OK;
    MT_TRY(mt_store_string(w, f->name, &name, err));
    MT_TRY(string_or_none(w, f->object, &object, err));
    MT_TRY(string_or_none(w, f->file, &file, err));
    MT_TRY(mt_db_query(w->db, MT_Q_FRAME_FIND, &s, err));
    mt_stmt_bind(s, "iiiII", name, (int64_t)f->kind, (int64_t)f->instance, object, file);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row) {
        *id = mt_stmt_int(s, 0);
    } else {
        MT_TRY(mt_db_query(w->db, MT_Q_FRAME_ADD, &s, err));
        mt_stmt_bind(s, "iiiII", name, (int64_t)f->kind, (int64_t)f->instance, object, file);
        MT_TRY(mt_stmt_run(s, err));
        *id = mt_db_last_id(w->db);
    }
    w->frame_id[frame] = *id;
    return MT_OK;
}

/* There may be millions. Their frames are written first: a row may not ask the database. */
enum mt_status mt_store_nodes(struct mt_writer *w, struct mt_err *err)
{
    int64_t id;
    for (size_t i = 0; i < w->r->nodes.n; i++) {
        const struct mt_node *n = &w->r->nodes.v[i];
        const uint32_t frames[] = {n->frame, n->top, n->scope, n->module};
        for (size_t k = 0; k < MT_ARRAY_LEN(frames); k++)
            if (frames[k] != MT_NONE)
                MT_TRY(frame_id(w, frames[k], &id, err));
    }
    MT_TRY(mt_db_insert_rows(w->db, MT_Q_NODE_ADD_ALL, w->r->nodes.n, node_row, w, err));
    MT_TRY(write_ops(w, err));
    MT_TRY(write_stats(w, err));
    return mt_db_insert_rows(w->db, MT_Q_NODE_CATEGORY_ADD_ALL, w->r->category_stats.n,
                             category_row, w, err);
}

enum mt_status mt_store_devices(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    for (size_t i = 0; i < w->r->devices.n; i++) {
        const struct mt_device *d = &w->r->devices.v[i];
        char name[32];
        unsigned k = d->knows;
        int64_t none = MT_UNKNOWN, recorded = d->has_total ? mt_device_recorded(d) : 0;
        int64_t alloc_b = known(k, MT_KNOWS_ALLOC, d->alloc_b);
        int64_t freed_b = known(k, MT_KNOWS_ALLOC, d->freed_b);
        int64_t net_b = alloc_b == none || freed_b == none ? none : alloc_b - freed_b;
        bool peaked = d->peak_record != SIZE_MAX;
        /* the recorder of the CPU does not count what profilers never saw */
        int64_t counted = d->type == MT_DEVICE_CPU ? d->start_b - d->kept_b : d->start_b;
        mt_rec_device_name(w->r, d, name);
        MT_TRY(mt_db_query(w->db, MT_Q_DEVICE_ADD, &s, err));
        mt_stmt_bind(
            s, "iisiiIIIIIiIIIIIiiiiiiiiiIIiiiiisIIiiiiIiii", w->device + (int64_t)i, w->run, name,
            (int64_t)d->type, (int64_t)d->index, alloc_b, freed_b, net_b,
            known(k, ALLOC_N, d->alloc_n), known(k, ALLOC_N, d->freed_n), d->start_b,
            k & (MT_KNOWS_PEAK | MT_KNOWS_BLOCKS) ? d->peak_b : none,
            peaked ? d->peak_ns - w->r->start_ns : none, peaked ? (int64_t)d->peak_record : none,
            known(k, MT_KNOWS_AT_END, d->at_end_b), known(k, AT_END_N, d->at_end_n),
            d->before_freed_b, d->before_freed_n, d->before_at_peak_b, d->outside_n,
            d->outside_alloc_b, d->outside_freed_b, d->outside_alloc_n, d->outside_at_peak_b,
            d->outside_at_end_b, d->has_total ? d->first_total_b - d->first_bytes - counted : none,
            d->has_total ? d->last_total_b - d->first_total_b + d->first_bytes - recorded : none,
            d->older_b, d->unseen_b, d->unseen_n, d->doubt_at_peak_b, d->doubt_at_end_b,
            w->r->without_ops && !w->r->summed ? mt_kept_names[MT_KEPT_RECORDER]
                                               : mt_kept_names[d->kept_from],
            d->kept_least_b, d->kept_most_b, (int64_t)d->uses_kept, d->alloc_unseen_b,
            d->alloc_unseen_n, (int64_t)d->knows, d->total_peak_b, d->above_b, d->below_b,
            d->missing_b);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}
