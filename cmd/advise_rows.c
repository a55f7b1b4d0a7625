/* memtool advise: a piece of advice as people and as programs read it. */
#include "cmd/advise.h"
#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include "lib/render/columns.h"
#include <stdlib.h>

enum { SITES_SHOWN = 3 };

/* What ran at the time of a peak. */
static const char *const phases[MT_PHASE_N] = {
    [MT_PHASE_FORWARD] = ", in forward",
    [MT_PHASE_BACKWARD] = ", in backward",
    [MT_PHASE_RECOMPUTED] = ", where forward is recomputed",
    [MT_PHASE_OPTIMIZER] = ", in the optimizer's step",
    [MT_PHASE_DATA] = ", where data is loaded",
    [MT_PHASE_OTHER] = "",
};

/* ---- the paragraph ---- */

static const char *before_saving(enum mt_advice_bound bound)
{
    return bound == MT_BOUND_ABOUT ? "about " : bound == MT_BOUND_UP_TO ? "up to " : "";
}

static const char *before_peak(enum mt_advice_bound bound)
{
    return bound == MT_BOUND_ABOUT ? "about " : bound == MT_BOUND_UP_TO ? "at least " : "";
}

/* "37 %", "4.2 %" */
static void add_percent(struct mt_buf *b, double percent)
{
    mt_buf_addf(b, percent < 10 && percent > -10 ? "%.1f %%" : "%.0f %%", percent);
}

static void add_headline(struct mt_buf *b, size_t number, const struct mt_advice *a, double percent)
{
    char saving[MT_HUMAN_MAX], peak[MT_HUMAN_MAX];
    mt_buf_addf(b, "%zu. \t%s%s%s: ", number, a->rule->id, a->subject ? " " : "",
                a->subject ? a->subject : "");
    if (!a->applies) {
        mt_buf_addf(b, "does not apply: %s", a->because);
        return;
    }
    mt_human_bytes(a->new_peak_b, peak);
    if (a->saving_b > 0) {
        mt_buf_addf(b, "saves %s%s (", before_saving(a->bound),
                    mt_human_bytes(a->saving_b, saving));
        add_percent(b, percent);
        mt_buf_addf(b, "), the peak becomes %s%s%s", before_peak(a->bound), peak,
                    phases[a->new_peak_phase]);
    } else if (a->saving_b < 0) {
        mt_buf_addf(b, "raises the peak by %s (", mt_human_bytes(-a->saving_b, saving));
        add_percent(b, -percent);
        mt_buf_addf(b, ") to %s%s", peak, phases[a->new_peak_phase]);
    } else {
        mt_buf_addf(b, "saves nothing, the peak stays %s%s", peak, phases[a->new_peak_phase]);
    }
}

/* "aten::linear in forward, Block, train.py:110 forward: 48 MiB" */
static void add_site(struct mt_buf *b, const struct mt_advice_site *s)
{
    char bytes[MT_HUMAN_MAX];
    mt_buf_adds(b, s->name);
    if (s->module)
        mt_buf_addf(b, ", module %s", s->module);
    if (s->source)
        mt_buf_addf(b, ", %s", s->source);
    mt_buf_addf(b, ": %s", mt_human_bytes(s->at_peak_b, bytes));
}

static void add_bytes(struct mt_buf *b, const struct mt_advice *a)
{
    char bytes[MT_HUMAN_MAX], blocks[MT_HUMAN_LONG];
    mt_buf_addf(b, "at the peak %s in %s", mt_human_bytes(a->at_peak_b, bytes),
                mt_human_plural(a->at_peak_n, "block", blocks));
    for (size_t i = 0; i < a->sites.n && i < SITES_SHOWN; i++) {
        mt_buf_adds(b, "; ");
        add_site(b, &a->sites.v[i]);
    }
    if (a->sites.n > SITES_SHOWN)
        mt_buf_addf(b, "; %s",
                    mt_human_plural((int64_t)a->sites.n - SITES_SHOWN, "more place", blocks));
}

static bool costs(const struct mt_advice *a)
{
    return a->price || a->price_ns != MT_UNKNOWN;
}

static void add_price(struct mt_buf *b, const struct mt_advice *a)
{
    char time[MT_HUMAN_MAX];
    mt_buf_adds(b, a->price ? a->price : "");
    if (a->price_ns != MT_UNKNOWN)
        mt_buf_addf(b, "%s%s a step", a->price ? ", " : "", mt_human_ns(a->price_ns, time));
}

static const char *paragraph(struct mt_report *r, size_t number, const struct mt_advice *a,
                             double percent, const char *verify)
{
    struct mt_buf b = {0};
    add_headline(&b, number, a, percent);
    if (a->applies)
        mt_buf_addf(&b, "\n   what:   \t%s: %s", a->rule->what, a->because);
    if (a->at_peak_n) {
        mt_buf_adds(&b, "\n   bytes:  \t");
        add_bytes(&b, a);
    }
    if (costs(a)) {
        mt_buf_adds(&b, "\n   price:  \t");
        add_price(&b, a);
    }
    if (a->applies)
        mt_buf_addf(&b, "\n   write:  \t%s\n   verify: \t%s", a->how, verify);
    const char *text = mt_report_text(r, b.s);
    mt_buf_free(&b);
    return text;
}

/* ---- the cells ---- */

static void put_site(struct mt_json_out *j, const struct mt_advice_site *s)
{
    const struct {
        const char *key, *text;
    } texts[] = {
        {"name", s->top}, {"scope", s->scope}, {"module", s->module}, {"source", s->source}};
    mt_json_put_begin(j, "{}", false);
    for (size_t i = 0; i < MT_ARRAY_LEN(texts); i++) {
        mt_json_put_key(j, texts[i].key);
        mt_json_put_text(j, texts[i].text);
    }
    mt_json_put_key(j, "at_peak_b");
    mt_json_put_int(j, s->at_peak_b);
    mt_json_put_key(j, "at_peak_n");
    mt_json_put_int(j, s->at_peak_n);
    mt_json_put_key(j, "pieces_n");
    if (s->pieces_n == MT_UNKNOWN)
        mt_json_put_null(j);
    else
        mt_json_put_int(j, s->pieces_n);
    mt_json_put_end(j);
}

static const char *sites(struct mt_report *r, const struct mt_advice *a)
{
    struct mt_buf b = {0};
    struct mt_json_out j = {.to = &b};
    mt_json_put_begin(&j, "[]", false);
    for (size_t i = 0; i < a->sites.n; i++)
        put_site(&j, &a->sites.v[i]);
    mt_json_put_end(&j);
    const char *text = mt_report_text(r, b.s);
    mt_buf_free(&b);
    return text;
}

/* What was found, what it costs and how it is written, in a cell. */
static const char *evidence(struct mt_report *r, const struct mt_advice *a)
{
    struct mt_buf b = {0};
    mt_buf_addf(&b, "%s: %s", a->rule->what, a->because);
    if (a->at_peak_n) {
        mt_buf_adds(&b, "; ");
        add_bytes(&b, a);
    }
    if (costs(a)) {
        mt_buf_adds(&b, ". It costs: ");
        add_price(&b, a);
    }
    if (a->applies)
        mt_buf_addf(&b, ". Write: %s", a->how);
    const char *text = mt_report_text(r, b.s);
    mt_buf_free(&b);
    return text;
}

void mt_advise_columns(struct mt_report *r)
{
    r->keep_order = true;
    mt_report_columns(r, "new_peak_b saving_b saving_pct bound advice -applies -peak_b -at_peak_b "
                         "-at_peak_n -per_step_b -per_step_n -new_peak_ns -new_peak_phase "
                         "-price_ns -site -sites -because "
                         "-price -how -verify evidence");
}

/* Figures of what applies; else they are unknown. */
static void fill_figures(const struct mt_report *r, struct mt_cell *c, const struct mt_advice *a,
                         double percent)
{
    const struct {
        const char *column;
        struct mt_cell cell;
    } figures[] = {
        {"new_peak_b", mt_cell_int(a->new_peak_b)}, {"saving_b", mt_cell_int(a->saving_b)},
        {"saving_pct", mt_cell_real(percent)},      {"at_peak_b", mt_cell_int(a->at_peak_b)},
        {"at_peak_n", mt_cell_int(a->at_peak_n)},
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++)
        c[mt_report_find_column(r, figures[i].column)] = figures[i].cell;
    if (a->growth.per_step_b > 0) {
        c[mt_report_find_column(r, "per_step_b")] = mt_cell_real(a->growth.per_step_b);
        c[mt_report_find_column(r, "per_step_n")] = mt_cell_real(a->growth.per_step_n);
    }
    if (a->new_peak_ns != MT_UNKNOWN) {
        c[mt_report_find_column(r, "new_peak_ns")] = mt_cell_int(a->new_peak_ns);
        c[mt_report_find_column(r, "new_peak_phase")] =
            mt_cell_text(mt_phase_names[a->new_peak_phase]);
    }
    if (a->price_ns != MT_UNKNOWN)
        c[mt_report_find_column(r, "price_ns")] = mt_cell_int(a->price_ns);
}

void mt_advise_add_row(struct mt_report *r, const struct mt_advice *a, int64_t peak_b,
                       const char *verify)
{
    double percent = mt_advise_percent(a->saving_b, peak_b);
    struct mt_row *row = mt_report_row(r);
    struct mt_cell *c = row->cells;
    const struct {
        const char *column;
        struct mt_cell cell;
    } cells[] = {
        {"bound", mt_cell_text(mt_advice_bound_names[a->bound])},
        {"advice", mt_cell_text(mt_report_text(r, a->rule->id))},
        {"applies", mt_cell_bool(a->applies)},
        {"peak_b", mt_cell_int(peak_b)},
        {"site", mt_cell_text(a->sites.n ? mt_report_text(r, a->sites.v[0].name) : NULL)},
        {"sites", mt_cell_json(sites(r, a))},
        {"because", mt_cell_text(mt_report_text(r, a->because))},
        {"price", mt_cell_text(a->applies ? mt_report_text(r, a->price) : NULL)},
        {"how", mt_cell_text(mt_report_text(r, a->how))},
        {"verify", mt_cell_text(mt_report_text(r, verify))},
        {"evidence", mt_cell_text(evidence(r, a))},
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(cells); i++)
        c[mt_report_find_column(r, cells[i].column)] = cells[i].cell;
    if (a->applies)
        fill_figures(r, c, a, percent);
    row->lines = paragraph(r, r->rows.n, a, percent, verify);
}
