/*
 * db_parts.h - what the files behind db.h share, and the one place that includes SQLite's header.
 * Only lib/db*.c includes it.
 */
#ifndef MT_DB_PARTS_H
#define MT_DB_PARTS_H

#include "gen/queries.h"
#include "lib/db/db.h"
#include <sqlite3.h>
#include <stdatomic.h>

enum { MT_APPLICATION_ID = 0x6d656d74 /* "memt" */ };
#define MT_DB_PRAGMAS "PRAGMA page_size=8192; PRAGMA auto_vacuum=0" /* of a new database */

struct mt_stmt {
    struct mt_db *db;
    sqlite3_stmt *s;
    int query; /* MT_Q_*, -1 = from text */
};

struct mt_db {
    sqlite3 *sql;
    char *path;
    struct mt_stmt cached[MT_QUERY_N];
    struct mt_db *next_reader;
    void *kept; /* by a reader, and how that is freed */
    void (*free_kept)(void *kept);
    int wait_ms;          /* so long it waits for others */
    atomic_uint waited_n; /* how often they kept it waiting */
    int64_t reads;        /* id of a run; 0: not said */
    char *pin;            /* what was there of it before a pause */
    /* rows of the bulk insert under way */
    uint64_t row_n;
    const struct mt_buf *text; /* of the row; NULL: rows have none */
    mt_db_row *row;
    void *closure;
    /* who gets the rows that are being read */
    mt_db_cells *each;
    void *each_closure;
};

/* The failure of SQLite's last call, with advice. doing: what was under way. */
enum mt_status mt_db_fail(struct mt_db *db, const char *doing, struct mt_err *err);

/* Why SQLite could not open the file, whose own last try may have been another one than ours. */
enum mt_status mt_db_open_failed(const char *path, enum mt_db_mode mode, struct mt_err *err);

/* Runs statements without rows; the first number of one that has. Errors: MT_EDB. */
enum mt_status mt_db_exec(struct mt_db *db, const char *sql, struct mt_err *err);
enum mt_status mt_db_number(struct mt_db *db, const char *sql, int64_t *value, struct mt_err *err);

/* Whether the file holds our schema, and nothing else in its place: *fresh when it holds nothing
 * yet. Errors: MT_EDB. */
enum mt_status mt_db_check_schema(struct mt_db *db, bool *fresh, struct mt_err *err);

/* Makes the schema, unless somebody else has (*created, may be NULL). Errors: MT_EDB. */
enum mt_status mt_db_create_schema(struct mt_db *db, bool *created, struct mt_err *err);

/* Tells a connection of the module behind the virtual table `rows`. Returns SQLite's code. */
int mt_db_add_rows_module(struct mt_db *db);

/* The same of the function memtool_each. */
int mt_db_add_each(struct mt_db *db);

#endif
