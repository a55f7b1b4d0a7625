#include "formats/text_header.h"

#include "formats/text_pattern.h"
#include "formats/text_signs.h"
#include "formats/text_time.h"
#include "lib/base/mem.h"
#include <strings.h>

/* Whether it goes on with the level of a message, "INFO" or "[INFO]" or "- INFO". */
static bool is_level(const char *p, const char *end)
{
    static const char *const levels[] = {"TRACE", "DEBUG", "INFO",     "WARNING",
                                         "WARN",  "ERROR", "CRITICAL", "FATAL"};
    p += mt_has_form(p, end, "- ") ? 2 : 0;
    p += p < end && *p == '[';
    for (size_t i = 0; i < MT_ARRAY_LEN(levels); i++) {
        const size_t n = strlen(levels[i]);
        if ((size_t)(end - p) > n && strncasecmp(p, levels[i], n) == 0)
            return !isalnum((unsigned char)p[n]);
    }
    return false;
}

/* What a line has in front of what it says: dates, levels, names in brackets, signs between. */
struct header {
    const char *p, *end;
    bool dated, level;
    bool column; /* a sign that ends one was there */
    bool month;  /* one was there by its name: the year may follow */
    bool day;    /* and its day is next */
    char open;   /* the bracket in front of the word; '\0': none */
};

/* Whether the n bytes at s are a date, a time, or both; also "I1128" of glog. */
static bool is_time(const char *s, size_t n)
{
    enum { MONTH_DAY = 5 };
    size_t colons = 0, others = 0;
    if (n == MONTH_DAY && strchr("IWEF", *s) && isdigit((unsigned char)s[1]))
        return true;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)s[i]) && !strchr("-:/.,TZ+", s[i]))
            return false;
        colons += s[i] == ':';
        others += s[i] == '-' || s[i] == '/';
    }
    return isdigit((unsigned char)*s) && (colons || others > 1 || (others && n == MONTH_DAY));
}

/* Whether it is the level of a message, by itself or in front of who says it: "INFO/Worker". */
static bool is_level_word(const char *s, size_t n, const char *end)
{
    size_t letters = 0;
    while (letters < n && isalpha((unsigned char)s[letters]))
        letters++;
    return (n == 1 && strchr("IWED", *s)) ||
           ((letters == n || s[letters] == '/') && is_level(s, end)) ||
           (n == 6 && memcmp(s, "notice", n) == 0);
}

static bool is_zone(const char *s, size_t n)
{
    return (n == 3 && (memcmp(s, "UTC", n) == 0 || memcmp(s, "GMT", n) == 0)) ||
           (n == 5 && strchr("+-", *s) && isdigit((unsigned char)s[1]));
}

bool mt_text_is_counted(const char *p, const char *end)
{
    size_t n = 0;
    p = mt_take_blanks(p, end);
    while (p + n < end && isalpha((unsigned char)p[n]))
        n++;
    const bool plural = n > 2 && p[n - 1] == 's' && p[n - 2] != 's';
    return mt_is_one_of(p + n, end, "/%") || plural || mt_text_unit(p, n) ||
           mt_text_time_unit(p, n) || (n == 2 && memcmp(p, "of", n) == 0) ||
           (n == 3 && memcmp(p, "out", n) == 0);
}

static bool is_year_at(const char *p, const char *end)
{
    return mt_has_form(p, end, "20") && mt_has_form(p, end, "0000");
}

/* "Sun", of date, "AM" behind its time, and any zone, "CEST", in front of the year; not "TPS 2048"
 * behind another date. */
static bool is_of_date(const struct header *h, const char *s, size_t n)
{
    static const char *const words[] = {"Mon", "Tue", "Wed", "Thu", "Fri",
                                        "Sat", "Sun", "AM",  "PM"};
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return true;
    size_t letters = 0;
    while (letters < n && isupper((unsigned char)s[letters]))
        letters++;
    return h->month && h->dated && letters == n && mt_has_form(s + n, h->end, " 0000 ") &&
           is_year_at(s + n + 1, h->end);
}

/* "2026" of "Sun Nov 22 10:00:01 UTC 2026" */
static bool is_year(const struct header *h, size_t n)
{
    return h->month && h->dated && n == 4 && is_year_at(h->p, h->end);
}

static bool are_digits(const char *s, size_t n)
{
    while (n && isdigit((unsigned char)s[n - 1]))
        n--;
    return !n;
}

/* Whether a word of n bytes is one of a header; else what the line says begins there. */
static bool take_word(struct header *h, size_t n)
{
    enum { LONG = 9 /* digits of what is no PID: a time, a thread */ };
    const char *s = h->p, *behind = mt_take_blanks(s + n, h->end);
    const bool level = is_level_word(s, n, h->end), time = is_time(s, n);
    const bool ends = h->open ? mt_is_one_of(behind, h->end, "])>")
                              : behind > s + n && (mt_is_one_of(behind, h->end, "|") ||
                                                   mt_has_form(behind, h->end, "- "));
    h->level |= level;
    h->dated |= time;
    h->day = n == 3 && mt_is_month(s, (size_t)(h->end - s));
    h->month |= h->day;
    return level || time || ends || h->day || is_zone(s, n) || is_of_date(h, s, n) ||
           is_year(h, n) || (n >= LONG && are_digits(s, n));
}

/* Signs and blanks between words. */
static void take_signs(struct header *h)
{
    for (h->open = '\0'; mt_is_one_of(h->p, h->end, " \t|-[](){}<>#,:"); h->p++) {
        h->column |= *h->p == '|' || *h->p == '\t';
        h->open = strchr("[(<#", *h->p) ? *h->p : *h->p == ' ' ? h->open : '\0';
    }
}

/* The number that ends at p: whether it is one of a header. *sure: a PID stands there, by a level.
 */
static bool is_header(const struct header *h, const char *p, bool *sure)
{
    const char *next = mt_take_blanks(p, h->end);
    const char *behind = mt_take_blanks(next + mt_is_one_of(next, h->end, "]"), h->end);
    const bool closed = mt_is_one_of(next, h->end, "|\t])>#:") || mt_has_form(next, h->end, "- ");
    *sure =
        h->dated && (is_level(behind, h->end) || (h->level && mt_has_form(next, h->end, "--- ")));
    return next < h->end &&
           (closed || (mt_is_one_of(p, h->end, " ") && !mt_text_is_counted(next, h->end))) &&
           (h->dated || h->level || h->column || h->open || mt_is_one_of(next, h->end, "|\t"));
}

const char *mt_text_header(const char *line, size_t n, uint64_t *number, bool *sure)
{
    enum { WORDS = 8 };
    const char *end = line + n;
    struct header h = {.p = line, .end = end};
    for (int i = 0; i < WORDS; i++) {
        n = 0;
        take_signs(&h);
        while (h.p + n < end && h.p[n] && !strchr(" \t|[](){}<>#", h.p[n]))
            n++;
        n -= n && strchr(":,", h.p[n - 1]);
        const char *behind =
            n && !h.day && !is_year(&h, n) ? mt_take_number(h.p, end, number) : NULL;
        if (behind == h.p + n)
            return n && is_header(&h, behind, sure) ? behind : NULL;
        if (!n || !(h.day || take_word(&h, n)))
            return NULL;
        h.day &= !isdigit((unsigned char)*h.p);
        h.p += n;
    }
    return NULL;
}
