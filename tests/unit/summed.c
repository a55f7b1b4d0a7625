#include "tests/unit/summed.h"

#include "tests/unit/rows.h"
#include <string.h>

static void add_known(struct mt_buf *out, const char *name, int64_t v)
{
    if (v == MT_UNKNOWN)
        mt_buf_addf(out, " %s ?", name);
    else
        mt_buf_addf(out, " %s %lld", name, (long long)v);
}

static void add_path(struct mt_buf *out, const struct mt_recording *r, uint32_t node)
{
    const struct mt_node *n = &r->nodes.v[node];
    if (n->parent != MT_NONE) {
        add_path(out, r, n->parent);
        mt_buf_addc(out, ';');
    }
    mt_buf_adds(out, mt_strtab_get(&r->strings, r->frames.v[n->frame].name));
}

/* What was read, as text: the device, its paths (self: allocated, at peak, at end), moments, notes.
 */
static void describe(struct mt_buf *out, const struct mt_recording *r, bool more)
{
    const struct mt_device *d = &r->devices.v[0];
    add_known(out, "alloc", d->alloc_b);
    add_known(out, "n", d->alloc_n);
    add_known(out, "peak", d->peak_b);
    add_known(out, "end", d->at_end_b);
    if (d->outside_alloc_b | d->outside_at_peak_b | d->outside_at_end_b)
        mt_buf_addf(out, " outside %lld/%lld/%lld", (long long)d->outside_alloc_b,
                    (long long)d->outside_at_peak_b, (long long)d->outside_at_end_b);
    if (d->knows & MT_KNOWS_LEVEL)
        mt_buf_addf(out, " moments %zu", r->history.moments.n);
    if (d->knows & MT_KNOWS_PEAK && !(d->knows & MT_KNOWS_AT_PEAK))
        mt_buf_adds(out, " no paths at peak");
    if (d->knows & (MT_LARGE_AT_PEAK | MT_LARGE_AT_END))
        mt_buf_addf(out, " large%s%s", d->knows & MT_LARGE_AT_PEAK ? " at peak" : "",
                    d->knows & MT_LARGE_AT_END ? " at end" : "");
    mt_buf_addf(out, " %s %lld\n", r->time_unit ? r->time_unit : "no time", (long long)r->end_ns);
    for (size_t i = 0; i < r->stats.n; i++) {
        const struct mt_sums *s = &r->stats.v[i].self;
        add_path(out, r, r->stats.v[i].node);
        mt_buf_addf(out, " %lld/%lld/%lld\n", (long long)s->alloc_b, (long long)s->at_peak_b,
                    (long long)s->at_end_b);
    }
    for (int i = 0; i < MT_NOTE_N; i++)
        if (r->notes[i].count)
            mt_buf_addf(out, "note %s %llu\n", mt_note_names[i],
                        (unsigned long long)r->notes[i].count);
    if (more)
        mt_buf_addf(out, "events %llu\n", (unsigned long long)r->event_n);
    for (size_t i = 0; i < r->extras.n && more; i++) {
        mt_buf_adds(out, mt_strtab_get(&r->strings, r->extras.v[i].figure));
        add_known(out, "", r->extras.v[i].value);
        mt_buf_addc(out, '\n');
    }
}

static void read_text(struct mt_buf *out, const struct mt_reader *reader, const char *text,
                      size_t n, const struct mt_read_opts *opts, bool more)
{
    struct mt_stream *in;
    struct mt_recording rec;
    struct mt_err err = MT_ERR_INIT;
    mt_rec_init(&rec);
    assert_int_equal(mt_stream_open_memory(text, n, &in, &err), MT_OK);
    if (mt_reader_read(reader, in, opts, &rec, &err) == MT_OK)
        describe(out, &rec, more);
    else
        mt_buf_addf(out, "error at %lld: %s\n", (long long)err.offset, err.what);
    assert_int_equal(rec.beside_bytes, 0);
    mt_rec_free(&rec);
    mt_stream_close(in);
}

/* "--values at-end" in the name of a test. */
static enum mt_meaning meaning_of(const char *name)
{
    static const char *const words[MT_MEANS_N] = {"--values", "--values at-end", "--values at-peak",
                                                  "--values allocated", "--values temporary"};
    for (int i = MT_MEANS_N; --i > 0;)
        if (strstr(name, words[i]))
            return (enum mt_meaning)i;
    return MT_MEANS_UNSAID;
}

void summed_test(const struct summed_file *f, const struct mt_reader *reader)
{
    struct mt_buf out = {0};
    const struct mt_read_opts opts = {
        .partial = strstr(f->name, "--partial"),
        .values = meaning_of(f->name),
        .cpp_frames = strstr(f->name, "--cpp-frames all") ? MT_CPP_ALL : MT_CPP_FOLD};
    read_text(&out, reader, f->text, strlen(f->text), &opts, strstr(f->name, "further figures"));
    assert_string_equal(out.s, f->want);
    mt_buf_free(&out);
}

char *summed_text(const char *text, const struct mt_reader *reader)
{
    struct mt_buf out = {0};
    const struct mt_read_opts opts = {.values = MT_MEANS_AT_END};
    read_text(&out, reader, text, strlen(text), &opts, true);
    return out.s;
}

void summed_test_cuts(const char *text, const struct mt_reader *reader, const size_t *whole,
                      size_t whole_n)
{
    for (size_t n = 0; n < strlen(text); n++)
        for (int partial = 0; partial < 2; partial++) {
            struct mt_buf out = {0};
            struct mt_read_opts opts = {.partial = partial, .values = MT_MEANS_AT_END};
            bool looks_whole = false;
            for (size_t i = 0; i < whole_n; i++)
                looks_whole |= whole[i] == n;
            read_text(&out, reader, text, n, &opts, false);
            if (!looks_whole && !strstr(out.s, "note ") && !strstr(out.s, "error "))
                fail_msg("cut at byte %zu: %s", n, out.s);
            mt_buf_free(&out);
        }
}
