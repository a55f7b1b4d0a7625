/*
 * leaks.h - what is alive at the end of a run, and which of it grows from step to step.
 *
 * The rule, stated for users in docs/leaks.md:
 * - A block is dated by the step under way, or last begun, when it was born; it lived as many steps
 *   as lie between its birth and its free. The first `warmup` steps and what came before them are
 *   warm-up.
 * - The max_lifetime of a site is the longest life of those of its blocks that were born after the
 *   warm-up and freed before the last step ended; none: -1.
 * - A block alive at the end is overdue when its age, in steps, exceeds the max_lifetime of its
 * site.
 * - A site leaks when overdue blocks were born in at least 3 steps, at least 2 of them after the
 *   warm-up, and it still goes on: since the last such step no longer a time has passed than the
 *   longest pause between two of them; and the site holds more blocks at the end of a step of the
 *   later half than it ever did before, the warm-up left out. It is a candidate with 2 steps only,
 *   with fewer than MT_LEAK_STEPS steps after the warm-up, and where less than that is left without
 *   the blocks that are born in an optimizer's step, or in the same step and of the same size.
 *   A block born in the warm-up counts only if a later overdue block of its site has its size; a
 *   block too young to be overdue belongs to the leak, but not to its growth, on that condition.
 * - Blocks that may have been freed unseen (doubt.h) are judged apart from the others of their
 *   site: where they grow as a leak does, they are a candidate.
 * - Growth per step: what the overdue blocks born after the first growth step hold, divided by the
 *   steps from the first to the last growth step.
 * - A block that is alive without being part of any of this is "last step" when born in the last
 *   one, "cache" when born after the warm-up and not overdue, and else "state" - or, with fewer
 * than MT_LEAK_STEPS steps after the warm-up, a candidate, unless it is older than the recording:
 *   whether it is constant nobody can tell.
 * - Where the recording has lost frees (MT_GAPS_OF_FREES) it is as with too few steps: what leaks,
 *   and what is constant, nobody can tell.
 * - A site is a candidate as well when the bytes it holds at the ends of steps do not fall after
 * the warm-up, rise in 4 steps or more, and the last rise is no longer ago than the longest pause
 *   between two; what of it was born after the warm-up and is alive belongs to it, and its growth
 * is that of what it holds from the first of these rises to the last.
 */
#ifndef MT_LEAKS_H
#define MT_LEAKS_H

#include "lib/usage/live.h"

enum mt_verdict {
    MT_VERDICT_LEAK,
    MT_VERDICT_CANDIDATE, /* may be a leak: it grows, or there are too few steps to say */
    MT_VERDICT_CACHE,     /* bounded: blocks of this site live as long and are freed */
    MT_VERDICT_STATE,     /* born once, constant since */
    MT_VERDICT_LAST_STEP, /* born in the last step, its successors would replace it */
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
    int64_t at_end_b, at_end_n;
    int64_t
        doubt_b; /* of at_end_b: blocks that may be dead (doubt.h); the growth is the most then */
    int64_t first_step, last_step; /* numbers, of the births; INT64_MIN: before the steps */
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
void mt_leaks_free(struct mt_leaks *l);

#endif
