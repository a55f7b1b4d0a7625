#include "lib/render/report.h"

#include "lib/model/knows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void mt_report_init(struct mt_report *r, const char *schema, int version)
{
    *r = (struct mt_report){.schema = schema, .version = version};
}

static void free_texts(char **v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i]);
}

static void free_run(struct mt_run_ref *run)
{
    free(run->name);
    free(run->time_unit);
}

void mt_report_free(struct mt_report *r)
{
    for (size_t i = 0; i < r->rows.n; i++)
        free(r->rows.v[i].cells);
    free_texts(r->notes.v, r->notes.n);
    free_texts(r->footer.v, r->footer.n);
    free_texts(r->owned.v, r->owned.n);
    for (size_t i = 0; i < MT_ARRAY_LEN(r->runs); i++)
        free_run(&r->runs[i]);
    free(r->cannot_tell.why);
    free(r->cannot_tell.ask_instead);
    free(r->title);
    free(r->title_end);
    free(r->figure);
    mt_vec_free(&r->columns);
    mt_vec_free(&r->rows);
    mt_vec_free(&r->notes);
    mt_strtab_free(&r->noted);
    mt_vec_free(&r->footer);
    mt_vec_free(&r->params);
    mt_vec_free(&r->totals);
    mt_vec_free(&r->owned);
    *r = (struct mt_report){0};
}

const char *mt_report_text(struct mt_report *r, const char *s)
{
    if (!s)
        return NULL;
    char *copy = mt_strdup(s);
    *mt_vec_push(&r->owned) = copy;
    return copy;
}

__attribute__((format(printf, 1, 0), nonnull(1))) static char *format(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *s = mt_alloc((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

const char *mt_report_textf(struct mt_report *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format(fmt, ap);
    va_end(ap);
    *mt_vec_push(&r->owned) = s;
    return s;
}

void mt_report_run(struct mt_report *r, int which, int64_t id, const char *name,
                   const char *time_unit)
{
    bool other = time_unit && *time_unit && strcmp(time_unit, "ns") != 0;
    free_run(&r->runs[which]);
    r->runs[which] = (struct mt_run_ref){
        .id = id, .name = mt_strdup(name), .time_unit = other ? mt_strdup(time_unit) : NULL};
    for (size_t i = 0; i < r->columns.n; i++)
        r->columns.v[i].time_unit = r->runs[0].time_unit;
}

void mt_report_column(struct mt_report *r, const char *name, const char *title, enum mt_unit unit)
{
    *mt_vec_push(&r->columns) = (struct mt_column){
        .name = name, .title = title, .unit = unit, .time_unit = r->runs[0].time_unit};
}

int mt_report_find_column(const struct mt_report *r, const char *name)
{
    for (size_t i = 0; i < r->columns.n; i++) {
        if (strcmp(r->columns.v[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

bool mt_column_is(const char *name, const char *title, const char *word)
{
    return strcasecmp(name, word) == 0 || (title && strcasecmp(title, word) == 0);
}

/* By its name, else by its heading, one that people see first. */
static int find_any(const struct mt_report *r, const char *word)
{
    int found = mt_report_find_column(r, word), hidden = -1;
    for (size_t i = r->columns.n; i-- > 0 && found < 0;) {
        const struct mt_column *c = &r->columns.v[i];
        if (mt_column_is(c->name, c->title, word))
            *(c->hidden ? &hidden : &found) = (int)i;
    }
    return found >= 0 ? found : hidden;
}

size_t mt_report_keep(struct mt_report *r, bool (*keep)(const void *closure, const struct mt_row *),
                      const void *closure)
{
    size_t kept = 0, gone;
    for (size_t i = 0; i < r->rows.n; i++)
        if (keep(closure, &r->rows.v[i]))
            r->rows.v[kept++] = r->rows.v[i];
        else
            free(r->rows.v[i].cells);
    gone = r->rows.n - kept;
    r->rows.n = kept;
    return gone;
}

void mt_report_hide_empty(struct mt_report *r)
{
    for (size_t c = 0; c < r->columns.n; c++) {
        bool known = false;
        for (size_t i = 0; i < r->rows.n && !known; i++)
            known = r->rows.v[i].cells[c].kind != MT_CELL_NULL;
        r->columns.v[c].hidden |= !known;
    }
}

void mt_report_put(const struct mt_report *r, struct mt_row *row, const char *column,
                   struct mt_cell cell)
{
    int at = mt_report_find_column(r, column);
    if (at >= 0)
        row->cells[at] = cell;
}

void mt_report_fit_rows(struct mt_report *r, size_t before_n)
{
    for (size_t i = 0; i < r->rows.n; i++) {
        struct mt_row *row = &r->rows.v[i];
        row->cells = mt_realloc(row->cells, r->columns.n * sizeof *row->cells);
        memset(row->cells + before_n, 0, (r->columns.n - before_n) * sizeof *row->cells);
    }
}

struct mt_row *mt_report_row(struct mt_report *r)
{
    struct mt_row *row = mt_vec_push(&r->rows);
    *row = (struct mt_row){.cells = mt_alloc(r->columns.n * sizeof *row->cells)};
    return row;
}

void mt_report_collect(struct mt_report *r)
{
    while (r->next && r->next(r->closure, mt_report_row(r)->cells))
        ;
    if (r->next)
        free(r->rows.v[--r->rows.n].cells);
    r->next = NULL;
}

void mt_report_note(struct mt_report *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *mt_vec_push(&r->notes) = format(fmt, ap);
    va_end(ap);
}

void mt_report_note_once(struct mt_report *r, const char *note)
{
    if (!r->noted.slot)
        mt_strtab_init(&r->noted);
    for (; r->noted_n < r->notes.n; r->noted_n++)
        mt_strtab_add(&r->noted, r->notes.v[r->noted_n], strlen(r->notes.v[r->noted_n]));
    if (!mt_strtab_has(&r->noted, note))
        mt_report_note(r, "%s", note);
}

void mt_report_footer(struct mt_report *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *mt_vec_push(&r->footer) = format(fmt, ap);
    va_end(ap);
}

void mt_report_param(struct mt_report *r, const char *name, struct mt_cell value)
{
    *mt_vec_push(&r->params) = (struct mt_param){.name = name, .value = value};
}

void mt_report_total(struct mt_report *r, const char *name, struct mt_cell value)
{
    *mt_vec_push(&r->totals) = (struct mt_param){.name = name, .value = value};
}

void mt_report_device_total(struct mt_report *r, const char *device, const char *name,
                            struct mt_cell value)
{
    *mt_vec_push(&r->totals) =
        (struct mt_param){.name = name, .of = mt_report_text(r, device), .value = value};
}

struct mt_cell mt_cell_int(int64_t i)
{
    return (struct mt_cell){.kind = MT_CELL_INT, .i = i};
}

struct mt_cell mt_cell_known(int64_t i)
{
    return i == MT_UNKNOWN ? (struct mt_cell){0} : mt_cell_int(i);
}

struct mt_cell mt_cell_real(double v)
{
    return (struct mt_cell){.kind = MT_CELL_REAL, .r = v};
}

struct mt_cell mt_cell_text(const char *s)
{
    return s ? (struct mt_cell){.kind = MT_CELL_TEXT, .s = s} : (struct mt_cell){0};
}

struct mt_cell mt_cell_bool(bool v)
{
    return (struct mt_cell){.kind = MT_CELL_BOOL, .i = v};
}

struct mt_cell mt_cell_json(const char *s)
{
    return s ? (struct mt_cell){.kind = MT_CELL_JSON, .s = s} : (struct mt_cell){0};
}

void mt_report_cannot_tell(struct mt_report *r, const char *why, const char *ask_instead)
{
    if (r->cannot_tell.why)
        return;
    r->cannot_tell.why = mt_strdup(why);
    r->cannot_tell.ask_instead = ask_instead ? mt_strdup(ask_instead) : NULL;
}

char *mt_report_cannot_tell_text(const struct mt_report *r)
{
    const char *why = r->cannot_tell.why, *ask = r->cannot_tell.ask_instead;
    return why ? mt_asprintf("Cannot tell: %s%s%s", why, ask ? " " : "", ask ? ask : "") : NULL;
}

static char *trimmed(const char *s, size_t n)
{
    while (n > 0 && *s == ' ') {
        s++;
        n--;
    }
    while (n > 0 && s[n - 1] == ' ')
        n--;
    return mt_strndup(s, n);
}

/* Appends the index of every named column to `to`; returns the first unknown name. */
static char *find_columns(const struct mt_report *r, const char *names, size_t **to, size_t *n)
{
    size_t commas = 0;
    for (const char *p = names; (p = strchr(p, ',')); p++)
        commas++;
    *to = mt_alloc((commas + 1) * sizeof **to);
    *n = 0;
    for (const char *p = names; *n <= commas;) {
        size_t len = strcspn(p, ",");
        char *name = trimmed(p, len);
        int at = find_any(r, name);
        if (at < 0)
            return name;
        free(name);
        (*to)[(*n)++] = (size_t)at;
        p += len + 1;
    }
    return NULL;
}

char *mt_report_select(struct mt_report *r, const char *names)
{
    size_t *kept, n;
    char *unknown = find_columns(r, names, &kept, &n);
    if (unknown) {
        free(kept);
        return unknown;
    }
    struct mt_column *columns = mt_alloc(n * sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        columns[i] = r->columns.v[kept[i]];
        columns[i].hidden = false;
        columns[i].wanted = true;
    }
    free(r->columns.v);
    r->columns.v = columns;
    r->columns.n = r->columns.cap = n;
    r->keep_order = true;
    for (size_t k = 0; k < r->rows.n; k++) {
        struct mt_cell *cells = mt_alloc(n * sizeof *cells);
        for (size_t i = 0; i < n; i++)
            cells[i] = r->rows.v[k].cells[kept[i]];
        free(r->rows.v[k].cells);
        r->rows.v[k].cells = cells;
    }
    free(kept);
    return NULL;
}
