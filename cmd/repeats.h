/*
 * repeats.h - the figures of runs that are repeats of one another, or of a baseline file.
 */
#ifndef MT_REPEATS_H
#define MT_REPEATS_H

#include "cmd/cmd.h"
#include "lib/analysis/check.h"
#include "lib/base/strtab.h"

struct mt_loaded {
    struct mt_repeats figures;
    /* One for each: the run as a command line names it, and what tells recordings apart. A
     * recording is there once, however often it is named. */
    MT_VEC(struct mt_loaded_run {
        char name[512];
        int64_t id;       /* 0: from a file */
        char content[33]; /* of struct mt_run; "": from a file */
        struct mt_run_notes notes;
        const char *how_to_record; /* mt_run_how_to_record; NULL: from a file */
    })
    runs;
    struct mt_strtab contents; /* of the runs */
};

/*
 * Measures the runs of the references, each of which may be a baseline file if `files`, and all
 * runs of a group (NULL: none); without either the latest run. Free *out also on failure. Errors:
 * those of mt_open_run and mt_baseline_read; MT_EUSAGE: a baseline file among other repeats.
 */
enum mt_status mt_load_repeats(const struct mt_args *refs, const char *group, bool files,
                               int64_t warmup, struct mt_loaded *out, struct mt_err *err);
void mt_loaded_free(struct mt_loaded *l);

/* Whether both hold the same recording. */
bool mt_loaded_overlap(const struct mt_loaded *a, const struct mt_loaded *b);

#endif
