/*
 * notes.h - what every report on a run must say beside its figures.
 */
#ifndef MT_NOTES_H
#define MT_NOTES_H

#include "lib/report.h"

struct mt_run_notes {
    char lost[512];   /* what of the file is not in the run, for people; "": nothing */
    char unseen[512]; /* of frees that nobody saw, which make figures upper bounds; "": none */
};

/* Adds them to a report. unseen: it shows what is alive, or was, on a device that loses frees. */
void mt_notes_of_run(struct mt_report *r, const char *run, const struct mt_run_notes *notes,
                     bool unseen);

#endif
