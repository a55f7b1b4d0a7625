/* memtool export --rollup: runs, steps, sites and call paths of a job, for a column store. */
#include "cmd/export.h"

#include "cmd/output.h"
#include "cmd/ranks.h"
#include "lib/analysis/diff.h"
#include "lib/base/wrap.h"
#include "lib/export/rollup.h"
#include "lib/run/merge.h"
#include "lib/usage/step_peaks.h"
#include <stdlib.h>
#include <string.h>

/* What is written, run by run: no more of it is held. */
struct rollup {
    struct mt_rollup rows;
    const struct mt_ranks *ranks;
    struct mt_tree tree; /* of the device under way; frames that runs share are read once */
    FILE *out;
    bool blocks; /* single ones, too */
};

/* A device of a run under way. */
struct device {
    struct rollup *to;
    struct mt_db *db;
    const struct mt_run *run;
    const struct mt_run_device *device;
    unsigned knows; /* enum part of what call paths have */
};

/* What is known of call paths of a device. */
enum part { ALLOC = 1, FREED = 2, COUNTS = 4, AT_PEAK = 8, AT_END = 16, CALLS = 32 };

/* at_end: what is compared is what was alive at the end, which stands for the peak. */
static unsigned known_parts(const struct mt_run_device *d, bool at_end)
{
    const struct mt_diff_side side = {.device = *d};
    bool alloc = mt_device_knows(d, MT_KNOWS_ALLOC);
    bool peak =
        d->peak_b != MT_UNKNOWN && mt_diff_peak_sites_known(&side) && (at_end || !d->one_moment);
    return (alloc ? ALLOC : 0u) | (alloc && d->freed_b != MT_UNKNOWN ? FREED : 0u) |
           (alloc && mt_device_knows(d, MT_KNOWS_COUNTS) ? COUNTS : 0u) | (peak ? AT_PEAK : 0u) |
           (d->at_end_b != MT_UNKNOWN ? AT_END : 0u) |
           (mt_device_knows(d, MT_KNOWS_OPS) ? CALLS : 0u);
}

/* Of what lists large call paths only, nothing is not 0. */
static int64_t listed(const struct device *d, enum part part, unsigned large, int64_t v)
{
    return d->knows & part && (v || !(d->device->knows & large)) ? v : MT_UNKNOWN;
}

static void put_sums(const struct device *d, const struct mt_sums *sums, int64_t calls_n,
                     struct mt_rollup_row *row)
{
    row->v[MT_ROLLUP_ALLOC_B] = listed(d, ALLOC, 0, sums->alloc_b);
    row->v[MT_ROLLUP_FREED_B] = listed(d, FREED, 0, sums->freed_b);
    row->v[MT_ROLLUP_ALLOC_N] = listed(d, COUNTS, 0, sums->alloc_n);
    const int64_t at_peak_b = d->device->one_moment ? sums->at_end_b : sums->at_peak_b;
    row->v[MT_ROLLUP_AT_PEAK_B] = listed(d, AT_PEAK, MT_LARGE_AT_PEAK, at_peak_b);
    row->v[MT_ROLLUP_END_B] = listed(d, AT_END, MT_LARGE_AT_END, sums->at_end_b);
    row->v[MT_ROLLUP_CALLS_N] = listed(d, CALLS, 0, calls_n);
}

static void write_row(struct rollup *to, const struct mt_rollup_row *row)
{
    mt_rollup_add(&to->rows, row);
    mt_export_flush(&to->rows.text, to->out, MT_EXPORT_PIECE);
}

/* What memtool ranks found: with which ranks of its stage a rank is compared, and whether any is
 * judged. */
static void put_cluster(const struct mt_ranks *ranks, const struct mt_rank *rank,
                        struct mt_rollup_row *row)
{
    row->v[MT_ROLLUP_ALIKE] = ranks->apart == MT_RANKS_ALIKE;
    if (rank->device->older_from[0])
        row->v[MT_ROLLUP_OLDER] = 1;
    else if (rank->device->older_used)
        row->v[MT_ROLLUP_OLDER] = 0;
    if (rank->cluster == MT_NO_CLUSTER)
        return;
    const struct mt_rank_cluster *c = &ranks->clusters.v[rank->cluster];
    row->v[MT_ROLLUP_CLUSTER] = c->tp != MT_UNKNOWN ? c->tp : c->block;
    row->v[MT_ROLLUP_TP] = c->tp;
}

static void write_run(const struct device *d, const struct mt_rank *rank, int64_t number)
{
    const struct mt_run_device *of = d->device;
    struct mt_rollup_row row = mt_rollup_row(MT_ROLLUP_RUN, number, rank->name);
    const bool compared = of == rank->device;
    row.v[MT_ROLLUP_PEAK_B] = compared ? rank->figure_b : of->one_moment ? MT_UNKNOWN : of->peak_b;
    const bool timed = !of->one_moment && strcmp(rank->time_unit, "ns") == 0;
    row.v[MT_ROLLUP_PEAK_NS] = timed ? of->peak_ns : MT_UNKNOWN;
    row.v[MT_ROLLUP_START_B] = of->start_b;
    row.v[MT_ROLLUP_END_B] = of->at_end_b;
    row.v[MT_ROLLUP_DOUBT_B] = of->doubt_at_peak_b;
    row.v[MT_ROLLUP_ALLOC_B] = of->alloc_b;
    row.v[MT_ROLLUP_FREED_B] = of->freed_b;
    row.v[MT_ROLLUP_ALLOC_N] = of->alloc_n;
    if (d->knows & CALLS)
        row.v[MT_ROLLUP_CALLS_N] = d->run->op_n;
    if (compared)
        put_cluster(d->to->ranks, rank, &row);
    write_row(d->to, &row);
}

static enum mt_status write_steps(const struct device *d, struct mt_err *err)
{
    struct mt_step_peaks peaks = {0};
    enum mt_status st = mt_step_peaks_load(d->db, d->run, d->device, &peaks, err);
    for (size_t i = 0; i < peaks.all.n && st == MT_OK; i++) {
        const struct mt_step_peak *p = &peaks.all.v[i];
        struct mt_rollup_row row = mt_rollup_row(MT_ROLLUP_STEP, (int64_t)i, "");
        row.step = p->number;
        row.v[MT_ROLLUP_START_B] = p->start_b;
        row.v[MT_ROLLUP_PEAK_B] = p->peak_b;
        row.v[MT_ROLLUP_END_B] = p->end_b;
        write_row(d->to, &row);
    }
    mt_step_peaks_free(&peaks);
    return st;
}

static bool holds_nothing(const struct mt_sums *s)
{
    return !(s->alloc_b | s->freed_b | s->alloc_n | s->at_peak_b | s->at_end_b);
}

static void write_sites(struct device *d)
{
    static const enum mt_group_key site = MT_BY_SITE;
    struct mt_groups groups = {0};
    int64_t number = 0;
    mt_group(&d->to->tree, &site, 1, &groups);
    for (size_t i = 0; i < groups.rows.n; i++) {
        const struct mt_group *g = &groups.rows.v[i];
        struct mt_rollup_row row = mt_rollup_row(MT_ROLLUP_SITE, number, g->key[0]);
        if (holds_nothing(&g->self))
            continue;
        number++;
        put_sums(d, &g->self, g->has_calls ? g->calls_n : MT_UNKNOWN, &row);
        write_row(d->to, &row);
    }
    mt_groups_free(&groups);
}

/* What is on no call path, as rows of the root. */
static void write_outside(const struct device *d, int64_t number)
{
    const struct mt_tree *t = &d->to->tree;
    const struct mt_sums before = {.at_peak_b = t->before_at_peak_b,
                                   .at_end_b = t->before_at_end_b};
    for (size_t i = 0; i <= t->outside.n; i++) {
        const bool last = i == t->outside.n;
        const char *name = last                     ? "[before trace]"
                           : t->outside.v[i].unseen ? "[freed unseen]"
                                                    : t->outside_name;
        const struct mt_sums *sums = last ? &before : &t->outside.v[i].sums;
        struct mt_rollup_row row = mt_rollup_row(MT_ROLLUP_PATH, number, name);
        if (holds_nothing(sums))
            continue;
        number++;
        row.has_path = true;
        row.path = mt_rollup_path(0, 0, name);
        put_sums(d, sums, MT_UNKNOWN, &row);
        write_row(d->to, &row);
    }
}

/* Call paths below which memory is, each with what it did itself. */
static void write_paths(struct device *d)
{
    struct mt_tree *t = &d->to->tree;
    int64_t number = 0;
    mt_tree_merge(t);
    uint64_t *paths = mt_alloc((t->items.n + 1) * sizeof *paths);
    for (size_t i = 0; i < t->items.n; i++) {
        const struct mt_item *item = &t->items.v[i];
        const struct mt_tree_node *node = &t->nodes.v[item->node];
        const char *name = mt_strtab_get(&t->strings, node->frame);
        struct mt_rollup_row row = mt_rollup_row(MT_ROLLUP_PATH, number, name);
        row.has_parent = item->parent != MT_NONE;
        row.parent = row.has_parent ? paths[item->parent] : 0;
        row.path = paths[i] = mt_rollup_path(row.parent, node->phase, name);
        if (holds_nothing(&item->total) && holds_nothing(&item->self))
            continue;
        number++;
        row.has_path = true;
        put_sums(d, &item->self, item->calls_n, &row);
        write_row(d->to, &row);
    }
    free(paths);
    write_outside(d, number);
}

/* Blocks on their way, and of older ones the sum. */
struct blocks {
    struct device *of;
    struct mt_grouper grouper;
    int64_t number, older_b;
};

static enum mt_status write_block(void *closure, const struct mt_allocation *b, struct mt_err *err)
{
    struct blocks *blocks = closure;
    uint32_t group = mt_allocation_group(&blocks->grouper, b);
    struct mt_rollup_row row =
        mt_rollup_row(MT_ROLLUP_BLOCK, blocks->number++, blocks->grouper.names.v[group].key[0]);
    (void)err;
    row.v[MT_ROLLUP_ALLOC_B] = b->bytes;
    if (mt_allocation_is_older(b))
        mt_wrap_inc(&blocks->older_b, b->bytes);
    else
        row.v[MT_ROLLUP_ALLOC_NS] = b->alloc_ns;
    if (b->freed_ns != INT64_MAX)
        row.v[MT_ROLLUP_FREED_NS] = b->freed_ns;
    write_row(blocks->of->to, &row);
    return MT_OK;
}

/* What is older and in no block is there all the time. */
static void write_rest(struct blocks *blocks)
{
    struct mt_rollup_row row = mt_rollup_row(MT_ROLLUP_BLOCK, blocks->number, "[before trace]");
    row.v[MT_ROLLUP_ALLOC_B] = mt_wrap_sub(blocks->of->device->start_b, blocks->older_b);
    if (row.v[MT_ROLLUP_ALLOC_B])
        write_row(blocks->of->to, &row);
}

static enum mt_status write_blocks(struct device *d, struct mt_err *err)
{
    static const enum mt_group_key site = MT_BY_SITE;
    struct mt_allocations all = {0};
    struct blocks blocks = {.of = d};
    if (!mt_allocations_are_known(d->device) || !mt_device_knows(d->device, MT_KNOWS_BLOCKS))
        return MT_OK;
    enum mt_status st = mt_allocations_open(d->db, d->run, &all, err);
    if (st == MT_OK) {
        mt_grouper_init(&blocks.grouper, &all.tree, &site, 1);
        st = mt_allocations_each(&all, d->device, write_block, &blocks, err);
        if (st == MT_OK)
            write_rest(&blocks);
        mt_grouper_free(&blocks.grouper);
    }
    mt_allocations_close(&all);
    return st;
}

static enum mt_status write_device(struct device *d, const struct mt_rank *rank, int64_t number,
                                   struct mt_err *err)
{
    const struct mt_rollup_place place = {.job = *d->to->ranks->group ? d->to->ranks->group
                                                                      : rank->name,
                                          .run = d->run->content,
                                          .device = d->device->name,
                                          .rank = rank->place.rank,
                                          .stage = rank->place.stage,
                                          .compared = d->device == rank->device};
    mt_rollup_set_place(&d->to->rows, &place);
    d->knows = known_parts(d->device, place.compared && d->to->ranks->at_end);
    write_run(d, rank, number);
    MT_TRY(write_steps(d, err));
    mt_tree_reuse(&d->to->tree);
    enum mt_status st = mt_load_rollup(d->db, d->run, d->device, &d->to->tree, err);
    if (st == MT_OK) {
        write_sites(d);
        write_paths(d);
    }
    if (st == MT_OK && d->to->blocks)
        st = write_blocks(d, err);
    return st;
}

static enum mt_status write_rank(struct rollup *to, size_t i, struct mt_err *err)
{
    const struct mt_rank *rank = &to->ranks->all.v[i];
    struct mt_run run;
    struct mt_db *db;
    mt_db_readers_begin();
    enum mt_status st = mt_ranks_open(to->ranks, rank, &db, &run, err);
    for (size_t k = 0; k < rank->device_n && st == MT_OK; k++) {
        struct device d = {.to = to, .db = db, .run = &run, .device = &rank->devices[k]};
        st = write_device(&d, rank, (int64_t)i, err);
    }
    mt_ranks_close(to->ranks, db);
    mt_db_readers_end();
    return st;
}

static enum mt_status write_all(struct rollup *to, const struct mt_export_asked *asked,
                                struct mt_err *err)
{
    enum mt_status st = MT_OK;
    struct mt_err ignored = MT_ERR_INIT;
    MT_TRY(mt_output_open(&to->out, err));
    if (asked->format->statement)
        mt_buf_adds(&to->rows.text, asked->format->statement);
    else
        mt_rollup_head(&to->rows);
    for (size_t i = 0; i < to->ranks->all.n && st == MT_OK && !ferror(to->out); i++)
        st = write_rank(to, i, err); /* importers wait for a rank, not for the job */
    mt_export_flush(&to->rows.text, to->out, 1);
    enum mt_status closed = mt_output_close(to->out, st == MT_OK, st == MT_OK ? err : &ignored);
    return st == MT_OK ? closed : st;
}

enum mt_status mt_export_rollup(const struct mt_export_asked *asked, struct mt_err *err)
{
    const char *group = asked->rollup;
    const struct mt_args args = {.v = &group, .n = 1};
    struct mt_ranks ranks = {0};
    struct rollup to = {.ranks = &ranks, .blocks = asked->blocks};
    enum mt_status st = mt_ranks_load_all(&args, NULL, &ranks, NULL, err);
    if (st == MT_OK) {
        mt_ranks_cluster_all(&ranks);
        st = write_all(&to, asked, err);
    }
    mt_rollup_free(&to.rows);
    mt_tree_free(&to.tree);
    mt_ranks_free(&ranks);
    return st;
}
