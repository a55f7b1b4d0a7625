/*
 * live.h - a run of processes in the database that grows while it is recorded. What was written is
 * a whole run at any time, whatever happens to its recorder.
 *
 * Of very long runs the extremes of ever longer intervals are kept, not every level: a process
 * takes some hundred KiB at most.
 */
#ifndef MT_LIVE_RUN_H
#define MT_LIVE_RUN_H

#include "lib/db/db.h"
#include "lib/model/process.h"

enum mt_seen_kind {
    MT_SEEN_PROCESS, /* a new one; value: its PID, or MT_PROCESSES. The first is the command */
    MT_SEEN_LEVEL,   /* value: rss */
    MT_SEEN_PEAK,    /* value: the highest rss, between the last level and the one before */
    MT_SEEN_SAMPLE,
    MT_SEEN_END,       /* the process has ended, since the last level */
    MT_SEEN_UNCOUNTED, /* from then on nobody counts what its malloc has */
    MT_SEEN_STEP,      /* value: its number */
    MT_SEEN_STEP_END,  /* the one under way ends */
    MT_SEEN_MARK,      /* text: what the program said */
    MT_SEEN_DAMAGED    /* text: what it said, and nobody understands */
};

/* Something that was seen; of many processes very many wait, so it is small. Events of a process
 * are in order of time. */
struct mt_seen {
    int64_t t_ns;
    union {
        int64_t value;
        char *text; /* owned */
    };
    uint32_t process; /* by number: 0, 1, ... as they were announced */
    uint8_t kind;     /* enum mt_seen_kind */
    uint8_t metric;   /* of samples: enum mt_metric */
    bool older;       /* of processes: it ran before the recording; the first one counts as such */
};
/* Frees its text, if it has one. */
void mt_seen_free(const struct mt_seen *seen);

struct mt_live_opts {
    const char *name;    /* of the run; NULL: made of program */
    const char *program; /* what the command is called */
    const char *command; /* all of it */
    bool torch;          /* profilers of PyTorch may be in it; when, is said at the end */
    int64_t start_ns;    /* since the epoch */
    int64_t interval_ns;
};

struct mt_live;

/* Makes the run, in a transaction of its own. Errors: MT_EUSAGE (the name is taken), MT_EDB. */
enum mt_status mt_live_open(struct mt_db *db, const struct mt_live_opts *opts, struct mt_live **out,
                            struct mt_err *err);
void mt_live_free(struct mt_live *live); /* accepts NULL; the run stays as it was written last */
const char *mt_live_name(const struct mt_live *live); /* "": it was found to be deleted */

/* Takes what was seen, with its texts; mt_live_write writes it, and that the run lasts until t_ns,
 * in one transaction. Where others use the database for so long that it cannot, what there is comes
 * with the next. Errors: MT_EINPUT, MT_ELIMIT; MT_EDB. */
enum mt_status mt_live_take(struct mt_live *live, const struct mt_seen *seen, size_t n,
                            struct mt_err *err);
enum mt_status mt_live_write(struct mt_live *live, int64_t t_ns, struct mt_err *err);

/* Metadata of the run: n bytes of JSON. In the next transaction. */
void mt_live_meta(struct mt_live *live, const char *key, const char *json, size_t n);

/* What reports say of the run: bytes and detail as in mt_note_text. In the last transaction. */
void mt_live_note(struct mt_live *live, enum mt_note_kind kind, int64_t bytes, const char *detail);

/* The recording is complete: writes what is left. Errors: MT_EDB. */
enum mt_status mt_live_end(struct mt_live *live, int64_t t_ns, struct mt_err *err);

#endif
