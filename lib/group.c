/* Grouping of items: which group an item belongs to; self sums per group, and inclusive sums that
 * count nested items of a group once. */
#include "lib/load.h"
#include "lib/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mt_group_key_names[MT_BY_N] = {"name",   "top",   "site",   "scope",
                                                 "module", "phase", "path",   "shape",
                                                 "thread", "step",  "forward"};

static uint32_t text_id(struct mt_tree *t, const char *text)
{
    return mt_strtab_add(&t->strings, text, strlen(text));
}

uint32_t mt_site_text(struct mt_strtab *strings, const char *top, const char *scope)
{
    if (!scope || strcmp(scope, top) == 0)
        return mt_strtab_add(strings, top, strlen(top));
    char *both = mt_asprintf("%s in %s", top, scope);
    uint32_t id = mt_strtab_add(strings, both, strlen(both));
    free(both);
    return id;
}

static uint32_t step_id(struct mt_tree *t, int64_t step)
{
    char number[32];
    if (step == INT64_MIN)
        return text_id(t, "[no step]");
    snprintf(number, sizeof number, "%lld", (long long)step);
    return text_id(t, number);
}

/* Keys that depend on the node alone. */
static uint32_t node_key(struct mt_grouper *g, uint32_t node, enum mt_group_key key)
{
    struct mt_tree *t = g->tree;
    const struct mt_tree_node *n = &t->nodes.v[node];
    switch (key) {
    case MT_BY_NAME:
        return n->frame;
    case MT_BY_TOP:
        return n->top;
    case MT_BY_SITE:
        return mt_site_text(&t->strings, mt_strtab_get(&t->strings, n->top),
                            n->scope == MT_NONE ? NULL : mt_strtab_get(&t->strings, n->scope));
    case MT_BY_SCOPE:
        return n->scope == MT_NONE ? text_id(t, "[no scope]") : n->scope;
    case MT_BY_MODULE:
        return n->module == MT_NONE ? text_id(t, "[no module]") : n->module;
    case MT_BY_PHASE:
        return text_id(t, mt_phase_names[n->phase]);
    default:
        return mt_path_text(&g->paths, t, node);
    }
}

static uint32_t key_of(struct mt_grouper *g, const struct mt_item *item, int k)
{
    struct mt_tree *t = g->tree;
    enum mt_group_key key = g->keys[k];
    if (key == MT_BY_THREAD && item->thread != MT_NONE)
        return t->thread_names.v[item->thread];
    if (key == MT_BY_STEP) {
        if (g->step_text == MT_NONE || g->step != item->step) { /* mostly it is that of the last */
            g->step = item->step;
            g->step_text = step_id(t, item->step);
        }
        return g->step_text;
    }
    if (item->node == MT_NONE)
        return text_id(t, "[outside ops]");
    if (key == MT_BY_THREAD)
        return text_id(t, "[no thread]");
    if (key == MT_BY_SHAPE)
        return item->shape == MT_NONE ? text_id(t, "[no shape]") : item->shape;
    if (key == MT_BY_FORWARD)
        return item->forward == MT_NONE ? text_id(t, "[no forward op]") : item->forward;
    uint32_t *known = &g->memo[(size_t)k * t->nodes.n + item->node];
    if (*known == MT_NONE)
        *known = node_key(g, item->node, key);
    return *known;
}

static enum mt_status unknown_key(const char *key, size_t n, struct mt_err *err)
{
    struct mt_buf known = {0};
    for (int k = 0; k < MT_BY_N; k++)
        mt_buf_addf(&known, "%s, ", mt_group_key_names[k]);
    MT_FAIL(err, MT_EUSAGE, "--by does not know '%.*s'", (int)n, key);
    mt_err_hint(err, "It knows: %sdevice; several separated by commas.", known.s);
    mt_buf_free(&known);
    return MT_EUSAGE;
}

enum mt_status mt_group_keys_parse(const char *by, const char *fallback,
                                   enum mt_group_key keys[MT_BY_N], int *key_n, bool *device,
                                   struct mt_err *err)
{
    *key_n = 0;
    *device = false;
    for (const char *p = by ? by : fallback; *p;) {
        size_t n = strcspn(p, ",");
        int key = 0;
        while (key < MT_BY_N && (strlen(mt_group_key_names[key]) != n ||
                                 strncmp(mt_group_key_names[key], p, n) != 0))
            key++;
        bool known = key < MT_BY_N;
        for (int i = 0; known && i < *key_n; i++)
            if (keys[i] == (enum mt_group_key)key)
                return MT_FAIL(err, MT_EUSAGE, "--by names '%s' twice", mt_group_key_names[key]);
        if (known)
            keys[(*key_n)++] = (enum mt_group_key)key;
        else if (n == 6 && strncmp(p, "device", 6) == 0)
            *device = true;
        else
            return unknown_key(p, n, err);
        p += n + (p[n] == ',');
    }
    return *key_n ? MT_OK : mt_group_keys_parse(fallback, fallback, keys, key_n, &(bool){0}, err);
}

void mt_grouper_init(struct mt_grouper *g, struct mt_tree *t, const enum mt_group_key *keys,
                     int key_n)
{
    size_t bytes = ((size_t)key_n * t->nodes.n + 1) * sizeof *g->memo;
    *g = (struct mt_grouper){.tree = t, .key_n = key_n, .step_text = MT_NONE};
    memcpy(g->keys, keys, (size_t)key_n * sizeof *keys);
    mt_strtab_init(&g->index);
    g->memo = mt_alloc(bytes);
    memset(g->memo, 0xff, bytes);
    for (int k = 0; k < key_n; k++)
        if (keys[k] == MT_BY_PATH)
            mt_paths_init(&g->paths, t);
}

void mt_grouper_free(struct mt_grouper *g)
{
    mt_strtab_free(&g->index);
    free(g->memo);
    mt_paths_free(&g->paths);
    mt_vec_free(&g->names);
}

static uint32_t group_at(struct mt_grouper *g, uint32_t ids[MT_BY_N + 1], bool explicit_row)
{
    ids[g->key_n] = explicit_row;
    uint32_t group =
        mt_strtab_add(&g->index, (const char *)ids, ((size_t)g->key_n + 1) * sizeof *ids);
    if (group == g->names.n) {
        struct mt_group_name *name = mt_vec_push(&g->names);
        *name = (struct mt_group_name){.explicit_row = explicit_row};
        for (int k = 0; k < g->key_n; k++)
            name->key[k] = mt_strtab_get(&g->tree->strings, ids[k]);
    }
    return group;
}

/* "5 [outside ops]": else a step or thread would have two rows of one name. */
static uint32_t outside_of(struct mt_tree *t, uint32_t key)
{
    const char *of = mt_strtab_get(&t->strings, key);
    int n = (int)strlen(of) - 1;
    char *text = *of == '[' ? mt_asprintf("%.*s, outside ops]", n, of) /* [no step, outside ops] */
                            : mt_asprintf("%s [outside ops]", of);
    uint32_t id = text_id(t, text);
    free(text);
    return id;
}

uint32_t mt_grouper_of(struct mt_grouper *g, const struct mt_item *item)
{
    uint32_t ids[MT_BY_N + 1];
    bool named = false; /* some key says that it is outside every op */
    for (int k = 0; k < g->key_n; k++) {
        ids[k] = key_of(g, item, k);
        named |= g->keys[k] != MT_BY_THREAD && g->keys[k] != MT_BY_STEP;
    }
    if (item->node == MT_NONE && !named)
        ids[g->key_n - 1] = outside_of(g->tree, ids[g->key_n - 1]);
    return group_at(g, ids, item->node == MT_NONE);
}

uint32_t mt_grouper_explicit(struct mt_grouper *g, const char *name)
{
    uint32_t ids[MT_BY_N + 1];
    for (int k = 0; k < g->key_n; k++)
        ids[k] = text_id(g->tree, name);
    return group_at(g, ids, true);
}

struct mt_group *mt_groups_row(struct mt_groups *out, const struct mt_grouper *g, uint32_t group)
{
    if (group == out->rows.n) {
        struct mt_group *row = mt_vec_push(&out->rows);
        *row = (struct mt_group){.explicit_row = g->names.v[group].explicit_row,
                                 .has_calls = !g->names.v[group].explicit_row};
        memcpy(row->key, g->names.v[group].key, sizeof row->key);
    }
    return &out->rows.v[group];
}

/* Adds inclusive sums: an item counts unless an item of its group is open around it. */
static void add_inclusive(struct mt_tree *t, bool outermost_calls, struct mt_groups *out)
{
    uint32_t *open = mt_alloc((out->rows.n + 1) * sizeof *open);
    MT_VEC(uint32_t) stack = {0};
    for (uint32_t i = 0; i < t->items.n; i++) {
        const struct mt_item *item = &t->items.v[i];
        while (stack.n && stack.v[stack.n - 1] != item->parent)
            open[t->items.v[stack.v[--stack.n]].group]--;
        *mt_vec_push(&stack) = i;
        if (open[item->group]++)
            continue;
        struct mt_group *g = &out->rows.v[item->group];
        mt_sums_add(&g->total, &item->total);
        mt_wrap_inc(&g->time_ns, item->time_ns);
        mt_wrap_inc(&g->calls_n, outermost_calls ? item->calls_n : 0);
    }
    mt_vec_free(&stack);
    free(open);
}

static void add_explicit(struct mt_grouper *g, struct mt_groups *out)
{
    const struct mt_tree *t = g->tree;
    for (size_t i = 0; i < t->outside.n; i++) {
        const struct mt_outside *o = &t->outside.v[i];
        struct mt_item item = {.node = MT_NONE, .thread = o->thread, .step = o->step};
        struct mt_group *row = mt_groups_row(out, g, mt_grouper_of(g, &item));
        mt_sums_add(&row->self, &o->sums);
        mt_sums_add(&row->total, &o->sums);
    }
    if (!t->before_at_peak_b && !t->before_at_end_b)
        return;
    struct mt_group *row = mt_groups_row(out, g, mt_grouper_explicit(g, "[before trace]"));
    row->self.at_peak_b = row->total.at_peak_b = t->before_at_peak_b;
    row->self.at_end_b = row->total.at_end_b = t->before_at_end_b;
}

bool mt_group_calls_outermost(const enum mt_group_key *keys, int key_n)
{
    bool wide = false, narrow = false;
    for (int k = 0; k < key_n; k++) {
        wide |= keys[k] >= MT_BY_TOP && keys[k] <= MT_BY_PHASE;
        narrow |= keys[k] == MT_BY_NAME ||
                  (keys[k] >= MT_BY_PATH && keys[k] != MT_BY_THREAD && keys[k] != MT_BY_STEP);
    }
    return wide && !narrow;
}

void mt_groups_add_tree(struct mt_groups *out, struct mt_grouper *g)
{
    struct mt_tree *t = g->tree;
    bool outermost_calls = mt_group_calls_outermost(g->keys, g->key_n);
    for (size_t i = 0; i < t->items.n; i++) {
        struct mt_item *item = &t->items.v[i];
        item->group = mt_grouper_of(g, item);
        struct mt_group *row = mt_groups_row(out, g, item->group);
        mt_sums_add(&row->self, &item->self);
        mt_wrap_inc(&row->calls_n, outermost_calls ? 0 : item->calls_n);
        if (item->node != MT_NONE && t->nodes.v[item->node].phase == MT_PHASE_RECOMPUTED)
            mt_wrap_inc(&row->recomputed_n, item->calls_n);
        mt_wrap_inc(&row->self_time_ns, item->self_time_ns);
    }
    add_inclusive(t, outermost_calls, out);
    add_explicit(g, out);
}

void mt_group(struct mt_tree *t, const enum mt_group_key *keys, int key_n, struct mt_groups *out)
{
    struct mt_grouper g;
    mt_grouper_init(&g, t, keys, key_n);
    mt_groups_add_tree(out, &g);
    mt_grouper_free(&g);
}

void mt_groups_free(struct mt_groups *g)
{
    mt_vec_free(&g->rows);
}
