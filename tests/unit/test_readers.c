/* Reading that is interrupted so that others can write (lib/db/db.h). */
#include "tests/unit/stored.h"
#include <sqlite3.h>

#define OK(call) assert_int_equal((call), MT_OK)

struct row {
    const char *name, *sql; /* what somebody does meanwhile */
    bool reads, lost;
};

static const struct row rows[] = {
    {"nothing happens", "SELECT 1", true, false},
    {"the run is deleted", "DELETE FROM run", true, true},
    {"it is another recording", "UPDATE run SET content_hash = 'x'", true, true},
    {"it was imported again", "UPDATE run SET imported_by = 99", true, true},
    {"its rows are others", "UPDATE device SET id = id + 7", true, true},
    {"it is renamed", "UPDATE run SET name = 'other'", true, false},
    {"nobody said that it is read", "DELETE FROM run", false, false},
};

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void what_was_read_is_the_same(void **state)
{
    const struct row *row = *state;
    struct mt_err err = MT_ERR_INIT;
    struct stored s;
    struct mt_db *reader;
    int64_t lost = -1;
    stored_open(&s, "1 op 10 20 aten::add\n1 mem 15 100 1 cpu\n");
    OK(mt_db_open(s.path, MT_DB_READ, &reader, NULL, &err));
    if (row->reads)
        mt_db_reads(reader, s.run.id);
    OK(mt_db_readers_pause(&err));
    change(s.path, row->sql);
    OK(mt_db_readers_resume(&lost, &err));
    assert_int_equal(lost, row->lost ? s.run.id : 0);
    mt_db_close(reader);
    stored_close(&s);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, what_was_read_is_the_same, rows);
    return ROWS_RUN(&tests, "readers");
}
