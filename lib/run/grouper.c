/* To which group something belongs: by the texts of its keys. */
#include "lib/model/label_text.h"
#include "lib/run/load.h"
#include "lib/run/own_categories.h"
#include "lib/run/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t text_id(struct mt_tree *t, const char *text)
{
    return mt_strtab_add(&t->strings, text, strlen(text));
}

static uint32_t step_id(struct mt_tree *t, int64_t step)
{
    char number[32];
    if (step == INT64_MIN)
        return text_id(t, "[no step]");
    snprintf(number, sizeof number, "%lld", (long long)step);
    return text_id(t, number);
}

/* What the node's labels say of one key. */
static uint32_t label_of(struct mt_tree *t, uint32_t label, const char *wanted)
{
    const char *at = label == MT_NONE ? "" : mt_strtab_get(&t->strings, label);
    struct mt_buf key = {0}, value = {0};
    uint32_t id = MT_NONE;
    while (id == MT_NONE && mt_label_next(&at, &key, &value))
        if (strcmp(key.s, wanted) == 0)
            id = text_id(t, value.s);
    mt_buf_free(&key);
    mt_buf_free(&value);
    return id == MT_NONE ? text_id(t, "[no label]") : id;
}

static uint32_t path_key(struct mt_grouper *g, uint32_t node)
{
    char number[16];
    if (!g->tree->paths)
        return mt_path_text(&g->paths, g->tree, node);
    snprintf(number, sizeof number, "%u", g->tree->paths->first[node]);
    return text_id(g->tree, number);
}

/* Keys that depend on the node alone. */
static uint32_t node_key(struct mt_grouper *g, uint32_t node, enum mt_group_key key)
{
    struct mt_tree *t = g->tree;
    const struct mt_tree_node *n = &t->nodes.v[node];
    switch (key) {
    case MT_BY_NAME:
        return mt_tree_op(t, node);
    case MT_BY_TOP:
        return mt_tree_top(t, node);
    case MT_BY_SITE:
        return mt_tree_site_text(t, node);
    case MT_BY_LINE:
        return mt_tree_line(t, node);
    case MT_BY_LAYER:
        return n->layer == MT_NONE ? text_id(t, "[no layer]") : n->layer;
    case MT_BY_SCOPE:
        return n->scope == MT_NONE ? text_id(t, "[no scope]") : n->scope;
    case MT_BY_MODULE:
        return n->module == MT_NONE ? text_id(t, "[no module]") : n->module;
    case MT_BY_OBJECT:
        return n->object == MT_NONE ? text_id(t, "[no object]") : n->object;
    case MT_BY_FILE:
        return n->file == MT_NONE ? text_id(t, "[no file]") : n->file;
    case MT_BY_CATEGORY:
        return n->category == MT_NONE ? text_id(t, "[unknown]") : n->category;
    case MT_BY_LABEL:
        return n->label == MT_NONE ? text_id(t, "[no label]") : n->label;
    case MT_BY_PHASE:
        return text_id(t, mt_phase_names[n->phase]);
    default:
        if (mt_group_label_key(key))
            return label_of(t, n->label, mt_group_label_key(key));
        return path_key(g, node);
    }
}

static uint32_t key_of_step(struct mt_grouper *g, int64_t step)
{
    if (g->step_text == MT_NONE || g->step != step) { /* mostly it is that of the last */
        g->step = step;
        g->step_text = step_id(g->tree, step);
    }
    return g->step_text;
}

/* Of a block, or of all blocks of a node. */
static uint32_t key_of_size(struct mt_grouper *g, const struct mt_origin *of)
{
    struct mt_tree *t = g->tree;
    char number[32];
    if (of->size_b == MT_UNKNOWN) {
        uint32_t size = of->node == MT_NONE ? MT_NONE : t->nodes.v[of->node].size;
        return size == MT_NONE ? text_id(t, "[no size]") : size;
    }
    if (g->size_text == MT_NONE || g->size_b != of->size_b) { /* mostly it is that of the last */
        snprintf(number, sizeof number, "%lld B", (long long)of->size_b);
        g->size_b = of->size_b;
        g->size_text = text_id(t, number);
    }
    return g->size_text;
}

static uint32_t key_of_category(struct mt_grouper *g, const struct mt_origin *of)
{
    uint32_t *text = &g->category_text[of->category < MT_CATEGORY_N ? of->category : 0];
    if (!*text)
        *text = text_id(g->tree, mt_category_names[of->category]) + 1;
    return *text - 1;
}

/* The type stands behind the shape: "[8, 64] float32". */
static uint32_t key_of_dtype(struct mt_grouper *g, uint32_t tensor)
{
    if (g->tensor != tensor) { /* mostly it is that of the last */
        const char *text = mt_strtab_get(&g->tree->strings, tensor), *type = strchr(text, ']');
        g->dtype_text = text_id(g->tree, type && type[1] ? type + 2 : text);
        g->tensor = tensor;
    }
    return g->dtype_text;
}

uint32_t mt_own_of_node(struct mt_own_nodes *own, struct mt_tree *t, uint32_t node)
{
    enum { NONE = MT_NONE - 1 };
    size_t n = t->nodes.n;
    if (!own->of) {
        own->of = mt_alloc((n + 1) * sizeof *own->of);
        memset(own->of, 0xff, n * sizeof *own->of);
        mt_paths_init(&own->paths, t);
    }
    if (own->of[node] == MT_NONE) {
        const uint32_t path = mt_path_text(&own->paths, t, node);
        const char *name =
            mt_own_category(mt_own_categories_used(), mt_strtab_get(&t->strings, path));
        own->of[node] = name ? text_id(t, name) : (uint32_t)NONE;
    }
    return own->of[node] == (uint32_t)NONE ? MT_NONE : own->of[node];
}

void mt_own_nodes_free(struct mt_own_nodes *own)
{
    free(own->of);
    own->of = NULL;
    mt_paths_free(&own->paths);
}

bool mt_own_needs_blocks(const struct mt_run_device *device, const enum mt_group_key *keys, int n)
{
    return mt_own_categories_used() && mt_group_has(keys, n, MT_BY_CATEGORY) &&
           device->knows & MT_KNOWS_FREED_IN;
}

/* The user's own category; MT_NONE: none. */
static uint32_t own_category(struct mt_grouper *g, const struct mt_origin *of)
{
    if (!mt_own_categories_used() || of->own == MT_NONE)
        return MT_NONE;
    if (of->own)
        return of->own - 1;
    return of->node == MT_NONE ? MT_NONE : mt_own_of_node(&g->own, g->tree, of->node);
}

static uint32_t key_of(struct mt_grouper *g, const struct mt_origin *of, int k)
{
    struct mt_tree *t = g->tree;
    enum mt_group_key key = g->keys[k];
    if (key == MT_BY_THREAD && of->thread != MT_NONE)
        return t->thread_names.v[of->thread];
    if (key == MT_BY_STEP)
        return key_of_step(g, of->step);
    if (key == MT_BY_SIZE)
        return key_of_size(g, of);
    if (key == MT_BY_CATEGORY) {
        uint32_t own = own_category(g, of);
        if (own != MT_NONE)
            return own;
    }
    if (key == MT_BY_CATEGORY && of->category)
        return key_of_category(g, of);
    if (key == MT_BY_WHY && (of->rule || of->node != MT_NONE))
        return text_id(t, mt_category_rule_names[of->rule]);
    if (of->tensor != MT_NONE && (key == MT_BY_TENSOR || key == MT_BY_DTYPE))
        return key == MT_BY_TENSOR ? of->tensor : key_of_dtype(g, of->tensor);
    if (of->node == MT_NONE)
        return text_id(t, t->outside_name ? t->outside_name : "[outside ops]");
    if (key == MT_BY_THREAD) {
        uint32_t thread = t->nodes.v[of->node].thread; /* of a heap log */
        return thread == MT_NONE ? text_id(t, "[no thread]") : thread;
    }
    if (key == MT_BY_TENSOR || key == MT_BY_DTYPE)
        return text_id(t, "[unknown]");
    if (key == MT_BY_SHAPE)
        return of->shape == MT_NONE ? text_id(t, "[no shape]") : of->shape;
    if (key == MT_BY_FORWARD)
        return of->forward == MT_NONE ? text_id(t, "[no forward op]") : of->forward;
    uint32_t *known = &g->memo[(size_t)k * t->nodes.n + of->node];
    if (*known == MT_NONE)
        *known = node_key(g, of->node, key);
    return *known;
}

void mt_grouper_go_on(struct mt_grouper *g, struct mt_tree *t)
{
    size_t bytes = ((size_t)g->key_n * t->nodes.n + 1) * sizeof *g->memo;
    mt_grouper_pause(g);
    g->tree = t;
    g->memo = mt_alloc(bytes);
    memset(g->memo, 0xff, bytes);
    if (!mt_group_has(g->keys, g->key_n, MT_BY_PATH))
        return;
    if (!t->paths)
        mt_paths_init(&g->paths, t);
    else if (!t->paths->first)
        mt_paths_number(t->paths, t);
}

void mt_grouper_init(struct mt_grouper *g, struct mt_tree *t, const enum mt_group_key *keys,
                     int key_n)
{
    *g = (struct mt_grouper){
        .key_n = key_n, .step_text = MT_NONE, .size_text = MT_NONE, .tensor = MT_NONE};
    memcpy(g->keys, keys, (size_t)key_n * sizeof *keys);
    mt_grouper_go_on(g, t);
}

void mt_grouper_pause(struct mt_grouper *g)
{
    free(g->memo);
    g->memo = NULL;
    mt_own_nodes_free(&g->own);
    mt_paths_free(&g->paths);
    mt_vec_free(&g->names);
    for (size_t i = 0; i < g->shared.n; i++)
        g->shared.v[i].own = MT_NONE;
}

void mt_grouper_free(struct mt_grouper *g)
{
    for (int k = 0; k < g->key_n; k++) {
        mt_map_free(&g->index[k]);
        mt_vec_free(&g->behind[k]);
    }
    mt_vec_free(&g->first[0]);
    mt_vec_free(&g->first[1]);
    mt_grouper_pause(g);
    mt_vec_free(&g->shared);
}

/* Room for the keys of a group, which live as long as the tree. */
static const char **new_tuple(struct mt_tree *t, int n)
{
    enum { PIECE = 1024 }; /* texts */
    if (!t->tuples.n || t->tuple_used + (size_t)n > PIECE) {
        *mt_vec_push(&t->tuples) = mt_alloc(PIECE * sizeof **t->tuples.v);
        t->tuple_used = 0;
    }
    t->tuple_used += (size_t)n;
    return t->tuples.v[t->tuples.n - 1] + t->tuple_used - n;
}

/* The number of the first key, which is mostly the only one. */
static uint32_t first_number(struct mt_grouper *g, uint32_t id, bool explicit_row)
{
    while (g->first[explicit_row].n <= id)
        *mt_vec_push(&g->first[explicit_row]) = MT_NONE;
    uint32_t *number = &g->first[explicit_row].v[id];
    if (*number == MT_NONE)
        *number = g->first_n++;
    return *number;
}

/* The number of the keys up to k: those before it have one. Mostly one key alone is behind them. */
static uint32_t next_number(struct mt_grouper *g, int k, uint32_t before, uint32_t id)
{
    while (g->behind[k].n <= before)
        *mt_vec_push(&g->behind[k]) = (struct mt_group_behind){MT_NONE, 0};
    struct mt_group_behind *first = &g->behind[k].v[before];
    if (first->key == MT_NONE)
        *first = (struct mt_group_behind){id, g->behind_n[k]++};
    if (first->key == id)
        return first->number;
    uint32_t *at = mt_map_at(&g->index[k], (uint64_t)before << 32 | id);
    if (*at == MT_MAP_NONE)
        *at = g->behind_n[k]++;
    return *at;
}

static uint32_t group_at(struct mt_grouper *g, const uint32_t *ids, bool explicit_row)
{
    uint32_t number = first_number(g, ids[0], explicit_row);
    for (int k = 1; k < g->key_n; k++)
        number = next_number(g, k, number, ids[k]);
    if (number == g->shared.n) {
        const char **key = new_tuple(g->tree, g->key_n);
        for (int k = 0; k < g->key_n; k++)
            key[k] = mt_strtab_get(&g->tree->strings, ids[k]);
        *mt_vec_push(&g->shared) = (struct mt_group_shared){key, MT_NONE};
    }
    struct mt_group_shared *group = &g->shared.v[number];
    if (group->own == MT_NONE) {
        group->own = (uint32_t)g->names.n;
        *mt_vec_push(&g->names) = (struct mt_group_name){group->key, explicit_row, number};
    }
    return group->own;
}

/* "5 [outside ops]": else a step or thread would have two rows of one name. */
static uint32_t part_of(struct mt_tree *t, uint32_t key, const char *part)
{
    const char *of = mt_strtab_get(&t->strings, key);
    int n = (int)strlen(of) - 1;
    char *text = *of == '[' ? mt_asprintf("%.*s, %s]", n, of, part) /* [no step, outside ops] */
                            : mt_asprintf("%s [%s]", of, part);
    uint32_t id = text_id(t, text);
    free(text);
    return id;
}

/* Whether a key says nothing but that a block is older than the recording. */
static bool is_of_older(enum mt_group_key key, const struct mt_origin *origin)
{
    return (key == MT_BY_CATEGORY && origin->category == MT_CATEGORY_BEFORE) ||
           (key == MT_BY_WHY && origin->rule == MT_CATEGORY_OLDER);
}

uint32_t mt_grouper_of(struct mt_grouper *g, const struct mt_origin *origin)
{
    uint32_t ids[MT_BY_N];
    bool named = false; /* some key says that it is outside every op */
    bool sized = false; /* a size is one, be it of ops or not; so is what a block is for */
    for (int k = 0; k < g->key_n; k++) {
        enum mt_group_key key = g->keys[k];
        ids[k] = key_of(g, origin, k);
        bool of_block = (key == MT_BY_SIZE && origin->size_b != MT_UNKNOWN) ||
                        (key == MT_BY_WHY && origin->rule) ||
                        (key == MT_BY_CATEGORY &&
                         (origin->category || (origin->own && origin->own != MT_NONE))) ||
                        ((key == MT_BY_TENSOR || key == MT_BY_DTYPE) && origin->tensor != MT_NONE);
        sized |= of_block;
        named |= key == MT_BY_THREAD ? origin->thread == MT_NONE
                                     : key != MT_BY_STEP && key != MT_BY_SIZE && !of_block;
    }
    if (g->key_n == 1 && is_of_older(g->keys[0], origin))
        return group_at(g, ids, true);
    bool outside = origin->node == MT_NONE && (named || !sized);
    if (outside && !named)
        ids[g->key_n - 1] = part_of(g->tree, ids[g->key_n - 1], "outside ops");
    return group_at(g, ids, outside);
}

static uint32_t unseen_group(struct mt_grouper *g, int64_t step)
{
    uint32_t ids[MT_BY_N];
    bool named = false; /* some key is not the step */
    for (int k = 0; k < g->key_n; k++) {
        bool by_step = g->keys[k] == MT_BY_STEP;
        ids[k] = by_step ? key_of_step(g, step) : text_id(g->tree, "[freed unseen]");
        named |= !by_step;
    }
    if (!named)
        ids[g->key_n - 1] = part_of(g->tree, ids[g->key_n - 1], "freed unseen");
    return group_at(g, ids, true);
}

uint32_t mt_grouper_of_outside(struct mt_grouper *g, const struct mt_outside *outside)
{
    const struct mt_origin origin = {.node = MT_NONE,
                                     .thread = outside->thread,
                                     .step = outside->step,
                                     .size_b = outside->size_b,
                                     .category = outside->category,
                                     .rule = outside->rule,
                                     .tensor = outside->tensor,
                                     .own = outside->own};
    return outside->unseen ? unseen_group(g, outside->step) : mt_grouper_of(g, &origin);
}

uint32_t mt_grouper_explicit(struct mt_grouper *g, const char *name)
{
    uint32_t ids[MT_BY_N];
    for (int k = 0; k < g->key_n; k++)
        ids[k] = text_id(g->tree, name);
    return group_at(g, ids, true);
}

uint32_t mt_grouper_of_texts(struct mt_grouper *g, const char *const *key, bool explicit_row)
{
    uint32_t ids[MT_BY_N];
    for (int k = 0; k < g->key_n; k++)
        ids[k] = text_id(g->tree, key[k]);
    return group_at(g, ids, explicit_row);
}
