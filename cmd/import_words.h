/*
 * import_words.h - what `memtool import` says of a recording.
 */
#ifndef MT_IMPORT_WORDS_H
#define MT_IMPORT_WORDS_H

#include "cmd/import_file.h"

/* Says on stdout what was read, run is its name, and which options were of no use. */
void mt_import_summarise(const struct mt_recording *r, const char *run,
                         const struct mt_import_opts *how);

/* Says that the content of a file was there; alone: it is all that is imported. */
void mt_import_existed(const char *path, bool alone, const struct mt_store_result *result);
/* Says that a run was replaced. */
void mt_import_replaced(const char *run);

#endif
