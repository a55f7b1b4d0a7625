/*
 * Reader of what glibc's mtrace() writes (MALLOC_TRACE): allocations and frees in order, each with
 * its address and one caller. docs/formats/mtrace.md says what is read.
 */
#include "formats/format.h"
#include "formats/native_paths.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <string.h>

static const int64_t size_max = INT64_C(1) << 60; /* of a block; more cannot be true */

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    struct mt_strtab callers; /* as written */
    MT_VEC(uint32_t) nodes;   /* of these; MT_NONE: none yet */
    mt_native_steps steps;    /* scratch */
    struct mt_buf text;       /* scratch */
    int64_t event_n;
    uint64_t begun_n;  /* lines "= Start" */
    uint64_t beside;   /* counted in rec->beside_bytes */
    uint64_t events_b; /* of lines of events, which the stream was not told of yet */
    uint64_t moves;    /* address that the last line said is to be moved; 0 = none */
    bool moving;
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- callers ---- */

/* The node of a place in an object, by its symbols; MT_NONE: they say nothing. The log does not say
 * which build of the object it was. Older versions of glibc write the address of the call itself,
 * later ones where it lies in the object. */
static uint32_t named_node(struct reader *r, const char *object, const char *place)
{
    struct mt_fields f = mt_fields_of(place, strlen(place));
    const struct mt_code_module is = {
        .path = object, .build_id = "", .from_start = true, .of_calls = true};
    uint64_t returns_to;
    if (!r->opts->symbols || !*object || !mt_field_address(&f, &returns_to) || !returns_to)
        return MT_NONE;
    r->steps.n = 0;
    uint32_t n = mt_native_named(&r->paths, r->opts->alloc_fn, r->opts->symbols,
                                 mt_symbols_module(r->opts->symbols, &is), object, returns_to - 1,
                                 &r->steps);
    return n ? mt_native_path(&r->paths, MT_NONE, r->steps.v, n, r->opts->cpp_frames == MT_CPP_ALL)
             : MT_NONE;
}

/* "object:(function+12)[0x34]", "object:[0x34]" or "[0x34]". Without a function it is called after
 * its object and the place there, "[object+0x34]". */
static uint32_t new_node(struct reader *r, const char *s, size_t n)
{
    struct mt_native_frame f = {"", "", "", 0};
    mt_buf_set(&r->text, s, n);
    char *at = strrchr(r->text.s, '['), *name, *plus;
    char *place = at ? at + 1 : r->text.s + r->text.n;
    place[strcspn(place, "]")] = '\0';
    if (at)
        *at = '\0';
    size_t left = strlen(r->text.s);
    if (left && r->text.s[left - 1] == ')' && (name = strstr(r->text.s, ":(")) &&
        (plus = strrchr(name, '+') ? strrchr(name, '+') : strrchr(name, '-'))) {
        *plus = *name = '\0';
        uint32_t node = named_node(r, r->text.s, place);
        if (node != MT_NONE)
            return node;
        f = (struct mt_native_frame){.name = name + 2, .object = r->text.s, .file = ""};
        const struct mt_native_step step = mt_native_step(&r->paths, &f, r->opts->alloc_fn);
        return mt_native_path(&r->paths, MT_NONE, &step, 1, r->opts->cpp_frames == MT_CPP_ALL);
    }
    if (left && r->text.s[left - 1] == ':')
        r->text.s[left - 1] = '\0';
    uint32_t node = named_node(r, r->text.s, place);
    if (node != MT_NONE)
        return node;
    struct mt_buf label = {0};
    const char *slash = strrchr(r->text.s, '/');
    mt_buf_addf(&label, "[%s%s%s]", slash ? slash + 1 : r->text.s, *r->text.s ? "+" : "", place);
    uint32_t frame = mt_path_frame(&r->paths, label.s, r->text.s, "", 0, 0);
    mt_buf_free(&label);
    return mt_path_node(&r->paths, MT_NONE, frame);
}

/* The node of a caller; MT_NONE: the line has none. */
static uint32_t node_of(struct reader *r, const char *s, size_t n)
{
    if (!n)
        return MT_NONE;
    uint32_t caller = mt_strtab_add(&r->callers, s, n);
    while (r->nodes.n <= caller)
        *mt_vec_push(&r->nodes) = MT_NONE;
    if (r->nodes.v[caller] == MT_NONE)
        r->nodes.v[caller] = new_node(r, s, n);
    return r->nodes.v[caller];
}

/* ---- events ---- */

/* "0x5655897514a0": sixteen digits may be looked at, for behind a line are others, or zero bytes.
 */
static bool take_address(struct mt_fields *f, uint64_t *v)
{
    enum { EIGHT = 8 };
    uint32_t high, low;
    const char *p = f->p + 3;
    if (f->end - f->p < 3 + EIGHT || memcmp(f->p, " 0x", 3) != 0 || mt_hex_eight(p, &high) < EIGHT)
        return mt_field_address(f, v);
    unsigned n = mt_hex_eight(p + EIGHT, &low);
    *v = n < EIGHT ? (uint64_t)high << 4 * n | low : (uint64_t)high << 32 | low;
    f->p = p + EIGHT + n;
    return (n < EIGHT || mt_hex_digit(*f->p) > 15) && !mt_field_goes_on(f);
}

/* "0x80", or "0" as glibc prints nothing; of what failed any, which may be of more bytes than can
 * be. */
static bool take_size(struct mt_fields *f, bool failed, int64_t *size)
{
    uint64_t v;
    if (mt_field_address(f, &v)) {
        *size = failed ? 0 : (int64_t)v;
        return failed || v <= (uint64_t)size_max;
    }
    return mt_field_decimal(f, size) && *size == 0;
}

/* What comes next is the next event, whose number is its time. */
static enum mt_status tick(struct reader *r, struct mt_err *err)
{
    return mt_heap_tick(r->heap, ++r->event_n, err);
}

/* A block that was to be moved, and of which no next line said where to, is gone. */
static enum mt_status end_move(struct reader *r, struct mt_err *err)
{
    if (!r->moving)
        return MT_OK;
    r->moving = false;
    MT_TRY(tick(r, err));
    return mt_heap_free_at(r->heap, r->moves, err);
}

static enum mt_status allocate(struct reader *r, char op, uint64_t address, uint32_t node,
                               int64_t size, struct mt_err *err)
{
    if (op == '>' && r->moving) {
        r->moving = false;
        MT_TRY(tick(r, err));
        return mt_heap_realloc_at(r->heap, r->moves, address, node, size, err);
    }
    MT_TRY(end_move(r, err));
    if (!address) /* it failed */
        return MT_OK;
    MT_TRY(tick(r, err));
    return mt_heap_alloc_at(r->heap, address, node, size, err);
}

static enum mt_status event(struct reader *r, char op, struct mt_fields f, uint32_t node,
                            struct mt_err *err)
{
    uint64_t address;
    int64_t size = 0;
    bool sized = op == '+' || op == '>' || op == '!';
    if (!take_address(&f, &address) || (sized && !take_size(&f, op == '!' || !address, &size)) ||
        !mt_field_end(&f)) {
        skip(r);
        return MT_OK;
    }
    switch (op) {
    case '+':
    case '>':
        return allocate(r, op, address, node, size, err);
    case '<':
        MT_TRY(end_move(r, err));
        r->moves = address;
        r->moving = true;
        return MT_OK;
    case '-':
        MT_TRY(end_move(r, err));
        MT_TRY(tick(r, err));
        return mt_heap_free_at(r->heap, address, err);
    default: /* '!': a realloc that failed */
        return end_move(r, err);
    }
}

/* "@ caller op address size", or without the caller. */
static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    const struct mt_line *line = &r->line;
    const char *caller = NULL;
    size_t n = 0;
    struct mt_fields f = mt_fields_of(line->s, line->n);
    if (mt_field_take(&f, "=")) {
        r->begun_n += mt_field_take(&f, "Start");
        return MT_OK;
    }
    if (mt_field_take(&f, "@ ")) {
        const char *end = memrchr(line->s, ']', line->n);
        caller = f.p;
        if (!end || end < caller) {
            skip(r);
            return MT_OK;
        }
        const char *at = memchr(caller, '@', (size_t)(end - caller));
        if (at && memmem(at, (size_t)(end - at), "@ ", 2)) /* the line before has no end */
            skip(r);
        n = (size_t)(end + 1 - caller);
        f.p = end + 1;
    }
    mt_field_blanks(&f);
    if (f.p == f.end && !n)
        return MT_OK;
    char op = f.p < f.end ? *f.p++ : '\0';
    if (op != '+' && op != '-' && op != '<' && op != '>' && op != '!') {
        skip(r);
        return MT_OK;
    }
    return event(r, op, f, op == '+' || op == '>' ? node_of(r, caller, n) : MT_NONE, err);
}

/* ---- the whole ---- */

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now =
        mt_path_tree_bytes(&r->paths) + mt_strtab_bytes(&r->callers) + mt_vec_bytes(&r->nodes);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* Of a loop there may be gigabytes in some KB, as in heaptrack.c. */
static enum mt_status check(struct reader *r, struct mt_err *err)
{
    mt_stream_used(r->lines.in, r->events_b);
    r->events_b = 0;
    return check_memory(r, err);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        const int64_t before = r->event_n;
        MT_TRY(read_line(r, err));
        if (r->event_n > before)
            r->events_b += r->line.n + 1;
        if (mt_lines_due(&r->lines))
            MT_TRY(check(r, err));
    }
    MT_TRY(st);
    MT_TRY(end_move(r, err));
    if (r->begun_n > 1)
        mt_rec_note_n(r->rec, MT_NOTE_PROCESSES, r->begun_n, -1);
    return mt_heap_close(r->heap, err);
}

static enum mt_status mtrace_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                  struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    rec->time_unit = "events";
    mt_path_tree_init(&r.paths, rec);
    mt_strtab_init(&r.callers);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_strtab_free(&r.callers);
    mt_vec_free(&r.nodes);
    mt_vec_free(&r.steps);
    mt_buf_free(&r.text);
    return st;
}

static int mtrace_probe(const char *head, size_t n)
{
    static const char start[] = "= Start";
    const size_t at = sizeof start - 1;
    if (n <= at || memcmp(head, start, at) != 0)
        return 0;
    return head[at] == '\n' || (n > at + 1 && memcmp(head + at, "\r\n", 2) == 0) ? 94 : 0;
}

const struct mt_reader mt_reader_mtrace = {
    .name = "mtrace",
    .kind = MT_RUN_HEAP,
    .probe = mtrace_probe,
    .read = mtrace_read,
};
