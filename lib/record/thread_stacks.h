/*
 * thread_stacks.h - what of a process's memory is stacks of its threads. Nobody tells but its
 * mappings: reading them takes as long as what it shares (mt_proc_shares), which is told with it.
 *
 * A stack is the first thread's, which the kernel names; and a mapping above a page that nobody may
 * touch, in which a thread was when it waited for the kernel. What a thread that computes has is
 * found when it waits at a later look; until then, and where it is laid out otherwise, it counts as
 * no stack.
 */
#ifndef MT_THREAD_STACKS_H
#define MT_THREAD_STACKS_H

#include "lib/record/proc.h"

/* Where stacks were found. Zero-initialise. */
struct mt_thread_stacks {
    MT_VEC(struct mt_thread_stack { uint64_t from, to; }) all;
};
void mt_thread_stacks_free(struct mt_thread_stacks *s);

/* Sets *stacks_b to what of them is in memory. As mt_proc_shares, whose *shares it sets, too. */
enum mt_proc_state mt_thread_stacks_read(pid_t pid, struct mt_thread_stacks *s,
                                         struct mt_proc_shares *shares, int64_t *stacks_b);

#endif
