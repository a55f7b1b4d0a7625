/*
 * rounds.h - which steps of optimizers make one step of the loop: a GAN steps two optimizers in
 * each iteration, often of one class and so of one name (docs/attribution.md states the rule).
 */
#ifndef MT_ROUNDS_H
#define MT_ROUNDS_H

#include "lib/model/recording.h"

/* An optimizer's step. */
struct mt_turn {
    int64_t start_ns, end_ns;
    uint32_t label, thread;
    uint32_t process; /* the thread's */
    uint32_t node;    /* its call path */
};

/*
 * ends[0..return - 1]: the index of the last turn in each round, one round being what makes up one
 * step of the loop. Turns are of one process, in order of time, and do not overlap; work of others
 * is none of theirs. threads: those of the process; NULL: all are looked through for them. ends has
 * room for n. Turns behind the last whole round are in none. 0: the rounds cannot be told.
 */
struct mt_rounds_threads {
    const uint32_t *v;
    size_t n;
};
size_t mt_rounds_find(const struct mt_recording *r, const struct mt_rounds_threads *threads,
                      const struct mt_turn *turns, size_t n, size_t *ends);

/* What makes up an iteration of the loop: the steps of its optimizers. */
struct mt_round {
    int64_t start_ns, end_ns;
};

struct mt_round_list {
    MT_VEC(struct mt_round) all; /* in order of time */
};

/* The rounds of these steps, which are of one process and in order of start; a step may call
 * another one. Where it cannot be told which belong together, each is one. Replaces what `out` had.
 */
void mt_rounds_list(const struct mt_recording *r, const struct mt_rounds_threads *threads,
                    const struct mt_turn *steps, size_t n, struct mt_round_list *out);

#endif
