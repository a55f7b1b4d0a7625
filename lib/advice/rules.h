/*
 * rules.h - one thing that could be changed in a program, and what would be held then. A rule is a
 * function and a line in the table of rules.c; docs/advice.md says when each can be trusted.
 */
#ifndef MT_ADVICE_RULES_H
#define MT_ADVICE_RULES_H

#include "lib/advice/facts.h"

/* How sure the new peak is. */
enum mt_advice_bound {
    MT_BOUND_EXACT,
    MT_BOUND_ABOUT,
    MT_BOUND_UP_TO,
    MT_BOUND_NONE, /* there is nothing to change */
    MT_BOUND_N
};
extern const char *const mt_advice_bound_names[MT_BOUND_N]; /* "up_to" */

/* What users choose of rules. */
struct mt_advice_choice {
    int64_t accumulate, chunks; /* micro-batches; parts of the loss */
    int64_t every;              /* of repeated layers, each so many-th is checkpointed */
    bool areas;                 /* less_b is found, too */
};

/* What would be held. Begins as it was recorded; several rules may change it one after another,
 * those that give blocks other sizes first. */
struct mt_advice_plan {
    const struct mt_advice_facts *f;
    const struct mt_advice_choice *choice;
    struct mt_lives
        lives;     /* one for each block, by its index; behind them what comes in addition */
    bool *touched; /* by block: it would be held otherwise */
    enum mt_advice_bound bound;
    int64_t price_ns; /* of a step; MT_UNKNOWN: nothing is known of it, or it is free */
    uint32_t *piece;  /* by block: the piece of the program it is of, from 1 on, 0: none; NULL: the
                         rule knows of no pieces */
    struct mt_advice_growth growth; /* what goes away of that, where it grows; per_step_b 0: it does
                                       not */
    struct mt_buf subject;          /* what it is done to; empty: nothing has a name */
    struct mt_buf because;          /* what was found */
    struct mt_buf how;              /* a line of code for this program; empty: that of the rule */
    struct mt_buf price;            /* the same of what it costs */
};

/* Returns whether there is anything to change. */
typedef bool mt_advice_apply(struct mt_advice_plan *p);
struct mt_advice_rule {
    const char *id;    /* "zero_grad_early", as in --only and JSON */
    const char *what;  /* in words */
    const char *how;   /* a line of code */
    const char *price; /* what it costs beside price_ns; NULL: nothing */
    const char *lacks; /* where it does not apply: why */
    mt_advice_apply *apply;
    bool resizes; /* blocks get other sizes; else other lives, those added being as large as the
                     block is by then */
    bool retypes; /* numbers get another type */
    const char *still; /* what a program does that did not follow it; behind "it" */
    const char * not ; /* a rule that does the same otherwise, id; NULL: none */
};
extern const struct mt_advice_rule mt_advice_rules[];
extern const size_t mt_advice_rule_n;

/* p: zero-initialised, or one that was ended, whose room is used again. */
void mt_advice_plan_init(struct mt_advice_plan *p, const struct mt_advice_facts *f,
                         const struct mt_advice_choice *choice);
void mt_advice_plan_end(struct mt_advice_plan *p); /* frees all but that room */
void mt_advice_plan_free(struct mt_advice_plan *p);

/* The block ends at that record, where it was held longer. Returns whether it was. */
bool mt_advice_cut(struct mt_advice_plan *p, size_t block, int64_t record);
/* The block has another size, of that which was recorded; a size it has got already changes by as
 * much. */
void mt_advice_resize(struct mt_advice_plan *p, size_t block, int64_t bytes);
/* Holds so much more between two times. */
void mt_advice_add(struct mt_advice_plan *p, int64_t from_ns, int64_t to_ns, int64_t bytes);

/* Where the saving is less by a tenth if the peak is `most` in place of `least`, it is "up to"
 * that. Says when: "variables name results"; and that the peak then "is" so much. */
void mt_advice_doubt(struct mt_advice_plan *plan, int64_t least, int64_t most, const char *when,
                     const char *is);

/* What the sites grow by that have a block touched, from step to step, into p->growth; nothing
 * where steps do not tell. */
void mt_advice_find_growth(struct mt_advice_plan *p);

/* The largest block that a loss makes; 0: there is none. */
int64_t mt_advice_largest_of_loss(const struct mt_advice_facts *f);

/* ---- rules_optimizer.c, rules_batch.c, rules_loss.c, rules_held.c, rules_loaded.c,
 * rules_checkpoint.c, rules_no_grad.c, rules_results.c ---- */

mt_advice_apply mt_advise_zero_grad_early, mt_advise_set_to_none, mt_advise_foreach_false,
    mt_advise_fused;
mt_advice_apply mt_advise_accumulate, mt_advise_bfloat16;
mt_advice_apply mt_advise_chunked_loss, mt_advise_del_before_backward;
mt_advice_apply mt_advise_stop_keeping, mt_advise_detach, mt_advise_clone, mt_advise_load_on_demand;
mt_advice_apply mt_advise_checkpoint, mt_advise_no_grad;
mt_advice_apply mt_advise_del_results;

#endif
