#include "lib/advice/inputs.h"

#include "lib/advice/batch.h"
#include "lib/base/search.h"
#include <stdlib.h>
#include <string.h>

enum { SCALAR_B = 8 };

/* Data, and no state that the model makes of nothing. */
static bool is_data(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    static const char *const states[] = {"aten::zeros", "aten::ones", "aten::full", "aten::arange",
                                         "aten::new_"};
    uint32_t top = mt_advice_top(f, b);
    if (b->category != MT_CATEGORY_INPUT || b->bytes <= SCALAR_B)
        return false;
    const char *name = top == MT_NONE ? "" : mt_advice_name(f, top);
    for (size_t i = 0; i < MT_ARRAY_LEN(states); i++)
        if (strncmp(name, states[i], strlen(states[i])) == 0)
            return false;
    return true;
}

/* Whether a block is there when a backward pass begins. */
static bool meets_backward(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    const struct mt_advice_backward *v = f->backwards.v;
    const size_t n = f->backwards.n;
    size_t next = n ? mt_count_below(&v->start_ns, n, sizeof *v, b->alloc_ns) : 0;
    return next < n && b->freed_ns > v[next].start_ns;
}

static int size_cmp(const void *a, const void *b)
{
    const struct mt_input_size *x = a, *y = b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Those of one size become one. */
static void merge(struct mt_inputs *in)
{
    size_t n = 0;
    if (in->all.n)
        qsort(in->all.v, in->all.n, sizeof *in->all.v, size_cmp);
    for (size_t i = 0; i < in->all.n; i++) {
        const struct mt_input_size *one = &in->all.v[i];
        struct mt_input_size *to = n ? &in->all.v[n - 1] : NULL;
        if (!to || to->bytes != one->bytes) {
            const int64_t smaller_b = to ? to->largest_b : 0;
            to = &in->all.v[n++];
            *to = *one;
            to->largest_b = one->largest_b ? one->largest_b : smaller_b;
            continue;
        }
        to->n += one->n;
        to->cast |= one->cast;
        to->largest_b = one->largest_b ? one->largest_b : to->largest_b;
    }
    in->all.n = n;
}

void mt_inputs_find(const struct mt_advice_facts *f, struct mt_inputs *out)
{
    *out = (struct mt_inputs){0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const bool data = is_data(f, b), meets = meets_backward(f, b);
        const bool cast = meets && mt_batch_is_cast(f, b);
        if (!data && !cast)
            continue;
        const bool input = data && meets;
        *mt_vec_push(&out->all) =
            (struct mt_input_size){b->bytes, input ? b->bytes : 0, data, cast};
        if (input && (!out->smallest_b || b->bytes < out->smallest_b))
            out->smallest_b = b->bytes;
    }
    merge(out);
}

void mt_inputs_free(struct mt_inputs *in)
{
    mt_vec_free(&in->all);
}

/* How many sizes are smaller. */
static size_t count_below(const struct mt_inputs *in, int64_t bytes)
{
    const struct mt_input_size *v = in->all.v;
    return in->all.n ? mt_count_below(&v->bytes, in->all.n, sizeof *v, bytes) : 0;
}

/* NULL: there is none. */
static const struct mt_input_size *of_size(const struct mt_inputs *in, int64_t bytes)
{
    const size_t i = count_below(in, bytes);
    return i < in->all.n && in->all.v[i].bytes == bytes ? &in->all.v[i] : NULL;
}

int64_t mt_inputs_largest(const struct mt_inputs *in, int64_t below)
{
    const size_t n = count_below(in, below);
    return n ? in->all.v[n - 1].largest_b : 0;
}

int64_t mt_inputs_count(const struct mt_inputs *in, int64_t bytes)
{
    const struct mt_input_size *size = of_size(in, bytes);
    return size ? size->n : 0;
}

bool mt_inputs_has_cast(const struct mt_inputs *in, int64_t bytes)
{
    const struct mt_input_size *size = of_size(in, bytes);
    return size && size->cast;
}
