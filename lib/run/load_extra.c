/* Further figures of call paths: stored of paths themselves, here with their subtrees, too. */
#include "lib/run/load.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/model/list_text.h"
#include <string.h>

void mt_extra_add(int64_t *to, int64_t v)
{
    int64_t sum;
    bool known = *to != MT_UNKNOWN && v != MT_UNKNOWN && !__builtin_add_overflow(*to, v, &sum);
    *to = known ? sum : MT_UNKNOWN;
}

enum mt_status mt_load_extra_each(struct mt_db *db, int64_t device, enum mt_extra extra,
                                  mt_db_cells *use, void *closure, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_EXTRA, &s, err));
    mt_stmt_bind(s, "is", device, mt_extra_names[extra]);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t cells[] = {mt_stmt_int(s, 0), 0};
        for (const char *at = mt_stmt_text(s, 1); mt_list_text_next(&at, &cells[1]);
             mt_wrap_inc(&cells[0], 1))
            use(closure, cells);
    }
}

struct extra_figures {
    int64_t first;
    uint64_t n; /* nodes; a damaged database has others, too */
    int64_t *self;
};

static void each_extra(void *closure, const int64_t *cells)
{
    const struct extra_figures *to = closure;
    uint64_t node = cells[0] ? (uint64_t)cells[0] - (uint64_t)to->first : to->n;
    if (node <= to->n)
        to->self[node] = cells[1];
}

enum mt_status mt_load_extra(struct mt_db *db, const struct mt_run *run, int64_t device,
                             enum mt_extra extra, const struct mt_tree *t, int64_t *self,
                             int64_t *total, struct mt_err *err)
{
    size_t n = t->nodes.n;
    struct extra_figures to = {run->node_first, n, self};
    memset(self, 0, (n + 1) * sizeof *self);
    MT_TRY(mt_load_extra_each(db, device, extra, each_extra, &to, err));
    memcpy(total, self, (n + 1) * sizeof *self);
    for (size_t i = n; i-- > 0;)
        if (t->nodes.v[i].parent != MT_NONE)
            mt_extra_add(&total[t->nodes.v[i].parent], total[i]);
    return MT_OK;
}
