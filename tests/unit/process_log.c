/* What readers of process logs make of a text, in words. */
#include "tests/unit/process_log.h"

#include "lib/model/curve.h"
#include "tests/unit/rows.h"

#include <string.h>

/* What its curve says: looks that change nothing are none. */
struct curve {
    bool any;
    struct mt_level last;
};

static void use_change(void *closure, const struct mt_change *change)
{
    struct curve *c = closure;
    if (!change->bytes)
        return;
    c->any = true;
    c->last = change->level;
}

static void describe_device(struct mt_buf *out, const struct mt_recording *r, size_t device)
{
    const struct mt_curve *curve = &r->history.curve;
    char name[MT_DEVICE_NAME];
    struct curve of = {0};
    for (size_t i = 0; i < curve->chunks.n; i++) {
        const struct mt_usage_chunk *c = &curve->chunks.v[i];
        if (c->device == device)
            mt_usage_chunk_unpack(c, (const uint8_t *)curve->packed.s + c->at, c->bytes, use_change,
                                  &of);
    }
    mt_rec_device_name(r, &r->devices.v[device], name);
    if (of.any)
        mt_buf_addf(out, "%s %lld..%lld until %lld", name, (long long)r->devices.v[device].start_b,
                    (long long)of.last.level_b, (long long)of.last.t_ns);
    else
        mt_buf_addf(out, "%s unchanged", name);
    mt_buf_addf(out, " peak %lld\n", (long long)r->devices.v[device].peak_b);
}

static void add_look(void *closure, const struct mt_change *change)
{
    const struct mt_level *l = &change->level;
    mt_buf_addf(closure, " %lld:%lld@%lld", (long long)l->record, (long long)l->level_b,
                (long long)l->t_ns);
}

void describe_looks(struct mt_buf *out, const struct mt_recording *r)
{
    const struct mt_curve *curve = &r->history.curve;
    char name[MT_DEVICE_NAME];
    for (size_t i = 0; i < r->devices.n; i++) {
        mt_rec_device_name(r, &r->devices.v[i], name);
        mt_buf_adds(out, name);
        for (size_t k = 0; k < curve->chunks.n; k++) {
            const struct mt_usage_chunk *c = &curve->chunks.v[k];
            if (c->device == i)
                mt_usage_chunk_unpack(c, (const uint8_t *)curve->packed.s + c->at, c->bytes,
                                      add_look, out);
        }
        mt_buf_adds(out, "\n");
    }
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

void test_text_file(void **state)
{
    const struct text_file *f = *state;
    struct mt_buf out = {0};
    read_process_log(&out, &mt_reader_memory_text, f->text, strlen(f->text), NULL);
    assert_string_equal(out.s, f->want);
    mt_buf_free(&out);
}
