/*
 * notes.h - what an import notes, and which reports must say it beside their figures.
 */
#ifndef MT_NOTES_H
#define MT_NOTES_H

#include "lib/model/recording.h"

/* What a note is about, as bits. A report says the notes about what it shows. */
enum mt_about {
    MT_ABOUT_SUMS = 1 << 0,        /* what was allocated and freed */
    MT_ABOUT_LEVELS = 1 << 1,      /* how much is alive when: peaks, curves */
    MT_ABOUT_END = 1 << 2,         /* what is alive at the end */
    MT_ABOUT_SITES = 1 << 3,       /* what of it belongs to which op or call path */
    MT_ABOUT_LIFETIMES = 1 << 4,   /* which block is freed when: leaks */
    MT_ABOUT_STEPS = 1 << 5,       /* what is a step, and which */
    MT_ABOUT_TIMES = 1 << 6,       /* when something is */
    MT_ABOUT_DURATIONS = 1 << 7,   /* how long ops take */
    MT_ABOUT_SCOPES = 1 << 8,      /* what scopes are called */
    MT_ABOUT_FORWARD = 1 << 9,     /* which op runs backward of which */
    MT_ABOUT_UNSEEN = 1 << 10,     /* levels of devices that lose frees or allocations */
    MT_ABOUT_OLDER = 1 << 11,      /* levels of devices that leave out what is older */
    MT_ABOUT_CATEGORIES = 1 << 12, /* what memory is for */
    MT_ABOUT_ALL = (1 << 13) - 1,
    /* No report but info says these: no figure depends on them, */
    MT_ABOUT_NO_FIGURE = 1 << 13,
    /* or they stand in a row of their own, as a refusal or as an unknown figure. */
    MT_ABOUT_SHOWN = 1 << 14,
};
extern const unsigned mt_note_about[MT_NOTE_N];

#endif
