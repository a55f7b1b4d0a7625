#include "formats/text_hint.h"

#include "formats/text_pattern.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LINES = 200, LINE = 1000, PATTERN = 120 /* bytes of one that a line has room for */ };

/* A name and the number behind it in a line. */
struct found {
    const char *name, *number, *end; /* end: of the number */
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where a word stands first with a number right behind it; its name may go on: "rss_mb". */
static bool find(const char *s, const char *end, const char *word, struct found *out)
{
    enum { BETWEEN = 8 };
    const size_t n = strlen(word);
    for (const char *p = s; p + n < end; p++) {
        if (strncasecmp(p, word, n) != 0 || (p > s && is_name(p[-1])))
            continue;
        const char *at = p + n;
        while (at < end && is_name(*at))
            at++;
        if (n < 3 && at > p + n) /* MA, not max */
            continue;
        const char *behind = at;
        while (at < end && at - behind < BETWEEN && !is_name(*at) && !strchr("-+.,;|", *at))
            at++;
        *out = (struct found){p, at, at};
        while (out->end < end && (isdigit((unsigned char)*out->end) || *out->end == '.'))
            out->end++;
        if (out->end > at && at > behind)
            return true;
    }
    return false;
}

/* What is said before a figure; what is none of a name may be anything. Blanks that put figures
 * below each other are as many as a figure lacks digits: of a longer one perhaps none, of a shorter
 * one more. */
static void add_text(struct mt_buf *out, const char *s, const char *end)
{
    while (s < end) {
        const char *from = s;
        while (s < end && (*s == ' ' || *s == '\t'))
            s++;
        if (s - from > 1)
            mt_buf_adds(out, "[[:space:]]*");
        else if (s > from)
            mt_buf_adds(out, *from != ' ' ? "." : s < end ? " " : " *");
        else
            mt_buf_addc(out, is_name(*s) || strchr(":=,", *s) ? *s : '.'), s++;
    }
}

/* The unit of a number that has none behind it: its name ends in it, or it is one of bytes. */
static const char *unit_of(const struct found *f)
{
    static const char *const units[] = {"KB", "MB", "GB", "KiB", "MiB", "GiB", "bytes"};
    const char *name_end = f->name;
    enum { BYTES = 7 /* digits and more: nobody has as many KB */ };
    while (is_name(*name_end))
        name_end++;
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++) {
        const size_t n = strlen(units[i]);
        if (name_end - f->name > (ptrdiff_t)n && name_end[-1 - (ptrdiff_t)n] == '_' &&
            strncasecmp(name_end - n, units[i], n) == 0)
            return units[i];
    }
    return f->end - f->number > BYTES && !memchr(f->number, '.', (size_t)(f->end - f->number))
               ? "B"
               : NULL;
}

/* Whether a number is a whole one: no 1.5, and no 1,234, which is none to the pattern. */
static bool is_whole(const struct found *f, const char *end)
{
    return !memchr(f->number, '.', (size_t)(f->end - f->number)) &&
           !(f->end + 1 < end && strchr(",'_", *f->end) && isdigit((unsigned char)f->end[1]));
}

/* Whether the pattern says the field in the line as it is there. */
static bool fits(const char *pattern, const char *line, size_t n)
{
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_text_pattern *p = NULL;
    struct mt_text_field fields[MT_TEXT_FIELDS];
    bool any = false;
    if (mt_text_pattern_new(pattern, &p, &ignored) != MT_OK)
        return false;
    const size_t found = mt_text_pattern_match(p, line, n, fields, &any);
    any = any && found && fields[found - 1].unit;
    mt_text_pattern_free(p);
    return any;
}

static bool hint_line(const char *s, size_t n, struct mt_buf *out)
{
    static const struct {
        const char *word, *field;
    } names[] = {{"rss", "rss"},         {"ru_maxrss", "peak_rss"},  {"vmrss", "rss"},
                 {"MA", "allocated"},    {"allocated", "allocated"}, {"mem", "mem"},
                 {"memory usage", "mem"}};
    static const char *const steps[] = {"step", "iteration", "iter", "epoch"};
    const char *end = s + n;
    struct found size, step;
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++) {
        if (!find(s, end, names[i].word, &size))
            continue;
        for (int unit = 0; unit < 2; unit++) {
            const char *said = unit ? unit_of(&size) : NULL;
            if (unit && !said)
                break;
            mt_buf_clear(out);
            for (size_t k = 0; k < MT_ARRAY_LEN(steps); k++)
                if (find(s, size.name, steps[k], &step) && is_whole(&step, end)) {
                    add_text(out, step.name, step.number);
                    mt_buf_adds(out, "{step}.*");
                    break;
                }
            add_text(out, size.name, size.number);
            mt_buf_addf(out, said ? "{%s:%s}" : "{%s}", names[i].field, said);
            if (out->n <= PATTERN && fits(out->s, s, n))
                return true;
        }
    }
    mt_buf_clear(out);
    return false;
}

bool mt_text_hint(const char *text, size_t n, struct mt_buf *out)
{
    for (int i = 0; i < LINES && n; i++) {
        const char *end = memchr(text, '\n', n);
        const size_t line = end ? (size_t)(end - text) : n;
        if (end && line < LINE && hint_line(text, line, out))
            return true;
        text += line + (end != NULL);
        n -= line + (end != NULL);
    }
    return false;
}
