#include "lib/advice/attention.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 512 }; /* ops, with those below them */

/* The top op before another one; MT_NONE: none is near. */
static uint32_t top_before(const struct mt_advice_facts *f, uint32_t i)
{
    for (int near = 0; i-- > 0 && near < NEAR; near++)
        if (f->ops.v[i].top == i)
            return i;
    return MT_NONE;
}

static bool is_named(const struct mt_advice_facts *f, uint32_t op, const char *name)
{
    return op != MT_NONE && strcmp(mt_advice_name(f, op), name) == 0;
}

/* Numbers in the first tensor that a top op takes; 0: unknown. */
static int64_t first_operand(const struct mt_advice_facts *f, uint32_t op)
{
    uint32_t list = mt_map_get(&f->operands_of, (uint64_t)f->ops.v[op].shape_id);
    return list == MT_MAP_NONE || !f->operands.v[list] ? 0 : f->operands.v[list + 1];
}

/* Whether queries, keys and values come from one product that all three share, of what has its
 * batch first: as nn.MultiheadAttention makes them of one tensor. */
static bool is_packed(const struct mt_advice_facts *f, uint32_t attention)
{
    static const char *const views[] = {"aten::squeeze", "aten::transpose", "aten::unsqueeze",
                                        "aten::unflatten"};
    int64_t numbers = first_operand(f, attention);
    uint32_t i = top_before(f, attention);
    while (i != MT_NONE && !is_named(f, i, "aten::contiguous"))
        i = attention - i < NEAR ? top_before(f, i) : MT_NONE;
    if (i == MT_NONE || !numbers || first_operand(f, i) / 3 != numbers)
        return false;
    i = top_before(f, i);
    for (size_t k = 0; k < MT_ARRAY_LEN(views) && is_named(f, i, views[k]); k++)
        i = top_before(f, i);
    return is_named(f, i, "aten::linear") && is_named(f, top_before(f, i), "aten::transpose");
}

/* Weights of attention of "[[batch, heads, length, size], ..."; 0: it is another shape, or the
 * number of heads is odd, for which there is no fast path. */
static int64_t weights_of(const char *shapes)
{
    int64_t n[4], all;
    if (strncmp(shapes, "[[", 2) != 0)
        return 0;
    const char *p = shapes + 2;
    for (int k = 0; k < 4; k++) {
        char *end;
        n[k] = strtoll(p, &end, 10);
        if (end == p || n[k] <= 0)
            return 0;
        p = end + strspn(end, ", ");
    }
    bool fits = !__builtin_mul_overflow(n[0], n[1], &all) &&
                !__builtin_mul_overflow(all, n[2], &all) &&
                !__builtin_mul_overflow(all, n[2], &all) && all < INT64_MAX / 8;
    return *p == ']' && n[1] % 2 == 0 && fits ? all : 0;
}

/* Whether it is computed without its weights: there is no dropout, nor a mask that it must see. */
static bool is_fused(const struct mt_advice_facts *f, uint32_t attention)
{
    for (uint32_t i = attention + 1; i < f->ops.n && f->ops.v[i].top == attention; i++)
        if (is_named(f, i, "aten::_scaled_dot_product_flash_attention_for_cpu"))
            return true;
    return false;
}

/* With need_weights=True: the product before a softmax of all its numbers; MT_NONE: it is none. */
static uint32_t scores_of(const struct mt_advice_facts *f, uint32_t softmax)
{
    uint32_t product = top_before(f, softmax);
    bool is = is_named(f, softmax, "aten::softmax") && is_named(f, product, "aten::bmm") &&
              is_packed(f, product);
    return is ? product : MT_NONE;
}

enum mt_status mt_advice_find_attention(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                        struct mt_err *err)
{
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        uint32_t text, scores = op->top == i && op->shape_id ? scores_of(f, i) : MT_NONE;
        if (scores != MT_NONE)
            *mt_vec_push(&f->attention) = (struct mt_advice_attention){i, scores, 0, 0};
        if (op->top != i || !op->shape_id ||
            !is_named(f, i, "aten::scaled_dot_product_attention") || !is_fused(f, i) ||
            !is_packed(f, i))
            continue;
        MT_TRY(mt_load_text(blocks->db, &blocks->tree, op->shape_id, &text, err));
        int64_t weights_n = weights_of(mt_strtab_get(&f->tree->strings, text));
        if (weights_n)
            *mt_vec_push(&f->attention) =
                (struct mt_advice_attention){i, MT_NONE, weights_n, first_operand(f, i)};
    }
    return MT_OK;
}
