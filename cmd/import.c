#include "cmd/common.h"
#include "cmd/import_file.h"
#include "cmd/upgrade.h"
#include "formats/format.h"
#include "lib/base/human.h"
#include "lib/input/stream.h"
#include "lib/model/steps_advice.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mt_import_opts how;
static const char *cpp_frames, *values_are, *split;
static struct mt_strings bases;
static bool series; /* all files are one run */

/* A figure with its name before it; what is not known is left out. */
static void describe_figure(struct mt_buf *out, const char *name, int64_t bytes)
{
    char text[MT_HUMAN_MAX];
    if (bytes != MT_UNKNOWN)
        mt_buf_addf(out, "%s %s   ", name, mt_human_bytes(bytes, text));
}

/* A moment of the run, in its unit. */
static void add_time(struct mt_buf *out, const struct mt_recording *r, int64_t t)
{
    char text[MT_HUMAN_MAX];
    if (strcmp(r->time_unit, "ns") == 0)
        mt_buf_adds(out, mt_human_ns(t, text));
    else
        mt_buf_addf(out, "%s %s", mt_human_count(t, text), r->time_unit);
}

static void describe_device(struct mt_buf *out, const struct mt_recording *r,
                            const struct mt_device *d)
{
    char dev[32], p[MT_HUMAN_MAX];
    bool sums = r->kind != MT_RUN_TRACE && r->kind != MT_RUN_SNAPSHOT;
    bool peak = !r->notes[MT_NOTE_STATE_ONLY].count && d->peak_b != MT_UNKNOWN;
    mt_device_name(d->type, d->index, dev);
    mt_buf_addf(out, "  %-6s ", dev);
    describe_figure(out, "allocated", d->alloc_b);
    describe_figure(out, "freed", d->freed_b);
    describe_figure(out, sums ? "at the end" : "net", sums ? d->at_end_b : d->alloc_b - d->freed_b);
    mt_buf_addf(out, "peak %s%s%s", r->kind == MT_RUN_PROCESS ? "rss " : "",
                peak && d->doubt_at_peak_b ? "at most " : "",
                peak ? mt_human_bytes(d->peak_b, p) : "unknown");
    if (d->peak_record != SIZE_MAX && r->time_unit) {
        mt_buf_adds(out, " at ");
        add_time(out, r, d->peak_ns - r->start_ns);
    }
    if (d->start_b && r->kind != MT_RUN_PROCESS)
        mt_buf_addf(out, "   %s older than the recording", mt_human_bytes(d->start_b, p));
    mt_buf_addc(out, '\n');
}

static size_t threads_with_ops(const struct mt_recording *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->threads.n; i++)
        n += r->threads.v[i].ops.n > 0;
    return n;
}

static void describe_steps(struct mt_buf *out, const struct mt_recording *r)
{
    char steps[MT_HUMAN_LONG];
    if (r->steps.n)
        mt_buf_addf(out, "%s (%s)\n", mt_human_plural((int64_t)r->steps.n, "step", steps),
                    r->step_marker);
    else if (how.step_marker)
        mt_buf_addf(out, "no steps: no %s matches --step-marker '%s'\n",
                    r->without_ops ? "scope" : "name", how.step_marker);
    else
        mt_buf_adds(out, r->notes[MT_NOTE_STEPS_UNKNOWN].count ? "steps unknown\n"
                                                               : "no step markers\n");
}

/* What a heap log is of: its events, the moments that the recorder looked at, or what is left. */
static void describe_heap(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    char paths[MT_HUMAN_LONG], allocs[MT_HUMAN_LONG], frees[MT_HUMAN_LONG];
    const struct mt_device *d = r->devices.n ? &r->devices.v[0] : NULL;
    mt_escape_terminal(out, run);
    mt_buf_addf(out, ": heap log of %s, %s\n", r->format,
                mt_human_plural((int64_t)r->nodes.n, "call path", paths));
    if (d && d->alloc_n == MT_UNKNOWN && d->at_end_n == MT_UNKNOWN && !r->summed_n)
        return;
    mt_buf_adds(out, "  ");
    if (d && d->alloc_n != MT_UNKNOWN)
        mt_buf_addf(out, "%s", mt_human_plural(d->alloc_n, "allocation", allocs));
    else if (d && !r->summed_n && d->at_end_n != MT_UNKNOWN)
        mt_buf_addf(out, "%s alive at the end", mt_human_plural(d->at_end_n, "block", allocs));
    else if (r->summed_n)
        mt_buf_addf(out, "%s", mt_human_plural((int64_t)r->summed_n, "moment", allocs));
    else
        mt_buf_adds(out, "sums of bytes, no counts of blocks");
    if (d && d->freed_n != MT_UNKNOWN)
        mt_buf_addf(out, ", %s", mt_human_plural(d->freed_n, "free", frees));
    if (r->time_unit && r->end_ns > r->start_ns) {
        mt_buf_adds(out, " over ");
        add_time(out, r, r->end_ns - r->start_ns);
    }
    mt_buf_addc(out, '\n');
}

static void describe_processes(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    char number[MT_HUMAN_MAX], samples[MT_HUMAN_LONG];
    mt_escape_terminal(out, run);
    mt_buf_addf(out, ": process log of %s, %s process%s", r->format,
                mt_human_count((int64_t)r->devices.n, number), r->devices.n == 1 ? "" : "es");
    if (r->steps.n)
        mt_buf_addf(out, ", %s", mt_human_plural((int64_t)r->steps.n, "step", samples));
    mt_buf_adds(out, "\n  ");
    mt_buf_adds(out, mt_human_plural((int64_t)r->event_n, "sample", samples));
    if (r->end_ns > r->start_ns) {
        mt_buf_adds(out, " over ");
        add_time(out, r, r->end_ns - r->start_ns);
    }
    mt_buf_addc(out, '\n');
}

static void describe_run(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    char parts[MT_HUMAN_LONG], events[MT_HUMAN_LONG], records[MT_HUMAN_LONG], time[MT_HUMAN_MAX];
    bool snapshot = r->without_ops;
    size_t part_n = snapshot ? r->devices.n : threads_with_ops(r);
    uint64_t n = snapshot ? r->event_n : r->op_n;
    mt_escape_terminal(out, run);
    mt_buf_addf(out, ": %s, %s, ", snapshot ? "allocator snapshot" : "PyTorch trace",
                mt_human_plural((int64_t)part_n, snapshot ? "device" : "thread", parts));
    describe_steps(out, r);
    mt_buf_addf(out, "  %s, %s over %s\n",
                mt_human_plural((int64_t)n, snapshot ? "event" : "op", events),
                mt_human_plural((int64_t)(r->records.n - r->unseen_n), "memory record", records),
                mt_human_ns(r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0, time));
}

static void describe_notes(struct mt_buf *out, const struct mt_recording *r)
{
    const char *advice = mt_steps_advice(&(struct mt_steps_source){
        .marker = r->step_marker,
        .any = r->steps.n,
        .rounds = r->notes[MT_NOTE_STEPS_ROUNDS].count,
        .snapshot = r->without_ops,
    });
    for (int k = 0; k < MT_NOTE_N; k++) {
        const struct mt_note *n = &r->notes[k];
        if (!n->count)
            continue;
        mt_buf_adds(out, "  note: ");
        mt_note_text(out, (enum mt_note_kind)k, n);
        mt_buf_addc(out, '\n');
    }
    if (advice && !r->summed &&
        !r->notes[MT_NOTE_STEPS_UNKNOWN].count) /* that one has advice of its own */
        mt_buf_addf(out, "  steps: %s\n", advice);
}

/* What a person wants to know after an import. */
static void summarise(const struct mt_recording *r, const char *run)
{
    struct mt_buf out = {0};
    (r->kind == MT_RUN_PROCESS ? describe_processes
     : r->summed               ? describe_heap
                               : describe_run)(&out, r, run);
    for (size_t i = 0; i < r->devices.n; i++)
        describe_device(&out, r, &r->devices.v[i]);
    describe_notes(&out, r);
    struct mt_buf safe = {0};
    for (char *line = out.s, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        mt_buf_clear(&safe);
        mt_escape_terminal(&safe, line);
        puts(safe.s ? safe.s : "");
    }
    mt_buf_free(&safe);
    mt_buf_free(&out);
}

typedef MT_VEC(char *) paths;

/* The database, opened when it is first needed. */
struct target {
    char *path;
    struct mt_db *db;
    bool created; /* and nothing is stored in it yet */
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

static void add_groups(struct mt_buf *out, const char *before, const struct mt_buf *groups,
                       const char *after)
{
    if (!groups->n)
        return;
    mt_buf_addf(out, "%s group%s ", before, strstr(groups->s, ", ") ? "s" : "");
    mt_escape_terminal(out, groups->s);
    mt_buf_adds(out, after);
}

static void tell_existed(const char *path, const struct mt_store_result *result)
{
    struct mt_buf out = {0};
    mt_escape_terminal(&out, path);
    mt_buf_adds(&out, ": already imported as run '");
    mt_escape_terminal(&out, result->name);
    mt_buf_addf(&out, "' (id %lld); ", (long long)result->run_id);
    add_groups(&out, "now in", &result->joined, " too");
    mt_buf_adds(&out, result->joined.n && result->latest.n ? ", " : "");
    add_groups(&out, "now the latest of", &result->latest, "");
    if (!result->joined.n && !result->latest.n)
        mt_buf_adds(&out, "nothing changed");
    puts(out.s);
    mt_buf_free(&out);
}

static void tell_replaced(const char *run)
{
    struct mt_buf out = {0};
    mt_escape_terminal(&out, run);
    printf("  replaced the run '%s'\n", out.s);
    mt_buf_free(&out);
}

/* The file, or all of them as one run; path: what is said of where it is from. */
static enum mt_status import_run(struct target *t, const char *path, const paths *dumps,
                                 struct mt_err *err)
{
    struct mt_recording rec;
    struct mt_store_result result = {0};
    char hash[33];
    enum mt_status st = dumps ? mt_import_series(dumps->v, dumps->n, &how, &rec, hash, err)
                              : mt_import_read(path, &how, &rec, hash, err);
    if (st == MT_OK)
        st = open_database(t, err);
    if (st == MT_OK)
        st = mt_import_store(t->db, path, &how, &rec, hash, &result, err);
    if (st == MT_OK)
        tell_created(t);
    if (st == MT_OK && result.existed)
        tell_existed(path, &result);
    else if (st == MT_OK)
        summarise(&rec, result.name);
    for (int i = 0; st == MT_OK && i < result.replaced_n; i++)
        tell_replaced(result.replaced[i]);
    mt_buf_free(&result.joined);
    mt_buf_free(&result.latest);
    mt_rec_free(&rec);
    return st;
}

/* ---- which files ---- */

static void free_paths(paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i]);
    mt_vec_free(p);
}

static int path_cmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int dump_cmp(const void *a, const void *b)
{
    return mt_import_series_cmp(*(char *const *)a, *(char *const *)b);
}

/* Whether a file of a folder looks like something we read. */
static bool is_trace(const char *path)
{
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_stream *in = NULL;
    const struct mt_reader *format;
    const char *head;
    size_t n;
    bool yes = mt_stream_open(path, &in, &ignored) == MT_OK &&
               mt_reader_of(in, &format, &ignored) == MT_OK &&
               mt_stream_peek(in, 1, &head, &n, &ignored) == MT_OK && format->probe(head, n) >= 90;
    mt_stream_close(in);
    return yes;
}

/* Files of a folder that do not look like recordings: said, lest a broken one goes unnoticed. */
static void tell_passed_over(const char *folder, paths *passed, size_t seen)
{
    enum { SHOWN = 3 };
    struct mt_buf names = {0}, where = {0};
    if (!passed->n)
        return;
    qsort(passed->v, passed->n, sizeof *passed->v, path_cmp);
    for (size_t i = 0; i < passed->n && i < SHOWN; i++) {
        mt_buf_adds(&names, i ? ", " : "");
        mt_escape_terminal(&names, strrchr(passed->v[i], '/') + 1);
    }
    mt_escape_terminal(&where, folder);
    fprintf(stderr,
            "%s: %zu of %zu files do not look like recordings and were passed over (%s%s)\n",
            where.s, passed->n, seen, names.s, passed->n > SHOWN ? ", ..." : "");
    mt_buf_free(&names);
    mt_buf_free(&where);
}

static enum mt_status list_folder(const char *folder, paths *out, struct mt_err *err)
{
    DIR *dir = opendir(folder);
    size_t first = out->n, seen = 0;
    paths passed = {0};
    struct stat info;
    if (!dir) {
        mt_err_input(err, folder);
        return MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char *path = mt_asprintf("%s/%s", folder, e->d_name);
        bool file = e->d_name[0] != '.' && stat(path, &info) == 0 && S_ISREG(info.st_mode);
        seen += file;
        if (file)
            *mt_vec_push(is_trace(path) ? out : &passed) = path;
        else
            free(path);
    }
    closedir(dir);
    bool found = out->n > first;
    if (found) {
        qsort(out->v + first, out->n - first, sizeof *out->v, series ? dump_cmp : path_cmp);
        tell_passed_over(folder, &passed, seen);
    }
    free_paths(&passed);
    if (found)
        return MT_OK;
    mt_err_input(err, folder);
    char files[MT_HUMAN_LONG];
    MT_FAIL(err, MT_EUSAGE, "there is no trace in this folder (%s looked at)",
            mt_human_plural((int64_t)seen, "file", files));
    mt_err_hint(err, "Nothing was imported. Folders inside it are not searched.");
    return MT_EUSAGE;
}

static enum mt_status list_inputs(const struct mt_args *args, paths *out, struct mt_err *err)
{
    struct stat info;
    for (size_t i = 0; i < args->n; i++) {
        bool folder =
            strcmp(args->v[i], "-") != 0 && stat(args->v[i], &info) == 0 && S_ISDIR(info.st_mode);
        if (folder)
            MT_TRY(list_folder(args->v[i], out, err));
        else
            *mt_vec_push(out) = mt_strdup(args->v[i]);
    }
    if (!how.name || out->n <= 1 || series)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--name gives one name, but there are %zu files", out->n);
    mt_err_hint(err, "Nothing was imported. Import them one by one, or use --group %s.", how.name);
    return MT_EUSAGE;
}

static enum mt_status import_all(struct target *t, const paths *inputs, struct mt_err *err)
{
    /* Each file is a transaction of its own: what fails does not undo the others. */
    size_t failed = 0;
    for (size_t i = 0; i < inputs->n; i++) {
        struct mt_err own = MT_ERR_INIT;
        if (import_run(t, inputs->v[i], NULL, &own) == MT_OK)
            continue;
        failed++;
        if (inputs->n == 1)
            *err = own;
        else
            mt_print_error(&own);
    }
    if (failed && inputs->n > 1)
        MT_FAIL(err, MT_EINPUT, "%zu of %zu files could not be imported%s", failed, inputs->n,
                failed < inputs->n ? "; the others were" : "");
    return err->code;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    struct target target = {0};
    paths inputs = {0};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_db_path(mt_common.db, &target.path, err));
    if (how.name)
        MT_TRY_OUT(mt_store_check_name(how.name, err));
    for (size_t i = 0; i < how.groups.n; i++)
        MT_TRY_OUT(mt_store_check_group(how.groups.v[i], err));
    MT_TRY_OUT(mt_import_cpp_frames(cpp_frames, &how.cpp_frames, err));
    MT_TRY_OUT(mt_import_split(split, &how.split, err));
    MT_TRY_OUT(mt_import_values(values_are, &how.values, err));
    for (size_t i = 0; i < bases.n; i++)
        MT_TRY_OUT(mt_base_parse(bases.v[i], &how.bases, err));
    MT_TRY_OUT(list_inputs(args, &inputs, err));
    /* What is wrong with a database is said before long work; but an input that cannot be read
     * must not leave a new one behind. */
    if (access(target.path, F_OK) == 0)
        MT_TRY_OUT(open_database(&target, err));
    how.series_n = series ? inputs.n : 0;
    if (series)
        MT_TRY_OUT(import_run(&target, args->v[0], &inputs, err));
    else
        MT_TRY_OUT(import_all(&target, &inputs, err));
out:
    close_database(&target);
    free_paths(&inputs);
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
    {"alloc-fn", 0, MT_OPT_STRING, &how.alloc_fn, "REGEX",
     "functions of heap logs that only hand out memory, beside malloc and the like"},
    {"values", 0, MT_OPT_STRING, &values_are, "WHAT",
     "what the numbers of a file are that does not say: at-end, at-peak, allocated, temporary"},
    {"sysroot", 0, MT_OPT_STRING, &how.sysroot, "DIR",
     "look here for the programs and libraries of heap logs that have addresses, not on this "
     "machine"},
    {"no-symbols", 0, MT_OPT_FLAG, &how.no_symbols, NULL,
     "open none of them: functions without a name stay places in modules"},
    {"split", 0, MT_OPT_STRING, &split, "WHAT",
     "keep apart in heap logs what paths of one name add up: thread, label, or thread,label"},
    {"series", 0, MT_OPT_FLAG, &series, NULL,
     "all files are dumps of one process, in their order: one run, whose moments they are"},
    {"max-memory", 0, MT_OPT_SIZE, &how.max_memory, "SIZE",
     "give up when more is needed (default: half of the machine's, for snapshots by their size)"},
    {0},
};

#define READS(id, name, reads) {name, reads},
static const struct mt_glossary_entry formats[] = {MT_READERS(READS){0}};
static const struct mt_glossary words[] = {{"Files it reads", formats, NULL}, {0}};

static const struct mt_values values[] = {{"cpp-frames", "fold all none", NULL},
                                          {"split", "thread label thread,label", NULL},
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
