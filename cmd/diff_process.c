/* memtool diff of two processes: peaks, and whether they grow. Who allocated what nobody knows. */
#include "cmd/common.h"
#include "cmd/diff_parts.h"
#include "cmd/leaks.h"
#include "lib/analysis/growth.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/usage/process.h"

struct grown {
    struct mt_growth_process p;
    struct mt_growth_causes causes;
    struct mt_growth by; /* the same unit as the other's, if there is one */
};

bool mt_diff_of_processes(const struct mt_diff *d)
{
    bool are = true;
    for (int s = 0; s < 2; s++)
        are &=
            mt_device_is_process(&d->side[s].device) && !mt_device_is_processes(&d->side[s].device);
    return are;
}

/* Where only one has steps, both by the minute. */
static void by_same_unit(struct grown g[2])
{
    struct mt_growth minute[2];
    if (g[0].by.unit == g[1].by.unit)
        return;
    for (int s = 0; s < 2; s++)
        if (!mt_growth_per_minute(&g[s].p.growth, g[s].p.wanted.timed, &minute[s]))
            return;
    for (int s = 0; s < 2; s++)
        g[s].by = minute[s];
}

static enum mt_status load(const struct mt_diff *d, int64_t warmup, struct grown out[2],
                           struct mt_err *err)
{
    for (int s = 0; s < 2; s++) {
        const struct mt_diff_side *from = &d->side[s];
        MT_TRY(mt_growth_load(from->db, &from->run, &from->device, &from->lives->steps, warmup,
                              &out[s].p, NULL, err));
        MT_TRY(mt_growth_causes_load(from->db, &from->run, &from->device, &out[s].p, &out[s].causes,
                                     err));
        out[s].by = out[s].p.growth;
    }
    by_same_unit(out);
    return MT_OK;
}

/* ---- for programs ---- */

/* In the order of mt_leaks_rates. */
static const char *const rates[] = {"growth_per_step", "growth_per_minute", "growth_per_event",
                                    "growth_least",    "growth_most",       "growth_in_all"};
enum { RATES = MT_ARRAY_LEN(rates), LEAST = 3, SIDES = 3 }; /* BASE, NEW and their difference */

void mt_diff_growth_columns(struct mt_report *r)
{
    mt_report_column(r, "base_growth", "BASE GROWTH", MT_UNIT_NONE);
    mt_report_column(r, "new_growth", "NEW GROWTH", MT_UNIT_NONE);
    for (size_t i = 0; i < RATES; i++) {
        mt_report_column(r, mt_report_textf(r, "base_%s_b", rates[i]), NULL, MT_UNIT_CHANGE);
        mt_report_column(r, mt_report_textf(r, "new_%s_b", rates[i]), NULL, MT_UNIT_CHANGE);
        mt_report_column(r, mt_report_textf(r, "%s_delta_b", rates[i]), NULL, MT_UNIT_CHANGE);
    }
}

enum mt_status mt_diff_growth_cells(const struct mt_diff *d, int64_t warmup, struct mt_report *r,
                                    struct mt_cell *cells, struct mt_err *err)
{
    struct grown g[2];
    struct mt_cell rate[2][RATES] = {{{0}}};
    int first = mt_report_find_column(r, "base_growth");
    MT_TRY(load(d, warmup, g, err));
    for (int s = 0; s < 2; s++) {
        const char *cause = mt_growth_cause_names[g[s].causes.most];
        const struct mt_growth *found = &g[s].p.growth;
        cells[first + s] = mt_cell_text(cause ? cause : mt_growth_names[found->verdict]);
        if (found->known)
            mt_leaks_rates(rate[s], found, g[s].p.wanted.timed);
    }
    cells += first + 2;
    for (size_t i = 0; i < RATES; i++, cells += SIDES) {
        cells[0] = rate[0][i];
        cells[1] = rate[1][i];
        bool same = i < LEAST || g[0].p.growth.unit == g[1].p.growth.unit;
        if (same && cells[0].kind == MT_CELL_INT && cells[1].kind == MT_CELL_INT)
            cells[2] = mt_cell_int(mt_wrap_sub(cells[1].i, cells[0].i));
    }
    return MT_OK;
}

/* ---- for people ---- */

static const char *words_of(struct mt_report *r, const struct grown *g)
{
    static const char *const causes[MT_CAUSE_N] = {[MT_CAUSE_IN_USE] = ": malloc in use",
                                                   [MT_CAUSE_HELD] = ": held by the allocator",
                                                   [MT_CAUSE_OUTSIDE] = ": outside malloc"};
    struct mt_buf words = {0};
    mt_growth_words(&g->p, &g->by, &words);
    const char *cause = causes[g->causes.most];
    const char *text = mt_report_textf(r, "%s%s", words.s, cause ? cause : "");
    mt_buf_free(&words);
    return text;
}

static const char *peak_of(struct mt_report *r, const struct mt_run_device *device)
{
    char text[MT_HUMAN_MAX];
    return device->peak_b == MT_UNKNOWN ? "unknown"
                                        : mt_report_text(r, mt_human_bytes(device->peak_b, text));
}

enum mt_status mt_diff_people_processes(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                        struct mt_diff_reports *out, struct mt_err *err)
{
    struct grown g[2];
    MT_TRY(load(d, w->warmup, g, err));
    struct mt_report *r = mt_diff_new_report(d, w, out);
    r->title = mt_strdup("what the processes had in memory");
    r->keep_order = true;
    mt_report_column(r, "run", NULL, MT_UNIT_NONE);
    mt_report_column(r, "peak_rss", "PEAK RSS", MT_UNIT_NONE);
    mt_report_column(r, "growth", "GROWTH", MT_UNIT_WORDS);
    for (int s = 0; s < 2; s++) {
        struct mt_row *row = mt_report_row(r);
        row->cells[0] = mt_cell_text(mt_report_text(r, d->side[s].run.name));
        row->cells[1] = mt_cell_text(peak_of(r, &d->side[s].device));
        row->cells[2] = mt_cell_text(words_of(r, &g[s]));
    }
    if (g[0].by.known && g[1].by.known && g[0].by.unit != g[1].by.unit)
        mt_report_note(r, "One of the runs has steps that the other has not: their rates do not "
                          "compare.");
    return MT_OK;
}

/* ---- the answer ---- */

/* Grown by more than the one before, for sure; OPEN: perhaps, as that is not known. */
static enum mt_diff_answer judge(const struct grown g[2], const struct mt_diff_threshold *t)
{
    const struct mt_growth *was = &g[0].by, *is = &g[1].by;
    if (is->verdict != MT_GROWTH_GROWS)
        return MT_DIFF_NOT_WORSE;
    if (!was->known || was->verdict == MT_GROWTH_UNKNOWN || was->unit != is->unit)
        return MT_DIFF_OPEN;
    double most = was->most > 0 ? was->most : 0;
    return mt_diff_worse(most, is->least, t) ? MT_DIFF_WORSE : MT_DIFF_NOT_WORSE;
}

enum mt_status mt_diff_tell_processes(const struct mt_diff *d, const struct mt_diff_threshold *t,
                                      int64_t warmup, struct mt_report *r,
                                      enum mt_diff_answer *answer, struct mt_err *err)
{
    struct grown g[2];
    MT_TRY(load(d, warmup, g, err));
    enum mt_diff_answer growth = judge(g, t);
    if (growth == MT_DIFF_WORSE)
        mt_report_note(r, "The growth of rss got worse: %s %s.", d->side[1].run.name,
                       words_of(r, &g[1]));
    else if (growth == MT_DIFF_OPEN)
        mt_report_note(r, "%s grows, and whether %s does nobody can tell.", d->side[1].run.name,
                       d->side[0].run.name);
    *answer = mt_diff_worst(*answer, growth);
    return MT_OK;
}
