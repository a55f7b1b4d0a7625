/* Processes of a run, for check. */
#include "lib/analysis/baseline_parts.h"

#include "gen/queries.h"
#include "lib/analysis/growth.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include "lib/usage/process.h"

/* Of all together what they share was looked at now and then: it was that much at least. */
static void measure_together(const struct mt_stmt *s, struct mt_baseline_device *to)
{
    to->v[MT_FIG_AT_PEAK_B] = mt_stmt_int_or(s, 3, MT_BASELINE_UNKNOWN);
    to->least[MT_FIG_AT_PEAK_B] = true;
    to->unknown[MT_FIG_AT_PEAK_B].why =
        "has samples of all processes together only, between which they may have had more";
}

/* ---- growth ---- */

static const char *why_none(const struct mt_growth_process *p, const struct mt_growth *g,
                            enum mt_growth_unit unit)
{
    if (p->part == MT_PART_NONE)
        return "has PyTorch's profiler in this process, whose memory grows; record without --torch";
    if (p->part == MT_PART_UNKNOWN)
        return "does not say what rss this process had";
    if (g->verdict == MT_GROWTH_SHORT)
        return "is too short to tell whether this process grows";
    if (unit == MT_PER_MINUTE)
        return "has no times";
    return p->part == MT_PART_BEHIND
               ? "has steps only while PyTorch's profiler was running; --max-rss-growth-per-minute "
                 "goes without"
               : "has no steps; --max-rss-growth-per-minute goes without";
}

static int64_t bounded(double bytes)
{
    return mt_baseline_whole(bytes < 0 ? floor(bytes) : ceil(bytes - 1e-9));
}

static void put(const struct mt_growth_process *p, const struct mt_growth *g, struct mt_baseline *b,
                struct mt_baseline_other *to)
{
    struct mt_buf words = {0};
    to->known = true;
    to->grows = g->verdict == MT_GROWTH_GROWS;
    to->v = bounded(g->rate);
    to->low = bounded(g->least);
    to->high = bounded(g->most);
    to->more = to->high > to->v ? to->high - to->v : 0;
    /* what is not seen to grow breaks no limit */
    to->less = to->grows ? to->v - to->low : to->v > 0 ? to->v : 0;
    mt_growth_words(p, g, &words);
    to->words = mt_baseline_text(b, words.s);
    mt_buf_free(&words);
}

/* Why it may be more than is seen. */
static const char *why_more(const struct mt_growth *g)
{
    if (g->hides)
        return "has lines of which some grow more than the lowest: of several processes that print "
               "alike, perhaps";
    return g->verdict == MT_GROWTH_GROWS
               ? "rises shortly before its end by more than this process grows"
               : "rises shortly before its end, so that nobody can tell whether this process grows";
}

static void put_growth(const struct mt_growth_process *p, enum mt_growth_unit unit,
                       struct mt_baseline *b, struct mt_baseline_other *to)
{
    struct mt_growth minute;
    const struct mt_growth *g = &p->growth;
    bool known = g->known && unit == g->unit;
    if (unit == MT_PER_MINUTE) {
        known = mt_growth_per_minute(g, p->wanted.timed, &minute);
        g = &minute;
    }
    to->young = p->young;
    known &= !(p->gaps & MT_GAPS_OF_PROCESSES);
    if (p->gaps & MT_GAPS_OF_PROCESSES)
        to->why = mt_gaps_text(p->gaps);
    else if (!known)
        to->why = why_none(p, &p->growth, unit);
    else if (g->rose && g->verdict != MT_GROWTH_GROWS)
        to->why = why_more(g);
    else
        put(p, g, b, to);
    to->least = known && (p->gaps || (g->rose && to->known));
    if (to->least)
        to->why = p->gaps ? mt_gaps_text(p->gaps) : why_more(g);
}

/* ---- the peak ---- */

/* What of the peak is perhaps the profiler's, or what that left: more than there was before it. */
static void doubt_profiler(const struct mt_levels *l, const struct mt_growth_process *p,
                           struct mt_baseline_device *to)
{
    const struct mt_window *life = &p->profiled.life;
    int64_t least_b = l->start_b;
    to->profiled = p->profiled.any;
    if (!p->profiled.any || to->v[MT_FIG_AT_PEAK_B] == MT_BASELINE_UNKNOWN)
        return;
    for (size_t i = 0; i < l->all.n; i++)
        if (l->all.v[i].t_ns < life->from_ns && l->all.v[i].level_b > least_b)
            least_b = l->all.v[i].level_b;
    if (least_b < to->v[MT_FIG_AT_PEAK_B])
        to->doubt[MT_FIG_AT_PEAK_B] = to->v[MT_FIG_AT_PEAK_B] - (least_b < 0 ? 0 : least_b);
}

static enum mt_status measure_bounds(struct mt_db *db, const struct mt_run *run,
                                     const struct mt_run_device *device, unsigned gaps,
                                     struct mt_baseline_device *to, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row, together = mt_device_is_processes(device);
    MT_TRY(mt_db_query(db, MT_Q_PROCESS_BOUNDS, &s, err));
    mt_stmt_bind(s, "in", run->id, together ? device->id : MT_UNKNOWN);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row && together)
        measure_together(s, to);
    else if (row) {
        int64_t unseen = mt_stmt_int_or(s, 0, 0), most = mt_stmt_int_or(s, 1, 0);
        if (strcmp(device->name, "process") == 0 && !to->profiled)
            to->proved_b = unseen;
        if (gaps == MT_GAP_WATCH && !mt_stmt_int(s, 2))
            to->most_b = unseen > most ? unseen : most;
    }
    mt_stmt_end(s);
    return MT_OK;
}

enum mt_status mt_baseline_measure_process(struct mt_db *db, const struct mt_run *run,
                                           const struct mt_run_device *device, unsigned gaps,
                                           const struct mt_steps *steps, struct mt_baseline *b,
                                           struct mt_baseline_device *to, struct mt_err *err)
{
    struct mt_growth_process p;
    struct mt_levels levels;
    if (!mt_device_is_process(device))
        return MT_OK;
    enum mt_status st = mt_growth_load(db, run, device, steps, b->warmup, &p, &levels, err);
    if (st == MT_OK) {
        doubt_profiler(&levels, &p, to);
        put_growth(&p, MT_PER_STEP, b, &to->other[mt_baseline_other(MT_FIG_RSS_PER_STEP_B)]);
        put_growth(&p, MT_PER_MINUTE, b, &to->other[mt_baseline_other(MT_FIG_RSS_PER_MINUTE_B)]);
    }
    mt_levels_free(&levels);
    MT_TRY(st);
    return measure_bounds(db, run, device, gaps, to, err);
}
