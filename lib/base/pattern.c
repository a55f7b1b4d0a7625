#include "lib/base/pattern.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many characters an expression has when its repetitions are written out. Never more than
 * ENOUGH is counted. What is no expression may give any answer. */
enum { ENOUGH = MT_PATTERN_MOST + 1 };

struct count {
    const char *at;
    int depth;
    bool refers_back;
};

static long at_most(long n)
{
    return n < ENOUGH ? n : ENOUGH;
}

const char *mt_pattern_list_end(const char *list)
{
    const char *at = list + 1;
    at += *at == '^';
    at += *at == ']';
    while (*at && *at != ']') {
        const char kind = at[0] == '[' && at[1] && strchr(":.=", at[1]) ? at[1] : '\0';
        const char end[] = {kind, ']', '\0'};
        const char *behind = kind ? strstr(at + 2, end) : NULL;
        at = behind ? behind + 2 : at + 1;
    }
    return at + (*at == ']');
}

/* How often what is before is written out: {2,5}, + (once and then any number), * and ?. */
static long repeats(struct count *c)
{
    char *end;
    long n = 1;
    if (strchr("*?", *c->at)) {
        c->at++;
        return 1;
    }
    if (*c->at == '+') {
        c->at++;
        return 2;
    }
    for (c->at++; *c->at && *c->at != '}'; c->at = end) {
        long figure = at_most(strtol(c->at, &end, 10));
        n = figure > n ? figure : n;
        end += end == c->at;
    }
    c->at += *c->at == '}';
    return at_most(n + 1); /* {2,} is like + at its end */
}

static long count_all(struct count *c);

static long count_atom(struct count *c)
{
    char first = *c->at++;
    if (first == '(') {
        long n = 1 + count_all(c);
        c->at += *c->at == ')';
        return n;
    }
    if (first == '[')
        c->at = mt_pattern_list_end(c->at - 1);
    if (first == '\\' && *c->at) {
        c->refers_back |= isdigit((unsigned char)*c->at) && *c->at != '0';
        c->at++;
    }
    return 1;
}

/* Up to the end of the group. */
static long count_all(struct count *c)
{
    long n = 0;
    if (c->depth == ENOUGH)
        return ENOUGH;
    c->depth++;
    while (*c->at && *c->at != ')' && n < ENOUGH) {
        long atom = count_atom(c);
        while (*c->at && strchr("*+?{", *c->at))
            atom = at_most(atom * repeats(c));
        n = at_most(n + atom);
    }
    c->depth--;
    return n;
}

struct mt_pattern_shape mt_pattern_shape(const char *text)
{
    struct count c = {.at = text};
    struct mt_pattern_shape shape = {0};
    while (*c.at && shape.chars < ENOUGH) { /* a lone closing bracket is a character */
        shape.chars = at_most(shape.chars + count_all(&c) + 1);
        shape.lone_bracket |= *c.at == ')';
        c.at += *c.at == ')';
    }
    shape.refers_back = c.refers_back;
    return shape;
}

static enum mt_status compile(regex_t *out, int flags, const char *what, const char *text,
                              struct mt_err *err)
{
    const struct mt_pattern_shape shape = mt_pattern_shape(text);
    char why[128];
    if (shape.chars >= ENOUGH) {
        MT_FAIL(err, MT_EUSAGE,
                "%s '%.40s' is too large: more than %d characters, repetitions written out", what,
                text, MT_PATTERN_MOST);
        mt_err_hint(err, "Nothing was done. Repeat less often, or write .* instead.");
    } else if (shape.refers_back) {
        MT_FAIL(err, MT_EUSAGE, "%s '%.40s' refers back to a group, which is not supported", what,
                text);
        mt_err_hint(err, "Nothing was done. Write it without \\1.");
    }
    if (err->code != MT_OK)
        return err->code;
    int failed = regcomp(out, text, REG_EXTENDED | flags);
    if (!failed)
        return MT_OK;
    regerror(failed, out, why, sizeof why);
    return MT_FAIL(err, MT_EUSAGE, "%s: invalid regular expression '%s': %s", what, text, why);
}

enum mt_status mt_pattern(regex_t *out, const char *what, const char *text, struct mt_err *err)
{
    return compile(out, REG_NOSUB, what, text, err);
}

enum mt_status mt_pattern_groups(regex_t *out, const char *what, const char *text,
                                 struct mt_err *err)
{
    return compile(out, 0, what, text, err);
}
