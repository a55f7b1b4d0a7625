/*
 * output.h - where results are written: to standard output or to the file of -o, which is replaced
 * by a whole one or stays as it was.
 */
#ifndef MT_OUTPUT_H
#define MT_OUTPUT_H

#include "lib/base/err.h"
#include "lib/run/runs.h"
#include <stdbool.h>
#include <stdio.h>

/* Whether results go to standard output, as they do without -o and with "-o -". */
bool mt_output_is_stdout(void);

/* A file that this command reads ("-": standard input): results are not written over it, nor beside
 * it where SQLite would take them for its own. One that is not there is none. */
void mt_output_spare(const char *path);
/* The same for the recording that a run was imported from, where it still is. */
void mt_output_spare_source(const struct mt_run *run);

/*
 * Opens the output. A regular file, or a new one, is written beside and takes its place, and its
 * mode, when it is closed; anything else (a pipe, a device) is written to at once.
 * Errors: MT_EUSAGE: -o names a file to be spared, or a database of memtool; MT_EIO.
 */
enum mt_status mt_output_open(FILE **out, struct mt_err *err);

/* Closes it. whole: whether it was all; where not, or where it could not be written, an older file
 * is as it was. Errors: MT_EIO. */
enum mt_status mt_output_close(FILE *out, bool whole, struct mt_err *err);

#endif
