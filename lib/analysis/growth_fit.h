/*
 * growth_fit.h - the levels of a process over its steps, minutes or events, cut into parts, and how
 * what these stand for changes from one to the next: what verdicts on growth rest on.
 */
#ifndef MT_GROWTH_FIT_H
#define MT_GROWTH_FIT_H

#include "lib/analysis/growth.h"

enum {
    MT_GROWTH_PARTS = 8,        /* of a window; */
    MT_GROWTH_COARSE = 4,       /* or fewer, if what comes and goes takes longer than a part */
    MT_GROWTH_LATE = 256 << 10, /* bytes: the kernel does not count every page at once */
};
#define MT_GROWTH_SLOWS                                                                            \
    0.5 /* what the second half of a window has of the first's growth, at least */

struct mt_growth_curve {
    const struct mt_levels *l;
    const struct mt_growth_wanted *wanted;
    bool steps;     /* units are steps; */
    double unit_ns; /* else so long */
};

/* How many units have passed by t: within a step a part of it; the time at which so many have. */
double mt_growth_units_at(const struct mt_growth_curve *c, int64_t t);
int64_t mt_growth_time_of(const struct mt_growth_curve *c, double units);
/* Times, or bytes, of damaged databases may be any: two that were kept apart so have a difference.
 */
int64_t mt_growth_kept_apart(double value);
/* Parts begin with whole steps. */
double mt_growth_border(const struct mt_growth_curve *c, double at);

/* The least from one time to another, and the most, with what that begins with: bytes. */
int64_t mt_growth_least_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns);
int64_t mt_growth_most_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns);

/* What a part of the levels stands for, and where in it that is: at its begin, or so far on. */
struct mt_growth_part_of {
    int64_t (*level_b)(const struct mt_levels *l, int64_t from_ns, int64_t to_ns);
    double where;
};
extern const struct mt_growth_part_of mt_growth_least, mt_growth_most;

/* By units: the mean of the differences from part to part, and how far it may be off; the mean of
 * those of the first and of the second half. */
struct mt_growth_fit {
    double rate, off, early, late;
    double units;    /* from the begin of the first part to that of the last */
    double fell;     /* how far it fell below an earlier part, at most */
    int64_t level_b; /* the last part's */
};

/* Of n parts, MT_GROWTH_COARSE to MT_GROWTH_PARTS, from one unit to another. */
void mt_growth_fit(const struct mt_growth_curve *c, const struct mt_growth_part_of *of, double from,
                   double to, int n, struct mt_growth_fit *out);
/* The same of what they stand for, and of where they are, in units. */
void mt_growth_fit_parts(const int64_t *v, const double *at, int n, struct mt_growth_fit *out);
/* Growth that goes on: steady enough, in the second half of a window, by a share of the first's. */
bool mt_growth_goes_on(const struct mt_growth_fit *f, double share);
/* So many bytes more are as good as none. */
double mt_growth_flat_of(int64_t level_b);

#endif
