/*
 * cache.h - files as run references: `memtool diff a.json b.json`.
 *
 * A file is imported once into a database of its own in $MEMTOOL_CACHE, else
 * $XDG_CACHE_HOME/memtool, else ~/.cache/memtool. It is known again by its path, size and time of
 * change. The databases used longest ago are removed when there are many.
 */
#ifndef MT_CACHE_H
#define MT_CACHE_H

#include "lib/runs.h"

/* Whether a run reference names a file that can be read. */
bool mt_cache_is_file(const char *ref);

/* The file as a run, imported if need be. *db is closed by the caller. Errors: as import; MT_EIO
 * when there is no folder for the cache. */
enum mt_status mt_cache_open(const char *path, struct mt_db **db, struct mt_run *run,
                             struct mt_err *err);

#endif
