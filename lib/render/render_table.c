#include "lib/base/human.h"
#include "lib/render/cut_path.h"
#include "lib/render/render_parts.h"

#include <stdlib.h>
#include <string.h>

#define GAP       2   /* blanks between columns */
#define TEXT_MIN  8   /* a text column is never cut below, */
#define TEXT_FAIR 24  /* nor below this while there are spare columns to leave out, */
#define TEXT_POOR 14  /* nor below this while there are others */
#define WORDS_MIN 24  /* sentences are never wrapped to fewer */
#define TREE_STEP 3   /* columns of one tree level */
#define PAD_MOST  200 /* a column is not padded beyond, however long its longest cell */

struct table {
    const struct mt_report *r;
    const struct mt_render *how;
    FILE *out;
    struct mt_shown *shown;
    size_t n;
    struct mt_buf line, cell, tree;
    struct mt_buf left_out; /* headings of columns for which there is no room */
};

static void pad(struct mt_buf *b, int n)
{
    for (; n > 0; n--)
        mt_buf_addc(b, ' ');
}

/* Fills t->cell, and t->tree with the lines before it; returns the width of both. */
static int fill_cell(struct table *t, const struct mt_row *row, const struct mt_shown *shown)
{
    const struct mt_column *column = &t->r->columns.v[shown->index];
    mt_buf_clear(&t->cell);
    mt_buf_clear(&t->tree);
    mt_render_cell(&t->cell, &row->cells[shown->index], column, t->how->bytes);
    if (column->unit != MT_UNIT_TREE || !row->tree)
        return mt_display_width(t->cell.s);
    mt_render_words(&t->tree, row->tree, t->how->ascii);
    return mt_display_width(t->tree.s) + mt_display_width(t->cell.s);
}

static int heading_width(struct table *t, const struct mt_shown *shown)
{
    mt_buf_clear(&t->cell);
    mt_render_heading(&t->cell, &t->r->columns.v[shown->index]);
    return mt_display_width(t->cell.s);
}

static const struct mt_column *column_of(const struct table *t, const struct mt_shown *s)
{
    return &t->r->columns.v[s->index];
}

static void measure(struct table *t)
{
    for (size_t k = 0; k < t->n; k++) {
        struct mt_shown *s = &t->shown[k];
        enum mt_unit unit = column_of(t, s)->unit;
        int least = unit == MT_UNIT_WORDS ? WORDS_MIN : TEXT_MIN;
        least += unit == MT_UNIT_TREE ? TREE_STEP : 0;
        s->width = heading_width(t, s);
        s->least = s->width > least ? s->width : least;
    }
    for (size_t i = 0; i < t->r->rows.n; i++) {
        for (size_t k = 0; k < t->n; k++) {
            int w = fill_cell(t, &t->r->rows.v[i], &t->shown[k]);
            if (w > t->shown[k].width)
                t->shown[k].width = w;
        }
    }
}

/* Whether the table has room when its texts are cut to that width. */
static bool has_room(const struct table *t, int text)
{
    int width = -GAP;
    for (size_t k = 0; k < t->n; k++) {
        const struct mt_shown *s = &t->shown[k];
        int cut = s->least > text ? s->least : text;
        bool is_cut = s->text && !column_of(t, s)->whole && s->width > cut;
        width += GAP + (is_cut ? cut : s->width);
    }
    return width <= t->how->width;
}

/* Whether no row says anything in the column. */
static bool is_empty(const struct table *t, size_t index)
{
    for (size_t i = 0; i < t->r->rows.n; i++)
        if (!mt_render_unknown(&t->r->rows.v[i].cells[index]))
            return false;
    return true;
}

/* The column that the report can best do without: one that is empty; else the most spare one; else
 * the last figure, as long as there is another. SIZE_MAX: none. */
static size_t lesser_column(const struct table *t)
{
    size_t spare = SIZE_MAX, figure = SIZE_MAX;
    int most = 0, figure_n = 0;
    for (size_t k = 0; k < t->n; k++) {
        const struct mt_column *column = column_of(t, &t->shown[k]);
        figure_n += !t->shown[k].text;
        if (column->wanted)
            continue;
        if (t->n > 1 && is_empty(t, t->shown[k].index))
            return k;
        if (!t->shown[k].text)
            figure = k;
        if (column->spare > most) {
            most = column->spare;
            spare = k;
        }
    }
    return spare != SIZE_MAX ? spare : figure_n > 1 ? figure : SIZE_MAX;
}

/* Leaves out what the report can do without, until the rest has room. */
static void leave_out(struct table *t)
{
    for (size_t out; (out = lesser_column(t)) != SIZE_MAX;) {
        const struct mt_column *column = column_of(t, &t->shown[out]);
        if (has_room(t, column->spare ? TEXT_FAIR : TEXT_POOR))
            return;
        mt_buf_adds(&t->left_out, t->left_out.n ? ", " : "");
        if (column->title && !*column->title)
            mt_buf_adds(&t->left_out, column->name);
        else
            mt_render_heading(&t->left_out, column);
        t->n--;
        memmove(&t->shown[out], &t->shown[out + 1], (t->n - out) * sizeof *t->shown);
    }
}

static struct mt_shown *widest_text(struct table *t, bool whole)
{
    struct mt_shown *widest = NULL;
    for (size_t k = 0; k < t->n; k++) {
        struct mt_shown *s = &t->shown[k];
        if (s->text && column_of(t, s)->whole == whole && s->width > s->least &&
            (!widest || s->width > widest->width))
            widest = s;
    }
    return widest;
}

static void fit(struct table *t)
{
    leave_out(t);
    int over = -GAP - t->how->width;
    for (size_t k = 0; k < t->n; k++)
        over += t->shown[k].width + GAP;
    for (int whole = 0; whole < 2; whole++)
        for (struct mt_shown *s; over > 0 && (s = widest_text(t, whole)); over--)
            s->width--;
}

/* Appends the tree lines; outer levels are dropped when they take more than `room` columns. */
static void add_tree(struct table *t, int room)
{
    const char *p = t->tree.s;
    int over = mt_display_width(p) - room;
    if (over > 0) {
        /* Whole levels, and one more for the mark, so that the lines of all rows meet. */
        int drop = (over + 2 * TREE_STEP - 1) / TREE_STEP * TREE_STEP;
        for (; drop > 0 && *p; drop--) {
            do
                p++;
            while (((unsigned char)*p & 0xc0) == 0x80);
        }
        mt_buf_adds(&t->line, t->how->ascii ? ".. " : "…  ");
    }
    mt_buf_adds(&t->line, p);
}

/* Appends a text that takes `width` columns in at most `room`; returns the columns used. */
static int add_text(struct table *t, const struct mt_column *column, int width, int room)
{
    if (width <= room) {
        mt_buf_adds(&t->line, t->tree.s);
        mt_buf_adds(&t->line, t->cell.s);
        return width;
    }
    size_t from = t->line.n;
    add_tree(t, room - TEXT_MIN);
    int left = room - mt_display_width(t->line.s + from);
    if (strcmp(column->name, "path") == 0)
        mt_cut_path(&t->line, t->cell.s, left, t->how->ascii);
    else
        mt_cut_middle(&t->line, t->cell.s, left, t->how->ascii);
    return mt_display_width(t->line.s + from);
}

static void put_line(struct table *t, const char *style)
{
    struct mt_buf *line = &t->line;
    while (line->n > 0 && line->s[line->n - 1] == ' ')
        line->s[--line->n] = '\0';
    if (t->how->color && style)
        fprintf(t->out, "\033[%sm%s\033[0m\n", style, line->s);
    else
        fprintf(t->out, "%s\n", line->s);
    mt_buf_clear(line);
}

/* memtool's own words, broken where the terminal ends. */
static void put_words(struct table *t, const char *s)
{
    int width = t->how->width;
    mt_buf_clear(&t->cell);
    mt_render_words(&t->cell, s, t->how->ascii);
    mt_wrap_words(&t->line, t->cell.s, width > 0 && width < WORDS_MIN ? WORDS_MIN : width, 0);
    put_line(t, NULL);
}

static void put_cell(struct table *t, size_t k, int width)
{
    const struct mt_shown *s = &t->shown[k];
    int padded = s->width < PAD_MOST ? s->width : PAD_MOST;
    if (k > 0)
        pad(&t->line, GAP);
    if (column_of(t, s)->unit == MT_UNIT_WORDS) {
        int from = mt_display_width(t->line.s);
        mt_wrap_words(&t->line, t->cell.s, from + s->width, from);
    } else if (s->text) {
        width = add_text(t, column_of(t, s), width, s->width);
        if (k + 1 < t->n)
            pad(&t->line, padded - width);
    } else {
        pad(&t->line, padded - width);
        mt_buf_adds(&t->line, t->cell.s);
    }
}

static void put_rows(struct table *t)
{
    for (size_t k = 0; k < t->n; k++) {
        mt_buf_clear(&t->tree);
        put_cell(t, k, heading_width(t, &t->shown[k]));
    }
    put_line(t, "1");
    for (size_t i = 0; i < t->r->rows.n && !ferror(t->out); i++) {
        const struct mt_row *row = &t->r->rows.v[i];
        for (size_t k = 0; k < t->n; k++)
            put_cell(t, k, fill_cell(t, row, &t->shown[k]));
        put_line(t, row->explicit_row ? "2" : NULL);
    }
}

/* A line of a paragraph: its words behind what is up to its tab, and below. */
static void put_paragraph_line(struct table *t, const char *s, size_t n)
{
    const char *tab = memchr(s, '\t', n);
    size_t label_n = tab ? (size_t)(tab - s) : 0;
    char *label = mt_strndup(s, label_n),
         *words = mt_strndup(s + label_n + !!tab, n - label_n - !!tab);
    int width = t->how->width;
    mt_buf_clear(&t->cell);
    mt_render_words(&t->cell, words, t->how->ascii);
    mt_render_words(&t->line, label, t->how->ascii);
    int from = mt_display_width(t->line.s);
    if (width > 0 && width < from + WORDS_MIN)
        width = from + WORDS_MIN;
    mt_wrap_words(&t->line, t->cell.s, width, from);
    put_line(t, NULL);
    free(label);
    free(words);
}

static void put_paragraphs(struct table *t)
{
    for (size_t i = 0; i < t->r->rows.n && !ferror(t->out); i++) {
        const char *p = t->r->rows.v[i].lines;
        for (size_t n; p && *p; p += n + (p[n] == '\n')) {
            n = strcspn(p, "\n");
            put_paragraph_line(t, p, n);
        }
        put_line(t, NULL);
    }
}

/* The title and its end: on one line, where there is room. */
static void put_title(struct table *t)
{
    const char *title = t->r->title, *end = t->r->title_end;
    int blank = t->how->width;
    if (!end || !*end) {
        if (title)
            put_words(t, title);
        return;
    }
    mt_buf_clear(&t->cell);
    if (title)
        mt_render_words(&t->line, title, t->how->ascii);
    mt_render_words(&t->cell, end, t->how->ascii);
    blank -= mt_display_width(t->cell.s) + (title ? mt_display_width(t->line.s) : 0);
    if (blank >= (title ? GAP : 0)) {
        pad(&t->line, blank);
    } else if (title && t->how->width > 0) {
        mt_buf_clear(&t->line);
        put_words(t, title);
        put_words(t, end);
        return;
    } else if (title) {
        mt_render_words(&t->line, " · ", t->how->ascii);
    }
    mt_buf_adds(&t->line, t->cell.s);
    put_line(t, NULL);
}

void mt_render_table(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    struct table t = {.r = r, .how = how, .out = out};
    t.shown = mt_render_shown(r, &t.n);
    mt_buf_adds(&t.line, "");
    mt_buf_adds(&t.tree, "");
    put_title(&t);
    if (r->figure)
        fputs(r->figure, out);
    if (r->rows.n && r->rows.v[0].lines) {
        put_line(&t, NULL);
        put_paragraphs(&t);
    } else if (r->rows.n) {
        measure(&t);
        if (how->width > 0)
            fit(&t);
        put_rows(&t);
    } else if ((!r->figure || r->empty) && !r->cannot_tell.why) {
        put_words(&t, r->empty ? r->empty : "no rows");
    }
    if (r->cannot_tell.why) {
        char *said = mt_report_cannot_tell_text(r);
        put_words(&t, said);
        free(said);
    }
    for (size_t i = 0; i < r->footer.n; i++)
        put_words(&t, r->footer.v[i]);
    if (t.left_out.n) {
        char *line = mt_asprintf("no room for %s: --format csv has all columns", t.left_out.s);
        put_words(&t, line);
        free(line);
    }
    free(t.shown);
    mt_buf_free(&t.line);
    mt_buf_free(&t.cell);
    mt_buf_free(&t.tree);
    mt_buf_free(&t.left_out);
}
