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

/* Behind a time of day in front of a heading, as pidstat writes it, and behind the level of a
 * message. */
static const char *behind_time(const char *p, const char *end)
{
    static const char *const levels[] = {"INFO ", "DEBUG ", "WARNING ", "[INFO] ", "[DEBUG] "};
    p = mt_take_blanks(p, end);
    for (size_t i = 0; i < MT_ARRAY_LEN(levels); i++)
        if ((size_t)(end - p) > strlen(levels[i]) && memcmp(p, levels[i], strlen(levels[i])) == 0)
            return mt_take_blanks(p + strlen(levels[i]), end);
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
static bool is_cell(const char *line, const char *p, bool sentence)
{
    const char *s = p;
    while (s > line && s[-1] == ' ')
        s--;
    if (s == line || p - s > 1)
        return true;
    return strchr("|\t", s[-1]) || (s[-1] == ',' && !sentence);
}

/* Whether the cell at p is a sentence, "RSS tracking enabled", and no name, "RSS (MB)", nor one of
 * several that ps writes side by side, "RSS S TT". */
static bool is_prose(const char *p, const char *end)
{
    size_t blanks = 0;
    bool lower = false;
    for (; p < end && !strchr("|\t,", *p) && !mt_has_form(p, end, "  "); p++) {
        blanks += *p == ' ' && !mt_is_one_of(p + 1, end, "|\t,");
        lower |= islower((unsigned char)*p) != 0;
    }
    return lower && blanks > 1;
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
static enum mt_text_headed headed_by(const char *line, const char *end)
{
    size_t cells = 0;
    bool found = false, upper = false, lower = false;
    line = behind_time(line, end);
    const bool sentence = has_sentence(line, end);
    for (const char *p = line; p < end;) {
        size_t n = 0;
        for (; p + n < end && !strchr(" \t|,", p[n]); n++)
            lower |= islower((unsigned char)p[n]) != 0;
        if (n && strchr(":=", p[n - 1]))
            return MT_TEXT_NOT_HEADED;
        if (n && is_cell(line, p, sentence)) {
            cells++;
            found |= is_rss(p, n, end) && !is_prose(p, end);
            upper |= n == 3 && memcmp(p, "RSS", n) == 0;
        }
        p += n + 1;
    }
    if (found && cells > 1)
        return MT_TEXT_HEADED;
    return found && upper && !lower ? MT_TEXT_HEADED_ALONE : MT_TEXT_NOT_HEADED;
}

/* "9437184", "9437184 python": what stands below "RSS" alone, which may be a title, too. */
static bool is_row_of_one(const char *p, const char *end)
{
    const char *from = p = mt_take_blanks(p, end);
    while (p < end && isdigit((unsigned char)*p))
        p++;
    return p > from && (p == end || *p == ' ');
}

bool mt_text_table_take(struct mt_text_table *t, const char *line, size_t n)
{
    const char *end = line + n;
    if (has_digit(behind_time(line, end), end)) {
        const bool row = t->headed == MT_TEXT_HEADED ||
                         (t->headed == MT_TEXT_HEADED_ALONE && is_row_of_one(line, end));
        t->headed = MT_TEXT_NOT_HEADED;
        return row;
    }
    const enum mt_text_headed headed = headed_by(line, end);
    if (headed || t->headed == MT_TEXT_HEADED_ALONE) /* its row is next */
        t->headed = headed;
    return false;
}
