/* The runs of a job: which they are, which device of each is compared, and how they lie apart. */
#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/ranks.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/model/process.h"
#include "lib/store/store.h"
#include "lib/usage/gaps.h"
#include "lib/usage/oom.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum mt_status mt_ranks_open(const struct mt_ranks *r, const struct mt_rank *rank,
                             struct mt_db **db, struct mt_run *run, struct mt_err *err)
{
    *db = r->db;
    return rank->ref ? mt_open_run(rank->ref, db, run, err) : mt_run_get(r->db, rank->id, run, err);
}

void mt_ranks_close(const struct mt_ranks *r, struct mt_db *db)
{
    if (db != r->db)
        mt_db_close(db);
}

void mt_rank_free(const struct mt_rank *rank)
{
    free(rank->devices);
    free(rank->peaks_known);
}

void mt_ranks_free(struct mt_ranks *r)
{
    for (size_t i = 0; i < r->all.n; i++)
        mt_rank_free(&r->all.v[i]);
    mt_vec_free(&r->all);
    mt_vec_free(&r->clusters);
    mt_db_close(r->db);
}

const char *mt_rank_words(struct mt_report *r, const struct mt_rank *rank)
{
    if (*rank->host)
        return mt_report_textf(r, "%s rank %lld", rank->host, (long long)rank->local_rank);
    if (rank->place.rank == MT_UNKNOWN)
        return mt_report_text(r, rank->name);
    return mt_report_textf(r, "rank %lld", (long long)rank->place.rank);
}

void mt_rank_put(struct mt_report *r, struct mt_row *row, const struct mt_rank *rank)
{
    if (rank->place.rank != MT_UNKNOWN)
        mt_report_put(r, row, "rank", mt_cell_int(rank->place.rank));
    if (*rank->host) {
        mt_report_put(r, row, "host", mt_cell_text(mt_report_text(r, rank->host)));
        mt_report_put(r, row, "local_rank", mt_cell_int(rank->local_rank));
    }
}

/* Reads what is known of a rank; what it is compared by is not. */
static enum mt_status load_rank(struct mt_ranks *r, const char *ref, int64_t id, struct mt_err *err)
{
    struct mt_run run;
    struct mt_run_device unused;
    struct mt_db *db = NULL;
    struct mt_rank *rank = mt_vec_push(&r->all);
    *rank =
        (struct mt_rank){.ref = ref, .id = id, .figure_b = MT_UNKNOWN, .local_rank = MT_UNKNOWN};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_ranks_open(r, rank, &db, &run, err));
    rank->id = run.id;
    snprintf(rank->name, sizeof rank->name, "%s", run.name);
    snprintf(rank->source, sizeof rank->source, "%s", run.source);
    snprintf(rank->content, sizeof rank->content, "%s", run.content);
    snprintf(rank->format, sizeof rank->format, "%s", run.format);
    mt_output_spare_source(&run);
    snprintf(rank->time_unit, sizeof rank->time_unit, "%s", run.time_unit);
    rank->process = run.kind == MT_RUN_PROCESS;
    if (r->failed_first)
        MT_TRY_OUT(mt_oom_device(db, &run, r->failed_on, &unused, &rank->failed, err));
    MT_TRY_OUT(mt_job_place(db, &run, &rank->place, err));
    r->job_n = rank->place.rank_n > r->job_n ? rank->place.rank_n : r->job_n;
    MT_TRY_OUT(mt_run_devices(db, &run, &rank->devices, &rank->device_n, err));
    rank->peaks_known = mt_alloc((rank->device_n + 1) * sizeof *rank->peaks_known);
    for (size_t i = 0; i < rank->device_n; i++) {
        unsigned gaps;
        MT_TRY_OUT(mt_run_gaps(db, &run, &rank->devices[i], &gaps, err));
        rank->peaks_known[i] = mt_peak_is_known(&rank->devices[i], gaps);
    }
out:
    mt_ranks_close(r, db);
    return st;
}

/* "cuda" of "cuda:3". */
static size_t kind_length(const char *device)
{
    return strcspn(device, ":");
}

static bool is_kind(const struct mt_run_device *d, const char *wanted)
{
    return mt_device_is(d->name, wanted, true) || mt_device_is(d->name, wanted, false);
}

/* What was allocated on the devices of a kind, of all ranks; where no one counts that, what they
 * had at most. */
struct kind {
    const char *name; /* the first n characters */
    size_t n;
    double bytes;
    bool own;     /* not of child processes alone */
    bool process; /* of process logs */
};
typedef MT_VEC(struct kind) kinds;

static struct kind *kind_of(kinds *all, const char *device)
{
    const size_t n = kind_length(device);
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].n == n && strncmp(all->v[i].name, device, n) == 0)
            return &all->v[i];
    struct kind *new = mt_vec_push(all);
    *new = (struct kind){.name = device, .n = n};
    return new;
}

static void sum_kinds(const struct mt_ranks *r, kinds *out)
{
    for (size_t i = 0; i < r->all.n; i++)
        for (size_t k = 0; k < r->all.v[i].device_n; k++) {
            const struct mt_run_device *d = &r->all.v[i].devices[k];
            struct kind *kind = kind_of(out, d->name);
            const int64_t bytes = d->alloc_b != MT_UNKNOWN ? d->alloc_b : d->peak_b;
            kind->bytes += bytes > 0 ? (double)bytes : 0;
            kind->own |= !mt_process_is_child(d->name);
            kind->process |= r->all.v[i].process;
        }
}

/* What processes have in memory is no sum of allocations: other kinds come before it. */
static bool comes_before(const struct kind *a, const struct kind *b)
{
    return a->process != b->process ? b->process : a->bytes > b->bytes;
}

/* That on which most was allocated. */
static void choose_kind(struct mt_ranks *r, const char *asked)
{
    kinds all = {0};
    const struct kind *most = NULL;
    sum_kinds(r, &all);
    for (size_t i = 0; i < all.n; i++)
        if (all.v[i].own && (!most || comes_before(&all.v[i], most)))
            most = &all.v[i];
    if (asked)
        snprintf(r->device, sizeof r->device, "%s", asked);
    else if (most)
        snprintf(r->device, sizeof r->device, "%.*s", (int)most->n, most->name);
    mt_vec_free(&all);
}

/* The first device of the kind is the one with most allocated. */
static enum mt_status choose_devices(struct mt_ranks *r, const char *asked, struct mt_err *err)
{
    size_t found = 0, moments = 0;
    choose_kind(r, asked);
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_rank *rank = &r->all.v[i];
        for (size_t k = 0; k < rank->device_n && !rank->device; k++)
            if (is_kind(&rank->devices[k], r->device))
                rank->device = &rank->devices[k];
        if (!rank->device)
            continue;
        rank->certain = rank->peaks_known[rank->device - rank->devices];
        found++;
        moments += rank->device->one_moment != 0;
    }
    r->at_end = moments == found;
    if (found)
        return MT_OK;
    if (asked) {
        MT_FAIL(err, MT_EUSAGE, "no run has a device '%s'", asked);
        struct mt_buf name = {0};
        mt_shell_word(&name, r->all.v[0].name);
        mt_err_hint(err, "`memtool info %s` lists the devices of a run.", name.s);
        mt_buf_free(&name);
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "no run has memory records");
    mt_err_cannot_tell(err);
    mt_err_hint(err, "Record them with profile(profile_memory=True), or dump snapshots "
                     "(docs/recording.md).");
    return MT_EUSAGE;
}

static enum mt_status narrow_device(const struct mt_ranks *r, struct mt_rank *rank,
                                    struct mt_err *err)
{
    struct mt_run run;
    struct mt_db *db = NULL;
    enum mt_status st = mt_ranks_open(r, rank, &db, &run, err);
    if (st == MT_OK)
        st = mt_narrow_device(db, &run, r->narrow, &rank->devices[rank->device - rank->devices],
                              err);
    mt_ranks_close(r, db);
    return st;
}

static enum mt_status narrow_devices(struct mt_ranks *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->all.n && r->narrow && r->narrow->set; i++)
        if (r->all.v[i].device)
            MT_TRY(narrow_device(r, &r->all.v[i], err));
    return MT_OK;
}

/* What is known of one moment is no peak. */
static void take_figures(struct mt_ranks *r)
{
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_rank *rank = &r->all.v[i];
        const struct mt_run_device *d = rank->device;
        if (d && (r->at_end || !d->one_moment))
            rank->figure_b = d->one_moment ? d->at_end_b : d->peak_b;
        if (rank->figure_b < 0) /* of damaged databases, too */
            rank->figure_b = MT_UNKNOWN;
    }
}

enum mt_ranks_apart mt_ranks_find_apart(const struct mt_ranks *r, const struct mt_rank *of[2])
{
    const struct mt_rank *first = NULL, *counts = NULL, *leaves_out = NULL;
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *rank = &r->all.v[i];
        if (rank->figure_b == MT_UNKNOWN)
            continue;
        first = first ? first : rank;
        of[0] = first;
        of[1] = rank;
        if (!mt_formats_alike(first->format, rank->format))
            return MT_RANKS_RECORDERS;
        if (rank->device->older_from[0])
            counts = counts ? counts : rank;
        else if (rank->device->older_used)
            leaves_out = leaves_out ? leaves_out : rank;
    }
    of[0] = counts;
    of[1] = leaves_out;
    return counts && leaves_out ? MT_RANKS_OLDER : MT_RANKS_ALIKE;
}

void mt_ranks_note_apart(const struct mt_ranks *r, struct mt_report *notes)
{
    const struct mt_rank *of[2];
    char was[96], is[96];
    switch (mt_ranks_find_apart(r, of)) {
    case MT_RANKS_ALIKE:
        return;
    case MT_RANKS_OLDER:
        mt_report_note(notes,
                       "%s includes memory allocated before its recording, %s excludes it: none is "
                       "judged by its peak. Import all with --base.",
                       of[0]->name, of[1]->name);
        return;
    case MT_RANKS_RECORDERS:
        mt_format_words(of[0]->format, was);
        mt_format_words(of[1]->format, is);
        mt_report_note(notes, "%s is %s, %s is %s: these count differently, so none is judged.",
                       of[0]->name, was, of[1]->name, is);
    }
}

void mt_ranks_note_moment(const struct mt_ranks *r, struct mt_report *notes)
{
    if (r->at_end)
        mt_report_note(notes,
                       "The snapshots have no history: compared is what was alive when they were "
                       "written. torch.cuda.memory._record_memory_history() records it.");
}

/* Whether `import` put a number behind a name that was taken: it tells runs apart, not ranks. */
static bool is_numbered_by_import(const struct mt_rank *rank)
{
    char made[200];
    const char *dash = strrchr(rank->name, '-');
    if (!dash || !dash[1] || dash[1 + strspn(dash + 1, "0123456789")])
        return false;
    mt_store_name_of(rank->source, 0, made);
    const size_t n = (size_t)(dash - rank->name), end = strlen(made);
    return n >= end && strncmp(dash - end, made, end) == 0;
}

/* Where neither the recorder nor the word "rank" says which rank a run is of: the one number in
 * which their files, or names, differ. Process logs beside other runs are called otherwise. */
static void number_ranks(struct mt_ranks *r)
{
    const char **texts = mt_alloc(2 * (r->all.n + 1) * sizeof *texts);
    struct mt_rank **of = mt_alloc((r->all.n + 1) * sizeof *of);
    int64_t *numbers = mt_alloc((r->all.n + 1) * sizeof *numbers);
    bool unknown = true, others = false, numbered = false;
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++)
        others |= !r->all.v[i].process;
    for (size_t i = 0; i < r->all.n; i++)
        if (!others || !r->all.v[i].process)
            of[n++] = &r->all.v[i];
    for (size_t i = 0; i < n; i++) {
        unknown &= of[i]->place.rank == MT_UNKNOWN;
        numbered |= is_numbered_by_import(of[i]);
        texts[i] = of[i]->source;
        texts[n + i] = of[i]->name;
    }
    if (unknown && (mt_numbers_apart(texts, n, numbers) ||
                    (!numbered && mt_numbers_apart(texts + n, n, numbers)))) {
        r->numbered = true;
        for (size_t i = 0; i < n; i++)
            of[i]->place.rank = numbers[i];
    }
    free(numbers);
    free(of);
    free(texts);
}

/* What `record` saw of the processes of a job is no rank of it, unless a process is asked for. */
static void leave_out_processes(struct mt_ranks *r, const char *device, struct mt_report *notes)
{
    bool asked = false;
    for (size_t i = 0; i < r->all.n && device; i++)
        for (size_t k = 0; k < r->all.v[i].device_n && r->all.v[i].process; k++)
            asked |= is_kind(&r->all.v[i].devices[k], device);
    if (!asked)
        mt_ranks_leave_out_processes(r, notes);
}

size_t mt_ranks_most(const struct mt_ranks *r)
{
    size_t most = r->all.n;
    for (size_t i = 0; i < r->all.n; i++)
        if (r->all.v[i].figure_b != MT_UNKNOWN &&
            (most == r->all.n || r->all.v[i].figure_b > r->all.v[most].figure_b))
            most = i;
    return most;
}

/* The runs of the group, the oldest first. */
static enum mt_status load_group(struct mt_ranks *r, struct mt_err *err)
{
    struct mt_run_ids ids = {0};
    enum mt_status st = mt_runs_of_group(r->db, r->group, INT64_MAX, &ids, err);
    for (size_t i = ids.n; i-- > 0 && st == MT_OK;)
        st = load_rank(r, NULL, ids.v[i], err);
    mt_vec_free(&ids);
    return st;
}

/* A group, or the run of that name. */
static enum mt_status load_named(struct mt_ranks *r, const char *name, struct mt_err *err)
{
    struct mt_err no_run = MT_ERR_INIT;
    snprintf(r->group, sizeof r->group, "%s", name);
    enum mt_status st = load_group(r, err);
    if (st != MT_EUSAGE)
        return st;
    if (load_rank(r, name, 0, &no_run) != MT_OK)
        return mt_is_folder(name) ? mt_folder_given(name, err, err) : st;
    *err = (struct mt_err)MT_ERR_INIT;
    r->group[0] = '\0';
    return MT_OK;
}

/* Whether both are one run, or what was read from one file by whatever names it goes. Of two files
 * the same bytes may be those of two ranks that did the same. */
static bool are_one(const struct mt_rank *a, const struct mt_rank *b)
{
    struct stat x, y;
    if (a->id == b->id && strcmp(a->name, b->name) == 0 && strcmp(a->source, b->source) == 0)
        return true;
    return a->content[0] && strcmp(a->content, b->content) == 0 && stat(a->source, &x) == 0 &&
           stat(b->source, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The last one is another run than those before it, or they are known to be of one rank: else it
 * would count as two. */
static enum mt_status check_apart(const struct mt_ranks *r, struct mt_err *err)
{
    const struct mt_rank *last = &r->all.v[r->all.n - 1];
    for (const struct mt_rank *at = r->all.v; at < last && last->place.rank == MT_UNKNOWN; at++)
        if (are_one(at, last)) {
            MT_FAIL(err, MT_EUSAGE, "run '%s' is given twice", at->name);
            mt_err_hint(err, "Nothing was compared. Each run is one rank: name it once.");
            return MT_EUSAGE;
        }
    return MT_OK;
}

/* Several runs or files. One that is damaged is noted, and the others will do; notes NULL: it is an
 * error. */
static enum mt_status load_each(struct mt_ranks *r, const struct mt_args *args,
                                struct mt_report *notes, struct mt_err *err)
{
    struct mt_err damaged = MT_ERR_INIT;
    for (size_t i = 0; i < args->n; i++) {
        struct mt_err own = MT_ERR_INIT;
        if (load_rank(r, args->v[i], 0, &own) == MT_OK) {
            if (notes) /* of ranks; a trend may have a run twice */
                MT_TRY(check_apart(r, err));
            continue;
        }
        *err = own;
        if (!notes || args->n == 1 || own.code != MT_EINPUT)
            return own.code;
        damaged = own;
        mt_report_note(notes, "%s, left out: %s.", args->v[i], own.what);
        mt_rank_free(&r->all.v[--r->all.n]);
    }
    *err = r->all.n ? (struct mt_err)MT_ERR_INIT : damaged;
    return err->code;
}

/* One argument is a group, unless it is a file; several are runs or files. */
static enum mt_status load_all(struct mt_ranks *r, const struct mt_args *args,
                               struct mt_report *notes, struct mt_err *err)
{
    struct stat info;
    bool file = args->n == 1 && stat(args->v[0], &info) == 0 && S_ISREG(info.st_mode);
    if (args->n > 1 || file)
        return load_each(r, args, notes, err);
    MT_TRY(mt_open_for_reading(&r->db, err));
    if (args->n)
        return load_named(r, args->v[0], err);
    MT_TRY(mt_group_latest(r->db, r->group, sizeof r->group, err));
    return load_group(r, err);
}

static enum mt_status choose_figures(struct mt_ranks *r, const char *device, struct mt_err *err)
{
    const struct mt_rank *unused[2];
    r->asked = device;
    MT_TRY(choose_devices(r, device, err));
    MT_TRY(narrow_devices(r, err));
    take_figures(r);
    number_ranks(r);
    if (!r->numbered)
        mt_ranks_find_hosts(r);
    r->apart = mt_ranks_find_apart(r, unused);
    return MT_OK;
}

enum mt_status mt_ranks_load_all(const struct mt_args *args, const char *device,
                                 struct mt_ranks *out, struct mt_report *notes, struct mt_err *err)
{
    MT_TRY(load_all(out, args, NULL, err));
    if (notes)
        leave_out_processes(out, device, notes);
    return choose_figures(out, device, err);
}

enum mt_status mt_ranks_load(const struct mt_args *args, const char *device, struct mt_ranks *out,
                             struct mt_report *notes, struct mt_err *err)
{
    MT_TRY(load_all(out, args, notes, err));
    leave_out_processes(out, device, notes);
    MT_TRY(choose_figures(out, device, err));
    mt_ranks_keep(out, notes);
    mt_ranks_cluster(out);
    return MT_OK;
}
