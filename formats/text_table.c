#include "formats/text_table.h"

#include "formats/text_pair.h"
#include "formats/text_signs.h"
#include "lib/base/mem.h"

static bool has_digit(const char *p, const char *end)
{
    while (p < end && !isdigit((unsigned char)*p))
        p++;
    return p < end;
}

/* Behind a time of day in front of a heading, as pidstat writes it. */
static const char *behind_time(const char *p, const char *end)
{
    p = mt_take_blanks(p, end);
    return mt_has_form(p, end, "00:00:00 ") ? p + strlen("00:00:00") : p;
}

/* Whether a blank stands in a cell: then commas are those of a sentence. */
static bool has_sentence(const char *line, const char *end)
{
    for (const char *p = line + 1; p < end; p++)
        if (*p == ' ' && p[-1] != ',')
            return true;
    return false;
}

/* Whether a cell of a heading begins at p: in front of it are two blanks, or a sign. */
static bool is_cell(const char *line, const char *p, const char *end)
{
    const char *s = p;
    while (s > line && s[-1] == ' ')
        s--;
    if (s == line || p - s > 1)
        return true;
    return strchr("|\t", s[-1]) || (s[-1] == ',' && !has_sentence(line, end));
}

/* Whether an rss is the name at p, n bytes. */
static bool is_rss(const char *p, size_t n, const char *end)
{
    static const char *const names[] = {"RES", "Mem usage  "};
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++) {
        const size_t name_n = strlen(names[i]);
        if ((size_t)(end - p) >= name_n && memcmp(p, names[i], name_n) == 0 &&
            (n == name_n || strchr(names[i], ' ')))
            return true;
    }
    return mt_text_rss(p, n) != NULL;
}

/* "JobID    MaxRSS    Elapsed", "  PID   RSS CMD", "step,rss_mb,loss"; "RSS" alone of ps. */
static bool is_heading(const char *line, const char *end)
{
    size_t cells = 0;
    bool found = false, upper = false;
    line = behind_time(line, end);
    for (const char *p = line; p < end && !has_digit(line, end);) {
        size_t n = 0;
        while (p + n < end && !strchr(" \t|,", p[n]))
            n++;
        if (n && strchr(":=", p[n - 1]))
            return false;
        if (n && is_cell(line, p, end)) {
            cells++;
            found |= is_rss(p, n, end);
            upper |= n == 3 && memcmp(p, "RSS", n) == 0;
        }
        p += n + 1;
    }
    return found && (cells > 1 || upper);
}

bool mt_text_table_take(struct mt_text_table *t, const char *line, size_t n)
{
    const char *end = line + n;
    if (has_digit(behind_time(line, end), end)) {
        const bool row = t->headed;
        t->headed = false;
        return row;
    }
    if (is_heading(line, end))
        t->headed = true;
    return false;
}
