/* Grouping of items: self sums per group, inclusive sums that count nested items of a group once.
 */
#include "lib/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mt_group_key_names[MT_BY_N] = {"name", "top",   "scope",  "module", "phase",
                                                 "path", "shape", "thread", "step",   "forward"};

static uint32_t path_of(struct mt_tree *t, uint32_t node)
{
    enum { DEEPEST = 256 };
    uint32_t chain[DEEPEST];
    int n = 0;
    struct mt_buf text = {0};
    for (uint32_t at = node; at != MT_NONE && n < DEEPEST; at = t->nodes.v[at].parent)
        chain[n++] = at;
    while (n-- > 0)
        mt_buf_addf(&text, "%s%s", text.n ? " > " : "",
                    mt_strtab_get(&t->strings, t->nodes.v[chain[n]].frame));
    uint32_t id = mt_strtab_add(&t->strings, text.s, text.n);
    mt_buf_free(&text);
    return id;
}

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

/* String id of one key of an item. */
static uint32_t key_of(struct mt_tree *t, const struct mt_item *item, enum mt_group_key key)
{
    const struct mt_tree_node *n = &t->nodes.v[item->node];
    switch (key) {
    case MT_BY_NAME:
        return n->frame;
    case MT_BY_TOP:
        return n->top;
    case MT_BY_SCOPE:
        return n->scope == MT_NONE ? text_id(t, "[no scope]") : n->scope;
    case MT_BY_MODULE:
        return n->module == MT_NONE ? text_id(t, "[no module]") : n->module;
    case MT_BY_PHASE:
        return text_id(t, mt_phase_names[n->phase]);
    case MT_BY_PATH:
        return path_of(t, item->node);
    case MT_BY_SHAPE:
        return item->shape == MT_NONE ? text_id(t, "[no shape]") : item->shape;
    case MT_BY_THREAD:
        return t->thread_names.v[item->thread];
    case MT_BY_STEP:
        return step_id(t, item->step);
    default:
        return item->forward == MT_NONE ? text_id(t, "[no forward op]") : item->forward;
    }
}

/* The same for records outside every op. */
static uint32_t outside_key(struct mt_tree *t, const struct mt_outside *o, enum mt_group_key key)
{
    if (key == MT_BY_STEP && o->thread != MT_NONE)
        return step_id(t, o->step);
    if (key == MT_BY_THREAD && o->thread != MT_NONE)
        return t->thread_names.v[o->thread];
    return text_id(t, "[outside ops]");
}

static struct mt_group *group_at(struct mt_tree *t, struct mt_strtab *index, struct mt_groups *out,
                                 const uint32_t *ids, int key_n, bool explicit_row, uint32_t *group)
{
    uint32_t key[MT_BY_N + 1];
    memcpy(key, ids, (size_t)key_n * sizeof *ids);
    key[key_n] = explicit_row;
    *group = mt_strtab_add(index, (const char *)key, ((size_t)key_n + 1) * sizeof *key);
    if (*group == out->rows.n) {
        struct mt_group *g = mt_vec_push(&out->rows);
        *g = (struct mt_group){.explicit_row = explicit_row, .has_calls = !explicit_row};
        for (int i = 0; i < key_n; i++)
            g->key[i] = mt_strtab_get(&t->strings, ids[i]);
    }
    return &out->rows.v[*group];
}

/* Adds inclusive sums: an item counts unless an item of its group is open around it. */
static void add_inclusive(struct mt_tree *t, struct mt_groups *out)
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
        g->time_ns += item->time_ns;
    }
    mt_vec_free(&stack);
    free(open);
}

static void add_explicit(struct mt_tree *t, struct mt_strtab *index, const enum mt_group_key *keys,
                         int key_n, struct mt_groups *out)
{
    uint32_t ids[MT_BY_N], group;
    for (size_t i = 0; i < t->outside.n; i++) {
        for (int k = 0; k < key_n; k++)
            ids[k] = outside_key(t, &t->outside.v[i], keys[k]);
        struct mt_group *g = group_at(t, index, out, ids, key_n, true, &group);
        mt_sums_add(&g->self, &t->outside.v[i].sums);
        mt_sums_add(&g->total, &t->outside.v[i].sums);
    }
    if (!t->before_at_peak_b && !t->before_at_end_b)
        return;
    for (int k = 0; k < key_n; k++)
        ids[k] = text_id(t, "[before trace]");
    struct mt_group *g = group_at(t, index, out, ids, key_n, true, &group);
    g->self.at_peak_b = g->total.at_peak_b = t->before_at_peak_b;
    g->self.at_end_b = g->total.at_end_b = t->before_at_end_b;
}

void mt_group(struct mt_tree *t, const enum mt_group_key *keys, int key_n, struct mt_groups *out)
{
    struct mt_strtab index;
    uint32_t ids[MT_BY_N];
    mt_strtab_init(&index);
    for (size_t i = 0; i < t->items.n; i++) {
        struct mt_item *item = &t->items.v[i];
        for (int k = 0; k < key_n; k++)
            ids[k] = key_of(t, item, keys[k]);
        struct mt_group *g = group_at(t, &index, out, ids, key_n, false, &item->group);
        mt_sums_add(&g->self, &item->self);
        g->calls_n += item->calls_n;
        g->self_time_ns += item->self_time_ns;
    }
    add_inclusive(t, out);
    add_explicit(t, &index, keys, key_n, out);
    mt_strtab_free(&index);
}

void mt_groups_free(struct mt_groups *g)
{
    mt_vec_free(&g->rows);
}
