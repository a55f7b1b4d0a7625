/* Growth of a process of a run in the database. */
#include "lib/analysis/growth.h"

#include "gen/queries.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include "lib/usage/process.h"
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

/* Whether the levels have the first look at it and the last: not in runs of earlier versions, nor
 * of a recorder that was killed. */
static bool has_looks(const struct mt_run *run, const struct mt_levels *l)
{
    return l->all.n && !l->all.v[0].record && !mt_run_notes_get(&run->notes, MT_NOTE_CUT);
}

/* When it was looked at. The command, and what a log is about, was there from the begin to the end
 * of the run; others from their first look on. Where they ended is not known, and their last level
 * holds on: they do not grow any more. Levels have the numbers of the looks. */
static void find_looks(const struct mt_run *run, const struct mt_run_device *device,
                       const struct mt_levels *l, int64_t until_ns, struct mt_growth_wanted *out)
{
    const struct mt_level *first = l->all.v, *last = l->all.n ? first + l->all.n - 1 : first;
    bool whole = is_first(device);
    out->first_ns = whole || !l->all.n ? 0 : first->t_ns;
    out->last_ns = run->dur_ns < until_ns ? run->dur_ns : until_ns;
    if (l->all.n && last->record > first->record)
        out->look_ns = (double)(last->t_ns - first->t_ns) / (double)(last->record - first->record);
    out->seen_ns = has_looks(run, l) ? last->t_ns : 0;
    if (whole && run->record_n > 0)
        out->look_ns = out->look_ns > 0 ? fmin(out->look_ns, (double)run->dur_ns)
                                        : (double)run->dur_ns / (double)run->record_n;
}

/* Whether lines of a printed log may be of several processes that print alike, such as ranks: not
 * where each step has one, in their order, nor where the import was told that it is one process. */
static enum mt_status find_alike(struct mt_db *db, const struct mt_run *run,
                                 const struct mt_run_device *device, const struct mt_steps *steps,
                                 bool *alike, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    const bool several = (size_t)run->record_n >= steps->all.n + steps->all.n / 2;
    *alike = is_first(device) && strcmp(run->format, "memory-text") == 0 &&
             (several || mt_run_notes_get(&run->notes, MT_NOTE_STEPS_NUMBER));
    if (!*alike)
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_RUN_IMPORT, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    *alike = row && !strstr(mt_stmt_text(s, 0), " processes one");
    mt_stmt_end(s);
    return MT_OK;
}

/* ---- behind PyTorch's profiler ---- */

static const struct mt_steps no_steps;

/* What the profiler freed is used again before the process grows, as far as that is not given back:
 * in use is what was there before it, at least. */
static void doubt_rest(const struct mt_levels *l, struct mt_growth_process *p)
{
    struct mt_growth *g = &p->growth;
    int64_t first = mt_levels_at(l, g->from_ns), last = mt_levels_before(l, g->to_ns);
    int64_t before_b = mt_levels_value(l, mt_levels_at(l, p->profiled.life.from_ns));
    int64_t top_b = mt_levels_value(l, mt_levels_peak(l, first, last));
    if (!g->known || g->verdict == MT_GROWTH_GROWS)
        return;
    g->most = fmax(g->most, (double)(top_b - before_b) / g->units);
    p->refills = !mt_growth_is_flat((double)(top_b - before_b), top_b);
    if (p->refills)
        g->verdict = MT_GROWTH_UNKNOWN;
}

/* By what is left when the profiler is gone. What was before it says nothing: programs begin, and
 * load what they need. Steps that are all of the profiler's time are none. */
static void judge_behind(const struct mt_levels *l, struct mt_growth_process *p)
{
    const struct mt_steps *steps = p->wanted.steps;
    const struct mt_window *life = &p->profiled.life, *there = &p->there;
    bool any = false;
    p->part = MT_PART_NONE;
    p->wanted.first_ns = life->to_ns > there->from_ns ? life->to_ns : there->from_ns;
    if (p->wanted.first_ns >= there->to_ns)
        p->wanted.first_ns = there->to_ns;
    for (size_t i = 0; i < steps->all.n; i++)
        any |= steps->all.v[i].start_ns >= p->wanted.first_ns;
    p->wanted.steps = any ? steps : &no_steps;
    mt_growth_find(l, &p->wanted, &p->growth);
    if (p->growth.verdict == MT_GROWTH_SHORT) {
        p->growth.verdict = MT_GROWTH_UNKNOWN;
        return;
    }
    p->part = MT_PART_BEHIND;
    doubt_rest(l, p);
}

/* Steps of a trace of another process may be too few, as they end with its profiler. */
static void judge_whole(const struct mt_levels *l, struct mt_growth_process *p)
{
    mt_growth_find(l, &p->wanted, &p->growth);
    if (p->growth.verdict != MT_GROWTH_SHORT || !p->profiled.other || !p->wanted.steps->all.n)
        return;
    p->wanted.steps = &no_steps;
    mt_growth_find(l, &p->wanted, &p->growth);
}

/* ---- programs that begin ---- */

/* A program that imports libraries grows for as long as that takes: by their pages, and by what
 * they allocate beside these and behind. What maps files and nothing else grows by them. */
static bool is_loading(const struct mt_levels *l, const struct mt_levels *file,
                       const struct mt_growth *g)
{
    enum { SHARE = 20 };
    const struct mt_levels *const of[] = {l, file};
    double more[2];
    for (int i = 0; i < 2; i++)
        more[i] = (double)mt_levels_value(of[i], mt_levels_at(of[i], g->to_ns)) -
                  (double)mt_levels_value(of[i], mt_levels_at(of[i], g->from_ns));
    return !mt_growth_is_flat(more[1], 0) && more[1] > more[0] / SHARE && more[1] < more[0] / 2;
}

/* By time alone, what has just begun and still loads is not known to grow. */
static enum mt_status doubt_begin(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, const struct mt_levels *l,
                                  struct mt_growth_process *p, struct mt_err *err)
{
    static const int64_t begins_ns = 60 * (int64_t)1000000000;
    struct mt_growth *g = &p->growth;
    struct mt_levels file;
    if (g->verdict != MT_GROWTH_GROWS || g->unit != MT_PER_MINUTE ||
        g->to_ns - p->wanted.first_ns > begins_ns ||
        mt_run_notes_get(&run->notes, MT_NOTE_ATTACHED))
        return MT_OK;
    const char *metric = mt_metric_names[MT_METRIC_FILE];
    enum mt_status st = mt_samples_load(db, run, device, metric, &file, err);
    p->loads = st == MT_OK && file.all.n && is_loading(l, &file, g);
    if (p->loads)
        g->verdict = MT_GROWTH_UNKNOWN;
    mt_levels_free(&file);
    return st;
}

/* ---- all of it ---- */

/* Whether a process was there for less than half of the run, or looked at once. */
static enum mt_status is_young(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, const struct mt_levels *l,
                               bool *young, struct mt_err *err)
{
    int64_t end_ns, from_ns = l->all.n ? l->all.v[0].t_ns : 0;
    *young = false;
    if (is_first(device))
        return MT_OK;
    MT_TRY(mt_process_end(db, run, device, &end_ns, err));
    end_ns = end_ns < run->dur_ns ? end_ns : run->dur_ns;
    if (has_looks(run, l) && l->all.v[l->all.n - 1].t_ns < end_ns)
        end_ns = l->all.v[l->all.n - 1].t_ns;
    *young = l->all.n < 2 || end_ns - from_ns < run->dur_ns / 2;
    return MT_OK;
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
    MT_TRY(find_alike(db, run, device, steps, &out->wanted.alike, err));
    MT_TRY(find_gaps(db, run, device, &out->gaps, &until_ns, err));
    if (mt_device_knows(device, MT_KNOWS_LEVEL)) {
        MT_TRY(mt_levels_load_looks(db, run, device, l, err));
        find_looks(run, device, l, until_ns, &out->wanted);
    }
    out->there = (struct mt_window){out->wanted.first_ns, out->wanted.last_ns};
    MT_TRY(mt_profiled_load(db, run, device, &out->profiled, err));
    if (!mt_device_knows(device, MT_KNOWS_LEVEL) && run->record_n > 0)
        *out = (struct mt_growth_process){.growth.verdict = MT_GROWTH_UNKNOWN,
                                          .wanted = out->wanted,
                                          .part = MT_PART_UNKNOWN,
                                          .gaps = out->gaps};
    else if (out->profiled.any)
        judge_behind(l, out);
    else
        judge_whole(l, out);
    MT_TRY(doubt_begin(db, run, device, l, out, err));
    if (out->gaps & MT_GAPS_OF_PROCESSES && out->growth.verdict == MT_GROWTH_GROWS)
        out->growth.verdict = MT_GROWTH_UNKNOWN;
    MT_TRY(is_young(db, run, device, l, &out->young, err));
    mt_levels_free(&own);
    return MT_OK;
}
