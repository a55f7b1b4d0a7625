/*
 * Reader of `memray transform csv`: a row for each call path. docs/formats/memray-reports.md says
 * what is read.
 */
#include "formats/meaning.h"
#include "formats/python_frames.h"
#include "formats/stack_text.h"
#include "lib/input/csv.h"
#include "lib/input/fields.h"

#include <string.h>

enum { ALLOCATOR, BLOCKS, BYTES, THREAD, THREAD_NAME, STACK, COLUMNS };
static const char header[] = "allocator,num_allocations,size,tid,thread_name,stack_trace";
static const int64_t count_max = INT64_C(1) << 60; /* more cannot be true */

struct reader {
    struct mt_csv csv;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    enum mt_meaning meaning;
    struct mt_strtab frames; /* as written */
    MT_VEC(struct step {
        struct mt_native_step step;
        bool kept;
    })
    steps;                               /* of these */
    MT_VEC(struct mt_native_step) stack; /* scratch */
    struct mt_buf text;                  /* scratch */
    uint64_t beside;
};

/* ---- call paths ---- */

/* Where "function;file;line" has its last two ";"; false: it does not have them. */
static bool take_apart(const char *s, size_t n, size_t *file, size_t *line)
{
    const char *second = n ? memrchr(s, ';', n) : NULL;
    const char *first = second && second > s ? memrchr(s, ';', (size_t)(second - s)) : NULL;
    struct mt_fields f;
    int64_t number;
    if (!first)
        return false;
    *file = (size_t)(first + 1 - s);
    *line = (size_t)(second + 1 - s);
    f = mt_fields_of(second + 1, n - *line);
    return mt_field_decimal(&f, &number) && f.p == f.end;
}

static void make_step(struct reader *r, const char *s, size_t n, size_t file, size_t line)
{
    mt_buf_clear(&r->text);
    mt_buf_add(&r->text, s, n);
    mt_buf_adds(&r->text, "");
    char *text = r->text.s;
    struct mt_native_frame f = {.name = text, .object = "", .file = text + file};
    struct mt_fields number = mt_fields_of(text + line, n - line);
    mt_field_decimal(&number, &f.line);
    text[file - 1] = text[line - 1] = '\0';
    if (mt_python_is(f.file) || !*f.file) {
        *mt_vec_push(&r->steps) =
            (struct step){mt_python_step(&r->paths, f.name, f.file, f.line), true};
        return;
    }
    bool kept = r->opts->cpp_frames == MT_CPP_ALL || (r->opts->cpp_frames == MT_CPP_FOLD &&
                                                      !mt_python_is_inside(f.name, f.file, f.line));
    if (!kept && r->opts->cpp_frames == MT_CPP_FOLD)
        mt_rec_note(r->rec, MT_NOTE_INTERPRETER, -1, 0);
    *mt_vec_push(&r->steps) = (struct step){mt_native_step(&r->paths, &f, r->opts->alloc_fn), kept};
}

/* The length of the frame that s begins with: up to a "|" behind a line's number, as functions of
 * C++ may have one in their name. 0: there is no whole one. */
static size_t frame_at(const char *s, size_t n, size_t *file, size_t *line)
{
    for (size_t at = 0; at <= n; at++) {
        const char *bar = at < n ? memchr(s + at, '|', n - at) : NULL;
        at = bar ? (size_t)(bar - s) : n;
        if (take_apart(s, at, file, line))
            return at;
    }
    return 0;
}

/* Frames of the stack, innermost first; false: it is none. */
static bool read_stack(struct reader *r, const char *s, size_t n, uint32_t *node)
{
    size_t file, line, length;
    r->stack.n = 0;
    for (const char *end = s + n; s < end; s += length + (s + length < end)) {
        length = frame_at(s, (size_t)(end - s), &file, &line);
        if (!length)
            return false;
        uint32_t id = mt_strtab_add(&r->frames, s, length);
        if (id == r->steps.n)
            make_step(r, s, length, file, line);
        if (r->steps.v[id].kept)
            *mt_vec_push(&r->stack) = r->steps.v[id].step;
    }
    for (size_t i = 0; i < r->stack.n / 2; i++) {
        struct mt_native_step inner = r->stack.v[i];
        r->stack.v[i] = r->stack.v[r->stack.n - 1 - i];
        r->stack.v[r->stack.n - 1 - i] = inner;
    }
    *node = mt_stack_node(&r->paths, r->opts, MT_NONE, r->stack.v, r->stack.n);
    return true;
}

/* ---- rows ---- */

static bool take_count(const struct mt_csv_field *f, int64_t *v)
{
    struct mt_fields number = mt_fields_of(f->s, f->n);
    return f->n && mt_field_decimal(&number, v) && mt_field_end(&number) && *v >= 0 &&
           *v <= count_max;
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(r->rec, &r->beside,
                  mt_path_tree_bytes(&r->paths) + mt_strtab_bytes(&r->frames) +
                      r->steps.cap * sizeof *r->steps.v);
    return mt_rec_check_memory(r->rec, err);
}

/* *good: the row was added. */
static enum mt_status read_row(struct reader *r, bool *good, struct mt_err *err)
{
    const struct mt_csv_field *f = r->csv.fields.v;
    int64_t blocks, bytes;
    uint32_t node;
    *good = !r->csv.wrong && r->csv.fields.n == COLUMNS && take_count(&f[BLOCKS], &blocks) &&
            take_count(&f[BYTES], &bytes) && read_stack(r, f[STACK].s, f[STACK].n, &node);
    if (!*good)
        return MT_OK;
    MT_TRY(mt_meaning_give(r->heap, node, r->meaning, bytes, blocks, err));
    return mt_lines_due(&r->csv.lines) ? check_memory(r, err) : MT_OK;
}

static enum mt_status cut(struct reader *r, uint64_t offset, const char *what, struct mt_err *err)
{
    return mt_reader_cut(r->opts, r->rec, offset, what, err);
}

static enum mt_status read_rows(struct reader *r, struct mt_err *err)
{
    bool any = true, good = true;
    enum mt_status st = mt_csv_next(&r->csv, &any, err); /* the names of columns */
    while (st == MT_OK && any && !r->csv.cut && (st = mt_csv_next(&r->csv, &any, err)) == MT_OK &&
           any && !r->csv.cut) {
        MT_TRY(read_row(r, &good, err));
        if (!good)
            return cut(r, r->csv.offset, "not a row as memray writes it", err);
    }
    if (st == MT_EINPUT || (st == MT_OK && any))
        return cut(r, mt_lines_offset(&r->csv.lines), "ends early: its last line has no end", err);
    return st;
}

static enum mt_status memray_csv_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                      struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .csv.lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .csv.separator = ',',
        .opts = opts,
        .rec = rec,
        .meaning = mt_meaning_of(opts, MT_MEANS_AT_PEAK, rec)};
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    mt_strtab_init(&r.frames);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    mt_heap_knows(r.heap, mt_meaning_figures(r.meaning, true));
    enum mt_status st = read_rows(&r, err);
    if (st == MT_OK)
        st = mt_heap_close(r.heap, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_strtab_free(&r.frames);
    mt_vec_free(&r.steps);
    mt_vec_free(&r.stack);
    mt_buf_free(&r.text);
    mt_csv_free(&r.csv);
    return st;
}

static int memray_csv_probe(const char *head, size_t n)
{
    return n >= sizeof header - 1 && memcmp(head, header, sizeof header - 1) == 0 ? 94 : 0;
}

const struct mt_reader mt_reader_memray_csv = {
    .name = "memray-csv",
    .kind = MT_RUN_HEAP,
    .probe = memray_csv_probe,
    .read = memray_csv_read,
};
