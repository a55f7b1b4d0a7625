/*
 * leaks_parts.h - shared by the parts of lib/analysis/leaks: what is collected, and judged by it.
 */
#ifndef MT_LEAKS_PARTS_H
#define MT_LEAKS_PARTS_H

#include "lib/analysis/doubt.h"
#include "lib/analysis/leaks.h"
#include "lib/model/retained.h"

/* A block that is alive at the end. */
struct mt_survivor {
    uint32_t group;
    int64_t step; /* index of its allocation's step, -1 = before the first */
    int64_t bytes;
    int64_t blocks_n; /* 1, or of how many it is the sum; MT_UNKNOWN */
    bool older;       /* than the recording */
    bool learning;    /* allocated in the step of an optimizer, or like a block that was
                         (find_learning) */
    bool gradient;    /* that stays while optimizers step */
    bool doubtful;    /* it may be dead (doubt.h): what may be is judged apart from what is not */
    bool overdue;
    bool alike; /* of the size of an overdue block allocated after the warm-up */
};

struct mt_leak_finder {
    struct mt_allocations *lives;
    struct mt_grouper *grouper;
    mt_leak_use *use;
    void *closure;
    int64_t step_n, warmup; /* step_n: how many of the first are looked at */
    bool frees_unknown;     /* as of mt_leaks */
    bool one_moment;        /* there is no recording that blocks are older than */
    bool can_tell;          /* steps enough, and no frees lost */
    bool grows;             /* some site does, by what was used so far */
    MT_VEC(struct mt_survivor) survivors;
    MT_VEC(int64_t) max_lifetime; /* by group */
    struct mt_map kept_gradients; /* node, step and size */
    struct mt_doubt doubt;
    struct mt_retained holdings; /* by group_part */
};

/* What is in doubt of a group, and what is not, hold memory apart. */
static inline uint32_t mt_leak_part(uint32_t group, bool doubtful)
{
    return 2 * group + doubtful;
}

/* Fills survivors, max_lifetime, doubt and holdings, all in no order, and can_tell. Errors: MT_EDB.
 */
enum mt_status mt_leaks_collect(struct mt_leak_finder *f, const struct mt_run_device *device,
                                struct mt_err *err);

/* Whether, in most steps after the warm-up, the recording has no free of anything: it is not known
 * then whether one of what grows would be seen. Errors: MT_EDB. */
enum mt_status mt_leaks_frees_unknown(const struct mt_leak_finder *f,
                                      const struct mt_run_device *device, bool *unknown,
                                      struct mt_err *err);

/* What a part of a site grows by. */
struct mt_growth {
    int64_t first, last;     /* steps, as indices */
    int64_t bytes, blocks_n; /* after the first */
};

/* What growth makes of a part of a site, whose survivors go from s to end: leak, candidate, or
 * neither (MT_VERDICT_N). Marks the survivors: overdue, alike. */
enum mt_verdict mt_leak_growth(const struct mt_leak_finder *f, struct mt_survivor *s,
                               struct mt_survivor *end, struct mt_growth *by);

/* The survivors of a part of a site, and what growth makes of them. */
struct mt_leak_found {
    struct mt_survivor *from, *end;
    enum mt_verdict verdict; /* as mt_leak_growth */
    struct mt_growth by;
};

/* The same order as survivors are judged in: by group, doubt, step and size. */
int mt_survivor_cmp(const void *a, const void *b);

/*
 * Where sites are lines of the user's, told apart by their top ops, and ops of one line take turns,
 * or sites are told apart by numbers of their scopes: each of them grows too seldom. What does not
 * leak in every step is judged together with the others of its line; where that says more, it is
 * said of each that grows, with its share of the growth.
 */
void mt_leaks_of_lines(const struct mt_leak_finder *f, struct mt_leak_found *v, size_t n);

/* Whether what a site of `held` (sorted) holds rises in every step after the warm-up, and not by
 * chance here and there. */
bool mt_leak_rises_every_step(const struct mt_leak_finder *f, const struct mt_retained *held,
                              uint32_t site, struct mt_retained_trend *r);

/* What the whole device holds at the ends of steps, as the holdings of site 0, in bytes alone; in
 * no order. Errors: MT_EDB. */
enum mt_status mt_leaks_levels(const struct mt_leak_finder *f, const struct mt_run_device *device,
                               struct mt_retained *held, struct mt_err *err);

#endif
