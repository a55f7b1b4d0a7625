/* The reports of memtool diff. */
#include "cmd/common.h"
#include "cmd/diff_parts.h"
#include "cmd/opts.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/stmt_report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const section_names[MT_SECTION_N] = {"total", "peak", "end", "op", "leak"};

/* The order of their columns; those that are not named here come behind. */
static const enum mt_figure first[] = {
    MT_FIG_AT_PEAK_B,     MT_FIG_AT_PEAK_N,         MT_FIG_SELF_NET_B,   MT_FIG_NET_B,
    MT_FIG_SELF_ALLOC_B,  MT_FIG_ALLOC_B,           MT_FIG_SELF_ALLOC_N, MT_FIG_CALLS_N,
    MT_FIG_TIME_NS,       MT_FIG_AT_END_B,          MT_FIG_PER_STEP_B,   MT_FIG_PER_STEP_N,
    MT_FIG_LEAK_AT_END_B, MT_FIG_SUSPECT_PER_STEP_B};

/* The figures of some sections, in the order of their columns. */
static struct mt_figure_set figures_of(unsigned sections)
{
    struct mt_figure_set set = {0};
    bool met[MT_FIG_N] = {false};
    for (size_t i = 0; i < MT_ARRAY_LEN(first) + MT_FIG_N; i++) {
        size_t f = i < MT_ARRAY_LEN(first) ? first[i] : i - MT_ARRAY_LEN(first);
        if (mt_figure_defs[f].sections & sections && !met[f])
            set.v[set.n++] = (enum mt_figure)f;
        met[f] = true;
    }
    return set;
}

struct mt_cell mt_diff_cell(const struct mt_figures *f, enum mt_figure which)
{
    const struct mt_figure_def *def = &mt_figure_defs[which];
    const union mt_value *v = &f->v[which];
    struct mt_cell c = def->adds == MT_ADDS_RATE ? mt_diff_number(v->r) : mt_cell_int(v->i);
    bool none = c.kind == MT_CELL_INT && c.i == 0;
    bool unknown = f->unknown & def->unknown;
    if (def->adds == MT_ADDS_KNOWN)
        unknown |= v->i < 0;
    else if (def->unknown == MT_UNKNOWN_GROWTH)
        unknown &= none;
    return unknown ? (struct mt_cell){0} : c;
}

struct mt_cell mt_diff_number(double v)
{
    return v == floor(v) && fabs(v) < 9e15 ? mt_cell_int((int64_t)v) : mt_cell_real(v);
}

static double real_of(const struct mt_cell *c)
{
    return c->kind == MT_CELL_INT ? (double)c->i : c->r;
}

/* BASE, NEW and their difference. */
void mt_diff_cells(const struct mt_figures at[2], enum mt_figure which, struct mt_cell out[3])
{
    out[0] = mt_diff_cell(&at[0], which);
    out[1] = mt_diff_cell(&at[1], which);
    out[2] = (struct mt_cell){0};
    if (out[0].kind == MT_CELL_NULL || out[1].kind == MT_CELL_NULL)
        return;
    if (out[0].kind == MT_CELL_INT && out[1].kind == MT_CELL_INT)
        out[2] = mt_cell_int(mt_wrap_sub(out[1].i, out[0].i));
    else
        out[2] = mt_diff_number(real_of(&out[1]) - real_of(&out[0]));
}

void mt_diff_section_names(struct mt_buf *out)
{
    for (int s = 0; s < MT_SECTION_N; s++)
        mt_buf_addf(out, "%s ", section_names[s]);
}

enum mt_status mt_diff_sections(const char *list, struct mt_diff_wanted *out, struct mt_err *err)
{
    for (int s = 0; s < MT_SECTION_N; s++)
        out->section[s] = !list;
    for (const char *p = list, *next; p; p = next) { /* the last one too, be it empty */
        size_t n = strcspn(p, ",");
        next = p[n] ? p + n + 1 : NULL;
        int s = 0;
        while (s < MT_SECTION_N &&
               (strlen(section_names[s]) != n || strncmp(section_names[s], p, n) != 0))
            s++;
        if (s == MT_SECTION_N) {
            MT_FAIL(err, MT_EUSAGE, "unknown --section '%.*s'", (int)n, p);
            mt_err_hint(err, "Sections: total, peak, end, op, leak; separate several by commas.");
            return MT_EUSAGE;
        }
        out->section[s] = true;
    }
    return MT_OK;
}

/* What people read at the head. */
static void add_totals(const struct mt_diff *d, struct mt_report *r)
{
    static const struct {
        enum mt_figure figure;
        const char *base, *new, *delta;
    } all[] = {{MT_FIG_AT_PEAK_B, "base_peak_b", "new_peak_b", "peak_delta_b"},
               {MT_FIG_ALLOC_B, "base_alloc_b", "new_alloc_b", "alloc_delta_b"},
               {MT_FIG_AT_END_B, "base_at_end_b", "new_at_end_b", "at_end_delta_b"},
               {MT_FIG_TIME_NS, "base_duration_ns", "new_duration_ns", NULL}};
    const struct mt_figures at[2] = {d->side[0].whole, d->side[1].whole};
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++) {
        struct mt_cell cells[3];
        mt_diff_cells(at, all[i].figure, cells);
        mt_report_total(r, all[i].base, cells[0]);
        mt_report_total(r, all[i].new, cells[1]);
        if (all[i].delta)
            mt_report_total(r, all[i].delta, cells[2]);
    }
}

struct mt_report *mt_diff_new_report(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                     struct mt_diff_reports *out)
{
    struct mt_report *r = mt_alloc(sizeof *r);
    mt_report_init(r, "memtool.diff", 1);
    for (int s = 0; s < 2; s++)
        mt_report_run(r, s, d->side[s].run.id, d->side[s].run.name, d->side[s].run.time_unit);
    mt_report_param(r, "device", mt_cell_text(mt_report_text(r, d->side[0].device.name)));
    if (d->side[0].device.only)
        mt_report_param(r, "category",
                        mt_cell_text(mt_report_text(r, mt_device_categories(&d->side[0].device))));
    mt_report_param(r, "per_step", mt_cell_int(w->per_step));
    add_totals(d, r);
    mt_category_totals(r, "base_", &w->parts[0]);
    mt_category_totals(r, "new_", &w->parts[1]);
    *mt_vec_push(out) = r;
    return r;
}

/* ---- one report of all sections ---- */

/* Where in the report what stands; found once, as there may be a million rows. */
struct machine {
    struct mt_report *r;
    int key[MT_BY_N];     /* by enum mt_group_key */
    int figure[MT_FIG_N]; /* that of BASE; NEW and the difference follow */
    bool shorts;          /* there are columns of mt_diff_short_names */
};

static void add_keys(struct machine *m, const struct mt_diff *d)
{
    for (int k = 0; k < d->key_n; k++) {
        const char *name = mt_group_key_name(d->keys[k]);
        if (mt_report_find_column(m->r, name) >= 0)
            continue;
        m->key[d->keys[k]] = (int)m->r->columns.n;
        mt_report_column(m->r, name, NULL, MT_UNIT_NONE);
    }
}

static void add_figures(struct machine *m, unsigned sections)
{
    const struct mt_figure_set set = figures_of(sections);
    for (size_t f = 0; f < set.n; f++) {
        const char *name = mt_figure_defs[set.v[f]].name, *unit = strrchr(name, '_');
        const char *const names[] = {
            mt_report_textf(m->r, "base_%s", name), mt_report_textf(m->r, "new_%s", name),
            mt_report_textf(m->r, "%.*s_delta%s", (int)(unit - name), name, unit)};
        const char *title = mt_figure_defs[set.v[f]].title;
        const char *const titles[] = {title ? mt_report_textf(m->r, "BASE %s", title) : NULL,
                                      title ? mt_report_textf(m->r, "NEW %s", title) : NULL, title};
        m->figure[set.v[f]] = (int)m->r->columns.n;
        for (size_t i = 0; i < MT_ARRAY_LEN(names); i++) {
            enum mt_unit plain = mt_unit_of_name(names[i]);
            bool change = i == 2 && plain == MT_UNIT_BYTES;
            mt_report_column(m->r, names[i], titles[i], change ? MT_UNIT_CHANGE : plain);
        }
    }
}

/* The columns of one section for people, where they are asked for by name. */
static void add_shorts(struct machine *m, const char *columns, unsigned sections)
{
    for (int i = 0; i < MT_DIFF_SHORT_N; i++)
        if (mt_has_word(columns, mt_diff_short_names[i])) {
            m->shorts = true;
            mt_diff_short_column(m->r, (enum mt_diff_short)i, sections);
        }
}

static void machine_columns(struct machine *m, const struct mt_diff *live, const struct mt_diff *op,
                            const struct mt_diff_wanted *w)
{
    unsigned asked = w->trend.n ? 1u << MT_SECTION_TOTAL : 0;
    for (int s = 0; s < MT_SECTION_N; s++)
        asked |= w->section[s] ? 1u << s : 0;
    mt_report_columns(m->r, "section match");
    add_keys(m, live);
    add_keys(m, op);
    add_figures(m, asked);
    add_shorts(m, w->rows->columns, asked & ~(1u << MT_SECTION_TOTAL));
    if (mt_diff_of_processes(live) && w->section[MT_SECTION_TOTAL])
        mt_diff_growth_columns(m->r);
    m->r->keep_order = true;
}

/* Texts are the comparison's, which outlives the report. */
static void machine_cells(const struct machine *m, const struct mt_diff *d,
                          const struct mt_diff_row *from, enum mt_diff_section section,
                          struct mt_cell *cells)
{
    static const char *const match_names[MT_MATCH_N] = {"same", "form", "name", "only"};
    const char *match = from->match != MT_MATCH_ONLY ? match_names[from->match]
                        : from->in[0]                ? "only BASE"
                                                     : "only NEW";
    cells[0] = mt_cell_text(section_names[section]);
    cells[1] = mt_cell_text(match);
    for (int k = 0; k < d->key_n; k++)
        cells[m->key[d->keys[k]]] = mt_cell_text(from->key[k]);
    for (int f = 0; f < MT_FIG_N; f++)
        if (mt_figure_defs[f].sections & 1u << section)
            mt_diff_cells(from->at, (enum mt_figure)f, &cells[m->figure[f]]);
}

static struct mt_row *machine_row(const struct machine *m, const struct mt_diff *d,
                                  const struct mt_diff_row *from, enum mt_diff_section section)
{
    struct mt_row *row = mt_report_row(m->r);
    row->explicit_row = from->explicit_row;
    machine_cells(m, d, from, section, row->cells);
    if (m->shorts)
        mt_diff_short_cells(d, m->r, from, section, row);
    return row;
}

static enum mt_status machine_wholes(const struct machine *m, const struct mt_diff *d,
                                     const struct mt_diff_wanted *w, struct mt_err *err)
{
    const char *key[MT_BY_N];
    struct mt_diff_row whole = {.key = key, .at = {d->side[0].whole, d->side[1].whole}};
    for (size_t i = 0; i < w->trend.n; i++) {
        struct mt_diff_row one = {.key = key, .at = {w->trend.v[0].whole, w->trend.v[i].whole}};
        for (int k = 0; k < d->key_n; k++)
            key[k] = w->trend.v[i].name;
        machine_row(m, d, &one, MT_SECTION_TOTAL)->cells[0] = mt_cell_text("run");
    }
    for (int k = 0; k < d->key_n; k++)
        key[k] = "[total]";
    if (!w->section[MT_SECTION_TOTAL])
        return MT_OK;
    struct mt_row *row = machine_row(m, d, &whole, MT_SECTION_TOTAL);
    return mt_diff_of_processes(d) ? mt_diff_growth_cells(d, w->warmup, m->r, row->cells, err)
                                   : MT_OK;
}

/* The rows of all sections, of which there may be a million. */
struct mt_diff_stream {
    struct machine m;
    struct mt_diff_part_of_stream {
        const struct mt_diff *d;
        struct mt_diff_rows rows;
    } part[MT_SECTION_N];
    size_t part_n, at, next; /* the part at hand, and its next row */
};

/* Whether there is one. */
static bool next_row(struct mt_diff_stream *s, const struct mt_diff **d,
                     enum mt_diff_section *section, struct mt_diff_row *row)
{
    while (s->at < s->part_n && s->next == s->part[s->at].rows.order.n) {
        s->at++;
        s->next = 0;
    }
    if (s->at == s->part_n)
        return false;
    const struct mt_diff_rows *rows = &s->part[s->at].rows;
    *d = s->part[s->at].d;
    *section = rows->section;
    *row = mt_diff_row(*d, rows->order.v[s->next++].row);
    return true;
}

/* A row as it is written. */
static bool next_cells(void *closure, struct mt_cell *cells)
{
    struct mt_diff_stream *s = closure;
    const struct mt_diff *d;
    enum mt_diff_section section;
    struct mt_diff_row row;
    if (!next_row(s, &d, &section, &row))
        return false;
    machine_cells(&s->m, d, &row, section, cells);
    return true;
}

static void all_rows(struct mt_diff_stream *s)
{
    const struct mt_diff *d;
    enum mt_diff_section section;
    struct mt_diff_row row;
    while (next_row(s, &d, &section, &row))
        machine_row(&s->m, d, &row, section);
}

static enum mt_status machine_report(const struct mt_diff *live, const struct mt_diff *op,
                                     const struct mt_diff_wanted *w, struct mt_report *r,
                                     struct mt_diff_stream *stream, struct mt_err *err)
{
    struct machine *m = &stream->m;
    bool any = false;
    m->r = r;
    machine_columns(m, live, op, w);
    MT_TRY(machine_wholes(m, live, w, err));
    for (int s = MT_SECTION_PEAK; s < MT_SECTION_N; s++) {
        struct mt_diff_part_of_stream *part = &stream->part[stream->part_n];
        if (!w->section[s])
            continue;
        part->d = s == MT_SECTION_OP ? op : live;
        MT_TRY(mt_diff_rows(part->d, w->rows, (enum mt_diff_section)s, true, &part->rows, err));
        stream->part_n++;
        any |= part->rows.order.n > 0;
        r->left_out_n += part->rows.left_out_n;
        r->cut_n += part->rows.cut_n;
    }
    if (w->rows->columns || w->people || w->whole_rows) {
        all_rows(stream);
    } else if (any) {
        r->next = next_cells;
        r->closure = stream;
    }
    return MT_OK;
}

/* Whether --columns names one that this section does not have for people. */
static bool wants_figures(const struct mt_diff *d, const char *columns)
{
    size_t known = 0, asked = 0;
    for (const char *p = columns; p && *p; p += strcspn(p, ","), p += *p == ',')
        asked++;
    for (int i = 0; i < MT_DIFF_SHORT_N; i++)
        known += mt_has_word(columns, mt_diff_short_names[i]);
    for (int k = 0; k < d->key_n; k++)
        known += mt_has_word(columns, mt_group_key_name(d->keys[k]));
    return known < asked;
}

/* Whether one of the figures asked for has a meaning in the row. */
static bool has_figure(const void *closure, const struct mt_row *row)
{
    const struct mt_report *r = closure;
    for (size_t c = 0; c < r->columns.n; c++)
        if (r->columns.v[c].unit != MT_UNIT_NONE && row->cells[c].kind != MT_CELL_NULL)
            return true;
    return false;
}

/* Drops rows of sections in which none of them has. */
static void drop_without_figure(struct mt_report *r)
{
    bool asked = false;
    for (size_t c = 0; c < r->columns.n; c++)
        asked |= r->columns.v[c].unit != MT_UNIT_NONE;
    if (asked)
        mt_report_keep(r, has_figure, r);
}

/* One report, when programs read it or people ask for what only it has. */
static enum mt_status whole_report(const struct mt_diff *live, const struct mt_diff *op,
                                   const struct mt_diff_wanted *w, struct mt_diff_reports *out,
                                   struct mt_err *err)
{
    const struct mt_rows columns = {.columns = w->rows->columns};
    struct mt_report *r = mt_diff_new_report(live, w, out);
    out->stream = mt_alloc(sizeof *out->stream);
    MT_TRY(machine_report(live, op, w, r, out->stream, err));
    mt_rows_footer(w->rows, r, NULL, "");
    MT_TRY(mt_rows_apply(&columns, r, "", err));
    if (w->people)
        drop_without_figure(r);
    return MT_OK;
}

enum mt_status mt_diff_report(const struct mt_diff *live, const struct mt_diff *op,
                              const struct mt_diff_wanted *w, struct mt_diff_reports *out,
                              struct mt_err *err)
{
    bool whole = !w->people;
    for (int s = MT_SECTION_PEAK; s < MT_SECTION_N; s++)
        whole |= w->section[s] && wants_figures(s == MT_SECTION_OP ? op : live, w->rows->columns);
    if (whole)
        return whole_report(live, op, w, out, err);
    if (w->trend.n)
        mt_diff_people_trend(live, w, out);
    if (w->section[MT_SECTION_TOTAL])
        mt_diff_people_total(live, w, out);
    bool every = w->section[MT_SECTION_PEAK] && w->section[MT_SECTION_OP];
    if (mt_diff_of_processes(live) && every)
        return mt_diff_people_processes(live, w, out, err);
    for (int s = MT_SECTION_PEAK; s < MT_SECTION_N; s++)
        if (w->section[s])
            MT_TRY(mt_diff_people_section(s == MT_SECTION_OP ? op : live, w,
                                          (enum mt_diff_section)s, out, err));
    return MT_OK;
}

void mt_diff_reports_free(struct mt_diff_reports *r)
{
    for (size_t i = 0; i < r->n; i++) {
        mt_report_free(r->v[i]);
        free(r->v[i]);
    }
    free(r->v);
    for (size_t i = 0; r->stream && i < r->stream->part_n; i++)
        mt_vec_free(&r->stream->part[i].rows.order);
    free(r->stream);
}
