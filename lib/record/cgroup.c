#include "lib/record/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 16384, PATH = 1024 };

static const struct names {
    const char *current, *peak, *max, *events;
} names[] = {{"memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.limit_in_bytes",
              "memory.oom_control"},
             {"memory.current", "memory.peak", "memory.max", "memory.events"}};

static bool read_file(const char *path, char text[TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

static bool read_own(const struct mt_cgroup *g, const char *name, char text[TEXT])
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", g->dir, name);
    return read_file(path, text);
}

static bool is_there(const char *root, const char *path, bool second, struct mt_cgroup *out)
{
    char text[TEXT];
    int n = snprintf(out->dir, sizeof out->dir, "%s%s%s", root, second ? "" : "/memory", path);
    out->second = second;
    return n < (int)sizeof out->dir && read_own(out, names[second].current, text);
}

/* The path in a line "4:memory:/path", or "0::/path" of version 2. */
static bool path_in(const char *line, bool second, char path[MT_CGROUP_PATH])
{
    const char *kinds = strchr(line, ':'), *at = kinds ? strchr(kinds + 1, ':') : NULL;
    size_t n = at ? strcspn(at + 1, "\n") : 0;
    bool is = second ? strncmp(line, "0::", 3) == 0 : at && strncmp(kinds, ":memory:", 8) == 0;
    if (!is || !at || n >= MT_CGROUP_PATH)
        return false;
    snprintf(path, MT_CGROUP_PATH, "%.*s", (int)n, at + 1);
    return true;
}

/* In a container the path may be the host's, and the mount its own group. */
bool mt_cgroup_find(const char *root, const char *text, struct mt_cgroup *out)
{
    *out = (struct mt_cgroup){.dir = ""};
    for (int second = 0; second < 2; second++)
        for (const char *line = text; line && *line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (path_in(line, second, out->path) &&
                (is_there(root, strcmp(out->path, "/") == 0 ? "" : out->path, second, out) ||
                 is_there(root, "", second, out)))
                return true;
        }
    *out = (struct mt_cgroup){.dir = ""};
    return false;
}

bool mt_cgroup_has(const struct mt_cgroup *g, pid_t pid)
{
    char name[48], text[TEXT], path[MT_CGROUP_PATH];
    snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
    if (!read_file(name, text))
        return true;
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (path_in(line, g->second, path))
            return strcmp(path, g->path) == 0;
    }
    return true;
}

bool mt_cgroup_of(pid_t pid, struct mt_cgroup *out)
{
    char path[48], text[TEXT];
    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    *out = (struct mt_cgroup){.dir = ""};
    return read_file(path, text) && mt_cgroup_find(MT_CGROUP_ROOT, text, out);
}

/* "max", and what version 1 has for it, is no limit. */
static int64_t number_in(const char *text)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    return end == text || errno || v < 0 || v >= (1LL << 60) ? -1 : v;
}

static int64_t number(const struct mt_cgroup *g, const char *name)
{
    char text[TEXT];
    return read_own(g, name, text) ? number_in(text) : -1;
}

/* The number of a line "name 3". */
static int64_t number_of(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n)
        if ((at == text || at[-1] == '\n') && at[n] == ' ')
            return strtoll(at + n, NULL, 10);
    return -1;
}

int mt_cgroup_open_current(const struct mt_cgroup *g)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", g->dir, names[g->second].current);
    return g->dir[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

int64_t mt_cgroup_current(int fd)
{
    char text[64];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    return number_in(text);
}

void mt_cgroup_read(const struct mt_cgroup *g, struct mt_cgroup_values *out)
{
    char text[TEXT];
    const struct names *of = &names[g->second];
    *out = (struct mt_cgroup_values){-1, -1, -1, -1};
    if (!g->dir[0])
        return;
    out->current_b = number(g, of->current);
    out->peak_b = number(g, of->peak);
    out->max_b = number(g, of->max);
    if (read_own(g, of->events, text))
        out->oom_kill_n = number_of(text, "oom_kill");
}

int64_t mt_system_oom_kills(void)
{
    char text[TEXT];
    return read_file("/proc/vmstat", text) ? number_of(text, "oom_kill") : -1;
}
