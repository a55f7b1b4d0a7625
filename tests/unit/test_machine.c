/* lib/base/machine.h: how much memory there is, of made-up /proc and /sys. */
#include "lib/base/machine.h"
#include "lib/base/mem.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP "/proc/self/cgroup"
#define SYS    "/sys/fs/cgroup"

static const struct machine {
    const char *name;
    struct file {
        const char *path, *text;
    } files[6];
    uint64_t want;
} machines[] = {
    {"no cgroup", {{"/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 3 kB\n"}}, 1000 << 10},
    {"lines before it", {{"/proc/meminfo", "Other: 7 kB\nMemTotal: 12 kB\n"}}, 12 << 10},
    {"a container",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"},
      {CGROUP, "0::/\n"},
      {SYS "/memory.max", "500000\n"}},
     500000},
    {"a cgroup without a limit",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"},
      {CGROUP, "0::/user\n"},
      {SYS "/user/memory.max", "max\n"}},
     1000 << 10},
    {"a limit around the cgroup",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"},
      {CGROUP, "0::/a/b\n"},
      {SYS "/a/b/memory.max", "900000\n"},
      {SYS "/a/memory.max", "400000\n"}},
     400000},
    {"a limit beyond what there is",
     {{"/proc/meminfo", "MemTotal: 10 kB\n"}, {CGROUP, "0::/\n"}, {SYS "/memory.max", "500000\n"}},
     10 << 10},
    {"version 1",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"},
      {CGROUP, "5:devices:/\n4:cpu,memory:/job\n1:name=systemd:/\n0::/\n"},
      {SYS "/memory/job/memory.limit_in_bytes", "300000\n"},
      {SYS "/memory.max", "max\n"}},
     300000},
    {"version 1, the path is the host's",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"},
      {CGROUP, "4:memory:/docker/0123\n"},
      {SYS "/memory/memory.limit_in_bytes", "200000\n"}},
     200000},
    {"version 1 without a limit",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"},
      {CGROUP, "4:memory:/\n"},
      {SYS "/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
     1000 << 10},
    {"lines that make no sense",
     {{"/proc/meminfo", "MemTotal: 1000 kB\n"}, {CGROUP, "\n:\n::\nmemory\n"}},
     1000 << 10},
};

static void put(const char *root, const struct file *file)
{
    char *path = mt_asprintf("%s%s", root, file->path);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(file->text, f);
    fclose(f);
    free(path);
}

static void test_machine(void **state)
{
    const struct machine *m = *state;
    const char *tmp = getenv("TMPDIR");
    char *root = mt_asprintf("%s/machine-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < MT_ARRAY_LEN(m->files) && m->files[i].path; i++)
        put(root, &m->files[i]);
    assert_int_equal(mt_machine_memory(root), m->want);
    char *clean = mt_asprintf("rm -r '%s'", root);
    assert_int_equal(system(clean), 0);
    free(clean);
    free(root);
}

static void test_this_machine(void **state)
{
    (void)state;
    assert_in_range(mt_machine_memory(""), 16 << 20, (uint64_t)1 << 50);
}

int main(void)
{
    struct row_tests tests = {0};
    ROWS_ADD(&tests, test_machine, machines);
    const struct CMUnitTest here = cmocka_unit_test(test_this_machine);
    tests.v[tests.n++] = here;
    return ROWS_RUN(&tests, "machine");
}
