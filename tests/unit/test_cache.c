/* cmd/cache_files.c: copies that are begun while others clear what is left of such. */
#include "cmd/cache_parts.h"
#include "tests/unit/rows.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGUN_N = 3000 };

struct removing {
    const char *name;
    void (*remove)(const char *folder);
};

static void prune(const char *folder)
{
    mt_cache_prune(folder, 0);
}

static void clear(const char *folder)
{
    struct mt_cache_cleared cleared;
    struct mt_err err = MT_ERR_INIT;
    (void)folder; /* MEMTOOL_CACHE */
    if (mt_cache_clear(&cleared, &err) != MT_OK)
        _exit(1);
}

static void begun(void **state)
{
    const struct removing *row = *state;
    char folder[] = "/tmp/memtool-test-XXXXXX", copy[128];
    int lost_n = 0, status;
    struct stat info;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("MEMTOOL_CACHE", folder, 1), 0);
    snprintf(copy, sizeof copy, "%s/0123456789abcdef0123456789abcdef.db", folder);
    pid_t other = fork();
    assert_true(other >= 0);
    while (!other)
        row->remove(folder);
    for (int i = 0; i < BEGUN_N; i++) {
        int fd;
        char *path = mt_cache_begin(copy, &fd);
        assert_non_null(path);
        for (int look = 0; look < 20; look++) /* time for the other to act on what it saw */
            lost_n += stat(path, &info) != 0;
        unlink(path);
        close(fd);
        free(path);
    }
    assert_int_equal(waitpid(other, &status, WNOHANG), 0);
    kill(other, SIGKILL);
    waitpid(other, &status, 0);
    rmdir(folder);
    assert_int_equal(lost_n, 0);
}

int main(void)
{
    static struct row_tests tests;
    static const struct removing removings[] = {
        {"a report beside leaves a copy alone that has just begun", prune},
        {"so does runs --clear-cache", clear},
    };
    ROWS_ADD(&tests, begun, removings);
    return ROWS_RUN(&tests, "cache");
}
