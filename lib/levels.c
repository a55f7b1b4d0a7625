#include "lib/levels.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

struct change {
    int64_t t_ns, bytes;
};

static void put(struct change *changes, const struct mt_run *run, int64_t record, int64_t t_ns,
                int64_t bytes)
{
    if (record >= 0 && record < run->record_n)
        changes[record] = (struct change){t_ns, bytes};
}

static void add_up(const struct change *changes, int64_t n, struct mt_levels *out)
{
    int64_t level = out->start_b;
    for (int64_t i = 0; i < n; i++) {
        if (!changes[i].bytes)
            continue; /* a record of another device, or of no bytes */
        level += changes[i].bytes;
        *mt_vec_push(&out->all) = (struct mt_level){changes[i].t_ns, level, i};
    }
}

enum mt_status mt_levels_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, struct mt_levels *out,
                              struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    enum mt_status st = MT_OK;
    struct change *changes = mt_alloc((size_t)(run->record_n + 1) * sizeof *changes);
    *out = (struct mt_levels){.start_b = device->start_b};
    MT_TRY_OUT(mt_db_query(db, MT_Q_LEVELS, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, run->alloc_first + run->alloc_n, device->id);
    for (;;) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        int64_t bytes = mt_stmt_int(s, 0);
        if (mt_stmt_kind(s, 2) != MT_VALUE_NULL)
            put(changes, run, mt_stmt_int(s, 2), mt_stmt_int(s, 1), bytes);
        if (mt_stmt_kind(s, 4) != MT_VALUE_NULL)
            put(changes, run, mt_stmt_int(s, 4), mt_stmt_int(s, 3), -bytes);
    }
    add_up(changes, run->record_n, out);
out:
    free(changes);
    return st;
}

void mt_levels_free(struct mt_levels *l)
{
    mt_vec_free(&l->all);
}

int64_t mt_levels_at(const struct mt_levels *l, int64_t t_ns)
{
    size_t low = 0, high = l->all.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->all.v[mid].t_ns <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return (int64_t)low - 1;
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

int64_t mt_levels_of_moment(const struct mt_levels *l, const struct mt_moment *m)
{
    int64_t at = mt_levels_at(l, m->t_ns);
    return m->kind == MT_AT_PEAK ? mt_levels_peak(l, mt_levels_at(l, m->from_ns), at) : at;
}

int64_t mt_levels_time(const struct mt_levels *l, int64_t index, int64_t otherwise)
{
    return index < 0 ? otherwise : l->all.v[index].t_ns;
}

static void put_node(uint32_t *nodes, const struct mt_run *run, const struct mt_stmt *s, int column)
{
    int64_t record = mt_stmt_int(s, column);
    uint64_t node = (uint64_t)(mt_stmt_int(s, column + 2) - run->node_first);
    if (mt_stmt_kind(s, column) != MT_VALUE_NULL && record >= 0 && record < run->record_n &&
        mt_stmt_kind(s, column + 2) != MT_VALUE_NULL && node < (uint64_t)run->node_n)
        nodes[record] = (uint32_t)node;
}

enum mt_status mt_levels_nodes(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, uint32_t **out,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    size_t bytes = (size_t)(run->record_n + 1) * sizeof **out;
    *out = mt_alloc(bytes);
    memset(*out, 0xff, bytes);
    MT_TRY(mt_db_query(db, MT_Q_CHANGE_NODES, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, run->alloc_first + run->alloc_n, device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        put_node(*out, run, s, 1);
        put_node(*out, run, s, 4);
    }
}
