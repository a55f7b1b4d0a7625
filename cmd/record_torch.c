#include "cmd/record_torch.h"

#include "cmd/common.h"
#include "cmd/import_file.h"
#include "cmd/support.h"
#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include "lib/record/live_steps.h"
#include "lib/record/torch.h"
#include "lib/run/runs.h"
#include "lib/run/time_arg.h"
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

static void add_times(struct mt_json_out *j, const char *key, const int64_t t[2], int64_t base_ns)
{
    if (!t[0])
        return;
    mt_json_put_key(j, key);
    mt_json_put_begin(j, "[]", false);
    for (int i = 0; i < 2; i++)
        mt_json_put_int(j, t[i] - base_ns);
    mt_json_put_end(j);
}

/* When there was a profiler in a process, on the clock of the run. */
static void add_profiler(const struct mt_torch_process *p, struct mt_recorder *r)
{
    struct mt_buf text = {0};
    struct mt_json_out j = {.to = &text, .spaced = true};
    mt_json_put_begin(&j, "{}", false);
    mt_json_put_key(&j, "pid");
    mt_json_put_int(&j, p->pid);
    add_times(&j, "starting_ns", p->start_ns, r->opts.start_ns);
    add_times(&j, "writing_ns", p->stop_ns, r->opts.start_ns);
    mt_json_put_end(&j);
    *mt_vec_push(&r->meta) = (struct mt_recorder_meta){"profiler", text.s};
}

void mt_record_torch_said(const struct mt_record_torch *t, struct mt_recorder *r)
{
    struct mt_torch all;
    if (!t->folder)
        return;
    mt_torch_read(t->folder, &all);
    mt_torch_missing(&all, &r->untraced);
    mt_torch_costs(&all, r->opts.start_ns, r->watch.peak_ns, &r->profiled);
    for (size_t i = 0; i < all.all.n; i++)
        if (all.all.v[i].start_ns[0])
            add_profiler(&all.all.v[i], r);
    mt_torch_free(&all);
}

static enum mt_status end_change(struct mt_db *db, enum mt_status st, struct mt_err *err)
{
    if (st == MT_OK)
        st = mt_db_commit(db, err);
    if (st != MT_OK)
        mt_db_rollback(db);
    return st;
}

static enum mt_status join(struct mt_db *db, const struct mt_run *process, const char *group,
                           struct mt_err *err)
{
    MT_TRY(mt_db_begin(db, err));
    return end_change(db, mt_store_join(db, process->id, group, err), err);
}

/* The process has the steps of its trace, and those that came behind it. */
static enum mt_status take_steps(const struct mt_record_torch *t, struct mt_db *db,
                                 const struct mt_run *process, const struct mt_torch_process *p,
                                 const struct mt_run *trace, struct mt_err *err)
{
    struct mt_steps steps = {0};
    mt_torch_times later = {0};
    MT_TRY(mt_steps_load(db, trace, &steps, err));
    mt_torch_later_steps(t->folder, p, steps.all.n, &later);
    mt_steps_free(&steps);
    for (size_t i = 0; i < later.n; i++)
        later.v[i] -= process->start_ns;
    enum mt_status st = mt_db_begin(db, err);
    if (st == MT_OK) {
        st = mt_live_take_steps(db, process->id, trace->id, trace->start_ns - process->start_ns,
                                err);
        if (st == MT_OK)
            st = mt_live_later_steps(db, process->id, trace->id, later.v, later.n, err);
        st = end_change(db, st, err);
    }
    mt_vec_free(&later);
    return st;
}

/* "train.torch", of several processes "train.rank0" or "train.4711"; with what it is of. */
static char *name_of(const struct mt_torch *all, const struct mt_torch_process *p, const char *run,
                     const char *what)
{
    const char *dot = *what ? "." : "";
    if (p->rank >= 0)
        return mt_asprintf("%s.rank%lld%s%s", run, (long long)p->rank, dot, what);
    if (all->all.n > 1)
        return mt_asprintf("%s.%lld%s%s", run, (long long)p->pid, dot, what);
    return mt_asprintf("%s.%s", run, *what ? what : "torch");
}

/* Of several processes those count that made steps of optimizers, where some did, and all are
 * wanted for all steps. Launchers allocate nothing. */
static bool is_wanted(const struct mt_record_torch *t, const struct mt_torch *all,
                      const struct mt_torch_process *p)
{
    int64_t most = 0;
    for (size_t i = 0; i < all->all.n; i++)
        most = all->all.v[i].step_n > most ? all->all.v[i].step_n : most;
    return p->step_n || !most || !*t->steps;
}

static void tell(const struct mt_torch_process *p, bool trace, const char *name, const char *group)
{
    char steps[MT_HUMAN_LONG];
    struct mt_buf safe = {0};
    mt_escape_terminal(&safe, name);
    fprintf(stderr, "memtool: %s of process %lld%s%s: run %s",
            trace ? "PyTorch's allocations" : "a snapshot of CUDA's allocator", (long long)p->pid,
            trace && p->step_n ? ", " : "",
            trace && p->step_n ? mt_human_plural(p->step_n, "optimizer step", steps) : "", safe.s);
    mt_buf_clear(&safe);
    mt_escape_terminal(&safe, group);
    fprintf(stderr, ", in group %s\n", safe.s);
    mt_buf_free(&safe);
}

static enum mt_status import_one(struct mt_db *db, const char *file, const char *source,
                                 const char *group, bool among_others,
                                 struct mt_store_result *result, struct mt_err *err)
{
    struct mt_recording rec;
    char hash[33];
    struct mt_import_opts how = {.source = source};
    *mt_vec_push(&how.groups) = group;
    enum mt_status st = mt_import_read(file, &how, &rec, hash, err);
    if (st == MT_OK && (rec.devices.n || !among_others))
        st = mt_import_store(db, file, &how, &rec, hash, result, err);
    mt_buf_free(&result->joined);
    mt_buf_free(&result->latest);
    mt_rec_free(&rec);
    mt_vec_free(&how.groups);
    return st;
}

/* The trace is there: says so. */
static enum mt_status use(const struct mt_record_torch *t, struct mt_db *db,
                          const struct mt_run *process, const struct mt_torch_process *p,
                          const struct mt_store_result *result, struct mt_err *err)
{
    struct mt_run trace;
    if (!*result->name)
        return MT_OK; /* it allocated nothing, and is left out */
    MT_TRY(mt_run_get(db, result->run_id, &trace, err));
    if (trace.kind == MT_RUN_TRACE)
        MT_TRY(take_steps(t, db, process, p, &trace, err));
    tell(p, trace.kind == MT_RUN_TRACE, result->name, process->name);
    return MT_OK;
}

/* Imports a file of a process, if it is there; then there is no more use for it. */
static void import_file(struct mt_record_torch *t, struct mt_db *db, const struct mt_torch *all,
                        size_t i, const char *what, const char *ending,
                        const struct mt_run *process)
{
    const struct mt_torch_process *p = &all->all.v[i];
    struct mt_err err = MT_ERR_INIT;
    struct mt_store_result result = {0};
    char *source = name_of(all, p, process->name, what);
    char *file = mt_asprintf("%s/%lld.%s", t->folder, (long long)p->pid, ending);
    enum mt_status st = MT_OK;
    if (access(file, R_OK) == 0) {
        st = import_one(db, file, source, process->name, all->all.n > 1, &result, &err);
        if (st == MT_OK)
            st = use(t, db, process, p, &result, &err);
    }
    if (st == MT_OK)
        unlink(file);
    else
        mt_print_error(&err);
    t->keep |= st != MT_OK;
    free(source);
    free(file);
}

static void import_all(struct mt_record_torch *t, struct mt_db *db, const struct mt_torch *all,
                       const struct mt_run *process)
{
    static const struct {
        const char *what, *ending;
    } files[] = {{"", "json"},
                 {"cuda", "pickle"},
                 {"oom-1", "oom-1.pickle"},
                 {"oom-2", "oom-2.pickle"},
                 {"oom-3", "oom-3.pickle"}};
    size_t left_out_n = 0;
    for (size_t i = 0; i < all->all.n; i++) {
        bool wanted = is_wanted(t, all, &all->all.v[i]);
        left_out_n += !wanted;
        for (size_t k = 0; wanted && k < MT_ARRAY_LEN(files); k++)
            import_file(t, db, all, i, files[k].what, files[k].ending, process);
    }
    if (left_out_n)
        fprintf(stderr,
                "memtool: traces of %zu processes without an optimizer step were left out; "
                "--torch=all keeps them\n",
                left_out_n);
}

void mt_record_torch_import(struct mt_record_torch *t, const char *path, const char *run)
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
        st = join(db, &process, run, &err);
    if (st == MT_OK)
        import_all(t, db, &all, &process);
    else
        mt_print_error(&err);
    t->keep |= st != MT_OK;
    mt_db_close(db);
    mt_torch_free(&all);
}

/* "4711.part.json" was never finished. */
static bool is_recording(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && !strstr(name, ".part.") &&
           (strcmp(dot, ".json") == 0 || strcmp(dot, ".pickle") == 0);
}

static void tell_kept(const struct mt_record_torch *t, size_t n)
{
    struct mt_buf word = {0}, safe = {0};
    char files[MT_HUMAN_LONG];
    mt_shell_word(&word, t->folder);
    mt_escape_terminal(&safe, word.s);
    fprintf(stderr, "memtool: %s of PyTorch %s kept: `memtool import %s` imports %s\n",
            mt_human_plural((int64_t)n, "recording", files), n == 1 ? "is" : "are", safe.s,
            n == 1 ? "it" : "them");
    mt_buf_free(&word);
    mt_buf_free(&safe);
}

void mt_record_torch_end(struct mt_record_torch *t)
{
    size_t kept_n = 0;
    DIR *dir = t->folder ? opendir(t->folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (t->keep && is_recording(e->d_name))
            kept_n++;
        else
            unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    if (kept_n)
        tell_kept(t, kept_n);
    else if (t->folder)
        rmdir(t->folder);
    free(t->folder);
    free(t->hook);
    t->folder = t->hook = NULL;
}
