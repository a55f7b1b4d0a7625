/*
 * leaks_answer.h - what the leaks of a device come to: whether it leaks, and how much in all.
 */
#ifndef MT_LEAKS_ANSWER_H
#define MT_LEAKS_ANSWER_H

#include "lib/analysis/leaks.h"

struct mt_leaks_answer {
    bool leaking;
    bool unknown; /* nobody can tell: too few steps or runs, a candidate that grows, or
                     nothing recorded */
};

/* A leak counts from min_b of growth per step where there is growth, else of what is alive. */
bool mt_leaks_large_enough(const struct mt_leak *l, int64_t min_b);

/* Adds what the leaks and candidates of a device that are large enough, and gaps, come to. */
void mt_leaks_answer_all(const struct mt_leaks *found, int64_t min_b,
                         struct mt_leaks_answer *answer);
void mt_leaks_answer_add(struct mt_leaks_answer *to, const struct mt_leaks_answer *from);

/* The answer about a device of the blocks' run. Errors: MT_EDB. */
enum mt_status mt_leaks_answer_device(struct mt_allocations *blocks,
                                      const struct mt_run_device *device,
                                      const enum mt_group_key *keys, int key_n, int64_t min_b,
                                      int64_t warmup, struct mt_leaks_answer *out,
                                      struct mt_err *err);

/* What all rows of a verdict come to. */
struct mt_leaks_sum {
    int64_t rows, growing_n, at_end_b;
    int64_t doubtful_n; /* of the growing ones: that much at most */
    double per_step_b, per_step_n;
};
/* min_b NULL: of all; else only of those that are large enough. */
struct mt_leaks_sum mt_leaks_sum(const struct mt_leaks *found, enum mt_verdict verdict,
                                 const int64_t *min_b);

#endif
