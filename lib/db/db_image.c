/* A new database is written as it stands in the program. */
#include "lib/db/db_image.h"

#include "lib/base/mem.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_image(int fd)
{
    uint8_t *image = mt_alloc(mt_db_image_size);
    const uint8_t *from = mt_db_image_bytes;
    for (const struct mt_db_extent *e = mt_db_image_extents; e->n; from += e->n, e++)
        memcpy(image + e->at, from, e->n);
    ssize_t written = write(fd, image, mt_db_image_size);
    free(image);
    return written == (ssize_t)mt_db_image_size && fdatasync(fd) == 0;
}

/* A journal that is left of another file would be played into this one. */
static bool is_left(const char *path, const char *ending)
{
    char *name = mt_asprintf("%s%s", path, ending);
    bool left = access(name, F_OK) == 0;
    free(name);
    return left;
}

bool mt_db_image_create(const char *path)
{
    bool made = false;
    if (is_left(path, "") || is_left(path, "-journal") || is_left(path, "-wal"))
        return false;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? mt_asprintf("%.*s/", (int)(slash - path), path) : mt_strdup(".");
    /* It has no name until it is whole, so that nothing is left of it if this ends early. */
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
    if (fd >= 0 && write_image(fd)) {
        char self[32];
        snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
        made = linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    }
    if (fd >= 0)
        close(fd);
    free(folder);
    return made;
}
