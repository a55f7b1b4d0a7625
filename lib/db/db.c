/* Connections: opening, the schema, transactions. */
#include "lib/base/mem.h"
#include "lib/db/db_image.h"
#include "lib/db/db_parts.h"
#include "lib/db/db_upgrade.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mt_db *readers; /* connections for reading */

enum mt_status mt_db_fail(struct mt_db *db, const char *doing, struct mt_err *err)
{
    int rc = sqlite3_errcode(db->sql);
    if (rc == SQLITE_INTERRUPT)
        return MT_FAIL(err, MT_EINTERRUPT, "interrupted");
    mt_err_input(err, db->path);
    MT_FAIL(err, MT_EDB, "%s: %s", doing, sqlite3_errmsg(db->sql));
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        mt_err_hint(
            err,
            "Another program has been using it for more than %d s. Nothing was changed; try "
            "again when it is done.",
            MT_DB_WAIT_MS / 1000);
        break;
    case SQLITE_FULL:
        mt_err_hint(err, "The disk is full. Nothing was changed; make room, or name a database "
                         "elsewhere with --db.");
        break;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        mt_err_hint(err, sqlite3_extended_errcode(db->sql) == SQLITE_READONLY_DBMOVED
                             ? "The file was removed or replaced meanwhile. What is there now was "
                               "not changed; try again."
                             : "The file or its folder cannot be written. Nothing was changed; "
                               "name a database elsewhere with --db.");
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

/* ATTACH counts as reading, but opens, and may repair, a file that was not named. */
static int refuse_attach(void *closure, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)closure, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

/* The file may come from elsewhere: what its schema would do by itself is not done. */
static void distrust(struct mt_db *db)
{
    static const struct {
        int what, on;
    } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}};
    for (size_t i = 0; i < MT_ARRAY_LEN(settings); i++)
        sqlite3_db_config(db->sql, settings[i].what, settings[i].on, NULL);
}

/* Else SQLite counts all its memory, under a lock. */
static void settle(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* A name of a file and nothing else: ":memory:" and "file:x?mode=memory" mean something to SQLite,
 * what begins with a folder does not. */
static int open_file(struct mt_db *db, int flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, settle);
    char *name = mt_asprintf("%s%s", db->path[0] == '/' ? "" : "./", db->path);
    int rc = sqlite3_open_v2(name, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL);
    free(name);
    return rc;
}

/* As sqlite3_busy_timeout, but it is known that it was needed. times: so often before. */
static int wait_longer(void *db, int times)
{
    enum { LONGEST = 50, SHORT = 10 }; /* ms; how often it waits less: 1, 2, 3, ... */
    const int waited = times < SHORT ? times * times / 2 : LONGEST * (times - SHORT + 1);
    atomic_fetch_add(&((struct mt_db *)db)->waited_n, 1);
    if (waited >= ((struct mt_db *)db)->wait_ms)
        return 0;
    sqlite3_sleep(times < SHORT ? times + 1 : LONGEST);
    return 1;
}

static void wait_for_others(struct mt_db *db)
{
    db->wait_ms = MT_DB_WAIT_MS;
    sqlite3_busy_handler(db->sql, wait_longer, db);
}

unsigned mt_db_waited(struct mt_db *db)
{
    return atomic_load(&db->waited_n);
}

static enum mt_status open_connection(struct mt_db *db, enum mt_db_mode mode, bool *created,
                                      struct mt_err *err)
{
    /* Readers too must be able to roll back what a killed importer left; query_only keeps them
     * from anything else. */
    int flags = SQLITE_OPEN_READWRITE | (mode == MT_DB_WRITE ? SQLITE_OPEN_CREATE : 0);
    if (open_file(db, flags) != SQLITE_OK)
        return mt_db_open_failed(db->path, mode, err);
    wait_for_others(db);
    distrust(db);
    if (mt_db_add_each(db) != SQLITE_OK)
        return mt_db_fail(db, "the database cannot be used", err);
    bool fresh = false;
    MT_TRY(mt_db_upgrade(db, mt_db_steps, err));
    /* One snapshot: another importer may be creating the schema right now. */
    MT_TRY(mt_db_exec(db, "BEGIN", err));
    MT_TRY(mt_db_check_schema(db, &fresh, err));
    MT_TRY(mt_db_exec(db, "COMMIT", err));
    if (mode == MT_DB_READ) {
        if (fresh) {
            mt_err_input(err, db->path);
            MT_FAIL(err, MT_EDB, "the database is empty");
            mt_err_hint(err, "Import something first: memtool import trace.json");
            return MT_EDB;
        }
        sqlite3_set_authorizer(db->sql, refuse_attach, NULL);
        db->next_reader = readers;
        readers = db;
        return mt_db_exec(db, "PRAGMA query_only=1; BEGIN", err);
    }
    MT_TRY(mt_db_exec(
        db, "PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-1024", err));
    if (fresh)
        MT_TRY(mt_db_create_schema(db, created, err));
    if (mt_db_add_rows_module(db) != SQLITE_OK)
        return mt_db_fail(db, "the database cannot be used", err);
    return mt_db_exec(db, "CREATE VIRTUAL TABLE temp.rows USING memtool_rows", err);
}

enum mt_status mt_db_open(const char *path, enum mt_db_mode mode, struct mt_db **out, bool *created,
                          struct mt_err *err)
{
    struct mt_db *db = mt_alloc(sizeof *db);
    db->path = mt_strdup(path);
    bool was_there = access(path, F_OK) == 0;
    bool made = mode == MT_DB_WRITE && !was_there && mt_db_image_create(path);
    if (created)
        *created = made;
    enum mt_status st = open_connection(db, mode, created, err);
    if (st != MT_OK) {
        (was_there || !db->sql ? mt_db_close : mt_db_close_unused)(db);
        return st;
    }
    *out = db;
    return MT_OK;
}

enum mt_status mt_db_open_older(const char *path, struct mt_db **out, int64_t *version,
                                struct mt_err *err)
{
    struct mt_db *db = mt_alloc(sizeof *db);
    int64_t application = 0;
    db->path = mt_strdup(path);
    enum mt_status st = open_file(db, SQLITE_OPEN_READWRITE) == SQLITE_OK
                            ? MT_OK
                            : mt_db_open_failed(path, MT_DB_READ, err);
    if (st == MT_OK) {
        wait_for_others(db);
        distrust(db);
        sqlite3_set_authorizer(db->sql, refuse_attach, NULL);
        /* Before the first access: then a write-ahead log is nobody else's. Locks stay until it is
         * closed. */
        st = mt_db_exec(db, "PRAGMA locking_mode=EXCLUSIVE", err);
    }
    if (st == MT_OK)
        st = mt_db_number(db, "PRAGMA application_id", &application, err);
    if (st == MT_OK && application != MT_APPLICATION_ID)
        st = MT_FAIL(err, MT_EDB, "this SQLite database belongs to another program");
    if (st == MT_OK)
        st = mt_db_begin(db, err);
    if (st == MT_OK)
        st = mt_db_number(db, "PRAGMA user_version", version, err);
    *out = st == MT_OK ? db : NULL;
    if (st != MT_OK)
        mt_db_close(db);
    return st;
}

/* A file beside the database, by what its name ends in. */
static bool is_beside(const struct mt_db *db, const char *ending, bool drop)
{
    char *path = mt_asprintf("%s%s", db->path, ending);
    bool there = access(path, F_OK) == 0 && !(drop && unlink(path) == 0);
    free(path);
    return there;
}

enum mt_status mt_db_settle_older(struct mt_db *db, struct mt_err *err)
{
    static const char doing[] = "its write-ahead log cannot be taken into the database";
    if (sqlite3_exec(db->sql, "ROLLBACK; PRAGMA journal_mode=DELETE", NULL, NULL, NULL) !=
        SQLITE_OK)
        return mt_db_fail(db, doing, err);
    if (!is_beside(db, "-wal", false) && !is_beside(db, "-shm", true) &&
        !is_beside(db, "-journal", true)) /* one that was kept, with nothing in it */
        return MT_OK;
    mt_err_input(err, db->path);
    MT_FAIL(err, MT_EDB, "%s", doing);
    mt_err_hint(err, "Nothing was changed.");
    return MT_EDB;
}

void mt_db_close(struct mt_db *db)
{
    if (!db)
        return;
    for (struct mt_db **at = &readers; *at; at = &(*at)->next_reader)
        if (*at == db) {
            *at = db->next_reader;
            break;
        }
    for (int i = 0; i < MT_QUERY_N; i++)
        sqlite3_finalize(db->cached[i].s);
    sqlite3_close(db->sql);
    mt_db_keep(db, NULL, NULL);
    free(db->pin);
    free(db->path);
    free(db);
}

/* Nothing is in the file, and the disk has no room to begin with anything. */
static bool is_left_empty(const struct mt_db *db)
{
    struct stat info;
    return (sqlite3_errcode(db->sql) & 0xff) == SQLITE_FULL && stat(db->path, &info) == 0 &&
           info.st_size == 0;
}

/* Asked alone with it: another importer may have come to like it. */
static bool has_no_run(struct mt_db *db)
{
    struct mt_err ignored = MT_ERR_INIT;
    int64_t tables, runs = 0;
    if (mt_db_exec(db, "BEGIN EXCLUSIVE", &ignored) != MT_OK)
        return is_left_empty(db);
    return mt_db_number(db, "SELECT count(*) FROM sqlite_master", &tables, &ignored) == MT_OK &&
           (!tables || mt_db_number(db, "SELECT count(*) FROM run", &runs, &ignored) == MT_OK) &&
           !runs;
}

void mt_db_close_unused(struct mt_db *db)
{
    mt_db_rollback(db);
    if (has_no_run(db))
        unlink(db->path);
    mt_db_close(db);
}

/* A statement that has not come to its end keeps others from writing, and this connection from
 * waiting for them. */
static void end_statements(struct mt_db *db)
{
    for (int i = 0; i < MT_QUERY_N; i++)
        sqlite3_reset(db->cached[i].s);
}

enum mt_status mt_db_begin(struct mt_db *db, struct mt_err *err)
{
    end_statements(db);
    return mt_db_exec(db, "BEGIN IMMEDIATE", err);
}

enum mt_status mt_db_begin_alone(struct mt_db *db, struct mt_err *err)
{
    enum { BARRED = 500, LET_IN = 500 }; /* ms: no new reader begins; all who want do */
    const int in_all = db->wait_ms;
    end_statements(db);
    db->wait_ms = in_all < BARRED ? in_all : BARRED;
    int rc = sqlite3_exec(db->sql, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    for (int ms = BARRED; (rc & 0xff) == SQLITE_BUSY && ms < in_all; ms += BARRED + LET_IN) {
        sqlite3_sleep(LET_IN);
        rc = sqlite3_exec(db->sql, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    }
    db->wait_ms = in_all;
    return rc == SQLITE_OK ? MT_OK : mt_db_fail(db, "the database cannot be used", err);
}

enum mt_status mt_db_commit(struct mt_db *db, struct mt_err *err)
{
    end_statements(db);
    return mt_db_exec(db, "COMMIT", err);
}

void mt_db_readers_end(void)
{
    for (struct mt_db *db = readers; db; db = db->next_reader) {
        end_statements(db);
        sqlite3_exec(db->sql, "COMMIT", NULL, NULL, NULL); /* the second time there is none */
    }
}

void mt_db_readers_begin(void)
{
    for (struct mt_db *db = readers; db; db = db->next_reader)
        sqlite3_exec(db->sql, "BEGIN", NULL, NULL, NULL); /* one that was just opened has begun */
}

/* What is there of a run and where its rows are, as text; NULL: there is no such run. */
static enum mt_status pin_text(struct mt_db *db, int64_t run, char **out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = NULL;
    MT_TRY(mt_db_query(db, MT_Q_RUN_PIN, &s, err));
    mt_stmt_bind(s, "i", run);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row)
        *out = mt_strdup(mt_stmt_text(s, 0));
    mt_stmt_end(s);
    return MT_OK;
}

void mt_db_reads(struct mt_db *db, int64_t run)
{
    db->reads = run;
}

enum mt_status mt_db_readers_pause(struct mt_err *err)
{
    for (struct mt_db *db = readers; db; db = db->next_reader) {
        free(db->pin);
        db->pin = NULL;
        if (db->reads)
            MT_TRY(pin_text(db, db->reads, &db->pin, err));
    }
    mt_db_readers_end();
    return MT_OK;
}

enum mt_status mt_db_readers_resume(int64_t *lost, struct mt_err *err)
{
    *lost = 0;
    mt_db_readers_begin();
    for (struct mt_db *db = readers; db && !*lost; db = db->next_reader) {
        char *now = NULL;
        if (!db->pin)
            continue;
        MT_TRY(pin_text(db, db->reads, &now, err));
        *lost = now && strcmp(now, db->pin) == 0 ? 0 : db->reads;
        free(now);
    }
    return MT_OK;
}

void mt_db_keep(struct mt_db *db, void *kept, void (*free_kept)(void *kept))
{
    if (db->kept)
        db->free_kept(db->kept);
    db->kept = kept;
    db->free_kept = free_kept;
}

void *mt_db_kept(const struct mt_db *db)
{
    return db->kept;
}

enum mt_status mt_db_cache(struct mt_db *db, int kib, struct mt_err *err)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA cache_size=%d", -kib);
    return mt_db_exec(db, sql, err);
}

int64_t mt_db_changes(const struct mt_db *db)
{
    return sqlite3_total_changes(db->sql);
}

bool mt_db_is_same(const struct mt_db *a, const struct mt_db *b)
{
    const char *one = sqlite3_db_filename(a->sql, "main");
    const char *other = sqlite3_db_filename(b->sql, "main");
    return a == b || (one && other && *one && strcmp(one, other) == 0);
}

void mt_db_rollback(struct mt_db *db)
{
    end_statements(db);
    sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
}

bool mt_db_is_busy(const struct mt_db *db)
{
    return (sqlite3_errcode(db->sql) & 0xff) == SQLITE_BUSY;
}

enum mt_status mt_db_space(struct mt_db *db, int64_t *size_b, int64_t *free_b, struct mt_err *err)
{
    int64_t page_b;
    MT_TRY(mt_db_number(db, "PRAGMA page_size", &page_b, err));
    MT_TRY(mt_db_number(db, "PRAGMA page_count", size_b, err));
    MT_TRY(mt_db_number(db, "PRAGMA freelist_count", free_b, err));
    *size_b *= page_b;
    *free_b *= page_b;
    return MT_OK;
}

enum mt_status mt_db_shrink(struct mt_db *db, struct mt_err *err)
{
    /* The copy it makes would lie in memory as other temporary data does. */
    MT_TRY(mt_db_exec(db, "DROP TABLE temp.rows; PRAGMA temp_store=FILE; VACUUM", err));
    MT_TRY(mt_db_exec(db, "PRAGMA temp_store=MEMORY", err));
    return mt_db_exec(db, "CREATE VIRTUAL TABLE temp.rows USING memtool_rows", err);
}

bool mt_db_is_unwritable(const struct mt_db *db)
{
    int rc = sqlite3_errcode(db->sql);
    return rc == SQLITE_READONLY || rc == SQLITE_CANTOPEN;
}

void mt_db_interrupt(struct mt_db *db)
{
    sqlite3_interrupt(db->sql);
}

int64_t mt_db_last_id(const struct mt_db *db)
{
    return sqlite3_last_insert_rowid(db->sql);
}
