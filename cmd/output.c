#include "cmd/output.h"

#include "cmd/common.h"
#include "cmd/scratch.h"
#include "lib/render/term.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static MT_VEC(struct spared {
    dev_t device;
    ino_t inode;
}) spared;

/* What is written now: where it goes to in the end, and beside it. Both NULL: no such file. */
static char *final_path, *beside;

bool mt_output_is_stdout(void)
{
    return !mt_common.output || strcmp(mt_common.output, "-") == 0;
}

void mt_output_spare(const char *path)
{
    struct stat info;
    bool there = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &info) == 0 : stat(path, &info) == 0;
    if (there && S_ISREG(info.st_mode))
        *mt_vec_push(&spared) = (struct spared){info.st_dev, info.st_ino};
}

void mt_output_spare_source(const struct mt_run *run)
{
    if (strcmp(run->source, "-") != 0) /* that of import was another one */
        mt_output_spare(run->source);
}

static bool is_spared(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    for (size_t i = 0; i < spared.n; i++)
        if (spared.v[i].device == info.st_dev && spared.v[i].inode == info.st_ino)
            return true;
    return false;
}

/* Whether SQLite would look for such a file beside one of ours. */
static bool is_beside_spared(const char *path)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    size_t n = strlen(path);
    for (size_t i = 0; i < MT_ARRAY_LEN(endings); i++) {
        size_t e = strlen(endings[i]);
        if (n <= e || strcmp(path + n - e, endings[i]) != 0)
            continue;
        char *database = mt_strndup(path, n - e);
        bool found = is_spared(database);
        free(database);
        if (found)
            return true;
    }
    return false;
}

/* Nothing that is written is a database: whoever names one has a file with runs there. */
static bool is_database(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && mt_db_file_version(path) >= 0;
}

static enum mt_status failed(bool changed, struct mt_err *err)
{
    mt_err_input(err, mt_common.output);
    MT_FAIL(err, MT_EIO, "cannot be written: %s", strerror(errno));
    mt_err_hint(err, "%s; name another file with -o.",
                changed ? "The output is missing or not complete" : "Nothing was changed");
    return MT_EIO;
}

static enum mt_status refuse(const char *what, struct mt_err *err)
{
    mt_err_input(err, mt_common.output);
    MT_FAIL(err, MT_EUSAGE, "this is %s: writing to it would destroy it", what);
    mt_err_hint(err, "Nothing was written. Name another file with -o.");
    return MT_EUSAGE;
}

/* A link stays, and what it leads to is replaced. */
static char *target_of(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : mt_strdup(path);
}

/* A new file in the folder of the target. Its name is short, as that of the target may be long. */
static int open_beside(const char *target)
{
    enum { TRIES = 100 };
    const char *slash = strrchr(target, '/');
    sigset_t before;
    for (int i = 0; i < TRIES; i++) {
        char *path = mt_asprintf("%.*s.memtool-%d-%d.tmp", slash ? (int)(slash + 1 - target) : 0,
                                 target, (int)getpid(), i);
        mt_scratch_hold(&before);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), code = errno;
        if (fd >= 0)
            mt_scratch_add(path);
        mt_scratch_release(&before);
        if (fd >= 0) {
            beside = path;
            return fd;
        }
        free(path);
        errno = code;
        if (code != EEXIST)
            break;
    }
    return -1;
}

static FILE *open_file(const char *path)
{
    struct stat old, link;
    bool there = stat(path, &old) == 0;
    if (there ? !S_ISREG(old.st_mode) : lstat(path, &link) == 0) /* or a link to nowhere */
        return fopen(path, "w");
    if (there && access(path, W_OK) != 0)
        return NULL;
    final_path = target_of(path);
    int fd = open_beside(final_path);
    if (fd >= 0 && there)
        mt_scratch_like(fd, &old);
    if (fd >= 0)
        return fdopen(fd, "w");
    free(final_path);
    final_path = NULL;
    return there ? fopen(path, "w") : NULL; /* in a folder that cannot be written */
}

enum mt_status mt_output_open(FILE **out, struct mt_err *err)
{
    mt_db_readers_end(); /* whoever reads the output slowly keeps no importer waiting */
    *out = stdout;
    if (mt_output_is_stdout())
        return MT_OK;
    if (is_spared(mt_common.output) || is_beside_spared(mt_common.output))
        return refuse("the input", err);
    if (is_database(mt_common.output))
        return refuse("a database of memtool", err);
    *out = open_file(mt_common.output);
    return *out ? MT_OK : failed(false, err);
}

/* Writes out what is left. Returns 0, or the errno of what could not be written. */
static int flush(FILE *out)
{
    if (fflush(out) != 0)
        return errno;
    if (!ferror(out))
        return 0;
    return mt_write_error(fileno(out));
}

enum mt_status mt_output_close(FILE *out, bool whole, struct mt_err *err)
{
    if (out == stdout)
        return mt_check_stdout(err);
    int code = flush(out);
    if (fclose(out) != 0 && !code)
        code = errno;
    if (beside && whole && !code && rename(beside, final_path) != 0)
        code = errno;
    errno = code;
    enum mt_status st = code ? failed(!beside, err) : MT_OK;
    if (beside && (code || !whole))
        unlink(beside);
    if (beside)
        mt_scratch_drop(beside);
    free(beside);
    free(final_path);
    beside = final_path = NULL;
    return st;
}
