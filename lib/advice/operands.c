#include "lib/advice/operands.h"

#include "lib/base/map.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

/* Appends how many there are, and the numbers in each tensor of "[[8, 64], [], [[4], [4]]]"; of
 * "([8, 64])", sizes that an op without a tensor is asked for, none. */
static void add_sizes(struct mt_advice_facts *f, const char *shapes)
{
    size_t head = f->operands.n;
    *mt_vec_push(&f->operands) = 0;
    for (const char *p = shapes; *shapes == '[' && *p; p++) {
        int64_t n = 1;
        if (*p != '[' || !isdigit((unsigned char)p[1]))
            continue;
        while (isdigit((unsigned char)p[1])) {
            char *end;
            if (__builtin_mul_overflow(n, strtoll(p + 1, &end, 10), &n))
                n = 0;
            p = end + strspn(end, ", ") - 1;
        }
        *mt_vec_push(&f->operands) = n;
        f->operands.v[head]++;
    }
}

enum mt_status mt_advice_find_operands(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                       struct mt_err *err)
{
    const unsigned other = MT_IN_ENGINE | MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD;
    uint32_t text;
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        if (op->top != i || !op->shape_id || op->inside & other)
            continue;
        uint32_t *at = mt_map_at(&f->operands_of, (uint64_t)op->shape_id);
        if (*at != MT_MAP_NONE)
            continue;
        *at = (uint32_t)f->operands.n;
        MT_TRY(mt_load_text(blocks->db, &blocks->tree, op->shape_id, &text, err));
        add_sizes(f, mt_strtab_get(&f->tree->strings, text));
    }
    return MT_OK;
}

/* ---- what is handed on ---- */

bool mt_advice_is_recurrent(const char *name)
{
    return strstr(name, "rnn") || strstr(name, "lstm") || strstr(name, "gru");
}

uint32_t mt_advice_result_of(const struct mt_advice_facts *f, const uint32_t *first,
                             const uint32_t *of_op, uint32_t top)
{
    bool recurrent = mt_advice_is_recurrent(mt_advice_name(f, top));
    uint32_t result = MT_NONE;
    for (uint32_t k = first[top]; k < first[top + 1]; k++) {
        const struct mt_advice_block *b = &f->blocks.v[of_op[k]];
        if (b->freed_ns > f->ops.v[top].end_ns &&
            (result == MT_NONE || (!recurrent && b->bytes > f->blocks.v[result].bytes)))
            result = of_op[k];
    }
    return result;
}

int64_t mt_advice_numbers(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    int64_t element = b->number_b        ? b->number_b
                      : f->element_b > 0 ? f->element_b
                                         : (int64_t)sizeof(float);
    return b->bytes / element;
}

/* ---- who takes what ---- */

enum { FAR = 64, SPLIT_N = 8 };

struct result {
    uint32_t op, before; /* before: the one of that size before it; MT_NONE: none */
    int64_t numbers;
    int64_t left;    /* of one that was split: numbers in parts that nothing has taken yet */
    uint32_t picked; /* by this op */
    bool taken;
};

struct trail {
    const struct mt_advice_facts *f;
    MT_VEC(struct result) all;
    struct mt_map latest; /* by numbers */
    struct mt_map sums;   /* by numbers, the latest that is a sum */
    uint32_t split[SPLIT_N], split_n;
    bool any_type;
    uint32_t *taker;
};

static bool is_sum(const char *name)
{
    return strcmp(name, "aten::add") == 0 || strcmp(name, "aten::add_") == 0;
}

static bool has_part(const char *name, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

bool mt_advice_is_weighted(const char *name)
{
    static const char *const parts[] = {"linear", "conv", "norm", "embedding",
                                        "lstm",   "gru",  "rnn"};
    static const char *const others[] = {"linalg_", "::norm", "frobenius", "::upsample_"};
    return has_part(name, parts, MT_ARRAY_LEN(parts)) &&
           !has_part(name, others, MT_ARRAY_LEN(others));
}

int64_t mt_advice_first_layer(const struct mt_advice_facts *f)
{
    int64_t first_ns = INT64_MAX;
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const char *name = f->ops.v[i].top != MT_NONE ? mt_advice_name(f, i) : NULL;
        if (name && f->ops.v[i].start_ns < first_ns &&
            (mt_advice_is_product(name) || mt_advice_is_weighted(name)))
            first_ns = f->ops.v[i].start_ns;
    }
    return first_ns;
}

static bool splits(const char *name)
{
    static const char *const names[] = {"aten::chunk",  "aten::split",  "aten::split_with_sizes",
                                        "aten::unbind", "aten::select", "aten::slice",
                                        "aten::narrow"};
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void forget(struct trail *t)
{
    mt_map_free(&t->latest);
    mt_map_free(&t->sums);
    t->latest = t->sums = (struct mt_map){0};
    t->split_n = 0;
}

/* The latest result of that size that nothing has taken yet; MT_NONE: there is none, *again is then
 * the latest that the op has not picked yet. */
static uint32_t pick_new(const struct trail *t, uint32_t op, int64_t numbers, uint32_t *again)
{
    uint32_t at = mt_map_get(&t->latest, (uint64_t)numbers);
    *again = MT_NONE;
    for (int far = 0; at != MT_NONE && far < FAR; at = t->all.v[at].before, far++) {
        const struct result *r = &t->all.v[at];
        if (r->picked == op)
            continue;
        if (!r->taken)
            return at;
        *again = *again == MT_NONE ? at : *again;
    }
    return MT_NONE;
}

/* A result of which it is a part that nothing has taken yet. */
static uint32_t pick_whole(const struct trail *t, int64_t numbers)
{
    for (uint32_t k = 0; k < t->split_n && k < SPLIT_N; k++) {
        uint32_t at = t->split[(t->split_n - 1 - k) % SPLIT_N];
        if (t->all.v[at].left >= numbers && t->all.v[at].numbers > numbers)
            return at;
    }
    return MT_NONE;
}

/* What an op takes. A sum that takes a result again takes that of the sum before, as residual
 * connections do. */
static uint32_t pick(const struct trail *t, uint32_t op, int64_t numbers, bool sum)
{
    uint32_t again, at = pick_new(t, op, numbers, &again);
    at = at == MT_NONE ? pick_whole(t, numbers) : at;
    uint32_t before = at == MT_NONE && sum ? mt_map_get(&t->sums, (uint64_t)numbers) : MT_NONE;
    if (before != MT_NONE && t->all.v[before].picked != op)
        return before;
    return at == MT_NONE ? again : at;
}

/* How many operands may be results. */
static int64_t operand_n(const char *name, int64_t n)
{
    return strstr(name, "embedding") ? 0 : mt_advice_is_weighted(name) && n > 1 ? 1 : n;
}

static void take(struct trail *t, uint32_t op)
{
    const struct mt_advice_facts *f = t->f;
    const char *name = mt_advice_name(f, op);
    bool makes = f->ops.v[op].makes, sum = is_sum(name);
    uint32_t list = mt_map_get(&f->operands_of, (uint64_t)f->ops.v[op].shape_id);
    if (!f->ops.v[op].shape_id || list == MT_MAP_NONE)
        return;
    int64_t n = operand_n(name, f->operands.v[list]);
    for (int64_t k = 1; k <= n; k++) {
        int64_t numbers = f->operands.v[list + (size_t)k];
        uint32_t at = numbers ? pick(t, op, numbers, sum && k > 1) : MT_NONE;
        if (at == MT_NONE)
            continue;
        struct result *r = &t->all.v[at];
        t->taker[r->op] = op;
        r->picked = op;
        r->taken |= makes;
        r->left -= makes && r->numbers > numbers ? numbers : 0;
        if (makes || !splits(name))
            continue;
        r->left = r->numbers;
        t->split[t->split_n++ % SPLIT_N] = at;
    }
}

static void hand_on(struct trail *t, uint32_t op, const struct mt_advice_block *b)
{
    int64_t numbers = mt_advice_numbers(t->f, b);
    if (!numbers || (!b->float_b && !t->any_type))
        return;
    uint32_t *latest = mt_map_at(&t->latest, (uint64_t)numbers), id = (uint32_t)t->all.n;
    *mt_vec_push(&t->all) =
        (struct result){.op = op, .before = *latest, .numbers = numbers, .picked = MT_NONE};
    *latest = id;
    if (is_sum(mt_advice_name(t->f, op)))
        *mt_map_at(&t->sums, (uint64_t)numbers) = id;
}

uint32_t *mt_advice_last_takers(const struct mt_advice_facts *f, const uint32_t *result,
                                const bool *skipped, bool any_type)
{
    struct trail t = {
        .f = f, .any_type = any_type, .taker = mt_alloc((f->ops.n + 1) * sizeof(uint32_t))};
    memset(t.taker, 0xff, (f->ops.n + 1) * sizeof *t.taker);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        bool ends = skipped[i] || (i && f->ops.v[i].thread != f->ops.v[i - 1].thread);
        if (ends && t.latest.n)
            forget(&t);
        if (skipped[i] || f->ops.v[i].top != i)
            continue;
        take(&t, i);
        if (result[i] != MT_NONE)
            hand_on(&t, i, &f->blocks.v[result[i]]);
    }
    forget(&t);
    mt_vec_free(&t.all);
    return t.taker;
}
