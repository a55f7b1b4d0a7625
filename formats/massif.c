/*
 * Reader of what massif writes (valgrind --tool=massif): totals at moments, and of some of them
 * what call paths hold. docs/formats/massif.md says what is read and how a file that is cut off
 * shows.
 */
#include "formats/format.h"
#include "formats/massif_tree.h"
#include "lib/base/human.h"
#include "lib/input/fields.h"
#include "lib/input/json.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SECONDS = 9,        /* digits of times in seconds */
    WHOLE = 1000000,    /* millionths */
    INACCURACY = 10000, /* massif's own: 1 % */
};

struct snapshot {
    bool open; /* began, and is not given to the heap */
    uint64_t offset;
    int64_t time, heap, extra, stacks; /* MT_UNKNOWN: not there (yet) */
    bool peak, broken;
    bool has_tree; /* of one that was given to the heap */
};

struct reader {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_lines lines;
    struct mt_heap *heap;
    struct snapshot now;
    struct mt_massif_tree tree; /* of it */
    int64_t digits;             /* of the fraction of times */
    int64_t last_time, last_heap;
    int64_t next, good_n;    /* number of the next snapshot; those given to the heap */
    struct snapshot highest; /* of them */
    double counted;          /* the highest that one counts: blocks, what comes to them, stacks */
    int64_t inaccuracy;      /* a peak that is higher by less is not marked: millionths of it */
    uint64_t beside;         /* counted in rec->beside_bytes */
    bool marked, fell;       /* a snapshot is marked as the peak; some level fell */
    bool ruled;              /* the last line was "#-----------": a snapshot's head was to follow */
    bool has_unit;           /* the file says what its times are */
    bool headed, more;       /* "desc:" came, and snapshots behind it */
};

/* ---- snapshots ---- */

static bool is_complete(const struct reader *r)
{
    const struct snapshot *s = &r->now;
    return !s->broken && s->time != MT_UNKNOWN && s->heap != MT_UNKNOWN &&
           r->tree.state != MT_MASSIF_UNKNOWN && !mt_massif_tree_lacks(&r->tree);
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now = mt_vec_bytes(&r->tree.held) + mt_path_tree_bytes(&r->tree.paths);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* All that massif counts, whose peak it marks. */
static double counted(const struct snapshot *s)
{
    return (double)s->heap + (s->extra == MT_UNKNOWN ? 0 : (double)s->extra) +
           (s->stacks == MT_UNKNOWN ? 0 : (double)s->stacks);
}

/* What is remembered of the snapshots, to judge the file by. */
static void look_at(struct reader *r, const struct snapshot *s)
{
    r->counted = counted(s) > r->counted ? counted(s) : r->counted;
    r->fell |= s->heap < r->last_heap;
    r->marked |= s->peak;
    r->last_time = s->time;
    r->last_heap = s->heap;
    if (!r->good_n++ || s->heap > r->highest.heap ||
        (s->heap == r->highest.heap && s->has_tree && !r->highest.has_tree))
        r->highest = *s;
}

static enum mt_status give(struct reader *r, const struct snapshot *s, struct mt_err *err)
{
    int64_t held = 0;
    for (size_t i = 0; i < r->tree.held.n; i++)
        held = mt_wrap_add(held, r->tree.held.v[i].bytes);
    if (s->has_tree && held < s->heap)
        mt_rec_note(r->rec, MT_NOTE_CALLERS, -1, mt_wrap_sub(s->heap, held));
    MT_TRY(mt_heap_moment(r->heap, s->time, s->heap, s->has_tree, err));
    for (size_t i = 0; i < r->tree.held.n; i++)
        MT_TRY(mt_heap_held(r->heap, r->tree.held.v[i].node, r->tree.held.v[i].bytes, MT_UNKNOWN,
                            err));
    return check_memory(r, err);
}

/* The snapshot before is as complete as it gets. */
static enum mt_status close_snapshot(struct reader *r, struct mt_err *err)
{
    struct snapshot *s = &r->now;
    if (!s->open)
        return MT_OK;
    s->open = false;
    if (mt_massif_tree_lacks(&r->tree)) /* fewer children than it says */
        mt_massif_tree_break(&r->tree, s->offset, true);
    s->has_tree = r->tree.state == MT_MASSIF_DONE;
    if (!is_complete(r)) {
        if (!s->broken)
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)s->offset, 0);
        r->tree.held.n = 0;
        return MT_OK;
    }
    if (s->time < r->last_time) {
        mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)s->offset, 0);
        s->time = r->last_time;
    }
    look_at(r, s);
    enum mt_status st = give(r, s, err);
    if (st == MT_EINPUT && err->offset < 0)
        err->offset = (int64_t)s->offset;
    r->tree.held.n = 0;
    return st;
}

/* "snapshot=12". Some are missing where the number is not the next one. */
static enum mt_status open_snapshot(struct reader *r, struct mt_fields *f,
                                    const struct mt_line *line, struct mt_err *err)
{
    int64_t number;
    MT_TRY(close_snapshot(r, err));
    if (!r->has_unit) { /* the head comes last, as heaptrack_print -M writes it */
        r->rec->time_unit = "ns";
        r->digits = SECONDS;
    }
    r->now = (struct snapshot){.open = true,
                               .offset = line->offset,
                               .time = MT_UNKNOWN,
                               .heap = MT_UNKNOWN,
                               .extra = MT_UNKNOWN,
                               .stacks = MT_UNKNOWN};
    mt_massif_tree_clear(&r->tree);
    bool good =
        mt_field_decimal(f, &number) && mt_field_end(f) && number >= 0 && number < INT32_MAX;
    if (!good || number != r->next)
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
    r->next = (good ? number : r->next) + 1;
    return MT_OK;
}

static bool read_tree_kind(struct reader *r, struct mt_fields *f)
{
    r->now.peak = mt_field_take(f, "peak");
    if (r->now.peak || mt_field_take(f, "detailed"))
        r->tree.state = MT_MASSIF_BEGINS;
    else if (mt_field_take(f, "empty"))
        r->tree.state = MT_MASSIF_EMPTY;
    return r->tree.state != MT_MASSIF_UNKNOWN;
}

/* ---- the head ---- */

/* The number behind an option, times 10^digits; false: there is none. Behind those of VALGRIND_OPTS
 * stand those of the command line: the last one counts. */
static bool read_option(const char *s, size_t n, const char *option, int digits, int64_t *v)
{
    struct mt_fields f = mt_fields_of(s, n);
    bool any = false;
    for (const char *at; (at = memmem(f.p, (size_t)(f.end - f.p), option, strlen(option)));) {
        f.p = at;
        any = mt_field_take(&f, option) && mt_field_fraction(&f, digits, v);
    }
    return any;
}

/* The options that massif was run with. */
static void read_options(struct reader *r, const char *s, size_t n)
{
    int64_t v;
    mt_rec_meta_text(r->rec, "desc", s, n);
    if (read_option(s, n, "--depth=", 0, &v) && v > 0)
        r->tree.depth = v;
    if (read_option(s, n, "--peak-inaccuracy=", 4, &v) && v >= 0 && v <= WHOLE)
        r->inaccuracy = v;
}

static bool read_unit(struct reader *r, struct mt_fields *f)
{
    static const struct unit {
        const char *word, *unit;
        int digits;
        int64_t resolution_ns;
    } units[] = {{"ms", "ns", 6, 1000000},
                 {"i", "instructions", 0, 0},
                 {"B", "bytes", 0, 0},
                 {"s", "ns", SECONDS, 0}}; /* heaptrack_print -M */
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        if (mt_field_take(f, units[i].word)) {
            if (r->next && units[i].digits != r->digits)
                return false; /* what came was read as another one */
            r->has_unit = true;
            r->rec->time_unit = units[i].unit;
            r->rec->resolution_ns = units[i].resolution_ns;
            r->digits = units[i].digits;
            return true;
        }
    return false;
}

static bool read_head(struct reader *r, struct mt_fields *f, bool *is)
{
    const char *s;
    size_t n;
    *is = true;
    if (mt_field_take(f, "desc:")) {
        mt_field_rest(f, &s, &n);
        read_options(r, s, n);
        return true;
    }
    if (mt_field_take(f, "cmd:")) {
        mt_field_rest(f, &s, &n);
        mt_rec_meta_text(r->rec, "cmd", s, n);
        return true;
    }
    if (mt_field_take(f, "time_unit:"))
        return read_unit(r, f) && mt_field_end(f);
    return *is = false;
}

/* A tree of valgrind (xtree.c) for ms_print: its snapshots are no moments, but an event each, and
 * what mem_heap_B says is a number of blocks in every other one. */
static enum mt_status refuse_tree(const struct mt_line *line, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "it is a tree of valgrind's --xtree-memory, and no profile of massif");
    return mt_reader_refuse((int64_t)line->offset,
                            "Such trees are read in their other format: record it again, with a "
                            "name behind --xtree-memory-file= that does not have '.ms' in it.",
                            err);
}

/* ---- lines ---- */

/* A line of a snapshot that is none of its tree; false: it is none. */
static bool read_figure(struct reader *r, struct mt_fields *f)
{
    struct snapshot *s = &r->now;
    if (mt_field_take(f, "time="))
        return mt_field_fraction(f, (int)r->digits, &s->time) && s->time >= 0;
    if (mt_field_take(f, "mem_heap_B="))
        return mt_field_decimal(f, &s->heap) && s->heap >= 0;
    if (mt_field_take(f, "mem_heap_extra_B="))
        return mt_field_decimal(f, &s->extra) && s->extra >= 0;
    if (mt_field_take(f, "mem_stacks_B="))
        return mt_field_decimal(f, &s->stacks) && s->stacks >= 0;
    return mt_field_take(f, "heap_tree=") && read_tree_kind(r, f);
}

static enum mt_status read_line(struct reader *r, const struct mt_line *line, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(line->s, line->n), again = f, head = f;
    bool in_head;
    r->ruled = line->n && line->s[0] == '#';
    if (!line->n || r->ruled)
        return MT_OK;
    if (line->s[0] == ' ' || line->s[0] == 'n') {
        mt_massif_tree_line(&r->tree, line);
        return r->tree.held.n % 256 ? MT_OK : check_memory(r, err);
    }
    if (mt_field_take(&f, "snapshot=")) {
        r->more = r->headed;
        return open_snapshot(r, &f, line, err);
    }
    if (mt_field_take(&head, "desc:")) { /* an argument of the command may have such a line, too */
        if (r->more)
            return mt_reader_two("massif profiles", line->offset, err);
        r->headed = true;
        if (mt_field_take(&head, "xtree.produce_report"))
            return refuse_tree(line, err);
    }
    bool good = read_head(r, &again, &in_head);
    if (!in_head)
        good = r->now.open && read_figure(r, &f) && mt_field_end(&f);
    if (!good) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)line->offset, 0);
        r->now.broken = true;
    }
    return MT_OK;
}

/* ---- the end ---- */

/* The file ends early. */
static enum mt_status cut_off(struct reader *r, uint64_t offset, const char *why,
                              struct mt_err *err)
{
    char snapshots[MT_HUMAN_LONG];
    MT_FAIL(err, MT_EINPUT, "%s: the file was cut off", why); /* unless it has failed already */
    if (!r->good_n)
        return mt_reader_refuse((int64_t)offset, "There is no snapshot before that place.", err);
    mt_err_hint(err, "Nothing was imported. --partial keeps what came before: %s.",
                mt_human_plural(r->good_n, "snapshot", snapshots));
    return mt_reader_cut(r->opts, r->rec, offset, "", err);
}

/* massif writes no end. Yet it marks the peak of every program that frees anything. What
 * heaptrack_print -M writes has no mark, but its head last; the peak is between its moments. */
static enum mt_status check_end(struct reader *r, struct mt_err *err)
{
    uint64_t end = mt_lines_offset(&r->lines);
    if (!r->good_n)
        return MT_OK;
    if (!r->has_unit)
        return cut_off(r, end, "it does not say what its times are", err);
    if (r->marked)
        return MT_OK;
    if (r->fell && r->digits != SECONDS)
        return cut_off(r, end, "no snapshot is marked as the peak, though memory was freed", err);
    mt_rec_note(r->rec, MT_NOTE_NO_PEAK, (int64_t)end, 0);
    return MT_OK;
}

/* Of the snapshot in which the file was cut off, the level, if it stands there; all of it, if the
 * cut is behind it. */
static enum mt_status salvage(struct reader *r, struct mt_err *err)
{
    struct snapshot *s = &r->now;
    if (mt_massif_tree_lacks(&r->tree))
        mt_massif_tree_break(&r->tree, s->offset, false);
    s->open &= is_complete(r);
    return close_snapshot(r, err);
}

static enum mt_status read_lines(struct reader *r, struct mt_err *err)
{
    struct mt_line line;
    for (;;) {
        bool any;
        enum mt_status st = mt_lines_next(&r->lines, &line, &any, err);
        if (st == MT_EINPUT) {
            struct mt_err why = *err;
            *err = (struct mt_err)MT_ERR_INIT;
            MT_TRY(salvage(r, err));
            *err = why;
            return cut_off(r, mt_lines_offset(&r->lines), "", err);
        }
        MT_TRY(st);
        bool cut = any && line.cut;
        if (any && !cut) {
            MT_TRY(read_line(r, &line, err));
        } else if (cut || r->ruled || (r->now.open && !r->now.broken && !is_complete(r))) {
            MT_TRY(salvage(r, err));
            return cut_off(r, cut ? line.offset + line.n : mt_lines_offset(&r->lines),
                           "ends inside a snapshot", err);
        } else {
            MT_TRY(close_snapshot(r, err));
            return check_end(r, err);
        }
    }
}

static void add_figure(struct reader *r, const char *key, int64_t v)
{
    char text[24];
    if (v == MT_UNKNOWN)
        return;
    int n = snprintf(text, sizeof text, "%lld", (long long)v);
    mt_rec_meta(r->rec, key, text, (size_t)n);
}

/* The most that blocks may have held: massif marks the peak of all that it counts, within its
 * inaccuracy. */
static void add_most(struct reader *r)
{
    double most = ceil(r->counted * (WHOLE + r->inaccuracy) / WHOLE);
    if (r->marked && most < 9e18)
        add_figure(r, "blocks_at_most_b", (int64_t)most);
}

/* What massif left out is of paths that it does not list, any of them. */
static void mark_left_out(struct reader *r)
{
    const struct mt_recording *rec = r->rec;
    for (size_t i = 0; i < rec->stats.n; i++) {
        const struct mt_node_stat *s = &rec->stats.v[i];
        uint32_t root = s->node;
        while (rec->nodes.v[root].parent != MT_NONE)
            root = rec->nodes.v[root].parent;
        if (rec->nodes.v[root].frame == r->tree.below.frame)
            rec->devices.v[s->device].knows |= (s->self.at_peak_b ? MT_LARGE_AT_PEAK : 0) |
                                               (s->self.at_end_b ? MT_LARGE_AT_END : 0);
    }
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    MT_TRY(read_lines(r, err));
    if (!r->good_n) {
        const struct mt_note *skipped = &r->rec->notes[MT_NOTE_SKIPPED];
        MT_FAIL(err, MT_EINPUT, "holds no snapshot that can be read");
        return mt_reader_refuse(skipped->count ? skipped->first_offset : -1,
                                "Copy the file again, or record it again.", err);
    }
    add_figure(r, "extra_at_peak_b", r->highest.extra);
    add_figure(r, "stacks_at_peak_b", r->highest.stacks);
    add_most(r);
    MT_TRY(mt_heap_close(r->heap, err));
    mark_left_out(r);
    return MT_OK;
}

static enum mt_status massif_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                  struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.opts = opts,
                       .rec = rec,
                       .inaccuracy = INACCURACY,
                       .lines = {.in = in, .progress = opts->progress, .closure = opts->closure}};
    rec->time_unit = "instructions";
    mt_massif_tree_init(&r.tree, opts, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_massif_tree_free(&r.tree);
    return st;
}

static bool has_line(const char *head, size_t n, const char *begins)
{
    size_t k = strlen(begins);
    for (const char *at = head, *end = n ? head + n : head; at && (size_t)(end - at) >= k;) {
        if (memcmp(at, begins, k) == 0)
            return true;
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return false;
}

static int massif_probe(const char *head, size_t n)
{
    bool described = n > 5 && (memcmp(head, "desc:", 5) == 0 || memcmp(head, "cmd: ", 5) == 0);
    bool snapshots = has_line(head, n, "snapshot=");
    if (snapshots && has_line(head, n, "mem_heap_B="))
        return 95;
    if (described && has_line(head, n, "time_unit:"))
        return 92;
    if (has_line(head, n, "events:"))
        return 0; /* of cachegrind, which counts no memory */
    return described || (snapshots && head[0] == '#') ? 60 : 0;
}

const struct mt_reader mt_reader_massif = {
    .name = "massif",
    .kind = MT_RUN_HEAP,
    .probe = massif_probe,
    .read = massif_read,
};
