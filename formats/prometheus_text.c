/*
 * Reader of Prometheus' text format: one scrape after the other, or values with their times.
 * docs/formats/prometheus.md says what is read.
 */
#include "formats/prometheus.h"
#include "formats/stamp.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"

#include <string.h>

struct slice {
    const char *s;
    size_t n;
};

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    struct mt_prometheus all;
    struct mt_stamps stamps;
    struct mt_buf text; /* scratch */
};

/* A line: name{labels} value time. */
struct sample {
    struct slice name, labels, value, time; /* labels: what is in the braces */
    bool braces;
};

static struct slice trimmed(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct slice){s, (size_t)(end - s)};
}

/* Behind the closing brace; braces in quotes are none. NULL: there is none. */
static const char *behind_labels(const char *p, const char *end)
{
    bool quoted = false;
    for (; p < end; p++) {
        if (quoted && *p == '\\' && p + 1 < end)
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (*p == '}' && !quoted)
            return p + 1;
    }
    return NULL;
}

static bool split(const char *s, size_t n, struct sample *out)
{
    const char *end = s + n, *p = s;
    *out = (struct sample){0};
    while (p < end && *p != '{' && *p != ' ' && *p != '\t')
        p++;
    out->name = trimmed(s, p);
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p < end && *p == '{') {
        const char *behind = behind_labels(p + 1, end);
        if (!behind)
            return false;
        out->braces = true;
        out->labels = (struct slice){p + 1, (size_t)(behind - p) - 2};
        p = behind;
    }
    struct mt_fields f = mt_fields_of(p, (size_t)(end - p));
    if (!mt_field_word(&f, &out->value.s, &out->value.n))
        return false;
    if (!mt_field_end(&f) && *f.p != '#') /* behind that stands an example */
        mt_field_word(&f, &out->time.s, &out->time.n);
    return (out->name.n || out->braces) && (mt_field_end(&f) || *f.p == '#');
}

/* A text in quotes, its escapes resolved: \\, \" and \n. */
static bool take_quoted(struct mt_fields *f, struct mt_buf *out)
{
    if (!mt_field_take(f, "\""))
        return false;
    for (; f->p < f->end && *f->p != '"'; f->p++) {
        bool escaped = *f->p == '\\' && f->p + 1 < f->end;
        f->p += escaped;
        mt_buf_addc(out, escaped && *f->p == 'n' ? '\n' : *f->p);
    }
    return mt_field_take(f, "\"");
}

/* 'job="api", instance="a:90"'; a text without a key is the name. */
static bool take_labels(struct reader *r, struct slice labels)
{
    struct mt_fields f = mt_fields_of(labels.s, labels.n);
    while (!mt_field_end(&f)) {
        const char *key = f.p;
        bool is_name = *f.p == '"';
        while (!is_name && f.p < f.end && *f.p != '=')
            f.p++;
        struct slice k = is_name ? (struct slice){"__name__", 8} : trimmed(key, f.p);
        mt_buf_clear(&r->text);
        if ((!is_name && !mt_field_take(&f, "=")) || !k.n || !take_quoted(&f, &r->text))
            return false;
        mt_prometheus_label(&r->all, k.s, k.n, r->text.s ? r->text.s : "", r->text.n);
        if (!mt_field_take(&f, ",") && !mt_field_end(&f))
            return false;
    }
    return true;
}

static void skip(struct reader *r)
{
    mt_rec_note(r->all.rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* A series is in a scrape once: another time it is the next scrape. */
static void see(struct reader *r, uint32_t series)
{
    int64_t *round = &r->all.series.v[series].round;
    if (!r->stamps.round_n || *round == r->stamps.round_n)
        mt_stamps_round(&r->stamps);
    *round = r->stamps.round_n;
}

static enum mt_status use(struct reader *r, const struct sample *s, struct mt_err *err)
{
    int64_t bytes, t = 0;
    uint32_t series;
    mt_prometheus_begin(&r->all);
    mt_prometheus_label(&r->all, "__name__", 8, s->name.s, s->name.n);
    if (!take_labels(r, s->labels) || !mt_prometheus_number(s->value.s, s->value.n, &bytes) ||
        (s->time.n && !mt_prometheus_time(s->time.s, s->time.n, &t))) {
        skip(r);
        return MT_OK;
    }
    MT_TRY(mt_prometheus_find(&r->all, &series, err));
    if (series == MT_NONE)
        return MT_OK;
    if (!s->time.n) {
        see(r, series);
        t = r->stamps.now + (r->stamps.any ? r->stamps.first_ns : 0);
    }
    if (bytes == MT_UNKNOWN)
        return MT_OK;
    return mt_prometheus_value(&r->all, series, t, s->time.n || r->stamps.any, bytes, err);
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    struct sample s;
    if (mt_field_end(&f) || *f.p == '#' || mt_stamps_take(&r->stamps, f.p, (size_t)(f.end - f.p)))
        return MT_OK;
    if (!split(f.p, (size_t)(f.end - f.p), &s))
        skip(r);
    else if (!s.name.n || mt_prometheus_reads(s.name.s, s.name.n))
        return use(r, &s, err);
    return MT_OK;
}

static enum mt_status read_all(struct reader *r, const struct mt_read_opts *opts,
                               struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, opts, r->all.rec, &any, err)) == MT_OK && any)
        MT_TRY(read_line(r, err));
    MT_TRY(st);
    return mt_prometheus_close(&r->all, !r->stamps.any || r->stamps.zoned, err);
}

static enum mt_status prometheus_text_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                           struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.lines = {.in = in, .progress = opts->progress, .closure = opts->closure}};
    mt_prometheus_open(&r.all, rec);
    enum mt_status st = read_all(&r, opts, err);
    mt_prometheus_free(&r.all);
    mt_buf_free(&r.text);
    return st;
}

/* Words about metrics, or a value of one that is read, behind stamps at most. */
static int prometheus_text_probe(const char *head, size_t n)
{
    struct mt_fields all = mt_fields_of(head, n);
    struct slice line;
    while (mt_field_until(&all, '\n', &line.s, &line.n)) {
        int64_t ns, bytes;
        bool zoned;
        struct sample s;
        line.n -= line.n && line.s[line.n - 1] == '\r';
        struct mt_fields f = mt_fields_of(line.s, line.n);
        if (mt_field_end(&f) || mt_stamp_read(f.p, (size_t)(f.end - f.p), &ns, &zoned))
            continue;
        if (mt_field_take(&f, "# HELP ") || mt_field_take(&f, "# TYPE "))
            return 92;
        if (!split(f.p, (size_t)(f.end - f.p), &s) ||
            !mt_prometheus_number(s.value.s, s.value.n, &bytes))
            return 0;
        bool known = s.name.n ? mt_prometheus_reads(s.name.s, s.name.n)
                              : memmem(s.labels.s, s.labels.n, "__name__=\"", 10) != NULL;
        return known ? 92 : 0;
    }
    return 0;
}

const struct mt_reader mt_reader_prometheus_text = {
    .name = "prometheus",
    .kind = MT_RUN_PROCESS,
    .probe = prometheus_text_probe,
    .read = prometheus_text_read,
};
