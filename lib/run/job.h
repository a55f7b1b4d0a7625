/*
 * job.h - which process of a job of many a run is of: its rank, and its stage of a pipeline.
 */
#ifndef MT_JOB_H
#define MT_JOB_H

#include "lib/run/runs.h"

/* Each MT_UNKNOWN where nothing says. */
struct mt_job_place {
    int64_t rank;
    int64_t rank_n; /* ranks of the job */
    int64_t stage;  /* of a pipeline, from 0 */
    int64_t tp;     /* which part of each tensor it has, where several ranks share one; from 0 */
    bool told;      /* the rank is of the job: the recorder says it, or whoever named the run */
};

/*
 * Where a run stands: as its recorder says (distributedInfo of PyTorch's traces), else as the run
 * is called where that differs from the file, else as the file is. Errors: MT_EDB.
 */
enum mt_status mt_job_place(struct mt_db *db, const struct mt_run *run, struct mt_job_place *out,
                            struct mt_err *err);

/*
 * The number behind a word in the last part of a path, else in the folder above it, else in the
 * nearest folder further up that is called nothing else: "rank" is 12 in "rank12.json",
 * "oom_rank-12_1699.pickle", "exp[a]-rank[12].json", "job/rank_12/dump.pickle",
 * "rank12/step_3/dump.pickle" and "dp1_pp0_tp2_rank12.1699.pt.trace.json.gz"; not in "frank12",
 * "local_rank12" nor "lora_rank12_a/step_3/x". "tp" is 2 in "tp_rank_2", too. Capitals do not
 * count, and the last in a part does. MT_UNKNOWN: none, or it does not fit.
 */
int64_t mt_number_behind(const char *path, const char *word);

/*
 * Where n texts (n > 1) differ in one number alone, that number of each: 0 and 1 of "dump_0.pickle"
 * and "dump_1.pickle". False, out untouched: they differ otherwise, two are equal, or the numbers
 * are too large to count n processes (those of PIDs, of steps).
 */
bool mt_numbers_apart(const char *const *texts, size_t n, int64_t *out);

/* The text with a "#" for each number in it, allocated: what names of several ranks share. */
char *mt_without_numbers(const char *text);

#endif
