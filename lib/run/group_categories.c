/* Groups of blocks by what they are for: from the stored figures of each node and category. */
#include "lib/base/wrap.h"
#include "lib/run/load_parts.h"

#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>

/* The items of one category: of its nodes, and of all above them. */
struct category_items {
    uint32_t *of; /* by node: index + 1 */
};

struct loader {
    struct mt_tree *t;
    struct category_items categories[MT_CATEGORY_N];
};

static uint32_t item_of(struct loader *l, uint8_t category, uint32_t node)
{
    struct mt_tree *t = l->t;
    struct category_items *c = &l->categories[category];
    uint32_t inner = MT_NONE, wanted = MT_NONE;
    if (!c->of)
        c->of = mt_alloc((t->nodes.n + 1) * sizeof *c->of);
    for (uint32_t at = node; at != MT_NONE; at = t->nodes.v[at].parent) {
        bool known = c->of[at] != 0;
        if (!known) {
            struct mt_item *new = mt_vec_push(&t->items);
            *new = mt_item_of_node(at);
            new->category = category;
            c->of[at] = (uint32_t)t->items.n;
        }
        uint32_t item = c->of[at] - 1;
        if (inner != MT_NONE)
            t->items.v[inner].parent = item;
        wanted = wanted == MT_NONE ? item : wanted;
        inner = item;
        if (known)
            break;
    }
    return wanted;
}

static void add_row(struct loader *l, const struct mt_run *run, const struct mt_stmt *s)
{
    const struct mt_sums sums = {.alloc_b = mt_stmt_int(s, 2),
                                 .freed_b = mt_stmt_int(s, 3),
                                 .alloc_n = mt_stmt_int(s, 4),
                                 .at_peak_b = mt_stmt_int(s, 5),
                                 .at_end_b = mt_stmt_int(s, 6),
                                 .at_peak_n = mt_stmt_int(s, 7),
                                 .at_end_n = mt_stmt_int(s, 8)};
    int64_t category = mt_stmt_int(s, 1);
    uint64_t node = mt_stmt_index(s, 0, run->node_first);
    if (category < 0 || category >= MT_CATEGORY_N)
        category = MT_CATEGORY_NONE; /* a damaged database */
    if (node < l->t->nodes.n) {
        uint32_t item = item_of(l, (uint8_t)category, (uint32_t)node); /* may move the items */
        mt_sums_add(&l->t->items.v[item].self, &sums);
    } else
        *mt_vec_push(&l->t->outside) = (struct mt_outside){.sums = sums,
                                                           .tensor = MT_NONE,
                                                           .thread = MT_NONE,
                                                           .step = INT64_MIN,
                                                           .size_b = MT_UNKNOWN,
                                                           .category = (uint8_t)category};
}

static enum mt_status read_rows(struct loader *l, struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_CATEGORIES, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        add_row(l, run, s);
    }
}

enum mt_status mt_group_categories(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device,
                                   const enum mt_group_key *keys, int key_n, struct mt_tree *t,
                                   struct mt_groups *out, struct mt_err *err)
{
    struct loader l = {.t = t};
    const struct mt_op_filter all = {.keys = keys, .key_n = key_n};
    if (device->only) /* what is stored is about the peak of all */
        return mt_group_ops(db, run, device, &all, t, out, err);
    MT_TRY(mt_load_nodes(db, run, t, err));
    enum mt_status st = read_rows(&l, db, run, device, err);
    for (int c = 0; c < MT_CATEGORY_N; c++)
        free(l.categories[c].of);
    if (st != MT_OK)
        return st;
    if (device->unseen_n)
        *mt_vec_push(&t->outside) = (struct mt_outside){.sums = {.freed_b = device->unseen_b},
                                                        .tensor = MT_NONE,
                                                        .thread = MT_NONE,
                                                        .step = INT64_MIN,
                                                        .size_b = MT_UNKNOWN,
                                                        .unseen = true};
    mt_tree_add_before(t, device);
    mt_tree_preorder(t);
    mt_tree_add_totals(t);
    mt_group(t, keys, key_n, out);
    return MT_OK;
}

enum mt_status mt_categories_at_peak(struct mt_db *db, const struct mt_run_device *device,
                                     int64_t out[MT_CATEGORY_N], struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    memset(out, 0, MT_CATEGORY_N * sizeof *out);
    MT_TRY(mt_db_query(db, MT_Q_LOAD_CATEGORIES_AT_PEAK, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t category = mt_stmt_int(s, 0);
        if (category >= 0 && category < MT_CATEGORY_N)
            mt_wrap_inc(&out[category], mt_stmt_int(s, 1));
    }
}
