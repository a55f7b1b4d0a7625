/* Databases of strangers whose figures are as extreme as they can be: whatever sums a report makes
 * of them, it comes to an end, and no command crashes. Real commands run; their sanitizers are the
 * judges, the answers may be nonsense. */
#include "lib/base/mem.h"
#include "tests/unit/rows.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST   "9223372036854775807"
#define LOWEST "(-9223372036854775807 - 1)"
/* The one for every other row, and the other one for the rest. */
#define EITHER(id) "(CASE " id " % 2 WHEN 0 THEN " MOST " ELSE " LOWEST " END)"

#define DEVICES(v)                                                                                 \
    "UPDATE device SET alloc_b = " v ", freed_b = -1 - " v ", net_b = " v ", alloc_n = " v         \
    ", freed_n = " v ", start_b = " v ", peak_b = " v ", peak_ns = " v ", at_end_b = " v " - 1"    \
    ", at_end_n = " v ", before_freed_b = -1 - " v ", before_at_peak_b = -1 - " v                  \
    ", outside_n = " v ", outside_alloc_b = " v ", outside_freed_b = -1 - " v                      \
    ", outside_at_peak_b = " v ", outside_at_end_b = " v ", base_b = " v ", residual_b = " v       \
    ", older_b = -1 - " v ", older_least_b = " v ", older_most_b = -1 - " v                        \
    ", older_used = id % 2, older_from = CASE id % 3 WHEN 0 THEN 'option' END"
#define STATS(v)                                                                                   \
    "UPDATE node_stat SET alloc_b = " v ", freed_b = -1 - " v ", alloc_n = " v ", at_peak_b = " v  \
    ", at_end_b = " v ", at_peak_n = " v ", at_end_n = " v
#define CHUNKS(v)                                                                                  \
    "UPDATE usage_chunk SET start_b = " v ", first_ns = -1 - " v ", min_b = -1 - " v               \
    ", min_ns = " v ", max_b = " v ", max_ns = " v ", last_b = " v ", last_ns = -1 - " v

/* Several statements of one row spoil what does not hide one another. */
static const struct strange {
    const char *name, *sql;
} strange[] = {
    {"as recorded", "SELECT 1"},
    {"most bytes", "UPDATE alloc SET bytes_b = " MOST
                   ";" STATS(MOST) ";"
                                   "UPDATE holding SET changes = '[0," MOST "," MOST "]'"},
    {"fewest bytes",
     "UPDATE alloc SET bytes_b = " LOWEST ";" STATS(
         LOWEST) ";"
                 "UPDATE holding SET changes = '[0,-9223372036854775808,-9223372036854775808]'"},
    {"most bytes and fewest in turn",
     "UPDATE alloc SET bytes_b = " EITHER("id") ";" STATS(EITHER("node_id"))},
    {"a net of fewest bytes", "UPDATE node_stat SET alloc_b = " LOWEST ", freed_b = 0"},
    {"devices of most", DEVICES(MOST)},
    {"devices of least", DEVICES("(" LOWEST " + 1)")},
    {"chunks of most", CHUNKS(MOST)},
    {"chunks of least", CHUNKS("(" LOWEST " + 1)")},
    {"ops that never end",
     "UPDATE op SET dur_ns = " MOST ";"
     "UPDATE node_op SET calls_n = " MOST ", time_ns = " MOST ", self_time_ns = " MOST},
    {"ops that end before they begin",
     "UPDATE op SET dur_ns = " LOWEST ";"
     "UPDATE node_op SET calls_n = " LOWEST ", time_ns = " LOWEST ", self_time_ns = " LOWEST},
    {"ops far ahead or long ago",
     "UPDATE op SET start_ns = " EITHER("id") ", dur_ns = " EITHER("(id / 2)")},
    {"threads of ops beyond all", "UPDATE thread SET op_first = op_first + 1, op_n = " MOST},
    {"threads of ops before all", "UPDATE thread SET op_first = " LOWEST ", op_n = " LOWEST},
    {"blocks that live for ever", "UPDATE alloc SET alloc_ns = " LOWEST ", freed_ns = " MOST},
    {"blocks that die before all", "UPDATE alloc SET alloc_ns = " MOST ", freed_ns = " LOWEST ";"
                                   "UPDATE sample SET time_ns = " EITHER("position")},
    {"steps without end",
     "UPDATE step SET start_ns = " LOWEST ", end_ns = " MOST ", number = " MOST " - position"},
    {"steps turned round",
     "UPDATE step SET start_ns = " MOST ", end_ns = " LOWEST ", number = " LOWEST " + position"},
    {"most bytes in segments", "UPDATE segment SET size_b = " MOST ", allocated_b = " MOST ";"
                               "UPDATE block SET size_b = " MOST ";"
                               "UPDATE sample SET value_b = " EITHER("position")},
    {"fewest bytes in segments", "UPDATE segment SET size_b = " LOWEST ", allocated_b = " LOWEST
                                 ";UPDATE block SET size_b = " LOWEST},
    {"segments at the last address",
     "UPDATE segment SET address = -1, stream = " MOST ", alloc_ns = " EITHER(
         "id") ", freed_ns = " EITHER("(id / 2)") ";"
                                                  "UPDATE block SET address = -1 - address % 2"},
    {"runs without end", "UPDATE run SET start_ns = " MOST ", dur_ns = " MOST ", event_n = " MOST
                         ";UPDATE note SET count_n = " MOST ", bytes_b = " MOST},
    {"clocks without end", "UPDATE meta SET value = " MOST " WHERE key LIKE '%time%' OR key LIKE "
                           "'%\\_ns' ESCAPE '\\'"},
    {"runs before all",
     "UPDATE run SET start_ns = " LOWEST ", dur_ns = " LOWEST ", event_n = " LOWEST
     ";UPDATE note SET count_n = " LOWEST ", bytes_b = " LOWEST},
};

/* Two traces and two snapshots of an allocator. */
static const char *const imports[] = {
    "import \"$SAMPLES/cache_steps/trace.json.gz\" --name trace",
    "import \"$SAMPLES/fork_async/trace.json.gz\" --name other",
    "import \"$SAMPLES/snapshots/oom.pickle\" --name snap",
    "import \"$SAMPLES/snapshots/fragmented.pickle\" --name snap2",
};

static const char *const commands[] = {
    "runs",
    "info trace",
    "table trace",
    "table trace --by shape,thread,step,forward --limit 0 --format json",
    "table other --by site,phase,path --limit 0 --format csv",
    "table trace --step 1..3",
    "table snap --by step,thread",
    "table trace --compat torch",
    "tree trace",
    "tree trace --invert --bytes",
    "peak trace --step 1..2 --by step,shape",
    "peak trace --at '@step 1' --at @end",
    "peak trace --per step",
    "peak trace --per name",
    "peak snap --by path",
    "timeline trace",
    "timeline trace --by shape --format csv",
    "timeline trace --exact --format json",
    "timeline snap --by site --format svg",
    "timeline snap --metric reserved --format csv",
    "leaks trace --all",
    "leaks trace --by path,shape --all --format json",
    "leaks other trace other",
    "diff trace other",
    "diff other trace --by path,thread --format json --limit 0",
    "diff snap snap2",
    "check trace --max-peak 1KiB --max-growth-per-step 0",
    "check trace --baseline other --max-peak-growth 5% --max-alloc-growth 10% "
    "--max-alloc-count-growth 10% --max-at-end-growth 1",
    "export --baseline trace other",
    "memory snap",
    "memory snap --from 10us --format json",
    "segments snap2 --by site --bytes",
    "segments snap2 --format svg",
    "fragmentation snap2 --fit 40MiB --format json",
    "query 'SELECT * FROM v_device'",
};

enum { USAGE_EXIT = 2, WORST_EXIT = 3, SANITIZER_EXIT = 77 };

static void complain(const char *command, int status)
{
    char line[512];
    FILE *f = fopen("stderr.txt", "r");
    while (f && fgets(line, sizeof line, f))
        print_error("%s", line);
    if (f)
        fclose(f);
    fail_msg("memtool %s: wait status %#x", command, (unsigned)status);
}

/* Its exit status; what it writes is thrown away. */
static int run_command(const char *command, const char *db)
{
    char *line = mt_asprintf("\"$MEMTOOL\" %s --db %s >/dev/null 2>stderr.txt", command, db);
    int status = system(line);
    free(line);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > WORST_EXIT)
        complain(command, status);
    return WEXITSTATUS(status);
}

static int make_runs(void **state)
{
    (void)state;
    char options[64];
    if (!getenv("MEMTOOL") || !getenv("SAMPLES") || chdir(getenv("TMPDIR")) < 0)
        return -1;
    snprintf(options, sizeof options, "exitcode=%d", SANITIZER_EXIT);
    setenv("ASAN_OPTIONS", options, 1);
    snprintf(options, sizeof options, "halt_on_error=1:exitcode=%d", SANITIZER_EXIT);
    setenv("UBSAN_OPTIONS", options, 1);
    for (size_t i = 0; i < MT_ARRAY_LEN(imports); i++)
        if (run_command(imports[i], "sound.db") != 0)
            return -1;
    return 0;
}

static void report_strange(void **state)
{
    const struct strange *row = *state;
    sqlite3 *db;
    assert_int_equal(system("cp sound.db strange.db"), 0);
    assert_int_equal(sqlite3_open("strange.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, row->sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (size_t i = 0; i < MT_ARRAY_LEN(commands); i++)
        if (run_command(commands[i], "strange.db") == USAGE_EXIT && row == strange)
            complain(commands[i], USAGE_EXIT); /* the command itself must be a sound one */
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, report_strange, strange);
    return _cmocka_run_group_tests("strange figures", tests.v, tests.n, make_runs, NULL);
}
