#include "lib/run/kept_nodes.h"

#include <string.h>

static struct {
    const struct mt_db *db; /* NULL: nothing is kept */
    int64_t run;
    struct mt_tree tree; /* nodes and texts alone; without nodes some tree has them, or none yet */
} kept;

void mt_nodes_keep(const struct mt_db *db, const struct mt_run *run)
{
    mt_nodes_forget();
    kept.db = db;
    kept.run = run->id;
}

void mt_nodes_forget(void)
{
    kept.db = NULL;
    mt_tree_free(&kept.tree);
    kept.tree = (struct mt_tree){0};
}

bool mt_nodes_take(const struct mt_db *db, const struct mt_run *run, struct mt_tree *out)
{
    if (!kept.db || run->id != kept.run || !mt_db_is_same(db, kept.db))
        return false;
    const bool has = kept.tree.nodes.n > 0;
    if (has) {
        kept.tree.paths = out->paths;
        *out = kept.tree;
        kept.tree = (struct mt_tree){0};
    }
    out->kept = true;
    return has;
}

void mt_nodes_give(struct mt_tree *t)
{
    if (!t->kept || !kept.db || !t->nodes.n || kept.tree.nodes.n)
        return;
    kept.tree.strings = t->strings;
    memcpy(&kept.tree.nodes, &t->nodes, sizeof t->nodes);
    kept.tree.ops = t->ops;
    kept.tree.has_lines = t->has_lines;
    t->strings = (struct mt_strtab){0};
    t->ops = (struct mt_node_ops){0};
    memset(&t->nodes, 0, sizeof t->nodes);
}
