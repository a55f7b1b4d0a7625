#include "lib/export/load.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include <string.h>

const char *const mt_stacks_by_names[MT_STACKS_BY_N] = {"all", "ops", "modules", "lines"};

struct loading {
    struct mt_allocations *blocks;
    struct mt_stacks *out;
    enum mt_stacks_by by;
    uint32_t
        *of; /* by node of the run: its stack; MT_NONE: no function of it is of those asked for */
};

/* The root of what no call path is known of. */
static uint32_t root(struct loading *l, const char *name)
{
    return mt_stacks_node(l->out, MT_NONE, mt_stacks_frame(l->out, name, "", 0), MT_PHASE_N);
}

/* The stack of a node. */
static uint32_t stack_of(struct loading *l, uint32_t node)
{
    static const char *const others[MT_STACKS_BY_N] = {"[other]", "[outside ops]", "[no module]",
                                                       "[no Python]"};
    return l->of[node] != MT_NONE ? l->of[node] : root(l, others[l->by]);
}

static void add(struct mt_stacks *s, uint32_t node, enum mt_measure measure, int64_t v)
{
    mt_wrap_inc(&s->nodes.v[node].self[measure], v);
}

/* Kinds of frames as stored (queries/schema.sql). */
static bool is_asked(enum mt_stacks_by by, int64_t kind, bool module, bool numbered)
{
    switch (by) {
    case MT_STACKS_BY_OPS:
        return kind <= MT_FRAME_RUNTIME;
    case MT_STACKS_BY_MODULES:
        return module;
    case MT_STACKS_BY_LINES:
        return kind == MT_FRAME_PYTHON && !numbered;
    default:
        return true;
    }
}

static enum mt_status refuse_by(const struct loading *l, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "the call paths of run '%s' have no %s", l->blocks->run->name,
            l->by == MT_STACKS_BY_LINES ? "functions of Python" : mt_stacks_by_names[l->by]);
    mt_err_hint(err, "Leave out --by for all that they have. PyTorch's profiler records Python and "
                     "modules with with_stack=True.");
    return MT_EUSAGE;
}

static enum mt_status load_paths(struct loading *l, bool phases, struct mt_err *err)
{
    const struct mt_tree *t = &l->blocks->tree;
    const struct mt_run *run = l->blocks->run;
    struct mt_stmt *s;
    bool row, any = !t->nodes.n || l->by == MT_STACKS_BY_ALL;
    MT_TRY(mt_db_query(l->blocks->db, MT_Q_EXPORT_FRAMES, &s, err));
    mt_stmt_bind(s, "ii", run->node_first, run->node_first + run->node_n);
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *n = &t->nodes.v[i];
        uint32_t parent = n->parent == MT_NONE ? MT_NONE : l->of[n->parent];
        MT_TRY(mt_stmt_step(s, &row, err));
        l->of[i] = parent;
        if (row &&
            !is_asked(l->by, mt_stmt_int(s, 2), mt_stmt_int(s, 3) != 0, mt_stmt_int(s, 4) != 0))
            continue;
        any = true;
        const char *file = row ? mt_stmt_text(s, 0) : NULL;
        uint32_t frame = mt_stacks_frame(l->out, mt_strtab_get(&t->strings, n->frame),
                                         file ? file : "", row ? mt_stmt_int(s, 1) : 0);
        l->of[i] = mt_stacks_node(l->out, parent, frame, phases ? n->phase : MT_PHASE_N);
    }
    return any ? MT_OK : refuse_by(l, err);
}

static void use_stats(void *closure, uint64_t node, const struct mt_sums *self,
                      const struct mt_sums *total)
{
    struct loading *l = closure;
    (void)total;
    if (!self->alloc_b && !self->alloc_n)
        return;
    uint32_t stack = stack_of(l, (uint32_t)node);
    add(l->out, stack, MT_MEASURE_ALLOC_B, self->alloc_b);
    add(l->out, stack, MT_MEASURE_ALLOC_N, self->alloc_n);
}

static enum mt_status add_allocated(struct loading *l, const struct mt_run_device *d,
                                    struct mt_err *err)
{
    struct mt_tree *t = &l->blocks->tree;
    l->out->knows[MT_MEASURE_ALLOC_B] = mt_device_knows(d, MT_KNOWS_ALLOC);
    l->out->knows[MT_MEASURE_ALLOC_N] = mt_device_knows(d, MT_KNOWS_ALLOC | MT_KNOWS_COUNTS);
    if (!l->out->knows[MT_MEASURE_ALLOC_B])
        return MT_OK;
    MT_TRY(mt_load_stats(l->blocks->db, l->blocks->run, d->id, t, use_stats, l, err));
    mt_tree_add_device(t, d);
    for (size_t i = 0; i < t->outside.n; i++) {
        const struct mt_sums *sums = &t->outside.v[i].sums;
        if (!sums->alloc_b && !sums->alloc_n)
            continue;
        uint32_t node = root(l, t->outside_name);
        add(l->out, node, MT_MEASURE_ALLOC_B, sums->alloc_b);
        add(l->out, node, MT_MEASURE_ALLOC_N, sums->alloc_n);
    }
    return MT_OK;
}

/* bytes: the measure of bytes; the one before it is that of blocks. */
static int64_t add_alive(struct loading *l, const struct mt_stacks_alive *alive,
                         enum mt_measure bytes)
{
    enum mt_measure blocks = bytes - 1;
    l->out->knows[bytes] = l->out->knows[blocks] = alive->known;
    if (!alive->known)
        return 0;
    for (size_t i = 0; i < alive->set.blocks.n; i++) {
        const struct mt_allocation *b = &alive->set.blocks.v[i];
        uint32_t node = b->origin.node != MT_NONE   ? stack_of(l, b->origin.node)
                        : mt_allocation_is_older(b) ? root(l, "[before trace]")
                                                    : root(l, l->blocks->tree.outside_name);
        add(l->out, node, bytes, b->bytes);
        if (b->blocks_n == MT_UNKNOWN)
            l->out->knows[blocks] = false;
        else
            add(l->out, node, blocks, b->blocks_n);
    }
    int64_t rest = mt_wrap_sub(alive->level_b, alive->set.sum_b);
    if (rest && alive->set.rest)
        l->out->knows[blocks] = false;
    if (rest > 0 && alive->set.rest)
        add(l->out, root(l, alive->set.rest), bytes, rest);
    return alive->set.rest && rest < 0 ? mt_wrap_sub(0, rest) : 0;
}

static enum mt_status add_lifetime(void *closure, const struct mt_allocation *b, struct mt_err *err)
{
    struct loading *l = closure;
    int64_t from = b->alloc_ns == INT64_MIN ? 0 : b->alloc_ns;
    int64_t to = b->freed_ns == INT64_MAX ? l->blocks->run->dur_ns : b->freed_ns;
    (void)err;
    if (!mt_allocation_is_older(b))
        add(l->out,
            b->origin.node != MT_NONE ? stack_of(l, b->origin.node)
                                      : root(l, l->blocks->tree.outside_name),
            MT_MEASURE_LIFE, mt_wrap_sub(to, from));
    return MT_OK;
}

/* Blocks of which some are unknown are none. */
static void drop_unknown(struct mt_stacks *s)
{
    for (size_t i = 0; i < s->nodes.n; i++)
        for (int m = 0; m < MT_MEASURE_N; m++)
            if (!s->knows[m])
                s->nodes.v[i].self[m] = 0;
}

enum mt_status mt_stacks_load(struct mt_allocations *blocks, const struct mt_run_device *device,
                              const struct mt_stacks_alive *at, const struct mt_stacks_alive *end,
                              bool phases, enum mt_stacks_by by, struct mt_stacks *out,
                              int64_t *less_b, struct mt_err *err)
{
    struct loading l = {blocks, out, by, mt_alloc((blocks->tree.nodes.n + 1) * sizeof *l.of)};
    enum mt_status st = load_paths(&l, phases, err);
    if (st == MT_OK)
        st = add_allocated(&l, device, err);
    out->knows[MT_MEASURE_LIFE] = end->known && mt_device_knows(device, MT_KNOWS_BLOCKS);
    if (st == MT_OK && out->knows[MT_MEASURE_LIFE])
        st = mt_allocations_each(blocks, device, add_lifetime, &l, err);
    if (st == MT_OK) {
        *less_b = add_alive(&l, at, MT_MEASURE_ALIVE_B);
        add_alive(&l, end, MT_MEASURE_END_B);
        drop_unknown(out);
        out->run = blocks->run->name;
        out->device = device->name;
        out->time_unit = blocks->run->time_unit;
        out->start_ns = blocks->run->start_ns;
        out->dur_ns = blocks->run->dur_ns;
    }
    free(l.of);
    return st;
}
