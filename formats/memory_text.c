/*
 * Reader of memory that programs print by themselves, among other lines: names, numbers and units
 * ("Iteration 3: RSS = 317.57 MB"), and of /usr/bin/time -v. docs/formats/memory-text.md says what
 * is read.
 */
#include "formats/format.h"
#include "formats/text_figures.h"
#include "formats/text_names.h"
#include "formats/text_steps.h"
#include "formats/text_time.h"
#include "formats/text_time_v.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 200 /* of the head that are looked at, and of these enough is */ };
static const int64_t micro = 1000 * 1000;

/* ---- lines ---- */

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_text_line text; /* the line under way, its owners and pairs */
    struct mt_text_figures figures;
    int64_t event_n;            /* lines that say something: the time, unless they say it */
    struct mt_text_clock clock; /* where the pattern has times */
    bool timed;
    struct mt_text_steps steps;
    int64_t level_n;
    int64_t elapsed_ns;       /* as time -v says; -1: it does not */
    int64_t matched_n;        /* lines that match the pattern */
    bool peak;                /* one is said */
    char first[MT_PAIR_NAME]; /* line of the file, or what fits of it */
    char other[MT_PAIR_NAME]; /* the first field that is a metric of its own */
    struct mt_text_names names;
    bool said;        /* the line under way says something */
    uint64_t mixed_n; /* figures of several owners that are not told apart */
};

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

static void begin_step(struct reader *r, const struct mt_text_pair *p)
{
    if (!mt_text_steps_count(&r->steps, r->rec, mt_text_step_word(p->name)))
        return;
    say(r);
    const struct mt_text_said said = {.owner = p->owner,
                                      .number = p->value / micro,
                                      .now = now(r),
                                      .line = r->event_n,
                                      .offset = (int64_t)r->line.offset};
    mt_text_steps_begin(&r->steps, r->rec, &said);
}

/* -1: it has no name, or there are too many, with a note. */
static int metric_of(struct reader *r, const char *name)
{
    char metric[MT_TEXT_NAME];
    struct mt_note *note = &r->rec->notes[MT_NOTE_NAMES_LEFT_OUT];
    mt_text_names_metric(name, metric);
    int own = *metric ? mt_rec_metric(r->rec, metric) : -1;
    if (*metric && own < 0) {
        if (!note->count)
            mt_rec_note_detail(r->rec, MT_NOTE_NAMES_LEFT_OUT, "%s", metric);
        mt_rec_note(r->rec, MT_NOTE_NAMES_LEFT_OUT, (int64_t)r->line.offset, 0);
    }
    return own;
}

static enum mt_status use_pair(struct reader *r, const struct mt_text_pair *p, struct mt_err *err)
{
    int64_t bytes;
    const enum mt_pair_meaning meaning = p->meaning;
    int metric = meaning == MT_PAIR_PEAK ? MT_METRIC_PEAK_RSS : MT_METRIC_RSS;
    if (p->owner == MT_TEXT_UNCLEAR) {
        r->mixed_n++;
        return MT_OK;
    }
    if (!mt_text_pair_bytes(p, &bytes)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    if (!bytes && meaning != MT_PAIR_OTHER) /* no process has none: it is not known */
        return MT_OK;
    if (meaning == MT_PAIR_OTHER && (metric = metric_of(r, p->name)) < 0)
        return MT_OK;
    say(r);
    if (p->unclear)
        mt_rec_note(r->rec, MT_NOTE_UNITS, (int64_t)r->line.offset, 0);
    if (meaning == MT_PAIR_OTHER && !r->other[0])
        snprintf(r->other, sizeof r->other, "%s", p->name);
    r->peak |= meaning == MT_PAIR_PEAK;
    r->level_n += meaning == MT_PAIR_LEVEL;
    const struct mt_text_figure figure = {
        .t = r->timed ? now(r) : mt_text_steps_time(&r->steps, r->rec, p->owner, now(r)),
        .bytes = bytes,
        .owner = p->owner,
        .told = meaning == MT_PAIR_OTHER ? 0 : r->text.owners.told,
        .metric = metric};
    return mt_text_figures_add(&r->figures, &r->text.owners, &figure, err);
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
    size_t n =
        mt_text_pattern_match(r->opts->pattern, r->text.plain.s, r->text.plain.n, fields, &any);
    r->matched_n += any;
    for (size_t i = 0; i < n; i++) {
        const struct mt_text_field *f = &fields[i];
        mt_text_owners_unlearn(&r->text.owners, r->text.plain.s, r->text.plain.n,
                               (size_t)(f->number - r->text.plain.s));
        if (strcmp(f->name, "time") == 0) {
            MT_TRY(take_time(r, f, err));
            continue;
        }
        struct mt_fields number = mt_fields_of(f->number, f->n);
        struct mt_text_pair p = {.unit = f->unit, .unclear = f->unclear, .meaning = MT_PAIR_OTHER};
        snprintf(p.name, sizeof p.name, "%s", f->name);
        p.meaning = strcmp(p.name, "step") == 0       ? MT_PAIR_STEP
                    : strcmp(p.name, "rss") == 0      ? MT_PAIR_LEVEL
                    : strcmp(p.name, "peak_rss") == 0 ? MT_PAIR_PEAK
                                                      : MT_PAIR_OTHER;
        if (p.meaning == MT_PAIR_STEP ? f->goes_on != NULL : !p.unit) {
            err->offset = (int64_t)r->line.offset;
            return mt_text_field_refuse(f, err);
        }
        if (mt_field_fraction(&number, MT_PAIR_DIGITS, &p.value))
            *mt_vec_push(&r->text.pairs) = p;
        else
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
    }
    mt_text_owners_take(&r->text.owners, r->text.plain.s, r->text.plain.n);
    const uint32_t owner = mt_text_owners_line(&r->text.owners);
    for (size_t i = 0; i < r->text.pairs.n; i++)
        r->text.pairs.v[i].owner = owner;
    return MT_OK;
}

/* Peaks come last: what they are the peak of includes what the line says of now. */
static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    const struct mt_buf *line = &r->text.plain;
    r->said = false;
    r->text.pairs.n = 0;
    if (!r->first[0])
        snprintf(r->first, sizeof r->first, "%.*s",
                 (int)(line->n < MT_PAIR_NAME ? line->n : MT_PAIR_NAME - 1), line->s);
    if (r->opts->pattern)
        MT_TRY(find_fields(r, err));
    else if (mt_text_time_v(mt_fields_of(r->text.plain.s, r->text.plain.n), (int64_t)r->line.offset,
                            r->rec, &r->elapsed_ns))
        return MT_OK;
    else {
        mt_text_line_pairs(&r->text);
        mt_text_names_tell(&r->names, &r->text, r->rec, (int64_t)r->line.offset);
    }
    for (int peaks = 0; peaks < 2; peaks++)
        for (size_t i = 0; i < r->text.pairs.n; i++) {
            const struct mt_text_pair *p = &r->text.pairs.v[i];
            if (p->meaning == MT_PAIR_STEP && !peaks)
                begin_step(r, p);
            else if (p->meaning > MT_PAIR_STEP && (p->meaning == MT_PAIR_PEAK) == peaks)
                MT_TRY(use_pair(r, p, err));
        }
    return MT_OK;
}

/* What stands between ends of lines may be several lines on a terminal. */
static enum mt_status read_lines(struct reader *r, struct mt_err *err)
{
    size_t at = 0;
    mt_text_owners_watch(&r->text.owners, r->line.s, r->line.n, r->line.offset);
    do {
        at += mt_text_line_next(&r->text, r->line.s + at, r->line.n - at);
        MT_TRY(read_line(r, err));
    } while (at < r->line.n);
    return MT_OK;
}

/* ---- the whole ---- */

/* Times are what the pattern says, else numbers of lines where these say more than one thing of
 * memory; else there are none. */
static enum mt_status end(struct reader *r, struct mt_err *err)
{
    struct mt_recording *rec = r->rec;
    MT_TRY(mt_text_figures_end(&r->figures, &r->text.owners, err));
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
            MT_TRY(mt_process_until(&r->figures.log, r->elapsed_ns, err));
    }
    rec->event_n = (uint64_t)r->event_n;
    return mt_process_close(&r->figures.log, err);
}

/* Where figures are of several processes, and memtool does not know of which; or where they may be,
 * and may be those of one. */
static void note_mixed(struct reader *r)
{
    const struct mt_text_figures *f = &r->figures;
    const uint32_t owner_n = r->text.owners.names.n - 1;
    const char *front = f->apart ? NULL : mt_text_owners_doubt(&r->text.owners);
    if (r->opts->processes == MT_WRITERS_ONE)
        return;
    if (r->mixed_n || f->mixed || (r->opts->processes == MT_WRITERS_SEVERAL && !f->apart))
        mt_rec_note_n(r->rec, MT_NOTE_PROCESSES, owner_n > 2 ? owner_n : 2, -1);
    else if (f->told_others || f->told || front || r->names.foreign_n)
        mt_rec_note_n(r->rec, MT_NOTE_OWNERS, 1, -1);
    mt_rec_note_detail(r->rec, MT_NOTE_OWNERS, "%s",
                       front ? front
                       : f->told_others || f->told
                           ? "several workers or others, whom one may tell of"
                           : "what is perhaps another process's");
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    const struct mt_text_owners_known known = {
        .said = r->opts->pattern != NULL,
        .one = r->opts->processes == MT_WRITERS_ONE,
        .several = r->opts->processes == MT_WRITERS_SEVERAL,
    };
    mt_text_owners_learn(&r->text.owners, r->lines.in, known);
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any)
        MT_TRY(read_lines(r, err));
    MT_TRY(st);
    mt_text_names_note(&r->names, r->rec);
    MT_TRY(end(r, err));
    note_mixed(r);
    return MT_OK;
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
    mt_text_line_init(&r.text);
    mt_text_figures_open(&r.figures, rec);
    enum mt_status st = read_all(&r, err);
    mt_text_figures_free(&r.figures);
    mt_text_line_free(&r.text);
    mt_text_steps_free(&r.steps);
    mt_text_names_free(&r.names);
    return st;
}

/* The peak of time -v, or the memory of the process twice; once it is said to be the process's. */
static int memory_text_probe(const char *head, size_t n)
{
    static const char time_v[] = "\tMaximum resident set size (kbytes): ";
    int found = 0, own = 0;
    if (!n || memchr(head, '\0', n))
        return 0;
    if (memmem(head, n, time_v, sizeof time_v - 1))
        return 40;
    struct mt_text_line text;
    mt_text_line_init(&text);
    for (int i = 0; i < LINES && n; i++) {
        const size_t line = mt_text_line_next(&text, head, n);
        if (text.plain.n < 1000)
            mt_text_line_pairs(&text);
        for (size_t k = 0; k < text.pairs.n && text.plain.n < 1000; k++) {
            const struct mt_text_pair *p = &text.pairs.v[k];
            found += !p->sign && (p->meaning == MT_PAIR_LEVEL || p->meaning == MT_PAIR_PEAK);
            own += mt_text_pair_is_own(p);
        }
        head += line;
        n -= line;
    }
    mt_text_line_free(&text);
    return found > 1 && own ? 25 : 0;
}

const struct mt_reader mt_reader_memory_text = {
    .name = "memory-text",
    .kind = MT_RUN_PROCESS,
    .probe = memory_text_probe,
    .read = memory_text_read,
};
