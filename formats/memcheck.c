/*
 * Reader of the leaks that memcheck (valgrind --leak-check=full) reports as text, alone or between
 * other lines of a log. docs/formats/memcheck.md says what is read.
 */
#include "formats/leak_report.h"
#include "formats/valgrind_frames.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"

#include <string.h>

static const char tool[] = "Memcheck, a memory error detector", in_record[] = "loss record ";

/* Kinds as records and the summary name them. */
static const char *const names[MT_LEAK_KIND_N] = {
    [MT_LEAK_DEFINITE] = "definitely lost", [MT_LEAK_INDIRECTLY_LOST] = "indirectly lost",
    [MT_LEAK_POSSIBLE] = "possibly lost",   [MT_LEAK_REACHABLE] = "still reachable",
    [MT_LEAK_SUPPRESSED] = "suppressed",
};

/* How far a process has come. */
struct process {
    uint64_t id; /* of its records */
    bool in_summary, ended, any;
    bool summed_up; /* its summary has come as far as what is reachable, the last kind of leaks */
    bool quiet;     /* it has said nothing before its records (valgrind -q), nor will behind */
    int64_t listed_n, of; /* records, and how many there are; of those some may not be listed */
};

struct reader {
    struct mt_lines lines;
    struct mt_leak_report report;
    struct mt_recording *rec;
    struct mt_buf text; /* scratch */
    MT_VEC(struct process) processes;
    struct mt_map process_at; /* number -> index of the last one that had it */
    bool cut_off;             /* the last line has no end */
    uint64_t in_stack;        /* id of the process whose record's frames come; 0 = none */
    bool used, unused;        /* some process says that it allocated, another that it did not */
};

/* Takes "==12== ", with or without the time before the number. */
static bool take_number(struct mt_fields *f, uint64_t *process)
{
    const char *s;
    size_t n;
    int64_t v;
    if (!mt_field_take(f, "==") || !mt_field_until(f, '=', &s, &n) || !mt_field_take(f, "="))
        return false;
    const char *blank = memrchr(s, ' ', n); /* 00:00:00:01.705 12 */
    struct mt_fields number = mt_fields_of(blank ? blank : s, n - (size_t)(blank ? blank - s : 0));
    if (!mt_field_decimal(&number, &v) || !mt_field_end(&number) || v <= 0)
        return false;
    *process = (uint64_t)v;
    return true;
}

/* The same behind what a log has before each line, such as when it came. */
static bool take_head(struct mt_fields *f, uint64_t *process)
{
    for (const char *at; (at = memmem(f->p, (size_t)(f->end - f->p), "==", 2)); f->p = at + 2) {
        struct mt_fields here = {at, f->end};
        if (take_number(&here, process)) {
            *f = here;
            return true;
        }
    }
    return false;
}

static struct process *new_process(struct reader *r, uint32_t *at)
{
    *at = (uint32_t)r->processes.n;
    struct process *p = mt_vec_push(&r->processes);
    *p = (struct process){.id = r->processes.n, .quiet = true};
    return p;
}

static struct process *process_of(struct reader *r, uint64_t number)
{
    uint32_t *at = mt_map_at(&r->process_at, number);
    return *at == MT_NONE ? new_process(r, at) : &r->processes.v[*at];
}

/* A process begins: one that had its number before was another. */
static void begin(struct reader *r, uint64_t number)
{
    uint32_t *at = mt_map_at(&r->process_at, number);
    if (*at == MT_NONE || r->processes.v[*at].any || r->processes.v[*at].ended)
        new_process(r, at);
    r->processes.v[*at].quiet = false;
}

/* ---- records ---- */

/* "12 bytes in 3 blocks"; of "12 (4 direct, 8 indirect) bytes" the direct ones are the record's. */
static bool take_sizes(struct mt_fields *f, int64_t *bytes, int64_t *blocks)
{
    int64_t indirect;
    return mt_leak_take_bytes(f, bytes, &indirect) && mt_field_take(f, "bytes in") &&
           mt_leak_take_size(f, blocks) && mt_field_take(f, "blocks");
}

/* "in loss record 2 of 9": how many there are; -1: it does not say. */
static int64_t records_of(struct mt_fields f)
{
    int64_t number, of;
    return mt_field_take(&f, "in loss record") && mt_field_thousands(&f, &number) &&
                   mt_field_take(&f, "of") && mt_field_thousands(&f, &of)
               ? of
               : -1;
}

/* Whether the line is the first of a record. A process that has reported before does so anew. */
static bool read_record(struct reader *r, struct process *p, const struct mt_line *line,
                        struct mt_fields f, enum mt_status *st, struct mt_err *err)
{
    int64_t bytes, blocks;
    if (!take_sizes(&f, &bytes, &blocks) || !mt_field_take(&f, "are")) {
        if (memmem(line->s, line->n, in_record, sizeof in_record - 1))
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
        return false;
    }
    for (int k = 0; k < MT_LEAK_KIND_N; k++) {
        if (!names[k] || !mt_field_take(&f, names[k]))
            continue;
        if (p->ended) {
            mt_leak_report_forget(&r->report, p->id);
            p->listed_n = 0;
        }
        p->ended = p->in_summary = false;
        p->any = true;
        p->listed_n++;
        p->of = records_of(f);
        r->in_stack = p->id;
        *st = mt_leak_report_add(&r->report, (enum mt_leak_kind)k, bytes, blocks, p->id, err);
        return true;
    }
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0); /* of what kind is lost */
    return false;
}

/* Whether the line is "at 0x12: f (file.c:3)" or "by ..". */
static bool read_frame(struct reader *r, struct mt_fields f)
{
    const char *rest;
    size_t n;
    if (!mt_field_take(&f, "at 0x") && !mt_field_take(&f, "by 0x"))
        return false;
    f.p -= 2;
    mt_field_rest(&f, &rest, &n);
    mt_buf_set(&r->text, rest, n);
    uint64_t address;
    struct mt_native_frame frame = mt_valgrind_frame(r->text.s, &address);
    mt_leak_report_frame(&r->report, &frame, address);
    return true;
}

/* ---- summaries ---- */

/* "definitely lost: 12 bytes in 3 blocks": what the records do not list has no call path. */
static enum mt_status read_total(struct reader *r, struct process *p, const struct mt_line *line,
                                 struct mt_fields f, struct mt_err *err)
{
    int64_t bytes, blocks;
    for (int k = 0; k < MT_LEAK_KIND_N; k++)
        if (names[k] && mt_field_take(&f, names[k])) {
            if (!mt_field_take(&f, ":") || !take_sizes(&f, &bytes, &blocks)) {
                mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
                return MT_OK;
            }
            p->summed_up |= k == MT_LEAK_REACHABLE;
            r->in_stack = 0; /* of another process: what comes is no longer its last record */
            return mt_leak_report_total(
                &r->report, (enum mt_leak_kind)k, bytes, blocks, p->id,
                k == MT_LEAK_SUPPRESSED
                    ? "valgrind suppressed them"
                    : "valgrind --leak-check=full --show-leak-kinds=all lists them",
                err);
        }
    return MT_OK;
}

/* "total heap usage: 9 allocs, 8 frees, 90 bytes allocated", of the process that ends. */
static void read_usage(struct reader *r, struct mt_fields f)
{
    int64_t n;
    if (mt_field_thousands(&f, &n) && mt_field_take(&f, "allocs")) {
        r->used |= n != 0;
        r->unused |= n == 0;
    }
}

static void end(struct reader *r, struct process *p)
{
    if (p->ended)
        mt_leak_report_forget(&r->report, p->id);
    p->ended = true;
}

static enum mt_status read_line(struct reader *r, const struct mt_line *line, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    enum mt_status st = MT_OK;
    uint64_t number;
    if (!take_head(&f, &number)) {
        if (r->in_stack && line->n > 2 && memcmp(line->s, "==", 2) == 0)
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
        return MT_OK;
    }
    if (mt_field_take(&f, tool)) {
        begin(r, number);
        return MT_OK;
    }
    struct process *p = process_of(r, number);
    if (r->in_stack == p->id && read_frame(r, f))
        return MT_OK;
    r->in_stack = r->in_stack == p->id ? 0 : r->in_stack;
    if (read_record(r, p, line, f, &st, err))
        return st;
    if (mt_field_take(&f, "LEAK SUMMARY:")) {
        end(r, p);
        p->in_summary = true;
        p->summed_up = false;
    } else if (mt_field_take(&f, "All heap blocks were freed")) {
        end(r, p);
    } else if (mt_field_take(&f, "total heap usage:")) {
        read_usage(r, f);
    } else if (p->in_summary) {
        return read_total(r, p, line, f, err);
    }
    return MT_OK;
}

/* ---- the whole ---- */

/* The file ends early: some process lists leaks, and has no summary yet, or not all of it. */
static enum mt_status cut(struct reader *r, struct mt_err *err)
{
    return mt_reader_cut(r->report.opts, r->rec, mt_lines_offset(&r->lines),
                         "the report ends early: LEAK SUMMARY is missing, or not whole", err);
}

/* valgrind -q has no summary: where not all records are listed, nobody knows what the others are.
 */
static void end_quiet(struct reader *r, struct process *p)
{
    if (!p->quiet || p->ended || !p->any || r->cut_off)
        return;
    p->ended = true;
    if (p->listed_n == p->of)
        return;
    mt_rec_note(r->rec, MT_NOTE_KINDS, -1, 0);
    mt_rec_note_detail(r->rec, MT_NOTE_KINDS, "%s",
                       "valgrind -q has no totals, and without --show-leak-kinds=all lists nothing "
                       "of what is reachable");
}

static enum mt_status check_whole(struct reader *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->processes.n; i++)
        end_quiet(r, &r->processes.v[i]);
    bool any = r->report.records.n;
    for (size_t i = 0; i < r->processes.n; i++)
        any |= r->processes.v[i].ended;
    for (size_t i = 0; i < r->processes.n; i++)
        if (r->cut_off && r->processes.v[i].in_summary && !r->processes.v[i].summed_up)
            return cut(r, err);
    for (size_t i = 0; i < r->report.records.n; i++) {
        const struct mt_leak_record *at = &r->report.records.v[i];
        if (!at->dropped && !r->processes.v[at->process - 1].ended)
            return cut(r, err);
    }
    if (any)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "the log has no report of leaks");
    return mt_reader_refuse(-1,
                            "Record with valgrind --leak-check=full --show-leak-kinds=all. If "
                            "memcheck was stopped before the program's end, there is none.",
                            err);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    struct mt_line line;
    bool any = true;
    enum mt_status st;
    while ((st = mt_lines_next(&r->lines, &line, &any, err)) == MT_OK && any) {
        r->cut_off = line.cut;
        MT_TRY(read_line(r, &line, err));
    }
    if (st == MT_EINPUT)
        st = cut(r, err);
    MT_TRY(st);
    MT_TRY(check_whole(r, err));
    if (r->unused && !r->used && !r->report.records.n)
        mt_rec_note(r->rec, MT_NOTE_NO_ALLOCATIONS, -1, 0);
    return mt_leak_report_close(&r->report, err);
}

static enum mt_status memcheck_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                    struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
                       .rec = rec};
    mt_leak_report_init(&r.report, opts, rec);
    enum mt_status st = read_all(&r, err);
    mt_leak_report_free(&r.report);
    mt_vec_free(&r.processes);
    mt_map_free(&r.process_at);
    mt_buf_free(&r.text);
    return st;
}

/* Whether a record begins in the text, which valgrind -q begins with. */
static bool has_record(const char *head, size_t n)
{
    const char *p = head, *end = head + n;
    for (const char *at; p && (at = memmem(p, (size_t)(end - p), in_record, sizeof in_record - 1));
         p = memchr(at, '\n', (size_t)(end - at))) {
        const char *line = memrchr(head, '\n', (size_t)(at - head));
        line = line ? line + 1 : head;
        struct mt_fields f = {line, at};
        uint64_t number;
        int64_t bytes, blocks;
        if (take_head(&f, &number) && take_sizes(&f, &bytes, &blocks) && mt_field_take(&f, "are"))
            return true;
    }
    return false;
}

static int memcheck_probe(const char *head, size_t n)
{
    if (memmem(head, n, "<valgrindoutput>", 16))
        return 0;
    return memmem(head, n, tool, sizeof tool - 1) || has_record(head, n) ? 92 : 0;
}

const struct mt_reader mt_reader_memcheck = {
    .name = "memcheck",
    .kind = MT_RUN_HEAP,
    .probe = memcheck_probe,
    .read = memcheck_read,
};
