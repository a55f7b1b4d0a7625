/*
 * Checkpoints: of layers that follow each other, what is made inside is made again in backward. The
 * layers are found by the ops of the forward pass, which repeat themselves.
 */
#include "lib/advice/evidence.h"
#include "lib/advice/kept.h"
#include "lib/advice/operands.h"
#include "lib/advice/repeats.h"
#include "lib/advice/rules.h"

#include "lib/base/map.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

enum { CROSSES_B = 1 << 10, STRETCHES = 4, NEAR = 64 };

/* Layers that follow each other, by number of the op in the pass. Where two kinds take turns, as
 * with shifted windows, a period has one of each. */
struct layers {
    size_t start, period;
    size_t second; /* where the second begins in a period; 0: it is one layer */
    size_t n;
};

struct checkpoint {
    struct mt_advice_plan *p;
    const struct mt_advice_facts *f;
    bool *kept;              /* by block: beyond its iteration */
    bool *given;             /* by block: a checkpoint is given it, and keeps it */
    uint32_t kept_op;        /* that makes one in a piece; MT_NONE: none does */
    uint32_t *first, *of_op; /* blocks of top op i: of_op[first[i]] .. of_op[first[i + 1] - 1] */
    MT_VEC(uint32_t) links;  /* ops with a forward op */
    /* the forward pass */
    MT_VEC(uint32_t) ops, keys;
    struct mt_map key_of;     /* string of the shape, frame -> key */
    MT_VEC(int64_t) again_ns; /* of each op */
    const struct mt_advice_backward *backward;
    size_t piece_n;      /* of the longest stretch */
    uint32_t next_piece; /* the number of the next, of all passes and stretches */
    bool by_name;        /* whatever the shapes: of experts they differ from layer to layer */
    int64_t price_ns;
    bool any, found; /* in the recording, in this pass */
};

/* ---- the forward pass of a backward pass ---- */

/* Number of the last op of the pass that has begun before that time. */
static size_t op_before(const struct checkpoint *c, int64_t t_ns)
{
    return mt_advice_first_since(c->f, c->ops.v, c->ops.n, t_ns) - 1;
}

/* When the engine first runs each op of the pass backward; INT64_MAX: never. */
static void find_again(struct checkpoint *c)
{
    const struct mt_advice_op *ops = c->f->ops.v;
    c->again_ns.n = 0;
    for (size_t i = 0; i < c->ops.n; i++)
        *mt_vec_push(&c->again_ns) = INT64_MAX;
    for (size_t i = c->backward->first; i < c->backward->end; i++) {
        const struct mt_advice_op *op = &ops[c->f->links.v[i]];
        size_t at = op_before(c, mt_wrap_add(ops[ops[op->forward].top].start_ns, 1));
        if (at < c->ops.n && c->ops.v[at] == ops[op->forward].top &&
            op->start_ns < c->again_ns.v[at])
            c->again_ns.v[at] = op->start_ns;
    }
}

/* Ops of one name, and one shape at first, have one key. */
static uint32_t key_of(struct checkpoint *c, const struct mt_advice_op *op)
{
    uint64_t shape = c->by_name ? 0 : (uint64_t)op->shape_id << 32;
    uint32_t *key = mt_map_at(&c->key_of, shape | c->f->tree->nodes.v[op->node].frame);
    if (*key == MT_MAP_NONE)
        *key = (uint32_t)c->key_of.n;
    return *key;
}

static void find_pass(struct checkpoint *c)
{
    const unsigned other = MT_IN_ENGINE | MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD | MT_IN_LOADER;
    const struct mt_advice_facts *f = c->f;
    uint32_t first = c->backward->forward;
    c->ops.n = c->keys.n = 0;
    if (first == MT_NONE)
        return;
    for (uint32_t i = first; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        if (op->thread != f->ops.v[first].thread || op->start_ns >= c->backward->start_ns)
            break;
        if (op->top != i || op->inside & other)
            continue;
        *mt_vec_push(&c->ops) = i;
        *mt_vec_push(&c->keys) = key_of(c, op);
    }
    find_again(c);
}

/* ---- where pieces begin ---- */

/* By the op before which the pass would be cut: bytes that cross it, and that backward does not
 * keep; allocated. */
static int64_t *find_crossing(const struct checkpoint *c)
{
    int64_t *bytes = mt_alloc((c->ops.n + 2) * sizeof *bytes);
    for (size_t i = 0; i < c->ops.n; i++) {
        uint32_t op = c->ops.v[i];
        for (uint32_t k = c->first[op]; k < c->first[op + 1]; k++) {
            const struct mt_advice_block *b = &c->f->blocks.v[c->of_op[k]];
            if (b->category != MT_CATEGORY_ACTIVATION || b->rule == MT_CATEGORY_R10_GRAPH ||
                b->freed_ns <= c->f->ops.v[op].end_ns)
                continue;
            size_t last = op_before(c, b->freed_ns);
            mt_wrap_inc(&bytes[i + 1], b->bytes);
            mt_wrap_dec(&bytes[last + 1], b->bytes);
        }
    }
    for (size_t i = 1; i < c->ops.n + 2; i++)
        mt_wrap_inc(&bytes[i], bytes[i - 1]);
    return bytes;
}

/* The start of the first piece: where little crosses the cuts, then where there are most. */
static size_t find_start(const struct checkpoint *c, const struct mt_repeat *r)
{
    int64_t *crossing = find_crossing(c);
    size_t best = r->from, best_n = 0;
    bool best_good = false;
    for (size_t turn = 0; turn < r->period; turn++) {
        size_t n = (r->to - r->from - turn) / r->period;
        int64_t sum = 0;
        for (size_t k = 1; k < n; k++)
            mt_wrap_inc(&sum, crossing[r->from + turn + k * r->period]);
        bool good = sum <= (int64_t)n * CROSSES_B;
        if (n < 2 || (best_n && (good < best_good || (good == best_good && n <= best_n))))
            continue;
        best = r->from + turn;
        best_n = n;
        best_good = good;
    }
    free(crossing);
    return best;
}

/* Whether all keys of the first are among those of the second in that order. */
static bool is_within(const uint32_t *keys, size_t n, const uint32_t *longer, size_t longer_n)
{
    size_t found = 0;
    for (size_t i = 0; i < longer_n && found < n && n - found <= longer_n - i; i++)
        found += longer[i] == keys[found];
    return found == n;
}

/* Where in a period a second layer begins, which is the first one with a few ops more or less; 0:
 * nowhere. */
static size_t find_second(const struct checkpoint *c, size_t start, size_t period)
{
    const uint32_t *keys = c->keys.v + start;
    for (size_t at = period * 4 / 9 + 1; !c->by_name && at * 9 < period * 5; at++) {
        size_t rest = period - at;
        if (keys[at] == keys[0] && keys[at - 1] == keys[period - 1] &&
            (at < rest ? is_within(keys, at, keys + at, rest)
                       : is_within(keys + at, rest, keys, at)))
            return at;
    }
    return 0;
}

static struct layers layers_of(const struct checkpoint *c, const struct mt_repeat *r)
{
    struct layers l = {.start = find_start(c, r), .period = r->period};
    l.n = (r->to - l.start) / r->period;
    l.second = find_second(c, l.start, l.period);
    l.n *= l.second ? 2 : 1;
    return l;
}

/* The first op of a layer; of the n-th, what is behind all. */
static size_t layer_at(const struct layers *l, size_t i)
{
    if (!l->second)
        return l->start + i * l->period;
    return l->start + i / 2 * l->period + i % 2 * l->second;
}

/* ---- a piece ---- */

/* When the engine first runs an op of a piece backward. */
static int64_t backward_of(const struct checkpoint *c, size_t from, size_t to)
{
    int64_t first = INT64_MAX;
    for (size_t i = from; i < to; i++)
        first = c->again_ns.v[i] < first ? c->again_ns.v[i] : first;
    return first;
}

/* The block that a piece hands on: the largest of its last op that leaves any. */
static uint32_t output_of(const struct checkpoint *c, size_t from, size_t to, int64_t end_ns)
{
    for (size_t i = to; i-- > from;) {
        uint32_t largest = MT_NONE, op = c->ops.v[i];
        for (uint32_t k = c->first[op]; k < c->first[op + 1]; k++) {
            const struct mt_advice_block *b = &c->f->blocks.v[c->of_op[k]];
            if (b->freed_ns > end_ns &&
                (largest == MT_NONE || b->bytes > c->f->blocks.v[largest].bytes))
                largest = c->of_op[k];
        }
        if (largest != MT_NONE)
            return largest;
    }
    return MT_NONE;
}

/* Numbers of the first tensor that an op takes; 0: none, or not recorded. */
static int64_t operand_of(const struct checkpoint *c, uint32_t op)
{
    uint32_t list = mt_map_get(&c->f->operands_of, (uint64_t)c->f->ops.v[op].shape_id);
    return list == MT_MAP_NONE || !c->f->operands.v[list] ? 0 : c->f->operands.v[list + 1];
}

/* The block that a piece is given: the latest before it that is as large as what its first op
 * takes; MT_NONE: shapes do not tell. */
static uint32_t input_of(const struct checkpoint *c, size_t from)
{
    const struct mt_advice_facts *f = c->f;
    int64_t numbers = operand_of(c, c->ops.v[from]), start_ns = f->ops.v[c->ops.v[from]].start_ns;
    for (size_t i = from; numbers && i-- > 0 && from - i <= NEAR;)
        for (uint32_t k = c->first[c->ops.v[i]]; k < c->first[c->ops.v[i] + 1]; k++) {
            const struct mt_advice_block *b = &f->blocks.v[c->of_op[k]];
            if (b->freed_ns > start_ns && mt_advice_numbers(f, b) == numbers)
                return c->of_op[k];
        }
    return MT_NONE;
}

/* A checkpoint keeps what it is given until the engine has run it backward, be it of use there or
 * not. */
static void keep_input(struct checkpoint *c, size_t from, size_t to)
{
    uint32_t input = input_of(c, from);
    int64_t last_ns = INT64_MIN;
    if (input == MT_NONE)
        return;
    for (size_t i = from; i < to; i++)
        if (c->again_ns.v[i] != INT64_MAX && c->again_ns.v[i] > last_ns)
            last_ns = c->again_ns.v[i];
    c->given[input] = true;
    struct mt_life *life = &c->p->lives.all.v[input];
    int64_t until = mt_advice_record(c->f, last_ns);
    life->to = until > life->to ? until : life->to;
}

/* The end of the next op of the piece that leaves something. */
static int64_t used_until(const struct checkpoint *c, size_t i, size_t to, int64_t end_ns)
{
    for (size_t k = i + 1; k < to; k++)
        if (c->f->ops.v[c->ops.v[k]].makes)
            return c->f->ops.v[c->ops.v[k]].end_ns;
    return end_ns;
}

static void checkpoint_piece(struct checkpoint *c, size_t from, size_t to)
{
    const struct mt_advice_facts *f = c->f;
    int64_t end_ns = to < c->ops.n ? f->ops.v[c->ops.v[to]].start_ns : c->backward->start_ns;
    int64_t again_ns = backward_of(c, from, to);
    uint32_t output = output_of(c, from, to, end_ns);
    if (again_ns == INT64_MAX)
        return;
    c->next_piece++;
    mt_wrap_inc(&c->price_ns,
                mt_wrap_sub(f->ops.v[c->ops.v[to - 1]].end_ns, f->ops.v[c->ops.v[from]].start_ns));
    for (size_t i = from; i < to; i++)
        for (uint32_t k = c->first[c->ops.v[i]]; k < c->first[c->ops.v[i] + 1]; k++) {
            uint32_t own = c->of_op[k];
            const struct mt_advice_block *b = &f->blocks.v[own];
            if (c->kept[own])
                c->kept_op = c->ops.v[i];
            if (b->rule != MT_CATEGORY_R10_GRAPH || b->freed_ns <= end_ns || own == output ||
                c->given[own])
                continue;
            int64_t until = mt_advice_record(f, used_until(c, i, to, end_ns));
            int64_t again = mt_advice_record(f, again_ns);
            if (until >= again || !mt_advice_cut(c->p, own, until))
                continue;
            *mt_vec_push(&c->p->lives.all) =
                (struct mt_life){again, b->freed_record, c->p->lives.all.v[own].bytes};
            c->p->piece[own] = c->next_piece;
            c->any = c->found = true;
        }
}

/* Whether ops are a layer: a model that is called twice, each time with its loss, is none. */
static bool are_layer(const struct checkpoint *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint32_t op = c->ops.v[i];
        if (strstr(mt_advice_name(c->f, op), "loss") ||
            strstr(mt_advice_name(c->f, op), "cross_entropy"))
            return false;
    }
    return true;
}

/* Appends the name of a piece: of the module or annotation around all of its ops. */
static void add_name(const struct checkpoint *c, size_t from, size_t to, struct mt_buf *out)
{
    const struct mt_advice_op *ops = c->f->ops.v;
    uint32_t around = ops[c->ops.v[from]].node;
    for (size_t i = from + 1; i < to; i++)
        around = mt_advice_around(c->f, around, ops[c->ops.v[i]].node);
    mt_advice_add_piece_name(c->f, around, out);
}

/* "Block_0 ... Block_11", if pieces have names of their own. */
static void name_pieces(struct checkpoint *c, const struct layers *l)
{
    struct mt_buf first = {0}, last = {0};
    add_name(c, l->start, layer_at(l, 1), &first);
    add_name(c, layer_at(l, l->n - 1), layer_at(l, l->n), &last);
    mt_buf_clear(&c->p->subject);
    if (first.n && last.n && strcmp(first.s, last.s) != 0)
        mt_buf_addf(&c->p->subject, "%s ... %s", first.s, last.s);
    mt_buf_free(&first);
    mt_buf_free(&last);
}

static void describe(struct checkpoint *c, const struct layers *l)
{
    const long long every = c->p->choice->every;
    size_t op_n = layer_at(l, 1) - l->start, other_n = layer_at(l, 2) - layer_at(l, 1);
    c->piece_n = l->n;
    name_pieces(c, l);
    mt_buf_clear(&c->p->because);
    mt_buf_clear(&c->p->how);
    if (every > 1) {
        mt_buf_addf(&c->p->because, "%zu of ", (l->n - 1) / (size_t)every + 1);
        mt_buf_addf(&c->p->how,
                    "x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) if i %% "
                    "%lld == 0 else layer(x)",
                    every);
    }
    mt_buf_addf(&c->p->because, "%zu pieces of %zu ", l->n, op_n);
    if (other_n != op_n)
        mt_buf_addf(&c->p->because, "and %zu ops in turn", other_n);
    else
        mt_buf_adds(&c->p->because, "ops each");
    mt_buf_addf(&c->p->because, ", from %s to %s", mt_advice_name(c->f, c->ops.v[l->start]),
                mt_advice_name(c->f, c->ops.v[layer_at(l, 1) - 1]));
}

static void checkpoint_layers(struct checkpoint *c, const struct layers *l)
{
    size_t every = (size_t)c->p->choice->every;
    if (!are_layer(c, l->start, l->start + l->period))
        return;
    for (size_t at = l->start; at < l->start + l->period; at++)
        if (strcmp(mt_advice_name(c->f, c->ops.v[at]), "aten::cat") == 0)
            c->p->bound = MT_BOUND_UP_TO; /* it joins what comes from further away */
    for (size_t i = 0; i < l->n; i += every)
        keep_input(c, layer_at(l, i), layer_at(l, i + 1));
    for (size_t i = 0; i < l->n; i += every)
        checkpoint_piece(c, layer_at(l, i), layer_at(l, i + 1));
    if (l->n > c->piece_n)
        describe(c, l);
}

/* The ops from..to of the pass: the longest stretch of layers, then what is before and behind it.
 */
static void checkpoint_range(struct checkpoint *c, size_t from, size_t to, int depth)
{
    if (!depth)
        return;
    const struct mt_repeat r = mt_find_repeat(c->keys.v, from, to);
    if (!r.period)
        return;
    const struct layers l = layers_of(c, &r);
    checkpoint_layers(c, &l);
    checkpoint_range(c, from, l.start, depth - 1);
    checkpoint_range(c, layer_at(&l, l.n), to, depth - 1);
}

/* Whether what was found may be advised: what something keeps would be kept twice. If not, says so.
 */
static bool is_sure(const struct checkpoint *c)
{
    if (c->any && c->kept_op == MT_NONE)
        return true;
    mt_buf_clear(&c->p->because);
    if (c->any)
        mt_buf_addf(&c->p->because,
                    "something keeps what %s makes in the repeated layers (memtool leaks): stop "
                    "that first, or what is computed again is kept, too",
                    mt_advice_name(c->f, c->kept_op));
    return false;
}

bool mt_advise_checkpoint(struct mt_advice_plan *p)
{
    p->bound = MT_BOUND_ABOUT;
    struct checkpoint c = {.p = p, .f = p->f, .kept_op = MT_NONE};
    for (size_t i = 0; i < c.f->blocks.n; i++)
        if (c.f->blocks.v[i].category == MT_CATEGORY_RECOMPUTED)
            return false; /* it does so already */
    mt_advice_blocks_of_ops(c.f, &c.first, &c.of_op);
    c.kept = mt_advice_find_kept(c.f);
    c.given = mt_alloc(c.f->blocks.n + 1);
    p->piece = mt_alloc((c.f->blocks.n + 1) * sizeof *p->piece);
    for (size_t i = 0; i < c.f->backwards.n; i++) {
        c.backward = &c.f->backwards.v[i];
        c.found = false;
        for (int turn = 0; turn < 2 && !c.found; turn++) {
            c.by_name = turn;
            find_pass(&c);
            checkpoint_range(&c, 0, c.ops.n, STRETCHES);
        }
    }
    if (c.f->backwards.n)
        p->price_ns = c.price_ns / (int64_t)c.f->backwards.n;
    mt_vec_free(&c.again_ns);
    mt_vec_free(&c.ops);
    mt_map_free(&c.key_of);
    mt_vec_free(&c.keys);
    free(c.first);
    free(c.of_op);
    free(c.kept);
    free(c.given);
    return is_sure(&c);
}
