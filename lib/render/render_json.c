#include "lib/base/human.h"
#include "lib/render/render_parts.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

/*
 * cJSON holds one small document at a time: the head, one row, the notes. Numbers and texts go
 * into it as raw JSON, because it keeps numbers as doubles and takes any bytes for UTF-8.
 */
static void use_cjson(void)
{
    cJSON_Hooks hooks = {.malloc_fn = mt_alloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
}

static cJSON *json_text(const char *s, struct mt_buf *scratch)
{
    mt_buf_clear(scratch);
    mt_buf_addc(scratch, '"');
    mt_escape_json(scratch, s);
    mt_buf_addc(scratch, '"');
    return cJSON_CreateRaw(scratch->s);
}

static cJSON *json_cell(const struct mt_cell *cell, struct mt_buf *scratch)
{
    if (mt_render_unknown(cell))
        return cJSON_CreateNull();
    if (cell->kind == MT_CELL_TEXT)
        return json_text(cell->s, scratch);
    mt_buf_clear(scratch);
    mt_render_raw(scratch, cell);
    return cJSON_CreateRaw(scratch->s);
}

/* Writes a document on one line and frees it. */
static void put(cJSON *doc, const char *before, const char *after, FILE *out)
{
    char *text = cJSON_PrintUnformatted(doc);
    fprintf(out, "%s%s%s", before, text, after);
    free(text);
    cJSON_Delete(doc);
}

static cJSON *member(cJSON *object, const char *key)
{
    cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    return found ? found : cJSON_AddObjectToObject(object, key);
}

static cJSON *json_params(const struct mt_param *v, size_t n, struct mt_buf *scratch)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++) {
        cJSON *in = v[i].of ? member(member(object, "devices"), v[i].of) : object;
        cJSON_AddItemToObject(in, v[i].name, json_cell(&v[i].value, scratch));
    }
    return object;
}

static cJSON *json_runs(const struct mt_report *r, struct mt_buf *scratch)
{
    cJSON *runs = cJSON_CreateArray();
    for (size_t i = 0; i < MT_ARRAY_LEN(r->runs); i++) {
        if (r->runs[i].id == 0)
            continue;
        struct mt_cell id = mt_cell_int(r->runs[i].id), name = mt_cell_text(r->runs[i].name);
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToObject(run, "id", json_cell(&id, scratch));
        cJSON_AddItemToObject(run, "name", json_cell(&name, scratch));
        if (r->runs[i].time_unit)
            cJSON_AddItemToObject(run, "time_unit", json_text(r->runs[i].time_unit, scratch));
        cJSON_AddItemToArray(runs, run);
    }
    return runs;
}

static void put_row(const struct mt_report *r, const struct mt_buf *keys,
                    const struct mt_cell *cells, const char *before, struct mt_buf *scratch,
                    FILE *out)
{
    cJSON *row = cJSON_CreateObject();
    for (size_t c = 0; c < r->columns.n; c++)
        cJSON_AddItemToObjectCS(row, keys[c].s, json_cell(&cells[c], scratch));
    put(row, before, "", out);
}

/* {"why":...,"ask_instead":...} beside an answer that is null; nothing where there is an answer. */
static void put_cannot_tell(const struct mt_report *r, struct mt_buf *scratch, FILE *out)
{
    const char *ask = r->cannot_tell.ask_instead;
    if (!r->cannot_tell.why)
        return;
    cJSON *said = cJSON_CreateObject();
    cJSON_AddItemToObject(said, "why", json_text(r->cannot_tell.why, scratch));
    cJSON_AddItemToObject(said, "ask_instead", ask ? json_text(ask, scratch) : cJSON_CreateNull());
    put(said, "\"answer\":null,\n\"cannot_tell\":", ",\n", out);
}

/* Each behind `between`, the first one behind that. False: there are none. */
static bool put_each_row(const struct mt_report *r, const char *first, const char *between,
                         struct mt_buf *scratch, FILE *out)
{
    struct mt_buf *keys = mt_alloc((r->columns.n + 1) * sizeof *keys);
    struct mt_cell *cells = mt_alloc((r->columns.n + 1) * sizeof *cells);
    const char *before = first;
    for (size_t c = 0; c < r->columns.n; c++)
        mt_escape_terminal(&keys[c], r->columns.v[c].name);
    for (size_t i = 0; i < r->rows.n && !ferror(out); i++, before = between)
        put_row(r, keys, r->rows.v[i].cells, before, scratch, out);
    for (; r->next && !ferror(out) && mt_render_next(r, cells); before = between)
        put_row(r, keys, cells, before, scratch, out);
    for (size_t c = 0; c < r->columns.n; c++)
        mt_buf_free(&keys[c]);
    free(keys);
    free(cells);
    return before != first;
}

static void put_rows(const struct mt_report *r, struct mt_buf *scratch, FILE *out)
{
    fputs("\"rows\":[", out);
    fputs(put_each_row(r, "\n", ",\n", scratch, out) ? "\n],\n" : "],\n", out);
}

void mt_render_jsonl(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    static const char nothing[] = "";
    struct mt_buf scratch = {0};
    (void)how;
    use_cjson();
    if (put_each_row(r, nothing, "\n", &scratch, out))
        fputs("\n", out);
    mt_buf_free(&scratch);
}

void mt_render_json(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    (void)how;
    struct mt_buf scratch = {0};
    use_cjson();
    put(json_text(r->schema, &scratch), "{\"schema\":", "", out);
    fprintf(out, ",\"version\":%d,\n", r->version);
    put_cannot_tell(r, &scratch, out);
    put(json_runs(r, &scratch), "\"runs\":", ",\n", out);
    put(json_params(r->params.v, r->params.n, &scratch), "\"params\":", ",\n", out);
    put(json_params(r->totals.v, r->totals.n, &scratch), "\"totals\":", ",\n", out);
    put_rows(r, &scratch, out);
    struct mt_cell left_out = r->left_out_more ? (struct mt_cell){0} : mt_cell_int(r->left_out_n);
    put(json_cell(&left_out, &scratch), "\"left_out_n\":", ",\n", out);
    bool more = r->left_out_n || r->left_out_more;
    fprintf(out, "\"has_more\":%s,\n", more ? "true" : "false");
    cJSON *notes = cJSON_CreateArray();
    for (size_t i = 0; i < r->notes.n; i++)
        cJSON_AddItemToArray(notes, json_text(r->notes.v[i], &scratch));
    put(notes, "\"notes\":", "}\n", out);
    mt_buf_free(&scratch);
}
