/* lib/analysis/growth.h, of processes in a database: what of one is judged, what is doubted, and
 * what check is told of it. */
#include "lib/analysis/growth.h"

#include "lib/analysis/baseline_parts.h"
#include "lib/build/build.h"
#include "lib/model/process.h"
#include "lib/run/knows.h"
#include "lib/store/store.h"
#include "tests/unit/rows.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB      (INT64_C(1) << 20)
#define SEC      (INT64_C(1000000000))
#define OK(call) assert_int_equal((call), MT_OK)

enum { LOOKS_IN_A_SECOND = 10 };

/* What there is at a second. */
typedef int64_t level_of(double s);

static int64_t flat(double s)
{
    return (void)s, 100 * MIB;
}
static int64_t leak(double s)
{
    return 100 * MIB + (int64_t)(s * (double)MIB);
}
static int64_t falls(double s)
{
    return 200 * MIB - (int64_t)(s * (double)MIB);
}
/* A profiler from 5 to 15 s: it leaves nothing, or 40 MiB, or too little to hide anything. */
static int64_t profiled(double s)
{
    return (s >= 6 && s < 15 ? 150 : 100) * MIB;
}
static int64_t leaves(double s)
{
    return (s >= 6 ? 140 : 100) * MIB;
}
static int64_t leaves_little(double s)
{
    return s >= 6 ? 100 * MIB + MIB / 4 : 100 * MIB;
}
static int64_t rises_at_last(double s)
{
    return (s >= 36 ? 140 : 100) * MIB;
}
/* Mapped files, of a process that leaks a MiB in a second. */
static int64_t none_mapped(double s)
{
    return (void)s, 30 * MIB;
}
static int64_t some_mapped(double s)
{
    return 30 * MIB + (int64_t)(s * (double)MIB / 4);
}
static int64_t few_mapped(double s)
{
    return 30 * MIB + (int64_t)(s * (double)MIB / 25);
}
static int64_t most_mapped(double s)
{
    return 30 * MIB + (int64_t)(s * (double)MIB * 0.6);
}

static const char at_5_to_15[] = "{\"pid\": 42, \"starting_ns\": [5000000000, 5100000000], "
                                 "\"writing_ns\": [14000000000, 15000000000]}";
static const char to_the_end[] = "{\"pid\": 42, \"starting_ns\": [5000000000, 5100000000]}";
static const char before_the_last[] = "{\"pid\": 42, \"starting_ns\": [5000000000, 5100000000], "
                                      "\"writing_ns\": [36000000000, 38500000000]}";
static const char of_another[] = "{\"pid\": 99, \"starting_ns\": [5000000000, 5100000000]}";

struct row {
    const char *name;
    level_of *rss, *file; /* NULL: not counted */
    const char *profiler;
    int seconds, steps; /* of a second each */
    int first;          /* look at it, in seconds */
    int note;           /* enum mt_note_kind, from 1 on; 0: none */
    enum mt_growth_verdict want;
    enum mt_growth_part part;
    enum mt_growth_unit unit;
    bool loads, refills;
    int64_t most_b; /* if not 0: that it can have grown by in its window, within 512 KiB */
    unsigned gaps;
    const char *by_step, *by_minute; /* why check knows no growth, in part; NULL: it does */
    int64_t doubt_b;                 /* of the peak */
};
static const struct row rows[] = {
    {"a leak", leak, .seconds = 40, .want = MT_GROWTH_GROWS, .unit = MT_PER_MINUTE,
     .by_step = "has no steps"},
    {"flat", flat, .seconds = 40, .want = MT_GROWTH_FLAT, .unit = MT_PER_MINUTE,
     .by_step = "has no steps"},
    {"falls", falls, .seconds = 40, .want = MT_GROWTH_FALLS, .unit = MT_PER_MINUTE,
     .by_step = "has no steps"},
    {"rises at last", rises_at_last, .seconds = 40, .want = MT_GROWTH_UNKNOWN,
     .unit = MT_PER_MINUTE, .by_step = "has no steps", .by_minute = "rises shortly before"},
    {"a leak, looked at late", leak, .first = 4, .seconds = 40, .want = MT_GROWTH_GROWS,
     .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    {"a leak by steps", leak, .seconds = 40, .steps = 40, .want = MT_GROWTH_GROWS},
    {"too few steps", leak, .seconds = 40, .steps = 4, .want = MT_GROWTH_SHORT,
     .by_step = "is too short", .by_minute = "is too short"},
    {"others were not seen", leak, .seconds = 40, .steps = 40, .note = MT_NOTE_UNWATCHED,
     .want = MT_GROWTH_GROWS, .gaps = MT_GAP_WATCH},
    {"a peak was not seen", leak, .seconds = 40, .steps = 40, .note = MT_NOTE_PEAK_UNSEEN,
     .want = MT_GROWTH_GROWS},
    /* behind a profiler */
    {"a profiler that leaves nothing", profiled, .profiler = at_5_to_15, .seconds = 40,
     .want = MT_GROWTH_FLAT, .part = MT_PART_BEHIND, .unit = MT_PER_MINUTE,
     .by_step = "has steps only while PyTorch's profiler", .doubt_b = 50 * MIB},
    {"a profiler that leaves 40 MiB", leaves, .profiler = at_5_to_15, .seconds = 40,
     .want = MT_GROWTH_UNKNOWN, .part = MT_PART_BEHIND, .unit = MT_PER_MINUTE, .refills = true,
     .most_b = 40 * MIB, .by_step = "has steps only", .doubt_b = 40 * MIB},
    {"a profiler that leaves 256 KiB", leaves_little, .profiler = at_5_to_15, .seconds = 40,
     .want = MT_GROWTH_FLAT, .part = MT_PART_BEHIND, .unit = MT_PER_MINUTE,
     .by_step = "has steps only", .doubt_b = MIB / 4},
    {"a leak behind a profiler", leak, .profiler = at_5_to_15, .seconds = 40,
     .want = MT_GROWTH_GROWS, .part = MT_PART_BEHIND, .unit = MT_PER_MINUTE,
     .by_step = "has steps only", .doubt_b = 40 * MIB - 49 * MIB / 10},
    {"steps that end with the profiler", leak, .profiler = at_5_to_15, .seconds = 40, .steps = 14,
     .want = MT_GROWTH_GROWS, .part = MT_PART_BEHIND, .unit = MT_PER_MINUTE,
     .by_step = "has steps only", .doubt_b = 40 * MIB - 49 * MIB / 10},
    {"steps that go on behind the profiler", leak, .profiler = at_5_to_15, .seconds = 40,
     .steps = 40, .want = MT_GROWTH_GROWS, .part = MT_PART_BEHIND,
     .doubt_b = 40 * MIB - 49 * MIB / 10},
    {"a profiler to the end", leak, .profiler = to_the_end, .seconds = 40,
     .want = MT_GROWTH_UNKNOWN, .part = MT_PART_NONE, .unit = MT_PER_MINUTE,
     .by_step = "has PyTorch's profiler in", .by_minute = "has PyTorch's profiler in",
     .doubt_b = 40 * MIB - 49 * MIB / 10},
    {"a profiler until shortly before the end", leak, .profiler = before_the_last, .seconds = 40,
     .want = MT_GROWTH_UNKNOWN, .part = MT_PART_NONE, .unit = MT_PER_MINUTE,
     .by_step = "has PyTorch's profiler in", .by_minute = "has PyTorch's profiler in",
     .doubt_b = 40 * MIB - 49 * MIB / 10},
    {"a profiler in another process", leak, .profiler = of_another, .seconds = 40,
     .want = MT_GROWTH_GROWS, .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    {"too few steps, of another process", leak, .profiler = of_another, .seconds = 40, .steps = 4,
     .want = MT_GROWTH_GROWS, .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    /* programs that begin */
    {"maps nothing", leak, none_mapped, .seconds = 40, .want = MT_GROWTH_GROWS,
     .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    {"maps a quarter", leak, some_mapped, .seconds = 40, .want = MT_GROWTH_UNKNOWN,
     .unit = MT_PER_MINUTE, .loads = true, .by_step = "has no steps"},
    {"maps a 25th", leak, few_mapped, .seconds = 40, .want = MT_GROWTH_GROWS, .unit = MT_PER_MINUTE,
     .by_step = "has no steps"},
    {"maps most of it", leak, most_mapped, .seconds = 40, .want = MT_GROWTH_GROWS,
     .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    {"maps a quarter for longer", leak, some_mapped, .seconds = 80, .want = MT_GROWTH_GROWS,
     .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    {"maps a quarter by steps", leak, some_mapped, .seconds = 40, .steps = 40,
     .want = MT_GROWTH_GROWS},
    {"maps, and is flat", flat, some_mapped, .seconds = 40, .want = MT_GROWTH_FLAT,
     .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    {"ran before", leak, some_mapped, .seconds = 40, .note = MT_NOTE_ATTACHED,
     .want = MT_GROWTH_GROWS, .unit = MT_PER_MINUTE, .by_step = "has no steps"},
    /* logs of several processes */
    {"of several, and grows", leak, .seconds = 40, .note = MT_NOTE_PROCESSES,
     .want = MT_GROWTH_UNKNOWN, .unit = MT_PER_MINUTE, .gaps = MT_GAP_MIXED,
     .by_step = "was written by several", .by_minute = "was written by several"},
    {"of several, and falls", falls, .seconds = 40, .note = MT_NOTE_PROCESSES,
     .want = MT_GROWTH_FALLS, .unit = MT_PER_MINUTE, .gaps = MT_GAP_MIXED,
     .by_step = "was written by several", .by_minute = "was written by several"},
};

/* ---- recordings ---- */

static void look(struct mt_process_log *log, size_t process, level_of *rss, level_of *file,
                 int64_t from, int64_t to)
{
    struct mt_err err = MT_ERR_INIT;
    for (int64_t i = from * LOOKS_IN_A_SECOND; i <= to * LOOKS_IN_A_SECOND; i++) {
        const int64_t t = i * (SEC / LOOKS_IN_A_SECOND);
        const double s = (double)i / LOOKS_IN_A_SECOND;
        OK(mt_process_level(log, process, t, rss(s), &err));
        if (file)
            OK(mt_process_sample(log, process, MT_METRIC_FILE, t, file(s), &err));
    }
    mt_process_looked(log, process);
}

struct kept {
    struct mt_recording rec;
    struct mt_db *db;
    struct mt_run run;
    struct mt_steps steps;
    char path[256];
};

static void begin(struct kept *k, struct mt_process_log *log)
{
    mt_rec_init(&k->rec);
    k->rec.kind = MT_RUN_PROCESS;
    k->rec.format = "test";
    mt_process_open(log, &k->rec);
    mt_rec_meta(&k->rec, "pid", "42", 2);
}

static void keep(struct kept *k, struct mt_process_log *log)
{
    const struct mt_store_opts opts = {.name = "kept", .source = "test", .hash = "test"};
    struct mt_err err = MT_ERR_INIT;
    struct mt_store_result result;
    const char *tmp = getenv("TMPDIR");
    OK(mt_process_close(log, &err));
    mt_process_free(log);
    OK(mt_build(&k->rec, NULL, &err));
    snprintf(k->path, sizeof k->path, "%s/growth-%d.db", tmp ? tmp : "/tmp", (int)getpid());
    unlink(k->path);
    OK(mt_db_open(k->path, MT_DB_WRITE, &k->db, NULL, &err));
    OK(mt_store(k->db, &k->rec, &opts, &result, &err));
    OK(mt_run_find(k->db, "kept", &k->run, &err));
    OK(mt_steps_load(k->db, &k->run, &k->steps, &err));
}

static void drop(struct kept *k)
{
    mt_steps_free(&k->steps);
    mt_db_close(k->db);
    mt_rec_free(&k->rec);
    unlink(k->path);
}

static void find(struct kept *k, const char *device, struct mt_run_device *out)
{
    struct mt_err err = MT_ERR_INIT;
    bool none;
    int others;
    OK(mt_run_device(k->db, &k->run, device, out, &none, &others, &err));
    assert_false(none);
}

static void judge(struct kept *k, const char *device, struct mt_growth_process *out)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_run_device d;
    find(k, device, &d);
    OK(mt_growth_load(k->db, &k->run, &d, &k->steps, 1, out, NULL, &err));
}

/* ---- what check is told ---- */

/* A rate is rounded up, and what is not seen to grow may be nothing. */
static void check_known(const struct mt_baseline_other *o, const struct mt_growth *g, double by)
{
    const bool grows = g->verdict == MT_GROWTH_GROWS;
    assert_true(o->known && o->words && o->words[0]);
    assert_int_equal(o->grows, grows);
    assert_true(fabs((double)o->v - g->rate * by) < 2);
    assert_true(fabs((double)o->low - g->least * by) < 2);
    assert_true(fabs((double)o->high - g->most * by) < 2);
    assert_int_equal(o->more, o->high > o->v ? o->high - o->v : 0);
    assert_int_equal(o->less, grows ? o->v - o->low : o->v > 0 ? o->v : 0);
}

static void check_told(const struct row *row, const struct mt_growth_process *p,
                       const struct mt_baseline_device *d)
{
    const char *const why[] = {row->by_step, row->by_minute};
    const double in_a_minute = row->steps && p->growth.unit == MT_PER_STEP ? 60 : 1;
    for (int i = 0; i < 2; i++) {
        const struct mt_baseline_other *o =
            &d->other[mt_baseline_other(i ? MT_FIG_RSS_PER_MINUTE_B : MT_FIG_RSS_PER_STEP_B)];
        if (!why[i])
            check_known(o, &p->growth, i ? in_a_minute : 1);
        else if (o->known || !o->why || strncmp(o->why, why[i], strlen(why[i])) != 0)
            fail_msg("by %s: %s", i ? "minute" : "step", o->why ? o->why : "no reason");
        assert_int_equal(o->least, !why[i] && row->gaps);
        assert_false(o->young);
    }
    assert_int_equal(d->doubt[MT_FIG_AT_PEAK_B], row->doubt_b);
    assert_int_equal(d->profiled, row->part == MT_PART_BEHIND || row->part == MT_PART_NONE);
}

static void ask_check(struct kept *k, const struct row *row, const struct mt_growth_process *p)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_baseline b = {.warmup = 1};
    struct mt_baseline_device to = {0};
    struct mt_run_device d;
    find(k, "process", &d);
    mt_strtab_init(&b.texts);
    to.v[MT_FIG_AT_PEAK_B] = d.peak_b;
    OK(mt_baseline_measure_process(k->db, &k->run, &d, p->gaps, &k->steps, &b, &to, &err));
    check_told(row, p, &to);
    mt_strtab_free(&b.texts);
}

/* ---- tests ---- */

static void of_a_process(void **state)
{
    const struct row *row = *state;
    struct mt_err err = MT_ERR_INIT;
    struct mt_process_log log;
    struct mt_growth_process p;
    struct kept k = {0};
    size_t process;
    begin(&k, &log);
    OK(mt_process_of(&log, -1, &process, &err));
    look(&log, process, row->rss, row->file, row->first, row->seconds);
    if (row->profiler)
        mt_rec_meta(&k.rec, "profiler", row->profiler, strlen(row->profiler));
    for (int i = 0; i < row->steps; i++)
        *mt_vec_push(&k.rec.steps) =
            (struct mt_step){.number = i, .start_ns = i * SEC, .end_ns = (i + 1) * SEC};
    if (row->note)
        mt_rec_note(&k.rec, (enum mt_note_kind)row->note, -1, 0);
    keep(&k, &log);
    judge(&k, "process", &p);
    if (p.growth.verdict != row->want || p.part != row->part || p.growth.unit != row->unit)
        fail_msg("%s, part %d, unit %d: %.0f..%.0f", mt_growth_names[p.growth.verdict], p.part,
                 p.growth.unit, p.growth.least, p.growth.most);
    assert_int_equal(p.loads, row->loads);
    assert_int_equal(p.refills, row->refills);
    assert_false(p.young);
    assert_int_equal(p.there.from_ns, 0); /* the command was there from the begin on */
    assert_int_equal(p.there.to_ns, row->seconds * SEC);
    assert_int_equal(p.gaps, row->gaps);
    if (row->most_b && fabs(p.growth.most * p.growth.units - (double)row->most_b) > MIB / 2.0)
        fail_msg("%.0f at most", p.growth.most * p.growth.units);
    ask_check(&k, row, &p);
    drop(&k);
}

/* Of a minute: a child is young that was there for less than half of it. */
static void of_children(void **unused)
{
    static const struct {
        const char *name;
        int from, to, ends; /* seconds; 0: nobody saw it end */
        bool young;
    } children[] = {
        {"process:1", 0, 60, 0, false},   {"process:2", 20, 60, 0, false},
        {"process:3", 35, 60, 0, true},   {"process:4", 0, 60, 20, true},
        {"process:5", 10, 45, 45, false}, {"process:6", 0, 20, 0, true},
        {"process:7", 0, 0, 0, true},
    };
    struct mt_err err = MT_ERR_INIT;
    struct mt_process_log log;
    struct mt_growth_process p;
    struct kept k = {0};
    size_t process;
    (void)unused;
    begin(&k, &log);
    OK(mt_process_of(&log, -1, &process, &err));
    look(&log, process, flat, NULL, 0, 60);
    for (size_t i = 0; i < MT_ARRAY_LEN(children); i++) {
        OK(mt_process_of(&log, (int64_t)i + 1, &process, &err));
        look(&log, process, leak, NULL, children[i].from, children[i].to);
        if (children[i].ends)
            OK(mt_process_mark(&log, process, children[i].ends * SEC, "exit", "", 0, 0, &err));
    }
    keep(&k, &log);
    for (size_t i = 0; i < MT_ARRAY_LEN(children); i++) {
        judge(&k, children[i].name, &p);
        if (p.young != children[i].young)
            fail_msg("%s is %syoung", children[i].name, p.young ? "" : "not ");
        assert_int_equal(p.there.from_ns, children[i].from * SEC);
    }
    drop(&k);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, of_a_process, rows);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(of_children);
    return ROWS_RUN(&t, "growth of processes in a database");
}
