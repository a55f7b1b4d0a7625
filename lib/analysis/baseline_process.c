#include "lib/analysis/baseline_parts.h"

#include "gen/queries.h"
#include "lib/run/knows.h"
#include "lib/usage/process.h"

/* Of all together what they share was looked at now and then: it was that much at least. */
static void measure_together(const struct mt_stmt *s, struct mt_baseline_device *to)
{
    to->v[MT_FIG_AT_PEAK_B] = mt_stmt_int_or(s, 3, MT_BASELINE_UNKNOWN);
    to->least[MT_FIG_AT_PEAK_B] = true;
    to->unknown[MT_FIG_AT_PEAK_B].why =
        "has looks at all processes together only, between which they may have had more";
}

enum mt_status mt_baseline_measure_process(struct mt_db *db, const struct mt_run *run,
                                           const struct mt_run_device *device, unsigned gaps,
                                           struct mt_baseline_device *to, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    if (!mt_device_is_process(device))
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_PROCESS_BOUNDS, &s, err));
    mt_stmt_bind(s, "ii", run->id, device->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row && mt_device_is_processes(device))
        measure_together(s, to);
    else if (row) {
        int64_t unseen = mt_stmt_int_or(s, 0, 0), most = mt_stmt_int_or(s, 1, 0);
        if (strcmp(device->name, "process") == 0)
            to->proved_b = unseen;
        if (gaps == MT_GAP_WATCH && !mt_stmt_int(s, 2))
            to->most_b = unseen > most ? unseen : most;
    }
    mt_stmt_end(s);
    return MT_OK;
}
