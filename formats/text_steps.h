/*
 * text_steps.h - steps of a log of text as its lines say them, "step 3", and when figures are that
 * are of a step. Several owners (text_owners.h) may say the same steps, each in its own time.
 */
#ifndef MT_TEXT_STEPS_H
#define MT_TEXT_STEPS_H

#include "formats/text_owners.h"
#include "lib/model/recording.h"

/* Zeroed at the beginning of a log; free it. */
struct mt_text_steps {
    MT_VEC(struct mt_text_track {
        int word;            /* of the last one, mt_text_step_word; 0: there is none */
        int64_t raw, number; /* as it was said, and what the step is called */
    })
    tracks;       /* by owner */
    int word;     /* that counts steps: the innermost loop's */
    int64_t line; /* where the last step began */
};

void mt_text_steps_free(struct mt_text_steps *s);

/* Where a step is said. */
struct mt_text_said {
    uint32_t owner;
    int64_t number, now;
    int64_t line, offset; /* its number, and where it is in the file */
};

/* Whether a word counts steps: where loops lie in each other the inner one's does. Steps of another
 * word end to be some. */
bool mt_text_steps_count(struct mt_text_steps *s, struct mt_recording *rec, int word);
/* A step begins, unless it has begun; the one before ends. To be asked for after
 * mt_text_steps_count. */
void mt_text_steps_begin(struct mt_text_steps *s, struct mt_recording *rec,
                         const struct mt_text_said *said);
/* When a figure of an owner is that is said now: where its owner is behind the others it is in the
 * owner's step, before the next one begins. */
int64_t mt_text_steps_time(struct mt_text_steps *s, const struct mt_recording *rec, uint32_t owner,
                           int64_t now);

#endif
