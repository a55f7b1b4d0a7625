/*
 * Reader of what pidstat -r of sysstat prints: resident and virtual memory of processes over time.
 * docs/formats/pidstat.md says what is read.
 */
#include "formats/format.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <string.h>

enum { DAY = 24 * 3600, LATEST = INT32_MAX, DIGITS = 3, WORD = 32 };
static const int64_t nano = 1000 * 1000 * 1000;

/* Which words behind the time are what; -1: the table does not have it. */
struct columns {
    int pid, rss, virtual, command;
};

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_process_log log;
    struct columns columns;
    MT_VEC(struct said {
        uint32_t command; /* string id; MT_NONE: not known */
        int64_t gone_ns;  /* MT_GONE: it is there */
    })
    said;              /* of processes */
    bool begun, clock; /* a time is known; times are of a clock, not seconds of the epoch */
    bool older;        /* the time under way is before the first one */
    int64_t first_s, last_s, days_s;
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- times ---- */

/* "23:42:53", "11:42:53 PM": seconds of the day. */
static bool take_clock(struct mt_fields *f, int64_t *s)
{
    struct mt_fields g = *f;
    int64_t h, m;
    if (!mt_field_decimal(&g, &h) || !mt_field_take(&g, ":") || !mt_field_decimal(&g, &m) ||
        !mt_field_take(&g, ":") || !mt_field_decimal(&g, s) || h < 0 || h > 23 || m < 0 || m > 59 ||
        *s < 0 || *s > 60)
        return false;
    bool am = mt_field_take(&g, "AM "), pm = !am && mt_field_take(&g, "PM ");
    if ((am || pm) && (h < 1 || h > 12))
        return false;
    *s += ((am || pm ? h % 12 : h) + (pm ? 12 : 0)) * 3600 + m * 60;
    *f = g;
    return true;
}

/* A time of either kind; -H prints seconds of the epoch. */
static bool take_time(struct mt_fields *f, int64_t *s, bool *clock)
{
    *clock = take_clock(f, s);
    return *clock || (mt_field_decimal(f, s) && *s >= 0 && *s < LATEST && f->p < f->end &&
                      (*f->p == ' ' || *f->p == '\t'));
}

/* In ns from the first one. A clock that goes back by more than half a day is past midnight. */
static bool place_time(struct reader *r, int64_t s, bool clock, int64_t *t)
{
    if (!r->begun) {
        r->begun = true;
        r->clock = clock;
        r->first_s = r->last_s = s;
        r->rec->base_ns = clock ? 0 : s * nano;
    }
    if (clock != r->clock)
        return false;
    if (clock && s < r->last_s - DAY / 2)
        r->days_s += DAY;
    r->last_s = s;
    s += r->days_s - r->first_s;
    r->older = s < 0;
    *t = s < 0 ? 0 : s * nano;
    return true;
}

/* ---- fields ---- */

/* KiB; with --human in the largest unit with a letter, "20.4M". Locales have commas. A fraction
 * without a unit is another column's. */
static bool take_size(const char *s, size_t n, int64_t *bytes)
{
    static const char units[] = "BkMGTP";
    char word[WORD];
    int64_t v;
    if (!n || n >= sizeof word)
        return false;
    memcpy(word, s, n);
    const char *unit = memchr(units, word[n - 1], sizeof units - 1);
    int shift = unit ? (int)(unit - units) * 10 : 10;
    for (size_t i = 0; i < n; i++)
        word[i] = word[i] == ',' ? '.' : word[i];
    struct mt_fields f = mt_fields_of(word, n - (unit != NULL));
    bool fraction = memchr(word, '.', n);
    if (!mt_field_fraction(&f, DIGITS, &v) || v < 0 || !mt_field_end(&f) || (fraction && !unit))
        return false;
    *bytes = v / 1000 > INT64_MAX >> (shift + 1) ? INT64_MAX
                                                 : (v / 1000 << shift) + (v % 1000 << shift) / 1000;
    return true;
}

static bool is(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* Whether it is the head of a table, behind its time: which columns that has. */
static bool read_head(struct mt_fields f, struct columns *out)
{
    const char *s;
    size_t n;
    *out = (struct columns){-1, -1, -1, -1};
    for (int i = 0; mt_field_word(&f, &s, &n); i++) {
        if (i == 0 && !is(s, n, "UID") && !is(s, n, "USER"))
            return false;
        if (is(s, n, "PID") || is(s, n, "TGID"))
            out->pid = i;
        else if (is(s, n, "RSS"))
            out->rss = i;
        else if (is(s, n, "VSZ"))
            out->virtual = i;
        else if (is(s, n, "Command"))
            out->command = i;
    }
    return out->pid > 0;
}

/* ---- lines ---- */

struct row {
    int64_t pid, rss, virtual;
    const char *command;
    size_t command_n;
    bool thread; /* its memory is the process's */
};

static bool read_row(struct mt_fields f, const struct columns *c, struct row *out)
{
    const char *s;
    size_t n;
    *out = (struct row){.pid = -1, .rss = -1, .virtual = -1};
    for (int i = 0; !mt_field_end(&f) && out->command == NULL; i++) {
        struct mt_fields before = f;
        if (!mt_field_word(&f, &s, &n))
            return false;
        struct mt_fields word = mt_fields_of(s, n);
        if (i == c->pid && !(out->thread = is(s, n, "-")) &&
            (!mt_field_decimal(&word, &out->pid) || !mt_field_end(&word)))
            return false;
        if ((i == c->rss && !take_size(s, n, &out->rss)) ||
            (i == c->virtual && !take_size(s, n, &out->virtual)))
            return false;
        if (i == c->command)
            mt_field_rest(&before, &out->command, &out->command_n);
    }
    if (c->command >= 0 && !out->command)
        return false; /* it lacks a column: which one is not known */
    return out->thread || (out->pid >= 0 && out->pid <= INT32_MAX && out->rss >= 0);
}

/* Which command it is, where that is another one than before. */
static enum mt_status name_process(struct reader *r, size_t process, int64_t t,
                                   const struct row *row, struct mt_err *err)
{
    struct mt_strtab *strings = &r->rec->strings;
    uint32_t *known = &r->said.v[process].command;
    const char *s = row->command;
    size_t n = row->command_n;
    if (!n || (*known != MT_NONE && is(s, n, mt_strtab_get(strings, *known))))
        return MT_OK;
    *known = mt_strtab_add(strings, s, n);
    return mt_process_mark(&r->log, process, t, "command", s, n, row->rss, err);
}

/* One of the kernel's threads has no memory of its own, nor has a process that has ended. */
static enum mt_status without_memory(struct reader *r, int64_t t, const struct row *row,
                                     struct mt_err *err)
{
    size_t process = mt_process_find(&r->log, row->pid);
    if (process != SIZE_MAX && r->said.v[process].gone_ns == MT_GONE)
        r->said.v[process].gone_ns = t;
    return mt_process_until(&r->log, t, err);
}

static enum mt_status use_row(struct reader *r, int64_t t, const struct row *row,
                              struct mt_err *err)
{
    size_t process;
    if (row->thread)
        return MT_OK;
    if (!row->rss)
        return without_memory(r, t, row, err);
    MT_TRY(mt_process_of(&r->log, row->pid, &process, err));
    while (r->said.n <= process)
        *mt_vec_push(&r->said) = (struct said){MT_NONE, MT_GONE};
    if (r->older && !r->log.all.v[process].now) /* else it is before its last one, which is noted */
        mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)r->line.offset, 0);
    r->said.v[process].gone_ns = MT_GONE; /* another one of that number */
    MT_TRY(mt_process_level(&r->log, process, t, row->rss, err));
    t = r->log.all.v[process].now;
    if (row->virtual >= 0)
        MT_TRY(mt_process_sample(&r->log, process, MT_METRIC_VIRTUAL, t, row->virtual, err));
    return name_process(r, process, t, row, err);
}

static enum mt_status mark_ends(struct reader *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->said.n; i++)
        if (r->said.v[i].gone_ns != MT_GONE)
            MT_TRY(mt_process_mark(&r->log, i, r->said.v[i].gone_ns, "exit", "", 0, 0, err));
    return MT_OK;
}

/* "Linux 6.1.0 (host) ..." is the first line, "Average:" begins the last ones. */
static bool is_beside(struct mt_fields f)
{
    const char *s;
    size_t n;
    return !mt_field_word(&f, &s, &n) || is(s, n, "Linux") || s[n - 1] == ':';
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    struct columns columns;
    struct row row;
    int64_t s, t;
    bool clock;
    if (is_beside(f))
        return MT_OK;
    bool head = mt_field_take(&f, "#") && mt_field_take(&f, "Time");
    if (!head && !take_time(&f, &s, &clock)) {
        skip(r);
        return MT_OK;
    }
    if (read_head(f, &columns)) {
        r->columns = columns;
        return MT_OK;
    }
    if (head || r->columns.pid < 0)
        skip(r);
    else if (r->columns.rss >= 0 &&
             (!read_row(f, &r->columns, &row) || !place_time(r, s, clock, &t)))
        skip(r);
    else if (r->columns.rss >= 0)
        return use_row(r, t, &row, err);
    return MT_OK;
}

/* ---- the whole ---- */

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any)
        MT_TRY(read_line(r, err));
    MT_TRY(st);
    MT_TRY(mt_reader_found(r->rec,
                           "`pidstat -r -p PID 1` prints them; without -p, a process is "
                           "listed only when it did something.",
                           err));
    MT_TRY(mark_ends(r, err));
    mt_process_sole(&r->log);
    return mt_process_close(&r->log, err);
}

static enum mt_status pidstat_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                   struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .columns = {-1, -1, -1, -1},
    };
    mt_process_open(&r.log, rec);
    rec->resolution_ns = nano;
    enum mt_status st = read_all(&r, err);
    mt_process_free(&r.log);
    mt_vec_free(&r.said);
    return st;
}

/* The head of its table is among the first lines, and nothing but its own before that. */
static int pidstat_probe(const char *head, size_t n)
{
    struct mt_fields all = mt_fields_of(head, n);
    const char *s;
    size_t line;
    int64_t t;
    bool clock, table = false;
    for (int i = 0; i < 200 && n && mt_field_until(&all, '\n', &s, &line); i++) {
        struct mt_fields f = mt_fields_of(s, line - (line && s[line - 1] == '\r'));
        struct columns columns;
        if (is_beside(f))
            continue;
        if (!(mt_field_take(&f, "#") && mt_field_take(&f, "Time")) && !take_time(&f, &t, &clock))
            return 0;
        if (read_head(f, &columns)) {
            table = true;
            if (columns.rss >= 0)
                return 95;
        } else if (!table)
            return 0;
    }
    return 0;
}

const struct mt_reader mt_reader_pidstat = {
    .name = "pidstat",
    .kind = MT_RUN_PROCESS,
    .probe = pidstat_probe,
    .read = pidstat_read,
};
