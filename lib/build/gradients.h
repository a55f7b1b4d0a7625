/*
 * gradients.h - the gradients that backward passes leave, as a recording shows them: one for each
 * parameter that learns, and as large. docs/older.md has the rules.
 */
#ifndef MT_GRADIENTS_H
#define MT_GRADIENTS_H

#include "lib/build/processes.h"

/* A backward pass: engine ops without other work between them. */
struct mt_backward {
    int64_t start_ns, end_ns;
    uint32_t due_n, got_n; /* calls of AccumulateGrad; gradients seen */
    uint32_t reduced_n;    /* gradients that come out of buckets of DistributedDataParallel, which
                              are there beside them */
    uint32_t step_n;       /* optimizer steps of its process before it */
    bool partial;          /* its gradients are of parts of tables, or of what is sharded */
};

struct mt_gradient {
    uint32_t process;
    int64_t bytes;
    int64_t alloc_ns, freed_ns; /* INT64_MAX: never */
    uint32_t backward;          /* index */
    uint32_t node;              /* it was allocated in */
    uint32_t call;              /* number of the op of AccumulateGrad; MT_NONE: left by another */
    uint16_t device;
    bool added; /* to one that was there before, and gone */
};

struct mt_gradients {
    MT_VEC(struct mt_backward) backwards; /* by process, of these in order of time */
    MT_VEC(uint32_t) first_of;            /* those of each process; and the end */
    MT_VEC(struct mt_gradient) all;       /* by process, device, size and backward pass */
};

/* The backward passes of one process, in order of time; `first` is the index of the first. */
struct mt_backwards {
    const struct mt_backward *v;
    size_t n, first;
};

/* Only gradients of sound passes are kept. Of devices whose records have no addresses none are
 * known. The recording has been built up to its records. */
void mt_gradients_find(const struct mt_recording *r, const struct mt_processes *p,
                       struct mt_gradients *out);
void mt_gradients_free(struct mt_gradients *g);

static inline struct mt_backwards mt_backwards_of(const struct mt_gradients *g, uint32_t process)
{
    size_t first = g->first_of.v[process];
    return (struct mt_backwards){g->backwards.n ? g->backwards.v + first : NULL,
                                 g->first_of.v[process + 1] - first, first};
}

/* Whether that pass is sound: one that is not says nothing, nor does one whose gradients are not as
 * large as what learns. */
static inline bool mt_backward_is_sound(const struct mt_backward *b)
{
    return b->due_n && b->got_n == b->due_n && !b->partial;
}

#endif
