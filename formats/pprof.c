/*
 * Reader of heap profiles in pprof's format (profile.proto): Go's, and what others convert to it.
 * docs/formats/pprof.md says what is read.
 *
 * Its parts refer to each other by number and come in any order, mostly names last: all are kept
 * until the end, samples as numbers only.
 */
#include "formats/pprof_parts.h"

/* Numbers of fields in profile.proto. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION };
enum {
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_LAST = 15
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_OFFSET,
    MAPPING_FILE,
    MAPPING_BUILD_ID
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYMBOL, FUNCTION_FILE };

static void skip(struct mt_pprof *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->at, 0);
}

enum mt_status mt_pprof_check_memory(struct mt_pprof *r, struct mt_err *err)
{
    uint64_t now =
        mt_path_tree_bytes(&r->paths) + mt_strtab_bytes(&r->texts) + mt_map_bytes(&r->mapping_of) +
        mt_map_bytes(&r->location_of) + mt_map_bytes(&r->function_of) + mt_vec_bytes(&r->strings) +
        mt_vec_bytes(&r->mappings) + mt_vec_bytes(&r->functions) + mt_vec_bytes(&r->lines) +
        mt_vec_bytes(&r->locations) + mt_vec_bytes(&r->stacks) + mt_vec_bytes(&r->values) +
        mt_vec_bytes(&r->samples) + mt_vec_bytes(&r->steps) + mt_vec_bytes(&r->labels);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* ---- what the file has ---- */

/* Index of the thing of that id; it is `n`, one more than there are, where that is new. */
static uint32_t index_of(struct mt_map *map, uint64_t id, size_t n)
{
    uint32_t *at = mt_map_at(map, id);
    if (*at == MT_MAP_NONE)
        *at = (uint32_t)n;
    return *at;
}

static struct mt_pprof_type read_type(struct mt_pprof *r, struct mt_proto m)
{
    struct mt_pprof_type t = {0};
    struct mt_proto_field f;
    while (mt_proto_next(&m, &f))
        if (f.number == TYPE_TYPE)
            t.type = f.value;
        else if (f.number == TYPE_UNIT)
            t.unit = f.value;
    if (m.damaged)
        skip(r);
    return t;
}

/* The location of that id, which may come later. */
static uint32_t location_at(struct mt_pprof *r, uint64_t id)
{
    uint32_t i = index_of(&r->location_of, id, r->locations.n);
    if (i == r->locations.n)
        *mt_vec_push(&r->locations) = (struct mt_pprof_location){0};
    return i;
}

static void push_location(struct mt_pprof *r, uint64_t id)
{
    uint32_t i = location_at(r, id);
    *mt_vec_push(&r->stacks) = i;
}

/* Labels that are numbers count what is sampled, as Go's size of blocks does. */
static void read_label(struct mt_pprof *r, struct mt_proto m)
{
    struct mt_pprof_label to = {0};
    struct mt_proto_field f;
    while (mt_proto_next(&m, &f))
        if (f.number == LABEL_KEY)
            to.key = f.value;
        else if (f.number == LABEL_STR)
            to.text = f.value;
    if (m.damaged)
        skip(r);
    else if (to.text)
        *mt_vec_push(&r->labels) = to;
}

static void read_sample(struct mt_pprof *r, struct mt_proto m)
{
    struct mt_pprof_sample s = {
        .first = r->stacks.n, .first_value = r->values.n, .first_label = r->labels.n};
    struct mt_proto_field f;
    uint64_t v;
    bool sound = true;
    while (sound && mt_proto_next(&m, &f)) {
        struct mt_proto numbers = mt_proto_of(&f);
        if (f.number == SAMPLE_LOCATION)
            while (mt_proto_number(&f, &numbers, &v))
                push_location(r, v);
        else if (f.number == SAMPLE_VALUE)
            while (mt_proto_number(&f, &numbers, &v))
                *mt_vec_push(&r->values) = (int64_t)v;
        else if (f.number == SAMPLE_LABEL && f.bytes && r->opts->split & MT_SPLIT_LABEL &&
                 r->labels.n - s.first_label < MT_PPROF_LABELS)
            read_label(r, numbers);
        sound = !numbers.damaged;
    }
    s.n = r->stacks.n - s.first;
    s.label_n = r->labels.n - s.first_label;
    size_t value_n = r->values.n - s.first_value;
    if (m.damaged || !sound || !value_n || value_n > MT_PPROF_TYPES) {
        r->stacks.n = s.first;
        r->values.n = s.first_value;
        r->labels.n = s.first_label;
        skip(r);
        return;
    }
    s.value_n = (uint32_t)value_n;
    *mt_vec_push(&r->samples) = s;
}

/* A message of numbers: to[i], where it is not NULL, is the field of that number. */
static void read_numbers(struct mt_pprof *r, struct mt_proto m, uint64_t *const *to, size_t n)
{
    struct mt_proto_field f;
    while (mt_proto_next(&m, &f))
        if (f.number < n && to[f.number])
            *to[f.number] = f.value;
    if (m.damaged)
        skip(r);
}

static void read_mapping(struct mt_pprof *r, struct mt_proto m)
{
    struct mt_pprof_mapping to = {0};
    uint64_t id = 0;
    uint64_t *const fields[] = {
        [MAPPING_ID] = &id,          [MAPPING_START] = &to.start,
        [MAPPING_LIMIT] = &to.limit, [MAPPING_OFFSET] = &to.offset,
        [MAPPING_FILE] = &to.file,   [MAPPING_BUILD_ID] = &to.build_id,
    };
    read_numbers(r, m, fields, MT_ARRAY_LEN(fields));
    uint32_t i = index_of(&r->mapping_of, id, r->mappings.n);
    if (i == r->mappings.n)
        (void)mt_vec_push(&r->mappings);
    r->mappings.v[i] = to;
}

static void read_line(struct mt_pprof *r, struct mt_proto m)
{
    uint64_t function = 0, line = 0;
    uint64_t *const fields[] = {[LINE_FUNCTION] = &function, [LINE_LINE] = &line};
    read_numbers(r, m, fields, MT_ARRAY_LEN(fields));
    *mt_vec_push(&r->lines) = (struct mt_pprof_line){function, (int64_t)line};
}

static void read_location(struct mt_pprof *r, struct mt_proto m)
{
    struct mt_pprof_location to = {.first = r->lines.n, .there = true};
    uint64_t id = 0;
    struct mt_proto_field f;
    while (mt_proto_next(&m, &f))
        switch (f.number) {
        case LOCATION_ID:
            id = f.value;
            break;
        case LOCATION_MAPPING:
            to.mapping = f.value;
            break;
        case LOCATION_ADDRESS:
            to.address = f.value;
            break;
        case LOCATION_LINE:
            if (r->lines.n - to.first == MT_PPROF_LINES)
                skip(r);
            else if (f.bytes)
                read_line(r, mt_proto_of(&f));
            break;
        default:
            break;
        }
    if (m.damaged)
        skip(r);
    to.n = r->lines.n - to.first;
    uint32_t i = location_at(r, id);
    r->locations.v[i] = to;
}

static void read_function(struct mt_pprof *r, struct mt_proto m)
{
    struct mt_pprof_function to = {0};
    uint64_t id = 0, symbol = 0;
    uint64_t *const fields[] = {[FUNCTION_ID] = &id,
                                [FUNCTION_NAME] = &to.name,
                                [FUNCTION_SYMBOL] = &symbol,
                                [FUNCTION_FILE] = &to.file};
    read_numbers(r, m, fields, MT_ARRAY_LEN(fields));
    to.name = to.name ? to.name : symbol;
    uint32_t i = index_of(&r->function_of, id, r->functions.n);
    if (i == r->functions.n)
        (void)mt_vec_push(&r->functions);
    r->functions.v[i] = to;
}

/* Whether a field is a number or has bytes, as profile.proto says of it. */
static bool is_written_so(const struct mt_proto_field *f)
{
    switch (f->number) {
    case PROFILE_TYPE:
    case PROFILE_SAMPLE:
    case PROFILE_MAPPING:
    case PROFILE_LOCATION:
    case PROFILE_FUNCTION:
    case PROFILE_STRING:
    case PROFILE_PERIOD_TYPE:
        return f->bytes;
    case PROFILE_COMMENT: /* several numbers, packed or not */
        return true;
    default:
        return f->number > PROFILE_LAST || !f->bytes;
    }
}

static void read_field(struct mt_pprof *r, const struct mt_proto_field *f)
{
    if (!is_written_so(f)) {
        skip(r);
        return;
    }
    struct mt_proto m = mt_proto_of(f);
    switch (f->number) {
    case PROFILE_TYPE:
        *mt_vec_push(&r->types) = read_type(r, m);
        break;
    case PROFILE_SAMPLE:
        read_sample(r, m);
        break;
    case PROFILE_MAPPING:
        read_mapping(r, m);
        break;
    case PROFILE_LOCATION:
        read_location(r, m);
        break;
    case PROFILE_FUNCTION:
        read_function(r, m);
        break;
    case PROFILE_STRING:
        *mt_vec_push(&r->strings) = mt_strtab_add(&r->texts, f->s, f->n);
        break;
    case PROFILE_TIME: /* of writing; of what is older nobody knows */
        r->rec->base_ns = (int64_t)f->value > 0 ? (int64_t)f->value : 0;
        break;
    case PROFILE_PERIOD_TYPE:
        r->period_type = read_type(r, m);
        break;
    case PROFILE_COMMENT:
        r->comment = f->bytes ? 0 : f->value;
        break;
    case PROFILE_PERIOD:
        r->period = (int64_t)f->value;
        break;
    default:
        break;
    }
}

/* ---- the whole ---- */

/* In whatever order a profile is, the first of its names alone is empty, and what its samples count
 * stands together as all write it. Of two, one behind the other, neither is so. */
static bool begins_another(struct mt_pprof *r, const struct mt_proto_field *f)
{
    const bool more_types = f->number == PROFILE_TYPE && f->bytes && r->types_end;
    const bool more_names = f->number == PROFILE_STRING && f->bytes && !f->n && r->strings.n;
    if ((more_types || more_names) && !r->types_again && !r->names_again)
        r->again_at = r->at;
    r->types_again |= more_types;
    r->names_again |= more_names;
    r->types_end |= r->types.n && f->number != PROFILE_TYPE && f->number != PROFILE_STRING;
    return r->types_again && r->names_again;
}

static enum mt_status read_all(struct mt_pprof *r, struct mt_err *err)
{
    struct mt_proto_field f;
    bool any = true;
    enum mt_status st;
    uint64_t n = 0;
    while (r->at = mt_proto_offset(&r->proto),
           (st = mt_proto_stream_next(&r->proto, &f, &any, err)) == MT_OK && any) {
        if (begins_another(r, &f))
            return mt_reader_two("profiles", r->again_at, err);
        read_field(r, &f);
        if (++n % MT_PPROF_PER_CHECK == 0)
            MT_TRY(mt_pprof_check_memory(r, err));
    }
    if (st == MT_EINPUT && r->types_again) { /* another one, that ends before its names */
        *err = (struct mt_err)MT_ERR_INIT;
        return mt_reader_two("profiles", r->again_at, err);
    }
    if (st == MT_EINPUT)
        st = mt_pprof_cut(r, err);
    MT_TRY(st);
    return mt_pprof_give(r, err);
}

static void free_parts(struct mt_pprof *r)
{
    mt_heap_free(r->heap);
    mt_path_tree_free(&r->paths);
    mt_strtab_free(&r->texts);
    mt_map_free(&r->mapping_of);
    mt_map_free(&r->location_of);
    mt_map_free(&r->function_of);
    mt_vec_free(&r->strings);
    mt_vec_free(&r->types);
    mt_vec_free(&r->mappings);
    mt_vec_free(&r->functions);
    mt_vec_free(&r->lines);
    mt_vec_free(&r->locations);
    mt_vec_free(&r->stacks);
    mt_vec_free(&r->values);
    mt_vec_free(&r->samples);
    mt_vec_free(&r->steps);
    mt_vec_free(&r->labels);
    mt_buf_free(&r->text);
    mt_vec_free(&r->stack);
}

static enum mt_status pprof_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                 struct mt_recording *rec, struct mt_err *err)
{
    struct mt_pprof r = {
        .proto = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    mt_strtab_init(&r.texts);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_rec_beside(rec, &r.beside, 0);
    free_parts(&r);
    return st;
}

/* The fields at the start are a profile's, of their kinds; one says what samples count. */
static int pprof_probe(const char *head, size_t n)
{
    struct mt_proto m = {head, head + n, false};
    struct mt_proto_field f, of;
    bool typed = false;
    while (mt_proto_next(&m, &f)) {
        if (f.number > PROFILE_LAST || !is_written_so(&f))
            break; /* damaged, if what came before is a profile's */
        struct mt_proto type = mt_proto_of(&f);
        if (f.number != PROFILE_TYPE)
            continue;
        while (mt_proto_next(&type, &of))
            if (of.bytes || of.number > TYPE_UNIT)
                return 0;
        typed |= f.n && !type.damaged;
    }
    return typed ? 91 : 0;
}

const struct mt_reader mt_reader_pprof = {
    .name = "pprof",
    .kind = MT_RUN_HEAP,
    .binary = true,
    .probe = pprof_probe,
    .read = pprof_read,
};
