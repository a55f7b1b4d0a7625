/* What is made of inputs: products, losses, convolutions, recurrent layers. */
#include "formats/op_tensors_parts.h"

/* The product of two inputs, which begin at `extra`: the last two dimensions, of some batch. */
void mt_make_product(struct mt_making *m)
{
    const struct mt_op_input *a = mt_making_tensor(m, m->extra),
                             *b = mt_making_tensor(m, m->extra + 1);
    if (!a || !b || a->type != b->type || a->dims.n != b->dims.n || a->dims.n < 2)
        return;
    int last = a->dims.n - 1;
    struct mt_dims d = a->dims;
    if (d.v[last] != b->dims.v[last - 1] || (last == 2 && d.v[0] != b->dims.v[0]))
        return;
    d.v[last] = b->dims.v[last];
    mt_making_add(m, &d, a->type);
}

/* The loss and its weight: numbers, or of the batch. */
void mt_make_nll(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0), *target = mt_making_tensor(m, 1);
    int64_t reduction;
    struct mt_dims d = {0};
    if (!of || !target || !mt_input_number(mt_making_input(m, 3)->concrete, &reduction))
        return;
    mt_making_add(m, &d, of->type);
    if (!reduction)
        mt_making_add(m, &target->dims, of->type);
}

/* One side of a window that slides over an input; -1: none. */
static int64_t slid(int64_t size, int64_t pad, int64_t wide, int64_t stride)
{
    int64_t room;
    if (stride <= 0 || pad < 0 || pad > size || __builtin_add_overflow(size, 2 * pad, &room) ||
        wide > room)
        return -1;
    return (room - wide) / stride + 1;
}

/* input, weight, bias, padding, stride, dilation */
void mt_make_convolved(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0), *weight = mt_making_tensor(m, 1);
    struct mt_dims pad, stride, dilation, d;
    if (!of || !weight || !mt_making_sizes(m, 3, &pad) || !mt_making_sizes(m, 4, &stride) ||
        !mt_making_sizes(m, 5, &dilation))
        return;
    d = of->dims;
    if (d.n < 3 || weight->dims.n != d.n || pad.n != d.n - 2 || stride.n != pad.n ||
        dilation.n != pad.n)
        return;
    d.v[1] = weight->dims.v[0];
    for (int i = 0; i < pad.n; i++) {
        int64_t wide;
        if (__builtin_mul_overflow(weight->dims.v[i + 2] - 1, dilation.v[i], &wide) || wide < 0 ||
            wide == INT64_MAX)
            return;
        d.v[i + 2] = slid(d.v[i + 2], pad.v[i], wide + 1, stride.v[i]);
        if (d.v[i + 2] < 0)
            return;
    }
    mt_making_add(m, &d, of->type);
}

/* One of two sides, of a list of one or two; -1: not given. */
static int64_t side(const struct mt_dims *list, int i)
{
    return list->n ? list->v[list->n > 1 ? i : 0] : -1;
}

/* input, kernel, stride (none: the kernel), padding, dilation, whether to round up */
void mt_make_pooled(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    struct mt_dims kernel, stride, pad, dilation;
    int64_t up;
    if (!of || of->dims.n < 3 || !mt_making_sizes(m, 1, &kernel) ||
        !mt_making_sizes(m, 2, &stride) || !mt_making_sizes(m, 3, &pad) ||
        !mt_making_sizes(m, 4, &dilation) ||
        !mt_input_number(mt_making_input(m, 5)->concrete, &up) || up)
        return;
    struct mt_dims d = of->dims;
    for (int i = 0; i < 2; i++) {
        int64_t *at = &d.v[d.n - 2 + i], wide;
        if (__builtin_mul_overflow(side(&kernel, i) - 1, side(&dilation, i), &wide) || wide < 0 ||
            wide == INT64_MAX)
            return;
        *at = slid(*at, side(&pad, i), wide + 1, side(stride.n ? &stride : &kernel, i));
        if (*at < 0)
            return;
    }
    mt_making_add(m, &d, of->type);
    mt_making_add(m, &d, MT_DTYPE_INT64);
}

/* Of a layer: input (time, batch, features), four weights, the state (batch, features) and that of
 * the cells. */
void mt_make_recurrent(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0), *state = mt_making_tensor(m, 5);
    if (!of || !state || of->dims.n != 3 || !state->dims.n)
        return;
    struct mt_dims d = of->dims;
    d.v[2] = state->dims.v[state->dims.n - 1];
    mt_making_add(m, &d, of->type);
    mt_making_add(m, &state->dims, state->type);
}

void mt_make_recurrent_back(struct mt_making *m)
{
    for (m->extra = 0; m->extra < 6; m->extra++)
        mt_make_like(m);
}

/* Gradients of the input, of the weight and of the bias. */
void mt_make_convolved_back(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 1), *weight = mt_making_tensor(m, 2);
    struct mt_dims bias;
    if (!of || !weight)
        return;
    mt_making_add(m, &of->dims, of->type);
    mt_making_add(m, &weight->dims, weight->type);
    if (mt_making_sizes(m, 3, &bias) && bias.n == 1)
        mt_making_add(m, &bias, weight->type);
}
