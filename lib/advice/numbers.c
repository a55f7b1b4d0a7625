/* Of which type the numbers of a program are. */
#include "lib/advice/facts.h"

#include <stdlib.h>
#include <string.h>

/* Elements of the product of the last two shapes of "[[b], [m, k], [k, n]]"; 0: it has no such. */
static int64_t product_n(const char *shapes)
{
    int64_t v[2][2] = {{0}}, now[2] = {0};
    int n = 0;
    for (const char *p = shapes; *p; p++) {
        if (*p == '[')
            n = 0;
        else if (*p >= '0' && *p <= '9' && (p == shapes || p[-1] < '0' || p[-1] > '9')) {
            if (n < 2)
                now[n] = strtoll(p, NULL, 10);
            n++;
        } else if (*p == ']' && n == 2) {
            memcpy(v[0], v[1], sizeof v[0]);
            memcpy(v[1], now, sizeof v[1]);
            n = 0;
        }
    }
    int64_t out;
    bool fits = v[0][1] == v[1][0] && !__builtin_mul_overflow(v[0][0], v[1][1], &out);
    return fits && v[0][0] > 0 ? out : 0;
}

static bool is_product(const char *name)
{
    return strcmp(name, "aten::addmm") == 0 || strcmp(name, "aten::mm") == 0;
}

bool mt_advice_is_product(const char *name)
{
    static const char *const parts[] = {"linear", "addmm",  "matmul", "::mm",    "bmm",
                                        "conv",   "einsum", "Addmm",  "MmBackw", "Convolution"};
    for (size_t i = 0; i < MT_ARRAY_LEN(parts); i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

/* The same of the largest that tells its type. */
static int64_t find_typed_element(const struct mt_advice_facts *f)
{
    const struct mt_advice_block *largest = NULL;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top = mt_advice_top(f, b);
        if (top != MT_NONE && b->float_b > 0 && b->freed_ns > f->ops.v[top].end_ns &&
            (!largest || b->bytes > largest->bytes) && mt_advice_is_product(mt_advice_name(f, top)))
            largest = b;
    }
    return largest ? largest->float_b : 0;
}

/* Where blocks tell no types: the largest that a matrix product makes has a size and shapes. */
enum mt_status mt_advice_find_element(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                      struct mt_err *err)
{
    const struct mt_advice_block *largest = NULL;
    uint32_t shape;
    f->element_b = find_typed_element(f);
    for (size_t i = 0; i < f->blocks.n && !f->element_b; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->alloc_op != MT_NONE && f->ops.v[b->alloc_op].shape_id &&
            b->freed_ns > f->ops.v[b->alloc_op].end_ns && (!largest || b->bytes > largest->bytes) &&
            is_product(mt_advice_name(f, b->alloc_op)))
            largest = b;
    }
    if (!largest)
        return MT_OK;
    MT_TRY(
        mt_load_text(blocks->db, &blocks->tree, f->ops.v[largest->alloc_op].shape_id, &shape, err));
    int64_t n = product_n(mt_strtab_get(&f->tree->strings, shape));
    f->element_b = n > 0 && largest->bytes % n == 0 ? largest->bytes / n : 0;
    return MT_OK;
}
