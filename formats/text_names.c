#include "formats/text_names.h"

#include "formats/text_doubt.h"
#include "lib/model/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST = UINT8_MAX }; /* names; a run has no room for more metrics */

static bool is_apart(const struct mt_text_names *n, const char *name)
{
    for (size_t i = 0; i < n->apart.n; i++)
        if (strcmp(n->apart.v[i].name, name) == 0)
            return true;
    return false;
}

/* The pair of a line that is an owner's rss, or its peak; NULL: none. The name that was the first
 * ever, else the first of the line. */
static const struct mt_text_pair *main_pair(const struct mt_text_names *n,
                                            const struct mt_text_line *line,
                                            enum mt_pair_meaning meaning, uint32_t owner)
{
    const struct mt_text_pair *found = NULL;
    for (size_t i = 0; i < line->pairs.n; i++) {
        const struct mt_text_pair *p = &line->pairs.v[i];
        if (p->meaning != meaning || p->owner != owner)
            continue;
        const bool is_main = strcmp(p->name, n->main_name[meaning == MT_PAIR_PEAK]) == 0;
        if ((found && !is_main) || is_apart(n, p->name))
            continue;
        if (is_main)
            return p;
        found = p;
    }
    return found;
}

/* What is not to be taken for the metric of another name. */
void mt_text_names_metric(const char *name, char metric[MT_TEXT_NAME])
{
    mt_text_metric(name, metric);
    size_t n = strlen(metric);
    bool taken = strcmp(metric, mt_metric_names[MT_METRIC_RSS]) == 0 ||
                 strcmp(metric, mt_metric_names[MT_METRIC_PEAK_RSS]) == 0;
    if (taken)
        snprintf(metric + n, MT_TEXT_NAME - n, "_2");
}

static void set_apart(struct mt_text_names *n, const struct mt_text_pair *p, const char *main_name,
                      struct mt_recording *rec, int64_t offset)
{
    char metric[MT_TEXT_NAME];
    if (is_apart(n, p->name) || n->apart.n == MOST)
        return;
    mt_text_names_metric(p->name, metric);
    if (!n->apart.n)
        mt_rec_note_detail(rec, MT_NOTE_NAMES, "'%s' is %s, '%s' the metric %s", main_name,
                           p->meaning == MT_PAIR_PEAK ? "its peak" : "rss", p->name, metric);
    mt_rec_note(rec, MT_NOTE_NAMES, offset, 0);
    *mt_vec_push(&n->apart) = *p;
}

static size_t letters_at(const char *p)
{
    size_t n = 0;
    while (isalpha((unsigned char)p[n]))
        n++;
    return n;
}

/* Whether a word of one name says another process, perhaps: "loader rss" beside "train rss". */
static bool is_foreign(const char *name)
{
    static const char *const own[] = {
        "rss",    "resident", "set",   "size",    "memory",  "mem",     "usage",    "used",
        "use",    "process",  "proc",  "own",     "self",    "python",  "py",       "current",
        "cur",    "now",      "in",    "initial", "final",   "start",   "end",      "begin",
        "before", "after",    "cpu",   "host",    "ram",     "total",   "physical", "actual",
        "max",    "peak",     "the",   "of",      "is",      "was",     "psutil",   "resource",
        "kernel", "program",  "app",   "main",    "maximum", "highest", "so",       "far",
        "ru",     "maxrss",   "vmrss", "vmhwm",   "at",      "step",    "epoch",    "iteration",
        NULL};
    size_t n;
    for (const char *p = name; *p; p += n + !n) {
        n = letters_at(p);
        if (n && !mt_text_is_one(p, n, own))
            return true;
    }
    return false;
}

static bool has_word_of(const char *name, const char *const *words)
{
    size_t n;
    for (const char *p = name; *p; p += n + !n) {
        n = letters_at(p);
        if (mt_text_is_one(p, n, words))
            return true;
    }
    return false;
}

static const char *const afters[] = {"after", "final", "end", "now", "current", NULL};

/* Whether two names are one figure at two times: "rss_before" and "rss_after". */
static bool are_before_and_after(const char *a, const char *b)
{
    static const char *const befores[] = {"before", "was", "initial", "start", "begin", NULL};
    return has_word_of(a, befores) && has_word_of(b, afters);
}

/* What a line says was at first, beside what is now, is no level at its time: "rss_now=9GB
 * rss_start=1GB" stands in each line, and the process does not go back. */
static void set_first_apart(struct mt_text_names *n, struct mt_text_line *line,
                            enum mt_pair_meaning meaning, struct mt_recording *rec, int64_t offset)
{
    static const char *const firsts[] = {"initial", "start", "begin", NULL};
    for (size_t i = 0; i < line->pairs.n; i++) {
        struct mt_text_pair *p = &line->pairs.v[i];
        if (p->meaning != meaning || !has_word_of(p->name, firsts))
            continue;
        for (size_t k = 0; k < line->pairs.n && p->meaning == meaning; k++) {
            const struct mt_text_pair *now = &line->pairs.v[k];
            if (now->meaning != meaning || now->owner != p->owner ||
                !has_word_of(now->name, afters))
                continue;
            n->foreign_n += is_foreign(p->name) || is_foreign(now->name);
            if (strcmp(p->name, n->main_name[meaning == MT_PAIR_PEAK]) != 0)
                set_apart(n, p, now->name, rec, offset);
            p->meaning = MT_PAIR_OTHER;
        }
    }
}

static bool line_has(const struct mt_text_line *line, enum mt_pair_meaning meaning)
{
    size_t i = 0;
    while (i < line->pairs.n && line->pairs.v[i].meaning != meaning)
        i++;
    return i < line->pairs.n;
}

/* Two names in one line are two figures: one of them is the process's, and the others are metrics
 * of their own from then on. In different lines they are what a program says at different times, as
 * they may say themselves. */
static void tell_apart(struct mt_text_names *n, struct mt_text_line *line,
                       enum mt_pair_meaning meaning, struct mt_recording *rec, int64_t offset)
{
    char *main_name = n->main_name[meaning == MT_PAIR_PEAK];
    const struct mt_text_pair *first = NULL; /* of this owner; stays while none comes apart */
    uint32_t owner = MT_TEXT_NOBODY;
    size_t apart_n = SIZE_MAX;
    if (meaning == MT_PAIR_LEVEL)
        set_first_apart(n, line, meaning, rec, offset);
    for (size_t i = 0; i < line->pairs.n; i++) {
        struct mt_text_pair *p = &line->pairs.v[i];
        if (p->meaning != meaning && *main_name)
            continue;
        if (apart_n != n->apart.n || owner != p->owner)
            first = main_pair(n, line, meaning, p->owner);
        owner = p->owner;
        apart_n = n->apart.n;
        if (first && !*main_name)
            snprintf(main_name, MT_PAIR_NAME, "%s", first->name);
        if (p->meaning != meaning)
            continue;
        const bool differs = first && strcmp(p->name, first->name) != 0;
        const bool other = differs && !are_before_and_after(first->name, p->name);
        n->foreign_n += differs && (is_foreign(p->name) || is_foreign(first->name));
        if (other)
            set_apart(n, p, first->name, rec, offset);
        if (other || is_apart(n, p->name))
            p->meaning = MT_PAIR_OTHER;
    }
}

/* false: there are too many. */
static bool add_unread(struct mt_text_names *n, const struct mt_text_pair *p, bool sized,
                       int64_t offset)
{
    size_t i = 0;
    while (i < n->unread.n && strcmp(n->unread.v[i].name, p->name) != 0)
        i++;
    if (i == MOST)
        return false;
    if (i == n->unread.n) {
        struct mt_text_unread *u = mt_vec_push(&n->unread);
        *u = (struct mt_text_unread){.offset = offset};
        memcpy(u->name, p->name, sizeof u->name);
    }
    n->unread.v[i].line_n++;
    n->unread.v[i].sized |= sized;
    return true;
}

void mt_text_names_tell(struct mt_text_names *n, struct mt_text_line *line,
                        struct mt_recording *rec, int64_t offset)
{
    bool sized = mt_text_line_is_unread(line);
    const char *end = line->plain.s + line->plain.n;
    if (mt_text_table_take(&n->table, line->plain.s, line->plain.n))
        sized |= !line_has(line, MT_PAIR_LEVEL) && !line_has(line, MT_PAIR_PEAK);
    for (size_t i = 0; i < line->pairs.n; i++) {
        const struct mt_text_pair *p = &line->pairs.v[i];
        if (p->meaning == MT_PAIR_UNREAD &&
            add_unread(n, p, sized || p->lost || mt_text_is_bare_rss(p, end), offset))
            sized = false;
    }
    if (sized)
        mt_rec_note(rec, MT_NOTE_UNREAD, offset, 0);
    if (line_has(line, MT_PAIR_LEVEL))
        tell_apart(n, line, MT_PAIR_LEVEL, rec, offset);
    if (line_has(line, MT_PAIR_PEAK))
        tell_apart(n, line, MT_PAIR_PEAK, rec, offset);
}

void mt_text_names_note(const struct mt_text_names *n, struct mt_recording *rec)
{
    for (size_t i = 0; i < n->unread.n; i++) {
        const struct mt_text_unread *u = &n->unread.v[i];
        if (u->sized || strcmp(u->name, n->main_name[0]) == 0 ||
            strcmp(u->name, n->main_name[1]) == 0)
            mt_rec_note_n(rec, MT_NOTE_UNREAD, u->line_n, u->offset);
    }
}

void mt_text_names_free(struct mt_text_names *n)
{
    mt_vec_free(&n->apart);
    mt_vec_free(&n->unread);
}
