/*
 * valgrind_frames.h - frames of stacks as valgrind's tools, and tools that imitate them, write
 * them:
 *
 *   - 0x1091D1: leaf_alloc (alloclab.c:14)
 *   - 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so)
 *   - 0x10ae84d: app::main (src/main.rs:12:5)
 *   - 0x4002260: ???
 */
#ifndef MT_VALGRIND_FRAMES_H
#define MT_VALGRIND_FRAMES_H

#include "formats/native_paths.h"

/* Takes the text apart, in its own place: the frame's names are parts of it. *address: that of the
 * call, which functions that are inlined in each other share; 0 = none. */
struct mt_native_frame mt_valgrind_frame(char *text, uint64_t *address);

/* How many calls a stack has, of which these are the addresses: inlined functions are part of the
 * call they are inlined in. valgrind's limits count calls. */
size_t mt_valgrind_calls(const struct mt_native_step *stack, const uint64_t *addresses, size_t n);

#endif
