/* Growth of a process of a run in the database. */
#include "lib/analysis/growth.h"

#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <math.h>
#include <string.h>

/* What lets something happen unseen, later or in another process; a peak that nobody saw is none.
 */
static enum mt_status find_gaps(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, unsigned *gaps,
                                int64_t *until_ns, struct mt_err *err)
{
    MT_TRY(mt_run_gaps(db, run, device, gaps, err));
    MT_TRY(mt_run_known_until(db, run, *gaps, until_ns, err));
    if (!mt_run_notes_get(&run->notes, MT_NOTE_UNWATCHED))
        *gaps &= ~(unsigned)MT_GAP_WATCH;
    *gaps &= MT_GAPS_INSIDE | MT_GAP_WATCH | MT_GAP_MEANING;
    return MT_OK;
}

static bool is_first(const struct mt_run_device *device)
{
    char name[32];
    mt_device_name(MT_DEVICE_PROCESS, -1, name);
    return strcmp(device->name, name) == 0;
}

/* When it was looked at. The command, and what a log is about, was there from the begin to the end
 * of the run; others from their first change on. Where they ended is not known, and their last
 * level holds on: they do not grow any more. Levels have the numbers of the looks. */
static void find_looks(const struct mt_run *run, const struct mt_run_device *device,
                       const struct mt_levels *l, int64_t until_ns, struct mt_growth_wanted *out)
{
    const struct mt_level *first = l->all.v, *last = l->all.n ? first + l->all.n - 1 : first;
    bool whole = is_first(device);
    out->first_ns = whole || !l->all.n ? 0 : first->t_ns;
    out->last_ns = run->dur_ns < until_ns ? run->dur_ns : until_ns;
    if (l->all.n && last->record > first->record)
        out->look_ns = (double)(last->t_ns - first->t_ns) / (double)(last->record - first->record);
    if (whole && run->record_n > 0)
        out->look_ns = out->look_ns > 0 ? fmin(out->look_ns, (double)run->dur_ns)
                                        : (double)run->dur_ns / (double)run->record_n;
}

enum mt_status mt_growth_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const struct mt_steps *steps,
                              int64_t warmup, struct mt_growth_process *out,
                              struct mt_levels *levels, struct mt_err *err)
{
    struct mt_levels own = {0}, *l = levels ? levels : &own;
    int64_t until_ns;
    *out = (struct mt_growth_process){.wanted = {.steps = steps, .warmup = warmup}};
    *l = (struct mt_levels){0};
    out->wanted.timed = strcmp(run->time_unit, "ns") == 0;
    MT_TRY(find_gaps(db, run, device, &out->gaps, &until_ns, err));
    if (mt_device_knows(device, MT_KNOWS_LEVEL)) {
        MT_TRY(mt_levels_load(db, run, device, l, err));
        find_looks(run, device, l, until_ns, &out->wanted);
    }
    mt_growth_find(l, &out->wanted, &out->growth);
    out->young = out->wanted.first_ns > run->dur_ns / 2 || (l->all.n < 2 && !is_first(device));
    mt_levels_free(&own);
    return MT_OK;
}
