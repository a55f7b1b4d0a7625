#include "formats/pytorch_intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mt_intake_init(struct mt_intake *in, struct mt_recording *rec)
{
    *in = (struct mt_intake){.rec = rec, .trace_start_ns = INT64_MIN};
    rec->format = "pytorch-trace";
}

void mt_intake_release(struct mt_intake *in)
{
    mt_buf_free(&in->text);
    mt_vec_free(&in->open);
    mt_map_free(&in->open_of);
}

static uint32_t string_id(struct mt_intake *in, struct mt_slice s)
{
    if (!s.s)
        return mt_strtab_add(&in->rec->strings, "", 0);
    if (!s.escaped)
        return mt_strtab_add(&in->rec->strings, s.s, s.n);
    mt_buf_clear(&in->text);
    mt_json_unescape(&in->text, s);
    return mt_strtab_add(&in->rec->strings, in->text.s, in->text.n);
}

/* pid and tid are numbers, numbers in quotes, or names. */
static void thread_key(struct mt_intake *in, struct mt_slice s, int64_t *number, uint32_t *name)
{
    *name = MT_NONE;
    *number = 0;
    if (!s.s || mt_json_int(s, number))
        return;
    *name = string_id(in, s);
}

static void remember_thread(struct mt_intake *in, const struct mt_event *ev, uint32_t thread)
{
    in->last_pid_n = in->last_tid_n = 0;
    if (!ev->pid.n || !ev->tid.n || ev->pid.escaped || ev->tid.escaped ||
        (size_t)ev->pid.n + ev->tid.n > sizeof in->last_ids)
        return;
    memcpy(in->last_ids, ev->pid.s, ev->pid.n);
    memcpy(in->last_ids + ev->pid.n, ev->tid.s, ev->tid.n);
    in->last_pid_n = ev->pid.n;
    in->last_tid_n = ev->tid.n;
    in->last_thread = thread;
}

static uint32_t thread_of(struct mt_intake *in, const struct mt_event *ev)
{
    int64_t pid, tid;
    uint32_t pid_name, tid_name;
    if (in->last_pid_n && ev->pid.n == in->last_pid_n && ev->tid.n == in->last_tid_n &&
        !ev->pid.escaped && !ev->tid.escaped && memcmp(ev->pid.s, in->last_ids, ev->pid.n) == 0 &&
        memcmp(ev->tid.s, in->last_ids + ev->pid.n, ev->tid.n) == 0)
        return in->last_thread;
    thread_key(in, ev->pid, &pid, &pid_name);
    thread_key(in, ev->tid, &tid, &tid_name);
    uint32_t thread = mt_rec_thread(in->rec, pid, pid_name, tid, tid_name);
    remember_thread(in, ev, thread);
    return thread;
}

static void set_order(uint32_t *order, const struct mt_event *ev)
{
    int64_t v;
    if (ev->order.s && mt_json_int(ev->order, &v) && v >= 0 && v < UINT32_MAX)
        *order = (uint32_t)v;
}

static enum mt_status skip_damaged(struct mt_intake *in, int64_t offset)
{
    mt_rec_note(in->rec, MT_NOTE_SKIPPED, offset, 0);
    return MT_OK;
}

static enum mt_status take_op(struct mt_intake *in, const struct mt_event *ev, int64_t offset,
                              struct mt_err *err)
{
    int64_t start, dur = 0, v;
    bool *whole = &in->rec->whole_us;
    if (!ev->name.s || !mt_json_us_to_ns(ev->ts, &start, whole) ||
        (ev->dur.s && !mt_json_us_to_ns(ev->dur, &dur, whole)) || start > INT64_MAX / 2 ||
        dur > INT64_MAX / 2)
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
    set_order(&op->order, ev);
    if (ev->seq.s && mt_json_int(ev->seq, &v) && v >= 0 && v <= INT32_MAX)
        op->seq = (int32_t)v;
    if (ev->fwd_thread.s && mt_json_int(ev->fwd_thread, &v) && v > 0 && v <= UINT32_MAX)
        op->fwd_thread = (uint32_t)v;
    in->python |= ev->kind == MT_FRAME_PYTHON;
    in->call_from |= ev->call_from.s != NULL;
    if (ev->shape.s)
        op->shape = mt_strtab_add(&in->rec->strings, ev->shape.s, ev->shape.n);
    return MT_OK;
}

static enum mt_status take_begin(struct mt_intake *in, const struct mt_event *ev, int64_t offset,
                                 struct mt_err *err)
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

static enum mt_status take_end(struct mt_intake *in, const struct mt_event *ev, int64_t offset)
{
    int64_t ts;
    uint32_t thread = thread_of(in, ev);
    uint32_t top = mt_map_get(&in->open_of, thread);
    if (top == MT_NONE || top == 0 || !mt_json_us_to_ns(ev->ts, &ts, &in->rec->whole_us)) {
        mt_rec_note(in->rec, MT_NOTE_UNMATCHED_BE, offset, 0);
        return MT_OK;
    }
    const struct mt_open_op *o = &in->open.v[top - 1];
    struct mt_op *op = &in->rec->threads.v[thread].ops.v[o->op];
    op->end_ns = ts > op->start_ns ? ts : op->start_ns;
    *mt_map_at(&in->open_of, thread) = o->below;
    return MT_OK;
}

/* The recorder's own running total, at the first and the last record of the device. */
static void take_totals(struct mt_intake *in, const struct mt_event *ev,
                        const struct mt_record *rec)
{
    struct mt_device *d = &in->rec->devices.v[rec->device];
    int64_t total, reserved;
    if (ev->total_allocated.s && mt_json_int(ev->total_allocated, &total)) {
        bool first = rec->t_ns < d->first_t_ns ||
                     (rec->t_ns == d->first_t_ns && rec->order < d->first_order);
        bool last =
            rec->t_ns > d->last_t_ns || (rec->t_ns == d->last_t_ns && rec->order >= d->last_order);
        if (!d->has_total || first) {
            d->first_t_ns = rec->t_ns;
            d->first_order = rec->order;
            d->first_total_b = total;
            d->first_bytes = rec->bytes;
        }
        if (!d->has_total || last) {
            d->last_t_ns = rec->t_ns;
            d->last_order = rec->order;
            d->last_total_b = total;
        }
        d->has_total = true;
    }
    if (ev->total_reserved.s && mt_json_int(ev->total_reserved, &reserved) && reserved > 0)
        mt_rec_reserved(in->rec, reserved);
}

static bool device_of(struct mt_intake *in, const struct mt_event *ev, uint16_t *device)
{
    int64_t type = 0, index = -1;
    if ((ev->device_type.s && !mt_json_int(ev->device_type, &type)) ||
        (ev->device_id.s && !mt_json_int(ev->device_id, &index)))
        return false;
    if (type < 0 || type > 255 || index < -1 || index > 4095)
        return false;
    uint32_t d = mt_rec_device(in->rec, (int)type, type == 0 ? -1 : (int)index);
    *device = (uint16_t)d;
    return d <= UINT16_MAX;
}

static enum mt_status take_memory(struct mt_intake *in, const struct mt_event *ev, int64_t offset,
                                  struct mt_err *err)
{
    int64_t ts, bytes, addr = 0;
    uint16_t device;
    if (!mt_json_us_to_ns(ev->ts, &ts, &in->rec->whole_us) || !ev->bytes.s ||
        !mt_json_int(ev->bytes, &bytes) || !device_of(in, ev, &device) || ts > INT64_MAX / 2 ||
        bytes > INT64_MAX / 4 || bytes < -(INT64_MAX / 4))
        return skip_damaged(in, offset);
    bool has_addr = ev->addr.s && mt_json_int(ev->addr, &addr);
    if (ev->cls == MT_EVENT_OOM) {
        mt_rec_note(in->rec, MT_NOTE_OOM, offset, bytes);
        *mt_vec_push(&in->rec->samples) = (struct mt_sample){.t_ns = ts,
                                                             .value = bytes,
                                                             .order = (uint32_t)in->rec->event_n,
                                                             .device = device,
                                                             .metric = MT_METRIC_OOM};
        return MT_OK;
    }
    uint32_t thread = thread_of(in, ev);
    struct mt_record *rec;
    MT_TRY(mt_rec_record(in->rec, &rec, err));
    rec->t_ns = ts;
    rec->bytes = bytes;
    rec->addr = (uint64_t)addr;
    rec->has_addr = has_addr;
    rec->device = device;
    rec->thread = thread;
    set_order(&rec->order, ev);
    in->finished_in_memory |= ev->finished.s != NULL;
    if (!has_addr) {
        in->rec->devices.v[device].no_addresses = true;
        mt_rec_note(in->rec, MT_NOTE_NO_ADDRESS, offset, 0);
    }
    take_totals(in, ev, rec);
    return MT_OK;
}

static void take_meta(struct mt_intake *in, const struct mt_event *ev)
{
    static const char name[] = "thread_name";
    if (ev->name.n != sizeof name - 1 || memcmp(ev->name.s, name, ev->name.n) != 0 ||
        !ev->arg_name.s)
        return;
    uint32_t text = string_id(in, ev->arg_name), thread = thread_of(in, ev);
    in->rec->threads.v[thread].name = text;
}

enum mt_status mt_intake_event(struct mt_intake *in, const struct mt_event *ev, int64_t offset,
                               struct mt_err *err)
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
        if (in->trace_start_ns == INT64_MIN)
            mt_json_us_to_ns(ev->ts, &in->trace_start_ns, NULL);
        return MT_OK;
    case MT_EVENT_DEVICE:
        mt_rec_note(in->rec, MT_NOTE_DEVICE_EVENTS, offset, 0);
        return MT_OK;
    case MT_EVENT_META:
        take_meta(in, ev);
        return MT_OK;
    default:
        return MT_OK;
    }
}

static void add_meta(struct mt_recording *rec, const char *key, const char *text)
{
    *mt_vec_push(&rec->meta) = (struct mt_meta){mt_strtab_add(&rec->strings, key, strlen(key)),
                                                mt_strtab_add(&rec->strings, text, strlen(text))};
}

/* What the file shows of the version that wrote it (lib/compat_torch.h). */
static void add_mark(struct mt_recording *rec, const char *key, bool value)
{
    add_meta(rec, key, value ? "true" : "false");
}

void mt_intake_finish(struct mt_intake *in)
{
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
    if (in->trace_start_ns != INT64_MIN) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)in->trace_start_ns);
        add_meta(in->rec, "memtool.trace_start_ns", text);
    }
}
