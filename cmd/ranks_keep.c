/* memtool ranks: which of the runs of a job stand for its ranks. */
#include "cmd/import_file.h"
#include "cmd/ranks.h"
#include "lib/base/human.h"
#include "lib/model/kind_words.h"
#include "lib/run/knows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is unknown comes last. */
static int by_number(int64_t p, int64_t q)
{
    return p == q ? 0 : p == MT_UNKNOWN ? 1 : q == MT_UNKNOWN ? -1 : p < q ? -1 : 1;
}

/* In order of rank, then of hosts and ranks there, those of neither last. */
static int by_process(const struct mt_rank *x, const struct mt_rank *y)
{
    int order = by_number(x->place.rank, y->place.rank);
    order = order ? order : !*x->host - !*y->host;
    order = order ? order : mt_import_path_cmp(x->host, y->host);
    return order ? order : by_number(x->local_rank, y->local_rank);
}

/* In order of rank, those of a rank by what failed in them and what they had, those of no known
 * rank last; the earlier run first. */
static int by_rank(const void *a, const void *b)
{
    const struct mt_rank *x = a, *y = b;
    const int order = by_process(x, y);
    const bool same = mt_rank_is_same(x, y);
    if (order)
        return order;
    if (same && x->failed != y->failed)
        return x->failed ? -1 : 1;
    if (same && x->figure_b != y->figure_b)
        return x->figure_b > y->figure_b ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Of several runs of a rank the one that had most stays. */
static void keep_one_each(struct mt_ranks *r, struct mt_report *notes)
{
    size_t n = 0, ranks_n = 0;
    char runs[MT_HUMAN_LONG], ranks[MT_HUMAN_LONG];
    const char *example = NULL, *kept = NULL;
    qsort(r->all.v, r->all.n, sizeof *r->all.v, by_rank);
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *last = n ? &r->all.v[n - 1] : NULL, *this = &r->all.v[i];
        bool again = last && mt_rank_is_same(last, this);
        if (!again) {
            ranks_n++;
            r->all.v[n++] = *this;
            continue;
        }
        if (!example) {
            example = mt_report_text(notes, this->name);
            kept = mt_report_text(notes, last->name);
        }
        mt_rank_free(this);
    }
    if (example)
        mt_report_note(
            notes,
            "%s of %s %s of a rank, such as %s beside %s: of each rank the run with the highest "
            "peak is shown%s.",
            mt_human_plural((int64_t)(r->all.n - n), "run", runs),
            mt_human_plural((int64_t)ranks_n, "rank", ranks),
            r->all.n - n == 1 ? "is a further run" : "are further runs", example, kept,
            r->failed_first ? ", of those in which an allocation failed if there are any" : "");
    r->all.n = n;
}

/* Whether there are process logs, and other runs that know something. */
static bool has_processes_beside(const struct mt_ranks *r)
{
    bool processes = false, others = false;
    for (size_t i = 0; i < r->all.n; i++) {
        processes |= r->all.v[i].process;
        others |= !r->all.v[i].process && r->all.v[i].device_n;
    }
    return processes && others;
}

void mt_ranks_leave_out_processes(struct mt_ranks *r, struct mt_report *notes)
{
    size_t n = 0, process_n = 0;
    char logs[MT_HUMAN_LONG];
    if (!has_processes_beside(r))
        return;
    for (size_t i = 0; i < r->all.n; i++)
        if (r->all.v[i].process) {
            mt_rank_free(&r->all.v[i]);
            process_n++;
        } else
            r->all.v[n++] = r->all.v[i];
    r->all.n = n;
    mt_report_note(notes, "%s of the group: left out beside the other runs.",
                   mt_human_plural((int64_t)process_n, "process log", logs));
}

/* How many ranks the job has, of those whose peak is known; format: of runs that count as it does;
 * NULL: of all. Runs are in order of rank. */
static size_t ranks_of(const struct mt_ranks *r, const char *format)
{
    const struct mt_rank *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *rank = &r->all.v[i];
        if (rank->figure_b == MT_UNKNOWN || (format && !mt_formats_alike(format, rank->format)))
            continue;
        n += !last || !mt_rank_is_same(last, rank);
        last = rank;
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
    if (r->failed_first || mt_ranks_find_apart(r, of) != MT_RANKS_RECORDERS)
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
        mt_rank_free(&rank);
        left_n++;
    }
    r->all.n = n;
    mt_format_words(format, kept);
    mt_report_note(notes,
                   "%s, such as %s, left out: %zu of %zu ranks have %s, and these count "
                   "differently.",
                   mt_human_plural((int64_t)left_n, "run", runs), left, ranks_n, all, kept);
}

/* How many ranks the job has: as recorders say; else as many as the highest number tells, where
 * nearly all of them are there. 0: not known. */
static int64_t ranks_of_job(const struct mt_ranks *r)
{
    int64_t known_n = 0, end = 0;
    for (size_t i = 0; i < r->all.n && r->all.v[i].place.rank != MT_UNKNOWN; i++) {
        known_n++;
        end = r->all.v[i].place.rank + 1;
    }
    const bool nearly = known_n >= MT_SPREAD_MIN && end - known_n <= known_n / 3;
    return r->job_n ? r->job_n : nearly && !r->numbered ? end : 0;
}

char *mt_ranks_missing_text(int64_t rank_n, const int64_t *ranks, size_t n, int64_t *least)
{
    enum { NAMED = 8 };
    struct mt_buf names = {0};
    int64_t missing_n = 0, unknown_n = 0, next = 0;
    char *text = NULL;
    for (size_t i = 0; i <= n && rank_n > 0; i++) {
        int64_t rank = i < n ? ranks[i] : rank_n;
        unknown_n += rank == MT_UNKNOWN;
        if (rank < 0 || rank > rank_n)
            continue;
        for (; next < rank && missing_n < NAMED; next++)
            mt_buf_addf(&names, "%s%lld", missing_n++ ? ", " : "", (long long)next);
        missing_n += next < rank ? rank - next : 0;
        next = rank + 1;
    }
    const int64_t least_n = missing_n - unknown_n;
    if (least)
        *least = least_n > 0 ? least_n : 0;
    if (least_n > 0)
        text =
            mt_asprintf("Of the %lld ranks of the job %s%lld %s not among these runs%s%s%s.",
                        (long long)rank_n, unknown_n ? "at least " : "", (long long)least_n,
                        least_n == 1 ? "is" : "are", unknown_n ? "" : ": ",
                        unknown_n ? "" : names.s, !unknown_n && missing_n > NAMED ? ", ..." : "");
    mt_buf_free(&names);
    return text;
}

static void note_missing(struct mt_ranks *r, struct mt_report *notes)
{
    int64_t *ranks = mt_alloc((r->all.n + 1) * sizeof *ranks);
    for (size_t i = 0; i < r->all.n; i++)
        ranks[i] = r->all.v[i].place.rank;
    char *text = mt_ranks_missing_text(ranks_of_job(r), ranks, r->all.n, &r->missing_n);
    if (text)
        mt_report_note_once(notes, text); /* of two groups */
    free(text);
    free(ranks);
}

/* Whoever knows it can say it: neither recorders nor names do. */
static void note_unranked(const struct mt_ranks *r, struct mt_report *notes)
{
    size_t unknown_n = 0;
    for (size_t i = 0; i < r->all.n; i++)
        unknown_n += !mt_rank_is_known(&r->all.v[i]);
    if (*r->group && unknown_n == r->all.n && unknown_n > 1)
        mt_report_note(notes, "Nothing says which rank a run is of: memtool runs --rename rank3 "
                              "RUN tells it.");
}

void mt_ranks_keep(struct mt_ranks *r, struct mt_report *notes)
{
    const struct mt_rank *unused[2];
    leave_out_other_recorders(r, notes);
    keep_one_each(r, notes);
    r->apart = mt_ranks_find_apart(r, unused); /* what kept them apart may be gone */
    note_missing(r, notes);
    note_unranked(r, notes);
    mt_ranks_note_hosts(r, notes);
}

/* The first of each rank; of no known rank all. They are in order. */
static void keep_first_each(struct mt_ranks *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++)
        if (!n || !mt_rank_is_same(&r->all.v[i], &r->all.v[n - 1]))
            r->all.v[n++] = r->all.v[i];
    r->all.n = n;
}

static int same_rank(const void *a, const void *b)
{
    const struct mt_rank *x = a, *y = b;
    const int order = by_process(x, y);
    return order || mt_rank_is_known(x) ? order : x->id < y->id ? -1 : x->id > y->id;
}

void mt_ranks_cluster_all(struct mt_ranks *r)
{
    struct mt_ranks once = *r; /* each rank once: what these own is r's */
    const struct mt_rank *unused[2];
    const bool mixed = has_processes_beside(r);
    memset(&once.all, 0, sizeof once.all);
    for (size_t i = 0; i < r->all.n; i++)
        if (!mixed || !r->all.v[i].process)
            *mt_vec_push(&once.all) = r->all.v[i];
    once.apart = r->apart = mt_ranks_find_apart(&once, unused);
    qsort(once.all.v, once.all.n, sizeof *once.all.v, by_rank); /* there is at least one */
    keep_first_each(&once);
    mt_ranks_cluster(&once);
    r->clusters.v = once.clusters.v;
    r->clusters.n = once.clusters.n;
    r->clusters.cap = once.clusters.cap;
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_rank *rank = &r->all.v[i];
        const struct mt_rank *of =
            mixed && rank->process ? NULL
                                   : bsearch(rank, once.all.v, once.all.n, sizeof *of, same_rank);
        /* Without a rank nothing but this tells others which of a host's runs stands for it. */
        const bool further = of && *rank->host && of->id != rank->id;
        rank->cluster = of && !further ? of->cluster : MT_NO_CLUSTER;
    }
    mt_vec_free(&once.all);
}
