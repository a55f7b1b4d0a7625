/*
 * The cache's folder and what lies in it. A copy is called HASH.db; HASH.db.XXXXXX.tmp, perhaps
 * with a journal beside it, is one that is being made, or that an interrupted report left.
 */
#include "cmd/cache_parts.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char journal[] = "-journal";

/* ---- the folder ---- */

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

/* Whoever can write in it can plant a database under the name of one of ours. NULL: nobody else. */
static char *distrust(const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0)
        return mt_asprintf("cannot examine the cache %s: %s", folder, strerror(errno));
    if (info.st_uid != geteuid())
        return mt_asprintf("the cache %s belongs to another user", folder);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return mt_asprintf("others may write into the cache %s", folder);
    return NULL;
}

enum mt_status mt_cache_folder(char **out, char **why, struct mt_err *err)
{
    const char *own = getenv("MEMTOOL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    *out = *why = NULL;
    if (own && *own)
        *out = mt_strdup(own);
    else if (xdg && *xdg == '/') /* others are to be ignored, as the XDG base directory spec says */
        *out = mt_asprintf("%s/memtool", xdg);
    else if (home && *home)
        *out = mt_asprintf("%s/.cache/memtool", home);
    else {
        *why = mt_strdup("there is no cache, as HOME is not set");
        return MT_OK;
    }
    if (make_folders(*out)) {
        *why = distrust(*out);
        if (*why) {
            free(*out);
            *out = NULL;
        }
        return MT_OK;
    }
    if (!own || !*own) { /* nobody asked for that one */
        *why = mt_asprintf("cannot create the cache %s: %s", *out, strerror(errno));
        free(*out);
        *out = NULL;
        return MT_OK;
    }
    MT_FAIL(err, MT_EIO, "cannot create the cache for files given as runs: %s", strerror(errno));
    mt_err_input(err, *out);
    mt_err_hint(err, "Name another folder in MEMTOOL_CACHE, or import the file first.");
    free(*out);
    *out = NULL;
    return MT_EIO;
}

/* ---- copies that are being made ---- */

/*
 * Who makes a copy holds a lock on a byte that SQLite does not use. It belongs to the open file, so
 * that it goes with the process, however that ends.
 */
static struct flock held_byte(short type)
{
    enum { BYTE = 0x7fff0000 };
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = BYTE, .l_len = 1};
}

/* False: another has it. Without locks its age must do. */
static bool hold(int fd)
{
    struct flock lock = held_byte(F_WRLCK);
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* Until it is held, others take a new file for a leftover and remove it, which they hold it for:
 * then there is to be another. */
char *mt_cache_begin(const char *copy, int *fd)
{
    static const char ending[] = ".tmp";
    enum { TRIES = 100 };
    struct stat info;
    for (int i = 0; i < TRIES; i++) {
        char *path = mt_asprintf("%s.XXXXXX%s", copy, ending);
        *fd = mkostemps(path, (int)sizeof ending - 1, O_CLOEXEC);
        if (*fd < 0) {
            free(path);
            return NULL;
        }
        if (hold(*fd) && fstat(*fd, &info) == 0 && info.st_nlink)
            return path;
        close(*fd);
        free(path);
    }
    *fd = -1;
    errno = EBUSY;
    return NULL;
}

/* Where the file system knows no locks, a file is taken to be held for a day. */
static bool is_held(const char *path, const struct stat *info)
{
    enum { LONGEST_S = 24 * 60 * 60 }; /* no import takes this long */
    struct flock lock = held_byte(F_WRLCK);
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool known = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0;
    if (fd >= 0)
        close(fd);
    return known ? lock.l_type != F_UNLCK : info->st_mtim.tv_sec + LONGEST_S > time(NULL);
}

/* ---- what lies there ---- */

/* What a name says. */
enum name { OF_OTHERS, OF_COPY, OF_BEGUN, OF_JOURNAL };

static enum name what_name(const char *name)
{
    static const char hex[] = "0123456789abcdef", digits[] = "0123456789",
                      letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    enum { HASH = 32, CHANCE = 6 };
    if (strspn(name, hex) != HASH || strncmp(name + HASH, ".db", 3) != 0)
        return OF_OTHERS;
    const char *rest = name + HASH + 3;
    if (!*rest)
        return OF_COPY;
    size_t n = *rest == '.' ? strspn(rest + 1, letters) : 0;
    /* CHANCE letters; versions before this one took the number of the process */
    if ((n != CHANCE && (n == 0 || strspn(rest + 1, digits) != n)) ||
        strncmp(rest + 1 + n, ".tmp", 4) != 0)
        return OF_OTHERS;
    rest += 1 + n + 4;
    return !*rest ? OF_BEGUN : strcmp(rest, journal) == 0 ? OF_JOURNAL : OF_OTHERS;
}

/* Whether a file with such a name is the cache's, and what it is. Opening a database drops this
 * process's locks on it (fcntl); nobody writes into a copy. */
static bool is_cached(const char *path, enum name name, const struct stat *info,
                      enum mt_cached_kind *kind)
{
    *kind = MT_CACHED_COPY;
    if (name == OF_COPY)
        return mt_db_is_ours(path);
    if (name == OF_BEGUN) {
        *kind = is_held(path, info) ? MT_CACHED_BEGUN : MT_CACHED_LEFTOVER;
        return info->st_size == 0 || mt_db_is_ours(path);
    }
    *kind = MT_CACHED_LEFTOVER;
    char *owner = mt_strndup(path, strlen(path) - (sizeof journal - 1));
    bool alone = access(owner, F_OK) != 0; /* else it goes with its owner */
    free(owner);
    return alone;
}

static int last_first(const void *a, const void *b)
{
    const struct mt_cached *x = a, *y = b;
    if (x->used_ns != y->used_ns)
        return x->used_ns > y->used_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void look_into(struct mt_cached_all *out)
{
    struct stat info;
    DIR *dir = opendir(out->folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct mt_cached file;
        enum name name = what_name(e->d_name);
        if (name == OF_OTHERS)
            continue;
        file.path = mt_asprintf("%s/%s", out->folder, e->d_name);
        if (lstat(file.path, &info) == 0 && S_ISREG(info.st_mode) &&
            is_cached(file.path, name, &info, &file.kind)) {
            file.size_b = info.st_size;
            file.used_ns = info.st_mtim.tv_sec * (int64_t)1000000000 + info.st_mtim.tv_nsec;
            *mt_vec_push(out) = file;
        } else
            free(file.path);
    }
    if (dir)
        closedir(dir);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, last_first);
}

enum mt_status mt_cache_list(struct mt_cached_all *out, struct mt_err *err)
{
    char *why;
    *out = (struct mt_cached_all){0};
    MT_TRY(mt_cache_folder(&out->folder, &why, err));
    if (out->folder) {
        look_into(out);
        return MT_OK;
    }
    MT_FAIL(err, MT_EIO, "%s", why);
    mt_err_hint(err, "Nothing was changed. Name a folder that only you can write in "
                     "MEMTOOL_CACHE, or change the owner or mode of this one.");
    free(why);
    return MT_EIO;
}

void mt_cached_free(struct mt_cached_all *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->v[i].path);
    free(all->folder);
    mt_vec_free(all);
}

/* ---- removing ---- */

static bool unlink_file(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT;
}

/* False with EBUSY: it is none but somebody's who has just begun. */
static bool remove_leftover(const char *path)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool free_to_go = fd < 0 || hold(fd);
    bool gone = free_to_go && unlink_file(path);
    int code = free_to_go ? errno : EBUSY;
    if (gone) {
        char *beside = mt_asprintf("%s%s", path, journal);
        unlink(beside);
        free(beside);
    }
    if (fd >= 0)
        close(fd);
    errno = code;
    return gone;
}

static bool remove_file(const struct mt_cached *file)
{
    return file->kind == MT_CACHED_LEFTOVER ? remove_leftover(file->path) : unlink_file(file->path);
}

enum mt_status mt_cache_clear(struct mt_cache_cleared *out, struct mt_err *err)
{
    struct mt_cached_all all;
    *out = (struct mt_cache_cleared){0};
    MT_TRY(mt_cache_list(&all, err));
    for (size_t i = 0; i < all.n; i++) {
        const struct mt_cached *file = &all.v[i];
        if (file->kind == MT_CACHED_BEGUN)
            continue;
        if (!remove_file(file)) {
            if (errno == EBUSY)
                continue;
            MT_FAIL(err, MT_EIO, "cannot be removed: %s", strerror(errno));
            mt_err_input(err, file->path);
            continue;
        }
        ++*(file->kind == MT_CACHED_COPY ? &out->copy_n : &out->leftover_n);
        out->size_b += file->size_b;
    }
    if (err->code)
        mt_err_hint(err, "Of %zu files of the cache, %lld were removed.", all.n,
                    (long long)(out->copy_n + out->leftover_n));
    mt_cached_free(&all);
    return err->code;
}

void mt_cache_prune(const char *folder, int64_t size_b)
{
    struct mt_cached_all all = {.folder = mt_strdup(folder)};
    int64_t kept_n = 1;
    look_into(&all);
    for (size_t i = 0; i < all.n; i++) {
        const struct mt_cached *file = &all.v[i];
        if (file->kind == MT_CACHED_LEFTOVER) {
            remove_file(file);
            continue;
        }
        size_b += file->size_b;
        kept_n++;
        if (file->kind == MT_CACHED_COPY && (kept_n > MT_CACHE_FILES || size_b > MT_CACHE_BYTES))
            remove_file(file);
    }
    mt_cached_free(&all);
}
