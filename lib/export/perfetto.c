/* Counters as Perfetto's own trace: packets of protocol buffers (perfetto.dev,
 * protos/perfetto/trace /trace_packet.proto, track_event/track_event.proto,
 * track_event/track_descriptor.proto). */
#include "lib/export/formats.h"

#include "lib/base/wrap.h"
#include "lib/export/protobuf_out.h"
#include "lib/model/knows.h"
#include <string.h>

/* Numbers of fields, and values. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    SEQUENCE_BEGINS = 1
};
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3 };
enum {
    EVENT_NOTE = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_VALUE = 30,
    TYPE_BEGIN = 1,
    TYPE_END,
    TYPE_INSTANT,
    TYPE_COUNTER
};
enum { NOTE_INT = 4, NOTE_NAME = 10 };

struct writer {
    const struct mt_counters *c;
    FILE *out;
    int64_t tracks; /* so many have been described */
    struct mt_buf text, packet, part, inner;
};

/* Tracks are numbered for the whole of a timeline, of which the file may be a part. */
static int64_t uuid(const struct writer *w, int64_t track)
{
    return (int64_t)((w->c->id >> 1) + (uint64_t)track + 1);
}

static void put_text(struct mt_buf *to, int field, const char *s)
{
    mt_proto_put_bytes(to, field, s, strlen(s));
}

/* Writes what w->part holds as a packet with that field. */
static void put_packet(struct writer *w, int field)
{
    mt_proto_put_int(&w->packet, PACKET_SEQUENCE, 1);
    if (!w->tracks)
        mt_proto_put_int(&w->packet, PACKET_FLAGS, SEQUENCE_BEGINS);
    mt_proto_put_bytes(&w->packet, field, w->part.s, w->part.n);
    mt_proto_put_bytes(&w->text, TRACE_PACKET, w->packet.s, w->packet.n);
    mt_export_flush(&w->text, w->out, MT_EXPORT_PIECE);
    mt_buf_clear(&w->packet);
    mt_buf_clear(&w->part);
}

/* A track of a process, the number of which is its track's; unit: of counters. Returns its number.
 */
static int64_t put_track(struct writer *w, int64_t process, const char *name,
                         enum mt_counter_unit unit)
{
    mt_proto_put_int(&w->part, TRACK_UUID, uuid(w, w->tracks));
    put_text(&w->part, TRACK_NAME, name);
    mt_proto_put_int(&w->part, TRACK_PARENT, uuid(w, process));
    if (unit != MT_COUNTER_NONE) {
        mt_buf_clear(&w->inner);
        mt_proto_put_int(&w->inner, COUNTER_UNIT, unit);
        mt_proto_put_bytes(&w->part, TRACK_COUNTER, w->inner.s, w->inner.n);
    }
    put_packet(w, PACKET_TRACK);
    return w->tracks++;
}

/* The first tracks are of the processes, in their order. */
static void put_process(struct writer *w, const struct mt_counter_process *p)
{
    mt_buf_clear(&w->inner);
    mt_proto_put_int(&w->inner, PROCESS_PID, p->pid);
    put_text(&w->inner, PROCESS_NAME, p->name);
    mt_proto_put_int(&w->part, TRACK_UUID, uuid(w, w->tracks));
    mt_proto_put_bytes(&w->part, TRACK_PROCESS, w->inner.s, w->inner.n);
    put_packet(w, PACKET_TRACK);
    w->tracks++;
}

/* What else it says is in w->part. */
static void put_event(struct writer *w, int64_t track, int type, int64_t t_ns)
{
    mt_proto_put_int(&w->part, EVENT_TYPE, type);
    mt_proto_put_int(&w->part, EVENT_TRACK, uuid(w, track));
    mt_proto_put_value(&w->packet, PACKET_TIME, mt_wrap_add(w->c->epoch_ns, t_ns));
    put_packet(w, PACKET_EVENT);
}

static void put_value(struct writer *w, int64_t track, int64_t t_ns, int64_t v)
{
    if (v == MT_UNKNOWN)
        return;
    mt_proto_put_value(&w->part, EVENT_VALUE, v);
    put_event(w, track, TYPE_COUNTER, t_ns);
}

static void put_counter(struct writer *w, const struct mt_counter *counter)
{
    char *name = mt_asprintf("%s %s", counter->device, counter->metric);
    int64_t track = put_track(w, counter->process, name, counter->unit);
    if (counter->begins)
        put_value(w, track, 0, counter->levels.start_b);
    for (size_t i = 0; i < counter->levels.all.n; i++)
        put_value(w, track, counter->levels.all.v[i].t_ns, counter->levels.all.v[i].level_b);
    free(name);
}

static void put_slices(struct writer *w)
{
    int64_t track = 0;
    for (size_t i = 0; i < w->c->slices.n; i++) {
        const struct mt_counter_slice *s = &w->c->slices.v[i];
        if (!i || s[-1].lane != s->lane)
            track = put_track(w, 0, "steps", MT_COUNTER_NONE);
        put_text(&w->part, EVENT_NAME, s->name);
        put_event(w, track, TYPE_BEGIN, s->from_ns);
        put_event(w, track, TYPE_END, s->to_ns);
    }
}

static void put_instants(struct writer *w)
{
    int64_t track = w->c->instants.n ? put_track(w, 0, "marks", MT_COUNTER_NONE) : 0;
    for (size_t i = 0; i < w->c->instants.n; i++) {
        const struct mt_counter_instant *m = &w->c->instants.v[i];
        if (m->bytes != MT_UNKNOWN) {
            mt_buf_clear(&w->inner);
            mt_proto_put_value(&w->inner, NOTE_INT, m->bytes);
            put_text(&w->inner, NOTE_NAME, "asked for, bytes");
            mt_proto_put_bytes(&w->part, EVENT_NOTE, w->inner.s, w->inner.n);
        }
        put_text(&w->part, EVENT_NAME, m->name);
        put_event(w, track, TYPE_INSTANT, m->t_ns);
    }
}

void mt_export_perfetto(const struct mt_counters *c, FILE *out)
{
    struct writer w = {.c = c, .out = out};
    for (size_t i = 0; i < c->processes.n; i++)
        put_process(&w, &c->processes.v[i]);
    for (size_t i = 0; i < c->all.n; i++)
        put_counter(&w, &c->all.v[i]);
    put_slices(&w);
    put_instants(&w);
    mt_export_flush(&w.text, out, 0);
    mt_buf_free(&w.text);
    mt_buf_free(&w.packet);
    mt_buf_free(&w.part);
    mt_buf_free(&w.inner);
}
