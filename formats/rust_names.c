#include "formats/rust_names.h"

#include <stdlib.h>
#include <string.h>

/* The character that an escape at s stands for; *n: length of the escape. 0: there is none. */
static char escaped(const char *s, size_t *n)
{
    static const struct {
        const char *text;
        char means;
    } all[] = {{"$LT$", '<'}, {"$GT$", '>'}, {"$RF$", '&'}, {"$BP$", '*'},
               {"$LP$", '('}, {"$RP$", ')'}, {"$SP$", '@'}, {"$C$", ','}};
    char *end;
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++)
        if (strncmp(s, all[i].text, *n = strlen(all[i].text)) == 0)
            return all[i].means;
    if (strncmp(s, "$u", 2) != 0)
        return '\0';
    unsigned long code = strtoul(s + 2, &end, 16);
    *n = (size_t)(end + 1 - s);
    return end > s + 2 && *end == '$' && code >= ' ' && code < 0x7f ? (char)code : '\0';
}

static bool has_escape(const char *s)
{
    size_t n;
    while ((s = strchr(s, '$')) && !escaped(s, &n))
        s++;
    return s != NULL;
}

/* "fn(A) -> B" has a "." for its "-". */
static void add_escaped(struct mt_buf *out, char c)
{
    if (c == '>' && out->n > 1 && memcmp(out->s + out->n - 2, " .", 2) == 0)
        out->s[out->n - 1] = '-';
    mt_buf_addc(out, c);
}

bool mt_rust_unescaped(struct mt_buf *out, const char *name)
{
    size_t n;
    if (!has_escape(name))
        return false;
    for (const char *s = name; *s; s += n) {
        const bool begins = s == name || (s - name > 1 && s[-1] == ':' && s[-2] == ':');
        const char c = escaped(s, &n);
        if (c)
            add_escaped(out, c);
        else if (begins && s[0] == '_' && s[1] == '$')
            n = 1; /* no part of a symbol begins with an escape */
        else if (strncmp(s, "..", n = 2) == 0)
            mt_buf_adds(out, "::");
        else
            mt_buf_add(out, s, n = 1);
    }
    return true;
}
