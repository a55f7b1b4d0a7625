/* Statements of a connection. */
#include "lib/base/mem.h"
#include "lib/base/nearest.h"
#include "lib/db/db_parts.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mt_status mt_db_query(struct mt_db *db, int query, struct mt_stmt **out, struct mt_err *err)
{
    struct mt_stmt *s = &db->cached[query];
    const struct mt_query_text *q = &mt_queries[query];
    if (!s->s && sqlite3_prepare_v3(db->sql, q->sql, -1, SQLITE_PREPARE_PERSISTENT, &s->s, NULL) !=
                     SQLITE_OK) {
        char doing[200];
        snprintf(doing, sizeof doing, "%s:%d: query %s", q->file, q->line, q->name);
        return mt_db_fail(db, doing, err);
    }
    s->db = db;
    s->query = query;
    sqlite3_reset(s->s);
    sqlite3_clear_bindings(s->s);
    *out = s;
    return MT_OK;
}

/* Appends the tables and views whose names are near that of one there is not. */
static void add_near(struct mt_db *db, const char *name, struct mt_buf *hint)
{
    MT_VEC(const char *) names = {0};
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db->sql, "SELECT name FROM sqlite_master WHERE type <> 'index'", -1, &s,
                           NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *known = (const char *)sqlite3_column_text(s, 0);
        *mt_vec_push(&names) = mt_strdup(known ? known : "");
    }
    sqlite3_finalize(s);
    mt_did_you_mean(name, names.v, names.n, hint);
    for (size_t i = 0; i < names.n; i++)
        free((char *)names.v[i]);
    mt_vec_free(&names);
}

static enum mt_status refuse(struct mt_db *db, struct mt_err *err)
{
    static const char no_table[] = "no such table: ";
    struct mt_buf hint = {0};
    MT_FAIL(err, MT_EUSAGE, "SQL: %s", sqlite3_errmsg(db->sql));
    const char *missing = strstr(err->what, no_table);
    if (missing)
        add_near(db, missing + sizeof no_table - 1, &hint);
    mt_err_hint(err, "%s`memtool schema` shows the tables and views.", hint.n ? hint.s : "");
    mt_buf_free(&hint);
    return MT_EUSAGE;
}

/* Compiles what stands first in the text, past comments and lone semicolons. *stmt NULL: there is
 * nothing else. *rest: what follows. */
static enum mt_status compile(struct mt_db *db, const char *sql, sqlite3_stmt **stmt,
                              const char **rest, struct mt_err *err)
{
    *stmt = NULL;
    for (*rest = sql; !*stmt && **rest; sql = *rest)
        if (sqlite3_prepare_v2(db->sql, sql, -1, stmt, rest) != SQLITE_OK)
            return refuse(db, err);
    return MT_OK;
}

/* Whether there is another statement, sound or not. */
static bool has_more(struct mt_db *db, const char *sql)
{
    sqlite3_stmt *stmt;
    struct mt_err ignored = MT_ERR_INIT;
    bool more = compile(db, sql, &stmt, &sql, &ignored) != MT_OK || stmt;
    sqlite3_finalize(stmt);
    return more;
}

enum mt_status mt_db_prepare(struct mt_db *db, const char *sql, struct mt_stmt **out,
                             struct mt_err *err)
{
    sqlite3_stmt *stmt;
    const char *rest;
    MT_TRY(compile(db, sql, &stmt, &rest, err));
    bool more = has_more(db, rest);
    if (!stmt || more || !sqlite3_stmt_readonly(stmt)) {
        sqlite3_finalize(stmt);
        MT_FAIL(err, MT_EUSAGE,
                !stmt  ? "no SQL statement found"
                : more ? "only one SQL statement can be run at a time"
                       : "only statements that read can be run");
        mt_err_hint(err, "Nothing was run. `memtool query` never changes a database.");
        return MT_EUSAGE;
    }
    struct mt_stmt *s = mt_alloc(sizeof *s);
    *s = (struct mt_stmt){db, stmt, -1};
    *out = s;
    return MT_OK;
}

void mt_stmt_free(struct mt_stmt *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->s);
    free(s);
}

void mt_stmt_bind(struct mt_stmt *s, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    for (int i = 0; format[i]; i++) {
        if (format[i] == 's') {
            const char *text = va_arg(ap, const char *);
            if (text)
                sqlite3_bind_text(s->s, i + 1, text, -1, SQLITE_STATIC);
        } else if (format[i] == 'b') {
            const void *bytes = va_arg(ap, const void *);
            size_t n = va_arg(ap, size_t);
            sqlite3_bind_blob64(s->s, i + 1, bytes ? bytes : "", n, SQLITE_STATIC);
        } else {
            int64_t v = va_arg(ap, int64_t);
            if (format[i] == 'i' || v != INT64_MIN)
                sqlite3_bind_int64(s->s, i + 1, v);
        }
    }
    va_end(ap);
}

int mt_stmt_param_n(const struct mt_stmt *s)
{
    return sqlite3_bind_parameter_count(s->s);
}

void mt_stmt_param_name(const struct mt_stmt *s, int param, struct mt_buf *out)
{
    const char *name = sqlite3_bind_parameter_name(s->s, param);
    if (name)
        mt_buf_adds(out, name + 1);
    else
        mt_buf_addf(out, "%d", param);
}

static int param_called(const struct mt_stmt *s, const char *name)
{
    struct mt_buf own = {0};
    int n = mt_stmt_param_n(s), found = 0;
    for (int i = 1; i <= n && !found; i++) {
        mt_buf_clear(&own);
        mt_stmt_param_name(s, i, &own);
        found = strcmp(own.s, name) == 0 ? i : 0;
    }
    mt_buf_free(&own);
    return found;
}

int mt_stmt_bind_name(struct mt_stmt *s, const char *name, const char *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    bool integer = *value && !*end && !errno;
    int param = param_called(s, name);
    if (param && integer)
        sqlite3_bind_int64(s->s, param, v);
    else if (param)
        sqlite3_bind_text(s->s, param, value, -1, SQLITE_TRANSIENT);
    return param;
}

enum mt_status mt_stmt_step(struct mt_stmt *s, bool *row, struct mt_err *err)
{
    int rc = sqlite3_step(s->s);
    *row = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW)
        return MT_OK;
    enum mt_status st = MT_OK;
    if (rc != SQLITE_DONE)
        st = mt_db_fail(s->db, s->query < 0 ? "SQL" : mt_queries[s->query].name, err);
    sqlite3_reset(s->s);
    return st;
}

enum { COUNT_CALL_OPS = 1000000, COUNT_CALLS = 64 }; /* of SQLite's machine: about a second */

static int count_call(void *closure)
{
    int *left = closure;
    return --*left <= 0;
}

enum mt_status mt_stmt_count_rest(struct mt_stmt *s, int64_t *n, bool *all, struct mt_err *err)
{
    int left = COUNT_CALLS, rc;
    enum mt_status st = MT_OK;
    *n = 0;
    sqlite3_progress_handler(s->db->sql, COUNT_CALL_OPS, count_call, &left);
    while ((rc = sqlite3_step(s->s)) == SQLITE_ROW)
        ++*n;
    sqlite3_progress_handler(s->db->sql, 0, NULL, NULL);
    *all = left > 0;
    if (rc != SQLITE_DONE && *all)
        st = mt_db_fail(s->db, s->query < 0 ? "SQL" : mt_queries[s->query].name, err);
    sqlite3_reset(s->s);
    return st;
}

enum mt_status mt_stmt_run(struct mt_stmt *s, struct mt_err *err)
{
    bool row = true;
    while (row)
        MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}

void mt_stmt_end(struct mt_stmt *s)
{
    sqlite3_reset(s->s);
}

int mt_stmt_column_n(const struct mt_stmt *s)
{
    return sqlite3_column_count(s->s);
}

const char *mt_stmt_column_name(const struct mt_stmt *s, int column)
{
    return sqlite3_column_name(s->s, column);
}

enum mt_value_kind mt_stmt_kind(const struct mt_stmt *s, int column)
{
    switch (sqlite3_column_type(s->s, column)) {
    case SQLITE_INTEGER:
        return MT_VALUE_INT;
    case SQLITE_FLOAT:
        return MT_VALUE_REAL;
    case SQLITE_NULL:
        return MT_VALUE_NULL;
    default:
        return MT_VALUE_TEXT;
    }
}

int64_t mt_stmt_int(const struct mt_stmt *s, int column)
{
    return sqlite3_column_int64(s->s, column);
}

int64_t mt_stmt_int_or(const struct mt_stmt *s, int column, int64_t null)
{
    int64_t value = mt_stmt_int(s, column);
    return value || sqlite3_column_type(s->s, column) != SQLITE_NULL ? value : null;
}

uint64_t mt_stmt_index(const struct mt_stmt *s, int column, int64_t first)
{
    int64_t value = sqlite3_column_int64(s->s, column);
    if (!value && sqlite3_column_type(s->s, column) == SQLITE_NULL)
        return UINT64_MAX;
    return (uint64_t)value - (uint64_t)first;
}

double mt_stmt_real(const struct mt_stmt *s, int column)
{
    return sqlite3_column_double(s->s, column);
}

bool mt_stmt_is_text(const struct mt_stmt *s, int column)
{
    const bool text = sqlite3_column_type(s->s, column) == SQLITE_TEXT;
    const char *from = text ? (const char *)sqlite3_column_text(s->s, column) : NULL;
    return from && strlen(from) == (size_t)sqlite3_column_bytes(s->s, column);
}

const uint8_t *mt_stmt_blob(const struct mt_stmt *s, int column, size_t *n)
{
    const uint8_t *bytes = sqlite3_column_blob(s->s, column);
    *n = (size_t)sqlite3_column_bytes(s->s, column);
    return bytes ? bytes : (const uint8_t *)"";
}

const char *mt_stmt_text(const struct mt_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s->s, column);
}
