/* Ops as items: the slow but fine-grained way to a table. */
#include "lib/load.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

struct loader {
    struct mt_db *db;
    const struct mt_run *run;
    const struct mt_op_filter *filter;
    struct mt_tree *t;
    struct mt_steps steps;
    bool *wanted;             /* by thread index */
    uint32_t *item_of;        /* op (from the run's first) -> item; MT_NONE: left out */
    int64_t *end_of;          /* op -> end, cut at its parent's */
    struct mt_map path_items; /* node, step (its place) -> item, of recordings of call paths */
};

static enum mt_status choose_threads(struct loader *l, struct mt_err *err)
{
    const char *wanted = l->filter->thread;
    bool any = false;
    l->wanted = mt_alloc(l->t->thread_names.n + 1);
    for (size_t i = 0; i < l->t->thread_names.n; i++) {
        const char *tid = mt_strtab_get(&l->t->strings, l->t->thread_names.v[i]);
        l->wanted[i] = !wanted || strcmp(wanted, tid) == 0;
        any |= l->wanted[i];
    }
    if (any || !wanted)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no thread '%s'", l->run->name, wanted);
    mt_err_hint(err, "`memtool info %s` lists the threads.", l->run->name);
    return MT_EUSAGE;
}

static enum mt_status check_steps(const struct loader *l, struct mt_err *err)
{
    struct mt_window ignored;
    if (!l->filter->by_step)
        return MT_OK;
    return mt_steps_window(&l->steps, &l->filter->steps, l->run, &ignored, err);
}

static bool step_wanted(const struct loader *l, int64_t step)
{
    return !l->filter->by_step ||
           (step != INT64_MIN && step >= l->filter->steps.from && step <= l->filter->steps.to);
}

/* Appends the op of the current row as an item. `op` counts from the run's first. */
static enum mt_status add_op(struct loader *l, struct mt_stmt *s, uint64_t op, uint32_t thread,
                             struct mt_err *err)
{
    struct mt_tree *t = l->t;
    int64_t start = mt_stmt_int(s, 3), end = start + mt_stmt_int(s, 4);
    uint64_t parent = mt_stmt_index(s, 2, l->run->op_first);
    uint64_t node = mt_stmt_index(s, 1, l->run->node_first);
    uint32_t parent_item = parent < op ? l->item_of[parent] : MT_NONE;
    if (parent < op && end > l->end_of[parent])
        end = l->end_of[parent];
    l->end_of[op] = end;
    l->item_of[op] = MT_NONE;
    int64_t step = mt_steps_number_at(&l->steps, start);
    if (node >= t->nodes.n || !step_wanted(l, step))
        return MT_OK;
    struct mt_item item = {.parent = parent_item,
                           .node = (uint32_t)node,
                           .calls_n = 1,
                           .time_ns = end - start,
                           .self_time_ns = end - start,
                           .shape = MT_NONE,
                           .thread = thread,
                           .forward = MT_NONE,
                           .step = step};
    if (parent_item != MT_NONE)
        t->items.v[parent_item].self_time_ns -= end - start;
    uint64_t forward = mt_stmt_index(s, 6, l->run->op_first);
    if (forward < (uint64_t)l->run->op_n)
        item.forward = (uint32_t)forward; /* the op, for now: see name_forward_ops */
    if (mt_stmt_kind(s, 5) != MT_VALUE_NULL)
        MT_TRY(mt_load_shape(l->db, t, mt_stmt_int(s, 5), &item.shape, err));
    l->item_of[op] = (uint32_t)t->items.n;
    *mt_vec_push(&t->items) = item;
    return MT_OK;
}

/* The queries read thread by thread, as ids run. */
static enum mt_status read_thread_ops(struct loader *l, uint32_t thread, int64_t first, int64_t n,
                                      struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_OPS, &s, err));
    mt_stmt_bind(s, "ii", first, first + n);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint64_t op = mt_stmt_index(s, 0, l->run->op_first);
        if (op < (uint64_t)l->run->op_n)
            MT_TRY(add_op(l, s, op, thread, err));
    }
}

static enum mt_status read_ops(struct loader *l, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_THREADS, &s, err));
    mt_stmt_bind(s, "i", l->run->id);
    for (uint32_t thread = 0;; thread++) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row || thread >= l->t->thread_names.n)
            return MT_OK;
        if (l->wanted[thread])
            MT_TRY(read_thread_ops(l, thread, mt_stmt_int(s, 2), mt_stmt_int(s, 3), err));
    }
}

/* The frame of an op that may have been left out; MT_NONE: there is no such op. */
static enum mt_status frame_of_op(struct loader *l, uint32_t op, uint32_t *frame,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    uint64_t node = UINT64_MAX;
    *frame = MT_NONE;
    if (l->item_of[op] != MT_NONE)
        node = l->t->items.v[l->item_of[op]].node;
    else {
        MT_TRY(mt_db_query(l->db, MT_Q_OP_PARENT, &s, err));
        mt_stmt_bind(s, "i", l->run->op_first + op);
        MT_TRY(mt_stmt_step(s, &row, err));
        node = row ? mt_stmt_index(s, 1, l->run->node_first) : node;
    }
    if (node < l->t->nodes.n)
        *frame = l->t->nodes.v[node].frame;
    return MT_OK;
}

/* Once all threads are read: forward ops by name, handed down to what runs under a backward op. */
static enum mt_status name_forward_ops(struct loader *l, struct mt_err *err)
{
    struct mt_tree *t = l->t;
    enum mt_status st = mt_db_read_begin(l->db, err);
    for (size_t i = 0; i < t->items.n && st == MT_OK; i++) {
        struct mt_item *item = &t->items.v[i];
        if (item->forward != MT_NONE)
            st = frame_of_op(l, item->forward, &item->forward, err);
        else if (item->parent != MT_NONE)
            item->forward = t->items.v[item->parent].forward;
    }
    mt_db_read_end(l->db);
    return st;
}

/* Recordings of call paths have no op around a block: its node in that step is the item. */
static uint32_t path_item(struct loader *l, uint32_t node, int64_t t_ns, uint32_t thread)
{
    uint32_t place = (uint32_t)(mt_steps_index_at(&l->steps, t_ns) + 1);
    int64_t step = mt_steps_number_at(&l->steps, t_ns);
    uint32_t inner = MT_NONE, wanted = MT_NONE;
    place = step == INT64_MIN ? 0 : place;
    for (uint32_t at = node; at != MT_NONE; at = l->t->nodes.v[at].parent) {
        uint32_t *item = mt_map_at(&l->path_items, (uint64_t)place << 32 | at);
        bool known = *item != MT_NONE;
        if (!known) {
            *item = (uint32_t)l->t->items.n;
            *mt_vec_push(&l->t->items) = (struct mt_item){.parent = MT_NONE,
                                                          .node = at,
                                                          .shape = MT_NONE,
                                                          .thread = thread,
                                                          .forward = MT_NONE,
                                                          .step = step};
        }
        if (inner != MT_NONE)
            l->t->items.v[inner].parent = *item;
        wanted = wanted == MT_NONE ? *item : wanted;
        inner = *item;
        if (known)
            break;
    }
    return wanted;
}

/* Where one end of a block's life is counted: an item, or a new entry outside ops. NULL: left out.
 */
static struct mt_sums *side(struct loader *l, const struct mt_stmt *s, int column, int node_column)
{
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return NULL;
    if (mt_stmt_kind(s, column + 1) != MT_VALUE_NULL) {
        uint64_t op = mt_stmt_index(s, column + 1, l->run->op_first);
        uint32_t item = op < (uint64_t)l->run->op_n ? l->item_of[op] : MT_NONE;
        return item == MT_NONE ? NULL : &l->t->items.v[item].self;
    }
    int64_t step = mt_steps_number_at(&l->steps, mt_stmt_int(s, column));
    uint32_t thread = mt_tree_thread(l->t, mt_stmt_int(s, column + 2));
    if (thread == MT_NONE || !l->wanted[thread] || !step_wanted(l, step))
        return NULL;
    uint64_t node = (uint64_t)(mt_stmt_int(s, node_column) - l->run->node_first);
    if (mt_stmt_kind(s, node_column) != MT_VALUE_NULL && node < l->t->nodes.n) {
        uint32_t item = path_item(l, (uint32_t)node, mt_stmt_int(s, column), thread);
        return &l->t->items.v[item].self;
    }
    struct mt_outside *o = mt_vec_push(&l->t->outside);
    *o = (struct mt_outside){.thread = thread, .step = step};
    return &o->sums;
}

static enum mt_status read_allocs(struct loader *l, const struct mt_run_device *d,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_ALLOCS, &s, err));
    mt_stmt_bind(s, "iii", l->run->alloc_first, l->run->alloc_first + l->run->alloc_n, d->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t bytes = mt_stmt_int(s, 1);
        bool freed = mt_stmt_kind(s, 5) != MT_VALUE_NULL;
        struct mt_sums *born = side(l, s, 2, 10);
        if (born) {
            born->alloc_b += bytes;
            born->alloc_n++;
            bool at_peak = mt_stmt_int(s, 8) <= d->peak_record &&
                           (!freed || mt_stmt_int(s, 9) > d->peak_record);
            born->at_end_b += freed ? 0 : bytes;
            born->at_end_n += !freed;
            born->at_peak_b += at_peak ? bytes : 0;
            born->at_peak_n += at_peak;
        }
        struct mt_sums *died = side(l, s, 5, 11);
        if (died)
            died->freed_b += bytes;
    }
}

static void add_totals(struct mt_tree *t)
{
    for (size_t i = 0; i < t->items.n; i++)
        t->items.v[i].total = t->items.v[i].self;
    for (size_t i = t->items.n; i-- > 0;) {
        if (t->items.v[i].parent == MT_NONE)
            continue;
        struct mt_sums *to = &t->items.v[t->items.v[i].parent].total;
        const struct mt_sums *s = &t->items.v[i].total;
        mt_sums_add(to, s);
    }
}

enum mt_status mt_load_ops(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, const struct mt_op_filter *filter,
                           struct mt_tree *out, struct mt_err *err)
{
    struct loader l = {.db = db, .run = run, .filter = filter, .t = out};
    enum mt_status st = MT_OK;
    l.item_of = mt_alloc((size_t)(run->op_n + 1) * sizeof *l.item_of);
    l.end_of = mt_alloc((size_t)(run->op_n + 1) * sizeof *l.end_of);
    memset(l.item_of, 0xff, (size_t)(run->op_n + 1) * sizeof *l.item_of);
    MT_TRY_OUT(mt_load_nodes(db, run, NULL, out, err));
    out->items.n = 0; /* items are ops here, not nodes */
    MT_TRY_OUT(mt_load_threads(db, run, out, err));
    MT_TRY_OUT(choose_threads(&l, err));
    MT_TRY_OUT(mt_steps_load(db, run, &l.steps, err));
    MT_TRY_OUT(check_steps(&l, err));
    MT_TRY_OUT(read_ops(&l, err));
    MT_TRY_OUT(name_forward_ops(&l, err));
    if (device)
        MT_TRY_OUT(read_allocs(&l, device, err));
    /* Parents of path items may stand behind them. */
    if (l.path_items.n)
        mt_tree_preorder(out);
    add_totals(out);
    if (device && !filter->thread && !filter->by_step) {
        out->before_at_peak_b = device->start_b - device->before_at_peak_b;
        out->before_at_end_b = device->start_b - device->before_freed_b;
    }
out:
    free(l.item_of);
    free(l.end_of);
    mt_map_free(&l.path_items);
    free(l.wanted);
    mt_steps_free(&l.steps);
    return st;
}
