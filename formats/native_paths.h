/*
 * native_paths.h - stacks of C and C++ functions made call paths. docs/formats/native-frames.md has
 * the rules.
 */
#ifndef MT_NATIVE_PATHS_H
#define MT_NATIVE_PATHS_H

#include "formats/native_frames.h"
#include "lib/input/symbols.h"
#include "lib/model/paths.h"
#include <regex.h>

#define MT_STACK_CUT "[stack cut]" /* the root of paths whose outer functions are not known */

/* Of a deeper stack a path has the innermost functions, below MT_STACK_CUT: it would be no use to
 * anybody, and files could be made of nothing else. Readers need keep no more than one over. */
enum { MT_STACK_MAX = 4096 };

/* A frame of a stack as recorded; "" and 0 are unknown. */
struct mt_native_frame {
    const char *name, *object, *file;
    int64_t line;
};

/* A frame of a stack, made ready for many stacks. */
struct mt_native_step {
    uint32_t frame; /* number of mt_path_frame */
    enum mt_native_kind kind;
};

/* alloc_fn: names that are allocators, too; NULL = none. */
struct mt_native_step mt_native_step(struct mt_path_tree *p, const struct mt_native_frame *f,
                                     const regex_t *alloc_fn);

/* A frame that is no function, such as MT_STACK_CUT. */
struct mt_native_step mt_native_explicit(struct mt_path_tree *p, const char *name);

/* A function of which only the place in its object is known, "[object+0x12]"; object "": an
 * address, "[0x12]". */
struct mt_native_step mt_native_place(struct mt_path_tree *p, const char *object, uint64_t place);

/*
 * Appends the frames at a place in a module of `symbols`, which is a byte in front of where a call
 * returns to, innermost first, and returns how many. symbols NULL: no functions are known.
 * mt_native_named: its functions; may be none. mt_native_at: else what mt_native_place makes of it.
 */
typedef MT_VEC(struct mt_native_step) mt_native_steps;
uint32_t mt_native_named(struct mt_path_tree *p, const regex_t *alloc_fn,
                         struct mt_symbols *symbols, uint32_t module, const char *object,
                         uint64_t place, mt_native_steps *out);
uint32_t mt_native_at(struct mt_path_tree *p, const regex_t *alloc_fn, struct mt_symbols *symbols,
                      uint32_t module, const char *object, uint64_t place, mt_native_steps *out);

/* Appends a frame to a stack that begins at `first` and comes outermost first. Of what is too deep,
 * outer frames are dropped; more than MT_STACK_MAX are left. */
void mt_native_push_inner(mt_native_steps *stack, size_t first, struct mt_native_step step);

/* Whether the stack goes out to where programs and threads begin. */
bool mt_native_is_rooted(const struct mt_native_step *stack, size_t n);

/* Which of the frames from *first to before *end a path has: `all`, or without allocators at its
 * inner end and, where the stack is whole, without what is outside of the program's own. At least
 * one is left. In: *end, the number of frames, > 0. */
void mt_native_own(const struct mt_native_step *stack, size_t *first, size_t *end, bool whole,
                   bool all);

/* The node of a stack of n > 0 frames, innermost first, below the node `around` (MT_NONE: a root).
 * Without `all`, frames outside main and outside the first function of a thread are left out, and
 * so are the innermost ones as long as they are allocators. One frame is left. Of more than
 * MT_STACK_MAX, those are below MT_STACK_CUT. */
uint32_t mt_native_path(struct mt_path_tree *p, uint32_t around, const struct mt_native_step *stack,
                        size_t n, bool all);

#endif
