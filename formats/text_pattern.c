#include "formats/text_pattern.h"

#include "formats/text_time.h"
#include "lib/base/mem.h"
#include "lib/base/pattern.h"
#include "lib/model/recording.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 4096, GROUPS = 64 };
static const int64_t second = 1000 * 1000 * 1000;
static const char whole[] = "([0-9]+)";
/* A figure goes with its unit, so that the pattern need not say that. */
static const char figure[] = "([0-9]+\\.?[0-9]*)( ?[KkMmGg]?[Ii]?[Bb][a-z]*)?";

struct mt_text_pattern {
    regex_t regex;
    size_t n;
    struct field {
        char name[MT_TEXT_NAME];
        int64_t unit; /* bytes, where the line says none; 0: it must. Of times: ns */
        bool unclear, time;
        char next; /* the character that the pattern has behind it, if it is none of expressions */
        size_t group;
    } fields[MT_TEXT_FIELDS];
};

int64_t mt_text_unit(const char *s, size_t n)
{
    static const struct {
        const char *name;
        int shift;
    } units[] = {{"b", 0},       {"bytes", 0},      {"kb", 10}, {"kib", 10},
                 {"kbytes", 10}, {"kilobytes", 10}, {"mb", 20}, {"mib", 20},
                 {"mbytes", 20}, {"megabytes", 20}, {"gb", 30}, {"gib", 30},
                 {"gbytes", 30}, {"gigabytes", 30}, {"tb", 40}, {"tib", 40}};
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        if (strlen(units[i].name) == n && strncasecmp(units[i].name, s, n) == 0)
            return INT64_C(1) << units[i].shift;
    return 0;
}

bool mt_text_unit_unclear(const char *s, size_t n)
{
    return n == 2 && mt_text_unit(s, n) > 0;
}

void mt_text_metric(const char *name, char out[MT_TEXT_NAME])
{
    static const char *const known[][2] = {
        {"uss", "private"},   {"pss", "pss"},        {"vms", "virtual"},    {"swap", "swap"},
        {"rssanon", "anon"},  {"rssfile", "file"},   {"rssshmem", "shmem"}, {"anon-rss", "anon"},
        {"file-rss", "file"}, {"shmem-rss", "shmem"}};
    size_t n = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(known); i++)
        if (strcmp(known[i][0], name) == 0)
            name = known[i][1];
    for (; *name && n + 1 < MT_TEXT_NAME; name++) {
        bool letter = isalnum((unsigned char)*name);
        if (letter || (n && out[n - 1] != '_'))
            out[n++] = letter ? *name : '_';
    }
    while (n && out[n - 1] == '_')
        n--;
    out[n] = '\0';
}

/* ---- the pattern ---- */

struct translation {
    struct mt_text_pattern *p;
    struct mt_buf regex;
    size_t groups; /* so far */
    bool figure;   /* a field is more than step and time */
};

static bool is_name(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

static enum mt_status refuse(struct mt_err *err, const char *hint)
{
    mt_err_hint(err, "%s", hint);
    return MT_EUSAGE;
}

/* Whether a field is the same metric. */
static bool is_there(const struct mt_text_pattern *p, const char *name, size_t n)
{
    char given[MT_TEXT_NAME] = "", metric[MT_TEXT_NAME], other[MT_TEXT_NAME];
    memcpy(given, name, n);
    mt_text_metric(given, metric);
    for (size_t i = 0; i < p->n; i++) {
        mt_text_metric(p->fields[i].name, other);
        if (strcmp(metric, other) == 0)
            return true;
    }
    return false;
}

/* Whether a field is called as what is no size of memory: threads, times, what was asked for in
 * vain. */
static bool means_no_size(const char *name, size_t n)
{
    char given[MT_TEXT_NAME] = "";
    memcpy(given, name, n);
    return !mt_metric_is_bytes(given) || strcmp(given, mt_metric_names[MT_METRIC_OOM]) == 0;
}

/* "{rss}" or "{rss:MB}", at whose brace *at is; *at comes to stand behind it. */
static enum mt_status take_field(struct translation *t, const char **at, struct mt_err *err)
{
    const char *s = *at + 1, *end = s + strcspn(s, "}"), *colon = memchr(s, ':', (size_t)(end - s));
    size_t n = (size_t)((colon ? colon : end) - s), letters = 0;
    struct field *f = &t->p->fields[t->p->n];
    while (letters < n && is_name(s[letters]))
        letters++;
    bool step = n == 4 && memcmp(s, "step", n) == 0, time = n == 4 && memcmp(s, "time", n) == 0;
    int64_t unit =
        !colon ? (time ? second : 0)
               : (time ? mt_text_time_unit : mt_text_unit)(colon + 1, (size_t)(end - colon - 1));
    if (t->p->n == MT_TEXT_FIELDS || !*end || letters < n || n >= MT_TEXT_NAME ||
        (colon && (!unit || step))) {
        MT_FAIL(err, MT_EUSAGE, "--pattern: '%.*s' is no field", (int)(end - s) + 2, s - 1);
        return refuse(err, "Nothing was imported. Fields are {time}, {step}, {rss}, {peak_rss} or "
                           "another name in small letters, and may have a unit: {rss:KB}, "
                           "{time:ms}.");
    }
    if (means_no_size(s, n)) {
        MT_FAIL(err, MT_EUSAGE, "--pattern: '%.*s' is no size", (int)(end - s) + 2, s - 1);
        return refuse(err, "Nothing was imported. memtool has this name for something else: give "
                           "the field another.");
    }
    if (is_there(t->p, s, n)) {
        MT_FAIL(err, MT_EUSAGE, "--pattern: '%.*s' is there twice", (int)(end - s) + 2, s - 1);
        return refuse(err, "Nothing was imported. A line says a figure once: give one of them "
                           "another name, or write .* in its place.");
    }
    *f = (struct field){.unit = unit, .time = time, .group = ++t->groups};
    f->unclear = colon && mt_text_unit_unclear(colon + 1, (size_t)(end - colon - 1));
    f->next = end[1] == '\\' ? end[2] : end[1] == '.' ? '\0' : end[1];
    memcpy(f->name, s, n);
    t->p->n++;
    t->groups += step ? 0 : time ? MT_TEXT_TIME_GROUPS - 1 : 1; /* those in it */
    t->figure |= !step && !time;
    mt_buf_adds(&t->regex, step ? whole : time ? mt_text_time_regex : figure);
    *at = end + 1;
    return MT_OK;
}

static bool is_field(const char *s)
{
    return s[0] == '{' && islower((unsigned char)s[1]);
}

/* A list of characters, at whose bracket *at is. A field in it would be these characters. */
static enum mt_status take_list(struct translation *t, const char **at, struct mt_err *err)
{
    const char *list = *at, *end = mt_pattern_list_end(list);
    for (const char *s = list; s < end; s++) {
        const char *brace = is_field(s) ? memchr(s, '}', (size_t)(end - s)) : NULL;
        if (!brace)
            continue;
        MT_FAIL(err, MT_EUSAGE, "--pattern: '%.*s' stands in a list [..]", (int)(brace - s) + 1, s);
        return refuse(err, "Nothing was imported. Write \\[ for a bracket of the line itself.");
    }
    mt_buf_add(&t->regex, list, (size_t)(end - list));
    *at = end;
    return MT_OK;
}

/* One character of the expression, or an escaped one. */
static void take_other(struct translation *t, const char **at)
{
    const char *s = *at;
    size_t n = *s == '\\' && s[1] ? 2 : 1;
    t->groups += *s == '(';
    mt_buf_add(&t->regex, s, n);
    *at += n;
}

static enum mt_status translate(struct translation *t, const char *text, struct mt_err *err)
{
    for (const char *at = text; *at;) {
        if (is_field(at))
            MT_TRY(take_field(t, &at, err));
        else if (*at == '[')
            MT_TRY(take_list(t, &at, err));
        else
            take_other(t, &at);
    }
    if (t->figure && t->groups < GROUPS)
        return mt_pattern_groups(&t->p->regex, "--pattern", t->regex.s, err);
    MT_FAIL(err, MT_EUSAGE,
            t->figure ? "--pattern has %d groups or more" : "--pattern has no field", GROUPS);
    return refuse(err, "Nothing was imported. Say where the figures stand: "
                       "--pattern '^\\[{step}\\] mem={rss}'.");
}

enum mt_status mt_text_pattern_new(const char *text, struct mt_text_pattern **out,
                                   struct mt_err *err)
{
    struct translation t = {.p = mt_alloc(sizeof *t.p)};
    *t.p = (struct mt_text_pattern){0};
    enum mt_status st = translate(&t, text, err);
    mt_buf_free(&t.regex);
    if (st != MT_OK)
        free(t.p);
    *out = st == MT_OK ? t.p : NULL;
    return st;
}

void mt_text_pattern_free(struct mt_text_pattern *p)
{
    if (!p)
        return;
    regfree(&p->regex);
    free(p);
}

bool mt_text_pattern_has_time(const struct mt_text_pattern *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->fields[i].time)
            return true;
    return false;
}

/* ---- lines ---- */

static bool is_at(const char *s, const char *end, const char *text)
{
    const size_t n = strlen(text);
    return (size_t)(end - s) >= n && memcmp(s, text, n) == 0;
}

static size_t digits_n(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && isdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* Behind what a number of n bytes that ends at s goes on: "1,234", unless that is what the pattern
 * says next; "1 234" where it says nothing of what is there. NULL: it ends. */
static const char *goes_on(const char *s, size_t n, const char *end, char next, bool said)
{
    enum { GROUP = 3 };
    static const struct {
        const char *sign, *name;
    } signs[] = {{",", "a comma"},           {".", "a point"},
                 {"'", "an apostrophe"},     {"_", "a '_'"},
                 {"\xc2\xa0", "a blank"},    {"\xe2\x80\xaf", "a blank"},
                 {"\xe2\x80\x89", "a blank"}};
    for (size_t i = 0; i < MT_ARRAY_LEN(signs); i++)
        if (*signs[i].sign != next && is_at(s, end, signs[i].sign) &&
            digits_n(s + strlen(signs[i].sign), end))
            return signs[i].name;
    return !said && n <= GROUP && digits_n(s - n, s) == n && is_at(s, end, " ") &&
                   digits_n(s + 1, end) == GROUP
               ? "a blank"
               : NULL;
}

/* Whether n letters are a unit in short, of which nobody knows whether it counts by 1000: "512 M",
 * but not "512 m=3". */
static bool is_short(const char *s, size_t n, const char *end)
{
    static const char *const units[] = {"K", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"};
    if (s + n < end && strchr("=:", s[n]))
        return false;
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        if (strlen(units[i]) == n && strncasecmp(units[i], s, n) == 0)
            return true;
    return false;
}

/* Blanks in front of a unit. */
static size_t blanks_n(const char *s, const char *end)
{
    size_t n = 0;
    for (;;)
        if (s + n < end && (s[n] == ' ' || s[n] == '\t'))
            n++;
        else if (is_at(s + n, end, "\xc2\xa0"))
            n += 2;
        else
            return n;
}

/* The unit behind a number, "5MB", "5 MB"; else the field's own. */
static void set_unit(struct mt_text_field *out, const struct field *f, const char *s,
                     const char *end)
{
    const size_t blanks = blanks_n(s, end);
    size_t n = 0;
    s += blanks;
    while (s + n < end && isalpha((unsigned char)s[n]))
        n++;
    int64_t unit = mt_text_unit(s, n);
    out->behind = s;
    out->behind_n = n;
    if (out->goes_on || (!unit && n && !blanks)) /* 512M, 1e3: nobody knows what it means */
        return;
    if (!n && is_at(s, end, "%"))
        out->behind_n = 1;
    else if (unit && is_at(s + n, end, "/s") &&
             !(s + n + 2 < end && isdigit((unsigned char)s[n + 2])))
        out->behind_n = n + 2; /* a speed */
    else if (!is_short(s, n, end))
        n = SIZE_MAX; /* it is fine */
    if (n != SIZE_MAX)
        return;
    if (unit == 1 && out->behind_n == 1 && blanks && f->unit) /* a word of the line */
        unit = 0;
    out->unit = unit ? unit : f->unit;
    out->unclear = unit ? mt_text_unit_unclear(s, out->behind_n) : f->unclear;
}

size_t mt_text_pattern_match(const struct mt_text_pattern *p, const char *line, size_t n,
                             struct mt_text_field out[MT_TEXT_FIELDS], bool *any)
{
    regmatch_t m[GROUPS] = {{.rm_so = 0, .rm_eo = (regoff_t)(n < LINE ? n : LINE)}};
    size_t found = 0;
    *any = regexec(&p->regex, line, GROUPS, m, REG_STARTEND) == 0;
    for (size_t i = 0; *any && i < p->n; i++) {
        const struct field *f = &p->fields[i];
        const regmatch_t *at = &m[f->group];
        if (at->rm_so < 0)
            continue;
        if (n > LINE && at->rm_eo == LINE) { /* the number may go on where nobody looks */
            *any = false;
            return 0;
        }
        const char *s = line + at->rm_so, *end = line + at->rm_eo;
        out[found] = (struct mt_text_field){.name = f->name, .number = s, .n = (size_t)(end - s)};
        if (!f->time)
            out[found].goes_on =
                goes_on(end, out[found].n, line + n, f->next, m[0].rm_eo > at->rm_eo);
        if (f->time)
            out[found].unit = f->unit;
        else
            set_unit(&out[found], f, end, line + n);
        found++;
    }
    return found;
}

enum mt_status mt_text_field_refuse(const struct mt_text_field *f, struct mt_err *err)
{
    int n = (int)f->n, behind = (int)f->behind_n;
    if (f->goes_on) {
        MT_FAIL(err, MT_EINPUT, "the number of {%s}, %.*s, goes on behind %s", f->name, n,
                f->number, f->goes_on);
        mt_err_hint(err, "Nothing was imported. A number has digits and perhaps a point; where it "
                         "ends say in the pattern what is behind it.");
        return MT_EINPUT;
    }
    if (behind)
        MT_FAIL(err, MT_EINPUT, "the number of {%s}, %.*s, has '%.*s' behind it, which is no unit",
                f->name, n, f->number, behind, f->behind);
    else
        MT_FAIL(err, MT_EINPUT, "the number of {%s}, %.*s, has no unit behind it", f->name, n,
                f->number);
    mt_err_hint(err,
                "Nothing was imported. Units are B, KB, MB, GB and TB, KiB and so on, kbytes and "
                "so on%s For what is no memory write .* instead of a field.",
                behind ? "." : "; say in the pattern what it is: {rss:KB}.");
    return MT_EINPUT;
}

bool mt_text_pattern_is_in(const struct mt_text_pattern *p, const char *text, size_t n)
{
    struct mt_text_field fields[MT_TEXT_FIELDS];
    bool any = false;
    for (size_t at = 0; at < n && !any;) {
        const char *end = memchr(text + at, '\n', n - at);
        const size_t line_n = end ? (size_t)(end - text) - at : n - at;
        mt_text_pattern_match(p, text + at, line_n, fields, &any);
        at += line_n + 1;
    }
    return any;
}
