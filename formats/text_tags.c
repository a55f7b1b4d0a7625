#include "formats/text_tags.h"

#include "lib/base/mem.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *take_blanks(const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    return p;
}

/* Whether a sign of these is there, or the line ends. */
static bool is_at(const char *p, const char *end, const char *signs)
{
    return p == end || (*p && strchr(signs, *p));
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._-", c));
}

/* Digits, and what they are; NULL: none, or too many. */
static const char *take_number(const char *p, const char *end, uint64_t *number)
{
    enum { DIGITS = 8 };
    size_t digits = 0;
    for (*number = 0; p < end && isdigit((unsigned char)*p) && digits <= DIGITS; digits++)
        *number = *number * 10 + (uint64_t)(*p++ - '0');
    return digits && digits <= DIGITS ? p : NULL;
}

static bool has_form(const char *p, const char *end, const char *form)
{
    for (; *form; form++, p++)
        if (p >= end || (*form == '0' ? !isdigit((unsigned char)*p) : *p != *form))
            return false;
    return true;
}

/* Whether it goes on with the level of a message, "INFO" or "[INFO]" or "- INFO". */
static bool is_level(const char *p, const char *end)
{
    static const char *const levels[] = {"TRACE", "DEBUG", "INFO",     "WARNING",
                                         "WARN",  "ERROR", "CRITICAL", "FATAL"};
    p += has_form(p, end, "- ") ? 2 : 0;
    p += p < end && *p == '[';
    for (size_t i = 0; i < MT_ARRAY_LEN(levels); i++) {
        const size_t n = strlen(levels[i]);
        if ((size_t)(end - p) > n && strncasecmp(p, levels[i], n) == 0)
            return !isalnum((unsigned char)p[n]);
    }
    return false;
}

/* A number between the date and the level; the end, or NULL: there is none. */
static const char *take_dated(const char *p, const char *end, uint64_t *number)
{
    p += p < end && *p == '[';
    if (!has_form(p, end, "0000-00-00 00:00:00") && !has_form(p, end, "0000-00-00T00:00:00"))
        return NULL;
    p += sizeof "0000-00-00 00:00:00" - 1;
    while (p < end && *p && strchr("0123456789.,Z", *p))
        p++;
    p += has_form(p, end, " +0000") || has_form(p, end, " -0000") ? sizeof " +0000" - 1 : 0;
    p += p < end && *p == ']';
    if (p == end || *p != ' ')
        return NULL;
    p = take_blanks(p, end);
    p += has_form(p, end, "- ") ? 2 : 0;
    const bool bracket = p < end && *p == '[';
    p = take_number(p + bracket, end, number);
    if (!p || (bracket && (p == end || *p++ != ']')) || p == end || *p != ' ')
        return NULL;
    return is_level(take_blanks(p, end), end) ? p : NULL;
}

/* "train-1  | ": the name and its number, and more blanks than one: names are filled up to the
 * longest. What is called like a thread or a part of the work is no container. */
static const char *take_bar(const char *line, const char *end, uint64_t *hash)
{
    static const char *const others[] = {"thread", "epoch", "step",  "iter", "batch", "layer",
                                         "stage",  "phase", "round", "fold", "dummy"};
    const char *p = line, *number;
    bool letters = false;
    for (*hash = 14695981039346656037ULL; p < end && is_name(*p); p++) {
        *hash = (*hash ^ (unsigned char)*p) * 1099511628211ULL;
        letters |= isalpha((unsigned char)*p) != 0;
    }
    for (number = p; number > line && isdigit((unsigned char)number[-1]);)
        number--;
    const char *bar = take_blanks(p, end);
    if (!letters || number == p || !strchr("-_", number[-1]) || bar - p < 2 || bar == end ||
        *bar != '|')
        return NULL;
    for (size_t i = 0; i < MT_ARRAY_LEN(others); i++)
        if (strncasecmp(line, others[i], strlen(others[i])) == 0)
            return NULL;
    return bar + 1;
}

const char *mt_text_tag(const char *line, size_t n, enum mt_text_tag_kind kind, uint64_t *number)
{
    const char *end = line + n, *p = take_blanks(line, end);
    if (kind == MT_TAG_BAR)
        return take_bar(line, end, number);
    if (kind == MT_TAG_DATED)
        return take_dated(line, end, number);
    if (kind == MT_TAG_LETTER && p < end && (*p == 'R' || *p == 'r'))
        p++;
    else if (kind == MT_TAG_BRACKET && p < end && *p == '[')
        p = take_blanks(p + 1, end);
    else if (kind != MT_TAG_COLON)
        return NULL;
    p = take_number(p, end, number);
    if (!p || p == end || *p != (kind == MT_TAG_BRACKET ? ']' : ':'))
        return NULL;
    p++;
    return is_at(p, end, kind == MT_TAG_BRACKET ? " \t:[|" : " \t") ? p : NULL;
}

const char *mt_text_tag_name(const char *line, size_t n, const char **name, size_t *name_n)
{
    static const char pod[] = "[pod/";
    const char *end = line + n, *p = line;
    const bool is_pod = n > sizeof pod && memcmp(line, pod, sizeof pod - 1) == 0;
    p += is_pod ? sizeof pod - 1 : 0;
    *name = p;
    while (p < end && is_name(*p))
        p++;
    *name_n = (size_t)(p - *name);
    if (!*name_n)
        return NULL;
    if (is_pod) {
        while (p < end && (*p == '/' || is_name(*p)))
            p++;
        return p < end && *p == ']' ? p + 1 : NULL;
    }
    uint64_t hash;
    return take_bar(line, end, &hash);
}

static bool is_month(const char *line, size_t n)
{
    static const char months[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
    enum { MONTH = 4 };
    for (size_t i = 0; n > MONTH && i < sizeof months - 1; i += MONTH)
        if (memcmp(line, months + i, MONTH) == 0)
            return true;
    return false;
}

const char *mt_text_tag_syslog(const char *line, size_t n, uint64_t *pid)
{
    enum { DIGITS = 8, LEAST = 100 }; /* less: of services, or "layer[3]" */
    const char *end = line + n, *p = line;
    const bool bsd = is_month(line, n), iso = has_form(line, end, "0000-00-00T00:00:00");
    for (int words = bsd ? 4 : 2; words && (bsd || iso); words--) { /* time, and the host */
        while (p < end && *p != ' ')
            p++;
        p = take_blanks(p, end);
    }
    if (p == line)
        return NULL;
    const char *name = p;
    while (p < end && *p && !strchr(" []", *p))
        p++;
    if (p == name || p == end || *p++ != '[')
        return NULL;
    const char *digits = p;
    for (*pid = 0; p < end && isdigit((unsigned char)*p) && p - digits < DIGITS; p++)
        *pid = *pid * 10 + (uint64_t)(*p - '0');
    return p > digits && *pid >= LEAST && has_form(p, end, "]:") ? p + 2 : NULL;
}

/* ---- what lines have ---- */

/* The number behind the first word for a step that is none of an epoch; UINT64_MAX: none. */
static uint64_t step_of(const char *p, const char *end)
{
    static const char *const words[] = {"step", "iteration", "iter"};
    for (const char *s = p; s < end; s++)
        for (size_t i = 0; i < MT_ARRAY_LEN(words); i++) {
            const char *at = s + strlen(words[i]);
            uint64_t number = 0;
            if (at >= end || strncasecmp(s, words[i], strlen(words[i])) != 0 ||
                (s > p && isalpha((unsigned char)s[-1])))
                continue;
            while (at < end && *at && strchr(" :=#[", *at))
                at++;
            if (at < end && isdigit((unsigned char)*at)) {
                while (at < end && isdigit((unsigned char)*at))
                    number = number * 10 + (uint64_t)(*at++ - '0');
                return number;
            }
        }
    return UINT64_MAX;
}

/* Whether a line may say what a process has in memory. */
static bool has_rss(const char *p, const char *end)
{
    static const char *const words[] = {"rss", "resident", "memory usage"};
    for (; p < end; p++)
        for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
            if ((size_t)(end - p) >= strlen(words[i]) &&
                strncasecmp(p, words[i], strlen(words[i])) == 0)
                return true;
    return false;
}

static void add_tag(struct mt_text_tag_lines *k, uint64_t number, uint64_t step)
{
    size_t i = 0;
    while (i < k->different_n && k->different[i] != number)
        i++;
    const bool known = i < k->different_n;
    if (!known && k->different_n < MT_ARRAY_LEN(k->different))
        k->different[k->different_n++] = number;
    if (k->line_n) {
        k->again_n += known && number != k->last;
        k->reset_n += number < k->last && number <= k->least;
        k->down_n += number < k->last && number > k->least;
        k->other_n += number != k->last;
        k->same_n += number != k->last && step == k->step && step != UINT64_MAX;
    }
    k->by_8 |= number % 8 != 0;
    k->by_10 |= number % 10 != 0;
    k->step = step;
    k->least = !k->line_n || number < k->least ? number : k->least;
    k->most = number > k->most ? number : k->most;
    k->last = number;
    k->line_n++;
}

/* What srun says itself has no tag. */
static bool is_launcher(const char *line, size_t n)
{
    static const char *const launchers[] = {"srun: ", "slurmstepd: "};
    for (size_t i = 0; i < MT_ARRAY_LEN(launchers); i++)
        if (n >= strlen(launchers[i]) && memcmp(line, launchers[i], strlen(launchers[i])) == 0)
            return true;
    return false;
}

void mt_text_tags_add(struct mt_text_tags *t, const char *line, size_t n)
{
    uint64_t number;
    if (take_blanks(line, line + n) == line + n || is_launcher(line, n))
        return;
    t->line_n++;
    for (int i = 0; i < MT_TAG_N; i++) {
        const char *end = mt_text_tag(line, n, (enum mt_text_tag_kind)i, &number);
        if (!end)
            continue;
        add_tag(&t->kinds[i], number, step_of(end, line + n));
        t->kinds[i].rss_n += has_rss(end, line + n);
    }
}

void mt_text_tags_add_all(struct mt_text_tags *t, const char *text, size_t n)
{
    for (const char *end; (end = memchr(text, '\n', n)) != NULL;) {
        const size_t line = (size_t)(end - text);
        mt_text_tags_add(t, text, line && end[-1] == '\r' ? line - 1 : line);
        n -= line + 1;
        text = end + 1;
    }
}

/* ---- what they are ---- */

/* Whether the numbers look like PIDs: large ones near each other, or neighbours. No status of HTTP,
 * and no sizes: these are round. */
static bool are_pids(const struct mt_text_tag_lines *k, bool neighbours)
{
    enum { PID = 1000, SMALL = 100 };
    return (k->least >= PID && k->most / 2 < k->least && k->by_8 && k->by_10) ||
           (neighbours && k->least > 1 && k->most < SMALL);
}

/* Names and PIDs in columns that count nothing come in turns, each more than once; each of a few in
 * a block of lines may be a part of the work. */
static enum mt_text_tag_verdict judge_column(const struct mt_text_tag_lines *k,
                                             enum mt_text_tag_verdict several)
{
    enum { AGAIN = 2, LINES = 8, PID = 1000 };
    const bool pids = several == MT_TAG_PIDS;
    if (pids && k->least < PID)
        return MT_TAG_NONE;
    if (k->again_n >= AGAIN && k->different_n <= k->line_n / 2 &&
        k->different_n < MT_ARRAY_LEN(k->different))
        return pids && !(k->by_8 && k->by_10) ? MT_TAG_DOUBT : several;
    return k->line_n / LINES >= k->different_n ? MT_TAG_DOUBT : MT_TAG_NONE;
}

/* A count rises, and begins again; lines of several processes come as they are written, or are of
 * the same step. Numbers that stay for some lines may be epochs. */
enum mt_text_tag_verdict mt_text_tags_judge(const struct mt_text_tags *t,
                                            enum mt_text_tag_kind kind)
{
    enum { AGAIN = 2, PAIR = 3, FEW = 8, ROUNDS = 3, ALL_OF = 10, STAYS = 4 };
    const struct mt_text_tag_lines *k = &t->kinds[kind];
    const bool all = k->line_n >= t->line_n - t->line_n / ALL_OF;
    const bool neighbours = k->most - k->least + 1 == k->different_n;
    if (k->different_n < 2 || (!k->rss_n && !t->said))
        return MT_TAG_NONE;
    if (kind == MT_TAG_BAR || kind == MT_TAG_DATED)
        return judge_column(k, kind == MT_TAG_BAR ? MT_TAG_NAMES : MT_TAG_PIDS);
    if (k->again_n < AGAIN || k->different_n == MT_ARRAY_LEN(k->different))
        return MT_TAG_NONE;
    const bool same_step =
        k->same_n >= k->line_n / 3 || (k->other_n >= STAYS && k->same_n >= k->other_n / 2);
    const bool stays = k->other_n * 3 < k->line_n * 2;
    const bool turns = k->different_n <= PAIR && (all || k->reset_n >= ROUNDS);
    const bool mixed = k->down_n >= AGAIN || same_step || (turns && !stays);
    if (kind == MT_TAG_BRACKET && mixed && are_pids(k, neighbours))
        return MT_TAG_PIDS;
    if (mixed && ((neighbours && !k->least) || same_step || (kind == MT_TAG_LETTER && neighbours)))
        return MT_TAG_RANKS;
    if (mixed && kind == MT_TAG_COLON && all && (neighbours || !k->least))
        return MT_TAG_DOUBT;
    return neighbours && k->least <= 1 && (mixed || k->different_n <= FEW) &&
                   (k->reset_n >= ROUNDS || (turns && k->reset_n))
               ? MT_TAG_DOUBT
               : MT_TAG_NONE;
}
