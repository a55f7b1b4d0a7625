/* memtool oom: an allocation that failed on one page, or those of several dumps side by side. */
#include "cmd/oom.h"
#include "cmd/cache.h"
#include "cmd/category_line.h"
#include "cmd/common.h"
#include "lib/analysis/oom_advice.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/chart.h"
#include "lib/render/columns.h"
#include "lib/render/term.h"
#include "lib/run/knows.h"
#include "lib/run/sites.h"
#include "lib/usage/buckets.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *device_name, *capacity_text;
static int64_t capacity_b = MT_UNKNOWN; /* capacity_text */

static struct mt_rows rows = MT_ROWS(10);

/* The page: for people a report for each part of it, for programs one of all. */
struct page {
    struct mt_view v;
    struct mt_ooms ooms;
    const struct mt_oom *oom; /* the last: what the program died of */
    struct mt_segments s;     /* then; none of traces */
    bool has_segments;
    struct mt_report parts[3]; /* facts, who held what, what would help; programs: all in one */
    size_t part_n;
    char *run; /* its name for a shell, and the device where it is not the usual one */
};

static struct mt_report *part(struct page *p, size_t i)
{
    return &p->parts[i < p->part_n ? i : 0];
}

/* What is known of memory when the allocation failed, for programs and for people. */
enum fact {
    ASKED_FOR,
    DEVICE_FREE,
    CAPACITY,
    OUTSIDE,
    RESERVED,
    REQUESTED,
    ROUNDING,
    SPLIT,
    UNUSED,
    LARGEST_HOLE
};
static const char *const facts[][2] = {
    [ASKED_FOR] = {"asked_for", "asked for"},
    [DEVICE_FREE] = {"device_free", MT_OOM_FREE},
    [CAPACITY] = {"capacity", "capacity of the GPU"},
    [OUTSIDE] = {"outside_pytorch", "outside PyTorch: CUDA, NCCL, other processes"},
    [RESERVED] = {"reserved", MT_OOM_RESERVED},
    [REQUESTED] = {"requested", "- in use"},
    [ROUNDING] = {"rounding", "- rounding of blocks in use"},
    [SPLIT] = {"split", "- free in segments partly in use"},
    [UNUSED] = {"unused", "- segments with nothing in use"},
    [LARGEST_HOLE] = {"largest_hole", MT_OOM_HOLE},
};

static struct mt_row *add_fact(struct page *p, enum fact fact, int64_t bytes)
{
    struct mt_report *r = part(p, 0);
    struct mt_row *row = mt_report_row(r);
    mt_report_put(r, row, "section", mt_cell_text("memory"));
    mt_report_put(r, row, "what", mt_cell_text(facts[fact][p->part_n > 1]));
    if (bytes != MT_UNKNOWN)
        mt_report_put(r, row, "bytes_b", mt_cell_int(bytes));
    return row;
}

static bool is_cpu(const struct page *p)
{
    return p->v.device.type == MT_DEVICE_CPU;
}

/* A part of what is reserved. */
static void add_share(struct page *p, enum fact fact, int64_t bytes, int64_t n)
{
    struct mt_row *row = add_fact(p, fact, bytes);
    const struct mt_report *r = part(p, 0);
    if (p->s.size_b > 0)
        mt_report_put(r, row, "share_pct",
                      mt_cell_real(100.0 * (double)bytes / (double)p->s.size_b));
    if (n != MT_UNKNOWN)
        mt_report_put(r, row, "count_n", mt_cell_int(n));
}

/* What is neither PyTorch's nor free: of other processes, of CUDA itself, of libraries. */
static void add_outside(struct page *p)
{
    if (p->oom->device_free_b == INT64_MIN || !p->has_segments || capacity_b == MT_UNKNOWN)
        return;
    const int64_t outside_b =
        mt_wrap_sub(capacity_b, mt_wrap_add(p->s.size_b, p->oom->device_free_b));
    add_fact(p, CAPACITY, capacity_b);
    add_fact(p, OUTSIDE, outside_b);
    if (outside_b < 0)
        mt_report_note(part(p, 0), "--capacity is less than what PyTorch held and what was free: "
                                   "it is of another GPU, or in another unit.");
}

static void add_facts(struct page *p)
{
    add_fact(p, ASKED_FOR, p->oom->asked_b);
    if (p->part_n == 1 || !is_cpu(p))
        add_fact(p, DEVICE_FREE,
                 p->oom->device_free_b == INT64_MIN ? MT_UNKNOWN : p->oom->device_free_b);
    add_outside(p);
    if (!p->has_segments)
        return;
    add_share(p, RESERVED, p->s.size_b, (int64_t)p->s.all.n);
    add_share(p, REQUESTED, p->s.requested_b, (int64_t)p->s.blocks.n);
    add_share(p, ROUNDING, mt_wrap_sub(p->s.used_b, p->s.requested_b), MT_UNKNOWN);
    add_share(p, SPLIT, p->s.split_b, p->s.hole_n);
    add_share(p, UNUSED, p->s.unused_b, p->s.unused_n);
    add_fact(p, LARGEST_HOLE, p->s.largest_hole_b);
}

static void add_holder(struct page *p, int64_t bytes, int64_t blocks_n, const char *site)
{
    struct mt_report *r = part(p, 1);
    struct mt_row *row = mt_report_row(r);
    mt_report_put(r, row, "section", mt_cell_text("held"));
    mt_report_put(r, row, "bytes_b", mt_cell_int(bytes));
    if (blocks_n >= 0)
        mt_report_put(r, row, "count_n", mt_cell_int(blocks_n));
    mt_report_put(r, row, "site", mt_cell_text(mt_report_text(r, site)));
}

static int by_bytes(const void *a, const void *b)
{
    const struct mt_live_group *x = a, *y = b;
    return x->at[0].bytes > y->at[0].bytes ? -1 : x->at[0].bytes < y->at[0].bytes;
}

/* What it was for: totals, and for people a line above who held it. */
static void add_categories(struct page *p, const struct mt_live_set *live, int64_t level)
{
    const struct mt_category_parts parts = mt_category_parts_of(&p->v.device, live, level);
    struct mt_buf line = {0};
    mt_category_totals(part(p, 0), "", &parts);
    mt_category_line(&line, &parts);
    part(p, 1)->figure = mt_category_figure(&line);
}

/* Who held what at that moment, by site; all of it adds up to the level then. */
static enum mt_status add_held(struct page *p, struct mt_err *err)
{
    static const enum mt_group_key site = MT_BY_SITE;
    struct mt_live_set live = {0};
    struct mt_live_groups g = {0};
    enum mt_status st = MT_OK;
    struct mt_levels levels = {0};
    const struct mt_view *v = &p->v;
    mt_live_groups_init(&g, &p->v.blocks, &site, 1);
    MT_TRY_OUT(mt_levels_load_near(v->db, &v->run, &v->device, &p->oom->t_ns, 1, &levels, err));
    MT_TRY_OUT(mt_live_at(&p->v.blocks, &v->device, p->oom->at.record, &live, err));
    int64_t level = v->device.start_b;
    for (size_t i = 0; i < levels.all.n && levels.all.v[i].record <= p->oom->at.record; i++)
        level = mt_levels_value(&levels, (int64_t)i);
    mt_live_groups_add(&g, &live, level, 0);
    if (g.rows.n)
        qsort(g.rows.v, g.rows.n, sizeof *g.rows.v, by_bytes);
    const size_t limit = (size_t)mt_rows_limit(&rows);
    const size_t shown = limit && g.rows.n > limit ? limit : g.rows.n;
    for (size_t i = 0; i < shown; i++)
        add_holder(p, g.rows.v[i].at[0].bytes, g.rows.v[i].at[0].blocks_n, g.rows.v[i].key[0]);
    part(p, 1)->left_out_n = part(p, 1)->cut_n = (int64_t)(g.rows.n - shown);
    if (shown < g.rows.n)
        mt_report_footer(part(p, 1), "%zu more sites; --limit 0 shows all", g.rows.n - shown);
    mt_report_total(part(p, 0), "in_use_b", mt_cell_int(level));
    add_categories(p, &live, level);
out:
    mt_live_groups_free(&g);
    mt_live_set_free(&live);
    mt_levels_free(&levels);
    return st;
}

/* What to do first. */
static void add_verdict(struct page *p, const struct mt_oom_advices *all)
{
    char size[MT_HUMAN_MAX];
    struct mt_report *r = part(p, 2);
    const struct mt_report *held = part(p, 1);
    const struct mt_cell *most = held->rows.n ? held->rows.v[0].cells : NULL;
    const char *remedy = NULL, *perhaps = NULL;
    for (size_t i = 1; i < all->rows.n; i++) {
        if (!remedy && all->rows.v[i].fits == MT_FITS_YES)
            remedy = all->rows.v[i].remedy;
        if (!perhaps && all->rows.v[i].fits == MT_FITS_UNKNOWN)
            perhaps = all->rows.v[i].remedy;
    }
    if (p->part_n == 1 || !(remedy || perhaps || most))
        return;
    if (remedy)
        mt_report_footer(r, "first: %s", remedy);
    else if (perhaps)
        mt_report_footer(r, "perhaps: %s", perhaps);
    else
        mt_report_footer(r, "nothing the allocator could have done makes room");
    if (most)
        mt_report_footer(r, "%suse less: %s holds most, %s", remedy || perhaps ? "or " : "",
                         most[2].s, mt_human_bytes(most[0].i, size));
}

/* How memory went up to then, as a line of marks. */
static enum mt_status add_curve(struct page *p, struct mt_err *err)
{
    enum { MARKS = 60 };
    const struct mt_window window = {INT64_MIN,
                                     mt_wrap_add(p->oom->t_ns, 1)}; /* and what comes then */
    const struct mt_window shown = mt_window_within(&window, p->v.run.dur_ns);
    const struct mt_term term = mt_term_probe(MT_COLOR_NEVER);
    struct mt_buckets buckets = {0};
    struct mt_levels levels = {0};
    struct mt_buf line = {0};
    size_t n;
    int64_t *moments = mt_buckets_moments(&window, &shown, MARKS, &n), most[MARKS];
    char from[MT_HUMAN_MAX], to[MT_HUMAN_MAX];
    enum mt_status st =
        mt_levels_load_near(p->v.db, &p->v.run, &p->v.device, moments, n, &levels, err);
    if (st == MT_OK) {
        mt_buckets_fill(&buckets, &levels, &window, &shown, MARKS);
        for (size_t i = 0; i < buckets.all.n; i++)
            most[i] = buckets.all.v[i].max_b;
        mt_sparkline(&line, most, buckets.all.n, buckets.all.n, mt_common.ascii || !term.utf8);
        mt_report_footer(part(p, 0), "in use until then: %s  %s at first, %s at most", line.s,
                         mt_human_bytes(levels.start_b, from),
                         mt_human_bytes(mt_buckets_peak(&buckets)->max_b, to));
    }
    mt_buf_free(&line);
    mt_buckets_free(&buckets);
    mt_levels_free(&levels);
    free(moments);
    return st;
}

static void add_remedies(struct page *p)
{
    static const char *const words[] = {
        [MT_FITS_NO] = "no", [MT_FITS_YES] = "yes", [MT_FITS_UNKNOWN] = "unknown"};
    const struct mt_oom *oom = p->oom;
    const struct mt_oom_advice_request asked = {.size_b = oom->asked_b,
                                                .device_free_b = oom->device_free_b,
                                                .stream = oom->stream,
                                                .pool = oom->pool,
                                                .failed_b = oom->asked_b};
    struct mt_oom_advices all = {0};
    struct mt_report *r = part(p, 2);
    if (!p->has_segments)
        return;
    mt_oom_advice(&p->s, &asked, &all);
    for (size_t i = 0; i < all.rows.n; i++) {
        struct mt_row *row = mt_report_row(r);
        mt_report_put(r, row, "section", mt_cell_text("remedy"));
        mt_report_put(r, row, "fits", mt_cell_text(words[all.rows.v[i].fits]));
        mt_report_put(r, row, p->part_n > 1 ? "gives_b" : "bytes_b",
                      mt_cell_int(all.rows.v[i].gives_b));
        mt_report_put(r, row, p->part_n > 1 ? "remedy" : "what",
                      mt_cell_text(all.rows.v[i].remedy));
        mt_report_put(r, row, "why", mt_cell_text(mt_report_text(r, all.rows.v[i].why)));
    }
    add_verdict(p, &all);
    mt_oom_advices_free(&all);
}

/* ---- words ---- */

const char *mt_oom_asker(struct mt_report *r, struct mt_tree *t, const struct mt_oom *oom)
{
    if (oom->node == INT64_MIN || (uint64_t)oom->node >= t->nodes.n)
        return NULL;
    return mt_report_text(r, mt_strtab_get(&t->strings, mt_tree_site_text(t, (uint32_t)oom->node)));
}

static void describe(struct page *p)
{
    char size[MT_HUMAN_MAX], at[MT_HUMAN_LONG], more[MT_HUMAN_LONG];
    struct mt_report *r = part(p, 0);
    const char *asker = mt_oom_asker(r, &p->v.blocks.tree, p->oom);
    const size_t earlier = p->ooms.all.n - 1;
    r->title =
        mt_asprintf("%s · %s · out of memory at %s: %s asked for%s%s", p->v.run.name,
                    p->v.device.name, mt_human_time(p->v.run.time_unit, p->oom->t_ns, at),
                    mt_human_bytes(p->oom->asked_b, size), asker ? " by " : "", asker ? asker : "");
    mt_report_total(r, "at_ns", mt_cell_int(p->oom->t_ns));
    mt_report_total(r, "asked_for_b", mt_cell_int(p->oom->asked_b));
    mt_report_total(r, "site", mt_cell_text(asker));
    if (earlier)
        mt_report_note(r, "%s failed before this one%s%s%s.",
                       mt_human_plural((int64_t)earlier, "allocation", more),
                       p->has_segments ? ": `memtool fragmentation " : "",
                       p->has_segments ? p->run : "", p->has_segments ? "`" : "");
    if (p->s.lost_n)
        mt_report_note(r, "%s in use then, %s, %s in no segment known at that time: %s.",
                       mt_human_bytes(p->s.lost_b, size),
                       mt_human_plural(p->s.lost_n, "block", more),
                       p->s.lost_n == 1 ? "lies" : "lie",
                       p->v.device.below_b /* what was freed unseen went with its segment */
                           ? "frees are missing, or events of segments"
                           : "events of segments are missing, and more was reserved than that");
    if (p->has_segments && capacity_b == MT_UNKNOWN)
        mt_report_note(r, "What others hold on the GPU (CUDA itself, NCCL, other processes) is in "
                          "no snapshot: --capacity, the total capacity that the error message "
                          "names, tells it.");
    if (!p->has_segments && !is_cpu(p))
        mt_report_note(r, "What the allocator reserved is in no trace: a snapshot has it "
                          "(torch.cuda.memory._record_memory_history()).");
    if (p->part_n > 1) {
        part(p, 1)->title = mt_strdup("who held memory then");
        part(p, 2)->title = mt_strdup("would it have fit");
    }
}

static void add_columns(struct page *p)
{
    p->part_n = mt_people_read() ? 3 : 1;
    for (size_t i = 0; i < p->part_n; i++) {
        mt_report_init(&p->parts[i], "memtool.oom", 1);
        p->parts[i].keep_order = true;
    }
    mt_view_about(&p->v, &p->parts[0], MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    if (p->part_n == 1) {
        mt_report_columns(&p->parts[0], "section what bytes_b share_pct count_n site fits why");
        return;
    }
    mt_report_columns(&p->parts[0], "what bytes_b share_pct count_n");
    mt_report_columns(&p->parts[1], "bytes_b count_n=BLOCKS site");
    mt_report_columns(&p->parts[2], "fits gives_b remedy why");
    p->parts[2].columns.v[2].whole = true;
}

static void say_unrecorded(const struct mt_run *run, struct mt_report *r)
{
    if (mt_knows_failures(run))
        return;
    if (mt_run_notes_get(&run->notes, MT_NOTE_STATE_ONLY))
        mt_report_no_history(r, run);
    else
        mt_report_cannot_tell(
            r, mt_report_textf(r, "Run '%s' does not record failed allocations.", run->name),
            "`memtool peak` shows what held memory when it was highest.");
}

/* That nothing failed is an answer, of a recording in which it would be. */
static enum mt_status show_none(struct page *p, struct mt_err *err)
{
    struct mt_report *r = &p->parts[0];
    struct mt_buf name = {0};
    p->part_n = 1;
    mt_report_init(r, "memtool.oom", 1);
    mt_view_about(&p->v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    mt_report_columns(r, "section what bytes_b share_pct count_n site fits why");
    say_unrecorded(&p->v.run, r);
    r->title = r->cannot_tell.why ? mt_strdup(p->v.run.name)
                                  : mt_asprintf("%s · no allocation failed%s%s while this was "
                                                "recorded",
                                                p->v.run.name, device_name ? " on " : "",
                                                device_name ? p->v.device.name : "");
    mt_shell_word(&name, p->v.run.name);
    r->empty = mt_device_knows(&p->v.device, MT_KNOWS_SEGMENTS)
                   ? mt_report_textf(r,
                                     "`memtool peak %s` and `memtool fragmentation %s` show how "
                                     "near it came",
                                     name.s, name.s)
                   : mt_report_textf(r, "`memtool peak %s` shows how high memory rose", name.s);
    mt_buf_free(&name);
    return mt_show(r, err);
}

static enum mt_status show_page(struct page *p, struct mt_err *err)
{
    const struct mt_report *shown[3] = {&p->parts[0], &p->parts[1], &p->parts[2]};
    const int64_t usual = p->v.device.id;
    bool failed;
    if (!p->v.has_device)
        return mt_fail_no_memory(&p->v.run, "", err);
    MT_TRY(mt_oom_device(p->v.db, &p->v.run, device_name, &p->v.device, &failed, err));
    MT_TRY(mt_ooms_load(p->v.db, &p->v.run, &p->v.device, &p->ooms, err));
    if (!p->ooms.all.n)
        return show_none(p, err);
    p->oom = &p->ooms.all.v[p->ooms.all.n - 1];
    p->has_segments = mt_device_knows(&p->v.device, MT_KNOWS_SEGMENTS);
    if (p->has_segments)
        MT_TRY(mt_segments_load(p->v.db, &p->v.run, &p->v.device, p->oom->at, &p->s, err));
    struct mt_buf name = {0};
    mt_shell_word(&name, p->v.run.name);
    if (device_name || p->v.device.id != usual)
        mt_buf_addf(&name, " --device %s", p->v.device.name);
    p->run = name.s;
    add_columns(p);
    add_facts(p);
    MT_TRY(add_held(p, err));
    MT_TRY(add_curve(p, err));
    add_remedies(p);
    describe(p);
    mt_report_others(&p->parts[p->part_n - 1], p->v.other_n);
    return mt_show_all(shown, p->has_segments || p->part_n == 1 ? p->part_n : 2, err);
}

static enum mt_status one(const char *ref, int *exit_code, struct mt_err *err)
{
    struct page p = {0};
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name, 0, NULL};
    enum mt_status st = mt_view_open(&p.v, ref, &wanted, err);
    if (st == MT_OK)
        st = show_page(&p, err);
    if (p.part_n && p.parts[0].cannot_tell.why)
        *exit_code = 3;
    for (size_t i = 0; i < p.part_n; i++)
        mt_report_free(&p.parts[i]);
    free(p.run);
    mt_segments_free(&p.s);
    mt_ooms_free(&p.ooms);
    mt_view_close(&p.v);
    return st;
}

/* Whether the one argument is a group rather than a file or run: a run whose name only begins so
 * does not hide a group. */
static enum mt_status is_group(const char *ref, bool *group, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run_ids ids = {0};
    struct mt_run run;
    struct mt_err ignored = MT_ERR_INIT;
    *group = false;
    if (!ref || mt_cache_is_file(ref)) /* a folder may be called as the group that it became */
        return MT_OK;
    enum mt_status st = mt_open_for_reading(&db, err);
    const bool run_named = st == MT_OK && mt_run_find(db, ref, &run, &ignored) == MT_OK &&
                           !mt_run_is_beginning(ref, &run);
    if (st == MT_OK && !run_named)
        *group = mt_runs_of_group(db, ref, 1, &ids, &ignored) == MT_OK;
    mt_vec_free(&ids);
    mt_db_close(db);
    return st;
}

static enum mt_status read_capacity(struct mt_err *err)
{
    if (!capacity_text || (mt_parse_size(capacity_text, &capacity_b) && capacity_b > 0))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "invalid --capacity '%s'", capacity_text);
    mt_err_hint(err, "Write what the error message names: 79.15GiB.");
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    bool group;
    MT_TRY(read_capacity(err));
    MT_TRY(is_group(args->n == 1 ? args->v[0] : NULL, &group, err));
    if (args->n < 2 && !group)
        return one(args->n ? args->v[0] : NULL, exit_code, err);
    if (capacity_text) {
        MT_FAIL(err, MT_EUSAGE, "--capacity is of one dump, not of several");
        mt_err_hint(err, "`memtool oom RUN --capacity %s` tells what others held there.",
                    capacity_text);
        return MT_EUSAGE;
    }
    return mt_oom_of_ranks(args, device_name, &rows, exit_code, err);
}

static const struct mt_opt opts[] = {
    {"capacity", 0, MT_OPT_STRING, &capacity_text, "SIZE",
     "total capacity of the GPU, as the error message names it: tells what others hold there"},
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cuda:0, ... (default: the one where an allocation failed last)"},
    {"limit", 'n', MT_OPT_INT, &rows.limit, "N", MT_LIMIT_HELP("10")},
    {0},
};

const struct mt_cmd mt_cmd_oom = {
    .name = "oom",
    .summary = "an out-of-memory error: who asked, who held what, what would have made it fit",
    .usage = "[options] [RUN|GROUP ...]",
    .examples = "  memtool oom oom_rank-3.pickle\n"
                "  memtool oom dumps/*.pickle\n"
                "  memtool oom dump.pickle --capacity 79.15GiB\n",
    .opts = opts,
    .args_max = 100000,
    .run = run,
};
