/*
 * inputs.h - data that a program computes with, by the sizes of their blocks.
 */
#ifndef MT_ADVICE_INPUTS_H
#define MT_ADVICE_INPUTS_H

#include "lib/advice/facts.h"

struct mt_inputs {
    MT_VEC(struct mt_input_size {
        int64_t bytes;
        int64_t largest_b; /* of data up to this size that a backward pass meets; 0: of none */
        int64_t n;         /* blocks of data */
        bool cast;         /* a backward pass meets a copy with numbers of another kind */
    })
    all;                /* rising */
    int64_t smallest_b; /* data that a backward pass meets: a batch cannot have more parts than
                           that; 0: none is known */
};

/* Free it. */
void mt_inputs_find(const struct mt_advice_facts *f, struct mt_inputs *out);
void mt_inputs_free(struct mt_inputs *in);

/* The largest block of data smaller than `below` that is there when a backward pass begins, bytes;
 * 0: none is known. */
int64_t mt_inputs_largest(const struct mt_inputs *in, int64_t below);

/* How many blocks of data of that size there are in all. */
int64_t mt_inputs_count(const struct mt_inputs *in, int64_t bytes);

/* Whether a copy with numbers of another kind, of so many bytes, is there when a backward pass
 * begins: data that were made as float32 are then such copies. */
bool mt_inputs_has_cast(const struct mt_inputs *in, int64_t bytes);

#endif
