/*
 * group_stream.h - groups of ops that come by one at a time, thread by thread, in order of start:
 * each leaves its figures with its group, and only the ops around the current one are kept.
 */
#ifndef MT_GROUP_STREAM_H
#define MT_GROUP_STREAM_H

#include "lib/run/load.h"

/* An op around the current one. */
struct mt_group_stream_op {
    uint64_t op;          /* its number; numbers rise */
    int64_t end_ns;       /* cut at its parent's */
    uint32_t group;       /* MT_NONE: left out */
    uint32_t forward;     /* string, MT_NONE = none */
    uint32_t chain;       /* place in `open` of the outermost op with none left out between them */
    uint32_t part;        /* the same of its part, whose sums are added up: of the chain, what
                             began in one step, where steps are told apart */
    uint32_t outer;       /* place + 1 of the next op of the group around it, 0 = none */
    bool counts;          /* in its group's inclusive time: no op of the group is in its chain */
    bool sums_count;      /* in its group's inclusive sums: none is in its part */
    int64_t step;         /* the one it began in; INT64_MIN = none */
    struct mt_sums total; /* of its part so far */
};

struct mt_group_stream {
    struct mt_grouper *grouper;
    struct mt_groups *out;
    bool outermost_calls;
    bool by_step;                           /* a key tells steps apart */
    MT_VEC(struct mt_group_stream_op) open; /* outermost first */
    MT_VEC(uint32_t) innermost; /* group -> place + 1 of its innermost open op, 0 = none */
};

/* Groups go to `out` in the order in which their first ops come. */
void mt_group_stream_init(struct mt_group_stream *w, struct mt_grouper *g, struct mt_groups *out);
void mt_group_stream_free(struct mt_group_stream *w);

/* Closes the ops that are not around the next one, `op` with its parent (both numbers, UINT64_MAX =
 * none), at its start at the latest. The parent, NULL = none that is open; valid until the next
 * call. */
const struct mt_group_stream_op *mt_group_stream_to(struct mt_group_stream *w, uint64_t op,
                                                    uint64_t parent, int64_t start_ns);
/* Closes all: the thread ends. */
void mt_group_stream_end(struct mt_group_stream *w);

/*
 * Opens the op that was walked to, below that parent. item: what it is grouped by, and its time;
 * self: its sums (NULL: none).
 */
void mt_group_stream_open(struct mt_group_stream *w, uint64_t op, int64_t end_ns,
                          const struct mt_group_stream_op *parent, const struct mt_item *item,
                          const struct mt_sums *self);
/* Opens one that is left out: it has no figures, and what is below it begins a tree of its own. Its
 * time is still not its parent's (NULL = none) own. */
void mt_group_stream_pass(struct mt_group_stream *w, uint64_t op, int64_t start_ns, int64_t end_ns,
                          const struct mt_group_stream_op *parent);
/* Adds sums below that parent (NULL = none, or left out) without an op: no calls, no time. They are
 * of another step than the op they come from, so that where steps are told apart nothing is around
 * them. */
void mt_group_stream_add(struct mt_group_stream *w, const struct mt_group_stream_op *parent,
                         const struct mt_item *item, const struct mt_sums *sums);

#endif
