/*
 * notes.h - what every report on a run must say beside its figures.
 */
#ifndef MT_NOTES_H
#define MT_NOTES_H

#include "lib/model/recording.h"

struct mt_run_notes {
    char lost[512];    /* what of the file is not in the run, for people; "": nothing */
    char missing[512]; /* of records that the recorder's own total misses; "": none */
    char unseen[512];  /* of what nobody saw, which makes figures upper bounds; "": none */
    char older[512];   /* of older blocks that are in no figure; "": none are known of */
};

#endif
