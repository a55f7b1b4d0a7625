#include "lib/run/job.h"

#include "gen/queries.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* Of the rank on its own machine there are several in a job. */
static bool is_local(const char *part, const char *word)
{
    static const char local[] = "local";
    const size_t n = sizeof local - 1;
    return word - part > (ptrdiff_t)n && strncmp(word - n - 1, local, n) == 0;
}

/* In text up to end. */
static int64_t number_in(const char *text, const char *end, const char *word)
{
    int64_t found = MT_UNKNOWN;
    const size_t n = strlen(word);
    for (const char *p = text; p + n < end; p++) {
        bool inside = p > text && isalpha((unsigned char)p[-1]);
        if (strncmp(p, word, n) != 0 || inside || is_local(text, p))
            continue;
        const char *digits = p + n + (strchr("-_.=", p[n]) != NULL);
        int64_t number = digits < end ? number_at(&digits) : MT_UNKNOWN;
        found = number == MT_UNKNOWN ? found : number;
    }
    return found;
}

int64_t mt_number_behind(const char *path, const char *word)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *folder = slash;
    int64_t number = number_in(name, name + strlen(name), word);
    if (number != MT_UNKNOWN || !slash)
        return number;
    while (folder > path && folder[-1] != '/')
        folder--;
    return number_in(folder, slash, word);
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
    if (apart)
        memcpy(out, numbers, n * sizeof *out);
    free(numbers);
    return apart;
}

/* What a recorder says, where it can be. */
static int64_t number_told(const struct mt_stmt *s, int column)
{
    enum { MOST = 999999999 };
    int64_t v = mt_stmt_int_or(s, column, MT_UNKNOWN);
    return v >= 0 && v <= MOST ? v : MT_UNKNOWN;
}

enum mt_status mt_job_place(struct mt_db *db, const struct mt_run *run, struct mt_job_place *out,
                            struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (struct mt_job_place){MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN};
    MT_TRY(mt_db_query(db, MT_Q_JOB_PLACE, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row)
        *out = (struct mt_job_place){number_told(s, 0), number_told(s, 1), number_told(s, 2)};
    const char *const texts[] = {run->source, run->name};
    for (size_t i = 0; i < MT_ARRAY_LEN(texts); i++) {
        if (out->rank == MT_UNKNOWN)
            out->rank = mt_number_behind(texts[i], "rank");
        if (out->stage == MT_UNKNOWN)
            out->stage = mt_number_behind(texts[i], "pp");
    }
    while (row)
        MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}
