/*
 * store.h - writes a built recording into the database, in one transaction.
 */
#ifndef MT_STORE_H
#define MT_STORE_H

#include "lib/base/mem.h"
#include "lib/db/db.h"
#include "lib/model/recording.h"

struct mt_store_opts {
    const char
        *name;   /* of the run; NULL: made from the source's name, without endings and the time of
                    export that tensorboard_trace_handler adds; "-2" etc. added when taken */
    int folders; /* whose names are in one that is made (mt_store_name_of) */
    const char *const *groups; /* to be in; a run that is there already joins them */
    size_t group_n;
    const char *source;      /* file name */
    const char *hash;        /* content hash */
    const char *imported_at; /* UTC, ISO 8601; NULL: now */
    bool replace;  /* a run of that name or content is replaced, or, where no name is given, one
                      of that file; the new one has its name and group where none is given */
    int64_t again; /* id of the run that is imported again: it is replaced, and stays what it is for
                      users, if it is there and of that content; else nothing is changed. 0: none */
    /* Called when the ops are written, before anything of memory is read: completes the recording
     * (lib/build/build.h, mt_build_wait). NULL: it is complete. */
    void (*complete)(void *closure);
    void *closure;
};

struct mt_store_result {
    int64_t run_id;
    char name[256];
    bool existed;                 /* the same content was there already: nothing was changed, */
    struct mt_buf joined, latest; /* but that it is in these groups now, or their latest run:
                                     'a', 'b'; with or without an error to be freed */
    int replaced_n; /* runs that were deleted for it: that of its content, that of its name */
    char replaced[2][256]; /* what they were called */
};

/* What a run of a file is called, with the names of so many folders that it lies in: "big" of
 * "runs/big.pt.trace.json.gz", and of "big/trace.json", for "trace" says nothing; with one folder
 * "runs/big". */
void mt_store_name_of(const char *source, int folders, char name[200]);

/* Errors: MT_EUSAGE (name taken by other content, content there under another name), MT_EDB. On any
 * error the database is as it was. */
enum mt_status mt_store(struct mt_db *db, const struct mt_recording *r,
                        const struct mt_store_opts *opts, struct mt_store_result *out,
                        struct mt_err *err);

/* The same in a transaction of the caller, who rolls back on an error. */
enum mt_status mt_store_in(struct mt_db *db, const struct mt_recording *r,
                           const struct mt_store_opts *opts, struct mt_store_result *out,
                           struct mt_err *err);

/*
 * Content that need not be read, for it is there: sets out as mt_store does, with the groups
 * joined. out->existed false: it is not there, or is to be replaced. Errors: MT_EUSAGE (there under
 * another name), MT_EDB.
 */
enum mt_status mt_store_known(struct mt_db *db, const struct mt_store_opts *opts,
                              struct mt_store_result *out, struct mt_err *err);

/* Of each of n files the content hash of the run last read of it, allocated; NULL: none was. */
enum mt_status mt_store_hashes(struct mt_db *db, char *const *sources, size_t n, char **out,
                               struct mt_err *err);

/*
 * Changes to runs that are there. They are made in a transaction of the caller (mt_db_begin), for
 * as many runs as wanted; on an error the caller rolls back. Errors: MT_EDB, and as stated.
 */

/* Removes the run and all rows of its own. The texts and frames that it shared stay until
 * mt_store_sweep, which looks at every op that is left, removes those that nobody needs. */
enum mt_status mt_store_delete(struct mt_db *db, int64_t run, struct mt_err *err);
enum mt_status mt_store_sweep(struct mt_db *db, struct mt_err *err);

/* Errors: MT_EUSAGE (no name for a run, taken by another run). */
enum mt_status mt_store_rename(struct mt_db *db, int64_t run, const char *name, struct mt_err *err);

/* The only group it is in then, as its latest run. "" = none. Appends the names of the groups that
 * it leaves: 'a', 'b'. Errors: MT_EUSAGE (no name for a group). */
enum mt_status mt_store_set_group(struct mt_db *db, int64_t run, const char *group,
                                  struct mt_buf *left, struct mt_err *err);

/* In that group, too, as its latest run. */
enum mt_status mt_store_join(struct mt_db *db, int64_t run, const char *group, struct mt_err *err);

/* Whether a group can have that name: lists of groups must be clear. Errors: MT_EUSAGE. */
enum mt_status mt_store_check_group(const char *group, struct mt_err *err);

/* Whether a run can have that name, so that a RUN argument can mean it. Errors: MT_EUSAGE. */
enum mt_status mt_store_check_name(const char *name, struct mt_err *err);

#endif
