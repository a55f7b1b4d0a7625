/*
 * reports.h - any bytes imported, then reported on, by whole command lines in this process.
 */
#ifndef MT_FUZZ_REPORTS_H
#define MT_FUZZ_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_reports {
    const char *base;   /* a recording, the run `base` */
    const char *sample; /* another, as `input`: every command line must work, but see refuses */
    const char *const *more; /* command lines that only such recordings have, NULL-terminated */
    bool refuses; /* of the lines for any recording some ask what such ones do not know */
};

/*
 * Imports the bytes as the run `input` into a new database that has a run `base`, and runs
 * command lines on it: all of them on replay, when fuzzing a few, which the bytes choose. Ends the
 * process when one fails, other than by refusing what cannot be asked of such a run, has another
 * exit code than 0, 1 and 3, or writes what is no text, or acts on a terminal, or is no JSON.
 */
void fuzz_reports(const struct fuzz_reports *what, const uint8_t *data, size_t n);

#endif
