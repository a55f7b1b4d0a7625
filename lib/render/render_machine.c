#include "lib/base/human.h"
#include "lib/render/render_parts.h"

#include <stdlib.h>
#include <string.h>

static void add_csv_text(struct mt_buf *line, const char *s)
{
    if (*s && !strpbrk(s, ",\"\r\n")) {
        mt_buf_adds(line, s);
        return;
    }
    mt_buf_addc(line, '"');
    for (; *s; s++) {
        if (*s == '"')
            mt_buf_addc(line, '"');
        mt_buf_addc(line, *s);
    }
    mt_buf_addc(line, '"');
}

static void add_tsv_text(struct mt_buf *line, const char *s)
{
    static const char special[] = "\t\n\r\\", shown[] = "tnr\\";
    while (*s) {
        size_t plain = strcspn(s, special);
        mt_buf_add(line, s, plain);
        s += plain;
        if (!*s)
            return;
        mt_buf_addc(line, '\\');
        mt_buf_addc(line, shown[strchr(special, *s++) - special]);
    }
}

/* What differs between the two. */
struct dialect {
    char separator;
    const char *unknown;
    void (*add_text)(struct mt_buf *line, const char *s);
};

static void add_text(struct mt_buf *line, const struct dialect *d, const char *s, bool terminal)
{
    if (!terminal) {
        d->add_text(line, s);
        return;
    }
    struct mt_buf safe = {0};
    mt_escape_terminal(&safe, s);
    d->add_text(line, safe.s);
    mt_buf_free(&safe);
}

static void put_row(const struct mt_report *r, const struct dialect *d, bool terminal,
                    const struct mt_cell *cells, struct mt_buf *line, FILE *out)
{
    mt_buf_clear(line);
    for (size_t c = 0; c < r->columns.n; c++) {
        if (c > 0)
            mt_buf_addc(line, d->separator);
        if (mt_render_unknown(&cells[c]))
            mt_buf_adds(line, d->unknown);
        else if (cells[c].kind == MT_CELL_TEXT || cells[c].kind == MT_CELL_JSON)
            add_text(line, d, cells[c].s, terminal);
        else
            mt_render_raw(line, &cells[c]);
    }
    mt_buf_addc(line, '\n');
    fwrite(line->s, 1, line->n, out);
}

static void put_lines(const struct mt_report *r, const struct dialect *d, bool terminal, FILE *out)
{
    struct mt_buf line = {0};
    for (size_t c = 0; c < r->columns.n; c++) {
        if (c > 0)
            mt_buf_addc(&line, d->separator);
        add_text(&line, d, r->columns.v[c].name, terminal);
    }
    mt_buf_addc(&line, '\n');
    fwrite(line.s, 1, line.n, out);
    for (size_t i = 0; i < r->rows.n && !ferror(out); i++)
        put_row(r, d, terminal, r->rows.v[i].cells, &line, out);
    struct mt_cell *cells = mt_alloc((r->columns.n + 1) * sizeof *cells);
    while (r->next && !ferror(out) && mt_render_next(r, cells))
        put_row(r, d, terminal, cells, &line, out);
    free(cells);
    mt_buf_free(&line);
}

void mt_render_csv(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    /* Readers of csv skip an empty line, so a lone unknown value is quoted. */
    struct dialect csv = {',', r->columns.n == 1 ? "\"\"" : "", add_csv_text};
    put_lines(r, &csv, how->terminal, out);
}

void mt_render_tsv(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    static const struct dialect tsv = {'\t', "\\N", add_tsv_text};
    put_lines(r, &tsv, how->terminal, out);
}
