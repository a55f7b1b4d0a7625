/*
 * pytorch_event.h - one event of a Chrome trace, cut out of the text (pytorch_event.c), before it
 * means anything (pytorch_trace.c).
 */
#ifndef MT_PYTORCH_EVENT_H
#define MT_PYTORCH_EVENT_H

#include "formats/pytorch_keys.h"
#include "lib/json.h"
#include "lib/recording.h"

/* What the event's ph and cat make of it. */
enum mt_event_class {
    MT_EVENT_NONE,   /* not for us: flows, counters, frames of the viewer */
    MT_EVENT_OP,     /* an interval on a host thread; `kind` says which */
    MT_EVENT_BEGIN,  /* ph B */
    MT_EVENT_END,    /* ph E */
    MT_EVENT_DEVICE, /* runs on an accelerator: kernels, copies */
    MT_EVENT_MEMORY, /* [memory] */
    MT_EVENT_OOM,    /* [OutOfMemory] */
    MT_EVENT_META,   /* ph M */
    MT_EVENT_TRACE,  /* the span of the recording itself */
};

struct mt_event {
    enum mt_event_class cls;
    enum mt_frame_kind kind;
    char ph;
    struct mt_slice cat, name, pid, tid, ts, dur; /* s NULL = absent */
    /* args, s NULL = absent */
    struct mt_slice bytes, addr, device_type, device_id, total_allocated, total_reserved;
    struct mt_slice seq, fwd_thread, shape, order, arg_name;
    struct mt_slice finished, call_from; /* their values do not matter */
};

/*
 * Reads the event whose '{' is at p. Returns the position behind its '}', or NULL with j->stop.
 * Events that are not for us are skipped as soon as that is known: then only cls is set. k
 * makes later events of the same file quick to read.
 */
const char *mt_event_scan(struct mt_keys *k, struct mt_json *j, const char *p, struct mt_event *ev);

#endif
