/*
 * cache.h - files as run references: `memtool diff a.json b.json`.
 *
 * A file is imported once into a database of its own in $MEMTOOL_CACHE, else
 * $XDG_CACHE_HOME/memtool, else ~/.cache/memtool. It is known again by its path, size and time of
 * change. The databases used longest ago are removed when there are more than MT_CACHE_FILES of
 * them or they take more than MT_CACHE_BYTES; the one used last stays, however large.
 */
#ifndef MT_CACHE_H
#define MT_CACHE_H

#include "lib/runs.h"

#define MT_CACHE_FILES 32
#define MT_CACHE_BYTES ((int64_t)1 << 30)

/* Whether a run reference names a file that can be read. */
bool mt_cache_is_file(const char *ref);

/* The file as a run, imported if need be. *db is closed by the caller. Errors: as import; MT_EIO
 * when there is no folder for the cache. */
enum mt_status mt_cache_open(const char *path, struct mt_db **db, struct mt_run *run,
                             struct mt_err *err);

/* What the cache holds, the one used last first. Errors: MT_EIO. */
struct mt_cached {
    char *path;              /* of the database */
    int64_t size_b, used_ns; /* since the Unix epoch */
};
struct mt_cached_all {
    char *folder;
    struct mt_cached *v;
    size_t n, cap;
};
enum mt_status mt_cache_list(struct mt_cached_all *out, struct mt_err *err);
void mt_cached_free(struct mt_cached_all *all);

/* Removes all of it. Who reads one of the databases reads on. Errors: MT_EIO. */
enum mt_status mt_cache_clear(int64_t *n, int64_t *size_b, struct mt_err *err);

#endif
