#include "lib/db.h"

#include "gen/queries.h"
#include "lib/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { APPLICATION_ID = 0x6d656d74 /* "memt" */ };

struct mt_stmt {
    struct mt_db *db;
    sqlite3_stmt *s;
    int query; /* MT_Q_*, -1 = from text */
};

struct mt_db {
    sqlite3 *sql;
    char *path;
    struct mt_stmt cached[MT_QUERY_N];
    /* rows of the bulk insert under way */
    uint64_t row_n;
    mt_db_row *row;
    void *closure;
};

static enum mt_status db_fail(struct mt_db *db, const char *doing, struct mt_err *err)
{
    int rc = sqlite3_errcode(db->sql);
    if (rc == SQLITE_INTERRUPT)
        return MT_FAIL(err, MT_EINTERRUPT, "interrupted");
    mt_err_input(err, db->path);
    MT_FAIL(err, MT_EDB, "%s: %s", doing, sqlite3_errmsg(db->sql));
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        mt_err_hint(err,
                    "Another program has been writing to it for more than %d s. Nothing was "
                    "changed; try again when it is done.",
                    MT_DB_WAIT_MS / 1000);
        break;
    case SQLITE_FULL:
        mt_err_hint(err, "The disk is full. Nothing was changed; make room, or name a database "
                         "elsewhere with --db.");
        break;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        mt_err_hint(err, "The file or its folder cannot be written. Nothing was changed; name a "
                         "database elsewhere with --db.");
        break;
    case SQLITE_CORRUPT:
        mt_err_hint(err, "The database is damaged. Nothing was changed; restore a copy, or import "
                         "into a new one with --db.");
        break;
    case SQLITE_IOERR:
        mt_err_hint(err, "A quota, a limit on file sizes or a failing disk stands in the way. "
                         "Nothing was changed; name a database elsewhere with --db.");
        break;
    default:
        mt_err_hint(err, "Nothing was changed.");
    }
    return MT_EDB;
}

/* ---- the virtual table `rows`: what a bulk insert reads from ---- */

struct rows_table {
    sqlite3_vtab base;
    struct mt_db *db;
};
struct rows_cursor {
    sqlite3_vtab_cursor base;
    uint64_t row;
    int64_t cells[MT_DB_ROW_CELLS];
};

static int rows_connect(sqlite3 *sql, void *aux, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **msg)
{
    (void)argc, (void)argv, (void)msg;
    struct rows_table *t = sqlite3_malloc(sizeof *t);
    if (!t)
        return SQLITE_NOMEM;
    *t = (struct rows_table){.db = aux};
    *out = &t->base;
    return sqlite3_declare_vtab(sql,
                                "CREATE TABLE rows(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, "
                                "c11)");
}

static int rows_disconnect(sqlite3_vtab *t)
{
    sqlite3_free(t);
    return SQLITE_OK;
}

static int rows_best_index(sqlite3_vtab *t, sqlite3_index_info *info)
{
    (void)t, (void)info;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    (void)t;
    struct rows_cursor *c = sqlite3_malloc(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct rows_cursor){0};
    *out = &c->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *c)
{
    sqlite3_free(c);
    return SQLITE_OK;
}

static int move_to(sqlite3_vtab_cursor *base, uint64_t row)
{
    struct rows_cursor *c = (struct rows_cursor *)base;
    struct mt_db *db = ((struct rows_table *)base->pVtab)->db;
    c->row = row;
    if (row < db->row_n)
        db->row(db->closure, row, c->cells);
    return SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *c, int n, const char *s, int argc, sqlite3_value **argv)
{
    (void)n, (void)s, (void)argc, (void)argv;
    return move_to(c, 0);
}

static int rows_next(sqlite3_vtab_cursor *c)
{
    return move_to(c, ((struct rows_cursor *)c)->row + 1);
}

static int rows_eof(sqlite3_vtab_cursor *c)
{
    return ((struct rows_cursor *)c)->row >= ((struct rows_table *)c->pVtab)->db->row_n;
}

static int rows_column(sqlite3_vtab_cursor *c, sqlite3_context *ctx, int column)
{
    int64_t v = ((struct rows_cursor *)c)->cells[column];
    if (v != INT64_MIN)
        sqlite3_result_int64(ctx, v);
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((struct rows_cursor *)c)->row;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .xConnect = rows_connect,
    .xBestIndex = rows_best_index,
    .xDisconnect = rows_disconnect,
    .xCreate = rows_connect,
    .xDestroy = rows_disconnect,
    .xOpen = rows_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_eof,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};

enum mt_status mt_db_insert_rows(struct mt_db *db, int query, uint64_t row_n, mt_db_row *row,
                                 void *closure, struct mt_err *err)
{
    struct mt_stmt *s;
    db->row_n = row_n;
    db->row = row;
    db->closure = closure;
    MT_TRY(mt_db_query(db, query, &s, err));
    return mt_stmt_run(s, err);
}

/* ---- connections ---- */

/* Says why SQLite could not open a file; its own last try may have been another one than ours. */
static enum mt_status open_failed(const char *path, enum mt_db_mode mode, struct mt_err *err)
{
    int fd = mode == MT_DB_WRITE ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644)
                                 : open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    int code = fd < 0 ? errno : fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (fd >= 0)
        close(fd);
    mt_err_input(err, path);
    if (mode == MT_DB_READ && code == ENOENT) {
        MT_FAIL(err, MT_EDB, "there is no such database");
        mt_err_hint(err, "Import something first: memtool import trace.json. Or give the file "
                         "itself as the run.");
        return MT_EDB;
    }
    MT_FAIL(err, MT_EDB, "the database cannot be opened: %s",
            code ? strerror(code) : "SQLite gives no reason");
    mt_err_hint(err, "Nothing was changed. Name a database elsewhere with --db.");
    return MT_EDB;
}

static enum mt_status exec(struct mt_db *db, const char *sql, struct mt_err *err)
{
    if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK)
        return MT_OK;
    return db_fail(db, "the database cannot be used", err);
}

static enum mt_status pragma(struct mt_db *db, const char *sql, int64_t *value, struct mt_err *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    *value = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return MT_OK;
    if (rc == SQLITE_NOTADB) {
        mt_err_input(err, db->path);
        MT_FAIL(err, MT_EDB, "this file is not a database");
        mt_err_hint(err, "Nothing was changed. Name another with --db.");
        return MT_EDB;
    }
    return db_fail(db, "the database cannot be read", err);
}

/* Whether the file holds our schema: *fresh when it holds nothing yet. */
static enum mt_status check_schema(struct mt_db *db, bool *fresh, struct mt_err *err)
{
    int64_t version, application, tables;
    MT_TRY(pragma(db, "PRAGMA user_version", &version, err));
    MT_TRY(pragma(db, "PRAGMA application_id", &application, err));
    MT_TRY(pragma(db, "SELECT count(*) FROM sqlite_master", &tables, err));
    *fresh = tables == 0 && version == 0;
    if (*fresh)
        return MT_OK;
    mt_err_input(err, db->path);
    if (application != APPLICATION_ID) {
        MT_FAIL(err, MT_EDB, "this SQLite database belongs to another program");
        mt_err_hint(err, "Nothing was changed. Name another with --db.");
        return MT_EDB;
    }
    if (version == MT_SCHEMA_VERSION) {
        err->input[0] = '\0';
        return MT_OK;
    }
    MT_FAIL(err, MT_EDB, "the database has schema version %lld; this memtool knows version %d",
            (long long)version, MT_SCHEMA_VERSION);
    mt_err_hint(err,
                version > MT_SCHEMA_VERSION
                    ? "Nothing was changed. Use a newer memtool, or another database with --db."
                    : "Nothing was changed. It was made by an older memtool: import the "
                      "recordings again into another database (--db).");
    return MT_EDB;
}

static enum mt_status create_schema(struct mt_db *db, bool *created, struct mt_err *err)
{
    bool fresh;
    MT_TRY(exec(db, "PRAGMA page_size=8192; PRAGMA auto_vacuum=0", err));
    MT_TRY(mt_db_begin(db, err));
    MT_TRY(check_schema(db, &fresh, err));
    if (fresh) {
        char version[100];
        snprintf(version, sizeof version, "PRAGMA user_version=%d; PRAGMA application_id=%d",
                 MT_SCHEMA_VERSION, APPLICATION_ID);
        MT_TRY(exec(db, mt_queries[MT_Q_SCHEMA].sql, err));
        MT_TRY(exec(db, version, err));
    }
    if (created)
        *created = fresh;
    return mt_db_commit(db, err);
}

/* ATTACH counts as reading, but opens, and may repair, a file that was not named. */
static int refuse_attach(void *closure, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)closure, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

static enum mt_status open_connection(struct mt_db *db, enum mt_db_mode mode, bool *created,
                                      struct mt_err *err)
{
    /* Readers too must be able to roll back what a killed importer left; query_only keeps them
     * from anything else. */
    int flags = SQLITE_OPEN_READWRITE | (mode == MT_DB_WRITE ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(db->path, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return open_failed(db->path, mode, err);
    sqlite3_busy_timeout(db->sql, MT_DB_WAIT_MS);
    bool fresh = false;
    /* One snapshot: another importer may be creating the schema right now. */
    MT_TRY(exec(db, "BEGIN", err));
    MT_TRY(check_schema(db, &fresh, err));
    MT_TRY(exec(db, "COMMIT", err));
    if (created)
        *created = false;
    if (mode == MT_DB_READ) {
        if (fresh) {
            mt_err_input(err, db->path);
            MT_FAIL(err, MT_EDB, "the database is empty");
            mt_err_hint(err, "Import something first: memtool import trace.json");
            return MT_EDB;
        }
        sqlite3_set_authorizer(db->sql, refuse_attach, NULL);
        return exec(db, "PRAGMA query_only=1; PRAGMA mmap_size=1073741824", err);
    }
    MT_TRY(exec(db, "PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096",
                err));
    if (fresh)
        MT_TRY(create_schema(db, created, err));
    if (sqlite3_create_module(db->sql, "memtool_rows", &rows_module, db) != SQLITE_OK)
        return db_fail(db, "the database cannot be used", err);
    return exec(db, "CREATE VIRTUAL TABLE temp.rows USING memtool_rows", err);
}

enum mt_status mt_db_open(const char *path, enum mt_db_mode mode, struct mt_db **out, bool *created,
                          struct mt_err *err)
{
    struct mt_db *db = mt_alloc(sizeof *db);
    db->path = mt_strdup(path);
    enum mt_status st = open_connection(db, mode, created, err);
    if (st != MT_OK) {
        mt_db_close(db);
        return st;
    }
    *out = db;
    return MT_OK;
}

void mt_db_close(struct mt_db *db)
{
    if (!db)
        return;
    for (int i = 0; i < MT_QUERY_N; i++)
        sqlite3_finalize(db->cached[i].s);
    sqlite3_close(db->sql);
    free(db->path);
    free(db);
}

enum mt_status mt_db_begin(struct mt_db *db, struct mt_err *err)
{
    return exec(db, "BEGIN IMMEDIATE", err);
}

enum mt_status mt_db_commit(struct mt_db *db, struct mt_err *err)
{
    return exec(db, "COMMIT", err);
}

void mt_db_rollback(struct mt_db *db)
{
    sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
}

void mt_db_interrupt(struct mt_db *db)
{
    sqlite3_interrupt(db->sql);
}

int64_t mt_db_last_id(const struct mt_db *db)
{
    return sqlite3_last_insert_rowid(db->sql);
}

/* ---- statements ---- */

enum mt_status mt_db_query(struct mt_db *db, int query, struct mt_stmt **out, struct mt_err *err)
{
    struct mt_stmt *s = &db->cached[query];
    const struct mt_query_text *q = &mt_queries[query];
    if (!s->s && sqlite3_prepare_v3(db->sql, q->sql, -1, SQLITE_PREPARE_PERSISTENT, &s->s, NULL) !=
                     SQLITE_OK) {
        char doing[200];
        snprintf(doing, sizeof doing, "%s:%d: query %s", q->file, q->line, q->name);
        return db_fail(db, doing, err);
    }
    s->db = db;
    s->query = query;
    sqlite3_reset(s->s);
    sqlite3_clear_bindings(s->s);
    *out = s;
    return MT_OK;
}

enum mt_status mt_db_prepare(struct mt_db *db, const char *sql, struct mt_stmt **out,
                             struct mt_err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *tail = "";
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, &tail) != SQLITE_OK) {
        MT_FAIL(err, MT_EUSAGE, "SQL: %s", sqlite3_errmsg(db->sql));
        mt_err_hint(err, "`memtool schema` shows the tables and views.");
        return MT_EUSAGE;
    }
    bool more = tail[strspn(tail, " \t\r\n;")] != '\0' &&
                strncmp(tail + strspn(tail, " \t\r\n;"), "--", 2) != 0;
    if (!stmt || more || !sqlite3_stmt_readonly(stmt)) {
        sqlite3_finalize(stmt);
        MT_FAIL(err, MT_EUSAGE,
                !stmt  ? "there is no SQL statement in that"
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
        } else {
            int64_t v = va_arg(ap, int64_t);
            if (format[i] == 'i' || v != INT64_MIN)
                sqlite3_bind_int64(s->s, i + 1, v);
        }
    }
    va_end(ap);
}

bool mt_stmt_bind_name(struct mt_stmt *s, const char *name, const char *value)
{
    static const char marks[] = ":@$";
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    bool integer = *value && !*end && !errno;
    for (const char *m = marks; *m; m++) {
        char *marked = mt_asprintf("%c%s", *m, name);
        int at = sqlite3_bind_parameter_index(s->s, marked);
        free(marked);
        if (!at)
            continue;
        if (integer)
            sqlite3_bind_int64(s->s, at, v);
        else
            sqlite3_bind_text(s->s, at, value, -1, SQLITE_TRANSIENT);
        return true;
    }
    return false;
}

enum mt_status mt_stmt_step(struct mt_stmt *s, bool *row, struct mt_err *err)
{
    int rc = sqlite3_step(s->s);
    *row = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW)
        return MT_OK;
    enum mt_status st = MT_OK;
    if (rc != SQLITE_DONE)
        st = db_fail(s->db, s->query < 0 ? "SQL" : mt_queries[s->query].name, err);
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

double mt_stmt_real(const struct mt_stmt *s, int column)
{
    return sqlite3_column_double(s->s, column);
}

const char *mt_stmt_text(const struct mt_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s->s, column);
}
