/*
 * paths.h - call paths of recordings that tell them frame by frame: heap logs and profiles.
 *
 * A frame is a function as a path names it, with the line where it calls on (or allocates). Frames
 * of one function in one object and file that differ in the line only are one frame of the
 * recording, and paths that differ in lines only are one node: builds differ in lines.
 *
 * A node gets its `top`, the innermost function of the path that is not aside, and its `scope`, the
 * nearest other one around that: "leaf in phase". A function that calls itself, and nothing
 * between, is one node: recursion makes no deeper paths.
 */
#ifndef MT_PATHS_H
#define MT_PATHS_H

#include "lib/model/recording.h"

/* What a frame is, beside a native function. */
enum mt_path_flags {
    MT_PATH_ASIDE = 1 << 0,  /* says nothing of who allocates: malloc, operator new. Never the top,
                                unless the path has nothing else */
    MT_PATH_PYTHON = 1 << 1, /* a Python function */
    MT_PATH_CATEGORY =
        1 << 2,              /* no function but what the memory below is for (MT_FRAME_CATEGORY) */
    MT_PATH_THREAD = 1 << 3, /* nor these, at the root of the paths of a thread, or of a label */
    MT_PATH_LABEL = 1 << 4
};

struct mt_path_tree {
    struct mt_recording *rec;
    uint32_t first;             /* frame of the recording */
    struct mt_strtab keys;      /* what mt_path_frame was asked for -> number */
    struct mt_strtab functions; /* without the line -> frame_of */
    MT_VEC(uint32_t) frame_of;  /* frame of the recording */
    MT_VEC(struct mt_path_frame {
        uint32_t frame; /* of the recording */
        int32_t line;   /* 0 = unknown */
    })
    frames;
    MT_VEC(uint8_t) flags;        /* of the recording's frames from `first` on */
    MT_VEC(uint32_t) first_child; /* of nodes, most of which have no other; MT_NONE: none */
    struct mt_map children;       /* roots and the others: parent node, frame -> node */
};

void mt_path_tree_init(struct mt_path_tree *p, struct mt_recording *rec);
void mt_path_tree_free(struct mt_path_tree *p);
/* Memory in use beside the recording, about. */
uint64_t mt_path_tree_bytes(const struct mt_path_tree *p);

/*
 * Number of a frame. name: as shown. object (shared library or program), file: "" = unknown; as
 * recorded, with folders. line <= 0 = unknown. flags: of mt_path_flags.
 */
uint32_t mt_path_frame(struct mt_path_tree *p, const char *name, const char *object,
                       const char *file, int64_t line, unsigned flags);

/* The root node of what a thread allocates (MT_PATH_THREAD), or of what the recorder was told of it
 * (MT_PATH_LABEL), inside of a parent or MT_NONE. */
uint32_t mt_path_root(struct mt_path_tree *p, uint32_t parent, const char *name, unsigned flag);
/* The same of a thread of which only a number is known, from 0 on: "main thread", "thread 2". */
uint32_t mt_path_thread(struct mt_path_tree *p, uint32_t number);

/*
 * The node of a frame (a number of mt_path_frame) called from a node (MT_NONE: a root), made if
 * need be: an index into rec->nodes. mt_node.line is the frame's line, 0 where calls of one node
 * come from several.
 */
uint32_t mt_path_node(struct mt_path_tree *p, uint32_t parent, uint32_t frame);

#endif
