/*
 * frames.h - the functions, ops and annotations that call paths are made of, read once each: what
 * load.c makes nodes of.
 */
#ifndef MT_FRAMES_H
#define MT_FRAMES_H

#include "lib/run/load.h"

struct mt_known_frame {
    int64_t id;
    uint32_t name, object, file; /* string ids; MT_NONE: unknown */
    uint32_t line, layer;        /* as of a node: where this is a function of the user's own, or
                                    run by autograd, else MT_NONE */
    bool line_is_text, python_or_annotation, is_python, is_category, is_thread, is_label, is_size;
};

/* Zero-initialise. */
struct mt_known_frames {
    MT_VEC(uint32_t *)
    pages;               /* by id: its place in all, MT_NONE: not read; NULL: none of the page is */
    struct mt_map index; /* the same of ids that leave the pages */
    MT_VEC(struct mt_known_frame) all;
    size_t last;      /* the one asked for last */
    int64_t next, n;  /* id behind those read last; how many these were */
    int64_t astray_n; /* read one by one in no order, of the run at hand */
    int64_t run;      /* which that is */
};
void mt_frames_free(struct mt_known_frames *known);

/* Where in all; MT_NONE: not read yet. */
uint32_t mt_frame_place(const struct mt_known_frames *known, int64_t id);
/* A frame of a node of the run, read if need be; one that is not in a damaged database is ''. Texts
 * go to the tree. Errors: MT_EDB. */
enum mt_status mt_frame_find(struct mt_db *db, const struct mt_run *run, struct mt_tree *t,
                             struct mt_known_frames *known, int64_t id, struct mt_known_frame *out,
                             struct mt_err *err);

#endif
