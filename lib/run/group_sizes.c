/* What blocks of each size did, of all call paths together: groups that are stored. */
#include "lib/model/sizes.h"
#include "lib/run/knows.h"
#include "lib/run/load_parts.h"

#include "gen/queries.h"
#include <string.h>

bool mt_groups_are_sizes(const struct mt_run_device *device, const enum mt_group_key *keys,
                         int key_n)
{
    return device && !device->only && key_n == 1 && keys[0] == MT_BY_SIZE &&
           (device->knows & (MT_KNOWS_SIZE_SUMS | MT_KNOWS_SIZES)) == MT_KNOWS_SIZE_SUMS;
}

static void add_row(struct mt_grouper *g, const struct mt_stmt *s, struct mt_groups *out)
{
    char name[MT_SIZE_NAME];
    mt_size_name(mt_size_class(mt_stmt_int(s, 0)), name);
    const uint32_t text = mt_strtab_add(&g->tree->strings, name, strlen(name));
    const char *const key[] = {mt_strtab_get(&g->tree->strings, text)};
    struct mt_group *row = mt_groups_row(out, g, mt_grouper_of_texts(g, key, false));
    row->self = (struct mt_sums){.alloc_b = mt_stmt_int(s, 1),
                                 .freed_b = mt_stmt_int(s, 2),
                                 .alloc_n = mt_stmt_int(s, 3),
                                 .at_peak_b = mt_stmt_int(s, 4),
                                 .at_end_b = mt_stmt_int(s, 5),
                                 .at_peak_n = mt_stmt_int(s, 6),
                                 .at_end_n = mt_stmt_int(s, 7)};
    row->total = row->self;
}

enum mt_status mt_group_sizes(struct mt_db *db, const struct mt_run_device *device,
                              struct mt_tree *t, struct mt_groups *out, struct mt_err *err)
{
    static const enum mt_group_key by_size[] = {MT_BY_SIZE};
    struct mt_grouper g;
    struct mt_stmt *s;
    enum mt_status st = MT_OK;
    bool row;
    mt_strtab_init(&t->strings);
    mt_grouper_init(&g, t, by_size, 1);
    MT_TRY_OUT(mt_db_query(db, MT_Q_LOAD_SIZES, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        add_row(&g, s, out);
    }
out:
    mt_grouper_free(&g);
    return st;
}
