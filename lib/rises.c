/*
 * Every record of a thread lies in the subtree of the op it belongs to and of all ops around that
 * one. Walking a thread's records in order with the stack of ops around the current one, the level
 * at the start of an op is the level before the first record below it.
 */
#include "lib/rises.h"

#include "gen/queries.h"
#include <stdlib.h>

struct change {
    int64_t bytes, t_ns, op; /* op -1 = outside ops */
    uint32_t thread;
};

struct open_op {
    int64_t op;
    uint32_t node;
    int64_t start_b, peak_b, peak_ns;
};

struct walk {
    struct mt_db *db;
    const struct mt_run *run;
    const struct mt_tree *tree;
    struct mt_rise *rises;
    MT_VEC(struct open_op) stack;
    MT_VEC(struct open_op) path; /* ops to be opened, innermost first */
    int64_t level_b;
};

static void close_op(struct walk *w)
{
    const struct open_op *o = &w->stack.v[--w->stack.n];
    struct mt_rise *r = &w->rises[o->node];
    if (o->peak_b - o->start_b > r->rise_b)
        *r = (struct mt_rise){o->peak_b - o->start_b, w->level_b - o->start_b, o->peak_ns};
    if (w->stack.n && o->peak_b > w->stack.v[w->stack.n - 1].peak_b) {
        w->stack.v[w->stack.n - 1].peak_b = o->peak_b;
        w->stack.v[w->stack.n - 1].peak_ns = o->peak_ns;
    }
}

/* Depth of an op on the stack, -1 = it is not there. Near the top first. */
static int64_t depth_of(const struct walk *w, int64_t op)
{
    int64_t at = (int64_t)w->stack.n - 1;
    while (at >= 0 && w->stack.v[at].op != op)
        at--;
    return at;
}

/* Opens an op and those around it that are not open yet; closes what it is not in. */
static enum mt_status enter(struct walk *w, int64_t op, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    int64_t depth = -1;
    w->path.n = 0;
    while (op >= 0 && (depth = depth_of(w, op)) < 0) {
        MT_TRY(mt_db_query(w->db, MT_Q_OP_PARENT, &s, err));
        mt_stmt_bind(s, "i", op);
        MT_TRY(mt_stmt_step(s, &row, err));
        uint64_t node = row ? (uint64_t)(mt_stmt_int(s, 1) - w->run->node_first) : UINT64_MAX;
        if (node >= w->tree->nodes.n)
            break;
        *mt_vec_push(&w->path) = (struct open_op){.op = op, .node = (uint32_t)node};
        int64_t parent = mt_stmt_kind(s, 0) == MT_VALUE_NULL ? -1 : mt_stmt_int(s, 0);
        op = parent < op ? parent : -1; /* a damaged database must not send us in circles */
    }
    while ((int64_t)w->stack.n > depth + 1)
        close_op(w);
    while (w->path.n) {
        struct open_op *o = mt_vec_push(&w->stack);
        *o = w->path.v[--w->path.n];
        o->start_b = o->peak_b = w->level_b;
    }
    return MT_OK;
}

static enum mt_status walk_thread(struct walk *w, const struct change *changes, int64_t n,
                                  uint32_t thread, struct mt_err *err)
{
    w->level_b = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct change *c = &changes[i];
        if (!c->bytes || c->thread != thread)
            continue;
        if (c->op < 0 || !w->stack.n || w->stack.v[w->stack.n - 1].op != c->op)
            MT_TRY(enter(w, c->op, err));
        w->level_b += c->bytes;
        struct open_op *top = w->stack.n ? &w->stack.v[w->stack.n - 1] : NULL;
        if (top && w->level_b > top->peak_b) {
            top->peak_b = w->level_b;
            top->peak_ns = c->t_ns;
        }
    }
    while (w->stack.n)
        close_op(w);
    return MT_OK;
}

static void put(struct walk *w, struct change *changes, const struct mt_stmt *s, int column,
                int64_t bytes)
{
    int64_t record = mt_stmt_int(s, column);
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL || record < 0 || record >= w->run->record_n)
        return;
    changes[record] = (struct change){
        .bytes = bytes,
        .t_ns = mt_stmt_int(s, column + 1),
        .op = mt_stmt_kind(s, column + 2) == MT_VALUE_NULL ? -1 : mt_stmt_int(s, column + 2),
        .thread = mt_tree_thread(w->tree, mt_stmt_int(s, column + 3))};
}

enum mt_status mt_rises_load(struct mt_db *db, const struct mt_run *run,
                             const struct mt_run_device *device, const struct mt_tree *tree,
                             struct mt_rise **out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    enum mt_status st = MT_OK;
    struct walk w = {.db = db, .run = run, .tree = tree};
    struct change *changes = mt_alloc((size_t)(run->record_n + 1) * sizeof *changes);
    w.rises = *out = mt_alloc((tree->nodes.n + 1) * sizeof *w.rises);
    MT_TRY_OUT(mt_db_query(db, MT_Q_CHANGES, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, run->alloc_first + run->alloc_n, device->id);
    for (;;) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        put(&w, changes, s, 1, mt_stmt_int(s, 0));
        put(&w, changes, s, 5, -mt_stmt_int(s, 0));
    }
    for (uint32_t t = 0; t < tree->thread_ids.n; t++)
        MT_TRY_OUT(walk_thread(&w, changes, run->record_n, t, err));
out:
    mt_vec_free(&w.stack);
    mt_vec_free(&w.path);
    free(changes);
    return st;
}
