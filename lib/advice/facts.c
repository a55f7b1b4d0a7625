#include "lib/advice/facts.h"

#include "lib/advice/attention.h"
#include "lib/advice/growing.h"
#include "lib/advice/kept.h"
#include "lib/advice/operands.h"
#include "lib/advice/own_steps.h"
#include "lib/advice/processes.h"
#include "lib/advice/read.h"
#include "lib/base/sort.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include <stdlib.h>
#include <string.h>

const char *mt_advice_name(const struct mt_advice_facts *f, uint32_t op)
{
    return mt_strtab_get(&f->tree->strings, f->tree->nodes.v[f->ops.v[op].node].frame);
}

int64_t mt_advice_record(const struct mt_advice_facts *f, int64_t t_ns)
{
    int64_t low = 0, high = f->record_n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (f->record_ns[mid] < t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void mt_advice_sort(const struct mt_advice_facts *f, uint32_t *ops, size_t n)
{
    struct timed {
        int64_t t_ns;
        uint32_t op;
    } *v = mt_alloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct timed){f->ops.v[ops[i]].start_ns, ops[i]};
    mt_sort_by_time(v, n, sizeof *v, NULL);
    for (size_t i = 0; i < n; i++)
        ops[i] = v[i].op;
    free(v);
}

/* Top ops that leave a block behind. */
static void find_makers(struct mt_advice_facts *f)
{
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top = b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].top;
        if (top != MT_NONE && b->freed_ns > f->ops.v[top].end_ns)
            f->ops.v[top].makes = true;
    }
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].makes &&
            !(f->ops.v[i].inside & (MT_IN_ENGINE | MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD)))
            *mt_vec_push(&f->work) = i;
    mt_advice_sort(f, f->work.v, f->work.n);
}

/* ---- in order of time ---- */

size_t mt_advice_first_since(const struct mt_advice_facts *f, const uint32_t *ops, size_t n,
                             int64_t t_ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (f->ops.v[ops[mid]].start_ns < t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- backward passes ---- */

/* A DataLoader's batch and an optimizer's step end a pass; so does a top op outside the engine. */
static bool is_work(const struct mt_advice_facts *f, uint32_t i)
{
    const struct mt_advice_op *op = &f->ops.v[i];
    const struct mt_advice_op *parent = op->parent == MT_NONE ? NULL : &f->ops.v[op->parent];
    if (op->inside & (MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD))
        return !parent || !(parent->inside & (MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD));
    return op->top == i;
}

static void find_backwards(struct mt_advice_facts *f)
{
    MT_VEC(uint32_t) work = {0};
    bool open = false;
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (is_work(f, i))
            *mt_vec_push(&work) = i;
    mt_advice_sort(f, work.v, work.n);
    for (size_t i = 0; i < work.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[work.v[i]];
        int64_t tie = f->run->whole_us ? 2000 : 0;
        struct mt_advice_backward *last =
            f->backwards.n ? &f->backwards.v[f->backwards.n - 1] : NULL;
        if (!(op->inside & MT_IN_ENGINE)) {
            open &= last && op->start_ns < mt_wrap_add(last->end_ns, tie);
        } else if (open && last) {
            last->end_ns = op->end_ns > last->end_ns ? op->end_ns : last->end_ns;
        } else {
            *mt_vec_push(&f->backwards) = (struct mt_advice_backward){
                .start_ns = op->start_ns, .end_ns = op->end_ns, .forward = MT_NONE};
            open = true;
        }
    }
    mt_vec_free(&work);
}

/* Which ops each pass runs backward. */
static void find_links(struct mt_advice_facts *f)
{
    const struct mt_advice_op *ops = f->ops.v;
    size_t at = 0;
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (ops[i].forward != MT_NONE && ops[ops[i].forward].top != MT_NONE)
            *mt_vec_push(&f->links) = i;
    mt_advice_sort(f, f->links.v, f->links.n);
    for (size_t i = 0; i < f->backwards.n; i++) {
        struct mt_advice_backward *b = &f->backwards.v[i];
        while (at < f->links.n && ops[f->links.v[at]].start_ns < b->start_ns)
            at++;
        for (b->first = at; at < f->links.n && ops[f->links.v[at]].start_ns < b->end_ns; at++) {
            uint32_t top = ops[ops[f->links.v[at]].forward].top;
            if (b->forward == MT_NONE || ops[top].start_ns < ops[b->forward].start_ns)
                b->forward = top;
        }
        b->end = at;
    }
}

/* ---- blocks by op ---- */

void mt_advice_blocks_of_ops(const struct mt_advice_facts *f, uint32_t **first, uint32_t **of_op)
{
    uint32_t *at = mt_alloc((f->ops.n + 2) * sizeof *at);
    uint32_t *blocks = mt_alloc((f->blocks.n + 1) * sizeof *blocks);
    for (size_t i = 0; i < f->blocks.n; i++) {
        uint32_t top = mt_advice_top(f, &f->blocks.v[i]);
        if (top != MT_NONE)
            at[top + 2]++;
    }
    for (size_t i = 2; i < f->ops.n + 2; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < f->blocks.n; i++) {
        uint32_t top = mt_advice_top(f, &f->blocks.v[i]);
        if (top != MT_NONE)
            blocks[at[top + 1]++] = (uint32_t)i;
    }
    *first = at;
    *of_op = blocks;
}

void mt_advice_lives(const struct mt_advice_facts *f, struct mt_lives *out)
{
    out->all.n = 0;
    if (out->all.cap < f->blocks.n)
        mt_vec_room(&out->all, f->blocks.n);
    for (size_t i = 0; i < f->blocks.n; i++)
        *mt_vec_push(&out->all) = mt_advice_life(&f->blocks.v[i]);
}

int64_t mt_advice_peak(const struct mt_advice_facts *f, const struct mt_lives *lives)
{
    return mt_lives_peak(lives, f->older_b, f->record_n, NULL);
}

/* ---- all ---- */

static enum mt_status check_peak(struct mt_advice_facts *f, struct mt_err *err)
{
    struct mt_lives l = {0};
    mt_advice_lives(f, &l);
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.v[i].alloc_record < 0)
            f->older_b = mt_wrap_sub(f->older_b, f->blocks.v[i].bytes);
    f->older_b = mt_wrap_add(f->older_b, f->device->start_b);
    f->peak_b = mt_lives_peak(&l, f->older_b, f->record_n, &f->peak_record);
    mt_vec_free(&l.all);
    if (f->peak_b == f->device->peak_b)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s', %s: its blocks do not add up to its peak", f->run->name,
            f->device->name);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "What a change would save cannot be told from such a recording.");
    return MT_EUSAGE;
}

/* Finds what follows from ops, blocks and records. */
static enum mt_status finish(struct mt_allocations *blocks, struct mt_advice_facts *f,
                             struct mt_err *err)
{
    mt_advice_sort(f, f->optimizers.v, f->optimizers.n);
    mt_advice_sort(f, f->zero_grads.v, f->zero_grads.n);
    find_makers(f);
    find_backwards(f);
    find_links(f);
    MT_TRY(mt_advice_find_views(blocks, f, err));
    MT_TRY(mt_advice_find_operands(blocks, f, err));
    MT_TRY(mt_advice_find_attention(blocks, f, err));
    return mt_advice_find_element(blocks, f, err);
}

static int backward_cmp(const void *a, const void *b)
{
    const struct mt_advice_backward *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* What grows in a part is what the whole says by its steps, if these are the part's, too. Where a
 * user names what steps are, they are those of all. */
static void give_steps(const struct mt_advice_facts *f, struct mt_advice_part *part)
{
    const char *marker = f->run->step_marker;
    struct mt_advice_facts *own = &part->facts;
    if (!*marker || strcmp(marker, "ProfilerStep#") == 0 ||
        strcmp(marker, MT_STEPS_OF_OPTIMIZERS) == 0) {
        mt_advice_find_steps(own, &part->steps);
        own->steps = &part->steps;
    }
    if (!own->steps->all.n || !f->steps->all.n)
        return;
    own->growing.v = f->growing.v;
    own->growing.n = f->growing.n;
    own->growing_of = f->growing_of;
}

/* The same of each process, whose backward passes those of the whole are. */
static enum mt_status finish_parts(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                   struct mt_err *err)
{
    f->backwards.n = f->part_n ? 0 : f->backwards.n;
    for (uint32_t i = 0; i < f->part_n; i++) {
        struct mt_advice_facts *part = &f->parts[i].facts;
        MT_TRY(finish(blocks, part, err));
        give_steps(f, &f->parts[i]);
        mt_advice_kept_find(part);
        part->older_b = f->older_b;
        part->peak_b = f->peak_b;
        part->peak_record = f->peak_record;
        for (size_t k = 0; k < part->backwards.n; k++) {
            struct mt_advice_backward b = part->backwards.v[k];
            b.forward = MT_NONE; /* an op of the part */
            b.first = b.end = 0;
            *mt_vec_push(&f->backwards) = b;
        }
    }
    if (f->part_n && f->backwards.n)
        qsort(f->backwards.v, f->backwards.n, sizeof *f->backwards.v, backward_cmp);
    return MT_OK;
}

enum mt_status mt_advice_facts_load(struct mt_allocations *blocks,
                                    const struct mt_run_device *device, struct mt_advice_facts *out,
                                    struct mt_err *err)
{
    *out = (struct mt_advice_facts){
        .run = blocks->run, .device = device, .steps = &blocks->steps, .tree = &blocks->tree};
    MT_TRY(
        mt_knows(blocks->run, device, MT_KNOWS_OPS | MT_KNOWS_BLOCKS | MT_KNOWS_CATEGORIES, err));
    MT_TRY(mt_advice_read(blocks, out, err));
    MT_TRY(finish(blocks, out, err));
    MT_TRY(check_peak(out, err));
    MT_TRY(mt_advice_find_growing(blocks, out, err));
    mt_advice_kept_find(out);
    return finish_parts(blocks, out, err);
}

void mt_advice_facts_free(struct mt_advice_facts *f)
{
    mt_advice_parts_free(f);
    mt_vec_free(&f->ops);
    mt_vec_free(&f->blocks);
    mt_vec_free(&f->backwards);
    mt_vec_free(&f->links);
    mt_vec_free(&f->optimizers);
    mt_vec_free(&f->zero_grads);
    mt_vec_free(&f->work);
    mt_vec_free(&f->views);
    mt_vec_free(&f->attention);
    mt_vec_free(&f->operands);
    mt_map_free(&f->operands_of);
    mt_advice_growing_free(f);
    mt_advice_kept_free(f);
    free(f->record_ns);
    f->record_ns = NULL;
}
