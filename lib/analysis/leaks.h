/*
 * leaks.h - what is alive at the end of a run, and which of it grows from step to step.
 *
 * docs/leaks.md has the rules, as users know them. Its words here:
 * - max_lifetime (patience) of a site: the longest life, in steps, of those of its blocks that were
 *   allocated after the warm-up and freed before the last step ended; -1 where there is none.
 * - overdue: alive at the end, and older than that.
 * - growth: by overdue blocks (rules 4 to 6), by ever larger ones (7), between falls (8), or of all
 * sites (11).
 */
#ifndef MT_LEAKS_H
#define MT_LEAKS_H

#include "lib/usage/live.h"

enum mt_verdict {
    MT_VERDICT_LEAK,
    MT_VERDICT_CANDIDATE, /* may be a leak: it grows, or there are too few steps to say */
    MT_VERDICT_CACHE,     /* bounded: blocks of this site live as long and are freed */
    MT_VERDICT_STATE,     /* allocated once, constant since */
    MT_VERDICT_LAST_STEP, /* allocated in the last step, its successors would replace it */
    MT_VERDICT_N
};
extern const char *const mt_verdict_names[MT_VERDICT_N];

/* A leak grows in two steps after the warm-up at least, and may do so in every second one. */
enum { MT_LEAK_STEPS = 3 };
static inline bool mt_leaks_can_tell(int64_t step_n, int64_t warmup)
{
    return step_n >= MT_LEAK_STEPS && step_n - MT_LEAK_STEPS >= warmup;
}

/* The blocks of one site that share a verdict. */
struct mt_leak {
    enum mt_verdict verdict;
    uint32_t group;
    const char *const *key; /* borrowed from the lives' tree */
    bool explicit_row;
    bool whole; /* no site, but what the whole device grows by where no site does: it has nothing
                 * alive, and how many blocks it grows by is unknown; first_step, last_step: that it
                 * rises in */
    int64_t at_end_b, at_end_n; /* at_end_n -1: unknown */
    int64_t
        doubt_b; /* of at_end_b: blocks that may be dead (doubt.h); the growth is the most then */
    int64_t first_step, last_step; /* numbers, of the allocations; INT64_MIN: before the steps */
    /* leaks and candidates of runs with steps: */
    int64_t growth_b, growth_n; /* over growth_steps steps; 0 steps = unknown */
    int64_t growth_steps;
};

/* Growth per step in bytes and in blocks; 0 where it is unknown. */
static inline double mt_leak_rate_b(const struct mt_leak *l)
{
    return l->growth_steps ? (double)l->growth_b / (double)l->growth_steps : 0;
}

static inline double mt_leak_rate_n(const struct mt_leak *l)
{
    return l->growth_steps ? (double)l->growth_n / (double)l->growth_steps : 0;
}

struct mt_leaks {
    MT_VEC(struct mt_leak) rows; /* leaks first, then by at_end_b */
    unsigned gaps;               /* of the run (gaps.h) */
    bool frees_unknown; /* a profile of a CPU shows no free at all, or none in most steps in which
                           a leak would grow: of threads that nobody profiles, which may free what
                           others make, it shows none. Nothing is a leak there, only a candidate */
    struct mt_grouper grouper;
};

/*
 * The sums of at_end_b over all rows equal the blocks of the device alive at the end.
 * Errors: MT_EUSAGE (no addresses), MT_EDB.
 */
enum mt_status mt_leaks_find(struct mt_allocations *l, const struct mt_run_device *device,
                             const enum mt_group_key *keys, int key_n, int64_t warmup,
                             struct mt_leaks *out, struct mt_err *err);
/* The same by the groups of a grouper of the lives' tree: calls use() for what would be the rows,
 * in the order of the groups. */
typedef void mt_leak_use(void *closure, const struct mt_leak *leak);
enum mt_status mt_leaks_each(struct mt_allocations *l, const struct mt_run_device *device,
                             struct mt_grouper *grouper, int64_t warmup, mt_leak_use *use,
                             void *closure, struct mt_err *err);
/* The same of the first step_n steps alone, as if the run had ended there: what is freed in later
 * steps is alive then, what is freed behind the last is freed. */
enum mt_status mt_leaks_each_of_first(struct mt_allocations *l, const struct mt_run_device *device,
                                      struct mt_grouper *grouper, int64_t warmup, int64_t step_n,
                                      mt_leak_use *use, void *closure, struct mt_err *err);
void mt_leaks_free(struct mt_leaks *l);

#endif
