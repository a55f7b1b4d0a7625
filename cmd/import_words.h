/*
 * import_words.h - what `memtool import` says of a recording.
 */
#ifndef MT_IMPORT_WORDS_H
#define MT_IMPORT_WORDS_H

#include "lib/model/recording.h"

/* Says on stdout what was read: run is its name; marker: --step-marker, NULL if not given. */
void mt_import_summarise(const struct mt_recording *r, const char *run, const char *marker);

#endif
