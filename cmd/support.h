/*
 * support.h - files that memtool brings along for the programs it records.
 */
#ifndef MT_SUPPORT_H
#define MT_SUPPORT_H

#include "lib/base/err.h"

/* The path of a file or folder: below lib/memtool beside the folder of the program where it is
 * installed, else below `support` of the build. Allocated. Errors: MT_EIO: it is not there. */
enum mt_status mt_support_path(const char *name, char **out, struct mt_err *err);

#endif
