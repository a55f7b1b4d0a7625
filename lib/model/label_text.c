#include "lib/model/label_text.h"

#include <string.h>

static bool is_escaped(const char *p, bool in_key)
{
    switch (*p) {
    case ',':
        return p[1] == ' ';
    case '=':
        return in_key;
    case '\\':
        return !p[1] || strchr(",=\\", p[1]);
    default:
        return false;
    }
}

static void add(struct mt_buf *text, const char *part, bool in_key)
{
    for (const char *p = part; *p; p++) {
        if (is_escaped(p, in_key))
            mt_buf_add(text, "\\", 1);
        mt_buf_add(text, p, 1);
    }
}

void mt_label_add(struct mt_buf *text, const char *key, const char *value)
{
    if (text->n)
        mt_buf_add(text, ", ", 2);
    add(text, key, true);
    mt_buf_add(text, "=", 1);
    add(text, value, false);
}

/* Up to a character that ends a key, or the ", " that ends a value; where that is. */
static const char *take(const char *p, bool in_key, struct mt_buf *out)
{
    out->n = 0;
    mt_buf_adds(out, "");
    for (; *p && !(*p == ',' && p[1] == ' ') && !(in_key && *p == '='); p++) {
        if (*p == '\\' && p[1] && strchr(",=\\", p[1]))
            p++;
        mt_buf_add(out, p, 1);
    }
    return p;
}

bool mt_label_next(const char **at, struct mt_buf *key, struct mt_buf *value)
{
    const char *p = *at;
    if (!*p)
        return false;
    p = take(p, true, key);
    p = take(*p == '=' ? p + 1 : p, false, value);
    *at = *p ? p + 2 : p;
    return true;
}
