/*
 * stack_text.h - call paths written as one text, functions with ";" between them, outermost first:
 * "main;step (train.c:12);read (libio.so)". docs/formats/collapsed.md has the rules.
 */
#ifndef MT_STACK_TEXT_H
#define MT_STACK_TEXT_H

#include "formats/format.h"
#include "formats/native_paths.h"

#define MT_UNASKED_NODE (UINT32_MAX - 1)

struct mt_stack_text {
    struct mt_path_tree *paths;
    const struct mt_read_opts *opts;
    struct mt_strtab functions;          /* as written */
    MT_VEC(struct mt_native_step) steps; /* of these */
    struct mt_strtab stacks;             /* as written */
    MT_VEC(uint32_t) nodes;              /* of these; MT_UNASKED_NODE */
    struct mt_map inside;                /* around, stack -> node */
    mt_native_steps stack;               /* scratch */
    struct mt_buf text;                  /* scratch */
};

void mt_stack_text_init(struct mt_stack_text *t, struct mt_path_tree *paths,
                        const struct mt_read_opts *opts);
void mt_stack_text_free(struct mt_stack_text *t);
/* Memory in use beside the tree of paths, about. */
uint64_t mt_stack_text_bytes(const struct mt_stack_text *t);

/* A function as written, with or without its place: "f", "f (a.c)", "f (a.c:12)", "f (libx.so)". */
struct mt_native_step mt_stack_text_function(struct mt_stack_text *t, const char *s, size_t n);

/* The node of a stack inside of another node or MT_NONE; that one: it has no function. Blanks
 * around functions, and functions that are empty, are none. */
uint32_t mt_stack_text_node(struct mt_stack_text *t, uint32_t around, const char *s, size_t n);

/* The node of n functions, outermost first; `around`: there are none. */
uint32_t mt_stack_node(struct mt_path_tree *paths, const struct mt_read_opts *opts, uint32_t around,
                       struct mt_native_step *stack, size_t n);

#endif
