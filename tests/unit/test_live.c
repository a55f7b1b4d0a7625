/* A run that grows while it is recorded: its figures at any time, and its size after an hour. */
#include "lib/db/db_parts.h" /* how long it waits */
#include "lib/record/live.h"
#include "lib/record/watch_parts.h"
#include "lib/run/runs.h"
#include "lib/run/time_arg.h"
#include "lib/store/store.h"
#include "lib/usage/levels.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t ms = 1000 * 1000, mib = 1024 * 1024;
static struct mt_err err = MT_ERR_INIT;

static struct mt_db *open_new(char path[PATH_MAX])
{
    const char *tmp = getenv("TMPDIR");
    struct mt_db *db;
    snprintf(path, PATH_MAX, "%s/live.%d.db", tmp ? tmp : "/tmp", (int)getpid());
    unlink(path);
    assert_int_equal(mt_db_open(path, MT_DB_WRITE, &db, NULL, &err), MT_OK);
    return db;
}

static struct mt_live *begin(struct mt_db *db)
{
    struct mt_live *live;
    const struct mt_live_opts opts = {.program = "prog", .command = "prog 1", .interval_ns = ms};
    const struct mt_seen first = {.kind = MT_SEEN_PROCESS, .value = 4711};
    assert_int_equal(mt_live_open(db, &opts, &live, &err), MT_OK);
    assert_int_equal(mt_live_take(live, &first, 1, &err), MT_OK);
    return live;
}

static void see(struct mt_live *live, enum mt_seen_kind kind, int64_t t, int64_t value)
{
    const struct mt_seen s = {.kind = kind, .t_ns = t, .value = value, .metric = MT_METRIC_ANON};
    assert_int_equal(mt_live_take(live, &s, 1, &err), MT_OK);
}

static void load(struct mt_db *db, struct mt_run *run, struct mt_run_device *device,
                 struct mt_levels *levels)
{
    bool none;
    int others;
    assert_int_equal(mt_run_find(db, "prog", run, &err), MT_OK);
    assert_int_equal(mt_run_device(db, run, NULL, device, &none, &others, &err), MT_OK);
    assert_int_equal(mt_levels_load(db, run, device, levels, &err), MT_OK);
}

/* Somebody who reads until it is closed. */
static struct mt_db *reader(const char *path)
{
    struct mt_db *db;
    struct mt_run run;
    assert_int_equal(mt_db_open(path, MT_DB_READ, &db, NULL, &err), MT_OK);
    assert_int_equal(mt_run_find(db, "prog", &run, &err), MT_OK);
    return db;
}

/* Who comes while a recording waits for somebody who reads for long. */
static void read_beside(const char *path)
{
    mt_db_close(reader(path));
}

/* Others who write, or read, for longer than anybody waits cost a recording nothing: what there is
 * comes later; and more may read meanwhile. */
static void test_busy(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct mt_db *db = open_new(path), *other;
    struct mt_live *live = begin(db);
    struct mt_run run;
    struct mt_run_device device;
    struct mt_levels levels;
    struct mt_steps steps = {0};
    int64_t t = 0;
    db->wait_ms = 10;
    for (int round = 0; round < 6; round++, t += ms) {
        const enum mt_db_mode mode = round < 3 ? MT_DB_WRITE : MT_DB_READ;
        if (round % 3 == 0)
            assert_int_equal(mt_db_open(path, mode, &other, NULL, &err), MT_OK);
        if (round == 0)
            assert_int_equal(mt_db_begin(other, &err), MT_OK);
        if (round == 3)
            assert_int_equal(mt_run_find(other, "prog", &run, &err), MT_OK);
        see(live, MT_SEEN_LEVEL, t, (round + 1) * mib);
        see(live, MT_SEEN_SAMPLE, t, (round + 1) * mib);
        see(live, MT_SEEN_STEP, t, round);
        if (round % 3 == 2)
            mt_db_close(other);
        assert_int_equal(mt_live_write(live, t, &err), MT_OK);
        if (round == 4)
            read_beside(path);
    }
    assert_int_equal(mt_live_end(live, t, &err), MT_OK);
    mt_live_free(live);
    load(db, &run, &device, &levels);
    assert_int_equal(run.dur_ns, t);
    assert_int_equal(run.notes.n, 0);
    assert_int_equal(mt_steps_load(db, &run, &steps, &err), MT_OK);
    assert_int_equal(steps.all.n, 6);
    mt_steps_free(&steps);
    assert_int_equal(device.start_b, mib);
    assert_int_equal(levels.all.n, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(levels.all.v[i].level_b, (i + 2) * mib);
    mt_levels_free(&levels);
    mt_db_close(db);
    unlink(path);
}

/* A run that cannot be made yet leaves nothing, and can be made later. */
static void test_busy_begin(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct mt_db *db = open_new(path), *other;
    struct mt_live *live = begin(db);
    struct mt_err why = MT_ERR_INIT;
    const struct mt_live_opts opts = {.name = "late", .program = "prog", .command = "prog 1"};
    mt_live_free(live);
    db->wait_ms = 10;
    other = reader(path);
    assert_int_equal(mt_live_open(db, &opts, &live, &why), MT_EDB);
    assert_true(mt_db_is_busy(db));
    read_beside(path);
    mt_db_close(other);
    assert_int_equal(mt_live_open(db, &opts, &live, &err), MT_OK);
    assert_string_equal(mt_live_name(live), "late");
    mt_live_free(live);
    mt_db_close(db);
    unlink(path);
}

/* At the end there is no later; what was written before stays. */
static void test_busy_end(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct mt_db *db = open_new(path), *other;
    struct mt_live *live = begin(db);
    struct mt_run run;
    struct mt_err why = MT_ERR_INIT;
    db->wait_ms = 10;
    see(live, MT_SEEN_LEVEL, 0, mib);
    assert_int_equal(mt_live_write(live, 5 * ms, &err), MT_OK);
    other = reader(path);
    see(live, MT_SEEN_LEVEL, 6 * ms, 2 * mib);
    assert_int_equal(mt_live_write(live, 6 * ms, &err), MT_OK);
    assert_int_equal(mt_live_end(live, 7 * ms, &why), MT_EDB);
    mt_live_free(live);
    mt_db_close(other);
    assert_int_equal(mt_run_find(db, "prog", &run, &err), MT_OK);
    assert_int_equal(run.dur_ns, 5 * ms);
    mt_db_close(db);
    unlink(path);
}

/* What is written is a whole run each time, and what comes later is added to it. */
static void test_grows(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct mt_db *db = open_new(path);
    struct mt_live *live = begin(db);
    struct mt_run run;
    struct mt_run_device device;
    struct mt_levels levels;
    int64_t t = 0;
    for (int part = 1; part <= 5; part++) {
        for (int i = 0; i < 300; i++, t += ms)
            see(live, MT_SEEN_LEVEL, t, (i + part) * mib);
        see(live, MT_SEEN_PEAK, t, (300 + 2 * part) * mib);
        see(live, MT_SEEN_SAMPLE, t, part * mib);
        if (part < 5)
            assert_int_equal(mt_live_write(live, t, &err), MT_OK);
        else
            assert_int_equal(mt_live_end(live, t, &err), MT_OK);
        load(db, &run, &device, &levels);
        assert_int_equal(run.dur_ns, t);
        assert_int_equal(run.notes.n, part < 5);
        assert_int_equal(device.peak_b, (300 + 2 * part) * mib);
        assert_int_equal(device.start_b, mib);
        assert_int_equal(levels.all.n, 302 * part - 1);
        assert_int_equal(mt_levels_value(&levels, (int64_t)levels.all.n - 1), (299 + part) * mib);
        assert_int_equal(
            mt_levels_value(&levels, mt_levels_peak(&levels, 0, (int64_t)levels.all.n - 1)),
            device.peak_b);
        for (size_t i = 1; i < levels.all.n; i++)
            assert_true(levels.all.v[i].t_ns >= levels.all.v[i - 1].t_ns);
        mt_levels_free(&levels);
    }
    mt_live_free(live);
    mt_db_close(db);
    unlink(path);
}

/* A run that is deleted meanwhile is not written into another one that has its id now. */
static void test_deleted(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct mt_db *db = open_new(path);
    struct mt_live *live = begin(db), *other;
    struct mt_run run;
    see(live, MT_SEEN_LEVEL, 0, mib);
    assert_int_equal(mt_live_write(live, ms, &err), MT_OK);
    assert_int_equal(mt_run_find(db, "prog", &run, &err), MT_OK);
    assert_int_equal(mt_db_begin(db, &err), MT_OK);
    assert_int_equal(mt_store_delete(db, run.id, &err), MT_OK);
    assert_int_equal(mt_db_commit(db, &err), MT_OK);
    other = begin(db);
    assert_int_equal(mt_live_write(other, 5 * ms, &err), MT_OK);
    assert_int_equal(mt_live_write(live, 7 * ms, &err), MT_EDB);
    assert_non_null(strstr(err.what, "was deleted"));
    err = (struct mt_err)MT_ERR_INIT;
    assert_int_equal(mt_run_find(db, "prog", &run, &err), MT_OK);
    assert_int_equal(run.dur_ns, 5 * ms);
    mt_live_free(live);
    mt_live_free(other);
    mt_db_close(db);
    unlink(path);
}

/* An hour of a level that changes all the time: its extremes stay, and it takes little room. */
static void test_hour(void **state)
{
    (void)state;
    enum { LOOKS = 3600 * 100, SPIKE = 200001, DIP = 300003 };
    char path[PATH_MAX];
    struct mt_db *db = open_new(path);
    struct mt_live *live = begin(db);
    struct mt_run run;
    struct mt_run_device device;
    struct mt_levels levels;
    struct stat file;
    uint64_t seed = 1;
    bool spike = false, dip = false;
    for (int64_t i = 0; i < LOOKS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t level = 500 * mib + (int64_t)(seed >> 40) * 16;
        level = i == SPIKE ? 900 * mib : i == DIP ? 5 * mib : level;
        see(live, MT_SEEN_LEVEL, i * 10 * ms, level);
        if (i % 6000 == 5999)
            assert_int_equal(mt_live_write(live, i * 10 * ms, &err), MT_OK);
    }
    assert_int_equal(mt_live_end(live, (int64_t)LOOKS * 10 * ms, &err), MT_OK);
    load(db, &run, &device, &levels);
    assert_int_equal(device.peak_b, 900 * mib);
    assert_int_equal(device.peak_ns, SPIKE * 10 * ms);
    for (size_t i = 0; i < levels.all.n; i++) {
        spike |= levels.all.v[i].level_b == 900 * mib && levels.all.v[i].t_ns == SPIKE * 10 * ms;
        dip |= levels.all.v[i].level_b == 5 * mib && levels.all.v[i].t_ns == DIP * 10 * ms;
    }
    assert_true(spike && dip);
    assert_int_equal(levels.all.v[levels.all.n - 1].t_ns, (LOOKS - 1) * 10 * ms);
    assert_int_equal(stat(path, &file), 0);
    assert_true(file.st_size < 2 * mib);
    mt_levels_free(&levels);
    mt_live_free(live);
    mt_db_close(db);
    unlink(path);
}

/* ---- the series beside it, told as often as the watcher tells them ---- */

struct told {
    int metric;
    uint32_t process;
    bool malloc; /* and the least of it since then */
};

static const struct told all_told[] = {
    {MT_METRIC_ANON, 0, false},         {MT_METRIC_MALLOC_IN_USE, 0, true},
    {MT_METRIC_MALLOC_MAPPED, 0, true}, {MT_METRIC_MALLOC_FREE, 0, true},
    {MT_METRIC_MALLOC_TOP, 0, true},    {MT_METRIC_MALLOC_HELD, 0, true},
    {MT_METRIC_OTHER_ANON, 0, true},    {MT_METRIC_CGROUP, 0, false},
    {MT_METRIC_CPU, 0, false},          {MT_METRIC_THREADS, 0, false},
    {MT_METRIC_AT_MOST, 1, false},      {MT_METRIC_AT_LEAST, 1, false},
    {MT_METRIC_CPU, 1, false},          {MT_METRIC_THREADS, 1, false}};

static void tell(struct mt_live *live, const struct told *of, int64_t t, int64_t value)
{
    const struct mt_seen s = {.kind = MT_SEEN_SAMPLE,
                              .process = of->process,
                              .t_ns = t,
                              .value = value,
                              .metric = of->metric};
    assert_int_equal(mt_live_take(live, &s, 1, &err), MT_OK);
}

static void tell_all(struct mt_live *live, int64_t t, int64_t level)
{
    for (size_t k = 0; k < MT_ARRAY_LEN(all_told); k++) {
        const struct told *of = &all_told[k];
        if (of->malloc && t)
            tell(live, of, t - 50 * ms, level - 64 * mib);
        tell(live, of, t, of->metric == MT_METRIC_CPU ? t : level - (int64_t)k * 4096);
    }
}

static void tell_cpu(struct mt_live *live, int64_t t)
{
    for (size_t k = 0; k < MT_ARRAY_LEN(all_told); k++)
        if (all_told[k].metric == MT_METRIC_CPU)
            tell(live, &all_told[k], t, t + 1);
}

/* What this process has of malloc; a sanitizer's counts nothing. */
static int64_t held(void)
{
    struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.uordblks + m.hblkhd);
}

/* An hour of a program with a child that takes ten steps a second, and of which all changes all the
 * time: the file stays small, and memory is what it was after the first quarter. */
static void test_series(void **state)
{
    (void)state;
    enum { LOOKS = 3600 * 100, STEP = 10 };
    const struct mt_seen together = {.kind = MT_SEEN_PROCESS, .process = 1, .value = MT_PROCESSES};
    char path[PATH_MAX];
    struct mt_db *db = open_new(path);
    struct mt_live *live = begin(db);
    struct stat file;
    uint64_t seed = 1;
    int64_t quarter_b = 0, next = 0, n = 0, step = 100 * ms, said = 0, said_n = 0,
            said_step = 10 * ms;
    assert_int_equal(mt_live_take(live, &together, 1, &err), MT_OK);
    for (int64_t i = 0; i < LOOKS; i++) {
        const int64_t t = i * 10 * ms;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t level = 500 * mib + (int64_t)(seed >> 40) * 16;
        see(live, MT_SEEN_LEVEL, t, level);
        if (t >= next) {
            tell_all(live, t, level);
            next = t + mt_watch_less(&n, &step);
        }
        if (i % STEP == STEP - 1)
            see(live, MT_SEEN_STEP, t, i / STEP);
        if (i % STEP == STEP - 1 && t - said >= said_step) {
            tell_cpu(live, said = t);
            mt_watch_less(&said_n, &said_step);
        }
        if (i % 500 == 499)
            assert_int_equal(mt_live_write(live, t, &err), MT_OK);
        if (i == LOOKS / 4 - 1)
            quarter_b = held();
    }
    assert_true(held() <= quarter_b + 64 * 1024);
    assert_int_equal(mt_live_end(live, (int64_t)LOOKS * 10 * ms, &err), MT_OK);
    assert_int_equal(stat(path, &file), 0);
    assert_true(file.st_size < 5 * mib);
    mt_live_free(live);
    mt_db_close(db);
    unlink(path);
}

/* What processes have together is told seldom in long runs; at the end it is what the last look
 * saw.
 */
static void test_together_end(void **state)
{
    (void)state;
    static const int64_t rss[][2] = {{5, 4}, {9, 9}, {3, 2}};
    struct mt_watch w = {
        .interval_ns = 10 * ms, .children_fd = -1, .newest_fd = -1, .group_fd = -1};
    int64_t last[MT_METRIC_N] = {0}, most = 0;
    for (int i = 0; i < 2; i++)
        *mt_vec_push(&w.all) =
            (struct mt_watched){.pid = -1, .fd = -1, .rss_fd = -1, .children_fd = -1};
    for (size_t look = 0; look < MT_ARRAY_LEN(rss); look++) {
        w.all.v[0].last.rss = rss[look][0] * mib;
        w.all.v[1].last.rss = rss[look][1] * mib;
        mt_watch_together(&w, ((int64_t)look + 1) * ms);
    }
    mt_watch_together_end(&w);
    for (size_t i = 0; i < w.seen.n; i++) {
        const struct mt_seen *s = &w.seen.v[i];
        if (s->kind != MT_SEEN_SAMPLE)
            continue;
        last[s->metric] = s->value;
        if (s->metric == MT_METRIC_AT_MOST)
            most = s->value > most ? s->value : most;
    }
    assert_int_equal(last[MT_METRIC_AT_MOST], 5 * mib);
    assert_int_equal(last[MT_METRIC_AT_LEAST], 3 * mib);
    assert_int_equal(most, 18 * mib);
    mt_watch_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),    cmocka_unit_test(test_busy),
        cmocka_unit_test(test_busy_end), cmocka_unit_test(test_busy_begin),
        cmocka_unit_test(test_deleted),  cmocka_unit_test(test_hour),
        cmocka_unit_test(test_series),   cmocka_unit_test(test_together_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
