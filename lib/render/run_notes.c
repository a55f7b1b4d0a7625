#include "lib/render/run_notes.h"

#include <stdio.h>
#include <string.h>

/* A note that is there already says it for several devices. */
static void add_once(struct mt_report *r, const char *run, const char *what, const char *text)
{
    char *note = mt_asprintf("%s%s: %s.", run, what, text);
    mt_report_note_once(r, note);
    free(note);
}

/* Those of several kinds as one. */
static void add_joined(struct mt_report *r, const char *run, const char *what,
                       const struct mt_run_notes *notes, const enum mt_note_kind kinds[], size_t n)
{
    struct mt_buf text = {0};
    for (size_t i = 0; i < n; i++) {
        const char *one = mt_run_notes_get(notes, kinds[i]);
        if (one)
            mt_buf_addf(&text, "%s%s", text.n ? "; " : "", one);
    }
    if (text.n)
        add_once(r, run, what, text.s);
    mt_buf_free(&text);
}

void mt_notes_of_older(struct mt_report *r, const char *run, const struct mt_run_notes *notes)
{
    static const enum mt_note_kind older[] = {MT_NOTE_OLDER};
    add_joined(r, run, "", notes, older, MT_ARRAY_LEN(older));
}

void mt_notes_of_run(struct mt_report *r, const char *run, const struct mt_run_notes *notes,
                     unsigned shown)
{
    static const enum mt_note_kind lost[] = {MT_NOTE_SKIPPED, MT_NOTE_CUT, MT_NOTE_TRAILING};
    static const enum mt_note_kind missing[] = {MT_NOTE_RESIDUAL};
    static const enum mt_note_kind unseen[] = {MT_NOTE_UNSEEN, MT_NOTE_ALLOC_UNSEEN};
    static const unsigned apart = MT_ABOUT_UNSEEN | MT_ABOUT_OLDER;
    if (shown & ~apart) {
        add_joined(r, run, " was not imported whole", notes, lost, MT_ARRAY_LEN(lost));
        add_joined(r, run, "", notes, missing, MT_ARRAY_LEN(missing));
    }
    if (shown & MT_ABOUT_UNSEEN)
        add_joined(r, run, "", notes, unseen, MT_ARRAY_LEN(unseen));
    for (size_t i = 0; i < notes->n; i++) {
        enum mt_note_kind kind = (enum mt_note_kind)notes->v[i].kind;
        bool said = kind == MT_NOTE_SKIPPED || kind == MT_NOTE_CUT || kind == MT_NOTE_TRAILING ||
                    kind == MT_NOTE_RESIDUAL;
        if (!said && mt_note_about[kind] & shown & ~apart)
            add_once(r, run, "", notes->text + notes->v[i].at);
    }
}
