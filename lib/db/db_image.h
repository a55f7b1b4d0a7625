/*
 * db_image.h - the empty database as it stands in the program (queries/image.c made it): a new file
 * is that, in a few system calls, where SQLite would need 3 ms and a transaction.
 */
#ifndef MT_DB_IMAGE_H
#define MT_DB_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Where bytes of the image go, one behind the other; zeros between. */
struct mt_db_extent {
    uint32_t at, n; /* n = 0: there are no more */
};
extern const uint32_t mt_db_image_size;
extern const struct mt_db_extent mt_db_image_extents[];
extern const uint8_t mt_db_image_bytes[];

/*
 * Makes the file at path, whole or not at all, where there is none, nor what SQLite left of one.
 * False: it was not made, be it that somebody else was faster, or that the file system cannot; then
 * SQLite may.
 */
bool mt_db_image_create(const char *path);

#endif
