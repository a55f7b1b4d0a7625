/* Ops as items: the slow but fine-grained way to a table. */
#include "lib/load.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

struct thread_range {
    int64_t id, op_first, op_n;
    bool wanted;
};

struct loader {
    struct mt_db *db;
    const struct mt_run *run;
    const struct mt_op_filter *filter;
    struct mt_tree *t;
    MT_VEC(struct thread_range) threads;
    MT_VEC(struct mt_step) steps;
    struct mt_map shapes; /* string id of the database -> ours */
    uint32_t *item_of;    /* op (from the run's first) -> item; MT_NONE: left out */
    int64_t *end_of;      /* op -> end, cut at its parent's */
};

static enum mt_status read_threads(struct loader *l, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_THREADS, &s, err));
    mt_stmt_bind(s, "i", l->run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        const char *tid = mt_stmt_text(s, 1);
        *mt_vec_push(&l->threads) =
            (struct thread_range){mt_stmt_int(s, 0), mt_stmt_int(s, 2), mt_stmt_int(s, 3),
                                  !l->filter->thread || strcmp(l->filter->thread, tid) == 0};
        *mt_vec_push(&l->t->thread_names) = mt_strtab_add(&l->t->strings, tid, strlen(tid));
    }
    bool any = false;
    for (size_t i = 0; i < l->threads.n; i++)
        any |= l->threads.v[i].wanted;
    if (any || !l->filter->thread)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no thread '%s'", l->run->name, l->filter->thread);
    mt_err_hint(err, "`memtool info %s` lists the threads.", l->run->name);
    return MT_EUSAGE;
}

static enum mt_status read_steps(struct loader *l, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_STEPS, &s, err));
    mt_stmt_bind(s, "i", l->run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        *mt_vec_push(&l->steps) =
            (struct mt_step){mt_stmt_int(s, 0), mt_stmt_int(s, 1), mt_stmt_int(s, 2)};
    }
    if (!l->filter->by_step || l->steps.n)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no steps", l->run->name);
    mt_err_hint(err, "Import it with --step-marker REGEX to say what a step is.");
    return MT_EUSAGE;
}

/* The step that is under way at a moment; INT64_MIN: none. */
static int64_t step_at(const struct loader *l, int64_t t_ns)
{
    size_t low = 0, high = l->steps.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->steps.v[mid].start_ns <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low && t_ns < l->steps.v[low - 1].end_ns ? l->steps.v[low - 1].number : INT64_MIN;
}

static bool step_wanted(const struct loader *l, int64_t step)
{
    return !l->filter->by_step ||
           (step != INT64_MIN && step >= l->filter->step_from && step <= l->filter->step_to);
}

static enum mt_status shape_of(struct loader *l, int64_t id, uint32_t *out, struct mt_err *err)
{
    uint32_t *known = mt_map_at(&l->shapes, (uint64_t)id);
    if (*known == MT_NONE) {
        struct mt_stmt *s;
        bool row;
        *known = 0;
        MT_TRY(mt_db_query(l->db, MT_Q_LOAD_STRING, &s, err));
        mt_stmt_bind(s, "i", id);
        MT_TRY(mt_stmt_step(s, &row, err));
        const char *text = row ? mt_stmt_text(s, 0) : "";
        *known = mt_strtab_add(&l->t->strings, text, strlen(text));
        if (row)
            MT_TRY(mt_stmt_step(s, &row, err));
    }
    *out = *known;
    return MT_OK;
}

/* Appends the op of the current row as an item. `op` counts from the run's first. */
static enum mt_status add_op(struct loader *l, struct mt_stmt *s, uint64_t op, uint32_t thread,
                             struct mt_err *err)
{
    struct mt_tree *t = l->t;
    int64_t start = mt_stmt_int(s, 3), end = start + mt_stmt_int(s, 4);
    uint64_t parent = mt_stmt_kind(s, 2) == MT_VALUE_NULL
                          ? UINT64_MAX
                          : (uint64_t)(mt_stmt_int(s, 2) - l->run->op_first);
    uint64_t node = (uint64_t)(mt_stmt_int(s, 1) - l->run->node_first);
    uint32_t parent_item = parent < op ? l->item_of[parent] : MT_NONE;
    if (parent < op && end > l->end_of[parent])
        end = l->end_of[parent];
    l->end_of[op] = end;
    l->item_of[op] = MT_NONE;
    int64_t step = step_at(l, start);
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
    if (parent_item != MT_NONE) {
        t->items.v[parent_item].self_time_ns -= end - start;
        item.forward = t->items.v[parent_item].forward;
    }
    if (mt_stmt_kind(s, 6) != MT_VALUE_NULL) {
        uint64_t forward = (uint64_t)(mt_stmt_int(s, 6) - l->run->op_first);
        if (forward < (uint64_t)l->run->op_n && l->item_of[forward] != MT_NONE)
            item.forward = t->nodes.v[t->items.v[l->item_of[forward]].node].frame;
    }
    if (mt_stmt_kind(s, 5) != MT_VALUE_NULL)
        MT_TRY(shape_of(l, mt_stmt_int(s, 5), &item.shape, err));
    l->item_of[op] = (uint32_t)t->items.n;
    *mt_vec_push(&t->items) = item;
    return MT_OK;
}

static enum mt_status read_ops(struct loader *l, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    for (uint32_t th = 0; th < l->threads.n; th++) {
        const struct thread_range *r = &l->threads.v[th];
        if (!r->wanted || !r->op_n)
            continue;
        MT_TRY(mt_db_query(l->db, MT_Q_LOAD_OPS, &s, err));
        mt_stmt_bind(s, "ii", r->op_first, r->op_first + r->op_n);
        for (;;) {
            MT_TRY(mt_stmt_step(s, &row, err));
            if (!row)
                break;
            uint64_t op = (uint64_t)(mt_stmt_int(s, 0) - l->run->op_first);
            if (op < (uint64_t)l->run->op_n)
                MT_TRY(add_op(l, s, op, th, err));
        }
    }
    return MT_OK;
}

/* Where one end of a block's life is counted: an item, or a new entry outside ops. NULL: left out.
 */
static struct mt_sums *side(struct loader *l, const struct mt_stmt *s, int column)
{
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return NULL;
    if (mt_stmt_kind(s, column + 1) != MT_VALUE_NULL) {
        uint64_t op = (uint64_t)(mt_stmt_int(s, column + 1) - l->run->op_first);
        uint32_t item = op < (uint64_t)l->run->op_n ? l->item_of[op] : MT_NONE;
        return item == MT_NONE ? NULL : &l->t->items.v[item].self;
    }
    int64_t step = step_at(l, mt_stmt_int(s, column));
    uint32_t thread = 0;
    while (thread < l->threads.n && l->threads.v[thread].id != mt_stmt_int(s, column + 2))
        thread++;
    if (thread == l->threads.n || !l->threads.v[thread].wanted || !step_wanted(l, step))
        return NULL;
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
        struct mt_sums *born = side(l, s, 2);
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
        struct mt_sums *died = side(l, s, 5);
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
    MT_TRY_OUT(read_threads(&l, err));
    MT_TRY_OUT(read_steps(&l, err));
    MT_TRY_OUT(read_ops(&l, err));
    if (device)
        MT_TRY_OUT(read_allocs(&l, device, err));
    add_totals(out);
    if (device && !filter->thread && !filter->by_step) {
        out->before_at_peak_b = device->start_b - device->before_at_peak_b;
        out->before_at_end_b = device->start_b - device->before_freed_b;
    }
out:
    free(l.item_of);
    free(l.end_of);
    mt_vec_free(&l.threads);
    mt_vec_free(&l.steps);
    mt_map_free(&l.shapes);
    return st;
}
