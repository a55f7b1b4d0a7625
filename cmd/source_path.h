/*
 * source_path.h - where in a repository a file of source lies that a recording names.
 */
#ifndef MT_SOURCE_PATH_H
#define MT_SOURCE_PATH_H

#include <stddef.h>

/*
 * The path of a file as recorded, n bytes, relative to the repository that the current folder is in
 * (or to that folder): where the file is below the current folder, or one alone below it has such
 * an end - a recording has it relative to the folder of the script, or was made elsewhere. Else as
 * recorded. Allocated.
 */
char *mt_source_path(const char *file, size_t n);

#endif
