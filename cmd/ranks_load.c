/* The runs of a job: which they are, which device of each is compared, and how they lie apart. */
#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/ranks.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/model/process.h"
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

static void free_rank(const struct mt_rank *rank)
{
    free(rank->devices);
    free(rank->peaks_known);
}

void mt_ranks_free(struct mt_ranks *r)
{
    for (size_t i = 0; i < r->all.n; i++)
        free_rank(&r->all.v[i]);
    mt_vec_free(&r->all);
    mt_vec_free(&r->clusters);
    mt_db_close(r->db);
}

const char *mt_rank_words(struct mt_report *r, const struct mt_rank *rank)
{
    if (rank->place.rank == MT_UNKNOWN)
        return mt_report_text(r, rank->name);
    return mt_report_textf(r, "rank %lld", (long long)rank->place.rank);
}

/* Reads what is known of a rank; what it is compared by is not. */
static enum mt_status load_rank(struct mt_ranks *r, const char *ref, int64_t id, struct mt_err *err)
{
    struct mt_run run;
    struct mt_run_device unused;
    struct mt_db *db = NULL;
    struct mt_rank *rank = mt_vec_push(&r->all);
    *rank = (struct mt_rank){.ref = ref, .id = id, .figure_b = MT_UNKNOWN};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_ranks_open(r, rank, &db, &run, err));
    rank->id = run.id;
    snprintf(rank->name, sizeof rank->name, "%s", run.name);
    snprintf(rank->source, sizeof rank->source, "%s", run.source);
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
        mt_err_hint(err, "`memtool info %s` lists the devices of a run.", r->all.v[0].name);
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "no run has memory records");
    mt_err_hint(err, "Record them with profile(profile_memory=True), or dump snapshots "
                     "(docs/recording.md).");
    return MT_EUSAGE;
}

/* What is known of one moment is no peak. */
static void take_figures(struct mt_ranks *r)
{
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_rank *rank = &r->all.v[i];
        const struct mt_run_device *d = rank->device;
        if (d && (r->at_end || !d->one_moment))
            rank->figure_b = d->peak_b;
        if (rank->figure_b < 0) /* of damaged databases, too */
            rank->figure_b = MT_UNKNOWN;
    }
}

/* What keeps the figures from being compared, and of which two. */
static enum mt_ranks_apart find_apart(const struct mt_ranks *r, const struct mt_rank *of[2])
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
    switch (find_apart(r, of)) {
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

/* Where neither the recorder nor the word "rank" says which rank a run is of: the one number in
 * which their files, or names, differ. Process logs beside other runs are called otherwise. */
static void number_ranks(struct mt_ranks *r)
{
    const char **texts = mt_alloc(2 * (r->all.n + 1) * sizeof *texts);
    struct mt_rank **of = mt_alloc((r->all.n + 1) * sizeof *of);
    int64_t *numbers = mt_alloc((r->all.n + 1) * sizeof *numbers);
    bool unknown = true, others = false;
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++)
        others |= !r->all.v[i].process;
    for (size_t i = 0; i < r->all.n; i++)
        if (!others || !r->all.v[i].process)
            of[n++] = &r->all.v[i];
    for (size_t i = 0; i < n; i++) {
        unknown &= of[i]->place.rank == MT_UNKNOWN;
        texts[i] = of[i]->source;
        texts[n + i] = of[i]->name;
    }
    if (unknown &&
        (mt_numbers_apart(texts, n, numbers) || mt_numbers_apart(texts + n, n, numbers))) {
        r->numbered = true;
        for (size_t i = 0; i < n; i++)
            of[i]->place.rank = numbers[i];
    }
    free(numbers);
    free(of);
    free(texts);
}

/* In order of rank, those of a rank by what failed in them and what they had, those of no known
 * rank last; the earlier run first. */
static int by_rank(const void *a, const void *b)
{
    const struct mt_rank *x = a, *y = b;
    const int64_t p = x->place.rank, q = y->place.rank;
    if (p != q)
        return p == MT_UNKNOWN ? 1 : q == MT_UNKNOWN ? -1 : p < q ? -1 : 1;
    if (p != MT_UNKNOWN && x->failed != y->failed)
        return x->failed ? -1 : 1;
    if (p != MT_UNKNOWN && x->figure_b != y->figure_b)
        return x->figure_b > y->figure_b ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Of several runs of a rank the one that had most stays. */
static void keep_one_each(struct mt_ranks *r, struct mt_report *notes)
{
    size_t n = 0, ranks_n = 0;
    char runs[MT_HUMAN_LONG];
    const char *example = NULL, *kept = NULL;
    qsort(r->all.v, r->all.n, sizeof *r->all.v, by_rank);
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *last = n ? &r->all.v[n - 1] : NULL, *this = &r->all.v[i];
        bool again = last && this->place.rank != MT_UNKNOWN && last->place.rank == this->place.rank;
        if (!again) {
            ranks_n++;
            r->all.v[n++] = *this;
            continue;
        }
        if (!example) {
            example = mt_report_text(notes, this->name);
            kept = mt_report_text(notes, last->name);
        }
        free_rank(this);
    }
    if (example)
        mt_report_note(
            notes,
            "%s of %zu ranks are further runs of a rank, such as %s beside %s: of each "
            "rank the run with the highest peak is shown%s.",
            mt_human_plural((int64_t)(r->all.n - n), "run", runs), ranks_n, example, kept,
            r->failed_first ? ", of those in which an allocation failed if there are any" : "");
    r->all.n = n;
}

/* Whether a process is asked for. */
static bool asks_for_process(const struct mt_ranks *r, const char *device)
{
    bool asked = false;
    for (size_t i = 0; i < r->all.n && device; i++)
        for (size_t k = 0; k < r->all.v[i].device_n && r->all.v[i].process; k++)
            asked |= is_kind(&r->all.v[i].devices[k], device);
    return asked;
}

/* What `record` saw of the processes of a job is no rank of it, nor a run beside those of traces.
 */
static void leave_out_processes(struct mt_ranks *r, const char *device, struct mt_report *notes)
{
    size_t n = 0, process_n = 0;
    bool others = false; /* that know something */
    char logs[MT_HUMAN_LONG];
    for (size_t i = 0; i < r->all.n; i++) {
        process_n += r->all.v[i].process;
        others |= !r->all.v[i].process && r->all.v[i].device_n;
    }
    if (!process_n || !others || asks_for_process(r, device))
        return;
    for (size_t i = 0; i < r->all.n; i++)
        if (r->all.v[i].process)
            free_rank(&r->all.v[i]);
        else
            r->all.v[n++] = r->all.v[i];
    r->all.n = n;
    mt_report_note(notes, "%s of the group: left out beside the other runs.",
                   mt_human_plural((int64_t)process_n, "process log", logs));
}

/* How many ranks the job has, of those whose peak is known; format: of runs that count as it does;
 * NULL: of all. Runs are in order of rank. */
static size_t ranks_of(const struct mt_ranks *r, const char *format)
{
    int64_t last = MT_UNKNOWN;
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *rank = &r->all.v[i];
        if (rank->figure_b == MT_UNKNOWN || (format && !mt_formats_alike(format, rank->format)))
            continue;
        n += rank->place.rank == MT_UNKNOWN || rank->place.rank != last;
        last = rank->place.rank;
    }
    return n;
}

/* The recorder that most ranks have a run of, one that knows what the allocator held before others.
 * NULL: there is none, or no need of one. */
static const struct mt_rank *common_recorder(const struct mt_ranks *r, size_t all, size_t *n)
{
    const struct mt_rank *of[2], *best = NULL;
    bool best_knows = false;
    *n = 0;
    if (r->failed_first || find_apart(r, of) != MT_RANKS_RECORDERS)
        return NULL;
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *rank = &r->all.v[i];
        const bool knows = rank->device && mt_device_knows(rank->device, MT_KNOWS_SEGMENTS);
        if (rank->figure_b == MT_UNKNOWN || best_knows || (best && !knows))
            continue;
        const size_t ranks_n = ranks_of(r, rank->format);
        if (ranks_n * 4 < all * 3)
            continue;
        best = rank;
        best_knows = knows;
        *n = ranks_n;
    }
    return best;
}

/* A trace of a rank beside its snapshot: they count differently, and one of them will do. */
static void leave_out_other_recorders(struct mt_ranks *r, struct mt_report *notes)
{
    size_t n = 0, left_n = 0, ranks_n;
    char runs[MT_HUMAN_LONG], kept[96], left[96] = "", format[64];
    qsort(r->all.v, r->all.n, sizeof *r->all.v, by_rank);
    const size_t all = ranks_of(r, NULL);
    const struct mt_rank *common = common_recorder(r, all, &ranks_n);
    if (!common)
        return;
    snprintf(format, sizeof format, "%s", common->format);
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank rank = r->all.v[i];
        if (mt_formats_alike(format, rank.format)) {
            r->all.v[n++] = rank;
            continue;
        }
        mt_format_words(rank.format, left);
        free_rank(&rank);
        left_n++;
    }
    r->all.n = n;
    mt_format_words(format, kept);
    mt_report_note(notes,
                   "%s, such as %s, left out: %zu of %zu ranks have %s, and these count "
                   "differently.",
                   mt_human_plural((int64_t)left_n, "run", runs), left, ranks_n, all, kept);
}

/* Ranks that the job had, as recorders say, and that are not there. */
static void note_missing(const struct mt_ranks *r, struct mt_report *notes)
{
    enum { NAMED = 8 };
    struct mt_buf names = {0};
    const int64_t rank_n = r->job_n;
    int64_t missing_n = 0, next = 0;
    for (size_t i = 0; i <= r->all.n && rank_n > 0; i++) {
        int64_t rank = i < r->all.n ? r->all.v[i].place.rank : rank_n;
        if (rank < 0 || rank > rank_n)
            continue;
        for (; next < rank && missing_n < NAMED; next++)
            mt_buf_addf(&names, "%s%lld", missing_n++ ? ", " : "", (long long)next);
        missing_n += next < rank ? rank - next : 0;
        next = rank + 1;
    }
    if (missing_n)
        mt_report_note(notes, "Of the %lld ranks of the job %lld %s not among these runs: %s%s.",
                       (long long)rank_n, (long long)missing_n, missing_n == 1 ? "is" : "are",
                       names.s, missing_n > NAMED ? ", ..." : "");
    mt_buf_free(&names);
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
    if (st != MT_EUSAGE || load_rank(r, name, 0, &no_run) != MT_OK)
        return st;
    *err = (struct mt_err)MT_ERR_INIT;
    r->group[0] = '\0';
    return MT_OK;
}

/* One argument is a group, unless it is a file; several are runs or files. */
static enum mt_status load_all(struct mt_ranks *r, const struct mt_args *args, struct mt_err *err)
{
    struct stat info;
    bool file = args->n == 1 && stat(args->v[0], &info) == 0 && S_ISREG(info.st_mode);
    for (size_t i = 0; (args->n > 1 || file) && i < args->n; i++)
        MT_TRY(load_rank(r, args->v[i], 0, err));
    if (args->n > 1 || file)
        return MT_OK;
    MT_TRY(mt_open_for_reading(&r->db, err));
    if (args->n)
        return load_named(r, args->v[0], err);
    MT_TRY(mt_group_latest(r->db, r->group, sizeof r->group, err));
    return load_group(r, err);
}

static enum mt_status choose_figures(struct mt_ranks *r, const char *device, struct mt_err *err)
{
    const struct mt_rank *unused[2];
    MT_TRY(choose_devices(r, device, err));
    take_figures(r);
    number_ranks(r);
    r->apart = find_apart(r, unused);
    return MT_OK;
}

enum mt_status mt_ranks_load_all(const struct mt_args *args, const char *device,
                                 struct mt_ranks *out, struct mt_report *notes, struct mt_err *err)
{
    MT_TRY(load_all(out, args, err));
    if (notes)
        leave_out_processes(out, device, notes);
    return choose_figures(out, device, err);
}

enum mt_status mt_ranks_load(const struct mt_args *args, const char *device, struct mt_ranks *out,
                             struct mt_report *notes, struct mt_err *err)
{
    const struct mt_rank *unused[2];
    MT_TRY(load_all(out, args, err));
    leave_out_processes(out, device, notes);
    MT_TRY(choose_figures(out, device, err));
    leave_out_other_recorders(out, notes);
    keep_one_each(out, notes);
    out->apart = find_apart(out, unused); /* what kept them apart may be gone */
    note_missing(out, notes);
    mt_ranks_cluster(out);
    return MT_OK;
}
