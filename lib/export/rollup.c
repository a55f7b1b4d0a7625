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
    "kind",    "job",     "run",     "rank",      "device",  "stage",   "compared", "number",
    "step",    "path",    "parent",  "name",      "start_b", "peak_b",  "end_b",    "doubt_b",
    "alloc_b", "freed_b", "alloc_n", "at_peak_b", "calls_n", "peak_ns", "alloc_ns", "freed_ns"};

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

static void add_unsigned(struct mt_buf *to, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    mt_buf_add(to, digits + at, sizeof digits - at);
}

static void add_number(struct mt_buf *to, int64_t v)
{
    if (v == MT_UNKNOWN) {
        mt_buf_adds(to, "\\N\t");
        return;
    }
    if (v < 0)
        mt_buf_addc(to, '-');
    add_unsigned(to, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    mt_buf_addc(to, '\t');
}

static void add_hash(struct mt_buf *to, bool known, uint64_t v)
{
    if (!known) {
        mt_buf_adds(to, "\\N\t");
        return;
    }
    add_unsigned(to, v);
    mt_buf_addc(to, '\t');
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
    mt_buf_adds(to, kinds[row->kind]);
    mt_buf_addc(to, '\t');
    mt_buf_add(to, r->place.s, r->place.n);
    add_number(to, row->number);
    add_number(to, row->step);
    add_hash(to, row->has_path, row->path);
    add_hash(to, row->has_parent, row->parent);
    add_text(r, to, row->name);
    for (int f = 0; f < MT_ROLLUP_FIGURE_N; f++)
        add_number(to, row->v[f]);
    to->s[to->n - 1] = '\n';
}

uint64_t mt_rollup_path(uint64_t parent, int phase, const char *name)
{
    return mt_hash_short(parent + (uint64_t)phase, name, strlen(name));
}
