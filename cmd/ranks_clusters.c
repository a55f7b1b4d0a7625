/* Which ranks of a job are alike by design: clusters, within which one may be an outlier. */
#include "cmd/ranks.h"

#include <stdlib.h>
#include <string.h>

/* What ranks of a cluster share. */
static struct mt_rank_cluster key_of(const struct mt_ranks *r, size_t i)
{
    const struct mt_job_place *p = &r->all.v[i].place;
    return (struct mt_rank_cluster){
        .stage = r->staged ? p->stage : MT_UNKNOWN,
        .tp = r->parted ? p->tp : MT_UNKNOWN,
        .block = r->block_n ? (int64_t)(i / (r->all.n / r->block_n)) : 0,
        .first_rank = MT_UNKNOWN,
        .last_rank = MT_UNKNOWN,
    };
}

static int by_key(const void *a, const void *b)
{
    const struct mt_rank_cluster *x = a, *y = b;
    const int64_t p[] = {x->stage, x->tp, x->block}, q[] = {y->stage, y->tp, y->block};
    for (size_t i = 0; i < MT_ARRAY_LEN(p); i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* A cluster for each key, in their order; ranks that are known of each. */
static void add_clusters(struct mt_ranks *r)
{
    r->clusters.n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank_cluster key = key_of(r, i);
        size_t k = 0;
        while (k < r->clusters.n && by_key(&r->clusters.v[k], &key) != 0)
            k++;
        if (k == r->clusters.n)
            *mt_vec_push(&r->clusters) = key;
    }
    if (r->clusters.n)
        qsort(r->clusters.v, r->clusters.n, sizeof *r->clusters.v, by_key);
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank_cluster key = key_of(r, i);
        struct mt_rank_cluster *c = bsearch(&key, r->clusters.v, r->clusters.n, sizeof *c, by_key);
        const int64_t rank = r->all.v[i].place.rank;
        r->all.v[i].cluster = (size_t)(c - r->clusters.v);
        c->rank_n++;
        if (rank != MT_UNKNOWN && (c->first_rank == MT_UNKNOWN || rank < c->first_rank))
            c->first_rank = rank;
        if (rank > c->last_rank)
            c->last_rank = rank;
    }
}

/* Ranks that have the same part of the tensors of the same stage are copies of each other: a
 * cluster each, where these are large enough to judge by. */
static void part_clusters(struct mt_ranks *r)
{
    bool enough = true;
    for (size_t i = 0; i < r->all.n; i++)
        r->parted |= r->all.v[i].place.tp != r->all.v[0].place.tp;
    if (!r->parted)
        return;
    add_clusters(r);
    for (size_t k = 0; k < r->clusters.n; k++)
        enough &= r->clusters.v[k].rank_n >= MT_SPREAD_MIN;
    r->parted = enough;
}

/* Whether most ranks of each of n blocks are within what ranks that do the same differ by. */
static bool blocks_are_alike(const struct mt_ranks *r, size_t block_n)
{
    const size_t size = r->all.n / block_n;
    int64_t *figures = mt_alloc(size * sizeof *figures);
    bool alike = true;
    for (size_t from = 0; from < r->all.n && alike; from += size) {
        struct mt_spread s;
        size_t apart_n = 0;
        for (size_t i = 0; i < size; i++)
            figures[i] = r->all.v[from + i].figure_b;
        mt_spread_of(figures, size, &s);
        for (size_t i = 0; i < size; i++)
            apart_n += !mt_spread_is_near(&s, figures[i]);
        alike = apart_n * MT_SPREAD_MIN <= size;
    }
    free(figures);
    return alike;
}

/* Where nothing tells the stages, but ranks are alike in equal blocks of their order, as the stages
 * of a pipeline are numbered: the fewest such blocks. */
static void find_blocks(struct mt_ranks *r)
{
    for (size_t i = 0; i < r->all.n; i++)
        if (r->all.v[i].place.rank != (int64_t)i || r->all.v[i].figure_b == MT_UNKNOWN)
            return;
    for (size_t n = 1; n * MT_SPREAD_MIN <= r->all.n; n++)
        if (r->all.n % n == 0 && blocks_are_alike(r, n)) {
            r->block_n = n > 1 ? n : 0;
            return;
        }
}

/* How the ranks of a cluster lie apart, and which lie outside. */
static void judge_cluster(struct mt_ranks *r, size_t k)
{
    struct mt_rank_cluster *c = &r->clusters.v[k];
    size_t n = 0;
    int64_t *figures = mt_alloc((r->all.n + 1) * sizeof *figures);
    size_t *of = mt_alloc((r->all.n + 1) * sizeof *of);
    for (size_t i = 0; i < r->all.n; i++) {
        if (r->all.v[i].cluster != k || r->all.v[i].figure_b == MT_UNKNOWN)
            continue;
        figures[n] = r->all.v[i].figure_b;
        of[n++] = i;
    }
    mt_spread_of(figures, n, &c->spread);
    c->median = n ? of[c->spread.median_at] : 0;
    c->most = c->median;
    c->judged = n >= MT_SPREAD_MIN && r->apart == MT_RANKS_ALIKE;
    for (size_t i = 0; i < n; i++) {
        struct mt_rank *rank = &r->all.v[of[i]];
        rank->outside = c->judged && mt_spread_is_outside(&c->spread, rank->figure_b,
                                                          rank->device->doubt_at_peak_b);
        c->outside_n += rank->outside;
        if (rank->figure_b > r->all.v[c->most].figure_b)
            c->most = of[i];
    }
    free(of);
    free(figures);
}

void mt_ranks_cluster(struct mt_ranks *r)
{
    for (size_t i = 0; i < r->all.n; i++)
        r->staged |= r->all.v[i].place.stage != r->all.v[0].place.stage;
    part_clusters(r);
    if (!r->staged && !r->parted && r->apart == MT_RANKS_ALIKE)
        find_blocks(r);
    add_clusters(r);
    for (size_t k = 0; k < r->clusters.n; k++)
        judge_cluster(r, k);
}

const char *mt_rank_cluster_words(struct mt_report *r, const struct mt_ranks *ranks,
                                  const struct mt_rank_cluster *c)
{
    const char *part = ranks->parted ? mt_report_textf(r, "tp %lld", (long long)c->tp) : NULL;
    if (c->stage != MT_UNKNOWN)
        return mt_report_textf(r, "stage %lld%s%s", (long long)c->stage, part ? ", " : "",
                               part ? part : "");
    if (part && c->tp != MT_UNKNOWN)
        return part;
    if (ranks->block_n)
        return mt_report_textf(r, "ranks %lld to %lld", (long long)c->first_rank,
                               (long long)c->last_rank);
    return "the job";
}
