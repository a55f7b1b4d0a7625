#include "lib/run/stored_notes.h"

#include <stdio.h>
#include <string.h>

void mt_run_notes_add(struct mt_run_notes *notes, const char *kind, const char *text)
{
    size_t room = sizeof notes->text - notes->text_n;
    int k = 0;
    while (k < MT_NOTE_N && strcmp(mt_note_names[k], kind) != 0)
        k++;
    if (k == MT_NOTE_N || notes->n == MT_NOTE_N || room <= 1)
        return;
    notes->v[notes->n].kind = (uint16_t)k;
    notes->v[notes->n++].at = (uint16_t)notes->text_n;
    int written = snprintf(notes->text + notes->text_n, room, "%s", text);
    notes->text_n += (size_t)written < room ? (size_t)written + 1 : room;
}

const char *mt_run_notes_get(const struct mt_run_notes *notes, enum mt_note_kind kind)
{
    for (size_t i = 0; i < notes->n; i++)
        if (notes->v[i].kind == kind)
            return notes->text + notes->v[i].at;
    return NULL;
}

bool mt_run_notes_lost(const struct mt_run_notes *notes)
{
    return mt_run_notes_get(notes, MT_NOTE_CUT) || mt_run_notes_get(notes, MT_NOTE_SKIPPED) ||
           mt_run_notes_get(notes, MT_NOTE_TRAILING);
}
