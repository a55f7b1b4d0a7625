/*
 * pytorch_event.h - one event of a Chrome trace, cut out of the text (pytorch_event.c), before it
 * means anything (pytorch_trace.c).
 */
#ifndef MT_PYTORCH_EVENT_H
#define MT_PYTORCH_EVENT_H

#include "formats/pytorch_keys.h"
#include "lib/input/json.h"
#include "lib/model/recording.h"

/* What the event's ph and cat make of it. */
enum mt_event_class {
    MT_EVENT_NONE,   /* not for us: flows, counters, frames of the viewer */
    MT_EVENT_BROKEN, /* without what says which of these it is */
    MT_EVENT_OP,     /* an interval on a host thread; `kind` says which */
    MT_EVENT_BEGIN,  /* ph B */
    MT_EVENT_END,    /* ph E */
    MT_EVENT_DEVICE, /* runs on an accelerator: kernels, copies */
    MT_EVENT_MEMORY, /* [memory] */
    MT_EVENT_OOM,    /* [OutOfMemory] */
    MT_EVENT_META,   /* ph M */
    MT_EVENT_TRACE,  /* the span of the recording itself */
};

/* Whether a slice is a text that is written out. */
#define MT_TEXT_IS(slice, text)                                                                    \
    ((slice).n == sizeof text - 1 && memcmp((slice).s, text, sizeof text - 1) == 0)

/* Bits in `seen` and `valid`. */
enum mt_event_value {
    MT_HAS_NAME = 1 << 0,
    MT_HAS_PID = 1 << 1,
    MT_HAS_TID = 1 << 2,
    MT_HAS_TS = 1 << 3,
    MT_HAS_DUR = 1 << 4,
    MT_HAS_ORDER = 1 << 5,
    MT_HAS_SHAPE = 1 << 6,
    MT_HAS_SEQ = 1 << 7,
    MT_HAS_FWD_THREAD = 1 << 8,
    MT_HAS_DEVICE_TYPE = 1 << 9,
    MT_HAS_DEVICE_INDEX = 1 << 10,
    MT_HAS_ADDR = 1 << 11,
    MT_HAS_BYTES = 1 << 12,
    MT_HAS_TOTAL = 1 << 13,
    MT_HAS_RESERVED = 1 << 14,
    MT_HAS_ARG_NAME = 1 << 15,
    MT_HAS_FINISHED = 1 << 16,
    MT_HAS_CALL_FROM = 1 << 17,
    MT_HAS_TYPES = 1 << 18,
    MT_HAS_CONCRETE = 1 << 19,
};

/* A number, also one in quotes, or else a name. */
struct mt_id {
    int64_t number;       /* where valid */
    struct mt_slice name; /* where seen and not valid */
};

struct mt_event {
    enum mt_event_class cls;
    enum mt_frame_kind kind;
    char ph;
    bool decimals;                      /* ts or dur has some */
    bool old_category;                  /* an op is called Operator: torch 1.8 and 1.9 */
    uint32_t seen;                      /* the members below that the event has */
    uint32_t valid;                     /* those of them that are numbers and fit */
    const struct mt_category *category; /* what cat says of it; NULL = nothing */
    struct mt_slice name;
    struct mt_id pid, tid;
    int64_t ts_ns, dur_ns;
    /* args */
    int64_t order;                   /* the event index */
    struct mt_slice shape, arg_name; /* "Input Dims", "name" */
    struct mt_slice types, concrete; /* "Input type", "Concrete Inputs" */
    int64_t seq, fwd_thread;         /* "Sequence number", "Fwd thread id" */
    int64_t device_type, device_index;
    int64_t addr, bytes, total_b, reserved_b;
};

/*
 * Reads the event whose '{' is at p. Returns the position behind its '}', or NULL with j->stop.
 * Events that are not for us are skipped as soon as that is known: then only cls counts. k
 * makes later events of the same file quick to read.
 */
const char *mt_event_scan(struct mt_keys *k, struct mt_json *j, const char *p, struct mt_event *ev);

#endif
