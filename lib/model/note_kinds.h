/*
 * note_kinds.h - what an import notes: what was repaired, left out or could not be matched.
 */
#ifndef MT_NOTE_KINDS_H
#define MT_NOTE_KINDS_H

#include "lib/base/mem.h"

enum mt_note_kind {
    MT_NOTE_SKIPPED,        /* damaged events left out */
    MT_NOTE_UNREAD,         /* lines whose rss, or what may be it, was not understood */
    MT_NOTE_CUT,            /* the file ends early (--partial) */
    MT_NOTE_CUT_THREADS,    /* the same, and records stand thread by thread */
    MT_NOTE_CUT_ORDER,      /* the same, and records of a thread stand in no order of time */
    MT_NOTE_OVERLAP,        /* ops that end after their parent */
    MT_NOTE_NEGATIVE_DUR,   /* negative durations set to 0 */
    MT_NOTE_UNSEEN,         /* blocks freed where the profiler did not see it */
    MT_NOTE_REUSED_ADDRESS, /* blocks allocated again at an address still live (snapshots) */
    MT_NOTE_REPLACED,       /* the same in heap logs: it ends there */
    MT_NOTE_SIZE_MISMATCH,  /* frees of another size than the block at that address */
    MT_NOTE_NO_ADDRESS,     /* records without an address, on devices of such records */
    MT_NOTE_UNMATCHED_BE,   /* begin events without end, or end without begin */
    MT_NOTE_FORWARD,        /* backward ops whose forward op is ambiguous */
    MT_NOTE_RESIDUAL,       /* devices whose total differs from the recorder's own */
    MT_NOTE_NO_MEMORY,      /* no memory records in the file */
    MT_NOTE_UNWRITTEN,      /* none, though the profiler was to record memory */
    MT_NOTE_EMPTY,          /* neither ops nor memory records, though both were to be recorded */
    MT_NOTE_CUT_MEMORY,     /* none in what was read of it */
    MT_NOTE_OUTSIDE,        /* records outside every op */
    MT_NOTE_BEFORE,         /* frees of blocks older than the recording */
    MT_NOTE_RAN_BEFORE,     /* a program that allocated before its recorder was attached */
    MT_NOTE_DEVICE_EVENTS,  /* kernels and copies, which are not ops */
    MT_NOTE_OOM,            /* failed allocations */
    MT_NOTE_NO_TIMES,       /* events without a time: numbered instead */
    MT_NOTE_CLOCK,          /* events whose time lies before that of the event before */
    MT_NOTE_ORDER,          /* values that stand behind one of a later time */
    MT_NOTE_LULL,           /* a time without anything that is nearly all of the recording */
    MT_NOTE_UNKNOWN_ACTION, /* events of a kind we do not know */
    MT_NOTE_STATE_ONLY,     /* no history in the file, only what is alive */
    MT_NOTE_NO_PATH,        /* records without a call path, where paths are recorded */
    MT_NOTE_HISTORY_CUT,    /* the recorder's ring buffer overflowed */
    MT_NOTE_TRAILING,       /* bytes behind the end of the recording */
    MT_NOTE_BAD_SIZE,       /* sizes that cannot be true, not used */
    MT_NOTE_LOST_NAME,      /* annotations whose name the recorder could not write */
    MT_NOTE_BY_SIZE,        /* records without an address on other devices */
    MT_NOTE_STEPS_MERGED,   /* step markers that begin in others */
    MT_NOTE_STEPS_ROUNDS,   /* steps of optimizers that make fewer of the loop */
    MT_NOTE_STEPS_UNKNOWN,  /* steps of optimizers, and no telling which make one of the loop */
    MT_NOTE_STEPS_UNMARKED, /* an optimizer is at work, and none of its steps is marked */
    MT_NOTE_NO_PARAMETERS,  /* gradients are accumulated, and no block is a parameter */
    MT_NOTE_NO_GRADIENTS,   /* gradients are accumulated, and no block is a gradient */
    MT_NOTE_NO_STATE,       /* an optimizer has state for each parameter, and no block is that */
    MT_NOTE_STEPS_APART,    /* processes whose steps lie at different times */
    MT_NOTE_OLDER,          /* older blocks that are in no figure */
    MT_NOTE_BAD_BASE,       /* metadata on older blocks that nobody understands */
    MT_NOTE_STEPS_IDLE,     /* markers at the end of steps in which nothing happened */
    MT_NOTE_STEPS_NUMBER,   /* markers whose number is no larger than the one before */
    MT_NOTE_ALLOC_UNSEEN,   /* blocks allocated where the profiler did not see it */
    MT_NOTE_MOMENT_SUM,     /* moments whose paths hold more than is held in all */
    MT_NOTE_NO_ALLOCATIONS, /* nothing is allocated in a heap log */
    MT_NOTE_NO_PEAK,        /* no moment is marked as the peak, as a recorder does that frees */
    MT_NOTE_CALLERS,        /* functions that hold more than their callers do together */
    MT_NOTE_UNLISTED,       /* what reports of leaks count, and list no stacks for */
    MT_NOTE_BASE_TWICE,     /* metadata on older blocks that says two sizes of a device */
    MT_NOTE_BASE_DIFFERS,   /* metadata on older blocks that the user's word contradicts */
    MT_NOTE_KINDS,          /* kinds of leaks that a report was not to list */
    MT_NOTE_PROCESSES,      /* processes that wrote one log, and are not told apart */
    MT_NOTE_OWNERS,         /* figures of one process, or of several that are not told apart */
    MT_NOTE_UNTRACED,       /* threads, or calls, that a log of calls is seen to lack */
    MT_NOTE_APPENDED,       /* recordings in one file, one behind the other, all of which count */
    MT_NOTE_REPORTS,        /* processes that reported leaks in one file, all of which count */
    MT_NOTE_AGAIN,          /* reports of leaks that a later one of their process stands for */
    MT_NOTE_SAMPLED,        /* of which the recorder kept some blocks only */
    MT_NOTE_NO_SYMBOLS,     /* places in code of which nobody knows the function */
    MT_NOTE_SAMPLE_TYPES,   /* figures of a profile that are no memory's */
    MT_NOTE_MOMENTS,        /* levels at these only: between them more may have been alive */
    MT_NOTE_COLUMNS,        /* of rows, which say nothing that is known */
    MT_NOTE_VALUES,         /* what the figures are is not in the file: taken as usual */
    MT_NOTE_DUMPS,          /* files that are one recording: what was held at so many moments */
    MT_NOTE_PEAK_UNSEEN,    /* what the system says of a peak, and nobody saw whose it was */
    MT_NOTE_PEAK_AT_MOST, /* the same where nobody saw how high it was: it was no more than that */
    MT_NOTE_UNWATCHED,    /* processes, or values of them, that are not in the recording */
    MT_NOTE_ATTACHED,     /* a process that ran before its recording began */
    MT_NOTE_NO_MALLOC,    /* what malloc has was to be recorded, too, and is not, or not of all */
    MT_NOTE_PROFILER,     /* a profiler in the process, whose memory is not the program's */
    MT_NOTE_NO_TRACE,     /* PyTorch was to be recorded, too, and is not, or not all of it */
    MT_NOTE_LEVEL,        /* what the level of processes is, where it is not quite their rss */
    MT_NOTE_SAID,         /* lines of a recorded program that are no step and no mark */
    MT_NOTE_LIBRARY,      /* functions of libraries on paths of Python, which are no site */
    MT_NOTE_INTERPRETER,  /* functions of the interpreter that paths leave out */
    MT_NOTE_UNITS,        /* values in units that some count by 1000: read by 1024 */
    MT_NOTE_NAMES,        /* names in a line for what only one of them is */
    MT_NOTE_NO_LEVEL,     /* a pattern whose fields do not give the memory of the process */
    MT_NOTE_NAMES_LEFT_OUT, /* values under more names than a run has room for */
    MT_NOTE_YIELDED,        /* a trace that ends where the program began a profile of its own */
    MT_NOTE_LONG_NAMES,     /* names that are cut */
    MT_NOTE_N
};
struct mt_note {
    uint64_t count;
    int64_t first_offset; /* byte offset of the first, -1 = none */
    int64_t bytes;        /* bytes concerned, where that means something */
    char detail[160];     /* names concerned, "" = none */
};

/* The note as a sentence for people. */
void mt_note_text(struct mt_buf *out, enum mt_note_kind kind, const struct mt_note *note);
extern const char *const mt_note_names[MT_NOTE_N];

#endif
