#include "lib/export/stacks.h"

#include "lib/base/wrap.h"
#include "lib/run/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void mt_stacks_init(struct mt_stacks *s)
{
    *s = (struct mt_stacks){.moment_ns = MT_NO_MOMENT};
    mt_strtab_init(&s->strings);
}

void mt_stacks_free(struct mt_stacks *s)
{
    mt_strtab_free(&s->strings);
    mt_vec_free(&s->frames);
    mt_vec_free(&s->nodes);
    mt_map_free(&s->frame_of);
    mt_map_free(&s->node_of);
}

/* Where the number of a path is kept. */
static uint32_t *node_at(struct mt_stacks *s, uint32_t parent, uint32_t frame, uint8_t phase)
{
    uint64_t around = parent == MT_NONE ? 0 : parent + 1;
    uint64_t own = (uint64_t)frame * (MT_PHASE_N + 1) + phase;
    return mt_map_at(&s->node_of, around << 32 | own);
}

uint32_t mt_stacks_node(struct mt_stacks *s, uint32_t parent, uint32_t frame, uint8_t phase)
{
    uint32_t *at = node_at(s, parent, frame, phase);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)s->nodes.n;
        *mt_vec_push(&s->nodes) =
            (struct mt_stack_node){.parent = parent, .frame = frame, .phase = phase};
    }
    return *at;
}

static void add_all(int64_t *to, const int64_t *v)
{
    for (int m = 0; m < MT_MEASURE_N; m++)
        mt_wrap_inc(&to[m], v[m]);
}

/* A frame of other stacks. */
static uint32_t same_frame(struct mt_stacks *s, const struct mt_stacks *from, uint32_t frame)
{
    const struct mt_stack_frame *f = &from->frames.v[frame];
    return mt_stacks_frame(s, mt_stacks_text(from, f->name), mt_stacks_text(from, f->file),
                           f->line);
}

void mt_stacks_add_base(struct mt_stacks *s, const struct mt_stacks *base, enum mt_measure measure)
{
    uint32_t *of = mt_alloc((base->nodes.n + 1) * sizeof *of);
    for (size_t i = 0; i < base->nodes.n; i++) {
        const struct mt_stack_node *n = &base->nodes.v[i];
        of[i] = mt_stacks_node(s, n->parent == MT_NONE ? MT_NONE : of[n->parent],
                               same_frame(s, base, n->frame), n->phase);
        mt_wrap_inc(&s->nodes.v[of[i]].self[MT_MEASURE_BASE], n->self[measure]);
    }
    s->knows[MT_MEASURE_BASE] = base->knows[measure];
    free(of);
}

size_t mt_stacks_invert(const struct mt_stacks *from, enum mt_measure measure, uint32_t depth,
                        struct mt_stacks *out)
{
    size_t cut = 0;
    uint32_t *frames = mt_alloc((from->frames.n + 1) * sizeof *frames);
    for (uint32_t i = 0; i < from->frames.n; i++)
        frames[i] = same_frame(out, from, i);
    for (uint32_t i = 0; i < from->nodes.n; i++) {
        const int64_t *self = from->nodes.v[i].self;
        uint32_t at = MT_NONE, level = 0, k = i;
        if (!self[measure] && !self[MT_MEASURE_BASE])
            continue;
        for (; k != MT_NONE && level < depth; k = from->nodes.v[k].parent, level++)
            at = mt_stacks_node(out, at, frames[from->nodes.v[k].frame], MT_PHASE_N);
        mt_wrap_inc(&out->nodes.v[at].self[measure], self[measure]);
        mt_wrap_inc(&out->nodes.v[at].self[MT_MEASURE_BASE], self[MT_MEASURE_BASE]);
        cut += k != MT_NONE;
    }
    free(frames);
    return cut;
}

/* Parents stand before their children. */
static void sum_up(struct mt_stacks *s)
{
    struct mt_stack_node *v = s->nodes.v;
    for (size_t i = 0; i < s->nodes.n; i++)
        memcpy(v[i].total, v[i].self, sizeof v[i].total);
    for (size_t i = s->nodes.n; i-- > 0;)
        if (v[i].parent != MT_NONE)
            add_all(v[v[i].parent].total, v[i].total);
}

int64_t mt_stacks_sum(const struct mt_stacks *s, enum mt_measure measure)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->nodes.n; i++)
        mt_wrap_inc(&sum, s->nodes.v[i].self[measure]);
    return sum;
}

static bool has_some(const struct mt_stack_node *n, enum mt_measure measure)
{
    static const int64_t nothing[MT_MEASURE_N];
    return measure == MT_MEASURE_N ? memcmp(n->self, nothing, sizeof nothing) != 0
                                   : n->self[measure] > 0;
}

void mt_stacks_written(const struct mt_stacks *s, enum mt_measure measure, int64_t *n,
                       int64_t *bytes)
{
    struct length {
        int64_t n, bytes;
    } *of = mt_alloc((s->nodes.n + 1) * sizeof *of); /* of each path */
    *n = *bytes = 0;
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct mt_stack_node *node = &s->nodes.v[i];
        if (node->parent != MT_NONE)
            of[i] = of[node->parent];
        of[i].n++;
        of[i].bytes += (int64_t)strlen(mt_stacks_text(s, s->frames.v[node->frame].text)) + 1;
        if (has_some(node, measure)) {
            mt_wrap_inc(n, of[i].n);
            mt_wrap_inc(bytes, of[i].bytes);
        }
    }
    free(of);
}

/* ---- folding ---- */

static uint32_t parent_or(const struct mt_stacks *s, size_t node, size_t root)
{
    uint32_t parent = s->nodes.v[node].parent;
    return parent == MT_NONE ? (uint32_t)root : parent;
}

static bool is_nothing(const struct mt_stack_node *n)
{
    static const int64_t nothing[MT_MEASURE_N];
    return memcmp(n->total, nothing, sizeof nothing) == 0;
}

/* Whether a node has so much of no measure but lifetimes. */
static bool is_small(const struct mt_stack_node *n, const double *least)
{
    for (int m = 0; m < MT_MEASURE_N; m++)
        if (m != MT_MEASURE_LIFE && n->total[m] && (double)n->total[m] >= least[m])
            return false;
    return true;
}

/* What is folded below a parent. It may be there before: files that were folded can be imported. */
static bool is_other(const struct mt_stack_node *n, uint32_t other)
{
    return n->frame == other && n->phase == MT_PHASE_N;
}

/* Which nodes are folded: small ones, unless one is alone with its parent, or is what others are
 * folded into. Allocated. */
static bool *choose_small(const struct mt_stacks *s, uint32_t other, int64_t least_b)
{
    size_t n = s->nodes.n;
    double least[MT_MEASURE_N];
    bool *small = mt_alloc(n + 1);
    uint32_t *beside = mt_alloc((n + 1) * sizeof *beside); /* small ones, by parent */
    for (int m = 0; m < MT_MEASURE_N; m++)
        least[m] = least_b < 0              ? (double)mt_stacks_sum(s, (enum mt_measure)m) / 1e4
                   : mt_measure_is_bytes(m) ? (double)least_b
                                            : INFINITY; /* --min is of bytes */
    for (size_t i = 0; i < n; i++) {
        small[i] = is_small(&s->nodes.v[i], least);
        beside[parent_or(s, i, n)] += small[i];
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = parent_or(s, i, n);
        if (!small[parent] && (beside[parent] < 2 || is_other(&s->nodes.v[i], other)))
            small[i] = false;
    }
    free(beside);
    return small;
}

/* Leaves out the nodes that are marked, and what is below them. */
static void leave_out(struct mt_stacks *s, const bool *out)
{
    uint32_t *index = mt_alloc((s->nodes.n + 1) * sizeof *index), kept = 0;
    for (size_t i = 0; i < s->nodes.n; i++) {
        struct mt_stack_node node = s->nodes.v[i];
        if (out[i])
            continue;
        index[i] = kept;
        node.parent = node.parent == MT_NONE ? MT_NONE : index[node.parent];
        s->nodes.v[kept++] = node;
    }
    s->nodes.n = kept;
    free(index);
}

static size_t fold(struct mt_stacks *s, int64_t least_b)
{
    size_t n = s->nodes.n, folded = 0;
    uint32_t name = mt_stacks_frame(s, "[other]", "", 0);
    bool *small = choose_small(s, name, least_b);
    for (size_t i = 0; i < n; i++) {
        folded += small[i];
        if (!small[i] || small[parent_or(s, i, n)])
            continue;
        uint32_t other = mt_stacks_node(s, s->nodes.v[i].parent, name, MT_PHASE_N);
        add_all(s->nodes.v[other].self, s->nodes.v[i].total);
    }
    small = mt_realloc(small, s->nodes.n + 1);
    memset(small + n, 0, s->nodes.n - n);
    leave_out(s, small);
    free(small);
    return folded;
}

/* ---- order ---- */

struct named {
    const char *text;
    uint32_t node;
    uint8_t phase;
};

static int by_text(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->phase > y->phase) - (x->phase < y->phase);
}

/* Puts the nodes in an order: at[i], which comes i-th. */
static void permute(struct mt_stacks *s, const uint32_t *at)
{
    size_t n = s->nodes.n;
    struct mt_stack_node *old = mt_alloc((n + 1) * sizeof *old);
    uint32_t *index = mt_alloc((n + 1) * sizeof *index);
    memcpy(old, s->nodes.v, n * sizeof *old);
    for (size_t i = 0; i < n; i++)
        index[at[i]] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        s->nodes.v[i] = old[at[i]];
        if (s->nodes.v[i].parent != MT_NONE)
            s->nodes.v[i].parent = index[s->nodes.v[i].parent];
    }
    free(old);
    free(index);
}

static void order(struct mt_stacks *s)
{
    uint32_t n = (uint32_t)s->nodes.n;
    struct named *all = mt_alloc((n + 1) * sizeof *all);
    uint32_t *at = mt_alloc((n + 1) * sizeof *at);
    for (uint32_t i = 0; i < n; i++) {
        const struct mt_stack_node *node = &s->nodes.v[i];
        all[i] = (struct named){mt_stacks_text(s, s->frames.v[node->frame].text), i, node->phase};
    }
    qsort(all, n, sizeof *all, by_text);
    for (uint32_t i = 0; i < n; i++)
        at[i] = all[i].node;
    permute(s, at);
    free(all);
    free(at);
    at = mt_preorder(&s->nodes.v[0].parent, sizeof s->nodes.v[0], n);
    permute(s, at);
    free(at);
}

/* Frames in the order in which paths come to them, without those that none has. */
static void order_frames(struct mt_stacks *s)
{
    uint32_t *index = mt_alloc((s->frames.n + 1) * sizeof *index), used = 0; /* and 1 more */
    struct mt_stack_frame *old = mt_alloc((s->frames.n + 1) * sizeof *old);
    memcpy(old, s->frames.v, s->frames.n * sizeof *old);
    for (size_t i = 0; i < s->nodes.n; i++) {
        uint32_t *frame = &s->nodes.v[i].frame;
        if (!index[*frame]) {
            s->frames.v[used++] = old[*frame];
            index[*frame] = used;
        }
        *frame = index[*frame] - 1;
    }
    s->frames.n = used;
    free(index);
    free(old);
}

/* Paths that have nothing at all. */
static void drop_empty(struct mt_stacks *s)
{
    bool *empty = mt_alloc(s->nodes.n + 1);
    for (size_t i = 0; i < s->nodes.n; i++)
        empty[i] = is_nothing(&s->nodes.v[i]);
    leave_out(s, empty);
    free(empty);
}

static void sum_up_and_drop(struct mt_stacks *s)
{
    sum_up(s);
    drop_empty(s);
    mt_map_free(&s->node_of); /* numbers have changed */
}

size_t mt_stacks_left(struct mt_stacks *s, int64_t least_b)
{
    size_t left = 0;
    sum_up_and_drop(s);
    bool *small = choose_small(s, mt_stacks_frame(s, "[other]", "", 0), least_b);
    for (size_t i = 0; i < s->nodes.n; i++)
        left += !small[i];
    free(small);
    return left;
}

size_t mt_stacks_finish(struct mt_stacks *s, int64_t least_b)
{
    size_t folded = 0;
    sum_up_and_drop(s);
    if (!s->nodes.n) {
        s->frames.n = 0;
        return 0;
    }
    for (uint32_t i = 0; i < s->nodes.n; i++)
        *node_at(s, s->nodes.v[i].parent, s->nodes.v[i].frame, s->nodes.v[i].phase) = i;
    if (least_b) {
        folded = fold(s, least_b);
        sum_up(s);
    }
    order(s);
    order_frames(s);
    return folded;
}
