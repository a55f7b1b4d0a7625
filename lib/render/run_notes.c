#include "lib/render/run_notes.h"

#include <stdio.h>
#include <string.h>

void mt_notes_of_older(struct mt_report *r, const char *run, const struct mt_run_notes *notes)
{
    char text[sizeof notes->older + 512];
    snprintf(text, sizeof text, "%s: %s.", run, notes->older);
    for (size_t i = 0; i < r->notes.n; i++)
        if (strcmp(r->notes.v[i], text) == 0)
            return;
    if (notes->older[0])
        mt_report_note(r, "%s", text);
}

void mt_notes_of_run(struct mt_report *r, const char *run, const struct mt_run_notes *notes,
                     bool unseen)
{
    if (notes->lost[0])
        mt_report_note(r, "%s was not imported whole: %s.", run, notes->lost);
    if (notes->missing[0])
        mt_report_note(r, "%s: %s.", run, notes->missing);
    if (unseen && notes->unseen[0])
        mt_report_note(r, "%s: %s.", run, notes->unseen);
}
