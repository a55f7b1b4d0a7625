/* memtool timeline: why there is no curve. */
#include "cmd/timeline.h"
#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/usage/process.h"
#include <string.h>

static const struct {
    const char *metric;
    const char *lacks;   /* behind the name of a run */
    const char *instead; /* a whole sentence */
} known[] = {{"allocated", "does not tell what is allocated, only what is in memory, of",
              "Leave out --metric for what is in memory (rss)."},
             {"reserved", "has no reserved bytes for",
              "They are recorded for CUDA devices, by PyTorch 1.11 and later. Leave out --metric "
              "for what is allocated."},
             {"rss", "has no rss (what the process has in memory) for",
              "heaptrack, memray and process logs record it. Leave out --metric for what is "
              "allocated."}};

/* Where the rss of a trace's process was recorded; false: nowhere that is known. */
static bool hint_at_process(const struct mt_view *v, struct mt_err *err)
{
    struct mt_err failed = MT_ERR_INIT;
    struct mt_stmt *s;
    struct mt_buf name = {0};
    bool row = false;
    if (mt_db_query(v->db, MT_Q_PROCESSES_BESIDE, &s, &failed) != MT_OK)
        return false;
    mt_stmt_bind(s, "i", v->run.id);
    if (mt_stmt_step(s, &row, &failed) == MT_OK && row) {
        mt_shell_word(&name, mt_stmt_text(s, 0));
        mt_err_hint(err, "`memtool timeline %s` shows that of its process.", name.s);
    }
    mt_stmt_end(s);
    mt_buf_free(&name);
    return row;
}

enum mt_status mt_timeline_lacks(const struct mt_timeline *t, struct mt_err *err)
{
    const struct mt_view *v = t->view;
    bool rss = strcmp(t->metric, mt_metric_names[MT_METRIC_RSS]) == 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(known); i++)
        if (strcmp(t->metric, known[i].metric) == 0) {
            MT_FAIL(err, MT_EUSAGE, "run '%s' %s %s", v->run.name, known[i].lacks, v->device.name);
            if (mt_device_is_processes(&v->device))
                mt_err_hint(err, "Leave out --metric for what they have by shares (pss).");
            else if (!rss || !hint_at_process(v, err))
                mt_err_hint(err, "%s", known[i].instead);
            mt_err_cannot_tell(err);
            return MT_EUSAGE;
        }
    if (!mt_metric_is_bytes(t->metric)) {
        MT_FAIL(err, MT_EUSAGE, "--metric shows bytes, and %s is none", t->metric);
        mt_err_hint(err, "Threads and processor time stand below the curve of a process that "
                         "`memtool record` recorded, and are columns with --format csv.");
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "unknown --metric '%s'", t->metric);
    if (mt_device_is_process(&v->device))
        mt_err_hint(err, "`memtool memory` shows what run '%s' has.", v->run.name);
    else
        mt_err_hint(err, "Metrics: allocated, reserved, rss.");
    return MT_EUSAGE;
}

enum mt_status mt_timeline_unknown(const struct mt_timeline *t, struct mt_err *err)
{
    struct mt_buf name = {0};
    mt_shell_word(&name, t->view->run.name);
    MT_FAIL(err, MT_EUSAGE, "nobody counted %s%s in run '%s'", t->metric,
            t->window ? t->window : "", t->view->run.name);
    mt_err_hint(err, "`memtool info %s` says why.", name.s);
    mt_err_cannot_tell(err);
    mt_buf_free(&name);
    return MT_EUSAGE;
}
