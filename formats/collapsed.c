/*
 * Reader of collapsed stacks: a line for each call path, with a number behind it. heaptrack_print,
 * jeprof, Brendan Gregg's stackcollapse scripts and many others write them.
 * docs/formats/collapsed.md says what is read.
 */
#include "formats/format.h"
#include "formats/meaning.h"
#include "formats/stack_text.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"

#include <ctype.h>
#include <string.h>

static const int64_t count_max = INT64_C(1) << 60; /* more cannot be true */

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_stack_text stacks;
    struct mt_heap *heap;
    enum mt_meaning values;
    uint64_t line_n, beside; /* beside: counted in rec->beside_bytes */
    uint64_t pair_n;         /* lines with two numbers */
};

/* A line, taken apart: what stands before its last blank, and the digits behind that. */
struct parts {
    const char *stack, *number;
    size_t stack_n, number_n;
};

/* Whether the line has both; a ";" at the end of the stack, as heaptrack_print writes it, is none
 * of it. */
static bool take_apart(const char *s, size_t n, struct parts *out)
{
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        n--;
    size_t at = n;
    while (at && s[at - 1] >= '0' && s[at - 1] <= '9')
        at--;
    *out = (struct parts){.stack = s, .number = s + at, .number_n = n - at};
    if (at == n || !at || (s[at - 1] != ' ' && s[at - 1] != '\t'))
        return false;
    while (at && (s[at - 1] == ' ' || s[at - 1] == '\t'))
        at--;
    while (at && s[at - 1] == ';')
        at--;
    out->stack_n = at;
    return at > 0;
}

static bool is_blank(const char *s, size_t n)
{
    while (n && (*s == ' ' || *s == '\t')) {
        s++;
        n--;
    }
    return !n;
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now = mt_path_tree_bytes(&r->paths) + mt_stack_text_bytes(&r->stacks);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status cut(struct reader *r, uint64_t offset, const char *what, struct mt_err *err)
{
    return mt_reader_cut(r->opts, r->rec, offset, what, err);
}

/* *go_on: the next line is to be read, too. */
static enum mt_status read_line(struct reader *r, bool *go_on, struct mt_err *err)
{
    struct parts p;
    int64_t number;
    bool good = take_apart(r->line.s, r->line.n, &p);
    if (!good && (is_blank(r->line.s, r->line.n) || *r->line.s == '#'))
        return MT_OK;
    struct mt_fields f = {p.number, p.number + p.number_n};
    if (!good || !mt_field_decimal(&f, &number) || number > count_max) {
        *go_on = false;
        return cut(r, r->line.offset,
                   "not a call path and a whole number behind it, such as \"main;step;read 4096\"",
                   err);
    }
    r->pair_n += take_apart(p.stack, p.stack_n, &(struct parts){0});
    uint32_t node = mt_stack_text_node(&r->stacks, MT_NONE, p.stack, p.stack_n);
    MT_TRY(mt_meaning_give(r->heap, node, r->values, number, MT_UNKNOWN, err));
    r->line_n++;
    return mt_lines_due(&r->lines) ? check_memory(r, err) : MT_OK;
}

/* A number at the end of a function's name is one in a line or two, not in all. */
static enum mt_status refuse_pairs(const struct reader *r, struct mt_err *err)
{
    if (r->line_n < 2 || r->pair_n < r->line_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "every line has two numbers: this is the difference of two recordings");
    return mt_reader_refuse(-1, "Import the two recordings and compare them with memtool diff.",
                            err);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true, go_on = true;
    enum mt_status st = MT_OK;
    MT_TRY(mt_meaning_give(r->heap, MT_NONE, r->values, 0, MT_UNKNOWN, err));
    while (go_on && (st = mt_lines_next(&r->lines, &r->line, &any, err)) == MT_OK && any &&
           !r->line.cut)
        MT_TRY(read_line(r, &go_on, err));
    if (st == MT_EINPUT || (st == MT_OK && any && go_on))
        st = cut(r, mt_lines_offset(&r->lines),
                 "ends early: its last line has no end, so the number there may be cut off", err);
    MT_TRY(st);
    MT_TRY(refuse_pairs(r, err));
    return mt_heap_close(r->heap, err);
}

static enum mt_status collapsed_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                     struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    rec->time_unit = NULL;
    r.values = mt_meaning_of(opts, MT_MEANS_AT_END, rec);
    mt_path_tree_init(&r.paths, rec);
    mt_stack_text_init(&r.stacks, &r.paths, opts);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_stack_text_free(&r.stacks);
    mt_path_tree_free(&r.paths);
    return st;
}

static bool is_text(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' && s[i] != '\t')
            return false;
    return true;
}

/* Whether it is more than a word: several functions, or what no language calls one, such as
 * "[anonymous memory]". */
static bool is_stack(const struct parts *p)
{
    return memchr(p->stack, ';', p->stack_n) ||
           (p->stack_n > 2 && *p->stack == '[' && isalpha((unsigned char)p->stack[1]) &&
            p->stack[p->stack_n - 1] == ']');
}

/* Whole lines are stacks with a number, half of all with several functions. Where some are not the
 * reader will say which. */
static int collapsed_probe(const char *head, size_t n)
{
    size_t line_n = 0, good_n = 0, stack_n = 0;
    const char *p = head, *end = head + n;
    for (const char *stop; p < end && (stop = memchr(p, '\n', (size_t)(end - p))); p = stop + 1) {
        struct parts parts;
        size_t length = (size_t)(stop - p);
        length -= length && p[length - 1] == '\r';
        bool good = take_apart(p, length, &parts);
        if (!good && (is_blank(p, length) || *p == '#'))
            continue;
        good &= is_text(p, length);
        line_n++;
        good_n += good;
        stack_n += good && is_stack(&parts);
    }
    if (!line_n || 2 * stack_n < line_n)
        return 0;
    return good_n < line_n ? 30 : line_n > 1 ? 90 : 60;
}

const struct mt_reader mt_reader_collapsed = {
    .name = "collapsed",
    .kind = MT_RUN_HEAP,
    .probe = collapsed_probe,
    .reads_lines = true,
    .read = collapsed_read,
};
