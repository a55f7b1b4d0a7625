/*
 * baseline.h - the figures of a run that are compared later, device by device and site by site, and
 * the small file that keeps them (format: docs/ci.md). Which these are, and what they are called,
 * stands in lib/run/figures.c: growth is rounded up to whole bytes, and the peak of a site is what
 * it holds at the device's. A file answers as the runs it was written from would.
 *
 * A site is the top op in its scope and, in traces with stacks, in the user's line. Several repeats
 * of a run become one baseline: of each figure the median and the spread.
 */
#ifndef MT_BASELINE_H
#define MT_BASELINE_H

#include "lib/analysis/step_levels.h"
#include "lib/base/search.h"
#include "lib/base/strtab.h"
#include "lib/run/figures.h"
#include "lib/usage/narrow.h"
#include <math.h>

#define MT_BASELINE_UNKNOWN INT64_MIN
enum { MT_BASELINE_NAME_MAX = 160 };
/* Known figures, and their sums, go no further than this: two more can be added in any case. */
#define MT_BASELINE_MOST (INT64_C(1) << 61)
static inline int64_t mt_baseline_add(int64_t a, int64_t b)
{
    int64_t sum = a + b;
    return sum > MT_BASELINE_MOST    ? MT_BASELINE_MOST
           : sum < -MT_BASELINE_MOST ? -MT_BASELINE_MOST
                                     : sum;
}
static inline int64_t mt_baseline_whole(double v) /* without its fraction */
{
    const double most = (double)MT_BASELINE_MOST;
    return v > most ? MT_BASELINE_MOST : v < -most ? -MT_BASELINE_MOST : (int64_t)v;
}

/* A rate as a whole number, rounded up; not for what sums of fractions are beside it. */
static inline int64_t mt_baseline_up(double rate)
{
    return mt_baseline_whole(ceil(rate - 1e-9 - fabs(rate) * 1e-12));
}

/* Where the rates of a device or a site have a figure. */
enum { MT_BASELINE_RATE_N = MT_FIG_BASELINE_N - MT_FIG_PER_STEP_B };
static inline int mt_baseline_rate(enum mt_figure f)
{
    return (int)f - MT_FIG_PER_STEP_B;
}

struct mt_baseline_site {
    const char *op, *scope; /* scope NULL: none; of what a scope itself allocates, without an op in
                               it, both are the scope. Borrowed from the baseline */
    const char *line;       /* the user's: "train.py:12 step"; NULL: unknown. The same */
    bool explicit_row;      /* [outside ops], [before trace], [no addresses]; [other]: what a file
                               lumps together */
    bool unseen;            /* it loses frees (doubt.h): what is alive of it may be dead; or its
                               blocks were allocated unseen, and may not have been there yet */
    int64_t v[MT_FIG_BASELINE_N];    /* 0 where sites have no such figure */
    double rate[MT_BASELINE_RATE_N]; /* rates before rounding (mt_baseline_rate); of files 0 */
    bool differs;                    /* repeats do: their figures are in each; else v in all */
    MT_VEC(struct mt_baseline_each { /* of those that have any, rising */
                                     int64_t repeat;
                                     int64_t v[MT_FIG_BASELINE_N];
    })
    each;
};

/* Appends what a site is called: "train.py:12 step (aten::clone in my_step)". */
void mt_baseline_site_add(struct mt_buf *out, const char *line, const char *op, const char *scope);

/* A figure of a site in one of the repeats. */
static inline int64_t mt_baseline_figure_in(const struct mt_baseline_site *s, enum mt_figure f,
                                            size_t repeat)
{
    if (!s->differs)
        return s->v[f];
    const size_t at = s->each.n ? mt_count_below(&s->each.v->repeat, s->each.n, sizeof *s->each.v,
                                                 (int64_t)repeat)
                                : 0;
    return at < s->each.n && s->each.v[at].repeat == (int64_t)repeat ? s->each.v[at].v[f] : 0;
}

/* Why a figure is not known, or of a part only: words behind the name of a run. */
struct mt_baseline_unknown {
    const char *run; /* of several repeats the first that does not know it; NULL: the baseline's */
    const char *why; /* NULL: it is known, or nobody says. Both are static, or the baseline's */
};
/* Behind the figures: what sites hold at the peak. That is known unless it says why not. */
enum { MT_BASELINE_SITES = MT_FIG_BASELINE_N, MT_BASELINE_UNKNOWN_N };

/* Figures of whole devices that no file has: allocations that are freed soon; what a process grows.
 */
enum { MT_BASELINE_OTHER_N = 3 };
struct mt_baseline_other {
    bool known;
    bool least; /* of a part of the recording */
    int64_t v;
    int64_t less, more; /* it may be so much less, or more */
    int64_t low, high;  /* of growth: with 95 % confidence; */
    bool grows, young;  /* that is shown; of a process that was not there long */
    const char *words;  /* and it in words, behind what grows */
    const char *why;    /* it is not known, or of a part: static, or the baseline's */
};
static inline bool mt_baseline_has_other(enum mt_figure f)
{
    return f == MT_FIG_TEMPORARY_N || f == MT_FIG_RSS_PER_STEP_B || f == MT_FIG_RSS_PER_MINUTE_B;
}
static inline int mt_baseline_other(enum mt_figure f)
{
    return f == MT_FIG_TEMPORARY_N ? 0 : 1 + (int)f - MT_FIG_RSS_PER_STEP_B;
}

struct mt_baseline_device {
    char name[MT_BASELINE_NAME_MAX]; /* "cpu"; of some categories alone "cpu: activations" */
    unsigned only;                   /* these, as bits; 0: all. Not of files */
    int64_t
        v[MT_FIG_BASELINE_N]; /* MT_BASELINE_UNKNOWN: unknown; the sites' figures add up to it */
    bool least[MT_FIG_BASELINE_N];    /* known of a part only: it is that much at least */
    bool unseen;                      /* it loses frees, and so it is that much at most; */
    int64_t doubt[MT_FIG_BASELINE_N]; /* but no more than this less; of files 0 */
    double rate[MT_BASELINE_RATE_N];  /* rates before rounding; of files 0 */
    struct mt_baseline_unknown unknown[MT_BASELINE_UNKNOWN_N];
    int64_t older_b;     /* of the peak and of what is alive at the end: in no record;
                            MT_BASELINE_UNKNOWN: nobody told */
    bool older_left_out; /* blocks in no record are in no figure, */
    int64_t older_least_b, older_most_b; /* an estimate of them; MT_BASELINE_UNKNOWN */
    bool older_unsaid; /* a file of an earlier version: it says nothing of the above */
    int64_t spread[MT_FIG_BASELINE_N];                   /* 0 for a single run */
    struct mt_baseline_other other[MT_BASELINE_OTHER_N]; /* not of files */
    struct mt_step_levels levels; /* of repeats that of the median peak; of older files nothing */
    /* Of several repeats what each has, in their order; nothing where they do not differ in it, and
       of older files. */
    MT_VEC(struct mt_baseline_steps {
        int64_t step_n;
        struct mt_step_levels levels;
    })
    steps;
    bool profiled; /* PyTorch's profiler was in this process: `doubt` of its peak is that's */
    /* Of processes of a run, where their recorder did not see all; 0: unknown, as of files: */
    int64_t proved_b;      /* this one, or a child of it, had so many bytes */
    int64_t most_b;        /* its peak is no more than that */
    int64_t blocks_most_b; /* of massif, which marks the peak of more than blocks: theirs is no more
                              than that; 0: it is known, or of a file */
    char sites_of[256];    /* the repeat whose figures sites have in v: that of the median peak */
    MT_VEC(struct mt_baseline_site) sites;
};

struct mt_baseline {
    char run[256], source[512], format[64];
    char torch[64];                /* "" unknown */
    int64_t run_n;                 /* how many repeats it was made of */
    MT_VEC(const char *) repeats;  /* their names, where sites know each; else empty */
    MT_VEC(const char *) contents; /* hashes of what they were read from; of older files none */
    int64_t warmup;                /* steps left out of growth */
    MT_VEC(struct mt_baseline_device) devices; /* most bytes allocated first */
    struct mt_strtab texts;
};

/* How many repeats it tells apart. */
static inline size_t mt_baseline_repeats(const struct mt_baseline *b)
{
    return b->repeats.n ? b->repeats.n : 1;
}
/* The steps of a device in one of these, and its levels by them. */
static inline struct mt_baseline_steps mt_baseline_steps_in(const struct mt_baseline_device *d,
                                                            size_t repeat)
{
    return repeat < d->steps.n ? d->steps.v[repeat]
                               : (struct mt_baseline_steps){d->v[MT_FIG_STEP_N], d->levels};
}

/* Several choices of categories. Zero-initialise; free the vector. */
struct mt_narrows {
    MT_VEC(struct mt_narrow) v;
};

struct mt_allocations;
/* Figures of one run, opened by mt_allocations_open_sites. warmup: as mt_leaks_find. narrows:
 * behind the devices come these again for each choice of categories; NULL: none. Free *out also on
 * failure. Errors: MT_EDB. */
enum mt_status mt_baseline_measure(struct mt_allocations *lives, int64_t warmup,
                                   const struct mt_narrows *narrows, struct mt_baseline *out,
                                   struct mt_err *err);

/* Makes one of n >= 1 repeats. Devices are those of any; a figure that one repeat does not know, or
 * knows of a part only, is unknown. */
void mt_baseline_fold(const struct mt_baseline *repeats, size_t n, struct mt_baseline *out);

/* What repeats say together of what is older than they are, on the device called to->name: told or
 * left out where it is in any, from the least of any estimate to the most of any. to: with zeros.
 */
void mt_baseline_fold_older(const struct mt_baseline *repeats, size_t n,
                            struct mt_baseline_device *to);

/* Lumps together as [other] the sites that no figure needs to reach 99 % of its sum. */
void mt_baseline_trim(struct mt_baseline *b);

void mt_baseline_free(struct mt_baseline *b);

/* NULL: it has none of that name. Where none is called so, "cuda" means the first such; NULL the
 * first of all. */
const struct mt_baseline_device *mt_baseline_device(const struct mt_baseline *b, const char *name);
/* The same for the name of a device of another baseline: no other has to do with it. */
const struct mt_baseline_device *mt_baseline_same_device(const struct mt_baseline *b,
                                                         const char *name);

/* Whether it has the device that a name of some of its categories begins with. */
bool mt_baseline_has_whole(const struct mt_baseline *b, const char *narrowed);

/*
 * The median of n >= 1 values - of an even number the upper of the two in the middle - and their
 * spread: the range of the values that remain when a quarter (rounded down) is left out at each
 * end. *which (may be NULL): index of the median. MT_BASELINE_UNKNOWN if one value is.
 */
int64_t mt_median(const int64_t *values, size_t n, int64_t *spread, size_t *which);

/* ---- the file ---- */

/* JSON, stable: sites sorted by name, one a line. */
void mt_baseline_write(const struct mt_baseline *b, struct mt_buf *out);

/* Whether a path names a regular file that claims to be a baseline. */
bool mt_baseline_is_file(const char *path);

/* Reads a file, or n bytes; path names them in messages. Free *out also on failure. Errors: MT_EIO,
 * MT_EINPUT with line and key, MT_ELIMIT. */
enum mt_status mt_baseline_read(const char *path, struct mt_baseline *out, struct mt_err *err);
enum mt_status mt_baseline_parse(const char *path, const char *text, size_t n,
                                 struct mt_baseline *out, struct mt_err *err);

#endif
