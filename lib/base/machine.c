#include "lib/base/machine.h"

#include "lib/base/mem.h"
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* MemTotal of /proc/meminfo, else what sysconf says. */
static uint64_t physical(const char *root)
{
    char *path = mt_asprintf("%s/proc/meminfo", root), line[256];
    FILE *f = fopen(path, "r");
    unsigned long long kib = 0;
    while (f && !kib && fgets(line, sizeof line, f))
        if (sscanf(line, "MemTotal: %llu kB", &kib) != 1)
            kib = 0;
    if (f)
        fclose(f);
    free(path);
    if (kib && kib <= UINT64_MAX >> 10)
        return (uint64_t)kib << 10;
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : UINT64_MAX;
}

/* The number in a file of a cgroup; no limit where there is none ("max", or no such file). */
static uint64_t limit_in(const char *folder, const char *name)
{
    char *path = mt_asprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    unsigned long long limit;
    bool known = f && fscanf(f, "%llu", &limit) == 1;
    if (f)
        fclose(f);
    free(path);
    return known ? limit : UINT64_MAX;
}

/* The least limit of a cgroup and those around it. In a container its path may be the host's, of
 * which only the top can be seen: that then is the container's own. */
static uint64_t limit_of(const char *root, const char *mount, const char *group, const char *name)
{
    char *folder = mt_asprintf("%s/sys/fs/cgroup%s%s", root, mount, group);
    size_t top = strlen(root) + strlen("/sys/fs/cgroup") + strlen(mount);
    uint64_t least = UINT64_MAX;
    for (char *end = folder + strlen(folder); end; end = strrchr(folder + top, '/')) {
        *end = '\0';
        least = lesser(least, limit_in(folder, name));
    }
    free(folder);
    return least;
}

/* A line of /proc/self/cgroup: "0::PATH" of version 2, "N:CONTROLLER,CONTROLLER:PATH" of 1. */
static uint64_t limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':'), *group, *save;
    line[strcspn(line, "\n")] = '\0';
    if (!controllers || !(group = strchr(++controllers, ':')))
        return UINT64_MAX;
    *group++ = '\0';
    if (!*controllers)
        return limit_of(root, "", group, "memory.max");
    for (char *c = strtok_r(controllers, ",", &save); c; c = strtok_r(NULL, ",", &save))
        if (strcmp(c, "memory") == 0)
            return limit_of(root, "/memory", group, "memory.limit_in_bytes");
    return UINT64_MAX;
}

static uint64_t of_cgroups(const char *root)
{
    char *path = mt_asprintf("%s/proc/self/cgroup", root), line[4096];
    FILE *f = fopen(path, "r");
    uint64_t least = UINT64_MAX;
    while (f && fgets(line, sizeof line, f))
        least = lesser(least, limit_of_line(root, line));
    if (f)
        fclose(f);
    free(path);
    return least;
}

uint64_t mt_machine_memory(const char *root)
{
    struct rlimit own;
    uint64_t memory = lesser(physical(root), of_cgroups(root));
    if (!*root && getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
        memory = lesser(memory, own.rlim_cur);
    return memory;
}

int mt_machine_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0)
        return CPU_COUNT(&cores);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}
