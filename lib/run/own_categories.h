/*
 * own_categories.h - categories of the user's own: words for call paths, by regular expressions.
 */
#ifndef MT_OWN_CATEGORIES_H
#define MT_OWN_CATEGORIES_H

#include "lib/base/err.h"
#include "lib/base/finder.h"
#include "lib/base/mem.h"
#include <stdbool.h>

enum { MT_OWN_CATEGORIES_MOST = 200, MT_OWN_CATEGORY_NAME_MAX = 64 };

struct mt_own_categories {
    MT_VEC(struct mt_own_category {
        char *name;
        struct mt_finder finder;
    })
    v;
};
void mt_own_categories_free(struct mt_own_categories *own);

/*
 * Adds one line of a file, n bytes: "NAME = REGULAR EXPRESSION"; a comment (#) and an empty line
 * add nothing. Errors: MT_EUSAGE: it is neither, the name is too long, there are too many, or
 * those of mt_pattern.
 */
enum mt_status mt_own_categories_add(struct mt_own_categories *own, const char *line, size_t n,
                                     struct mt_err *err);

/* The name of the first whose expression matches a part of a call path, "a > b"; NULL: none. */
const char *mt_own_category(const struct mt_own_categories *own, const char *path);

/* Whether paths were asked about so far, and none had a category. */
bool mt_own_categories_unmatched(void);

/* From then on --by category of the process has these first; NULL: none. Borrowed. As keys of
 * labels, a command asks for it before it reads a run. */
void mt_own_categories_use(const struct mt_own_categories *own);
const struct mt_own_categories *mt_own_categories_used(void);

#endif
