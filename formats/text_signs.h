/*
 * text_signs.h - signs, numbers and forms at a place of a line of text, for those that look at what
 * stands in front of lines.
 */
#ifndef MT_TEXT_SIGNS_H
#define MT_TEXT_SIGNS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Behind the blanks at p. */
static inline const char *mt_take_blanks(const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    return p;
}

/* Whether one of these signs is there. */
static inline bool mt_is_one_of(const char *p, const char *end, const char *signs)
{
    return p < end && *p && strchr(signs, *p);
}

/* Digits, and what they are; NULL: none, or too many. */
static inline const char *mt_take_number(const char *p, const char *end, uint64_t *number)
{
    enum { DIGITS = 8 };
    size_t digits = 0;
    for (*number = 0; p < end && isdigit((unsigned char)*p) && digits <= DIGITS; digits++)
        *number = *number * 10 + (uint64_t)(*p++ - '0');
    return digits && digits <= DIGITS ? p : NULL;
}

/* Whether the text at p has the form, in which a 0 is any digit. */
static inline bool mt_has_form(const char *p, const char *end, const char *form)
{
    for (; *form; form++, p++)
        if (p >= end || (*form == '0' ? !isdigit((unsigned char)*p) : *p != *form))
            return false;
    return true;
}

/* Whether a line begins with "Nov ". */
static inline bool mt_is_month(const char *line, size_t n)
{
    static const char months[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
    enum { MONTH = 4 };
    for (size_t i = 0; n > MONTH && i < sizeof months - 1; i += MONTH)
        if (memcmp(line, months + i, MONTH) == 0)
            return true;
    return false;
}

#endif
