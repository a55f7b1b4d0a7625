/*
 * compat_events.h - inside compat_torch: PyTorch's list of function events, their intervals, the
 * records in them and their tree.
 */
#ifndef MT_COMPAT_EVENTS_H
#define MT_COMPAT_EVENTS_H

#include "lib/base/map.h"
#include "lib/compat/compat_torch.h"

#define MT_CT_NONE UINT32_MAX

enum {
    MT_CT_FOLDED = 1,   /* an only child of its parent's name: taken out, its children lifted */
    MT_CT_FOLLOWED = 2, /* the next event of its thread starts when it ends */
    MT_CT_KID_ENDS = 4, /* a child ends when it ends */
};

struct mt_ct_event {
    int64_t start, end;      /* ns */
    double children_us;      /* time of its children, added up in their order */
    uint32_t thread;         /* as in the input */
    uint32_t name;           /* string id */
    uint32_t group;          /* MT_CT_NONE: has no row */
    uint32_t rec_lo, rec_hi; /* its memory records: from rec_lo up to before rec_hi */
    uint32_t parent;         /* event, MT_CT_NONE */
    uint32_t child_n;
    uint8_t flags;
};

/* The least and the greatest value a figure can have. */
struct mt_ct_range {
    int64_t lo, hi;
};
enum mt_ct_figure {
    MT_CT_CPU,
    MT_CT_DEVICE,
    MT_CT_SELF_CPU,
    MT_CT_SELF_DEVICE,
    MT_CT_COUNT,
    MT_CT_FIGURE_N
};

struct mt_ct_group {
    uint32_t name, shape; /* string ids */
    bool annotation;
    uint32_t row; /* MT_CT_NONE until its first event */
    struct mt_ct_range range[MT_CT_FIGURE_N];
};

/* One computation. Events keep their places; `order` is PyTorch's order of them. */
struct mt_ct {
    const struct mt_torch_input *in;
    const struct mt_torch_rule *rule;
    bool by_shape;
    struct mt_strtab *strings;       /* the table's */
    uint32_t *name_ids, *shape_ids;  /* string id of each input name and shape, once seen */
    uint32_t memory, oom, no_shapes; /* string ids */
    struct mt_map group_of;
    MT_VEC(struct mt_ct_group) groups;
    MT_VEC(struct mt_ct_event) events;
    uint32_t *order;
    /* Memory records without the failed ones, by time. */
    size_t rec_n;
    int64_t *t;
    uint32_t *record; /* index in the input */
    int64_t *sum[2];  /* rec_n + 1 running sums: MT_CT_CPU, MT_CT_DEVICE */
    int32_t *cover;   /* events that begin at a record less those that ended before it */
};

/* Byte counts of a hostile file may overflow: they wrap instead of being undefined. */
static inline int64_t mt_ct_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t mt_ct_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Bytes of the records from lo up to before hi. */
static inline int64_t mt_ct_bytes(const struct mt_ct *ct, enum mt_ct_figure f, size_t lo, size_t hi)
{
    return mt_ct_sub(ct->sum[f][hi], ct->sum[f][lo]);
}

/* compat_keys.c: names, shapes, groups. */
void mt_ct_keys_init(struct mt_ct *ct);
void mt_ct_keys_free(struct mt_ct *ct);
/* String id of an input name as PyTorch shows it; MT_CT_NONE for names it leaves out. */
uint32_t mt_ct_name(struct mt_ct *ct, uint32_t name);
/* Group of an event; shape is an index into the input's shapes or UINT32_MAX. */
uint32_t mt_ct_group(struct mt_ct *ct, uint32_t name, uint32_t shape, bool annotation);

/* compat_events.c. Takes the ops and records of the input in; no order, no tree yet. */
void mt_ct_load(struct mt_ct *ct);
void mt_ct_unload(struct mt_ct *ct);
/* Fills `order`: by start, longer first, else as they are. */
void mt_ct_sort(struct mt_ct *ct);
/* Finds the records of each event and which records are covered. Needs the order. */
void mt_ct_attribute(struct mt_ct *ct);
/* Add the events of records that nothing covers, and of failed allocations. */
void mt_ct_add_uncovered(struct mt_ct *ct);
void mt_ct_add_failed(struct mt_ct *ct);
/* Nests the events of each thread. Needs the order. */
void mt_ct_nest(struct mt_ct *ct);
/* Duration as PyTorch's doubles have it: both edges are microseconds since the trace began. */
double mt_ct_elapsed_us(const struct mt_ct_event *e, int64_t trace_start);

/* compat_whole.c: files in whole microseconds. Takes a microsecond off the ends of those events for
 * which that is the better guess, and finds the range of each group's figures. Needs attributed
 * events; afterwards they must be sorted and attributed again. */
void mt_ct_settle_whole_us(struct mt_ct *ct);

#endif
