#include "lib/advice/batch.h"

#include "lib/base/hash.h"
#include "lib/base/search.h"
#include <stdlib.h>
#include <string.h>

enum {
    SCALAR_B = 8,
    ALIKE_PERCENT = 98,
    LEAST_RISE = 1000 /* of as many bytes of the peak, one */
};
static const int64_t most_n = (int64_t)1 << 32;

const char *const mt_batch_method_names[MT_BATCH_N] = {"one run", "blocks", "line"};

/* ---- what is of the batch ---- */

static bool has(const struct mt_map *set, uint64_t key)
{
    return mt_map_get(set, key) != MT_MAP_NONE;
}

bool mt_batch_is_cast(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    for (uint32_t i = b->alloc_op; i != MT_NONE; i = f->ops.v[i].parent) {
        const char *name = mt_advice_name(f, i);
        if (strcmp(name, "aten::to") == 0 || strcmp(name, "aten::_to_copy") == 0)
            return true;
        if (i == f->ops.v[i].top)
            break;
    }
    return false;
}

static uint64_t site_of(const struct mt_advice_block *b)
{
    return (uint64_t)b->node << 40 ^ (uint64_t)b->bytes;
}

static bool is_held_by_graph(const struct mt_advice_block *b)
{
    return b->rule == MT_CATEGORY_R10_GRAPH || b->rule == MT_CATEGORY_R10;
}

void mt_batch_sizes(const struct mt_advice_facts *f, struct mt_batch_sizes *sizes)
{
    *sizes = (struct mt_batch_sizes){0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->category == MT_CATEGORY_PARAMETER || b->category == MT_CATEGORY_GRADIENT)
            *mt_map_at(&sizes->weights, (uint64_t)b->bytes) = 1;
    }
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        bool held = is_held_by_graph(b);
        if (held && mt_batch_is_cast(f, b)) {
            if (has(&sizes->weights, 2 * (uint64_t)b->bytes))
                *mt_map_at(&sizes->casts, (uint64_t)b->bytes) = 1;
            continue;
        }
        if (held || b->category == MT_CATEGORY_INPUT)
            *mt_map_at(&sizes->batch, (uint64_t)b->bytes) = 1;
        if (held)
            *mt_map_at(&sizes->sites, site_of(b)) = 1;
    }
}

void mt_batch_sizes_free(struct mt_batch_sizes *sizes)
{
    mt_map_free(&sizes->weights);
    mt_map_free(&sizes->casts);
    mt_map_free(&sizes->batch);
    mt_map_free(&sizes->sites);
}

/* Of what is as large as a weight, or as one that autocast has made smaller. */
static enum mt_batch_growth of_weight(const struct mt_batch_sizes *sizes, int64_t bytes)
{
    return has(&sizes->batch, (uint64_t)bytes) ? MT_BATCH_UNSURE : MT_BATCH_STAYS;
}

/* Of what forward computed: casts of weights stay, and what is made of weights without a graph. */
static enum mt_batch_growth of_result(const struct mt_advice_facts *f,
                                      const struct mt_advice_block *b,
                                      const struct mt_batch_sizes *sizes)
{
    if (has(&sizes->casts, (uint64_t)b->bytes) && mt_batch_is_cast(f, b))
        return of_weight(sizes, b->bytes);
    if (!has(&sizes->weights, (uint64_t)b->bytes) || has(&sizes->sites, site_of(b)))
        return MT_BATCH_GROWS;
    return is_held_by_graph(b) ? MT_BATCH_GROWS : of_weight(sizes, b->bytes);
}

/* What a matrix product packs for itself grows, but not in proportion. */
static bool is_scratch(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    static const char *const names[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"};
    if (b->category != MT_CATEGORY_TEMPORARY || b->alloc_op == MT_NONE ||
        b->alloc_op != b->freed_op)
        return false;
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++)
        if (strcmp(mt_advice_name(f, b->alloc_op), names[i]) == 0)
            return true;
    return false;
}

enum mt_batch_growth mt_batch_growth(const struct mt_advice_facts *f,
                                     const struct mt_advice_block *block,
                                     const struct mt_batch_sizes *sizes)
{
    uint64_t bytes = (uint64_t)block->bytes;
    if (block->bytes <= SCALAR_B ||
        (block->alloc_op != MT_NONE && f->ops.v[block->alloc_op].inside & MT_IN_OPTIMIZER))
        return MT_BATCH_STAYS;
    if (is_scratch(f, block))
        return MT_BATCH_UNSURE;
    switch (block->category) {
    case MT_CATEGORY_INPUT:
    case MT_CATEGORY_RECOMPUTED:
        return MT_BATCH_GROWS;
    case MT_CATEGORY_ACTIVATION:
        return of_result(f, block, sizes);
    case MT_CATEGORY_AUTOGRAD_DETAIL:
    case MT_CATEGORY_TEMPORARY: /* what is as large as a parameter belongs to one */
        return has(&sizes->weights, bytes) || has(&sizes->casts, bytes)
                   ? of_weight(sizes, block->bytes)
                   : MT_BATCH_GROWS;
    case MT_CATEGORY_PARAMETER: /* or a result that is kept from the first step on */
        return has(&sizes->sites, site_of(block)) ? MT_BATCH_UNSURE : MT_BATCH_STAYS;
    case MT_CATEGORY_KEPT:
    case MT_CATEGORY_UNKNOWN: /* results in a list, averages of weights, a cache */
        if (has(&sizes->sites, site_of(block)))
            return MT_BATCH_GROWS;
        return has(&sizes->weights, bytes) ? of_weight(sizes, block->bytes) : MT_BATCH_UNSURE;
    default:
        return MT_BATCH_STAYS;
    }
}

/* ---- whether two runs have the same blocks ---- */

/* A hash of the call path of each node, by names; allocated. */
static uint64_t *path_hashes(const struct mt_tree *t)
{
    uint64_t *hash = mt_alloc((t->nodes.n + 1) * sizeof *hash);
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *n = &t->nodes.v[i];
        const char *name = mt_strtab_get(&t->strings, n->frame);
        uint64_t above = n->parent == MT_NONE ? 0 : hash[n->parent];
        hash[i] = mt_hash_short(above, name, strlen(name));
    }
    return hash;
}

static bool are_alike(const struct mt_advice_facts *a, const struct mt_advice_facts *b)
{
    size_t same = 0, n = a->blocks.n;
    if (n != b->blocks.n || !n)
        return false;
    uint64_t *of_a = path_hashes(a->tree), *of_b = path_hashes(b->tree);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = a->blocks.v[i].node, y = b->blocks.v[i].node;
        same += (x == MT_NONE) == (y == MT_NONE) && (x == MT_NONE || of_a[x] == of_b[y]);
    }
    free(of_a);
    free(of_b);
    return same >= n - n / 100 * (100 - ALIKE_PERCENT);
}

static void find_growth(struct mt_batch *b)
{
    const struct mt_advice_facts *f = b->runs[0].f;
    struct mt_batch_sizes sizes;
    b->growth = mt_alloc(f->blocks.n + 1);
    mt_batch_sizes(f, &sizes);
    for (size_t i = 0; i < f->blocks.n; i++) {
        b->growth[i] = (uint8_t)mt_batch_growth(f, &f->blocks.v[i], &sizes);
        b->unsure |= b->growth[i] == MT_BATCH_UNSURE;
    }
    mt_batch_sizes_free(&sizes);
}

void mt_batch_init(struct mt_batch *b, const struct mt_batch_run *runs, int run_n)
{
    *b = (struct mt_batch){.run_n = run_n};
    memcpy(b->runs, runs, (size_t)run_n * sizeof *runs);
    if (run_n == 1) {
        b->method = MT_BATCH_ONE;
        find_growth(b);
    } else {
        b->method = are_alike(runs[0].f, runs[1].f) ? MT_BATCH_BLOCKS : MT_BATCH_LINE;
    }
}

void mt_batch_free(struct mt_batch *b)
{
    free(b->growth);
    b->growth = NULL;
}

/* ---- prediction ---- */

/* A line through two points, at n; never below 0, INT64_MAX beyond what 64 bits hold. */
static int64_t on_line(const struct mt_batch *b, int64_t first, int64_t second, int64_t n)
{
    double slope = ((double)second - (double)first) / (double)(b->runs[1].n - b->runs[0].n);
    double at = (double)second + slope * (double)(n - b->runs[1].n);
    return at <= 0 ? 0 : at >= 9e18 ? INT64_MAX : (int64_t)(at + 0.5);
}

/* unsure_grows: as what is not sure. */
static int64_t size_at(const struct mt_batch *b, size_t block, int64_t n, bool unsure_grows)
{
    const struct mt_advice_facts *f = b->runs[b->run_n - 1].f;
    const struct mt_advice_block *last = &f->blocks.v[block];
    if (b->method == MT_BATCH_BLOCKS)
        return on_line(b, b->runs[0].f->blocks.v[block].bytes, last->bytes, n);
    if (b->growth[block] == MT_BATCH_STAYS ||
        (b->growth[block] == MT_BATCH_UNSURE && !unsure_grows))
        return last->bytes;
    double at = (double)last->bytes * (double)n / (double)b->runs[0].n;
    return at >= 9e18 ? INT64_MAX : (int64_t)(at + 0.5);
}

static int64_t peak_at(const struct mt_batch *b, int64_t n, bool unsure_grows)
{
    const struct mt_advice_facts *f = b->runs[b->run_n - 1].f;
    struct mt_lives l = {0};
    int64_t sum = 0;
    if (b->method == MT_BATCH_LINE)
        return on_line(b, b->runs[0].f->peak_b, f->peak_b, n);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *block = &f->blocks.v[i];
        int64_t bytes = size_at(b, i, n, unsure_grows);
        bytes = bytes < 0 ? 0 : bytes; /* a damaged database */
        if (bytes > INT64_MAX / 2 - sum) {
            mt_vec_free(&l.all);
            return INT64_MAX;
        }
        sum += bytes;
        *mt_vec_push(&l.all) = (struct mt_life){block->alloc_record, block->freed_record, bytes};
    }
    int64_t peak = mt_advice_peak(f, &l);
    mt_vec_free(&l.all);
    return peak;
}

/* More of the batch is more of what grows, less is less. */
int64_t mt_batch_peak(const struct mt_batch *b, int64_t n)
{
    return peak_at(b, n, n > b->runs[0].n);
}

int64_t mt_batch_least(const struct mt_batch *b, int64_t n)
{
    return peak_at(b, n, n <= b->runs[0].n);
}

bool mt_batch_grows(const struct mt_batch *b)
{
    const struct mt_batch_run *last = &b->runs[b->run_n - 1];
    if (b->method == MT_BATCH_LINE)
        return last->f->peak_b - b->runs[0].f->peak_b > last->f->peak_b / LEAST_RISE;
    return mt_batch_peak(b, most_n) > mt_batch_peak(b, last->n);
}

int64_t mt_batch_fit(const struct mt_batch *b, int64_t bytes)
{
    int64_t low = 0, high = 1;
    while (high < most_n && mt_batch_peak(b, high) <= bytes) {
        low = high;
        high *= 2;
    }
    if (high >= most_n)
        return MT_UNKNOWN;
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (mt_batch_peak(b, mid) <= bytes)
            low = mid;
        else
            high = mid;
    }
    return low;
}
