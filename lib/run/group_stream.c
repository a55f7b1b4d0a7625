#include "lib/run/group_stream.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

void mt_group_stream_init(struct mt_group_stream *w, struct mt_grouper *g, struct mt_groups *out)
{
    *w = (struct mt_group_stream){
        .grouper = g, .out = out, .outermost_calls = mt_group_calls_outermost(g->keys, g->key_n)};
    for (int k = 0; k < g->key_n; k++)
        w->by_step |= g->keys[k] == MT_BY_STEP;
}

void mt_group_stream_free(struct mt_group_stream *w)
{
    mt_vec_free(&w->open);
    mt_vec_free(&w->innermost);
}

static void close_one(struct mt_group_stream *w)
{
    const struct mt_group_stream_op *op = &w->open.v[--w->open.n];
    if (op->group == MT_NONE)
        return;
    w->innermost.v[op->group] = op->outer;
    if (op->sums_count)
        mt_sums_add(&w->out->rows.v[op->group].total, &op->total);
    if (op->part < w->open.n)
        mt_sums_add(&w->open.v[w->open.n - 1].total, &op->total);
}

/* Of an op that runs on when one begins that is not in it: it ends there (lib/build/calltree.c). */
static void end_early(struct mt_group_stream *w, int64_t end_ns)
{
    const struct mt_group_stream_op *op = &w->open.v[w->open.n - 1];
    int64_t rest = mt_wrap_sub(op->end_ns, end_ns);
    if (rest <= 0)
        return;
    if (op->group != MT_NONE) {
        struct mt_group *row = &w->out->rows.v[op->group];
        mt_wrap_dec(&row->self_time_ns, rest);
        mt_wrap_dec(&row->time_ns, op->counts ? rest : 0);
    }
    if (op->chain < w->open.n - 1)
        mt_wrap_inc(&w->out->rows.v[w->open.v[w->open.n - 2].group].self_time_ns, rest);
}

const struct mt_group_stream_op *mt_group_stream_to(struct mt_group_stream *w, uint64_t op,
                                                    uint64_t parent, int64_t start_ns)
{
    bool none = parent >= op; /* a damaged database may have nonsense */
    while (w->open.n && (none || w->open.v[w->open.n - 1].op > parent)) {
        end_early(w, start_ns);
        close_one(w);
    }
    const struct mt_group_stream_op *top = w->open.n ? &w->open.v[w->open.n - 1] : NULL;
    return top && top->op == parent ? top : NULL;
}

void mt_group_stream_end(struct mt_group_stream *w)
{
    while (w->open.n)
        close_one(w);
}

static uint32_t group_of(struct mt_group_stream *w, const struct mt_item *item)
{
    const struct mt_origin origin = mt_origin_of_item(item);
    return mt_grouper_of(w->grouper, &origin);
}

/* The row of a group, whose place of its innermost open op is there to be asked for. */
static struct mt_group *row_of(struct mt_group_stream *w, uint32_t group)
{
    while (w->innermost.n <= group)
        *mt_vec_push(&w->innermost) = 0;
    return mt_groups_row(w->out, w->grouper, group);
}

void mt_group_stream_add(struct mt_group_stream *w, const struct mt_group_stream_op *parent,
                         const struct mt_item *item, const struct mt_sums *sums)
{
    bool inside = parent && parent->group != MT_NONE && !w->by_step;
    uint32_t group = group_of(w, item);
    struct mt_group *row = row_of(w, group);
    mt_sums_add(&row->self, sums);
    if (!inside || w->innermost.v[group] <= parent->part)
        mt_sums_add(&row->total, sums);
    if (inside)
        mt_sums_add(&w->open.v[parent - w->open.v].total, sums);
}

void mt_group_stream_open(struct mt_group_stream *w, uint64_t op, int64_t end_ns,
                          const struct mt_group_stream_op *parent, const struct mt_item *item,
                          const struct mt_sums *self)
{
    uint32_t group = group_of(w, item), place = (uint32_t)w->open.n, chain = place, part = place;
    struct mt_group *row = row_of(w, group);
    if (parent && parent->group != MT_NONE) {
        chain = parent->chain;
        part = w->by_step && parent->step != item->step ? place : parent->part;
        mt_wrap_dec(&w->out->rows.v[parent->group].self_time_ns, item->time_ns);
    }
    bool counts = w->innermost.v[group] <= chain;
    struct mt_group_stream_op *opened = mt_vec_push(&w->open);
    *opened = (struct mt_group_stream_op){.op = op,
                                          .end_ns = end_ns,
                                          .group = group,
                                          .forward = item->forward,
                                          .chain = chain,
                                          .part = part,
                                          .outer = w->innermost.v[group],
                                          .counts = counts,
                                          .sums_count = w->innermost.v[group] <= part,
                                          .step = item->step};
    if (self) {
        opened->total = *self;
        mt_sums_add(&row->self, self);
    }
    mt_wrap_inc(&row->self_time_ns, item->time_ns);
    mt_wrap_inc(&row->time_ns, counts ? item->time_ns : 0);
    row->calls_n += counts || !w->outermost_calls;
    row->recomputed_n +=
        item->node != MT_NONE && w->grouper->tree->nodes.v[item->node].phase == MT_PHASE_RECOMPUTED;
    w->innermost.v[group] = place + 1;
}

void mt_group_stream_pass(struct mt_group_stream *w, uint64_t op, int64_t start_ns, int64_t end_ns,
                          const struct mt_group_stream_op *parent)
{
    uint32_t chain = (uint32_t)w->open.n;
    if (parent && parent->group != MT_NONE) {
        chain = parent->chain;
        mt_wrap_dec(&w->out->rows.v[parent->group].self_time_ns, mt_wrap_sub(end_ns, start_ns));
    }
    *mt_vec_push(&w->open) = (struct mt_group_stream_op){
        .op = op, .end_ns = end_ns, .group = MT_NONE, .forward = MT_NONE, .chain = chain};
}
