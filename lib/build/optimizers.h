/*
 * optimizers.h - what the optimizers of a process keep for each parameter, by their names and what
 * a recording shows of their steps.
 */
#ifndef MT_OPTIMIZERS_H
#define MT_OPTIMIZERS_H

#include "lib/build/processes.h"

struct mt_optimizers {
    MT_VEC(uint32_t) frames; /* of Optimizer.step# names, each once, in order */
    /* The state of a parameter is so many times as large as itself, and some scalars of 4 B beside;
     * of several optimizers the least and the most. most -1: unknown. */
    int least, most, least_scalars, most_scalars;
    MT_VEC(int64_t) steps; /* when each began, in order */
};

/* Finds them, for one of the processes in p. Free in any case. */
void mt_optimizers_find(const struct mt_recording *r, const struct mt_processes *p,
                        uint32_t process, struct mt_optimizers *out);
void mt_optimizers_free(struct mt_optimizers *o);

/* Bytes that the steps made, among those records, and that are alive at the end; *once: without
 * what every step makes as the last one did, which is no state but grows. */
int64_t mt_optimizers_made(const struct mt_recording *r, const struct mt_optimizers *o,
                           const uint32_t *records, size_t n, int64_t *once);

/* "Adam, SGD", of n frames: at most as many names as fit. */
void mt_optimizers_names(const struct mt_recording *r, const uint32_t *frames, size_t n,
                         struct mt_buf *out);

#endif
