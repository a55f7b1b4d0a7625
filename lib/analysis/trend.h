/*
 * trend.h - how what a site holds goes from one time to the next: at the ends of runs, or at the
 * moments of one.
 */
#ifndef MT_TREND_H
#define MT_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_trend {
    MT_TREND_UNKNOWN,
    MT_TREND_RISES,    /* from each time to the next */
    MT_TREND_ROSE,     /* at some, and never fell */
    MT_TREND_DIPS,     /* it falls at times, but rises over all (mt_trend_has_dips) */
    MT_TREND_CAME,     /* it held nothing, came once, and stayed as it is */
    MT_TREND_CONSTANT, /* the same at all of them */
    MT_TREND_SWINGS,   /* rises and falls */
    MT_TREND_FELL,     /* at some, and never rose */
    MT_TREND_N
};
extern const char *const mt_trend_names[MT_TREND_N]; /* NULL for the first */

/* Of what is held at n times, in order. Fewer than two: unknown. */
enum mt_trend mt_trend_of(const int64_t *held, size_t n);

/* What a site holds from a time on. */
struct mt_trend_level {
    int64_t t;
    int64_t bytes;
};

/*
 * Over the later half of a recording that ends at end_t: levels, n, are those of its moments, in
 * order of time. It rises where, of four parts of the moments of that half, each holds more than
 * the one before, at the least and at the most; *grew: the last level less the first one of that
 * half, in *passed. With fewer than four moments in that half it is unknown, and so are *grew and
 * *passed (MT_UNKNOWN).
 */
enum mt_trend mt_trend_of_moments(const struct mt_trend_level *levels, size_t n, int64_t end_t,
                                  int64_t *grew, int64_t *passed);
/* Whether there are enough moments for that. */
bool mt_trend_can_tell(const struct mt_trend_level *levels, size_t n, int64_t end_t);

/* Whether levels that go up and down rise over all: of four parts of them, each holds more than the
 * one before, at the least and at the most, and it rises by more than three times the deepest fall.
 * Of fewer than eight nobody can say. */
bool mt_trend_has_dips(const struct mt_trend_level *levels, size_t n);

/* Whether it still rises: since the last rise no more moments have passed than lie between two. */
bool mt_trend_goes_on(const struct mt_trend_level *levels, size_t n);

/* What a growth over so many ns comes to in an hour, rounded; MT_UNKNOWN: less than a minute says
 * nothing of an hour. */
int64_t mt_trend_per_hour(int64_t grew, int64_t ns);

#endif
