#include "formats/op_tensors.h"

#include "formats/op_tensors_parts.h"
#include <string.h>

#define LIKE(name, input)                                                                          \
    {                                                                                              \
        "aten::" name, mt_make_like, input                                                         \
    }
#define OP(name, make)                                                                             \
    {                                                                                              \
        "aten::" name, make, 0                                                                     \
    }
static const struct rule {
    const char *op;
    void (*make)(struct mt_making *m);
    int extra;
} rules[] = {
    {"", NULL, 0},
    /* What the others allocate with, if not themselves. */
    OP("empty", mt_make_empty),
    OP("empty_strided", mt_make_strided),
    OP("empty_like", mt_make_empty_like),
    OP("resize_", mt_make_resized),
    OP("add", mt_make_pointwise),
    OP("sub", mt_make_pointwise),
    OP("rsub", mt_make_pointwise),
    OP("mul", mt_make_pointwise),
    OP("maximum", mt_make_pointwise),
    OP("minimum", mt_make_pointwise),
    OP("fmod", mt_make_pointwise),
    OP("remainder", mt_make_pointwise),
    OP("bitwise_and", mt_make_pointwise),
    OP("bitwise_or", mt_make_pointwise),
    OP("bitwise_xor", mt_make_pointwise),
    OP("bitwise_not", mt_make_pointwise),
    OP("neg", mt_make_pointwise),
    LIKE("abs", 0),
    LIKE("sgn", 0),
    OP("sign", mt_make_pointwise),
    OP("floor", mt_make_pointwise),
    OP("ceil", mt_make_pointwise),
    OP("round", mt_make_pointwise),
    OP("trunc", mt_make_pointwise),
    OP("lerp", mt_make_pointwise),
    OP("addcmul", mt_make_pointwise),
    OP("addcdiv", mt_make_floating),
    OP("pow", mt_make_floating),
    OP("div", mt_make_floating),
    OP("true_divide", mt_make_floating),
    OP("sqrt", mt_make_floating),
    OP("rsqrt", mt_make_floating),
    OP("reciprocal", mt_make_floating),
    OP("exp", mt_make_floating),
    OP("exp2", mt_make_floating),
    OP("expm1", mt_make_floating),
    OP("log", mt_make_floating),
    OP("log2", mt_make_floating),
    OP("log10", mt_make_floating),
    OP("log1p", mt_make_floating),
    OP("sin", mt_make_floating),
    OP("cos", mt_make_floating),
    OP("tan", mt_make_floating),
    OP("asin", mt_make_floating),
    OP("acos", mt_make_floating),
    OP("atan", mt_make_floating),
    OP("atan2", mt_make_floating),
    OP("sinh", mt_make_floating),
    OP("cosh", mt_make_floating),
    OP("tanh", mt_make_floating),
    OP("tanh_backward", mt_make_floating),
    OP("sigmoid", mt_make_floating),
    OP("sigmoid_backward", mt_make_floating),
    OP("erf", mt_make_floating),
    OP("erfc", mt_make_floating),
    OP("erfinv", mt_make_floating),
    OP("xlogy", mt_make_floating),
    OP("clamp", mt_make_pointwise),
    OP("clamp_min", mt_make_pointwise),
    OP("clamp_max", mt_make_pointwise),
    OP("threshold", mt_make_pointwise),
    OP("threshold_backward", mt_make_pointwise),
    OP("gelu", mt_make_floating),
    OP("gelu_backward", mt_make_floating),
    OP("silu", mt_make_floating),
    OP("silu_backward", mt_make_floating),
    OP("mish", mt_make_floating),
    OP("elu", mt_make_floating),
    OP("elu_backward", mt_make_floating),
    OP("leaky_relu", mt_make_floating),
    OP("leaky_relu_backward", mt_make_floating),
    OP("softplus", mt_make_floating),
    OP("softplus_backward", mt_make_floating),
    OP("hardsigmoid", mt_make_floating),
    OP("hardsigmoid_backward", mt_make_floating),
    OP("eq", mt_make_compared),
    OP("ne", mt_make_compared),
    OP("lt", mt_make_compared),
    OP("le", mt_make_compared),
    OP("gt", mt_make_compared),
    OP("ge", mt_make_compared),
    OP("isposinf", mt_make_compared),
    OP("isneginf", mt_make_compared),
    OP("mse_loss", mt_make_loss),
    OP("smooth_l1_loss", mt_make_loss),
    OP("mm", mt_make_product),
    {"aten::addmm", mt_make_product, 1},
    OP("bmm", mt_make_product),
    {"aten::baddbmm", mt_make_product, 1},
    LIKE("_softmax", 0),
    LIKE("_log_softmax", 0),
    LIKE("_softmax_backward_data", 0),
    LIKE("_log_softmax_backward_data", 0),
    OP("cumsum", mt_make_cumulated),
    LIKE("tril", 0),
    LIKE("triu", 0),
    LIKE("nll_loss_backward", 1),
    LIKE("max_pool2d_with_indices_backward", 1),
    OP("nll_loss_forward", mt_make_nll),
    {"aten::sum", mt_make_summed, 1},
    {"aten::mean", mt_make_summed, 1},
    {"aten::linalg_vector_norm", mt_make_summed, 2},
    {"aten::amax", mt_make_extreme, 1},
    {"aten::amin", mt_make_extreme, 1},
    {"aten::argmax", mt_make_places, 1},
    {"aten::argmin", mt_make_places, 1},
    {"aten::max", mt_make_extreme_and_place, 1},
    {"aten::min", mt_make_extreme_and_place, 1},
    {"aten::all", mt_make_any, 1},
    {"aten::any", mt_make_any, 1},
    OP("sort", mt_make_sorted),
    OP("topk", mt_make_top),
    OP("index_select", mt_make_selected),
    OP("gather", mt_make_gathered),
    OP("max_pool2d_with_indices", mt_make_pooled),
    OP("mkldnn_convolution", mt_make_convolved),
    OP("convolution_backward", mt_make_convolved_back),
    OP("mkldnn_rnn_layer", mt_make_recurrent),
    OP("mkldnn_rnn_layer_backward", mt_make_recurrent_back),
};

_Static_assert(MT_ARRAY_LEN(rules) < UINT8_MAX, "who remembers a rule has a byte for it");

unsigned mt_op_rule(const char *name)
{
    for (unsigned i = 1; i < MT_ARRAY_LEN(rules); i++)
        if (strcmp(rules[i].op, name) == 0)
            return i;
    return 0;
}

/* Whether all that an op allocates is what it was asked for, and nothing a buffer of its own. */
static bool has_no_buffers(unsigned rule)
{
    void (*const makers[])(struct mt_making *) = {mt_make_empty, mt_make_strided,
                                                  mt_make_empty_like, mt_make_resized};
    for (size_t i = 0; i < MT_ARRAY_LEN(makers); i++)
        if (rules[rule].make == makers[i])
            return true;
    return false;
}

/* ---- for the recording ---- */

static bool same(const struct mt_made_tensor *a, const struct mt_made_tensor *b)
{
    return a->type == b->type && a->dims.n == b->dims.n &&
           memcmp(a->dims.v, b->dims.v, (size_t)a->dims.n * sizeof *a->dims.v) == 0;
}

/* Whether another one of as many bytes differs from it, or the same came before. */
static bool is_no_answer(const struct mt_making *m, int at)
{
    for (int i = 0; i < m->n; i++)
        if (i != at && m->v[i].bytes == m->v[at].bytes && (i < at || !same(&m->v[i], &m->v[at])))
            return true;
    return false;
}

static uint32_t text_of(struct mt_recording *rec, const struct mt_made_tensor *t)
{
    struct mt_buf text = {0};
    mt_buf_addc(&text, '[');
    for (int i = 0; i < t->dims.n; i++)
        mt_buf_addf(&text, "%s%lld", i ? ", " : "", (long long)t->dims.v[i]);
    mt_buf_addf(&text, "] %s", mt_dtype_name(t->type));
    uint32_t id = mt_strtab_add(&rec->strings, text.s, text.n);
    mt_buf_free(&text);
    return id;
}

void mt_op_tensors(unsigned rule, const struct mt_op_inputs *in, struct mt_recording *rec)
{
    struct mt_making m = {.in = in, .extra = rules[rule].extra};
    if (!rules[rule].make)
        return;
    rules[rule].make(&m);
    for (int i = 0; i < m.n; i++)
        if (!is_no_answer(&m, i))
            *mt_vec_push(&rec->made) = (struct mt_made){.bytes = m.v[i].bytes,
                                                        .tensor = text_of(rec, &m.v[i]),
                                                        .stays = !has_no_buffers(rule)};
}
