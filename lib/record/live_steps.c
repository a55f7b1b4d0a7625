#include "lib/record/live_steps.h"

#include "gen/queries.h"

enum mt_status mt_live_take_steps(struct mt_db *db, int64_t run, int64_t trace, int64_t later_ns,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, MT_Q_TAKEN_STEPS, &s, err));
    mt_stmt_bind(s, "iii", run, trace, later_ns);
    MT_TRY(mt_stmt_run(s, err));
    MT_TRY(mt_db_query(db, MT_Q_TAKEN_STEP_MARKER, &s, err));
    mt_stmt_bind(s, "ii", run, trace);
    MT_TRY(mt_stmt_run(s, err));
    MT_TRY(mt_db_query(db, MT_Q_TAKEN_STEPS_KNOWN, &s, err));
    mt_stmt_bind(s, "i", run);
    return mt_stmt_run(s, err);
}

enum mt_status mt_live_later_steps(struct mt_db *db, int64_t run, int64_t trace,
                                   const int64_t *end_ns, size_t n, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_TAKEN_LAST_STEP, &s, err));
    mt_stmt_bind(s, "ii", run, trace);
    MT_TRY(mt_stmt_step(s, &row, err));
    int64_t position = row ? mt_stmt_int(s, 0) : 0, number = row ? mt_stmt_int(s, 1) : 0;
    int64_t from_ns = row ? mt_stmt_int(s, 2) : 0, dur_ns = row ? mt_stmt_int(s, 3) : 0;
    mt_stmt_end(s);
    for (size_t i = 0; i < n && row; i++) {
        if (end_ns[i] <= from_ns || end_ns[i] > dur_ns)
            continue;
        MT_TRY(mt_db_query(db, MT_Q_STEP_ADD, &s, err));
        mt_stmt_bind(s, "iiiii", run, ++position, ++number, from_ns, end_ns[i]);
        MT_TRY(mt_stmt_run(s, err));
        from_ns = end_ns[i];
    }
    return MT_OK;
}
