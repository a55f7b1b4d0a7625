/* What is made of inputs: memory that is asked for, and element by element. */
#include "formats/op_tensors_parts.h"

const struct mt_op_input *mt_making_input(const struct mt_making *m, int64_t i)
{
    static const struct mt_op_input none;
    return i >= 0 && i < m->in->n ? &m->in->v[i] : &none;
}

const struct mt_op_input *mt_making_tensor(const struct mt_making *m, int64_t i)
{
    const struct mt_op_input *in = mt_making_input(m, i);
    return in->kind == MT_INPUT_TENSOR ? in : NULL;
}

/* Elements; -1: more than can be counted. */
int64_t mt_dims_count(const struct mt_dims *d)
{
    int64_t n = 1;
    for (int i = 0; i < d->n; i++)
        if (__builtin_mul_overflow(n, d->v[i], &n))
            return -1;
    return n;
}

static void add_bytes(struct mt_making *m, const struct mt_dims *dims, enum mt_dtype type,
                      int64_t n)
{
    int64_t bytes;
    if (type == MT_DTYPE_NONE || n <= 0 || m->n == MADE_MAX ||
        __builtin_mul_overflow(n, mt_dtype_bytes(type), &bytes))
        return;
    m->v[m->n++] = (struct mt_made_tensor){*dims, type, bytes};
}

void mt_making_add(struct mt_making *m, const struct mt_dims *dims, enum mt_dtype type)
{
    add_bytes(m, dims, type, mt_dims_count(dims));
}

/* The type that stands as a number in an input; `otherwise` where it is not given. */
enum mt_dtype mt_making_type(const struct mt_making *m, int64_t i, enum mt_dtype otherwise)
{
    int64_t number;
    const struct mt_op_input *in = mt_making_input(m, i);
    if (!in->concrete.n)
        return otherwise;
    return mt_input_number(in->concrete, &number) ? mt_dtype_of_number(number) : MT_DTYPE_NONE;
}

/* What is not asked for is of the default type: one of the two that nothing else looks like. */
static void add_default(struct mt_making *m, const struct mt_dims *dims, int64_t n, int64_t type_at)
{
    if (mt_making_input(m, type_at)->concrete.n) {
        add_bytes(m, dims, mt_making_type(m, type_at, MT_DTYPE_NONE), n);
        return;
    }
    add_bytes(m, dims, MT_DTYPE_FLOAT32, n);
    add_bytes(m, dims, MT_DTYPE_FLOAT64, n);
}

bool mt_making_sizes(const struct mt_making *m, int64_t i, struct mt_dims *out)
{
    if (!mt_input_list(mt_making_input(m, i)->concrete, out))
        return false;
    for (int k = 0; k < out->n; k++)
        if (out->v[k] < 0)
            return false;
    return true;
}

void mt_make_empty(struct mt_making *m)
{
    struct mt_dims d;
    if (mt_making_sizes(m, 0, &d))
        add_default(m, &d, mt_dims_count(&d), 1);
}

void mt_make_strided(struct mt_making *m)
{
    struct mt_dims d, by;
    int64_t n = 1, more;
    if (!mt_making_sizes(m, 0, &d) || !mt_making_sizes(m, 1, &by) || d.n != by.n)
        return;
    for (int i = 0; i < d.n; i++)
        if (!d.v[i] || __builtin_mul_overflow(d.v[i] - 1, by.v[i], &more) ||
            __builtin_add_overflow(n, more, &n))
            return;
    add_default(m, &d, n, 2);
}

/* As one of its inputs. */
void mt_make_like(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, m->extra);
    if (of)
        mt_making_add(m, &of->dims, of->type);
}

void mt_make_empty_like(struct mt_making *m)
{
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    if (of)
        mt_making_add(m, &of->dims, mt_making_type(m, 1, of->type));
}

void mt_make_resized(struct mt_making *m)
{
    struct mt_dims d;
    const struct mt_op_input *of = mt_making_tensor(m, 0);
    if (of && mt_making_sizes(m, 1, &d))
        mt_making_add(m, &d, of->type);
}

/* The shape that two together have; false: they do not fit. */
static bool broadcast(struct mt_dims *to, const struct mt_dims *with)
{
    struct mt_dims longer = to->n >= with->n ? *to : *with;
    const struct mt_dims *shorter = to->n >= with->n ? with : to;
    for (int i = 0; i < shorter->n; i++) {
        int64_t *a = &longer.v[longer.n - 1 - i], b = shorter->v[shorter->n - 1 - i];
        if (*a != b && *a != 1 && b != 1)
            return false;
        *a = *a == 1 ? b : *a;
    }
    *to = longer;
    return true;
}

/* The type of two tensors together; MT_DTYPE_NONE: not determined here. */
static enum mt_dtype promoted(enum mt_dtype a, enum mt_dtype b)
{
    if (a == MT_DTYPE_NONE || b == MT_DTYPE_NONE || a == b)
        return a == b ? a : MT_DTYPE_NONE;
    enum mt_dtype_kind ka = mt_dtype_kind(a), kb = mt_dtype_kind(b);
    if (ka != kb)
        return ka == MT_KIND_COMPLEX || kb == MT_KIND_COMPLEX ? MT_DTYPE_NONE : ka > kb ? a : b;
    if (mt_dtype_bytes(a) == mt_dtype_bytes(b))
        return MT_DTYPE_NONE; /* half and bfloat16; int8 and uint8 */
    return mt_dtype_bytes(a) > mt_dtype_bytes(b) ? a : b;
}

/* A number has no type of its own, but its kind: 0.5 makes integers float. */
static bool keeps_kind(const struct mt_making *m, enum mt_dtype type)
{
    for (int i = 0; i < m->in->n && mt_dtype_kind(type) < MT_KIND_FLOAT; i++) {
        int64_t number;
        struct mt_slice text = m->in->v[i].concrete;
        if (text.n && (mt_dtype_kind(type) == MT_KIND_BOOL || !mt_input_number(text, &number)))
            return false;
    }
    return true;
}

/* All inputs element by element, as one shape and type. Tensors of no dimension do not change the
 * type of others of the same kind. */
static bool together(const struct mt_making *m, struct mt_dims *dims, enum mt_dtype *type)
{
    enum mt_dtype of[2] = {MT_DTYPE_NONE, MT_DTYPE_NONE}; /* of no dimension; of some */
    bool any[2] = {false, false};
    dims->n = 0;
    for (int i = 0; i < m->in->n; i++) {
        const struct mt_op_input *in = &m->in->v[i];
        if (in->kind == MT_INPUT_TENSORS || in->dims.n == MT_DIMS_MAX)
            return false;
        if (in->kind != MT_INPUT_TENSOR)
            continue;
        bool some = in->dims.n > 0;
        of[some] = any[some] ? promoted(of[some], in->type) : in->type;
        any[some] = true;
        if (in->type == MT_DTYPE_NONE || of[some] == MT_DTYPE_NONE || !broadcast(dims, &in->dims))
            return false;
    }
    *type = of[any[1]];
    if (any[0] && any[1] && mt_dtype_kind(of[0]) > mt_dtype_kind(of[1]))
        *type = of[0];
    return any[0] || any[1];
}

void mt_make_pointwise(struct mt_making *m)
{
    struct mt_dims d;
    enum mt_dtype type;
    if (together(m, &d, &type) && keeps_kind(m, type))
        mt_making_add(m, &d, type);
}

/* Integers become float: of the default type. */
void mt_make_floating(struct mt_making *m)
{
    struct mt_dims d;
    enum mt_dtype type;
    if (!together(m, &d, &type))
        return;
    if (mt_dtype_kind(type) >= MT_KIND_FLOAT)
        mt_making_add(m, &d, type);
}

void mt_make_compared(struct mt_making *m)
{
    struct mt_dims d;
    enum mt_dtype type;
    if (together(m, &d, &type))
        mt_making_add(m, &d, MT_DTYPE_BOOL);
}

/* Losses: element by element, or one number of all. */
void mt_make_loss(struct mt_making *m)
{
    struct mt_dims d;
    enum mt_dtype type;
    int64_t reduction;
    if (!together(m, &d, &type) || !mt_input_number(mt_making_input(m, 2)->concrete, &reduction))
        return;
    mt_making_add(m, &d, type);
    d.n = 0;
    mt_making_add(m, &d, type);
}
