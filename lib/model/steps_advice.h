/*
 * steps_advice.h - what to say of where the steps of a run came from.
 */
#ifndef MT_STEPS_ADVICE_H
#define MT_STEPS_ADVICE_H

#include <stdbool.h>

/* Where the steps of a run came from. */
struct mt_steps_source {
    const char *marker; /* step_marker; NULL or "" = there are none */
    bool any;           /* false: and the marker is the user's, and matches nothing */
    bool rounds;        /* of several optimizers (MT_NOTE_STEPS_ROUNDS) */
    bool snapshot;
};
/* How they were taken and what gives better ones, or any, as words to follow "steps: "; static,
 * NULL = they are as good as can be. */
const char *mt_steps_advice(const struct mt_steps_source *from);

#endif
