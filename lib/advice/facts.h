/*
 * facts.h - what advice is made of: the ops of a trace and the blocks of a device, each with the
 * others around it, and the backward passes and optimizer steps that they come to.
 */
#ifndef MT_ADVICE_FACTS_H
#define MT_ADVICE_FACTS_H

#include "lib/advice/lives.h"
#include "lib/base/map.h"
#include "lib/model/categories.h"
#include "lib/usage/live.h"

/* What a frame is, or what an op runs inside of: or-ed. */
enum mt_inside {
    MT_IN_ENGINE = 1,     /* autograd's engine running a node of the graph */
    MT_IN_OPTIMIZER = 2,  /* Optimizer.step# */
    MT_IN_ZERO_GRAD = 4,  /* Optimizer.zero_grad# */
    MT_IN_ACCUMULATE = 8, /* torch::autograd::AccumulateGrad */
    MT_IN_FOREACH = 16,   /* aten::_foreach_* */
    MT_IN_LOADER = 32     /* a DataLoader's next batch */
};

/* An op; others by their index, MT_NONE = none. Parents come before children, threads one after
 * another, each in order of start. */
struct mt_advice_op {
    int64_t start_ns, end_ns;
    uint32_t parent, node, thread;
    uint32_t top; /* the outermost op under annotations and Python functions; of these, none */
    uint32_t optimizer; /* the Optimizer.step# around it, or itself */
    uint32_t forward;   /* the op whose backward it runs */
    int64_t shape_id;   /* string of the database; 0: not recorded */
    uint8_t inside;     /* enum mt_inside, with what it is itself */
    bool makes;         /* a top op that leaves a block behind */
};

struct mt_advice_block {
    int64_t bytes;
    int64_t alloc_ns, freed_ns;         /* INT64_MAX: never */
    int64_t alloc_record, freed_record; /* the same; numbers of `record_ns` */
    uint32_t alloc_op, freed_op;        /* MT_NONE: outside ops */
    uint32_t node;                      /* it was allocated in */
    uint8_t category, rule;             /* enum mt_category, mt_category_rule */
    bool doubtful;                      /* it may be dead, though no record frees it */
    int8_t float_b; /* size of its numbers if these are floating point, 0: they are not; -1: unknown
                     */
    int8_t number_b; /* size of its numbers, of whichever type; 0: unknown */
};

/* A backward pass: engine ops without other work between them. */
struct mt_advice_backward {
    int64_t start_ns, end_ns;
    uint32_t forward;  /* the earliest top op that it runs backward; MT_NONE: unknown */
    size_t first, end; /* its part of `links` */
};

/* A top op that makes a view of a part of some tensor. */
struct mt_advice_view {
    uint32_t op;
    int64_t numbers_n; /* of the tensor; 0: not recorded */
};

/* A top op that attends as nn.MultiheadAttention does, without its fast path (attention.h). */
struct mt_advice_attention {
    uint32_t op;     /* where weights are returned the softmax */
    uint32_t scores; /* where they are: the product whose place the fast path takes for these; else
                        MT_NONE */
    int64_t weights_n, result_n; /* numbers; the fast path has no place of its own for the result */
};

/* What a site holds more from step to step. */
struct mt_advice_growth {
    bool sure; /* else it may be that it only grows for a while */
    double per_step_b, per_step_n;
};

/* How many iterations the blocks of a site outlive their own. */
struct mt_advice_kept_site {
    int64_t least, most;  /* of those freed; least INT64_MAX: none was */
    int64_t made_n, last; /* in how many iterations they are made, and in which last */
    bool late;            /* one outlives two further iterations */
    bool no_graph;        /* no graph holds them */
    bool given_up;        /* one is, before the last iteration */
    bool grows;           /* there are more of them from step to step */
    bool kept;            /* else they are freed after as many iterations as ever: a cache */
};

struct mt_advice_kept {
    MT_VEC(int64_t) start_ns; /* of iterations, in order */
    struct mt_map index;      /* mt_advice_site_key -> sites */
    MT_VEC(struct mt_advice_kept_site) sites;
    bool graphs;      /* of those that a graph may hold, graphs do */
    bool graphs_grow; /* more from step to step */
};

struct mt_advice_part;
struct mt_advice_facts {
    const struct mt_run *run;
    const struct mt_run_device *device;
    const struct mt_steps *steps; /* of a part, its own */
    const struct mt_tree *tree;
    MT_VEC(struct mt_advice_op) ops;
    MT_VEC(struct mt_advice_block) blocks;
    MT_VEC(struct mt_advice_backward) backwards; /* in order of time */
    MT_VEC(uint32_t) links;      /* ops whose forward op is known, in order of time */
    MT_VEC(uint32_t) optimizers; /* ops of Optimizer.step#, in order of time */
    MT_VEC(uint32_t) work;       /* top ops outside of these and of backward that leave blocks */
    MT_VEC(uint32_t) zero_grads; /* the same of Optimizer.zero_grad# */
    MT_VEC(struct mt_advice_view) views;          /* in the order of ops */
    MT_VEC(struct mt_advice_attention) attention; /* the same */
    MT_VEC(int64_t) operands;  /* lists: how many, and the numbers in each tensor that ops take */
    struct mt_map operands_of; /* by shape_id of a top op, where in `operands` its list is */
    MT_VEC(struct mt_advice_growth) growing; /* sites that hold more from step to step */
    uint32_t *growing_of;                    /* by node: which of them, MT_NONE: none; NULL: there
                                                are too few steps to tell */
    struct mt_advice_kept kept;              /* what outlives its iteration (kept.h) */
    int64_t *record_ns; /* of the records that blocks name, 0 .. record_n - 1 */
    int64_t record_n;
    int64_t older_b;   /* held before the first record */
    int64_t element_b; /* size of a number in the largest matrix product or convolution; 0: unknown
                        */
    int64_t peak_b, peak_record;
    /* Of several processes: what is of each. Ops and blocks of the whole are those of all, its
     * other lists mix them: rules go by parts (processes.h). */
    struct mt_advice_part *parts;
    uint32_t part_n; /* 0: there is one process */
    bool is_part;    /* one process of several: peaks of its blocks alone are not the device's */
};

struct mt_advice_part {
    struct mt_advice_facts facts;
    struct mt_steps steps;
    MT_VEC(uint32_t) block; /* by block of the part: which it is of the whole */
};

/* Where a block is from: its call path and size. Of blocks that an op allocated. */
static inline uint64_t mt_advice_site_key(const struct mt_advice_block *b)
{
    return (uint64_t)b->node << 40 ^ (uint64_t)b->bytes;
}

/* When it was held, as recorded. */
static inline struct mt_life mt_advice_life(const struct mt_advice_block *b)
{
    return (struct mt_life){b->alloc_record, b->freed_record, b->bytes};
}

/* When each block was held, by its index, as recorded: in place of what `out` has. Its room is used
 * again; the caller frees it. */
void mt_advice_lives(const struct mt_advice_facts *f, struct mt_lives *out);

/* Reads them. blocks: opened on the run, and stays open. Free also on failure. Errors: MT_EDB;
 * MT_EUSAGE: the device does not know categories of blocks, or its records do not add up to its
 * peak. */
enum mt_status mt_advice_facts_load(struct mt_allocations *blocks,
                                    const struct mt_run_device *device, struct mt_advice_facts *out,
                                    struct mt_err *err);
void mt_advice_facts_free(struct mt_advice_facts *f);

/* The peak of lives, beside what is older and in no block. */
int64_t mt_advice_peak(const struct mt_advice_facts *f, const struct mt_lives *lives);

/* The number of the first record at that time or after it; record_n: none. */
int64_t mt_advice_record(const struct mt_advice_facts *f, int64_t t_ns);

/* Blocks by the top op that they were allocated in: those of op i are
 * of_op[first[i]] .. of_op[first[i + 1] - 1], in order. Both are allocated. */
void mt_advice_blocks_of_ops(const struct mt_advice_facts *f, uint32_t **first, uint32_t **of_op);

/* The top op that a block was allocated in; MT_NONE: outside of all. */
static inline uint32_t mt_advice_top(const struct mt_advice_facts *f,
                                     const struct mt_advice_block *b)
{
    return b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].top;
}

/* Fills element_b of facts that are loaded but for it. Errors: MT_EDB. */
enum mt_status mt_advice_find_element(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                      struct mt_err *err);

/* Whether an operator that the program or autograd calls is a matrix product or a convolution. */
bool mt_advice_is_product(const char *name);

/* Fills views of facts whose ops are loaded. Errors: MT_EDB. */
enum mt_status mt_advice_find_views(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                    struct mt_err *err);

/* The name of an op. */
const char *mt_advice_name(const struct mt_advice_facts *f, uint32_t op);

/* Of ops in order of time, the index of the first that starts at that time or later; n: none. */
size_t mt_advice_first_since(const struct mt_advice_facts *f, const uint32_t *ops, size_t n,
                             int64_t t_ns);

/* Brings ops into order of time. */
void mt_advice_sort(const struct mt_advice_facts *f, uint32_t *ops, size_t n);

#endif
