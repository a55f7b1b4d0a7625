/* What leaks are judged by: the blocks alive at the end, how long others of their sites lived, and
 * what each site held at the ends of steps. */
#include "lib/analysis/leaks_parts.h"

#include "gen/queries.h"
#include "lib/base/hash.h"
#include "lib/model/list_text.h"
#include "lib/usage/gaps.h"
#include "lib/usage/levels.h"
#include <stdlib.h>

static int64_t step_of(const struct mt_leak_finder *f, int64_t t_ns)
{
    const struct mt_steps *steps = &f->lives->steps;
    return mt_step_dating(steps->all.v, steps->all.n, steps->dur_ns, t_ns);
}

/* Makes room for the max_lifetime of a site. */
static uint32_t with_max_lifetime(struct mt_leak_finder *f, uint32_t group)
{
    while (f->max_lifetime.n <= group)
        *mt_vec_push(&f->max_lifetime) = -1;
    return group;
}

static uint32_t group_of_life(struct mt_leak_finder *f, const struct mt_allocation *life)
{
    return with_max_lifetime(f, mt_allocation_group(f->grouper, life));
}

static bool is_of_optimizer(const struct mt_leak_finder *f, const struct mt_allocation *life)
{
    uint32_t node = life->origin.node;
    return node < f->lives->tree.nodes.n &&
           f->lives->tree.nodes.v[node].phase == MT_PHASE_OPTIMIZER;
}

/* ---- gradients that stay ---- */

static uint64_t gradient_key(uint32_t node, int64_t step, int64_t bytes)
{
    const int64_t all[] = {(int64_t)node, step, bytes};
    return mt_hash_short(2, all, sizeof all);
}

static uint32_t read_node(const struct mt_leak_finder *f, const struct mt_stmt *s, int column)
{
    uint64_t node = mt_stmt_index(s, column, f->lives->run->node_first);
    return node < f->lives->tree.nodes.n ? (uint32_t)node : MT_NONE;
}

static enum mt_status read_kept_gradients(struct mt_leak_finder *f,
                                          const struct mt_run_device *device, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(f->lives->db, MT_Q_KEPT_GRADIENTS, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_map_at(&f->kept_gradients,
                   gradient_key(read_node(f, s, 0), mt_stmt_int(s, 1), mt_stmt_int(s, 2))) = 1;
    }
}

static bool is_kept_gradient(const struct mt_leak_finder *f, const struct mt_allocation *life,
                             int64_t step)
{
    return f->kept_gradients.n &&
           mt_map_get(&f->kept_gradients, gradient_key(life->origin.node, step, life->bytes)) !=
               MT_MAP_NONE;
}

/* ---- blocks ---- */

/* step: of its allocation. */
static void add_survivor(struct mt_leak_finder *f, uint32_t group, const struct mt_allocation *life,
                         int64_t step)
{
    bool doubtful = mt_doubt_life(&f->doubt, life);
    if (!life->bytes)
        return;
    *mt_vec_push(&f->survivors) = (struct mt_survivor){.group = group,
                                                       .step = step,
                                                       .bytes = life->bytes,
                                                       .blocks_n = life->blocks_n,
                                                       .older = mt_allocation_is_older(life),
                                                       .learning = is_of_optimizer(f, life),
                                                       .gradient = is_kept_gradient(f, life, step),
                                                       .doubtful = doubtful};
}

/* Whether later steps are left out. */
static bool is_of_part(const struct mt_leak_finder *f)
{
    return f->step_n < (int64_t)f->lives->steps.all.n;
}

static enum mt_status use_life(void *closure, const struct mt_allocation *life, struct mt_err *err)
{
    struct mt_leak_finder *f = closure;
    (void)err;
    bool alive = life->freed_record == INT64_MAX;
    int64_t allocated = mt_allocation_is_older(life) ? -1 : step_of(f, life->alloc_ns);
    int64_t freed = alive ? f->step_n : step_of(f, life->freed_ns);
    if (is_of_part(f) && allocated >= f->step_n)
        return MT_OK;
    if (is_of_part(f) && freed >= f->step_n) {
        alive |= freed < (int64_t)f->lives->steps.all.n;
        freed = f->step_n;
    }
    uint32_t group = group_of_life(f, life);
    if (life->alloc_unseen) /* nobody knows its site, nor how long it lived */
        return MT_OK;
    if (!mt_allocation_is_older(life)) /* older ones tell nothing of the site that holds them */
        mt_retained_add(&f->holdings, mt_leak_part(group, mt_doubt_life(&f->doubt, life)),
                        life->bytes, allocated < 0 ? 0 : allocated, freed);
    if (alive)
        add_survivor(f, group, life, allocated);
    else if (life->unseen) /* who knows how long it lived */
        return MT_OK;
    else if (allocated >= f->warmup && freed < f->step_n &&
             freed - allocated > f->max_lifetime.v[group])
        f->max_lifetime.v[group] = freed - allocated;
    return MT_OK;
}

/* ---- the same from what is stored of every node, for sites that are made of whole nodes ---- */

static uint32_t group_of_node(struct mt_leak_finder *f, uint32_t node)
{
    const struct mt_origin origin = mt_origin_of_node(node);
    return with_max_lifetime(f, mt_grouper_of(f->grouper, &origin));
}

static enum mt_status read_holdings(struct mt_leak_finder *f, const struct mt_run_device *device,
                                    struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(f->lives->db, MT_Q_HOLDINGS, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint32_t node = read_node(f, s, 0);
        const int64_t size = mt_stmt_int(s, 1);
        bool doubtful = mt_doubt_is_on(&f->doubt, node, size);
        uint32_t site = mt_leak_part(group_of_node(f, node), doubtful);
        struct mt_held_change c = {0};
        for (const char *at = mt_stmt_text(s, 2); mt_held_text_next(&at, size, &c);)
            if (c.moment >= 0 && c.moment <= f->step_n) /* else: a damaged database */
                mt_retained_change(&f->holdings, site, c.moment, c.bytes, c.blocks);
    }
}

static enum mt_status read_max_lifetime(struct mt_leak_finder *f,
                                        const struct mt_run_device *device, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(f->lives->db, MT_Q_MAX_LIFETIME, &s, err));
    mt_stmt_bind(s, "ii", device->id, f->warmup);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint32_t group = group_of_node(f, read_node(f, s, 0));
        int64_t life = mt_stmt_int(s, 1);
        if (life > f->max_lifetime.v[group] && life < f->step_n) /* else: a damaged database */
            f->max_lifetime.v[group] = life;
    }
}

static enum mt_status read_survivors(struct mt_leak_finder *f, const struct mt_run_device *device,
                                     struct mt_err *err)
{
    struct mt_live_set live = {0};
    enum mt_status st = mt_live_at(f->lives, device, MT_AT_END, &live, err);
    for (size_t i = 0; i < live.blocks.n; i++) {
        const struct mt_allocation *life = &live.blocks.v[i];
        add_survivor(f, group_of_life(f, life), life,
                     mt_allocation_is_older(life) ? -1 : step_of(f, life->alloc_ns));
    }
    mt_live_set_free(&live);
    return st;
}

enum mt_status mt_leaks_collect(struct mt_leak_finder *f, const struct mt_run_device *device,
                                struct mt_err *err)
{
    unsigned gaps;
    MT_TRY(mt_run_gaps(f->lives->db, f->lives->run, device, &gaps, err));
    f->can_tell = mt_leaks_can_tell(f->step_n, f->warmup) && !(gaps & MT_GAPS_OF_FREES);
    MT_TRY(mt_doubt_load(f->lives, device, &f->doubt, err));
    MT_TRY(read_kept_gradients(f, device, err));
    const enum mt_group_key *keys = f->grouper->keys;
    bool categories = mt_group_has(keys, f->grouper->key_n, MT_BY_CATEGORY);
    if (is_of_part(f) || categories || device->only || mt_group_needs_ops(keys, f->grouper->key_n))
        return mt_allocations_each(f->lives, device, use_life, f, err);
    MT_TRY(read_survivors(f, device, err));
    MT_TRY(read_holdings(f, device, err));
    return read_max_lifetime(f, device, err);
}

/* Steps end where the next one begins: as blocks are dated. */
enum mt_status mt_leaks_levels(const struct mt_leak_finder *f, const struct mt_run_device *device,
                               struct mt_retained *held, struct mt_err *err)
{
    const struct mt_steps *steps = &f->lives->steps;
    size_t n = steps->all.n;
    struct mt_levels levels = {0};
    int64_t *ends = mt_alloc((n + 1) * sizeof *ends), before_b = 0;
    for (size_t i = 0; i < n; i++)
        ends[i] = i + 1 < n ? steps->all.v[i + 1].start_ns : mt_steps_until(steps, i);
    enum mt_status st =
        mt_levels_load_near(f->lives->db, f->lives->run, device, ends, n, &levels, err);
    for (size_t i = 0; i < n && st == MT_OK; i++) {
        int64_t b = mt_levels_value(&levels, mt_levels_before(&levels, ends[i]));
        mt_retained_change(held, 0, (int64_t)i, mt_wrap_sub(b, before_b), 0);
        before_b = b;
    }
    mt_levels_free(&levels);
    free(ends);
    return st;
}

/* ---- whether frees are seen ---- */

struct frees {
    const struct mt_leak_finder *f;
    bool *in;       /* by step */
    int64_t step_n; /* after the warm-up */
};

static void use_change(void *closure, const struct mt_change *c)
{
    struct frees *v = closure;
    const int64_t step = c->bytes < 0 ? step_of(v->f, c->level.t_ns) : -1;
    if (step < v->f->warmup || step >= v->f->step_n || v->in[step])
        return;
    v->in[step] = true;
    v->step_n++;
}

/* Frees that follow from an allocation (unseen) count, too: so would one of what grows be known. So
 * do those of categories that are not looked at. */
enum mt_status mt_leaks_frees_unknown(const struct mt_leak_finder *f,
                                      const struct mt_run_device *device, bool *unknown,
                                      struct mt_err *err)
{
    struct frees v = {.f = f};
    struct mt_run_device whole = *device;
    whole.only = 0;
    v.in = mt_alloc(((size_t)f->step_n + 1) * sizeof *v.in);
    enum mt_status st = mt_changes_each(f->lives->db, f->lives->run, &whole, use_change, &v, err);
    *unknown = v.step_n < f->step_n - f->warmup - v.step_n;
    free(v.in);
    return st;
}
