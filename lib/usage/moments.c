#include "lib/usage/moments.h"

#include "gen/queries.h"
#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/base/wrap.h"
#include "lib/model/list_text.h"
#include "lib/run/knows.h"
#include "lib/usage/held.h"
#include <stdlib.h>

/* What is being read, and where it lies in the order of the moments. */
struct reading {
    struct mt_allocations *l;
    const struct mt_run_device *device;
    struct mt_moments *out;
    MT_VEC(int64_t) positions; /* of the moments in the run; never fall */
};

static void add_level(struct mt_moments *m, int64_t t_ns)
{
    const struct mt_level level = {t_ns, 0, (int64_t)m->levels.all.n};
    *mt_vec_push(&m->levels.all) = level;
}

static enum mt_status read_times(struct reading *r, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(r->l->db, MT_Q_MOMENTS, &s, err));
    mt_stmt_bind(s, "ii", r->l->run->id, r->device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_vec_push(&r->positions) = mt_stmt_int(s, 0);
        add_level(r->out, mt_stmt_int(s, 1));
    }
}

static void add_change(struct reading *r, uint32_t node, const struct mt_held_change *c)
{
    const size_t n = r->positions.n;
    size_t at = (size_t)c->moment; /* mostly: a run with no other moments has them all */
    if (at >= n || r->positions.v[at] != c->moment)
        at = mt_count_below(r->positions.v, n, sizeof *r->positions.v, c->moment);
    if (at < n && r->positions.v[at] == c->moment) /* else: a damaged database */
        *mt_vec_push(&r->out->changes) =
            (struct mt_moment_change){(uint32_t)at, node, c->bytes, c->blocks};
}

static enum mt_status read_changes(struct reading *r, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(r->l->db, MT_Q_HOLDINGS, &s, err));
    mt_stmt_bind(s, "i", r->device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint64_t node =
            (uint64_t)mt_stmt_int(s, 0) - (uint64_t)r->l->run->node_first; /* 0: no call path */
        const int64_t size = mt_stmt_int(s, 1);
        struct mt_held_change c = {0};
        for (const char *at = mt_stmt_text(s, 2); mt_held_text_next(&at, size, &c);)
            add_change(r, node < r->l->tree.nodes.n ? (uint32_t)node : MT_NONE, &c);
    }
}

static int node_cmp(const void *a, const void *b)
{
    const struct mt_moment_change *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* By moments, and by nodes, in whose order most of them come. */
static void sort_changes(struct mt_moments *m)
{
    struct mt_moment_change *v = m->changes.v;
    mt_sort_by_number(v, m->changes.n, sizeof *v, (uint32_t)m->levels.all.n);
    for (size_t i = 0, end; i < m->changes.n; i = end) {
        bool in_order = true;
        for (end = i + 1; end < m->changes.n && v[end].moment == v[i].moment; end++)
            in_order &= v[end - 1].node <= v[end].node;
        if (!in_order)
            qsort(v + i, end - i, sizeof *v, node_cmp);
    }
}

/* Moments from `at` on make room for another one. */
static void insert(struct mt_moments *m, size_t at, int64_t t_ns)
{
    add_level(m, t_ns);
    for (size_t i = m->levels.all.n - 1; i > at; i--)
        m->levels.all.v[i].t_ns = m->levels.all.v[i - 1].t_ns;
    m->levels.all.v[at].t_ns = t_ns;
    for (size_t i = 0; i < m->changes.n; i++)
        m->changes.v[i].moment += m->changes.v[i].moment >= at;
}

/* What a path holds at one moment only, beside what it holds around it. */
struct beside {
    int64_t bytes, blocks_n;
};

/* What paths hold at the moment `at`, and no longer at the next one; record: as of mt_held_at. */
static enum mt_status put_held(struct reading *r, size_t at, int64_t record, struct mt_err *err)
{
    struct mt_moments *m = r->out;
    struct mt_live_set held = {0};
    const size_t node_n = r->l->tree.nodes.n, change_n = m->changes.n;
    struct beside *of = mt_alloc((node_n + 1) * sizeof *of); /* the last: no call path */
    enum mt_status st = mt_held_at(r->l, r->device, record, &held, err);
    for (size_t i = 0; i < held.blocks.n; i++) {
        const struct mt_allocation *b = &held.blocks.v[i];
        struct beside *to = &of[b->origin.node == MT_NONE ? node_n : b->origin.node];
        mt_wrap_inc(&to->bytes, b->bytes);
        mt_wrap_inc(&to->blocks_n, b->blocks_n == MT_UNKNOWN ? 0 : b->blocks_n);
        m->peak_rest_n_unknown |=
            record != MT_AT_END && b->origin.node == MT_NONE && b->blocks_n == MT_UNKNOWN;
    }
    for (size_t i = 0; i < change_n; i++) {
        const struct mt_moment_change *c = &m->changes.v[i];
        struct beside *to = &of[c->node == MT_NONE ? node_n : c->node];
        mt_wrap_dec(&to->bytes, c->moment < at ? c->bytes : 0);
        mt_wrap_dec(&to->blocks_n, c->moment < at ? c->blocks_n : 0);
    }
    for (size_t i = 0; i <= node_n && st == MT_OK; i++) {
        uint32_t node = i == node_n ? MT_NONE : (uint32_t)i;
        if (!of[i].bytes && !of[i].blocks_n)
            continue;
        *mt_vec_push(&m->changes) =
            (struct mt_moment_change){(uint32_t)at, node, of[i].bytes, of[i].blocks_n};
        if (at + 1 < m->levels.all.n)
            *mt_vec_push(&m->changes) =
                (struct mt_moment_change){(uint32_t)at + 1, node, mt_wrap_sub(0, of[i].bytes),
                                          mt_wrap_sub(0, of[i].blocks_n)};
    }
    mt_live_set_free(&held);
    free(of);
    return st;
}

/* The peak lies before the moment of its time, which is behind all that happened then. */
static enum mt_status add_peak(struct reading *r, struct mt_err *err)
{
    const struct mt_level *v = r->out->levels.all.v;
    size_t n = r->out->levels.all.n;
    const bool at_no_time = r->device->peak_ns == MT_UNKNOWN && !r->device->peak_b;
    if (!mt_device_knows(r->device, MT_KNOWS_AT_PEAK) || at_no_time)
        return MT_OK;
    size_t at = n ? mt_count_below(&v->t_ns, n, sizeof *v, r->device->peak_ns) : 0;
    insert(r->out, at, r->device->peak_ns);
    r->out->peak = (int64_t)at;
    return put_held(r, at, r->device->peak_record, err);
}

static enum mt_status add_end(struct reading *r, struct mt_err *err)
{
    if (r->positions.n || !mt_device_knows(r->device, MT_KNOWS_AT_END))
        return MT_OK;
    bool timed = *r->l->run->time_unit != '\0';
    add_level(r->out, timed ? r->l->run->dur_ns : MT_UNKNOWN);
    return put_held(r, r->out->levels.all.n - 1, MT_AT_END, err);
}

static void sum_levels(struct mt_moments *m)
{
    int64_t level = 0;
    size_t c = 0;
    for (size_t i = 0; i < m->levels.all.n; i++) {
        for (; c < m->changes.n && m->changes.v[c].moment == i; c++)
            mt_wrap_inc(&level, m->changes.v[c].bytes);
        m->levels.all.v[i].level_b = level;
    }
}

enum mt_status mt_moments_load(struct mt_allocations *l, const struct mt_run_device *device,
                               bool peak, struct mt_moments *out, struct mt_err *err)
{
    struct reading r = {.l = l, .device = device, .out = out};
    enum mt_status st = MT_OK;
    *out = (struct mt_moments){.peak = -1};
    if (mt_device_knows(device, MT_KNOWS_MOMENTS)) {
        MT_TRY_OUT(read_times(&r, err));
        MT_TRY_OUT(read_changes(&r, err));
    }
    if (peak)
        MT_TRY_OUT(add_peak(&r, err));
    MT_TRY_OUT(add_end(&r, err));
    sort_changes(out);
    sum_levels(out);
out:
    mt_vec_free(&r.positions);
    return st;
}

void mt_moments_free(struct mt_moments *m)
{
    mt_levels_free(&m->levels);
    mt_vec_free(&m->changes);
}

void mt_moments_live(const struct mt_moments *m, const struct mt_run_device *device, int64_t moment,
                     struct mt_live_set *out)
{
    bool counts = mt_device_knows(device, MT_KNOWS_COUNTS);
    size_t n = 0;
    while (n < m->changes.n && (int64_t)m->changes.v[n].moment <= moment)
        n++;
    struct mt_moment_change *v = mt_alloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = m->changes.v[i];
    qsort(v, n, sizeof *v, node_cmp);
    for (size_t i = 0, end; i < n; i = end) {
        struct mt_moment_change sum = {.node = v[i].node};
        for (end = i; end < n && v[end].node == sum.node; end++) {
            mt_wrap_inc(&sum.bytes, v[end].bytes);
            mt_wrap_inc(&sum.blocks_n, v[end].blocks_n);
        }
        bool known =
            counts && !(sum.node == MT_NONE && moment == m->peak && m->peak_rest_n_unknown);
        if (sum.bytes || sum.blocks_n)
            *mt_vec_push(&out->blocks) =
                mt_held(sum.node, sum.bytes, known ? sum.blocks_n : MT_UNKNOWN);
        mt_wrap_inc(&out->sum_b, sum.bytes);
    }
    free(v);
}
