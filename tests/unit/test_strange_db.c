/* Databases of strangers: whatever ids, counts and texts they hold, reports stay within their
 * arrays and come to an end. The sanitizers are the judges; the answers may be nonsense. */
#include "lib/diff.h"
#include "lib/rises.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"
#include <sqlite3.h>
#include <string.h>

#define OK(call) assert_int_equal((call), MT_OK)
#define MOST     "9223372036854775807"
#define LOWEST   "(-9223372036854775807 - 1)"

struct strange {
    const char *name, *sql;
    enum mt_status want; /* of finding the run */
};

static const struct strange strange[] = {
    {"sound", "SELECT 1", MT_OK},
    {"more records than can be", "UPDATE run SET record_n = " MOST, MT_EDB},
    {"records whose room wraps around", "UPDATE run SET record_n = 1 << 60", MT_EDB},
    {"fewer records than none", "UPDATE run SET record_n = -5", MT_EDB},
    {"ops whose room wraps around", "UPDATE run SET op_n = 1 << 62", MT_EDB},
    {"blocks before the first", "UPDATE run SET alloc_first = " LOWEST, MT_EDB},
    {"fewer records than there are", "UPDATE run SET record_n = 2", MT_OK},
    {"fewer ops than there are", "UPDATE run SET op_n = 1", MT_OK},
    {"nodes that are not there", "DELETE FROM node", MT_OK},
    {"a phase below all", "UPDATE node SET phase = -3", MT_OK},
    {"a phase beyond all", "UPDATE node SET phase = " MOST, MT_OK},
    {"a node that is its own parent", "UPDATE node SET parent_id = id", MT_OK},
    {"nodes in a circle", "UPDATE node SET parent_id = (SELECT max(id) FROM node)", MT_OK},
    {"a parent far away", "UPDATE node SET parent_id = " LOWEST, MT_OK},
    {"names that are NULL", "UPDATE string SET text = NULL", MT_OK},
    {"names that are bytes", "UPDATE string SET text = id || x'00ff1b5b'", MT_OK},
    {"a thread without a name", "UPDATE thread SET tid = NULL", MT_OK},
    {"a thread with all ops twice", "UPDATE thread SET op_first = 0, op_n = " MOST, MT_OK},
    {"a device without a name", "UPDATE device SET name = NULL", MT_OK},
    {"an op that is its own parent", "UPDATE op SET parent_id = id", MT_OK},
    {"ops in a circle", "UPDATE op SET parent_id = (SELECT max(id) FROM op)", MT_OK},
    {"ops of nodes far away", "UPDATE op SET node_id = " LOWEST, MT_OK},
    {"shapes that are not there", "UPDATE op SET shape_id = 12345", MT_OK},
    {"forward ops far away", "UPDATE op SET forward_id = " LOWEST, MT_OK},
    {"blocks born in ops far away", "UPDATE alloc SET born_op_id = " LOWEST, MT_OK},
    {"blocks born on threads far away", "UPDATE alloc SET born_thread_id = " LOWEST, MT_OK},
    {"records far away", "UPDATE alloc SET born_record = " MOST ", freed_record = -7", MT_OK},
    {"all in one record", "UPDATE alloc SET born_record = 0, freed_record = 0", MT_OK},
    {"blocks freed before they are born", "UPDATE alloc SET freed_ns = -1, freed_record = 0",
     MT_OK},
    {"text for numbers", "UPDATE alloc SET bytes_b = 'x', born_ns = 'y', freed_ns = 'z'", MT_OK},
    {"steps that end before they begin", "UPDATE step SET end_ns = start_ns - 10", MT_OK},
    {"steps of no known number", "UPDATE step SET number = 'x'", MT_OK},
};

/* Leaves out NOT NULL, as a database with a schema of its own may, and does the damage. That
 * another connection can write shows that opening a run leaves no query under way. */
static void damage(const char *path, const char *sql)
{
    static const char lax[] = "PRAGMA writable_schema=1;"
                              "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')"
                              "  WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%';";
    const char *const batches[] = {lax, sql};
    for (size_t i = 0; i < MT_ARRAY_LEN(batches); i++) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, batches[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
    }
}

static void read_all(struct mt_db *db, const struct mt_run *run, const struct mt_run_device *device)
{
    static const enum mt_group_key keys[] = {MT_BY_SITE,   MT_BY_PHASE, MT_BY_PATH,   MT_BY_SHAPE,
                                             MT_BY_THREAD, MT_BY_STEP,  MT_BY_FORWARD};
    struct mt_err err = MT_ERR_INIT;
    struct mt_diff d = {.key_n = MT_ARRAY_LEN(keys)};
    struct mt_levels levels;
    struct mt_rise *rises;
    memcpy(d.keys, keys, sizeof keys);
    for (int s = 0; s < 2; s++) {
        d.side[s].db = db;
        d.side[s].run = *run;
        d.side[s].device = *device;
        OK(mt_diff_load(&d, s, MT_DIFF_OPS | MT_DIFF_LIVES, 1, &err));
    }
    mt_diff_compare(&d);
    OK(mt_levels_load(db, run, device, &levels, &err));
    OK(mt_rises_load(db, run, device, &d.side[0].lives->tree, &rises, &err));
    assert_true(mt_levels_peak(&levels, -1, (int64_t)levels.all.n - 1) < run->record_n);
    free(rises);
    mt_levels_free(&levels);
    mt_diff_free(&d);
}

static void read_strange(void **state)
{
    const struct strange *strange_db = *state;
    struct mt_err err = MT_ERR_INIT;
    struct program p;
    struct mt_db *db;
    struct mt_run run;
    struct mt_run_device device;
    bool none;
    int others;
    program_start(&p);
    for (int step = 0; step < 4; step++) {
        program_step(&p);
        program_op(&p, "outer", 100);
        program_alloc(&p, "kept", 100);
        program_free(&p, program_alloc(&p, "work", 50));
    }
    program_finish(&p);
    damage(p.path, strange_db->sql);
    OK(mt_db_open(p.path, MT_DB_READ, &db, NULL, &err));
    assert_int_equal(mt_run_find(db, "@latest", &run, &err), strange_db->want);
    if (strange_db->want == MT_OK) {
        OK(mt_run_device(db, &run, NULL, &device, &none, &others, &err));
        assert_false(none);
        read_all(db, &run, &device);
    }
    mt_db_close(db);
    program_end(&p);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, read_strange, strange);
    return ROWS_RUN(&tests, "strange databases");
}
