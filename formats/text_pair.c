#include "formats/text_pair.h"

#include "formats/text_pattern.h"
#include "lib/base/mem.h"
#include <ctype.h>
#include <string.h>

static const int64_t micro = 1000 * 1000;

static bool is_break(char c)
{
    return c == ',' || c == ';' || c == '|' || c == '\t';
}

/* Adds a word to the name. Where there is no room what stands in front goes: the words right before
 * the number say what it is. Of a name that has said so already what does not fit is left out. */
static void add_word(struct mt_text_pair *p, const char *s, size_t n)
{
    size_t at = strlen(p->name), most_n = MT_PAIR_NAME - 1;
    if (mt_text_says_rss(p->name) || strstr(p->name, "memory usage")) {
        if (at + 1 >= most_n)
            return;
        n = n < most_n - at ? n : most_n - at - 1;
    } else if (n > most_n) {
        s += n - most_n;
        n = most_n;
    }
    while (at && at + 1 + n >= MT_PAIR_NAME) {
        const char *space = strchr(p->name, ' ');
        const size_t first = space ? (size_t)(space + 1 - p->name) : at;
        memmove(p->name, p->name + first, at - first + 1);
        at -= first;
    }
    if (at)
        p->name[at++] = ' ';
    for (size_t i = 0; i < n; i++)
        p->name[at++] = (char)tolower((unsigned char)s[i]);
    p->name[at] = '\0';
}

static bool is_digit(const char *p, const char *end)
{
    return p < end && isdigit((unsigned char)*p);
}

/* Of "MB)." and of "GB/4GB" the unit is what is in front; MB/s has none. */
static void set_unit(struct mt_text_pair *p, const char *s, size_t n)
{
    size_t letters = 0, at;
    while (letters < n && isalpha((unsigned char)s[letters]))
        letters++;
    for (at = letters; at < n && memchr(").]}'\"", s[at], 6);)
        at++;
    if (at == n || (s[at] == '/' && is_digit(s + at + 1, s + n)))
        n = letters;
    p->unit = mt_text_unit(s, n);
    p->unclear = mt_text_unit_unclear(s, n);
}

/* "rss_mb", "RSS in MB". */
static void take_last_unit(struct mt_text_pair *p)
{
    char *last = p->name + strlen(p->name);
    while (last > p->name && !strchr("_ ", last[-1]))
        last--;
    if (last == p->name || strlen(last) < 2 || !mt_text_says_rss(p->name))
        return;
    set_unit(p, last, strlen(last));
    if (p->unit)
        last[-1] = '\0';
}

/* A name may end in its unit: "rss (kbytes)", "rss [mb]". */
static void take_unit(struct mt_text_pair *p)
{
    size_t n = strlen(p->name);
    char *open = strrchr(p->name, p->name[n ? n - 1 : 0] == ']' ? '[' : '(');
    if (p->unit)
        return;
    if (!open || !strchr(")]", p->name[n - 1])) {
        take_last_unit(p);
        return;
    }
    set_unit(p, open + 1, (size_t)(p->name + n - 1 - open - 1));
    while (p->unit && open > p->name && open[-1] == ' ')
        open--;
    if (p->unit)
        *open = '\0';
}

static bool is_between(char c)
{
    return c == ' ' || c == ':' || c == '=';
}

static size_t word_n(const char *p, const char *end)
{
    const char *s = p;
    while (p < end && !is_between(*p) && !is_break(*p))
        p++;
    return (size_t)(p - s);
}

/* The bytes of a word that begins with a number whose thousands have commas ("1,020.5MB"), which is
 * in `word` without them; 0: it is none. */
static size_t grouped_n(const char *p, const char *end, char word[MT_PAIR_NAME], size_t *n)
{
    enum { GROUP = 3 };
    const char *s = p;
    *n = 0;
    for (size_t digits = 0; is_digit(p, end) && digits < GROUP; digits++)
        word[(*n)++] = *p++;
    const char *first = p;
    while (p < end && *p == ',' && *n && *n + GROUP < MT_PAIR_NAME && is_digit(p + 1, end) &&
           is_digit(p + 2, end) && is_digit(p + 3, end) && !is_digit(p + 4, end)) {
        memcpy(word + *n, p + 1, GROUP);
        *n += GROUP;
        p += 1 + GROUP;
    }
    size_t rest = word_n(p, end);
    if (p == first || *s == '0' || (p < end && *p == ',' && is_digit(p + 1, end)) ||
        *n + rest > MT_PAIR_NAME)
        return 0;
    memcpy(word + *n, p, rest);
    *n += rest;
    return (size_t)(p - s) + rest;
}

/* "/3" of "Epoch 1/3", how many there are to be, and the end of a bracket: "[step 3]". */
static bool is_step_of(const struct mt_text_pair *p, const char *s, size_t n)
{
    size_t i = *s == '/';
    while (i && i < n && isdigit((unsigned char)s[i]))
        i++;
    while (i < n && memchr("])", s[i], 2))
        i++;
    return i == n && mt_text_step_word(p->name);
}

/* Whether a sign is there, with a size behind it, behind an rss: "rss: '5 MB'", "RSS used: ~5 MB",
 * in brackets right behind it: "RSS (5 MB)". Double quotes are JSON's, which may be of many
 * processes. */
static bool is_signed_size(const char *name, const char *p, const char *end)
{
    const char *last = memchr("([", *p, 2) ? strrchr(name, ' ') : NULL;
    size_t n = 0;
    if (!memchr("'([~", *p, 4) || !is_digit(p + 1, end) || !mt_text_says_rss(last ? last : name))
        return false;
    for (p++; is_digit(p, end) || (p < end && memchr(".,", *p, 2));)
        p++;
    p += p < end && *p == ' ';
    while (p + n < end && isalpha((unsigned char)p[n]))
        n++;
    return mt_text_unit(p, n) > 0;
}

/* Whether a tab is one of "VmRSS:\t  123456 kB", as the kernel has them. */
static bool is_behind_colon(const char *name, const char *p)
{
    return *p == '\t' && mt_text_says_rss(name) && p[-1] == ':';
}

/* "9437184maxresident)k", as /usr/bin/time says it without -v. */
static bool take_time(struct mt_text_pair *p, const char *s, size_t n)
{
    static const char peak[] = "maxresident)k";
    if (n != sizeof peak - 1 || memcmp(s, peak, n) != 0)
        return false;
    memcpy(p->name, "maxresident", sizeof "maxresident");
    p->unit = 1 << 10;
    return true;
}

bool mt_text_pair_next(struct mt_fields *f, struct mt_text_pair *out)
{
    char word[MT_PAIR_NAME];
    *out = (struct mt_text_pair){0};
    while (f->p < f->end) {
        if (is_between(*f->p) || is_break(*f->p)) {
            if (is_break(*f->p) && !is_behind_colon(out->name, f->p))
                out->name[0] = '\0';
            f->p++;
            continue;
        }
        out->sign = is_signed_size(out->name, f->p, f->end);
        f->p += out->sign;
        size_t unit_n, number_n, n = grouped_n(f->p, f->end, word, &number_n);
        struct mt_fields number = mt_fields_of(word, number_n);
        if (!n) {
            n = word_n(f->p, f->end);
            number = mt_fields_of(f->p, n);
        }
        out->number = f->p;
        f->p += n;
        if (!mt_field_fraction(&number, MT_PAIR_DIGITS, &out->value)) {
            add_word(out, number.p, (size_t)(number.end - number.p));
            continue;
        }
        unit_n = (size_t)(number.end - number.p);
        if (take_time(out, number.p, unit_n))
            return true;
        set_unit(out, number.p, unit_n);
        out->odd =
            out->value < 0 ||
            (unit_n ? !out->unit && !is_step_of(out, number.p, unit_n) /* 2026-11-22, 3rd, 5G */
                    : f->p < f->end && *f->p == ',' && is_digit(f->p + 1, f->end)); /* 1,5 */
        if (out->odd) {
            take_unit(out);
            out->unit = 0;
            return true;
        }
        if (!unit_n && f->p < f->end && *f->p == ' ') {
            unit_n = word_n(f->p + 1, f->end);
            set_unit(out, f->p + 1, unit_n);
            f->p += out->unit ? unit_n + 1 : 0;
        }
        take_unit(out);
        return true;
    }
    return false;
}

int mt_text_step_word(const char *name)
{
    static const char *const words[] = {"epoch", "step", "iteration", "iter", "batch"};
    const char *last = strrchr(name, ' ');
    last = last ? last + 1 : name;
    last += strspn(last, "[(");
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
        if (strcmp(last, words[i]) == 0)
            return (int)i + 1;
    return 0;
}

bool mt_text_pair_bytes(const struct mt_text_pair *p, int64_t *bytes)
{
    if (p->value / micro > (INT64_C(1) << 60) / p->unit)
        return false;
    *bytes = p->value / micro * p->unit + p->value % micro * p->unit / micro;
    return true;
}
