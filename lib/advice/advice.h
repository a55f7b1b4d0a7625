/*
 * advice.h - what could be changed in a program, and what its peak would then be: every rule
 * (rules.h) tried on a recording, with the evidence for it. docs/advice.md.
 *
 * The peak is that of the whole timeline with all that the change touches held otherwise, in all
 * steps: it may lie elsewhere then. Savings do not add up; each is for the change alone, and what
 * several are worth together is found for all at once.
 */
#ifndef MT_ADVICE_H
#define MT_ADVICE_H

#include "lib/advice/rules.h"

/* Call paths whose blocks would be held otherwise, by top op, scope, kind of module and place in
 * the source; those with most at the peak first. Texts are borrowed from `strings` below. */
struct mt_advice_site {
    const char *name;   /* top op in its scope */
    const char *top;    /* the op alone */
    const char *scope;  /* NULL: none is around it */
    const char *module; /* "Linear", whichever instance; NULL: none, or not recorded */
    const char *source; /* the line (lib/run/sites.h); NULL: unknown */
    int64_t at_peak_b, at_peak_n;
    int64_t pieces_n; /* in so many of the pieces that repeat themselves; MT_UNKNOWN: none do */
};

struct mt_advice {
    const struct mt_advice_rule *rule; /* of several together, made up: "accumulate+checkpoint" */
    bool applies;                      /* else there is nothing to change, and no figures below */
    enum mt_advice_bound bound;
    int64_t new_peak_b, saving_b;
    int64_t new_peak_ns; /* MT_UNKNOWN: it is never above what was held before the recording */
    enum mt_phase new_peak_phase;
    struct mt_advice_growth growth; /* of what it ends; per_step_b 0: that does not grow */
    int64_t at_peak_b, at_peak_n; /* blocks that it touches, of those alive at the recorded peak */
    double less_b; /* how much less is held of the blocks it touches, over all records on average; 0
                      where it was not asked for */
    int64_t price_ns; /* of a step; MT_UNKNOWN */
    char *subject;    /* what it is done to: "Block_0 ... Block_11"; NULL: no names */
    char *because;    /* what was found; where it does not apply, what was not */
    char *price;      /* what it costs beside price_ns; NULL: nothing */
    char *how;        /* a line of code */
    MT_VEC(struct mt_advice_site) sites;
};

struct mt_advices {
    MT_VEC(struct mt_advice)
    all; /* one for each rule: what grows first, those that save most, of another
             type of numbers last */
    struct mt_advice_rule joined; /* what is made up of several */
};

/* Tries the rules whose ids are listed ("checkpoint,fused"; NULL: all), and of those in a list all
 * together, if two or more apply: fused in place of foreach_false. Free also on failure. Errors:
 * MT_EUSAGE: no such rule, or one that no recording gives a figure for (cannot tell). */
enum mt_status mt_advices_find(const struct mt_advice_facts *f,
                               const struct mt_advice_choice *choice, const char *only,
                               struct mt_strtab *strings, struct mt_advices *out,
                               struct mt_err *err);
void mt_advices_free(struct mt_advices *a);

#endif
