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

struct mt_batch {
    struct mt_batch_run runs[2];
    int run_n;
    enum mt_batch_method method;
    struct mt_map sizes; /* of parameters and gradients, with one run */
};

/* Prepares prediction from one run or from two of different sizes, the smaller first. Free it. */
void mt_batch_init(struct mt_batch *b, const struct mt_batch_run *runs, int run_n);
void mt_batch_free(struct mt_batch *b);

/* The peak at that size, bytes. INT64_MAX: it leaves 64 bits. */
int64_t mt_batch_peak(const struct mt_batch *b, int64_t n);

/* Whether the runs show how the peak grows with the batch: it is higher at some size. Peaks that
 * lie on a line, but hardly differ, show that something else is there, which hides what grows. */
bool mt_batch_grows(const struct mt_batch *b);

/* The largest size whose peak is at most so many bytes; 0: not even 1; MT_UNKNOWN: no size that
 * anybody uses is too large, so the runs do not show what is. */
int64_t mt_batch_fit(const struct mt_batch *b, int64_t bytes);

/* Whether a block is as large as the batch, and sizes: those of parameters and gradients. */
void mt_batch_sizes(const struct mt_advice_facts *f, struct mt_map *sizes);
bool mt_batch_scales(const struct mt_advice_facts *f, const struct mt_advice_block *block,
                     const struct mt_map *sizes);

#endif
