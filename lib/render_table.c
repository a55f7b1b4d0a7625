#include "human.h"
#include "render_parts.h"

#include <stdlib.h>
#include <string.h>

#define GAP       2 /* blanks between columns */
#define TEXT_MIN  8 /* a text column is never cut below */
#define TREE_STEP 3 /* columns of one tree level */

struct table {
    const struct mt_report *r;
    const struct mt_render *how;
    FILE *out;
    struct mt_shown *shown;
    size_t n;
    struct mt_buf line, cell, tree;
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
    mt_render_cell(&t->cell, &row->cells[shown->index], column->unit, t->how->bytes);
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

static void measure(struct table *t)
{
    for (size_t k = 0; k < t->n; k++) {
        struct mt_shown *s = &t->shown[k];
        bool tree = t->r->columns.v[s->index].unit == MT_UNIT_TREE;
        int least = TEXT_MIN + (tree ? TREE_STEP : 0);
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

static struct mt_shown *widest_text(struct table *t)
{
    struct mt_shown *widest = NULL;
    for (size_t k = 0; k < t->n; k++) {
        struct mt_shown *s = &t->shown[k];
        if (s->text && s->width > s->least && (!widest || s->width > widest->width))
            widest = s;
    }
    return widest;
}

static void fit(struct table *t)
{
    int over = -GAP - t->how->width;
    for (size_t k = 0; k < t->n; k++)
        over += t->shown[k].width + GAP;
    for (struct mt_shown *s; over > 0 && (s = widest_text(t)); over--)
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
static int add_text(struct table *t, int width, int room)
{
    if (width <= room) {
        mt_buf_adds(&t->line, t->tree.s);
        mt_buf_adds(&t->line, t->cell.s);
        return width;
    }
    size_t from = t->line.n;
    add_tree(t, room - TEXT_MIN);
    int left = room - mt_display_width(t->line.s + from);
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

static void put_cell(struct table *t, size_t k, int width)
{
    const struct mt_shown *s = &t->shown[k];
    if (k > 0)
        pad(&t->line, GAP);
    if (s->text) {
        width = add_text(t, width, s->width);
        pad(&t->line, s->width - width);
    } else {
        pad(&t->line, s->width - width);
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

static void put_title(struct table *t)
{
    bool ascii = t->how->ascii;
    mt_buf_clear(&t->cell);
    if (t->r->title)
        mt_render_words(&t->line, t->r->title, ascii);
    if (t->r->title_end && *t->r->title_end) {
        mt_render_words(&t->cell, t->r->title_end, ascii);
        int used = t->line.n ? mt_display_width(t->line.s) + GAP : 0;
        int blank = t->how->width - used - mt_display_width(t->cell.s);
        if (blank >= 0)
            pad(&t->line, used ? blank + GAP : blank);
        else if (used && t->how->width > 0)
            put_line(t, NULL);
        else if (used)
            mt_render_words(&t->line, " · ", ascii);
        mt_buf_adds(&t->line, t->cell.s);
    }
    if (t->line.n)
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
    if (r->rows.n) {
        measure(&t);
        if (how->width > 0)
            fit(&t);
        put_rows(&t);
    } else if (!r->figure) {
        fprintf(out, "%s\n", r->empty ? r->empty : "no rows");
    }
    for (size_t i = 0; i < r->footer.n; i++) {
        mt_render_words(&t.line, r->footer.v[i], how->ascii);
        put_line(&t, NULL);
    }
    free(t.shown);
    mt_buf_free(&t.line);
    mt_buf_free(&t.cell);
    mt_buf_free(&t.tree);
}
