/* Groups of ops: the slow but fine-grained way to a table. */
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/run/group_stream.h"
#include "lib/run/load_parts.h"
#include "lib/run/own_categories.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

/* The ops of a thread that are read: ids first..end - 1. */
struct op_range {
    int64_t first, end;
};

struct op_reader {
    struct mt_op_loader l;
    MT_VEC(struct op_range) ranges; /* by thread index */
    struct mt_group_stream walk;
};

static enum mt_status choose_threads(struct mt_op_loader *l, struct mt_err *err)
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
    struct mt_buf run = {0};
    mt_shell_word(&run, l->run->name);
    mt_err_hint(err, "`memtool info %s` lists the threads.", run.s);
    mt_buf_free(&run);
    return MT_EUSAGE;
}

/* ---- which ops ---- */

static enum mt_status find_op(struct mt_op_loader *l, int64_t id, struct mt_stmt **s, bool *row,
                              struct mt_err *err)
{
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_OP, s, err));
    mt_stmt_bind(*s, "i", id);
    return mt_stmt_step(*s, row, err);
}

/* The first op of a range that starts at t_ns or later, or its end: ids are in order of start. */
static enum mt_status first_since(struct mt_op_loader *l, const struct op_range *range,
                                  int64_t t_ns, int64_t *id, struct mt_err *err)
{
    int64_t low = range->first, high = range->end;
    struct mt_stmt *s;
    bool row;
    while (low < high) {
        int64_t mid = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
        MT_TRY(find_op(l, mid, &s, &row, err));
        bool before = row && mt_stmt_int(s, 1) < t_ns;
        low = before ? mid + 1 : low;
        high = before ? high : mid;
        mt_stmt_end(s);
    }
    *id = low;
    return MT_OK;
}

/* Cuts a range to the ops that start in the window and those that may run inside one of these. */
static enum mt_status cut_range(struct mt_op_loader *l, struct op_range *range, struct mt_err *err)
{
    struct op_range within = *range;
    struct mt_stmt *s;
    bool row;
    MT_TRY(first_since(l, range, l->window.from_ns, &within.first, err));
    MT_TRY(first_since(l, range, l->window.to_ns, &within.end, err));
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_LAST_END, &s, err));
    mt_stmt_bind(s, "ii", within.first, within.end);
    MT_TRY(mt_stmt_step(s, &row, err));
    int64_t last_ns = row ? mt_stmt_int_or(s, 0, INT64_MIN) : INT64_MIN;
    mt_stmt_end(s);
    if (last_ns > l->window.to_ns)
        MT_TRY(first_since(l, range, last_ns, &within.end, err));
    *range = within;
    return MT_OK;
}

static enum mt_status find_ranges(struct op_reader *r, struct mt_err *err)
{
    struct mt_op_loader *l = &r->l;
    struct mt_stmt *s;
    bool row;
    if (l->filter->by_step)
        MT_TRY(mt_steps_window(&l->steps, &l->filter->steps, l->run, &l->window, err));
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_THREADS, &s, err));
    mt_stmt_bind(s, "i", l->run->id);
    for (size_t thread = 0;; thread++) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row || thread >= l->t->thread_names.n)
            break;
        struct op_range range = {mt_stmt_int(s, 2),
                                 mt_wrap_add(mt_stmt_int(s, 2), mt_stmt_int(s, 3))};
        if (!l->wanted[thread] || l->by_block) /* blocks say enough */
            range.end = range.first;
        if (l->filter->by_step)
            MT_TRY(cut_range(l, &range, err));
        *mt_vec_push(&r->ranges) = range;
    }
    mt_stmt_end(s);
    return MT_OK;
}

/* ---- reading them ---- */

/* Passes the ops around one that is the first to be read: they began before the window, but cut
 * what runs in them. */
static enum mt_status pass_around(struct op_reader *r, int64_t id, struct mt_err *err)
{
    const struct mt_op_loader *l = &r->l;
    MT_VEC(struct mt_group_stream_op) found = {0}; /* from the inside out */
    uint64_t at = (uint64_t)id - (uint64_t)l->run->op_first, parent;
    struct mt_stmt *s;
    bool row;
    enum mt_status st = find_op(&r->l, id, &s, &row, err);
    for (; st == MT_OK && row; at = parent) {
        parent = mt_stmt_index(s, 0, l->run->op_first);
        if (found.n)
            found.v[found.n - 1].end_ns = mt_wrap_add(mt_stmt_int(s, 1), mt_stmt_int(s, 2));
        mt_stmt_end(s);
        if (parent >= at) /* none; in a damaged database also nonsense */
            break;
        *mt_vec_push(&found) = (struct mt_group_stream_op){.op = parent, .end_ns = INT64_MAX};
        st = find_op(&r->l, l->run->op_first + (int64_t)parent, &s, &row, err);
    }
    int64_t end = INT64_MAX;
    while (found.n) {
        const struct mt_group_stream_op *op = &found.v[--found.n];
        end = op->end_ns < end ? op->end_ns : end;
        mt_group_stream_pass(&r->walk, op->op, 0, end, NULL);
    }
    mt_vec_free(&found);
    return st;
}

static enum mt_status query_ops(struct mt_op_loader *l, int64_t first, int64_t end,
                                struct mt_stmt **s, struct mt_err *err)
{
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_OPS, s, err));
    mt_stmt_bind(*s, "iiii", first, end, (int64_t)l->asked[MT_BY_SHAPE],
                 (int64_t)l->asked[MT_BY_FORWARD]);
    return MT_OK;
}

/* The frame of the forward op of the op in the current row, MT_NONE: it has none of its own. */
static uint32_t forward_of(const struct mt_op_loader *l, const struct mt_stmt *s)
{
    uint64_t forward = mt_stmt_index(s, 6, l->run->node_first);
    return forward < l->t->nodes.n ? l->t->nodes.v[forward].frame : MT_NONE;
}

/* Fills in what the keys ask for of the op in the current row. */
static enum mt_status read_keys(struct mt_op_loader *l, const struct mt_stmt *s,
                                const struct mt_group_stream_op *parent, struct mt_item *item,
                                struct mt_err *err)
{
    if (l->asked[MT_BY_FORWARD]) {
        item->forward = forward_of(l, s);
        if (item->forward == MT_NONE && parent) /* what runs under a backward op belongs to it */
            item->forward = parent->forward;
    }
    if (!l->asked[MT_BY_SHAPE] || mt_stmt_kind(s, 5) == MT_VALUE_NULL)
        return MT_OK;
    return mt_load_text(l->db, l->t, mt_stmt_int(s, 5), &item->shape, err);
}

/* Adds what an op did in other steps than the one it began in: the item is that of the op. */
static void add_strays(struct op_reader *r, const struct mt_group_stream_op *parent,
                       struct mt_item item, uint64_t op)
{
    struct mt_op_loader *l = &r->l;
    item.time_ns = 0;
    for (uint32_t at = l->sums_of[op]; at; at = l->sums.v[at - 1].next) {
        struct mt_op_sums *stray = &l->sums.v[at - 1];
        if (stray->place == MT_SUMS_TAKEN)
            continue;
        item.step = mt_op_step_number(l, stray->place);
        mt_group_stream_add(&r->walk, parent, &item, &stray->sums);
        stray->place = MT_SUMS_TAKEN;
    }
}

/* What the op did in the step it began in; NULL: nothing. */
static const struct mt_sums *take_sums(struct mt_op_loader *l, uint64_t op, int64_t place)
{
    for (uint32_t at = l->sums_of[op]; at; at = l->sums.v[at - 1].next)
        if (l->sums.v[at - 1].place == place) {
            l->sums.v[at - 1].place = MT_SUMS_TAKEN;
            return &l->sums.v[at - 1].sums;
        }
    return NULL;
}

/* Adds the op of the current row to its group. `op` counts from the run's first. */
static enum mt_status add_op(struct op_reader *r, const struct mt_stmt *s, uint64_t op,
                             uint32_t thread, struct mt_err *err)
{
    struct mt_op_loader *l = &r->l;
    int64_t start = mt_stmt_int(s, 3), end = mt_wrap_add(start, mt_stmt_int(s, 4));
    const struct mt_group_stream_op *parent =
        mt_group_stream_to(&r->walk, op, mt_stmt_index(s, 2, l->run->op_first), start);
    uint64_t node = (uint64_t)mt_stmt_int(s, 1) - (uint64_t)l->run->node_first;
    int64_t place = l->by_step ? mt_steps_under_way(&l->steps, start) : -1;
    int64_t step = mt_op_step_number(l, place);
    end = parent && parent->end_ns < end ? parent->end_ns : end;
    if (node >= l->t->nodes.n || !mt_op_step_wanted(l, step)) {
        mt_group_stream_pass(&r->walk, op, start, end, parent);
        return MT_OK;
    }
    struct mt_item item = {.node = (uint32_t)node,
                           .time_ns = mt_wrap_sub(end, start),
                           .shape = MT_NONE,
                           .thread = thread,
                           .forward = MT_NONE,
                           .step = step,
                           .tensor = MT_NONE};
    MT_TRY(read_keys(l, s, parent, &item, err));
    const struct mt_sums *self = take_sums(l, op, place);
    add_strays(r, parent, item, op);
    mt_group_stream_open(&r->walk, op, end, parent, &item, self);
    return MT_OK;
}

static enum mt_status read_thread_ops(struct op_reader *r, uint32_t thread, struct mt_err *err)
{
    struct mt_op_loader *l = &r->l;
    const struct op_range *range = &r->ranges.v[thread];
    struct mt_stmt *s;
    bool row;
    if (range->first >= range->end)
        return MT_OK;
    if (l->filter->by_step)
        MT_TRY(pass_around(r, range->first, err));
    MT_TRY(query_ops(l, range->first, range->end, &s, err));
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        uint64_t op = (uint64_t)mt_stmt_int(s, 0) - (uint64_t)l->run->op_first;
        if (op < (uint64_t)l->run->op_n)
            MT_TRY(add_op(r, s, op, thread, err));
    }
    mt_group_stream_end(&r->walk);
    return MT_OK;
}

/* The node of an op that is not walked to (MT_NONE: there is none), and what the keys ask for. */
static enum mt_status find_keys(struct mt_op_loader *l, uint64_t op, struct mt_item *item,
                                struct mt_err *err)
{
    bool row = true;
    item->node = MT_NONE;
    for (uint64_t at = op, parent;; at = parent) {
        struct mt_stmt *s;
        int64_t id = l->run->op_first + (int64_t)at;
        MT_TRY(query_ops(l, id, mt_wrap_add(id, 1), &s, err));
        MT_TRY(mt_stmt_step(s, &row, err));
        parent = row ? mt_stmt_index(s, 2, l->run->op_first) : at;
        uint64_t node = row ? mt_stmt_index(s, 1, l->run->node_first) : l->t->nodes.n;
        enum mt_status st = MT_OK;
        if (at == op && node < l->t->nodes.n) {
            item->node = (uint32_t)node;
            st = read_keys(l, s, NULL, item, err);
        } else if (row)
            item->forward = forward_of(l, s);
        mt_stmt_end(s);
        if (st != MT_OK || item->node == MT_NONE || !l->asked[MT_BY_FORWARD] ||
            item->forward != MT_NONE || parent >= at)
            return st;
    }
}

/* What ops that were left out did in steps that are asked for. */
static enum mt_status add_left_out(struct op_reader *r, struct mt_err *err)
{
    struct mt_op_loader *l = &r->l;
    for (size_t i = 0; i < l->sums.n; i++) {
        const struct mt_op_sums *left = &l->sums.v[i];
        if (left->place == MT_SUMS_TAKEN)
            continue;
        struct mt_item item = {
            .shape = MT_NONE, .thread = left->thread, .forward = MT_NONE, .tensor = MT_NONE};
        MT_TRY(find_keys(l, left->op, &item, err));
        if (item.node != MT_NONE)
            add_strays(r, NULL, item, left->op);
    }
    return MT_OK;
}

static enum mt_status prepare(struct op_reader *r, struct mt_err *err)
{
    struct mt_op_loader *l = &r->l;
    mt_strtab_init(&l->outside);
    mt_strtab_init(&l->path_items);
    l->by_step = l->filter->by_step;
    for (int i = 0; i < l->filter->key_n; i++)
        l->by_step |= l->filter->keys[i] == MT_BY_STEP;
    l->sums_of = mt_alloc((size_t)(l->run->op_n + 1) * sizeof *l->sums_of);
    for (int i = 0; i < l->filter->key_n; i++)
        l->asked[l->filter->keys[i]] = true;
    static const enum mt_group_key of_blocks[] = {MT_BY_SIZE, MT_BY_CATEGORY, MT_BY_WHY,
                                                  MT_BY_TENSOR, MT_BY_DTYPE};
    enum mt_group_key of_block = MT_BY_N;
    for (size_t i = 0; i < MT_ARRAY_LEN(of_blocks) && of_block == MT_BY_N; i++)
        of_block = l->asked[of_blocks[i]] ? of_blocks[i] : MT_BY_N;
    l->by_block = of_block != MT_BY_N;
    l->by_own = l->asked[MT_BY_CATEGORY] && mt_own_categories_used();
    if (l->by_block && (l->asked[MT_BY_SHAPE] || l->asked[MT_BY_FORWARD])) {
        MT_FAIL(err, MT_EUSAGE, "what ops do is not grouped by %s and by %s",
                mt_group_key_name(of_block), l->asked[MT_BY_SHAPE] ? "shape" : "forward");
        mt_err_hint(err, "Group by one of them, or ask `memtool peak` or `leaks` for both.");
        return MT_EUSAGE;
    }
    MT_TRY(mt_load_nodes(l->db, l->run, l->t, err));
    MT_TRY(mt_load_threads(l->db, l->run, l->t, err));
    MT_TRY(choose_threads(l, err));
    MT_TRY(mt_steps_load(l->db, l->run, &l->steps, err));
    return find_ranges(r, err);
}

static void dispose(struct op_reader *r)
{
    free(r->l.wanted);
    mt_own_nodes_free(&r->l.own);
    free(r->l.sums_of);
    mt_vec_free(&r->l.sums);
    mt_strtab_free(&r->l.outside);
    mt_strtab_free(&r->l.path_items);
    mt_steps_free(&r->l.steps);
    mt_vec_free(&r->ranges);
}

enum mt_status mt_group_ops(struct mt_db *db, const struct mt_run *run,
                            const struct mt_run_device *device, const struct mt_op_filter *filter,
                            struct mt_tree *t, struct mt_groups *out, struct mt_err *err)
{
    struct op_reader r = {
        .l = {.db = db, .run = run, .filter = filter, .t = t, .window = {INT64_MIN, INT64_MAX}}};
    struct mt_grouper g;
    enum mt_status st = prepare(&r, err);
    if (st == MT_OK && device)
        st = mt_load_blocks(&r.l, device, err);
    mt_grouper_init(&g, t, filter->keys, filter->key_n);
    mt_group_stream_init(&r.walk, &g, out);
    for (uint32_t thread = 0; thread < r.ranges.n && st == MT_OK; thread++)
        st = read_thread_ops(&r, thread, err);
    if (st == MT_OK)
        st = add_left_out(&r, err);
    if (st == MT_OK && device && !filter->thread && !filter->by_step)
        mt_tree_add_before(t, device);
    if (st == MT_OK)
        mt_groups_add_tree(out, &g);
    mt_group_stream_free(&r.walk);
    mt_grouper_free(&g);
    dispose(&r);
    return st;
}
