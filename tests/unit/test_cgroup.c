/* lib/record/cgroup.h: both versions of the kernel's files, groups that are not there. */
#include "lib/record/cgroup.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct row {
    const char *name, *text; /* of /proc/PID/cgroup */
    const char *path;        /* NULL: nothing is known */
    struct mt_cgroup_values want;
};

static const struct row rows[] = {
    {"version 1", "9:cpu:/\n4:memory:/job/7\n0::/\n", "/job/7", {1000, 2000, 4096, 3}},
    {"no limit", "4:memory:/free\n", "/free", {5, 6, -1, 0}},
    {"a container with the host's path", "4:memory:/docker/abc\n", "/docker/abc", {7, -1, -1, -1}},
    {"version 2", "0::/unit\n", "/unit", {11, 12, 13, 1}},
    {"version 2 without a limit", "0::/nolimit\n", "/nolimit", {11, -1, -1, -1}},
    {"neither", "3:cpu:/\n", NULL, {0}},
    {"nothing", "", NULL, {0}},
    {"no lines", "4:memory", NULL, {0}},
};
static char root[] = "/tmp/memtool-cgroup.XXXXXX";

static void put(const char *path, const char *text)
{
    char all[512];
    snprintf(all, sizeof all, "%s/%s", root, path);
    for (char *at = all + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(all, 0777);
    }
    FILE *f = fopen(all, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_find(void **state)
{
    const struct row *row = *state;
    struct mt_cgroup g;
    struct mt_cgroup_values v;
    bool found = mt_cgroup_find(root, row->text, &g);
    assert_int_equal(found, row->path != NULL);
    mt_cgroup_read(&g, &v);
    if (!found)
        return;
    assert_string_equal(g.path, row->path);
    assert_int_equal(v.current_b, row->want.current_b);
    assert_int_equal(v.peak_b, row->want.peak_b);
    assert_int_equal(v.max_b, row->want.max_b);
    assert_int_equal(v.oom_kill_n, row->want.oom_kill_n);
}

static int make(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    put("memory/job/7/memory.usage_in_bytes", "1000\n");
    put("memory/job/7/memory.max_usage_in_bytes", "2000\n");
    put("memory/job/7/memory.limit_in_bytes", "4096\n");
    put("memory/job/7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    put("memory/free/memory.usage_in_bytes", "5\n");
    put("memory/free/memory.max_usage_in_bytes", "6\n");
    put("memory/free/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/free/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    put("memory/memory.usage_in_bytes", "7\n");
    put("unit/memory.current", "11\n");
    put("unit/memory.peak", "12\n");
    put("unit/memory.max", "13\n");
    put("unit/memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
    put("nolimit/memory.current", "11\n");
    put("nolimit/memory.max", "max\n");
    return 0;
}

static int clear(void **state)
{
    char line[64];
    (void)state;
    snprintf(line, sizeof line, "rm -rf %s", root);
    return system(line); /* NOLINT(cert-env33-c): a folder of our own */
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_find, rows);
    return _cmocka_run_group_tests("cgroup", t.v, t.n, make, clear);
}
