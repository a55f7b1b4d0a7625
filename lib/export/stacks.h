/*
 * stacks.h - call paths with what they allocated and what they hold: what all formats of stacks are
 * written from.
 */
#ifndef MT_STACKS_H
#define MT_STACKS_H

#include "lib/base/map.h"
#include "lib/base/strtab.h"
#include "lib/model/recording.h"

/* What a call path is worth: blocks and bytes. */
enum mt_measure {
    MT_MEASURE_ALLOC_N,
    MT_MEASURE_ALLOC_B, /* allocated in the whole recording */
    MT_MEASURE_ALIVE_N,
    MT_MEASURE_ALIVE_B, /* alive at the moment asked for */
    MT_MEASURE_END_N,
    MT_MEASURE_END_B, /* alive at the end */
    MT_MEASURE_LIFE,  /* how long its blocks lived, together */
    MT_MEASURE_BASE,  /* what another run has of the measure asked for */
    MT_MEASURE_N
};

static inline bool mt_measure_is_bytes(int measure)
{
    return measure == MT_MEASURE_ALLOC_B || measure == MT_MEASURE_ALIVE_B ||
           measure == MT_MEASURE_END_B || measure == MT_MEASURE_BASE;
}

/* A function. Strings of mt_stacks; valid UTF-8 without control characters. */
struct mt_stack_frame {
    uint32_t text; /* "main (train.py:12)": all of it; each once */
    uint32_t name, file;
    int64_t line; /* 0: unknown */
};

struct mt_stack_node {
    uint32_t parent; /* MT_NONE: root */
    uint32_t frame;
    uint8_t phase; /* enum mt_phase; MT_PHASE_N: none, or not asked for */
    int64_t self[MT_MEASURE_N], total[MT_MEASURE_N];
};

struct mt_stacks {
    struct mt_strtab strings;
    MT_VEC(struct mt_stack_frame) frames;
    MT_VEC(struct mt_stack_node)
    nodes;                    /* each path once; after mt_stacks_finish in preorder,
                                 siblings by text */
    bool knows[MT_MEASURE_N]; /* else its figures are 0 */
    /* What they are of, for the words of a file. */
    const char *run, *device; /* borrowed */
    const char *moment;       /* "at the peak (7.855 ms)"; borrowed */
    const char *time_unit;    /* of the times below, "ns" mostly; borrowed */
    int64_t start_ns, dur_ns; /* of the run; start_ns 0: unknown */
    int64_t moment_ns;        /* MT_NO_MOMENT: unknown */
    /* private */
    struct mt_map frame_of, node_of;
};
#define MT_NO_MOMENT INT64_MIN

void mt_stacks_init(struct mt_stacks *s);
void mt_stacks_free(struct mt_stacks *s);

/* A function as call paths name it (frames.c): "train.py(12): main", "train.py:12 main", or a name
 * with its file and line beside it ("", 0: unknown). Any bytes. */
uint32_t mt_stacks_frame(struct mt_stacks *s, const char *name, const char *file, int64_t line);

/* The path that goes on from parent (MT_NONE: begins) with a frame. phase MT_PHASE_N: none; paths
 * of one name in two phases are two. */
uint32_t mt_stacks_node(struct mt_stacks *s, uint32_t parent, uint32_t frame, uint8_t phase);

/* Sums up, sorts; and folds: siblings of which each has less than least_b of every measure of bytes
 * (-1: than a ten-thousandth of the sum of any measure; 0: none) become one, [other]. Returns how
 * many paths were folded. */
size_t mt_stacks_finish(struct mt_stacks *s, int64_t least_b);

/* How many paths mt_stacks_finish would leave as they are, beside [other]. Before it, and when
 * nothing is to be added any more. */
size_t mt_stacks_left(struct mt_stacks *s, int64_t least_b);

/* Adds what the paths of another run have of a measure, as MT_MEASURE_BASE. Before either is
 * finished. */
void mt_stacks_add_base(struct mt_stacks *s, const struct mt_stacks *base, enum mt_measure measure);

/* Fills empty stacks with the paths of others the other way round, what was called first, with that
 * measure and MT_MEASURE_BASE alone, at most `depth` functions of each. Before either is finished.
 * Returns how many paths are longer. */
size_t mt_stacks_invert(const struct mt_stacks *from, enum mt_measure measure, uint32_t depth,
                        struct mt_stacks *out);

/* What all paths have of a measure. After mt_stacks_finish. */
int64_t mt_stacks_sum(const struct mt_stacks *s, enum mt_measure measure);

/* How many functions all paths have together that have something of a measure (MT_MEASURE_N: of
 * any), each written from its root on; and bytes of their texts. After mt_stacks_finish. */
void mt_stacks_written(const struct mt_stacks *s, enum mt_measure measure, int64_t *n,
                       int64_t *bytes);

static inline const char *mt_stacks_text(const struct mt_stacks *s, uint32_t id)
{
    return mt_strtab_get(&s->strings, id);
}

#endif
