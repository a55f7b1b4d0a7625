#include "lib/base/human.h"
#include "lib/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

void mt_escape_terminal(struct mt_buf *out, const char *s)
{
    mt_buf_adds(out, "");
    while (*s) {
        size_t plain = 0;
        while (s[plain] >= 0x20 && s[plain] < 0x7f)
            plain++;
        mt_buf_add(out, s, plain);
        s += plain;
        if (!*s)
            return;
        uint32_t cp;
        int n = mt_utf8_next(s, &cp);
        if (n > 0 && !mt_utf8_acts(cp)) {
            mt_buf_add(out, s, (size_t)n);
            s += n;
        } else if (*s == '\n' || *s == '\t') {
            mt_buf_adds(out, *s++ == '\n' ? "\\n" : "\\t");
        } else {
            for (const char *end = s + (n ? n : 1); s < end; s++)
                mt_buf_addf(out, "\\x%02x", (unsigned char)*s);
        }
    }
}

static const char engine[] = "autograd::engine::evaluate_function: ";

void mt_escape_short(struct mt_buf *out, const char *s)
{
    struct mt_buf without = {0};
    const char *at = strstr(s, engine);
    if (!at) {
        mt_escape_terminal(out, s);
        return;
    }
    for (; at; at = strstr(s, engine)) {
        mt_buf_add(&without, s, (size_t)(at - s));
        s = at + sizeof engine - 1;
    }
    mt_buf_adds(&without, s);
    mt_escape_terminal(out, without.s);
    mt_buf_free(&without);
}

void mt_escape_op(struct mt_buf *out, const char *s)
{
    mt_escape_short(out, s);
    if (strncmp(s, engine, sizeof engine - 1) == 0)
        mt_buf_adds(out, " (engine)");
}

void mt_escape_xml(struct mt_buf *out, const char *s)
{
    static const struct {
        char c;
        const char *entity;
    } special[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    struct mt_buf safe = {0};
    mt_escape_terminal(&safe, s);
    for (const char *p = safe.s; *p;) {
        uint32_t cp;
        int n = mt_utf8_next(p, &cp);
        size_t i = 0;
        while (i < MT_ARRAY_LEN(special) && special[i].c != *p)
            i++;
        if (i < MT_ARRAY_LEN(special))
            mt_buf_adds(out, special[i].entity);
        else if ((cp & 0xfffe) == 0xfffe) /* U+FFFE and the like are no XML characters */
            mt_buf_addf(out, "\\u%x", cp);
        else
            mt_buf_add(out, p, (size_t)n);
        p += n;
    }
    mt_buf_free(&safe);
}

void mt_escape_json(struct mt_buf *out, const char *s)
{
    mt_buf_adds(out, "");
    while (*s) {
        size_t plain = 0;
        while (s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\')
            plain++;
        mt_buf_add(out, s, plain);
        s += plain;
        if (!*s)
            break;
        uint32_t cp;
        int n = mt_utf8_next(s, &cp);
        if (n == 0)
            mt_buf_addf(out, "\\u%04x", (unsigned char)*s);
        else if (mt_utf8_acts(cp))
            mt_buf_addf(out, "\\u%04x", cp);
        else if (cp == '"' || cp == '\\')
            mt_buf_addf(out, "\\%c", (char)cp);
        else
            mt_buf_add(out, s, (size_t)n);
        s += n ? n : 1;
    }
}

/* The character at s: its bytes and its columns. What the locale does not know takes one. */
static int char_width(const char *s, int *bytes)
{
    uint32_t cp;
    *bytes = 1;
    if ((unsigned char)*s < 0x80)
        return 1;
    int n = mt_utf8_next(s, &cp);
    if (n == 0)
        return 1;
    *bytes = n;
    int w = wcwidth((wchar_t)cp);
    return w < 0 ? 1 : w;
}

void mt_shell_word(struct mt_buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:@+,=%";
    if (*word && !word[strspn(word, plain)]) {
        mt_buf_adds(out, word);
        return;
    }
    mt_buf_addc(out, '\'');
    for (const char *p = word; *p; p++)
        if (*p == '\'')
            mt_buf_adds(out, "'\\''");
        else
            mt_buf_addc(out, *p);
    mt_buf_addc(out, '\'');
}

int mt_display_width(const char *s)
{
    int width = 0;
    for (int bytes; *s; s += bytes)
        width += char_width(s, &bytes);
    return width;
}

/* How many bytes of s take up to so many columns. */
static size_t head_of(const char *s, int columns)
{
    int bytes, at = 0;
    const char *p = s;
    /* Marks of zero width stay with the letter before them, on either side of a cut. */
    for (; *p && (at += char_width(p, &bytes)) <= columns; p += bytes)
        ;
    return (size_t)(p - s);
}

/* The end of s that takes up to so many columns. */
static const char *tail_of(const char *s, int columns)
{
    int bytes, w, skip = mt_display_width(s) - columns;
    for (int at = 0; *s; s += bytes, at += w) {
        w = char_width(s, &bytes);
        if (at >= skip && w > 0)
            break;
    }
    return s;
}

/* The number of a line: ":84" of "model.py:84 forward", "(84)" of "model.py(84): forward". Returns
 * its bytes, 0: there is none. */
static size_t line_number(const char *s, const char **at)
{
    static const char digits[] = "0123456789";
    for (const char *p = strpbrk(s, ":("); p; p = strpbrk(p + 1, ":(")) {
        size_t n = 1 + strspn(p + 1, digits);
        bool colon = *p == ':' && (p[n] == ' ' || !p[n]), bracket = *p == '(' && p[n] == ')';
        *at = p;
        if (n > 1 && p > s && (colon || bracket))
            return n + bracket;
    }
    return 0;
}

/* Cuts before and behind the number of a line, or on one side of it if that will do. False: there
 * is no room for that. */
static bool cut_around(struct mt_buf *out, const char *s, const char *number, size_t n, int width,
                       const char *mark)
{
    int mark_w = mt_display_width(mark), number_w = (int)n;
    int rest = mt_display_width(number + n), before = mt_display_width(s) - number_w - rest;
    int room = width - number_w - mark_w;
    if (room > rest) { /* "mo…:84 forward" */
        mt_buf_add(out, s, head_of(s, room - rest));
        mt_buf_adds(out, mark);
        mt_buf_adds(out, number);
        return true;
    }
    if (room > before) { /* "model.py:84…ward" */
        mt_buf_add(out, s, (size_t)(number + n - s));
        mt_buf_adds(out, mark);
        mt_buf_adds(out, tail_of(number + n, room - before));
        return true;
    }
    room -= mark_w;
    if (room < 2)
        return false;
    mt_buf_add(out, s, head_of(s, room / 2));
    mt_buf_adds(out, mark);
    mt_buf_add(out, number, n);
    mt_buf_adds(out, mark);
    mt_buf_adds(out, tail_of(number + n, room - room / 2));
    return true;
}

void mt_cut_middle(struct mt_buf *out, const char *s, int width, bool ascii)
{
    const char *mark = ascii ? "..." : "\u2026", *number = s;
    if (mt_display_width(s) <= width) {
        mt_buf_adds(out, s);
        return;
    }
    int room = width - mt_display_width(mark), head = room / 2 - 1;
    size_t head_n = head_of(s, head), n = line_number(s, &number);
    const char *tail = tail_of(s, room - head);
    bool lost = n && number + n > s + head_n && number < tail;
    if (lost && cut_around(out, s, number, n, width, mark))
        return;
    mt_buf_add(out, s, head_n);
    mt_buf_adds(out, mark);
    mt_buf_adds(out, tail);
}

void mt_cut_end(struct mt_buf *out, const char *s, int width, bool ascii)
{
    const char *mark = ascii ? ".." : "\u2026";
    int mark_w = mt_display_width(mark);
    if (mt_display_width(s) <= width)
        mt_buf_adds(out, s);
    else if (width > mark_w) {
        mt_buf_add(out, s, head_of(s, width - mark_w));
        mt_buf_adds(out, mark);
    }
}

bool mt_is_unit(const char *word, size_t n)
{
    static const char *const units[] = {"B",   "KiB", "MiB", "GiB", "TiB", "PiB",
                                        "EiB", "ns",  "us",  "ms",  "s",   "%"};
    while (n > 0 && strchr(",.;:)", word[n - 1]))
        n--;
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        if (strlen(units[i]) == n && strncmp(units[i], word, n) == 0)
            return true;
    return false;
}

/* Whether a line may end before the word that follows the one ending at `end`. */
static bool may_break(const char *begin, const char *end, const char *word)
{
    static const char dot[] = "\u00b7";
    if (strncmp(word, dot, sizeof dot - 1) == 0)
        return false;
    bool figure = end > begin && end[-1] >= '0' && end[-1] <= '9';
    return !figure || !mt_is_unit(word, strcspn(word, " "));
}

/* The end of what must stay on one line from s on. */
static const char *unbroken(const char *s)
{
    const char *end = s;
    for (;;) {
        end += strcspn(end, " ");
        const char *word = end + strspn(end, " ");
        if (!*word || may_break(s, end, word))
            return end;
        end = word;
    }
}

void mt_wrap_words(struct mt_buf *out, const char *s, int width, int indent)
{
    int at = indent;
    mt_buf_adds(out, "");
    while (*s) {
        size_t blanks = strspn(s, " ");
        const char *end = unbroken(s + blanks);
        char *piece = mt_strndup(s, (size_t)(end - s));
        int columns = mt_display_width(piece);
        if (width > 0 && at > indent && at + columns > width) {
            mt_buf_addf(out, "\n%*s", indent, "");
            at = indent;
            columns -= (int)blanks;
            mt_buf_adds(out, piece + blanks);
        } else {
            mt_buf_adds(out, piece);
        }
        at += columns;
        free(piece);
        s = end;
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int mt_edit_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    int *rows = mt_alloc(3 * (nb + 1) * sizeof *rows);
    int *before = rows, *last = before + nb + 1, *now = last + nb + 1;
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int cost = a[i - 1] != b[j - 1];
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    int distance = last[nb];
    free(rows);
    return distance;
}

const char *mt_human_time(const char *unit, int64_t t, char out[MT_HUMAN_LONG])
{
    char number[MT_HUMAN_MAX];
    if (!unit || strcmp(unit, "samples") != 0)
        return mt_human_span(unit, t, out);
    snprintf(out, MT_HUMAN_LONG, "sample %s", mt_human_count(t, number));
    return out;
}

const char *mt_human_span(const char *unit, int64_t t, char out[MT_HUMAN_LONG])
{
    char text[MT_HUMAN_MAX];
    bool ns = unit && strcmp(unit, "ns") == 0;
    if (ns)
        snprintf(out, MT_HUMAN_LONG, "%s", mt_human_ns(t, text));
    else /* units are plurals: "1 event" */
        snprintf(out, MT_HUMAN_LONG, "%s%s%.*s", mt_human_count(t, text), unit && *unit ? " " : "",
                 unit ? (int)strlen(unit) - (t == 1 && *unit) : 0, unit ? unit : "");
    return out;
}
