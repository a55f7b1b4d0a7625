/*
 * heap.h - where readers of heap logs and profiles put what they read: by events, as sums of call
 * paths, or as what paths hold at moments. Nothing is kept per event: memory depends on call paths,
 * on live blocks where these have addresses, and on moments, of which there are few.
 *
 * A reader opens one for each device of the recording, makes nodes (paths.h), calls one of the
 * three families and, with any of them, those for all, and closes it. Closing leaves sums of nodes
 * (rec->stats), figures of the device, its curve, moments with what paths hold, notes, and what all
 * that knows (knows.h). Figures that are not known are MT_UNKNOWN in struct mt_device, and 0 in
 * rec->stats: mt_device.knows tells. No peak is below what is alive at the end.
 *
 * Of a device, the self figures of all nodes and those of "no call path" add up to the device's,
 * allocated, at the peak and at the end. node MT_NONE is no call path everywhere.
 *
 * Times are in rec->time_unit ("ns" unless the reader sets another; NULL: none), from the file's
 * own zero, and never fall. Errors: MT_EINPUT for figures that cannot be true (1 EiB in all, times
 * beyond 2^62), MT_ELIMIT.
 */
#ifndef MT_HEAP_H
#define MT_HEAP_H

#include "lib/model/recording.h"

struct mt_heap;

/* device_type: MT_DEVICE_HEAP and the like. The recording is then one of sums (rec->summed). */
struct mt_heap *mt_heap_open(struct mt_recording *rec, int device_type);
/* Accepts NULL. Without mt_heap_close what was given is lost. */
void mt_heap_free(struct mt_heap *h);

/* ---- events, in order. rec->event_n counts them ---- */

/* The log says the path of what it frees. One that was never allocated there counts as older than
 * the recording (MT_NOTE_BEFORE), and is in no figure. bytes >= 0. */
enum mt_status mt_heap_alloc(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err);
enum mt_status mt_heap_dealloc(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err);
/* The same where a block may be freed in part. blocks: how many more there are then: -1 it is gone,
 * 0 smaller, 1 there are two. */
enum mt_status mt_heap_release(struct mt_heap *h, uint32_t node, int64_t bytes, int blocks,
                               struct mt_err *err);

/* Before all events: blocks that are older than the log, which lists them. They are in levels and
 * alive, and were never allocated. */
enum mt_status mt_heap_older(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err);
/* A block goes over to another path: nothing is allocated, nothing freed. It counts as freed where
 * it is in the end. Where the path holds no such block, nothing happens (MT_NOTE_SKIPPED). */
enum mt_status mt_heap_move(struct mt_heap *h, uint32_t from, uint32_t to, int64_t bytes,
                            struct mt_err *err);

/*
 * Or it says addresses. Where a block still lies, it ends (MT_NOTE_REPLACED); a free where
 * none lies is of an older one. Address 0 is no block. A realloc that moves to 0 has failed and
 * left the block, unless it asked for 0 bytes, which frees it.
 */
enum mt_status mt_heap_alloc_at(struct mt_heap *h, uint64_t addr, uint32_t node, int64_t bytes,
                                struct mt_err *err);
enum mt_status mt_heap_free_at(struct mt_heap *h, uint64_t addr, struct mt_err *err);
enum mt_status mt_heap_realloc_at(struct mt_heap *h, uint64_t old, uint64_t addr, uint32_t node,
                                  int64_t bytes, struct mt_err *err);

/*
 * Or it numbers what it allocates: kinds, blocks of one size on one path, of which many events
 * come. Not beside events of the two families above. A free of a kind that holds no block counts as
 * older. What the very next event frees is their figure temporary_most_n.
 */
enum { MT_HEAP_BATCH_BITS = 6, MT_HEAP_BATCH = 1 << MT_HEAP_BATCH_BITS };
/* The next kind: 0, 1, ... bytes < 0: the file does not say; it has no events then. Paths of kinds
 * without events are dropped in the end, where the recording has no other sink. */
enum mt_status mt_heap_add_kind(struct mt_heap *h, int64_t bytes, uint32_t node,
                                struct mt_err *err);
size_t mt_heap_kind_n(const struct mt_heap *h);
/* Up to MT_HEAP_BATCH events, in order: twice the number of the kind, and 1 where it frees. *done:
 * how many went well: fewer where the next is of a kind that has none. */
enum mt_status mt_heap_kind_events(struct mt_heap *h, const uint32_t *v, size_t n, size_t *done,
                                   struct mt_err *err);

/* Whether a block lies at an address, and the node that allocated it. */
bool mt_heap_block_at(const struct mt_heap *h, uint64_t addr, uint32_t *node);

/* Time moves on to t: what comes next happens then. Between, what paths hold becomes a moment,
 * unless there are too many: then of every second one, and so on. A log without times calls it
 * every few events with their number. A time before the last one is that one (MT_NOTE_CLOCK). */
enum mt_status mt_heap_tick(struct mt_heap *h, int64_t t, struct mt_err *err);

/* Forgets all events so far: the recorder says that it began here. */
void mt_heap_restart(struct mt_heap *h);

/* ---- sums of paths ---- */

/* Figures of struct mt_sums, or-ed; what was freed follows from them. */
enum mt_sum_figures {
    MT_SUM_ALLOC_B = 1 << 0,
    MT_SUM_ALLOC_N = 1 << 1,
    MT_SUM_AT_PEAK_B = 1 << 2,
    MT_SUM_AT_PEAK_N = 1 << 3,
    MT_SUM_AT_END_B = 1 << 4,
    MT_SUM_AT_END_N = 1 << 5,
    MT_SUM_ALL = (1 << 6) - 1
};
#define MT_SUMS_UNKNOWN                                                                            \
    ((struct mt_sums){MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN,      \
                      MT_UNKNOWN})

/* Which figures the file has, be there paths or none; called before mt_heap_sums, of which others
 * are then not looked at. Not called: what the paths have, if there are any. */
void mt_heap_knows(struct mt_heap *h, unsigned figures);
/* What a path did itself; adds up where it comes twice. MT_UNKNOWN: the file does not say; then it
 * is known of no path. None negative. freed_b is not looked at. */
enum mt_status mt_heap_sums(struct mt_heap *h, uint32_t node, const struct mt_sums *s,
                            struct mt_err *err);
/* The same of what is alive at the end, where that is all that the file tells. */
enum mt_status mt_heap_left(struct mt_heap *h, uint32_t node, int64_t bytes, int64_t blocks,
                            struct mt_err *err);
/* When the peak of the sums was. */
enum mt_status mt_heap_peak_at(struct mt_heap *h, int64_t t, struct mt_err *err);

/* ---- totals at moments, for some of them what paths hold ---- */

/* What follows is held at t. total_b: all of it; has_tree: mt_heap_held follows for all paths, and
 * what is then missing of the total has no call path. */
enum mt_status mt_heap_moment(struct mt_heap *h, int64_t t, int64_t total_b, bool has_tree,
                              struct mt_err *err);
/* What the path itself holds; adds up. blocks MT_UNKNOWN: the file does not say. */
enum mt_status mt_heap_held(struct mt_heap *h, uint32_t node, int64_t bytes, int64_t blocks,
                            struct mt_err *err);
/* What the path allocated in all, which adds up; a file that says so says it of all paths. */
enum mt_status mt_heap_allocated(struct mt_heap *h, uint32_t node, int64_t bytes, int64_t blocks,
                                 struct mt_err *err);
/* The last moment is the end of the recording, or none is later: what it holds is alive at the end.
 */
void mt_heap_last_is_end(struct mt_heap *h);

/* ---- all of them ---- */

/* A further figure of a path, not negative; adds up, and is unknown where that leaves 64 bits.
 * figure: static text, ending in its unit, mostly one of extras.h: temporary_n, read_b. Where any
 * path has it the device knows it, and of others it is 0. */
void mt_heap_extra(struct mt_heap *h, uint32_t node, const char *figure, int64_t value);
/* The device knows the figure, even if no path has it. */
void mt_heap_knows_extra(struct mt_heap *h, const char *figure);
/* The device does not, whatever some paths have: call it when all is given, before the close. */
void mt_heap_lacks_extra(struct mt_heap *h, const char *figure);
/* With rec->split_sizes, events are of paths that begin with the size, a power of two: "64-127 B",
 * "4-8 KiB". Who keeps the node of a block that it frees in part, or whose figures it gives later,
 * asks for the one of its size at once. Else it is the node itself. */
uint32_t mt_heap_sized(struct mt_heap *h, uint32_t node, int64_t bytes);
/* When all is closed: paths go that have no figures, in themselves or below them. */
void mt_heap_drop_bare_paths(struct mt_recording *rec);
/* A value of the process now: enum mt_metric, one of them for each sink. Of very many, the largest
 * of every few are kept, and the last. */
void mt_heap_sample(struct mt_heap *h, int metric, int64_t value);
/* The recording goes on until t, if that is later than all else. */
enum mt_status mt_heap_until(struct mt_heap *h, int64_t t, struct mt_err *err);

/* Level and highest level so far, by events. */
int64_t mt_heap_level(const struct mt_heap *h);

enum mt_status mt_heap_close(struct mt_heap *h, struct mt_err *err);

#endif
