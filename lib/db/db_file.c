/* The file of a database, looked at without SQLite. */
#include "lib/db/db_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION_AT = 60, ID_AT = 68, HEAD_BYTES = 72 }; /* in every SQLite file */

static uint32_t number_at(const unsigned char *p) /* big-endian */
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The head of a database of ours. */
static bool read_head(const char *path, int how, unsigned char head[HEAD_BYTES])
{
    static const char magic[] = "SQLite format 3";
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | how);
    bool ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                pread(fd, head, HEAD_BYTES, 0) == HEAD_BYTES &&
                memcmp(head, magic, sizeof magic) == 0 &&
                number_at(head + ID_AT) == MT_APPLICATION_ID;
    if (fd >= 0)
        close(fd);
    return ours;
}

bool mt_db_is_ours(const char *path)
{
    unsigned char head[HEAD_BYTES];
    return read_head(path, O_NOFOLLOW, head);
}

int64_t mt_db_file_version(const char *path)
{
    unsigned char head[HEAD_BYTES];
    return read_head(path, 0, head) ? (int64_t)number_at(head + VERSION_AT) : -1;
}

/* SQLite does not wait for the other end of a FIFO, so neither does this. */
static int open_plainly(const char *path, enum mt_db_mode mode)
{
    const int how = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    return mode == MT_DB_WRITE ? open(path, O_RDWR | O_CREAT | how, 0644)
                               : open(path, O_RDONLY | how);
}

enum mt_status mt_db_open_failed(const char *path, enum mt_db_mode mode, struct mt_err *err)
{
    int fd = open_plainly(path, mode), code = fd < 0 ? errno : 0;
    struct stat info;
    const char *why = code ? strerror(code) : "SQLite gives no reason";
    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode))
        why = S_ISDIR(info.st_mode) ? strerror(EISDIR) : "Not a regular file";
    if (fd >= 0)
        close(fd);
    mt_err_input(err, path);
    if (mode == MT_DB_READ && code == ENOENT) {
        MT_FAIL(err, MT_EDB, "there is no such database");
        mt_err_hint(err, "Import something first: memtool import trace.json. Or give the file "
                         "itself as the run.");
        return MT_EDB;
    }
    MT_FAIL(err, MT_EDB, "the database cannot be opened: %s", why);
    mt_err_hint(err, "Nothing was changed. Name a database elsewhere with --db.");
    return MT_EDB;
}
