#include "lib/db/db_upgrade.h"

#include "lib/db/db_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mt_db_step mt_db_steps[] = {
    {7,
     "ALTER TABLE run ADD COLUMN resolution_ns INTEGER;"
     "UPDATE run SET resolution_ns = iif(format = 'dhat', 1000, 1000000) "
     "  WHERE format IN ('heaptrack', 'dhat') AND time_unit = 'ns';"
     "UPDATE device SET knows = knows | 32768 WHERE run_id IN (SELECT r.id FROM run r WHERE EXISTS "
     "  (SELECT 1 FROM node n JOIN frame f ON f.id = n.frame_id WHERE n.id >= r.node_first AND "
     "  n.id < r.node_first + r.node_n AND (f.object_id > 0 OR f.file_id > 0)));"
     "CREATE TABLE upgraded (node_id INTEGER NOT NULL, device_id INTEGER NOT NULL, "
     "  figure TEXT NOT NULL, value INTEGER, PRIMARY KEY (node_id, device_id, figure)) "
     "  WITHOUT ROWID;"
     "INSERT INTO upgraded SELECT node_id, device_id, figure, value FROM node_extra;"
     "DROP TABLE node_extra;"
     "ALTER TABLE upgraded RENAME TO node_extra;"
     "CREATE INDEX run_group_joined ON run_group(joined)"},
    /* Devices say which further figures they know. */
    {8,
     "UPDATE device SET knows = knows | (SELECT coalesce(sum(bit), 0) FROM "
     "  (SELECT DISTINCT CASE figure WHEN 'temporary_n' THEN 65536 WHEN 'temporary_b' THEN 131072 "
     "  WHEN 'temporary_most_n' THEN 262144 ELSE 0 END AS bit "
     "  FROM node_extra WHERE device_id = device.id))"},
    /* Blocks have categories; those of older runs come with importing them again. */
    {9, "ALTER TABLE alloc ADD COLUMN rule INTEGER;"
        "CREATE TABLE node_category (device_id INTEGER NOT NULL, node_id INTEGER NOT NULL, "
        "  category INTEGER NOT NULL, alloc_b INTEGER NOT NULL, freed_b INTEGER NOT NULL, "
        "  alloc_n INTEGER NOT NULL, at_peak_b INTEGER NOT NULL, at_end_b INTEGER NOT NULL, "
        "  at_peak_n INTEGER NOT NULL, at_end_n INTEGER NOT NULL, "
        "  PRIMARY KEY (device_id, node_id, category)) WITHOUT ROWID"},
    /* Blocks have tensors; those of older runs come with importing them again. */
    {10, "ALTER TABLE alloc ADD COLUMN tensor_id INTEGER"},
    /* Failed allocations have call paths; those of older runs come with importing them again. */
    {11, "ALTER TABLE sample ADD COLUMN node_id INTEGER"},
    /* Snapshots have categories, which v_alloc names; those of older runs come as before. */
    {12, "SELECT 1"},
    /* Snapshots without history do not know what was allocated, nor what was alive at the peak.
     * Runs say who imported them: at most the version that the file still has while steps are
     * taken, and one from before categories where it has none. Figures that many call paths share
     * stand once, those of one node below; names of further ones are strings. */
    {13,
     "UPDATE device SET knows = knows & ~261, alloc_b = NULL, freed_b = NULL, net_b = NULL, "
     "  alloc_n = NULL, freed_n = NULL WHERE run_id IN (SELECT run_id FROM note WHERE kind = "
     "  'state_only');"
     "UPDATE node_stat SET self_alloc_b = NULL, self_freed_b = NULL, self_alloc_n = NULL, "
     "  self_at_peak_b = NULL, self_at_peak_n = NULL, alloc_b = NULL, freed_b = NULL, "
     "  alloc_n = NULL, at_peak_b = NULL, at_peak_n = NULL WHERE device_id IN (SELECT d.id FROM "
     "  device d JOIN note n ON n.run_id = d.run_id WHERE n.kind = 'state_only');"
     "ALTER TABLE run ADD COLUMN imported_by INTEGER;"
     "UPDATE run SET imported_by = (SELECT user_version FROM pragma_user_version);"
     "UPDATE run SET imported_by = min(imported_by, iif(kind = 0, 9, 12)) WHERE kind IN (0, 1) "
     "  AND id IN (SELECT run_id FROM device WHERE knows & 64 AND NOT knows & 1073741824);"
     "ALTER TABLE node ADD COLUMN stat_node_id INTEGER;"
     "INSERT OR IGNORE INTO string(text) SELECT DISTINCT figure FROM node_extra;"
     "CREATE TABLE upgraded (node_id INTEGER NOT NULL, device_id INTEGER NOT NULL, "
     "  figure_id INTEGER NOT NULL, value INTEGER, PRIMARY KEY (node_id, device_id, figure_id)) "
     "  WITHOUT ROWID;"
     "INSERT INTO upgraded SELECT x.node_id, x.device_id, s.id, x.value FROM node_extra x "
     "  JOIN string s ON s.text = x.figure ORDER BY x.node_id, x.device_id, s.id;"
     "DROP TABLE node_extra;"
     "ALTER TABLE upgraded RENAME TO node_extra"},
    /* What a call path holds at moments is one row; what blocks of each size did comes with
     * importing again. */
    {14,
     "CREATE TABLE upgraded (device_id INTEGER NOT NULL, node_id INTEGER NOT NULL, "
     "  size_b INTEGER NOT NULL, changes TEXT NOT NULL, PRIMARY KEY (device_id, node_id, size_b)) "
     "  WITHOUT ROWID;"
     "INSERT INTO upgraded SELECT device_id, node_id, size_b, '[' || "
     "  group_concat(moment || ',' || bytes_b || ',' || blocks_n) || ']' FROM "
     "  (SELECT * FROM holding ORDER BY device_id, node_id, size_b, moment) "
     "  GROUP BY device_id, node_id, size_b;"
     "DROP TABLE holding;"
     "ALTER TABLE upgraded RENAME TO holding;"
     "CREATE TABLE size_stat (device_id INTEGER NOT NULL, least_b INTEGER NOT NULL, "
     "  most_b INTEGER NOT NULL, alloc_b INTEGER NOT NULL, freed_b INTEGER NOT NULL, "
     "  alloc_n INTEGER NOT NULL, at_peak_b INTEGER NOT NULL, at_end_b INTEGER NOT NULL, "
     "  at_peak_n INTEGER NOT NULL, at_end_n INTEGER NOT NULL, PRIMARY KEY (device_id, least_b)) "
     "  WITHOUT ROWID"},
    /* Further figures of call paths that follow each other may be one row; where blocks are of one
     * size, changes of what a path holds leave out bytes, and moments count from the one before.
     * Steps are found by time. What only ops have, and figures with what is below where they
     * differ, are rows of their own. */
    {15,
     "CREATE TABLE upgraded (run_id INTEGER NOT NULL, position INTEGER NOT NULL, "
     "  number INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, "
     "  PRIMARY KEY (run_id, start_ns, position)) WITHOUT ROWID;"
     "INSERT INTO upgraded SELECT run_id, position, number, start_ns, end_ns FROM step "
     "  ORDER BY run_id, start_ns, position;"
     "DROP TABLE step;"
     "ALTER TABLE upgraded RENAME TO step;"
     "CREATE TABLE upgraded (device_id INTEGER NOT NULL, figure_id INTEGER NOT NULL, "
     "  node_id INTEGER NOT NULL, figures TEXT NOT NULL, "
     "  PRIMARY KEY (device_id, figure_id, node_id)) WITHOUT ROWID;"
     "INSERT INTO upgraded SELECT device_id, figure_id, node_id, '[' || ifnull(value, 'null') || "
     "  ']' FROM node_extra ORDER BY device_id, figure_id, node_id;"
     "DROP TABLE node_extra;"
     "ALTER TABLE upgraded RENAME TO node_extra;"
     "UPDATE holding SET changes = (SELECT '[' || ifnull(group_concat(ifnull(v, 'null')), '') || "
     "']' FROM "
     "  (SELECT key, iif(key % 3, value, value - ifnull(lag(value, 3) OVER (ORDER BY key), 0)) AS "
     "v "
     "  FROM json_each(changes)) WHERE size_b = 0 OR key % 3 <> 1) WHERE json_valid(changes);"
     "CREATE TABLE node_op (node_id INTEGER PRIMARY KEY, module_frame_id INTEGER, "
     "  phase INTEGER NOT NULL, calls_n INTEGER NOT NULL, time_ns INTEGER NOT NULL, "
     "  self_time_ns INTEGER NOT NULL);"
     "INSERT INTO node_op SELECT id, module_frame_id, phase, calls_n, time_ns, self_time_ns FROM "
     "  node WHERE module_frame_id IS NOT NULL OR phase OR calls_n OR time_ns OR self_time_ns;"
     "CREATE TABLE upgraded (id INTEGER PRIMARY KEY, parent_id INTEGER, "
     "  frame_id INTEGER NOT NULL, top_frame_id INTEGER, scope_frame_id INTEGER, line INTEGER, "
     "  stat_node_id INTEGER);"
     "INSERT INTO upgraded SELECT id, parent_id, frame_id, nullif(top_frame_id, frame_id), "
     "  scope_frame_id, line, stat_node_id FROM node;"
     "DROP TABLE node;"
     "ALTER TABLE upgraded RENAME TO node;"
     "CREATE TABLE upgraded (node_id INTEGER NOT NULL, device_id INTEGER NOT NULL, "
     "  subtree INTEGER NOT NULL, alloc_b INTEGER, freed_b INTEGER, alloc_n INTEGER, "
     "  at_peak_b INTEGER, at_end_b INTEGER, at_peak_n INTEGER, at_end_n INTEGER, "
     "  PRIMARY KEY (node_id, device_id, subtree)) WITHOUT ROWID;"
     "INSERT INTO upgraded SELECT node_id, device_id, 0, self_alloc_b, self_freed_b, "
     "  self_alloc_n, self_at_peak_b, self_at_end_b, self_at_peak_n, self_at_end_n FROM node_stat "
     "  UNION ALL SELECT node_id, device_id, 1, alloc_b, freed_b, alloc_n, at_peak_b, at_end_b, "
     "  at_peak_n, at_end_n FROM node_stat "
     "  WHERE coalesce(alloc_b, at_peak_b, at_end_b, alloc_n, at_peak_n, at_end_n, freed_b) "
     "  IS NOT NULL ORDER BY 1, 2, 3;"
     "DROP TABLE node_stat;"
     "ALTER TABLE upgraded RENAME TO node_stat"},
    /* Gradients have buckets, whose rule v_alloc names; those of older runs come as before. */
    {16, "SELECT 1"},
    {0, NULL},
};

static const struct mt_db_step *step_from(const struct mt_db_step *steps, int64_t version)
{
    for (; steps->sql; steps++)
        if (steps->from == version)
            return steps;
    return NULL;
}

/* The next view of our schema: its statement, and what follows. */
static const char *next_view(const char *schema)
{
    const char *at = strstr(schema, "\nCREATE VIEW ");
    return at ? at + 1 : NULL;
}

/* Views say nothing that is not in the tables: those of the old version go, ours come. Views of the
 * user's stay. */
static enum mt_status renew_views(struct mt_db *db, bool drop, struct mt_err *err)
{
    const char *rest = mt_queries[MT_Q_SCHEMA].sql;
    for (const char *view; (view = next_view(rest)); rest = view + 1) {
        const char *name = view + strlen("CREATE VIEW "), *end = strchr(name, ' ');
        sqlite3_stmt *s = NULL;
        char *sql = drop ? mt_asprintf("DROP VIEW IF EXISTS %.*s", (int)(end - name), name)
                         : mt_strdup(view);
        int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL); /* the first statement */
        if (rc == SQLITE_OK)
            rc = sqlite3_step(s);
        sqlite3_finalize(s);
        free(sql);
        if (rc != SQLITE_DONE)
            return mt_db_fail(db, "the database cannot be upgraded", err);
    }
    return MT_OK;
}

static enum mt_status take_steps(struct mt_db *db, const struct mt_db_step *steps,
                                 struct mt_err *err)
{
    const struct mt_db_step *step;
    int64_t version;
    /* another may have been here first */
    MT_TRY(mt_db_number(db, "PRAGMA user_version", &version, err));
    if (!step_from(steps, version))
        return MT_OK;
    MT_TRY(renew_views(db, true, err));
    for (; (step = step_from(steps, version)); version++)
        if (sqlite3_exec(db->sql, step->sql, NULL, NULL, NULL) != SQLITE_OK)
            return mt_db_fail(db, "the database cannot be upgraded", err);
    MT_TRY(renew_views(db, false, err));
    char set[64];
    snprintf(set, sizeof set, "PRAGMA user_version=%d", (int)version);
    return mt_db_exec(db, set, err);
}

/* Renaming a table would look through all views and triggers, and fail where one reads a view that
 * is away just then, or cannot be read anyway. */
static void look_through_views(struct mt_db *db, bool on)
{
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, !on, NULL);
}

enum mt_status mt_db_upgrade(struct mt_db *db, const struct mt_db_step *steps, struct mt_err *err)
{
    int64_t version, application;
    MT_TRY(mt_db_number(db, "PRAGMA user_version", &version, err));
    MT_TRY(mt_db_number(db, "PRAGMA application_id", &application, err));
    if (application != MT_APPLICATION_ID || !step_from(steps, version))
        return MT_OK;
    if (sqlite3_exec(db->sql, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return mt_db_fail(db, "the database is an older memtool's and cannot be upgraded", err);
    look_through_views(db, false);
    enum mt_status st = take_steps(db, steps, err);
    look_through_views(db, true);
    if (st == MT_OK)
        st = mt_db_commit(db, err);
    if (st != MT_OK)
        mt_db_rollback(db);
    return st;
}
