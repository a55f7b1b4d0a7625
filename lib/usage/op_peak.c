/*
 * Every record of a thread lies in the subtree of the op it belongs to and of all ops around that
 * one. Walking the records in order, each thread with the stack of ops around its current one, the
 * level at the start of an op is the level before the first record below it.
 */
#include "lib/usage/op_peak.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/category_words.h"
#include "lib/run/load.h"
#include <stdlib.h>

struct change {
    int64_t bytes, t_ns, op; /* op -1 = outside ops */
    uint32_t thread;
};

struct open_op {
    int64_t op;
    uint32_t node;
    int64_t end_ns, start_b, peak_b, peak_ns;
    int64_t last_b, last; /* the level after its last record so far, and which one of the thread */
};

/* What a thread is in the middle of. */
struct thread {
    MT_VEC(struct open_op) stack; /* ids rise: parents before children */
    int64_t level_b, n;           /* by its own records, so many so far */
};

struct walk {
    struct mt_db *db;
    const struct mt_run *run;
    const struct mt_tree *tree;
    struct mt_op_peak *rises;
    struct thread *threads;
    MT_VEC(struct open_op) path; /* ops to be opened, innermost first */
};

static void close_op(struct walk *w, struct thread *t)
{
    const struct open_op *o = &t->stack.v[--t->stack.n];
    struct mt_op_peak *r = &w->rises[o->node];
    int64_t rise_b = mt_wrap_sub(o->peak_b, o->start_b);
    if (rise_b > r->rise_b)
        *r = (struct mt_op_peak){rise_b, mt_wrap_sub(o->last_b, o->start_b), o->peak_ns};
    struct open_op *around = t->stack.n ? &t->stack.v[t->stack.n - 1] : NULL;
    if (around && o->peak_b > around->peak_b) {
        around->peak_b = o->peak_b;
        around->peak_ns = o->peak_ns;
    }
    if (around && o->last > around->last) {
        around->last_b = o->last_b;
        around->last = o->last;
    }
}

/* Depth of an op on the stack, -1 = it is not there. Near the top first. */
static int64_t depth_of(const struct thread *t, int64_t op)
{
    int64_t at = (int64_t)t->stack.n - 1;
    while (at >= 0 && t->stack.v[at].op > op)
        at--;
    return at >= 0 && t->stack.v[at].op == op ? at : -1;
}

/* Opens an op and those around it that are not open yet, *at_depth is its own; closes what has
 * ended. In whole microseconds a free is often of the op around one that ends just then, and
 * records of that one may follow: it goes on. */
static enum mt_status enter(struct walk *w, struct thread *t, const struct change *c,
                            int64_t *at_depth, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    int64_t depth = -1, op = c->op;
    w->path.n = 0;
    while (op >= 0 && (depth = depth_of(t, op)) < 0) {
        MT_TRY(mt_db_query(w->db, MT_Q_OP_PARENT, &s, err));
        mt_stmt_bind(s, "i", op);
        MT_TRY(mt_stmt_step(s, &row, err));
        uint64_t node = row ? mt_stmt_index(s, 1, w->run->node_first) : UINT64_MAX;
        if (node >= w->tree->nodes.n)
            break;
        *mt_vec_push(&w->path) =
            (struct open_op){.op = op, .node = (uint32_t)node, .end_ns = mt_stmt_int_or(s, 2, 0)};
        int64_t parent = mt_stmt_int_or(s, 0, -1);
        op = parent < op ? parent : -1; /* a damaged database must not send us in circles */
    }
    bool around = c->op >= 0 && !w->path.n && depth >= 0;
    while ((int64_t)t->stack.n > depth + 1 &&
           !(around && t->stack.v[t->stack.n - 1].end_ns >= c->t_ns))
        close_op(w, t);
    while (w->path.n) {
        struct open_op *o = mt_vec_push(&t->stack);
        *o = w->path.v[--w->path.n];
        o->start_b = o->peak_b = t->level_b;
    }
    *at_depth = around ? depth : (int64_t)t->stack.n - 1;
    return MT_OK;
}

static enum mt_status use_change(struct walk *w, const struct change *c, struct mt_err *err)
{
    struct thread *t = &w->threads[c->thread];
    int64_t depth = (int64_t)t->stack.n - 1;
    if (c->op < 0 || depth < 0 || t->stack.v[depth].op != c->op)
        MT_TRY(enter(w, t, c, &depth, err));
    mt_wrap_inc(&t->level_b, c->bytes);
    if (depth < 0)
        return MT_OK;
    struct open_op *of = &t->stack.v[depth];
    of->last_b = t->level_b;
    of->last = ++t->n;
    if (t->level_b > of->peak_b) {
        of->peak_b = t->level_b;
        of->peak_ns = c->t_ns;
    }
    return MT_OK;
}

static enum mt_status walk_all(struct walk *w, const struct change *changes, struct mt_err *err)
{
    for (int64_t i = 0; i < w->run->record_end; i++)
        if (changes[i].bytes && changes[i].thread != MT_NONE)
            MT_TRY(use_change(w, &changes[i], err));
    for (size_t i = 0; i < w->tree->thread_ids.n; i++)
        while (w->threads[i].stack.n)
            close_op(w, &w->threads[i]);
    return MT_OK;
}

static void put(struct walk *w, struct change *changes, const struct mt_stmt *s, int column,
                int64_t bytes)
{
    int64_t record = mt_stmt_int(s, column);
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL || record < 0 || record >= w->run->record_end)
        return;
    changes[record] =
        (struct change){.bytes = bytes,
                        .t_ns = mt_stmt_int(s, column + 1),
                        .op = mt_stmt_int_or(s, column + 2, -1),
                        .thread = mt_tree_thread(w->tree, mt_stmt_int(s, column + 3))};
}

enum mt_status mt_op_peaks_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_tree *tree,
                                struct mt_op_peak **out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    enum mt_status st = MT_OK;
    struct walk w = {.db = db, .run = run, .tree = tree};
    struct change *changes = mt_alloc((size_t)(run->record_end + 1) * sizeof *changes);
    w.rises = *out = mt_alloc((tree->nodes.n + 1) * sizeof *w.rises);
    w.threads = mt_alloc((tree->thread_ids.n + 1) * sizeof *w.threads);
    MT_TRY_OUT(mt_db_query(db, MT_Q_CHANGES, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, run->alloc_first + run->alloc_n, device->id);
    for (;;) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        if (device->only && !mt_category_in(device->only, mt_load_category(s, 9, true)))
            continue;
        put(&w, changes, s, 1, mt_stmt_int(s, 0));
        put(&w, changes, s, 5, mt_wrap_sub(0, mt_stmt_int(s, 0)));
    }
    MT_TRY_OUT(walk_all(&w, changes, err));
out:
    for (size_t i = 0; i < tree->thread_ids.n; i++)
        mt_vec_free(&w.threads[i].stack);
    free(w.threads);
    mt_vec_free(&w.path);
    free(changes);
    return st;
}
