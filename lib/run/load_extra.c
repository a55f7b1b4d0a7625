/* Further figures of call paths: stored of paths themselves, here with their subtrees, too. */
#include "lib/run/load.h"

#include "gen/queries.h"
#include <string.h>

void mt_extra_add(int64_t *to, int64_t v)
{
    int64_t sum;
    bool known = *to != MT_UNKNOWN && v != MT_UNKNOWN && !__builtin_add_overflow(*to, v, &sum);
    *to = known ? sum : MT_UNKNOWN;
}

enum mt_status mt_load_extra(struct mt_db *db, const struct mt_run *run, int64_t device,
                             enum mt_extra extra, const struct mt_tree *t, int64_t *self,
                             int64_t *total, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    size_t n = t->nodes.n;
    memset(self, 0, (n + 1) * sizeof *self);
    MT_TRY(mt_db_query(db, MT_Q_LOAD_EXTRA, &s, err));
    mt_stmt_bind(s, "iiis", run->node_first, run->node_first + run->node_n, device,
                 mt_extra_names[extra]);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        bool outside = mt_stmt_int(s, 0) == 0;
        uint64_t node = outside ? n : mt_stmt_index(s, 0, run->node_first);
        if (node <= n) /* else a damaged database */
            self[node] = mt_stmt_kind(s, 1) == MT_VALUE_NULL ? MT_UNKNOWN : mt_stmt_int(s, 1);
    }
    memcpy(total, self, (n + 1) * sizeof *self);
    for (size_t i = n; i-- > 0;)
        if (t->nodes.v[i].parent != MT_NONE)
            mt_extra_add(&total[t->nodes.v[i].parent], total[i]);
    return MT_OK;
}
