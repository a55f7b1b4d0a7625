/*
 * Reader of memory that programs print by themselves, among other lines: names, numbers and units
 * ("Iteration 3: RSS = 317.57 MB"), and of /usr/bin/time -v. docs/formats/memory-text.md says what
 * is read.
 */
#include "formats/format.h"
#include "formats/text_time.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGITS = 6, /* of numbers */
    NAME = 64,  /* bytes of a name */
    LINES = 200 /* of the head that are looked at, and of these enough is */
};
static const int64_t micro = 1000 * 1000;

/* What a line says: a name, a number in millionths, and bytes of its unit, or 0. */
struct pair {
    char name[NAME]; /* lower case, words with one blank between */
    int64_t value, unit;
    bool unclear; /* mt_text_unit_unclear */
    enum meaning { NOTHING, STEP, LEVEL, PEAK, OTHER } meaning;
};

/* ---- pairs ---- */

static bool is_break(char c)
{
    return c == ',' || c == ';' || c == '|' || c == '\t';
}

/* Adds a word to the name, or what fits of it. */
static void add_word(struct pair *p, const char *s, size_t n)
{
    size_t at = strlen(p->name);
    if (at && at + 1 < NAME)
        p->name[at++] = ' ';
    for (size_t i = 0; i < n && at + 1 < NAME; i++)
        p->name[at++] = (char)tolower((unsigned char)s[i]);
    p->name[at] = '\0';
}

static void set_unit(struct pair *p, const char *s, size_t n)
{
    p->unit = mt_text_unit(s, n);
    p->unclear = mt_text_unit_unclear(s, n);
}

/* A name may end in its unit: "rss (kbytes)", "rss [mb]". */
static void take_unit(struct pair *p)
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

/* The next name and number of the line, and what is left of it; false: there is none. */
static bool next_pair(struct mt_fields *f, struct pair *out)
{
    *out = (struct pair){0};
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
        if (!mt_field_fraction(&number, DIGITS, &out->value) || out->value < 0) {
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

/* Whether the name ends in a word for a step of a loop, and which; a longer loop is in an epoch. */
static int step_word(const char *name)
{
    static const char *const words[] = {"epoch", "step", "iteration", "iter", "batch"};
    const char *last = strrchr(name, ' ');
    last = last ? last + 1 : name;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
        if (strcmp(last, words[i]) == 0)
            return (int)i + 1;
    return 0;
}

static enum meaning meaning_of(const struct pair *p)
{
    static const char *const rss[] = {"rss", "resident", NULL};
    static const char *const most[] = {"max", "peak", NULL};
    static const char *const of_others[] = {"torch", "cuda", "gpu", "device", "average", NULL};
    static const char *const others[] = {"mem",  "alloc", "reserv", "heap", "cuda", "gpu",
                                         "swap", "uss",   "pss",    "vms",  NULL};
    if (!p->unit)
        return step_word(p->name) && p->value % micro == 0 ? STEP : NOTHING;
    if (strstr(p->name, "average"))
        return NOTHING;
    bool usage = strstr(p->name, "memory usage") && !has(p->name, of_others);
    if ((has(p->name, rss) && !has(p->name, of_others)) || usage)
        return has(p->name, most) ? PEAK : LEVEL;
    return has(p->name, others) ? OTHER : NOTHING;
}

/* Bytes of a pair; false: too many. */
static bool bytes_of(const struct pair *p, int64_t *bytes)
{
    if (p->value / micro > (INT64_C(1) << 60) / p->unit)
        return false;
    *bytes = p->value / micro * p->unit + p->value % micro * p->unit / micro;
    return true;
}

/* ---- lines ---- */

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_process_log log;
    size_t process;
    int64_t event_n;            /* lines that say something: the time, unless they say it */
    struct mt_text_clock clock; /* where the pattern has times */
    bool timed;
    int64_t step_line; /* event_n of the line where the last step began */
    int64_t level_n;
    int64_t elapsed_ns;        /* as time -v says; -1: it does not */
    int64_t matched_n;         /* lines that match the pattern */
    bool peak;                 /* one is said */
    char first[NAME];          /* line of the file, or what fits of it */
    char other[NAME];          /* the first field that is a metric of its own */
    int step_of;               /* the word that counts steps: the innermost loop's */
    MT_VEC(struct pair) pairs; /* of the line under way */
    bool said;                 /* the line under way says something */
};

/* "h:mm:ss" or "m:ss.cc" */
static bool take_elapsed(struct mt_fields *f, int64_t *ns)
{
    enum { SECONDS = 9 };
    int64_t part, sum = 0;
    const char *colon;
    while ((colon = memchr(f->p, ':', (size_t)(f->end - f->p)))) {
        if (!mt_field_decimal(f, &part) || part < 0 || part > INT32_MAX || sum > INT32_MAX ||
            !mt_field_take(f, ":"))
            return false;
        sum = sum * 60 + part;
    }
    if (!mt_field_fraction(f, SECONDS, ns) || sum > INT32_MAX || *ns < 0)
        return false;
    *ns += sum * 60 * 1000 * micro;
    return true;
}

/* Lines of time -v that are no memory; false: it is none of them. */
static bool read_time_v(struct reader *r)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    const char *s;
    size_t n;
    if (mt_field_take(&f, "Elapsed (wall clock) time (h:mm:ss or m:ss):"))
        return take_elapsed(&f, &r->elapsed_ns);
    if (mt_field_take(&f, "Command being timed:")) {
        mt_field_rest(&f, &s, &n);
        bool quoted = n > 1 && s[0] == '"' && s[n - 1] == '"';
        mt_rec_meta_text(r->rec, "cmd", s + quoted, n - 2 * (size_t)quoted);
        return true;
    }
    if (!mt_field_take(&f, "Exit status:"))
        return false;
    mt_field_rest(&f, &s, &n);
    mt_rec_meta_text(r->rec, "exit_status", s, n);
    return true;
}

/* What the line says is said at the next time. */
static void say(struct reader *r)
{
    r->event_n += !r->said;
    r->said = true;
}

/* When the line under way is. */
static int64_t now(const struct reader *r)
{
    return r->timed ? r->clock.now_ns : r->event_n;
}

/* A step begins; the one before ends. Where loops lie in each other the inner one's count. */
static void begin_step(struct reader *r, const struct pair *p)
{
    struct mt_recording *rec = r->rec;
    int word = step_word(p->name);
    int64_t number = p->value / micro;
    if (word < r->step_of)
        return;
    if (word > r->step_of)
        rec->steps.n = 0;
    r->step_of = word;
    say(r);
    struct mt_step *last = rec->steps.n ? &rec->steps.v[rec->steps.n - 1] : NULL;
    if (last && r->step_line == r->event_n)
        return;
    if (last && last->number == number)
        return; /* more lines of it */
    if (last && number < last->number) {
        mt_rec_note(rec, MT_NOTE_STEPS_NUMBER, (int64_t)r->line.offset, 0);
        number = last->number + 1;
    }
    if (last)
        last->end_ns = now(r);
    *mt_vec_push(&rec->steps) = (struct mt_step){number, now(r), now(r)};
    r->step_line = r->event_n;
}

/* -1: it has no name, or there are too many, with a note. */
static int metric_of(struct reader *r, const char *name)
{
    char metric[MT_TEXT_NAME];
    struct mt_note *note = &r->rec->notes[MT_NOTE_NAMES];
    mt_text_metric(name, metric);
    int own = *metric ? mt_rec_metric(r->rec, metric) : -1;
    if (*metric && own < 0) {
        if (!note->count)
            mt_rec_note_detail(r->rec, MT_NOTE_NAMES, "%s", metric);
        mt_rec_note(r->rec, MT_NOTE_NAMES, (int64_t)r->line.offset, 0);
    }
    return own;
}

static enum mt_status use_pair(struct reader *r, const struct pair *p, struct mt_err *err)
{
    int64_t bytes;
    const enum meaning meaning = p->meaning;
    int metric = meaning == PEAK ? MT_METRIC_PEAK_RSS : 0;
    if (!bytes_of(p, &bytes)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    if (!bytes && meaning != OTHER) /* no process has none: it is not known */
        return MT_OK;
    if (meaning == OTHER && (metric = metric_of(r, p->name)) < 0)
        return MT_OK;
    say(r);
    if (p->unclear)
        mt_rec_note(r->rec, MT_NOTE_UNITS, (int64_t)r->line.offset, 0);
    if (meaning == OTHER && !r->other[0])
        snprintf(r->other, sizeof r->other, "%s", p->name);
    r->peak |= meaning == PEAK;
    if (meaning == LEVEL) {
        r->level_n++;
        return mt_process_level(&r->log, r->process, now(r), bytes, err);
    }
    if (meaning == PEAK)
        MT_TRY(mt_process_peak(&r->log, r->process, bytes, err));
    return mt_process_sample(&r->log, r->process, metric, now(r), bytes, err);
}

static enum mt_status refuse_unit(struct reader *r, const struct mt_text_field *f,
                                  struct mt_err *err)
{
    int n = (int)f->n, behind = (int)f->behind_n;
    err->offset = (int64_t)r->line.offset;
    if (f->goes_on) {
        MT_FAIL(err, MT_EINPUT, "the number of {%s}, %.*s, goes on behind a comma", f->name, n,
                f->number);
        mt_err_hint(err, "Nothing was imported. A number has digits and perhaps a point.");
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

static enum mt_status take_time(struct reader *r, const struct mt_text_field *f, struct mt_err *err)
{
    enum mt_text_time before = r->clock.kind;
    if (mt_text_clock_take(&r->clock, f->number, f->n, f->unit)) {
        if (r->clock.back)
            mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    err->offset = (int64_t)r->line.offset;
    MT_FAIL(err, MT_EINPUT, "the time of {time}, %.*s, cannot be read%s", (int)f->n, f->number,
            before ? ", or is none like those before" : "");
    mt_err_hint(err, "Nothing was imported. A time is a date with a time of day, a time of day "
                     "(23:38:55), or seconds; say in the pattern what else a number is: {time:ms}, "
                     "{time:us}, {time:ns}.");
    return MT_EINPUT;
}

/* What is said where the pattern says. */
static enum mt_status find_fields(struct reader *r, struct mt_err *err)
{
    struct mt_text_field fields[MT_TEXT_FIELDS];
    bool any;
    size_t n = mt_text_pattern_match(r->opts->pattern, r->line.s, r->line.n, fields, &any);
    r->matched_n += any;
    for (size_t i = 0; i < n; i++) {
        const struct mt_text_field *f = &fields[i];
        if (strcmp(f->name, "time") == 0) {
            MT_TRY(take_time(r, f, err));
            continue;
        }
        struct mt_fields number = mt_fields_of(f->number, f->n);
        struct pair p = {.unit = f->unit, .unclear = f->unclear, .meaning = OTHER};
        snprintf(p.name, sizeof p.name, "%s", f->name);
        p.meaning = strcmp(p.name, "step") == 0       ? STEP
                    : strcmp(p.name, "rss") == 0      ? LEVEL
                    : strcmp(p.name, "peak_rss") == 0 ? PEAK
                                                      : OTHER;
        if (p.meaning != STEP && !p.unit)
            return refuse_unit(r, f, err);
        if (mt_field_fraction(&number, DIGITS, &p.value))
            *mt_vec_push(&r->pairs) = p;
        else
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
    }
    return MT_OK;
}

static void find_pairs(struct reader *r)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    struct pair p;
    while (next_pair(&f, &p)) {
        p.meaning = meaning_of(&p);
        *mt_vec_push(&r->pairs) = p;
    }
}

/* Peaks come last: what they are the peak of includes what the line says of now. */
static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    r->said = false;
    r->pairs.n = 0;
    if (!r->first[0])
        snprintf(r->first, sizeof r->first, "%.*s", (int)(r->line.n < NAME ? r->line.n : NAME - 1),
                 r->line.s);
    if (r->opts->pattern)
        MT_TRY(find_fields(r, err));
    else if (read_time_v(r))
        return MT_OK;
    else
        find_pairs(r);
    for (int peaks = 0; peaks < 2; peaks++)
        for (size_t i = 0; i < r->pairs.n; i++) {
            const struct pair *p = &r->pairs.v[i];
            if (p->meaning == STEP && !peaks)
                begin_step(r, p);
            else if (p->meaning > STEP && (p->meaning == PEAK) == peaks)
                MT_TRY(use_pair(r, p, err));
        }
    return MT_OK;
}

/* ---- the whole ---- */

/* Times are what the pattern says, else numbers of lines where these say more than one thing of
 * memory; else there are none. */
static enum mt_status end(struct reader *r, struct mt_err *err)
{
    struct mt_recording *rec = r->rec;
    if (r->opts->pattern && !r->matched_n) {
        err->offset = -1;
        MT_FAIL(err, MT_EINPUT, "no line matches --pattern");
        mt_err_hint(err,
                    "Nothing was imported. The first line is '%s'. Try a shorter pattern, such as "
                    "one field with the word before it.",
                    r->first);
        return MT_EINPUT;
    }
    if (!r->level_n && !rec->samples.n) {
        err->offset = -1;
        MT_FAIL(err, MT_EINPUT, "holds no value of memory that can be read");
        mt_err_hint(err, "Nothing was imported.");
        return MT_EINPUT;
    }
    if (r->opts->pattern && !r->level_n && !r->peak) {
        mt_rec_note_detail(rec, MT_NOTE_NO_LEVEL,
                           "no field is {rss} or {peak_rss}; {%s} is a metric of its own. Did you "
                           "mean {rss}?",
                           r->other);
        mt_rec_note(rec, MT_NOTE_NO_LEVEL, -1, 0);
    }
    if (rec->steps.n)
        rec->steps.v[rec->steps.n - 1].end_ns = now(r);
    rec->step_marker = rec->steps.n ? "lines" : NULL;
    rec->time_unit = "samples";
    if (r->timed)
        mt_text_clock_end(&r->clock, rec);
    if (r->event_n == 1 && !rec->steps.n) {
        rec->time_unit = r->elapsed_ns < 0 ? NULL : "ns";
        rec->resolution_ns = r->elapsed_ns < 0 ? 0 : 10 * micro;
        rec->samples.n = 0; /* who knows when; the peak is told */
        rec->end_ns = 0;
        if (r->elapsed_ns >= 0)
            MT_TRY(mt_process_until(&r->log, r->elapsed_ns, err));
    }
    rec->event_n = (uint64_t)r->event_n;
    return mt_process_close(&r->log, err);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    MT_TRY(mt_process_of(&r->log, -1, &r->process, err));
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any)
        MT_TRY(read_line(r, err));
    MT_TRY(st);
    return end(r, err);
}

static enum mt_status memory_text_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                       struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .elapsed_ns = -1,
        .timed = opts->pattern && mt_text_pattern_has_time(opts->pattern),
    };
    mt_process_open(&r.log, rec);
    enum mt_status st = read_all(&r, err);
    mt_process_free(&r.log);
    mt_vec_free(&r.pairs);
    return st;
}

/* The peak of time -v, or the memory of the process twice. */
static int memory_text_probe(const char *head, size_t n)
{
    static const char time_v[] = "\tMaximum resident set size (kbytes): ";
    int found = 0;
    if (!n || memchr(head, '\0', n))
        return 0;
    if (memmem(head, n, time_v, sizeof time_v - 1))
        return 40;
    for (int i = 0; i < LINES && n; i++) {
        const char *end = memchr(head, '\n', n);
        size_t line = end ? (size_t)(end - head) : n;
        struct mt_fields f = mt_fields_of(head, line);
        struct pair p;
        while (line < 1000 && next_pair(&f, &p))
            found += meaning_of(&p) == LEVEL || meaning_of(&p) == PEAK;
        head += end ? line + 1 : line;
        n -= end ? line + 1 : line;
    }
    return found > 1 ? 25 : 0;
}

const struct mt_reader mt_reader_memory_text = {
    .name = "memory-text",
    .kind = MT_RUN_PROCESS,
    .probe = memory_text_probe,
    .read = memory_text_read,
};
