/*
 * Reader of what bcc's memleak prints: every few seconds the stacks whose blocks were not freed.
 * docs/formats/memleak.md says what is read.
 */
#include "formats/format.h"
#include "formats/native_paths.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <string.h>

enum { STACK_MAX = 1 << 12, DAY = 24 * 60 * 60 };
static const int64_t size_max = INT64_C(1) << 50; /* of a stack; more cannot be true */
static const int64_t ns = 1000000000;
static const char begins[] = "stacks with outstanding allocations:";

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    MT_VEC(struct held {
        uint32_t node;
        int64_t bytes, blocks;
    })
    held;                       /* of the report under way */
    mt_native_steps steps;      /* of its last stack, innermost first */
    struct mt_strtab functions; /* as written */
    mt_native_steps known;      /* of these */
    struct mt_buf text;         /* scratch */
    bool in_report, in_stack;
    bool full;          /* a report lists as many stacks as it was to */
    int64_t top;        /* which is so many */
    int64_t listed;     /* bytes of single blocks, where it lists these; of all stacks */
    int64_t listed_n;   /* these */
    int64_t day, clock; /* of the report, in seconds: behind the first one's midnight */
    int64_t first;      /* clock of the first report; -1: there was none */
    uint64_t beside;
};

/* ---- functions ---- */

/* " [libc.so.6]" at the end of text, which is cut off. */
static const char *take_object(char *text)
{
    size_t n = strlen(text);
    char *open = n && text[n - 1] == ']' ? strrchr(text, '[') : NULL;
    if (!open || open < text + 2 || open[-1] != ' ')
        return "";
    text[n - 1] = open[-1] = '\0';
    return open + 1;
}

/* "main+0x6d [allocs]", "[unknown] [libx.so]", "sys_mmap [kernel]". */
static struct mt_native_step new_step(struct reader *r, const char *s, size_t n)
{
    mt_buf_set(&r->text, s, strnlen(s, n));
    char *text = r->text.s;
    struct mt_native_frame f = {.name = text, .object = take_object(text), .file = ""};
    char *plus = strstr(text, "+0x"), *last = plus;
    while (last && (last = strstr(last + 1, "+0x")))
        plus = last;
    if (plus)
        *plus = '\0';
    if (strcmp(text, "[unknown]") == 0 || strcmp(text, "<null sym>") == 0)
        f.name = "";
    return mt_native_step(&r->paths, &f, r->opts->alloc_fn);
}

/* What stands before the function: its address, or its number and address. */
static void skip_address(struct reader *r, struct mt_fields *f)
{
    struct mt_fields at = *f;
    uint64_t address;
    int64_t number;
    const char *word;
    size_t n;
    if (mt_field_address(&at, &address) && at.p < at.end && (*at.p == '\t' || *at.p == ' '))
        *f = at;
    else if (mt_field_decimal(&at, &number) && mt_field_take(&at, "[<") &&
             mt_field_hex(&at, &address) && mt_field_take(&at, ">]"))
        *f = at;
    else if (mt_field_take(f, "0x") && mt_field_word(f, &word, &n)) /* damaged */
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

static void read_frame(struct reader *r)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    const char *s;
    size_t n;
    skip_address(r, &f);
    mt_field_rest(&f, &s, &n);
    if (r->steps.n == STACK_MAX || (n == 22 && memcmp(s, "stack information lost", n) == 0))
        return;
    uint32_t id = mt_strtab_add(&r->functions, s, n);
    if (id == r->known.n)
        *mt_vec_push(&r->known) = new_step(r, s, n);
    *mt_vec_push(&r->steps) = r->known.v[id];
}

/* ---- reports ---- */

static void end_stack(struct reader *r)
{
    if (r->in_stack && r->steps.n)
        r->held.v[r->held.n - 1].node = mt_native_path(&r->paths, MT_NONE, r->steps.v, r->steps.n,
                                                       r->opts->cpp_frames == MT_CPP_ALL);
    r->steps.n = 0;
    r->in_stack = false;
}

/* What the report says is held at its time. What single blocks have beyond its stacks has no call
 * path. */
static enum mt_status end_report(struct reader *r, struct mt_err *err)
{
    int64_t total = 0, blocks = 0;
    end_stack(r);
    if (!r->in_report)
        return MT_OK;
    for (size_t i = 0; i < r->held.n; i++)
        if (__builtin_add_overflow(total, r->held.v[i].bytes, &total) ||
            __builtin_add_overflow(blocks, r->held.v[i].blocks, &blocks))
            total = blocks = INT64_MAX; /* the heap will say so */
    r->full |= (int64_t)r->held.n >= r->top && r->listed <= total;
    if (r->listed > total) { /* single blocks of stacks that are not listed */
        *mt_vec_push(&r->held) = (struct held){MT_NONE, r->listed - total,
                                               r->listed_n > blocks ? r->listed_n - blocks : 0};
        total = r->listed;
    }
    MT_TRY(mt_heap_moment(r->heap, (r->day + r->clock - r->first) * ns, total, true, err));
    for (size_t i = 0; i < r->held.n; i++)
        MT_TRY(
            mt_heap_held(r->heap, r->held.v[i].node, r->held.v[i].bytes, r->held.v[i].blocks, err));
    mt_rec_note(r->rec, MT_NOTE_MOMENTS, -1, 0);
    r->held.n = 0;
    r->listed = r->listed_n = 0;
    r->in_report = false;
    return MT_OK;
}

/* "[11:16:33] Top 10 stacks with outstanding allocations:" */
static bool is_header(const char *s, size_t n, int64_t *clock, int64_t *top)
{
    struct mt_fields f = mt_fields_of(s, n);
    int64_t h, m, sec;
    bool is = mt_field_take(&f, "[") && mt_field_decimal(&f, &h) && mt_field_take(&f, ":") &&
              mt_field_decimal(&f, &m) && mt_field_take(&f, ":") && mt_field_decimal(&f, &sec) &&
              mt_field_take(&f, "] Top ") && mt_field_decimal(&f, top) && mt_field_take(&f, begins);
    if (!is || h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60)
        return false;
    *clock = (h * 60 + m) * 60 + sec;
    return true;
}

/* The same behind what a program that memleak runs (-c) has printed without an end of line. */
static bool has_header(const struct mt_line *line, int64_t *clock, int64_t *top)
{
    const char *at = memmem(line->s, line->n, begins, sizeof begins - 1);
    const char *open = at ? memrchr(line->s, '[', (size_t)(at - line->s)) : NULL;
    return open && is_header(open, line->n - (size_t)(open - line->s), clock, top);
}

/* Only the time of day is written: what is earlier than the report before is of the next day. */
static enum mt_status begin_report(struct reader *r, int64_t clock, int64_t top, struct mt_err *err)
{
    MT_TRY(end_report(r, err));
    if (r->first < 0)
        r->first = clock;
    else if (clock < r->clock)
        r->day += DAY;
    r->clock = clock;
    r->top = top;
    r->in_report = true;
    return MT_OK;
}

static const char sizes_end[] = "allocations from stack";

/* "80 bytes in 5 allocations from stack" */
static bool take_sizes(struct mt_fields f, int64_t *bytes, int64_t *blocks)
{
    return mt_field_decimal(&f, bytes) && mt_field_take(&f, "bytes in") &&
           mt_field_decimal(&f, blocks) && mt_field_take(&f, sizes_end) && mt_field_end(&f);
}

/* "addr = 948cd0 size = 16" */
static bool take_block(struct mt_fields f, int64_t *bytes)
{
    uint64_t address;
    if (!mt_field_take(&f, "addr ="))
        return false;
    mt_field_take(&f, "0x");
    return mt_field_hex(&f, &address) && mt_field_take(&f, "size =") &&
           mt_field_decimal(&f, bytes) && mt_field_end(&f);
}

static bool is_size(int64_t v)
{
    return v >= 0 && v <= size_max;
}

/* Whether the line ends as that of sizes does. */
static bool was_size(const struct mt_line *line)
{
    const size_t n = sizeof sizes_end - 1;
    return line->n >= n && memcmp(line->s + line->n - n, sizes_end, n) == 0;
}

/* A line of a report. What begins without a blank is of the program, or of memleak, unless it is a
 * size. */
static void read_line(struct reader *r)
{
    const struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    struct mt_fields rest = f;
    int64_t bytes, blocks;
    if (mt_field_end(&rest)) {
        end_stack(r);
    } else if (take_block(f, &bytes)) {
        if (!is_size(bytes) || __builtin_add_overflow(r->listed, bytes, &r->listed))
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        else
            r->listed_n++;
    } else if (take_sizes(f, &bytes, &blocks)) {
        end_stack(r);
        if (!is_size(bytes) || !is_size(blocks)) {
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
            return;
        }
        *mt_vec_push(&r->held) = (struct held){MT_NONE, bytes, blocks};
        r->in_stack = true;
    } else if (was_size(&r->line)) { /* a damaged one: what follows is not the stack before */
        end_stack(r);
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
    } else if (r->in_stack && (*r->line.s == ' ' || *r->line.s == '\t')) {
        read_frame(r);
    } else {
        end_stack(r);
    }
}

/* ---- the whole ---- */

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(r->rec, &r->beside,
                  mt_path_tree_bytes(&r->paths) + mt_strtab_bytes(&r->functions) +
                      mt_vec_bytes(&r->known) + mt_vec_bytes(&r->held));
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status close_all(struct reader *r, struct mt_err *err)
{
    MT_TRY(end_report(r, err));
    if (r->first < 0) {
        MT_FAIL(err, MT_EINPUT, "memleak has reported nothing in this file");
        return mt_reader_refuse(-1, "It prints every 5 seconds: let it run longer.", err);
    }
    if (r->full) {
        mt_rec_note_detail(r->rec, MT_NOTE_KINDS,
                           "memleak lists its %lld largest stacks, and there may be others",
                           (long long)r->top);
        mt_rec_note(r->rec, MT_NOTE_KINDS, -1, 0);
    }
    mt_heap_last_is_end(r->heap);
    MT_TRY(mt_heap_close(r->heap, err));
    /* that all was freed says nothing of what was allocated */
    r->rec->notes[MT_NOTE_NO_ALLOCATIONS] = (struct mt_note){0};
    return MT_OK;
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    int64_t clock, top;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        if (has_header(&r->line, &clock, &top))
            MT_TRY(begin_report(r, clock, top, err));
        else if (r->in_report)
            read_line(r);
        if (mt_lines_due(&r->lines))
            MT_TRY(check_memory(r, err));
    }
    MT_TRY(st);
    return close_all(r, err);
}

static enum mt_status memleak_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                   struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .first = -1,
    };
    mt_path_tree_init(&r.paths, rec);
    mt_strtab_init(&r.functions);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_strtab_free(&r.functions);
    mt_vec_free(&r.held);
    mt_vec_free(&r.steps);
    mt_vec_free(&r.known);
    mt_buf_free(&r.text);
    return st;
}

/* What a report begins with, or the line that memleak says first. */
static int memleak_probe(const char *head, size_t n)
{
    static const char quits[] = ", Ctrl+C to quit.\n";
    const struct mt_line all = {.s = head, .n = n};
    int64_t clock, top;
    if (has_header(&all, &clock, &top))
        return 94;
    return n > 13 && memcmp(head, "Attaching to ", 13) == 0 &&
                   memmem(head, n < 128 ? n : 128, quits, sizeof quits - 1)
               ? 91
               : 0;
}

const struct mt_reader mt_reader_memleak = {
    .name = "memleak",
    .kind = MT_RUN_HEAP,
    .probe = memleak_probe,
    .read = memleak_read,
};
