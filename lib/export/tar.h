/*
 * tar.h - an archive of files, as ustar (POSIX.1-1988): no owners, no times.
 */
#ifndef MT_TAR_H
#define MT_TAR_H

#include <stdint.h>
#include <stdio.h>

/* Begins a file of a name shorter than 100 bytes; n bytes of content follow, then mt_tar_pad.
 * Errors of output are left to ferror. */
void mt_tar_begin(FILE *out, const char *name, uint64_t n);
void mt_tar_pad(FILE *out, uint64_t n);
void mt_tar_end(FILE *out);

#endif
