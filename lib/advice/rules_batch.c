/* What changes with the size of a batch, and of an element. */
#include "lib/advice/batch.h"
#include "lib/advice/kept.h"
#include "lib/advice/operands.h"
#include "lib/advice/passes.h"
#include "lib/advice/rules.h"
#include "lib/base/human.h"
#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

enum { FLOAT32_B = 4, BFLOAT16_B = 2 };

/* From when on a gradient is there if those before it were kept: the end of the optimizer's step
 * before it, or the first activation; but not before those that it takes the place of have gone. */
static int64_t kept_from(const struct mt_advice_facts *f, int64_t t_ns, int64_t first_record)
{
    size_t i = mt_advice_first_since(f, f->optimizers.v, f->optimizers.n, t_ns);
    i -= i && f->ops.v[f->optimizers.v[i - 1]].end_ns > t_ns; /* a closure runs in the step */
    return i ? mt_advice_record(f, f->ops.v[f->optimizers.v[i - 1]].end_ns) : first_record;
}

/* The beginning of the backward pass at that time, if hooks have stepped optimizers in it: none of
 * the gradients of the pass would then be given up before its last part. Else that time. */
static int64_t before_hooks(const struct mt_advice_facts *f, int64_t t_ns)
{
    const struct mt_advice_backward *v = f->backwards.v;
    size_t n = f->backwards.n ? mt_count_below(&v->start_ns, f->backwards.n, sizeof *v, t_ns) : 0;
    if (!n || v[n - 1].end_ns < t_ns)
        return t_ns;
    size_t i = mt_advice_first_since(f, f->optimizers.v, f->optimizers.n, v[n - 1].start_ns);
    return i < f->optimizers.n && f->ops.v[f->optimizers.v[i]].start_ns < t_ns ? v[n - 1].start_ns
                                                                               : t_ns;
}

/* By record, the last one up to it that ends a gradient; -1: there is none. Allocated. */
static int64_t *ends_of_gradients(const struct mt_advice_facts *f)
{
    int64_t *last = mt_alloc(((size_t)f->record_n + 1) * sizeof *last);
    for (int64_t i = 0; i <= f->record_n; i++)
        last[i] = -1;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->category == MT_CATEGORY_GRADIENT && b->freed_record >= 0 &&
            b->freed_record < f->record_n)
            last[b->freed_record] = b->freed_record;
    }
    for (int64_t i = 1; i <= f->record_n; i++)
        last[i] = last[i] > last[i - 1] ? last[i] : last[i - 1];
    return last;
}

/* When what a block has been added to takes it over: the end of the node of the graph around it. */
static int64_t added_at(const struct mt_advice_facts *f, size_t block)
{
    uint32_t op = f->blocks.v[block].alloc_op;
    uint32_t top = op == MT_NONE ? MT_NONE : f->ops.v[op].top;
    for (uint32_t i = top; i != MT_NONE && i < f->ops.n; i++) {
        if (f->ops.v[i].thread != f->ops.v[top].thread || !(f->ops.v[i].inside & MT_IN_ENGINE))
            break;
        if (f->ops.v[i].inside & MT_IN_ACCUMULATE)
            return mt_advice_record(f, f->ops.v[i].end_ns);
    }
    return mt_wrap_add(f->blocks.v[block].alloc_record, 1);
}

/* The peak if blocks are as large as ever that `whole` names. */
static int64_t peak_with_whole(const struct mt_advice_plan *p, const bool *whole)
{
    const struct mt_advice_facts *f = p->f;
    struct mt_lives other = mt_lives_copy(&p->lives);
    for (size_t i = 0; i < f->blocks.n; i++) {
        struct mt_life *life = &other.all.v[i];
        if (whole[i] && life->bytes == f->blocks.v[i].bytes / p->choice->accumulate)
            life->bytes = f->blocks.v[i].bytes;
    }
    int64_t most = mt_advice_peak(f, &other);
    mt_vec_free(&other.all);
    return most;
}

/* How sure the figure is: whether it would save less by more than a percent of the peak if what is
 * not sure to be of the batch were not; nor what no backward pass runs, be it an evaluation. */
static void doubt_parts(struct mt_advice_plan *p, const struct mt_batch_sizes *sizes)
{
    const struct mt_advice_facts *f = p->f;
    int64_t least = mt_advice_peak(f, &p->lives);
    bool *whole = mt_alloc(f->blocks.n + 1);
    for (size_t i = 0; i < f->blocks.n; i++)
        whole[i] = mt_batch_growth(f, &f->blocks.v[i], sizes) == MT_BATCH_UNSURE;
    bool unsure = mt_wrap_sub(peak_with_whole(p, whole), least) > f->peak_b / 100;
    free(whole);
    whole = mt_advice_find_evaluated(f);
    int64_t most = peak_with_whole(p, whole);
    bool evaluates = mt_wrap_sub(most, least) > f->peak_b / 100;
    free(whole);
    p->bound = unsure || evaluates ? MT_BOUND_UP_TO : MT_BOUND_ABOUT;
    if (!evaluates)
        return;
    char bytes[MT_HUMAN_MAX];
    mt_buf_adds(&p->because, "; if what no backward pass runs is an evaluation, ");
    if (f->is_part)
        mt_buf_adds(&p->because, "it saves less");
    else
        mt_buf_addf(&p->because, "the peak is %s", mt_human_bytes(most, bytes));
}

static bool has_batch_norm(const struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].top == i && strstr(mt_advice_name(f, i), "batch_norm"))
            return true;
    return false;
}

static void describe_parts(struct mt_advice_plan *p)
{
    long long n = (long long)p->choice->accumulate;
    mt_buf_addf(&p->because,
                "%lld micro-batches in place of one batch, with the gradients kept between them",
                n);
    mt_buf_addf(&p->how,
                "for part in batch.chunk(%lld): (loss(part) / %lld).backward(); then one "
                "optimizer.step()",
                n, n);
    if (has_batch_norm(p->f))
        mt_buf_adds(&p->price, "more, smaller kernels; batch norm sees smaller batches");
}

bool mt_advise_accumulate(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct mt_batch_sizes sizes;
    int64_t first = INT64_MAX;
    if (!f->backwards.n || !f->optimizers.n)
        return false;
    mt_batch_sizes(f, &sizes);
    bool *kept = mt_advice_find_kept(f); /* of all parts together as much */
    int64_t *ends = ends_of_gradients(f);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->category == MT_CATEGORY_ACTIVATION && b->alloc_record < first)
            first = b->alloc_record;
        if (!kept[i] && b->category != MT_CATEGORY_INPUT &&
            mt_batch_growth(f, b, &sizes) != MT_BATCH_STAYS)
            mt_advice_resize(p, i, b->bytes / p->choice->accumulate);
    }
    for (size_t i = 0; i < f->blocks.n; i++) {
        struct mt_life *life = &p->lives.all.v[i];
        if (f->blocks.v[i].category != MT_CATEGORY_GRADIENT)
            continue;
        int64_t made_ns = f->blocks.v[i].alloc_ns, hooked_ns = before_hooks(f, made_ns);
        int64_t from = kept_from(f, hooked_ns, first);
        if (from >= life->from)
            continue;
        int64_t before = hooked_ns < made_ns ? mt_advice_record(f, hooked_ns) : life->from;
        int64_t gone = before <= f->record_n ? ends[before] : -1;
        from = gone > from ? gone : from;
        /* the last batch's own, until it is added */
        const struct mt_life last = {life->from, added_at(f, i), life->bytes};
        life->from = from;
        *mt_vec_push(&p->lives.all) = last;
    }
    describe_parts(p);
    doubt_parts(p, &sizes);
    mt_batch_sizes_free(&sizes);
    free(ends);
    free(kept);
    return true;
}

/* Whether a top op makes integers. */
static bool makes_integers(const char *name)
{
    return strncmp(name, "aten::randint", 13) == 0 || strncmp(name, "aten::arange", 12) == 0 ||
           strncmp(name, "aten::randperm", 14) == 0;
}

/* Indices of a pooling op are twice as large as what it computes. */
static bool is_index(const struct mt_advice_facts *f, size_t block, uint32_t top)
{
    for (size_t i = block; i-- > 0;) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->alloc_op == MT_NONE || f->ops.v[b->alloc_op].top != top)
            break;
        if (b->bytes > 0 && b->bytes == f->blocks.v[block].bytes / 2)
            return true;
    }
    return false;
}

static bool is_integer(const struct mt_advice_facts *f, size_t block)
{
    const struct mt_advice_block *b = &f->blocks.v[block];
    uint32_t top = b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].top;
    if (top == MT_NONE)
        return false;
    const char *name = mt_advice_name(f, top);
    return makes_integers(name) || (strstr(name, "max_pool") && is_index(f, block, top));
}

/* Of each node whether it lies within attention that is not computed at once (with dropout, on
 * CPUs): that turns what is of 2 bytes into float32, forward and backward. Allocated. */
static bool *in_plain_attention(const struct mt_advice_facts *f)
{
    const struct mt_tree *t = f->tree;
    bool *in = mt_alloc((t->nodes.n + 1) * sizeof *in);
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *n = &t->nodes.v[i];
        in[i] = (n->parent != MT_NONE && in[n->parent]) ||
                strcmp(mt_strtab_get(&t->strings, n->frame),
                       "aten::_scaled_dot_product_attention_math") == 0;
    }
    return in;
}

/* By op, allocated: a loss or a softmax of which a program asks for float32, as logits.float()
 * does: a conversion that makes nothing now stands before it, of a fiftieth of the peak. *any:
 * there is one. */
static bool *find_asked(struct mt_advice_plan *p, bool *any)
{
    const struct mt_advice_facts *f = p->f;
    bool *asked = mt_alloc(f->ops.n + 1);
    int64_t numbers = 0; /* in what is converted */
    *any = false;
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        const char *name = mt_advice_name(f, i);
        uint32_t list = mt_map_get(&f->operands_of, (uint64_t)op->shape_id);
        if (op->top != i || op->inside)
            continue;
        if (!op->makes && strcmp(name, "aten::to") == 0 && op->shape_id && list != MT_MAP_NONE &&
            f->operands.v[list] > 0)
            numbers = f->operands.v[list + 1];
        if (!op->makes)
            continue;
        if (numbers && numbers >= f->peak_b / 50 / FLOAT32_B &&
            (strstr(name, "loss") || strstr(name, "softmax"))) {
            *any = asked[i] = true;
            mt_advice_add(p, op->start_ns, op->end_ns, numbers * FLOAT32_B);
        }
        numbers = 0;
    }
    return asked;
}

/* Whether a block is of an op that stays float32, or of its backward. */
static bool stays_float32(const struct mt_advice_facts *f, const bool *in_attention,
                          const bool *asked, const struct mt_advice_block *b)
{
    uint32_t top = mt_advice_top(f, b);
    if ((b->node != MT_NONE && in_attention[b->node]) || (top != MT_NONE && asked[top]))
        return true;
    for (uint32_t op = b->alloc_op; op != MT_NONE; op = f->ops.v[op].parent) {
        uint32_t forward = f->ops.v[op].forward;
        if (forward != MT_NONE)
            return in_attention[f->ops.v[forward].node] ||
                   (f->ops.v[forward].top != MT_NONE && asked[f->ops.v[forward].top]);
    }
    return false;
}

/* What an LSTM keeps for its backward pass on a CPU, as bytes: products of its gates, and states,
 * of which some stay float32. */
static bool is_workspace(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    for (uint32_t op = b->number_b == 1 ? b->alloc_op : MT_NONE; op != MT_NONE;
         op = f->ops.v[op].parent)
        if (strcmp(mt_advice_name(f, op), "aten::mkldnn_rnn_layer") == 0)
            return true;
    return false;
}

/* The size of a block if its numbers were of 2 bytes; of unknown ones, as if they were float32. */
static int64_t in_bfloat16(const struct mt_advice_facts *f, size_t block)
{
    const struct mt_advice_block *b = &f->blocks.v[block];
    if (b->float_b > BFLOAT16_B)
        return b->bytes / (b->float_b / BFLOAT16_B);
    if (is_workspace(f, b))
        return b->bytes - b->bytes / 4; /* 0.71 to 0.76 of it, PyTorch 2.13 */
    return b->float_b >= 0 || is_integer(f, block) ? b->bytes : b->bytes / 2;
}

/* The operator that made a block: the outermost, below what stands for code of the program, as
 * regions of torch.compile, TorchScript and Functions of its own do. MT_NONE: none did. */
static uint32_t operator_of(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    uint32_t at = MT_NONE, top = mt_advice_top(f, b);
    for (uint32_t op = top == MT_NONE ? MT_NONE : b->alloc_op; op != MT_NONE;
         op = op == top ? MT_NONE : f->ops.v[op].parent)
        if (strstr(mt_advice_name(f, op), "::"))
            at = op;
    return at;
}

/* On CPUs, matrix products in bfloat16 copy an operand: that is more than an error of a few percent
 * where what a product makes is a tenth of the peak. Convolutions copy none. */
static bool copies_operands(const struct mt_advice_facts *f)
{
    int64_t most_b = 0;
    if (strncmp(f->device->name, "cpu", 3) != 0)
        return false;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t op = operator_of(f, b);
        if (op == MT_NONE || b->category == MT_CATEGORY_GRADIENT || b->bytes <= most_b)
            continue;
        const char *name = mt_advice_name(f, op);
        if (strstr(name, "mm") || strstr(name, "Mm") || strstr(name, "inear"))
            most_b = b->bytes;
    }
    return most_b >= f->peak_b / 10;
}

/* Whether an op is of quantized models, which computes in float32 alone. */
static bool is_quantized(const char *name)
{
    return strncmp(name, "quantized::", 11) == 0 ||
           (strncmp(name, "aten::", 6) == 0 &&
            (strstr(name, "quantize_") || strstr(name, "dequantize") ||
             strstr(name, "fake_quant")));
}

static bool has_quantized(const struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].top != MT_NONE && is_quantized(mt_advice_name(f, i)))
            return true;
    return false;
}

/* Whether a block is of the model that is converted, built before `record`. */
static bool is_converted(const struct mt_advice_plan *p, const struct mt_lives *before,
                         size_t block, int64_t record)
{
    const struct mt_advice_block *b = &p->f->blocks.v[block];
    return b->category == MT_CATEGORY_PARAMETER && b->alloc_record < record &&
           b->freed_record >= record && p->lives.all.v[block].bytes != before->all.v[block].bytes;
}

/* The most that is held while the model is converted, as soon as it is built: a parameter goes when
 * its copy is there, one after another as they were made. 0: there is none. */
static int64_t peak_of_converting(const struct mt_advice_plan *p, const struct mt_lives *before,
                                  int64_t record)
{
    int64_t built = -1, held_b = p->f->older_b, most_b = 0;
    for (size_t i = 0; i < p->f->blocks.n; i++)
        if (is_converted(p, before, i, record) && p->f->blocks.v[i].alloc_record > built)
            built = p->f->blocks.v[i].alloc_record;
    for (size_t i = 0; i < before->all.n; i++)
        if (before->all.v[i].from <= built && before->all.v[i].to > built)
            mt_wrap_inc(&held_b, before->all.v[i].bytes);
    for (size_t i = 0; built >= 0 && i < p->f->blocks.n; i++) {
        if (!is_converted(p, before, i, record))
            continue;
        mt_wrap_inc(&held_b, p->lives.all.v[i].bytes);
        most_b = held_b > most_b ? held_b : most_b;
        held_b = mt_wrap_sub(held_b, before->all.v[i].bytes);
    }
    return most_b;
}

/* A model is built as it was, and converted then: what is held until `record` has the sizes that it
 * had before the rule, but for data that the model is given. */
static void keep_building(struct mt_advice_plan *p, struct mt_lives *before, int64_t record)
{
    const struct mt_advice_facts *f = p->f;
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.v[i].category == MT_CATEGORY_INPUT && f->blocks.v[i].freed_record > record)
            before->all.v[i] = p->lives.all.v[i];
    int64_t built_b = mt_lives_peak(before, f->older_b, record, NULL);
    int64_t converting_b = peak_of_converting(p, before, record);
    int64_t more_b = mt_wrap_sub(converting_b > built_b ? converting_b : built_b,
                                 mt_lives_peak(&p->lives, f->older_b, record, NULL));
    if (more_b > 0)
        *mt_vec_push(&p->lives.all) = (struct mt_life){0, record, more_b};
}

bool mt_advise_bfloat16(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    if (f->element_b != FLOAT32_B || has_quantized(f))
        return false; /* it is so already, cannot be so, or nobody knows */
    struct mt_lives before = mt_lives_copy(&p->lives);
    bool any, *in_attention = in_plain_attention(f), *asked = find_asked(p, &any);
    for (size_t i = 0; i < f->blocks.n; i++) {
        int64_t bytes = in_bfloat16(f, i);
        if (bytes != f->blocks.v[i].bytes &&
            !stays_float32(f, in_attention, asked, &f->blocks.v[i]))
            mt_advice_resize(p, i, bytes);
    }
    free(in_attention);
    free(asked);
    keep_building(p, &before, mt_advice_record(f, mt_advice_first_layer(f)));
    mt_vec_free(&before.all);
    p->bound = copies_operands(f) || any ? MT_BOUND_UP_TO : MT_BOUND_ABOUT;
    mt_buf_adds(&p->because,
                "matrix products and convolutions are float32 now; what torch.autocast would "
                "save instead cannot be told");
    return f->blocks.n > 0;
}
