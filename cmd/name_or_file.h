/*
 * name_or_file.h - a run and a file that are called the same.
 */
#ifndef MT_NAME_OR_FILE_H
#define MT_NAME_OR_FILE_H

#include "lib/run/runs.h"

/* Whether the path of a file is the own name of the run that was read of it, and the file has that
 * content. Where it has other content, says so on stderr, once for each run. */
bool mt_is_run_of_file(const struct mt_run *run, const char *path);

/* The reference names a run, and a file here is called so, too. Where the run was read of that
 * file, which was written since and has other content, says so on stderr, once for each run. */
void mt_note_written_since(struct mt_db *db, const struct mt_run *run, const char *ref);

#endif
