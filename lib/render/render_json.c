#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include "lib/render/render_parts.h"

#include <stdlib.h>
#include <string.h>

/* What was written goes out. */
static void flush(const struct mt_json_out *j, FILE *out)
{
    fwrite(j->to->s, 1, j->to->n, out);
    mt_buf_clear(j->to);
}

static void put_cell(struct mt_json_out *j, const struct mt_cell *cell)
{
    if (mt_render_unknown(cell))
        mt_json_put_null(j);
    else if (cell->kind == MT_CELL_TEXT)
        mt_json_put_text(j, cell->s);
    else
        mt_render_raw(mt_json_put_raw(j), cell);
}

static void put_value(struct mt_json_out *j, const char *key, struct mt_cell cell)
{
    mt_json_put_key(j, key);
    put_cell(j, &cell);
}

/* Those of one device; all that are of it. */
static void put_device(struct mt_json_out *j, const struct mt_param *v, size_t n, const char *of)
{
    mt_json_put_key(j, of);
    mt_json_put_begin(j, "{}", false);
    for (size_t i = 0; i < n; i++)
        if (v[i].of && strcmp(v[i].of, of) == 0)
            put_value(j, v[i].name, v[i].value);
    mt_json_put_end(j);
}

/* Those of devices lie together, where the first of them stands. */
static void put_devices(struct mt_json_out *j, const struct mt_param *v, size_t n)
{
    mt_json_put_key(j, "devices");
    mt_json_put_begin(j, "{}", false);
    for (size_t i = 0; i < n; i++) {
        bool met = !v[i].of;
        for (size_t k = 0; k < i && !met; k++)
            met = v[k].of && strcmp(v[k].of, v[i].of) == 0;
        if (!met)
            put_device(j, v, n, v[i].of);
    }
    mt_json_put_end(j);
}

static void put_params(struct mt_json_out *j, const char *key, const struct mt_param *v, size_t n)
{
    bool devices = false;
    mt_json_put_line(j);
    mt_json_put_key(j, key);
    mt_json_put_begin(j, "{}", false);
    for (size_t i = 0; i < n; i++) {
        if (!v[i].of)
            put_value(j, v[i].name, v[i].value);
        else if (!devices)
            put_devices(j, v, n);
        devices |= v[i].of != NULL;
    }
    mt_json_put_end(j);
}

static void put_runs(struct mt_json_out *j, const struct mt_report *r)
{
    mt_json_put_line(j);
    mt_json_put_key(j, "runs");
    mt_json_put_begin(j, "[]", false);
    for (size_t i = 0; i < MT_ARRAY_LEN(r->runs); i++) {
        if (r->runs[i].id == 0)
            continue;
        mt_json_put_begin(j, "{}", false);
        put_value(j, "id", mt_cell_int(r->runs[i].id));
        put_value(j, "name", mt_cell_text(r->runs[i].name));
        if (r->runs[i].time_unit)
            put_value(j, "time_unit", mt_cell_text(r->runs[i].time_unit));
        mt_json_put_end(j);
    }
    mt_json_put_end(j);
}

static void put_row(struct mt_json_out *j, const struct mt_report *r, const struct mt_buf *keys,
                    const struct mt_cell *cells, FILE *out)
{
    mt_json_put_begin(j, "{}", false);
    for (size_t c = 0; c < r->columns.n; c++) {
        mt_json_put_key(j, keys[c].s);
        put_cell(j, &cells[c]);
    }
    mt_json_put_end(j);
    flush(j, out);
}

static void put_rows(struct mt_json_out *j, const struct mt_report *r, FILE *out)
{
    struct mt_buf *keys = mt_alloc((r->columns.n + 1) * sizeof *keys);
    struct mt_cell *cells = mt_alloc((r->columns.n + 1) * sizeof *cells);
    for (size_t c = 0; c < r->columns.n; c++)
        mt_escape_terminal(&keys[c], r->columns.v[c].name);
    mt_json_put_line(j);
    mt_json_put_key(j, "rows");
    mt_json_put_begin(j, "[]", true);
    for (size_t i = 0; i < r->rows.n && !ferror(out); i++)
        put_row(j, r, keys, r->rows.v[i].cells, out);
    while (r->next && !ferror(out) && mt_render_next(r, cells))
        put_row(j, r, keys, cells, out);
    mt_json_put_end(j);
    for (size_t c = 0; c < r->columns.n; c++)
        mt_buf_free(&keys[c]);
    free(keys);
    free(cells);
}

void mt_render_json(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    struct mt_buf text = {0};
    struct mt_json_out j = {.to = &text};
    (void)how;
    mt_json_put_begin(&j, "{}", false);
    put_value(&j, "schema", mt_cell_text(r->schema));
    put_value(&j, "version", mt_cell_int(r->version));
    put_runs(&j, r);
    put_params(&j, "params", r->params.v, r->params.n);
    put_params(&j, "totals", r->totals.v, r->totals.n);
    put_rows(&j, r, out);
    mt_json_put_line(&j);
    put_value(&j, "left_out_n",
              r->left_out_more ? (struct mt_cell){0} : mt_cell_int(r->left_out_n));
    mt_json_put_line(&j);
    mt_json_put_key(&j, "notes");
    mt_json_put_begin(&j, "[]", false);
    for (size_t i = 0; i < r->notes.n; i++)
        mt_json_put_text(&j, r->notes.v[i]);
    mt_json_put_end(&j);
    mt_json_put_end(&j);
    mt_buf_addc(&text, '\n');
    flush(&j, out);
    mt_buf_free(&text);
}
