/*
 * diff_judge.h - whether NEW got worse than BASE: what the exit code of memtool diff rests on.
 */
#ifndef MT_DIFF_JUDGE_H
#define MT_DIFF_JUDGE_H

#include "lib/analysis/diff.h"

enum mt_diff_answer { MT_DIFF_NOT_WORSE, MT_DIFF_OPEN /* nobody can tell */, MT_DIFF_WORSE };

/* How much worse is worse: bytes, or percent of what it was. */
struct mt_diff_threshold {
    int64_t bytes;
    double percent; /* -1: none */
};
/* text NULL: by anything. Errors: MT_EUSAGE. */
enum mt_status mt_diff_threshold(const char *text, struct mt_diff_threshold *out,
                                 struct mt_err *err);

/* Got worse by more than the threshold. */
bool mt_diff_worse(double was, double is, const struct mt_diff_threshold *t);

/* What is to be said of a device. */
struct mt_diff_verdict {
    char device[32];
    enum mt_diff_answer peak, growth; /* growth: per step */
    struct mt_diff_levels {
        double was, is;
    } peaks, rates;    /* bytes that the answers rest on */
    bool steps_turn;   /* the peak's answer is open, for the runs differ in steps (step_levels.h) */
    int missing;       /* the side without such a device, for whatever reason, so that neither
                          answer counts; -1: none */
    bool growth_turns; /* so is that of growth, for in the steps that both have it is otherwise */
};
enum mt_diff_answer mt_diff_worst(enum mt_diff_answer a, enum mt_diff_answer b);

/* The device that is compared; its sides are loaded. Of runs of different formats nothing can be
 * told: recorders count differently. warmup: as of mt_diff_load. Errors: MT_EDB. */
enum mt_status mt_diff_judge(const struct mt_diff *d, const struct mt_diff_threshold *t,
                             int64_t warmup, struct mt_diff_verdict *out, struct mt_err *err);

/* Appends the same of the devices of both runs that are not compared, but for processes that the
 * first one started: they are others in every run. asked: those of that kind alone, "cuda", which
 * are none where it names a device; NULL: all. Errors: MT_EDB. */
struct mt_diff_verdicts {
    MT_VEC(struct mt_diff_verdict) v;
    bool has_children; /* there are such processes */
};
enum mt_status mt_diff_judge_others(const struct mt_diff *compared,
                                    const struct mt_diff_threshold *t, const char *asked,
                                    int64_t warmup, struct mt_diff_verdicts *out,
                                    struct mt_err *err);

/* The side that counts what is older than its recording while the other leaves such blocks out, so
 * that their peaks do not compare, nor what is alive at their ends; -1: neither. */
int mt_diff_counting_side(const struct mt_diff *d);

/* Of some categories: whether a side has older blocks that may be of these, and are in none. */
bool mt_diff_has_older_apart(const struct mt_diff *d);

#endif
