#include "lib/compat/compat_events.h"

#include <stdlib.h>
#include <string.h>

/* ns / 1000 as Python divides two integers, rounded once. From 2^53 on, where the integer itself is
 * no double, the quotient is large enough for the sum below to be rounded correctly: a tie between
 * two doubles is then a multiple of 1/1024, and hundredths of a thousandth away from any r / 1000
 * that is not exactly one. */
static double microseconds(int64_t ns)
{
    const int64_t exact = INT64_C(1) << 53;
    if (ns > -exact && ns < exact)
        return (double)ns / 1000.0;
    return (double)(ns / 1000) + (double)(ns % 1000) / 1000.0;
}

double mt_ct_elapsed_us(const struct mt_ct_event *e, int64_t trace_start)
{
    return microseconds(mt_ct_sub(e->end, trace_start)) -
           microseconds(mt_ct_sub(e->start, trace_start));
}

static int64_t whole(double d)
{
    if (d >= 0x1p63)
        return INT64_MAX;
    return d <= -0x1p63 ? INT64_MIN : (int64_t)d;
}

/* The least integer not below, and the greatest not above, an edge that went through double
 * microseconds. */
static int64_t edge_up(int64_t ns)
{
    double d = microseconds(ns) * 1000.0;
    int64_t i = whole(d);
    return (double)i < d ? i + 1 : i;
}

static int64_t edge_down(int64_t ns)
{
    double d = microseconds(ns) * 1000.0;
    int64_t i = whole(d);
    return (double)i > d ? i - 1 : i;
}

static void load_records(struct mt_ct *ct)
{
    const struct mt_torch_input *in = ct->in;
    size_t n = in->record_n;
    ct->t = mt_alloc(n * sizeof *ct->t);
    ct->record = mt_alloc(n * sizeof *ct->record);
    ct->cover = mt_alloc((n + 1) * sizeof *ct->cover);
    for (int f = 0; f < 2; f++)
        ct->sum[f] = mt_alloc((n + 1) * sizeof *ct->sum[f]);
    for (size_t i = 0; i < n; i++) {
        const struct mt_torch_record *r = &in->records[i];
        if (r->is_oom)
            continue;
        bool is_device = r->is_device || (r->is_xpu && ct->rule->xpu_is_device);
        size_t k = ct->rec_n++;
        ct->t[k] = r->t_ns;
        ct->record[k] = (uint32_t)i;
        ct->sum[MT_CT_CPU][k + 1] = mt_ct_add(ct->sum[MT_CT_CPU][k], r->is_cpu ? r->bytes : 0);
        ct->sum[MT_CT_DEVICE][k + 1] =
            mt_ct_add(ct->sum[MT_CT_DEVICE][k], is_device ? r->bytes : 0);
    }
}

void mt_ct_load(struct mt_ct *ct)
{
    mt_ct_keys_init(ct);
    load_records(ct);
    for (size_t i = 0; i < ct->in->op_n; i++) {
        const struct mt_torch_op *op = &ct->in->ops[i];
        bool python = op->kind == MT_TORCH_PYTHON;
        if (python && !ct->rule->python_tree)
            continue;
        uint32_t name = mt_ct_name(ct, op->name);
        if (name == MT_CT_NONE)
            continue;
        bool has_row = !python || ct->rule->python_rows;
        *mt_vec_push(&ct->events) = (struct mt_ct_event){
            .start = op->start_ns,
            .end = op->end_ns,
            .thread = op->thread,
            .name = name,
            .group = has_row ? mt_ct_group(ct, name, op->shape, op->kind == MT_TORCH_ANNOTATION)
                             : MT_CT_NONE,
            .parent = MT_CT_NONE,
        };
    }
}

void mt_ct_unload(struct mt_ct *ct)
{
    mt_ct_keys_free(ct);
    mt_vec_free(&ct->events);
    free(ct->order);
    free(ct->t);
    free(ct->record);
    free(ct->cover);
    free(ct->sum[MT_CT_CPU]);
    free(ct->sum[MT_CT_DEVICE]);
}

static bool comes_after(const struct mt_ct_event *a, const struct mt_ct_event *b)
{
    return a->start > b->start || (a->start == b->start && a->end < b->end);
}

static size_t run_end(const struct mt_ct_event *v, const uint32_t *order, size_t i, size_t n)
{
    for (i++; i < n && !comes_after(&v[order[i - 1]], &v[order[i]]); i++)
        ;
    return i;
}

/* One pass of a merge sort over the runs that are there already, from a to b. Each thread of the
 * input is nearly one run, so passes are few. Returns the number of runs in b. */
static size_t merge_runs(const struct mt_ct_event *v, const uint32_t *a, uint32_t *b, size_t n)
{
    size_t runs = 0;
    for (size_t lo = 0, hi; lo < n; lo = hi, runs++) {
        size_t mid = run_end(v, a, lo, n), i = lo, j = mid;
        hi = mid < n ? run_end(v, a, mid, n) : n;
        for (size_t k = lo; k < hi; k++) {
            bool take_right = i == mid || (j < hi && comes_after(&v[a[i]], &v[a[j]]));
            b[k] = take_right ? a[j++] : a[i++];
        }
    }
    return runs;
}

void mt_ct_sort(struct mt_ct *ct)
{
    size_t n = ct->events.n;
    uint32_t *a = mt_alloc(n * sizeof *a), *b = mt_alloc(n * sizeof *b);
    for (size_t i = 0; i < n; i++)
        b[i] = (uint32_t)i;
    size_t runs;
    do {
        uint32_t *swap = a;
        a = b;
        b = swap;
        runs = merge_runs(ct->events.v, a, b, n);
    } while (runs > 1);
    free(a);
    free(ct->order);
    ct->order = b;
}

/* First record from lo on that is later than t. Records of an op are few and near lo. */
static size_t first_later(const struct mt_ct *ct, size_t lo, int64_t t)
{
    size_t step = 1, hi = lo;
    while (hi < ct->rec_n && ct->t[hi] <= t) {
        lo = hi + 1;
        hi = ct->rec_n - hi > step ? hi + step : ct->rec_n;
        step *= 2;
    }
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ct->t[mid] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void mt_ct_attribute(struct mt_ct *ct)
{
    bool in_double = ct->rule->edges_in_double;
    size_t lo = 0;
    memset(ct->cover, 0, (ct->rec_n + 1) * sizeof *ct->cover);
    for (size_t k = 0; k < ct->events.n; k++) {
        struct mt_ct_event *e = &ct->events.v[ct->order[k]];
        int64_t start = in_double ? edge_up(e->start) : e->start;
        int64_t end = in_double ? edge_down(e->end) : e->end;
        while (lo < ct->rec_n && ct->t[lo] < start)
            lo++;
        size_t hi = end < start ? lo : first_later(ct, lo, end);
        e->rec_lo = (uint32_t)lo;
        e->rec_hi = (uint32_t)hi;
        ct->cover[lo]++;
        ct->cover[hi]--;
    }
}

static void add_instant(struct mt_ct *ct, const struct mt_torch_record *r, uint32_t name,
                        size_t rec_lo, size_t rec_hi)
{
    *mt_vec_push(&ct->events) = (struct mt_ct_event){
        .start = r->t_ns,
        .end = r->t_ns,
        .thread = r->thread,
        .name = name,
        .group = mt_ct_group(ct, name, UINT32_MAX, false),
        .rec_lo = (uint32_t)rec_lo,
        .rec_hi = (uint32_t)rec_hi,
        .parent = MT_CT_NONE,
    };
}

void mt_ct_add_uncovered(struct mt_ct *ct)
{
    int64_t covering = 0;
    for (size_t i = 0; i < ct->rec_n; i++) {
        covering += ct->cover[i];
        if (covering == 0)
            add_instant(ct, &ct->in->records[ct->record[i]], ct->memory, i, i + 1);
    }
}

void mt_ct_add_failed(struct mt_ct *ct)
{
    for (size_t i = 0; i < ct->in->record_n; i++) {
        if (ct->in->records[i].is_oom)
            add_instant(ct, &ct->in->records[i], ct->oom, 0, 0);
    }
}

/* A thread's open events are the innermost one and its ancestors, so the tree itself is the stack:
 * what PyTorch pops is never a parent again. */
void mt_ct_nest(struct mt_ct *ct)
{
    struct mt_map innermost = {0};
    struct mt_ct_event *v = ct->events.v;
    for (size_t i = 0; i < ct->events.n; i++) {
        v[i].child_n = 0;
        v[i].flags = 0;
    }
    for (size_t k = 0; k < ct->events.n; k++) {
        struct mt_ct_event *e = &v[ct->order[k]];
        uint32_t *top = mt_map_at(&innermost, e->thread), p = *top;
        while (p != MT_CT_NONE && (e->start >= v[p].end || e->end > v[p].end)) {
            if (e->start == v[p].end)
                v[p].flags |= MT_CT_FOLLOWED;
            p = v[p].parent;
        }
        e->parent = p;
        if (p != MT_CT_NONE)
            v[p].child_n++;
        *top = ct->order[k];
    }
    mt_map_free(&innermost);
}
