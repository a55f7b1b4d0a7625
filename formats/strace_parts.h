/*
 * strace_parts.h - what strace's lines (strace.c) do to the memory of processes
 * (strace_calls.c, strace_memory.c), and of which process (strace_threads.c).
 */
#ifndef MT_STRACE_PARTS_H
#define MT_STRACE_PARTS_H

#include "formats/call_lines.h"
#include "formats/format.h"
#include "formats/mappings.h"
#include "formats/native_paths.h"
#include "lib/input/fields.h"

enum { MT_STRACE_LINE_MAX = 1 << 16 }; /* of lines that are put together */

/* What a call does that is read; those before MT_STRACE_FORKS are of memory. */
enum mt_strace_what {
    MT_STRACE_NOTHING,
    MT_STRACE_MAPS,
    MT_STRACE_UNMAPS,
    MT_STRACE_MOVES,
    MT_STRACE_PROTECTS,
    MT_STRACE_BREAKS,
    MT_STRACE_FORKS,
    MT_STRACE_RUNS,
    MT_STRACE_WAITS,
    MT_STRACE_EXITS,
    MT_STRACE_EXITS_ALL
};

/* A call that has returned. Texts are those of the line, or of mt_strace.text. */
struct mt_strace_call {
    uint32_t thread;
    const char *name;
    size_t name_n;
    struct mt_fields args, result;
};

/* Threads, and the processes whose memory they share. */
struct mt_strace_processes {
    MT_VEC(struct mt_strace_thread {
        uint64_t pid;
        uint32_t process;
        uint32_t root;    /* node with --split thread; MT_NONE: none yet */
        uint32_t group;   /* the thread that is first of those that end together */
        uint32_t group_n; /* of the first: how many of them have not ended */
        bool seen;        /* strace follows it: it had a line, or it was said */
        bool ended;
        bool gone; /* by its own call, or as one of its group did: some of its lines may follow */
        bool guessed;                   /* nobody has said whether it is a thread or a process */
        bool announced;                 /* its parent's call has returned */
        bool ran;                       /* it has run another program */
        struct mt_buf pending;          /* a call that has not returned yet */
        bool early;                     /* what that unmaps is gone */
        bool moved;                     /* what that moves is gone, and others have its addresses */
        uint64_t moves_at, moves_bytes; /* what it may move; 0 bytes: nothing */
    })
    threads;
    MT_VEC(struct mt_strace_process {
        struct mt_mappings mappings;
        uint32_t thread_n; /* that have not ended */
        bool forked;       /* it has what its parent had, which is in no figure of it */
    })
    all;
    struct mt_map children;  /* numbers that strace said it attached, as it does without -o */
    struct mt_map made;      /* numbers that calls returned before that: 1 and whose memory it has
                                (mt_strace_threads.c); 0: a process of its own */
    MT_VEC(uint32_t) moving; /* threads with moves_bytes, and some that had any */
    uint64_t made_last;      /* the last of them; 0: none */
    bool bare;               /* a line had no number */
    bool guessed, numbered;  /* one was guessed; a line had a number */
    bool joined;             /* strace attached to the first one, which has no line yet */
    uint32_t thread_n;       /* threads that were in `made` */
    bool tells; /* calls that make others are in the log, and it has no numbers at its beginning */
    struct mt_map of_pid;
    uint32_t running_n; /* threads */
    uint32_t seen_n;    /* of these */
    uint32_t only;      /* the thread of the last line without a number */
    uint32_t left;      /* a process whose threads have ended, + 1; 0: none, or all is gone of it */
    uint32_t last;      /* the same of the process that was the last one when it ended */
    MT_VEC(uint32_t) making; /* threads that began to make another, and some that did before */
};

struct mt_strace {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    struct mt_strace_processes processes;
    struct mt_buf text; /* a call that was resumed */
    struct mt_buf held; /* begin of a line that something else was written into, or the whole */
    uint64_t held_at;   /* where it begins */
    bool whole;         /* it is the line under way */
    bool torn;          /* else: the begin of a call whose rest is known when it comes */
    struct mt_call_clock clock;
    int64_t first_time, event_n;
    bool timed;
    uint64_t call_n;  /* that map memory */
    uint64_t mixed_n; /* processes taken for threads */
    uint64_t over_n;  /* mappings that the kernel placed where others are: their end is not told */
    uint64_t again_n; /* programs that begin when all processes have ended: further logs */
    uint64_t beside;
    /* the call that happens when its stack is read */
    struct {
        enum mt_strace_what what;
        uint32_t thread;
        uint64_t at, bytes, old_at, old_bytes;
        bool reserved, anywhere; /* anywhere: the kernel chose a free place */
        uint32_t kind;           /* frame, where it has no stack */
    } next;
    mt_native_steps steps;      /* of its stack, innermost first */
    struct mt_strtab functions; /* as written */
    mt_native_steps known;      /* of these */
    struct mt_buf name;         /* scratch */
};

void mt_strace_init(struct mt_strace *r);
void mt_strace_free(struct mt_strace *r);
/* Counts what is kept beside the recording. Errors: MT_ELIMIT. */
enum mt_status mt_strace_check_memory(struct mt_strace *r, struct mt_err *err);

/* Whether a call of that name is one that is read; whether it makes threads or processes. */
bool mt_strace_knows(const char *name, size_t n);
bool mt_strace_makes(const char *name, size_t n);
/* Whether figures would lack it: it is of memory, or makes or runs a process. */
bool mt_strace_counts(const char *name, size_t n);
/* Behind number, time and place of a line. Whether it is strace that wrote it: the end of a call, a
 * sign, or a call that is read; the same, or any call that ends there or later, as a program may
 * print it, too. */
bool mt_strace_is_known(const struct mt_fields *f);
bool mt_strace_is_call(const struct mt_fields *f);
/* A number, decimal or behind "0x". */
bool mt_strace_number(struct mt_fields *f, uint64_t *v);
/* Whether the next byte is one that ends an argument, or a result. */
bool mt_strace_ends(const struct mt_fields *f);

/* ---- lines that something was written into (strace_whole.c) ---- */

/* Makes r->line whole: strace's own messages and what the program prints may stand in the line of a
 * call, whose rest is then a later line. *whole false: it goes on in one that follows, or there is
 * nothing in it. A call whose rest does not come has a note. */
enum mt_status mt_strace_whole(struct mt_strace *r, bool *whole, struct mt_err *err);
/* All lines are read. */
void mt_strace_unended(struct mt_strace *r);

/* ---- in the order of lines ---- */

/* The time of a line; timed false: it has none. */
enum mt_status mt_strace_time(struct mt_strace *r, bool timed, int64_t t, struct mt_err *err);
/* The beginning of a call that has not returned yet. What it unmaps goes at once: another thread
 * may get those addresses before it returns. */
void mt_strace_pending(struct mt_strace *r, uint32_t thread, const char *s, size_t n);
/* A call, which happens when the next line is none of its stack. */
enum mt_status mt_strace_begin(struct mt_strace *r, const struct mt_strace_call *call,
                               struct mt_err *err);
/* A thread becomes the first one of its process, of that number, to run another program: the
 * beginning of that call. */
enum mt_status mt_strace_becomes(struct mt_strace *r, uint32_t thread, uint64_t pid, const char *s,
                                 size_t n, struct mt_err *err);
enum mt_status mt_strace_close(struct mt_strace *r, struct mt_err *err);

/* ---- what a call does (strace_memory.c) ---- */

/* A line of its stack: "/usr/lib/libc.so.6(mmap+0x13) [0x1019b3]". */
void mt_strace_frame(struct mt_strace *r, struct mt_fields f);
/* The call that mt_strace_begin() was given last happens, if it did not yet. */
enum mt_status mt_strace_happen(struct mt_strace *r, struct mt_err *err);

/* ---- threads and processes (strace_threads.c) ---- */

/* Number of the thread that a line is of, behind its times; pid 0: it has none. Without -o lines
 * have none while strace follows only one: where it is known that strace wrote it, others have
 * ended then, if nobody has said so. */
enum mt_status mt_strace_thread(struct mt_strace *r, uint64_t pid, struct mt_fields line,
                                bool known, uint32_t *thread, struct mt_err *err);
struct mt_strace_process *mt_strace_process_of(struct mt_strace *r, uint32_t thread);
/* strace says that it follows a new thread or process. Where it says so, lines have no number while
 * there is only one. */
void mt_strace_attached(struct mt_strace *r, uint64_t pid);
/* A thread begins a call that makes a thread or a process. */
void mt_strace_forking(struct mt_strace *r, uint32_t thread);
/* A call that made a thread or a process has returned its number. */
void mt_strace_forked(struct mt_strace *r, const struct mt_strace_call *call);
/* A thread runs another program, without what its process had; one that shares that with another
 * process leaves it to that. */
enum mt_status mt_strace_run(struct mt_strace *r, uint32_t thread, struct mt_err *err);
/* Another thread of its process has begun to run another program, and is this one from now on; pid:
 * its number, 0: nobody says it. */
void mt_strace_take_over(struct mt_strace *r, uint32_t thread, uint64_t pid);
/* What a process has when it ends is gone when the log goes on (mt_strace_leave), as it does not
 * behind the last one: that is the first one, though of others nobody has said that they ended. */
void mt_strace_exit(struct mt_strace *r, uint32_t thread);
/* A thread has called exit(), or exit_group(): with all others of its process. */
void mt_strace_calls_exit(struct mt_strace *r, uint32_t thread, bool group);
enum mt_status mt_strace_leave(struct mt_strace *r, struct mt_err *err);
bool mt_strace_is_first(const struct mt_strace *r, uint32_t process);
/* What has that number is a process, which another made; ended: it is gone, which strace -qqq
 * may say nowhere else. */
void mt_strace_was_child(struct mt_strace *r, uint64_t pid, bool ended);

#endif
