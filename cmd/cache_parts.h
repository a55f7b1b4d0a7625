/*
 * cache_parts.h - what the files behind cache.h share.
 */
#ifndef MT_CACHE_PARTS_H
#define MT_CACHE_PARTS_H

#include "cmd/cache.h"

/*
 * The folder of the cache, made if need be. *out NULL: there is none to use, and *why, allocated,
 * says why in a sentence without a full stop. Errors: MT_EIO: it cannot be made.
 */
enum mt_status mt_cache_folder(char **out, char **why, struct mt_err *err);

/*
 * A new empty file beside a copy that is to be made, under a name that only the cache gives. It
 * counts as begun until *fd, which the caller closes, is closed or the process ends. NULL: it
 * cannot be made (errno).
 */
char *mt_cache_begin(const char *copy, int *fd);

/* Makes room for a copy of that size: removes leftovers, and what was used longest ago. Failures do
 * not matter. */
void mt_cache_prune(const char *folder, int64_t size_b);

#endif
