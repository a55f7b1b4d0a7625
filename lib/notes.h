/*
 * notes.h - what every report on a run must say beside its figures.
 */
#ifndef MT_NOTES_H
#define MT_NOTES_H

#include "lib/report.h"

struct mt_run_notes {
    char lost[512];   /* what of the file is not in the run, for people; "": nothing */
    char unseen[512]; /* of what nobody saw, which makes figures upper bounds; "": none */
    char older[512];  /* of older blocks that are in no figure; "": none are known of */
};

/* Adds what is older and in no figure, once: for reports on levels of a device that has such
 * blocks. */
void mt_notes_of_older(struct mt_report *r, const char *run, const struct mt_run_notes *notes);

/* Adds the others to a report. unseen: it shows what is alive, or was, on a such a device. */
void mt_notes_of_run(struct mt_report *r, const char *run, const struct mt_run_notes *notes,
                     bool unseen);

#endif
