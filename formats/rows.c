#include "formats/rows.h"

#include "formats/meaning.h"
#include "lib/base/sort.h"
#include "lib/input/fields.h"

#include <string.h>
#include <strings.h>

enum { ROWS_PER_CHECK = 1 << 14, NS = 9 };

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
    mt_rows_trim(&name, &n);
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

/* A column that is known and says nothing here. */
static void leave_column_out(struct mt_rows *r, enum mt_rows_column c)
{
    size_t i = 0;
    while (columns[i].is != c)
        i++;
    mt_rows_leave_out(r, columns[i].name, strlen(columns[i].name));
}

static enum mt_status check_memory(struct mt_rows *r, struct mt_err *err)
{
    uint64_t now = mt_path_tree_bytes(&r->paths) + mt_stack_text_bytes(&r->stacks) +
                   mt_vec_bytes(&r->held) + mt_map_bytes(&r->owners);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* ---- values ---- */

/* The time of an event from that of the first; one before that is none. false: it is no time. */
static bool take_event_time(struct mt_rows *r, const struct mt_row *row, int64_t *t)
{
    if (!mt_row_has(row, MT_COL_TIME) || !mt_row_time(row, t))
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
    uint32_t root = mt_rows_root(r);
    return mt_row_has(row, MT_COL_STACK)
               ? mt_stack_text_node(&r->stacks, root, row->v[MT_COL_STACK].s,
                                    row->v[MT_COL_STACK].n)
               : root;
}

static enum mt_status wrong(struct mt_rows *r, const char *why)
{
    r->wrong = why;
    return MT_OK;
}

static const char not_time[] = "its time is not a number";
static const char not_size[] = "its size is not a whole number from 0 to 2^60";
static const char not_figure[] = "a figure is not a whole number from 0 to 2^60";

/* ---- events ---- */

enum op { ALLOC, FREE, REALLOC, NO_OP };

static enum op op_of(const char *s, size_t n)
{
    static const struct {
        const char *word;
        enum op op;
    } words[] = {{"alloc", ALLOC}, {"malloc", ALLOC}, {"calloc", ALLOC},
                 {"new", ALLOC},   {"+", ALLOC},      {"free", FREE},
                 {"delete", FREE}, {"-", FREE},       {"realloc", REALLOC}};
    for (size_t i = 0; s && i < MT_ARRAY_LEN(words); i++)
        if (strlen(words[i].word) == n && strncasecmp(words[i].word, s, n) == 0)
            return words[i].op;
    return NO_OP;
}

unsigned mt_rows_spared(const char *op, size_t n)
{
    return op_of(op, n) == FREE ? BIT(SIZE) : 0;
}

/* Time moves on to that of the row; without times, to the next event. */
static enum mt_status tick(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    int64_t t = (int64_t)++r->row_n;
    if (r->columns & BIT(TIME) && !take_event_time(r, row, &t))
        return wrong(r, not_time);
    return mt_heap_tick(r->heap, t, err);
}

struct event {
    enum op op;
    uint64_t address, old;
    int64_t size, rss;
    bool has_old;
};

static const char *take_event(const struct mt_rows *r, const struct mt_row *row, struct event *e)
{
    bool by_address = r->columns & BIT(ADDRESS);
    *e = (struct event){.op = op_of(row->v[MT_COL_OP].s, row->v[MT_COL_OP].n)};
    if (e->op == NO_OP)
        return "its op is not alloc, free or realloc";
    bool sized = e->op != FREE || !by_address;
    if (sized && (!mt_row_has(row, MT_COL_SIZE) || !mt_row_count(row, MT_COL_SIZE, &e->size)))
        return not_size;
    if (by_address &&
        (!mt_row_has(row, MT_COL_ADDRESS) || !mt_row_address(row, MT_COL_ADDRESS, &e->address)))
        return "its address is neither a number nor one that begins with 0x";
    e->has_old = mt_row_has(row, MT_COL_OLD_ADDRESS);
    if (e->has_old && !mt_row_address(row, MT_COL_OLD_ADDRESS, &e->old))
        return "its old_address is neither a number nor one that begins with 0x";
    if (e->op == REALLOC && (!by_address || !e->has_old))
        return "a realloc without the old_address that it frees";
    if (!mt_row_figure(row, MT_COL_RSS, &e->rss))
        return "its rss is not a whole number from 0 to 2^60";
    return NULL;
}

static enum mt_status add_event(struct mt_rows *r, uint32_t writer, const struct mt_row *row,
                                struct mt_err *err)
{
    struct event e;
    const char *why = take_event(r, row, &e);
    if (why)
        return wrong(r, why);
    MT_TRY(tick(r, row, err));
    if (r->wrong)
        return MT_OK;
    if (e.rss != MT_UNKNOWN)
        mt_heap_sample(r->heap, MT_METRIC_RSS, e.rss);
    if (!(r->columns & BIT(ADDRESS)))
        return (e.op == FREE ? mt_heap_dealloc : mt_heap_alloc)(r->heap, node_of(r, row), e.size,
                                                                err);
    uint64_t freed = e.op == REALLOC ? (e.address ? e.old : 0) : e.op == FREE ? e.address : 0;
    mt_rows_own(r, writer, freed, e.op == FREE ? 0 : e.address);
    if (e.op == FREE)
        return mt_heap_free_at(r->heap, e.address, err);
    if (e.op == REALLOC)
        return mt_heap_realloc_at(r->heap, e.old, e.address, node_of(r, row), e.size, err);
    return mt_heap_alloc_at(r->heap, e.address, node_of(r, row), e.size, err);
}

/* ---- sums ---- */

/* The columns that have what `bytes` and `blocks` mean. */
static const struct {
    enum mt_rows_column bytes, blocks;
} named_as[MT_MEANS_N] = {
    [MT_MEANS_AT_END] = {MT_COL_AT_END_B, MT_COL_AT_END_N},
    [MT_MEANS_AT_PEAK] = {MT_COL_AT_PEAK_B, MT_COL_AT_PEAK_N},
    [MT_MEANS_ALLOCATED] = {MT_COL_ALLOC_B, MT_COL_ALLOC_N},
    [MT_MEANS_TEMPORARY] = {MT_COL_TEMPORARY_B, MT_COL_TEMPORARY_N},
};

/* What bytes and blocks are. A column that has the figure's name goes before them. */
static void read_meaning(struct mt_rows *r)
{
    enum mt_meaning usual = r->opts->values ? r->opts->values : MT_MEANS_AT_END;
    enum mt_rows_column bytes = named_as[usual].bytes, blocks = named_as[usual].blocks;
    r->bytes_are = r->blocks_are = MT_COL_N;
    if (r->named & BIT(BYTES) && !(r->named >> bytes & 1)) {
        (void)mt_meaning_of(r->opts, usual, r->rec);
        r->bytes_are = bytes;
        if (r->named & BIT(BLOCKS) && !(r->named >> blocks & 1))
            r->blocks_are = blocks;
    }
    if (r->named & BIT(BYTES) && r->bytes_are == MT_COL_N)
        leave_column_out(r, MT_COL_BYTES);
    if (r->named & BIT(BLOCKS) && r->blocks_are == MT_COL_N)
        leave_column_out(r, MT_COL_BLOCKS);
}

/* A figure, in the column that has it. */
static bool take_sum(const struct mt_rows *r, const struct mt_row *row, enum mt_rows_column figure,
                     int64_t *v)
{
    return mt_row_figure(row,
                         figure == r->bytes_are    ? MT_COL_BYTES
                         : figure == r->blocks_are ? MT_COL_BLOCKS
                                                   : figure,
                         v);
}

static const char *const temporary_names[] = {"temporary_b", "temporary_n"};
static const unsigned temporary_columns[] = {BIT(TEMPORARY_B), BIT(TEMPORARY_N)};

static enum mt_status add_sum(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    static const enum mt_rows_column of[] = {
        MT_COL_ALLOC_B,  MT_COL_ALLOC_N,  MT_COL_AT_PEAK_B,   MT_COL_AT_PEAK_N,
        MT_COL_AT_END_B, MT_COL_AT_END_N, MT_COL_TEMPORARY_B, MT_COL_TEMPORARY_N};
    struct mt_sums s = MT_SUMS_UNKNOWN;
    int64_t temporary[2];
    int64_t *to[] = {&s.alloc_b,  &s.alloc_n,  &s.at_peak_b,  &s.at_peak_n,
                     &s.at_end_b, &s.at_end_n, &temporary[0], &temporary[1]};
    for (size_t i = 0; i < MT_ARRAY_LEN(of); i++)
        if (!take_sum(r, row, of[i], to[i]))
            return wrong(r, not_figure);
    uint32_t node = node_of(r, row);
    for (int i = 0; i < 2; i++) {
        r->lacks_temporary[i] |= temporary[i] == MT_UNKNOWN;
        if (temporary[i] > 0)
            mt_heap_extra(r->heap, node, temporary_names[i], temporary[i]);
    }
    return mt_heap_sums(r->heap, node, &s, err);
}

/* Which figures the columns have, be there no rows. */
static unsigned figures_of(const struct mt_rows *r)
{
    static const struct {
        enum mt_rows_column column;
        unsigned figure;
    } of[] = {{MT_COL_ALLOC_B, MT_SUM_ALLOC_B},     {MT_COL_ALLOC_N, MT_SUM_ALLOC_N},
              {MT_COL_AT_PEAK_B, MT_SUM_AT_PEAK_B}, {MT_COL_AT_PEAK_N, MT_SUM_AT_PEAK_N},
              {MT_COL_AT_END_B, MT_SUM_AT_END_B},   {MT_COL_AT_END_N, MT_SUM_AT_END_N}};
    unsigned figures = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(of); i++)
        if (r->columns >> of[i].column & 1 || of[i].column == r->bytes_are ||
            of[i].column == r->blocks_are)
            figures |= of[i].figure;
    return figures;
}

/* ---- series ---- */

static enum mt_status add_held(struct mt_rows *r, const struct mt_row *row)
{
    struct mt_rows_held h;
    if (!mt_row_has(row, MT_COL_TIME) || !mt_row_time(row, &h.t))
        return wrong(r, not_time);
    if (!mt_row_has(row, MT_COL_BYTES) || !mt_row_count(row, MT_COL_BYTES, &h.bytes) ||
        !mt_row_figure(row, MT_COL_BLOCKS, &h.blocks) || !mt_row_figure(row, MT_COL_RSS, &h.rss))
        return wrong(r, not_figure);
    h.node = node_of(r, row);
    *mt_vec_push(&r->held) = h;
    return MT_OK;
}

/* What n rows, of one time, say together. */
static enum mt_status give_moment(struct mt_rows *r, const struct mt_rows_held *h, size_t n,
                                  struct mt_err *err)
{
    int64_t t, total = 0, rss = MT_UNKNOWN;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(total, h[i].bytes, &total))
            total = INT64_MAX; /* the heap will say so */
        rss = h[i].rss > rss ? h[i].rss : rss;
    }
    if (__builtin_sub_overflow(h->t, r->held.v[0].t, &t))
        t = INT64_MAX; /* the same */
    MT_TRY(mt_heap_moment(r->heap, t, total, true, err));
    for (size_t i = 0; i < n; i++)
        MT_TRY(mt_heap_held(r->heap, h[i].node, h[i].bytes, h[i].blocks, err));
    if (rss != MT_UNKNOWN)
        mt_heap_sample(r->heap, MT_METRIC_RSS, rss);
    mt_rec_note(r->rec, MT_NOTE_MOMENTS, -1, 0);
    return MT_OK;
}

/* Rows of one time are of one moment, if they have stacks. */
static enum mt_status give_series(struct mt_rows *r, struct mt_err *err)
{
    const struct mt_rows_held *h = r->held.v;
    size_t checked = 0;
    if (!r->held.n)
        return MT_FAIL(err, MT_EINPUT, "a series without rows");
    mt_sort_by_time(r->held.v, r->held.n, sizeof *h, NULL);
    for (size_t i = 0, n; i < r->held.n; i += n) {
        for (n = 1; r->columns & BIT(STACK) && i + n < r->held.n && h[i + n].t == h[i].t;)
            n++;
        MT_TRY(give_moment(r, h + i, n, err));
        if (i - checked < ROWS_PER_CHECK)
            continue;
        MT_TRY(check_memory(r, err));
        checked = i;
    }
    mt_heap_last_is_end(r->heap);
    return MT_OK;
}

/* ---- the whole ---- */

void mt_rows_init(struct mt_rows *r, const struct mt_read_opts *opts, struct mt_recording *rec)
{
    *r = (struct mt_rows){.opts = opts, .rec = rec, .thread = MT_NONE};
    mt_path_tree_init(&r->paths, rec);
    mt_stack_text_init(&r->stacks, &r->paths, opts);
    mt_strtab_init(&r->others);
    mt_strtab_init(&r->writers);
    r->heap = mt_heap_open(rec, MT_DEVICE_HEAP);
}

void mt_rows_free(struct mt_rows *r)
{
    mt_heap_free(r->heap);
    mt_rec_beside(r->rec, &r->beside, 0);
    mt_stack_text_free(&r->stacks);
    mt_path_tree_free(&r->paths);
    mt_strtab_free(&r->others);
    mt_strtab_free(&r->writers);
    mt_vec_free(&r->held);
    mt_vec_free(&r->labels);
    mt_map_free(&r->owners);
    mt_buf_free(&r->writer);
    mt_buf_free(&r->left_out);
}

static enum mt_status refuse(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "its columns are not those of events, sums or a series");
    mt_err_hint(err, "Nothing was imported. Events have op, size, and address or stack; sums have "
                     "stack and bytes; a series has time and bytes (docs/formats/events.md).");
    return MT_EINPUT;
}

/* Columns that rows of a kind may have. */
static unsigned used_by(enum mt_rows_kind kind)
{
    return kinds[kind].all | kinds[kind].others | (kinds[kind].any == ~0u ? 0 : kinds[kind].any);
}

static void leave_columns_out(struct mt_rows *r, unsigned out)
{
    for (int c = 0; c < MT_COL_N; c++)
        if (out >> c & 1)
            leave_column_out(r, (enum mt_rows_column)c);
}

enum mt_status mt_rows_begin(struct mt_rows *r, unsigned have, struct mt_err *err)
{
    int kind = kind_of(have);
    if (kind < 0)
        return refuse(err);
    r->kind = (enum mt_rows_kind)kind;
    r->named = have;
    r->columns = have & used_by(r->kind);
    leave_columns_out(r, have & ~r->columns);
    r->rec->time_unit = kind == MT_ROWS_SUMS ? NULL : have & BIT(TIME) ? "ns" : "events";
    if (kind == MT_ROWS_SUMS) {
        read_meaning(r);
        mt_heap_knows(r->heap, figures_of(r));
    }
    return MT_OK;
}

/* Figures that only some rows of sums have: they are known of none. */
static void more_figures(struct mt_rows *r, unsigned more)
{
    const unsigned said = 1u << r->bytes_are | 1u << r->blocks_are;
    if (more & said) {
        r->wrong = "it names the figure that bytes or blocks of rows before it are";
        return;
    }
    leave_columns_out(r, more & ~(BIT(BYTES) | BIT(BLOCKS)));
    if (more & (BIT(BYTES) | BIT(BLOCKS)))
        read_meaning(r);
}

void mt_rows_more(struct mt_rows *r, unsigned have)
{
    const unsigned more = have & ~r->named, used = more & used_by(r->kind);
    r->wrong = NULL;
    if (!more)
        return;
    r->named |= more;
    if (kind_of(r->named | BIT(SIZE)) != (int)r->kind)
        r->wrong = "its columns are of another kind of rows than those before it";
    else if (r->kind == MT_ROWS_EVENTS && more & BIT(TIME))
        r->wrong = "it has a time, which rows before it lack: all have one or none";
    else if (r->kind == MT_ROWS_EVENTS && more & BIT(ADDRESS))
        r->wrong = "it has an address, which rows before it lack: all have one or none";
    else if (r->kind == MT_ROWS_SUMS)
        more_figures(r, used);
    if (r->wrong)
        return;
    r->columns |= used;
    leave_columns_out(r, more & ~used);
}

enum mt_status mt_rows_add(struct mt_rows *r, const struct mt_row *row, struct mt_err *err)
{
    const uint32_t writer = mt_rows_writer(r);
    r->wrong = NULL;
    switch (r->kind) {
    case MT_ROWS_EVENTS:
        MT_TRY(add_event(r, writer, row, err));
        break;
    case MT_ROWS_SUMS:
        r->row_n++;
        MT_TRY(add_sum(r, row, err));
        break;
    default:
        r->row_n++;
        MT_TRY(add_held(r, row));
    }
    r->thread = MT_NONE;
    r->labels.n = 0;
    mt_buf_clear(&r->writer);
    return r->row_n % ROWS_PER_CHECK && !mt_rec_grew(r->rec) ? MT_OK : check_memory(r, err);
}

enum mt_status mt_rows_end(struct mt_rows *r, struct mt_err *err)
{
    if (r->kind == MT_ROWS_SERIES)
        MT_TRY(give_series(r, err));
    for (int i = 0; i < 2 && r->kind == MT_ROWS_SUMS; i++)
        if (r->lacks_temporary[i])
            mt_heap_lacks_extra(r->heap, temporary_names[i]);
        else if (r->columns & temporary_columns[i])
            mt_heap_knows_extra(r->heap, temporary_names[i]);
    MT_TRY(mt_heap_close(r->heap, err));
    mt_rows_note_processes(r);
    if (r->kind == MT_ROWS_SUMS && !r->row_n) /* no row is no word that nothing leaked */
        r->rec->notes[MT_NOTE_NO_ALLOCATIONS].count = 1;
    return MT_OK;
}
