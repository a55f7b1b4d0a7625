/*
 * Reader of what psrecord --log writes: resident and virtual memory of a process over time.
 * docs/formats/psrecord.md says what is read.
 */
#include "formats/format.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <string.h>

enum {
    DIGITS = 9, /* of all numbers */
    PAGE = 4096
};
static const int64_t mib = 1024 * 1024, nano = 1000 * 1000 * 1000;
static const int64_t shell_most = 4 * 1024 * 1024; /* that a shell has in memory as it waits */
static const char csv_head[] = "elapsed_time,nproc,cpu,mem_real,mem_virtual";
static const char plain_head[] = "# Elapsed time";

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_process_log log;
    size_t process;
    int64_t value_n, most_b;
    bool worked; /* it used the processor, behind the first value */
};

/* A number; of those in csv, which have all digits of a double, exponents are of tiny ones. */
static bool take_number(struct mt_fields *f, int64_t *v)
{
    int64_t exponent;
    if (!mt_field_fraction(f, DIGITS, v) || *v < 0)
        return false;
    if (mt_field_take(f, "e-")) {
        if (!mt_field_decimal(f, &exponent))
            return false;
        *v = 0;
    }
    return true;
}

/* MiB: three digits of one tell pages apart. */
static bool take_size(struct mt_fields *f, int64_t *bytes)
{
    int64_t v;
    if (!take_number(f, &v))
        return false;
    *bytes = mt_process_whole(v / nano * mib + v % nano * mib / nano, PAGE, mib / 2000 + 1);
    return true;
}

struct values {
    int64_t t, cpu, real, virtual;
};

/* "elapsed cpu real virtual", or with commas and the number of processes before the cpu's. What
 * --include-io adds is not read. */
static bool read_values(struct mt_fields *f, struct values *v)
{
    int64_t n;
    if (!take_number(f, &v->t))
        return false;
    if (mt_field_take(f, ","))
        return mt_field_decimal(f, &n) && mt_field_take(f, ",") && take_number(f, &v->cpu) &&
               mt_field_take(f, ",") && take_size(f, &v->real) && mt_field_take(f, ",") &&
               take_size(f, &v->virtual);
    return take_number(f, &v->cpu) && take_size(f, &v->real) && take_size(f, &v->virtual);
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    struct values v;
    if (mt_field_take(&f, "#") || mt_field_take(&f, csv_head) || mt_field_end(&f))
        return MT_OK;
    if (!read_values(&f, &v)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    if (!v.real) /* it is gone */
        return mt_process_until(&r->log, v.t, err);
    r->worked |= r->value_n++ && v.cpu;
    r->most_b = v.real > r->most_b ? v.real : r->most_b;
    MT_TRY(mt_process_level(&r->log, r->process, v.t, v.real, err));
    return mt_process_sample(&r->log, r->process, MT_METRIC_VIRTUAL, r->log.all.v[r->process].now,
                             v.virtual, err);
}

/* psrecord starts a command by a shell, and looks at that. Where it does not become the program, as
 * Debian's, it waits: it works no more, and is as small as shells are. */
static void note_shell(struct reader *r)
{
    if (r->value_n < 2 || r->worked || r->most_b > shell_most)
        return;
    mt_rec_note_detail(r->rec, MT_NOTE_UNWATCHED,
                       "psrecord looked at the shell that waits for the program, it seems; let it "
                       "start \"exec PROGRAM\", or give it --include-children");
    mt_rec_note(r->rec, MT_NOTE_UNWATCHED, -1, 0);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    MT_TRY(mt_process_of(&r->log, -1, &r->process, err));
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any)
        MT_TRY(read_line(r, err));
    MT_TRY(st);
    note_shell(r);
    return mt_process_close(&r->log, err);
}

static enum mt_status psrecord_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                    struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    mt_process_open(&r.log, rec);
    rec->resolution_ns = nano / 1000;
    enum mt_status st = read_all(&r, err);
    mt_process_free(&r.log);
    return st;
}

static int psrecord_probe(const char *head, size_t n)
{
    struct mt_fields f = mt_fields_of(head, n);
    if (n && mt_field_take(&f, plain_head) && mt_field_take(&f, "CPU (%)") &&
        mt_field_take(&f, "Real (MB)"))
        return 95;
    return n >= sizeof csv_head - 1 && memcmp(head, csv_head, sizeof csv_head - 1) == 0 ? 95 : 0;
}

const struct mt_reader mt_reader_psrecord = {
    .name = "psrecord",
    .kind = MT_RUN_PROCESS,
    .probe = psrecord_probe,
    .read = psrecord_read,
};
