/*
 * cut_path.h - a call path in less room than it takes.
 */
#ifndef MT_CUT_PATH_H
#define MT_CUT_PATH_H

#include "lib/base/mem.h"
#include <stdbool.h>

/* Cuts a path "a > b > c" (escaped already) to at most `width` columns, whole names as far as
 * possible: the last one, then the user's own functions, then others, inner ones first; what is
 * left out is a mark, "train.py(12): step > … > aten::empty". width >= 8. */
void mt_cut_path(struct mt_buf *out, const char *path, int width, bool ascii);

#endif
