#include "lib/run/path_text.h"

#include "lib/base/hash.h"
#include "lib/run/load.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = 256, OUTER = 16, INNER = 48 }; /* names shown: of a path that is cut the latter */

void mt_paths_init(struct mt_paths *p, const struct mt_tree *t)
{
    p->of = mt_alloc((t->nodes.n + 1) * sizeof *p->of);
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *node = &t->nodes.v[i];
        const struct mt_path none = {.outer = i}, *around = &none;
        if (node->parent != MT_NONE)
            around = &p->of[node->parent];
        const char *name = mt_strtab_get(&t->strings, node->frame);
        p->of[i] = (struct mt_path){.hash = mt_hash_short(around->hash, name, strlen(name)),
                                    .n = around->n + 1,
                                    .outer = around->n < OUTER ? i : around->outer};
    }
}

void mt_paths_number(struct mt_paths *p, const struct mt_tree *t)
{
    struct mt_map numbers = {0}; /* by the path around and the last name */
    mt_paths_init(p, t);
    p->first = mt_alloc((t->nodes.n + 1) * sizeof *p->first);
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *node = &t->nodes.v[i];
        uint32_t around = node->parent == MT_NONE ? MT_NONE : p->first[node->parent];
        uint32_t *first = mt_map_at(&numbers, (uint64_t)around << 32 | node->frame);
        if (*first == MT_MAP_NONE)
            *first = i;
        p->first[i] = *first;
    }
    mt_map_free(&numbers);
}

void mt_paths_free(struct mt_paths *p)
{
    free(p->of);
    free(p->first);
    *p = (struct mt_paths){0};
}

/* Appends the innermost n names of the path down to a node. */
static void add_names(struct mt_buf *text, const struct mt_tree *t, uint32_t node, uint32_t n)
{
    uint32_t chain[WHOLE];
    for (uint32_t i = n; i-- > 0; node = t->nodes.v[node].parent)
        chain[i] = node;
    for (uint32_t i = 0; i < n; i++) {
        if (text->n)
            mt_buf_adds(text, " > ");
        mt_buf_adds(text, mt_strtab_get(&t->strings, t->nodes.v[chain[i]].frame));
    }
}

/* Of a path that is cut. */
static void add_mark(struct mt_buf *out, const struct mt_path *path)
{
    mt_buf_addf(out, " > [%" PRIu32 " more, 0x%" PRIx64 "]", path->n - OUTER - INNER, path->hash);
}

void mt_path_add(const struct mt_paths *p, const struct mt_tree *t, uint32_t node,
                 struct mt_buf *out)
{
    const struct mt_path *path = &p->of[node];
    if (path->n <= WHOLE) {
        add_names(out, t, node, path->n);
        return;
    }
    add_names(out, t, path->outer, OUTER);
    add_mark(out, path);
    add_names(out, t, node, INNER);
}

uint32_t mt_path_text(const struct mt_paths *p, struct mt_tree *t, uint32_t node)
{
    struct mt_buf text = {0};
    mt_path_add(p, t, node, &text);
    uint32_t id = mt_strtab_add(&t->strings, text.s, text.n);
    mt_buf_free(&text);
    return id;
}

/* marks: these alone, for what comes before is the same. */
static int cmp_texts(const struct mt_paths *p, const struct mt_tree *t, uint32_t a, uint32_t b,
                     bool marks)
{
    struct mt_buf x = {0}, y = {0};
    if (marks) {
        add_mark(&x, &p->of[a]);
        add_mark(&y, &p->of[b]);
    } else {
        mt_path_add(p, t, a, &x);
        mt_path_add(p, t, b, &y);
    }
    int c = strcmp(x.s, y.s);
    mt_buf_free(&x);
    mt_buf_free(&y);
    return c;
}

/* The innermost n names left out. */
static uint32_t without(const struct mt_tree *t, uint32_t node, uint32_t n)
{
    while (n--)
        node = t->nodes.v[node].parent;
    return node;
}

/* Compares the first names of two paths that differ; 0: these do not say, or all of a are in b. */
static int cmp_names(const struct mt_paths *p, const struct mt_tree *t, uint32_t a, uint32_t b)
{
    uint32_t n = p->of[a].n < p->of[b].n ? p->of[a].n : p->of[b].n, parent_a, parent_b;
    a = without(t, a, p->of[a].n - n);
    b = without(t, b, p->of[b].n - n);
    if (p->first[a] == p->first[b])
        return 0;
    for (; n-- > 1; a = parent_a, b = parent_b) {
        parent_a = t->nodes.v[a].parent;
        parent_b = t->nodes.v[b].parent;
        if (p->first[parent_a] == p->first[parent_b])
            break;
    }
    const char *x = mt_strtab_get(&t->strings, t->nodes.v[a].frame);
    const char *y = mt_strtab_get(&t->strings, t->nodes.v[b].frame);
    while (*x && *x == *y)
        x++, y++;
    return *x && *y ? (unsigned char)*x - (unsigned char)*y : 0;
}

int mt_path_cmp(const struct mt_paths *p, const struct mt_tree *t, uint32_t a, uint32_t b)
{
    bool cut_a = p->of[a].n > WHOLE, cut_b = p->of[b].n > WHOLE;
    uint32_t shown_a = cut_a ? p->of[a].outer : a, shown_b = cut_b ? p->of[b].outer : b;
    if (p->first[a] == p->first[b])
        return 0;
    int c = p->first[shown_a] == p->first[shown_b] ? cmp_texts(p, t, a, b, cut_a && cut_b)
                                                   : cmp_names(p, t, shown_a, shown_b);
    return c ? c : cmp_texts(p, t, a, b, false);
}
