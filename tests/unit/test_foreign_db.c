/* Databases with a schema, triggers and a length of somebody else's making. */
#include "lib/store/store.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), MT_OK)
#define FOREVER  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
/* Without the other views noticing. */
#define RENAME "PRAGMA legacy_alter_table=1; ALTER TABLE "

struct foreign {
    const char *name, *sql;
    enum mt_status want; /* of opening it */
};

static const struct foreign foreign[] = {
    {"sound", "SELECT 1", MT_OK},
    {"views and tables beside ours",
     "CREATE VIEW mine AS SELECT name FROM run; CREATE TABLE run_mine(x)", MT_OK},
    {"a view in place of a table", RENAME "run RENAME TO r; CREATE VIEW run AS SELECT * FROM r",
     MT_EDB},
    {"one without an end", "DROP TABLE note; CREATE VIEW note AS " FOREVER, MT_EDB},
    {"in other letters", "DROP TABLE note; CREATE VIEW \"NoTe\" AS " FOREVER, MT_EDB},
    {"a view of another text", "DROP VIEW v_frame; CREATE VIEW v_frame AS " FOREVER, MT_EDB},
    {"its letters too", "DROP VIEW v_frame; CREATE VIEW V_FRAME AS " FOREVER, MT_EDB},
    {"a table that a module makes up",
     "PRAGMA writable_schema=1; UPDATE sqlite_master SET rootpage = 0, sql = 'CREATE VIRTUAL TABLE "
     "note USING fts5(text)' WHERE name = 'note'",
     MT_EDB},
    {"a trigger of new runs",
     "CREATE TRIGGER t AFTER INSERT ON run BEGIN UPDATE run SET name = 'owned' WHERE id = 1; END",
     MT_OK},
    {"a trigger that refuses",
     "CREATE TRIGGER t BEFORE INSERT ON run BEGIN SELECT raise(ABORT, 'no'); END", MT_OK},
    {"a trigger of deleted runs", "CREATE TRIGGER t AFTER DELETE ON run BEGIN DELETE FROM run; END",
     MT_OK},
};

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void small_program(struct program *p, int blocks)
{
    program_start(p);
    for (int i = 0; i < blocks; i++)
        program_free(p, program_alloc(p, "work", 50));
    program_finish(p);
}

/* The first run keeps its name while a second one comes and goes. */
static void use(struct program *p, struct mt_db *db)
{
    const struct mt_store_opts second = {.name = "second", .source = "test", .hash = "other"};
    struct mt_err err = MT_ERR_INIT;
    struct mt_store_result stored;
    struct mt_run run;
    OK(mt_store(db, &p->rec, &second, &stored, &err));
    OK(mt_run_find(db, "program", &run, &err));
    OK(mt_db_begin(db, &err));
    OK(mt_store_delete(db, stored.run_id, &err));
    OK(mt_db_commit(db, &err));
    OK(mt_run_find(db, "program", &run, &err));
}

static void open_foreign(void **state)
{
    const struct foreign *f = *state;
    struct program p;
    static const enum mt_db_mode modes[] = {MT_DB_READ, MT_DB_WRITE};
    small_program(&p, 3);
    change(p.path, f->sql);
    for (size_t i = 0; i < MT_ARRAY_LEN(modes); i++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_db *db = NULL;
        assert_int_equal(mt_db_open(p.path, modes[i], &db, NULL, &err), f->want);
        if (f->want != MT_OK)
            assert_non_null(strstr(err.what, "was not created by memtool"));
        else if (modes[i] == MT_DB_WRITE)
            use(&p, db);
        mt_db_close(db);
    }
    program_end(&p);
}

/* A copy over it, or a network file system, may take the end of a database away from a reader. */
static void truncated_while_read(void **state)
{
    (void)state;
    struct mt_err err = MT_ERR_INIT;
    struct program p;
    struct mt_db *db;
    struct mt_stmt *s;
    bool row = true;
    small_program(&p, 50000);
    OK(mt_db_open(p.path, MT_DB_READ, &db, NULL, &err));
    OK(mt_db_prepare(db, "SELECT * FROM alloc", &s, &err));
    for (int i = 0; i < 10; i++)
        OK(mt_stmt_step(s, &row, &err));
    assert_int_equal(truncate(p.path, 5 * 8192), 0);
    enum mt_status st = MT_OK;
    while (row && st == MT_OK)
        st = mt_stmt_step(s, &row, &err);
    assert_int_equal(st, MT_EDB);
    mt_stmt_free(s);
    mt_db_close(db);
    program_end(&p);
}

/* SQLite would take it for an empty database. */
static void a_byte_of_another(void **state)
{
    (void)state;
    static const char path[] = "byte.txt";
    struct mt_err err = MT_ERR_INIT;
    struct mt_db *db;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputc('x', f);
    fclose(f);
    assert_int_equal(mt_db_open(path, MT_DB_WRITE, &db, NULL, &err), MT_EDB);
    assert_string_equal(err.what, "this file is not a database");
    f = fopen(path, "r");
    assert_int_equal(fgetc(f), 'x');
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    unlink(path);
}

int main(void)
{
    static const struct {
        const char *name;
    } once[] = {{"truncated while it is read"}}, byte[] = {{"a file of one byte"}};
    static struct row_tests tests;
    ROWS_ADD(&tests, open_foreign, foreign);
    ROWS_ADD(&tests, truncated_while_read, once);
    ROWS_ADD(&tests, a_byte_of_another, byte);
    return ROWS_RUN(&tests, "foreign databases");
}
