/* memtool diff: which rows of a section are shown, in which order. The same in every format. */
#include "cmd/diff_parts.h"
#include <math.h>
#include <stdlib.h>

/* How far a figure changed; where one of both is unknown, how large the other is. 0: it did not. */
static double change_of(const struct mt_diff_row *row, enum mt_figure which)
{
    struct mt_cell c[3];
    double size = 0;
    if (!row->at[0].v[which].i && !row->at[1].v[which].i) /* as most are of a million rows */
        return 0;
    mt_diff_cells(row->at, which, c);
    for (int i = c[2].kind == MT_CELL_NULL ? 0 : 2; i < 3; i++)
        if (c[i].kind == MT_CELL_INT)
            size = fmax(size, fabs((double)c[i].i));
        else if (c[i].kind == MT_CELL_REAL)
            size = fmax(size, fabs(c[i].r));
    return size;
}

/* What a section sorts by and shows of a row, largest change first; 0: the row is left out. */
static double weight(const struct mt_diff_row *row, enum mt_diff_section section)
{
    static const struct {
        enum mt_diff_section section;
        enum mt_figure figure;
        double most; /* so that what changes in bytes comes first */
    } by[] = {{MT_SECTION_PEAK, MT_FIG_AT_PEAK_B, INFINITY},
              {MT_SECTION_PEAK, MT_FIG_AT_PEAK_N, 1e-3},
              {MT_SECTION_END, MT_FIG_AT_END_B, INFINITY},
              {MT_SECTION_OP, MT_FIG_SELF_ALLOC_B, INFINITY},
              {MT_SECTION_OP, MT_FIG_CALLS_N, 0.5},
              {MT_SECTION_OP, MT_FIG_SELF_ALLOC_N, 0.4},
              {MT_SECTION_OP, MT_FIG_SELF_NET_B, 0.25},
              {MT_SECTION_OP, MT_FIG_ALLOC_B, 1e-2}, /* of what is below it alone */
              {MT_SECTION_OP, MT_FIG_NET_B, 1e-2},
              {MT_SECTION_LEAK, MT_FIG_PER_STEP_B, INFINITY}};
    for (size_t i = 0; i < MT_ARRAY_LEN(by); i++) {
        double change = by[i].section == section ? change_of(row, by[i].figure) : 0;
        if (change > 0)
            return fmin(change, by[i].most);
    }
    bool leaks = section == MT_SECTION_LEAK && row->at[0].v[MT_FIG_PER_STEP_B].r > 0;
    return leaks ? 1e-3 : 0; /* as before */
}

static int order_cmp(const void *a, const void *b)
{
    const struct mt_diff_order *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* Keys that --name matches, NULL = all do. */
static bool matches(struct mt_finder *name, const struct mt_diff *d, const struct mt_diff_row *row)
{
    bool any = !name;
    for (int k = 0; k < d->key_n && !any; k++)
        any = mt_finder_finds(name, row->key[k]);
    return any;
}

/* Of little use to people: other calls or frees, but not a byte more or less allocated. */
static bool same_bytes(const struct mt_diff_row *row)
{
    return row->at[0].v[MT_FIG_SELF_ALLOC_B].i == row->at[1].v[MT_FIG_SELF_ALLOC_B].i &&
           row->at[0].v[MT_FIG_ALLOC_B].i == row->at[1].v[MT_FIG_ALLOC_B].i;
}

/* Nor this: what differs is said by the rows of what it calls. */
static bool same_itself(const struct mt_diff_row *row)
{
    return change_of(row, MT_FIG_SELF_ALLOC_B) <= 0 && change_of(row, MT_FIG_SELF_ALLOC_N) <= 0 &&
           change_of(row, MT_FIG_SELF_NET_B) <= 0 && change_of(row, MT_FIG_CALLS_N) <= 0;
}

/* Brings the rows in order and drops those behind the limit, 0 = none. */
static void cut(struct mt_diff_rows *out, size_t limit)
{
    if (out->order.n)
        qsort(out->order.v, out->order.n, sizeof *out->order.v, order_cmp);
    if (!limit || out->order.n <= limit)
        return;
    out->cut_n += (int64_t)(out->order.n - limit);
    out->order.n = limit;
}

/* Of a million rows mostly a few are shown: no more than twice as many are kept meanwhile. */
static void keep(struct mt_diff_rows *out, size_t limit, struct mt_diff_order row)
{
    if (limit && out->order.n / 2 >= limit)
        cut(out, limit);
    if (out->cut_n &&
        order_cmp(&row, &out->order.v[limit - 1]) > 0) /* the last of those in order */
        out->cut_n++;
    else
        *mt_vec_push(&out->order) = row;
}

/* The rows of the section that pass --name and --min. */
static void choose(const struct mt_diff *d, const struct mt_rows *filter, struct mt_finder *name,
                   bool same_too, struct mt_diff_rows *out)
{
    enum { AHEAD = 8 }; /* rows */
    const size_t limit = (size_t)mt_rows_limit(filter);
    for (size_t i = 0; i < d->rows.n; i++) {
        mt_diff_row_soon(d, i + AHEAD);
        const struct mt_diff_row row = mt_diff_row(d, i);
        double heavy = weight(&row, out->section);
        if (heavy <= 0)
            continue;
        if (heavy < (double)filter->min_b || !matches(name, d, &row))
            out->left_out_n++;
        else if (!same_too && same_itself(&row))
            out->below_n++;
        else if (!same_too && same_bytes(&row))
            out->same_n++;
        else
            keep(out, limit, (struct mt_diff_order){i, heavy});
    }
    cut(out, limit);
    out->left_out_n += out->cut_n;
}

enum mt_status mt_diff_rows(const struct mt_diff *d, const struct mt_rows *filter,
                            enum mt_diff_section section, bool same_too, struct mt_diff_rows *out,
                            struct mt_err *err)
{
    struct mt_finder name;
    *out = (struct mt_diff_rows){.section = section};
    if (filter->name)
        MT_TRY(mt_name_finder(filter->name, &name, err));
    choose(d, filter, filter->name ? &name : NULL, same_too, out);
    if (filter->name)
        mt_finder_free(&name);
    return MT_OK;
}
