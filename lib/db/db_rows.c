/* Many rows at once: the virtual table `rows`, which a bulk insert reads from, and the function
 * that takes what is read. */
#include "lib/db/db_parts.h"

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
                                "c11, c12, c13, c14, c15, text)");
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
    if (column >= MT_DB_ROW_CELLS) {
        const struct mt_buf *text = ((struct rows_table *)c->pVtab)->db->text;
        if (text) /* which is copied into the row before the next one is made */
            sqlite3_result_text64(ctx, text->s, text->n, SQLITE_STATIC, SQLITE_UTF8);
        return SQLITE_OK;
    }
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

int mt_db_add_rows_module(struct mt_db *db)
{
    return sqlite3_create_module(db->sql, "memtool_rows", &rows_module, db);
}

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

enum mt_status mt_db_insert_texts(struct mt_db *db, int query, uint64_t row_n, mt_db_row *row,
                                  const struct mt_buf *text, void *closure, struct mt_err *err)
{
    db->text = text;
    enum mt_status st = mt_db_insert_rows(db, query, row_n, row, closure, err);
    db->text = NULL;
    return st;
}

static void take_cells(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct mt_db *db = sqlite3_user_data(context);
    int64_t cells[MT_DB_ROW_CELLS];
    if (!db->each || n > MT_DB_ROW_CELLS) /* in a statement of the user's */
        return;
    for (int i = 0; i < n; i++)
        cells[i] = sqlite3_value_int64(values[i]);
    db->each(db->each_closure, cells);
}

static void no_result(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

int mt_db_add_each(struct mt_db *db)
{
    return sqlite3_create_function_v2(db->sql, "memtool_each", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                      db, NULL, take_cells, no_result, NULL);
}

enum mt_status mt_stmt_each(struct mt_stmt *s, mt_db_cells *use, void *closure, struct mt_err *err)
{
    struct mt_db *db = s->db;
    mt_db_cells *const around = db->each;
    void *const around_closure = db->each_closure;
    db->each = use;
    db->each_closure = closure;
    enum mt_status st = mt_stmt_run(s, err);
    db->each = around;
    db->each_closure = around_closure;
    return st;
}
