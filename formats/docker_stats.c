/*
 * Reader of what docker stats prints, as a table or as JSON, again and again: the memory of
 * containers over time. docs/formats/docker-stats.md says what is read.
 */
#include "formats/format.h"
#include "formats/stamp.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/process.h"

#include <string.h>

enum { DIGITS = 6 };
static const int64_t micro = 1000 * 1000;
static const char usage_head[] = "MEM USAGE";

struct slice {
    const char *s;
    size_t n;
};

/* Which cells of the table are what; -1: it has none such. */
struct columns {
    int id, name, usage;
};

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_process_log log;
    struct mt_stamps stamps;
    struct mt_buf text; /* the line without what moves the cursor */
    struct columns columns;
    MT_VEC(int64_t) rounds; /* of each container, the last one that it is in */
    int limit;              /* the metric; -1: no limit yet */
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- fields ---- */

/* The line without escape sequences, by which a table replaces the one before. */
static void plain(struct mt_buf *out, const char *s, size_t n)
{
    out->n = 0;
    mt_buf_adds(out, "");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\x1b' && i + 1 < n && s[i + 1] == '[') {
            for (i += 2; i < n && (s[i] < '@' || s[i] > '~');)
                i++;
            continue;
        }
        mt_buf_add(out, s + i, 1);
    }
}

/* The next cell of a row: two blanks end it. */
static bool take_cell(struct mt_fields *f, struct slice *out)
{
    if (mt_field_end(f))
        return false;
    const char *end = memmem(f->p, (size_t)(f->end - f->p), "  ", 2);
    end = end ? end : f->end;
    *out = (struct slice){f->p, (size_t)(end - f->p)};
    while (out->n && out->s[out->n - 1] == ' ')
        out->n--;
    f->p = end;
    return true;
}

static bool is(const struct slice *s, const char *text)
{
    return strlen(text) == s->n && memcmp(s->s, text, s->n) == 0;
}

static bool read_head(struct mt_fields f, struct columns *out)
{
    struct slice cell;
    *out = (struct columns){-1, -1, -1};
    for (int i = 0; take_cell(&f, &cell); i++) {
        if (is(&cell, "CONTAINER ID") || is(&cell, "CONTAINER") || is(&cell, "ID"))
            out->id = i;
        else if (is(&cell, "NAME"))
            out->name = i;
        else if (cell.n >= sizeof usage_head - 1 &&
                 memcmp(cell.s, usage_head, sizeof usage_head - 1) == 0)
            out->usage = i;
    }
    return out->usage >= 0 && (out->id >= 0 || out->name >= 0);
}

/* A KiB is 1,024 bytes, a kB 1,000: docker means them so. */
static int64_t unit_of(const char *s, size_t n)
{
    static const char letters[] = "kMGT";
    int64_t unit = 1;
    const char *letter =
        n > 1 ? memchr(letters, s[0] == 'K' ? 'k' : s[0], sizeof letters - 1) : NULL;
    bool binary = n == 3 && s[1] == 'i';
    if (!n || s[n - 1] != 'B' || (n > 1 && (!letter || (n != 2 && !binary))))
        return 0;
    for (const char *l = letters; letter && l <= letter; l++)
        unit *= binary ? 1024 : 1000;
    return unit;
}

/* "5.629MiB", "5.629 MB" */
static bool take_size(struct mt_fields *f, int64_t *bytes)
{
    int64_t v;
    if (!mt_field_fraction(f, DIGITS, &v) || v < 0)
        return false;
    mt_field_blanks(f);
    const char *s = f->p;
    while (f->p < f->end && *f->p != ' ' && *f->p != '/')
        f->p++;
    int64_t unit = unit_of(s, (size_t)(f->p - s));
    if (!unit)
        return false;
    *bytes =
        v / micro > INT64_MAX / unit / 2 ? INT64_MAX : v / micro * unit + v % micro * unit / micro;
    return true;
}

/* ---- values ---- */

/* A container is in a round once: another time it is the next round. */
static void see(struct reader *r, size_t process)
{
    while (r->rounds.n <= process)
        *mt_vec_push(&r->rounds) = -1;
    if (!r->stamps.round_n || r->rounds.v[process] == r->stamps.round_n)
        mt_stamps_round(&r->stamps);
    r->rounds.v[process] = r->stamps.round_n;
}

/* "5.629MiB / 1.944GiB" of a container. One that does not run has "--", or nothing. */
static enum mt_status use(struct reader *r, struct slice name, struct slice usage,
                          struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(usage.s, usage.n);
    int64_t bytes, limit;
    size_t process;
    if (mt_field_take(&f, "--"))
        return MT_OK;
    if (!name.n || !take_size(&f, &bytes) || !mt_field_take(&f, "/") || !take_size(&f, &limit) ||
        !mt_field_end(&f)) {
        skip(r);
        return MT_OK;
    }
    if (!bytes)
        return mt_process_until(&r->log, r->stamps.now, err);
    MT_TRY(mt_process_named(&r->log, "container", name.s, name.n, &process, err));
    see(r, process);
    struct mt_process *p = &r->log.all.v[process];
    if (r->stamps.older && !p->now)
        mt_rec_note(r->rec, MT_NOTE_CLOCK, (int64_t)r->line.offset, 0);
    MT_TRY(mt_process_level(&r->log, process, r->stamps.now, bytes, err));
    if (!limit)
        return MT_OK;
    if (r->limit < 0)
        r->limit = mt_rec_metric(r->rec, "limit");
    return r->limit < 0 ? MT_OK : mt_process_sample(&r->log, process, r->limit, p->now, limit, err);
}

/* The text of a member. Names and sizes have no quotes in them, so that it ends at the next one. */
static bool member(const char *s, size_t n, const char *key, struct slice *out)
{
    const char *at = memmem(s, n, key, strlen(key)), *end;
    *out = (struct slice){0};
    if (!at)
        return false;
    struct mt_fields f = mt_fields_of(at + strlen(key), (size_t)(s + n - at) - strlen(key));
    if (!mt_field_take(&f, ":") || !mt_field_take(&f, "\"") ||
        !(end = memchr(f.p, '"', (size_t)(f.end - f.p))))
        return false;
    *out = (struct slice){f.p, (size_t)(end - f.p)};
    return true;
}

static enum mt_status read_json(struct reader *r, const char *s, size_t n, struct mt_err *err)
{
    struct slice name, usage;
    if (s[n - 1] != '}' || !member(s, n, "\"MemUsage\"", &usage)) {
        skip(r);
        return MT_OK;
    }
    if (!member(s, n, "\"Name\"", &name) || !name.n || is(&name, "--"))
        (void)(member(s, n, "\"ID\"", &name) || member(s, n, "\"Container\"", &name));
    return use(r, name, usage, err);
}

static enum mt_status read_row(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    struct slice cell, name = {0}, id = {0}, usage = {0};
    for (int i = 0; take_cell(&f, &cell); i++) {
        if (i == r->columns.name)
            name = cell;
        else if (i == r->columns.id)
            id = cell;
        else if (i == r->columns.usage)
            usage = cell;
    }
    return use(r, name.n && !is(&name, "--") ? name : id, usage, err);
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct columns columns;
    plain(&r->text, r->line.s, r->line.n);
    struct mt_fields f = mt_fields_of(r->text.s, r->text.n);
    if (mt_field_end(&f) || mt_stamps_take(&r->stamps, f.p, (size_t)(f.end - f.p)))
        return MT_OK;
    while (f.end > f.p && f.end[-1] == ' ')
        f.end--;
    if (*f.p == '{')
        return read_json(r, f.p, (size_t)(f.end - f.p), err);
    if (read_head(f, &columns)) {
        r->columns = columns;
        mt_stamps_round(&r->stamps);
        return MT_OK;
    }
    if (r->columns.usage >= 0)
        return read_row(r, f, err);
    skip(r);
    return MT_OK;
}

/* ---- the whole ---- */

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any)
        MT_TRY(read_line(r, err));
    MT_TRY(st);
    MT_TRY(mt_reader_found(r->rec, "No container ran when docker stats was asked.", err));
    mt_rec_note(r->rec, MT_NOTE_LEVEL, -1, 0);
    mt_rec_note_detail(r->rec, MT_NOTE_LEVEL,
                       "what docker counts of a container: its memory and the files that it uses, "
                       "without cached ones");
    mt_stamps_end(&r->stamps, r->rec);
    return mt_process_close(&r->log, err);
}

static enum mt_status docker_stats_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                        struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .columns = {-1, -1, -1},
        .limit = -1,
    };
    mt_process_open(&r.log, rec);
    enum mt_status st = read_all(&r, err);
    mt_process_free(&r.log);
    mt_buf_free(&r.text);
    mt_vec_free(&r.rounds);
    return st;
}

/* The head of its table, or one of its objects, behind stamps at most. */
static int docker_stats_probe(const char *head, size_t n)
{
    struct mt_fields all = mt_fields_of(head, n);
    struct mt_buf text = {0};
    struct columns columns;
    struct slice line, usage;
    int score = -1;
    while (score < 0) {
        int64_t ns;
        bool zoned;
        if (!mt_field_until(&all, '\n', &line.s, &line.n)) {
            score = 0;
            break;
        }
        line.n -= line.n && line.s[line.n - 1] == '\r';
        plain(&text, line.s, line.n < 4096 ? line.n : 4096);
        struct mt_fields f = mt_fields_of(text.s, text.n);
        if (mt_field_end(&f) || mt_stamp_read(f.p, (size_t)(f.end - f.p), &ns, &zoned))
            continue;
        bool object = *f.p == '{' && member(f.p, (size_t)(f.end - f.p), "\"MemUsage\"", &usage) &&
                      memchr(usage.s, '/', usage.n);
        score = object || read_head(f, &columns) ? 96 : 0;
    }
    mt_buf_free(&text);
    return score;
}

const struct mt_reader mt_reader_docker_stats = {
    .name = "docker-stats",
    .kind = MT_RUN_PROCESS,
    .probe = docker_stats_probe,
    .read = docker_stats_read,
};
