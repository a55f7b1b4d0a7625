/*
 * runs.h - which database, which run, which device a command is about.
 */
#ifndef MT_RUNS_H
#define MT_RUNS_H

#include "lib/base/human.h"
#include "lib/db/db.h"
#include "lib/model/knows.h"
#include "lib/run/stored_notes.h"

/* Why a run of an older memtool was not imported again by itself (cmd/again.h). */
enum mt_not_again {
    MT_AGAIN,           /* it was, or need not be */
    MT_AGAIN_PIPE,      /* it came from standard input */
    MT_AGAIN_GONE,      /* its file is not where it was */
    MT_AGAIN_READ_ONLY, /* the database cannot be written */
    MT_AGAIN_FAILED     /* said when it was tried */
};

struct mt_run {
    int64_t id, start_ns, dur_ns, op_n, alloc_n, node_n, record_n, event_n;
    int64_t record_end; /* records are numbered up to but without it, with those that nobody saw */
    int64_t op_first, alloc_first, node_first;
    enum mt_run_kind kind; /* for words only (lib/model/knows.h) */
    char time_unit[16];    /* what times count: "ns" ...; "": it knows no time, dur_ns is 0 */
    bool whole_us;
    int64_t resolution_ns; /* times are known to that; 0: the format does not say */
    bool unwritten;        /* no memory records, though the profiler was to write them */
    char name[256], source[512], format[64], step_marker[128];
    char content[33]; /* hash of what was read, "" = unknown */
    int imported_by;  /* schema version of the memtool that did */
    enum mt_not_again not_again;
    struct mt_run_notes notes;
};

/* Whether an older memtool imported it, which did not read all that this one does. */
bool mt_run_is_older(const struct mt_run *run);

/* Whether the run is a snapshot of an allocator rather than a profiler's trace. */
bool mt_run_is_snapshot(const struct mt_run *run);

/* When it was written, ns since the Unix epoch, where it is what a process held at that moment: a
 * dump or a snapshot of an allocator. MT_UNKNOWN: the file does not say, or it is no such run. */
int64_t mt_run_written_ns(const struct mt_run *run);

/* What to do about a run without memory records: whole sentences, static. */
const char *mt_run_how_to_record(const struct mt_run *run);

/* What to do about a run without steps: a whole sentence, or ""; static. */
const char *mt_run_how_to_mark(const struct mt_run *run);

#define MT_AT_END INT64_MAX /* as the number of a record: after the last */

struct mt_run_device {
    int64_t id;
    char name[32];
    char
        shown[160]; /* as titles say: the name; "cpu: activations" where only these are looked at */
    unsigned only;  /* categories, as bits (category_words.h); 0: all. Figures are of these alone
                       (lib/usage/narrow.h) */
    int type;
    unsigned knows; /* enum mt_knows; figures it does not know are MT_UNKNOWN */
    int64_t alloc_b, freed_b, net_b, alloc_n, freed_n, start_b;
    int64_t peak_b, peak_ns, peak_record; /* the latter MT_UNKNOWN: never above start_b, too */
    int64_t at_end_b, at_end_n;
    int64_t before_freed_b, before_at_peak_b;
    int64_t outside_n, outside_alloc_b, outside_freed_b, outside_alloc_n, outside_at_peak_b,
        outside_at_end_b;
    int64_t older_b;
    int64_t unseen_b, unseen_n;              /* of freed_b, freed_n: frees that nobody saw */
    int64_t alloc_unseen_b, alloc_unseen_n;  /* of alloc_b, alloc_n: allocations that nobody saw */
    int64_t doubt_at_peak_b, doubt_at_end_b; /* so much less may have been alive */
    bool frees_nothing;                      /* of its allocations, whatever only is */
    int64_t one_moment; /* 1: no history, only what was alive when it was written; nobody knows its
                           peak, the fields above are those of that moment */
    int64_t older_least_b, older_most_b; /* INT64_MIN: unknown, or older_from says better */
    int64_t older_used;                  /* not 0: figures leave out older blocks */
    int64_t total_peak_b; /* the most that the recorder's own total is; INT64_MIN: unknown */
    int64_t above_b,
        below_b;         /* how far it is above and below the level, at most, whatever only is */
    int64_t missing_b;   /* how far above it at the end: not 0: records are missing */
    char older_from[16]; /* who knows of all older blocks; "": nobody */
};

/* The categories alone that are looked at: "activations"; "": all. Borrowed. */
const char *mt_device_categories(const struct mt_run_device *device);

/* What a device of a trace holds all the time without a record of it, as far as that is known; 0
 * for snapshots, which know such blocks one by one. */
int64_t mt_run_kept(const struct mt_run *run, const struct mt_run_device *device);

/*
 * Path of the database: `given` (--db) if not NULL, else $MEMTOOL_DB if not empty, else
 * .memtool.db in this folder or the nearest parent that has one, else ".memtool.db" here.
 * Allocated. Errors: MT_EDB: one that was found belongs to another user; *out is NULL then.
 */
enum mt_status mt_db_path(const char *given, char **out, struct mt_err *err);

/*
 * The run of a reference: name, else id, else unique prefix of a name; @latest, @latest~N,
 * baseline:GROUP (the latest run of the group); NULL is @latest.
 * Errors: MT_EUSAGE naming the nearest runs, or the candidates of an ambiguous prefix; MT_EDB.
 */
enum mt_status mt_run_find(struct mt_db *db, const char *ref, struct mt_run *out,
                           struct mt_err *err);

/* The run of an id. Errors: MT_EUSAGE: there is none; MT_EDB. */
enum mt_status mt_run_get(struct mt_db *db, int64_t id, struct mt_run *out, struct mt_err *err);

/* Whether a reference is the id of the run, written in digits. */
bool mt_run_is_id(const char *ref, const struct mt_run *run);

/* Whether a reference that found the run is no more than the beginning of its name. */
bool mt_run_is_beginning(const char *ref, const struct mt_run *run);

/* Whether levels of the device are upper bounds: ends of lives were not seen, or those of others of
 * the same sites, where it is narrowed. */
bool mt_device_is_bounded(const struct mt_run_device *device);

/* "at most " before a level of the device, the peak or another: blocks that it counts may be dead
 * or yet to come. Else "". Static. */
const char *mt_at_most(const struct mt_run_device *device, int64_t level_b);

/* The peak of the device as people read it: "16.55 MiB", "at most 16.55 MiB", "unknown". */
const char *mt_peak_words(const struct mt_run_device *device, char words[MT_HUMAN_LONG]);

/* Whether both hold the same recording: a run may be in two databases, under two names. */
bool mt_run_same(const struct mt_run *a, const struct mt_run *b);

/* Ids of the runs of a group, the latest first, `most` at most. Free them with mt_vec_free also on
 * failure. Errors: MT_EUSAGE listing the groups; MT_EDB. */
struct mt_run_ids {
    int64_t *v;
    size_t n, cap;
};
enum mt_status mt_runs_of_group(struct mt_db *db, const char *group, int64_t most,
                                struct mt_run_ids *out, struct mt_err *err);

/* The name of the group that a run joined last. Errors: MT_EUSAGE: there is no group; MT_EDB. */
enum mt_status mt_group_latest(struct mt_db *db, char *out, size_t size, struct mt_err *err);

/*
 * The device of that name in the run, else "cuda" means the first such. NULL: the one with the most
 * allocated bytes. *none = true when the run has no device at all (name NULL only).
 * *other_n = further devices. Errors: MT_EUSAGE listing the devices; MT_EDB.
 */
enum mt_status mt_run_device(struct mt_db *db, const struct mt_run *run, const char *name,
                             struct mt_run_device *out, bool *none, int *other_n,
                             struct mt_err *err);

/* All devices of a run, the one with the most allocated bytes first; *out is freed by the caller.
 */
enum mt_status mt_run_devices(struct mt_db *db, const struct mt_run *run,
                              struct mt_run_device **out, size_t *n, struct mt_err *err);

#endif
