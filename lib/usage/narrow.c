#include "lib/usage/narrow.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include "lib/usage/live.h"
#include <stdio.h>

enum mt_status mt_narrow_parse(const char *list, struct mt_narrow *out, struct mt_err *err)
{
    *out = (struct mt_narrow){0};
    return list ? mt_category_set_parse(list, &out->set, out->words, err) : MT_OK;
}

struct mt_narrow mt_narrow_of(const struct mt_run_device *device)
{
    struct mt_narrow n = {.set = device->only};
    snprintf(n.words, sizeof n.words, "%s", mt_device_categories(device));
    return n;
}

/* Follows the level that the blocks make. */
struct follower {
    struct mt_run_device *d;
    size_t origin_n;
    int64_t outside_b, freed_b; /* alive that was allocated outside ops; freed in all */
};

static void use_change(void *closure, const struct mt_change *c)
{
    struct follower *f = closure;
    struct mt_run_device *d = f->d;
    if (c->origin % f->origin_n == MT_ORIGIN_OUTSIDE)
        mt_wrap_inc(&f->outside_b, c->bytes);
    if (c->bytes < 0)
        mt_wrap_dec(&f->freed_b, c->bytes);
    if (c->level.level_b <= d->peak_b)
        return;
    d->peak_b = c->level.level_b;
    d->peak_ns = c->level.t_ns;
    d->peak_record = c->level.record;
    d->outside_at_peak_b = f->outside_b;
}

static void add_row(struct mt_run_device *d, const struct mt_stmt *s)
{
    int64_t alloc_b = mt_stmt_int(s, 2), freed_b = mt_stmt_int(s, 3), alloc_n = mt_stmt_int(s, 4);
    int64_t at_end_b = mt_stmt_int(s, 6), at_end_n = mt_stmt_int(s, 8);
    mt_wrap_inc(&d->alloc_b, alloc_b);
    mt_wrap_inc(&d->freed_b, freed_b);
    mt_wrap_inc(&d->alloc_n, alloc_n);
    mt_wrap_inc(&d->at_end_b, at_end_b);
    mt_wrap_inc(&d->at_end_n, at_end_n);
    if (mt_stmt_int(s, 0)) /* of a node */
        return;
    d->outside_n = 1;
    mt_wrap_inc(&d->outside_alloc_b, alloc_b);
    mt_wrap_inc(&d->outside_freed_b, freed_b);
    mt_wrap_inc(&d->outside_alloc_n, alloc_n);
    mt_wrap_inc(&d->outside_at_end_b, at_end_b);
}

/* What is stored of the nodes, by category. alloc_n: of each, with zeros. */
static enum mt_status add_sums(struct mt_db *db, struct mt_run_device *d,
                               int64_t alloc_n[MT_CATEGORY_N], struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_CATEGORIES, &s, err));
    mt_stmt_bind(s, "i", d->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t category = mt_stmt_int(s, 1);
        if (category < 0 || category >= MT_CATEGORY_N)
            continue;
        mt_wrap_inc(&alloc_n[category], mt_stmt_int(s, 4));
        if (mt_category_in(d->only, (uint8_t)category))
            add_row(d, s);
    }
}

/* What older blocks are, as far as that is known: a model, and what trains it. Gradients where
 * backward made none that it kept: it adds to those that were there. */
static bool may_be_older(unsigned set, const int64_t alloc_n[MT_CATEGORY_N])
{
    bool added = !alloc_n[MT_CATEGORY_GRADIENT] && alloc_n[MT_CATEGORY_AUTOGRAD_DETAIL];
    unsigned older = 1u << MT_CATEGORY_PARAMETER | 1u << MT_CATEGORY_OPTIMIZER_STATE |
                     (added ? 1u << MT_CATEGORY_GRADIENT : 0);
    return set & older;
}

/* Older blocks are in no category, not even those that the recording frees, and estimates of them
 * are of several: of one of these, only the size of all of them says anything. */
static void add_older(const struct mt_run_device *of, struct mt_run_device *d)
{
    d->older_used = of->older_used || of->start_b;
    if (!of->older_used && of->start_b > 0) {
        d->older_least_b = 0;
        d->older_most_b = of->start_b;
    }
}

static struct mt_run_device without_figures(const struct mt_run_device *of,
                                            const struct mt_narrow *to)
{
    struct mt_run_device d = {.id = of->id,
                              .type = of->type,
                              .only = to->set,
                              .knows = of->knows,
                              .frees_nothing = of->frees_nothing,
                              .peak_record = INT64_MIN,
                              .peak_ns = INT64_MIN,
                              .one_moment = of->one_moment,
                              .older_least_b = INT64_MIN,
                              .older_most_b = INT64_MIN,
                              .total_peak_b = INT64_MIN,
                              .above_b = of->above_b,
                              .below_b = of->below_b,
                              .missing_b = of->missing_b};
    snprintf(d.name, sizeof d.name, "%s", of->name);
    snprintf(d.shown, sizeof d.shown, "%s: %s", of->name, to->words);
    return d;
}

/* ---- what nobody saw of these blocks ---- */

/* Sums what is in doubt, as import does of all blocks (lib/build/rollup.c). */
struct doubter {
    struct mt_run_device *d;
    const struct mt_tree *tree;
    struct mt_map losing; /* sites */
};

static void use_loss(void *closure, uint64_t site, int64_t bytes)
{
    struct doubter *f = closure;
    (void)bytes;
    *mt_map_at(&f->losing, site) = 1;
}

static bool may_be_dead(const struct doubter *f, const struct mt_allocation *life)
{
    bool seen_freed = life->freed_record != INT64_MAX && !life->unseen;
    return life->alloc_unseen ||
           (!seen_freed && f->losing.n &&
            mt_map_get(&f->losing, mt_tree_site(f->tree, life->origin.node)) != MT_MAP_NONE);
}

static enum mt_status use_life(void *closure, const struct mt_allocation *life, struct mt_err *err)
{
    struct doubter *f = closure;
    struct mt_run_device *d = f->d;
    (void)err;
    if (mt_allocation_is_older(life))
        return MT_OK;
    d->unseen_n += life->unseen;
    d->alloc_unseen_n += life->alloc_unseen;
    if (life->alloc_unseen)
        mt_wrap_inc(&d->alloc_unseen_b, life->bytes);
    if (!may_be_dead(f, life))
        return MT_OK;
    bool at_peak = life->alloc_record <= d->peak_record && life->freed_record > d->peak_record;
    if (at_peak && (life->alloc_unseen || life->alloc_record != d->peak_record))
        mt_wrap_inc(&d->doubt_at_peak_b, life->bytes); /* not just allocated */
    if (life->freed_record == INT64_MAX)
        mt_wrap_inc(&d->doubt_at_end_b, life->bytes);
    return MT_OK;
}

/* of: the device with all its blocks. d: its peak is found. */
static enum mt_status add_doubt(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *of, struct mt_run_device *d,
                                struct mt_err *err)
{
    struct mt_allocations lives = {0};
    struct doubter f = {.d = d, .tree = &lives.tree};
    enum mt_status st = MT_OK;
    if (!mt_device_is_bounded(of))
        return MT_OK;
    MT_TRY_OUT(mt_allocations_open(db, run, &lives, err));
    MT_TRY_OUT(mt_losses_each(&lives, of, use_loss, &f, err));
    MT_TRY_OUT(mt_allocations_each(&lives, d, use_life, &f, err));
out:
    mt_map_free(&f.losing);
    mt_allocations_close(&lives);
    return st;
}

enum mt_status mt_narrow_device(struct mt_db *db, const struct mt_run *run,
                                const struct mt_narrow *to, struct mt_run_device *device,
                                struct mt_err *err)
{
    if (!to->set)
        return MT_OK;
    MT_TRY(mt_knows(run, device, MT_KNOWS_CATEGORIES, err));
    MT_TRY(mt_knows(run, device, MT_KNOWS_BLOCKS, err));
    struct mt_run_device d = without_figures(device, to);
    struct follower f = {.d = &d, .origin_n = MT_ORIGIN_NODE + (size_t)run->node_n};
    MT_TRY(mt_changes_each(db, run, &d, use_change, &f, err));
    int64_t alloc_n[MT_CATEGORY_N] = {0};
    MT_TRY(add_sums(db, &d, alloc_n, err));
    if (may_be_older(to->set, alloc_n))
        add_older(device, &d);
    d.unseen_b = mt_wrap_sub(f.freed_b, d.freed_b);
    d.freed_b = f.freed_b;
    d.freed_n = mt_wrap_sub(d.alloc_n, d.at_end_n);
    d.net_b = mt_wrap_sub(d.alloc_b, d.freed_b);
    MT_TRY(add_doubt(db, run, device, &d, err));
    *device = d;
    return MT_OK;
}
