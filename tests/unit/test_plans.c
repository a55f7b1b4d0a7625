/* queries/: no statement that reads may walk through all ops or all blocks of the database: those
 * tables grow by millions of rows with every run, and ids keep the rows of a run together. */
#include "gen/queries.h"
#include "lib/base/mem.h"
#include "lib/db/db.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const large[] = {"op",      "alloc",       "sample",      "node",
                                    "node_op", "node_stat",   "usage_chunk", "live_keyframe",
                                    "holding", "max_lifetime"};

/* What may nevertheless begin at a table's end, and why. */
static const struct {
    const char *query, *table, *why;
} allowed[] = {
    {"next_ids", "op", "max(id) looks at the last row only"},
    {"next_ids", "alloc", "max(id) looks at the last row only"},
    {"next_ids", "node", "max(id) looks at the last row only"},
};

/* Views as their users ask of them. */
static const struct {
    const char *name, *sql;
} of_views[] = {
    {"v_op of a run", "SELECT * FROM v_op WHERE run = 'a'"},
    {"v_op of a run and name", "SELECT count(*) FROM v_op WHERE run = 'a' AND name = 'b'"},
    {"v_alloc of a run", "SELECT * FROM v_alloc WHERE run = 'a'"},
    {"v_node of a run", "SELECT * FROM v_node WHERE run = 'a'"},
    {"v_holding of a run", "SELECT * FROM v_holding WHERE run = 'a'"},
    {"v_holding of a run and name", "SELECT * FROM v_holding WHERE run = 'a' AND name = 'b'"},
    {"v_node_extra of a run", "SELECT * FROM v_node_extra WHERE run = 'a'"},
};

static struct mt_db *db;
static char path[64];
static int roots[MT_ARRAY_LEN(large)]; /* page where each large table begins */

static void prepare(const char *sql, struct mt_stmt **s)
{
    struct mt_err err = MT_ERR_INIT;
    if (mt_db_prepare(db, sql, s, &err) != MT_OK)
        fail_msg("%s: %s", sql, err.what);
}

static bool next(struct mt_stmt *s)
{
    struct mt_err err = MT_ERR_INIT;
    bool row;
    assert_int_equal(mt_stmt_step(s, &row, &err), MT_OK);
    return row;
}

static int open_db(void **state)
{
    (void)state;
    struct mt_err err = MT_ERR_INIT;
    struct mt_stmt *s;
    snprintf(path, sizeof path, "/tmp/memtool-plans-%d.db", (int)getpid());
    assert_int_equal(mt_db_open(path, MT_DB_WRITE, &db, NULL, &err), MT_OK);
    prepare("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'", &s);
    while (next(s))
        for (size_t i = 0; i < MT_ARRAY_LEN(large); i++)
            if (strcmp(mt_stmt_text(s, 0), large[i]) == 0)
                roots[i] = (int)mt_stmt_int(s, 1);
    mt_stmt_free(s);
    for (size_t i = 0; i < MT_ARRAY_LEN(large); i++)
        assert_true(roots[i] > 0);
    return 0;
}

static int close_db(void **state)
{
    (void)state;
    mt_db_close(db);
    return unlink(path);
}

/* The large table that the program of a statement goes through from its first or last row, or
 * NULL. `EXPLAIN` lists SQLite's instructions: address, name, p1, p2 ...: OpenRead opens the table
 * of root page p2 as cursor p1; Rewind and Last put cursor p1 to the beginning and the end. */
static const char *scanned(const char *sql)
{
    const char *found = NULL;
    int table_of[64];
    struct mt_stmt *s;
    char *explain = mt_asprintf("EXPLAIN %s", sql);
    prepare(explain, &s);
    memset(table_of, 0xff, sizeof table_of);
    /* First where cursors belong to: the opening instructions may stand behind their uses. */
    for (int pass = 0; pass < 2; pass++)
        while (next(s)) {
            const char *op = mt_stmt_text(s, 1);
            int64_t cursor = mt_stmt_int(s, 2), root = mt_stmt_int(s, 3);
            if (cursor < 0 || cursor >= (int64_t)MT_ARRAY_LEN(table_of))
                continue;
            if (pass == 0 && strcmp(op, "OpenRead") == 0)
                for (size_t i = 0; i < MT_ARRAY_LEN(large); i++)
                    if (roots[i] == root)
                        table_of[cursor] = (int)i;
            bool whole = strcmp(op, "Rewind") == 0 || strcmp(op, "Last") == 0;
            if (pass == 1 && whole && table_of[cursor] >= 0 && !found)
                found = large[table_of[cursor]];
        }
    mt_stmt_free(s);
    free(explain);
    return found;
}

static bool may_scan(const char *query, const char *table)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(allowed); i++)
        if (strcmp(allowed[i].query, query) == 0 && strcmp(allowed[i].table, table) == 0)
            return true;
    return false;
}

static bool reads(const char *sql)
{
    while (strncmp(sql, "--", 2) == 0)
        sql = strchr(sql, '\n') + 1;
    return strncmp(sql, "SELECT", 6) == 0 || strncmp(sql, "WITH", 4) == 0;
}

static void named_statements(void **state)
{
    (void)state;
    int seen = 0;
    for (int q = 0; q < MT_QUERY_N; q++) {
        if (!reads(mt_queries[q].sql))
            continue;
        const char *table = scanned(mt_queries[q].sql);
        seen++;
        if (table && !may_scan(mt_queries[q].name, table))
            fail_msg("%s reads all of %s", mt_queries[q].name, table);
    }
    assert_in_range(seen, 15, MT_QUERY_N);
}

/* Whether a statement looks through all of a run for each of its rows. `EXPLAIN QUERY PLAN` lists
 * what it does: id, the id of what that is a part of, and in the last column words. */
static bool walks_for_each_row(const char *sql)
{
    bool correlated[1024] = {false}, found = false;
    struct mt_stmt *s;
    char *explain = mt_asprintf("EXPLAIN QUERY PLAN %s", sql);
    prepare(explain, &s);
    while (next(s)) {
        const char *words = mt_stmt_text(s, 3);
        int64_t id = mt_stmt_int(s, 0), parent = mt_stmt_int(s, 1);
        assert_in_range(id, 0, MT_ARRAY_LEN(correlated) - 1);
        correlated[id] = correlated[parent] || strstr(words, "CORRELATED");
        found |= correlated[id] && strstr(words, "(run_id=?)");
    }
    mt_stmt_free(s);
    free(explain);
    return found;
}

/* Those whose rows are runs. */
static bool is_of_runs(const char *query)
{
    static const char *const of_runs[] = {"runs", "traces_beside", "processes_beside"};
    for (size_t i = 0; i < MT_ARRAY_LEN(of_runs); i++)
        if (strcmp(of_runs[i], query) == 0)
            return true;
    return false;
}

static void rows_of_statements(void **state)
{
    (void)state;
    for (int q = 0; q < MT_QUERY_N; q++)
        if (reads(mt_queries[q].sql) && !is_of_runs(mt_queries[q].name) &&
            walks_for_each_row(mt_queries[q].sql))
            fail_msg("%s reads all of a run for each row", mt_queries[q].name);
}

static void views(void **state)
{
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(of_views); i++) {
        const char *table = scanned(of_views[i].sql);
        if (table)
            fail_msg("%s reads all of %s", of_views[i].name, table);
    }
}

/* There may be many devices, and few that a call path did something on. */
static void devices_of_call_paths(void **state)
{
    (void)state;
    struct mt_stmt *s;
    int seen = 0;
    prepare("EXPLAIN QUERY PLAN SELECT * FROM v_node WHERE run = 'a'", &s);
    for (; next(s); seen++)
        if (strstr(mt_stmt_text(s, 3), "device_run"))
            fail_msg("v_node looks through all devices of the run for each call path");
    mt_stmt_free(s);
    assert_in_range(seen, 5, 100);
}

/* Whether a statement looks through a table or list for each row of another, which takes the square
 * of their number: what it reads at its top level is the first, found by a key or, as a list is,
 * read once for the row that has it. */
static bool takes_the_square(const char *sql)
{
    int lists = 0, scans = 0;
    struct mt_stmt *s;
    char *explain = mt_asprintf("EXPLAIN QUERY PLAN %s", sql);
    prepare(explain, &s);
    while (next(s)) {
        const char *words = mt_stmt_text(s, 3);
        bool list = strstr(words, "VIRTUAL TABLE");
        lists += list;
        scans += !list && mt_stmt_int(s, 1) == 0 && strncmp(words, "SCAN ", 5) == 0;
    }
    mt_stmt_free(s);
    free(explain);
    return lists > 1 || scans > 1 || walks_for_each_row(sql);
}

/* Views of all runs and, as far as they have runs, of one. */
static void views_for_each_row(void **state)
{
    (void)state;
    int seen = 0;
    struct mt_stmt *s;
    prepare("SELECT name, sql LIKE '% AS run,%' OR sql LIKE '%c.run,%' FROM sqlite_master "
            "WHERE type = 'view'",
            &s);
    for (; next(s); seen++)
        for (int of_run = 0; of_run <= mt_stmt_int(s, 1); of_run++) {
            char *sql = mt_asprintf("SELECT * FROM %s%s", mt_stmt_text(s, 0),
                                    of_run ? " WHERE run = 'a'" : "");
            if (takes_the_square(sql))
                fail_msg("%s looks through all for each row", sql);
            free(sql);
        }
    mt_stmt_free(s);
    assert_in_range(seen, 10, 100);
}

/* The test itself must see a scan when there is one. */
static void scans_are_seen(void **state)
{
    (void)state;
    assert_string_equal(scanned("SELECT sum(dur_ns) FROM op"), "op");
    assert_string_equal(scanned("SELECT x.bytes_b FROM run r JOIN alloc x ON x.bytes_b = r.id"),
                        "alloc");
    assert_null(scanned("SELECT sum(dur_ns) FROM op WHERE id >= 3 AND id < 9"));
    assert_true(takes_the_square("SELECT (SELECT number FROM step s WHERE s.run_id = r.id AND "
                                 "s.end_ns > r.dur_ns) FROM run r"));
    assert_true(takes_the_square("SELECT b.value FROM holding h JOIN json_each(changes) a JOIN "
                                 "json_each(changes, '$[' || a.key || ']') b"));
    assert_true(takes_the_square("SELECT 1 FROM run r LEFT JOIN frame f ON f.kind > r.kind"));
    assert_false(takes_the_square("SELECT 1 FROM run r JOIN frame f ON f.id = r.kind"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_are_seen),        cmocka_unit_test(named_statements),
        cmocka_unit_test(rows_of_statements),    cmocka_unit_test(views),
        cmocka_unit_test(devices_of_call_paths), cmocka_unit_test(views_for_each_row),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}
