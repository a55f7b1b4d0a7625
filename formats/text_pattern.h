/*
 * text_pattern.h - where figures stand in the lines of a text, as the user says it: an expression
 * with fields in braces, "^\[{step}\] mem={rss}". docs/formats/memory-text.md has the rules.
 */
#ifndef MT_TEXT_PATTERN_H
#define MT_TEXT_PATTERN_H

#include "lib/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_TEXT_FIELDS = 16, MT_TEXT_NAME = 64 };

/* Fields are "time", "step", "rss", "peak_rss", or any other metric. */
struct mt_text_pattern;

/* Errors: MT_EUSAGE: it is no expression, has no field that is a figure, or one metric twice. Free
 * it. */
enum mt_status mt_text_pattern_new(const char *text, struct mt_text_pattern **out,
                                   struct mt_err *err);
void mt_text_pattern_free(struct mt_text_pattern *p);
/* Whether it has the field "time". */
bool mt_text_pattern_has_time(const struct mt_text_pattern *p);

/* What a line says in one field. */
struct mt_text_field {
    const char *name;   /* the pattern's */
    const char *number; /* in the line, n bytes: digits, perhaps with a point; or a time */
    size_t n;
    int64_t unit;        /* bytes; 0: none is said. Of "time": ns */
    bool unclear;        /* mt_text_unit_unclear */
    const char *goes_on; /* "a comma": behind that the number has more digits; NULL: it has not */
    const char *behind;  /* the word there, behind_n bytes, whether it is a unit or none */
    size_t behind_n;
};
/* The fields of a line of n bytes that have a number; *any false: it does not match. Returns how
 * many. */
size_t mt_text_pattern_match(const struct mt_text_pattern *p, const char *line, size_t n,
                             struct mt_text_field out[MT_TEXT_FIELDS], bool *any);

/* Says in err that the figure of a field has no unit, or goes on behind its digits, and what units
 * are. Returns MT_EINPUT. */
enum mt_status mt_text_field_refuse(const struct mt_text_field *f, struct mt_err *err);

/* Whether a line of the text's first n bytes, whose last one may be cut, matches. */
bool mt_text_pattern_is_in(const struct mt_text_pattern *p, const char *text, size_t n);

/* Bytes of a unit, in any case; 0: it is none. As programs do that print it, a MB is 1,024 KB, and
 * that 1,024 bytes. */
int64_t mt_text_unit(const char *s, size_t n);
/* Whether some mean another size by it: KB, MB and GB, which others count by 1000. */
bool mt_text_unit_unclear(const char *s, size_t n);

/* What a metric is called: "uss" is private, "Torch Allocated Memory" Torch_Allocated_Memory. "":
 * nothing is left of it. */
void mt_text_metric(const char *name, char out[MT_TEXT_NAME]);

#endif
