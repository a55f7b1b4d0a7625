/*
 * knows.h - asks whether a run can answer, and words the refusal where it cannot: what is missing,
 * and what to ask instead. No report asks for the format or the kind of a run.
 */
#ifndef MT_RUN_KNOWS_H
#define MT_RUN_KNOWS_H

#include "lib/run/runs.h"

/* Whether the device knows all these (enum mt_knows). */
static inline bool mt_device_knows(const struct mt_run_device *device, unsigned need)
{
    return (device->knows & need) == need;
}

/* Whether anything is known of single events: records that ops made, or blocks. Else there are sums
 * and moments of call paths. */
static inline bool mt_device_has_events(const struct mt_run_device *device)
{
    return mt_knows_events(device->knows);
}

/* Whether it is known of each block what it is for. */
static inline bool mt_device_categorizes(const struct mt_run_device *device)
{
    return mt_device_knows(device, MT_KNOWS_BLOCKS | MT_KNOWS_CATEGORIES);
}

/* Whether that is told by frames, which is less sure than by operators: of snapshots. */
static inline bool mt_device_categorizes_by_frames(const struct mt_run_device *device)
{
    return mt_device_categorizes(device) && mt_device_knows(device, MT_KNOWS_SEGMENTS);
}

/* MT_OK if the device of the run knows all these; device NULL: if some device of such a run may.
 * Errors: MT_EUSAGE, what is missing first of them, and what to ask instead. */
enum mt_status mt_knows(const struct mt_run *run, const struct mt_run_device *device, unsigned need,
                        struct mt_err *err);

/* The hint of a failure just recorded, where it is for an older memtool that imported the run that
 * it lacks something: what gets it (mt_run_is_older). Else nothing. */
void mt_hint_again(const struct mt_run *run, struct mt_err *err);

/* The same as words behind the name of a run: "has no addresses in its records: which ..."; "" if
 * all is known. Static. */
const char *mt_knows_lack(const struct mt_run *run, const struct mt_run_device *device,
                          unsigned need);

/* MT_OK if some label of the run has the key. Errors: MT_EUSAGE, the keys that there are; MT_EDB.
 */
enum mt_status mt_knows_label(struct mt_db *db, const struct mt_run *run, const char *key,
                              struct mt_err *err);

/* Whether call paths of a trace have functions of the user's own, so that sites are lines; and
 * whether they have nn.Modules. Errors: MT_EDB. */
enum mt_status mt_run_has_lines(struct mt_db *db, const struct mt_run *run, bool *has,
                                struct mt_err *err);
enum mt_status mt_run_has_layers(struct mt_db *db, const struct mt_run *run, bool *has,
                                 struct mt_err *err);

/* MT_OK if they have; of lines also where sites are lines in any case, as in snapshots. Errors:
 * MT_EUSAGE, how to record them; MT_EDB. */
enum mt_status mt_knows_lines(struct mt_db *db, const struct mt_run *run, struct mt_err *err);
enum mt_status mt_knows_layers(struct mt_db *db, const struct mt_run *run, struct mt_err *err);

/* MT_OK if the tensor of some block of the device is known. Errors: MT_EUSAGE, what it takes;
 * MT_EDB.
 */
enum mt_status mt_knows_tensors(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_err *err);

/* MT_OK if anything is known of call paths for a table of them: else what they held at the peak is
 * missing. Errors: MT_EUSAGE. */
enum mt_status mt_knows_sums(const struct mt_run *run, const struct mt_run_device *device,
                             struct mt_err *err);

/* ---- what a recording does not cover, so that its figures are those of a part (lib/usage/gaps.h)
 * ---- */

enum mt_gap {
    MT_GAP_HISTORY = 1, /* a snapshot without history: of one moment */
    MT_GAP_BEGIN = 2,   /* the recorder dropped the oldest events */
    MT_GAP_END = 4,     /* the file ends early */
    MT_GAP_REST = 8,    /* something follows the recording's end, and was left out */
    MT_GAP_DAMAGE = 16, /* damaged events were left out */
    /* The recorder's own total shows that records of the device are missing: */
    MT_GAP_MISSING = 32,         /* at the end it has more or less than they add up to */
    MT_GAP_ABOVE = 64,           /* at some time it is above the level */
    MT_GAP_BELOW = 128,          /* at some time it is below */
    MT_GAP_NOTHING = 256,        /* nothing was allocated: it was hardly recorded */
    MT_GAP_MIXED = 512,          /* several processes wrote it, whose blocks are not told apart */
    MT_GAP_UNTRACED = 32768,     /* calls of other threads, or other calls, are not in the log */
    MT_GAP_THREADS = 131072,     /* what is lost is not the end alone, frees among it */
    MT_GAP_YIELDED = 262144,     /* the recorder stopped for another one of the program's own */
    MT_GAP_STATE = 524288,       /* asked for an optimizer's state: whose steps nothing marks */
    MT_GAP_PARAMETERS = 1048576, /* asked for them: something learns, and they are not told, */
    MT_GAP_GRADIENTS = 2097152,  /* or these */
    MT_GAP_LOADED = 8388608,     /* or an optimizer's state, that has one */
    MT_GAPS_OF_CATEGORIES = MT_GAP_STATE | MT_GAP_PARAMETERS | MT_GAP_GRADIENTS | MT_GAP_LOADED,
    MT_GAP_UNREAD = 4194304, /* lines of a text were left out, which may have had more */
    MT_GAP_OWNERS = 65536,   /* one process wrote it, or several that are not told apart */
    /* All of these: something that happened in the recording is lost, or taken for another. */
    MT_GAPS_INSIDE = 1023 | MT_GAP_UNTRACED | MT_GAP_OWNERS | MT_GAP_THREADS | MT_GAP_YIELDED |
                     MT_GAPS_OF_CATEGORIES | MT_GAP_UNREAD,
    /* Of runs without single records, in which levels are that much at least: */
    MT_GAP_OLDER = 1024, /* what is older is in no figure, though there is such */
    MT_GAP_PEAK = 2048,  /* between the moments that were recorded more may have been alive */
    MT_GAP_KINDS = 4096, /* the recorder was not to list all kinds of what is alive at the end */
    /* What the figures are is an assumption (import --values): no verdict rests on them. */
    MT_GAP_MEANING = 8192,
    MT_GAP_WATCH = 16384, /* more may have been in memory than the recorder of a process saw */
    /* More may be alive at the end, */
    MT_GAPS_OF_ENDS = MT_GAP_OLDER | MT_GAP_KINDS | MT_GAPS_OF_CATEGORIES,
    MT_GAPS_ABOVE = MT_GAPS_OF_ENDS | MT_GAP_PEAK | MT_GAP_WATCH, /* or before that */
};

/* Levels may be those of several processes: that they rise is no growth of one. */
enum { MT_GAPS_OF_PROCESSES = MT_GAP_MIXED | MT_GAP_OWNERS };
/* Frees may be missing: what seems to stay may have been freed, so nothing can be called a leak,
 * and what is alive at the end is unknown. */
enum {
    MT_GAPS_OF_FREES = MT_GAP_END | MT_GAP_REST | MT_GAP_DAMAGE | MT_GAP_MISSING | MT_GAP_NOTHING |
                       MT_GAP_MIXED | MT_GAP_UNTRACED | MT_GAP_OWNERS | MT_GAP_UNREAD
};
/* Frees may be missing before others that are there: levels may be too high as well as too low. */
enum {
    MT_GAPS_OF_LEVELS =
        MT_GAP_DAMAGE | MT_GAP_BELOW | MT_GAP_MIXED | MT_GAP_UNTRACED | MT_GAP_THREADS
};

/* Whether a run says which allocations failed: only PyTorch records what it was refused, and only
 * in a history. */
bool mt_knows_failures(const struct mt_run *run);

#endif
