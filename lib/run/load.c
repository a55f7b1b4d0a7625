#include "lib/run/frames.h"
#include "lib/run/kept_nodes.h"
#include "lib/run/load_parts.h"

#include "gen/queries.h"
#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/run/sites.h"
#include <stdlib.h>
#include <string.h>

static void free_contents(struct mt_tree *t)
{
    mt_vec_free(&t->nodes);
    mt_numbers_free(&t->ops.calls_n);
    mt_numbers_free(&t->ops.time_ns);
    mt_numbers_free(&t->ops.self_time_ns);
    mt_vec_free(&t->items);
    mt_vec_free(&t->outside);
    mt_vec_free(&t->thread_names);
    mt_vec_free(&t->thread_ids);
    mt_map_free(&t->texts);
    mt_map_free(&t->lines);
    mt_buf_free(&t->site);
}

static void free_tuples(struct mt_tree *t)
{
    for (size_t i = 0; i < t->tuples.n; i++)
        free(t->tuples.v[i]);
    mt_vec_free(&t->tuples);
    t->tuple_used = 0;
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

void mt_tree_forget_frames(struct mt_tree *t)
{
    if (t->known)
        mt_frames_free(t->known);
    free(t->known);
    t->known = NULL;
}

void mt_tree_free(struct mt_tree *t)
{
    mt_nodes_give(t);
    free_contents(t);
    free_tuples(t);
    mt_strtab_free(&t->strings);
    mt_tree_forget_frames(t);
}

void mt_tree_keep_texts(struct mt_tree *t)
{
    free_contents(t);
    mt_tree_forget_frames(t);
    mt_strtab_keep_texts(&t->strings);
}

static void empty(struct mt_tree *t)
{
    free_contents(t);
    t->has_lines = t->kept = false;
    t->before_at_peak_b = t->before_at_end_b = 0;
}

void mt_tree_go_on(struct mt_tree *t, bool same_db)
{
    empty(t);
    if (same_db)
        return;
    mt_frames_free(t->known);
    *t->known = (struct mt_known_frames){0};
}

void mt_tree_reuse(struct mt_tree *t)
{
    if (!t->known) {
        mt_tree_free(t);
        *t = (struct mt_tree){.known = mt_alloc(sizeof *t->known)};
        *t->known = (struct mt_known_frames){0};
        mt_strtab_init(&t->strings);
        return;
    }
    empty(t);
    free_tuples(t);
}

enum { OWN, TOP, SCOPE, MODULE, FRAMES }; /* of a node, in the order of the columns */
enum { OF_OPS = 5 };                      /* columns from MODULE on: phase, calls, times */

/* Nodes that come row by row. Their frames come in any order: while some rows wait, these are
 * fetched into the processor's cache. */
enum { WAITING = 16 };
struct node_reader {
    struct mt_db *db;
    const struct mt_run *run;
    bool items; /* one per node, too, in the order of their ids */
    bool ops;   /* rows go on with what call paths of ops have */
    struct mt_known_frames *known;
    struct mt_tree *t;
    enum mt_status st;
    struct mt_err *err;
    unsigned waiting_n;
    int64_t waiting[WAITING][MT_DB_ROW_CELLS];
};

/* The frames of a row. One that must be there is '' in a damaged database that has none; the node's
 * own is its top if no other is. */
static enum mt_status frames_of(struct node_reader *r, const int64_t *ids,
                                struct mt_known_frame *out, struct mt_err *err)
{
    for (int i = 0; i < FRAMES; i++) {
        if (!ids[i] && i >= SCOPE)
            out[i] = (struct mt_known_frame){.name = MT_NONE};
        else if (!ids[i] && i == TOP)
            out[TOP] = out[OWN];
        else
            MT_TRY(mt_frame_find(r->db, r->run, r->t, r->known, ids[i], &out[i], err));
    }
    return MT_OK;
}

/* cells: its calls and times. */
static void add_item(struct mt_tree *t, uint32_t node, uint32_t parent, const int64_t *cells)
{
    struct mt_item *item = mt_vec_push(&t->items);
    *item = mt_item_of_node(node);
    item->parent = parent;
    item->calls_n = cells[0];
    item->time_ns = cells[1];
    item->self_time_ns = cells[2];
}

static void add_ops(struct mt_node_ops *ops, uint32_t node, const int64_t *cells)
{
    mt_numbers_put(&ops->calls_n, node, cells[0]);
    mt_numbers_put(&ops->time_ns, node, cells[1]);
    mt_numbers_put(&ops->self_time_ns, node, cells[2]);
}

static uint32_t layer_of(struct mt_tree *t, const struct mt_known_frame *own,
                         const struct mt_tree_node *around)
{
    const uint32_t outer = around ? around->layer : MT_NONE;
    const uint32_t layer = own->is_python ? mt_layer_of_frame(t, own->name, outer) : own->layer;
    return layer == MT_NONE ? outer : layer;
}

static void add_node(struct node_reader *r, const int64_t *cells)
{
    struct mt_tree *t = r->t;
    struct mt_known_frame f[FRAMES];
    uint32_t at = (uint32_t)t->nodes.n;
    uint64_t id = cells[0] ? (uint64_t)cells[0] - (uint64_t)r->run->node_first : UINT64_MAX;
    if (r->st != MT_OK || (r->st = frames_of(r, cells + 1, f, r->err)) != MT_OK)
        return;
    /* a damaged database must not send us in circles */
    uint32_t parent = id < at ? (uint32_t)id : MT_NONE;
    const struct mt_tree_node *around = parent != MT_NONE ? &t->nodes.v[parent] : NULL;
    const uint32_t own = f[OWN].name, none = MT_NONE;
    const struct mt_tree_node node = {
        .parent = parent,
        .frame = own,
        .top = f[TOP].name,
        .scope = f[SCOPE].name,
        .module = f[MODULE].name,
        .object = f[TOP].object,
        .file = f[TOP].file,
        .category = f[OWN].is_category ? own
                    : around           ? around->category
                                       : none,
        .thread = f[OWN].is_thread ? own
                  : around         ? around->thread
                                   : none,
        .label = f[OWN].is_label ? own
                 : around        ? around->label
                                 : none,
        .size = f[OWN].is_size ? own
                : around       ? around->size
                               : none,
        .line = f[OWN].line != none ? f[OWN].line
                : around            ? around->line
                                    : none,
        .line_is_text = f[OWN].line != none ? f[OWN].line_is_text : around && around->line_is_text,
        .layer = layer_of(t, &f[OWN], around),
        .phase = phase_of(cells[1 + FRAMES]),
        .python_or_annotation = f[OWN].python_or_annotation,
        .is_python = f[OWN].is_python,
    };
    t->has_lines |= f[OWN].line != none;
    *mt_vec_push(&t->nodes) = node;
    if (r->items)
        add_item(t, at, parent, cells + 2 + FRAMES);
    else
        add_ops(&t->ops, at, cells + 2 + FRAMES);
}

static void add_waiting(struct node_reader *r)
{
    for (unsigned i = 0; i < r->waiting_n; i++)
        add_node(r, r->waiting[i]);
    r->waiting_n = 0;
}

static void each_node(void *closure, const int64_t *cells)
{
    struct node_reader *r = closure;
    uint32_t own = mt_frame_place(r->known, cells[1]);
    if (own != MT_NONE)
        __builtin_prefetch(&r->known->all.v[own]);
    memcpy(r->waiting[r->waiting_n], cells, sizeof *r->waiting);
    if (!r->ops)
        memset(&r->waiting[r->waiting_n][1 + MODULE], 0, OF_OPS * sizeof *cells);
    r->waiting_n++;
    if (r->waiting_n == WAITING)
        add_waiting(r);
}

static enum mt_status read_nodes(struct mt_db *db, const struct mt_run *run, bool items,
                                 struct mt_tree *t, struct mt_err *err)
{
    struct mt_known_frames own = {0};
    struct node_reader r = {.db = db,
                            .run = run,
                            .items = items,
                            .ops = run->kind != MT_RUN_HEAP,
                            .known = t->known ? t->known : &own,
                            .t = t,
                            .err = err};
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, r.ops ? MT_Q_LOAD_OP_NODES : MT_Q_LOAD_NODES, &s, err));
    mt_stmt_bind(s, "ii", run->node_first, run->node_first + run->node_n);
    enum mt_status st = mt_stmt_each(s, each_node, &r, err);
    add_waiting(&r);
    mt_frames_free(&own);
    return r.st != MT_OK ? r.st : st;
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
    const bool kept = !out->known && mt_nodes_take(db, run, out);
    if (!out->known && !kept)
        mt_strtab_init(&out->strings);
    out->outside_name = mt_kind_words[run->kind].outside;
    out->has_ops = run->kind == MT_RUN_TRACE;
    enum mt_status st = kept ? MT_OK : read_nodes(db, run, false, out, err);
    out->kept &= st == MT_OK; /* not some of them */
    return st;
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
    if (!out->known)
        mt_strtab_init(&out->strings);
    out->outside_name = mt_kind_words[run->kind].outside;
    out->has_ops = run->kind == MT_RUN_TRACE;
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

uint8_t mt_load_rule(const struct mt_stmt *s, int column, bool older)
{
    int64_t rule = mt_stmt_int(s, column);
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return older ? MT_CATEGORY_OLDER : MT_CATEGORY_NO_RULE;
    return rule > 0 && rule < MT_CATEGORY_RULE_N ? (uint8_t)rule : (uint8_t)MT_CATEGORY_NO_RULE;
}

uint8_t mt_load_category(const struct mt_stmt *s, int column, bool older)
{
    return mt_category_of_rule[mt_load_rule(s, column, older)];
}

uint32_t mt_tree_thread(const struct mt_tree *t, int64_t id)
{
    size_t at = mt_count_below(t->thread_ids.v, t->thread_ids.n, sizeof *t->thread_ids.v, id);
    return at < t->thread_ids.n && t->thread_ids.v[at] == id ? (uint32_t)at : MT_NONE;
}

enum mt_status mt_load_text(struct mt_db *db, struct mt_tree *t, int64_t id, uint32_t *out,
                            struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = mt_map_get(&t->texts, (uint64_t)id);
    if (*out != MT_NONE)
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_STRING, &s, err));
    mt_stmt_bind(s, "i", id);
    MT_TRY(mt_stmt_step(s, &row, err));
    const char *text = row ? mt_stmt_text(s, 0) : "";
    *out = mt_strtab_add(&t->strings, text, strlen(text));
    *mt_map_at(&t->texts, (uint64_t)id) = *out;
    return row ? mt_stmt_step(s, &row, err) : MT_OK;
}

enum mt_status mt_load_tensor(struct mt_db *db, struct mt_tree *t, const struct mt_stmt *s,
                              int column, uint32_t *out, struct mt_err *err)
{
    *out = MT_NONE;
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return MT_OK;
    return mt_load_text(db, t, mt_stmt_int(s, column), out, err);
}
