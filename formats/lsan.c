/*
 * Reader of LeakSanitizer's report (also that of AddressSanitizer at exit), alone or between other
 * lines of a log. docs/formats/lsan.md says what is read.
 */
#include "formats/leak_report.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"

#include <string.h>

static const char begins[] = "LeakSanitizer: detected memory leaks";
static const char summary[] = "SUMMARY: ";

struct reader {
    struct mt_lines lines;
    struct mt_leak_report report;
    struct mt_recording *rec;
    struct mt_buf text; /* scratch */
    uint64_t process;   /* whose report is under way */
    uint64_t open_n;    /* reports whose summary is still to come; it names no process */
    bool mixed;         /* some began before that of another had come */
    bool in_stack;      /* the line before was a leak's first one or a frame of it */
    int64_t next;       /* number of the next frame of that leak; -1: there is none */
};

/* What follows `text` in the line. */
static bool find(const struct mt_line *line, const char *text, struct mt_fields *out)
{
    size_t n = strlen(text);
    const char *at = memmem(line->s, line->n, text, n);
    if (at)
        *out = (struct mt_fields){at + n, line->s + line->n};
    return at;
}

/* ---- frames ---- */

/* Takes " (object+0x12)" off the end of text; what is in it may have blanks. */
static bool take_object(char *text, struct mt_native_frame *f)
{
    char *at = strrchr(text, '('), *plus;
    if (!at || !(plus = strstr(at, "+0x")) || !strchr(plus, ')'))
        return false;
    *plus = '\0';
    f->object = at + 1;
    while (at > text && at[-1] == ' ')
        at--;
    *at = '\0';
    return true;
}

/* ":12" at the end of text. */
static bool take_number(char *text, int64_t *v)
{
    char *colon = strrchr(text, ':');
    if (!colon || !colon[1])
        return false;
    struct mt_fields f = mt_fields_of(colon + 1, strlen(colon + 1));
    if (!mt_field_decimal(&f, v) || !mt_field_end(&f) || *v < 0)
        return false;
    *colon = '\0';
    return true;
}

/* " file:line" or " file:line:column" at the end of text. */
static void take_file(char *text, struct mt_native_frame *f)
{
    char *at = strrchr(text, ' ');
    int64_t last, before;
    if (!at || !take_number(at, &last))
        return;
    f->line = take_number(at, &before) ? before : last;
    f->file = at + 1;
    *at = '\0';
}

/* The text behind the address, in its own place: "in f file:1:2", "in f (object+0x12)" or
 * "(object+0x12) (BuildId: ..)". */
static struct mt_native_frame frame_of(char *text)
{
    struct mt_native_frame f = {"", "", "", 0};
    char *build = strstr(text, " (BuildId: ");
    if (build)
        *build = '\0';
    if (!take_object(text, &f))
        take_file(text, &f);
    if (strncmp(text, "in ", 3) == 0)
        f.name = text + 3;
    return f;
}

/* Whether the line is "#1 0x.. ..", a frame of the leak that is open: the next one, where another
 * program's lines stand before it. */
static bool read_frame(struct reader *r, const struct mt_line *line)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    const char *before, *rest;
    size_t before_n, n;
    int64_t number;
    uint64_t address;
    if (!mt_field_until(&f, '#', &before, &before_n) || !mt_field_decimal(&f, &number) ||
        (!r->in_stack && number != r->next))
        return false;
    const bool known = mt_field_address(&f, &address) && f.p < f.end && *f.p == ' ';
    if (!known && !r->in_stack) /* "request #3 took 5 ms" */
        return false;
    if (known || number == r->next)
        r->next = number < INT64_MAX ? number + 1 : -1;
    if (!known) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
        return true; /* others may follow */
    }
    mt_field_rest(&f, &rest, &n);
    mt_buf_set(&r->text, rest, n);
    struct mt_native_frame frame = frame_of(r->text.s);
    mt_leak_report_frame(&r->report, &frame, address);
    return true;
}

/* ---- leaks ---- */

static bool is_size(int64_t v)
{
    return v >= 0 && v <= MT_LEAK_SIZE_MAX;
}

/* "12 byte(s) in 3 object(s)" */
static bool read_sizes(struct mt_fields f, const char *blocks_are, int64_t *bytes, int64_t *blocks)
{
    const char *between;
    size_t n;
    return mt_field_decimal(&f, bytes) && mt_field_take(&f, "byte(s)") &&
           (mt_field_take(&f, "leaked in") || mt_field_take(&f, "in")) &&
           mt_field_decimal(&f, blocks) && mt_field_word(&f, &between, &n) &&
           n == strlen(blocks_are) && memcmp(between, blocks_are, n) == 0 && is_size(*bytes) &&
           is_size(*blocks);
}

static enum mt_status read_leak(struct reader *r, const struct mt_line *line,
                                enum mt_leak_kind kind, struct mt_fields f, struct mt_err *err)
{
    int64_t bytes, blocks;
    r->next = -1;
    if (!read_sizes(f, "object(s)", &bytes, &blocks)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
        return MT_OK;
    }
    r->in_stack = true;
    r->next = 0;
    r->open_n += !r->open_n; /* its first line is lost */
    return mt_leak_report_add(&r->report, kind, bytes, blocks, r->process, err);
}

/* "==12==ERROR: LeakSanitizer: ..": a process that reports again says all of it again; another one
 * may have its number. */
static void begin(struct reader *r, const struct mt_line *line)
{
    struct mt_fields f;
    int64_t process;
    r->next = -1;
    if (find(line, "==", &f) && mt_field_decimal(&f, &process) && process > 0)
        r->process = (uint64_t)process;
    else
        r->process = 0;
    mt_leak_report_again(&r->report, r->process);
    r->mixed |= r->open_n++ > 0;
}

/* What its leaks lack of the total that it gives has no stack. */
static enum mt_status end(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    int64_t bytes, blocks;
    const char *tool;
    size_t n;
    if (!mt_field_word(&f, &tool, &n) || !read_sizes(f, "allocation(s).", &bytes, &blocks))
        return MT_OK; /* of another error */
    r->open_n--;
    if (r->mixed)
        return MT_OK;
    return mt_leak_report_total(&r->report, MT_LEAK_KIND_N, bytes, blocks, r->process,
                                "the leaks that it lists are fewer", err);
}

static enum mt_status read_line(struct reader *r, const struct mt_line *line, struct mt_err *err)
{
    struct mt_fields f;
    if (r->next >= 0 && (r->in_stack = read_frame(r, line)))
        return MT_OK;
    if (!line->n) /* the stack is whole */
        r->next = -1;
    if (find(line, "Indirect leak of ", &f))
        return read_leak(r, line, MT_LEAK_INDIRECT, f, err);
    if (find(line, "Direct leak of ", &f))
        return read_leak(r, line, MT_LEAK_DIRECT, f, err);
    if (find(line, begins, &f))
        begin(r, line);
    else if (r->open_n && find(line, summary, &f))
        return end(r, f, err);
    return MT_OK;
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    struct mt_line line;
    bool any = true;
    enum mt_status st;
    while ((st = mt_lines_next(&r->lines, &line, &any, err)) == MT_OK && any)
        MT_TRY(read_line(r, &line, err));
    if (st == MT_EINPUT || (st == MT_OK && r->open_n))
        st = mt_reader_cut(r->report.opts, r->rec, mt_lines_offset(&r->lines),
                           "a report ends early: its last line, SUMMARY, is missing", err);
    MT_TRY(st);
    return mt_leak_report_close(&r->report, err);
}

static enum mt_status lsan_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
                       .rec = rec,
                       .next = -1};
    mt_leak_report_init(&r.report, opts, rec);
    enum mt_status st = read_all(&r, err);
    mt_leak_report_free(&r.report);
    mt_buf_free(&r.text);
    return st;
}

static int lsan_probe(const char *head, size_t n)
{
    return memmem(head, n, begins, sizeof begins - 1) ? 92 : 0;
}

const struct mt_reader mt_reader_lsan = {
    .name = "lsan",
    .kind = MT_RUN_HEAP,
    .probe = lsan_probe,
    .read = lsan_read,
};
