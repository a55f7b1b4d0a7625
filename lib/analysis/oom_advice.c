#include "lib/analysis/oom_advice.h"

#include "lib/analysis/oom_parts.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

#define KIB (1024ll)
#define MIB (1024 * KIB)
#define OWN (10 * MIB) /* from that on a block gets a segment of its own size */

/* The request, as the allocator would treat it. */
struct request {
    struct mt_oom_place place;
    const struct mt_segments *s;
    int64_t size_b, block_b; /* block: rounded */
    int64_t segment_b; /* what the driver would be asked for, where no segment is expandable */
    int64_t device_free_b;
    bool small;
    bool expandable;  /* it would come from an expandable segment */
    int64_t failed_b; /* one of so much failed then, no larger than this one; 0: none */
    bool is_private;  /* its pool: what is cached is then not given back for it */
    bool limited;     /* though the driver had enough: something else is the limit */
};

int64_t mt_oom_up_to(int64_t size, int64_t step)
{
    return (size + step - 1) / step * step;
}

static int64_t busiest_stream(const struct mt_segments *s)
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

bool mt_oom_serves(const struct mt_oom_place *p, const struct mt_seg *g)
{
    return g->small == p->small && g->stream == p->stream &&
           strcmp(mt_strtab_get(&p->s->strings, g->pool), p->pool) == 0;
}

static bool serves(const struct request *r, const struct mt_seg *g)
{
    return mt_oom_serves(&r->place, g);
}

bool mt_oom_is_private(const struct mt_segments *s, const struct mt_seg *g)
{
    return strcmp(mt_strtab_get(&s->strings, g->pool), MT_SEG_DEFAULT_POOL) != 0;
}

static struct mt_oom_advice *add(struct mt_oom_advices *out, const char *remedy,
                                 enum mt_oom_advice_fits fits, int64_t gives_b)
{
    struct mt_oom_advice *f = mt_vec_push(&out->rows);
    *f = (struct mt_oom_advice){.remedy = remedy, .fits = fits, .gives_b = gives_b};
    return f;
}

/* Memory for the driver to give: enough by itself, or with what it has left, if that is known. */
static enum mt_oom_advice_fits by_driver(const struct request *r, int64_t gives_b, int64_t need_b)
{
    if (gives_b >= need_b)
        return MT_FITS_YES;
    if (r->device_free_b == INT64_MIN)
        return MT_FITS_UNKNOWN;
    return mt_wrap_add(gives_b, r->device_free_b) >= need_b ? MT_FITS_YES : MT_FITS_NO;
}

/* Whether PyTorch would give the request some free range of the segment. */
static bool takes_some(const struct request *r, const struct mt_seg *g)
{
    for (struct mt_seg_hole hole = {0}; mt_seg_next_hole(r->s, g, &hole);)
        if (mt_alloc_takes(&r->s->settings, r->block_b, hole.size_b))
            return true;
    return false;
}

static bool as_it_is(const struct request *r, struct mt_oom_advices *out)
{
    int64_t best = 0, elsewhere = 0;
    bool fits = false;
    char size[MT_HUMAN_MAX], hole[MT_HUMAN_MAX], other[MT_HUMAN_MAX];
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        int64_t *to = serves(r, g) ? &best : &elsewhere;
        *to = g->largest_hole_b > *to ? g->largest_hole_b : *to;
        fits |= to == &best && g->largest_hole_b >= r->block_b && !r->failed_b && takes_some(r, g);
    }
    struct mt_oom_advice *f = add(out, "as it is", fits ? MT_FITS_YES : MT_FITS_NO, best);
    mt_human_bytes(r->block_b, size);
    if (fits)
        f->why = mt_asprintf("there is a free range of %s", mt_human_bytes(best, hole));
    else if (best >= r->block_b && r->failed_b)
        f->why = mt_asprintf("there is a free range of %s, but an allocation of %s failed then",
                             mt_human_bytes(best, hole), mt_human_bytes(r->failed_b, other));
    else if (best >= r->block_b)
        f->why = mt_asprintf("there is a free range of %s, which max_split_size_mb keeps for %s",
                             mt_human_bytes(best, hole),
                             r->block_b < r->s->settings.max_split_b ? "larger blocks"
                                                                     : "blocks of about its size");
    else if (elsewhere >= r->block_b)
        f->why =
            mt_asprintf("the largest free range for blocks of that size is %s; one of %s is in "
                        "another stream or pool, or kept for %s blocks",
                        mt_human_bytes(best, hole), mt_human_bytes(elsewhere, other),
                        r->small ? "large" : "small");
    else if (best >= r->size_b)
        f->why = mt_asprintf("the largest free range is %s; %s is needed, as sizes are rounded up",
                             mt_human_bytes(best, hole), size);
    else
        f->why = mt_asprintf("the largest free range is %s", mt_human_bytes(best, hole));
    return fits;
}

/* What the driver would be asked for. *free_b: what is free before that, in an expandable segment.
 */
static int64_t need_of(const struct request *r, int64_t *free_b)
{
    *free_b = 0;
    return r->expandable ? mt_oom_to_map(&r->place, false, free_b) : r->segment_b;
}

static void from_driver(const struct request *r, struct mt_oom_advices *out)
{
    char need[MT_HUMAN_MAX], left[MT_HUMAN_MAX], unit[MT_HUMAN_MAX], before[MT_HUMAN_MAX];
    bool known = r->device_free_b != INT64_MIN;
    int64_t free_b, need_b = need_of(r, &free_b);
    struct mt_oom_advice *f =
        add(out, r->expandable ? "a longer segment" : "a new segment",
            r->failed_b ? MT_FITS_NO : by_driver(r, 0, need_b), known ? r->device_free_b : 0);
    mt_human_bytes(need_b, need);
    struct mt_buf why = {0};
    mt_buf_addf(&why, "the driver is asked for %s", need);
    if (r->expandable)
        mt_buf_addf(&why, ", in units of %s", mt_human_bytes(mt_seg_unit(r->s, r->small), unit));
    if (r->expandable && free_b)
        mt_buf_addf(&why, " behind %s that are free", mt_human_bytes(free_b, before));
    if (known)
        mt_buf_addf(&why, "%s and has %s left", r->expandable ? "," : "",
                    mt_human_bytes(r->device_free_b, left));
    else if (r->limited)
        mt_buf_adds(&why, "; it had enough left as an allocation failed then, so that something "
                          "else is the limit, such as set_per_process_memory_fraction()");
    else
        mt_buf_adds(&why, "; what it has left is not in the file");
    f->why = why.s;
}

/* What PyTorch gives back to the driver before it reports out of memory. */
struct cache {
    int64_t n, private_n; /* segments without a block in use, of private pools apart */
    int64_t units_b;      /* whole units of expandable segments */
    int64_t b, private_b; /* bytes of all */
    bool any_expandable;
};

static struct cache cached(const struct request *r)
{
    struct cache c = {0};
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        bool is_kept = mt_oom_is_private(r->s, g);
        int64_t gives = g->expandable ? g->units_b : g->block_n ? 0 : g->size_b;
        mt_wrap_inc(is_kept ? &c.private_b : &c.b, gives);
        mt_wrap_inc(&c.units_b, g->expandable && !is_kept ? gives : 0);
        c.private_n += is_kept && gives > 0;
        c.n += !is_kept && !g->expandable && !g->block_n;
        c.any_expandable |= g->expandable;
    }
    return c;
}

/* "1 segment without a block in use and 60 MiB of expandable segments, in whole units" */
static void add_cached(struct mt_buf *out, const struct cache *c)
{
    char segments[MT_HUMAN_LONG], units[MT_HUMAN_MAX];
    if (c->n)
        mt_buf_addf(out, "%s without a block in use", mt_human_plural(c->n, "segment", segments));
    if (c->units_b)
        mt_buf_addf(out, "%s%s of expandable segments, in whole units", c->n ? " and " : "",
                    mt_human_bytes(c->units_b, units));
}

static char *why_cache(const struct request *r, const struct cache *c)
{
    struct mt_buf why = {0};
    char kept[MT_HUMAN_LONG];
    bool any = c->n || c->units_b;
    mt_human_plural(c->private_n, "segment", kept);
    if (!any && !c->private_n)
        return mt_asprintf(!r->s->all.n ? "there is no segment"
                           : c->any_expandable
                               ? "no segment is without a block in use, nor is a whole unit of an "
                                 "expandable one"
                               : "every segment has a block in use");
    if (!any)
        return mt_asprintf("gives back %s without a block in use, but in private pools, only if no "
                           "CUDA graph uses these any more",
                           kept);
    mt_buf_adds(&why, "gives back ");
    add_cached(&why, c);
    mt_buf_adds(&why, r->is_private
                          ? "; PyTorch does not do so by itself for a private pool: call "
                            "it before"
                          : "; PyTorch does so by itself before it reports out of memory");
    if (c->private_n)
        mt_buf_addf(&why, "; %s more, in private pools, only if no CUDA graph uses these any more",
                    kept);
    return why.s;
}

/* Private pools count only if they are not used any more. */
static void empty_cache(const struct request *r, struct mt_oom_advices *out)
{
    const struct cache c = cached(r);
    int64_t free_b, need_b = r->expandable ? mt_oom_to_map(&r->place, true, &free_b) : r->segment_b;
    enum mt_oom_advice_fits fits = c.b || c.private_b ? by_driver(r, c.b, need_b) : MT_FITS_NO;
    if (fits == MT_FITS_NO && c.private_b &&
        by_driver(r, mt_wrap_add(c.b, c.private_b), need_b) != MT_FITS_NO)
        fits = MT_FITS_UNKNOWN;
    if (r->failed_b && !c.private_b && !r->is_private)
        fits = MT_FITS_NO; /* it was tried */
    struct mt_oom_advice *f = add(out, "torch.cuda.empty_cache()", fits, c.b);
    f->why = why_cache(r, &c);
}

/* Of a run that had no such segments: whether it would do as the blocks lie, or at best. */
static enum mt_oom_advice_fits if_expandable(const struct request *r, int64_t gives_b,
                                             int64_t least_b)
{
    enum mt_oom_advice_fits as_they_lie =
        by_driver(r, gives_b, mt_oom_up_to(r->block_b, mt_seg_unit(r->s, r->small)));
    enum mt_oom_advice_fits at_best = by_driver(r, r->s->size_b, least_b);
    if (at_best == MT_FITS_NO)
        return MT_FITS_NO;
    return as_they_lie == MT_FITS_YES ? MT_FITS_YES : MT_FITS_UNKNOWN;
}

static char *why_expandable(const struct request *r, enum mt_oom_advice_fits fits, int64_t least_b)
{
    static const char set[] = "set it in PYTORCH_CUDA_ALLOC_CONF before the run";
    char unit[MT_HUMAN_MAX], least[MT_HUMAN_MAX], all[MT_HUMAN_MAX];
    mt_human_bytes(mt_seg_unit(r->s, r->small), unit);
    mt_human_bytes(least_b, least);
    if (fits == MT_FITS_YES)
        return mt_asprintf("units of %s that are wholly free could be mapped anew, wherever they "
                           "lie; %s",
                           unit, set);
    if (fits == MT_FITS_UNKNOWN)
        return mt_asprintf("memory is mapped in units of %s: too few are wholly free as blocks lie "
                           "now; side by side, with this one, they would take %s; %s to see",
                           unit, least, set);
    int64_t all_b = mt_wrap_add(r->s->size_b, r->device_free_b);
    return mt_asprintf(
        "memory is mapped in units of %s: even side by side blocks would, with this one, take "
        "%s of the %s there are",
        unit, least, mt_human_bytes(all_b, all));
}

static void expandable(const struct request *r, struct mt_oom_advices *out)
{
    int64_t gives = 0, least = mt_oom_side_by_side(&r->place);
    if (r->s->settings.expandable)
        return; /* the run has asked for them */
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        bool is_kept = mt_oom_is_private(r->s, g);
        if (g->expandable && (!is_kept || r->expandable))
            return; /* the run has them already */
        mt_wrap_inc(&gives, is_kept ? 0 : g->block_n ? g->units_b : g->size_b);
    }
    enum mt_oom_advice_fits fits = if_expandable(r, gives, least);
    struct mt_oom_advice *f = add(out, "expandable_segments:True", fits, gives);
    f->why = why_expandable(r, fits, least);
}

/* What a limit of the size of blocks that are split would give. */
struct kept {
    int64_t most_b; /* free in segments that only smaller blocks hold open */
    int64_t b;      /* the same without what these blocks need elsewhere, side by side */
};

/* With a limit, blocks below it stay out of segments above it. */
static struct kept kept_free(const struct request *r, int64_t limit)
{
    struct kept k = {0, 0};
    int64_t own_b = 0, shared_b = 0; /* of blocks that get segments of their own, and others */
    for (size_t i = 0; i < r->s->all.n; i++) {
        const struct mt_seg *g = &r->s->all.v[i];
        bool by_smaller = serves(r, g) && g->block_n && g->size_b >= limit && !g->expandable;
        for (uint32_t b = 0; b < g->block_n && by_smaller; b++)
            by_smaller = r->s->blocks.v[g->first_block + b].size_b < limit;
        for (uint32_t b = 0; b < g->block_n && by_smaller; b++) {
            int64_t size = r->s->blocks.v[g->first_block + b].size_b;
            mt_wrap_inc(size < OWN ? &shared_b : &own_b,
                        size < OWN ? size : mt_oom_up_to(size, 2 * MIB));
        }
        mt_wrap_inc(&k.most_b, by_smaller ? mt_wrap_sub(g->size_b, g->used_b) : 0);
        mt_wrap_inc(&k.b, by_smaller ? g->size_b : 0);
    }
    mt_wrap_dec(&k.b, mt_wrap_add(own_b, mt_oom_up_to(shared_b, r->s->settings.large_b)));
    k.b = k.b > 0 ? k.b : 0;
    return k;
}

static void max_split_size(const struct request *r, struct mt_oom_advices *out)
{
    struct kept best = {0, 0};
    int64_t at = 0;
    if (r->small)
        return;
    for (int64_t limit = 32 * MIB; limit <= 1024 * MIB; limit *= 2) {
        struct kept k = kept_free(r, limit);
        if (k.most_b > best.most_b) {
            best = k;
            at = limit;
        }
    }
    enum mt_oom_advice_fits fits = best.most_b ? by_driver(r, best.b, r->segment_b) : MT_FITS_NO;
    if (fits == MT_FITS_NO && best.most_b && by_driver(r, best.most_b, r->segment_b) != MT_FITS_NO)
        fits = MT_FITS_UNKNOWN; /* there may be room for them in other segments */
    struct mt_oom_advice *f = add(out, "max_split_size_mb", fits, best.b);
    f->why = best.most_b
                 ? mt_asprintf("max_split_size_mb:%lld keeps smaller blocks out of segments of "
                               "that size and more, so that these could be returned whole; the "
                               "smaller blocks need segments of their own",
                               (long long)(at / MIB))
                 : mt_asprintf("no large segment is held open only by small blocks");
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
        f->why = mt_asprintf("no segment is large enough even when empty");
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

/* Of the first rows, which PyTorch goes through by itself. */
static const char *verdict(const struct request *r, const struct mt_oom_advices *a)
{
    enum { AS_IT_IS, FROM_DRIVER, EMPTY_CACHE, N };
    static const char *const words[] = {[AS_IT_IS] = "fits",
                                        [FROM_DRIVER] = "fits, with what the driver has left",
                                        [EMPTY_CACHE] = "fits, once what is cached is given back"};
    bool unknown = false;
    const size_t n = r->is_private ? EMPTY_CACHE : N;
    for (size_t i = 0; i < n && i < a->rows.n; i++) {
        if (a->rows.v[i].fits == MT_FITS_YES)
            return words[i];
        unknown |= a->rows.v[i].fits == MT_FITS_UNKNOWN;
    }
    return unknown ? "does not fit in what is held" : "does not fit";
}

/* On which stream it would be is a guess where there are several. */
static void choose_stream(const struct mt_segments *s, int64_t asked, struct mt_oom_advices *out)
{
    out->stream = asked == INT64_MIN ? busiest_stream(s) : asked;
    for (size_t i = 0; i < s->all.n && asked == INT64_MIN; i++)
        out->several_streams |= s->all.v[i].stream != out->stream;
}

/* The file does not say of which pool a stream's failed allocation was: of the one that it has
 * segments of, if these are of one. */
static const char *choose_pool(const struct mt_segments *s,
                               const struct mt_oom_advice_request *asked,
                               struct mt_oom_advices *out)
{
    const char *only = NULL;
    bool several = false;
    if (asked->pool || asked->failed_b <= 0)
        return asked->pool ? asked->pool : MT_SEG_DEFAULT_POOL;
    for (size_t i = 0; i < s->all.n; i++) {
        const char *pool = mt_strtab_get(&s->strings, s->all.v[i].pool);
        if (s->all.v[i].stream != out->stream)
            continue;
        several |= only && strcmp(only, pool) != 0;
        only = pool;
    }
    out->pool_assumed = several;
    return only && !several ? only : MT_SEG_DEFAULT_POOL;
}

static struct request request_of(const struct mt_segments *s,
                                 const struct mt_oom_advice_request *asked, int64_t stream,
                                 const char *pool, int64_t size_b)
{
    int64_t block = mt_alloc_round(&s->settings, size_b > 0 ? size_b : 1);
    struct request r = {.s = s,
                        .size_b = size_b,
                        .block_b = block,
                        .device_free_b = asked->device_free_b,
                        .small = block <= MIB,
                        .is_private = strcmp(pool, MT_SEG_DEFAULT_POOL) != 0};
    r.place = (struct mt_oom_place){
        .s = s, .block_b = block, .stream = stream, .pool = pool, .small = r.small};
    r.expandable = mt_oom_is_expandable(&r.place);
    r.segment_b = r.small       ? 2 * MIB
                  : block < OWN ? s->settings.large_b
                                : mt_oom_up_to(block, 2 * MIB);
    return r;
}

/* What failed then says more than what the driver had left. */
static void learn_from_failure(struct request *r, const struct request *failed)
{
    int64_t free_b;
    if (r->small == failed->small && r->block_b >= failed->block_b)
        r->failed_b = failed->block_b;
    r->limited = r->device_free_b != INT64_MIN && r->device_free_b >= need_of(failed, &free_b);
    if (r->limited)
        r->device_free_b = INT64_MIN;
}

void mt_oom_advice(const struct mt_segments *s, const struct mt_oom_advice_request *asked,
                   struct mt_oom_advices *out)
{
    choose_stream(s, asked->stream, out);
    const char *pool = choose_pool(s, asked, out);
    struct request r = request_of(s, asked, out->stream, pool, asked->size_b);
    if (asked->failed_b > 0) {
        struct request failed = request_of(s, asked, out->stream, pool, asked->failed_b);
        learn_from_failure(&r, &failed);
    }
    if (!as_it_is(&r, out)) {
        from_driver(&r, out);
        empty_cache(&r, out);
        expandable(&r, out);
        max_split_size(&r, out);
        order_of_frees(&r, out);
    }
    out->verdict = verdict(&r, out);
}

void mt_oom_advices_free(struct mt_oom_advices *f)
{
    for (size_t i = 0; i < f->rows.n; i++)
        free(f->rows.v[i].why);
    mt_vec_free(&f->rows);
}
