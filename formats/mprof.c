/*
 * Reader of what mprof of Python's memory_profiler writes (mprofile_*.dat): resident memory of a
 * process and its children over time, and calls of functions. docs/formats/mprof.md says what is
 * read.
 */
#include "formats/format.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <string.h>

enum {
    SECONDS = 9,            /* digits of times */
    MEBIBYTES = 6,          /* of sizes */
    RESOLUTION = 100 * 1000 /* ns: it writes four digits of a second */
};
static const int64_t mib = 1024 * 1024, micro = 1000 * 1000;

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_process_log log;
    bool begun;         /* the first time is known */
    uint64_t command_n; /* each run of mprof begins with one */
    MT_VEC(struct early {
        int64_t before, start, after, end; /* times of the epoch */
        uint32_t name;                     /* string id */
    })
    early; /* calls before the first value */
    uint64_t beside;
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- fields ---- */

/* MiB with six digits are bytes but for the half of one: the kernel counts KiB. */
static bool take_size(struct mt_fields *f, int64_t *bytes)
{
    int64_t v;
    if (!mt_field_fraction(f, MEBIBYTES, &v) || v < 0 || v / micro > INT64_MAX / mib - 1)
        return false;
    *bytes = mt_process_whole(v / micro * mib + v % micro * mib / micro, 1024, 2);
    return true;
}

/* Seconds of the epoch. */
static bool take_time(struct mt_fields *f, int64_t *t)
{
    return mt_field_fraction(f, SECONDS, t) && *t >= 0;
}

/* Since the file's zero; what is older is of that time. */
static int64_t place_time(const struct reader *r, int64_t t, bool *older)
{
    *older |= t < r->rec->base_ns;
    return t < r->rec->base_ns ? 0 : t - r->rec->base_ns;
}

/* ---- lines ---- */

static void read_command(struct reader *r, struct mt_fields *f)
{
    const char *s;
    size_t n;
    mt_field_rest(f, &s, &n);
    mt_rec_meta_text(r->rec, "cmd", s, n);
    r->command_n++;
}

static enum mt_status give_call(struct reader *r, const struct early *c, struct mt_err *err)
{
    const char *name = mt_strtab_get(&r->rec->strings, c->name);
    size_t process, n = strlen(name);
    bool older = false;
    int64_t start = place_time(r, c->start, &older), end = place_time(r, c->end, &older);
    MT_TRY(mt_process_of(&r->log, -1, &process, err));
    if (older)
        mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)r->line.offset, 0);
    MT_TRY(mt_process_mark(&r->log, process, start, "call", name, n, c->before, err));
    return mt_process_mark(&r->log, process, end, "return", name, n, c->after, err);
}

/* The first value is the file's zero. */
static enum mt_status begin(struct reader *r, int64_t t, struct mt_err *err)
{
    if (r->begun)
        return MT_OK;
    r->begun = true;
    r->rec->base_ns = t;
    for (size_t i = 0; i < r->early.n; i++)
        MT_TRY(give_call(r, &r->early.v[i], err));
    return MT_OK;
}

/* "MEM 16.839844 1795253488.3987", or of a child, whose number stands before that. A process that
 * is gone has no bytes. */
static enum mt_status read_level(struct reader *r, struct mt_fields *f, bool child,
                                 struct mt_err *err)
{
    int64_t number = -1, bytes, t;
    size_t process;
    bool older = false;
    if ((child && (!mt_field_decimal(f, &number) || number < 0)) || !take_size(f, &bytes) ||
        !take_time(f, &t) || !mt_field_end(f)) {
        skip(r);
        return MT_OK;
    }
    MT_TRY(begin(r, t, err));
    t = place_time(r, t, &older);
    MT_TRY(mt_process_of(&r->log, number, &process, err));
    if (!bytes)
        return mt_process_until(&r->log, t, err);
    if (older && !r->log.all.v[process].now) /* else it is before its last one, which is noted */
        mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)r->line.offset, 0);
    return mt_process_level(&r->log, process, t, bytes, err);
}

/* "FUNC module.name 12.3477 1795253493.5698 20.1094 1795253494.0001 1". The program writes them
 * when it ends, mprof its values after some seconds: of a short run calls stand before all else. */
static enum mt_status read_call(struct reader *r, struct mt_fields *f, struct mt_err *err)
{
    struct early c;
    const char *name;
    size_t n;
    int64_t depth;
    if (!mt_field_word(f, &name, &n) || !take_size(f, &c.before) || !take_time(f, &c.start) ||
        !take_size(f, &c.after) || !take_time(f, &c.end) || c.end < c.start ||
        (!mt_field_end(f) && (!mt_field_decimal(f, &depth) || !mt_field_end(f)))) {
        skip(r);
        return MT_OK;
    }
    c.name = mt_strtab_add(&r->rec->strings, name, n);
    if (r->begun)
        return give_call(r, &c, err);
    *mt_vec_push(&r->early) = c;
    mt_rec_beside(r->rec, &r->beside, mt_vec_bytes(&r->early));
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    if (mt_field_take(&f, "MEM "))
        return read_level(r, &f, false, err);
    if (mt_field_take(&f, "CHLD "))
        return read_level(r, &f, true, err);
    if (mt_field_take(&f, "FUNC "))
        return read_call(r, &f, err);
    if (mt_field_take(&f, "CMDLINE"))
        read_command(r, &f);
    else if (!mt_field_end(&f))
        skip(r);
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
    MT_TRY(mt_reader_found(
        r->rec, "The program ended before mprof looked at it, or the file is damaged.", err));
    if (r->command_n > 1) /* it appends to a file that is there */
        mt_rec_note_n(r->rec, MT_NOTE_APPENDED, r->command_n, -1);
    return mt_process_close(&r->log, err);
}

static enum mt_status mprof_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                 struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    mt_process_open(&r.log, rec);
    rec->resolution_ns = RESOLUTION;
    enum mt_status st = read_all(&r, err);
    mt_process_free(&r.log);
    mt_rec_beside(rec, &r.beside, 0);
    mt_vec_free(&r.early);
    return st;
}

/* Calls of functions, a command line, sizes and times: in this order, where they are there. */
static int mprof_probe(const char *head, size_t n)
{
    struct mt_fields f = mt_fields_of(head, n);
    const char *s;
    size_t len;
    int64_t size, time;
    if (mt_field_take(&f, "FUNC "))
        return mt_field_word(&f, &s, &len) && mt_field_fraction(&f, MEBIBYTES, &size) &&
                       mt_field_fraction(&f, SECONDS, &time) &&
                       mt_field_fraction(&f, MEBIBYTES, &size)
                   ? 90
                   : 0;
    bool command = mt_field_take(&f, "CMDLINE ");
    if (command && !mt_field_until(&f, '\n', &s, &len))
        return 0;
    if (command && mt_field_take(&f, "FUNC "))
        return 90;
    return mt_field_take(&f, "MEM ") && mt_field_fraction(&f, MEBIBYTES, &size) &&
                   mt_field_fraction(&f, SECONDS, &time)
               ? 93
               : 0;
}

const struct mt_reader mt_reader_mprof = {
    .name = "mprof",
    .kind = MT_RUN_PROCESS,
    .probe = mprof_probe,
    .read = mprof_read,
};
