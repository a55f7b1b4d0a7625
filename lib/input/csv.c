#include "lib/input/csv.h"

void mt_csv_free(struct mt_csv *c)
{
    mt_vec_free(&c->fields);
    mt_buf_free(&c->joined);
    mt_buf_free(&c->text);
}

/* A field in quotes, its end in *at; false: it has none. */
static bool quoted(struct mt_csv *c, const char **at, const char *end)
{
    const char *s = *at + 1, *stop = memchr(s, '"', (size_t)(end - s));
    struct mt_csv_field f = {.s = s};
    while (stop && stop + 1 < end && stop[1] == '"') {
        f.copied = f.copied ? f.copied : c->text.n + 1;
        mt_buf_add(&c->text, s, (size_t)(stop + 1 - s));
        s = stop + 2;
        stop = memchr(s, '"', (size_t)(end - s));
    }
    if (!stop)
        return false;
    if (f.copied)
        mt_buf_add(&c->text, s, (size_t)(stop - s));
    f.n = f.copied ? c->text.n - (f.copied - 1) : (size_t)(stop - f.s);
    *mt_vec_push(&c->fields) = f;
    *at = stop + 1;
    return true;
}

static bool plain(struct mt_csv *c, const char **at, const char *end)
{
    const char *stop = memchr(*at, c->separator, (size_t)(end - *at));
    struct mt_csv_field f = {.s = *at, .n = (size_t)((stop ? stop : end) - *at)};
    *mt_vec_push(&c->fields) = f;
    if (memchr(f.s, '"', f.n)) {
        c->wrong = "a quote inside of a field that does not begin with one";
        return false;
    }
    *at = f.s + f.n;
    return true;
}

bool mt_csv_split(struct mt_csv *c, const char *s, size_t n)
{
    const char *p = s, *end = s + n;
    c->fields.n = 0;
    c->wrong = NULL;
    mt_buf_clear(&c->text);
    for (;; p++) {
        if (p < end && *p == '"' ? !quoted(c, &p, end) : !plain(c, &p, end)) {
            if (!c->wrong)
                c->wrong = "a quote is not closed";
            return false;
        }
        if (p == end)
            break;
        if (*p != c->separator) {
            c->wrong = "something follows a field's closing quote";
            return false;
        }
    }
    for (size_t i = 0; i < c->fields.n; i++)
        if (c->fields.v[i].copied)
            c->fields.v[i].s = c->text.s + c->fields.v[i].copied - 1;
    return true;
}

/* Whether a quote is open behind these bytes, which began with none open. */
static bool is_open(const char *s, size_t n, bool open)
{
    const char *end = s + n;
    while ((s = memchr(s, '"', (size_t)(end - s)))) {
        open = !open;
        s++;
    }
    return open;
}

static enum mt_status too_long(const struct mt_csv *c, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "a record is longer than 16 MiB: a quote is perhaps not closed");
    err->offset = (int64_t)c->offset;
    mt_err_hint(err, "Nothing was imported.");
    return MT_EINPUT;
}

/* The record goes on in the next lines. */
static enum mt_status join(struct mt_csv *c, struct mt_line *line, struct mt_err *err)
{
    bool any = true, open = true;
    mt_buf_clear(&c->joined);
    mt_buf_add(&c->joined, line->s, line->n);
    while (open && !line->cut) {
        MT_TRY(mt_lines_next(&c->lines, line, &any, err));
        if (!any) {
            line->cut = true;
            break;
        }
        if (c->joined.n + line->n >= MT_LINE_MAX)
            return too_long(c, err);
        open = is_open(line->s, line->n, true);
        mt_buf_addc(&c->joined, '\n');
        mt_buf_add(&c->joined, line->s, line->n);
    }
    line->s = c->joined.s;
    line->n = c->joined.n;
    return MT_OK;
}

enum mt_status mt_csv_next(struct mt_csv *c, bool *any, struct mt_err *err)
{
    struct mt_line line;
    do
        MT_TRY(mt_lines_next(&c->lines, &line, any, err));
    while (*any && !line.n);
    if (!*any)
        return MT_OK;
    c->offset = line.offset;
    if (is_open(line.s, line.n, false))
        MT_TRY(join(c, &line, err));
    c->cut = line.cut;
    mt_csv_split(c, line.s, line.n);
    return MT_OK;
}
