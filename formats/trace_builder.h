/*
 * trace_builder.h - turns events of a trace (pytorch_event.h) into ops and memory records.
 */
#ifndef MT_TRACE_BUILDER_H
#define MT_TRACE_BUILDER_H

#include "formats/op_args.h"
#include "formats/pytorch_event.h"

struct mt_trace_builder {
    struct mt_recording *rec;
    struct mt_op_args_reader args;
    struct mt_buf text; /* scratch for names with escapes */
    MT_VEC(struct mt_open_op {
        uint32_t thread, op, below; /* index in the thread's ops; next open one of that thread */
    })
    open;
    struct mt_map open_of; /* thread -> index + 1 into open of its innermost B event */
    MT_VEC(struct mt_total {
        bool known;          /* the records say it */
        bool counts, mapped; /* it is not always 0; it is 0 behind an allocation */
        uint16_t device;
        uint32_t first_order, last_order;
        int64_t first_t_ns, first_total_b, first_bytes, last_t_ns, last_total_b;
    })
    totals;
    struct mt_map total_of; /* process and device -> its total */
    bool seen_event, metadata_first, finished_in_memory, old_categories, python, call_from;
    uint32_t device_keys; /* what memory records say of their device: bits of mt_event_value */
    /* The thread of the event before, mostly that of the next too. */
    int64_t last_pid, last_tid;
    uint32_t last_thread; /* MT_NONE: there was none, or it has a name for a number */
};

/* Fills `rec`; release it when all events are in it, or on failure. */
void mt_trace_builder_init(struct mt_trace_builder *in, struct mt_recording *rec);
void mt_trace_builder_release(struct mt_trace_builder *in);
uint64_t mt_trace_builder_bytes(const struct mt_trace_builder *in); /* memory in use, about */

/* Takes one event in. Damaged values are noted with `offset` and the event is left out. */
enum mt_status mt_trace_builder_event(struct mt_trace_builder *in, const struct mt_event *ev,
                                      int64_t offset, struct mt_err *err);

/* After the last event: closes what is open, stores the marks of the file. */
void mt_trace_builder_finish(struct mt_trace_builder *in);

#endif
