/* The reports of memtool diff. */
#include "cmd/common.h"
#include "cmd/diff.h"
#include "lib/human.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const section_names[MT_SECTION_N] = {"total", "peak", "op", "leak"};

/* The figures that are compared. */
enum figure {
    AT_PEAK_B,
    AT_PEAK_N,
    SELF_NET_B,
    NET_B,
    SELF_ALLOC_B,
    ALLOC_B,
    SELF_ALLOC_N,
    CALLS_N,
    TIME_NS,
    AT_END_B,
    PER_STEP_B,
    PER_STEP_N,
    LEAK_AT_END_B,
    FIGURE_N
};

static const struct {
    const char *name, *unit; /* base_NAME_UNIT, new_NAME_UNIT, NAME_delta_UNIT */
    unsigned sections;       /* where it has a meaning */
} figures[FIGURE_N] = {
#define IN(s) (1u << MT_SECTION_##s)
    [AT_PEAK_B] = {"at_peak", "b", IN(TOTAL) | IN(PEAK)},
    [AT_PEAK_N] = {"at_peak", "n", IN(PEAK)},
    [SELF_NET_B] = {"self_net", "b", IN(OP)},
    [NET_B] = {"net", "b", IN(TOTAL) | IN(OP)},
    [SELF_ALLOC_B] = {"self_alloc", "b", IN(OP)},
    [ALLOC_B] = {"alloc", "b", IN(TOTAL) | IN(OP)},
    [SELF_ALLOC_N] = {"self_alloc", "n", IN(TOTAL) | IN(OP)},
    [CALLS_N] = {"calls", "n", IN(TOTAL) | IN(OP)},
    [TIME_NS] = {"time", "ns", IN(TOTAL) | IN(OP)},
    [AT_END_B] = {"at_end", "b", IN(TOTAL) | IN(LEAK)},
    [PER_STEP_B] = {"per_step", "b", IN(TOTAL) | IN(LEAK)},
    [PER_STEP_N] = {"per_step", "n", IN(TOTAL) | IN(LEAK)},
    [LEAK_AT_END_B] = {"leak_at_end", "b", IN(TOTAL) | IN(LEAK)},
#undef IN
};

static double figure_of(const struct mt_figures *f, enum figure which)
{
    switch (which) {
    case PER_STEP_B:
        return f->per_step_b;
    case PER_STEP_N:
        return f->per_step_n;
    default:
        return 0;
    }
}

/* Exact; INT64_MIN: unknown. */
static int64_t integer_of(const struct mt_figures *f, enum figure which)
{
    const int64_t v[FIGURE_N] = {[AT_PEAK_B] = f->at_peak_b,
                                 [AT_PEAK_N] = f->at_peak_n < 0 ? INT64_MIN : f->at_peak_n,
                                 [SELF_NET_B] = f->self_net_b,
                                 [NET_B] = f->net_b,
                                 [SELF_ALLOC_B] = f->self_alloc_b,
                                 [ALLOC_B] = f->alloc_b,
                                 [SELF_ALLOC_N] = f->self_alloc_n,
                                 [CALLS_N] = f->calls_n,
                                 [TIME_NS] = f->time_ns,
                                 [AT_END_B] = f->at_end_b,
                                 [LEAK_AT_END_B] = f->leak_at_end_b};
    return v[which];
}

static struct mt_cell number_cell(double v)
{
    return v == floor(v) && fabs(v) < 9e15 ? mt_cell_int((int64_t)v) : mt_cell_real(v);
}

/* BASE, NEW and their difference. */
static void three_cells(const struct mt_figures at[2], enum figure which, struct mt_cell out[3])
{
    memset(out, 0, 3 * sizeof *out);
    if (which == PER_STEP_B || which == PER_STEP_N) {
        double a = figure_of(&at[0], which), b = figure_of(&at[1], which);
        out[0] = number_cell(a);
        out[1] = number_cell(b);
        out[2] = number_cell(b - a);
        return;
    }
    int64_t a = integer_of(&at[0], which), b = integer_of(&at[1], which);
    if (a != INT64_MIN)
        out[0] = mt_cell_int(a);
    if (b != INT64_MIN)
        out[1] = mt_cell_int(b);
    if (a != INT64_MIN && b != INT64_MIN)
        out[2] = mt_cell_int(b - a);
}

static bool differs(const struct mt_figures at[2], enum figure which)
{
    struct mt_cell c[3];
    three_cells(at, which, c);
    return c[2].kind == MT_CELL_REAL || (c[2].kind == MT_CELL_INT && c[2].i != 0);
}

enum mt_status mt_diff_sections(const char *list, struct mt_diff_wanted *out, struct mt_err *err)
{
    for (int s = 0; s < MT_SECTION_N; s++)
        out->section[s] = !list;
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        int s = 0;
        while (s < MT_SECTION_N &&
               (strlen(section_names[s]) != n || strncmp(section_names[s], p, n) != 0))
            s++;
        if (s == MT_SECTION_N) {
            MT_FAIL(err, MT_EUSAGE, "--section does not know '%.*s'", (int)n, p);
            mt_err_hint(err, "It knows: total, peak, op, leak; several separated by commas.");
            return MT_EUSAGE;
        }
        out->section[s] = true;
        p += n + (p[n] == ',');
    }
    return MT_OK;
}

/* Weight of ops that allocated the same but freed other blocks: of little use to people. */
static const double FREED_ONLY = 0.25;

/* What a section sorts by and shows of a row, largest change first; 0: the row is left out. */
static double weight(const struct mt_diff_row *row, enum mt_diff_section section)
{
    const struct mt_figures *a = &row->at[0], *b = &row->at[1];
    double change;
    switch (section) {
    case MT_SECTION_PEAK:
        change = fabs((double)(b->at_peak_b - a->at_peak_b));
        return change > 0 ? change : a->at_peak_n != b->at_peak_n ? 1e-3 : 0;
    case MT_SECTION_OP:
        change = fabs((double)(b->self_alloc_b - a->self_alloc_b));
        if (change > 0)
            return change;
        if (differs(row->at, CALLS_N))
            return 0.5;
        return differs(row->at, SELF_NET_B) ? FREED_ONLY : 0;
    default:
        change = fabs(b->per_step_b - a->per_step_b);
        return change > 0 ? change : a->per_step_b > 0 ? 1e-3 : 0;
    }
}

struct order {
    const struct mt_diff_row *row;
    double weight;
    size_t place;
};

static int order_cmp(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* The rows of a section in its order; *n of them. Free it. */
static struct order *rows_of(const struct mt_diff *d, enum mt_diff_section section, size_t *n)
{
    struct order *all = mt_alloc((d->rows.n + 1) * sizeof *all);
    *n = 0;
    for (size_t i = 0; i < d->rows.n; i++) {
        double w = weight(&d->rows.v[i], section);
        if (w > 0)
            all[(*n)++] = (struct order){&d->rows.v[i], w, i};
    }
    qsort(all, *n, sizeof *all, order_cmp);
    return all;
}

static struct mt_report *new_report(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                    struct mt_diff_reports *out)
{
    struct mt_report *r = mt_alloc(sizeof *r);
    mt_report_init(r, "memtool.diff", 1);
    for (int s = 0; s < 2; s++) {
        r->runs[s].id = d->side[s].run.id;
        r->runs[s].name = mt_strdup(d->side[s].run.name);
    }
    mt_report_param(r, "device", mt_cell_text(mt_report_text(r, d->side[0].device.name)));
    mt_report_param(r, "per_step", mt_cell_int(w->per_step));
    *mt_vec_push(out) = r;
    return r;
}

/* ---- one report of all sections ---- */

/* Where a grouping key stands; it is added when it is new. */
static int key_column(struct mt_report *r, enum mt_group_key key)
{
    int at = mt_report_find_column(r, mt_group_key_names[key]);
    if (at < 0) {
        at = (int)r->columns.n;
        mt_report_column(r, mt_group_key_names[key], NULL, MT_UNIT_NONE);
    }
    return at;
}

static int figure_column(const struct mt_report *r, enum figure f)
{
    char name[64];
    snprintf(name, sizeof name, "base_%s_%s", figures[f].name, figures[f].unit);
    return mt_report_find_column(r, name);
}

static void machine_columns(const struct mt_diff *live, const struct mt_diff *op,
                            const struct mt_diff_wanted *w, struct mt_report *r)
{
    unsigned asked = w->trend.n ? 1u << MT_SECTION_TOTAL : 0;
    for (int s = 0; s < MT_SECTION_N; s++)
        asked |= w->section[s] ? 1u << s : 0;
    mt_report_column(r, "section", NULL, MT_UNIT_NONE);
    mt_report_column(r, "match", NULL, MT_UNIT_NONE);
    for (int k = 0; k < live->key_n; k++)
        key_column(r, live->keys[k]);
    for (int k = 0; k < op->key_n; k++)
        key_column(r, op->keys[k]);
    for (int f = 0; f < FIGURE_N; f++) {
        if (!(figures[f].sections & asked))
            continue;
        static const char *const forms[] = {"base_%s_%s", "new_%s_%s", "%s_delta_%s"};
        for (int i = 0; i < 3; i++) {
            char *name = mt_asprintf(forms[i], figures[f].name, figures[f].unit);
            mt_report_column(r, mt_report_text(r, name), NULL, MT_UNIT_NONE);
            free(name);
        }
    }
    r->keep_order = true;
}

static struct mt_row *machine_row(const struct mt_diff *d, struct mt_report *r,
                                  const struct mt_diff_row *from, enum mt_diff_section section)
{
    static const char *const match_names[MT_MATCH_N] = {"same", "form", "name", "only"};
    struct mt_row *row = mt_report_row(r);
    const char *match = from->match != MT_MATCH_ONLY ? match_names[from->match]
                        : from->in[0]                ? "only BASE"
                                                     : "only NEW";
    row->explicit_row = from->explicit_row;
    row->cells[0] = mt_cell_text(section_names[section]);
    row->cells[1] = mt_cell_text(match);
    for (int k = 0; k < d->key_n; k++)
        row->cells[key_column(r, d->keys[k])] = mt_cell_text(mt_report_text(r, from->key[k]));
    for (int f = 0; f < FIGURE_N; f++)
        if (figures[f].sections & 1u << section)
            three_cells(from->at, (enum figure)f, &row->cells[figure_column(r, (enum figure)f)]);
    return row;
}

static void machine_wholes(const struct mt_diff *d, const struct mt_diff_wanted *w,
                           struct mt_report *r)
{
    struct mt_diff_row whole = {.at = {d->side[0].whole, d->side[1].whole}};
    for (size_t i = 0; i < w->trend.n; i++) {
        struct mt_diff_row one = {.at = {w->trend.v[0].whole, w->trend.v[i].whole}};
        for (int k = 0; k < d->key_n; k++)
            one.key[k] = w->trend.v[i].name;
        machine_row(d, r, &one, MT_SECTION_TOTAL)->cells[0] = mt_cell_text("run");
    }
    for (int k = 0; k < d->key_n; k++)
        whole.key[k] = "[total]";
    if (w->section[MT_SECTION_TOTAL])
        machine_row(d, r, &whole, MT_SECTION_TOTAL);
}

static void machine_report(const struct mt_diff *live, const struct mt_diff *op,
                           const struct mt_diff_wanted *w, struct mt_diff_reports *out)
{
    struct mt_report *r = new_report(live, w, out);
    machine_columns(live, op, w, r);
    machine_wholes(live, w, r);
    for (int s = MT_SECTION_PEAK; s < MT_SECTION_N; s++) {
        size_t n;
        const struct mt_diff *d = s == MT_SECTION_OP ? op : live;
        struct order *order = rows_of(d, (enum mt_diff_section)s, &n);
        for (size_t i = 0; i < n && w->section[s]; i++) {
            if (w->rows->limit && i >= (size_t)w->rows->limit)
                r->left_out_n++;
            else
                machine_row(d, r, order[i].row, (enum mt_diff_section)s);
        }
        free(order);
    }
}

/* ---- a report of each section, for people ---- */

static struct mt_cell arrow(struct mt_report *r, double from, double to)
{
    return mt_cell_text(from == to ? mt_report_textf(r, "%.4g", from)
                                   : mt_report_textf(r, "%.4g -> %.4g", from, to));
}

static const char *signed_bytes(struct mt_report *r, int64_t bytes)
{
    char text[MT_HUMAN_MAX];
    return mt_report_textf(r, "%s%s", bytes > 0 ? "+" : "", mt_human_bytes(bytes, text));
}

static const char *change_text(struct mt_report *r, int64_t from, int64_t to)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    if (from == to)
        return mt_report_textf(r, "%s", mt_human_bytes(from, a));
    double percent = from ? 100.0 * (double)(to - from) / (double)llabs(from) : 0;
    const char *relative =
        from ? mt_report_textf(r, fabs(percent) < 1 ? ", %+.1g %%" : ", %+.1f %%", percent) : "";
    return mt_report_textf(r, "%s -> %s (%s%s)", mt_human_bytes(from, a), mt_human_bytes(to, b),
                           signed_bytes(r, to - from), relative);
}

static void people_total(const struct mt_diff *d, const struct mt_diff_wanted *w,
                         struct mt_diff_reports *out)
{
    struct mt_report *r = new_report(d, w, out);
    const struct mt_figures *a = &d->side[0].whole, *b = &d->side[1].whole;
    char ta[MT_HUMAN_MAX], tb[MT_HUMAN_MAX];
    r->title = mt_asprintf("%s -> %s · %s · peak %s", d->side[0].run.name, d->side[1].run.name,
                           d->side[0].device.name, change_text(r, a->at_peak_b, b->at_peak_b));
    struct mt_buf text = {0};
    mt_buf_addf(&text, "allocated%s %s, ", w->per_step ? " per step" : "",
                change_text(r, a->alloc_b, b->alloc_b));
    if (a->at_end_b != INT64_MIN && b->at_end_b != INT64_MIN)
        mt_buf_addf(&text, "alive at the end %s, ", change_text(r, a->at_end_b, b->at_end_b));
    mt_buf_addf(&text, "time %s -> %s", mt_human_ns(a->time_ns, ta), mt_human_ns(b->time_ns, tb));
    r->empty = mt_report_text(r, text.s);
    mt_buf_free(&text);
}

static void people_columns(const struct mt_diff *d, struct mt_report *r,
                           enum mt_diff_section section)
{
    static const char *const change[MT_SECTION_N] = {[MT_SECTION_PEAK] = "AT PEAK",
                                                     [MT_SECTION_OP] = "SELF ALLOC",
                                                     [MT_SECTION_LEAK] = "PER STEP"};
    mt_report_column(r, "change_b", change[section], MT_UNIT_CHANGE);
    mt_report_column(r, "base_b", "BASE", MT_UNIT_BYTES);
    mt_report_column(r, "new_b", "NEW", MT_UNIT_BYTES);
    if (section == MT_SECTION_OP)
        mt_report_column(r, "inclusive_b", "INCLUSIVE", MT_UNIT_CHANGE);
    mt_report_column(r, "count", section == MT_SECTION_OP ? "CALLS" : "BLOCKS", MT_UNIT_NONE);
    for (int k = 0; k < d->key_n; k++)
        mt_report_column(r, mt_group_key_names[d->keys[k]], NULL, MT_UNIT_NONE);
    mt_report_column(r, "note", "", MT_UNIT_NONE);
    r->keep_order = true;
}

static const char *remark(const struct mt_diff *d, struct mt_report *r,
                          const struct mt_diff_row *row, enum mt_diff_section section)
{
    const struct mt_figures *a = &row->at[0], *b = &row->at[1];
    if (section == MT_SECTION_LEAK)
        return a->per_step_b == 0               ? "new leak"
               : b->per_step_b == 0             ? "healed"
               : a->per_step_b == b->per_step_b ? "as before"
                                                : "changed";
    bool in_base = row->in[0], in_new = row->in[1];
    if (section == MT_SECTION_PEAK) {
        in_base = a->at_peak_b != 0;
        in_new = b->at_peak_b != 0;
    }
    bool lower = d->side[1].whole.at_peak_b < d->side[0].whole.at_peak_b;
    if (in_base && in_new)
        return section == MT_SECTION_OP && lower && b->calls_n > a->calls_n
                   ? "more calls: the price of the lower peak"
                   : "";
    return mt_report_textf(r, "only in %s%s", d->side[in_base ? 0 : 1].run.name,
                           section == MT_SECTION_PEAK ? "'s peak" : "");
}

/* "7 -> 8" blocks or calls. */
static struct mt_cell count_cell(struct mt_report *r, const struct mt_diff_row *from,
                                 enum mt_diff_section section)
{
    const struct mt_figures *a = &from->at[0], *b = &from->at[1];
    if (section == MT_SECTION_LEAK)
        return arrow(r, a->per_step_n, b->per_step_n);
    if (section == MT_SECTION_PEAK && a->at_peak_n >= 0 && b->at_peak_n >= 0)
        return arrow(r, (double)a->at_peak_n, (double)b->at_peak_n);
    if (section == MT_SECTION_OP && !from->explicit_row)
        return arrow(r, (double)a->calls_n, (double)b->calls_n);
    return (struct mt_cell){0};
}

static void people_row(const struct mt_diff *d, struct mt_report *r, const struct mt_diff_row *from,
                       enum mt_diff_section section)
{
    static const enum figure bytes[] = {[MT_SECTION_PEAK] = AT_PEAK_B,
                                        [MT_SECTION_OP] = SELF_ALLOC_B,
                                        [MT_SECTION_LEAK] = PER_STEP_B};
    const struct mt_figures *a = &from->at[0], *b = &from->at[1];
    struct mt_row *row = mt_report_row(r);
    struct mt_cell c[3];
    three_cells(from->at, bytes[section], c);
    row->explicit_row = from->explicit_row;
    int at = 0;
    row->cells[at++] = c[2];
    row->cells[at++] = c[0];
    row->cells[at++] = c[1];
    if (section == MT_SECTION_OP)
        row->cells[at++] = mt_cell_int(b->alloc_b - a->alloc_b);
    row->cells[at++] = count_cell(r, from, section);
    for (int k = 0; k < d->key_n; k++)
        row->cells[at++] = mt_cell_text(mt_report_text(r, from->key[k]));
    row->cells[at] = mt_cell_text(mt_report_text(r, remark(d, r, from, section)));
}

static enum mt_status people_section(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                     enum mt_diff_section section, struct mt_diff_reports *out,
                                     struct mt_err *err)
{
    static const char *const titles[MT_SECTION_N] = {
        [MT_SECTION_PEAK] = "the peak, each run at its own",
        [MT_SECTION_OP] = "allocated by operators",
        [MT_SECTION_LEAK] = "growth from step to step"};
    static const char *const nothing[MT_SECTION_N] = {
        [MT_SECTION_PEAK] = "the same blocks make the peak",
        [MT_SECTION_OP] = "every operator allocated the same",
        [MT_SECTION_LEAK] = "neither run has a leak"};
    struct mt_report *r = new_report(d, w, out);
    size_t n;
    struct order *order = rows_of(d, section, &n);
    r->title = mt_strdup(titles[section]);
    r->empty = nothing[section];
    people_columns(d, r, section);
    for (size_t i = 0; i < n; i++)
        if (order[i].weight != FREED_ONLY)
            people_row(d, r, order[i].row, section);
    free(order);
    MT_TRY(mt_rows_apply(w->rows, r, "change_b", err));
    mt_rows_footer(r);
    if (section == MT_SECTION_PEAK)
        mt_report_footer(r, "= %s exactly",
                         signed_bytes(r, d->side[1].whole.at_peak_b - d->side[0].whole.at_peak_b));
    return MT_OK;
}

static void people_trend(const struct mt_diff *d, const struct mt_diff_wanted *w,
                         struct mt_diff_reports *out)
{
    struct mt_report *r = new_report(d, w, out);
    mt_report_column(r, "peak_b", "PEAK", MT_UNIT_BYTES);
    mt_report_column(r, "at_end_b", "AT END", MT_UNIT_BYTES);
    mt_report_column(r, "per_step_b", "PER STEP", MT_UNIT_BYTES);
    mt_report_column(r, "alloc_b", "ALLOC", MT_UNIT_BYTES);
    mt_report_column(r, "time_ns", "TIME", MT_UNIT_NS);
    mt_report_column(r, "step_n", "STEPS", MT_UNIT_COUNT);
    mt_report_column(r, "run", "RUN", MT_UNIT_NONE);
    r->keep_order = true;
    r->title = mt_asprintf("%zu runs · %s", w->trend.n, d->side[0].device.name);
    for (size_t i = 0; i < w->trend.n; i++) {
        const struct mt_diff_trend *t = &w->trend.v[i];
        struct mt_row *row = mt_report_row(r);
        int c = 0;
        row->cells[c++] = mt_cell_int(t->whole.at_peak_b);
        row->cells[c++] =
            t->whole.at_end_b == INT64_MIN ? (struct mt_cell){0} : mt_cell_int(t->whole.at_end_b);
        row->cells[c++] = number_cell(t->whole.per_step_b);
        row->cells[c++] = mt_cell_int(t->whole.alloc_b);
        row->cells[c++] = mt_cell_int(t->whole.time_ns);
        row->cells[c++] = mt_cell_int(t->step_n);
        row->cells[c++] = mt_cell_text(mt_report_text(r, t->name));
    }
}

enum mt_status mt_diff_report(const struct mt_diff *live, const struct mt_diff *op,
                              const struct mt_diff_wanted *w, bool people,
                              struct mt_diff_reports *out, struct mt_err *err)
{
    if (!people) {
        const struct mt_rows rest = {.name = w->rows->name, .columns = w->rows->columns};
        machine_report(live, op, w, out);
        return mt_rows_apply(&rest, out->v[0], "", err);
    }
    if (w->trend.n)
        people_trend(live, w, out);
    if (w->section[MT_SECTION_TOTAL])
        people_total(live, w, out);
    for (int s = MT_SECTION_PEAK; s < MT_SECTION_N; s++)
        if (w->section[s])
            MT_TRY(people_section(s == MT_SECTION_OP ? op : live, w, (enum mt_diff_section)s, out,
                                  err));
    return MT_OK;
}

void mt_diff_reports_free(struct mt_diff_reports *r)
{
    for (size_t i = 0; i < r->n; i++) {
        mt_report_free(r->v[i]);
        free(r->v[i]);
    }
    free(r->v);
}
