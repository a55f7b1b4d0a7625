#include "formats/op_inputs.h"

#include "lib/base/mem.h"
#include <string.h>

static const struct {
    const char *name;     /* in Python */
    const char *recorded; /* in "Input type"; NULL: never there */
    uint8_t bytes, number, kind;
} types[MT_DTYPE_N] = {
    [MT_DTYPE_BOOL] = {"bool", "bool", 1, 11, MT_KIND_BOOL},
    [MT_DTYPE_UINT8] = {"uint8", "unsigned char", 1, 0, MT_KIND_INT},
    [MT_DTYPE_INT8] = {"int8", "signed char", 1, 1, MT_KIND_INT},
    [MT_DTYPE_INT16] = {"int16", "short int", 2, 2, MT_KIND_INT},
    [MT_DTYPE_INT32] = {"int32", "int", 4, 3, MT_KIND_INT},
    [MT_DTYPE_INT64] = {"int64", "long int", 8, 4, MT_KIND_INT},
    [MT_DTYPE_FLOAT16] = {"float16", "c10::Half", 2, 5, MT_KIND_FLOAT},
    [MT_DTYPE_BFLOAT16] = {"bfloat16", "c10::BFloat16", 2, 15, MT_KIND_FLOAT},
    [MT_DTYPE_FLOAT32] = {"float32", "float", 4, 6, MT_KIND_FLOAT},
    [MT_DTYPE_FLOAT64] = {"float64", "double", 8, 7, MT_KIND_FLOAT},
    [MT_DTYPE_COMPLEX64] = {"complex64", "c10::complex<float>", 8, 9, MT_KIND_COMPLEX},
    [MT_DTYPE_COMPLEX128] = {"complex128", "c10::complex<double>", 16, 10, MT_KIND_COMPLEX},
    [MT_DTYPE_FLOAT8_E5M2] = {"float8_e5m2", NULL, 1, 23, MT_KIND_FLOAT},
    [MT_DTYPE_FLOAT8_E4M3FN] = {"float8_e4m3fn", NULL, 1, 24, MT_KIND_FLOAT},
    [MT_DTYPE_UINT16] = {"uint16", NULL, 2, 27, MT_KIND_INT},
    [MT_DTYPE_UINT32] = {"uint32", NULL, 4, 28, MT_KIND_INT},
    [MT_DTYPE_UINT64] = {"uint64", NULL, 8, 29, MT_KIND_INT},
};

const char *mt_dtype_name(enum mt_dtype t)
{
    return types[t].name;
}

int mt_dtype_bytes(enum mt_dtype t)
{
    return types[t].bytes;
}

enum mt_dtype_kind mt_dtype_kind(enum mt_dtype t)
{
    return (enum mt_dtype_kind)types[t].kind;
}

enum mt_dtype mt_dtype_of_number(int64_t number)
{
    for (int t = MT_DTYPE_NONE + 1; t < MT_DTYPE_N; t++)
        if (types[t].number == number)
            return (enum mt_dtype)t;
    return MT_DTYPE_NONE;
}

static bool is(struct mt_slice s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.s, text, s.n) == 0;
}

static enum mt_dtype dtype_of(struct mt_slice recorded)
{
    for (int t = MT_DTYPE_NONE + 1; t < MT_DTYPE_N; t++)
        if (types[t].recorded && is(recorded, types[t].recorded))
            return (enum mt_dtype)t;
    return MT_DTYPE_NONE;
}

/* What is between the brackets; false: there are none. */
static bool inside(struct mt_slice *s)
{
    if (s->n < 2 || s->s[0] != '[' || s->s[s->n - 1] != ']')
        return false;
    *s = (struct mt_slice){s->s + 1, s->n - 2, false};
    return true;
}

static void skip(struct mt_slice *s, uint32_t n)
{
    s->s += n;
    s->n -= n;
}

static void separators(struct mt_slice *s)
{
    while (s->n && (*s->s == ' ' || *s->s == ',' || *s->s == '\n'))
        skip(s, 1);
}

/* The next element of an array's inside: a string without its quotes, or an array with its
 * brackets. False: none, or something else. */
static bool next_element(struct mt_slice *at, struct mt_slice *out)
{
    separators(at);
    if (!at->n)
        return false;
    if (*at->s == '"') {
        const char *end = memchr(at->s + 1, '"', at->n - 1);
        if (!end)
            return false;
        *out = (struct mt_slice){at->s + 1, (uint32_t)(end - at->s - 1), false};
        skip(at, out->n + 2);
        return !memchr(out->s, '\\', out->n);
    }
    uint32_t i = 0;
    int depth = 0;
    for (; i < at->n; i++) {
        depth += at->s[i] == '[';
        depth -= at->s[i] == ']';
        if (!depth)
            break;
    }
    if (*at->s != '[' || i == at->n)
        return false;
    *out = (struct mt_slice){at->s, i + 1, false};
    skip(at, i + 1);
    return true;
}

bool mt_input_number(struct mt_slice text, int64_t *out)
{
    uint32_t i = text.n && text.s[0] == '-';
    int64_t v = 0;
    if (is(text, "True") || is(text, "False")) {
        *out = is(text, "True");
        return true;
    }
    if (i == text.n || text.n - i > 18)
        return false;
    for (; i < text.n; i++) {
        if (text.s[i] < '0' || text.s[i] > '9')
            return false;
        v = v * 10 + (text.s[i] - '0');
    }
    *out = text.s[0] == '-' ? -v : v;
    return true;
}

bool mt_input_list(struct mt_slice text, struct mt_dims *out)
{
    out->n = 0;
    if (!inside(&text))
        return false;
    for (separators(&text); text.n; separators(&text)) {
        uint32_t n = 0;
        while (n < text.n && text.s[n] != ',' && text.s[n] != ' ')
            n++;
        if (out->n == MT_DIMS_MAX ||
            !mt_input_number((struct mt_slice){text.s, n, false}, &out->v[out->n++]))
            return false;
        skip(&text, n);
    }
    return true;
}

static bool is_dims(struct mt_slice text, struct mt_dims *out)
{
    if (!mt_input_list(text, out))
        return false;
    for (int i = 0; i < out->n; i++)
        if (out->v[i] < 0)
            return false;
    return true;
}

bool mt_dims_next(struct mt_slice *at, struct mt_dims *out)
{
    struct mt_slice element;
    return next_element(at, &element) && is_dims(element, out);
}

static bool read_input(struct mt_slice dims, struct mt_slice type, struct mt_op_input *in)
{
    in->type = dtype_of(type);
    in->dims_text = dims;
    in->kind = !type.n                  ? MT_INPUT_NONE
               : is(type, "TensorList") ? MT_INPUT_TENSORS
               : is(type, "Scalar") || is(type, "ScalarList") || is(type, "GenericList")
                   ? MT_INPUT_OTHER
                   : MT_INPUT_TENSOR;
    if (in->kind == MT_INPUT_TENSORS)
        return inside(&in->dims_text);
    return is_dims(dims, &in->dims);
}

bool mt_op_inputs_read(struct mt_slice dims, struct mt_slice types_, struct mt_slice concrete,
                       struct mt_op_inputs *out)
{
    struct mt_slice d, t, c;
    out->n = 0;
    if (!inside(&dims) || !inside(&types_) || !inside(&concrete))
        return false;
    while (next_element(&concrete, &c)) {
        if (out->n == MT_INPUTS_MAX || !next_element(&dims, &d) || !next_element(&types_, &t))
            return false;
        struct mt_op_input *in = &out->v[out->n++];
        in->concrete = c;
        if (!read_input(d, t, in))
            return false;
    }
    separators(&concrete);
    separators(&dims);
    separators(&types_);
    return !concrete.n && !dims.n && !types_.n;
}
