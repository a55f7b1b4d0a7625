/*
 * Reader of /proc/PID/smaps, smaps_rollup and status, written one after the other.
 * docs/formats/proc-text.md says what is read.
 */
#include "formats/format.h"
#include "formats/stamp.h"
#include "lib/base/map.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <string.h>

enum { LEVEL = -1, PEAK = -2, IN_PRIVATE = -3, LINES = 100 };
enum { ONE = -1, BY_PLACE = -2 }; /* instead of a process id */

/* What a line is of: a metric, or one of the above. Those of one kind come in no other. */
static const struct key {
    const char *name;
    int of;
} keys[] = {
    {"Rss", LEVEL},
    {"Pss", MT_METRIC_PSS},
    {"Private_Clean", IN_PRIVATE},
    {"Private_Dirty", IN_PRIVATE},
    {"Private_Hugetlb", IN_PRIVATE},
    {"Anonymous", MT_METRIC_ANON},
    {"Swap", MT_METRIC_SWAP},
    {"VmRSS", LEVEL},
    {"VmHWM", PEAK},
    {"VmSize", MT_METRIC_VIRTUAL},
    {"RssAnon", MT_METRIC_ANON},
    {"RssFile", MT_METRIC_FILE},
    {"RssShmem", MT_METRIC_SHMEM},
    {"VmSwap", MT_METRIC_SWAP},
};

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_process_log log;
    struct mt_stamps stamps;
    struct mt_map places; /* where the memory lies of a process that has no id -> its number */
    int64_t place_n;      /* of these */
    bool open;            /* a text is under way, of which nothing is used yet */
    bool headed, no_head; /* a text had a head; the first had none: each stamp begins one */
    bool mapped;          /* it is a smaps: figures are of one mapping after the other */
    bool stacked;         /* a smaps had a stack */
    uint64_t from, to;  /* where memory begins that has no id, and ends; of a smaps its stack, 0 */
    uint64_t mapped_to; /* where the last mapping ends */
    uint64_t mapped_b;  /* of lines of mappings, which the stream was not told of yet */
    unsigned seen;      /* keys of it, or of its mapping, a bit each */
    int64_t pid, rss, peak, private, values[MT_METRIC_N]; /* of it; MT_UNKNOWN */
};

/* ---- one text ---- */

static void begin_text(struct reader *r, int64_t pid)
{
    r->open = true;
    r->headed |= !r->no_head;
    r->mapped = false;
    r->seen = 0;
    r->pid = pid;
    r->rss = r->peak = r->private = MT_UNKNOWN;
    for (int i = 0; i < MT_METRIC_N; i++)
        r->values[i] = MT_UNKNOWN;
    mt_stamps_round(&r->stamps);
}

static enum mt_status use_values(struct reader *r, size_t process, int64_t t, struct mt_err *err)
{
    r->values[MT_METRIC_PRIVATE] = r->private;
    for (int i = 0; i < MT_METRIC_N; i++)
        if (r->values[i] != MT_UNKNOWN)
            MT_TRY(mt_process_sample(&r->log, process, i, t, r->values[i], err));
    return MT_OK;
}

/* What a process is known by: a stack lies elsewhere in each, and stays. Where memory begins is
 * 0x200000000 in all that use CUDA, from then on; it tells where stacks are not moved. */
static int64_t number_of(struct reader *r)
{
    static const uint64_t unmoved[] = {0, 0x7ffffffff000, 0x1000000000000}; /* x86-64, ARM */
    uint64_t place = r->to;
    for (size_t i = 0; i < MT_ARRAY_LEN(unmoved); i++)
        place = r->to == unmoved[i] ? r->from : place;
    uint32_t *number = mt_map_at(&r->places, place);
    if (*number == MT_MAP_NONE)
        *number = (uint32_t)++r->place_n;
    return *number;
}

/* Whether mappings are missing at the end, among them the stack: the process ended, or the log. */
static bool lacks_stack(struct reader *r)
{
    const bool lacks = r->mapped && r->stacked && !r->to;
    if (lacks)
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
    r->stacked |= r->mapped && r->to;
    return lacks;
}

/* What a process that ends has is nothing, or no line. */
static enum mt_status end_text(struct reader *r, struct mt_err *err)
{
    size_t process;
    if (!r->open)
        return MT_OK;
    r->open = false;
    if (r->rss == MT_UNKNOWN || !r->rss || lacks_stack(r))
        return mt_process_until(&r->log, r->stamps.now, err);
    if (r->pid == BY_PLACE)
        r->pid = number_of(r);
    MT_TRY(mt_process_of(&r->log, r->pid, &process, err));
    struct mt_process *p = &r->log.all.v[process];
    if (r->stamps.older && !p->now)
        mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)r->line.offset, 0);
    MT_TRY(mt_process_level(&r->log, process, r->stamps.now, r->rss, err));
    if (r->peak != MT_UNKNOWN)
        MT_TRY(mt_process_peak(&r->log, process, r->peak, err));
    return use_values(r, process, p->now, err);
}

/* ---- lines ---- */

/* "Rss:    4132 kB" */
static bool take_key(struct mt_fields *f, const char **s, size_t *n)
{
    return mt_field_until(f, ':', s, n) && *n && !memchr(*s, ' ', *n);
}

static bool take_kib(struct mt_fields *f, int64_t *bytes)
{
    int64_t kib;
    if (!mt_field_decimal(f, &kib) || kib < 0 || !mt_field_take(f, "kB") || !mt_field_end(f))
        return false;
    *bytes = kib > INT64_MAX >> 11 ? INT64_MAX : kib * 1024;
    return true;
}

/* What begins the figures of a mapping, or of all of them together. */
enum head { NO_HEAD, MAPPING, ROLLUP };

static bool line_ends(const struct mt_line *line, const char *text)
{
    const size_t n = strlen(text);
    return line->n >= n && memcmp(line->s + line->n - n, text, n) == 0;
}

/* "5632e63d6000-7ffea98c6000 ---p 00000000 00:00 0  [rollup]" */
static enum head head_of(const struct mt_line *line, uint64_t *from, uint64_t *to)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    const char *s;
    size_t n;
    if (!mt_field_hex(&f, from) || !mt_field_take(&f, "-") || !mt_field_hex(&f, to))
        return NO_HEAD;
    if (line_ends(line, "[rollup]"))
        return ROLLUP;
    bool is = mt_field_word(&f, &s, &n) && n == 4 && strchr("-r", s[0]) && strchr("-w", s[1]) &&
              strchr("-x", s[2]) && strchr("ps", s[3]);
    return is ? MAPPING : NO_HEAD;
}

/* The figure of a key. */
static void use_key(struct reader *r, const struct key *key, int64_t bytes)
{
    int64_t *to = key->of == LEVEL        ? &r->rss
                  : key->of == PEAK       ? &r->peak
                  : key->of == IN_PRIVATE ? &r->private
                                          : &r->values[key->of];
    const bool adds = (r->mapped || key->of == IN_PRIVATE) && *to != MT_UNKNOWN;
    *to = adds ? mt_wrap_add(*to, bytes) : bytes;
}

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* Bytes of the key of "VmPeak:\t    5132 kB", as lines of a status are; 0: it is none. */
static size_t key_of_status(const struct mt_line *line)
{
    const char *colon = memchr(line->s, ':', line->n);
    const size_t n = colon ? (size_t)(colon - line->s) : 0;
    if (!n || colon + 1 == line->s + line->n || colon[1] != '\t' || memchr(line->s, ' ', n))
        return 0;
    return n;
}

/* "VmRSS:\t    4132 kB", which stands in a status only. */
static bool is_of_status(const struct mt_line *line)
{
    const size_t n = key_of_status(line);
    for (size_t i = 0; i < MT_ARRAY_LEN(keys); i++)
        if (strlen(keys[i].name) == n && memcmp(keys[i].name, line->s, n) == 0)
            return true;
    return n == 3 && memcmp(line->s, "Pid", n) == 0;
}

static void read_key(struct reader *r, struct mt_fields *f)
{
    const char *s;
    size_t n;
    int64_t v;
    if (!r->open && !r->headed && r->stamps.any && is_of_status(&r->line)) { /* date; grep Vm */
        r->no_head = true;
        begin_text(r, ONE);
    }
    if (!take_key(f, &s, &n)) {
        skip(r);
        return;
    }
    if (r->open && n == 3 && memcmp(s, "Pid", 3) == 0) {
        if (mt_field_decimal(f, &v) && v >= 0 && v <= INT32_MAX && mt_field_end(f))
            r->pid = v;
        else
            skip(r);
        return;
    }
    for (size_t i = 0; i < MT_ARRAY_LEN(keys); i++)
        if (strlen(keys[i].name) == n && memcmp(keys[i].name, s, n) == 0) {
            /* one that comes twice is of another text, whose head is missing */
            if (r->open && !(r->seen >> i & 1) && take_kib(f, &v))
                use_key(r, &keys[i], v);
            else
                skip(r);
            r->seen |= 1u << i;
        }
}

/* A mapping of the text that is open, or the first of one: they stand by their addresses. */
static enum mt_status begin_mapping(struct reader *r, uint64_t from, uint64_t to,
                                    struct mt_err *err)
{
    if (!r->open || !r->mapped || from < r->mapped_to) {
        MT_TRY(end_text(r, err));
        begin_text(r, BY_PLACE);
        r->mapped = true;
        r->from = from;
        r->to = 0;
    }
    if (line_ends(&r->line, "[stack]"))
        r->to = to;
    r->mapped_to = to;
    r->seen = 0;
    return MT_OK;
}

/* Where a status begins. Of mappings on Android that is the name of one: "Name: [anon:malloc]". */
static bool is_named(const struct mt_line *line)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    return mt_field_take(&f, "Name:") && !mt_field_take(&f, "[");
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    uint64_t from, to;
    int64_t ns;
    bool zoned;
    const enum head head = head_of(&r->line, &from, &to);
    if (head == MAPPING)
        return begin_mapping(r, from, to, err);
    if (mt_stamp_read(r->line.s, r->line.n, &ns, &zoned)) {
        MT_TRY(end_text(r, err));
        mt_stamps_take(&r->stamps, r->line.s, r->line.n);
        if (r->no_head)
            begin_text(r, ONE);
    } else if (head == ROLLUP) {
        MT_TRY(end_text(r, err));
        begin_text(r, BY_PLACE);
        r->from = from;
        r->to = to;
    } else if (is_named(&r->line)) {
        MT_TRY(end_text(r, err));
        begin_text(r, ONE);
    } else if (!mt_field_end(&f)) {
        read_key(r, &f);
    }
    return MT_OK;
}

/* ---- the whole ---- */

/* Of what hardly changes there may be hundreds of MB in some KB, as in heaptrack.c. */
static void used(struct reader *r)
{
    enum { BATCH = 64 << 10 };
    r->mapped_b += r->open && r->mapped ? r->line.n + 1 : 0;
    if (r->mapped_b < BATCH)
        return;
    mt_stream_used(r->lines.in, r->mapped_b);
    r->mapped_b = 0;
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        MT_TRY(read_line(r, err));
        used(r);
    }
    MT_TRY(st);
    if (r->mapped && r->rec->notes[MT_NOTE_CUT].count)
        r->open = false; /* what the other mappings hold is lost */
    MT_TRY(end_text(r, err));
    MT_TRY(mt_reader_found(r->rec, "The process had ended, or was another user's.", err));
    mt_stamps_end(&r->stamps, r->rec);
    mt_process_sole(&r->log);
    return mt_process_close(&r->log, err);
}

static enum mt_status proc_text_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                     struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    mt_process_open(&r.log, rec);
    enum mt_status st = read_all(&r, err);
    mt_process_free(&r.log);
    mt_map_free(&r.places);
    return st;
}

/* The head of a mapping before its size, wherever that stands; a rollup's head before its rss, or
 * the name of a status and what else it has, among stamps; behind a stamp also that without the
 * name. */
static int proc_text_probe(const char *head, size_t n)
{
    struct mt_fields all = mt_fields_of(head, n), f;
    struct mt_line line = {0};
    bool status = false, stamped = false, strange = false, zoned;
    enum head is = NO_HEAD;
    uint64_t from, to;
    int64_t ns;
    for (int i = 0; i < LINES && mt_field_until(&all, '\n', &line.s, &line.n); i++) {
        line.n -= line.n && line.s[line.n - 1] == '\r';
        f = mt_fields_of(line.s, line.n);
        if ((is == MAPPING && mt_field_take(&f, "Size:")) ||
            (!strange && ((is == ROLLUP && mt_field_take(&f, "Rss:")) ||
                          (status && mt_field_take(&f, "State:")) ||
                          ((status || stamped) && is_of_status(&line)))))
            return 94;
        const bool stamp = mt_stamp_read(line.s, line.n, &ns, &zoned);
        stamped |= stamp;
        if (!stamp && !mt_field_end(&f) && !status)
            status = mt_field_take(&f, "Name:");
        is = head_of(&line, &from, &to);
        strange |= is == NO_HEAD && !status && !stamp && !mt_field_end(&f) &&
                   !(stamped && key_of_status(&line));
    }
    return 0;
}

const struct mt_reader mt_reader_proc_text = {
    .name = "proc-text",
    .kind = MT_RUN_PROCESS,
    .probe = proc_text_probe,
    .read = proc_text_read,
};
