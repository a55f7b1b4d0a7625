/* What readers of process logs make of a text, in words. */
#include "tests/unit/process_log.h"

#include "lib/model/curve.h"
#include "tests/unit/rows.h"

#include <string.h>

static void describe_device(struct mt_buf *out, const struct mt_recording *r, size_t device)
{
    char name[MT_DEVICE_NAME];
    const struct mt_usage_chunk *first = NULL, *last = NULL;
    for (size_t i = 0; i < r->history.curve.chunks.n; i++) {
        const struct mt_usage_chunk *c = &r->history.curve.chunks.v[i];
        if (c->device != device)
            continue;
        first = first ? first : c;
        last = c;
    }
    mt_rec_device_name(r, &r->devices.v[device], name);
    if (first)
        mt_buf_addf(out, "%s %lld..%lld until %lld", name, (long long)first->start_b,
                    (long long)last->last.level_b, (long long)last->last.t_ns);
    else
        mt_buf_addf(out, "%s unchanged", name);
    mt_buf_addf(out, " peak %lld\n", (long long)r->devices.v[device].peak_b);
}

static void describe(struct mt_buf *out, const struct mt_recording *r)
{
    char name[MT_DEVICE_NAME];
    mt_buf_addf(out, "%s %lld from %lld\n", r->time_unit, (long long)r->end_ns,
                (long long)r->base_ns);
    for (size_t i = 0; i < r->devices.n; i++)
        describe_device(out, r, i);
    for (size_t i = 0; i < r->samples.n; i++) {
        const struct mt_sample *s = &r->samples.v[i];
        mt_rec_device_name(r, &r->devices.v[s->device], name);
        mt_buf_addf(out, "%s of %s %lld at %lld\n", mt_rec_metric_name(r, s->metric), name,
                    (long long)s->value, (long long)s->t_ns);
    }
    for (size_t i = 0; i < r->steps.n; i++)
        mt_buf_addf(out, "%s%lld%s", i ? " " : "steps ", (long long)r->steps.v[i].number,
                    i + 1 == r->steps.n ? "\n" : "");
    for (int i = 0; i < MT_NOTE_N; i++)
        if (r->notes[i].count)
            mt_buf_addf(out, "note %s %llu\n", mt_note_names[i],
                        (unsigned long long)r->notes[i].count);
}

void read_process_log(struct mt_buf *out, const struct mt_reader *reader, const char *text,
                      size_t n, const char *where)
{
    struct mt_text_pattern *pattern = NULL;
    struct mt_stream *in;
    struct mt_recording rec;
    struct mt_err err = MT_ERR_INIT;
    if (where && mt_text_pattern_new(where, &pattern, &err) != MT_OK) {
        mt_buf_addf(out, "error: %s\n", err.what);
        return;
    }
    const struct mt_read_opts opts = {.pattern = pattern};
    mt_rec_init(&rec);
    assert_int_equal(mt_stream_open_memory(text, n, &in, &err), MT_OK);
    if (mt_reader_read(reader, in, &opts, &rec, &err) == MT_OK)
        describe(out, &rec);
    else
        mt_buf_addf(out, "error: %s\n", err.what);
    assert_int_equal(rec.beside_bytes, 0);
    mt_rec_free(&rec);
    mt_stream_close(in);
    mt_text_pattern_free(pattern);
}
