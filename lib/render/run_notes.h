/*
 * run_notes.h - below a report, what import noted of the run and what touches its figures.
 */
#ifndef MT_RUN_NOTES_H
#define MT_RUN_NOTES_H

#include "lib/render/report.h"
#include "lib/run/stored_notes.h"

/* Adds what is older and in no figure, once: for reports on levels of a device that has such
 * blocks. */
void mt_notes_of_older(struct mt_report *r, const char *run, const struct mt_run_notes *notes);

/* Adds the others that are about what the report shows, or of: enum mt_about, or-ed. */
void mt_notes_of_run(struct mt_report *r, const char *run, const struct mt_run_notes *notes,
                     unsigned shown);

#endif
