/* pprof's profile.proto (github.com/google/pprof, proto/profile.proto), gzipped. */
#include "lib/export/formats.h"

#include "lib/base/gzip.h"
#include "lib/export/protobuf_out.h"
#include "lib/model/kind_words.h"
#include <string.h>

/* Numbers of fields. */
enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_INLINE = 10 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYMBOL, FUNCTION_FILE };

/* In the order that readers know; what they show first comes last. */
static const struct {
    enum mt_measure measure;
    const char *type, *unit;
} types[] = {{MT_MEASURE_ALLOC_N, "alloc_objects", "count"},
             {MT_MEASURE_ALLOC_B, "alloc_space", "bytes"},
             {MT_MEASURE_ALIVE_N, "inuse_objects", "count"},
             {MT_MEASURE_ALIVE_B, "inuse_space", "bytes"}};

struct writer {
    const struct mt_stacks *s;
    struct mt_gzip *out;
    struct mt_strtab strings; /* of the file: the first is "" */
    struct mt_buf part, inner, packed, field;
};

static int64_t text(struct writer *w, const char *s)
{
    return mt_strtab_add(&w->strings, s, strlen(s));
}

/* Writes a part of the profile and begins the next. */
static void put(struct writer *w, int field)
{
    mt_buf_clear(&w->field);
    mt_proto_put_bytes(&w->field, field, w->part.n ? w->part.s : "", w->part.n);
    mt_gzip_write(w->out, w->field.s, w->field.n);
    mt_buf_clear(&w->part);
}

static void put_number(struct writer *w, int field, int64_t v)
{
    mt_buf_clear(&w->field);
    mt_proto_put_int(&w->field, field, v);
    if (w->field.n)
        mt_gzip_write(w->out, w->field.s, w->field.n);
}

static void put_type(struct writer *w, int field, const char *type, const char *unit)
{
    mt_proto_put_int(&w->part, TYPE_TYPE, text(w, type));
    mt_proto_put_int(&w->part, TYPE_UNIT, text(w, unit));
    put(w, field);
}

static void add_label(struct writer *w, const char *key, const char *value)
{
    mt_buf_clear(&w->inner);
    mt_proto_put_int(&w->inner, LABEL_KEY, text(w, key));
    mt_proto_put_int(&w->inner, LABEL_STR, text(w, value));
    mt_proto_put_bytes(&w->part, SAMPLE_LABEL, w->inner.s, w->inner.n);
}

/* Leaf first. Locations have the number of their frame and 1 more: 0 is none. */
static void put_sample(struct writer *w, uint32_t node)
{
    const struct mt_stack_node *n = &w->s->nodes.v[node];
    mt_buf_clear(&w->packed);
    for (uint32_t i = node; i != MT_NONE; i = w->s->nodes.v[i].parent)
        mt_proto_put_number(&w->packed, (int64_t)w->s->nodes.v[i].frame + 1);
    mt_proto_put_bytes(&w->part, SAMPLE_LOCATION, w->packed.s, w->packed.n);
    mt_buf_clear(&w->packed);
    for (size_t i = 0; i < MT_ARRAY_LEN(types); i++)
        if (w->s->knows[types[i].measure])
            mt_proto_put_number(&w->packed, n->self[types[i].measure]);
    mt_proto_put_bytes(&w->part, SAMPLE_VALUE, w->packed.s, w->packed.n);
    add_label(w, "device", w->s->device);
    if (n->phase < MT_PHASE_N)
        add_label(w, "phase", mt_phase_names[n->phase]);
    put(w, PROFILE_SAMPLE);
}

static void put_samples(struct writer *w)
{
    for (uint32_t i = 0; i < w->s->nodes.n; i++) {
        bool any = false;
        for (size_t t = 0; t < MT_ARRAY_LEN(types); t++)
            any |= w->s->knows[types[t].measure] && w->s->nodes.v[i].self[types[t].measure];
        if (any)
            put_sample(w, i);
    }
}

/* One of the run, said to have names already: nobody looks for symbols. */
static void put_mapping(struct writer *w)
{
    mt_proto_put_int(&w->part, MAPPING_ID, 1);
    mt_proto_put_int(&w->part, MAPPING_FILE, text(w, w->s->run));
    for (int field = MAPPING_FUNCTIONS; field <= MAPPING_INLINE; field++)
        mt_proto_put_int(&w->part, field, 1);
    put(w, PROFILE_MAPPING);
}

static void put_functions(struct writer *w)
{
    for (size_t i = 0; i < w->s->frames.n; i++) {
        const struct mt_stack_frame *f = &w->s->frames.v[i];
        int64_t id = (int64_t)i + 1, name = text(w, mt_stacks_text(w->s, f->name));
        mt_buf_clear(&w->inner);
        mt_proto_put_int(&w->inner, LINE_FUNCTION, id);
        mt_proto_put_int(&w->inner, LINE_LINE, f->line);
        mt_proto_put_int(&w->part, LOCATION_ID, id);
        mt_proto_put_int(&w->part, LOCATION_MAPPING, 1);
        mt_proto_put_bytes(&w->part, LOCATION_LINE, w->inner.s, w->inner.n);
        put(w, PROFILE_LOCATION);
        mt_proto_put_int(&w->part, FUNCTION_ID, id);
        mt_proto_put_int(&w->part, FUNCTION_NAME, name);
        mt_proto_put_int(&w->part, FUNCTION_SYMBOL, name);
        mt_proto_put_int(&w->part, FUNCTION_FILE, text(w, mt_stacks_text(w->s, f->file)));
        put(w, PROFILE_FUNCTION);
    }
}

/* Programs print it above their reports. */
static void put_comment(struct writer *w)
{
    char *comment = mt_asprintf("memtool: run %s, device %s; in use: alive %s", w->s->run,
                                w->s->device, w->s->moment);
    put_number(w, PROFILE_COMMENT, text(w, comment));
    free(comment);
}

void mt_export_pprof(const struct mt_stacks *s, enum mt_measure measure, FILE *out)
{
    struct writer w = {.s = s, .out = mt_gzip_open(out)};
    (void)measure;
    mt_strtab_init(&w.strings);
    text(&w, "");
    for (size_t i = 0; i < MT_ARRAY_LEN(types); i++)
        if (s->knows[types[i].measure])
            put_type(&w, PROFILE_TYPE, types[i].type, types[i].unit);
    put_samples(&w);
    put_mapping(&w);
    put_functions(&w);
    put_number(&w, PROFILE_TIME, s->start_ns);
    put_number(&w, PROFILE_DURATION, s->dur_ns);
    put_type(&w, PROFILE_PERIOD_TYPE, "space", "bytes");
    put_number(&w, PROFILE_PERIOD, 1);
    put_comment(&w);
    if (s->knows[MT_MEASURE_ALIVE_B])
        put_number(&w, PROFILE_DEFAULT, text(&w, "inuse_space"));
    for (uint32_t i = 0; i < w.strings.n; i++) {
        mt_buf_adds(&w.part, mt_strtab_get(&w.strings, i));
        put(&w, PROFILE_STRING);
    }
    mt_gzip_close(w.out);
    mt_strtab_free(&w.strings);
    mt_buf_free(&w.part);
    mt_buf_free(&w.inner);
    mt_buf_free(&w.packed);
    mt_buf_free(&w.field);
}
