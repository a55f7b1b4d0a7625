/* The file of a database, looked at without SQLite. */
#include "lib/db/db_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mt_db_is_ours(const char *path)
{
    enum { ID_AT = 68, ID_BYTES = 4 }; /* of the application, big-endian, in every SQLite file */
    static const char magic[] = "SQLite format 3";
    unsigned char head[ID_AT + ID_BYTES];
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
                memcmp(head, magic, sizeof magic) == 0;
    uint32_t id = 0;
    for (int i = 0; ours && i < ID_BYTES; i++)
        id = id << 8 | head[ID_AT + i];
    if (fd >= 0)
        close(fd);
    return ours && id == MT_APPLICATION_ID;
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
