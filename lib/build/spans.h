/*
 * spans.h - the memory of blocks, as ranges of addresses, of each process and device apart: which
 * of those that are open now overlap that of a record. All take time by the logarithm of how many
 * were collected.
 */
#ifndef MT_SPANS_H
#define MT_SPANS_H

#include "lib/model/recording.h"

/* The memory that a record hands out or takes back, up to but without the end. */
struct mt_span {
    uint64_t start, end;
    uint32_t record;
};

/* Of one process and device, by address; a tree of the ends of those that are open. */
struct mt_space {
    MT_VEC(struct mt_span) all;
    size_t leaf_n;  /* a power of two; leaf i of the tree is node leaf_n + i, the root is node 1 */
    uint64_t *most; /* by node: the largest end of what is open below it, 0 = nothing is */
};

struct mt_spans {
    struct mt_map space_of; /* process and device -> space */
    MT_VEC(struct mt_space) spaces;
};

/* Whether a record says which memory it is about, on a device where most do. */
bool mt_span_known(const struct mt_recording *r, const struct mt_record *rec);

/* Collects the records that are wanted, of those that say their memory. None is open. Free with
 * mt_spans_free. */
void mt_spans_collect(struct mt_spans *s, const struct mt_recording *r,
                      bool (*wanted)(const struct mt_record *rec));
void mt_spans_free(struct mt_spans *s);

/* Opens one that was collected. */
void mt_spans_open(struct mt_spans *s, const struct mt_recording *r, uint32_t record);

/* Closes one that is open and overlaps the memory of a record (mt_span_known), and returns its own;
 * MT_NONE = there is none. */
uint32_t mt_spans_take(struct mt_spans *s, const struct mt_recording *r, uint32_t record);

#endif
