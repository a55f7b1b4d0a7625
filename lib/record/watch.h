/*
 * watch.h - a process and its descendants, looked at again and again. Times are ns since it began.
 */
#ifndef MT_WATCH_H
#define MT_WATCH_H

#include "lib/record/cgroup.h"
#include "lib/record/live.h"
#include "lib/record/proc.h"
#include "lib/record/thread_stacks.h"

/* Threads and processor time, as they were told last. */
struct mt_watched_work {
    int64_t most_n, most_ns;   /* threads since then, at most */
    int64_t cpu_told_ns;       /* when the time was told, */
    int64_t said_n, said_step; /* how often at steps and marks, and how soon again */
};

struct mt_watched {
    pid_t pid;
    int fd;           /* of mt_proc_open */
    int rss_fd;       /* of mt_proc_open_rss; -1: none */
    int children_fd;  /* of mt_proc_open_children; -1: none */
    int64_t quick_b;  /* what that said last */
    int64_t read_ns;  /* when all was read last */
    uint32_t process; /* as announced */
    struct mt_proc_values last;
    int64_t last_ns;
    int64_t peak_b;   /* since it is watched */
    int64_t before_b; /* the highest before that: the kernel tells no other until it is more */
    struct mt_proc_values at_peak;
    int64_t peak_ns;
    bool peak_waits;                    /* at_peak is not told yet */
    int64_t part_ns, part_step, part_n; /* when parts of it are told next; how often */
    int64_t marked_n;                   /* how often they were told for a mark */
    int64_t begun_ns;
    int64_t counted_ns;     /* when it was known last what its malloc has, and 1 more; 0: never; */
    uint32_t malloc_number; /* by that look, */
    int64_t malloc_ns;      /* of that time */
    struct mt_proc_values
        least;        /* of what malloc had in use since that was told: the least, if it counted, */
    int64_t least_ns; /* and when */
    struct mt_thread_stacks stacks; /* where they are, if malloc is asked, */
    int64_t stacks_b;               /* and what they have */
    int64_t cpu_ns;                 /* processor time, as far as it was read */
    struct mt_watched_work work;
    int64_t told[MT_METRIC_N]; /* of each metric, and 1 more */
    bool group_left;           /* it is in another control group than the command */
};

/* All of them together. */
struct mt_watched_all {
    bool any;                            /* there were several at one time: it is announced, */
    uint32_t process;                    /* as this */
    int64_t most_b;                      /* at a look, shared pages counted in each; */
    int64_t least_b;                     /* counted once, as far as that was read */
    int64_t most_since_b, most_since_ns; /* the highest since it was told last */
    int64_t look_ns, look_most_b, look_least_b; /* at the last look; 0: there was none */
    bool look_told;
    int64_t part_ns, part_step, part_n;
    struct mt_watched_work work;
    int64_t told[MT_METRIC_N];
    bool unread; /* of some process it could not be read what it shares */
};

struct mt_watch {
    MT_VEC(struct mt_watched) all; /* that run */
    MT_VEC(struct mt_seen) seen;   /* what is new: whoever takes it empties it */
    mt_pids pids;                  /* scratch */
    bool thorough;                 /* at the next look all is read of all, be it changed or not, */
    bool marked;                   /* and told, too: somebody will ask for that moment; */
    bool last;                     /* there is no look after that: children are looked for, too */
    bool changed;                  /* at the last look something was not as it was before */
    uint32_t process_n, look_n;
    uint32_t hidden_n, left_out_n; /* at one time, at most */
    uint32_t hidden_now, left_out_now;
    int64_t interval_ns;            /* between two looks */
    int64_t family_ns, family_step; /* when children are looked for next; how often */
    int children_fd;                /* our own, of mt_proc_open_children */
    int newest_fd;                  /* of mt_proc_open_newest, */
    int64_t newest, newest_ns;      /* what that said last, and since when, as far as it is known */
    const struct mt_malloc *malloc; /* NULL: malloc is not asked */
    uint32_t uncounted_n;           /* processes whose malloc is unknown, */
    struct mt_buf uncounted;        /* and why that of the first is */
    bool no_lists;                  /* the kernel does not list children */
    int64_t unseen_b;               /* a peak that nobody saw, at most; 0: none */
    bool unseen_of_command;         /* it is the command's, or less; else its or a child's */
    bool attached;        /* it ran already, and is nobody's child here: nobody tells how it ends */
    bool cut;             /* it, or another of them, ended after the last look */
    int64_t child_faults; /* of mt_proc_child_faults, at the beginning */
    bool missed;          /* there were more children since then, of which not all were seen */
    int64_t share_ns, share_step, share_n; /* when shares are looked at next; how often */
    int64_t share_read_ns, share_cost_ns;  /* when that was last, and the time it took */
    int64_t share_rss_b;                   /* of the first of them, then */
    uint32_t share_process_n;              /* processes that were known then */
    struct mt_watched_all together;
    int64_t ended_cpu_ns;   /* processor time of those that have ended */
    struct mt_cgroup group; /* the command's, */
    struct mt_cgroup_values group_first, group_last;
    int group_fd;                          /* of what it has now; -1: none */
    int64_t group_ns, group_step, group_n; /* when it is looked at next; how often */
    uint32_t group_left_n;                 /* processes that are in another one, */
    int64_t group_left_ns;                 /* when such are looked for next */
    int64_t system_ooms_n;                 /* when it began */
    int64_t threads_n;                     /* at one time, in all, at most */
    struct mt_watched first;               /* the command itself, as it was last */
    int64_t peak_b, peak_ns;               /* the highest of all processes, */
    uint32_t peak_of;                      /* of which, */
    struct mt_proc_values at_peak;         /* and what it consisted of */
};

void mt_watch_free(struct mt_watch *w);

/* The command has begun; attached: long ago. */
void mt_watch_begin(struct mt_watch *w, pid_t pid, int64_t interval_ns, bool attached);
/* Whether the command was there at the last look. */
static inline bool mt_watch_goes_on(const struct mt_watch *w)
{
    return w->all.n && w->all.v[0].process == 0;
}
/* Looks at all of them. */
void mt_watch_look(struct mt_watch *w, int64_t t_ns);
/* The same when the command has ended, at those that go on, also such as nobody saw yet. */
void mt_watch_look_last(struct mt_watch *w, int64_t t_ns);
/* The command has ended. The largest of it and the children that it waited for, if there were any
 * (waited), had maxrss_b, or less where that is what a process has before it is the command
 * (floor); they took cpu_ns of processor time in all. The largest of those that outlived their
 * parents, and ended before it, had left_b; 0: there were none. */
struct mt_watch_ended {
    int64_t maxrss_b, cpu_ns, left_b;
    bool floor, waited;
};
void mt_watch_end(struct mt_watch *w, int64_t t_ns, const struct mt_watch_ended *how);
/* The same of one that ran already: it has ended, or nobody looks any more. */
void mt_watch_end_attached(struct mt_watch *w);
/* How many there were in all. */
static inline int64_t mt_watch_processes(const struct mt_watch *w)
{
    return (int64_t)w->process_n - w->together.any;
}
/* Whom the out-of-memory killer killed meanwhile: how many of the command's control group, else of
 * the whole system; *own: which. 0: nobody, or nobody knows. */
int64_t mt_watch_oom_kills(struct mt_watch *w, bool *own);
/* What is missing in what was seen, for people; "": nothing. */
void mt_watch_missing(const struct mt_watch *w, struct mt_buf *out);
/* One more such sentence, if n, which "%llu" in it is. */
void mt_watch_add_missing(struct mt_buf *out, uint64_t n, const char *text);

#endif
