#include "formats/text_line.h"

#include "formats/text_pattern.h"
#include "lib/base/mem.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

void mt_text_line_init(struct mt_text_line *l)
{
    *l = (struct mt_text_line){0};
    mt_text_owners_init(&l->owners);
}

void mt_text_line_free(struct mt_text_line *l)
{
    mt_buf_free(&l->plain);
    mt_text_owners_free(&l->owners);
    mt_vec_free(&l->pairs);
}

/* ---- bytes ---- */

enum { ESC = 0x1b, BELL = 7 };

/* The end of the escape that begins at s: "ESC [ .. letter", "ESC ] .. BEL", or ESC and a byte. */
static const char *escape_end(const char *s, const char *end)
{
    const char kind = s + 1 < end ? s[1] : 0;
    s += 2;
    if (kind == '[')
        while (s < end && *s >= ' ' && *s < '@')
            s++;
    else if (kind == ']')
        while (s < end && *s != BELL && !(*s == ESC && s + 1 < end && s[1] == '\\'))
            s++;
    else
        return s < end ? s : end;
    s += s < end && *s == ESC;
    return s < end ? s + 1 : end;
}

size_t mt_text_line_next(struct mt_text_line *l, const char *s, size_t n)
{
    const char *end = s;
    while (end < s + n && *end != '\n' && *end != '\r') /* looks no further: many may follow */
        end++;
    mt_buf_clear(&l->plain);
    mt_buf_adds(&l->plain, "");
    for (const char *p = s, *esc; p < end; p = esc) {
        esc = memchr(p, ESC, (size_t)(end - p));
        mt_buf_add(&l->plain, p, (size_t)((esc ? esc : end) - p));
        esc = esc ? escape_end(esc, end) : end;
    }
    return (size_t)(end - s) + (end < s + n);
}

/* ---- pairs ---- */

/* "RSS: rank0: 1 GB, rank1: 2 GB": of another owner the same. */
static void go_on(struct mt_text_pair *p, const struct mt_text_pair *before)
{
    if (!before || *p->name || !p->unit || p->owner == before->owner ||
        before->meaning < MT_PAIR_LEVEL)
        return;
    memcpy(p->name, before->name, sizeof p->name);
    p->meaning = before->meaning;
}

static bool is_rss(const struct mt_text_pair *p)
{
    return p->meaning == MT_PAIR_LEVEL || p->meaning == MT_PAIR_PEAK;
}

/* Where the next letter or digit is, or the end. */
static const char *word_at(const char *s, const char *end)
{
    while (s < end && !isalnum((unsigned char)*s))
        s++;
    return s;
}

static size_t letters_at(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && isalpha((unsigned char)s[n]))
        n++;
    return n;
}

/* "RSS: 1 GB, 2 GB", "RSS 1 GB before, 2 GB after": a size without a name, which ends the line, may
 * be the rss, too. */
static void set_lost(struct mt_text_pair *p, const struct mt_text_pair *before,
                     const struct mt_fields *rest)
{
    static const char *const words[] = {"after", "now",    "later", "max", "peak",
                                        "child", "worker", "main",  NULL};
    const char *s = word_at(rest->p, rest->end);
    const size_t n = letters_at(s, rest->end);
    if (mt_text_is_one(s, n, words))
        s = word_at(s + n, rest->end);
    if (!before || !is_rss(before) || *p->name || !p->unit || p->owner != before->owner ||
        p->meaning != MT_PAIR_NOTHING || s < rest->end)
        return;
    p->meaning = MT_PAIR_UNREAD;
    p->lost = true;
}

/* Whether a name, which ends before a number, says when: "rss after loading layer". */
static bool says_when(const struct mt_text_pair *p)
{
    static const char *const whens[] = {" after", " before", " at", " in", " during", " when"};
    bool found = p->meaning == MT_PAIR_STEP;
    for (size_t i = 0; i < MT_ARRAY_LEN(whens) && !found; i++) {
        const char *at = strstr(p->name, whens[i]);
        found = at && strchr(" ", at[strlen(whens[i])]);
    }
    return found;
}

/* "RSS after step 3: 5 GB", "peak RSS in epoch 3/9 = 5 GB", "RSS after 30 steps: 5 GB": between the
 * name and its size is a number, which says when. */
static void take_name(struct mt_text_pair *p, struct mt_text_pair *when)
{
    static const char *const counted[] = {"", "steps", "iterations", "iters", "epochs", "batches"};
    bool fits = false, sign = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(counted) && !fits; i++)
        fits = strcmp(p->name, counted[i]) == 0;
    if (!fits || !p->unit || when->unit || when->odd || !says_when(when))
        return;
    for (const char *s = when->number; s < p->number; s++) {
        sign |= memchr(":=)]", *s, 4) != NULL;
        if (memchr(",;|\t", *s, 4))
            return;
    }
    struct mt_text_pair named = *p;
    memcpy(named.name, when->name, sizeof named.name);
    mt_text_pair_mean(&named, NULL);
    if (!sign || !is_rss(&named))
        return;
    *p = named;
    if (when->meaning == MT_PAIR_UNREAD)
        when->meaning = MT_PAIR_NOTHING;
}

/* Where an rss stands in front of the line's owners, "RSS 5 MB (rank 0), RSS 7 MB (rank 1)", nobody
 * knows whose any is. What else stands there is nobody's. */
static void set_unclear(struct mt_text_line *l)
{
    bool unclear = false;
    for (size_t i = 0; i < l->pairs.n; i++)
        unclear |= is_rss(&l->pairs.v[i]) && l->pairs.v[i].owner == MT_TEXT_UNCLEAR;
    for (size_t i = 0; i < l->pairs.n; i++) {
        struct mt_text_pair *p = &l->pairs.v[i];
        if (is_rss(p) && unclear)
            p->owner = MT_TEXT_UNCLEAR;
        else if (p->owner == MT_TEXT_UNCLEAR)
            p->owner = MT_TEXT_NOBODY;
    }
}

void mt_text_line_pairs(struct mt_text_line *l)
{
    size_t before = SIZE_MAX;
    l->pairs.n = 0;
    mt_text_owners_take(&l->owners, l->plain.s, l->plain.n);
    struct mt_fields f = mt_fields_of(l->plain.s, l->plain.n);
    struct mt_text_pair p;
    while (mt_text_pair_next(&f, &p)) {
        struct mt_text_pair *last = before == SIZE_MAX ? NULL : &l->pairs.v[before];
        p.owner = mt_text_owners_at(&l->owners, (size_t)(p.number - l->plain.s));
        p.device = mt_text_owners_by_device(&l->owners);
        mt_text_pair_mean(&p, last);
        go_on(&p, last);
        set_lost(&p, last, &f);
        if (l->pairs.n)
            take_name(&p, &l->pairs.v[l->pairs.n - 1]);
        if (p.meaning != MT_PAIR_UNREAD)
            before = l->pairs.n;
        *mt_vec_push(&l->pairs) = p;
    }
    set_unclear(l);
}

/* Whether it is an rss, or would be none of the process's if it had a unit. */
static bool tells_rss(const struct mt_text_pair *p)
{
    struct mt_text_pair sized = *p;
    if (!mt_text_says_rss(p->name) || p->meaning > MT_PAIR_STEP)
        return mt_text_says_rss(p->name);
    sized.unit = 1;
    mt_text_pair_mean(&sized, NULL);
    return !is_rss(&sized);
}

/* Whether the number at s is that of a pair which is understood; *next: the pair to look at first,
 * as numbers come in their order. */
static bool is_understood(const struct mt_text_line *l, const char *s, size_t *next)
{
    while (*next < l->pairs.n && l->pairs.v[*next].number < s)
        ++*next;
    const struct mt_text_pair *p = &l->pairs.v[*next];
    return *next < l->pairs.n && p->number == s && p->meaning > MT_PAIR_STEP;
}

/* Whether a word for an rss stands right behind a size, "5 GB (RSS)", "5 GB resident". */
static bool is_before_rss(const char *s, const char *end)
{
    static const char *const words[] = {"rss", "resident"};
    while (s < end && strchr(" ([", *s))
        s++;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(end - s) >= n && strncasecmp(s, words[i], n) == 0)
            return s + n == end || !isalpha((unsigned char)s[n]);
    }
    return false;
}

/* The bytes of a number at s, with its digits behind the point; 0: it is part of a word. */
static size_t number_at(const char *s, const char *start, const char *end)
{
    size_t n = 0;
    if (s > start && (isalnum((unsigned char)s[-1]) || strchr("_.,", s[-1])))
        return 0;
    while (s + n < end && (isdigit((unsigned char)s[n]) || (n && strchr(".,", s[n]))))
        n++;
    return n;
}

/* Whether a unit of bytes is at s, and none of a rate: "MB/s". */
static bool is_unit(const char *s, const char *end)
{
    static const char *const times[] = {"s", "sec", "second", "min", "minute", "h", "hour", "step"};
    const size_t n = letters_at(s, end);
    if (!n || !mt_text_unit(s, n))
        return false;
    const char *of = s + n + (s + n < end);
    const size_t of_n = of[-1] == '/' ? letters_at(of, end) : 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(times) && of_n; i++)
        if (strlen(times[i]) == of_n && strncasecmp(times[i], of, of_n) == 0)
            return false;
    return true;
}

/* Whether the line is of LSF's, PBS's or Slurm's summary of a job: what it took at most. */
static bool is_of_job(const char *s, const char *end)
{
    static const char *const words[] = {
        "Max Memory :", "resources_used.mem=", "resources_used.mem =", "Memory Utilized:"};
    while (s < end && *s == ' ')
        s++;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
        if ((size_t)(end - s) > strlen(words[i]) && memcmp(s, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* Whether the line is one of the kernel's, of a process that it killed, or of macOS's time, whose
 * number has no unit: "9437184  maximum resident set size". */
static bool is_of_system(const char *s, const char *end)
{
    static const char killed[] = "Killed process ", anon[] = "anon-rss:";
    static const char time[] = "maximum resident set size";
    if (end - s < (ptrdiff_t)sizeof killed)
        return false;
    if (memmem(s, (size_t)(end - s), killed, sizeof killed - 1))
        return memmem(s, (size_t)(end - s), anon, sizeof anon - 1);
    bool number = false;
    for (; s < end && (*s == ' ' || isdigit((unsigned char)*s)); s++)
        number |= *s != ' ';
    return end - s == (ptrdiff_t)sizeof time - 1 && number && memcmp(s, time, sizeof time - 1) == 0;
}

bool mt_text_line_is_unread(const struct mt_text_line *l)
{
    const char *start = l->plain.s, *end = start + l->plain.n;
    if (is_of_system(start, end) || is_of_job(start, end))
        return true;
    for (size_t i = 0; i < l->pairs.n; i++)
        if (tells_rss(&l->pairs.v[i]))
            return false;
    if (!l->plain.n || !mt_text_rss(start, l->plain.n))
        return false;
    size_t next = 0;
    for (const char *s = start; s < end; s++) {
        const size_t n = number_at(s, start, end);
        const char *unit = s + n + (s + n < end && s[n] == ' ');
        if (n && is_unit(unit, end) &&
            (!is_understood(l, s, &next) ||
             (!l->pairs.v[next].device && is_before_rss(unit + letters_at(unit, end), end))))
            return true;
        s += n;
    }
    return false;
}
