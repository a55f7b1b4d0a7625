/*
 * cache.h - files as run references: `memtool diff a.json b.json`.
 *
 * A file is imported once into a database of its own in $MEMTOOL_CACHE, else
 * $XDG_CACHE_HOME/memtool, else ~/.cache/memtool. It is known again by its path, size, inode and
 * times of change. The databases used longest ago are removed when there are more than
 * MT_CACHE_FILES of them or they take more than MT_CACHE_BYTES; the one used last stays, however
 * large.
 *
 * The folder may hold files of others: only memtool's own databases under names that only the cache
 * gives are ever counted or removed (cache_files.c). A folder that belongs to somebody else, or
 * that others may write, is not used.
 */
#ifndef MT_CACHE_H
#define MT_CACHE_H

#include "lib/run/runs.h"

#define MT_CACHE_FILES 256
#define MT_CACHE_BYTES ((int64_t)1 << 30)

/* Whether a run reference names a file that can be read. */
bool mt_cache_is_file(const char *ref);

/* The file as a run, imported if need be; where there is no cache to use, a note says so and
 * nothing is kept. *db is closed by the caller. Errors: as import; MT_EIO when the folder of the
 * cache cannot be made. */
enum mt_status mt_cache_open(const char *path, struct mt_db **db, struct mt_run *run,
                             struct mt_err *err);

/* What the cache holds, the one used last first. Errors: MT_EIO: as above, or there is none. */
struct mt_cached {
    char *path;              /* of the database */
    int64_t size_b, used_ns; /* since the Unix epoch */
    enum mt_cached_kind {
        MT_CACHED_COPY,
        MT_CACHED_BEGUN,   /* somebody is importing into it */
        MT_CACHED_LEFTOVER /* somebody was, and was interrupted */
    } kind;
};
struct mt_cached_all {
    char *folder;
    struct mt_cached *v;
    size_t n, cap;
};
enum mt_status mt_cache_list(struct mt_cached_all *out, struct mt_err *err);
void mt_cached_free(struct mt_cached_all *all);

/* Removes all of it that nobody is importing into, and counts copies and leftovers. Who reads one
 * of the databases reads on. What cannot be removed does not keep the rest. Errors: MT_EIO. */
struct mt_cache_cleared {
    int64_t copy_n, leftover_n, size_b;
};
enum mt_status mt_cache_clear(struct mt_cache_cleared *out, struct mt_err *err);

#endif
