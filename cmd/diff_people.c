/* memtool diff for people: a report of each section. */
#include "cmd/common.h"
#include "cmd/diff_parts.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/render/columns.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of blocks or calls, also a mean one. */
static const char *count_text(struct mt_report *r, const struct mt_cell *c)
{
    char text[MT_HUMAN_MAX];
    return mt_report_text(r, c->kind == MT_CELL_INT ? mt_human_count(c->i, text)
                                                    : mt_human_number(c->r, text));
}

static const char *signed_bytes(struct mt_report *r, int64_t bytes)
{
    char text[MT_HUMAN_MAX];
    return mt_report_textf(r, "%s%s", bytes > 0 ? "+" : "", mt_human_bytes(bytes, text));
}

/* ", +97.8 %", ", +0.03 %", ", -1,204 %"; nothing of nothing, and where it is next to nothing. */
static const char *relative_text(struct mt_report *r, int64_t from, int64_t change)
{
    char text[MT_HUMAN_MAX];
    double percent = from ? 100.0 * (double)change / fabs((double)from) : 0;
    int decimals = mt_percent_decimals(percent);
    if (decimals < 0)
        return "";
    return mt_report_textf(r, ", %s%s %%", change > 0 ? "+" : "",
                           mt_human_decimal(percent, decimals, text));
}

/* compares: the two count the same. */
static const char *change_text(struct mt_report *r, int64_t from, int64_t to, bool compares)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    int64_t change = mt_wrap_sub(to, from);
    if (!compares)
        return mt_report_textf(r, "%s -> %s (these do not compare)", mt_human_bytes(from, a),
                               mt_human_bytes(to, b));
    if (from == to)
        return mt_report_textf(r, "%s", mt_human_bytes(from, a));
    return mt_report_textf(r, "%s -> %s (%s%s)", mt_human_bytes(from, a), mt_human_bytes(to, b),
                           signed_bytes(r, change), relative_text(r, from, change));
}

/* The same of a figure, which may be unknown; NULL: in both. */
static const char *figure_text(struct mt_report *r, const struct mt_figures at[2],
                               enum mt_figure which, bool compares)
{
    char text[MT_HUMAN_MAX];
    const struct mt_cell a = mt_diff_cell(&at[0], which), b = mt_diff_cell(&at[1], which);
    if (a.kind == MT_CELL_INT && b.kind == MT_CELL_INT)
        return change_text(r, a.i, b.i, compares);
    if (a.kind == MT_CELL_INT)
        return mt_report_textf(r, "%s -> unknown", mt_human_bytes(a.i, text));
    return b.kind == MT_CELL_INT ? mt_report_textf(r, "unknown -> %s", mt_human_bytes(b.i, text))
                                 : NULL;
}

/* A rank may have moved to another device; processes are others in every run. */
static const char *devices_text(const struct mt_diff *d, struct mt_report *r)
{
    const char *a = d->side[0].device.shown, *b = d->side[1].device.shown;
    return strcmp(a, b) == 0 || mt_diff_of_processes(d) ? a : mt_report_textf(r, "%s -> %s", a, b);
}

void mt_diff_people_total(const struct mt_diff *d, const struct mt_diff_wanted *w,
                          struct mt_diff_reports *out)
{
    struct mt_report *r = mt_diff_new_report(d, w, out);
    const struct mt_figures at[2] = {d->side[0].whole, d->side[1].whole};
    bool levels = mt_diff_counting_side(d) < 0;
    const char *alloc = figure_text(r, at, MT_FIG_ALLOC_B, true);
    const char *end = figure_text(r, at, MT_FIG_AT_END_B, levels);
    const char *peak = figure_text(r, at, MT_FIG_AT_PEAK_B, levels);
    char a[MT_HUMAN_LONG], b[MT_HUMAN_LONG];
    r->title = mt_asprintf("%s -> %s · %s · peak %s%s", d->side[0].run.name, d->side[1].run.name,
                           devices_text(d, r), mt_diff_of_processes(d) ? "rss " : "",
                           peak ? peak : "unknown");
    struct mt_buf line = {0};
    mt_category_line_of_two(&line, w->parts);
    r->figure = mt_category_figure(&line);
    r->empty = mt_report_textf(r, "allocated%s %s%s%s", w->per_step ? " per step" : "",
                               alloc ? alloc : "unknown", end ? ", alive at the end " : "",
                               end ? end : "");
    if (mt_diff_of_processes(d))
        r->empty = "";
    if (!((at[0].unknown | at[1].unknown) &
          MT_UNKNOWN_TIME)) /* not a result: profilers slow down */
        mt_report_footer(r, "the recordings last %s and %s%s",
                         mt_human_time(d->side[0].run.time_unit, at[0].v[MT_FIG_TIME_NS].i, a),
                         mt_human_time(d->side[1].run.time_unit, at[1].v[MT_FIG_TIME_NS].i, b),
                         w->per_step ? " per step" : "");
}

/* What people see of a section: its bytes, and how often or of how many blocks. */
static const struct {
    enum mt_figure bytes, count;
} shown_of[MT_SECTION_N] = {[MT_SECTION_PEAK] = {MT_FIG_AT_PEAK_B, MT_FIG_AT_PEAK_N},
                            [MT_SECTION_END] = {MT_FIG_AT_END_B, MT_FIG_N},
                            [MT_SECTION_OP] = {MT_FIG_SELF_ALLOC_B, MT_FIG_CALLS_N},
                            [MT_SECTION_LEAK] = {MT_FIG_PER_STEP_B, MT_FIG_PER_STEP_N}};

static void people_columns(const struct mt_diff *d, struct mt_report *r,
                           enum mt_diff_section section)
{
    mt_report_columns(r, section == MT_SECTION_OP ? "change_b base_b new_b inclusive_b count=CALLS"
                         : section == MT_SECTION_END ? "change_b base_b new_b"
                                                     : "change_b base_b new_b count=BLOCKS");
    r->columns.v[0].title = mt_figure_defs[shown_of[section].bytes].title;
    for (int k = 0; k < d->key_n; k++) {
        mt_report_column(r, mt_group_key_name(d->keys[k]), NULL, MT_UNIT_NONE);
        if (d->keys[k] == MT_BY_NAME)
            r->columns.v[r->columns.n - 1].text = MT_TEXT_OPS;
    }
    mt_report_columns(r, "note");
    r->keep_order = true;
}

/* In which run a site grows as a candidate that leaks in the other; -1: in none. */
static int candidate_side(const struct mt_diff_row *row)
{
    for (int s = 0; s < 2; s++)
        if (row->at[s].v[MT_FIG_PER_STEP_B].r == 0 && row->at[s].v[MT_FIG_SUSPECT_PER_STEP_B].r > 0)
            return s;
    return -1;
}

static const char *leak_remark(struct mt_report *r, const struct mt_diff_row *row)
{
    double a = row->at[0].v[MT_FIG_PER_STEP_B].r, b = row->at[1].v[MT_FIG_PER_STEP_B].r;
    int side = candidate_side(row);
    double other = side < 0 ? 0 : row->at[side].v[MT_FIG_SUSPECT_PER_STEP_B].r;
    char text[MT_HUMAN_MAX];
    if (side >= 0)
        return mt_report_textf(
            r, side == 0 ? "candidate (%s a step) -> leak" : "leak -> candidate (%s a step)",
            mt_human_bytes((int64_t)(other + 0.5), text));
    return a == 0 ? "new leak" : b == 0 ? "fixed" : a == b ? "as before" : "changed";
}

/* What a side's run is called in a row: its name without the folders that both names begin with. */
static const char *row_name(const struct mt_diff *d, int side)
{
    const char *name = d->side[side].run.name, *other = d->side[!side].run.name;
    size_t from = 0;
    for (size_t i = 0; name[i] && name[i] == other[i]; i++)
        if (name[i] == '/' && name[i + 1] && other[i + 1])
            from = i + 1;
    return name + from;
}

/* Why a figure of one side is not known. */
static const char *remark_unknown(const struct mt_diff *d, struct mt_report *r, int side,
                                  enum mt_diff_section section)
{
    const struct mt_diff_side *s = &d->side[side], *other = &d->side[!side];
    unsigned large = section == MT_SECTION_PEAK  ? MT_LARGE_AT_PEAK
                     : section == MT_SECTION_END ? MT_LARGE_AT_END
                                                 : 0;
    if (s->device.knows & large)
        return mt_report_textf(r, "not listed in %s", row_name(d, side));
    if (other->device.knows & large)
        return mt_report_textf(r, "what %s does not list", row_name(d, !side));
    return section == MT_SECTION_PEAK && mt_diff_peak_sites_known(s)
               ? mt_report_textf(r, "all of %s's peak", row_name(d, !side))
               : mt_report_textf(r, "unknown for %s", row_name(d, side));
}

static const char *remark(const struct mt_diff *d, struct mt_report *r,
                          const struct mt_diff_row *row, enum mt_diff_section section)
{
    const struct mt_figures *a = &row->at[0], *b = &row->at[1];
    for (int s = 0; s < 2; s++)
        if (mt_diff_cell(&row->at[s], shown_of[section].bytes).kind == MT_CELL_NULL)
            return remark_unknown(d, r, s, section);
    if (section == MT_SECTION_LEAK)
        return leak_remark(r, row);
    bool in_base = row->in[0], in_new = row->in[1];
    if (section == MT_SECTION_PEAK) {
        in_base = a->v[MT_FIG_AT_PEAK_B].i != 0;
        in_new = b->v[MT_FIG_AT_PEAK_B].i != 0;
    }
    if (section == MT_SECTION_END) {
        in_base = a->v[MT_FIG_AT_END_B].i != 0;
        in_new = b->v[MT_FIG_AT_END_B].i != 0;
    }
    /* Of as many steps, and run again in backward: other calls more are no price. */
    bool lower = d->side[1].whole.v[MT_FIG_AT_PEAK_B].i < d->side[0].whole.v[MT_FIG_AT_PEAK_B].i &&
                 d->side[0].step_n == d->side[1].step_n;
    if (section == MT_SECTION_OP && lower &&
        b->v[MT_FIG_RECOMPUTED_N].i > a->v[MT_FIG_RECOMPUTED_N].i)
        return "more calls, lower peak (recomputed in backward)";
    if (in_base == in_new) /* neither: blocks of 0 bytes */
        return "";
    const char *only = row_name(d, in_base ? 0 : 1);
    if (section == MT_SECTION_END)
        return mt_report_textf(r, "alive only in %s", only);
    return mt_report_textf(r, "only in %s%s", only, section == MT_SECTION_PEAK ? "'s peak" : "");
}

/* "7 -> 8" blocks or calls. */
static struct mt_cell count_cell(struct mt_report *r, const struct mt_diff_row *from,
                                 enum mt_diff_section section)
{
    if (shown_of[section].count == MT_FIG_N)
        return (struct mt_cell){0};
    if (section == MT_SECTION_LEAK && candidate_side(from) >= 0)
        return (struct mt_cell){0};
    const struct mt_cell a = mt_diff_cell(&from->at[0], shown_of[section].count),
                         b = mt_diff_cell(&from->at[1], shown_of[section].count);
    if (a.kind == MT_CELL_NULL || b.kind == MT_CELL_NULL)
        return (struct mt_cell){0};
    const char *was = count_text(r, &a), *is = count_text(r, &b);
    return mt_cell_text(strcmp(was, is) == 0 ? is : mt_report_textf(r, "%s -> %s", was, is));
}

void mt_diff_short_column(struct mt_report *r, enum mt_diff_short which, unsigned sections)
{
    mt_report_columns(r, mt_diff_short_names[which]);
    for (int s = MT_SECTION_PEAK; s < MT_SECTION_N; s++) {
        struct mt_column *c = &r->columns.v[r->columns.n - 1];
        if (sections != 1u << s)
            continue;
        if (which == MT_DIFF_CHANGE)
            c->title = mt_figure_defs[shown_of[s].bytes].title;
        else if (which == MT_DIFF_COUNT)
            c->title = s == MT_SECTION_OP ? "CALLS" : "BLOCKS";
    }
}

const char *const mt_diff_short_names[MT_DIFF_SHORT_N] = {
    [MT_DIFF_CHANGE] = "change_b",       [MT_DIFF_BASE] = "base_b", [MT_DIFF_NEW] = "new_b",
    [MT_DIFF_INCLUSIVE] = "inclusive_b", [MT_DIFF_COUNT] = "count", [MT_DIFF_NOTE] = "note"};

static void short_cells(const struct mt_diff *d, struct mt_report *r, const struct mt_diff_row *row,
                        enum mt_diff_section section, struct mt_cell out[MT_DIFF_SHORT_N])
{
    struct mt_cell c[3];
    memset(out, 0, MT_DIFF_SHORT_N * sizeof *out);
    if (section == MT_SECTION_TOTAL)
        return;
    mt_diff_cells(row->at, shown_of[section].bytes, c);
    if (section == MT_SECTION_LEAK &&
        candidate_side(row) >= 0) /* a leak of how much, if it is one? */
        c[candidate_side(row)] = c[2] = (struct mt_cell){0};
    out[MT_DIFF_BASE] = c[0];
    out[MT_DIFF_NEW] = c[1];
    out[MT_DIFF_CHANGE] = c[2];
    if (section == MT_SECTION_OP) {
        mt_diff_cells(row->at, MT_FIG_ALLOC_B, c);
        out[MT_DIFF_INCLUSIVE] = c[2];
    }
    out[MT_DIFF_COUNT] = count_cell(r, row, section);
    out[MT_DIFF_NOTE] = mt_cell_text(mt_report_text(r, remark(d, r, row, section)));
}

void mt_diff_short_cells(const struct mt_diff *d, struct mt_report *r,
                         const struct mt_diff_row *from, enum mt_diff_section section,
                         struct mt_row *row)
{
    struct mt_cell c[MT_DIFF_SHORT_N];
    short_cells(d, r, from, section, c);
    for (int i = 0; i < MT_DIFF_SHORT_N; i++) {
        int at = mt_report_find_column(r, mt_diff_short_names[i]);
        if (at >= 0)
            row->cells[at] = c[i];
    }
}

static void people_row(const struct mt_diff *d, struct mt_report *r, const struct mt_diff_row *from,
                       enum mt_diff_section section)
{
    struct mt_row *row = mt_report_row(r);
    row->explicit_row = from->explicit_row;
    mt_diff_short_cells(d, r, from, section, row);
    for (int k = 0; k < d->key_n; k++)
        row->cells[mt_report_find_column(r, mt_group_key_name(d->keys[k]))] =
            mt_cell_text(mt_report_text(r, from->key[k]));
}

static bool may_leak(const struct mt_diff *d)
{
    return d->side[0].whole.v[MT_FIG_SUSPECT_PER_STEP_B].r > 0 ||
           d->side[1].whole.v[MT_FIG_SUSPECT_PER_STEP_B].r > 0;
}

/* Why there is no row: nothing changed, or nobody can tell. */
static const char *no_rows(const struct mt_diff *d, enum mt_diff_section section,
                           struct mt_report *r)
{
    for (int i = 0; i < 2; i++) {
        const struct mt_diff_side *s = &d->side[i];
        bool events = mt_device_has_events(&s->device);
        bool lives = !events || mt_allocations_are_known(&s->device);
        const unsigned needs[MT_SECTION_N] = {[MT_SECTION_OP] = MT_KNOWS_ALLOC,
                                              [MT_SECTION_PEAK] = MT_KNOWS_AT_PEAK,
                                              [MT_SECTION_END] = MT_KNOWS_AT_END,
                                              [MT_SECTION_LEAK] = MT_KNOWS_STEPS};
        if (!events && !mt_device_knows(&s->device, needs[section]))
            return mt_report_textf(r, "unknown: %s %s", s->run.name,
                                   mt_knows_lack(&s->run, &s->device, needs[section]));
        if (section == MT_SECTION_END && s->whole.unknown & MT_UNKNOWN_END && lives)
            return mt_report_textf(r, "unknown: %s %s", s->run.name, mt_gaps_text(s->gaps));
        if (section == MT_SECTION_OP && s->whole.unknown & MT_UNKNOWN_ALLOC)
            return mt_report_textf(r, "unknown: %s %s", s->run.name, mt_gaps_text(s->gaps));
        if (section != MT_SECTION_OP && !lives)
            return mt_report_textf(r, "unknown: %s has no addresses in its records", s->run.name);
        if (section == MT_SECTION_LEAK && s->gaps && s->step_n)
            return mt_report_textf(r, "unknown: %s %s", s->run.name, mt_gaps_text(s->gaps));
        if (section == MT_SECTION_LEAK && !s->growth_known)
            return mt_report_textf(r, "unknown: %s has %s", s->run.name,
                                   s->step_n ? "too few steps to tell" : "no steps");
    }
    bool older = mt_diff_has_older_apart(d);
    return section == MT_SECTION_PEAK  ? older ? "the same recorded blocks make up the peak"
                                               : "the same blocks make up the peak"
           : section == MT_SECTION_END ? older ? "the same of what is recorded is alive at the end"
                                               : "the same is alive at the end"
           : section == MT_SECTION_OP
               ? mt_report_textf(r, "all %s allocated the same",
                                 mt_kind_words[d->side[1].run.kind].allocators)
           : may_leak(d) ? "neither run leaks for certain"
                         : "neither run has a leak";
}

/* Below the leaks: what grows without being known for one. */
static void name_candidates(const struct mt_diff *d, struct mt_report *r)
{
    enum { SHOWN = 3 };
    struct mt_buf text = {0};
    char rate[MT_HUMAN_MAX];
    int n = 0;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < d->rows.n; i++) {
            const struct mt_figures f = mt_diff_figures(&d->side[s], d->rows.v[i].group[s]);
            double growth = f.v[MT_FIG_SUSPECT_PER_STEP_B].r - f.v[MT_FIG_PER_STEP_B].r;
            if (growth <= 0 || n++ >= SHOWN)
                continue;
            mt_buf_addf(&text, "%s%s", text.n ? ", " : "", d->rows.v[i].key[0]);
            for (int k = 1; k < d->key_n; k++)
                mt_buf_addf(&text, " · %s", d->rows.v[i].key[k]);
            mt_buf_addf(&text, " +%s a step in %s",
                        mt_human_bytes((int64_t)fmin(growth + 0.5, 9e18), rate),
                        d->side[s].run.name);
        }
    if (n > SHOWN)
        mt_buf_addf(&text, " and %d more", n - SHOWN);
    if (n)
        mt_report_footer(r, "candidates, which may be leaks: %s", text.s);
    mt_buf_free(&text);
}

/* How many rows --all adds, and why they are not shown. */
static void hidden_footer(int64_t n, const char *why, struct mt_report *r)
{
    char rows[MT_HUMAN_LONG];
    if (n)
        mt_report_footer(r, "%s not shown: %s. --all shows %s.", mt_human_plural(n, "row", rows),
                         why, n == 1 ? "it" : "them");
}

/* Below the rows of a section: what they leave out, and what they come to. */
static void section_footer(const struct mt_diff *d, const struct mt_diff_wanted *w,
                           const struct mt_diff_rows *rows, struct mt_report *r)
{
    const char *change = NULL;
    bool peaks = !((d->side[0].whole.unknown | d->side[1].whole.unknown) & MT_UNKNOWN_PEAK);
    if (rows->section == MT_SECTION_PEAK && peaks)
        change = signed_bytes(r, mt_wrap_sub(d->side[1].whole.v[MT_FIG_AT_PEAK_B].i,
                                             d->side[0].whole.v[MT_FIG_AT_PEAK_B].i));
    r->left_out_n = rows->left_out_n;
    r->cut_n = rows->cut_n;
    mt_rows_footer(w->rows, r, change, "");
    hidden_footer(rows->same_n, "same bytes, different calls or frees", r);
    hidden_footer(rows->below_n, "only what they call differs", r);
    if (rows->section == MT_SECTION_LEAK)
        name_candidates(d, r);
    bool known = mt_diff_peak_sites_known(&d->side[0]) && mt_diff_peak_sites_known(&d->side[1]);
    bool doubt = false; /* what is alive may be less */
    for (int s = 0; s < 2; s++)
        doubt |= d->side[s].device.doubt_at_peak_b != 0;
    if (change && !rows->left_out_n && (known || rows->order.n))
        mt_report_footer(r,
                         !known ? "%s in total; the rows responsible are unknown"
                         : doubt || mt_diff_has_older_apart(d) ? "= %s"
                                                               : "= %s exactly",
                         change);
}

enum mt_status mt_diff_people_section(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                      enum mt_diff_section section, struct mt_diff_reports *out,
                                      struct mt_err *err)
{
    static const char *const titles[MT_SECTION_N] = {
        [MT_SECTION_PEAK] = "the peak, each run at its own",
        [MT_SECTION_END] = "alive at the end",
        [MT_SECTION_OP] = "allocated by",
        [MT_SECTION_LEAK] = "growth from step to step"};
    const struct mt_rows columns = {.columns = w->rows->columns};
    struct mt_report *r = mt_diff_new_report(d, w, out);
    struct mt_diff_rows rows;
    const char *allocators = mt_kind_words[d->side[1].run.kind].allocators;
    r->title = section == MT_SECTION_OP ? mt_asprintf("%s %s", titles[section], allocators)
                                        : mt_strdup(titles[section]);
    r->empty = no_rows(d, section, r);
    people_columns(d, r, section);
    enum mt_status st =
        mt_diff_rows(d, w->rows, section, w->all || section != MT_SECTION_OP, &rows, err);
    for (size_t i = 0; i < rows.order.n; i++) {
        const struct mt_diff_row row = mt_diff_row(d, rows.order.v[i].row);
        people_row(d, r, &row, section);
    }
    if (st == MT_OK) {
        section_footer(d, w, &rows, r);
        st = mt_rows_apply(&columns, r, "", err);
    }
    mt_vec_free(&rows.order);
    return st;
}

void mt_diff_people_trend(const struct mt_diff *d, const struct mt_diff_wanted *w,
                          struct mt_diff_reports *out)
{
    struct mt_report *r = mt_diff_new_report(d, w, out);
    const char *counts = NULL, *leaves_out = NULL;
    mt_report_columns(r, "peak_b at_end_b per_step_b alloc_b time_ns step_n run");
    r->keep_order = true;
    r->title = mt_asprintf("%zu runs · %s%s", w->trend.n, d->side[0].device.shown,
                           w->per_step ? " · per step" : "");
    for (size_t i = 0; i < w->trend.n; i++) {
        static const enum mt_figure shown[] = {MT_FIG_AT_PEAK_B, MT_FIG_AT_END_B, MT_FIG_PER_STEP_B,
                                               MT_FIG_ALLOC_B, MT_FIG_TIME_NS};
        const struct mt_diff_trend *t = &w->trend.v[i];
        struct mt_row *row = mt_report_row(r);
        size_t c = 0;
        for (; c < MT_ARRAY_LEN(shown); c++)
            row->cells[c] = mt_diff_cell(&t->whole, shown[c]);
        row->cells[c++] = mt_cell_int(t->step_n);
        row->cells[c++] = mt_cell_text(mt_report_text(r, t->name));
        if (t->counts_older)
            counts = t->name;
        if (t->leaves_out)
            leaves_out = t->name;
    }
    if (counts && leaves_out)
        mt_report_footer(r,
                         "peaks and ends of these runs do not compare: %s includes memory "
                         "allocated before its recording, %s excludes it",
                         counts, leaves_out);
}
