#include "lib/record/thread_stacks.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mt_thread_stacks_free(struct mt_thread_stacks *s)
{
    mt_vec_free(&s->all);
}

typedef MT_VEC(uint64_t) addresses;

/* "230 0x0 ... 0x7ffc 0x7f64": the call, its six arguments, where the stack is, and the code; or
 * "running", and then nobody knows. */
static bool stack_pointer(const char *text, uint64_t *out)
{
    enum { BEHIND = 7 };
    for (int i = 0; text && i < BEHIND; i++) {
        text = strchr(text, ' ');
        text += text != NULL;
    }
    *out = text ? strtoull(text, NULL, 16) : 0;
    return *out != 0;
}

/* Outside of a call there are no arguments: "-1 0x7ffc 0x7f64". */
static void add_pointer(const char *path, addresses *out)
{
    char line[256];
    uint64_t at;
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    bool read = fgets(line, sizeof line, f);
    fclose(f);
    bool idle = read && strncmp(line, "-1 ", 3) == 0;
    if (idle)
        at = strtoull(line + 3, NULL, 16);
    if (read && (idle || stack_pointer(line, &at)))
        *mt_vec_push(out) = at;
}

static void find_pointers(pid_t pid, addresses *out)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    const struct dirent *task;
    while (tasks && (task = readdir(tasks))) {
        if (task->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/syscall", (int)pid, task->d_name);
        add_pointer(path, out);
    }
    if (tasks)
        closedir(tasks);
}

/* One mapping after the other. */
struct reading {
    const addresses *pointers;
    const struct mt_thread_stacks *before;
    struct mt_thread_stacks found;
    uint64_t guard_to; /* where the last mapping ends, if nobody may touch it */
    bool any, is_stack;
    int64_t stacks_b;
    struct mt_proc_shares shares;
};

static bool is_known(const struct reading *r, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < r->before->all.n; i++)
        if (r->before->all.v[i].from == from && r->before->all.v[i].to == to)
            return true;
    for (size_t i = 0; i < r->pointers->n; i++)
        if (r->pointers->v[i] >= from && r->pointers->v[i] < to)
            return true;
    return false;
}

/* "7ffc0-7ffd0 rw-p 00000000 00:00 0    [stack]" */
static void begin_mapping(struct reading *r, const char *line)
{
    uint64_t from, to, inode;
    char rights[5], device[32];
    int behind = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %31s %" SCNu64 "%n", &from, &to, rights,
               device, &inode, &behind) != 5)
        return;
    const char *name = line + behind + strspn(line + behind, " ");
    bool guarded = r->guard_to == from && *name == '\n' && !inode && strncmp(rights, "rw", 2) == 0;
    bool thread = guarded && is_known(r, from, to);
    r->is_stack = thread || strncmp(name, "[stack", 6) == 0;
    r->guard_to = strncmp(rights, "---", 3) == 0 ? to : 0;
    r->any = true;
    if (thread)
        *mt_vec_push(&r->found.all) = (struct mt_thread_stack){from, to};
}

/* "Rss:    1234 kB" of the mapping. */
static void take_figure(struct reading *r, const char *line)
{
    struct mt_proc_shares *s = &r->shares;
    const struct {
        const char *name;
        int64_t *sum;
    } figures[] = {{"Pss:", &s->pss},
                   {"Private_Clean:", &s->own},
                   {"Private_Dirty:", &s->own},
                   {"Swap:", &s->swap},
                   {"Rss:", r->is_stack ? &r->stacks_b : NULL}};
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++) {
        size_t n = strlen(figures[i].name);
        if (figures[i].sum && strncmp(line, figures[i].name, n) == 0)
            *figures[i].sum += strtoll(line + n, NULL, 10) * 1024;
    }
}

static void read_mappings(struct reading *r, FILE *f)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, f) > 0)
        if (*line >= 'A' && *line <= 'Z')
            take_figure(r, line);
        else
            begin_mapping(r, line);
    free(line);
}

enum mt_proc_state mt_thread_stacks_read(pid_t pid, struct mt_thread_stacks *s,
                                         struct mt_proc_shares *shares, int64_t *stacks_b)
{
    char path[48];
    addresses pointers = {0};
    struct reading r = {.pointers = &pointers, .before = s};
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT || errno == ESRCH ? MT_PROC_GONE : MT_PROC_HIDDEN;
    find_pointers(pid, &pointers);
    errno = 0;
    read_mappings(&r, f);
    bool refused = !r.any && (errno == EACCES || errno == EPERM);
    fclose(f);
    mt_vec_free(&pointers);
    mt_thread_stacks_free(s);
    *s = r.found;
    *shares = r.shares;
    *stacks_b = r.stacks_b;
    return r.any ? MT_PROC_THERE : refused ? MT_PROC_HIDDEN : MT_PROC_GONE;
}
