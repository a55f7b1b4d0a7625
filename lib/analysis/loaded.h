/*
 * loaded.h - the figures of runs that are repeats of one another, or of a baseline file, and what
 * each is called.
 */
#ifndef MT_LOADED_H
#define MT_LOADED_H

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
        bool process;   /* it was recorded of a process, not of allocations; of a file false */
        bool by_frames; /* figures of categories are of a snapshot, told by its frames */
        int64_t rank;   /* of the job, or of the host; MT_UNKNOWN */
        int64_t rank_n; /* ranks of the job, where its recorder says it; MT_UNKNOWN */
        char host[128]; /* the folder that may count ranks anew; "": none */
    })
    runs;
    struct mt_strtab contents; /* of the runs */
};

void mt_loaded_free(struct mt_loaded *l);

/* Whether both hold the same recording. */
bool mt_loaded_overlap(const struct mt_loaded *a, const struct mt_loaded *b);

#endif
