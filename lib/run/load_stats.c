/* What nodes did on a device: stored sums, or those of blocks of some categories alone. */
#include "lib/run/load_parts.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/category_words.h"
#include <stdlib.h>
#include <string.h>

static struct mt_sums read_sums(const int64_t *cells)
{
    return (struct mt_sums){.alloc_b = cells[0],
                            .freed_b = cells[1],
                            .alloc_n = cells[2],
                            .at_peak_b = cells[3],
                            .at_end_b = cells[4],
                            .at_peak_n = cells[5],
                            .at_end_n = cells[6]};
}

/* Where rows go that begin with a node. */
struct node_rows {
    int64_t first;
    uint64_t n;                 /* nodes; a damaged database has others, too */
    const struct mt_tree *tree; /* of stats; told: which of its nodes came */
    bool *told;
    bool waits; /* last: a node itself, whose subtree may be the next row */
    uint64_t last;
    struct mt_sums last_self;
    mt_stats_use *stats;
    mt_held_use *held;
    void *closure;
};

static enum mt_status read_node_rows(struct mt_db *db, int query, const struct mt_run *run,
                                     int64_t device, mt_db_cells *each, struct node_rows *to,
                                     struct mt_err *err)
{
    struct mt_stmt *s;
    to->first = run->node_first;
    MT_TRY(mt_db_query(db, query, &s, err));
    mt_stmt_bind(s, "iii", run->node_first, run->node_first + run->node_n, device);
    return mt_stmt_each(s, each, to, err);
}

static void tell(const struct node_rows *to, uint64_t node, const struct mt_sums *self,
                 const struct mt_sums *total)
{
    const struct mt_sums none = {0};
    to->told[node] = true;
    to->stats(to->closure, node, self, total);
    /* those above without rows, which would have come before, have the same figures */
    for (uint32_t i = to->tree->nodes.v[node].parent; i != MT_NONE && !to->told[i];
         i = to->tree->nodes.v[i].parent) {
        to->told[i] = true;
        to->stats(to->closure, i, &none, total);
    }
}

/* Tells of the node that waits, if one does, which has nothing below. */
static void tell_last(struct node_rows *to)
{
    if (to->waits)
        tell(to, to->last, &to->last_self, &to->last_self);
    to->waits = false;
}

static void each_stats(void *closure, const int64_t *cells)
{
    struct node_rows *to = closure;
    uint64_t node = (uint64_t)cells[0] - (uint64_t)to->first;
    if (node >= to->n)
        return;
    const struct mt_sums sums = read_sums(cells + 2), none = {0};
    if (cells[1] && to->waits && node == to->last) {
        to->waits = false;
        tell(to, node, &to->last_self, &sums);
        return;
    }
    tell_last(to);
    if (cells[1]) {
        tell(to, node, &none, &sums);
        return;
    }
    to->waits = true;
    to->last = node;
    to->last_self = sums;
}

enum mt_status mt_load_stats(struct mt_db *db, const struct mt_run *run, int64_t device,
                             const struct mt_tree *t, mt_stats_use *use, void *closure,
                             struct mt_err *err)
{
    struct node_rows to = {.n = t->nodes.n, .tree = t, .stats = use, .closure = closure};
    to.told = mt_alloc(t->nodes.n + 1);
    enum mt_status st = read_node_rows(db, MT_Q_LOAD_STATS, run, device, each_stats, &to, err);
    if (st == MT_OK)
        tell_last(&to);
    free(to.told);
    return st;
}

static void each_held(void *closure, const int64_t *cells)
{
    const struct node_rows *to = closure;
    uint64_t node = (uint64_t)cells[0] - (uint64_t)to->first;
    if (node < to->n)
        to->held(to->closure, node, cells[1], cells[2]);
}

enum mt_status mt_load_held(struct mt_db *db, const struct mt_run *run, int64_t device,
                            uint64_t node_n, bool end, mt_held_use *use, void *closure,
                            struct mt_err *err)
{
    struct node_rows to = {.n = node_n, .held = use, .closure = closure};
    return read_node_rows(db, end ? MT_Q_LOAD_AT_END : MT_Q_LOAD_AT_PEAK, run, device, each_held,
                          &to, err);
}

/* What blocks of some categories did in each node itself: as of a device that has no others. */
static enum mt_status read_blocks(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, uint64_t node_n,
                                  struct mt_sums *self, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_ALLOCS_IN, &s, err));
    mt_stmt_bind(s, "iiiii", run->alloc_first, run->alloc_first + run->alloc_n, device->id,
                 INT64_MIN, INT64_MAX);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        bool older = mt_stmt_kind(s, 1) == MT_VALUE_NULL;
        if (!mt_category_in(device->only, mt_load_category(s, 11, older)))
            continue;
        uint64_t in = mt_stmt_index(s, 9, run->node_first);
        if (in < node_n && !older)
            mt_sums_add_block(&self[in], s, device);
        in = mt_stmt_index(s, 10, run->node_first);
        if (in < node_n && mt_stmt_kind(s, 6) != MT_VALUE_NULL)
            mt_wrap_inc(&self[in].freed_b, mt_stmt_int(s, 0));
    }
}

/* mt_load_stats of a device of which some categories are looked at. */
static enum mt_status load_narrowed(struct mt_db *db, const struct mt_run *run,
                                    const struct mt_run_device *device, const struct mt_tree *t,
                                    mt_stats_use *use, void *closure, struct mt_err *err)
{
    size_t n = t->nodes.n;
    struct mt_sums *self = mt_alloc(2 * (n + 1) * sizeof *self), *total = self + n + 1;
    enum mt_status st = read_blocks(db, run, device, n, self, err);
    memcpy(total, self, n * sizeof *self);
    for (size_t i = n; i-- > 0;)
        if (t->nodes.v[i].parent != MT_NONE) /* which comes before */
            mt_sums_add(&total[t->nodes.v[i].parent], &total[i]);
    for (size_t i = 0; i < n && st == MT_OK; i++)
        if (total[i].alloc_n || total[i].freed_b)
            use(closure, i, &self[i], &total[i]);
    free(self);
    return st;
}

enum mt_status mt_load_stats_of(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_tree *t,
                                mt_stats_use *use, void *closure, struct mt_err *err)
{
    if (device->only)
        return load_narrowed(db, run, device, t, use, closure, err);
    return mt_load_stats(db, run, device->id, t, use, closure, err);
}
