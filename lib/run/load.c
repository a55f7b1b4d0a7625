#include "lib/run/load_parts.h"

#include "gen/queries.h"
#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/run/category_words.h"
#include <stdlib.h>
#include <string.h>

static void free_contents(struct mt_tree *t)
{
    mt_vec_free(&t->nodes);
    mt_vec_free(&t->items);
    mt_vec_free(&t->outside);
    mt_vec_free(&t->thread_names);
    mt_vec_free(&t->thread_ids);
    mt_map_free(&t->shapes);
}

void mt_tree_keep_texts(struct mt_tree *t)
{
    free_contents(t);
    mt_strtab_keep_texts(&t->strings);
}

void mt_tree_free(struct mt_tree *t)
{
    free_contents(t);
    mt_strtab_free(&t->strings);
    for (size_t i = 0; i < t->tuples.n; i++)
        free(t->tuples.v[i]);
    mt_vec_free(&t->tuples);
}

static uint32_t text_of(struct mt_tree *t, const struct mt_stmt *s, int column)
{
    const char *text = mt_stmt_text(s, column);
    return text ? mt_strtab_add(&t->strings, text, strlen(text)) : MT_NONE;
}

static uint8_t phase_of(int64_t phase)
{
    return phase > 0 && phase < MT_PHASE_N ? (uint8_t)phase : 0;
}

struct frame {
    int64_t id;
    uint32_t name, object, file; /* string ids; MT_NONE: unknown */
    bool python_or_annotation, is_category, is_thread, is_label, is_size;
};

/* The frames of the nodes, read once each. */
struct frames {
    struct mt_map index; /* id of the database -> all */
    MT_VEC(struct frame) all;
    size_t last;     /* the one asked for last */
    int64_t next, n; /* id behind those read last; how many these were */
};

/* s: a row of load_frames; NULL: a damaged database has none. */
static void add_frame(struct frames *known, struct mt_tree *t, int64_t id, const struct mt_stmt *s)
{
    uint32_t *at = mt_map_at(&known->index, (uint64_t)id);
    if (*at != MT_NONE)
        return;
    *at = (uint32_t)known->all.n;
    struct frame f = {.id = id, .object = MT_NONE, .file = MT_NONE};
    f.name = s ? text_of(t, s, 1) : mt_strtab_add(&t->strings, "", 0);
    if (s) {
        f.python_or_annotation = mt_stmt_int(s, 2) == 1;
        f.is_category = mt_stmt_int(s, 2) == 2;
        f.is_thread = mt_stmt_int(s, 2) == 3;
        f.is_label = mt_stmt_int(s, 2) == 4;
        f.is_size = mt_stmt_int(s, 2) == 5;
        f.object = text_of(t, s, 3);
        f.file = text_of(t, s, 4);
    }
    *mt_vec_push(&known->all) = f;
}

/*
 * Reads a frame, and the more of those behind it the longer they are asked for in the order of
 * their ids: nodes of a million names were made in that order. At most half of what is read is for
 * nothing.
 */
static enum mt_status read_frames(struct mt_db *db, struct mt_tree *t, struct frames *known,
                                  int64_t id, struct mt_err *err)
{
    enum { MOST = 1024 };
    struct mt_stmt *f;
    bool row;
    bool in_order = id == known->next && id < INT64_MAX - 2 * MOST;
    known->n = !in_order ? 1 : known->n < MOST ? 2 * known->n + 1 : known->n;
    int64_t last = id + (known->n - 1);
    known->next = mt_wrap_add(last, 1);
    MT_TRY(mt_db_query(db, MT_Q_LOAD_FRAMES, &f, err));
    mt_stmt_bind(f, "ii", id, last);
    for (;;) {
        MT_TRY(mt_stmt_step(f, &row, err));
        if (!row)
            break;
        add_frame(known, t, mt_stmt_int(f, 0), f);
    }
    add_frame(known, t, id, NULL);
    return MT_OK;
}

/* The frame in a column. NULL: none; or where one must be, '' as above. */
static enum mt_status frame_of(struct mt_db *db, struct mt_tree *t, struct frames *known,
                               const struct mt_stmt *s, int column, bool needed, struct frame *out,
                               struct mt_err *err)
{
    *out = (struct frame){.name = MT_NONE, .object = MT_NONE, .file = MT_NONE};
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL && !needed)
        return MT_OK;
    int64_t id = mt_stmt_int(s, column);
    for (size_t at = known->last; at < known->all.n && at < known->last + 2; at++)
        if (known->all.v[at].id == id) { /* that again, or the next: mostly without the map */
            known->last = at;
            *out = known->all.v[at];
            return MT_OK;
        }
    if (mt_map_get(&known->index, (uint64_t)id) == MT_NONE)
        MT_TRY(read_frames(db, t, known, id, err));
    known->last = mt_map_get(&known->index, (uint64_t)id);
    *out = known->all.v[known->last];
    return MT_OK;
}

/* Reads the nodes in the order of their ids; with items, one per node, still in that order. */
static enum mt_status read_rows(struct mt_db *db, const struct mt_run *run, bool items,
                                struct frames *known, struct mt_tree *t, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_NODES, &s, err));
    mt_stmt_bind(s, "ii", run->node_first, run->node_first + run->node_n);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint32_t at = (uint32_t)t->nodes.n;
        uint64_t id = mt_stmt_index(s, 0, run->node_first);
        /* a damaged database must not send us in circles */
        uint32_t parent = id < at ? (uint32_t)id : MT_NONE;
        struct frame frames[4]; /* itself, top, scope, module */
        for (int i = 0; i < 4; i++)
            MT_TRY(frame_of(db, t, known, s, 1 + i, i < 2, &frames[i], err));
        const struct mt_tree_node *around = parent != MT_NONE ? &t->nodes.v[parent] : NULL;
        const uint32_t own = frames[0].name, none = MT_NONE;
        uint32_t category = frames[0].is_category ? own : around ? around->category : none;
        uint32_t thread = frames[0].is_thread ? own : around ? around->thread : none;
        uint32_t label = frames[0].is_label ? own : around ? around->label : none;
        uint32_t size = frames[0].is_size ? own : around ? around->size : none;
        *mt_vec_push(&t->nodes) = (struct mt_tree_node){parent,
                                                        frames[0].name,
                                                        frames[1].name,
                                                        frames[2].name,
                                                        frames[3].name,
                                                        frames[1].object,
                                                        frames[1].file,
                                                        category,
                                                        thread,
                                                        label,
                                                        size,
                                                        phase_of(mt_stmt_int(s, 5)),
                                                        frames[0].python_or_annotation};
        if (items) {
            struct mt_item *item = mt_vec_push(&t->items);
            *item = mt_item_of_node(at);
            item->parent = parent;
            item->calls_n = mt_stmt_int(s, 6);
            item->time_ns = mt_stmt_int(s, 7);
            item->self_time_ns = mt_stmt_int(s, 8);
        }
    }
}

static enum mt_status read_nodes(struct mt_db *db, const struct mt_run *run, bool items,
                                 struct mt_tree *t, struct mt_err *err)
{
    struct frames known = {0};
    enum mt_status st = read_rows(db, run, items, &known, t, err);
    mt_map_free(&known.index);
    mt_vec_free(&known.all);
    return st;
}

static struct mt_sums read_sums(const struct mt_stmt *s, int column)
{
    return (struct mt_sums){.alloc_b = mt_stmt_int(s, column),
                            .freed_b = mt_stmt_int(s, column + 1),
                            .alloc_n = mt_stmt_int(s, column + 2),
                            .at_peak_b = mt_stmt_int(s, column + 3),
                            .at_end_b = mt_stmt_int(s, column + 4),
                            .at_peak_n = mt_stmt_int(s, column + 5),
                            .at_end_n = mt_stmt_int(s, column + 6)};
}

enum mt_status mt_load_stats(struct mt_db *db, const struct mt_run *run, int64_t device,
                             uint64_t node_n, mt_stats_use *use, void *closure, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_STATS, &s, err));
    mt_stmt_bind(s, "iii", run->node_first, run->node_first + run->node_n, device);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint64_t node = mt_stmt_index(s, 0, run->node_first);
        if (node >= node_n)
            continue; /* a damaged database */
        struct mt_sums self = read_sums(s, 1), total = read_sums(s, 8);
        use(closure, node, &self, &total);
    }
}

/* What blocks of some categories did in each node itself: as of a device that has no others. */
static enum mt_status read_blocks(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, uint64_t node_n,
                                  struct mt_sums *self, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_ALLOCS_IN, &s, err));
    mt_stmt_bind(s, "iiiii", run->alloc_first, run->alloc_first + run->alloc_n, device->id,
                 INT64_MIN, INT64_MAX);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        bool older = mt_stmt_kind(s, 1) == MT_VALUE_NULL;
        if (!mt_category_in(device->only, mt_load_category(s, 11, older)))
            continue;
        uint64_t in = mt_stmt_index(s, 9, run->node_first);
        if (in < node_n && !older)
            mt_sums_add_block(&self[in], s, device);
        in = mt_stmt_index(s, 10, run->node_first);
        if (in < node_n && mt_stmt_kind(s, 6) != MT_VALUE_NULL)
            mt_wrap_inc(&self[in].freed_b, mt_stmt_int(s, 0));
    }
}

/* mt_load_stats of a device of which some categories are looked at. */
static enum mt_status load_narrowed(struct mt_db *db, const struct mt_run *run,
                                    const struct mt_run_device *device, const struct mt_tree *t,
                                    mt_stats_use *use, void *closure, struct mt_err *err)
{
    size_t n = t->nodes.n;
    struct mt_sums *self = mt_alloc(2 * (n + 1) * sizeof *self), *total = self + n + 1;
    enum mt_status st = read_blocks(db, run, device, n, self, err);
    memcpy(total, self, n * sizeof *self);
    for (size_t i = n; i-- > 0;)
        if (t->nodes.v[i].parent != MT_NONE) /* which comes before */
            mt_sums_add(&total[t->nodes.v[i].parent], &total[i]);
    for (size_t i = 0; i < n && st == MT_OK; i++)
        if (total[i].alloc_n || total[i].freed_b)
            use(closure, i, &self[i], &total[i]);
    free(self);
    return st;
}

enum mt_status mt_load_stats_of(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_tree *t,
                                mt_stats_use *use, void *closure, struct mt_err *err)
{
    if (device->only)
        return load_narrowed(db, run, device, t, use, closure, err);
    return mt_load_stats(db, run, device->id, t->nodes.n, use, closure, err);
}

static void use_stats(void *closure, uint64_t node, const struct mt_sums *self,
                      const struct mt_sums *total)
{
    struct mt_tree *t = closure;
    t->items.v[node].self = *self;
    t->items.v[node].total = *total;
}

uint32_t *mt_preorder(const uint32_t *parent, size_t stride, uint32_t n)
{
    uint32_t *first = mt_alloc((n + 1) * sizeof *first), *next = mt_alloc((n + 1) * sizeof *next);
    uint32_t *out = mt_alloc((n + 1) * sizeof *out);
    memset(first, 0xff, (n + 1) * sizeof *first);
    for (uint32_t i = n; i-- > 0;) { /* index n is the list of roots */
        uint32_t of = *(const uint32_t *)((const char *)parent + i * stride);
        of = of == MT_NONE ? n : of;
        next[i] = first[of];
        first[of] = i;
    }
    MT_VEC(uint32_t) stack = {0};
    uint32_t done = 0;
    if (first[n] != MT_NONE)
        *mt_vec_push(&stack) = first[n];
    while (stack.n) {
        uint32_t i = stack.v[--stack.n];
        out[done++] = i;
        if (next[i] != MT_NONE)
            *mt_vec_push(&stack) = next[i];
        if (first[i] != MT_NONE)
            *mt_vec_push(&stack) = first[i];
    }
    mt_vec_free(&stack);
    free(first);
    free(next);
    return out;
}

void mt_tree_preorder(struct mt_tree *t)
{
    uint32_t n = (uint32_t)t->items.n;
    if (!n)
        return;
    uint32_t *order = mt_preorder(&t->items.v->parent, sizeof *t->items.v, n);
    uint32_t *place = mt_alloc(n * sizeof *place);
    struct mt_item *out = mt_alloc(n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        place[order[i]] = i;
        out[i] = t->items.v[order[i]];
        if (out[i].parent != MT_NONE)
            out[i].parent = place[out[i].parent];
    }
    free(t->items.v);
    t->items.v = out;
    t->items.cap = n;
    free(order);
    free(place);
}

void mt_tree_add_before(struct mt_tree *t, const struct mt_run_device *device)
{
    int64_t unknown_b = mt_wrap_sub(device->start_b, device->older_b);
    t->before_at_peak_b = mt_wrap_sub(unknown_b, device->before_at_peak_b);
    t->before_at_end_b = mt_wrap_sub(unknown_b, device->before_freed_b);
}

enum mt_status mt_load_nodes(struct mt_db *db, const struct mt_run *run, struct mt_tree *out,
                             struct mt_err *err)
{
    mt_strtab_init(&out->strings);
    out->outside_name = mt_kind_words[run->kind].outside;
    return read_nodes(db, run, false, out, err);
}

void mt_tree_add_device(struct mt_tree *t, const struct mt_run_device *device)
{
    t->outside.n = 0;
    if (device->outside_n)
        *mt_vec_push(&t->outside) =
            (struct mt_outside){.size_b = MT_UNKNOWN,
                                .tensor = MT_NONE,
                                .sums = {.alloc_b = device->outside_alloc_b,
                                         .freed_b = device->outside_freed_b,
                                         .alloc_n = device->outside_alloc_n,
                                         .at_peak_b = device->outside_at_peak_b,
                                         .at_end_b = device->outside_at_end_b},
                                .thread = MT_NONE,
                                .step = INT64_MIN};
    if (device->unseen_n)
        *mt_vec_push(&t->outside) = (struct mt_outside){.size_b = MT_UNKNOWN,
                                                        .tensor = MT_NONE,
                                                        .sums = {.freed_b = device->unseen_b},
                                                        .thread = MT_NONE,
                                                        .step = INT64_MIN,
                                                        .unseen = true};
    mt_tree_add_before(t, device);
}

enum mt_status mt_load_rollup(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, struct mt_tree *out,
                              struct mt_err *err)
{
    mt_strtab_init(&out->strings);
    out->outside_name = mt_kind_words[run->kind].outside;
    MT_TRY(read_nodes(db, run, true, out, err));
    if (device) {
        MT_TRY(mt_load_stats_of(db, run, device, out, use_stats, out, err));
        mt_tree_add_device(out, device);
    }
    mt_tree_preorder(out);
    return MT_OK;
}

enum mt_status mt_load_threads(struct mt_db *db, const struct mt_run *run, struct mt_tree *t,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_THREADS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_vec_push(&t->thread_ids) = mt_stmt_int(s, 0);
        *mt_vec_push(&t->thread_names) = text_of(t, s, 1);
    }
}

uint8_t mt_load_category(const struct mt_stmt *s, int column, bool older)
{
    int64_t rule = mt_stmt_int(s, column);
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return older ? MT_CATEGORY_BEFORE : MT_CATEGORY_NONE;
    return rule > 0 && rule < MT_CATEGORY_RULE_N ? mt_category_of_rule[rule]
                                                 : (uint8_t)MT_CATEGORY_NONE;
}

uint32_t mt_tree_thread(const struct mt_tree *t, int64_t id)
{
    size_t at = mt_count_below(t->thread_ids.v, t->thread_ids.n, sizeof *t->thread_ids.v, id);
    return at < t->thread_ids.n && t->thread_ids.v[at] == id ? (uint32_t)at : MT_NONE;
}

enum mt_status mt_load_shape(struct mt_db *db, struct mt_tree *t, int64_t id, uint32_t *out,
                             struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = mt_map_get(&t->shapes, (uint64_t)id);
    if (*out != MT_NONE)
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_STRING, &s, err));
    mt_stmt_bind(s, "i", id);
    MT_TRY(mt_stmt_step(s, &row, err));
    const char *text = row ? mt_stmt_text(s, 0) : "";
    *out = mt_strtab_add(&t->strings, text, strlen(text));
    *mt_map_at(&t->shapes, (uint64_t)id) = *out;
    return row ? mt_stmt_step(s, &row, err) : MT_OK;
}

enum mt_status mt_load_tensor(struct mt_db *db, struct mt_tree *t, const struct mt_stmt *s,
                              int column, uint32_t *out, struct mt_err *err)
{
    *out = MT_NONE;
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return MT_OK;
    return mt_load_shape(db, t, mt_stmt_int(s, column), out, err);
}
