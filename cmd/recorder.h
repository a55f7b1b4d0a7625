/*
 * recorder.h - the parts of `memtool record`: one thread looks at processes, another writes what it
 * saw, so that a database that is busy keeps nobody from looking.
 */
#ifndef MT_RECORDER_H
#define MT_RECORDER_H

#include "lib/record/marks.h"
#include "lib/record/target.h"
#include "lib/record/watch.h"
#include <pthread.h>
#include <sys/resource.h>

struct mt_recorder {
    struct mt_live_opts opts;
    int64_t begun_ns;  /* of CLOCK_MONOTONIC */
    int64_t own_rss_b; /* what a new process has as its highest rss before it is the command */
    bool waited;       /* the command waited for children */
    const struct mt_target *target;   /* it ran already; NULL: it was started */
    int64_t asked_ns;                 /* the interval asked for, */
    int64_t interval_ns;              /* and now */
    int64_t judged_ns, judged_cpu_ns; /* when the cost was looked at last, and what it was */
    int64_t looks_cpu_ns;             /* what looks took since then */
    struct mt_watch watch;
    char cause[224];   /* why something was killed, as far as there is evidence; "": nothing */
    int64_t looked_ns; /* the last time, */
    int64_t marked_ns; /* and for a mark */
    int64_t due_ns;    /* when the next look is to be; 0: at once */
    int64_t calm_n;    /* looks in a row at which nothing had changed */
    int64_t late_n, late_sum_ns, late_most_ns; /* looks that had such a time, by how much later */
    struct mt_marks marks;                     /* what the command says of itself, */
    int64_t said_ns;                           /* when that was read last */
    char name[256];                            /* of the run; "": none yet */

    struct mt_db *db; /* the writer's from the beginning to the end */
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t wake;
    MT_VEC(struct mt_seen) seen; /* for the writer */
    int64_t seen_until_ns;
    int64_t taken_n;                  /* by the writer */
    size_t said_n;                    /* of seen: what the command says */
    bool writing;                     /* the writer has not taken anything since, */
    int64_t writing_ns;               /* of CLOCK_MONOTONIC, */
    unsigned waited_n;                /* when it had waited so often for others who write */
    uint64_t dropped_n, overflowed_n; /* values: the database was busy; there were too many */
    bool ended;
    MT_VEC(struct mt_recorder_meta {
        const char *key; /* static */
        char *json;
    })
    meta;                             /* at the end, */
    struct mt_buf missing;            /* and what a note says */
    struct mt_malloc malloc;          /* table NULL: not asked */
    struct mt_buf uncounted;          /* the same of malloc */
    struct mt_buf untraced, profiled; /* the same of PyTorch's traces; set before the end */
    struct mt_err err;                /* the writer's */
    char written_name[256];
};

void mt_recorder_init(struct mt_recorder *r, int64_t interval_ms);
/* Nanoseconds since the recording began. */
int64_t mt_recorder_now(const struct mt_recorder *r);
/* Begins to write into the database, which nobody else uses until the end; opts are set. */
void mt_recorder_begin(struct mt_recorder *r, struct mt_db *db, pid_t pid);
/* Looks, and says when to look next. */
void mt_recorder_look(struct mt_recorder *r, int64_t t_ns);
/* Something may have been said: reads it, and looks if it is a step or a mark. */
void mt_recorder_listen(struct mt_recorder *r, int64_t t_ns);
/* The command has ended: reads what it said, and looks at what goes on. */
void mt_recorder_look_last(struct mt_recorder *r, int64_t t_ns);
/* How the command ended. */
struct mt_recorder_ended {
    bool known; /* as its parent knows it */
    int status;
    struct rusage usage;
    int64_t left_b; /* the most that one had which outlived its parent, and has ended */
};
/* That was the last look, or nobody looks any more: writes the rest. Errors: those of the database,
 * whenever they were. */
enum mt_status mt_recorder_end(struct mt_recorder *r, int64_t t_ns,
                               const struct mt_recorder_ended *how, struct mt_err *err);
void mt_recorder_free(struct mt_recorder *r); /* what it knows by now, such as name, stays */

#endif
