#include "cmd/common.h"
#include "cmd/rows.h"
#include "cmd/totals.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/run/invert.h"
#include "lib/run/knows.h"
#include "lib/run/tree_order.h"
#include <stdlib.h>

static const char *device_name, *category, *name_regex;
static int64_t depth, min_b = -1; /* -1: not given */
static struct mt_rows shown = MT_ROWS(200);
static bool invert;

struct tree_view {
    struct mt_tree *t;
    struct mt_tree_order order;
    int64_t least_b[MT_TREE_SIZE_N]; /* what is smaller in each of these is hidden */
    struct mt_report *report;
    struct mt_buf prefix, drawn;
    struct mt_strtab lines; /* what is drawn before names, each once: of deep trees it is long */
};

static unsigned knows; /* enum mt_knows, of the device */

static struct mt_cell sum_cell(enum mt_knows need, int64_t v)
{
    return (knows & need) == need && (v || !(knows & mt_large_only(need))) ? mt_cell_int(v)
                                                                           : (struct mt_cell){0};
}

static const char *lines_before(struct tree_view *v, const char *branch)
{
    mt_buf_set(&v->drawn, v->prefix.s, v->prefix.n);
    mt_buf_adds(&v->drawn, branch);
    return mt_strtab_get(&v->lines, mt_strtab_add(&v->lines, v->drawn.s, v->drawn.n));
}

static void add_row(struct tree_view *v, uint32_t i, int level, bool last)
{
    const struct mt_item *it = &v->t->items.v[i];
    struct mt_row *row = mt_report_row(v->report);
    const struct mt_sums *s = &it->self, *t = &it->total;
    bool called = it->calls_n > 0; /* call paths of snapshots have no calls */
    const struct mt_cell none = {0};
    row->explicit_row = it->node == MT_NONE;
    const struct {
        const char *column;
        struct mt_cell cell;
    } cells[] = {{"net_b", sum_cell(MT_KNOWS_ALLOC | MT_KNOWS_FREED, mt_sums_net(t))},
                 {"self_net_b", sum_cell(MT_KNOWS_ALLOC | MT_KNOWS_FREED, mt_sums_net(s))},
                 {"alloc_b", sum_cell(MT_KNOWS_ALLOC, t->alloc_b)},
                 {"self_alloc_b", sum_cell(MT_KNOWS_ALLOC, s->alloc_b)},
                 {"freed_b", sum_cell(MT_KNOWS_ALLOC | MT_KNOWS_FREED, t->freed_b)},
                 {"at_peak_b", sum_cell(MT_KNOWS_AT_PEAK, t->at_peak_b)},
                 {"self_at_peak_b", sum_cell(MT_KNOWS_AT_PEAK, s->at_peak_b)},
                 {"at_end_b", sum_cell(MT_KNOWS_AT_END, t->at_end_b)},
                 {"self_at_end_b", sum_cell(MT_KNOWS_AT_END, s->at_end_b)},
                 {"calls_n", called ? mt_cell_int(it->calls_n) : none},
                 {"time_ns", called ? mt_cell_int(it->time_ns) : none},
                 {"self_time_ns", called ? mt_cell_int(it->self_time_ns) : none},
                 {"depth", mt_cell_int(level)},
                 {"parent", it->parent == MT_NONE ? none : mt_cell_int(it->parent)},
                 {"node", row->explicit_row ? none : mt_cell_int(i)},
                 {"name", mt_cell_text(mt_report_text(v->report, mt_tree_name(v->t, it)))}};
    for (size_t c = 0; c < MT_ARRAY_LEN(cells); c++) {
        int column = mt_report_find_column(v->report, cells[c].column);
        if (column >= 0)
            row->cells[column] = cells[c].cell;
    }
    if (mt_people_read())
        row->tree = lines_before(v, level == 0 ? "" : last ? "└─ " : "├─ ");
}

/* Preorder with a stack of the items open above; each knows the prefix of its children. */
struct level {
    uint32_t next;   /* sibling still to be shown, MT_NONE = none */
    size_t prefix_n; /* length of the prefix at this level */
};

static void walk(struct tree_view *v)
{
    enum { PREFIX_MOST = 512 }; /* bytes; what is deeper is drawn no further to the right */
    const struct mt_tree_order *o = &v->order;
    MT_VEC(struct level) stack = {0};
    size_t limit = (size_t)mt_rows_limit(&shown);
    mt_buf_adds(&v->prefix, "");
    *mt_vec_push(&stack) = (struct level){mt_tree_chosen(o, o->first[v->t->items.n]), 0};
    while (stack.n) {
        struct level *top = &stack.v[stack.n - 1];
        uint32_t i = top->next;
        int level = (int)stack.n - 1;
        if (i == MT_NONE) {
            stack.n--;
            continue;
        }
        bool last = (top->next = mt_tree_chosen(o, o->next[i])) == MT_NONE;
        v->prefix.n = top->prefix_n;
        v->prefix.s[v->prefix.n] = '\0';
        if (limit && v->report->rows.n >= limit)
            v->report->left_out_n++;
        else
            add_row(v, i, level, last);
        if (depth && level + 1 >= depth)
            continue;
        if (level && v->prefix.n < PREFIX_MOST)
            mt_buf_adds(&v->prefix, last ? "   " : "│  ");
        *mt_vec_push(&stack) = (struct level){mt_tree_chosen(o, o->first[i]), v->prefix.n};
    }
    mt_vec_free(&stack);
}

/* Callers instead of what is called. */
static void turn_round(struct mt_tree *t, struct mt_report *r)
{
    char n[MT_HUMAN_MAX];
    uint32_t levels = mt_tree_invert(t, depth > 0 && depth < MT_NONE ? (uint32_t)depth : 0);
    if (levels)
        mt_report_note(r,
                       "Callers are shown up to depth %s: all of them, up to the root, would be "
                       "too many. `memtool tree` shows them from the root down.",
                       mt_human_count(levels, n));
}

static void add_columns(struct mt_report *r)
{
    static const char of_events[] = "net_b self_net_b alloc_b -self_alloc_b -freed_b calls_n "
                                    "-time_ns -self_time_ns -depth -parent -node";
    static const char of_ends[] = "at_peak_b -self_at_peak_b -at_end_b -self_at_end_b";
    static const struct {
        unsigned need; /* else hidden */
        const char *shown, *hidden;
    } of_sums[] = {
        {MT_KNOWS_AT_PEAK, "at_peak_b self_at_peak_b", "-at_peak_b -self_at_peak_b"},
        {MT_KNOWS_AT_END, "at_end_b -self_at_end_b", "-at_end_b -self_at_end_b"},
        {MT_KNOWS_ALLOC, "alloc_b -self_alloc_b", "-alloc_b -self_alloc_b"},
        {0, "-net_b -self_net_b -freed_b -calls_n -time_ns -self_time_ns -depth -parent -node",
         NULL},
    };
    if (mt_knows_net(knows))
        mt_report_columns(r, of_events);
    if (mt_knows_net(knows) && knows & MT_KNOWS_AT_PEAK)
        mt_report_columns(r, of_ends);
    for (size_t i = 0; i < MT_ARRAY_LEN(of_sums) && !mt_knows_net(knows); i++)
        mt_report_columns(r, (knows & of_sums[i].need) == of_sums[i].need ? of_sums[i].shown
                                                                          : of_sums[i].hidden);
    mt_report_column(r, "name", NULL, MT_UNIT_TREE);
    r->columns.v[r->columns.n - 1].text = MT_TEXT_OPS;
}

static void describe(struct mt_report *r, const struct mt_run *run, const struct mt_run_device *d)
{
    mt_report_about(r, run, d,
                    MT_ABOUT_SUMS | MT_ABOUT_LEVELS | MT_ABOUT_END | MT_ABOUT_SITES |
                        MT_ABOUT_DURATIONS | MT_ABOUT_SCOPES);
    if (d)
        mt_totals_describe(&(struct mt_totals){run, d, 1, d->net_b, {NULL, NULL}}, r);
    else
        mt_report_no_memory(r, run);
    bool large = min_b > 0;
    if (name_regex || large)
        r->empty = name_regex && large ? "no call path both matches --name and reaches --min"
                   : large             ? "no call path reaches --min"
                                       : "no call path goes through a match of --name";
    mt_rows_footer(&shown, r, NULL, ", --depth and --min show fewer");
}

/* Whether rows are chosen that nobody chose by options: of a run with memory, people see where it
 * is, unless they ask for more; programs see all. */
static bool hides_small(const struct mt_run_device *d)
{
    return d && min_b < 0 && !name_regex && mt_people_read();
}

/* Of heaps, what every profile of them hides: what is less than 1 % in each figure. */
static void choose_least(struct tree_view *v, const struct mt_run_device *d)
{
    for (int s = 0; s < MT_TREE_SIZE_N; s++) {
        int64_t percent = mt_tree_size_of_roots(v->t, knows, (enum mt_tree_size)s) / 100;
        bool sums = d && !mt_device_has_events(d);
        v->least_b[s] = !hides_small(d)       ? min_b > 0 ? min_b : INT64_MIN
                        : sums && percent > 1 ? percent
                                              : 1;
    }
}

/* Rows that are not chosen; below the table those that nobody asked to leave out. */
static void tell_not_chosen(const struct tree_view *v, const struct mt_run_device *d)
{
    char rows[MT_HUMAN_LONG];
    int64_t n = mt_tree_not_chosen(&v->order, depth);
    v->report->left_out_n += n;
    if (n && hides_small(d))
        mt_report_footer(v->report, "%s of %s left out; --min 0 shows %s.",
                         mt_human_plural(n, "row", rows),
                         mt_device_has_events(d) ? "0 bytes" : "less than 1 % of each figure",
                         n == 1 ? "it" : "them");
}

/* name NULL: matches all. */
static bool matches(const void *closure, const char *text)
{
    struct mt_finder *const *name = closure;
    return !*name || mt_name_matches(*name, text, MT_TEXT_OPS);
}

static enum mt_status choose(struct tree_view *v, struct mt_err *err)
{
    struct mt_finder finder, *name = name_regex ? &finder : NULL;
    if (name)
        MT_TRY(mt_name_finder(name_regex, name, err));
    mt_tree_choose(&v->order, matches, &name, v->least_b);
    if (name)
        mt_finder_free(name);
    return MT_OK;
}

static enum mt_status show(struct mt_view *view, struct mt_report *r, struct mt_err *err)
{
    const struct mt_run_device *d = mt_view_device(view);
    struct tree_view v = {.t = &view->tree, .report = r};
    enum mt_status st = MT_OK;
    mt_strtab_init(&v.lines);
    if (d)
        MT_TRY_OUT(mt_knows_sums(&view->run, d, err));
    knows = d ? d->knows : (unsigned)MT_KNOWS_OPS;
    if (invert)
        turn_round(v.t, r);
    mt_tree_add_outside(v.t);
    choose_least(&v, d);
    mt_tree_order_init(&v.order, v.t, knows);
    MT_TRY_OUT(choose(&v, err));
    add_columns(r);
    walk(&v);
    if (!d)
        mt_report_hide_empty(r);
    describe(r, &view->run, d);
    tell_not_chosen(&v, d);
    st = mt_show(r, err);
out:
    mt_tree_order_free(&v.order);
    mt_buf_free(&v.prefix);
    mt_buf_free(&v.drawn);
    mt_strtab_free(&v.lines);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_TREE, device_name, 0, category};
    return mt_report_on_view(args, &wanted, "memtool.tree", show, err);
}

static const struct mt_opt opts[] = {
    {"depth", 0, MT_OPT_INT, &depth, "N", "at most N levels; 0 = all"},
    {"min", 0, MT_OPT_SIZE, &min_b, "SIZE",
     "only paths to ops that allocated or held at least this; 0 = all (default: 1 byte, of heap "
     "logs "
     "1 % of any figure shown; with --name, csv, tsv and json: all)"},
    {"name", 0, MT_OPT_STRING, &name_regex, "REGEX", "only paths through a match"},
    MT_CATEGORY_OPT(category),
    MT_DEVICE_OPT(device_name),
    {"invert", 0, MT_OPT_FLAG, &invert, NULL,
     "callers: each op with its own figures, below it its callers"},
    {"limit", 'n', MT_OPT_INT, &shown.limit, "N", MT_LIMIT_HELP("200")},
    {0},
};

static const struct mt_values values[] = {{"category", mt_category_words, NULL}, {0}};

const struct mt_cmd mt_cmd_tree = {
    .name = "tree",
    .summary = "the call hierarchy with inclusive and self memory",
    .usage = "[options] [RUN]",
    .examples = "  memtool tree --depth 4\n  memtool tree base --name conv2d --min 1MiB\n  memtool "
                "tree --invert --depth 2\n",
    .opts = opts,
    .values = values,
    .args_max = 1,
    .run = run,
};
