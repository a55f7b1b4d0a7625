/*
 * Reader of rows as comma- or tab-separated text, with a header row that names the columns.
 * docs/formats/events.md says what is read.
 */
#include "formats/rows.h"
#include "lib/input/csv.h"

#include <string.h>

struct reader {
    struct mt_csv csv;
    struct mt_rows rows;
    MT_VEC(struct named {
        enum mt_rows_column is; /* MT_COL_N: left out */
        int digits;
        bool process;  /* whose row it is */
        uint32_t told; /* its name, where it is a thread or a label that is kept apart; MT_NONE */
    })
    columns;
    unsigned have; /* bits of them */
};

static enum mt_status cut(struct reader *r, uint64_t offset, const char *what, struct mt_err *err)
{
    return mt_reader_cut(r->rows.opts, r->rows.rec, offset, what, err);
}

/* What stands between the values of a header line: a tab if there is one. */
static char separator_of(const char *s, size_t n)
{
    return n && memchr(s, '\t', n) ? '\t' : ',';
}

static enum mt_status read_header(struct reader *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->csv.fields.n; i++) {
        const struct mt_csv_field *f = &r->csv.fields.v[i];
        struct named column = {.is = mt_rows_column(f->s, f->n, &column.digits),
                               .process = mt_rows_is_process(f->s, f->n),
                               .told = MT_NONE};
        if (column.is == MT_COL_N && mt_rows_keeps(&r->rows, f->s, f->n)) {
            column.told = mt_strtab_add(&r->rows.rec->strings, f->s, f->n);
        } else if (column.is == MT_COL_N || r->have >> column.is & 1) {
            column.is = MT_COL_N;
            mt_rows_leave_out(&r->rows, f->s, f->n);
        } else {
            r->have |= 1u << column.is;
        }
        *mt_vec_push(&r->columns) = column;
    }
    return mt_rows_begin(&r->rows, r->have, err);
}

/* NULL: the record was added; else why it does not fit. */
static enum mt_status read_row(struct reader *r, const char **why, struct mt_err *err)
{
    struct mt_row row = {0};
    *why = r->csv.wrong;
    if (!*why && r->csv.fields.n != r->columns.n)
        *why = "it does not have as many values as the first line has names";
    if (*why)
        return MT_OK;
    for (size_t i = 0; i < r->columns.n; i++) {
        const struct named *column = &r->columns.v[i];
        const struct mt_csv_field *f = &r->csv.fields.v[i];
        if (column->told != MT_NONE) {
            const char *name = mt_strtab_get(&r->rows.rec->strings, column->told);
            mt_rows_tell(&r->rows, name, strlen(name), f->s, f->n);
        }
        if (column->process)
            mt_rows_process(&r->rows, f->s, f->n);
        if (column->is == MT_COL_N)
            continue;
        row.v[column->is] = (struct mt_row_value){f->s, f->n};
        if (column->is == MT_COL_TIME)
            row.time_digits = column->digits;
    }
    MT_TRY(mt_rows_add(&r->rows, &row, err));
    *why = r->rows.wrong;
    return MT_OK;
}

static enum mt_status read_rows(struct reader *r, struct mt_err *err)
{
    static const char no_end[] = "ends early: its last line has no end";
    const char *why = NULL;
    bool any = true;
    enum mt_status st;
    while ((st = mt_csv_next(&r->csv, &any, err)) == MT_OK && any && !r->csv.cut) {
        MT_TRY(read_row(r, &why, err));
        if (why)
            return cut(r, r->csv.offset, why, err);
    }
    if (st == MT_OK && any && r->csv.wrong)
        return cut(r, r->csv.offset, "ends early, or a quote is not closed", err);
    if (st == MT_EINPUT || (st == MT_OK && any))
        return cut(r, mt_lines_offset(&r->csv.lines), no_end, err);
    return st;
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    const char *head;
    size_t n;
    bool any = false;
    MT_TRY(mt_stream_peek(r->csv.lines.in, MT_PROBE_BYTES, &head, &n, err));
    r->csv.separator = separator_of(head, n ? strcspn(head, "\r\n") : 0);
    MT_TRY(mt_csv_next(&r->csv, &any, err));
    if (r->csv.wrong)
        return MT_FAIL(err, MT_EINPUT, "its first line has no names of columns: %s", r->csv.wrong);
    MT_TRY(read_header(r, err));
    if (r->csv.cut)
        MT_TRY(cut(r, mt_lines_offset(&r->csv.lines), "ends early, in its first line", err));
    else
        MT_TRY(read_rows(r, err));
    return mt_rows_end(&r->rows, err);
}

static enum mt_status csv_read(struct mt_stream *in, const struct mt_read_opts *opts,
                               struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .csv.lines = {.in = in, .progress = opts->progress, .closure = opts->closure}};
    mt_rows_init(&r.rows, opts, rec);
    enum mt_status st = read_all(&r, err);
    mt_rows_free(&r.rows);
    mt_csv_free(&r.csv);
    mt_vec_free(&r.columns);
    return st;
}

/* The first line names columns that make rows; or at least two that are known, so that the reader
 * can say what is missing. */
static int csv_probe(const char *head, size_t n)
{
    struct mt_csv csv = {0};
    unsigned have = 0, known_n = 0;
    const char *end = n ? memchr(head, '\n', n) : NULL;
    n = end ? (size_t)(end - head) : n;
    n -= n && head[n - 1] == '\r';
    csv.separator = separator_of(head, n);
    if (n && mt_csv_split(&csv, head, n))
        for (size_t i = 0; i < csv.fields.n; i++) {
            int digits;
            enum mt_rows_column is = mt_rows_column(csv.fields.v[i].s, csv.fields.v[i].n, &digits);
            known_n += is != MT_COL_N;
            have |= is != MT_COL_N ? 1u << is : 0;
        }
    mt_csv_free(&csv);
    return mt_rows_are_known(have) ? 91 : known_n > 1 ? 25 : 0;
}

const struct mt_reader mt_reader_csv = {
    .name = "csv",
    .kind = MT_RUN_HEAP,
    .probe = csv_probe,
    .read = csv_read,
};
