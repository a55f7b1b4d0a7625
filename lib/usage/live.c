#include "lib/usage/live.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/category_words.h"
#include "lib/run/knows.h"
#include "lib/usage/held.h"
#include <stdlib.h>
#include <string.h>

enum mt_status mt_allocations_open(struct mt_db *db, const struct mt_run *run,
                                   struct mt_allocations *out, struct mt_err *err)
{
    *out = (struct mt_allocations){.db = db, .run = run};
    MT_TRY(mt_load_nodes(db, run, &out->tree, err));
    MT_TRY(mt_load_threads(db, run, &out->tree, err));
    return mt_steps_load(db, run, &out->steps, err);
}

enum mt_status mt_allocations_open_after(struct mt_db *db, const struct mt_run *run,
                                         struct mt_allocations *before, struct mt_allocations *out,
                                         struct mt_err *err)
{
    *out = (struct mt_allocations){.db = db, .run = run, .tree = before->tree};
    if (out->tree.known)
        mt_tree_go_on(&out->tree, mt_db_is_same(db, before->db));
    else
        mt_tree_reuse(&out->tree);
    before->tree = (struct mt_tree){0};
    MT_TRY(mt_load_nodes(db, run, &out->tree, err));
    MT_TRY(mt_load_threads(db, run, &out->tree, err));
    return mt_steps_load(db, run, &out->steps, err);
}

enum mt_status mt_allocations_open_sites(struct mt_db *db, const struct mt_run *run,
                                         struct mt_allocations *out, struct mt_err *err)
{
    mt_tree_reuse(&out->tree);
    mt_steps_free(&out->steps);
    out->db = db;
    out->run = run;
    MT_TRY(mt_load_nodes(db, run, &out->tree, err));
    return mt_steps_load(db, run, &out->steps, err);
}

void mt_allocations_close(struct mt_allocations *l)
{
    mt_tree_free(&l->tree);
    mt_steps_free(&l->steps);
}

bool mt_allocations_are_known(const struct mt_run_device *device)
{
    return device->at_end_b != INT64_MIN;
}

/* The block in the current row of the queries `live` and `lives`. */
static enum mt_status read_life(struct mt_allocations *l, const struct mt_stmt *s,
                                struct mt_allocation *out, struct mt_err *err)
{
    uint64_t node = mt_stmt_index(s, 3, l->run->node_first);
    *out = (struct mt_allocation){
        .bytes = mt_stmt_int(s, 0),
        .blocks_n = 1,
        .alloc_ns = mt_stmt_int_or(s, 1, INT64_MIN),
        .alloc_record = mt_stmt_int_or(s, 2, INT64_MIN),
        .freed_ns = INT64_MAX,
        .freed_record = INT64_MAX,
        .origin = mt_origin_of_node(node < l->tree.nodes.n ? (uint32_t)node : MT_NONE)};
    out->origin.size_b = out->bytes;
    out->origin.rule = mt_load_rule(s, 6, false);
    out->origin.category = mt_category_of_rule[out->origin.rule];
    out->origin.thread = mt_tree_thread(&l->tree, mt_stmt_int(s, 5));
    out->origin.step = mt_steps_number_at(&l->steps, out->alloc_ns);
    MT_TRY(mt_load_tensor(l->db, &l->tree, s, 7, &out->origin.tensor, err));
    if (mt_stmt_kind(s, 4) == MT_VALUE_NULL)
        return MT_OK;
    return mt_load_text(l->db, &l->tree, mt_stmt_int(s, 4), &out->origin.shape, err);
}

/* Whether a block is of the categories that are looked at. */
static bool is_wanted(const struct mt_run_device *device, const struct mt_allocation *life)
{
    bool unknown = mt_allocation_is_older(life) && life->origin.category == MT_CATEGORY_NONE;
    return !device->only || (!unknown && mt_category_in(device->only, life->origin.category));
}

enum mt_status mt_allocations_each(struct mt_allocations *l, const struct mt_run_device *device,
                                   mt_allocation_use *use, void *closure, struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_allocation life;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LIVES, &s, err));
    mt_stmt_bind(s, "iii", l->run->alloc_first, l->run->alloc_first + l->run->alloc_n, device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        MT_TRY(read_life(l, s, &life, err));
        if (!is_wanted(device, &life))
            continue;
        life.freed_ns = mt_stmt_int_or(s, 8, INT64_MAX);
        life.freed_record = mt_stmt_int_or(s, 9, INT64_MAX);
        life.unseen = life.freed_record != INT64_MAX && !mt_stmt_int(s, 10);
        life.alloc_unseen = mt_stmt_int(s, 11) != 0;
        MT_TRY(use(closure, &life, err));
    }
}

enum mt_status mt_losses_each(struct mt_allocations *l, const struct mt_run_device *device,
                              mt_loss_use *use, void *closure, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_UNSEEN, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint64_t node = mt_stmt_index(s, 0, l->run->node_first);
        uint32_t in = node < l->tree.nodes.n ? (uint32_t)node : MT_NONE;
        use(closure, mt_tree_site(&l->tree, in), mt_stmt_int(s, 1));
    }
}

void mt_origin_groups_init(struct mt_origin_groups *b, struct mt_grouper *grouper)
{
    bool apart = mt_group_has(grouper->keys, grouper->key_n, MT_BY_CATEGORY);
    *b = (struct mt_origin_groups){.grouper = grouper,
                                   .stride = MT_ORIGIN_NODE + grouper->tree->nodes.n};
    b->n = b->stride * (apart ? MT_CATEGORY_N : 1);
    b->of = mt_alloc(b->n * sizeof *b->of);
    memset(b->of, 0xff, b->n * sizeof *b->of);
}

void mt_origin_groups_free(struct mt_origin_groups *b)
{
    free(b->of);
}

uint32_t mt_origin_group(struct mt_origin_groups *b, uint32_t origin)
{
    if (origin == MT_ORIGIN_BEFORE)
        return MT_NONE;
    if (origin / b->stride >= MT_CATEGORY_N)
        origin = MT_ORIGIN_OUTSIDE; /* a damaged database */
    if (b->n == b->stride)
        origin %= (uint32_t)b->stride;
    if (b->of[origin] == MT_NONE) {
        uint32_t place = origin % (uint32_t)b->stride;
        struct mt_origin from =
            mt_origin_of_node(place < MT_ORIGIN_NODE ? MT_NONE : place - MT_ORIGIN_NODE);
        from.category = (uint8_t)(origin / b->stride);
        b->of[origin] = mt_grouper_of(b->grouper, &from);
    }
    return b->of[origin];
}

/* The last keyframe up to a record (lib/model/history.h). */
struct keyframe {
    int64_t next;
    uint8_t *blocks; /* n bytes */
    size_t n;
};

static enum mt_status read_keyframe(struct mt_allocations *l, const struct mt_run_device *device,
                                    int64_t record, struct keyframe *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_KEYFRAME_BEFORE, &s, err));
    mt_stmt_bind(s, "ii", device->id, record);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK; /* so early that every block is allocated later */
    const uint8_t *bytes = mt_stmt_blob(s, 1, &out->n);
    out->next = mt_stmt_int(s, 0);
    if (out->next < 0 || out->next > l->run->alloc_n)
        out->next = 0; /* a damaged database */
    out->blocks = mt_alloc(out->n + 1);
    memcpy(out->blocks, bytes, out->n);
    mt_stmt_end(s);
    return MT_OK;
}

static void add_live(struct mt_live_set *out, const struct mt_allocation *life)
{
    *mt_vec_push(&out->blocks) = *life;
    mt_wrap_inc(&out->sum_b, life->bytes);
}

/* Adds those of the blocks first..last that are still live. */
static enum mt_status add_blocks(struct mt_allocations *l, const struct mt_run_device *device,
                                 int64_t first, int64_t last, int64_t record,
                                 struct mt_live_set *out, struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_allocation life;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LIVE_BLOCKS, &s, err));
    mt_stmt_bind(s, "iiii", l->run->alloc_first + first, l->run->alloc_first + last, device->id,
                 record);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        MT_TRY(read_life(l, s, &life, err));
        if (is_wanted(device, &life))
            add_live(out, &life);
    }
}

/* Adds those of the marked blocks, from a number up to another one, that are still live: mostly
 * many stand side by side. */
static enum mt_status add_from_keyframe(struct mt_allocations *l,
                                        const struct mt_run_device *device,
                                        const struct keyframe *keyframe, int64_t from, int64_t to,
                                        int64_t record, struct mt_live_set *out, struct mt_err *err)
{
    int64_t block = -1, first = 0, next = 0; /* those to be added, first..next - 1 */
    enum mt_status st = MT_OK;
    for (size_t at = 0; st == MT_OK &&
                        mt_unpack_number(keyframe->blocks, keyframe->n, &at, &block) &&
                        block < to;) {
        if (block < from || block >= l->run->alloc_n)
            continue;
        if (block != next && next > first)
            st = add_blocks(l, device, first, next - 1, record, out, err);
        first = block == next ? first : block;
        next = block + 1;
    }
    return st == MT_OK && next > first ? add_blocks(l, device, first, next - 1, record, out, err)
                                       : st;
}

/* Adds the live ones of the blocks that are allocated later. */
static enum mt_status add_later(struct mt_allocations *l, const struct mt_run_device *device,
                                int64_t next, int64_t record, struct mt_live_set *out,
                                struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_allocation life;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LIVE, &s, err));
    mt_stmt_bind(s, "iiii", l->run->alloc_first + next, l->run->alloc_first + l->run->alloc_n,
                 device->id, record);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row || mt_stmt_int(s, 2) > record)
            break;
        MT_TRY(read_life(l, s, &life, err));
        if (is_wanted(device, &life))
            add_live(out, &life);
    }
    mt_stmt_end(s);
    return MT_OK;
}

enum mt_status mt_live_at(struct mt_allocations *l, const struct mt_run_device *device,
                          int64_t record, struct mt_live_set *out, struct mt_err *err)
{
    struct keyframe keyframe = {0};
    if (!mt_device_has_events(device))
        return mt_held_at(l, device, record, out, err);
    out->rest = mt_allocations_are_known(device) ? "[before trace]" : "[no addresses]";
    if (!mt_allocations_are_known(device))
        return MT_OK;
    enum mt_status st = read_keyframe(l, device, record, &keyframe, err);
    /* Marked blocks from `next` on are older than the recording. */
    if (st == MT_OK)
        st = add_from_keyframe(l, device, &keyframe, 0, keyframe.next, record, out, err);
    if (st == MT_OK)
        st = add_later(l, device, keyframe.next, record, out, err);
    if (st == MT_OK)
        st = add_from_keyframe(l, device, &keyframe, keyframe.next, INT64_MAX, record, out, err);
    free(keyframe.blocks);
    return st;
}

void mt_live_set_free(struct mt_live_set *v)
{
    mt_vec_free(&v->blocks);
}

void mt_live_groups_init(struct mt_live_groups *g, struct mt_allocations *l,
                         const enum mt_group_key *keys, int key_n)
{
    *g = (struct mt_live_groups){0};
    mt_grouper_init(&g->grouper, &l->tree, keys, key_n);
}

void mt_live_groups_free(struct mt_live_groups *g)
{
    mt_grouper_free(&g->grouper);
    mt_vec_free(&g->rows);
}

static struct mt_live_total *sum_of(struct mt_live_groups *g, uint32_t group, int moment)
{
    if (group == g->rows.n) {
        const struct mt_group_name *name = &g->grouper.names.v[group];
        struct mt_live_group *row = mt_vec_push(&g->rows);
        *row = (struct mt_live_group){.key = name->key, .explicit_row = name->explicit_row};
        row->at[0].oldest_ns = row->at[1].oldest_ns = INT64_MAX;
    }
    return &g->rows.v[group].at[moment];
}

uint32_t mt_allocation_group(struct mt_grouper *g, const struct mt_allocation *life)
{
    return mt_allocation_is_unknown(life) ? mt_grouper_explicit(g, "[before trace]")
                                          : mt_grouper_of(g, &life->origin);
}

void mt_live_groups_add(struct mt_live_groups *g, const struct mt_live_set *v, int64_t level_b,
                        int moment)
{
    for (size_t i = 0; i < v->blocks.n; i++) {
        const struct mt_allocation *life = &v->blocks.v[i];
        struct mt_live_total *sum = sum_of(g, mt_allocation_group(&g->grouper, life), moment);
        mt_wrap_inc(&sum->bytes, life->bytes);
        if (life->blocks_n == MT_UNKNOWN || sum->blocks_n < 0)
            sum->blocks_n = -1;
        else
            mt_wrap_inc(&sum->blocks_n, life->blocks_n);
        if (life->alloc_ns < sum->oldest_ns)
            sum->oldest_ns = life->alloc_ns;
        if (life->bytes > sum->largest_b)
            sum->largest_b = life->bytes;
    }
    if (level_b == v->sum_b || !v->rest)
        return;
    struct mt_live_total *rest = sum_of(g, mt_grouper_explicit(&g->grouper, v->rest), moment);
    mt_wrap_inc(&rest->bytes, mt_wrap_sub(level_b, v->sum_b));
    rest->blocks_n = -1;
    rest->oldest_ns = INT64_MIN;
}
