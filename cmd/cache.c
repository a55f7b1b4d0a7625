#include "cmd/cache.h"

#include "cmd/intake.h"
#include "lib/hash.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE_S = 24 * 60 * 60 }; /* no import takes this long: a scratch file of a killed one */

bool mt_cache_is_file(const char *ref)
{
    struct stat info;
    return stat(ref, &info) == 0 && S_ISREG(info.st_mode) && access(ref, R_OK) == 0;
}

/* Makes a folder and those above it. */
static bool make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *p = '/';
        if (!made)
            return false;
    }
    struct stat info;
    if (mkdir(path, 0700) == 0)
        return true;
    if (errno != EEXIST)
        return false;
    errno = ENOTDIR;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static enum mt_status cache_folder(char **out, struct mt_err *err)
{
    const char *own = getenv("MEMTOOL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (own && *own)
        *out = mt_strdup(own);
    else if (xdg && *xdg)
        *out = mt_asprintf("%s/memtool", xdg);
    else
        *out = mt_asprintf("%s/.cache/memtool", home ? home : "/tmp");
    if (make_folders(*out))
        return MT_OK;
    MT_FAIL(err, MT_EIO, "the cache for files given as runs cannot be made: %s", strerror(errno));
    mt_err_input(err, *out);
    mt_err_hint(err, "Name another folder in MEMTOOL_CACHE, or import the file first.");
    return MT_EIO;
}

/* The cache's database for a file as it is now. */
static enum mt_status database_of(const char *path, const char *folder, char **out,
                                  struct mt_err *err)
{
    struct stat info;
    char hex[33];
    char *real = realpath(path, NULL);
    if (!real || stat(path, &info) != 0) {
        free(real);
        mt_err_input(err, path);
        return MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    }
    char *key =
        mt_asprintf("%s %lld %lld.%09ld schema %d", real, (long long)info.st_size,
                    (long long)info.st_mtim.tv_sec, (long)info.st_mtim.tv_nsec, MT_SCHEMA_VERSION);
    struct mt_hash *h = mt_hash_new();
    mt_hash_add(h, key, strlen(key));
    mt_hash_hex(h, hex);
    mt_hash_free(h);
    *out = mt_asprintf("%s/%s.db", folder, hex);
    free(key);
    free(real);
    return MT_OK;
}

/* Imports beside the final name, which appears only when all is there. */
static enum mt_status fill(const char *path, const char *database, struct mt_err *err)
{
    struct mt_recording rec;
    struct mt_store_result result;
    struct mt_db *db = NULL;
    char *real = realpath(path, NULL); /* `runs --cache` is asked from anywhere */
    const struct mt_intake plain = {.source = real};
    char *scratch = mt_asprintf("%s.%d.tmp", database, (int)getpid());
    enum mt_status st = mt_db_open(scratch, MT_DB_WRITE, &db, NULL, err);
    if (st == MT_OK) {
        st = mt_intake_file(db, path, &plain, &rec, &result, err);
        mt_rec_free(&rec);
    }
    mt_db_close(db);
    if (st == MT_OK && rename(scratch, database) != 0)
        st = MT_FAIL(err, MT_EIO, "%s cannot be made: %s", database, strerror(errno));
    if (st != MT_OK)
        unlink(scratch);
    free(scratch);
    free(real);
    return st;
}

static int last_first(const void *a, const void *b)
{
    const struct mt_cached *x = a, *y = b;
    if (x->used_ns != y->used_ns)
        return x->used_ns > y->used_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* The databases of out->folder; what killed imports left there is removed. */
static void look_into(struct mt_cached_all *out)
{
    struct stat info;
    DIR *dir = opendir(out->folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const char *ending = strstr(e->d_name, ".db");
        if (!ending)
            continue;
        char *path = mt_asprintf("%s/%s", out->folder, e->d_name);
        bool there = stat(path, &info) == 0, whole = ending[3] == '\0';
        if (there && !whole && info.st_mtim.tv_sec + STALE_S < time(NULL))
            unlink(path);
        int64_t used_ns = info.st_mtim.tv_sec * (int64_t)1000000000 + info.st_mtim.tv_nsec;
        if (there && whole)
            *mt_vec_push(out) = (struct mt_cached){path, info.st_size, used_ns};
        else
            free(path);
    }
    if (dir)
        closedir(dir);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, last_first);
}

enum mt_status mt_cache_list(struct mt_cached_all *out, struct mt_err *err)
{
    *out = (struct mt_cached_all){0};
    MT_TRY(cache_folder(&out->folder, err));
    look_into(out);
    return MT_OK;
}

void mt_cached_free(struct mt_cached_all *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->v[i].path);
    free(all->folder);
    mt_vec_free(all);
}

enum mt_status mt_cache_clear(int64_t *n, int64_t *size_b, struct mt_err *err)
{
    struct mt_cached_all all;
    enum mt_status st = mt_cache_list(&all, err);
    *n = *size_b = 0;
    for (size_t i = 0; i < all.n && st == MT_OK; i++) {
        if (unlink(all.v[i].path) != 0 && errno != ENOENT) {
            st = MT_FAIL(err, MT_EIO, "cannot be removed: %s", strerror(errno));
            mt_err_input(err, all.v[i].path);
            mt_err_hint(err, "%lld of %zu databases of the cache were removed before.",
                        (long long)*n, all.n);
        } else {
            *size_b += all.v[i].size_b;
            ++*n;
        }
    }
    mt_cached_free(&all);
    return st;
}

/* Removes what was used longest ago. Failures do not matter. */
static void prune(const char *folder)
{
    struct mt_cached_all all = {.folder = mt_strdup(folder)};
    int64_t size_b = 0;
    look_into(&all);
    for (size_t i = 0; i < all.n; i++) {
        size_b += all.v[i].size_b;
        if (i >= MT_CACHE_FILES || (i && size_b > MT_CACHE_BYTES))
            unlink(all.v[i].path);
    }
    mt_cached_free(&all);
}

enum mt_status mt_cache_open(const char *path, struct mt_db **db, struct mt_run *run,
                             struct mt_err *err)
{
    char *folder = NULL, *database = NULL;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(cache_folder(&folder, err));
    MT_TRY_OUT(database_of(path, folder, &database, err));
    bool filled = access(database, R_OK) != 0;
    if (filled)
        MT_TRY_OUT(fill(path, database, err));
    utimensat(AT_FDCWD, database, NULL, 0); /* used now */
    MT_TRY_OUT(mt_db_open(database, MT_DB_READ, db, NULL, err));
    if (filled)
        prune(folder);
    MT_TRY_OUT(mt_run_find(*db, NULL, run, err));
    snprintf(run->name, sizeof run->name, "%s", path); /* tells a/trace.json from b/trace.json */
out:
    free(folder);
    free(database);
    return st;
}
