/* memtool leaks: what sites are told apart by, which all runs have to know. */
#include "cmd/by.h"
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/run/knows.h"
#include <string.h>

/* The first runs with lines of code, and without. */
struct found {
    const char *with, *without; /* texts of the report; NULL: none */
};

static enum mt_status look_at(const char *ref, struct found *found, const struct mt_by *keys,
                              struct mt_report *r, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    bool lines = false;
    enum mt_status st = mt_open_run(ref, &db, &run, err);
    if (st == MT_OK)
        st = mt_run_has_lines(db, &run, &lines, err);
    if (st == MT_OK)
        mt_by_note_frames(keys, &run, r);
    const char **first = lines ? &found->with : &found->without;
    if (st == MT_OK && !*first)
        *first = mt_report_text(r, run.name);
    mt_db_close(db);
    return st;
}

/* Lines of one run and ops of another are no sites that match. */
static bool settle_mixed(const struct found *found, bool asked, struct mt_by *keys,
                         struct mt_report *r)
{
    const bool apart = asked && mt_group_has(keys->v, keys->n, MT_BY_SITE);
    if (!asked)
        *keys = (struct mt_by){.v = {MT_BY_TOP, MT_BY_SCOPE}, .n = 2};
    if (!asked || apart)
        mt_report_note(r,
                       "Sites of %s are lines of code, those of %s, which was recorded without "
                       "stacks, are top ops: %s.",
                       found->with, found->without,
                       apart ? "they cannot be matched; --by top,scope can"
                             : "all are compared by top op and scope");
    return apart;
}

enum mt_status mt_leaks_settle_keys(const struct mt_args *refs, bool asked, struct mt_by *keys,
                                    bool *apart, struct mt_report *r, struct mt_err *err)
{
    struct found found = {0};
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY(look_at(refs->v[i], &found, keys, r, err));
    *apart = found.with && found.without && settle_mixed(&found, asked, keys, r);
    if (!found.with || found.without)
        return MT_OK;
    if (!asked && !mt_group_has(keys->v, keys->n, MT_BY_TOP))
        keys->v[keys->n++] = MT_BY_TOP;
    if (mt_group_has(keys->v, keys->n, MT_BY_SITE) || mt_group_has(keys->v, keys->n, MT_BY_LINE))
        mt_report_note(r, MT_NOTE_OF_LINES);
    return MT_OK;
}

enum mt_status mt_leaks_keys_known(const struct mt_leaks_wanted *w, bool last, struct mt_db *db,
                                   const struct mt_run *run, const struct mt_run_device *device,
                                   struct mt_err *err)
{
    struct mt_by keys = {.n = w->key_n};
    memcpy(keys.v, w->keys, (size_t)w->key_n * sizeof *w->keys);
    if (!last)
        keys = mt_by_any_label(&keys);
    return mt_by_known(&keys, db, run, device, err);
}
