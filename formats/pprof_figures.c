#include "formats/pprof_parts.h"
#include "lib/model/label_text.h"

#include <string.h>

/* ---- call paths ---- */

static const char *text_at(struct mt_pprof *r, uint64_t i)
{
    if (i < r->strings.n)
        return mt_strtab_get(&r->texts, r->strings.v[i]);
    r->missing_n += i > 0;
    return "";
}

/* Index of the thing that id refers to; MT_NONE: there is none. */
static uint32_t referred(struct mt_pprof *r, const struct mt_map *map, uint64_t id)
{
    uint32_t i = id ? mt_map_get(map, id) : MT_MAP_NONE;
    r->missing_n += id && i == MT_MAP_NONE;
    return i == MT_MAP_NONE ? MT_NONE : i;
}

/* The frames of an address in a mapping (NULL = in none): the profile has no functions for it. */
static void make_places(struct mt_pprof *r, struct mt_pprof_location *l,
                        const struct mt_pprof_mapping *m, const char *object)
{
    struct mt_symbols *symbols = m ? r->opts->symbols : NULL;
    uint32_t module = 0;
    if (symbols) {
        const struct mt_code_part part = {m->offset, m->limit - m->start};
        module =
            mt_symbols_module(symbols, &(struct mt_code_module){.path = object,
                                                                .build_id = text_at(r, m->build_id),
                                                                .parts = &part,
                                                                .part_n = 1,
                                                                .by_offset = true});
    }
    uint64_t place = m ? l->address - m->start + m->offset : l->address;
    l->n = mt_native_at(&r->paths, r->opts->alloc_fn, symbols, module, object, place, &r->steps);
}

static void make_steps(struct mt_pprof *r, struct mt_pprof_location *l)
{
    uint32_t m = referred(r, &r->mapping_of, l->mapping);
    const char *object = m == MT_NONE ? "" : text_at(r, r->mappings.v[m].file);
    l->step = r->steps.n + 1;
    r->missing_n += !l->there;
    if (!l->n) {
        make_places(r, l, m == MT_NONE || !*object ? NULL : &r->mappings.v[m], object);
        return;
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct mt_pprof_line line = r->lines.v[l->first + i];
        uint32_t function = referred(r, &r->function_of, line.function);
        struct mt_native_frame f = {"", object, "", line.line};
        if (function != MT_NONE) {
            f.name = text_at(r, r->functions.v[function].name);
            f.file = text_at(r, r->functions.v[function].file);
        }
        *mt_vec_push(&r->steps) = mt_native_step(&r->paths, &f, r->opts->alloc_fn);
    }
}

/* "handler=/users, tenant=a", whatever the order in the file; "" = none. */
static const char *labels_of(struct mt_pprof *r, const struct mt_pprof_sample *s)
{
    const char *before = "";
    mt_buf_clear(&r->text);
    for (size_t given = 0; given < s->label_n; given++) {
        const struct mt_pprof_label *next = NULL;
        for (size_t i = 0; i < s->label_n; i++) {
            const struct mt_pprof_label *l = &r->labels.v[s->first_label + i];
            const char *key = text_at(r, l->key);
            if (strcmp(key, before) > 0 && (!next || strcmp(key, text_at(r, next->key)) < 0))
                next = l;
        }
        if (!next)
            break; /* a key that comes again */
        before = text_at(r, next->key);
        mt_label_add(&r->text, before, text_at(r, next->text));
    }
    return r->text.n ? r->text.s : "";
}

static uint32_t node_of(struct mt_pprof *r, const struct mt_pprof_sample *s)
{
    const char *labels = labels_of(r, s);
    uint32_t around = *labels ? mt_path_root(&r->paths, MT_NONE, labels, MT_PATH_LABEL) : MT_NONE;
    r->stack.n = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct mt_pprof_location *l = &r->locations.v[r->stacks.v[s->first + i]];
        if (!l->step)
            make_steps(r, l);
        for (size_t k = 0; k < l->n && r->stack.n <= MT_STACK_MAX; k++)
            *mt_vec_push(&r->stack) = r->steps.v[l->step - 1 + k];
    }
    if (!r->stack.n)
        return around;
    return mt_native_path(&r->paths, around, r->stack.v, r->stack.n,
                          r->opts->cpp_frames == MT_CPP_ALL);
}

/* ---- figures ---- */

/* Sample types of heap profiles. Without alloc_space, what is called space is what is alive. */
static const struct {
    const char *type;
    enum mt_pprof_figure is;
} figures[] = {
    {"alloc_objects", MT_PPROF_ALLOC_N}, {"alloc_space", MT_PPROF_ALLOC_B},
    {"inuse_objects", MT_PPROF_END_N},   {"inuse_space", MT_PPROF_END_B},
    {"objects", MT_PPROF_END_N},         {"space", MT_PPROF_END_B},
};

static const struct {
    const char *unit;
    int64_t bytes;
} units[] = {{"bytes", 1},
             {"byte", 1},
             {"kilobytes", 1 << 10},
             {"megabytes", 1 << 20},
             {"gigabytes", 1 << 30}};

/* Bytes of a unit, 0 = it is not one of bytes. */
static int64_t unit_bytes(const char *unit)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        if (strcmp(units[i].unit, unit) == 0)
            return units[i].bytes;
    return 0;
}

static bool take_type(struct mt_pprof *r, size_t column, const char *type, const char *unit)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++) {
        enum mt_pprof_figure is = figures[i].is;
        int64_t one = is == MT_PPROF_ALLOC_N || is == MT_PPROF_END_N ? strcmp(unit, "count") == 0
                                                                     : unit_bytes(unit);
        if (!one || strcmp(figures[i].type, type) != 0 || r->column[is] >= 0)
            continue;
        r->column[is] = (int)column;
        r->unit[is] = one;
        return true;
    }
    return false;
}

/* Which values of samples are which figures. Others are left out with a note. */
static enum mt_status find_figures(struct mt_pprof *r, struct mt_err *err)
{
    struct mt_buf others = {0};
    for (int i = 0; i < MT_PPROF_FIGURE_N; i++)
        r->column[i] = -1;
    for (size_t i = 0; i < r->types.n && i < MT_PPROF_TYPES; i++) {
        const char *type = text_at(r, r->types.v[i].type), *unit = text_at(r, r->types.v[i].unit);
        if (take_type(r, i, type, unit))
            continue;
        mt_buf_addf(&others, "%s%s/%s", others.n ? ", " : "", type, unit);
        mt_rec_note(r->rec, MT_NOTE_SAMPLE_TYPES, -1, 0);
    }
    mt_rec_note_detail(r->rec, MT_NOTE_SAMPLE_TYPES, "%s", others.n ? others.s : "");
    bool any = r->column[MT_PPROF_ALLOC_B] >= 0 || r->column[MT_PPROF_END_B] >= 0;
    if (!any && r->missing_n)
        MT_FAIL(err, MT_EINPUT, "ends early: what its samples count is missing");
    else if (!any && others.n)
        MT_FAIL(err, MT_EINPUT, "a profile, but not of a heap: its samples count %.200s", others.s);
    else if (!any)
        MT_FAIL(err, MT_EINPUT, "its samples count no bytes");
    mt_buf_free(&others);
    if (any)
        return MT_OK;
    return mt_reader_refuse(
        -1, "memtool reads heap profiles: samples of alloc_space or inuse_space in bytes.", err);
}

static enum mt_status no_difference(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "the difference of two profiles: it has negative values");
    return mt_reader_refuse(
        -1, "Import the two profiles themselves and compare them with `memtool diff`.", err);
}

/* A figure of a sample, MT_UNKNOWN where the file has none; false: it cannot be true. */
static bool value_of(const struct mt_pprof *r, const struct mt_pprof_sample *s,
                     enum mt_pprof_figure is, int64_t *v)
{
    *v = MT_UNKNOWN;
    return r->column[is] < 0 ||
           (!__builtin_mul_overflow(r->values.v[s->first_value + (size_t)r->column[is]],
                                    r->unit[is], v));
}

static void count_samples(struct mt_sampled *s, const struct mt_sums *sums)
{
    if (sums->at_end_n != MT_UNKNOWN && sums->at_end_b != MT_UNKNOWN)
        s->end_n +=
            (double)sums->at_end_n / mt_sampled_scale(s->period, sums->at_end_b, sums->at_end_n);
    if (sums->alloc_n != MT_UNKNOWN && sums->alloc_b != MT_UNKNOWN)
        s->alloc_n +=
            (double)sums->alloc_n / mt_sampled_scale(s->period, sums->alloc_b, sums->alloc_n);
}

/* "memtool: run a, device cpu; in use: alive at the peak, 7.855 ms": what lib/export/pprof.c says.
 */
static bool is_of_peak(const char *comment)
{
    static const char ours[] = "memtool: run ",
                      in_use[] = "; in use: ", peak[] = "alive at the peak";
    const char *last = NULL;
    if (strncmp(comment, ours, sizeof ours - 1) != 0)
        return false;
    for (const char *at = comment; (at = strstr(at, in_use)); at += sizeof in_use - 1)
        last = at + sizeof in_use - 1;
    return last && strncmp(last, peak, sizeof peak - 1) == 0;
}

static enum mt_status give(struct mt_pprof *r, const struct mt_pprof_sample *s, struct mt_err *err)
{
    struct mt_sums sums = {0};
    bool any = false;
    for (uint32_t i = 0; i < s->value_n; i++) {
        if (r->values.v[s->first_value + i] < 0)
            return no_difference(err);
        any |= r->values.v[s->first_value + i] > 0;
    }
    if (!any)
        return MT_OK;
    if (s->value_n != r->types.n || !value_of(r, s, MT_PPROF_ALLOC_N, &sums.alloc_n) ||
        !value_of(r, s, MT_PPROF_ALLOC_B, &sums.alloc_b) ||
        !value_of(r, s, MT_PPROF_END_N, &sums.at_end_n) ||
        !value_of(r, s, MT_PPROF_END_B, &sums.at_end_b)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, -1, 0);
        return MT_OK;
    }
    count_samples(&r->sampled, &sums);
    if (r->at_peak) {
        sums.at_peak_b = sums.at_end_b;
        sums.at_peak_n = sums.at_end_n;
        sums.at_end_b = sums.at_end_n = 0;
    }
    return mt_heap_sums(r->heap, node_of(r, s), &sums, err);
}

static unsigned known_figures(const struct mt_pprof *r)
{
    const unsigned bits[MT_PPROF_FIGURE_N] = {
        [MT_PPROF_ALLOC_N] = MT_SUM_ALLOC_N,
        [MT_PPROF_ALLOC_B] = MT_SUM_ALLOC_B,
        [MT_PPROF_END_N] = r->at_peak ? MT_SUM_AT_PEAK_N : MT_SUM_AT_END_N,
        [MT_PPROF_END_B] = r->at_peak ? MT_SUM_AT_PEAK_B : MT_SUM_AT_END_B};
    unsigned known = 0;
    for (int i = 0; i < MT_PPROF_FIGURE_N; i++)
        known |= r->column[i] < 0 ? 0 : bits[i];
    return known;
}

/* Something is not there: the file is not whole. */
enum mt_status mt_pprof_cut(struct mt_pprof *r, struct mt_err *err)
{
    return mt_reader_cut(r->opts, r->rec, mt_proto_offset(&r->proto),
                         "ends early: names or places that it refers to are missing", err);
}

enum mt_status mt_pprof_give(struct mt_pprof *r, struct mt_err *err)
{
    MT_TRY(find_figures(r, err));
    r->at_peak = is_of_peak(text_at(r, r->comment));
    const char *every = text_at(r, r->period_type.type);
    int64_t unit = unit_bytes(text_at(r, r->period_type.unit));
    if (strcmp(every, "space") == 0 && unit && r->period > 0 && r->period <= INT64_MAX / unit)
        r->sampled.period = r->period * unit;
    r->sampled.about = true;
    r->sampled.knows_end = r->column[MT_PPROF_END_B] >= 0 && r->column[MT_PPROF_END_N] >= 0;
    r->sampled.knows_alloc = r->column[MT_PPROF_ALLOC_B] >= 0 && r->column[MT_PPROF_ALLOC_N] >= 0;
    mt_heap_knows(r->heap, known_figures(r));
    for (size_t i = 0; i < r->samples.n; i++) {
        MT_TRY(give(r, &r->samples.v[i], err));
        if (i % MT_PPROF_PER_CHECK == 0 || mt_rec_grew(r->rec))
            MT_TRY(mt_pprof_check_memory(r, err));
    }
    if (r->missing_n)
        MT_TRY(mt_pprof_cut(r, err));
    mt_sampled_note(&r->sampled, r->rec);
    return mt_heap_close(r->heap, err);
}
