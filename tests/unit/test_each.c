/* lib/db/db_rows.c: rows that are read without a step for each. */
#include "lib/db/db.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 3 };

static const struct row {
    const char *name, *sql;
    int n, cells;
    int64_t want[ROWS][3];
} rows[] = {
    {"numbers in their order",
     "SELECT memtool_each(a, b) FROM (SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4)",
     2,
     2,
     {{1, 2}, {3, 4}}},
    {"NULL is 0", "SELECT memtool_each(a, NULL, -1) FROM (SELECT 5 AS a)", 1, 3, {{5, 0, -1}}},
    {"no row", "SELECT memtool_each(a) FROM (SELECT 5 AS a) WHERE a > 5", 0, 1, {{0}}},
    {"texts of digits, and others",
     "SELECT memtool_each(a) FROM (SELECT '7' AS a UNION ALL SELECT 'x')",
     2,
     1,
     {{7}, {0}}},
};

struct taken {
    const struct row *row;
    int n;
};

static void take(void *closure, const int64_t *cells)
{
    struct taken *t = closure;
    assert_true(t->n < t->row->n);
    assert_memory_equal(cells, t->row->want[t->n++], (size_t)t->row->cells * sizeof *cells);
}

static struct mt_db *db;

static void each(void **state)
{
    struct taken t = {*state, 0};
    struct mt_err err = MT_ERR_INIT;
    struct mt_stmt *s;
    bool row;
    assert_int_equal(mt_db_prepare(db, t.row->sql, &s, &err), MT_OK);
    assert_int_equal(mt_stmt_each(s, take, &t, &err), MT_OK);
    assert_int_equal(t.n, t.row->n);
    mt_stmt_free(s);
    /* a user may ask for it, too: nobody takes the rows */
    assert_int_equal(mt_db_prepare(db, t.row->sql, &s, &err), MT_OK);
    assert_int_equal(mt_stmt_step(s, &row, &err), MT_OK);
    assert_true(row);
    assert_int_equal(mt_stmt_kind(s, 0), MT_VALUE_NULL);
    mt_stmt_free(s);
}

/* Of nested reading: rows of the statement around, and inside. */
struct nested {
    struct mt_stmt *inside;
    int around_n, inside_n;
};

static void count(void *closure, const int64_t *cells)
{
    (void)cells;
    ++*(int *)closure;
}

static void read_inside(void *closure, const int64_t *cells)
{
    struct nested *n = closure;
    struct mt_err err = MT_ERR_INIT;
    assert_int_equal(cells[0], ++n->around_n);
    if (n->around_n == 2)
        assert_int_equal(mt_stmt_each(n->inside, count, &n->inside_n, &err), MT_OK);
}

static void inside_another(void **state)
{
    (void)state;
    struct nested n = {0};
    struct mt_err err = MT_ERR_INIT;
    struct mt_stmt *around;
    const char *three = "SELECT memtool_each(column1) FROM (VALUES (1), (2), (3))";
    assert_int_equal(mt_db_prepare(db, three, &around, &err), MT_OK);
    assert_int_equal(mt_db_prepare(db, three, &n.inside, &err), MT_OK);
    assert_int_equal(mt_stmt_each(around, read_inside, &n, &err), MT_OK);
    assert_int_equal(n.inside_n, 3);
    assert_int_equal(n.around_n, 3);
    mt_stmt_free(around);
    mt_stmt_free(n.inside);
}

int main(void)
{
    const struct CMUnitTest others[] = {cmocka_unit_test(inside_another)};
    static struct row_tests tests;
    struct mt_err err = MT_ERR_INIT;
    char path[64];
    snprintf(path, sizeof path, "/tmp/memtool-each-%d.db", (int)getpid());
    assert_int_equal(mt_db_open(path, MT_DB_WRITE, &db, NULL, &err), MT_OK);
    ROWS_ADD(&tests, each, rows);
    int failed = ROWS_RUN(&tests, "each");
    failed += cmocka_run_group_tests(others, NULL, NULL);
    mt_db_close(db);
    unlink(path);
    return failed;
}
