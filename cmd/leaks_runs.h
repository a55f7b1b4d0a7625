/*
 * leaks_runs.h - what the files of `memtool leaks RUN RUN ...` share.
 */
#ifndef MT_LEAKS_RUNS_H
#define MT_LEAKS_RUNS_H

#include "cmd/leaks.h"
#include "lib/analysis/run_ends.h"

struct mt_leaks_runs {
    const struct mt_leaks_wanted *wanted;
    struct mt_report *r;
    struct mt_run_ends ends;
    struct mt_run_device device; /* of the run before: all are asked for the same */
    struct mt_strtab devices;    /* names of those of all runs; not of a device beside */
    struct {
        int64_t bytes, n;
    } rest; /* alive at the end of the last run, and not listed */
    struct {
        int64_t bytes, n;
    } came;             /* of the rows: that came once and stayed */
    int64_t doubtful_n; /* that would be leaks */
    MT_VEC(struct mt_leaks_end {
        bool unknown;               /* what is alive then */
        int64_t written_ns;         /* MT_UNKNOWN: the file does not say */
        const char *name, *content; /* content: "" = unknown */
    })
    all; /* runs so far */
    const char *counts,
        *leaves_out;     /* runs that know what is older than they are, and that do not */
    bool at_least;       /* at some end more may be alive */
    bool beside;         /* of a device that is not shown */
    const char *lacking; /* the first run that lacks that device, and may not know of it; or NULL */
    /* Runs that leak from step to step; the last of them, and by how much a step. */
    size_t leaking_n;
    struct mt_run first; /* of the runs */
    struct mt_leaks_rank {
        const char *run; /* text of the report; NULL: there is none */
        int64_t rank;
        char host[128]; /* on which ranks count anew; "": none */
    } rank;             /* the first run of which a rank is known */
    bool other_ranks;   /* another run is of another */
    const char *leaking;
    double leaking_b;
    size_t may_leak_n;   /* of these runs: what is freed there, nobody knows */
    const char *unfreed; /* says it of the last such run behind the first; NULL: there is none */
    size_t unfreed_n;    /* sites that would be leaks but for these */
};

/* ---- leaks_runs_report.c ---- */

/* Whether there may be a leak that the ends do not show. */
bool mt_leaks_runs_hide(const struct mt_leaks_runs *s);
/* The columns of the report, once all runs are known. */
void mt_leaks_runs_columns(const struct mt_leaks_runs *s);
/* Judges a site: a row, if it is to be shown, and its part of the answer. */
void mt_leaks_runs_use(struct mt_leaks_runs *s, const struct mt_run_ends_site *site,
                       struct mt_leaks_answer *answer);
/* Uses all sites, and says what they show. Errors: MT_EUSAGE (what rows are asked for). */
enum mt_status mt_leaks_runs_show(struct mt_leaks_runs *s, struct mt_leaks_answer *answer,
                                  struct mt_err *err);

#endif
