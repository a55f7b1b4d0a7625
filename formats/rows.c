#include "formats/rows.h"

#include "formats/meaning.h"
#include "lib/input/fields.h"

#include <string.h>
#include <strings.h>

enum { ROWS_PER_CHECK = 1 << 14, OTHERS_MAX = 1 << 10, NAME_MAX_SHOWN = 64, NS = 9 };
static const int64_t count_max = INT64_C(1) << 60; /* more cannot be true */

#define BIT(column) (1u << MT_COL_##column)

/* ---- columns ---- */

static const struct {
    const char *name;
    enum mt_rows_column is;
    int digits;
} columns[] = {
    {"time", MT_COL_TIME, NS},
    {"time_s", MT_COL_TIME, NS},
    {"time_ms", MT_COL_TIME, 6},
    {"time_us", MT_COL_TIME, 3},
    {"time_ns", MT_COL_TIME, 0},
    {"op", MT_COL_OP, 0},
    {"address", MT_COL_ADDRESS, 0},
    {"old_address", MT_COL_OLD_ADDRESS, 0},
    {"size", MT_COL_SIZE, 0},
    {"stack", MT_COL_STACK, 0},
    {"bytes", MT_COL_BYTES, 0},
    {"blocks", MT_COL_BLOCKS, 0},
    {"alloc_b", MT_COL_ALLOC_B, 0},
    {"alloc_n", MT_COL_ALLOC_N, 0},
    {"at_peak_b", MT_COL_AT_PEAK_B, 0},
    {"at_peak_n", MT_COL_AT_PEAK_N, 0},
    {"at_end_b", MT_COL_AT_END_B, 0},
    {"at_end_n", MT_COL_AT_END_N, 0},
    {"temporary_b", MT_COL_TEMPORARY_B, 0},
    {"temporary_n", MT_COL_TEMPORARY_N, 0},
    {"rss", MT_COL_RSS, 0},
};

enum { ALL_B = BIT(BYTES) | BIT(ALLOC_B) | BIT(AT_PEAK_B) | BIT(AT_END_B) | BIT(TEMPORARY_B) };

/* What rows of a kind must have - all of these, and one of those - and which others they may. */
static const struct {
    unsigned all, any, others;
} kinds[] = {
    [MT_ROWS_EVENTS] = {BIT(OP) | BIT(SIZE), BIT(ADDRESS) | BIT(STACK),
                        BIT(TIME) | BIT(OLD_ADDRESS) | BIT(RSS)},
    [MT_ROWS_SUMS] = {BIT(STACK), ALL_B,
                      BIT(BLOCKS) | BIT(ALLOC_N) | BIT(AT_PEAK_N) | BIT(AT_END_N) |
                          BIT(TEMPORARY_N)},
    [MT_ROWS_SERIES] = {BIT(TIME) | BIT(BYTES), ~0u, BIT(STACK) | BIT(BLOCKS) | BIT(RSS)},
};

enum mt_rows_column mt_rows_column(const char *name, size_t n, int *digits)
{
    while (n && (*name == ' ' || *name == '\t')) {
        name++;
        n--;
    }
    while (n && (name[n - 1] == ' ' || name[n - 1] == '\t'))
        n--;
    for (size_t i = 0; i < MT_ARRAY_LEN(columns); i++)
        if (strlen(columns[i].name) == n && strncasecmp(columns[i].name, name, n) == 0) {
            *digits = columns[i].digits;
            return columns[i].is;
        }
    return MT_COL_N;
}

/* Rows with an op are events; those with a time, and what is held then, a series. */
static int kind_of(unsigned have)
{
    int kind = have & BIT(OP)                          ? MT_ROWS_EVENTS
               : have & BIT(TIME) && have & BIT(BYTES) ? MT_ROWS_SERIES
                                                       : MT_ROWS_SUMS;
    return (have & kinds[kind].all) == kinds[kind].all && have & kinds[kind].any ? kind : -1;
}

bool mt_rows_are_known(unsigned have)
{
    return kind_of(have) >= 0;
}

/* ---- values ---- */

static bool has(const struct mt_row *row, enum mt_rows_column c)
{
    return row->v[c].s && row->v[c].n;
}

static struct mt_fields fields_of(const struct mt_row *row, enum mt_rows_column c)
{
    return mt_fields_of(row->v[c].s, row->v[c].n);
}

/* A whole number, 0 or more; ".0" may follow, as where columns of numbers became fractions. */
static bool take_count(const struct mt_row *row, enum mt_rows_column c, int64_t *v)
{
    struct mt_fields f = fields_of(row, c);
    if (!mt_field_decimal(&f, v) || *v < 0 || *v > count_max)
        return false;
    if (f.p < f.end && *f.p == '.')
        for (f.p++; f.p < f.end && *f.p == '0';)
            f.p++;
    return mt_field_end(&f);
}

/* A decimal number, or a hexadecimal one that begins with 0x. */
static bool take_address(const struct mt_row *row, enum mt_rows_column c, uint64_t *v)
{
    struct mt_fields f = fields_of(row, c);
    int64_t decimal;
    if (mt_field_address(&f, v))
        return mt_field_end(&f);
    if (!mt_field_decimal(&f, &decimal) || decimal < 0)
        return false;
    *v = (uint64_t)decimal;
    return mt_field_end(&f);
}

/* A time in nanoseconds: 1.5, or 1.5e-05. */
static bool take_time(const struct mt_row *row, int64_t *t)
{
    struct mt_fields f = fields_of(row, MT_COL_TIME), e = f;
    int digits = row->time_digits;
    int64_t exponent = 0;
    const char *s;
    size_t n;
    bool has_exponent = mt_field_until(&e, 'e', &s, &n);
    if (!has_exponent) {
        e = f;
        has_exponent = mt_field_until(&e, 'E', &s, &n);
    }
    if (has_exponent) {
        if (!mt_field_decimal(&e, &exponent) || !mt_field_end(&e) || exponent < -64 ||
            exponent > 64)
            return false;
        f = mt_fields_of(s, n);
    }
    digits += (int)exponent;
    if (digits < 0) { /* less than a nanosecond, or so many digits that it may be more */
        if (!mt_field_fraction(&f, 0, t))
            return false;
        for (; digits < 0; digits++)
            *t /= 10;
        return mt_field_end(&f);
    }
    return mt_field_fraction(&f, digits, t) && mt_field_end(&f);
}

/* The time of a row from that of the first; one before that is none. false: it is no time. */
static bool take_moment(struct mt_rows *r, const struct mt_row *row, int64_t *t)
{
    if (!has(row, MT_COL_TIME) || !take_time(row, t))
        return false;
    if (!r->timed)
        r->first_time = *t;
    r->timed = true;
    if (*t < r->first_time) {
        mt_rec_note(r->rec, MT_NOTE_CLOCK, -1, 0);
        *t = 0;
        return true;
    }
    return !__builtin_sub_overflow(*t, r->first_time, t);
}

static uint32_t node_of(struct mt_rows *r, const struct mt_row *row)
{
    if (row->has_node)
        return row->node;
    return has(row, MT_COL_STACK)
               ? mt_stack_text_node(&r->stacks, row->v[MT_COL_STACK].s, row->v[MT_COL_STACK].n)
               : MT_NONE;
}

/* A figure that may be missing; false: it is something else. */
static bool take_figure(const struct mt_row *row, enum mt_rows_column c, int64_t *v)
{
    *v = MT_UNKNOWN;
    return !has(row, c) || take_count(row, c, v);
}

static enum mt_status wrong(struct mt_rows *r, const char *why)
{
    r->wrong = why;
    return MT_OK;
}

static const char not_time[] = "its time is not a number";
static const char not_size[] = "its size is not a whole number, 0 or more";
static const char not_figure[] = "a figure is not a whole number, 0 or more";

/* ---- events ---- */

enum op { ALLOC, FREE, REALLOC, NO_OP };

static enum op op_of(const struct mt_row *row)
{
    static const struct {
        const char *word;
        enum op op;
    } words[] = {{"alloc", ALLOC}, {"malloc", ALLOC}, {"calloc", ALLOC},
                 {"new", ALLOC},   {"+", ALLOC},      {"free", FREE},
                 {"delete", FREE}, {"-", FREE},       {"realloc", REALLOC}};
    const struct mt_row_value *v = &row->v[MT_COL_OP];
    for (size_t i = 0; v->s && i < MT_ARRAY_LEN(words); i++)
        if (strlen(words[i].word) == v->n && strncasecmp(words[i].word, v->s, v->n) == 0)
            return words[i].op;
    return NO_OP;
}

/* Time moves on to that of the row; without times, to the next event. */
static enum mt_status tick(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    int64_t t = (int64_t)++r->row_n;
    if (r->columns & BIT(TIME) && !take_moment(r, row, &t))
        return wrong(r, not_time);
    return mt_heap_tick(r->heap, t, err);
}

struct event {
    enum op op;
    uint64_t address, old;
    int64_t size;
    bool has_old;
};

static const char *take_event(const struct mt_rows *r, const struct mt_row *row, struct event *e)
{
    bool by_address = r->columns & BIT(ADDRESS);
    *e = (struct event){.op = op_of(row)};
    if (e->op == NO_OP)
        return "its op is not alloc, free or realloc";
    bool sized = e->op != FREE || !by_address;
    if (sized && (!has(row, MT_COL_SIZE) || !take_count(row, MT_COL_SIZE, &e->size)))
        return not_size;
    if (by_address &&
        (!has(row, MT_COL_ADDRESS) || !take_address(row, MT_COL_ADDRESS, &e->address)))
        return "its address is neither a number nor one that begins with 0x";
    e->has_old = has(row, MT_COL_OLD_ADDRESS);
    if (e->has_old && !take_address(row, MT_COL_OLD_ADDRESS, &e->old))
        return "its old_address is neither a number nor one that begins with 0x";
    if (e->op == REALLOC && (!by_address || !e->has_old))
        return "a realloc without the old_address that it frees";
    return NULL;
}

static enum mt_status add_event(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    struct event e;
    const char *why = take_event(r, row, &e);
    if (why)
        return wrong(r, why);
    MT_TRY(tick(r, row, err));
    if (r->wrong)
        return MT_OK;
    int64_t rss;
    if (has(row, MT_COL_RSS) && take_count(row, MT_COL_RSS, &rss))
        mt_heap_sample(r->heap, MT_METRIC_RSS, rss);
    if (!(r->columns & BIT(ADDRESS)))
        return (e.op == FREE ? mt_heap_dealloc : mt_heap_alloc)(r->heap, node_of(r, row), e.size,
                                                                err);
    if (e.op == FREE)
        return mt_heap_free_at(r->heap, e.address, err);
    if (e.op == REALLOC)
        return mt_heap_realloc_at(r->heap, e.old, e.address, node_of(r, row), e.size, err);
    return mt_heap_alloc_at(r->heap, e.address, node_of(r, row), e.size, err);
}

/* ---- sums ---- */

static enum mt_status add_sum(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    static const enum mt_rows_column of[] = {MT_COL_ALLOC_B,   MT_COL_ALLOC_N,  MT_COL_AT_PEAK_B,
                                             MT_COL_AT_PEAK_N, MT_COL_AT_END_B, MT_COL_AT_END_N};
    struct mt_sums s = MT_SUMS_UNKNOWN;
    int64_t *to[] = {&s.alloc_b, &s.alloc_n, &s.at_peak_b, &s.at_peak_n, &s.at_end_b, &s.at_end_n};
    int64_t bytes, blocks, temporary_b, temporary_n;
    for (size_t i = 0; i < MT_ARRAY_LEN(of); i++)
        if (!take_figure(row, of[i], to[i]))
            return wrong(r, not_figure);
    if (!take_figure(row, MT_COL_BYTES, &bytes) || !take_figure(row, MT_COL_BLOCKS, &blocks) ||
        !take_figure(row, MT_COL_TEMPORARY_B, &temporary_b) ||
        !take_figure(row, MT_COL_TEMPORARY_N, &temporary_n))
        return wrong(r, not_figure);
    uint32_t node = node_of(r, row);
    const int64_t temporary[] = {temporary_b, temporary_n};
    static const char *const figures[] = {"temporary_b", "temporary_n"};
    for (int i = 0; i < 2; i++)
        if (temporary[i] > 0)
            mt_heap_extra(r->heap, node, figures[i], temporary[i]);
    if (r->columns & BIT(BYTES))
        mt_meaning_sums(r->heap, node, r->meaning, bytes, blocks, &s);
    return mt_heap_sums(r->heap, node, &s, err);
}

/* Which figures the columns have, be there no rows. */
static unsigned figures_of(const struct mt_rows *r)
{
    static const struct {
        unsigned column, figure;
    } of[] = {{BIT(ALLOC_B), MT_SUM_ALLOC_B},     {BIT(ALLOC_N), MT_SUM_ALLOC_N},
              {BIT(AT_PEAK_B), MT_SUM_AT_PEAK_B}, {BIT(AT_PEAK_N), MT_SUM_AT_PEAK_N},
              {BIT(AT_END_B), MT_SUM_AT_END_B},   {BIT(AT_END_N), MT_SUM_AT_END_N}};
    unsigned figures = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(of); i++)
        figures |= r->columns & of[i].column ? of[i].figure : 0;
    if (r->columns & BIT(BYTES))
        figures |= mt_meaning_figures(r->meaning, r->columns & BIT(BLOCKS));
    return figures;
}

/* ---- series ---- */

/* The moment under way is complete: what it holds is known. */
static enum mt_status end_moment(struct mt_rows *r, struct mt_err *err)
{
    int64_t total = 0;
    if (!r->moment_open)
        return MT_OK;
    for (size_t i = 0; i < r->held.n; i++)
        if (__builtin_add_overflow(total, r->held.v[i].bytes, &total))
            total = INT64_MAX; /* the heap will say so */
    MT_TRY(mt_heap_moment(r->heap, r->moment_time, total, true, err));
    for (size_t i = 0; i < r->held.n; i++)
        MT_TRY(
            mt_heap_held(r->heap, r->held.v[i].node, r->held.v[i].bytes, r->held.v[i].blocks, err));
    if (r->moment_rss != MT_UNKNOWN)
        mt_heap_sample(r->heap, MT_METRIC_RSS, r->moment_rss);
    mt_rec_note(r->rec, MT_NOTE_MOMENTS, -1, 0);
    r->moment_open = false;
    r->held.n = 0;
    return MT_OK;
}

/* Rows of one time are of one moment, if they have stacks. */
static enum mt_status add_moment(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    struct mt_rows_held h = {.node = MT_NONE};
    int64_t t, rss;
    if (!take_moment(r, row, &t))
        return wrong(r, not_time);
    if (!has(row, MT_COL_BYTES) || !take_count(row, MT_COL_BYTES, &h.bytes) ||
        !take_figure(row, MT_COL_BLOCKS, &h.blocks) || !take_figure(row, MT_COL_RSS, &rss))
        return wrong(r, not_figure);
    if (!(r->columns & BIT(STACK)) || t != r->moment_time)
        MT_TRY(end_moment(r, err));
    if (!r->moment_open)
        r->moment_rss = MT_UNKNOWN;
    r->moment_open = true;
    r->moment_time = t;
    r->moment_rss = rss > r->moment_rss ? rss : r->moment_rss;
    h.node = node_of(r, row);
    *mt_vec_push(&r->held) = h;
    return MT_OK;
}

/* ---- the whole ---- */

void mt_rows_init(struct mt_rows *r, const struct mt_read_opts *opts, struct mt_recording *rec)
{
    *r = (struct mt_rows){.opts = opts, .rec = rec};
    mt_path_tree_init(&r->paths, rec);
    mt_stack_text_init(&r->stacks, &r->paths, opts);
    mt_strtab_init(&r->others);
    r->heap = mt_heap_open(rec, MT_DEVICE_HEAP);
}

void mt_rows_free(struct mt_rows *r)
{
    mt_heap_free(r->heap);
    mt_rec_beside(r->rec, &r->beside, 0);
    mt_stack_text_free(&r->stacks);
    mt_path_tree_free(&r->paths);
    mt_strtab_free(&r->others);
    mt_vec_free(&r->held);
    mt_buf_free(&r->left_out);
}

void mt_rows_leave_out(struct mt_rows *r, const char *name, size_t n)
{
    uint32_t known = r->others.n;
    if (known == OTHERS_MAX || mt_strtab_add(&r->others, name, n) < known)
        return;
    mt_rec_note(r->rec, MT_NOTE_COLUMNS, -1, 0);
    mt_buf_adds(&r->left_out, known ? ", " : "");
    mt_buf_add(&r->left_out, name, n < NAME_MAX_SHOWN ? n : NAME_MAX_SHOWN);
    mt_buf_adds(&r->left_out, "");
    mt_rec_note_detail(r->rec, MT_NOTE_COLUMNS, "%s", r->left_out.s);
}

static enum mt_status refuse(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "its columns are not those of events, sums or a series");
    mt_err_hint(err, "Nothing was imported. Events have op, size, and address or stack; sums have "
                     "stack and bytes; a series has time and bytes (docs/formats/events.md).");
    return MT_EINPUT;
}

enum mt_status mt_rows_begin(struct mt_rows *r, unsigned have, struct mt_err *err)
{
    int kind = kind_of(have);
    if (kind < 0)
        return refuse(err);
    const unsigned used =
        kinds[kind].all | kinds[kind].others | (kinds[kind].any == ~0u ? 0 : kinds[kind].any);
    for (size_t i = 0; i < MT_ARRAY_LEN(columns); i++)
        if (have & ~used & 1u << columns[i].is)
            mt_rows_leave_out(r, columns[i].name, strlen(columns[i].name));
    r->kind = (enum mt_rows_kind)kind;
    r->columns = have & used;
    r->rec->time_unit = kind == MT_ROWS_SUMS ? NULL : have & BIT(TIME) ? "ns" : "events";
    if (kind == MT_ROWS_SUMS && have & BIT(BYTES))
        r->meaning = mt_meaning_of(r->opts, MT_MEANS_AT_END, r->rec);
    if (kind == MT_ROWS_SUMS)
        mt_heap_knows(r->heap, figures_of(r));
    return MT_OK;
}

static enum mt_status check_memory(struct mt_rows *r, struct mt_err *err)
{
    uint64_t now = mt_path_tree_bytes(&r->paths) + mt_stack_text_bytes(&r->stacks) +
                   r->held.cap * sizeof *r->held.v;
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

enum mt_status mt_rows_add(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    r->wrong = NULL;
    switch (r->kind) {
    case MT_ROWS_EVENTS:
        MT_TRY(add_event(r, row, err));
        break;
    case MT_ROWS_SUMS:
        r->row_n++;
        MT_TRY(add_sum(r, row, err));
        break;
    default:
        r->row_n++;
        MT_TRY(add_moment(r, row, err));
    }
    return r->row_n % ROWS_PER_CHECK ? MT_OK : check_memory(r, err);
}

enum mt_status mt_rows_end(struct mt_rows *r, struct mt_err *err)
{
    MT_TRY(end_moment(r, err));
    if (r->kind == MT_ROWS_SERIES && !r->row_n)
        return MT_FAIL(err, MT_EINPUT, "a series without rows");
    if (r->kind == MT_ROWS_SERIES)
        mt_heap_last_is_end(r->heap);
    return mt_heap_close(r->heap, err);
}
