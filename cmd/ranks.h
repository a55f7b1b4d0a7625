/*
 * ranks.h - the runs of a job side by side, one for each rank.
 */
#ifndef MT_RANKS_CMD_H
#define MT_RANKS_CMD_H

#include "cmd/cmd.h"
#include "cmd/rows.h"
#include "lib/analysis/spread.h"
#include "lib/run/job.h"
#include "lib/usage/narrow.h"

struct mt_rank {
    const char *ref; /* as the command line names it; NULL: it is of the group */
    int64_t id;
    char name[256], source[512], format[64], time_unit[32];
    char content[33]; /* hash of what was read, "" = unknown */
    struct mt_job_place place;
    char host[128];     /* the folder in which ranks are counted anew; "": none */
    int64_t local_rank; /* the rank there, its place in the job being unknown; MT_UNKNOWN */
    struct mt_run_device *devices; /* all; the one with most bytes allocated first */
    size_t device_n;
    const struct mt_run_device *device; /* of these the one compared; NULL: it has none such */
    int64_t figure_b;                   /* what ranks are compared by; MT_UNKNOWN */
    bool *peaks_known;                  /* of each device: its recording covers all of its peak */
    bool certain;                       /* that of the one compared does */
    bool process;                       /* a process log, which has no allocations */
    bool failed;                        /* an allocation did in it; with failed_first alone */
    bool outside;                       /* of what is usual in its cluster */
    size_t cluster;                     /* of mt_ranks.clusters */
};

#define MT_NO_CLUSTER                                                                              \
    SIZE_MAX /* a process log beside other runs, a further run of a host's rank                    \
              */

/* Ranks that are alike by design: all, or those of a stage of a pipeline, or of these the ones that
 * have the same part of its tensors. */
struct mt_rank_cluster {
    int64_t stage;                 /* MT_UNKNOWN: of all, or of no known stage */
    int64_t tp;                    /* the part; MT_UNKNOWN: of all, or of none known */
    int64_t block;                 /* of mt_ranks.block_n */
    int64_t first_rank, last_rank; /* the lowest and the highest; MT_UNKNOWN */
    struct mt_spread spread;
    size_t median, most; /* ranks, by index; the former of the spread's median */
    size_t outside_n, rank_n;
    bool judged; /* which lie outside is known */
};

/* Why figures of ranks, or of runs, do not compare, so that nobody judges them. */
enum mt_ranks_apart {
    MT_RANKS_ALIKE, /* they do */
    MT_RANKS_OLDER, /* levels: some count what is older than their recording, some leave it out */
    MT_RANKS_RECORDERS /* other recorders count differently */
};

struct mt_ranks {
    struct mt_db *db; /* of the group; NULL: runs are named one by one */
    char group[256];  /* "": none */
    MT_VEC(struct mt_rank) all;
    MT_VEC(struct mt_rank_cluster) clusters; /* by stage; each has ranks */
    bool at_end;                             /* compared is what was alive when they were dumped:
                                                none has a history */
    bool staged;                             /* clusters are stages */
    bool parted;                             /* they are ranks with one part of the tensors */
    size_t block_n; /* nothing tells stages, but as many blocks of consecutive ranks are each alike;
                       0: none */
    int64_t job_n;  /* ranks of the job, as recorders say; 0: none does */
    int64_t missing_n;     /* of the job that are not there, at least, as far as is known */
    bool numbered;         /* nothing says that they are ranks: they have the one
                              number in which files or names differ */
    bool on_hosts;         /* some are told apart by host and the rank there */
    char device[32];       /* what the compared device is called, or its kind */
    const char *asked;     /* the one that was asked for; NULL: none */
    bool failed_first;     /* set it before they are loaded: of several runs of a rank one stays in
                              which an allocation failed, if there is any */
    const char *failed_on; /* with it: on that device, or one of that kind; NULL: on any */
    const struct mt_narrow *narrow; /* set it before, too: the categories that figures are of;
                                       NULL: all */
    enum mt_ranks_apart apart;
};

/*
 * The runs of a group (NULL: the one that a run joined last), or those named: names or files.
 * device NULL: of the kind that most was allocated on. Of several runs of a rank the one that had
 * most stays; process logs beside other runs are left out unless device is of them, and damaged
 * files beside others that are named; notes tell. Free it also on failure.
 * Errors: of mt_open_run, mt_narrow_device; MT_EUSAGE: there is no group, or a single run.
 */
enum mt_status mt_ranks_load(const struct mt_args *args, const char *device, struct mt_ranks *out,
                             struct mt_report *notes, struct mt_err *err);
/* The same as they come, each a rank of its own: those of a group in the order in which they joined
 * it. No clusters. notes NULL: process logs stay. */
enum mt_status mt_ranks_load_all(const struct mt_args *args, const char *device,
                                 struct mt_ranks *out, struct mt_report *notes, struct mt_err *err);
void mt_ranks_free(struct mt_ranks *r);

void mt_rank_free(const struct mt_rank *rank); /* not itself */

/* What `record` saw of the processes of a job is no rank of it, nor a run beside those of traces.
 */
void mt_ranks_leave_out_processes(struct mt_ranks *r, struct mt_report *notes);
/* Of several runs of a rank one stays, of several recorders those of one; what is left out, and
 * which ranks of the job are missing, is noted. Figures are chosen before. */
void mt_ranks_keep(struct mt_ranks *r, struct mt_report *notes);

/* "Of the 4 ranks of the job 1 is not among these runs: 2.", allocated; NULL: none is missing, or
 * rank_n is 0. ranks: rising; those that are unknown may be any. least: how many are missing at
 * least; may be NULL. */
char *mt_ranks_missing_text(int64_t rank_n, const int64_t *ranks, size_t n, int64_t *least);

/* Where folders that are hosts have the same ranks, these are local ones: the rank of the job is
 * unknown then, and host and local_rank tell processes apart, unless another run of the same
 * process says it. Of ranks that files are named by. */
void mt_ranks_find_hosts(struct mt_ranks *r);
/* Notes what was taken for hosts, where something was. */
void mt_ranks_note_hosts(const struct mt_ranks *r, struct mt_report *notes);
/* Whether it is known which process of the job a run is of, and whether two are of the same one. */
bool mt_rank_is_known(const struct mt_rank *rank);
bool mt_rank_is_same(const struct mt_rank *a, const struct mt_rank *b);

/* Finds the clusters of loaded ranks, and judges who is outside of what is usual in theirs. */
void mt_ranks_cluster(struct mt_ranks *r);
/* The same of all runs as they came: those of one rank are in one cluster, as the one that stays
 * where each rank has one run; of the ranks of hosts only that one is. Of mt_ranks_load_all. */
void mt_ranks_cluster_all(struct mt_ranks *r);
/* "the job", "stage 1", "stage 1, tp 0", "ranks 8 to 15". */
const char *mt_rank_cluster_words(struct mt_report *r, const struct mt_ranks *ranks,
                                  const struct mt_rank_cluster *c);

/* The index of the rank with the largest figure; all.n: no figure is known. */
size_t mt_ranks_most(const struct mt_ranks *r);

/* What keeps the figures from being compared, and of which two ranks. */
enum mt_ranks_apart mt_ranks_find_apart(const struct mt_ranks *r, const struct mt_rank *of[2]);

/* Notes why they are not judged, where they are not. */
void mt_ranks_note_apart(const struct mt_ranks *r, struct mt_report *notes);
/* Notes that none has a history, where that is so (at_end). */
void mt_ranks_note_moment(const struct mt_ranks *r, struct mt_report *notes);

/* Says which ranks are outliers, and of which clusters none can be. */
void mt_ranks_describe_outside(const struct mt_ranks *ranks, struct mt_report *r);

/* Opens the run of a rank; close *db with mt_ranks_close. */
enum mt_status mt_ranks_open(const struct mt_ranks *r, const struct mt_rank *rank,
                             struct mt_db **db, struct mt_run *run, struct mt_err *err);
void mt_ranks_close(const struct mt_ranks *r, struct mt_db *db);

/* Whether the run itself has to be read for a column, and fills these of each row of a rank.
 * Errors: MT_EDB. */
bool mt_rank_is_detail(const char *column);
enum mt_status mt_ranks_add_details(const struct mt_ranks *ranks, struct mt_report *r,
                                    struct mt_err *err);

/* Fills the columns that say which rank a row is of, those of them that there are: rank, host,
 * local_rank. */
void mt_rank_put(struct mt_report *r, struct mt_row *row, const struct mt_rank *rank);
/* "rank 3", "node0 rank 3" of a host's own, or the run's name where its rank is not known. */
const char *mt_rank_words(struct mt_report *r, const struct mt_rank *rank);

/* How a comparison is shown: the section of its rows, headings of both sides. */
struct mt_peak_change {
    const char *section, *base, *new;
    const struct mt_rows *rows;
};

/* What one run holds at its peak beyond another, by site; the rows add up to the difference. For
 * people a report of its own; else rows behind those that are there. Errors: MT_EDB. */
enum mt_status mt_ranks_change(const struct mt_ranks *r, const struct mt_rank *base,
                               const struct mt_rank *new, const struct mt_peak_change *how,
                               struct mt_report *out, struct mt_err *err);

/*
 * What the rank that has most holds at its peak beyond the median one of its cluster, by site: a
 * report of its own, empty where there is nothing to compare. Errors: MT_EDB.
 */
enum mt_status mt_ranks_compare(const struct mt_ranks *r, const struct mt_rows *rows,
                                struct mt_report *out, struct mt_err *err);

/* Shows a row for each step of each rank; for people a line of marks for each rank; with --format
 * svg all ranks and steps in shades. Errors: of mt_show; MT_EUSAGE: no rank has steps; MT_EDB. */
enum mt_status mt_ranks_show_steps(const struct mt_ranks *r, const struct mt_rows *rows,
                                   struct mt_report *out, struct mt_err *err);

#endif
