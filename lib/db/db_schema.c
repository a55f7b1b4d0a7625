/* The schema of a database: whether it is ours, and making it. */
#include "lib/base/mem.h"
#include "lib/db/db_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum mt_status mt_db_exec(struct mt_db *db, const char *sql, struct mt_err *err)
{
    if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK)
        return MT_OK;
    return mt_db_fail(db, "the database cannot be used", err);
}

static enum mt_status not_a_database(const struct mt_db *db, struct mt_err *err)
{
    mt_err_input(err, db->path);
    MT_FAIL(err, MT_EDB, "this file is not a database");
    mt_err_hint(err, "Nothing was changed. Name another with --db.");
    return MT_EDB;
}

enum mt_status mt_db_number(struct mt_db *db, const char *sql, int64_t *value, struct mt_err *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    *value = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return MT_OK;
    if (rc == SQLITE_NOTADB)
        return not_a_database(db, err);
    return mt_db_fail(db, "the database cannot be read", err);
}

/* Whether our schema has an object of that kind, "TABLE", and name. */
static bool is_ours(const char *kind, const char *name)
{
    char *begin = mt_asprintf("CREATE %s %s ", kind, name);
    bool ours = strcasestr(mt_queries[MT_Q_SCHEMA].sql, begin) != NULL; /* as SQLite sees names */
    free(begin);
    return ours;
}

/* Something that answers in the place of our table or view may never come to an end. */
static bool is_impostor(sqlite3_stmt *s)
{
    const char *name = (const char *)sqlite3_column_text(s, 0),
               *sql = (const char *)sqlite3_column_text(s, 1);
    if (!name || !sql || strstr(mt_queries[MT_Q_SCHEMA].sql, sql))
        return false;
    return is_ours("TABLE", name) || is_ours("VIEW", name);
}

/* Views, and tables that a module makes up, under our names. */
static enum mt_status check_views(struct mt_db *db, struct mt_err *err)
{
    static const char all[] = "SELECT name, sql FROM sqlite_master "
                              "WHERE type = 'view' OR type = 'table' AND rootpage = 0";
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db->sql, all, -1, &s, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (!is_impostor(s))
            continue;
        mt_err_input(err, db->path);
        MT_FAIL(err, MT_EDB, "'%.100s' in this database was not created by memtool",
                (const char *)sqlite3_column_text(s, 0));
        mt_err_hint(err, "It was neither read nor changed. Name another with --db.");
    }
    sqlite3_finalize(s);
    if (err->code || rc == SQLITE_DONE)
        return err->code;
    return mt_db_fail(db, "the database cannot be read", err);
}

enum mt_status mt_db_check_schema(struct mt_db *db, bool *fresh, struct mt_err *err)
{
    int64_t version, application, tables;
    MT_TRY(mt_db_number(db, "PRAGMA user_version", &version, err));
    MT_TRY(mt_db_number(db, "PRAGMA application_id", &application, err));
    MT_TRY(mt_db_number(db, "SELECT count(*) FROM sqlite_master", &tables, err));
    *fresh = tables == 0 && version == 0;
    if (*fresh)
        return MT_OK;
    mt_err_input(err, db->path);
    if (application != MT_APPLICATION_ID) {
        MT_FAIL(err, MT_EDB, "this SQLite database belongs to another program");
        mt_err_hint(err, "Nothing was changed. Name another with --db.");
        return MT_EDB;
    }
    if (version == MT_SCHEMA_VERSION) {
        err->input[0] = '\0';
        return check_views(db, err);
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

enum mt_status mt_db_create_schema(struct mt_db *db, bool *created, struct mt_err *err)
{
    bool fresh;
    struct stat file; /* SQLite takes a single byte for nothing */
    if (stat(db->path, &file) == 0 && file.st_size == 1)
        return not_a_database(db, err);
    MT_TRY(mt_db_exec(db, MT_DB_PRAGMAS, err));
    MT_TRY(mt_db_begin(db, err));
    MT_TRY(mt_db_check_schema(db, &fresh, err));
    if (fresh) {
        char version[100];
        snprintf(version, sizeof version, "PRAGMA user_version=%d; PRAGMA application_id=%d",
                 MT_SCHEMA_VERSION, MT_APPLICATION_ID);
        MT_TRY(mt_db_exec(db, mt_queries[MT_Q_SCHEMA].sql, err));
        MT_TRY(mt_db_exec(db, version, err));
    }
    if (created)
        *created = fresh;
    return mt_db_commit(db, err);
}
