#include "cmd/record_torch.h"

#include "cmd/common.h"
#include "cmd/import_file.h"
#include "cmd/support.h"
#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include "lib/record/live.h"
#include "lib/record/torch.h"
#include "lib/run/runs.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS "8" /* as many as docs/recording.md records of a loop */

/* ---- before ---- */

static enum mt_status parse_steps(struct mt_record_torch *t, struct mt_err *err)
{
    enum { DIGITS = 9 };
    size_t n = strspn(t->asked, "0123456789");
    const char *steps = *t->asked ? t->asked : STEPS;
    bool all = strcmp(steps, "all") == 0;
    if (*t->asked && !all && (t->asked[n] || n > DIGITS || !strtol(t->asked, NULL, 10))) {
        MT_FAIL(err, MT_EUSAGE, "--torch is a number of optimizer steps or all, not '%s'",
                t->asked);
        mt_err_hint(err, "Nothing was run. --torch alone records the first " STEPS " steps.");
        return MT_EUSAGE;
    }
    snprintf(t->steps, sizeof t->steps, "%s", all ? "" : steps);
    return MT_OK;
}

enum mt_status mt_record_torch_begin(struct mt_record_torch *t, struct mt_err *err)
{
    if (!t->asked)
        return MT_OK;
    MT_TRY(parse_steps(t, err));
    MT_TRY(mt_support_path("torch", &t->hook, err));
    const char *tmp = getenv("TMPDIR");
    char *path = realpath(tmp && *tmp ? tmp : "/tmp", NULL);
    t->folder = mt_asprintf("%s/memtool-XXXXXX", path ? path : "/tmp");
    free(path);
    if (mkdtemp(t->folder))
        return MT_OK;
    MT_FAIL(err, MT_EIO, "cannot make a folder %s: %s", t->folder, strerror(errno));
    mt_err_hint(err, "Nothing was run. Traces are kept there until they are imported.");
    free(t->folder);
    t->folder = NULL;
    return MT_EIO;
}

void mt_record_torch_env(const struct mt_record_torch *t)
{
    const char *rest = getenv("PYTHONPATH");
    if (!t->folder)
        return;
    char *path = mt_asprintf("%s%s%s", t->hook, rest && *rest ? ":" : "", rest ? rest : "");
    setenv("PYTHONPATH", path, 1);
    setenv("MEMTOOL_TORCH", t->folder, 1);
    setenv("MEMTOOL_TORCH_STEPS", t->steps, 1);
    setenv("MEMTOOL_TORCH_STACKS", t->stacks ? "1" : "", 1);
    free(path);
}

/* ---- after ---- */

void mt_record_torch_missing(const struct mt_record_torch *t, struct mt_buf *out)
{
    struct mt_torch all;
    if (!t->folder)
        return;
    mt_torch_read(t->folder, &all);
    mt_torch_missing(&all, out);
    mt_torch_free(&all);
}

/* The process joins the group, or, of a trace, has its steps. */
static enum mt_status change(struct mt_db *db, const struct mt_run *process, const char *group,
                             const struct mt_run *trace, struct mt_err *err)
{
    MT_TRY(mt_db_begin(db, err));
    enum mt_status st = group ? mt_store_join(db, process->id, group, err)
                              : mt_live_take_steps(db, process->id, trace->id,
                                                   trace->start_ns - process->start_ns, err);
    if (st == MT_OK)
        st = mt_db_commit(db, err);
    if (st != MT_OK)
        mt_db_rollback(db);
    return st;
}

/* "train.torch", of several processes "train.rank0" or "train.4711". */
static char *trace_name(const struct mt_torch *all, const struct mt_torch_process *p,
                        const char *run)
{
    size_t n = 0;
    for (size_t i = 0; i < all->all.n; i++)
        n += all->all.v[i].trace;
    if (p->rank >= 0)
        return mt_asprintf("%s.rank%lld", run, (long long)p->rank);
    return n > 1 ? mt_asprintf("%s.%lld", run, (long long)p->pid) : mt_asprintf("%s.torch", run);
}

static void tell(const struct mt_torch_process *p, const char *trace, const char *group)
{
    char steps[MT_HUMAN_LONG];
    struct mt_buf safe = {0};
    mt_escape_terminal(&safe, trace);
    fprintf(stderr, "memtool: PyTorch's allocations of process %lld%s%s: run %s", (long long)p->pid,
            p->step_n ? ", " : "",
            p->step_n ? mt_human_plural(p->step_n, "optimizer step", steps) : "", safe.s);
    mt_buf_clear(&safe);
    mt_escape_terminal(&safe, group);
    fprintf(stderr, ", in group %s\n", safe.s);
    mt_buf_free(&safe);
}

static enum mt_status import_one(struct mt_db *db, const char *file, const char *source,
                                 const char *group, struct mt_store_result *result,
                                 struct mt_err *err)
{
    struct mt_recording rec;
    char hash[33];
    struct mt_import_opts how = {.source = source};
    *mt_vec_push(&how.groups) = group;
    enum mt_status st = mt_import_read(file, &how, &rec, hash, err);
    if (st == MT_OK)
        st = mt_import_store(db, file, &how, &rec, hash, result, err);
    mt_buf_free(&result->joined);
    mt_buf_free(&result->latest);
    mt_rec_free(&rec);
    mt_vec_free(&how.groups);
    return st;
}

/* The trace is there: says so. */
static void use(struct mt_db *db, const struct mt_run *process, const struct mt_torch_process *p,
                const struct mt_store_result *result)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_run trace;
    enum mt_status st = mt_run_get(db, result->run_id, &trace, &err);
    if (st == MT_OK)
        st = change(db, process, NULL, &trace, &err);
    if (st == MT_OK)
        tell(p, result->name, process->name);
    else
        mt_print_error(&err);
}

static void import_all(const struct mt_record_torch *t, struct mt_db *db,
                       const struct mt_torch *all, const struct mt_run *process)
{
    for (size_t i = 0; i < all->all.n; i++) {
        const struct mt_torch_process *p = &all->all.v[i];
        struct mt_err err = MT_ERR_INIT;
        struct mt_store_result result = {0};
        if (!p->trace)
            continue;
        char *source = trace_name(all, p, process->name);
        char *file = mt_asprintf("%s/%lld.json", t->folder, (long long)p->pid);
        if (import_one(db, file, source, process->name, &result, &err) == MT_OK)
            use(db, process, p, &result);
        else
            mt_print_error(&err);
        free(source);
        free(file);
    }
}

void mt_record_torch_import(const struct mt_record_torch *t, const char *path, const char *run)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_torch all;
    struct mt_run process;
    struct mt_db *db = NULL;
    if (!t->folder)
        return;
    mt_torch_read(t->folder, &all);
    enum mt_status st = mt_db_open(path, MT_DB_WRITE, &db, NULL, &err);
    if (st == MT_OK)
        st = mt_run_find(db, run, &process, &err);
    if (st == MT_OK)
        st = change(db, &process, run, NULL, &err);
    if (st == MT_OK)
        import_all(t, db, &all, &process);
    else
        mt_print_error(&err);
    mt_db_close(db);
    mt_torch_free(&all);
}

void mt_record_torch_end(struct mt_record_torch *t)
{
    DIR *dir = t->folder ? opendir(t->folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    if (t->folder)
        rmdir(t->folder);
    free(t->folder);
    free(t->hook);
    t->folder = t->hook = NULL;
}
