/* memtool segments: what the allocator holds from the driver, how full it is, who holds it open. */
#include "lib/usage/segments.h"
#include "cmd/by.h"
#include "cmd/common.h"
#include "cmd/rows.h"
#include "cmd/view.h"
#include "lib/analysis/holders.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include "lib/render/term.h"
#include "lib/run/knows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_CELLS = 16 };

static const char *device_name, *sort_key, *by;
static struct mt_rows rows = MT_ROWS(20);

static const struct column {
    const char *name;
    int spare; /* this and what follows: of struct mt_column */
    bool whole, hidden;
} columns[] = {{"size_b", 0, false, false},     {"allocated_b", 0, false, false},
               {"inactive_b", 0, false, false}, {"largest_hole_b", 1, false, false},
               {"blocks_n", 4, false, false},   {"age_ns", 3, false, false},
               {"stream", 6, false, false},     {"pool", 5, false, false},
               {"address", 2, true, false},     {"map", 0, true, false},
               {"held_by", 0, false, false},    {"device", 0, false, true},
               {"pending_b", 0, false, true}},
  holder_columns[] = {{"holds_b", 0, false, false},
                      {"segments_n", 0, false, false},
                      {"allocated_b", 0, false, false},
                      {"blocks_n", 0, false, false},
                      {"site", 0, false, false}};

/* How full each sixteenth of a segment is. */
static const char *map_of(struct mt_report *r, const struct mt_segments *s, const struct mt_seg *g,
                          bool ascii)
{
    static const char *const shades[2][5] = {{"·", "░", "▒", "▓", "█"}, {".", "-", "=", "%", "#"}};
    double used[MAP_CELLS];
    struct mt_buf out = {0};
    mt_seg_shares(s, g, MAP_CELLS, used);
    for (int i = 0; i < MAP_CELLS; i++) {
        int shade = used[i] <= 0 ? 0 : used[i] >= 0.999 ? 4 : 1 + (int)(used[i] * 3);
        mt_buf_adds(&out, shades[ascii][shade]);
    }
    const char *text = mt_report_text(r, out.s);
    mt_buf_free(&out);
    return text;
}

/* The site with most bytes in it, and how many more there are. */
static struct mt_cell held_by(struct mt_report *r, const struct mt_segments *s,
                              const struct mt_seg *g)
{
    struct mt_seg_sites sites = {0};
    struct mt_cell cell = {0};
    mt_seg_sites(s, g->first_block, g->first_block + g->block_n, &sites);
    if (sites.rows.n > 1)
        cell = mt_cell_text(mt_report_textf(r, "%s and %zu more",
                                            mt_strtab_get(&s->strings, sites.rows.v[0].site),
                                            sites.rows.n - 1));
    else if (sites.rows.n)
        cell = mt_cell_text(mt_report_text(r, mt_strtab_get(&s->strings, sites.rows.v[0].site)));
    mt_vec_free(&sites.rows);
    return cell;
}

static void add_segment(struct mt_report *r, const struct mt_run *run,
                        const struct mt_run_device *d, const struct mt_segments *s,
                        const struct mt_seg *g, bool ascii)
{
    struct mt_row *row = mt_report_row(r);
    struct mt_cell *c = row->cells;
    c[0] = mt_cell_int(g->size_b);
    c[1] = mt_cell_int(mt_wrap_sub(g->used_b, g->pending_b));
    c[2] = mt_cell_int(mt_wrap_sub(g->size_b, g->used_b));
    c[3] = mt_cell_int(g->largest_hole_b);
    c[4] = mt_cell_int(g->block_n);
    if (g->alloc_ns != INT64_MIN)
        c[5] = mt_cell_int(mt_wrap_sub(run->dur_ns, g->alloc_ns));
    c[6] =
        mt_cell_text(g->stream ? mt_report_textf(r, "0x%llx", (unsigned long long)g->stream) : "0");
    c[7] = mt_cell_text(mt_report_text(r, mt_strtab_get(&s->strings, g->pool)));
    c[8] = mt_cell_text(mt_report_textf(r, "0x%llx", (unsigned long long)g->address));
    c[9] = mt_cell_text(map_of(r, s, g, ascii));
    c[10] = held_by(r, s, g);
    c[11] = mt_cell_text(mt_report_text(r, d->name));
    c[12] = mt_cell_int(g->pending_b);
}

static void add_holders(struct mt_report *r, const struct mt_segments *s)
{
    struct mt_holders holders;
    mt_holders_find(s, &holders);
    for (size_t i = 0; i < holders.all.n; i++) {
        const struct mt_holder *h = &holders.all.v[i];
        struct mt_cell *c = mt_report_row(r)->cells;
        c[0] = mt_cell_int(h->holds_b);
        c[1] = mt_cell_int(h->segments_n);
        c[2] = mt_cell_int(h->used_b);
        c[3] = mt_cell_int(h->blocks_n);
        c[4] = mt_cell_text(mt_report_text(r, mt_strtab_get(&s->strings, h->site)));
    }
    mt_vec_free(&holders.all);
}

static void describe(struct mt_report *r, const struct mt_run *run, const struct mt_run_device *d,
                     const struct mt_segments *s)
{
    char held[MT_HUMAN_MAX], used[MT_HUMAN_MAX], split[MT_HUMAN_MAX], unused[MT_HUMAN_MAX];
    char count[MT_HUMAN_LONG], pending[MT_HUMAN_MAX];
    int64_t used_b = mt_wrap_sub(s->used_b, s->pending_b);
    free(r->title);
    r->title = mt_asprintf("%s · %s · %s, %s · in use %s%s%s, free in them %s, entirely free %s",
                           run->name, d->name, mt_human_plural((int64_t)s->all.n, "segment", count),
                           mt_human_bytes(s->size_b, held), mt_human_bytes(used_b, used),
                           s->pending_b ? ", released but in use by a stream " : "",
                           s->pending_b ? mt_human_bytes(s->pending_b, pending) : "",
                           mt_human_bytes(s->split_b, split), mt_human_bytes(s->unused_b, unused));
    mt_report_total(r, "segments_n", mt_cell_int((int64_t)s->all.n));
    mt_report_total(r, "size_b", mt_cell_int(s->size_b));
    mt_report_total(r, "allocated_b", mt_cell_int(used_b));
    mt_report_total(r, "pending_b", mt_cell_int(s->pending_b));
    mt_report_total(r, "inactive_b", mt_cell_int(s->size_b - s->used_b));
}

static enum mt_status check_options(struct mt_err *err)
{
    struct mt_by keys;
    const bool holders = by != NULL;
    MT_TRY(mt_by_parse(&mt_cmd_segments, by, "site", &keys, err));
    const char *odd = by ? "--by" : sort_key ? "--sort" : NULL;
    MT_TRY(mt_rows_check_svg(&rows, odd, "every segment", err));
    if (!sort_key)
        return MT_OK;
    for (size_t i = 0; !holders && i < MT_ARRAY_LEN(columns); i++)
        if (strcmp(sort_key, columns[i].name) == 0)
            return MT_OK;
    for (size_t i = 0; holders && i < MT_ARRAY_LEN(holder_columns); i++)
        if (strcmp(sort_key, holder_columns[i].name) == 0)
            return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "there is no column '%s' to sort by", sort_key);
    mt_err_hint(err, "`memtool help columns` lists them.");
    return MT_EUSAGE;
}

static void add_columns(struct mt_report *r, bool holders)
{
    const struct column *v = holders ? holder_columns : columns;
    size_t n = holders ? MT_ARRAY_LEN(holder_columns) : MT_ARRAY_LEN(columns);
    r->keep_order = true;
    for (size_t i = 0; i < n; i++) {
        mt_report_columns(r, v[i].name);
        r->columns.v[i].spare = v[i].spare;
        r->columns.v[i].whole = v[i].whole;
        r->columns.v[i].hidden = v[i].hidden;
    }
}

static enum mt_status fill(struct mt_report *r, const struct mt_run *run,
                           const struct mt_run_device *d, const struct mt_segments *s,
                           struct mt_err *err)
{
    const bool holders = by != NULL;
    struct mt_term term = mt_term_probe(MT_COLOR_NEVER);
    add_columns(r, holders);
    if (holders)
        add_holders(r, s);
    if (!holders && s->pending_b)
        r->columns.v[mt_report_find_column(r, "pending_b")].hidden = false;
    for (size_t i = 0; !holders && i < s->all.n; i++)
        add_segment(r, run, d, s, &s->all.v[i], mt_common.ascii || !term.utf8);
    const char *usual = holders ? "holds_b" : "inactive_b";
    const char *column = sort_key ? sort_key : usual;
    bool text = r->columns.v[mt_report_find_column(r, column)].unit == MT_UNIT_NONE;
    mt_table_sort(r, &(struct mt_sort){.column = column, .by_size = !text});
    MT_TRY(mt_rows_apply(&rows, r, mt_rows_size(r, column, usual), err));
    describe(r, run, d, s);
    mt_rows_footer(&rows, r, NULL, "");
    return MT_OK;
}

static enum mt_status show_svg(const struct mt_run *run, const struct mt_run_device *d,
                               const struct mt_segments *s, struct mt_err *err)
{
    struct mt_buf out = {0};
    char held[MT_HUMAN_MAX], used[MT_HUMAN_MAX], pending[MT_HUMAN_MAX];
    char *title = mt_asprintf("%s, %s: %s held, %s in use%s%s", run->name, d->name,
                              mt_human_bytes(s->size_b, held),
                              mt_human_bytes(mt_wrap_sub(s->used_b, s->pending_b), used),
                              s->pending_b ? ", released but in use by a stream " : "",
                              s->pending_b ? mt_human_bytes(s->pending_b, pending) : "");
    mt_segments_svg(&out, s, title);
    enum mt_status st = mt_show_text(out.s, err);
    free(title);
    mt_buf_free(&out);
    return st;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_segments s = {0};
    enum mt_status st = MT_OK;
    mt_view_about(v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    if (!v->has_device)
        return mt_show_no_memory(r, &v->run, err);
    MT_TRY_OUT(mt_segments_load(v->db, &v->run, &v->device, MT_SEG_AT_END, &s, err));
    if (mt_show_wants_svg()) {
        st = show_svg(&v->run, &v->device, &s, err);
    } else {
        MT_TRY_OUT(fill(r, &v->run, &v->device, &s, err));
        mt_report_others(r, v->other_n);
        st = mt_show(r, err);
    }
out:
    mt_segments_free(&s);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE, device_name, MT_KNOWS_SEGMENTS, NULL};
    MT_TRY(check_options(err));
    return mt_report_on_view(args, &wanted, "memtool.segments", show, err);
}

static const struct mt_opt opts[] = {
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "site: who holds segments open that are less than half full, and how much memory that costs"},
    {"sort", 's', MT_OPT_STRING, &sort_key, "COLUMN",
     "by this column (default: inactive_b; with --by site: holds_b)"},
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cuda:0, ... (default: the one with most bytes allocated)"},
    MT_ROWS_OPTS(rows, "in the sorted column, or in the default one where that is not bytes", "20"),
    {0},
};

static void add_column_names(struct mt_buf *out)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(columns); i++)
        mt_buf_addf(out, "%s ", columns[i].name);
}

static const struct mt_glossary_entry keys[] = {
    {"site", "the top op, or line of Python, whose blocks hold segments open"}, {0}};
static const struct mt_glossary words[] = {{"Words of --by", keys, "by"}, {0}};

static const struct mt_values values[] = {
    {"sort", NULL, add_column_names}, {"columns", NULL, add_column_names}, {0}};

const struct mt_cmd mt_cmd_segments = {
    .name = "segments",
    .summary = "what an allocator holds from the driver, how full it is, who holds it open",
    .usage = "[options] [RUN]",
    .examples = "  memtool segments snap\n"
                "  memtool segments snap --by site\n"
                "  memtool segments snap --sort address --limit 0\n"
                "  memtool segments snap --format svg -o segments.svg\n",
    .opts = opts,
    .values = values,
    .words = words,
    .more_formats = "svg",
    .args_max = 1,
    .run = run,
};
