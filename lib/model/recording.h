/*
 * recording.h - one run in memory: what a reader puts in (the sink), what the builder works on, and
 * what the store writes. Columnar, strings interned; nothing here is the size of the input's text.
 *
 * A reader calls the mt_rec_* functions in any order of time; build.h then sorts, nests, attributes
 * and sums. Times are int64 nanoseconds on the file's own clock.
 */
#ifndef MT_RECORDING_H
#define MT_RECORDING_H

#include "lib/base/err.h"
#include "lib/base/map.h"
#include "lib/base/mem.h"
#include "lib/base/strtab.h"
#include "lib/base/wrap.h"
#include "lib/model/devices.h"
#include "lib/model/history.h"
#include "lib/model/knows.h"
#include "lib/model/lull.h"
#include "lib/model/metrics.h"
#include "lib/model/note_kinds.h"
#include "lib/model/snapshot.h"
#include "lib/model/tensors.h"
#include <stdbool.h>
#include <stdint.h>

#define MT_NONE UINT32_MAX
#define MT_GONE INT64_MIN

/* What a frame of a call path is. The numbers are stored in the database. */
enum mt_frame_kind {
    MT_FRAME_OP = 0,         /* an operator: aten::add */
    MT_FRAME_ANNOTATION = 1, /* a record_function scope */
    MT_FRAME_RUNTIME = 2,    /* a call into the accelerator's runtime or driver */
    MT_FRAME_PYTHON = 3,     /* a Python function or nn.Module frame */
    MT_FRAME_OTHER = 4,      /* an interval of another program's trace */
    MT_FRAME_NATIVE = 5,     /* a C or C++ function */
    MT_FRAME_CATEGORY = 6,   /* no function but what the memory is for: gradient */
    MT_FRAME_THREAD = 7,     /* no function but the thread that allocates (import --split) */
    MT_FRAME_LABEL = 8,      /* nor this: what the recorder was told of it, "tenant=a" */
    MT_FRAME_SIZE = 9,       /* nor this: how large the blocks are, "64-127 B" (import --split) */
    MT_FRAME_KIND_N
};

/* A function as call paths name it: run-specific parts (addresses, step numbers) are cut off. */
struct mt_frame {
    uint32_t name;         /* string id */
    uint32_t object, file; /* string ids: shared library or program, source; MT_NONE = unknown */
    int32_t instance;      /* nn.Module frames: the number behind the name, else -1 */
    uint8_t kind;          /* enum mt_frame_kind */
};

/* A name as recorded, and the frame it belongs to. */
struct mt_label {
    uint32_t recorded; /* string id */
    uint32_t frame;
};

/* What is needed only until the build has used it shares its place with what the build finds. */
/* As mt_op.fwd_thread: a forward op that left a node for backward: the sequence number went on. */
#define MT_MAKES_GRAPH UINT32_MAX

struct mt_op {
    int64_t start_ns, end_ns; /* as recorded */
    uint32_t label;           /* index into labels */
    uint32_t args;            /* index into args, MT_NONE = not recorded */
    uint32_t fwd_thread;      /* PyTorch's number of the forward thread, 0 = not a backward op; when
                                 built also MT_MAKES_GRAPH */
    union {
        int32_t seq;  /* until built: autograd sequence number, -1 = none */
        uint32_t fwd; /* op number of the forward op, MT_NONE = unknown */
    };
    union {
        uint32_t order;  /* until built: place among equals (event index, else place in the file) */
        uint32_t parent; /* op number of the enclosing op on this thread, MT_NONE = outermost */
    };
    uint32_t node;
};

static inline bool mt_op_is_backward(const struct mt_op *op)
{
    return op->fwd_thread && op->fwd_thread != MT_MAKES_GRAPH;
}

struct mt_thread {
    int64_t pid, tid;
    uint32_t pid_name, tid_name; /* string ids where pid or tid is text, else MT_NONE */
    uint32_t name;               /* string id, MT_NONE = unnamed */
    uint32_t process;            /* its number: threads of one pid have the same */
    uint32_t op_base;            /* op number of its first op (after the build) */
    MT_VEC(struct mt_op) ops;
};

struct mt_record {
    int64_t t_ns;
    int64_t bytes; /* > 0 allocated, < 0 freed */
    uint64_t addr;
    uint32_t order;
    uint32_t thread;
    uint32_t op;   /* op number it belongs to, or node of a recording without_ops;
                      MT_NONE = outside ops */
    uint32_t mate; /* index of the paired free or allocation, MT_NONE = none */
    uint32_t
        told; /* index + 1 in told: what the recorder says of the device afterwards; 0 = nothing */
    uint16_t device;
    bool has_addr : 1;
    bool unseen : 1; /* no record of the file but one end of a block's life that nobody saw
                        (other_allocs.c, unseen.c): it has no op, and thread is MT_NONE */
    uint8_t
        rule; /* enum mt_category_rule: of an allocation, what its block is for (categories.h) */
};

/* Who says what a device held before the recording began and keeps to its end, so that no record
 * frees it. The numbers stand for words in the database (mt_kept_names). */
enum mt_kept_from {
    MT_KEPT_UNKNOWN,
    MT_KEPT_OPTION,   /* who imported it */
    MT_KEPT_FILE,     /* the recording program, in the file's metadata (told_base.h) */
    MT_KEPT_RECORDER, /* the recorder's running total, or list of blocks */
    MT_KEPT_N
};
extern const char *const mt_kept_names[MT_KEPT_N]; /* NULL for the first */

struct mt_device {
    int type, index; /* c10::DeviceType number; index -1 for cpu */
    uint32_t name;   /* string id + 1 of what it is called; 0: by its type and index */
    /* enum mt_knows. Of recordings of sums (mt_recording.summed) it comes with the figures below,
     * MT_UNKNOWN what is not known; of others the build sets it. */
    unsigned knows;
    /* What the recorder itself says: its running total after the first and the last record. */
    bool has_total;
    int64_t first_total_b, first_bytes, last_total_b;
    /* Of accelerators in traces the most that it is, else MT_GONE; how far it is above and below
     * the level, and above it at the end (all 0: no record is missing). The build finds them. */
    int64_t total_peak_b, above_b, below_b, missing_b;
    bool no_addresses; /* the build: most records have no address, lifetimes are unknown */
    int64_t start_b;   /* level before the first record: blocks known to be older. Of snapshots the
                          reader sets it, of traces the build */
    int64_t kept_b;    /* of these, in traces, what no record frees; 0 unless known */
    enum mt_kept_from kept_from;
    /* Where kept_from says nothing (older.c): whether the recording shows that there was some, and
     * an estimate of it; MT_GONE: unknown. */
    bool uses_kept;
    bool kept_state, kept_gradients; /* beside parameters it may be that */
    int64_t kept_least_b, kept_most_b;
    int64_t older_b; /* of these, blocks of a known node that are alive at the end */
    /* Filled by the build. */
    int64_t alloc_b, freed_b, alloc_n, freed_n, peak_b, peak_ns, at_end_b, at_end_n;
    int64_t before_freed_b, before_freed_n; /* frees of blocks older than the recording */
    int64_t before_at_peak_b;               /* of these, freed up to the peak */
    int64_t outside_alloc_b, outside_freed_b, outside_n, outside_at_peak_b, outside_at_end_b;
    int64_t outside_alloc_n;
    int64_t unseen_b, unseen_n;              /* of freed_b, freed_n: frees that nobody saw */
    int64_t alloc_unseen_b, alloc_unseen_n;  /* of alloc_b, alloc_n: allocations that nobody saw */
    int64_t doubt_at_peak_b, doubt_at_end_b; /* blocks of sites that lose frees, which no record
                                                frees later: perhaps dead already; and blocks that
                                                nobody saw allocated: perhaps not there yet */
    size_t peak_record;                      /* index of the record that reaches the peak */
};

/* A value over time: "reserved" (bytes held after a record; of records that say it, the build makes
 * samples of the changes), "oom" (bytes asked for in vain), "device_free" (what the driver had left
 * at an oom). */
struct mt_sample {
    int64_t t_ns, value;
    uint32_t order;
    uint16_t device;
    uint8_t metric;    /* enum mt_metric */
    uint32_t record_n; /* records before it; 0 = none, or unknown */
    int64_t event;     /* of snapshots: number of the device's event; MT_GONE: before the first */
    int64_t stream;    /* of an oom in a snapshot: what it was asked for, */
    uint32_t pool;     /* and string id of the pool, MT_NONE unknown */
    bool has_stream;   /* false: neither is known */
    uint32_t thread;   /* of an oom in a trace: where it was asked for */
    uint32_t node;     /* of an oom: the call path that asked, if has_node */
    bool has_node;
};

/* A block older than the recording that is alive at its end. */
struct mt_older {
    int64_t bytes;
    uint32_t node; /* MT_NONE = unknown */
    uint16_t device;
};

/* Blocks of one size allocated in a node that were freed where nobody saw it. */
struct mt_unseen {
    uint32_t node; /* MT_NONE = outside ops */
    uint16_t device;
    int64_t bytes, n; /* of each; how many */
};

/* A node of the call tree: one call path. Parents come before their children. */
struct mt_node {
    uint32_t parent; /* MT_NONE = root */
    uint32_t frame;
    uint32_t top, scope, module; /* frames on the path; MT_NONE = none */
    uint8_t phase;               /* enum mt_phase */
    uint8_t tells;      /* of snapshots: what Python files on the path tell, enum mt_tells */
    int32_t line;       /* where the path goes on in the frame's file; 0 = unknown, or several */
    uint32_t stat_node; /* the build: the node below that alone did something; MT_NONE: itself or
                           several did, or none */
    int64_t calls_n, time_ns, self_time_ns;
};
enum mt_phase {
    MT_PHASE_OTHER,
    MT_PHASE_FORWARD,
    MT_PHASE_BACKWARD,
    MT_PHASE_OPTIMIZER,
    MT_PHASE_DATA,
    MT_PHASE_RECOMPUTED,
    MT_PHASE_N
};

/* What functions of PyTorch's own, known by their files, tell of what is allocated below them. */
enum mt_tells {
    MT_TELLS_BUILDS = 1,      /* makes or moves the weights of a module */
    MT_TELLS_STATE = 2,       /* makes the state of an optimizer */
    MT_TELLS_CHECKPOINTS = 4, /* runs a part of forward again */
};

/* What a node did on one device. X and its total over the subtree. */
struct mt_sums {
    int64_t alloc_b, freed_b, alloc_n, at_peak_b, at_end_b, at_peak_n, at_end_n;
};
static inline void mt_sums_add(struct mt_sums *to, const struct mt_sums *s)
{
    mt_wrap_inc(&to->alloc_b, s->alloc_b);
    mt_wrap_inc(&to->freed_b, s->freed_b);
    mt_wrap_inc(&to->alloc_n, s->alloc_n);
    mt_wrap_inc(&to->at_peak_b, s->at_peak_b);
    mt_wrap_inc(&to->at_end_b, s->at_end_b);
    mt_wrap_inc(&to->at_peak_n, s->at_peak_n);
    mt_wrap_inc(&to->at_end_n, s->at_end_n);
}

/* Allocated less freed. */
static inline int64_t mt_sums_net(const struct mt_sums *s)
{
    return mt_wrap_sub(s->alloc_b, s->freed_b);
}

struct mt_node_stat {
    uint32_t node;
    uint16_t device;
    struct mt_sums self;
};
/* The same with its subtree: of each node with figures, and of those above where several meet. */
struct mt_node_total {
    uint32_t node;
    uint32_t stat; /* index of its own; MT_NONE: it did nothing itself */
    uint16_t device;
    struct mt_sums total;
};

/* The same of the blocks of one category alone, by stats and categories. */
struct mt_category_stat {
    uint32_t node; /* MT_NONE = outside ops */
    uint16_t device;
    uint8_t category; /* enum mt_category */
    struct mt_sums self;
};

/* A further figure of a node, which only some formats have. */
struct mt_node_extra {
    uint32_t node;
    uint16_t device;
    uint32_t figure; /* string id: temporary_n, read_b ... */
    int64_t value;
};

/* What blocks of a device of one class of sizes (sizes.h) did, of all nodes together. */
struct mt_size_stat {
    uint16_t device;
    uint8_t class;
    struct mt_sums self;
};

#define MT_STEPS_OF_OPTIMIZERS "Optimizer.step#" /* a step_marker */
struct mt_step {
    int64_t number, start_ns, end_ns;
};

/* Index of the last of n steps, in order of start, that has begun by t_ns; -1 = none. */
int64_t mt_step_begun(const struct mt_step *v, size_t n, int64_t t_ns);
/* The step that dates what happens at t_ns (docs/leaks.md): the same, but n from the end of the
 * last one on, unless it ends with the run. */
int64_t mt_step_dating(const struct mt_step *v, size_t n, int64_t run_end_ns, int64_t t_ns);

struct mt_recording {
    struct mt_strtab strings;
    MT_VEC(struct mt_frame) frames;
    MT_VEC(struct mt_label) labels;
    struct mt_map label_of;  /* string id * MT_FRAME_KIND_N + kind -> label */
    struct mt_map frame_of;  /* label of the cut name -> frame */
    struct mt_map device_of; /* type and index -> device */
    MT_VEC(struct mt_thread) threads;
    struct mt_strtab thread_keys;  /* id = thread index */
    struct mt_strtab process_keys; /* id = number of the process */
    uint32_t last_thread;
    MT_VEC(struct mt_device) devices;
    MT_VEC(struct mt_op_args) args;
    MT_VEC(struct mt_made) made; /* by args */
    MT_VEC(struct mt_record) records;
    MT_VEC(struct mt_told {
        int64_t reserved_b; /* held by the device; 0: not recorded */
        int64_t total_b;    /* of accelerators, their running total; MT_GONE: not recorded */
    })
    told; /* by records, each value once while it stays the same */
    MT_VEC(struct mt_sample) samples;
    MT_VEC(uint32_t) own_metrics; /* names that only the file has: string ids */
    MT_VEC(struct mt_older) older;
    MT_VEC(struct mt_other_event) other_events;
    MT_VEC(struct mt_segment) segments;
    MT_VEC(struct mt_block)
    blocks; /* none, or one per row of alloc: mt_rec_is_block records in
               their order, then older */
    MT_VEC(struct mt_node) nodes;
    MT_VEC(struct mt_node_stat) stats;
    MT_VEC(struct mt_node_total) totals; /* by nodes, of these by devices */
    MT_VEC(struct mt_category_stat) category_stats;
    MT_VEC(struct mt_node_extra) extras;
    MT_VEC(struct mt_size_stat) size_stats;
    struct mt_history history;
    uint64_t unseen_n; /* of the records: those that are none of the file */
    MT_VEC(struct mt_unseen) unseen;
    struct mt_map losing; /* for mt_rec_loses_frees */
    MT_VEC(struct mt_step) steps;
    const char
        *step_marker; /* static or borrowed text: what the steps were taken from; NULL = none */
    MT_VEC(struct mt_meta { uint32_t key, value; }) meta; /* string ids; value is JSON text */
    struct mt_note notes[MT_NOTE_N];
    const char *format;    /* static: the reader's name; set where it is chosen */
    enum mt_run_kind kind; /* the reader's, as the format */
    int64_t base_ns;       /* to be added to times for the Unix epoch; 0 = absolute or unknown */
    bool whole_us;         /* no time in the file has decimals */
    bool categorized;      /* the build: rules have said what blocks are for */
    bool summed;           /* the reader gave sums of nodes and devices, curve and moments
                              (heap.h) instead of records: nothing but totals is to be built */
    uint64_t summed_n;     /* then, the memory records these are of */
    struct mt_lull lull;   /* then, of what was recorded */
    bool values_unsaid;    /* what its numbers are is said by `import --values`, or nobody */
    bool split_sizes;      /* asked for: paths are to be apart by the size of blocks (heap.h) */
    bool library_sites;    /* asked for: lines of Python libraries are sites as the user's are */
    const char *time_unit; /* static: ns; of others, which only order: instructions, bytes,
                              events, samples; NULL = the recording knows no time */
    int64_t resolution_ns; /* times are known to that, in their unit; 0 = not said */
    bool without_ops;      /* records have call paths (nodes) of their own instead of ops, are
                              in order of time and paired: mate is set */
    uint64_t op_n, event_n, busy_n; /* ops kept; events seen; threads with ops */
    int64_t start_ns, end_ns;       /* first and last moment of whatever is recorded */
    int64_t trace_start_ns;         /* when the recorder says that it began; MT_GONE: unknown */
    /* What all this, and its reader beside it, may take; nodes and bytes of strings, as reports
     * need more. 0: any */
    uint64_t max_bytes, max_nodes, max_name_b, beside_bytes;
    const char *max_why; /* static: what the limit is of; NULL: it was asked for */
    size_t looked_n;     /* nodes there were when memory was last looked at */
};

void mt_rec_init(struct mt_recording *r);
void mt_rec_free(struct mt_recording *r);

/* Thread of (pid, tid); where one is text its string id is given and the number is ignored. */
uint32_t mt_rec_thread(struct mt_recording *r, int64_t pid, uint32_t pid_name, int64_t tid,
                       uint32_t tid_name);

#define MT_NAME_BYTES_MAX 8192
/* String id of a name of n bytes that many call paths may have: what exceeds MT_NAME_BYTES_MAX is
 * cut, with a note, and the length and a hash of the whole stand for it. */
uint32_t mt_rec_name(struct mt_recording *r, const char *s, size_t n);

/* Label of a recorded name (string id; cut as by mt_rec_name). Cuts heap addresses out of Python
 * names, the instance number off nn.Module names and the number off ProfilerStep#N. */
uint32_t mt_rec_label(struct mt_recording *r, uint32_t recorded, enum mt_frame_kind kind);

/* Index of the device of that type and number as PyTorch counts them, added if it is new. */
uint32_t mt_rec_device(struct mt_recording *r, int type, int index);
/* Whether there is such a device, or room for one more (MT_DEVICES_MAX). */
bool mt_rec_may_have_device(const struct mt_recording *r, int type, int index);

/* Metadata of the file: n bytes of JSON, or of a text. */
void mt_rec_meta(struct mt_recording *r, const char *key, const char *json, size_t n);
void mt_rec_meta_text(struct mt_recording *r, const char *key, const char *s, size_t n);

/* Memory in use and what the build will need beside, about. */
uint64_t mt_rec_bytes(const struct mt_recording *r);

/* MT_ELIMIT when the limit is reached. Readers ask for each window of text they look at: what grows
 * between two records is seen there. */
enum mt_status mt_rec_check_memory(struct mt_recording *r, struct mt_err *err);
/* Whether many nodes were made since, as where a few bytes refer to thousands of functions. */
bool mt_rec_grew(const struct mt_recording *r);

/* A part of what the reader takes beside the recording is now so large; 0: freed. *counted is that
 * part's own, what beside_bytes has of it. */
void mt_rec_beside(struct mt_recording *r, uint64_t *counted, uint64_t now);

/* Appends an op or a memory record; the caller fills it. MT_ELIMIT when max_bytes is reached. */
enum mt_status mt_rec_op(struct mt_recording *r, uint32_t thread, struct mt_op **op,
                         struct mt_err *err);
enum mt_status mt_rec_record(struct mt_recording *r, struct mt_record **rec, struct mt_err *err);

/* Says of the record added last what the device holds after it. */
void mt_rec_told(struct mt_recording *r, int64_t reserved_b, int64_t total_b);

/* Counts one more of a kind of note. offset -1 = unknown. */
void mt_rec_note(struct mt_recording *r, enum mt_note_kind kind, int64_t offset, int64_t bytes);
/* Counts n more at once. */
void mt_rec_note_n(struct mt_recording *r, enum mt_note_kind kind, uint64_t n, int64_t offset);
/* The names concerned, in place of those said before; what exceeds its room is cut. */
void mt_rec_note_detail(struct mt_recording *r, enum mt_note_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

extern const char *const mt_phase_names[MT_PHASE_N];
/* The number of a metric that only the file has, made if need be; MT_METRIC_N - 1 or less: one of
 * ours is called so. -1: there are too many. And the name of either. */
int mt_rec_metric(struct mt_recording *r, const char *name);
const char *mt_rec_metric_name(const struct mt_recording *r, int metric);

/* What the device is called. */
void mt_rec_device_name(const struct mt_recording *r, const struct mt_device *d,
                        char out[MT_DEVICE_NAME]);

/* A row of `alloc`: every allocation, and every free of a block we did not see allocated. */
static inline bool mt_rec_is_block(const struct mt_record *rec)
{
    return rec->bytes >= 0 || rec->mate == MT_NONE;
}

/* What the recorder says of the device after record i; NULL = nothing. For who goes through the
 * records in order: in a shuffled file the values are anywhere, so those of the records ahead are
 * fetched. */
static inline const struct mt_told *mt_rec_told_at(const struct mt_recording *r, size_t i)
{
    enum { AHEAD = 16 };
    uint32_t ahead = i + AHEAD < r->records.n ? r->records.v[i + AHEAD].told : 0;
    if (ahead)
        __builtin_prefetch(&r->told.v[ahead - 1]);
    return r->records.v[i].told ? &r->told.v[r->records.v[i].told - 1] : NULL;
}

/* Whether a record of a built recording frees a block that was there before it began. Where there
 * are no addresses, nobody knows. */
static inline bool mt_rec_frees_older(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->bytes < 0 && rec->mate == MT_NONE && !r->devices.v[rec->device].no_addresses;
}

/* Net change of the records of the file alone, as the recorder's own total has it. */
static inline int64_t mt_device_recorded(const struct mt_device *d)
{
    return d->alloc_b - d->alloc_unseen_b - (d->freed_b - d->unseen_b);
}

static inline const char *mt_rec_frame_name(const struct mt_recording *r, uint32_t frame)
{
    return mt_strtab_get(&r->strings, r->frames.v[frame].name);
}

/* The node in which a record happened; MT_NONE = outside ops. */
static inline uint32_t mt_rec_node(const struct mt_recording *r, const struct mt_record *rec)
{
    if (rec->op == MT_NONE || r->without_ops)
        return rec->op;
    const struct mt_thread *t = &r->threads.v[rec->thread];
    return t->ops.v[rec->op - t->op_base].node;
}

/* Whether some block allocated in the site of a node (its top op in its scope) was freed unseen on
 * the device. */
bool mt_rec_loses_frees(const struct mt_recording *r, uint32_t node, uint16_t device);

/* Whether a block may have died before a built recording says so, or is said to be alive at the end
 * and may not be. rec: its allocation, allocated in that node. */
static inline bool mt_rec_may_be_dead(const struct mt_recording *r, const struct mt_record *rec,
                                      uint32_t node)
{
    return r->unseen_n && (rec->mate == MT_NONE || r->records.v[rec->mate].unseen) &&
           mt_rec_loses_frees(r, node, rec->device);
}

#endif
