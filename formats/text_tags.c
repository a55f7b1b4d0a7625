#include "formats/text_tags.h"

#include "formats/text_header.h"
#include "formats/text_signs.h"
#include "lib/base/mem.h"
#include <strings.h>

/* Whether a sign of these is there, or the line ends. */
static bool is_at(const char *p, const char *end, const char *signs)
{
    return p == end || (*p && strchr(signs, *p));
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._-", c));
}

/* "train-1  | ": the name and its number, and more blanks than one: names are filled up to the
 * longest. What is called like a thread or a part of the work is no container. Not *sure: "node1:
 * ", "worker-1 | " and "train-1 ", of what may be a machine. */
static const char *take_bar(const char *line, const char *end, uint64_t *hash, bool *sure)
{
    static const char *const hosts[] = {"worker", "node",    "host",    "server",  "pod",   "ip-",
                                        "train",  "replica", "compute", "machine", "master"};
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
    const char *bar = mt_take_blanks(p, end);
    if (!letters || number == p || bar == end)
        return NULL;
    *sure = strchr("-_", number[-1]) && bar - p >= 2 && *bar == '|';
    for (size_t i = 0; i < MT_ARRAY_LEN(others) && *sure; i++)
        if (strncasecmp(line, others[i], strlen(others[i])) == 0)
            return NULL;
    if (*sure)
        return bar + 1;
    for (size_t i = 0; i < MT_ARRAY_LEN(hosts); i++)
        if (strncasecmp(line, hosts[i], strlen(hosts[i])) == 0)
            return (*p == ':' && mt_is_one_of(p + 1, end, " ")) || (bar > p && *bar == '|') ||
                           (bar > p && strchr("-_", number[-1]))
                       ? p + 1
                       : NULL;
    return NULL;
}

/* "4711 VmRSS: 5 MB": a number that may be a PID, and nothing else between it and the figure. */
static bool is_pid_of_rss(const char *p, const char *end, uint64_t number)
{
    enum { PID = 1000, VM = 2 };
    p = mt_take_blanks(p, end);
    p += end - p > VM && strncasecmp(p, "vm", VM) == 0 ? VM : 0;
    return number >= PID && end - p > 3 && strncasecmp(p, "rss", 3) == 0;
}

/* mt_text_tag, and whether it is in a form that others than processes hardly have. */
static const char *take_tag(const char *line, size_t n, enum mt_text_tag_kind kind,
                            uint64_t *number, bool *sure)
{
    const char *end = line + n, *p = mt_take_blanks(line, end);
    if (kind == MT_TAG_BAR)
        return take_bar(line, end, number, sure);
    if (kind == MT_TAG_HEADER)
        return mt_text_tag(line, n, MT_TAG_COLON, number) ||
                       mt_text_tag(line, n, MT_TAG_BRACKET, number)
                   ? NULL
                   : mt_text_header(line, n, number, sure);
    if (kind == MT_TAG_LETTER && p < end && (*p == 'R' || *p == 'r'))
        p++;
    else if (kind == MT_TAG_BRACKET && p < end && *p == '[')
        p = mt_take_blanks(p + 1, end);
    else if (kind != MT_TAG_COLON)
        return NULL;
    p = mt_take_number(p, end, number);
    if (p && kind == MT_TAG_COLON && mt_is_one_of(p, end, " "))
        return is_pid_of_rss(p, end, *number) ? p : NULL;
    if (!p || p == end || *p != (kind == MT_TAG_BRACKET ? ']' : ':'))
        return NULL;
    p++;
    return is_at(p, end, kind == MT_TAG_BRACKET ? " \t:[|" : " \t") ? p : NULL;
}

const char *mt_text_tag(const char *line, size_t n, enum mt_text_tag_kind kind, uint64_t *number)
{
    bool sure;
    return take_tag(line, n, kind, number, &sure);
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
    bool sure;
    return take_bar(line, end, &hash, &sure);
}

const char *mt_text_tag_syslog(const char *line, size_t n, uint64_t *pid)
{
    enum { DIGITS = 8, LEAST = 100 }; /* less: of services, or "layer[3]" */
    const char *end = line + n, *p = line;
    const bool bsd = mt_is_month(line, n), iso = mt_has_form(line, end, "0000-00-00T00:00:00");
    for (int words = bsd ? 4 : 2; words && (bsd || iso); words--) { /* time, and the host */
        while (p < end && *p != ' ')
            p++;
        p = mt_take_blanks(p, end);
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
    return p > digits && *pid >= LEAST && mt_has_form(p, end, "]:") ? p + 2 : NULL;
}

const char *mt_text_tag_proc(const char *line, size_t n, uint64_t *pid)
{
    static const char proc[] = "/proc/";
    enum { DIGITS = 8 };
    const char *end = line + n, *digits = line + sizeof proc - 1, *p = digits;
    if (n < sizeof proc || memcmp(line, proc, sizeof proc - 1) != 0)
        return NULL;
    for (*pid = 0; p < end && isdigit((unsigned char)*p) && p - digits < DIGITS; p++)
        *pid = *pid * 10 + (uint64_t)(*p - '0');
    if (p == digits || p == end || *p != '/')
        return NULL;
    p = memchr(p, ':', (size_t)(end - p));
    return p ? p + 1 : NULL;
}

const char *mt_text_tag_mpirun(const char *line, size_t n, uint64_t *rank)
{
    static const char *const streams[] = {"]<stdout>:", "]<stderr>:"};
    const char *end = line + n, *p = mt_is_one_of(line, end, "[") ? line + 1 : NULL;
    while (p && p < end && (isalnum((unsigned char)*p) || mt_is_one_of(p, end, "-._@")))
        p++;
    p = p && mt_is_one_of(p, end, ",") ? mt_take_number(p + 1, end, rank) : NULL;
    for (size_t i = 0; p && i < MT_ARRAY_LEN(streams); i++) {
        n = strlen(streams[i]);
        if ((size_t)(end - p) >= n && memcmp(p, streams[i], n) == 0)
            return p + n;
    }
    return NULL;
}

/* ---- what lines have ---- */

/* Whether the text at p begins with the word, in any case. */
static bool has_word(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && (*p | ' ') == *word && strncasecmp(p, word, n) == 0;
}

/* The number behind the first word for a step that is none of an epoch; UINT64_MAX: none. */
static uint64_t step_of(const char *p, const char *end)
{
    static const char *const words[] = {"step", "iteration", "iter"};
    for (const char *s = p; s < end; s++)
        for (size_t i = 0; i < MT_ARRAY_LEN(words); i++) {
            uint64_t number = 0;
            if (!has_word(s, end, words[i]) || (s > p && isalpha((unsigned char)s[-1])))
                continue;
            const char *at = s + strlen(words[i]);
            while (mt_is_one_of(at, end, " :=#["))
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
    for (; p < end; p++)
        if (has_word(p, end, "rss") || has_word(p, end, "resident") ||
            has_word(p, end, "memory usage"))
            return true;
    return false;
}

enum { BY_8 = 1, BY_10 = 2, BY_32 = 4, BY_50 = 8, BY_2 = 16 /* and by nothing else */ };

static unsigned not_by(uint64_t number)
{
    return (number % 8 ? BY_8 : 0u) | (number % 10 ? BY_10 : 0u) | (number % 32 ? BY_32 : 0u) |
           (number % 50 ? BY_50 : 0u) | (number & (number - 1) ? BY_2 : 0u);
}

static bool is_status(uint64_t number)
{
    static const uint16_t all[] = {200, 201, 202, 204, 206, 301, 302, 303, 304, 307,
                                   308, 400, 401, 403, 404, 405, 408, 409, 410, 413,
                                   422, 429, 499, 500, 501, 502, 503, 504};
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++)
        if (all[i] == number)
            return true;
    return false;
}

/* The lines of a number end, as that with index i comes: as last time, or not? */
static void end_run(struct mt_text_tag_lines *k, size_t i)
{
    const uint16_t run = (uint16_t)(k->run_n < UINT16_MAX ? k->run_n : UINT16_MAX);
    if (k->runs[k->last_i]) {
        k->turn_n++;
        k->odd_n += k->runs[k->last_i] != run || k->nexts[k->last_i] != i;
    }
    k->runs[k->last_i] = run;
    k->nexts[k->last_i] = (uint16_t)i;
    k->run_n = 0;
}

static void add_tag(struct mt_text_tag_lines *k, uint64_t number, uint64_t step)
{
    const size_t most = MT_ARRAY_LEN(k->different);
    size_t i = 0;
    while (i < k->different_n && k->different[i] != number)
        i++;
    const bool known = i < k->different_n;
    if (!known && i < most)
        k->different[k->different_n++] = number;
    if (k->line_n) {
        k->again_n += known && number != k->last;
        k->reset_n += number < k->last && number <= k->least;
        k->down_n += number < k->last && number > k->least;
        k->other_n += number != k->last;
        k->same_n += number != k->last && step == k->step && step != UINT64_MAX;
    }
    if (k->line_n && number != k->last && i < most)
        end_run(k, i);
    k->not_by |= not_by(number);
    k->no_status |= !is_status(number);
    k->step = step;
    k->least = !k->line_n || number < k->least ? number : k->least;
    k->most = number > k->most ? number : k->most;
    k->last = number;
    k->last_i = i < most ? i : k->last_i;
    k->run_n++;
    k->line_n++;
}

/* The letters of a line, of which all that say the same have the same. */
static uint32_t words_of(const char *p, const char *end)
{
    enum { MOST = 100 };
    uint32_t hash = 2166136261U;
    for (int i = 0; i < MOST && p < end; i++, p++)
        if (isalpha((unsigned char)*p))
            hash = (hash ^ (unsigned char)*p) * 16777619U;
    return hash;
}

/* A line that may say what a process has. */
static void add_rss(struct mt_text_tag_lines *k, uint64_t number, uint32_t words)
{
    struct mt_text_tag_words *w = &k->words[words % MT_ARRAY_LEN(k->words)];
    k->rss_several |= k->rss_n && number != k->rss_last;
    k->shared |= w->words == words && w->number != number;
    *w = (struct mt_text_tag_words){words, number};
    k->rss_last = number;
    k->rss_n++;
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
    if (mt_take_blanks(line, line + n) == line + n)
        return;
    if (is_launcher(line, n)) {
        t->launched = true;
        return;
    }
    t->line_n++;
    for (int i = 0; i < MT_TAG_N; i++) {
        struct mt_text_tag_lines *k = &t->kinds[i];
        bool sure = false;
        const char *end = take_tag(line, n, (enum mt_text_tag_kind)i, &number, &sure);
        if (!end)
            continue;
        add_tag(k, number, step_of(end, line + n));
        k->sure_n += sure;
        if (t->said || has_rss(end, line + n))
            add_rss(k, number, words_of(end, line + n));
    }
}

size_t mt_text_tags_add_all(struct mt_text_tags *t, const char *text, size_t n)
{
    const char *begin = text;
    for (const char *end; (end = memchr(text, '\n', n)) != NULL;) {
        const size_t line = (size_t)(end - text);
        mt_text_tags_add(t, text, line && end[-1] == '\r' ? line - 1 : line);
        n -= line + 1;
        text = end + 1;
    }
    return (size_t)(text - begin);
}

/* ---- what they are ---- */

/* Whether all numbers are such as sizes of data have, or answers of HTTP. */
static bool are_sizes(const struct mt_text_tag_lines *k)
{
    return (k->least > 1 && !(k->not_by & BY_2)) || !(k->not_by & BY_32) || !(k->not_by & BY_50) ||
           !k->no_status;
}

/* Whether a few numbers are there again and again, in so many lines that it is no chance. */
static bool are_few(const struct mt_text_tag_lines *k)
{
    enum { AGAIN = 2, FEW = 4 };
    return k->again_n >= AGAIN && k->different_n < MT_ARRAY_LEN(k->different) &&
           k->different_n <= k->line_n / (k->different_n <= FEW ? 2 : FEW);
}

/* Whether numbers look like PIDs: large ones near each other. */
static bool are_large(const struct mt_text_tag_lines *k)
{
    enum { PID = 1000 };
    return k->least >= PID && k->most / 2 < k->least;
}

/* Whether each number has many lines, and none comes again: parts of the work, or processes one
 * behind the other; what counts has neighbours. */
static bool are_blocks(const struct mt_text_tag_lines *k)
{
    enum { LINES = 8, SMALL = 100 };
    return k->least >= SMALL && k->most - k->least + 1 != k->different_n &&
           k->line_n / LINES >= k->different_n && !are_sizes(k);
}

/* Names and PIDs in columns that count nothing come in turns, each more than once, and say the
 * same; each of a few in a block of lines may be a part of the work. Small numbers may be anything.
 */
static enum mt_text_tag_verdict judge_column(const struct mt_text_tag_lines *k,
                                             enum mt_text_tag_verdict several)
{
    enum { AGAIN = 2, FEW = 8, PID = 1000 };
    const bool pids = several == MT_TAG_PIDS;
    const bool neighbours = k->most - k->least + 1 == k->different_n;
    const bool counts = pids && neighbours && k->down_n < AGAIN && k->different_n > FEW;
    if (!are_few(k) || counts || (pids && are_sizes(k)))
        return are_blocks(k) || (!pids && k->line_n / FEW >= k->different_n) ? MT_TAG_DOUBT
                                                                             : MT_TAG_NONE;
    if (pids && !k->shared)
        return MT_TAG_NONE; /* numbers of lines of the program */
    const bool round = !(k->not_by & BY_8) || !(k->not_by & BY_10);
    return k->sure_n < k->line_n || (pids && (k->least < PID || round)) ? MT_TAG_DOUBT : several;
}

/* Numbers that may be PIDs, and what they are then. */
static enum mt_text_tag_verdict judge_pids(const struct mt_text_tag_lines *k)
{
    enum { SMALL = 100 };
    const bool neighbours = k->most - k->least + 1 == k->different_n;
    if (are_sizes(k) || !are_few(k))
        return MT_TAG_NONE;
    if (are_large(k))
        return (k->not_by & BY_8) && (k->not_by & BY_10) ? MT_TAG_PIDS : MT_TAG_DOUBT;
    if (neighbours && k->least > 1 && k->most < SMALL)
        return MT_TAG_PIDS;
    return k->least > 1 && !neighbours ? MT_TAG_DOUBT : MT_TAG_NONE;
}

/* A count rises, and begins again; lines of several processes come as they are written, or are of
 * the same step. Numbers that stay for some lines may be epochs. */
static enum mt_text_tag_verdict judge_front(const struct mt_text_tags *t,
                                            const struct mt_text_tag_lines *k,
                                            enum mt_text_tag_kind kind)
{
    enum { AGAIN = 2, PAIR = 3, FEW = 8, ROUNDS = 3, ALL_OF = 10, STAYS = 4, TURNS = 8 };
    const bool all = k->line_n >= t->line_n - t->line_n / ALL_OF;
    const bool neighbours = k->most - k->least + 1 == k->different_n;
    if (kind == MT_TAG_BRACKET && k->again_n < AGAIN && are_large(k) && are_blocks(k))
        return MT_TAG_DOUBT;
    if (k->again_n < AGAIN || k->different_n == MT_ARRAY_LEN(k->different))
        return MT_TAG_NONE;
    const bool same_step =
        k->same_n >= k->line_n / 3 || (k->other_n >= STAYS && k->same_n >= k->other_n / 2);
    const bool stays = k->other_n * 3 < k->line_n * 2;
    const bool turns = k->different_n <= PAIR && (all || k->reset_n >= ROUNDS);
    const bool mixed = k->down_n >= AGAIN || same_step || (turns && !stays);
    const bool in_order = k->odd_n * TURNS < k->turn_n; /* as a program goes through its parts */
    const bool may_be_pids = kind == MT_TAG_BRACKET || (kind == MT_TAG_COLON && are_large(k));
    const enum mt_text_tag_verdict pids = may_be_pids && mixed ? judge_pids(k) : MT_TAG_NONE;
    if (pids)
        return pids;
    if (mixed && ((neighbours && !k->least) || same_step || (kind == MT_TAG_LETTER && neighbours)))
        return kind == MT_TAG_LETTER || t->launched ||
                       (!in_order && k->shared && !(same_step && are_sizes(k)))
                   ? MT_TAG_RANKS
                   : MT_TAG_DOUBT;
    if (mixed && kind == MT_TAG_COLON && all && (neighbours || !k->least))
        return MT_TAG_DOUBT;
    return neighbours && k->least <= 1 && (mixed || k->different_n <= FEW) &&
                   (k->reset_n >= ROUNDS || (turns && k->reset_n))
               ? MT_TAG_DOUBT
               : MT_TAG_NONE;
}

/* Where one number alone has figures, they are of one process, whatever the number is. */
enum mt_text_tag_verdict mt_text_tags_judge(const struct mt_text_tags *t,
                                            enum mt_text_tag_kind kind)
{
    const struct mt_text_tag_lines *k = &t->kinds[kind];
    if (k->different_n < 2 || !k->rss_n)
        return MT_TAG_NONE;
    const enum mt_text_tag_verdict v =
        kind == MT_TAG_BAR || kind == MT_TAG_HEADER
            ? judge_column(k, kind == MT_TAG_BAR ? MT_TAG_NAMES : MT_TAG_PIDS)
            : judge_front(t, k, kind);
    return v == MT_TAG_DOUBT && !k->rss_several ? MT_TAG_NONE : v;
}

enum mt_text_tag_verdict mt_text_tags_apart(const struct mt_text_tags *t,
                                            enum mt_text_tag_kind kind)
{
    enum { PID = 100 };
    return kind == MT_TAG_BAR                                     ? MT_TAG_NAMES
           : kind == MT_TAG_HEADER || t->kinds[kind].least >= PID ? MT_TAG_PIDS
                                                                  : MT_TAG_RANKS;
}
