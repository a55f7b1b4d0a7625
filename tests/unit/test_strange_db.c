/* Databases of strangers: whatever ids, counts and texts they hold, reports stay within their
 * arrays and come to an end. The sanitizers are the judges; the answers may be nonsense. */
#include "lib/advice/advice.h"
#include "lib/advice/batch.h"
#include "lib/analysis/diff.h"
#include "lib/analysis/leaks.h"
#include "lib/usage/bands.h"
#include "lib/usage/op_peak.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"
#include <sqlite3.h>
#include <string.h>

#define OK(call) assert_int_equal((call), MT_OK)
#define MOST     "9223372036854775807"
#define LOWEST   "(-9223372036854775807 - 1)"
/* A keyframe of every device. */
#define MARK(record, next, blocks)                                                                 \
    "INSERT INTO live_keyframe SELECT id, " record ", " next ", " blocks " FROM device"

struct strange {
    const char *name, *sql;
    enum mt_status want; /* of finding the run */
};

/* Temporary blocks of nodes from one on. */
#define FURTHER(node, figures)                                                                     \
    "UPDATE device SET knows = knows | 65536; "                                                    \
    "INSERT OR IGNORE INTO string(text) VALUES ('temporary_n'); "                                  \
    "INSERT INTO node_extra SELECT d.id, s.id, " node ", '" figures "' FROM device d "             \
    "JOIN string s ON s.text = 'temporary_n'"

static const struct strange strange[] = {
    {"sound", "SELECT 1", MT_OK},
    {"more records than can be", "UPDATE run SET record_n = " MOST, MT_EDB},
    {"records whose room wraps around", "UPDATE run SET record_n = 1 << 60", MT_EDB},
    {"fewer records than none", "UPDATE run SET record_n = -5", MT_EDB},
    {"ops whose room wraps around", "UPDATE run SET op_n = 1 << 62", MT_EDB},
    {"blocks before the first", "UPDATE run SET alloc_first = " LOWEST, MT_EDB},
    {"fewer records than there are", "UPDATE run SET record_n = 2", MT_OK},
    {"more records than blocks name", "UPDATE run SET record_n = 30000000", MT_OK},
    {"fewer ops than there are", "UPDATE run SET op_n = 1", MT_OK},
    {"nodes that are not there", "DELETE FROM node", MT_OK},
    {"a phase below all", "UPDATE node_op SET phase = -3", MT_OK},
    {"a phase beyond all", "UPDATE node_op SET phase = " MOST, MT_OK},
    {"a node that is its own parent", "UPDATE node SET parent_id = id", MT_OK},
    {"frames far away", "UPDATE node SET frame_id = " MOST, MT_OK},
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
    {"tensors that are not there", "UPDATE alloc SET tensor_id = 12345", MT_OK},
    {"forward ops far away", "UPDATE op SET forward_id = " LOWEST, MT_OK},
    {"blocks allocated in ops far away", "UPDATE alloc SET alloc_op_id = " LOWEST, MT_OK},
    {"blocks allocated on threads far away", "UPDATE alloc SET alloc_thread_id = " LOWEST, MT_OK},
    {"sizes below all", "UPDATE alloc SET bytes_b = " LOWEST " WHERE id % 3 = 0", MT_OK},
    {"records far away", "UPDATE alloc SET alloc_record = " MOST ", freed_record = -7", MT_OK},
    {"all in one record", "UPDATE alloc SET alloc_record = 0, freed_record = 0", MT_OK},
    {"blocks freed before they are allocated", "UPDATE alloc SET freed_ns = -1, freed_record = 0",
     MT_OK},
    {"text for numbers", "UPDATE alloc SET bytes_b = 'x', alloc_ns = 'y', freed_ns = 'z'", MT_OK},
    {"steps that end before they begin", "UPDATE step SET end_ns = start_ns - 10", MT_OK},
    {"steps of no known number", "UPDATE step SET number = 'x'", MT_OK},
    {"no chunks", "DELETE FROM usage_chunk", MT_OK},
    {"chunks without changes", "UPDATE usage_chunk SET changes = x''", MT_OK},
    {"chunks of NULL",
     "UPDATE usage_chunk SET start_b = NULL, first_record = NULL, first_ns = NULL, min_ns = NULL, "
     "min_b = NULL, max_record = NULL, last_ns = NULL, last_record = NULL, changes = NULL",
     MT_OK},
    {"changes that are a number", "UPDATE usage_chunk SET changes = 123456789", MT_OK},
    {"changes that are text", "UPDATE usage_chunk SET changes = 'changes of another kind'", MT_OK},
    {"changes cut short", "UPDATE usage_chunk SET changes = substr(changes, 1, 7)", MT_OK},
    {"changes that do not end", "UPDATE usage_chunk SET changes = zeroblob(3000) || x'80'", MT_OK},
    {"changes of records far away",
     "UPDATE usage_chunk SET changes = x'050102ffffffffffffffffff010102'", MT_OK},
    {"changes back in time",
     "UPDATE usage_chunk SET changes = x'010102' || x'01ffffffffffffffffff0102'", MT_OK},
    {"chunks that begin far away",
     "UPDATE usage_chunk SET first_record = " MOST ", first_ns = " LOWEST ", start_b = 1 << 60",
     MT_OK},
    {"extremes in records far away",
     "UPDATE usage_chunk SET min_record = " LOWEST ", max_record = " MOST ", last_record = -7",
     MT_OK},
    {"extremes that are none",
     "UPDATE usage_chunk SET min_b = 1 << 60, max_b = -1 << 60, last_b = 'x', last_ns = " LOWEST,
     MT_OK},
    {"chunks twice",
     "INSERT INTO usage_chunk SELECT id + 100, device_id, start_b, first_record, first_ns, min_ns, "
     "min_b, min_record, max_ns, max_b, max_record, last_ns, last_b, last_record, changes "
     "FROM usage_chunk",
     MT_OK},
    {"a keyframe of no block", "INSERT INTO live_keyframe SELECT id, 3, 2, x'' FROM device", MT_OK},
    {"keyframes of all blocks", MARK("-1", "0", "x'0101010101010101'"), MT_OK},
    {"a keyframe of blocks not yet allocated", MARK("0", "1", "x'0101010101010101'"), MT_OK},
    {"a keyframe of blocks far away", MARK("2", "1", "x'ffffffff0fffffffff0f01'"), MT_OK},
    {"a keyframe of a block twice", MARK("2", "1", "x'010000'"), MT_OK},
    {"a keyframe whose last number does not end", MARK("2", "1", "x'01ff'"), MT_OK},
    {"a keyframe of bytes that are no list", MARK("2", "1", "x'ffffffffffffffffffffffffff7f01'"),
     MT_OK},
    {"a keyframe that is text", MARK("2", "1", "'blocks'"), MT_OK},
    {"a keyframe that is a number", MARK("2", "1", "77"), MT_OK},
    {"keyframes before all records", MARK(LOWEST, LOWEST, "x'01'"), MT_OK},
    {"keyframes behind all records", MARK(MOST, MOST, "x'01'"), MT_OK},
    {"a next block behind the last", MARK("2", "50", "x'01'"), MT_OK},
    {"a next block beyond all", MARK("2", MOST, "x'01'"), MT_OK},
    {"a next block below all", MARK("2", LOWEST, "x'01'"), MT_OK},
    {"no holdings", "DELETE FROM holding", MT_OK},
    {"holdings in steps far away", "UPDATE holding SET changes = '[" MOST ",5,1]'", MT_OK},
    {"holdings before the steps", "UPDATE holding SET changes = '[-30,5,1]'", MT_OK},
    {"holdings behind the steps", "UPDATE holding SET changes = '[4030,5,1]'", MT_OK},
    {"holdings below nothing", "UPDATE holding SET changes = '[0,-1125899906842624,-7]'", MT_OK},
    {"holdings that are text", "UPDATE holding SET changes = '[0,x,y]'", MT_OK},
    {"holdings that are a number", "UPDATE holding SET changes = 77", MT_OK},
    {"holdings that are bytes", "UPDATE holding SET changes = x'5b302c'", MT_OK},
    {"holdings that end early", "UPDATE holding SET changes = '[0,5,1,1,5'", MT_OK},
    {"holdings of nothing", "UPDATE holding SET changes = ''", MT_OK},
    {"holdings of numbers too large", "UPDATE holding SET changes = '[0,99999999999999999999,1]'",
     MT_OK},
    {"holdings of nodes far away", "UPDATE holding SET node_id = node_id + (" MOST " - 1000)",
     MT_OK},
    {"holdings of one size that is none",
     "UPDATE holding SET size_b = " MOST ", changes = '[0,5,1,7,2,null]'", MT_OK},
    {"further figures of nodes far away", FURTHER(MOST " - 1", "[5,null,7]"), MT_OK},
    {"further figures before all nodes", FURTHER("-2", "[5,6,7,8]"), MT_OK},
    {"further figures that end early", FURTHER("0", "[5"), MT_OK},
    {"further figures that are text", FURTHER("0", "[x]"), MT_OK},
    {"further figures of nothing", FURTHER("0", ""), MT_OK},
    {"gradients of nodes far away",
     "INSERT OR REPLACE INTO kept_gradient SELECT id, " MOST ", " LOWEST ", -1 FROM device", MT_OK},
    {"gradients that are text",
     "INSERT OR REPLACE INTO kept_gradient SELECT id, 'x', 'y', 'z' FROM device", MT_OK},
    {"no max_lifetime", "DELETE FROM max_lifetime", MT_OK},
    {"max_lifetime beyond all steps", "UPDATE max_lifetime SET life_n = " MOST, MT_OK},
    {"max_lifetime below nothing", "UPDATE max_lifetime SET life_n = " LOWEST, MT_OK},
    {"max_lifetime of steps far away", "UPDATE max_lifetime SET alloc_step = " MOST, MT_OK},
    {"max_lifetime that is text", "UPDATE max_lifetime SET life_n = 'x', alloc_step = 'y'", MT_OK},
    {"max_lifetime of nodes far away",
     "UPDATE max_lifetime SET node_id = node_id + (" MOST " - 1000)", MT_OK},
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
    const struct mt_op_filter some_steps = {
        .by_step = true, .steps = {1, 2}, .keys = keys, .key_n = MT_ARRAY_LEN(keys)};
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    struct mt_diff d = {.key_n = MT_ARRAY_LEN(keys)};
    struct mt_levels levels;
    struct mt_op_peak *rises;
    memcpy(d.keys, keys, sizeof keys);
    for (int s = 0; s < 2; s++) {
        d.side[s].db = db;
        d.side[s].run = *run;
        d.side[s].device = *device;
        OK(mt_diff_load(&d, s, MT_DIFF_OPS | MT_DIFF_LIVES, 1, &err));
    }
    mt_diff_compare(&d);
    enum mt_status st = mt_group_ops(db, run, device, &some_steps, &tree, &groups, &err);
    assert_true(st == MT_OK || st == MT_EUSAGE); /* it may have no such steps */
    mt_groups_free(&groups);
    mt_tree_free(&tree);
    err = (struct mt_err)MT_ERR_INIT;
    OK(mt_levels_load(db, run, device, &levels, &err));
    OK(mt_op_peaks_load(db, run, device, &d.side[0].lives->tree, &rises, &err));
    assert_true(mt_levels_peak(&levels, -1, (int64_t)levels.all.n - 1) < run->record_n);
    free(rises);
    mt_levels_free(&levels);
    mt_diff_free(&d);
}

static void read_live(struct mt_allocations *lives, const struct mt_run_device *device)
{
    const int64_t records[] = {-1, 0, 3, 5, lives->run->record_n, MT_AT_END};
    const enum mt_group_key site = MT_BY_SITE;
    struct mt_err err = MT_ERR_INIT;
    struct mt_live_groups groups;
    mt_live_groups_init(&groups, lives, &site, 1);
    for (size_t i = 0; i < MT_ARRAY_LEN(records); i++) {
        struct mt_live_set live = {0};
        OK(mt_live_at(lives, device, records[i], &live, &err));
        assert_true(live.blocks.n <= 2 * (size_t)lives->run->alloc_n);
        mt_live_groups_add(&groups, &live, 0, i % 2);
        mt_live_set_free(&live);
    }
    mt_live_groups_free(&groups);
}

static void read_buckets(struct mt_allocations *lives, const struct mt_run_device *device)
{
    const struct mt_window all = {INT64_MIN, INT64_MAX};
    const enum mt_group_key site = MT_BY_SITE;
    struct mt_err err = MT_ERR_INIT;
    struct mt_levels levels;
    struct mt_buckets buckets = {0};
    struct mt_bands bands;
    size_t n;
    struct mt_window shown = mt_window_within(&all, lives->run->dur_ns);
    for (size_t wanted = 1; wanted < 30; wanted += 9) {
        int64_t *moments = mt_buckets_moments(&all, &shown, wanted, &n);
        OK(mt_levels_load_near(lives->db, lives->run, device, moments, n, &levels, &err));
        mt_buckets_fill(&buckets, &levels, &all, &shown, wanted);
        OK(mt_bands_load(lives, device, &levels, NULL, &buckets, &site, 1, 3, &bands, &err));
        mt_bands_free(&bands);
        mt_levels_free(&levels);
        free(moments);
    }
    mt_buckets_free(&buckets);
}

/* Every rule, and another batch size; or a refusal. */
static void read_advice(struct mt_allocations *lives, const struct mt_run_device *device)
{
    const struct mt_advice_choice choice = {4, 8, 1, true};
    struct mt_err err = MT_ERR_INIT;
    struct mt_advice_facts f;
    struct mt_run_device all = *device;
    struct mt_strtab strings;
    struct mt_advices found;
    struct mt_batch batch;
    all.knows |= MT_KNOWS_CATEGORIES;
    mt_strtab_init(&strings);
    enum mt_status st = mt_advice_facts_load(lives, &all, &f, &err);
    assert_true(st == MT_OK || st == MT_EUSAGE);
    assert_true(f.record_n <= 2 * (int64_t)f.blocks.n); /* room for what is there, not for more */
    OK(mt_advices_find(&f, &choice, NULL, &strings, &found, &err)); /* even if they do not add up */
    const struct mt_batch_run runs[] = {{&f, 8}, {&f, 16}};
    for (int n = 1; n <= 2; n++) {
        mt_batch_init(&batch, runs, n);
        int64_t fit = mt_batch_fit(&batch, 1 << 20);
        assert_true(fit >= 0 || fit == MT_UNKNOWN);
        mt_batch_free(&batch);
    }
    mt_advices_free(&found);
    mt_strtab_free(&strings);
    mt_advice_facts_free(&f);
}

/* What chunks, keyframes, holdings and max_lifetime are read for. */
static void read_history(struct mt_db *db, const struct mt_run *run,
                         const struct mt_run_device *device)
{
    const enum mt_group_key site = MT_BY_SITE;
    struct mt_err err = MT_ERR_INIT;
    struct mt_allocations lives;
    struct mt_leaks leaks;
    OK(mt_allocations_open(db, run, &lives, &err));
    read_live(&lives, device);
    read_buckets(&lives, device);
    for (int64_t warmup = 0; warmup < 3; warmup++) {
        OK(mt_leaks_find(&lives, device, &site, 1, warmup, &leaks, &err));
        mt_leaks_free(&leaks);
    }
    read_advice(&lives, device);
    mt_allocations_close(&lives);
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
    int others, handed_on = 0;
    program_start(&p);
    for (int step = 0; step < 4; step++) {
        program_step(&p);
        program_op(&p, "outer", 100);
        program_alloc(&p, "kept", 100);
        program_free(&p, program_alloc(&p, "work", 50));
        if (step)
            program_free(&p, handed_on);
        handed_on = program_alloc(&p, "kept", 30);
    }
    program_finish(&p);
    damage(p.path, strange_db->sql);
    OK(mt_db_open(p.path, MT_DB_READ, &db, NULL, &err));
    assert_int_equal(mt_run_find(db, "@latest", &run, &err), strange_db->want);
    if (strange_db->want == MT_OK) {
        OK(mt_run_device(db, &run, NULL, &device, &none, &others, &err));
        assert_false(none);
        read_all(db, &run, &device);
        read_history(db, &run, &device);
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
