#include "lib/run/own_categories.h"

#include <stdlib.h>
#include <string.h>

static const struct mt_own_categories *used;
static bool asked, found; /* for a category of some path, and for one that has any */

void mt_own_categories_use(const struct mt_own_categories *own)
{
    used = own && own->v.n ? own : NULL;
}

const struct mt_own_categories *mt_own_categories_used(void)
{
    return used;
}

void mt_own_categories_free(struct mt_own_categories *own)
{
    if (used == own)
        used = NULL;
    for (size_t i = 0; i < own->v.n; i++) {
        free(own->v.v[i].name);
        mt_finder_free(&own->v.v[i].finder);
    }
    mt_vec_free(&own->v);
}

/* Without blanks at both ends; allocated. */
static char *trimmed(const char *s, size_t n)
{
    static const char blanks[] = " \t\r";
    while (n && strchr(blanks, s[n - 1]))
        n--;
    size_t at = 0;
    while (at < n && strchr(blanks, s[at]))
        at++;
    return mt_strndup(s + at, n - at);
}

/* What is wrong with a line; NULL: nothing. */
static const char *complaint(const struct mt_own_categories *own, const char *name,
                             const char *pattern)
{
    if (!pattern)
        return "this is no category: there is no '='";
    if (!*name)
        return "a category without a name";
    if (strlen(name) > MT_OWN_CATEGORY_NAME_MAX)
        return "the name of a category is longer than 64 bytes";
    if (!*pattern)
        return "a category without a regular expression";
    return own->v.n == MT_OWN_CATEGORIES_MOST ? "more than 200 categories" : NULL;
}

enum mt_status mt_own_categories_add(struct mt_own_categories *own, const char *line, size_t n,
                                     struct mt_err *err)
{
    const char *equals = n ? memchr(line, '=', n) : NULL;
    char *whole = trimmed(line, n), *name = NULL, *pattern = NULL;
    enum mt_status st = MT_OK;
    if (!*whole || *whole == '#')
        goto out;
    name = trimmed(line, equals ? (size_t)(equals - line) : n);
    if (equals)
        pattern = trimmed(equals + 1, (size_t)(line + n - equals) - 1);
    const char *wrong = complaint(own, name, pattern);
    if (wrong) {
        st = MT_FAIL(err, MT_EUSAGE, "%s", wrong);
        goto out;
    }
    struct mt_own_category one = {.name = name};
    st = mt_finder_make(&one.finder, "the expression", pattern, err);
    if (st == MT_OK) {
        *mt_vec_push(&own->v) = one;
        name = NULL;
    }
out:
    free(whole);
    free(name);
    free(pattern);
    return st;
}

const char *mt_own_category(const struct mt_own_categories *own, const char *path)
{
    asked = true;
    for (size_t i = 0; i < own->v.n; i++)
        if (mt_finder_finds(&own->v.v[i].finder, path)) {
            found = true;
            return own->v.v[i].name;
        }
    return NULL;
}

bool mt_own_categories_unmatched(void)
{
    return asked && !found;
}
