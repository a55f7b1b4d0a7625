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

void mt_paths_free(struct mt_paths *p)
{
    free(p->of);
    p->of = NULL;
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

uint32_t mt_path_text(const struct mt_paths *p, struct mt_tree *t, uint32_t node)
{
    const struct mt_path *path = &p->of[node];
    struct mt_buf text = {0};
    if (path->n <= WHOLE) {
        add_names(&text, t, node, path->n);
    } else {
        add_names(&text, t, path->outer, OUTER);
        mt_buf_addf(&text, " > [%" PRIu32 " more, 0x%" PRIx64 "]", path->n - OUTER - INNER,
                    path->hash);
        add_names(&text, t, node, INNER);
    }
    uint32_t id = mt_strtab_add(&t->strings, text.s, text.n);
    mt_buf_free(&text);
    return id;
}
