/* Runs that are there: deleted, renamed, put in a group. */
#include "lib/store/store.h"

#include "gen/queries.h"
#include "lib/store/store_parts.h"
#include <string.h>

static enum mt_status run_queries(struct mt_db *db, int first, int last, int64_t run,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    for (int q = first; q <= last; q++) {
        MT_TRY(mt_db_query(db, q, &s, err));
        mt_stmt_bind(s, "i", run);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

enum mt_status mt_store_delete(struct mt_db *db, int64_t run, struct mt_err *err)
{
    return run_queries(db, MT_Q_RUN_DELETE_STATS, MT_Q_RUN_DELETE, run, err);
}

enum mt_status mt_store_sweep(struct mt_db *db, struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, MT_Q_SWEEP_FRAMES, &s, err));
    MT_TRY(mt_stmt_run(s, err));
    MT_TRY(mt_db_query(db, MT_Q_SWEEP_STRINGS, &s, err));
    return mt_stmt_run(s, err);
}

enum mt_status mt_store_check_name(const char *name, struct mt_err *err)
{
    enum { LONGEST = 255 }; /* of struct mt_run */
    if (*name && *name != '@' && strncmp(name, "baseline:", 9) != 0 && strlen(name) <= LONGEST)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "'%.40s' cannot be the name of a run", name);
    mt_err_hint(err,
                "Nothing was changed. A name is not empty, has at most %d bytes and begins "
                "neither with '@' nor with 'baseline:'.",
                LONGEST);
    return MT_EUSAGE;
}

enum mt_status mt_store_check_group(const char *group, struct mt_err *err)
{
    if (!strstr(group, ", "))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "'%.40s' cannot be the name of a group", group);
    mt_err_hint(err, "Nothing was changed. The groups of a run are listed as 'a, b': a name cannot "
                     "contain a comma followed by a blank.");
    return MT_EUSAGE;
}

enum mt_status mt_store_rename(struct mt_db *db, int64_t run, const char *name, struct mt_err *err)
{
    struct mt_stmt *s;
    int64_t id;
    MT_TRY(mt_store_check_name(name, err));
    MT_TRY(mt_store_find_run(db, MT_Q_RUN_BY_NAME, name, &id, NULL, err));
    if (id && id != run) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' already exists", name);
        mt_err_hint(err, "Nothing was changed. Choose another name, or delete or rename that run.");
        return MT_EUSAGE;
    }
    MT_TRY(mt_db_query(db, MT_Q_RUN_RENAME, &s, err));
    mt_stmt_bind(s, "is", run, name);
    return mt_stmt_run(s, err);
}
