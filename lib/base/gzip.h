/*
 * gzip.h - writing gzip files (RFC 1952). The same bytes give the same file: no name, no time.
 */
#ifndef MT_GZIP_H
#define MT_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct mt_gzip;

/* Writes to out, which stays open. Errors of output are left to ferror. */
struct mt_gzip *mt_gzip_open(FILE *out);
void mt_gzip_write(struct mt_gzip *z, const void *bytes, size_t n);
/* Ends the file and frees z. */
void mt_gzip_close(struct mt_gzip *z);

#endif
