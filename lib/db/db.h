/*
 * db.h - the one file that talks to SQLite: connections, statements by name from queries/, bulk
 * rows.
 */
#ifndef MT_DB_H
#define MT_DB_H

#include "lib/base/err.h"
#include "lib/base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_SCHEMA_VERSION 17
#define MT_SCHEMA_OLDEST  7     /* that is upgraded in place (db_upgrade.h) */
#define MT_DB_WAIT_MS     30000 /* how long another importer is waited for */
#define MT_DB_ROW_CELLS   16    /* columns of a bulk row */

struct mt_db;
struct mt_stmt;

enum mt_db_mode { MT_DB_READ, MT_DB_WRITE };

/*
 * Opens the database at path, in MT_DB_WRITE mode creating it with its schema if need be (*created,
 * may be NULL). Errors: MT_EDB with path: missing, not a database, another program's, of a newer
 * memtool or of one before MT_SCHEMA_OLDEST (both versions named), unwritable. A database of a
 * version between is upgraded in place. A file that could not be made a database is no more.
 */
enum mt_status mt_db_open(const char *path, enum mt_db_mode mode, struct mt_db **out, bool *created,
                          struct mt_err *err);
/* Whether a regular file, no link to one, is a database of memtool of whatever version. */
bool mt_db_is_ours(const char *path);
/* The version of the schema of such a file, or of what a link leads to; -1: it is none. Not while
 * this process has it open: closing a file drops SQLite's locks on it. */
int64_t mt_db_file_version(const char *path);

/*
 * Opens a database of whatever version, whose tables the caller knows, and keeps other writers out
 * of it until it is closed, from one with a write-ahead log everybody else. *version: of its
 * schema. Nothing in it is changed. Errors: MT_EDB: not ours, unwritable, or somebody else keeps
 * it.
 */
enum mt_status mt_db_open_older(const char *path, struct mt_db **out, int64_t *version,
                                struct mt_err *err);
/*
 * Takes the files that SQLite keeps beside it (a write-ahead log would be played into whatever has
 * its name) back into the file of such a database, which stays kept: another file may take its
 * place then. What is in it is not changed. Errors: MT_EDB.
 */
enum mt_status mt_db_settle_older(struct mt_db *db, struct mt_err *err);

/*
 * What a connection for reading reads belongs together, whatever others change meanwhile: it is one
 * transaction from the opening on. Changes wait for it. So this is called before a report is shown,
 * which may take long: it ends the transactions of all connections for reading, and their queries
 * but for those of mt_db_prepare, which read on as if nothing had changed.
 */
void mt_db_readers_end(void);
/* For those who read on while they write: what is read from now on belongs together, until that is
 * ended. */
void mt_db_readers_begin(void);

/* What this connection reads is of that run. */
void mt_db_reads(struct mt_db *db, int64_t run);
/*
 * Between these others may write, and so may who calls them, while what was read before goes on
 * being used. *lost: a run that mt_db_reads named and that was imported again or deleted meanwhile,
 * so that what was read of it and what is there do not belong together; 0: none. Errors: MT_EDB.
 */
enum mt_status mt_db_readers_pause(struct mt_err *err);
enum mt_status mt_db_readers_resume(int64_t *lost, struct mt_err *err);

/* What who reads keeps with the connection, one thing at a time: it is freed for the next, and with
 * the connection. NULL: nothing. */
void mt_db_keep(struct mt_db *db, void *kept, void (*free_kept)(void *kept));
void *mt_db_kept(const struct mt_db *db);
/* From now on the connection has so much of the file in memory, at most. Errors: MT_EDB. */
enum mt_status mt_db_cache(struct mt_db *db, int kib, struct mt_err *err);
/* Rows that this connection has changed so far: what was read before may be others now. */
int64_t mt_db_changes(const struct mt_db *db);

/* Whether two connections are of one file: then ids of one are ids of the other, for whoever reads
 * keeps the file as it is. */
bool mt_db_is_same(const struct mt_db *a, const struct mt_db *b);

void mt_db_close(struct mt_db *db); /* accepts NULL; an open transaction is rolled back */
/* Closes a database that was created by opening it. Where no run came to be in it, its file goes.
 */
void mt_db_close_unused(struct mt_db *db);

enum mt_status mt_db_begin(struct mt_db *db, struct mt_err *err); /* waits for other writers */
/* The same for short transactions: it waits for readers as well, whom mt_db_commit then need not
 * wait for. Meanwhile new readers begin each second. */
enum mt_status mt_db_begin_alone(struct mt_db *db, struct mt_err *err);
enum mt_status mt_db_commit(struct mt_db *db, struct mt_err *err);
void mt_db_rollback(struct mt_db *db);
/* Whether what was just done failed for want of others to end. */
bool mt_db_is_busy(const struct mt_db *db);

/* Bytes of the file, and those of them that deleted rows left for later ones. Errors: MT_EDB. */
enum mt_status mt_db_space(struct mt_db *db, int64_t *size_b, int64_t *free_b, struct mt_err *err);
/* Writes the file anew without them; in no transaction. It takes the room of a second copy while it
 * runs, and waits for readers and writers. On an error the file is as it was. Errors: MT_EDB. */
enum mt_status mt_db_shrink(struct mt_db *db, struct mt_err *err);
/* Whether what failed last did so because the file or its folder cannot be written. */
bool mt_db_is_unwritable(const struct mt_db *db);

/* The statement of that name in queries/ (MT_Q_*), reset and unbound; owned by the connection. */
enum mt_status mt_db_query(struct mt_db *db, int query, struct mt_stmt **out, struct mt_err *err);
/* A statement from text; free with mt_stmt_free. Only one statement, and only one that reads. */
enum mt_status mt_db_prepare(struct mt_db *db, const char *sql, struct mt_stmt **out,
                             struct mt_err *err);
void mt_stmt_free(struct mt_stmt *s);

/* Binds ?1, ?2 ... by a format: i int64_t, I int64_t or NULL when INT64_MIN, s const char * (NULL
 * is NULL), b const void * and size_t. Texts and bytes must live until the statement is done. */
void mt_stmt_bind(struct mt_stmt *s, const char *format, ...);
/* Parameters are numbered from 1. Appends what one is called: "run" of :run, "3" of ?3 and of the
 * third ?. */
int mt_stmt_param_n(const struct mt_stmt *s);
void mt_stmt_param_name(const struct mt_stmt *s, int param, struct mt_buf *out);
/* Binds the parameter called so and returns its number, 0 if there is none. Text that is an integer
 * is bound as one. */
int mt_stmt_bind_name(struct mt_stmt *s, const char *name, const char *value);

/* Next row. *row = false after the last one; the statement is then reset. */
enum mt_status mt_stmt_step(struct mt_stmt *s, bool *row, struct mt_err *err);
/* Ends the query, and counts the rows that were left. It gives up after about a second, as some
 * queries have no end: *all = false, *n is then how many there are at least. */
enum mt_status mt_stmt_count_rest(struct mt_stmt *s, int64_t *n, bool *all, struct mt_err *err);
/* bind + step for statements without rows. */
enum mt_status mt_stmt_run(struct mt_stmt *s, struct mt_err *err);

/* Ends a query of which no more rows are wanted, its texts with it. A query that is under way keeps
 * importers out of the database: it must end before a report is shown (mt_db_readers_end). */
void mt_stmt_end(struct mt_stmt *s);
int mt_stmt_column_n(const struct mt_stmt *s);
const char *mt_stmt_column_name(const struct mt_stmt *s, int column);
enum mt_value_kind { MT_VALUE_NULL, MT_VALUE_INT, MT_VALUE_REAL, MT_VALUE_TEXT };
enum mt_value_kind mt_stmt_kind(const struct mt_stmt *s, int column);
int64_t mt_stmt_int(const struct mt_stmt *s, int column);                  /* NULL is 0 */
int64_t mt_stmt_int_or(const struct mt_stmt *s, int column, int64_t null); /* NULL is that */
/* How far an id lies behind the first of its kind; 2^32 and more when it is NULL or before it. */
uint64_t mt_stmt_index(const struct mt_stmt *s, int column, int64_t first);
double mt_stmt_real(const struct mt_stmt *s, int column);
const char *mt_stmt_text(const struct mt_stmt *s,
                         int column); /* NULL is NULL; until the next step */
/* Whether a value is text to its end: no blob, and without a NUL in it. */
bool mt_stmt_is_text(const struct mt_stmt *s, int column);
/* n bytes, until the next step; never NULL. */
const uint8_t *mt_stmt_blob(const struct mt_stmt *s, int column, size_t *n);
int64_t mt_db_last_id(const struct mt_db *db);

/* Fills in the cells c0, c1 ... of bulk row number `row`; INT64_MIN is NULL. */
typedef void mt_db_row(void *closure, uint64_t row, int64_t cells[MT_DB_ROW_CELLS]);

/*
 * Bulk rows: runs `query` (INSERT ... SELECT c0, c1 ... FROM temp.rows) over row_n rows, each of
 * which is asked for once, in order.
 */
enum mt_status mt_db_insert_rows(struct mt_db *db, int query, uint64_t row_n, mt_db_row *row,
                                 void *closure, struct mt_err *err);
/* The same of rows with a text, which row() leaves in *text. */
enum mt_status mt_db_insert_texts(struct mt_db *db, int query, uint64_t row_n, mt_db_row *row,
                                  const struct mt_buf *text, void *closure, struct mt_err *err);

/*
 * Reads rows that are numbers alone, by the million: runs a statement `SELECT memtool_each(c0, c1
 * ...) FROM ...`, and calls `use` with the cells of every row, in any order; NULL is 0. That takes
 * a third less time than a step for each. `use` may itself read the rows of another statement so.
 */
typedef void mt_db_cells(void *closure, const int64_t cells[MT_DB_ROW_CELLS]);
enum mt_status mt_stmt_each(struct mt_stmt *s, mt_db_cells *use, void *closure, struct mt_err *err);

/* Makes a running statement of this connection end with MT_EINTERRUPT. Safe in a signal handler. */
void mt_db_interrupt(struct mt_db *db);

/* How often others who write kept it waiting; from any thread. */
unsigned mt_db_waited(struct mt_db *db);

#endif
