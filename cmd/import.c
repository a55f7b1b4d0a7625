#include "cmd/common.h"
#include "cmd/import_ahead.h"
#include "cmd/import_file.h"
#include "cmd/import_folder.h"
#include "cmd/import_words.h"
#include "cmd/upgrade.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/base/machine.h"
#include "lib/base/map.h"
#include "lib/model/steps_advice.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN_WHOLE = 16 }; /* of more files a line is said of each */

static struct mt_import_opts how;
static const char *cpp_frames, *values_are, *processes, *split;
static struct mt_strings bases;
static bool series;       /* all files are one run */
static int64_t jobs = -1; /* files read beside each other; -1: not said */

/* The database, opened when it is first needed. */
struct target {
    char *path;
    struct mt_db *db;
    bool created;        /* and nothing is stored in it yet */
    struct mt_map runs;  /* of the files so far, by id; several may have one content */
    size_t run_n, oom_n; /* of these but process logs; those with a failed allocation */
    size_t same_n;       /* files with the bytes of one before them */
    bool alone;          /* there is one file to import */
};

static enum mt_status open_database(struct target *t, struct mt_err *err)
{
    bool created = false;
    if (!t->db) {
        MT_TRY(mt_upgrade_older(t->path, err));
        MT_TRY(mt_db_open(t->path, MT_DB_WRITE, &t->db, &created, err));
        t->created = created;
    }
    return MT_OK;
}

static void close_database(struct target *t)
{
    (t->created ? mt_db_close_unused : mt_db_close)(t->db);
    mt_map_free(&t->runs);
    free(t->path);
}

/* A run is in the database. */
static void tell_created(struct target *t)
{
    struct mt_buf safe = {0};
    if (!t->created)
        return;
    mt_escape_terminal(&safe, t->path);
    fprintf(stderr, "created the database %s\n", safe.s);
    mt_buf_free(&safe);
    t->created = false;
}

/* Says what became of a file, and frees the result. rec: NULL where it was there. */
static void tell(struct target *t, const char *path, const struct mt_recording *rec,
                 struct mt_store_result *result)
{
    uint32_t *seen = mt_map_at(&t->runs, (uint64_t)result->run_id);
    const bool first = *seen == MT_MAP_NONE;
    *seen = 0;
    tell_created(t);
    t->run_n += first && (!rec || rec->kind != MT_RUN_PROCESS);
    t->same_n += !first && result->existed;
    t->oom_n += first && rec && rec->notes[MT_NOTE_OOM].count;
    if (result->existed)
        mt_import_existed(path, t->alone, result);
    else
        mt_import_summarise(rec, result->name, &how);
    for (int i = 0; i < result->replaced_n; i++)
        mt_import_replaced(result->replaced[i]);
}

/* Stores what was read. */
static enum mt_status store(struct target *t, const char *path, const struct mt_import_opts *as,
                            struct mt_recording *rec, const char *hash, struct mt_err *err)
{
    struct mt_store_result result = {0};
    enum mt_status st = open_database(t, err);
    if (st == MT_OK)
        st = mt_import_store(t->db, path, as, rec, hash, &result, err);
    if (st == MT_OK)
        tell(t, path, rec, &result);
    mt_buf_free(&result.joined);
    mt_buf_free(&result.latest);
    return st;
}

/* A file whose content has that key; *known: the run is still there. */
static enum mt_status store_known(struct target *t, const char *path, const char *key, bool *known,
                                  struct mt_err *err)
{
    struct mt_store_result result = {0};
    const struct mt_store_opts opts = {.name = how.name,
                                       .groups = how.groups.v,
                                       .group_n = how.groups.n,
                                       .source = path,
                                       .hash = key};
    enum mt_status st = mt_store_known(t->db, &opts, &result, err);
    *known = st != MT_OK || result.existed;
    if (st == MT_OK && result.existed)
        tell(t, path, NULL, &result);
    mt_buf_free(&result.joined);
    mt_buf_free(&result.latest);
    return st;
}

/* The file, or all of them as one run; path: what is said of where it is from; key: of the run last
 * read of it, or NULL. */
static enum mt_status import_run(struct target *t, const char *path,
                                 const struct mt_import_paths *dumps, const char *key,
                                 struct mt_err *err)
{
    struct mt_recording rec;
    char hash[33];
    if (key && mt_import_is_same(path, &how, key)) {
        bool known;
        enum mt_status st = store_known(t, path, key, &known, err);
        if (known)
            return st;
    }
    enum mt_status st = dumps ? mt_import_series(dumps->v, dumps->n, &how, &rec, hash, err)
                              : mt_import_read(path, &how, &rec, hash, err);
    if (st == MT_OK)
        st = store(t, path, &how, &rec, hash, err);
    mt_rec_free(&rec);
    return st;
}

/* ---- which files ---- */

static int name_cmp(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* How many folders it takes to tell files apart by the names that their runs get: the fewest that
 * leave the fewest alike. */
static int folders_needed(const struct mt_import_paths *inputs)
{
    enum { MOST = 8 };
    char(*names)[200] = mt_alloc((inputs->n + 1) * sizeof *names);
    size_t fewest = SIZE_MAX;
    int needed = 0;
    for (int folders = 0; folders <= MOST && fewest; folders++) {
        size_t alike = 0;
        for (size_t i = 0; i < inputs->n; i++)
            mt_store_name_of(inputs->v[i], folders, names[i]);
        qsort(names, inputs->n, sizeof *names, name_cmp);
        for (size_t i = 1; i < inputs->n; i++)
            alike += strcmp(names[i - 1], names[i]) == 0;
        needed = alike < fewest ? folders : needed;
        fewest = alike < fewest ? alike : fewest;
    }
    free(names);
    return needed;
}

/* Files are what they are; of folders, what is in them. */
static enum mt_status list_files(const struct mt_args *args, struct mt_import_paths *out,
                                 struct mt_err *err)
{
    struct mt_text_pattern *pattern = NULL;
    enum mt_status st = MT_OK;
    if (how.pattern)
        MT_TRY(mt_text_pattern_new(how.pattern, &pattern, err));
    const struct mt_folder_opts opts = {!series, how.groups.n > 0, values_are != NULL, pattern};
    for (size_t i = 0; i < args->n && st == MT_OK; i++)
        if (strcmp(args->v[i], "-") != 0 && mt_is_folder(args->v[i]))
            st = mt_import_folder(args->v[i], &opts, out, err);
        else
            *mt_vec_push(out) = mt_strdup(args->v[i]);
    mt_text_pattern_free(pattern);
    return st;
}

static enum mt_status list_inputs(const struct mt_args *args, struct mt_import_paths *out,
                                  struct mt_err *err)
{
    MT_TRY(list_files(args, out, err));
    if (!how.name || out->n <= 1 || series)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--name gives one name, but there are %zu files", out->n);
    mt_err_hint(err, "Nothing was imported. Import them one by one, or use --group %s.", how.name);
    return MT_EUSAGE;
}

/* Ranks that did the same may have printed the same: of these there is one run. */
static void tell_same(const struct target *t)
{
    char n[MT_HUMAN_LONG];
    if (how.groups.n && t->same_n)
        printf("%s %s the same bytes as one before: each of these recordings counts once; of ranks "
               "that wrote the same, memtool ranks FILE ... counts all\n",
               mt_human_plural((int64_t)t->same_n, "file", n), t->same_n == 1 ? "has" : "have");
}

/* After the last of many: what to ask of all of them. */
static void tell_group(const struct target *t)
{
    struct mt_buf group = {0};
    char n[MT_HUMAN_LONG];
    if (!how.groups.n || t->run_n < 2)
        return;
    mt_shell_word(&group, how.groups.v[0]);
    printf("%s in the group %s: memtool ranks %s compares them\n",
           mt_human_plural((int64_t)t->run_n, "run", n), group.s, group.s);
    if (t->oom_n)
        printf("%zu ran out of memory: memtool oom %s says which first, and why\n", t->oom_n,
               group.s);
    mt_buf_free(&group);
}

/* What a thread has read. */
static enum mt_status import_read(struct target *t, const char *path, const char *key,
                                  struct mt_ahead *ahead, struct mt_err *err)
{
    struct mt_ahead_file *file = mt_ahead_next(ahead);
    struct mt_import_opts built = how;
    built.built = true;
    if (file->same) {
        bool known;
        enum mt_status st = store_known(t, path, key, &known, err);
        if (known)
            return st;
        file = mt_ahead_again(ahead);
    }
    *err = file->err;
    return err->code == MT_OK ? store(t, path, &built, &file->rec, file->hash, err) : err->code;
}

/* A file whose share of the memory is too small is read again: not so a pipe. */
static bool can_be_read_again(const struct mt_import_paths *inputs)
{
    struct stat info;
    for (size_t i = 0; i < inputs->n; i++)
        if (strcmp(inputs->v[i], "-") == 0 ||
            (stat(inputs->v[i], &info) == 0 && !S_ISREG(info.st_mode)))
            return false;
    return true;
}

/* As many as there are cores, unless asked otherwise, but none without a file. */
static int job_n(const struct mt_import_paths *inputs)
{
    int64_t n = jobs < 0 ? mt_machine_cores() : jobs;
    n = n > (int64_t)inputs->n ? (int64_t)inputs->n : n;
    return n > 1 && can_be_read_again(inputs) ? (int)n : 1;
}

/* A failure of one among many, of which the others may be imported. */
static void tell_one(struct mt_err *err)
{
    static const char all[] = "Nothing was imported";
    const char *at = strstr(err->hint, all);
    if (at) {
        char *hint = mt_asprintf("%.*sThis file was not imported%s", (int)(at - err->hint),
                                 err->hint, at + sizeof all - 1);
        err->hint[0] = '\0';
        mt_err_hint(err, "%s", hint);
        free(hint);
    }
    mt_print_error(err);
}

/* After all that was said of the others, which are missing. */
static enum mt_status tell_failed(const struct mt_import_paths *failed, size_t n,
                                  struct mt_err *err)
{
    enum { NAMED = 8 };
    struct mt_buf names = {0};
    for (size_t i = 0; i < failed->n && i < NAMED; i++) {
        mt_buf_adds(&names, i ? ", " : "");
        mt_escape_terminal(&names, failed->v[i]);
    }
    MT_FAIL(err, MT_EINPUT, "%zu of %zu files could not be imported%s", failed->n, n,
            failed->n < n ? "; the others were" : "");
    if (failed->n < n)
        mt_err_hint(err, "Not imported: %s%s", names.s, failed->n > NAMED ? ", ..." : ".");
    mt_buf_free(&names);
    return err->code;
}

/* Each file is a transaction of its own: what fails does not undo the others. */
static enum mt_status import_each(struct target *t, const struct mt_import_paths *inputs,
                                  char *const *keys, struct mt_err *err)
{
    const int n = job_n(inputs);
    struct mt_ahead *ahead = n > 1 ? mt_ahead_start(inputs->v, keys, inputs->n, &how, n) : NULL;
    struct mt_import_paths failed = {0};
    for (size_t i = 0; i < inputs->n; i++) {
        struct mt_err own = MT_ERR_INIT;
        const char *path = inputs->v[i];
        enum mt_status st = ahead ? import_read(t, path, keys[i], ahead, &own)
                                  : import_run(t, path, NULL, keys[i], &own);
        if (st == MT_OK)
            continue;
        *mt_vec_push(&failed) = inputs->v[i];
        if (inputs->n == 1)
            *err = own;
        else
            tell_one(&own);
    }
    mt_ahead_stop(ahead);
    tell_group(t);
    tell_same(t);
    if (failed.n && inputs->n > 1)
        tell_failed(&failed, inputs->n, err);
    mt_vec_free(&failed);
    return err->code;
}

static enum mt_status import_all(struct target *t, const struct mt_import_paths *inputs,
                                 struct mt_err *err)
{
    char **keys = mt_alloc((inputs->n + 1) * sizeof *keys);
    enum mt_status st = MT_OK;
    if (t->db && !how.replace)
        st = mt_store_hashes(t->db, inputs->v, inputs->n, keys, err);
    if (st == MT_OK)
        st = import_each(t, inputs, keys, err);
    for (size_t i = 0; i < inputs->n; i++)
        free(keys[i]);
    free(keys);
    return st;
}

static enum mt_status check_jobs(struct mt_err *err)
{
    enum { MOST = 256 };
    if (jobs == -1 || (jobs >= 1 && jobs <= MOST))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--jobs is 1 to %d, not %lld", MOST, (long long)jobs);
    mt_err_hint(err, "Nothing was imported.");
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    struct target target = {0};
    struct mt_import_paths inputs = {0};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(check_jobs(err));
    MT_TRY_OUT(mt_db_path(mt_common.db, &target.path, err));
    if (how.name)
        MT_TRY_OUT(mt_store_check_name(how.name, err));
    for (size_t i = 0; i < how.groups.n; i++)
        MT_TRY_OUT(mt_store_check_group(how.groups.v[i], err));
    MT_TRY_OUT(mt_import_cpp_frames(cpp_frames, &how.cpp_frames, err));
    MT_TRY_OUT(mt_import_split(split, &how.split, err));
    MT_TRY_OUT(mt_import_values(values_are, &how.values, err));
    MT_TRY_OUT(mt_import_processes(processes, &how.processes, err));
    for (size_t i = 0; i < bases.n; i++)
        MT_TRY_OUT(mt_base_parse(bases.v[i], &how.bases, err));
    MT_TRY_OUT(list_inputs(args, &inputs, err));
    /* What is wrong with a database is said before long work; but an input that cannot be read
     * must not leave a new one behind. */
    if (access(target.path, F_OK) == 0)
        MT_TRY_OUT(open_database(&target, err));
    how.series_n = series ? inputs.n : 0;
    how.folders = series ? 0 : folders_needed(&inputs);
    how.brief = !series && inputs.n > SHOWN_WHOLE;
    target.alone = !series && inputs.n == 1;
    if (series)
        mt_import_series_sort(inputs.v, inputs.n);
    if (series)
        MT_TRY_OUT(import_run(&target, args->v[0], &inputs, NULL, err));
    else
        MT_TRY_OUT(import_all(&target, &inputs, err));
out:
    close_database(&target);
    mt_import_paths_free(&inputs);
    mt_vec_free(&bases);
    mt_vec_free(&how.groups);
    mt_vec_free(&how.bases);
    return st;
}

static const struct mt_opt opts[] = {
    {"name", 0, MT_OPT_STRING, &how.name, "NAME",
     "name of the run (default: the file's, or its folder's when that says more)"},
    {"group", 0, MT_OPT_LIST, &how.groups, "NAME",
     "group the run belongs to, e.g. the ranks of a job; give it again for another"},
    {"replace", 0, MT_OPT_FLAG, &how.replace, NULL,
     "replace a run of that name or content, or, without --name, of that file"},
    {"partial", 0, MT_OPT_FLAG, &how.partial, NULL,
     "keep what is complete of a file that is cut off"},
    {"step-marker", 0, MT_OPT_STRING, &how.step_marker, "REGEX",
     "names whose intervals are steps (default: ProfilerStep#N, else Optimizer.step#)"},
    {"base", 0, MT_OPT_LIST, &bases, "[D=]SIZE",
     "what device D (default: cpu) held before the recording and keeps: parameters and the like"},
    {"cpp-frames", 0, MT_OPT_STRING, &cpp_frames, "HOW",
     "C++ frames of snapshots and heap logs: fold those that say nothing (default), all, none"},
    {"library-sites", 0, MT_OPT_FLAG, &how.library_sites, NULL,
     "lines of Python's own library and of installed packages are sites as yours are, in snapshots "
     "and heap logs"},
    {"alloc-fn", 0, MT_OPT_STRING, &how.alloc_fn, "REGEX",
     "functions of heap logs that only hand out memory, beside malloc and the like"},
    {"pattern", 0, MT_OPT_STRING, &how.pattern, "REGEX",
     "where figures stand in the lines of a log: '^\\[{step}\\] mem={rss:MB}'; KB, MB and GB of a "
     "log count by 1024, not by 1000 as a SIZE does"},
    {"processes", 0, MT_OPT_STRING, &processes, "WHAT",
     "who wrote a log of text, where its lines leave that open: one process, or several, as "
     "the numbers in front of its lines say"},
    {"values", 0, MT_OPT_STRING, &values_are, "WHAT",
     "what the numbers in a file are, where it does not say so: at-end, at-peak, allocated, "
     "temporary"},
    {"sysroot", 0, MT_OPT_STRING, &how.sysroot, "DIR",
     "look here for the programs and libraries of heap logs that have addresses, not on this "
     "machine"},
    {"no-symbols", 0, MT_OPT_FLAG, &how.no_symbols, NULL,
     "open no programs or libraries: functions without a name stay places in modules"},
    {"split", 0, MT_OPT_STRING, &split, "WHAT",
     "keep apart in heap logs what paths of one name add up: thread, label, size, or several"},
    {"series", 0, MT_OPT_FLAG, &series, NULL,
     "all files are dumps of one process, in their order: one run, whose moments they are"},
    {"jobs", 'j', MT_OPT_INT, &jobs, "N",
     "read N files at a time, which share the memory (default: as many as there are "
     "cores)"},
    {"max-memory", 0, MT_OPT_SIZE, &how.max_memory, "SIZE",
     "give up when more is needed (default: half of the machine's; of small files 1 GiB and 256 "
     "times their size)"},
    {0},
};

#define READS(id, name, reads) {name, reads},
static const struct mt_glossary_entry formats[] = {MT_READERS(READS){0}};
static const struct mt_glossary words[] = {{"Files it reads", formats, NULL}, {0}};

static const struct mt_values values[] = {
    {"cpp-frames", "fold all none", NULL},
    {"split", "thread label size thread,label thread,size label,size thread,label,size", NULL},
    {"processes", "one several", NULL},
    {"values", "at-end at-peak allocated temporary", NULL},
    {0}};

const struct mt_cmd mt_cmd_import = {
    .name = "import",
    .summary = "read traces, memory snapshots and heap logs into the database",
    .usage = "[options] FILE|FOLDER|- ...",
    .examples = "  memtool import trace.json.gz --name base\n"
                "  memtool import traces/ --group job42\n"
                "  memtool import --series jeprof.4711.*.heap --name server\n"
                "  ssh box cat trace.json.gz | memtool import - --name box\n",
    .opts = opts,
    .words = words,
    .values = values,
    .without = "format output",
    .args_min = 1,
    .args_max = (size_t)-1,
    .run = run,
};
