/*
 * stored_notes.h - the notes of a run, as they stand in the database.
 */
#ifndef MT_STORED_NOTES_H
#define MT_STORED_NOTES_H

#include "lib/model/notes.h"
#include <stdbool.h>

struct mt_run_notes {
    size_t n, text_n;
    struct {
        uint16_t kind, at; /* enum mt_note_kind; in text */
    } v[MT_NOTE_N];
    char text[8192]; /* what exceeds it is cut */
};
/* Unknown kinds are left out. */
void mt_run_notes_add(struct mt_run_notes *notes, const char *kind, const char *text);
/* NULL: there is none of that kind. */
const char *mt_run_notes_get(const struct mt_run_notes *notes, enum mt_note_kind kind);
/* Whether something of the file is not in the run. */
bool mt_run_notes_lost(const struct mt_run_notes *notes);

#endif
