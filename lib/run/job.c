#include "lib/run/job.h"

#include "gen/queries.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The number that digits at s write, s behind them; MT_UNKNOWN: none, or more than 9 digits, which
 * are a time or an id. */
static int64_t number_at(const char **s)
{
    enum { DIGITS = 9 };
    int64_t number = 0;
    int n = 0;
    for (; isdigit((unsigned char)**s); (*s)++, n++)
        number = n < DIGITS ? number * 10 + (**s - '0') : number;
    return n && n <= DIGITS ? number : MT_UNKNOWN;
}

/* "local_rank", "tp_rank": numbers of which there are several in a job. */
static bool is_of_part(const char *text, const char *word)
{
    static const char *const parts[] = {"local", "node", "group", "dp", "tp",
                                        "pp",    "cp",   "ep",    "mp"};
    for (size_t i = 0; i < MT_ARRAY_LEN(parts); i++) {
        const size_t n = strlen(parts[i]) + 1;
        if ((size_t)(word - text) < n || strncasecmp(word - n, parts[i], n - 1) != 0)
            continue;
        if (word - n == text || !isalpha((unsigned char)word[-(ptrdiff_t)n - 1]))
            return true; /* not "fsdp_rank", "dump_rank" */
    }
    return false;
}

/* What stands between a word and its number: "rank[3]", "rank: 3". */
static const char *skip_mark(const char *s)
{
    return s + (*s && strchr("-_.=:[ ", *s) != NULL);
}

/* The number of the word at p, up to end; MT_UNKNOWN: it has none. "tp_rank_3" is one of "tp". */
static int64_t number_of(const char *p, const char *end, const char *word)
{
    static const char rank[] = "rank";
    const size_t n = sizeof rank - 1;
    const char *digits = skip_mark(p + strlen(word));
    if (strcmp(word, rank) != 0 && digits + n < end && strncasecmp(digits, rank, n) == 0)
        digits = skip_mark(digits + n);
    return digits < end ? number_at(&digits) : MT_UNKNOWN;
}

/* In text up to end. */
static int64_t number_in(const char *text, const char *end, const char *word)
{
    int64_t found = MT_UNKNOWN;
    const size_t n = strlen(word);
    for (const char *p = text; p + n < end; p++) {
        bool inside = p > text && isalpha((unsigned char)p[-1]);
        if (strncasecmp(p, word, n) != 0 || inside || is_of_part(text, p))
            continue;
        int64_t number = number_of(p, end, word);
        found = number == MT_UNKNOWN ? found : number;
    }
    return found;
}

/* Whether a folder up to end is called nothing but the word and a number. */
static bool is_only(const char *folder, const char *end, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(end - folder) <= n || strncasecmp(folder, word, n) != 0)
        return false;
    const char *digits = skip_mark(folder + n);
    return digits < end && digits + strspn(digits, "0123456789") == end;
}

int64_t mt_number_behind(const char *path, const char *word)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int64_t number = number_in(name, name + strlen(name), word);
    for (bool right_above = true; slash && number == MT_UNKNOWN; right_above = false) {
        const char *end = slash;
        slash = memrchr(path, '/', (size_t)(end - path));
        const char *folder = slash ? slash + 1 : path;
        if (right_above || is_only(folder, end, word))
            number = number_in(folder, end, word);
    }
    return number;
}

/* The lengths of what all texts begin and end with; numbers stay whole. */
static void common_ends(const char *const *texts, size_t n, size_t *head, size_t *tail)
{
    *head = *tail = strlen(texts[0]);
    for (size_t i = 1; i < n; i++) {
        size_t len = strlen(texts[i]), first = strlen(texts[0]), at = 0;
        while (at < *head && at < len && texts[i][at] == texts[0][at])
            at++;
        *head = at;
        for (at = 0; at < *tail && at < len && texts[i][len - 1 - at] == texts[0][first - 1 - at];)
            at++;
        *tail = at;
    }
    size_t len = strlen(texts[0]);
    while (*head && isdigit((unsigned char)texts[0][*head - 1]))
        --*head;
    while (*tail && isdigit((unsigned char)texts[0][len - *tail]))
        --*tail;
}

/* Some ranks may be missing, but not nearly all. */
static bool count_processes(const int64_t *numbers, size_t n)
{
    enum { MISSING = 24 };
    bool small = true;
    for (size_t i = 0; i < n && small; i++)
        small = numbers[i] < (int64_t)(MISSING * (n + 1));
    return small;
}

bool mt_numbers_apart(const char *const *texts, size_t n, int64_t *out)
{
    size_t head, tail;
    int64_t *numbers = mt_alloc((n + 1) * sizeof *numbers);
    bool apart = n > 1;
    common_ends(texts, n, &head, &tail);
    for (size_t i = 0; i < n && apart; i++) {
        const char *p = texts[i] + head;
        apart = strlen(texts[i]) > head + tail && (numbers[i] = number_at(&p)) != MT_UNKNOWN &&
                p == texts[i] + strlen(texts[i]) - tail;
        for (size_t k = 0; k < i && apart; k++)
            apart = numbers[k] != numbers[i];
    }
    apart = apart && count_processes(numbers, n);
    if (apart)
        memcpy(out, numbers, n * sizeof *out);
    free(numbers);
    return apart;
}

char *mt_without_numbers(const char *text)
{
    char *out = mt_strdup(text), *to = out;
    for (const char *p = text; *p;) {
        const size_t n = strspn(p, "0123456789");
        *to++ = n ? '#' : *p;
        p += n ? n : 1;
    }
    *to = '\0';
    return out;
}

/* What a recorder says, where it can be. */
static int64_t number_told(const struct mt_stmt *s, int column)
{
    enum { MOST = 999999999 };
    int64_t v = mt_stmt_int_or(s, column, MT_UNKNOWN);
    return v >= 0 && v <= MOST ? v : MT_UNKNOWN;
}

/* By what the file or the run is called. */
static void place_by_name(const char *name, struct mt_job_place *out)
{
    const int64_t tp = mt_number_behind(name, "tp");
    const bool alone = mt_number_behind(name, "pp") == MT_UNKNOWN &&
                       mt_number_behind(name, "dp") == MT_UNKNOWN &&
                       mt_number_behind(name, "ep") == MT_UNKNOWN;
    if (out->rank == MT_UNKNOWN)
        out->rank = mt_number_behind(name, "rank");
    if (out->rank == MT_UNKNOWN && alone) /* SGLang's 1700.5-TP-3-memory.pickle */
        out->rank = tp;
    if (out->stage == MT_UNKNOWN)
        out->stage = mt_number_behind(name, "pp");
    if (out->tp == MT_UNKNOWN)
        out->tp = tp;
}

/* Who renames a run from rank3 to rank11 knows more than its file. */
static void place_by_user(const struct mt_run *run, struct mt_job_place *out)
{
    const int64_t named = mt_number_behind(run->name, "rank");
    out->told = out->rank != MT_UNKNOWN;
    if (out->told || named == MT_UNKNOWN || named == mt_number_behind(run->source, "rank"))
        return;
    out->rank = named;
    out->told = true;
}

/* The first place in a group of each sort counts. */
static enum mt_status place_in_groups(struct mt_db *db, const char *told, struct mt_job_place *out,
                                      struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_JOB_GROUPS, &s, err));
    mt_stmt_bind(s, "si", told, out->rank);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t *at = mt_stmt_int(s, 1) ? &out->stage : &out->tp;
        *at = *at == MT_UNKNOWN ? number_told(s, 0) : *at;
    }
}

static enum mt_status place_told(struct mt_db *db, const char *told, struct mt_job_place *out,
                                 struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_JOB_PLACE, &s, err));
    mt_stmt_bind(s, "s", told);
    MT_TRY(mt_stmt_step(s, &row, err));
    out->rank = number_told(s, 0);
    out->rank_n = number_told(s, 1);
    mt_stmt_end(s);
    return out->rank == MT_UNKNOWN ? MT_OK : place_in_groups(db, told, out, err);
}

enum mt_status mt_job_place(struct mt_db *db, const struct mt_run *run, struct mt_job_place *out,
                            struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (struct mt_job_place){MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN, false};
    MT_TRY(mt_db_query(db, MT_Q_JOB_TOLD, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    char *told = row ? mt_strdup(mt_stmt_text(s, 0)) : NULL;
    mt_stmt_end(s);
    enum mt_status st = told ? place_told(db, told, out, err) : MT_OK;
    free(told);
    place_by_user(run, out);
    place_by_name(run->source, out);
    place_by_name(run->name, out);
    return st;
}
