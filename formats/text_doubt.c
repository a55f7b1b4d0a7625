#include "formats/text_doubt.h"

#include "lib/base/mem.h"
#include <ctype.h>
#include <string.h>

static const int64_t micro = 1000 * 1000;

/* Whether nothing but words such as "size" and "is" stands between the last word for an rss in a
 * name and its number: "max resident set size", not "rss of layer". */
static bool ends_in_rss(const char *name)
{
    static const char *const fillers[] = {
        "set",  "size", "memory", "mem", "usage", "used", "use",   "is", "was", "now",  "current",
        "peak", "max",  "kb",     "mb",  "bytes", "in",   "total", "=",  "->",  "then", NULL};
    const char *at = NULL;
    for (const char *s = name; (s = mt_text_rss(s, strlen(s))) != NULL; s++)
        at = s;
    if (!at)
        return false;
    for (at += strcspn(at, " "); *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (*at && !mt_text_is_one(at, strcspn(at, " "), fillers))
            return false;
    }
    return true;
}

bool mt_text_is_bare_rss(const struct mt_text_pair *p, const char *end)
{
    enum { LARGE = 1000 * 1000 }; /* no number of a step, a layer or a port */
    const char *s = p->number;
    if (p->meaning != MT_PAIR_UNREAD || !mt_text_says_rss(p->name))
        return false;
    while (s < end && (isdigit((unsigned char)*s) || memchr(".,", *s, 2)))
        s++;
    if (s < end && *s == '%')
        return false;
    const bool size = s < end && strchr("kKmMgGtT", *s) &&
                      (end - s == 1 || !isalpha((unsigned char)s[1]) || s[1] == 'i');
    return size || p->value / micro >= LARGE || ends_in_rss(p->name);
}

bool mt_text_is_of_several(const char *name)
{
    static const char *const several[] = {"cur/max",  "current/max",  "now/max",  "mean/max",
                                          "cur/peak", "current/peak", "now/peak", "mean/peak",
                                          "avg/max",  "average/max",  "avg/peak", "min/max"};
    size_t i = 0;
    while (i < MT_ARRAY_LEN(several) && !strstr(name, several[i]))
        i++;
    return i < MT_ARRAY_LEN(several) && mt_text_says_rss(name);
}

bool mt_text_is_another(const char *name, enum mt_text_behind behind)
{
    static const char *const peaks[] = {"max", "maximum", "peak", "highest", "most", NULL};
    static const char *const later[] = {"now", "end", "final", "later", ">", /* of "=>" */
                                        "-->", "->",  "~>",    "after", NULL};
    static const char *const others[] = {"main",    "parent",  "child",  "worker", "master", "rank",
                                         "process", "trainer", "loader", "server", NULL};
    static const char before[] = "before";
    static const char *const fillers[] = {"is", "was", "so", "far", "of", "at", "the", "to", NULL};
    bool found = strcmp(name, before) == 0; /* "RSS 5 MB before, 7 MB after" */
    name += found ? sizeof before - 1 : strspn(name, "([{/& ");
    for (size_t n; *name; name += n + strspn(name + n, " ")) {
        n = strcspn(name, " ");
        const bool peak = mt_text_is_one(name, n, peaks) && behind != MT_BEHIND_CHANGE;
        const bool level = mt_text_is_one(name, n, later) && behind != MT_BEHIND_AVERAGE;
        const bool other = mt_text_is_one(name, n, others) && behind == MT_BEHIND_LEVEL;
        if (!peak && !level && !other && !mt_text_is_one(name, n, fillers))
            return false;
        found |= peak || level || other;
    }
    return found;
}
