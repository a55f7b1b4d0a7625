/* Counters as the trace events of Chrome, for Perfetto: each key of args is a counter named "NAME
 * KEY" (Trace Event Format, "Counter Events"; perfetto.dev/docs/getting-started/other-formats). */
#include "lib/export/formats.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/knows.h"

/* Threads of our own: no system has such. */
enum { TID_STEPS = 2000000000, TID_MARKS = 2100000000 };

struct writer {
    const struct mt_counters *c;
    struct mt_buf text;
    FILE *out;
    bool any;
};

/* Microseconds of the recording's own clock, to the nanosecond. */
static void put_time(struct mt_buf *text, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    mt_buf_addf(text, "%s%llu.%03llu", ns < 0 ? "-" : "", (unsigned long long)(size / 1000),
                (unsigned long long)(size % 1000));
}

static void put_quoted(struct mt_buf *text, const char *s)
{
    mt_buf_addc(text, '"');
    mt_escape_json(text, s);
    mt_buf_addc(text, '"');
}

/* Begins an event; its other members follow, and put_end. */
static void put_begin(struct writer *w, const char *phase, const char *name, int64_t pid,
                      int64_t tid)
{
    mt_export_flush(&w->text, w->out, MT_EXPORT_PIECE);
    mt_buf_addf(&w->text, "%s\n{\"ph\":\"%s\",\"name\":", w->any ? "," : "", phase);
    put_quoted(&w->text, name);
    mt_buf_addf(&w->text, ",\"pid\":%lld,\"tid\":%lld", (long long)pid, (long long)tid);
    w->any = true;
}

static void put_at(struct writer *w, const char *key, int64_t t_ns)
{
    mt_buf_addf(&w->text, ",\"%s\":", key);
    put_time(&w->text, t_ns);
}

static void put_end(struct writer *w)
{
    mt_buf_addc(&w->text, '}');
}

static void put_name(struct writer *w, const char *what, int64_t pid, int64_t tid, const char *name)
{
    put_begin(w, "M", what, pid, tid);
    mt_buf_adds(&w->text, ",\"args\":{\"name\":");
    put_quoted(&w->text, name);
    mt_buf_addc(&w->text, '}');
    put_end(w);
}

static void put_value(struct writer *w, const struct mt_counter *counter, int64_t t_ns, int64_t v)
{
    if (v == MT_UNKNOWN)
        return;
    put_begin(w, "C", counter->device, w->c->processes.v[counter->process].pid, 0);
    put_at(w, "ts", mt_wrap_add(w->c->source_ns, t_ns));
    mt_buf_adds(&w->text, ",\"args\":{\"");
    mt_escape_json(&w->text, counter->metric);
    mt_buf_addf(&w->text, "%s\":%lld}", counter->unit == MT_COUNTER_BYTES ? " bytes" : "",
                (long long)v);
    put_end(w);
}

static void put_slices(struct writer *w)
{
    int64_t pid = w->c->processes.v[0].pid;
    for (size_t i = 0; i < w->c->slices.n; i++) {
        const struct mt_counter_slice *s = &w->c->slices.v[i];
        int64_t tid = TID_STEPS + s->lane;
        if (!i || s[-1].lane != s->lane)
            put_name(w, "thread_name", pid, tid, "steps (memtool)");
        put_begin(w, "X", s->name, pid, tid);
        put_at(w, "ts", mt_wrap_add(w->c->source_ns, s->from_ns));
        put_at(w, "dur", mt_wrap_sub(s->to_ns, s->from_ns));
        put_end(w);
    }
}

static void put_instants(struct writer *w)
{
    int64_t pid = w->c->processes.v[0].pid;
    if (w->c->instants.n)
        put_name(w, "thread_name", pid, TID_MARKS, "marks (memtool)");
    for (size_t i = 0; i < w->c->instants.n; i++) {
        const struct mt_counter_instant *m = &w->c->instants.v[i];
        put_begin(w, "i", m->name, pid, TID_MARKS);
        put_at(w, "ts", mt_wrap_add(w->c->source_ns, m->t_ns));
        mt_buf_adds(&w->text, ",\"s\":\"t\"");
        if (m->bytes != MT_UNKNOWN)
            mt_buf_addf(&w->text, ",\"args\":{\"asked for, bytes\":%lld}", (long long)m->bytes);
        put_end(w);
    }
}

void mt_export_perfetto_json(const struct mt_counters *c, FILE *out)
{
    struct writer w = {.c = c, .out = out};
    mt_buf_adds(&w.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (size_t i = 0; i < c->processes.n && c->named; i++)
        put_name(&w, "process_name", c->processes.v[i].pid, 0, c->processes.v[i].name);
    for (size_t i = 0; i < c->all.n; i++) {
        const struct mt_counter *counter = &c->all.v[i];
        if (counter->begins)
            put_value(&w, counter, 0, counter->levels.start_b);
        for (size_t k = 0; k < counter->levels.all.n; k++)
            put_value(&w, counter, counter->levels.all.v[k].t_ns, counter->levels.all.v[k].level_b);
    }
    put_slices(&w);
    put_instants(&w);
    mt_buf_adds(&w.text, "\n]}\n");
    mt_export_flush(&w.text, out, 0);
    mt_buf_free(&w.text);
}
