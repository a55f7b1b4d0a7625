/* Databases of older versions, upgraded in place (lib/db/db_upgrade.h). */
#include "lib/db/db_upgrade.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), MT_OK)
#define NOW      MT_SCHEMA_VERSION

/* What two versions from now could look like. */
static const struct mt_db_step coming[] = {
    {NOW, "ALTER TABLE device ADD COLUMN added_b INTEGER; UPDATE device SET added_b = alloc_b + 1"},
    {NOW + 1, "CREATE TABLE later (id INTEGER PRIMARY KEY, device_id INTEGER NOT NULL, b INTEGER); "
              "INSERT INTO later SELECT NULL, id, added_b FROM device"},
    {0, NULL},
};
/* The second one fails half-way. */
static const struct mt_db_step failing[] = {
    {NOW, "ALTER TABLE device ADD COLUMN added_b INTEGER"},
    {NOW + 1, "CREATE TABLE later (id); INSERT INTO nowhere VALUES (1)"},
    {0, NULL},
};
/* From a version that this database does not have. */
static const struct mt_db_step others[] = {{NOW - 1, "DROP TABLE run"}, {0, NULL}};

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int64_t number(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

static void small_program(struct program *p)
{
    program_start(p);
    for (int i = 0; i < 3; i++)
        program_free(p, program_alloc(p, "work", 50));
    program_finish(p);
    mt_db_readers_end();
}

static enum mt_status upgrade(struct program *p, const struct mt_db_step *steps)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_db *db;
    OK(mt_db_open(p->path, MT_DB_WRITE, &db, NULL, &err));
    enum mt_status st = mt_db_upgrade(db, steps, &err);
    mt_db_close(db);
    return st;
}

static void takes_all_steps(void **state)
{
    (void)state;
    struct program p;
    small_program(&p);
    change(p.path, "DROP VIEW v_device; CREATE VIEW v_device AS SELECT 1 AS older; "
                   "CREATE VIEW mine AS SELECT name FROM run");
    /* a view that is not ours would be refused; an older version's is */
    change(p.path, "DROP VIEW v_device");
    OK(upgrade(&p, coming));
    assert_int_equal(number(p.path, "PRAGMA user_version"), NOW + 2);
    assert_int_equal(number(p.path, "SELECT b - 1 FROM later"), 150);
    assert_int_equal(number(p.path, "SELECT alloc_b FROM v_device"), 150);
    assert_int_equal(number(p.path, "SELECT count(*) FROM mine"), 1);
    program_end(&p);
}

static void fails_as_a_whole(void **state)
{
    (void)state;
    struct program p;
    small_program(&p);
    assert_int_equal(upgrade(&p, failing), MT_EDB);
    assert_int_equal(number(p.path, "PRAGMA user_version"), NOW);
    assert_int_equal(
        number(p.path, "SELECT count(*) FROM pragma_table_info('device') WHERE name = 'added_b'"),
        0);
    assert_int_equal(number(p.path, "SELECT alloc_b FROM v_device"), 150);
    program_end(&p);
}

static void leaves_others_alone(void **state)
{
    (void)state;
    struct program p;
    small_program(&p);
    OK(upgrade(&p, others));
    assert_int_equal(number(p.path, "SELECT count(*) FROM run"), 1);
    program_end(&p);
}

/* One step from each version that is upgraded in place, and none besides. */
static void has_a_step_from_each(void **state)
{
    (void)state;
    int from = MT_SCHEMA_OLDEST;
    for (const struct mt_db_step *s = mt_db_steps; s->sql; s++)
        assert_int_equal(s->from, from++);
    assert_int_equal(from, MT_SCHEMA_VERSION);
}

/* ---- released schemas ---- */

/* Tables with their columns in order, and indexes. */
static char *tables_of(const char *path)
{
    static const char all[] =
        "SELECT group_concat(x, char(10)) FROM (SELECT m.name || ': ' || (SELECT group_concat("
        "name || ' ' || type || iif(\"notnull\", ' NOT NULL', '') || iif(pk, ' key ' || pk, ''), "
        "', ') "
        "FROM pragma_table_info(m.name)) AS x FROM sqlite_master m WHERE type = 'table' "
        "UNION ALL SELECT name || ' ' || sql FROM sqlite_master WHERE type = 'index' AND sql <> '' "
        "ORDER BY 1)";
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, all, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    char *text = mt_strdup((const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
    return text;
}

static char *file_of(int version)
{
    char *path = mt_asprintf("tests/schema/%d.sql", version);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing: a copy of queries/schema.sql of that version", path);
    struct mt_buf text = {0};
    for (int c; (c = getc(f)) != EOF;)
        mt_buf_addc(&text, (char)c);
    fclose(f);
    free(path);
    return text.s;
}

/* From each released version on, opening leads to the tables of this one. */
static void leads_to_this_schema(void **state)
{
    (void)state;
    struct program p;
    small_program(&p);
    char *want = tables_of(p.path);
    for (int version = MT_SCHEMA_OLDEST; version <= MT_SCHEMA_VERSION; version++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_db *db;
        char path[] = "/tmp/memtool-schema-XXXXXX", *schema = file_of(version);
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        char *sql = mt_asprintf("%s; PRAGMA user_version=%d; PRAGMA application_id=%d", schema,
                                version, 0x6d656d74);
        change(path, sql);
        OK(mt_db_open(path, MT_DB_READ, &db, NULL, &err));
        mt_db_close(db);
        char *got = tables_of(path);
        assert_string_equal(got, want);
        unlink(path);
        free(got);
        free(sql);
        free(schema);
    }
    free(want);
    program_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_all_steps),      cmocka_unit_test(fails_as_a_whole),
        cmocka_unit_test(leaves_others_alone),  cmocka_unit_test(has_a_step_from_each),
        cmocka_unit_test(leads_to_this_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
