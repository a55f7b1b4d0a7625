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

/* Adds a word to the name, or what fits of it. */
static void add_word(struct mt_text_pair *p, const char *s, size_t n)
{
    size_t at = strlen(p->name);
    if (at && at + 1 < MT_PAIR_NAME)
        p->name[at++] = ' ';
    for (size_t i = 0; i < n && at + 1 < MT_PAIR_NAME; i++)
        p->name[at++] = (char)tolower((unsigned char)s[i]);
    p->name[at] = '\0';
}

static void set_unit(struct mt_text_pair *p, const char *s, size_t n)
{
    p->unit = mt_text_unit(s, n);
    p->unclear = mt_text_unit_unclear(s, n);
}

/* A name may end in its unit: "rss (kbytes)", "rss [mb]". */
static void take_unit(struct mt_text_pair *p)
{
    size_t n = strlen(p->name);
    char *open = strrchr(p->name, p->name[n ? n - 1 : 0] == ']' ? '[' : '(');
    if (p->unit || !open || !strchr(")]", p->name[n - 1]))
        return;
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

bool mt_text_pair_next(struct mt_fields *f, struct mt_text_pair *out)
{
    *out = (struct mt_text_pair){0};
    while (f->p < f->end) {
        if (is_between(*f->p) || is_break(*f->p)) {
            if (is_break(*f->p))
                out->name[0] = '\0';
            f->p++;
            continue;
        }
        size_t n = word_n(f->p, f->end), unit_n;
        struct mt_fields number = mt_fields_of(f->p, n);
        f->p += n;
        if (!mt_field_fraction(&number, MT_PAIR_DIGITS, &out->value) || out->value < 0) {
            add_word(out, number.p, (size_t)(number.end - number.p));
            continue;
        }
        unit_n = (size_t)(number.end - number.p);
        set_unit(out, number.p, unit_n);
        if (unit_n && !out->unit) { /* 2026-11-22, 3rd */
            out->name[0] = '\0';
            continue;
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

/* ---- what pairs mean ---- */

static bool has(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

int mt_text_step_word(const char *name)
{
    static const char *const words[] = {"epoch", "step", "iteration", "iter", "batch"};
    const char *last = strrchr(name, ' ');
    last = last ? last + 1 : name;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
        if (strcmp(last, words[i]) == 0)
            return (int)i + 1;
    return 0;
}

enum mt_pair_meaning mt_text_pair_meaning(const struct mt_text_pair *p)
{
    static const char *const rss[] = {"rss", "resident", NULL};
    static const char *const most[] = {"max", "peak", NULL};
    static const char *const of_others[] = {"torch", "cuda", "gpu", "device", "average", NULL};
    static const char *const others[] = {"mem",  "alloc", "reserv", "heap", "cuda", "gpu",
                                         "swap", "uss",   "pss",    "vms",  NULL};
    if (!p->unit)
        return mt_text_step_word(p->name) && p->value % micro == 0 ? MT_PAIR_STEP : MT_PAIR_NOTHING;
    if (strstr(p->name, "average"))
        return MT_PAIR_NOTHING;
    bool usage = strstr(p->name, "memory usage") && !has(p->name, of_others);
    if ((has(p->name, rss) && !has(p->name, of_others)) || usage)
        return has(p->name, most) ? MT_PAIR_PEAK : MT_PAIR_LEVEL;
    return has(p->name, others) ? MT_PAIR_OTHER : MT_PAIR_NOTHING;
}

bool mt_text_pair_bytes(const struct mt_text_pair *p, int64_t *bytes)
{
    if (p->value / micro > (INT64_C(1) << 60) / p->unit)
        return false;
    *bytes = p->value / micro * p->unit + p->value % micro * p->unit / micro;
    return true;
}
