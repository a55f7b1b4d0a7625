/* What is made of inputs: reductions and choices. */
#include "formats/op_tensors_parts.h"

/* A dimension as it is asked for, of n; -1: none. */
static int dimension(struct mt_slice text, int n)
{
    int64_t at;
    if (!mt_input_number(text, &at) || at < -n || at >= n)
        return -1;
    return (int)(at < 0 ? at + n : at);
}

/* Reduced dimensions are those of an input (none: all), kept as 1 if the next one says so. */
static void reduce(struct mt_making *m, int64_t dims_at, enum mt_dtype type)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    struct mt_dims by = {0}, d = {0};
    bool gone[MT_DIMS_MAX] = {false};
    int64_t keep = 0;
    struct mt_slice text = mt_making_input(m, dims_at)->concrete;
    if (!of || mt_making_tensor(m, dims_at))
        return;
    if (text.n && !mt_input_list(text, &by)) {
        by.n = 1;
        if (!mt_input_number(text, &by.v[0]))
            return;
    }
    for (int i = 0; i < by.n; i++) {
        int64_t at = by.v[i] < 0 ? by.v[i] + of->dims.n : by.v[i];
        if (at < 0 || at >= of->dims.n)
            return;
        gone[at] = true;
    }
    if (mt_making_input(m, dims_at + 1)->concrete.n &&
        !mt_input_number(mt_making_input(m, dims_at + 1)->concrete, &keep))
        return;
    for (int i = 0; i < of->dims.n; i++) {
        bool stays = by.n && !gone[i];
        if (stays || keep)
            d.v[d.n++] = stays ? of->dims.v[i] : 1;
    }
    mt_making_add(m, &d, type);
}

void mt_make_summed(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    enum mt_dtype own = of ? of->type : MT_DTYPE_NONE;
    int64_t dims_at = m->in->n == 2 ? MT_INPUTS_MAX : m->extra; /* sum(self, dtype) */
    if (mt_dtype_kind(own) < MT_KIND_FLOAT)
        own = MT_DTYPE_INT64;
    reduce(m, dims_at, mt_making_type(m, m->in->n == 2 ? 1 : m->extra + 2, own));
}

void mt_make_extreme(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    reduce(m, m->extra, of ? of->type : MT_DTYPE_NONE);
}

void mt_make_places(struct mt_making *m)
{
    reduce(m, m->extra, MT_DTYPE_INT64);
}

void mt_make_extreme_and_place(struct mt_making *m)
{
    mt_make_extreme(m);
    mt_make_places(m);
}

void mt_make_any(struct mt_making *m)
{
    reduce(m, m->extra, MT_DTYPE_BOOL);
}

void mt_make_cumulated(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    enum mt_dtype own = of ? of->type : MT_DTYPE_NONE;
    if (of)
        mt_making_add(
            m, &of->dims,
            mt_making_type(m, 2, mt_dtype_kind(own) < MT_KIND_FLOAT ? MT_DTYPE_INT64 : own));
}

void mt_make_selected(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0), *index = mt_making_tensor(m, 2);
    if (!of || !index)
        return;
    struct mt_dims d = of->dims;
    int at = dimension(mt_making_input(m, 1)->concrete, d.n);
    if (at < 0)
        return;
    d.v[at] = mt_dims_count(&index->dims);
    mt_making_add(m, &d, of->type);
}

/* Of the dimensions of the index, and the type of the first input. */
void mt_make_gathered(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0), *index = mt_making_tensor(m, 2);
    if (of && index)
        mt_making_add(m, &index->dims, of->type);
}

void mt_make_sorted(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    if (!of)
        return;
    mt_making_add(m, &of->dims, of->type);
    mt_making_add(m, &of->dims, MT_DTYPE_INT64);
}

/* The largest k, and where they are. */
void mt_make_top(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    int64_t k;
    if (!of || !mt_input_number(mt_making_input(m, 1)->concrete, &k) || k < 0)
        return;
    struct mt_dims d = of->dims;
    int at = dimension(mt_making_input(m, 2)->concrete, d.n);
    if (at < 0)
        return;
    d.v[at] = k;
    mt_making_add(m, &d, of->type);
    mt_making_add(m, &d, MT_DTYPE_INT64);
}
