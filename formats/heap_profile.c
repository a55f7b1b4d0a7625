/*
 * Reader of heap profiles as text: gperftools' and tcmalloc's, jemalloc's, and Go's with ?debug=1.
 * docs/formats/heap-profile.md says what is read.
 *
 * Which objects lay where comes last, so that stacks are kept until the end.
 */
#include "formats/format.h"
#include "formats/heap_stacks.h"
#include "formats/mapped.h"
#include "formats/native_paths.h"
#include "formats/sampled.h"
#include "lib/base/map.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <stdio.h>
#include <string.h>

enum { LINES_PER_CHECK = 1 << 14 };

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    struct mt_mapped mapped;
    struct mt_buf text; /* scratch */
    uint64_t beside;    /* counted in rec->beside_bytes */

    bool jemalloc;  /* its own form: a stack, then lines of what it has by threads */
    bool measured;  /* the file says what was allocated, even where that is what is in use */
    bool has_total; /* at the top, as the stacks say it */
    struct mt_heap_counts total, sum;
    struct mt_sampled sampled;

    bool mapping; /* what comes are mapped objects */
    bool has_mappings;
    bool open;    /* the last stack can have further lines */
    size_t whole; /* stack of all threads whose lines come; and 1 more, 0 = none */
    struct mt_heap_stacks stacks;
    struct mt_map code_of; /* address -> code */
    MT_VEC(struct code {
        size_t first;
        uint32_t n;
    })
    code; /* of addresses: their steps */
    mt_native_steps steps;
    MT_VEC(struct mt_native_step) stack; /* scratch */
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- lines ---- */

static bool take_count(struct mt_fields *f, int64_t *v)
{
    return mt_field_decimal(f, v) && *v >= 0 && *v <= mt_heap_count_max;
}

static bool take_counts(struct mt_fields *f, struct mt_heap_counts *c)
{
    return take_count(f, &c->end_n) && mt_field_take(f, ":") && take_count(f, &c->end_b) &&
           mt_field_take(f, "[") && take_count(f, &c->alloc_n) && mt_field_take(f, ":") &&
           take_count(f, &c->alloc_b) && mt_field_take(f, "]");
}

/* " 0x1 0x2", return addresses, innermost first. */
static void read_addresses(struct reader *r, struct mt_fields f)
{
    mt_heap_stacks_fold(&r->stacks);
    struct mt_heap_stack s = {.offset = r->line.offset,
                              .first = r->stacks.addresses.n,
                              .first_named = r->stacks.named.n,
                              .times = 1};
    uint64_t address;
    r->whole = 0;
    while (mt_field_address(&f, &address))
        *mt_vec_push(&r->stacks.addresses) = address;
    s.n = r->stacks.addresses.n - s.first;
    if (!mt_field_end(&f))
        skip(r);
    *mt_vec_push(&r->stacks.of) = s;
    r->open = true;
}

/* jemalloc's "t1: counts", of one thread: a part of the stack, which is then the rest. */
static void split_thread(struct reader *r, struct mt_fields f)
{
    int64_t thread;
    struct mt_heap_counts c;
    struct mt_heap_stack s = r->stacks.of.v[r->whole - 1];
    struct mt_heap_counts *rest = &r->stacks.of.v[r->whole - 1].counts;
    if (!take_count(&f, &thread) || thread >= UINT32_MAX - 1 || !mt_field_take(&f, ":") ||
        !take_counts(&f, &c) || c.end_n > rest->end_n || c.end_b > rest->end_b ||
        c.alloc_n > rest->alloc_n || c.alloc_b > rest->alloc_b) {
        skip(r);
        return;
    }
    rest->end_n -= c.end_n;
    rest->end_b -= c.end_b;
    rest->alloc_n -= c.alloc_n;
    rest->alloc_b -= c.alloc_b;
    s.counts = c;
    s.thread = (uint32_t)thread + 1;
    *mt_vec_push(&r->stacks.of) = s;
}

/* jemalloc's "t*: counts", of all threads; what is before the first stack is of all stacks. Those
 * of each thread say nothing else. */
static void read_threads(struct reader *r, struct mt_fields f)
{
    struct mt_heap_counts c;
    if (!mt_field_take(&f, "*:")) {
        if (r->opts->split & MT_SPLIT_THREAD && r->whole)
            split_thread(r, f);
        return;
    }
    if (!take_counts(&f, &c)) {
        skip(r);
    } else if (r->open) {
        r->whole = r->stacks.of.n;
        r->stacks.of.v[r->stacks.of.n - 1].counts = c;
        r->open = false;
    } else if (!r->has_total && !r->stacks.of.n) {
        r->has_total = true;
        r->total = c;
    } else {
        skip(r);
    }
}

/* "counts @ 0x1 0x2" */
static void read_stack(struct reader *r, struct mt_fields f)
{
    struct mt_heap_counts c;
    r->open = false; /* what is named next is not of the stack before */
    if (!take_counts(&f, &c) || !mt_field_take(&f, "@")) {
        skip(r);
        return;
    }
    read_addresses(r, f);
    r->stacks.of.v[r->stacks.of.n - 1].counts = c;
}

/* Go's "#\t0x12\tmain.f+0x3\t\t/a/b.go:12", a function of the last stack. Other comments are of no
 * stack. */
static void read_named(struct reader *r, struct mt_fields f)
{
    uint64_t address;
    const char *name, *file;
    size_t name_n, n;
    if (!r->open || !mt_field_address(&f, &address) || !mt_field_word(&f, &name, &name_n))
        return;
    mt_field_rest(&f, &file, &n);
    const char *plus = memrchr(name, '+', name_n), *colon = n ? memrchr(file, ':', n) : NULL;
    if (!plus || !colon)
        return;
    struct mt_native_frame frame = {0};
    struct mt_fields number = {colon + 1, file + n};
    mt_buf_clear(&r->text);
    mt_buf_add(&r->text, name, (size_t)(plus - name));
    mt_buf_addc(&r->text, '\0');
    mt_buf_add(&r->text, file, (size_t)(colon - file));
    if (!mt_field_decimal(&number, &frame.line))
        return;
    frame.name = r->text.s;
    frame.file = r->text.s + (plus - name) + 1;
    frame.object = "";
    *mt_vec_push(&r->stacks.named) = mt_native_step(&r->paths, &frame, r->opts->alloc_fn);
    r->stacks.of.v[r->stacks.of.n - 1].named_n++;
}

static void read_line(struct reader *r)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    if (mt_field_take(&f, "MAPPED_LIBRARIES:")) {
        r->mapping = r->has_mappings = true;
        r->open = false;
    } else if (r->mapping) {
        mt_mapped_add(&r->mapped, f);
    } else if (mt_field_take(&f, "#")) {
        read_named(r, f);
    } else if (mt_field_end(&f)) {
        r->open = false;
    } else if (r->jemalloc && mt_field_take(&f, "@")) {
        read_addresses(r, f);
    } else if (r->jemalloc && mt_field_take(&f, "t")) {
        read_threads(r, f);
    } else {
        read_stack(r, f);
    }
}

/* ---- the first line ---- */

static bool begins_profile(const char *s, size_t n)
{
    static const char text[] = "heap profile: ", jemalloc[] = "heap_v2/";
    return (n >= sizeof text - 1 && memcmp(s, text, sizeof text - 1) == 0) ||
           (n >= sizeof jemalloc - 1 && memcmp(s, jemalloc, sizeof jemalloc - 1) == 0);
}

/* What stands behind "@": how the figures were made. */
static const struct word {
    const char *text; /* before the number, if there is one */
    int halves;       /* the number is so many times the period; 0 = there is none */
    bool measured;
} words[] = {
    {"heapprofile", 0, true}, {"heap_v2/", 1, false}, {"heapz_v2/", 1, false},
    {"heap/", 2, true},       {"growthz", 0, false},  {"growth", 0, false},
};

static enum mt_status no_first_line(const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse(
        0, "memtool reads heapprofile, heap_v2/N, heapz_v2/N, heap/N and growthz.", err);
}

static enum mt_status read_word(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    int64_t n = 1;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++) {
        struct mt_fields at = f;
        const struct word *w = &words[i];
        if (!mt_field_take(&at, w->text) || (w->halves && !take_count(&at, &n)) ||
            !mt_field_end(&at))
            continue;
        r->sampled.period = w->halves ? n / w->halves : 1;
        r->measured = w->measured;
        return MT_OK;
    }
    return no_first_line("a heap profile of a kind that memtool does not know", err);
}

static enum mt_status read_first(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    if (!mt_field_take(&f, "heap profile:")) {
        r->jemalloc = r->sampled.about = true; /* it writes what the unsampling makes right */
        return read_word(r, f, err);
    }
    if (!take_counts(&f, &r->total) || !mt_field_take(&f, "@"))
        return no_first_line("damaged: this is no first line of a heap profile", err);
    r->has_total = true;
    return read_word(r, f, err);
}

/* ---- call paths ---- */

/* The address of the call is in front of where it returns to. */
static const struct code *code_at(struct reader *r, uint64_t address)
{
    uint32_t *at = mt_map_at(&r->code_of, address);
    if (*at == MT_MAP_NONE) {
        uint64_t place;
        const char *object = mt_mapped_at(&r->mapped, address ? address - 1 : 0, &place);
        struct mt_symbols *symbols = *object ? r->opts->symbols : NULL;
        struct code c = {.first = r->steps.n};
        uint32_t module = symbols ? mt_mapped_module(&r->mapped, symbols, object) : 0;
        c.n = mt_native_at(&r->paths, r->opts->alloc_fn, symbols, module, object, place, &r->steps);
        *at = (uint32_t)r->code.n;
        *mt_vec_push(&r->code) = c;
    }
    return &r->code.v[*at];
}

static uint32_t node_of(struct reader *r, const struct mt_heap_stack *s)
{
    bool all = r->opts->cpp_frames == MT_CPP_ALL;
    uint32_t around = MT_NONE;
    if (s->thread) {
        char name[32];
        snprintf(name, sizeof name, "thread %u", s->thread - 1);
        around = mt_path_root(&r->paths, MT_NONE, name, MT_PATH_THREAD);
    }
    if (s->named_n)
        return mt_native_path(&r->paths, around, r->stacks.named.v + s->first_named, s->named_n,
                              all);
    r->stack.n = 0;
    for (size_t i = 0; i < s->n && r->stack.n <= MT_STACK_MAX; i++) {
        const struct code *c = code_at(r, r->stacks.addresses.v[s->first + i]);
        for (uint32_t k = 0; k < c->n; k++)
            *mt_vec_push(&r->stack) = r->steps.v[c->first + k];
    }
    return s->n ? mt_native_path(&r->paths, around, r->stack.v, r->stack.n, all) : around;
}

/* ---- figures ---- */

/* What n sampled blocks of so many bytes stand for, as pprof computes it; false: too much. */
static bool unsample(int64_t period, int64_t *n, int64_t *bytes)
{
    double by = mt_sampled_scale(period, *bytes, *n);
    double many = (double)*n * by, much = (double)*bytes * by;
    if (many >= (double)mt_heap_count_max || much >= (double)mt_heap_count_max)
        return false;
    *n = (int64_t)many;
    *bytes = (int64_t)much;
    return true;
}

static enum mt_status too_much(uint64_t offset, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "its figures cannot be true: more than 1 EiB in all");
    return mt_reader_refuse((int64_t)offset, "The file is damaged, or no profiler wrote it.", err);
}

/* Gives counts of a path, which stand at `offset`; what it did not free is alive. */
static enum mt_status give(struct reader *r, uint32_t node, struct mt_heap_counts c,
                           uint64_t offset, struct mt_err *err)
{
    if (r->sampled.period > 1 && (!unsample(r->sampled.period, &c.end_n, &c.end_b) ||
                                  !unsample(r->sampled.period, &c.alloc_n, &c.alloc_b)))
        return too_much(offset, err);
    const struct mt_sums s = {
        .alloc_b = c.alloc_b, .alloc_n = c.alloc_n, .at_end_b = c.end_b, .at_end_n = c.end_n};
    return mt_heap_sums(r->heap, node, &s, err);
}

/* What of `total` the sum lacks; *more: what it has beyond that. */
static int64_t lacks(int64_t total, int64_t sum, int64_t *more)
{
    *more += sum > total ? sum - total : 0;
    return total > sum ? total - sum : 0;
}

/* ---- the whole ---- */

/* More was to come. */
static enum mt_status cut(struct reader *r, struct mt_err *err)
{
    return mt_reader_cut(r->opts, r->rec, mt_lines_offset(&r->lines),
                         "ends early: the file was cut off", err);
}

/* Stacks are written while the program runs on: what they lack of the total has no call path, and
 * where they have more they are right. Without what comes last, the file was cut off. */
static enum mt_status give_missing(struct reader *r, struct mt_err *err)
{
    const struct mt_heap_counts *t = &r->total, *s = &r->sum;
    int64_t more = 0, blocks = 0;
    const struct mt_heap_counts missing = {
        .end_n = lacks(t->end_n, s->end_n, &blocks),
        .end_b = lacks(t->end_b, s->end_b, &more),
        .alloc_n = lacks(t->alloc_n, s->alloc_n, &blocks),
        .alloc_b = lacks(t->alloc_b, s->alloc_b, &more),
    };
    if (!r->has_total && !r->has_mappings)
        MT_TRY(cut(r, err));
    if (!r->has_total || memcmp(t, s, sizeof *t) == 0)
        return MT_OK;
    if ((missing.end_n || missing.alloc_n) && !r->has_mappings)
        MT_TRY(cut(r, err));
    if (r->jemalloc && r->sampled.period > 1) /* its total is unsampled as one, not a sum */
        return MT_OK;
    if (more || blocks)
        mt_rec_note(r->rec, MT_NOTE_MOMENT_SUM, -1, more);
    if (missing.end_b || missing.alloc_b) {
        mt_rec_note_detail(r->rec, MT_NOTE_UNLISTED, "the stacks that it lists hold less");
        mt_rec_note(r->rec, MT_NOTE_UNLISTED, -1, missing.end_b ? missing.end_b : missing.alloc_b);
    }
    return give(r, MT_NONE, missing, 0, err);
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now = mt_path_tree_bytes(&r->paths) + mt_mapped_bytes(&r->mapped) +
                   mt_map_bytes(&r->code_of) + mt_vec_bytes(&r->code) +
                   mt_heap_stacks_bytes(&r->stacks) + mt_vec_bytes(&r->steps);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* What was allocated in all is not known where the file has 0 of it, or has what is in use again
 * though its recorder measures nothing else. (jemalloc writes 0 then.) */
static bool knows_alloc(const struct reader *r)
{
    const struct mt_heap_counts *c = r->has_total ? &r->total : &r->sum;
    bool same = c->alloc_n == c->end_n && c->alloc_b == c->end_b;
    return same && !r->jemalloc ? r->measured : c->alloc_n || c->alloc_b;
}

static enum mt_status add_all(struct reader *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->stacks.of.n; i++) {
        const struct mt_heap_stack *s = &r->stacks.of.v[i];
        for (uint32_t k = 0; k < s->times; k++)
            if (!mt_heap_counts_add(&r->sum, &s->counts))
                return too_much(s->offset, err);
    }
    return MT_OK;
}

/* Gives a stack as often as the file has it: what is unsampled is each one, not their sum. */
static enum mt_status give_stack(struct reader *r, const struct mt_heap_stack *s,
                                 struct mt_err *err)
{
    const struct mt_heap_counts *c = &s->counts;
    if (!c->end_n && !c->end_b && !c->alloc_n && !c->alloc_b)
        return MT_OK;
    uint32_t node = node_of(r, s);
    for (uint32_t k = 0; k < s->times; k++)
        MT_TRY(give(r, node, *c, s->offset, err));
    return MT_OK;
}

static enum mt_status give_all(struct reader *r, struct mt_err *err)
{
    MT_TRY(add_all(r, err));
    r->sampled.knows_end = true;
    r->sampled.knows_alloc = knows_alloc(r);
    r->sampled.end_n = (double)r->sum.end_n;
    r->sampled.alloc_n = (double)r->sum.alloc_n;
    mt_heap_knows(r->heap, MT_SUM_AT_END_B | MT_SUM_AT_END_N |
                               (r->sampled.knows_alloc ? MT_SUM_ALLOC_B | MT_SUM_ALLOC_N : 0));
    MT_TRY(give_missing(r, err));
    for (size_t i = 0; i < r->stacks.of.n; i++) {
        MT_TRY(give_stack(r, &r->stacks.of.v[i], err));
        if (i % LINES_PER_CHECK == 0 || mt_rec_grew(r->rec))
            MT_TRY(check_memory(r, err));
    }
    mt_sampled_note(&r->sampled, r->rec);
    return mt_heap_close(r->heap, err);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    MT_TRY(mt_lines_next(&r->lines, &r->line, &any, err));
    MT_TRY(read_first(r, err));
    if (r->line.cut) {
        MT_TRY(cut(r, err));
        return give_all(r, err);
    }
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        if (begins_profile(r->line.s, r->line.n))
            return mt_reader_two("heap profiles", r->line.offset, err);
        read_line(r);
        if (mt_lines_due(&r->lines))
            MT_TRY(check_memory(r, err));
    }
    MT_TRY(st);
    return give_all(r, err);
}

static enum mt_status heap_profile_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                        struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    mt_mapped_init(&r.mapped);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_rec_beside(rec, &r.beside, 0);
    mt_heap_free(r.heap);
    mt_path_tree_free(&r.paths);
    mt_mapped_free(&r.mapped);
    mt_buf_free(&r.text);
    mt_map_free(&r.code_of);
    mt_heap_stacks_free(&r.stacks);
    mt_vec_free(&r.steps);
    mt_vec_free(&r.code);
    mt_vec_free(&r.stack);
    return st;
}

static int heap_profile_probe(const char *head, size_t n)
{
    return begins_profile(head, n) ? 94 : 0;
}

const struct mt_reader mt_reader_heap_profile = {
    .name = "heap-profile",
    .kind = MT_RUN_HEAP,
    .probe = heap_profile_probe,
    .read = heap_profile_read,
};
