#include "formats/trace_builder.h"

#include <stdio.h>
#include <string.h>

void mt_trace_builder_init(struct mt_trace_builder *in, struct mt_recording *rec)
{
    *in = (struct mt_trace_builder){.rec = rec, .last_thread = MT_NONE};
}

void mt_trace_builder_release(struct mt_trace_builder *in)
{
    mt_op_args_free(&in->args);
    mt_buf_free(&in->text);
    mt_vec_free(&in->open);
    mt_map_free(&in->open_of);
    mt_map_free(&in->total_of);
    mt_vec_free(&in->totals);
}

uint64_t mt_trace_builder_bytes(const struct mt_trace_builder *in)
{
    return mt_op_args_bytes(&in->args) + in->text.cap + in->open.n * sizeof *in->open.v +
           mt_map_bytes(&in->open_of) + in->totals.n * sizeof *in->totals.v +
           mt_map_bytes(&in->total_of);
}

static uint32_t string_id(struct mt_trace_builder *in, struct mt_slice s)
{
    if (!s.escaped)
        return mt_strtab_add(&in->rec->strings, s.s, s.n);
    mt_buf_clear(&in->text);
    mt_json_unescape(&in->text, s);
    return mt_strtab_add(&in->rec->strings, in->text.s ? in->text.s : "", in->text.n);
}

/* Number and name of a pid or tid, in the form in which they tell threads apart. */
static uint32_t name_of_id(struct mt_trace_builder *in, const struct mt_event *ev,
                           enum mt_event_value which, const struct mt_id *id, int64_t *number)
{
    *number = ev->valid & which ? id->number : 0;
    return ev->seen & ~ev->valid & which ? string_id(in, id->name) : MT_NONE;
}

static uint32_t thread_of(struct mt_trace_builder *in, const struct mt_event *ev)
{
    const uint32_t both = MT_HAS_PID | MT_HAS_TID;
    int64_t pid, tid;
    bool numbers = (ev->valid & both) == both;
    if (numbers && in->last_thread != MT_NONE && ev->pid.number == in->last_pid &&
        ev->tid.number == in->last_tid)
        return in->last_thread;
    uint32_t pid_name = name_of_id(in, ev, MT_HAS_PID, &ev->pid, &pid);
    uint32_t tid_name = name_of_id(in, ev, MT_HAS_TID, &ev->tid, &tid);
    uint32_t thread = mt_rec_thread(in->rec, pid, pid_name, tid, tid_name);
    in->last_pid = pid;
    in->last_tid = tid;
    in->last_thread = numbers ? thread : MT_NONE;
    return thread;
}

static void set_order(uint32_t *order, const struct mt_event *ev)
{
    if ((ev->valid & MT_HAS_ORDER) && ev->order >= 0 && ev->order < UINT32_MAX)
        *order = (uint32_t)ev->order;
}

static enum mt_status skip_damaged(struct mt_trace_builder *in, int64_t offset)
{
    mt_rec_note(in->rec, MT_NOTE_SKIPPED, offset, 0);
    return MT_OK;
}

/* Start and duration (0 = none) of an interval. False: the event is damaged. */
static bool interval_of(const struct mt_event *ev, int64_t *start, int64_t *dur)
{
    *start = ev->ts_ns;
    *dur = ev->valid & MT_HAS_DUR ? ev->dur_ns : 0;
    return (ev->seen & MT_HAS_NAME) && (ev->valid & MT_HAS_TS) &&
           !(ev->seen & ~ev->valid & MT_HAS_DUR) && *start <= INT64_MAX / 2 &&
           *dur <= INT64_MAX / 2;
}

/* PyTorch exports a name with control characters as "unknown". */
static void note_lost_name(struct mt_trace_builder *in, const struct mt_event *ev, int64_t offset)
{
    if (ev->kind == MT_FRAME_ANNOTATION && MT_TEXT_IS(ev->name, "unknown"))
        mt_rec_note(in->rec, MT_NOTE_LOST_NAME, offset, 0);
}

static uint32_t frame_name(const struct mt_recording *r, uint32_t label)
{
    return r->frames.v[r->labels.v[label].frame].name;
}

static enum mt_status take_op(struct mt_trace_builder *in, const struct mt_event *ev,
                              int64_t offset, struct mt_err *err)
{
    int64_t start, dur;
    in->rec->whole_us &= !ev->decimals;
    if (!interval_of(ev, &start, &dur))
        return skip_damaged(in, offset);
    if (dur < 0) {
        mt_rec_note(in->rec, MT_NOTE_NEGATIVE_DUR, offset, 0);
        dur = 0;
    }
    uint32_t thread = thread_of(in, ev), recorded = string_id(in, ev->name);
    struct mt_op *op;
    MT_TRY(mt_rec_op(in->rec, thread, &op, err));
    op->start_ns = start;
    op->end_ns = start + dur;
    op->label = mt_rec_label(in->rec, recorded, ev->kind);
    note_lost_name(in, ev, offset);
    set_order(&op->order, ev);
    if ((ev->valid & MT_HAS_SEQ) && ev->seq >= 0 && ev->seq <= INT32_MAX)
        op->seq = (int32_t)ev->seq;
    if ((ev->valid & MT_HAS_FWD_THREAD) && ev->fwd_thread > 0 && ev->fwd_thread < MT_MAKES_GRAPH)
        op->fwd_thread = (uint32_t)ev->fwd_thread;
    if (ev->seen & MT_HAS_SHAPE)
        op->args = mt_op_args_of(&in->args, in->rec, frame_name(in->rec, op->label), ev);
    in->old_categories |= ev->old_category;
    in->python |= ev->kind == MT_FRAME_PYTHON;
    in->call_from |= (ev->seen & MT_HAS_CALL_FROM) != 0;
    return MT_OK;
}

static enum mt_status take_begin(struct mt_trace_builder *in, const struct mt_event *ev,
                                 int64_t offset, struct mt_err *err)
{
    uint64_t before = in->rec->op_n;
    MT_TRY(take_op(in, ev, offset, err));
    if (in->rec->op_n == before)
        return MT_OK;
    uint32_t thread = thread_of(in, ev);
    uint32_t *top = mt_map_at(&in->open_of, thread);
    *mt_vec_push(&in->open) = (struct mt_open_op){
        thread, (uint32_t)in->rec->threads.v[thread].ops.n - 1, *top == MT_NONE ? 0 : *top};
    *top = (uint32_t)in->open.n;
    return MT_OK;
}

static enum mt_status take_end(struct mt_trace_builder *in, const struct mt_event *ev,
                               int64_t offset)
{
    uint32_t thread = thread_of(in, ev);
    uint32_t top = mt_map_get(&in->open_of, thread);
    in->rec->whole_us &= !ev->decimals;
    if (top == MT_NONE || top == 0 || !(ev->valid & MT_HAS_TS)) {
        mt_rec_note(in->rec, MT_NOTE_UNMATCHED_BE, offset, 0);
        return MT_OK;
    }
    const struct mt_open_op *o = &in->open.v[top - 1];
    struct mt_op *op = &in->rec->threads.v[thread].ops.v[o->op];
    op->end_ns = ev->ts_ns > op->start_ns ? ev->ts_ns : op->start_ns;
    *mt_map_at(&in->open_of, thread) = o->below;
    return MT_OK;
}

static struct mt_total *total_of(struct mt_trace_builder *in, const struct mt_record *rec)
{
    uint32_t process = in->rec->threads.v[rec->thread].process;
    uint32_t *at = mt_map_at(&in->total_of, (uint64_t)process << 16 | rec->device);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)in->totals.n;
        *mt_vec_push(&in->totals) = (struct mt_total){.device = rec->device};
    }
    return &in->totals.v[*at];
}

/* The recorder's own running total, at the first and the last record of a process on the device. */
static void take_total(struct mt_total *t, int64_t total_b, const struct mt_record *rec)
{
    bool first =
        rec->t_ns < t->first_t_ns || (rec->t_ns == t->first_t_ns && rec->order < t->first_order);
    bool last =
        rec->t_ns > t->last_t_ns || (rec->t_ns == t->last_t_ns && rec->order >= t->last_order);
    if (!t->known || first) {
        t->first_t_ns = rec->t_ns;
        t->first_order = rec->order;
        t->first_total_b = total_b;
        t->first_bytes = rec->bytes;
    }
    if (!t->known || last) {
        t->last_t_ns = rec->t_ns;
        t->last_order = rec->order;
        t->last_total_b = total_b;
    }
    t->known = true;
    t->counts |= total_b != 0;
    t->mapped |= total_b == 0 && rec->bytes > 0;
}

/* The totals of a device's processes together; unknown where one has none, or has one that leaves
 * blocks out: after an allocation it is 0 (shared memory, on the CPU). */
static void sum_totals(struct mt_trace_builder *in)
{
    struct mt_recording *rec = in->rec;
    for (size_t i = 0; i < in->totals.n; i++)
        rec->devices.v[in->totals.v[i].device].has_total = true;
    for (size_t i = 0; i < in->totals.n; i++) {
        const struct mt_total *t = &in->totals.v[i];
        struct mt_device *d = &rec->devices.v[t->device];
        if (!t->known || !t->counts || t->mapped ||
            __builtin_add_overflow(d->first_total_b, t->first_total_b, &d->first_total_b) ||
            __builtin_add_overflow(d->first_bytes, t->first_bytes, &d->first_bytes) ||
            __builtin_add_overflow(d->last_total_b, t->last_total_b, &d->last_total_b))
            d->has_total = false;
    }
}

/* The device of a memory record; absent means the CPU, where no record before had it. False: it
 * cannot be. */
static bool device_of(struct mt_trace_builder *in, const struct mt_event *ev, uint16_t *device)
{
    int64_t type = ev->valid & MT_HAS_DEVICE_TYPE ? ev->device_type : 0;
    int64_t index = ev->valid & MT_HAS_DEVICE_INDEX ? ev->device_index : -1;
    in->device_keys |= ev->valid & (MT_HAS_DEVICE_TYPE | MT_HAS_DEVICE_INDEX);
    if ((ev->seen | in->device_keys) & ~ev->valid & (MT_HAS_DEVICE_TYPE | MT_HAS_DEVICE_INDEX))
        return false;
    if (type < 0 || type > 255 || index < -1 || index > 4095)
        return false;
    index = type == MT_DEVICE_CPU ? -1 : index;
    if (!mt_rec_may_have_device(in->rec, (int)type, (int)index))
        return false;
    uint32_t d = mt_rec_device(in->rec, (int)type, (int)index);
    *device = (uint16_t)d;
    return d <= UINT16_MAX;
}

static void take_oom(struct mt_trace_builder *in, const struct mt_event *ev, uint16_t device,
                     int64_t offset)
{
    const uint32_t thread = thread_of(in, ev);
    mt_rec_note(in->rec, MT_NOTE_OOM, offset, ev->bytes);
    *mt_vec_push(&in->rec->samples) = (struct mt_sample){.t_ns = ev->ts_ns,
                                                         .value = ev->bytes,
                                                         .order = (uint32_t)in->rec->event_n,
                                                         .event = MT_GONE,
                                                         .thread = thread,
                                                         .device = device,
                                                         .metric = MT_METRIC_OOM};
}

/* What the recorder says after a record of what the device holds. Shared memory, which the CPU's
 * total leaves out, says its own size there. */
static void take_told(struct mt_trace_builder *in, const struct mt_event *ev,
                      const struct mt_record *rec)
{
    bool on_cpu = in->rec->devices.v[rec->device].type == MT_DEVICE_CPU;
    bool total = (ev->valid & MT_HAS_TOTAL) && !on_cpu && ev->total_b >= 0;
    bool shared = on_cpu && (ev->valid & MT_HAS_TOTAL) && ev->total_b == 0;
    bool reserved = (ev->valid & MT_HAS_RESERVED) && ev->reserved_b > 0 && !shared;
    if (reserved || total)
        mt_rec_told(in->rec, reserved ? ev->reserved_b : 0, total ? ev->total_b : MT_GONE);
}

static enum mt_status take_record(struct mt_trace_builder *in, const struct mt_event *ev,
                                  uint16_t device, int64_t offset, struct mt_err *err)
{
    uint32_t thread = thread_of(in, ev);
    struct mt_record *rec;
    MT_TRY(mt_rec_record(in->rec, &rec, err));
    rec->t_ns = ev->ts_ns;
    rec->bytes = ev->bytes;
    rec->has_addr = (ev->valid & MT_HAS_ADDR) != 0;
    rec->addr = rec->has_addr ? (uint64_t)ev->addr : 0;
    rec->device = device;
    rec->thread = thread;
    set_order(&rec->order, ev);
    in->finished_in_memory |= (ev->seen & MT_HAS_FINISHED) != 0;
    if (!rec->has_addr)
        mt_rec_note(in->rec, MT_NOTE_NO_ADDRESS, offset, 0);
    struct mt_total *total = total_of(in, rec);
    if (ev->valid & MT_HAS_TOTAL)
        take_total(total, ev->total_b, rec);
    take_told(in, ev, rec);
    return MT_OK;
}

static enum mt_status take_memory(struct mt_trace_builder *in, const struct mt_event *ev,
                                  int64_t offset, struct mt_err *err)
{
    const uint32_t needed = MT_HAS_TS | MT_HAS_BYTES;
    /* What could not be allocated adds to nothing, and the larger a request, the sooner it fails.
     */
    const int64_t most = ev->cls == MT_EVENT_OOM ? INT64_MAX : INT64_MAX / 4;
    uint16_t device;
    in->rec->whole_us &= !ev->decimals;
    if ((ev->valid & needed) != needed || ev->ts_ns > INT64_MAX / 2 || ev->bytes > most ||
        ev->bytes < -(INT64_MAX / 4) || !device_of(in, ev, &device))
        return skip_damaged(in, offset);
    if (ev->cls != MT_EVENT_OOM)
        return take_record(in, ev, device, offset, err);
    take_oom(in, ev, device, offset);
    return MT_OK;
}

static void take_meta(struct mt_trace_builder *in, const struct mt_event *ev)
{
    const uint32_t needed = MT_HAS_NAME | MT_HAS_ARG_NAME;
    if ((ev->seen & needed) != needed || !MT_TEXT_IS(ev->name, "thread_name"))
        return;
    uint32_t text = string_id(in, ev->arg_name), thread = thread_of(in, ev);
    in->rec->threads.v[thread].name = text;
}

enum mt_status mt_trace_builder_event(struct mt_trace_builder *in, const struct mt_event *ev,
                                      int64_t offset, struct mt_err *err)
{
    if (!in->seen_event) {
        in->seen_event = true;
        in->metadata_first = ev->cls == MT_EVENT_META;
    }
    switch (ev->cls) {
    case MT_EVENT_OP:
        return take_op(in, ev, offset, err);
    case MT_EVENT_BEGIN:
        return take_begin(in, ev, offset, err);
    case MT_EVENT_END:
        return take_end(in, ev, offset);
    case MT_EVENT_MEMORY:
    case MT_EVENT_OOM:
        return take_memory(in, ev, offset, err);
    case MT_EVENT_TRACE:
        if ((ev->valid & MT_HAS_TS) && ev->ts_ns > INT64_MAX / 2)
            return skip_damaged(in, offset);
        if (in->rec->trace_start_ns == MT_GONE && (ev->valid & MT_HAS_TS))
            in->rec->trace_start_ns = ev->ts_ns;
        return MT_OK;
    case MT_EVENT_DEVICE:
        mt_rec_note(in->rec, MT_NOTE_DEVICE_EVENTS, offset, 0);
        return MT_OK;
    case MT_EVENT_META:
        take_meta(in, ev);
        return MT_OK;
    case MT_EVENT_BROKEN:
        return skip_damaged(in, offset);
    default:
        return MT_OK;
    }
}

/* What the file shows of the version that wrote it (lib/compat/compat_torch.h). */
static void add_mark(struct mt_recording *rec, const char *key, bool value)
{
    const char *json = value ? "true" : "false";
    mt_rec_meta(rec, key, json, strlen(json));
}

void mt_trace_builder_finish(struct mt_trace_builder *in)
{
    sum_totals(in);
    for (size_t i = 0; i < in->open_of.slot_n; i++) {
        const struct mt_map_slot *s = &in->open_of.slot[i];
        if (s->value == MT_MAP_NONE)
            continue;
        for (uint32_t top = s->value; top; top = in->open.v[top - 1].below)
            mt_rec_note(in->rec, MT_NOTE_UNMATCHED_BE, -1, 0);
    }
    add_mark(in->rec, "memtool.metadata_first", in->metadata_first);
    add_mark(in->rec, "memtool.finished_in_memory", in->finished_in_memory);
    add_mark(in->rec, "memtool.has_python", in->python);
    add_mark(in->rec, "memtool.python_call_from", in->call_from);
    if (in->old_categories)
        add_mark(in->rec, "memtool.old_categories", true);
    if (in->rec->trace_start_ns != MT_GONE) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)in->rec->trace_start_ns);
        mt_rec_meta(in->rec, "memtool.trace_start_ns", text, strlen(text));
    }
}
