/*
 * Reader of Android's native heap dumps (am dumpheap -n, malloc_debug's backtrace option): stacks
 * with what they hold, then what was mapped where. docs/formats/android.md says what is read.
 */
#include "formats/format.h"
#include "formats/mapped.h"
#include "formats/native_paths.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <string.h>

enum { LINES_PER_CHECK = 1 << 14, STACK_MAX = 1 << 10 };
static const int64_t size_max = INT64_C(1) << 50; /* of a record; more cannot be true */
static const char begins[] = "Android Native Heap Dump v";
static const char nothing[] = "Native heap dump not available.";

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    struct mt_mapped mapped;
    MT_VEC(struct record {
        size_t first, n; /* in `frames`, innermost first */
        int64_t bytes, blocks;
    })
    records; /* a block of `bytes`, `blocks` times */
    MT_VEC(struct frame {
        uint64_t address;
        uint32_t step; /* in `known`; MT_NONE: where the address is */
    })
    frames;
    struct mt_map places; /* of addresses: which of `found` */
    MT_VEC(struct found {
        size_t first, n; /* in `steps_of` */
    })
    found;
    mt_native_steps steps_of;
    struct mt_strtab named; /* functions as written */
    mt_native_steps known, steps;
    struct mt_buf text;
    int64_t total, stack_size;
    int minor; /* of the version */
    bool mapping, ended;
    uint64_t beside;
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- records ---- */

static bool is_size(int64_t v)
{
    return v >= 0 && v <= size_max;
}

/* "z 0  sz       50  num    1  bt a100 b200" */
static void read_record(struct reader *r, struct mt_fields f)
{
    struct record rec = {.first = r->frames.n};
    int64_t zygote, all;
    uint64_t address;
    if (!mt_field_decimal(&f, &zygote) || !mt_field_take(&f, "sz") ||
        !mt_field_decimal(&f, &rec.bytes) || !mt_field_take(&f, "num") ||
        !mt_field_decimal(&f, &rec.blocks) || !mt_field_take(&f, "bt") || !is_size(rec.bytes) ||
        !is_size(rec.blocks) || __builtin_mul_overflow(rec.bytes, rec.blocks, &all) ||
        !is_size(all)) {
        skip(r);
        return;
    }
    while (rec.n < STACK_MAX && mt_field_hex(&f, &address)) {
        *mt_vec_push(&r->frames) = (struct frame){address, MT_NONE};
        rec.n++;
    }
    if (!mt_field_end(&f) && rec.n < STACK_MAX)
        skip(r);
    *mt_vec_push(&r->records) = rec;
}

/* {"/system/lib64/libc.so" 4a2f0 "malloc" 10}; *step: MT_NONE where it has no name */
static bool take_info(struct reader *r, struct mt_fields *f, uint32_t *step)
{
    const char *s = f->p, *object, *name;
    size_t object_n, name_n;
    uint64_t place, into;
    if (!mt_field_take(f, "{\"") || !mt_field_until(f, '"', &object, &object_n) ||
        !mt_field_hex(f, &place) || !mt_field_take(f, "\"") ||
        !mt_field_until(f, '"', &name, &name_n) || !mt_field_hex(f, &into) ||
        !mt_field_take(f, "}"))
        return false;
    uint32_t id = mt_strtab_add(&r->named, s, (size_t)(f->p - s));
    *step = id;
    if (id < r->known.n)
        return true;
    mt_buf_set(&r->text, object, strnlen(object, object_n));
    size_t at = r->text.n + 1;
    mt_buf_addc(&r->text, '\0');
    mt_buf_add(&r->text, name, strnlen(name, name_n));
    mt_buf_adds(&r->text, "");
    const struct mt_native_frame frame = {.name = r->text.s + at, .object = r->text.s, .file = ""};
    *mt_vec_push(&r->known) = *frame.name ? mt_native_step(&r->paths, &frame, r->opts->alloc_fn)
                                          : mt_native_place(&r->paths, r->text.s, place);
    return true;
}

/* "bt_info {..} {..}": the frames of the record above once more, with names. */
static void read_info(struct reader *r, struct mt_fields f)
{
    struct record *rec = r->records.n ? &r->records.v[r->records.n - 1] : NULL;
    uint32_t step;
    if (!rec) {
        skip(r);
        return;
    }
    for (size_t i = 0; !mt_field_end(&f) && i < STACK_MAX; i++) {
        if (!take_info(r, &f, &step)) {
            skip(r);
            return;
        }
        if (i == rec->n) {
            *mt_vec_push(&r->frames) = (struct frame){0, MT_NONE};
            rec->n++;
        }
        r->frames.v[rec->first + i].step = step;
    }
}

static enum mt_status refuse(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "Android wrote no dump: malloc_debug was not on");
    return mt_reader_refuse(-1,
                            "Turn it on first: adb shell setprop libc.debug.malloc.options "
                            "backtrace, then stop and start.",
                            err);
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    int64_t major, minor;
    if (mt_field_take(&f, nothing))
        return refuse(err);
    if (mt_field_take(&f, begins)) {
        if (!mt_field_decimal(&f, &major) || major != 1 || !mt_field_take(&f, ".") ||
            !mt_field_decimal(&f, &minor)) {
            MT_FAIL(err, MT_EINPUT, "a dump of a version that memtool does not know");
            return mt_reader_refuse((int64_t)r->line.offset, "It reads versions 1.0 to 1.2.", err);
        }
        r->minor = minor > 0;
    } else if (mt_field_take(&f, "END")) {
        r->ended = true;
    } else if (r->mapping) {
        mt_mapped_add(&r->mapped, f);
    } else if (mt_field_take(&f, "MAPS")) {
        r->mapping = true;
    } else if (mt_field_take(&f, "Total memory:")) {
        if (!mt_field_decimal(&f, &r->total) || !is_size(r->total))
            r->total = -1;
    } else if (mt_field_take(&f, "Backtrace size:")) {
        mt_field_decimal(&f, &r->stack_size);
    } else if (mt_field_take(&f, "z ")) {
        read_record(r, f);
    } else if (mt_field_take(&f, "bt_info")) {
        read_info(r, f);
    }
    return MT_OK;
}

/* ---- the whole ---- */

/* Version 1.0 of some Androids wrote the depth of stacks as the number of blocks, everywhere. */
static bool numbers_are_wrong(const struct reader *r)
{
    int64_t once = 0;
    bool all = r->minor == 0 && r->stack_size > 1 && r->records.n > 0;
    for (size_t i = 0; i < r->records.n; i++) {
        all &= r->records.v[i].blocks == r->stack_size;
        once += r->records.v[i].bytes <= size_max - once ? r->records.v[i].bytes : 0;
    }
    return all && (r->total < 0 || once == r->total || once * r->stack_size != r->total);
}

/* The functions at an address, which many stacks have. */
static struct found look(struct reader *r, uint64_t address)
{
    uint32_t *at = mt_map_at(&r->places, address);
    uint64_t place;
    if (*at != MT_MAP_NONE)
        return r->found.v[*at];
    *at = (uint32_t)r->found.n;
    const char *object = mt_mapped_at(&r->mapped, address, &place);
    struct mt_symbols *symbols = r->opts->symbols;
    uint32_t module = symbols ? mt_mapped_module(&r->mapped, symbols, object) : 0;
    struct found f = {.first = r->steps_of.n};
    f.n = mt_native_at(&r->paths, r->opts->alloc_fn, symbols, module, object, place, &r->steps_of);
    *mt_vec_push(&r->found) = f;
    return f;
}

static void add_frame(struct reader *r, struct frame frame)
{
    if (frame.step != MT_NONE) {
        *mt_vec_push(&r->steps) = r->known.v[frame.step];
        return;
    }
    struct found f = look(r, frame.address);
    for (size_t i = f.first; i < f.first + f.n; i++)
        *mt_vec_push(&r->steps) = r->steps_of.v[i];
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(
        r->rec, &r->beside,
        mt_path_tree_bytes(&r->paths) + mt_mapped_bytes(&r->mapped) + mt_vec_bytes(&r->records) +
            mt_vec_bytes(&r->frames) + mt_strtab_bytes(&r->named) + mt_vec_bytes(&r->known) +
            mt_map_bytes(&r->places) + mt_vec_bytes(&r->found) + mt_vec_bytes(&r->steps_of));
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status give(struct reader *r, struct mt_err *err)
{
    bool once = numbers_are_wrong(r);
    int64_t sum = 0;
    for (size_t i = 0; i < r->records.n; i++) {
        const struct record *rec = &r->records.v[i];
        if (i % LINES_PER_CHECK == 0)
            MT_TRY(check_memory(r, err));
        int64_t blocks = once ? 1 : rec->blocks, bytes = rec->bytes * blocks;
        uint32_t node = MT_NONE;
        r->steps.n = 0;
        for (size_t k = 0; k < rec->n; k++)
            add_frame(r, r->frames.v[rec->first + k]);
        if (r->steps.n)
            node = mt_native_path(&r->paths, MT_NONE, r->steps.v, r->steps.n,
                                  r->opts->cpp_frames == MT_CPP_ALL);
        MT_TRY(mt_heap_left(r->heap, node, bytes, blocks, err));
        sum += bytes <= size_max - sum ? bytes : 0;
    }
    if (r->total > sum) {
        mt_rec_note_detail(r->rec, MT_NOTE_UNLISTED, "%s", "the dump lists no record of them");
        mt_rec_note(r->rec, MT_NOTE_UNLISTED, -1, r->total - sum);
        MT_TRY(mt_heap_left(r->heap, MT_NONE, r->total - sum, MT_UNKNOWN, err));
    }
    mt_heap_knows(r->heap, MT_SUM_AT_END_B | (r->total > sum ? 0 : MT_SUM_AT_END_N));
    return mt_heap_close(r->heap, err);
}

/* What follows the end is no part of the dump. */
static enum mt_status pass_over_rest(struct reader *r, struct mt_err *err)
{
    uint64_t first = UINT64_MAX;
    for (bool any = true; any;) {
        MT_TRY(mt_lines_next(&r->lines, &r->line, &any, err));
        if (any && r->line.n && first == UINT64_MAX)
            first = r->line.offset;
    }
    if (first != UINT64_MAX)
        mt_rec_note_n(r->rec, MT_NOTE_TRAILING, mt_lines_offset(&r->lines) - first, (int64_t)first);
    return MT_OK;
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st = MT_OK;
    while (!r->ended &&
           (st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        MT_TRY(read_line(r, err));
        if (mt_lines_due(&r->lines))
            MT_TRY(check_memory(r, err));
    }
    MT_TRY(st);
    if (any)
        MT_TRY(pass_over_rest(r, err));
    if (!r->ended)
        MT_TRY(mt_reader_cut(r->opts, r->rec, mt_lines_offset(&r->lines),
                             "ends early: a dump ends with a line \"END\"", err));
    MT_TRY(check_memory(r, err));
    return give(r, err);
}

static enum mt_status android_heap_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                        struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .total = -1,
    };
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    mt_mapped_init(&r.mapped);
    mt_strtab_init(&r.named);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_mapped_free(&r.mapped);
    mt_strtab_free(&r.named);
    mt_vec_free(&r.records);
    mt_vec_free(&r.frames);
    mt_vec_free(&r.known);
    mt_map_free(&r.places);
    mt_vec_free(&r.found);
    mt_vec_free(&r.steps_of);
    mt_vec_free(&r.steps);
    mt_buf_free(&r.text);
    return st;
}

static int android_heap_probe(const char *head, size_t n)
{
    if (n >= sizeof begins - 1 && memcmp(head, begins, sizeof begins - 1) == 0)
        return 96;
    return n >= sizeof nothing - 1 && memcmp(head, nothing, sizeof nothing - 1) == 0 ? 91 : 0;
}

const struct mt_reader mt_reader_android_heap = {
    .name = "android-heap",
    .kind = MT_RUN_HEAP,
    .probe = android_heap_probe,
    .read = android_heap_read,
};
