#include "lib/export/rollup.h"

#include "lib/base/hash.h"
#include "lib/base/utf8.h"
#include <string.h>

static const char *const kinds[MT_ROLLUP_KIND_N] = {[MT_ROLLUP_RUN] = "run",
                                                    [MT_ROLLUP_STEP] = "step",
                                                    [MT_ROLLUP_SITE] = "site",
                                                    [MT_ROLLUP_PATH] = "path",
                                                    [MT_ROLLUP_BLOCK] = "block"};

static const char *const columns[] = {
    "kind",    "job",      "run",      "rank",    "device",  "stage",     "compared",
    "number",  "step",     "path",     "parent",  "name",    "start_b",   "peak_b",
    "end_b",   "doubt_b",  "alloc_b",  "freed_b", "alloc_n", "at_peak_b", "calls_n",
    "peak_ns", "alloc_ns", "freed_ns", "cluster", "tp",      "older",     "alike"};

void mt_rollup_free(struct mt_rollup *r)
{
    mt_buf_free(&r->text);
    mt_buf_free(&r->place);
    mt_buf_free(&r->name);
}

void mt_rollup_head(struct mt_rollup *r)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(columns); i++)
        mt_buf_addf(&r->text, "%s%s", i ? "\t" : "", columns[i]);
    mt_buf_addc(&r->text, '\n');
}

struct mt_rollup_row mt_rollup_row(enum mt_rollup_kind kind, int64_t number, const char *name)
{
    struct mt_rollup_row row = {.kind = kind, .number = number, .step = MT_UNKNOWN, .name = name};
    for (int f = 0; f < MT_ROLLUP_FIGURE_N; f++)
        row.v[f] = MT_UNKNOWN;
    return row;
}

/* With a sign and a tab. */
enum { NUMBER_LONG = 22 };

static size_t put_unsigned(char *to, uint64_t v)
{
    char digits[NUMBER_LONG];
    size_t at = sizeof digits, n;
    digits[--at] = '\t';
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    n = sizeof digits - at;
    memcpy(to, digits + at, n);
    return n;
}

static size_t put_unknown(char *to)
{
    memcpy(to, "\\N\t", 3);
    return 3;
}

/* Writes a number and a tab; returns their length. */
static size_t put_number(char *to, int64_t v)
{
    if (v == MT_UNKNOWN)
        return put_unknown(to);
    if (v >= 0)
        return put_unsigned(to, (uint64_t)v);
    *to = '-';
    return 1 + put_unsigned(to + 1, 0 - (uint64_t)v);
}

static void add_number(struct mt_buf *to, int64_t v)
{
    char text[NUMBER_LONG];
    mt_buf_add(to, text, put_number(text, v));
}

/* How many bytes stand for themselves. */
static size_t plain_length(const char *s)
{
    size_t n = 0;
    while ((unsigned char)s[n] >= ' ' && (unsigned char)s[n] < 0x7f && s[n] != '\\')
        n++;
    return n;
}

static void add_escaped(struct mt_buf *to, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '\t':
            mt_buf_adds(to, "\\t");
            break;
        case '\n':
            mt_buf_adds(to, "\\n");
            break;
        case '\r':
            mt_buf_adds(to, "\\r");
            break;
        case '\\':
            mt_buf_adds(to, "\\\\");
            break;
        default:
            mt_buf_addc(to, *s);
        }
}

static void add_text(struct mt_rollup *r, struct mt_buf *to, const char *s)
{
    size_t n = plain_length(s);
    mt_buf_add(to, s, n);
    if (s[n]) {
        mt_buf_clear(&r->name);
        mt_utf8_mend(&r->name, s + n);
        add_escaped(to, r->name.s);
    }
    mt_buf_addc(to, '\t');
}

void mt_rollup_set_place(struct mt_rollup *r, const struct mt_rollup_place *place)
{
    mt_buf_clear(&r->place);
    add_text(r, &r->place, place->job);
    add_text(r, &r->place, place->run);
    add_number(&r->place, place->rank);
    add_text(r, &r->place, place->device);
    add_number(&r->place, place->stage);
    add_number(&r->place, place->compared);
}

void mt_rollup_add(struct mt_rollup *r, const struct mt_rollup_row *row)
{
    struct mt_buf *to = &r->text;
    char text[MT_ROLLUP_FIGURE_N * NUMBER_LONG], *p = text;
    mt_buf_adds(to, kinds[row->kind]);
    mt_buf_addc(to, '\t');
    mt_buf_add(to, r->place.s, r->place.n);
    p += put_number(p, row->number);
    p += put_number(p, row->step);
    p += row->has_path ? put_unsigned(p, row->path) : put_unknown(p);
    p += row->has_parent ? put_unsigned(p, row->parent) : put_unknown(p);
    mt_buf_add(to, text, (size_t)(p - text));
    add_text(r, to, row->name);
    p = text;
    for (int f = 0; f < MT_ROLLUP_FIGURE_N; f++)
        p += put_number(p, row->v[f]);
    p[-1] = '\n';
    mt_buf_add(to, text, (size_t)(p - text));
}

uint64_t mt_rollup_path(uint64_t parent, int phase, const char *name)
{
    return mt_hash_short(parent + (uint64_t)phase, name, strlen(name));
}
