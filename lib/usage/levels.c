#include "lib/usage/levels.h"

#include "gen/queries.h"
#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include "lib/run/category_words.h"
#include <stdlib.h>
#include <string.h>

/* Where levels are collected. */
struct collector {
    const struct mt_run *run;
    struct mt_levels *out;
    bool changes; /* of each what changed is known, and what does not is left out */
};

static void use_change(void *closure, const struct mt_change *change)
{
    struct collector *c = closure;
    int64_t record = change->level.record;
    bool of_records = c->run->record_end > 0; /* else moments are numbered */
    if (c->changes && !change->bytes)
        return;
    if (record >= 0 && (!of_records || record < c->run->record_end)) /* else: a damaged database */
        *mt_vec_push(&c->out->all) = change->level;
}

/* Only the extremes of a chunk and its end, in their order; what changed is left unset. */
static void use_extremes(const struct mt_usage_chunk *s, mt_change_use *use, void *closure)
{
    bool min_first = s->min.record < s->max.record;
    const struct mt_level *first = min_first ? &s->min : &s->max;
    const struct mt_level *second = min_first ? &s->max : &s->min;
    use(closure, &(struct mt_change){.level = *first});
    if (second->record > first->record)
        use(closure, &(struct mt_change){.level = *second});
    if (s->last.record > second->record)
        use(closure, &(struct mt_change){.level = s->last});
}

static int moment_cmp(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether one of the moments, sorted, lies between the first change of a chunk and its last. */
static bool is_within(const struct mt_usage_chunk *s, const int64_t *moments, size_t n)
{
    size_t at = mt_count_below(moments, n, sizeof *moments, s->first_ns);
    return at < n && moments[at] <= s->last.t_ns;
}

static struct mt_level read_level(const struct mt_stmt *s, int column)
{
    return (struct mt_level){mt_stmt_int(s, column), mt_stmt_int(s, column + 1),
                             mt_stmt_int(s, column + 2)};
}

/* The changes of some categories alone, with the level that these make. */
struct only {
    unsigned set;
    size_t origin_n; /* of one category */
    int64_t level_b;
    mt_change_use *use;
    void *closure;
};

static void use_if_wanted(void *closure, const struct mt_change *change)
{
    struct only *o = closure;
    size_t category = change->origin / o->origin_n;
    struct mt_change one = *change;
    if (category >= MT_CATEGORY_N || !mt_category_in(o->set, (uint8_t)category) ||
        change->origin == MT_ORIGIN_BEFORE)
        return;
    mt_wrap_inc(&o->level_b, change->bytes);
    one.level.level_b = o->level_b;
    o->use(o->closure, &one);
}

/* moments: sorted; only chunks around them are unpacked. NULL: all are. */
static enum mt_status walk_all(struct mt_db *db, const struct mt_run_device *device,
                               const int64_t *moments, size_t n, mt_change_use *use, void *closure,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_CHUNKS, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        size_t bytes;
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const struct mt_usage_chunk chunk = {.start_b = mt_stmt_int(s, 0),
                                             .first_record = mt_stmt_int(s, 1),
                                             .first_ns = mt_stmt_int(s, 2),
                                             .min = read_level(s, 3),
                                             .max = read_level(s, 6),
                                             .last = read_level(s, 9)};
        if (moments && !is_within(&chunk, moments, n)) {
            use_extremes(&chunk, use, closure);
            continue;
        }
        const uint8_t *packed = mt_stmt_blob(s, 12, &bytes);
        mt_usage_chunk_unpack(&chunk, packed, bytes, use, closure);
    }
}

static enum mt_status walk(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, const int64_t *moments, size_t n,
                           mt_change_use *use, void *closure, struct mt_err *err)
{
    struct only only = {.set = device->only,
                        .origin_n = MT_ORIGIN_NODE + (size_t)run->node_n,
                        .level_b = device->start_b,
                        .use = use,
                        .closure = closure};
    return device->only ? walk_all(db, device, NULL, 0, use_if_wanted, &only, err)
                        : walk_all(db, device, moments, n, use, closure, err);
}

enum mt_status mt_changes_each(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, mt_change_use *use,
                               void *closure, struct mt_err *err)
{
    return walk(db, run, device, NULL, 0, use, closure, err);
}

enum mt_status mt_levels_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, struct mt_levels *out,
                              struct mt_err *err)
{
    struct collector c = {run, out, true};
    *out = (struct mt_levels){.start_b = device->start_b};
    return mt_changes_each(db, run, device, use_change, &c, err);
}

enum mt_status mt_levels_load_looks(struct mt_db *db, const struct mt_run *run,
                                    const struct mt_run_device *device, struct mt_levels *out,
                                    struct mt_err *err)
{
    struct collector c = {run, out, false};
    *out = (struct mt_levels){.start_b = device->start_b};
    return mt_changes_each(db, run, device, use_change, &c, err);
}

enum mt_status mt_levels_load_near(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device, const int64_t *moments,
                                   size_t n, struct mt_levels *out, struct mt_err *err)
{
    struct collector c = {run, out, false};
    *out = (struct mt_levels){.start_b = device->start_b};
    int64_t *sorted = mt_alloc((n + 1) * sizeof *sorted);
    if (n) {
        memcpy(sorted, moments, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, moment_cmp);
    }
    enum mt_status st = walk(db, run, device, sorted, n, use_change, &c, err);
    free(sorted);
    return st;
}

void mt_levels_free(struct mt_levels *l)
{
    mt_vec_free(&l->all);
}

int64_t mt_levels_at(const struct mt_levels *l, int64_t t_ns)
{
    const struct mt_level *v = l->all.v;
    return l->all.n ? (int64_t)mt_count_up_to(&v->t_ns, l->all.n, sizeof *v, t_ns) - 1 : -1;
}

int64_t mt_levels_before(const struct mt_levels *l, int64_t t_ns)
{
    const struct mt_level *v = l->all.v;
    return l->all.n ? (int64_t)mt_count_below(&v->t_ns, l->all.n, sizeof *v, t_ns) - 1 : -1;
}

int64_t mt_levels_value(const struct mt_levels *l, int64_t index)
{
    return index < 0 ? l->start_b : l->all.v[index].level_b;
}

int64_t mt_levels_peak(const struct mt_levels *l, int64_t from, int64_t to)
{
    int64_t best = from;
    for (int64_t i = from + 1; i <= to; i++)
        if (mt_levels_value(l, i) > mt_levels_value(l, best))
            best = i;
    return best;
}

int64_t mt_levels_of_moment(const struct mt_levels *l, const struct mt_time_arg *m)
{
    if (m->kind == MT_AT_TIME)
        return m->before ? mt_levels_before(l, m->t_ns) : mt_levels_at(l, m->t_ns);
    return mt_levels_peak(l, mt_levels_before(l, m->from_ns), mt_levels_before(l, m->t_ns));
}

int64_t mt_levels_time(const struct mt_levels *l, int64_t index, int64_t otherwise)
{
    return index < 0 ? otherwise : l->all.v[index].t_ns;
}

/* A record and its node stand in two columns. */
static void put_node(uint32_t *nodes, const struct mt_run *run, const struct mt_stmt *s, int column)
{
    uint64_t record = mt_stmt_index(s, column, 0);
    uint64_t node = mt_stmt_index(s, column + 1, run->node_first);
    if (record < (uint64_t)run->record_end && node < (uint64_t)run->node_n)
        nodes[record] = (uint32_t)node;
}

enum mt_status mt_levels_nodes(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, uint32_t **out,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    size_t bytes = (size_t)(run->record_end + 1) * sizeof **out;
    *out = mt_alloc(bytes);
    memset(*out, 0xff, bytes);
    MT_TRY(mt_db_query(db, MT_Q_CHANGE_NODES, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, run->alloc_first + run->alloc_n, device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        put_node(*out, run, s, 0);
        put_node(*out, run, s, 2);
        uint64_t freed = mt_stmt_index(s, 2, 0);
        if (mt_stmt_int(s, 4) && freed < (uint64_t)run->record_end)
            (*out)[freed] = MT_NODE_UNSEEN;
    }
}
