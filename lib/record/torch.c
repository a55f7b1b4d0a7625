#include "lib/record/torch.h"

#include "lib/base/human.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_times(const char *value, int64_t out[2])
{
    char *rest;
    out[0] = strtoll(value, &rest, 10);
    out[1] = strtoll(rest, NULL, 10);
}

static void take_line(struct mt_torch_process *p, const char *key, const char *value)
{
    if (strcmp(key, "state") == 0)
        snprintf(p->state, sizeof p->state, "%s", value);
    else if (strcmp(key, "why") == 0)
        snprintf(p->why, sizeof p->why, "%s", value);
    else if (strcmp(key, "steps") == 0)
        p->step_n = strtoll(value, NULL, 10);
    else if (strcmp(key, "started") == 0)
        take_times(value, p->start_ns);
    else if (strcmp(key, "stopped") == 0)
        take_times(value, p->stop_ns);
    else if (strcmp(key, "rank") == 0 && *value)
        p->rank = strtoll(value, NULL, 10);
}

/* Lines of "KEY VALUE". */
static void read_said(const char *path, struct mt_torch_process *p)
{
    char line[512];
    FILE *in = fopen(path, "r");
    if (!in)
        return;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        char *blank = strchr(line, ' ');
        if (blank) {
            *blank = '\0';
            take_line(p, line, blank + 1);
        }
    }
    fclose(in);
}

static int by_pid(const void *a, const void *b)
{
    const struct mt_torch_process *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void mt_torch_read(const char *folder, struct mt_torch *out)
{
    *out = (struct mt_torch){0};
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        char *end;
        struct mt_torch_process p = {.pid = strtoll(e->d_name, &end, 10), .rank = -1};
        out->python |= strcmp(e->d_name, "python") == 0;
        if (strcmp(end, ".said") != 0)
            continue;
        char *said = mt_asprintf("%s/%s", folder, e->d_name);
        char *trace = mt_asprintf("%s/%lld.json", folder, (long long)p.pid);
        read_said(said, &p);
        p.trace = access(trace, R_OK) == 0;
        *mt_vec_push(&out->all) = p;
        free(said);
        free(trace);
    }
    closedir(dir);
    if (out->all.n)
        qsort(out->all.v, out->all.n, sizeof *out->all.v, by_pid);
}

void mt_torch_free(struct mt_torch *t)
{
    mt_vec_free(&t->all);
}

/* Adds the times of one optimizer's steps to out, if there are such lines. */
static void read_times(const char *path, int64_t optimizer, mt_torch_times *out)
{
    char line[64];
    FILE *in = fopen(path, "r");
    int64_t of_time[2];
    while (in && fgets(line, sizeof line, in)) {
        take_times(line, of_time);
        if (of_time[0] == optimizer && of_time[1])
            *mt_vec_push(out) = of_time[1];
    }
    if (in)
        fclose(in);
}

void mt_torch_later_steps(const char *folder, const struct mt_torch_process *p, size_t trace_n,
                          mt_torch_times *out)
{
    enum { OPTIMIZERS = 16 };
    char *path = mt_asprintf("%s/%lld.steps", folder, (long long)p->pid);
    size_t n = 0, until = 0;
    out->n = 0;
    for (int i = 0; i < OPTIMIZERS && trace_n && p->stop_ns[0]; i++) {
        out->n = until = 0;
        read_times(path, i, out);
        while (until < out->n && out->v[until] <= p->stop_ns[0])
            until++;
        if (until == trace_n)
            break;
    }
    if (until == trace_n)
        while (until < out->n)
            out->v[n++] = out->v[until++];
    out->n = n;
    free(path);
}

static void add_life(const struct mt_torch_process *p, int64_t base_ns, int64_t peak_ns,
                     struct mt_buf *out)
{
    const int64_t *start = p->start_ns, *stop = p->stop_ns;
    char text[MT_HUMAN_MAX];
    mt_buf_addf(out, "it ran from %s ", mt_human_ns(start[0] - base_ns, text));
    mt_buf_addf(out, stop[0] ? "to %s" : "on", mt_human_ns(stop[1] - base_ns, text));
    mt_buf_addf(out, " (%s to start", mt_human_ns(start[1] - start[0], text));
    if (stop[0])
        mt_buf_addf(out, ", %s to write its trace", mt_human_ns(stop[1] - stop[0], text));
    mt_buf_adds(out, ")");
    if (peak_ns < start[0] - base_ns)
        return;
    bool there = !stop[0] || peak_ns <= stop[1] - base_ns;
    mt_buf_adds(out, there ? ", also when rss was highest"
                           : "; what it left may be part of the highest rss");
}

void mt_torch_costs(const struct mt_torch *t, int64_t base_ns, int64_t peak_ns, struct mt_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->all.n; i++)
        n += t->all.v[i].start_ns[0] != 0;
    if (t->all.n > 1 && n) /* whose peak it is, nobody knows */
        mt_buf_addf(out, "it ran in %zu processes", n);
    else if (n)
        add_life(&t->all.v[0], base_ns, peak_ns, out);
}

/* Why a process has no trace, or not all of it. */
static const char *what_of(const struct mt_torch_process *p)
{
    if (strcmp(p->state, "running") == 0)
        return "it was killed, ended by os._exit or still runs, and so wrote no trace";
    return p->why;
}

void mt_torch_missing(const struct mt_torch *t, struct mt_buf *out)
{
    for (size_t i = 0; i < t->all.n; i++) {
        const struct mt_torch_process *p = &t->all.v[i];
        const char *what = what_of(p);
        if (*what)
            mt_buf_addf(out, "%sprocess %lld: %s", out->n ? "; " : "", (long long)p->pid, what);
    }
    if (!t->python)
        mt_buf_adds(out, "no Python that looks at PYTHONPATH was run (-I, -E and -S keep it from "
                         "that)");
    else if (!t->all.n)
        mt_buf_adds(out, "no process imported torch");
}
