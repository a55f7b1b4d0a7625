/*
 * import_ahead.h - many files read side by side, in threads, and given to one writer in their
 * order.
 */
#ifndef MT_IMPORT_AHEAD_H
#define MT_IMPORT_AHEAD_H

#include "cmd/import_file.h"

/* A file that is read, or could not be. */
struct mt_ahead_file {
    struct mt_recording rec; /* built */
    char hash[33];
    bool same; /* its content is that of the stored run it was to be compared to: not read */
    struct mt_err err; /* err.code: MT_OK, or why there is no recording */
};

struct mt_ahead;

/*
 * Begins to read n files in job_n threads; keys: of each the key of a stored run that may have its
 * content, or NULL. At most job_n + 1 recordings are in memory, which share how->max_memory; one
 * that needs more than its share is read again, alone. All borrowed until the end.
 */
struct mt_ahead *mt_ahead_start(char *const *paths, char *const *keys, size_t n,
                                const struct mt_import_opts *how, int job_n);
/* Waits for the next file, in their order, n times. It lives until the next call. */
struct mt_ahead_file *mt_ahead_next(struct mt_ahead *a);
/* Reads the last one, whatever it has, where that run is there no more. */
struct mt_ahead_file *mt_ahead_again(struct mt_ahead *a);
/* Waits for the threads, frees what nobody took. */
void mt_ahead_stop(struct mt_ahead *a);

#endif
