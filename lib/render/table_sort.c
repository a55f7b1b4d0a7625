/* Sorting rows, and the texts of call paths, which wait for it. */
#include "lib/render/table.h"

#include "lib/run/figures.h"

#include <stdlib.h>
#include <string.h>

/* Of paths: mt_group_key_name's. */
static int path_column(const struct mt_report *r)
{
    return mt_report_find_column(r, mt_group_key_name(MT_BY_PATH));
}

void mt_table_paths_put(struct mt_report *r, const struct mt_table_paths *paths)
{
    int column = path_column(r);
    for (size_t i = 0; i < r->rows.n && column >= 0; i++) {
        struct mt_cell *cell = &r->rows.v[i].cells[column];
        struct mt_buf text = {0};
        if (cell->kind != MT_CELL_INT)
            continue;
        mt_path_add(&paths->of, &paths->tree, (uint32_t)cell->i, &text);
        *cell = mt_cell_text(mt_report_text(r, text.s));
        mt_buf_free(&text);
    }
}

static bool next_row(void *closure, struct mt_cell *cells)
{
    struct mt_table_paths *paths = closure;
    if (paths->next == paths->rows.n)
        return false;
    const struct mt_row *row = &paths->rows.v[paths->next++];
    memcpy(cells, row->cells, paths->cell_n * sizeof *cells);
    struct mt_cell *cell = &cells[paths->column];
    if (cell->kind != MT_CELL_INT)
        return true;
    mt_buf_clear(&paths->text);
    mt_path_add(&paths->of, &paths->tree, (uint32_t)cell->i, &paths->text);
    *cell = mt_cell_text(paths->text.s);
    return true;
}

void mt_table_paths_stream(struct mt_report *r, struct mt_table_paths *paths)
{
    paths->column = path_column(r);
    if (paths->column < 0)
        return;
    paths->cell_n = r->columns.n;
    for (size_t i = 0; i < r->rows.n; i++)
        *mt_vec_push(&paths->rows) = r->rows.v[i];
    r->rows.n = 0;
    r->next = next_row;
    r->closure = paths;
}

void mt_table_paths_free(struct mt_table_paths *paths)
{
    for (size_t i = 0; i < paths->rows.n; i++)
        free(paths->rows.v[i].cells);
    mt_vec_free(&paths->rows);
    mt_buf_free(&paths->text);
    mt_paths_free(&paths->of);
    mt_tree_free(&paths->tree);
    *paths = (struct mt_table_paths){0};
}

struct order {
    const struct mt_row *row;
    size_t place;
};

/* What rows are sorted by, and then by, and then by. */
static struct sorting {
    int columns[MT_BY_N + 3];
    int n;
    bool by_size;
    const struct mt_table_paths *paths;
    int path; /* their column, -1 = none */
} sorting;

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* false: the text is no number. */
static bool is_number(const char *s, long long *v)
{
    char *end;
    *v = strtoll(s, &end, 10);
    return *s && !*end;
}

/* Numbers, as those of steps, by what they are and before other texts. */
static int text_cmp(const char *a, const char *b)
{
    long long x, y;
    bool number_a = is_number(a, &x), number_b = is_number(b, &y);
    if (number_a != number_b)
        return number_a ? -1 : 1;
    if (number_a && x != y)
        return x < y ? -1 : 1;
    return strcmp(a, b);
}

/* Largest first, texts from A to Z; what is unknown comes behind all 0, or all there is. */
static int cell_cmp(const struct mt_cell *x, const struct mt_cell *y, bool by_size)
{
    if (x->kind == MT_CELL_TEXT && y->kind == MT_CELL_TEXT)
        return text_cmp(x->s, y->s);
    int64_t a = x->kind == MT_CELL_INT ? x->i : by_size ? 0 : INT64_MIN + 1;
    int64_t b = y->kind == MT_CELL_INT ? y->i : by_size ? 0 : INT64_MIN + 1;
    uint64_t size_a = magnitude(a), size_b = magnitude(b);
    if (by_size && size_a != size_b)
        return size_a > size_b ? -1 : 1;
    if (a != b)
        return a > b ? -1 : 1;
    return (x->kind == MT_CELL_NULL) - (y->kind == MT_CELL_NULL);
}

/* Of two paths of which one at least has no text. */
static int path_cmp(const struct mt_cell *x, const struct mt_cell *y)
{
    const struct mt_paths *p = &sorting.paths->of;
    const struct mt_tree *t = &sorting.paths->tree;
    const struct mt_cell *cells[] = {x, y};
    struct mt_buf text[2] = {{0}, {0}};
    if (x->kind == y->kind && (p->of[x->i].n > 1 || p->of[y->i].n > 1)) /* else perhaps numbers */
        return mt_path_cmp(p, t, (uint32_t)x->i, (uint32_t)y->i);
    for (int i = 0; i < 2; i++)
        if (cells[i]->kind == MT_CELL_INT)
            mt_path_add(p, t, (uint32_t)cells[i]->i, &text[i]);
        else
            mt_buf_adds(&text[i], cells[i]->s);
    int c = text_cmp(text[0].s, text[1].s);
    mt_buf_free(&text[0]);
    mt_buf_free(&text[1]);
    return c;
}

static int order_cmp(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    for (int i = 0; i < sorting.n; i++) {
        int column = sorting.columns[i];
        const struct mt_cell *of_x = &x->row->cells[column], *of_y = &y->row->cells[column];
        bool paths =
            column == sorting.path && (of_x->kind == MT_CELL_INT || of_y->kind == MT_CELL_INT);
        int c = paths ? path_cmp(of_x, of_y) : cell_cmp(of_x, of_y, sorting.by_size);
        if (c)
            return c;
    }
    return x->place < y->place ? -1 : 1;
}

static void sort_then(int column)
{
    if (column >= 0 && sorting.n < (int)MT_ARRAY_LEN(sorting.columns))
        sorting.columns[sorting.n++] = column;
}

/* Whether any row has something in the column. */
static bool is_known(const struct mt_report *r, int column)
{
    for (size_t i = 0; i < r->rows.n; i++)
        if (r->rows.v[i].cells[column].kind != MT_CELL_NULL)
            return true;
    return false;
}

/* How many of the report's first columns are figures. */
static size_t figure_n(const struct mt_report *r)
{
    size_t n = 0;
    while (n < r->columns.n && mt_figure_find(r->columns.v[n].name) < MT_FIG_N)
        n++;
    return n;
}

/* The first n rows come to the front, in their order. order: room for twice as many. */
static void select_first(const struct mt_report *r, size_t n, struct order *order)
{
    size_t kept = 0;
    bool full = false; /* the first n of it are the first of those that came */
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct order row = {&r->rows.v[i], i};
        if (full && order_cmp(&row, &order[n - 1]) > 0)
            continue;
        order[kept++] = row;
        if (kept < 2 * n)
            continue;
        qsort(order, kept, sizeof *order, order_cmp);
        kept = n;
        full = true;
    }
    qsort(order, kept, sizeof *order, order_cmp);
}

/* Sorts the first n rows of all; the others stay behind them, in any order. */
static void put_first(struct mt_report *r, size_t n)
{
    struct order *order = mt_alloc(2 * (n + 1) * sizeof *order);
    struct mt_row *rows = mt_alloc((r->rows.n + 1) * sizeof *rows);
    bool *taken = mt_alloc(r->rows.n + 1);
    size_t at = 0;
    select_first(r, n, order);
    for (; at < n; at++) {
        rows[at] = *order[at].row;
        taken[order[at].place] = true;
    }
    for (size_t i = 0; i < r->rows.n; i++)
        if (!taken[i])
            rows[at++] = r->rows.v[i];
    if (r->rows.n)
        memcpy(r->rows.v, rows, r->rows.n * sizeof *rows);
    free(taken);
    free(order);
    free(rows);
}

void mt_table_sort(struct mt_report *r, const struct mt_sort *sort)
{
    static const char self[] = "self_";
    int column = mt_report_find_column(r, sort->column);
    if (column < 0)
        column = (int)r->columns.n - 1;
    r->columns.v[column].wanted = true;
    r->columns.v[column].hidden &= !is_known(r, column);
    sorting = (struct sorting){
        .by_size = sort->by_size, .paths = sort->paths, .path = sort->paths ? path_column(r) : -1};
    sort_then(column);
    if (sort->then_name && strncmp(sort->column, self, sizeof self - 1) == 0)
        sort_then(mt_report_find_column(r, sort->column + sizeof self - 1));
    for (size_t c = figure_n(r); c < r->columns.n && sort->then_name; c++)
        sort_then((int)c);
    put_first(r, sort->first_n && sort->first_n < r->rows.n ? sort->first_n : r->rows.n);
}
