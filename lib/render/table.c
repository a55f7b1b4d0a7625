#include "lib/render/table.h"

#include "lib/base/human.h"
#include "lib/base/nearest.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/run/figures.h"
#include <stdlib.h>
#include <string.h>

/* The columns of tables, in their order, as mt_report_columns reads them; figures that are not
 * named here come behind, for programs. */
static const char of_events[] = "self_net_b net_b self_alloc_b -alloc_b -self_freed_b -freed_b "
                                "-self_alloc_n self_at_peak_b -self_at_end_b -self_time_ns "
                                "-time_ns calls_n -at_peak_b -at_end_b";
/* Of runs of sums, or of one moment: nobody knows what ran how often, and what is held says more
 * than a net. */
static const char of_sums[] = "self_at_peak_b at_peak_b -self_at_end_b at_end_b self_alloc_b "
                              "alloc_b self_alloc_n=ALLOCS -self_freed_b -freed_b -self_net_b "
                              "-net_b -calls_n -self_time_ns -time_ns";

/* PyTorch's names, of all versions, for our columns. */
static const struct alias {
    const char *key, *column, *device;
} aliases[] = {
    {"self_cpu_memory_usage", "self_net_b", "cpu"},
    {"self_cpu_memory", "self_net_b", "cpu"},
    {"cpu_memory_usage", "net_b", "cpu"},
    {"cpu_memory", "net_b", "cpu"},
    {"self_cuda_memory_usage", "self_net_b", "cuda"},
    {"self_cuda_memory", "self_net_b", "cuda"},
    {"cuda_memory_usage", "net_b", "cuda"},
    {"cuda_memory", "net_b", "cuda"},
    {"self_xpu_memory_usage", "self_net_b", "xpu"},
    {"xpu_memory_usage", "net_b", "xpu"},
    {"self_device_memory_usage", "self_net_b", NULL},
    {"device_memory_usage", "net_b", NULL},
    {"self_cpu_time_total", "self_time_ns", NULL},
    {"cpu_time_total", "time_ns", NULL},
    {"self_cpu_time", "self_time_ns", NULL},
    {"cpu_time", "time_ns", NULL},
    {"count", "calls_n", NULL},
};

void mt_table_column_names(struct mt_buf *out)
{
    const struct mt_figure_set shown = mt_figures_kept(MT_KEPT_TABLE);
    for (size_t i = 0; i < shown.n; i++)
        mt_buf_addf(out, "%s ", mt_figure_defs[shown.v[i]].name);
    mt_buf_adds(out, "name ");
}

void mt_table_sort_names(struct mt_buf *out)
{
    mt_table_column_names(out);
    for (size_t i = 0; i < MT_ARRAY_LEN(aliases); i++)
        mt_buf_addf(out, "%s ", aliases[i].key);
}

enum mt_status mt_table_sort_key(const char *key, struct mt_sort *out, struct mt_err *err)
{
    const char *all[MT_FIG_N + MT_ARRAY_LEN(aliases) + 1];
    const struct mt_figure_set shown = mt_figures_kept(MT_KEPT_TABLE);
    size_t n = 0;
    for (size_t i = 0; i < shown.n; i++) {
        const struct mt_figure_def *def = &mt_figure_defs[shown.v[i]];
        all[n++] = def->name;
        if (mt_column_is(def->name, def->title, key)) {
            *out = (struct mt_sort){.column = all[i], .by_size = true, .then_name = true};
            return MT_OK;
        }
    }
    if (mt_column_is("name", NULL, key)) {
        *out = (struct mt_sort){.column = "name", .then_name = true};
        return MT_OK;
    }
    for (size_t i = 0; i < MT_ARRAY_LEN(aliases); i++) {
        all[n++] = aliases[i].key;
        if (strcmp(key, aliases[i].key) == 0) {
            *out = (struct mt_sort){
                .column = aliases[i].column, .device = aliases[i].device, .then_name = true};
            return MT_OK;
        }
    }
    all[n++] = "name";
    struct mt_buf list = {0};
    mt_did_you_mean(key, all, n, &list);
    MT_FAIL(err, MT_EUSAGE, "there is no sort key '%s'", key);
    mt_err_hint(err,
                "%sKeys are columns of the table (`memtool help columns`), and PyTorch's names of "
                "some, such as self_cpu_memory_usage.",
                list.s);
    mt_buf_free(&list);
    return MT_EUSAGE;
}

/* Bits that runs with sums may lack; figures of others are shown as they are. */
#define SUMS                                                                                       \
    (MT_KNOWS_ALLOC | MT_KNOWS_FREED | MT_KNOWS_COUNTS | MT_KNOWS_AT_PEAK | MT_KNOWS_AT_END |      \
     MT_KNOWS_EXTRAS)

unsigned mt_table_needs(const char *column)
{
    enum mt_figure f = mt_figure_find(column);
    return f < MT_FIG_N ? mt_figure_defs[f].needs & SUMS : 0;
}

const char *mt_table_sort_default(unsigned knows)
{
    return mt_knows_net(knows)                            ? "self_net_b"
           : knows & MT_KNOWS_AT_PEAK                     ? "self_at_peak_b"
           : knows & MT_KNOWS_AT_END                      ? "self_at_end_b"
           : knows & MT_KNOWS_ALLOC                       ? "self_alloc_b"
           : knows & MT_KNOWS_EXTRA(MT_EXTRA_COPIED_B)    ? "self_copied_b"
           : knows & MT_KNOWS_EXTRA(MT_EXTRA_UNITS_N)     ? "self_units_n"
           : knows & MT_KNOWS_EXTRA(MT_EXTRA_TEMPORARY_B) ? "self_temporary_b"
                                                          : "self_alloc_b";
}

/* Of modules, which consist of others, what they hold with these says more than without. */
static void show_held(struct mt_report *r)
{
    static const char *const held[] = {"at_peak_b", "at_end_b"};
    for (size_t i = 0; i < MT_ARRAY_LEN(held); i++)
        r->columns.v[mt_report_find_column(r, held[i])].hidden = false;
}

void mt_table_columns(struct mt_report *r, const enum mt_group_key *keys, int key_n, bool device,
                      unsigned knows, bool all)
{
    const struct mt_figure_set shown = mt_figures_kept(MT_KEPT_TABLE);
    mt_report_columns(r, mt_knows_net(knows) ? of_events : of_sums);
    for (size_t i = 0; i < shown.n; i++) {
        const struct mt_figure_def *def = &mt_figure_defs[shown.v[i]];
        if (mt_report_find_column(r, def->name) >= 0 ||
            (!all && def->needs & MT_KNOWS_EXTRAS & ~knows))
            continue;
        mt_report_columns(r, def->name);
        r->columns.v[r->columns.n - 1].hidden = !(def->needs & MT_KNOWS_OTHERS);
    }
    if (mt_knows_events(knows) && mt_group_has(keys, key_n, MT_BY_MODULE))
        show_held(r);
    for (size_t i = 0; i < r->columns.n; i++) {
        struct mt_column *c = &r->columns.v[i];
        c->hidden &= strcmp(c->name, mt_table_sort_default(knows)) != 0;
        c->hidden |= (mt_table_needs(c->name) & ~knows) != 0;
    }
    if (device)
        mt_report_columns(r, "device");
    for (int i = 0; i < key_n; i++) {
        mt_report_column(r, mt_group_key_name(keys[i]), NULL, MT_UNIT_NONE);
        if (keys[i] == MT_BY_NAME)
            r->columns.v[r->columns.n - 1].text = MT_TEXT_OPS;
    }
}

/* The figures of the report's first columns. */
static struct mt_figure_set figures_of(const struct mt_report *r)
{
    struct mt_figure_set set = {0};
    while (set.n < r->columns.n) {
        enum mt_figure f = mt_figure_find(r->columns.v[set.n].name);
        if (f == MT_FIG_N)
            break;
        set.v[set.n++] = f;
    }
    return set;
}

static struct mt_cell figure_cell(const struct mt_group *from, const struct mt_figures *figures,
                                  enum mt_figure f, unsigned knows)
{
    unsigned needs = mt_figure_defs[f].needs;
    bool ran = from->has_calls && from->calls_n; /* call paths of snapshots have no calls */
    bool unlisted = !figures->v[f].i && knows & mt_large_only(needs);
    if (needs & MT_KNOWS_EXTRAS && figures->v[f].i == MT_UNKNOWN)
        return (struct mt_cell){0};
    if (unlisted || (needs == MT_KNOWS_OPS ? !ran : needs & ~knows & SUMS))
        return (struct mt_cell){0};
    return mt_cell_int(figures->v[f].i);
}

void mt_table_rows(struct mt_report *r, const struct mt_groups *g, int key_n, const char *device,
                   bool numbers, unsigned knows, int64_t *net_b)
{
    const struct mt_figure_set set = figures_of(r);
    const int path = numbers ? mt_report_find_column(r, mt_group_key_name(MT_BY_PATH)) : -1;
    for (size_t i = 0; i < g->rows.n; i++) {
        const struct mt_group *from = &g->rows.v[i];
        struct mt_row *row = mt_report_row(r);
        struct mt_figures figures;
        size_t at = 0;
        mt_group_figures(from, &figures);
        mt_wrap_inc(net_b, mt_sums_net(&from->self));
        row->explicit_row = from->explicit_row;
        for (; at < set.n; at++)
            row->cells[at] = figure_cell(from, &figures, set.v[at], knows);
        if (device)
            row->cells[at++] = mt_cell_text(mt_report_text(r, device));
        for (int k = 0; k < key_n; k++, at++)
            row->cells[at] = (int)at == path && !from->explicit_row
                                 ? mt_cell_int(strtoll(from->key[k], NULL, 10))
                                 : mt_cell_text(mt_report_text(r, from->key[k]));
    }
}
