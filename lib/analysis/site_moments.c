#include "lib/analysis/site_moments.h"

#include "lib/analysis/run_ends.h"
#include "lib/base/sort.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include <stdlib.h>
#include <string.h>

enum { FEW_DUMPS = 16, SUPPRESSED = 0 };

/* A change of what a site holds with a moment. */
struct change {
    uint32_t site; /* and 1 more; SUPPRESSED */
    uint32_t moment;
    int64_t bytes;
};

struct reading {
    struct mt_allocations *blocks;
    struct mt_moments moments;
    int64_t last_b; /* all that is held at the end */
    MT_VEC(struct change) changes;
    MT_VEC(struct mt_trend_level) levels; /* of the site that is judged */
    uint32_t
        *site; /* of each node, and of what has no call path, and 1 more; 0: not asked for yet */
    const struct mt_live_groups *only;
    MT_VEC(bool) asked;  /* by group: it is among these */
    MT_VEC(bool) judged; /* of each site: it is to be */
    MT_VEC(int64_t)
    last; /* what each holds at the last moment; the first: all that is suppressed */
    struct mt_site_moments *out;
};

static void ask(struct reading *r)
{
    for (size_t i = 0; r->only && i < r->only->rows.n; i++) {
        const struct mt_live_group *g = &r->only->rows.v[i];
        const uint32_t group = mt_grouper_of_texts(r->out->grouper, g->key, g->explicit_row);
        while (r->asked.n <= group)
            *mt_vec_push(&r->asked) = false;
        r->asked.v[group] = true;
    }
}

/* And 1 more. */
static uint32_t find_site(struct reading *r, uint32_t node)
{
    struct mt_site_moments *m = r->out;
    const struct mt_origin origin = mt_origin_of_node(node);
    uint32_t group = mt_grouper_of(m->grouper, &origin);
    while (m->of.n <= group)
        *mt_vec_push(&m->of) = 0;
    if (!m->of.v[group]) {
        const struct mt_group_name *name = &m->grouper->names.v[group];
        *mt_vec_push(&m->all) =
            (struct mt_site_trend){.key = name->key, .explicit_row = name->explicit_row};
        *mt_vec_push(&r->judged) = !r->only || (group < r->asked.n && r->asked.v[group]);
        m->of.v[group] = (uint32_t)m->all.n;
    }
    return m->of.v[group];
}

/* The same, asked for once of each path. */
static uint32_t site_of(struct reading *r, uint32_t node)
{
    uint32_t *site = &r->site[node == MT_NONE ? r->blocks->tree.nodes.n : node];
    if (!*site)
        *site = find_site(r, node);
    return *site;
}

/* Each pattern once. */
static void add_pattern(struct mt_site_moments *m, uint32_t pattern)
{
    size_t at = m->patterns.n;
    while (at && m->patterns.v[at - 1] > pattern)
        at--;
    if (at && m->patterns.v[at - 1] == pattern)
        return;
    mt_vec_push(&m->patterns);
    memmove(m->patterns.v + at + 1, m->patterns.v + at,
            (m->patterns.n - 1 - at) * sizeof *m->patterns.v);
    m->patterns.v[at] = pattern;
}

/* Of few dumps all are judged, as runs are. */
static void judge_dumps(const struct reading *r, struct mt_site_trend *site, int64_t *passed)
{
    const size_t n = r->levels.n;
    int64_t *held = mt_alloc((n + 1) * sizeof *held);
    for (size_t i = 0; i < n; i++)
        held[i] = r->levels.v[i].bytes;
    site->trend = n >= MT_RUN_ENDS_MIN ? mt_trend_of(held, n) : MT_TREND_UNKNOWN;
    if (site->trend == MT_TREND_SWINGS && mt_trend_has_dips(r->levels.v, n))
        site->trend = MT_TREND_DIPS;
    if (site->trend != MT_TREND_UNKNOWN) {
        site->grew = mt_wrap_sub(held[n - 1], held[0]);
        *passed = r->levels.v[n - 1].t - r->levels.v[0].t;
    } else {
        site->grew = MT_UNKNOWN;
    }
    free(held);
}

/* The levels of each site are of the moments, and begin as none. */
static void add_times(struct reading *r)
{
    const struct mt_levels *times = &r->moments.levels;
    for (size_t i = 0; i < times->all.n; i++)
        *mt_vec_push(&r->levels) = (struct mt_trend_level){.t = times->all.v[i].t_ns};
}

/* The levels of a site end where the recording does. */
static void end_levels(struct reading *r, bool exceeds)
{
    r->levels.n = r->moments.levels.all.n;
    if (exceeds) /* the last moment with call paths is not the end */
        *mt_vec_push(&r->levels) = (struct mt_trend_level){r->blocks->run->dur_ns, r->last_b};
}

/* What a site holds at each moment. */
static void judge(struct reading *r, struct mt_site_trend *site, const struct change *changes,
                  size_t n)
{
    const size_t moment_n = r->moments.levels.all.n;
    const int64_t dur = r->blocks->run->dur_ns;
    bool ns = strcmp(r->blocks->run->time_unit, "ns") == 0;
    int64_t level = 0;
    for (size_t at = 0, c = 0; at < moment_n;) {
        for (; c < n && changes[c].moment == at; c++)
            mt_wrap_inc(&level, changes[c].bytes);
        site->most_b = level > site->most_b ? level : site->most_b;
        for (const size_t next = c < n ? changes[c].moment : moment_n; at < next; at++)
            r->levels.v[at].bytes = level;
    }
    end_levels(r, level > r->last_b);
    int64_t passed = MT_UNKNOWN;
    if (r->out->each)
        judge_dumps(r, site, &passed);
    else
        site->trend = mt_trend_of_moments(r->levels.v, r->levels.n, dur, &site->grew, &passed);
    site->goes_on = mt_trend_goes_on(r->levels.v, r->levels.n);
    site->per_hour = ns ? mt_trend_per_hour(site->grew, passed) : MT_UNKNOWN;
}

static bool is_judged(const struct reading *r, uint32_t site)
{
    return site == SUPPRESSED ? !r->only : r->judged.v[site - 1];
}

/* Counts a change; of sites that nobody judges that is enough. */
static void add_change(struct reading *r, uint32_t site, const struct mt_moment_change *c)
{
    while (r->last.n <= site)
        *mt_vec_push(&r->last) = 0;
    mt_wrap_inc(&r->last.v[site], c->bytes);
    if (is_judged(r, site))
        *mt_vec_push(&r->changes) = (struct change){site, c->moment, c->bytes};
}

/* Judges the sites that are to be, whose changes stand behind each other. */
static void judge_sites(struct reading *r)
{
    struct mt_site_moments *m = r->out;
    bool exceeds = false; /* some hold more at the last moment than all at the end */
    for (size_t i = 0; i < r->last.n; i++)
        exceeds |= r->last.v[i] > r->last_b;
    for (size_t i = 0, end; i < r->changes.n; i = end) {
        const uint32_t site = r->changes.v[i].site;
        for (end = i; end < r->changes.n && r->changes.v[end].site == site; end++)
            ;
        judge(r, site == SUPPRESSED ? &m->suppressed : &m->all.v[site - 1], &r->changes.v[i],
              end - i);
    }
    end_levels(r, exceeds);
    m->judged = r->moments.changes.n &&
                (m->each ? r->levels.n >= MT_RUN_ENDS_MIN
                         : mt_trend_can_tell(r->levels.v, r->levels.n, r->blocks->run->dur_ns));
}

static enum mt_status load_last(struct reading *r, const struct mt_run_device *device,
                                struct mt_err *err)
{
    struct mt_levels levels = {0};
    r->last_b = INT64_MAX;
    if (!mt_device_knows(device, MT_KNOWS_LEVEL))
        return MT_OK;
    enum mt_status st = mt_levels_load_near(r->blocks->db, r->blocks->run, device,
                                            &r->blocks->run->dur_ns, 1, &levels, err);
    if (st == MT_OK)
        r->last_b = mt_levels_value(&levels, (int64_t)levels.all.n - 1);
    mt_levels_free(&levels);
    return st;
}

enum mt_status mt_site_moments_load(struct mt_allocations *blocks,
                                    const struct mt_run_device *device,
                                    const enum mt_group_key *keys, int key_n,
                                    const uint32_t *suppressed, const struct mt_live_groups *only,
                                    struct mt_site_moments *out, struct mt_err *err)
{
    struct reading r = {.blocks = blocks, .only = only, .out = out};
    *out = (struct mt_site_moments){.grouper = mt_alloc(sizeof *out->grouper)};
    mt_grouper_init(out->grouper, &blocks->tree, keys, key_n);
    ask(&r);
    r.site = mt_alloc((blocks->tree.nodes.n + 1) * sizeof *r.site);
    enum mt_status st = load_last(&r, device, err);
    if (st == MT_OK)
        st = mt_moments_load(blocks, device, false, &r.moments, err);
    add_times(&r);
    out->each = mt_run_notes_get(&blocks->run->notes, MT_NOTE_DUMPS) && r.levels.n <= FEW_DUMPS;
    for (size_t i = 0; i < r.moments.changes.n && st == MT_OK; i++) {
        const struct mt_moment_change *c = &r.moments.changes.v[i];
        uint32_t by = suppressed && c->node != MT_NONE ? suppressed[c->node] : MT_NONE;
        if (by != MT_NONE)
            add_pattern(out, by);
        uint32_t site = by == MT_NONE ? site_of(&r, c->node) : SUPPRESSED;
        add_change(&r, site, c);
    }
    mt_sort_by_number(r.changes.v, r.changes.n, sizeof *r.changes.v, (uint32_t)out->all.n + 1);
    judge_sites(&r);
    mt_moments_free(&r.moments);
    mt_vec_free(&r.changes);
    mt_vec_free(&r.levels);
    mt_vec_free(&r.asked);
    mt_vec_free(&r.judged);
    mt_vec_free(&r.last);
    free(r.site);
    return st;
}

void mt_site_moments_free(struct mt_site_moments *m)
{
    if (m->grouper)
        mt_grouper_free(m->grouper);
    free(m->grouper);
    mt_vec_free(&m->all);
    mt_vec_free(&m->of);
    mt_vec_free(&m->patterns);
}

const struct mt_site_trend *mt_site_moments_find(const struct mt_site_moments *m,
                                                 const char *const *key, bool explicit_row)
{
    if (!m->grouper)
        return NULL;
    uint32_t group = mt_grouper_of_texts(m->grouper, key, explicit_row);
    return group < m->of.n && m->of.v[group] ? &m->all.v[m->of.v[group] - 1] : NULL;
}
