/*
 * batch.h - the peak at another batch size, from recordings at one size or at two.
 */
#ifndef MT_ADVICE_BATCH_H
#define MT_ADVICE_BATCH_H

#include "lib/advice/facts.h"
#include "lib/base/map.h"

struct mt_batch_run {
    const struct mt_advice_facts *f;
    int64_t n; /* the size of its batches */
};

enum mt_batch_method {
    MT_BATCH_ONE,    /* one run: what is of the batch grows with it */
    MT_BATCH_BLOCKS, /* two runs of the same blocks: each is a line through its two sizes */
    MT_BATCH_LINE,   /* two runs: a line through their peaks */
    MT_BATCH_N
};
extern const char *const mt_batch_method_names[MT_BATCH_N]; /* "one run", "blocks", "line" */

/* What sizes of blocks say, as sets. */
struct mt_batch_sizes {
    struct mt_map weights; /* of parameters and gradients */
    struct mt_map casts;   /* half of those: what autocast makes of weights */
    struct mt_map batch;   /* of inputs and of results that a graph held */
    struct mt_map sites;   /* the same with their call paths, without inputs */
};

/* Whether a block grows with the batch. */
enum mt_batch_growth { MT_BATCH_STAYS, MT_BATCH_GROWS, MT_BATCH_UNSURE };

struct mt_batch {
    struct mt_batch_run runs[2];
    int run_n;
    enum mt_batch_method method;
    uint8_t *growth; /* enum mt_batch_growth, by block; with one run */
    bool unsure;     /* of a block */
};

/* Prepares prediction from one run or from two of different sizes, the smaller first. Free it. */
void mt_batch_init(struct mt_batch *b, const struct mt_batch_run *runs, int run_n);
void mt_batch_free(struct mt_batch *b);

/* The peak at that size, bytes. INT64_MAX: it leaves 64 bits. Where it is not sure what grows with
 * the batch, it is at most that much, and at least `least`. */
int64_t mt_batch_peak(const struct mt_batch *b, int64_t n);
int64_t mt_batch_least(const struct mt_batch *b, int64_t n);

/* Whether the runs show how the peak grows with the batch: it is higher at some size. Peaks that
 * lie on a line, but hardly differ, show that something else is there, which hides what grows. */
bool mt_batch_grows(const struct mt_batch *b);

/* The largest size whose peak is at most so many bytes; 0: not even 1; MT_UNKNOWN: no size that
 * anybody uses is too large, so the runs do not show what is. */
int64_t mt_batch_fit(const struct mt_batch *b, int64_t bytes);

/* What tells whether a block grows with the batch. To be freed. */
void mt_batch_sizes(const struct mt_advice_facts *f, struct mt_batch_sizes *sizes);
void mt_batch_sizes_free(struct mt_batch_sizes *sizes);
enum mt_batch_growth mt_batch_growth(const struct mt_advice_facts *f,
                                     const struct mt_advice_block *block,
                                     const struct mt_batch_sizes *sizes);

/* Whether a block is a copy with numbers of another kind, as autocast makes of inputs and weights.
 */
bool mt_batch_is_cast(const struct mt_advice_facts *f, const struct mt_advice_block *b);

#endif
