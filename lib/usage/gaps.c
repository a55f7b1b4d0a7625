#include "lib/usage/gaps.h"

#include "gen/queries.h"
#include <string.h>

/* Notes that speak of a gap, the widest first. */
static const struct {
    enum mt_gap gap;
    enum mt_note_kind note;
    const char *text;
} gaps_of[] = {
    {MT_GAP_HISTORY, MT_NOTE_STATE_ONLY, "has no history, only what was alive when it was dumped"},
    {MT_GAP_END, MT_NOTE_CUT, "was read from a file that ends early"},
    {MT_GAP_THREADS, MT_NOTE_CUT_THREADS, "lacks the records of its last threads"},
    {MT_GAP_THREADS, MT_NOTE_CUT_ORDER, "lacks records of any time"},
    {MT_GAP_YIELDED, MT_NOTE_YIELDED, "ends where the program started a profiler of its own"},
    {MT_GAP_DAMAGE, MT_NOTE_SKIPPED, "has damaged events, which were left out"},
    {MT_GAP_DAMAGE, MT_NOTE_BAD_SIZE, "has damaged events, which were left out"},
    {MT_GAP_UNREAD, MT_NOTE_UNREAD,
     "has lines whose rss could not be read; `memtool import --pattern` says what it is"},
    {MT_GAP_MIXED, MT_NOTE_PROCESSES, "was written by several processes, which are not told apart"},
    {MT_GAP_STATE, MT_NOTE_STEPS_UNMARKED,
     "does not mark the steps of its optimizer, whose state is not told from what else is kept"},
    {MT_GAP_PARAMETERS, MT_NOTE_NO_PARAMETERS,
     "has parameters that are not told from other memory"},
    {MT_GAP_GRADIENTS, MT_NOTE_NO_GRADIENTS, "has gradients that are not told from other memory"},
    {MT_GAP_LOADED, MT_NOTE_NO_STATE,
     "has an optimizer's state that is not told from other memory"},
    {MT_GAP_OWNERS, MT_NOTE_OWNERS,
     "was written by one process, or by several that are not told apart; `memtool import "
     "--processes` says which"},
    {MT_GAP_UNTRACED, MT_NOTE_UNTRACED, "lacks calls of its threads or processes"},
    {MT_GAP_REST, MT_NOTE_TRAILING, "was read from a file that continues past its end"},
    {MT_GAP_MEANING, MT_NOTE_VALUES,
     "was read from a file that does not say what its figures are; import it with --values"},
    {MT_GAP_NOTHING, MT_NOTE_NO_ALLOCATIONS,
     "has no allocations: the recorder was perhaps not loaded into the program"},
    {MT_GAP_BEGIN, MT_NOTE_HISTORY_CUT, "has lost the oldest events of its history"},
    {MT_GAP_OLDER, MT_NOTE_BEFORE, "leaves out what was allocated before its recording began"},
    {MT_GAP_OLDER, MT_NOTE_RAN_BEFORE, "leaves out what was allocated before its recording began"},
    {MT_GAP_KINDS, MT_NOTE_KINDS, "does not list all that is alive at its end"},
    {MT_GAP_PEAK, MT_NOTE_MOMENTS, "has moments only, between which more may have been alive"},
    {MT_GAP_PEAK, MT_NOTE_NO_PEAK, "has no moment that its recorder marked as the peak"},
    {MT_GAP_WATCH, MT_NOTE_PEAK_UNSEEN, "had more in memory, perhaps, than its recorder saw"},
    {MT_GAP_WATCH, MT_NOTE_PEAK_AT_MOST, "had more in memory, perhaps, than its recorder saw"},
    {MT_GAP_WATCH, MT_NOTE_UNWATCHED, "had more in memory, perhaps, than its recorder saw"},
    {MT_GAP_PEAK, MT_NOTE_DUMPS, "is made of dumps, between which more may have been alive"},
};
static const unsigned by_total = MT_GAP_MISSING | MT_GAP_ABOVE | MT_GAP_BELOW;

/* What a gap of MT_GAPS_OF_CATEGORIES is one in. */
static enum mt_category category_of(enum mt_gap gap)
{
    if (gap == MT_GAP_STATE || gap == MT_GAP_LOADED)
        return MT_CATEGORY_OPTIMIZER_STATE;
    return gap == MT_GAP_PARAMETERS ? MT_CATEGORY_PARAMETER : MT_CATEGORY_GRADIENT;
}

/* Whether a gap is one in what is said of the device. */
static bool concerns(const struct mt_run_device *device, enum mt_gap gap)
{
    if (gap & MT_GAPS_OF_CATEGORIES)
        return !mt_category_set_is_whole(device->only) &&
               mt_category_in(device->only, category_of(gap));
    return !(gap & MT_GAPS_ABOVE && mt_device_has_events(device));
}

enum mt_status mt_run_gaps(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, unsigned *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (device->missing_b ? MT_GAP_MISSING : 0u) | (device->above_b ? MT_GAP_ABOVE : 0u) |
           (device->below_b ? MT_GAP_BELOW : 0u);
    MT_TRY(mt_db_query(db, MT_Q_RUN_NOTE_KINDS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        for (size_t i = 0; i < MT_ARRAY_LEN(gaps_of); i++)
            if (concerns(device, gaps_of[i].gap) &&
                strcmp(mt_stmt_text(s, 0), mt_note_names[gaps_of[i].note]) == 0)
                *out |= gaps_of[i].gap;
    }
}

const char *mt_gaps_text(unsigned gaps)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(gaps_of); i++)
        if (gaps & gaps_of[i].gap)
            return gaps_of[i].text;
    return gaps & by_total ? "lacks records, as the recorder's own total shows" : "";
}

enum mt_status mt_run_known_until(struct mt_db *db, const struct mt_run *run, unsigned gaps,
                                  int64_t *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = INT64_MAX;
    if (!(gaps & MT_GAP_END))
        return MT_OK;
    if (run->kind == MT_RUN_PROCESS) {
        *out = run->dur_ns;
        return MT_OK;
    }
    MT_TRY(mt_db_query(db, MT_Q_RUN_LAST_RECORD, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    *out = row ? mt_stmt_int_or(s, 0, INT64_MAX) : INT64_MAX;
    mt_stmt_end(s);
    return MT_OK;
}
