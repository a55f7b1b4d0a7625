/*
 * build.h - from what a reader delivered to what reports need: sorts, nests ops into the call tree,
 * gives every memory record its op, pairs frees with allocations, finds peaks, sums up.
 *
 * The rules are design decisions, stated for users in docs/attribution.md:
 * - Ops of a thread nest by time. An op that starts inside another and ends after it is cut at the
 *   other's end (counted in MT_NOTE_OVERLAP); op.end_ns keeps the recorded end. Python frames and
 *   PythonDispatchMode that an annotation outlives end where it begins, and are not around it.
 * - A record belongs to the innermost op open on its own thread: start <= t <= end as recorded, the
 *   op that started last winning. Equal times keep the order of recording (event index, else place
 *   in file).
 * - Except that in files of whole microseconds a free at the end of an op belongs to the op around.
 * - Frees pair with the latest allocation at the same (process, device, address), if it is open and
 * of their size: no memory holds two blocks at a time.
 * - A block that no record allocates, though its memory was handed out in the recording before, is
 * allocated as soon as that was free: an allocation that nobody saw is put there
 * (mt_record.unseen).
 * - A block that no record frees ends where an allocation gets memory of it: a free that nobody saw
 * is put before that.
 */
#ifndef MT_BUILD_H
#define MT_BUILD_H

#include "lib/model/recording.h"
#include <pthread.h>

/*
 * step_marker: POSIX extended regular expression of the names whose intervals are steps, or whose
 * ends are if all are optimizers' steps; NULL: the intervals of ProfilerStep#N, else from the end
 * of one round of Optimizer.step# to the end of the next (rounds.h). Steps are in order of time and
 * do not overlap. Errors: MT_EUSAGE for a bad expression, MT_EINPUT for figures that cannot be
 * true, MT_ELIMIT.
 */
enum mt_status mt_build(struct mt_recording *r, const char *step_marker, struct mt_err *err);

/*
 * The same in two parts: first what rows of ops need, which can fail; then what memory records
 * need. The second leaves alone what a writer of ops reads, so it may run in a thread beside it.
 */
enum mt_status mt_build_ops(struct mt_recording *r, const char *step_marker, struct mt_err *err);
void mt_build_memory(struct mt_recording *r);

/* Runs mt_build_memory in a thread, or at once where there is none to be had. */
struct mt_beside {
    pthread_t thread;
    bool running;
};
void mt_build_beside(struct mt_beside *b, struct mt_recording *r);
/* Waits for it, once; beside is the struct. */
void mt_build_wait(void *beside);

/* The parts of these, in this order; each in the file of its name. The first refuses figures that
 * cannot be true with MT_EINPUT. */
enum mt_status mt_build_bounds(struct mt_recording *r, struct mt_err *err);
void mt_build_calltree(struct mt_recording *r);
void mt_build_lull(struct mt_recording *r); /* when the first and the last moment are known */
enum mt_status mt_build_steps(struct mt_recording *r, const char *step_marker, struct mt_err *err);
void mt_build_forward(struct mt_recording *r);
void mt_build_attribution(struct mt_recording *r); /* calls the next one */
void mt_build_pairs(struct mt_recording *r);       /* pairing.c; records are in order of time */
void mt_build_unseen_allocs(
    struct mt_recording *r);                  /* blocks that are freed, but not seen allocated */
void mt_build_unseen(struct mt_recording *r); /* ends blocks whose memory is handed out again */
void mt_build_cut_threads(struct mt_recording *r); /* notes them; records are as they were read */
void mt_build_missing(struct mt_recording *r);     /* by what the recorder says itself */
void mt_build_rollup(struct mt_recording *r);      /* calls the next one */
void mt_build_totals(struct mt_recording *r);      /* of subtrees, from what nodes did themselves */
struct mt_gradients;
struct mt_processes;
/* What blocks are for: mt_record.rule, of traces; before the rollup. Of `assigned`: assigned.h. */
void mt_build_categories(struct mt_recording *r, const struct mt_processes *p,
                         const struct mt_gradients *g, const struct mt_map *assigned);
/* Gradients that stay while optimizers step, for the history; part of the next. */
void mt_build_kept_gradients(struct mt_recording *r, const struct mt_gradients *g);
/* what is older and in no record */
void mt_build_older(struct mt_recording *r, const struct mt_processes *p,
                    const struct mt_gradients *g, const struct mt_map *assigned);
void mt_build_knows(struct mt_recording *r); /* knows.c: mt_device.knows, where no reader set it */
void mt_build_history(struct mt_recording *r);

/*
 * Puts records that nobody saw into a built-up recording: the other end of the life of the records
 * `mate`, each before the record of that number. In order of `before`, and of time; those of one
 * place stay in order.
 */
struct mt_inserted {
    uint32_t mate, before;
    int64_t t_ns;
};
void mt_rec_insert(struct mt_recording *r, const struct mt_inserted *v, size_t n);

#endif
