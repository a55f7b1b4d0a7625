#include "cmd/cache.h"

#include "cmd/cache_parts.h"
#include "cmd/common.h"
#include "cmd/import_file.h"
#include "cmd/output.h"
#include "cmd/scratch.h"
#include "lib/base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mt_cache_is_file(const char *ref)
{
    struct stat info;
    return stat(ref, &info) == 0 && S_ISREG(info.st_mode) && access(ref, R_OK) == 0;
}

/* The name of the cache's database for a file as it is now. Whoever sets back the time of a file,
 * as cp -p, tar and rsync do, changes its inode or its ctime. Another memtool may read it better.
 */
static enum mt_status name_of(const char *real, char hex[33], struct mt_err *err)
{
    struct stat info, program = {0};
    if (stat(real, &info) != 0)
        return MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    stat("/proc/self/exe", &program); /* if it is not there, the version must do */
    char *key = mt_asprintf(
        "%s %lld %lld.%09ld %lld.%09ld inode %llu schema %d by %s %lld %lld.%09ld", real,
        (long long)info.st_size, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
        (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec, (unsigned long long)info.st_ino,
        MT_SCHEMA_VERSION, MT_VERSION, (long long)program.st_size,
        (long long)program.st_mtim.tv_sec, program.st_mtim.tv_nsec);
    struct mt_hash *h = mt_hash_new();
    mt_hash_add(h, key, strlen(key));
    mt_hash_hex(h, hex);
    mt_hash_free(h);
    free(key);
    return MT_OK;
}

/* The run is called as its file is given, which tells a/trace.json from b/trace.json; a name that
 * is too long keeps its end, and the hash of all of it. */
static void name_after(struct mt_run *run, const char *path)
{
    enum { KEPT = sizeof run->name - 32 };
    const char *end = path + strlen(path);
    if ((size_t)(end - path) < sizeof run->name) {
        snprintf(run->name, sizeof run->name, "%s", path);
        return;
    }
    for (end -= KEPT; (*end & 0xc0) == 0x80; end++)
        ; /* no half of a character */
    snprintf(run->name, sizeof run->name, "...%s (%016llx)", end,
             (unsigned long long)mt_hash_short(0, path, strlen(path)));
}

/* A folder for one copy that is not kept: nobody else can write in it, or foresee its name. */
static enum mt_status private_folder(const char *why, char **out, struct mt_err *err)
{
    static bool said;
    const char *tmp = getenv("TMPDIR");
    if (!said)
        mt_show_note("%s: imports of files given as runs are not cached.", why);
    said = true;
    *out = mt_asprintf("%s/memtool-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    sigset_t before;
    mt_scratch_hold(&before);
    bool made = mkdtemp(*out) != NULL;
    if (made)
        mt_scratch_add(*out);
    mt_scratch_release(&before);
    if (made)
        return MT_OK;
    MT_FAIL(err, MT_EIO, "cannot create a temporary folder for the import: %s", strerror(errno));
    mt_err_input(err, *out);
    mt_err_hint(err, "Name a folder in TMPDIR or MEMTOOL_CACHE, or import the file first.");
    return MT_EIO;
}

struct copy {
    const char *given, *real; /* the file, as given and wherever from */
    char *folder, *database;
    bool kept;
};

/* A copy that was pruned a moment ago, or is damaged, is made anew. */
static bool open_copy(const struct copy *c, struct mt_db **db, struct mt_run *run)
{
    struct mt_err ignored = MT_ERR_INIT;
    if (!c->kept || access(c->database, R_OK) != 0)
        return false;
    utimensat(AT_FDCWD, c->database, NULL, 0); /* used now */
    if (mt_db_open(c->database, MT_DB_READ, db, NULL, &ignored) == MT_OK &&
        mt_run_find(*db, NULL, run, &ignored) == MT_OK)
        return true;
    mt_db_close(*db);
    *db = NULL;
    return false;
}

static enum mt_status import(const struct copy *c, const char *scratch, struct mt_recording *rec,
                             const char *hash, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_store_result result;
    const struct mt_import_opts how = {.source =
                                           c->real}; /* `runs --cache` is asked from anywhere */
    enum mt_status st = mt_db_open(scratch, MT_DB_WRITE, &db, NULL, err);
    if (st == MT_OK)
        st = mt_import_store(db, c->given, &how, rec, hash, &result, err);
    mt_db_close(db);
    return st;
}

/* Another process may remove the copy as soon as it has its name: it is opened before. Without a
 * name nothing is kept, which is no failure. */
static enum mt_status open_and_name(const struct copy *c, const char *scratch, struct mt_db **db,
                                    struct mt_run *run, struct mt_err *err)
{
    struct stat info;
    if (c->kept && stat(scratch, &info) == 0)
        mt_cache_prune(c->folder, info.st_size);
    MT_TRY(mt_db_open(scratch, MT_DB_READ, db, NULL, err));
    MT_TRY(mt_run_find(*db, NULL, run, err));
    if (!c->kept || rename(scratch, c->database) != 0)
        unlink(scratch);
    return MT_OK;
}

/* The copy and its journal, which Ctrl-C removes. False where no file can be made. */
static bool begin(const struct copy *c, char **scratch, char **journal, int *fd)
{
    sigset_t before;
    mt_scratch_hold(&before);
    *scratch = mt_cache_begin(c->database, fd);
    if (*scratch) {
        *journal = mt_asprintf("%s-journal", *scratch);
        mt_scratch_add(*scratch);
        mt_scratch_add(*journal);
    }
    int code = errno;
    mt_scratch_release(&before);
    errno = code;
    return *scratch != NULL;
}

/* The input is read before there is a file to be left behind. */
static enum mt_status fill(const struct copy *c, struct mt_db **db, struct mt_run *run,
                           struct mt_err *err)
{
    const struct mt_import_opts plain = {0};
    struct mt_recording rec;
    char hash[33], *scratch = NULL, *journal = NULL;
    int fd = -1;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_import_read(c->given, &plain, &rec, hash, err));
    if (!begin(c, &scratch, &journal, &fd)) {
        mt_err_input(err, c->folder);
        st = MT_FAIL(err, MT_EIO, "the cache cannot be written: %s", strerror(errno));
        mt_err_hint(err, "Name another folder in MEMTOOL_CACHE, or import the file first.");
        goto out;
    }
    st = import(c, scratch, &rec, hash, err);
    if (st == MT_OK)
        st = open_and_name(c, scratch, db, run, err);
    if (st != MT_OK)
        unlink(scratch);
    mt_scratch_drop(scratch);
    mt_scratch_drop(journal);
    if (fd >= 0)
        close(fd);
out:
    mt_rec_free(&rec);
    free(scratch);
    free(journal);
    return st;
}

/* Where the copy of a file belongs. Nobody's file is in its place. */
static enum mt_status place(struct copy *c, struct mt_err *err)
{
    struct stat info;
    char hex[33], *why;
    MT_TRY(name_of(c->real, hex, err));
    MT_TRY(mt_cache_folder(&c->folder, &why, err));
    c->kept = c->folder != NULL;
    enum mt_status st = c->kept ? MT_OK : private_folder(why, &c->folder, err);
    free(why);
    MT_TRY(st);
    c->database = mt_asprintf("%s/%s.db", c->folder, hex);
    if (lstat(c->database, &info) != 0 || mt_db_is_ours(c->database))
        return MT_OK;
    mt_err_input(err, c->database);
    MT_FAIL(err, MT_EIO, "has the name of a cache entry, but is not a memtool database");
    mt_err_hint(err, "Nothing was changed. Move it away, or name another folder in MEMTOOL_CACHE.");
    return MT_EIO;
}

static void end_copy(struct copy *c)
{
    if (c->folder && !c->kept) {
        rmdir(c->folder);
        mt_scratch_drop(c->folder);
    }
    free(c->folder);
    free(c->database);
}

enum mt_status mt_cache_open(const char *path, struct mt_db **db, struct mt_run *run,
                             struct mt_err *err)
{
    char *real = realpath(path, NULL);
    struct copy c = {.given = path, .real = real};
    if (!real) {
        mt_err_input(err, path);
        return MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    }
    enum mt_status st = place(&c, err);
    if (st == MT_OK && !open_copy(&c, db, run))
        st = fill(&c, db, run, err);
    if (st == MT_OK) {
        name_after(run, path);
        mt_output_spare(path);
        mt_output_spare(c.database);
    }
    end_copy(&c);
    free(real);
    return st;
}
