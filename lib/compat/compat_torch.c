#include "lib/compat/compat_torch.h"
#include "lib/compat/compat_events.h"

#include <stdlib.h>

/* Takes out events that are the only child of a parent of the same name; their children move up.
 * Parents come before their children, so one pass does what PyTorch repeats until nothing is left.
 * Adds up the children's times of each event. */
static void fold_repeats(struct mt_ct *ct, int64_t trace_start)
{
    struct mt_ct_event *v = ct->events.v;
    for (size_t k = 0; k < ct->events.n; k++) {
        struct mt_ct_event *e = &v[ct->order[k]];
        if (e->parent == MT_CT_NONE)
            continue;
        if (v[e->parent].flags & MT_CT_FOLDED)
            e->parent = v[e->parent].parent;
        struct mt_ct_event *parent = &v[e->parent];
        if (parent->name == e->name && parent->child_n == 1) {
            e->flags |= MT_CT_FOLDED;
            parent->child_n = e->child_n;
        } else {
            parent->children_us += mt_ct_elapsed_us(e, trace_start);
        }
    }
}

static struct mt_torch_row *row_of(struct mt_ct *ct, uint32_t group, struct mt_torch_table *out)
{
    struct mt_ct_group *g = &ct->groups.v[group];
    if (g->row == MT_CT_NONE) {
        g->row = (uint32_t)out->rows.n;
        *mt_vec_push(&out->rows) = (struct mt_torch_row){
            .name = mt_strtab_get(ct->strings, g->name),
            .input_shapes = ct->by_shape ? mt_strtab_get(ct->strings, g->shape) : NULL,
            .is_user_annotation = g->annotation,
        };
    }
    return &out->rows.v[g->row];
}

static void add_event(struct mt_torch_row *row, const struct mt_ct *ct, const struct mt_ct_event *e,
                      int64_t trace_start)
{
    int64_t ns = mt_ct_sub(e->end, e->start);
    double us = mt_ct_elapsed_us(e, trace_start);
    int64_t cpu = mt_ct_bytes(ct, MT_CT_CPU, e->rec_lo, e->rec_hi);
    int64_t device = mt_ct_bytes(ct, MT_CT_DEVICE, e->rec_lo, e->rec_hi);
    row->count++;
    row->cpu_time_total_ns = mt_ct_add(row->cpu_time_total_ns, ns);
    row->self_cpu_time_total_ns = mt_ct_add(row->self_cpu_time_total_ns, ns);
    row->cpu_time_total_us += us;
    row->self_cpu_time_total_us += us - e->children_us;
    row->cpu_memory_usage = mt_ct_add(row->cpu_memory_usage, cpu);
    row->self_cpu_memory_usage = mt_ct_add(row->self_cpu_memory_usage, cpu);
    row->device_memory_usage = mt_ct_add(row->device_memory_usage, device);
    row->self_device_memory_usage = mt_ct_add(row->self_device_memory_usage, device);
}

static void subtract_child(struct mt_torch_row *row, const struct mt_ct *ct,
                           const struct mt_ct_event *child)
{
    row->self_cpu_time_total_ns =
        mt_ct_sub(row->self_cpu_time_total_ns, mt_ct_sub(child->end, child->start));
    row->self_cpu_memory_usage = mt_ct_sub(
        row->self_cpu_memory_usage, mt_ct_bytes(ct, MT_CT_CPU, child->rec_lo, child->rec_hi));
    row->self_device_memory_usage = mt_ct_sub(
        row->self_device_memory_usage, mt_ct_bytes(ct, MT_CT_DEVICE, child->rec_lo, child->rec_hi));
}

static void fill_rows(struct mt_ct *ct, int64_t trace_start, struct mt_torch_table *out)
{
    const struct mt_ct_event *v = ct->events.v;
    for (size_t k = 0; k < ct->events.n; k++) {
        const struct mt_ct_event *e = &v[ct->order[k]];
        if (e->flags & MT_CT_FOLDED)
            continue;
        if (e->group != MT_CT_NONE)
            add_event(row_of(ct, e->group, out), ct, e, trace_start);
        if (e->parent != MT_CT_NONE && v[e->parent].group != MT_CT_NONE)
            subtract_child(row_of(ct, v[e->parent].group, out), ct, e);
    }
}

static bool set_doubt(const struct mt_ct_range *range, int64_t figure, int64_t *below,
                      int64_t *above)
{
    *below = mt_ct_sub(figure, range->lo);
    *above = mt_ct_sub(range->hi, figure);
    return *below || *above;
}

static void fill_doubts(const struct mt_ct *ct, struct mt_torch_table *out)
{
    for (size_t i = 0; i < ct->groups.n; i++) {
        const struct mt_ct_group *g = &ct->groups.v[i];
        if (g->row == MT_CT_NONE)
            continue;
        struct mt_torch_row *r = &out->rows.v[g->row];
        bool doubt = set_doubt(&g->range[MT_CT_COUNT], r->count, &r->count_below, &r->count_above);
        doubt |= set_doubt(&g->range[MT_CT_CPU], r->cpu_memory_usage, &r->cpu_below, &r->cpu_above);
        doubt |= set_doubt(&g->range[MT_CT_SELF_CPU], r->self_cpu_memory_usage, &r->self_cpu_below,
                           &r->self_cpu_above);
        doubt |= set_doubt(&g->range[MT_CT_DEVICE], r->device_memory_usage, &r->device_below,
                           &r->device_above);
        doubt |= set_doubt(&g->range[MT_CT_SELF_DEVICE], r->self_device_memory_usage,
                           &r->self_device_below, &r->self_device_above);
        out->doubtful_n += doubt;
    }
}

static bool is_whole_us(const struct mt_torch_input *in)
{
    for (size_t i = 0; i < in->op_n; i++) {
        if (in->ops[i].start_ns % 1000 || in->ops[i].end_ns % 1000)
            return false;
    }
    for (size_t i = 0; i < in->record_n; i++) {
        if (in->records[i].t_ns % 1000)
            return false;
    }
    return true;
}

void mt_torch_key_averages(const struct mt_torch_input *in, const struct mt_torch_rule *rule,
                           bool by_shape, struct mt_torch_table *out)
{
    *out = (struct mt_torch_table){0};
    mt_strtab_init(&out->strings);
    struct mt_ct ct = {.in = in, .rule = rule, .by_shape = by_shape, .strings = &out->strings};
    bool settle = rule->whole_us && is_whole_us(in);
    mt_ct_load(&ct);
    mt_ct_sort(&ct);
    mt_ct_attribute(&ct);
    if (settle) {
        mt_ct_settle_whole_us(&ct);
        mt_ct_sort(&ct);
        mt_ct_attribute(&ct);
    }
    mt_ct_add_uncovered(&ct);
    mt_ct_add_failed(&ct);
    mt_ct_sort(&ct);
    mt_ct_nest(&ct);
    int64_t trace_start = in->trace_start_ns;
    if (trace_start == 0 && ct.events.n)
        trace_start = ct.events.v[ct.order[0]].start;
    fold_repeats(&ct, trace_start);
    fill_rows(&ct, trace_start, out);
    if (settle)
        fill_doubts(&ct, out);
    mt_ct_unload(&ct);
}

void mt_torch_table_free(struct mt_torch_table *t)
{
    mt_vec_free(&t->rows);
    mt_strtab_free(&t->strings);
    t->doubtful_n = 0;
}
