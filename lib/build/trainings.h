/*
 * trainings.h - where a recording trains one model after the other, each built for it, as sweeps
 * over parameters and folds do: what is built before the first backward pass of one is none of the
 * others. docs/categories.md has the rule.
 */
#ifndef MT_TRAININGS_H
#define MT_TRAININGS_H

#include "lib/build/gradients.h"
#include "lib/build/left_sizes.h"
#include "lib/build/places.h"
#include "lib/build/processes.h"
#include "lib/build/rounds.h"
#include "lib/build/training_signs.h"

/* A model that is trained, from when it is built until the next one is. */
struct mt_training {
    int64_t start_ns, next_ns; /* when its building begins, and that of the next; INT64_MIN, MAX */
    int64_t built_ns;          /* the first block of it that learns */
    int64_t backward_ns, first_step_ns; /* when these begin; INT64_MAX: none */
    int64_t stepped_ns;                 /* when the last step ends; INT64_MIN: none */
    /* Top ops that compute: the start of the first, the end of the last; INT64_MAX, MIN: none. The
     * start of the first op that left a node for backward; INT64_MIN: none. */
    int64_t computes_ns, computed_ns, graph_ns;
    struct mt_left_sizes sizes; /* for the caller to fill; freed with the training */
};

/* Of one process at a time, process after process: mt_trainings_read, mt_trainings_add_signs with
 * each block, mt_trainings_find. Set r and places, all else zeroed; free with mt_trainings_free. */
struct mt_trainings {
    const struct mt_recording *r;
    const struct mt_place *places;
    MT_VEC(struct mt_turn) steps;   /* of optimizers, in order of start */
    MT_VEC(struct mt_training) all; /* in order of time; never none once read */
    struct mt_training_signs signs;
    int64_t last_ns; /* the end of the last op there is; INT64_MIN: none */
};

/* Reads the ops of a process: its steps, and all as one training. */
void mt_trainings_read(struct mt_trainings *t, const struct mt_processes *p, uint32_t process);

/* Takes what a block says of new models: how it was made and freed, by its places (NULL: outside
 * ops), when that was (INT64_MAX: never), and which of the rules R1 to R6 it has, if any. */
void mt_trainings_add_signs(struct mt_trainings *t, const struct mt_record *alloc,
                            const struct mt_place *place, const struct mt_place *freed,
                            int64_t died_ns);

/* Parts the trainings by these signs (training_signs.h), which it sorts, and sets all of them but
 * `sizes`. */
void mt_trainings_find(struct mt_trainings *t, const struct mt_processes *p, uint32_t process,
                       const struct mt_backwards *backwards);

/* The one that a moment lies in, once they are read. */
struct mt_training *mt_trainings_at(const struct mt_trainings *t, int64_t t_ns);

void mt_trainings_free(struct mt_trainings *t);

#endif
