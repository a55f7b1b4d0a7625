#include "lib/analysis/oom_advice.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

#define KIB (1024ll)
#define MIB (1024 * KIB)

/* The request, as the allocator would treat it. */
struct request {
    const struct mt_segments *s;
    int64_t block_b;   /* rounded */
    int64_t segment_b; /* what the driver would be asked for */
    int64_t device_free_b;
    int64_t stream; /* where it is made */
    const char *pool;
    bool small;
};

static int64_t up_to(int64_t size, int64_t step)
{
    return (size + step - 1) / step * step;
}

int64_t mt_oom_advice_busiest_stream(const struct mt_segments *s)
{
    int64_t best = 0, best_b = -1;
    for (size_t i = 0; i < s->all.n; i++) {
        int64_t used = 0;
        for (size_t k = i; k < s->all.n; k++)
            mt_wrap_inc(&used, s->all.v[k].stream == s->all.v[i].stream ? s->all.v[k].used_b : 0);
        if (used > best_b) {
            best_b = used;
            best = s->all.v[i].stream;
        }
        if (best_b >= mt_wrap_sub(s->used_b, best_b)) /* more than half: no other can have more */
            break;
    }
    return best;
}

/* Whether the allocator would look for the block in this segment. */
static bool serves(const struct request *r, const struct mt_seg *g)
{
    return g->small == r->small && g->stream == r->stream &&
           strcmp(mt_strtab_get(&r->s->strings, g->pool), r->pool) == 0;
}

/* Private pools keep what they hold as long as they are used, by a CUDA graph for instance. */
static bool is_private(const struct request *r, const struct mt_seg *g)
{
    return strcmp(mt_strtab_get(&r->s->strings, g->pool), MT_SEG_DEFAULT_POOL) != 0;
}

static struct mt_oom_advice *add(struct mt_oom_advices *out, const char *remedy,
                                 enum mt_oom_advice_fits fits, int64_t gives_b)
{
    struct mt_oom_advice *f = mt_vec_push(&out->rows);
    *f = (struct mt_oom_advice){.remedy = remedy, .fits = fits, .gives_b = gives_b};
    return f;
}

/* Memory for the driver to give: enough by itself, or with what it has left, if that is known. */
static enum mt_oom_advice_fits by_driver(const struct request *r, int64_t gives_b)
{
    if (gives_b >= r->segment_b)
        return MT_FITS_YES;
    if (r->device_free_b == INT64_MIN)
        return MT_FITS_UNKNOWN;
    return mt_wrap_add(gives_b, r->device_free_b) >= r->segment_b ? MT_FITS_YES : MT_FITS_NO;
}

static bool as_it_is(const struct request *r, struct mt_oom_advices *out)
{
    int64_t best = 0, elsewhere = 0;
    char size[MT_HUMAN_MAX], hole[MT_HUMAN_MAX], other[MT_HUMAN_MAX];
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        int64_t *to = serves(r, g) ? &best : &elsewhere;
        *to = g->largest_hole_b > *to ? g->largest_hole_b : *to;
    }
    bool fits = best >= r->block_b;
    struct mt_oom_advice *f = add(out, "as it is", fits ? MT_FITS_YES : MT_FITS_NO, best);
    mt_human_bytes(r->block_b, size);
    if (fits)
        f->why = mt_asprintf("a free stretch of %s is there", mt_human_bytes(best, hole));
    else if (elsewhere >= r->block_b)
        f->why =
            mt_asprintf("the largest free stretch for blocks of that size is %s; one of %s is in "
                        "another stream or pool, or kept for %s blocks",
                        mt_human_bytes(best, hole), mt_human_bytes(elsewhere, other),
                        r->small ? "large" : "small");
    else
        f->why = mt_asprintf("the largest free stretch is %s", mt_human_bytes(best, hole));
    return fits;
}

static void from_driver(const struct request *r, struct mt_oom_advices *out)
{
    char need[MT_HUMAN_MAX], left[MT_HUMAN_MAX];
    bool known = r->device_free_b != INT64_MIN;
    struct mt_oom_advice *f =
        add(out, "a new segment", by_driver(r, 0), known ? r->device_free_b : 0);
    mt_human_bytes(r->segment_b, need);
    f->why = known ? mt_asprintf("the driver is asked for %s and has %s left", need,
                                 mt_human_bytes(r->device_free_b, left))
                   : mt_asprintf("the driver is asked for %s; what it has left is not in the file",
                                 need);
}

/* What it would take of private pools to be enough, if only these were not used any more. */
static enum mt_oom_advice_fits with_private(const struct request *r, int64_t gives_b,
                                            int64_t private_b)
{
    enum mt_oom_advice_fits sure = by_driver(r, gives_b);
    if (sure == MT_FITS_NO && by_driver(r, mt_wrap_add(gives_b, private_b)) != MT_FITS_NO)
        return MT_FITS_UNKNOWN;
    return sure;
}

static char *why_cache(const struct request *r, int64_t n, int64_t private_n)
{
    char segments[MT_HUMAN_LONG], kept[MT_HUMAN_LONG];
    mt_human_plural(private_n, "segment", kept);
    if (n && private_n)
        return mt_asprintf("gives back %s without a block in use; PyTorch does so by itself before "
                           "it reports out of memory; %s more, in private pools, only if no CUDA "
                           "graph uses these any more",
                           mt_human_plural(n, "segment", segments), kept);
    if (n)
        return mt_asprintf("gives back %s without a block in use; PyTorch does so by itself before "
                           "it reports out of memory",
                           mt_human_plural(n, "segment", segments));
    if (private_n)
        return mt_asprintf("gives back %s without a block in use, but in private pools, only if no "
                           "CUDA graph uses these any more",
                           kept);
    return mt_asprintf(r->s->all.n ? "every segment has a block in use" : "there is no segment");
}

static void empty_cache(const struct request *r, struct mt_oom_advices *out)
{
    int64_t n = 0, gives = 0, private_n = 0, private_b = 0;
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        bool is_kept = is_private(r, g);
        if (g->block_n)
            continue;
        *(is_kept ? &private_n : &n) += 1;
        mt_wrap_inc(is_kept ? &private_b : &gives, g->size_b);
    }
    struct mt_oom_advice *f =
        add(out, "torch.cuda.empty_cache()",
            n || private_n ? with_private(r, gives, private_b) : MT_FITS_NO, gives);
    f->why = why_cache(r, n, private_n);
}

static void expandable(const struct request *r, struct mt_oom_advices *out)
{
    int64_t gives = 0, already = 0, private_n = 0;
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        mt_wrap_inc(&gives, is_private(r, g) ? 0 : g->block_n ? g->pages_b : g->size_b);
        private_n += is_private(r, g);
        already += g->expandable;
    }
    if (already && already == (int64_t)r->s->all.n)
        return;
    struct mt_oom_advice *f = add(out, "expandable_segments:True", by_driver(r, gives), gives);
    f->why = mt_asprintf("free pages of 2 MiB could be mapped anew, wherever they lie%s; set it in "
                         "PYTORCH_CUDA_ALLOC_CONF before the run",
                         private_n ? " outside private pools" : "");
}

/* With a limit, blocks below it stay out of segments above it: what is free in segments that only
 * such blocks hold open. */
static int64_t kept_free(const struct request *r, int64_t limit)
{
    int64_t gives = 0;
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        bool by_smaller = serves(r, g) && g->block_n && g->size_b >= limit && !g->expandable;
        for (uint32_t b = 0; b < g->block_n && by_smaller; b++)
            by_smaller = r->s->blocks.v[g->first_block + b].size_b < limit;
        mt_wrap_inc(&gives, by_smaller ? mt_wrap_sub(g->size_b, g->used_b) : 0);
    }
    return gives;
}

static void max_split_size(const struct request *r, struct mt_oom_advices *out)
{
    int64_t best = 0, best_b = 0;
    if (r->small)
        return;
    for (int64_t limit = 32 * MIB; limit <= 1024 * MIB; limit *= 2) {
        int64_t gives = kept_free(r, limit);
        if (gives > best_b) {
            best = limit;
            best_b = gives;
        }
    }
    struct mt_oom_advice *f =
        add(out, "max_split_size_mb", best_b ? by_driver(r, best_b) : MT_FITS_NO, best_b);
    f->why =
        best_b ? mt_asprintf("max_split_size_mb:%lld keeps smaller blocks out of segments of that "
                             "size and more; with it they could be given back whole",
                             (long long)(best / MIB))
               : mt_asprintf("no large segment is held open by small blocks alone");
}

/* The segment that is large enough and has least in use: what would have to go first. */
static void order_of_frees(const struct request *r, struct mt_oom_advices *out)
{
    const struct mt_seg *best = NULL;
    char blocks[MT_HUMAN_LONG], used[MT_HUMAN_MAX], size[MT_HUMAN_MAX];
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        if (serves(r, g) && g->block_n && g->size_b >= r->block_b &&
            (!best || g->used_b < best->used_b))
            best = g;
    }
    struct mt_oom_advice *f = add(out, "another order of frees", best ? MT_FITS_YES : MT_FITS_NO,
                                  best ? best->size_b : 0);
    if (!best) {
        f->why = mt_asprintf("no segment is as large as that, however empty");
        return;
    }
    struct mt_seg_sites sites = {0};
    mt_seg_sites(r->s, best->first_block, best->first_block + best->block_n, &sites);
    f->why = mt_asprintf("freeing %s (%s) first would empty a segment of %s; most of it by %s",
                         mt_human_plural(best->block_n, "block", blocks),
                         mt_human_bytes(best->used_b, used), mt_human_bytes(best->size_b, size),
                         mt_strtab_get(&r->s->strings, sites.rows.v[0].site));
    mt_vec_free(&sites.rows);
}

void mt_oom_advice(const struct mt_segments *s, const struct mt_oom_advice_request *asked,
                   struct mt_oom_advices *out)
{
    int64_t block = up_to(asked->size_b > 0 ? asked->size_b : 1, 512);
    struct request r = {.s = s,
                        .block_b = block,
                        .device_free_b = asked->device_free_b,
                        .stream = asked->stream == INT64_MIN ? mt_oom_advice_busiest_stream(s)
                                                             : asked->stream,
                        .pool = asked->pool ? asked->pool : MT_SEG_DEFAULT_POOL,
                        .small = block <= MIB};
    r.segment_b = r.small ? 2 * MIB : block < 10 * MIB ? 20 * MIB : up_to(block, 2 * MIB);
    if (as_it_is(&r, out))
        return;
    from_driver(&r, out);
    empty_cache(&r, out);
    expandable(&r, out);
    max_split_size(&r, out);
    order_of_frees(&r, out);
}

void mt_oom_advices_free(struct mt_oom_advices *f)
{
    for (size_t i = 0; i < f->rows.n; i++)
        free(f->rows.v[i].why);
    mt_vec_free(&f->rows);
}
