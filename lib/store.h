/*
 * store.h - writes a built recording into the database, in one transaction.
 */
#ifndef MT_STORE_H
#define MT_STORE_H

#include "lib/db.h"
#include "lib/recording.h"

struct mt_store_opts {
    const char
        *name; /* of the run; NULL: made from the source's name, without endings and the time of
                  export that tensorboard_trace_handler adds; "-2" etc. added when taken */
    const char *group;  /* NULL = none */
    const char *source; /* file name */
    const char *hash;   /* content hash */
    bool replace;       /* a run of that name or content is replaced */
    /* Called when the ops are written, before anything of memory is read: completes the recording
     * (lib/build.h, mt_build_wait). NULL: it is complete. */
    void (*complete)(void *closure);
    void *closure;
};

struct mt_store_result {
    int64_t run_id;
    char name[256];
    bool existed; /* the same content was there already: nothing was changed */
};

/* Errors: MT_EUSAGE (name taken by other content, content there under another name), MT_EDB. On any
 * error the database is as it was. */
enum mt_status mt_store(struct mt_db *db, const struct mt_recording *r,
                        const struct mt_store_opts *opts, struct mt_store_result *out,
                        struct mt_err *err);

#endif
