#include "lib/usage/profiled.h"

#include "gen/queries.h"
#include "lib/usage/traced.h"

static void take(const struct mt_stmt *s, struct mt_profiled *out)
{
    const int64_t from = mt_stmt_int_or(s, 1, 0), to = mt_stmt_int_or(s, 4, INT64_MAX);
    const bool first = !out->any;
    out->any = true;
    if (first || from < out->life.from_ns) {
        out->life.from_ns = from;
        out->starting = (struct mt_window){from, mt_stmt_int_or(s, 2, from)};
    }
    if (first || to > out->life.to_ns) {
        out->life.to_ns = to;
        out->writing = (struct mt_window){mt_stmt_int_or(s, 3, to), to};
    }
}

enum mt_status mt_profiled_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *process, struct mt_profiled *out,
                                struct mt_err *err)
{
    struct mt_stmt *s;
    enum mt_status st;
    bool row, is;
    *out = (struct mt_profiled){0};
    MT_TRY(mt_db_query(db, MT_Q_RUN_PROFILERS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    while ((st = mt_stmt_step(s, &row, err)) == MT_OK && row) {
        st = mt_process_has_pid(db, run, process, mt_stmt_int_or(s, 0, -1), &is, err);
        if (st == MT_OK && is)
            take(s, out);
        out->other |= !is;
        if (st == MT_OK)
            continue;
        mt_stmt_end(s);
        break;
    }
    return st;
}
