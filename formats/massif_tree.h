/*
 * massif_tree.h - the trees in what massif writes: what call paths hold at a snapshot, a line for
 * each node, parents first. Only formats/massif.c includes it.
 */
#ifndef MT_MASSIF_TREE_H
#define MT_MASSIF_TREE_H

#include "formats/format.h"
#include "formats/native_paths.h"
#include "lib/input/lines.h"

enum { MT_MASSIF_DEPTH = 30 }; /* massif's --depth where it is not given */

enum mt_massif_state {
    MT_MASSIF_UNKNOWN, /* nothing said of a tree (yet) */
    MT_MASSIF_EMPTY,   /* there is none */
    MT_MASSIF_BEGINS,  /* its first line comes next */
    MT_MASSIF_OPEN,
    MT_MASSIF_DONE,
    MT_MASSIF_BROKEN /* some line made no sense: the snapshot has none */
};

struct mt_massif_tree {
    enum mt_massif_state state;
    int64_t depth; /* massif's --depth */
    MT_VEC(struct mt_massif_held {
        uint32_t node; /* of paths; MT_NONE: none is known */
        int64_t bytes;
    })
    held;
    struct mt_path_tree paths;
    struct mt_native_step below; /* root of what stands below massif's threshold */
    /* private: */
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_native_step cut;
    MT_VEC(struct mt_massif_level {
        int64_t bytes, sum; /* of the node, and of its children so far */
        int64_t children;   /* still to come */
    })
    levels;                              /* the root first; empty: none is open */
    MT_VEC(struct mt_native_step) stack; /* of these but the root: innermost first */
    MT_VEC(uint64_t) calls;              /* addresses of these */
    struct mt_buf text;                  /* scratch */
};

/* Its nodes become paths of the recording. Both outlive it. */
void mt_massif_tree_init(struct mt_massif_tree *t, const struct mt_read_opts *opts,
                         struct mt_recording *rec);
void mt_massif_tree_free(struct mt_massif_tree *t);

/* Of the next snapshot: nothing is held, nothing said. */
void mt_massif_tree_clear(struct mt_massif_tree *t);

/* A line of the tree. What makes no sense is noted in the recording and breaks the tree. */
void mt_massif_tree_line(struct mt_massif_tree *t, const struct mt_line *line);

/* The tree ends where it is not complete. note: in the recording, with the place. */
void mt_massif_tree_break(struct mt_massif_tree *t, uint64_t offset, bool note);

/* Whether lines of it are still to come. */
static inline bool mt_massif_tree_lacks(const struct mt_massif_tree *t)
{
    return t->state == MT_MASSIF_BEGINS || t->state == MT_MASSIF_OPEN;
}

#endif
