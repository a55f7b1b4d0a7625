/*
 * pattern.h - regular expressions that users write: POSIX extended ones.
 */
#ifndef MT_PATTERN_H
#define MT_PATTERN_H

#include "lib/base/err.h"
#include <regex.h>
#include <stdbool.h>

/* Characters of an expression whose repetitions are written out: "(a{1,10}b){3}" has 33. */
#define MT_PATTERN_MOST 4000

/*
 * Compiles one without subexpressions; free it with regfree. what: how it is called in the message,
 * "--name". Errors: MT_EUSAGE: it is none (without a hint), it has more than MT_PATTERN_MOST
 * characters, for which the C library would take gigabytes, or refers back to a group ("\1"), for
 * which it would take for ever.
 */
enum mt_status mt_pattern(regex_t *out, const char *what, const char *text, struct mt_err *err);
/* The same with subexpressions: regexec says where they are. */
enum mt_status mt_pattern_groups(regex_t *out, const char *what, const char *text,
                                 struct mt_err *err);

/* Of an expression: its characters, repetitions written out (never more than one beyond
 * MT_PATTERN_MOST), and whether a ')' in it closes nothing, and stands for itself. */
struct mt_pattern_shape {
    long chars;
    bool lone_bracket, refers_back;
};
struct mt_pattern_shape mt_pattern_shape(const char *text);

/* Behind a list in brackets, at whose first one `list` is: "[^]a[:digit:](]". Where it has no end,
 * the end of the text. */
const char *mt_pattern_list_end(const char *list);

#endif
