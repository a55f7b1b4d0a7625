/* Runs side by side: a column for each, and their steps in shades. */
#include "lib/page/page.h"

#include "lib/base/human.h"
#include <stdio.h>

/* How many things are drawn as one, so that no more than most are drawn. */
static size_t together(size_t n, size_t most)
{
    return n > most ? (n + most - 1) / most : 1;
}

static void add_exact(struct mt_buf *out, int64_t bytes)
{
    char text[MT_HUMAN_LONG];
    mt_page_text(out, mt_human_with_exact(bytes, text));
}

/* ---- columns ---- */

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void add_line(const struct mt_page_columns *c, size_t i, int64_t most, struct mt_buf *out)
{
    if (c->lines[i].bytes == MT_UNKNOWN)
        return;
    mt_buf_addf(out, "<i class=\"line\" style=\"bottom:%.2f%%;left:%.2f%%;right:%.2f%%\"><span>",
                percent(c->lines[i].bytes, most), 100 * c->lines[i].from,
                100 - 100 * c->lines[i].to);
    mt_page_text(out, c->lines[i].words);
    mt_buf_adds(out, "</span></i>");
}

/* The highest of those from i on that are drawn as one; one that is marked comes first. */
static const struct mt_page_bar *highest(const struct mt_page_columns *c, size_t i, size_t n)
{
    const struct mt_page_bar *best = &c->all.v[i];
    for (size_t k = i; k < i + n && k < c->all.n; k++) {
        const struct mt_page_bar *bar = &c->all.v[k];
        if (bar->marked != best->marked ? bar->marked : bar->bytes > best->bytes)
            best = bar;
    }
    return best;
}

static void add_bar(const struct mt_page_bar *bar, int64_t most, struct mt_buf *out)
{
    mt_buf_addf(out, "<li%s title=\"", bar->marked ? " class=\"marked\"" : "");
    mt_page_text(out, bar->name);
    mt_buf_adds(out, ": ");
    if (bar->bytes == MT_UNKNOWN)
        mt_buf_adds(out, "not known");
    else
        add_exact(out, bar->bytes);
    mt_buf_addf(out, "\"><i style=\"height:%.2f%%\"></i></li>",
                bar->bytes == MT_UNKNOWN ? 0 : percent(bar->bytes, most));
}

static void add_label(const struct mt_page_bar *bar, struct mt_buf *out)
{
    mt_buf_adds(out, "<li>");
    mt_page_text(out, bar->label);
    mt_buf_adds(out, "</li>");
}

void mt_page_columns_html(const struct mt_page_columns *c, struct mt_buf *out)
{
    enum { BARS = 320, LABELS = 16 };
    const size_t n = together(c->all.n, BARS);
    const size_t each = together(c->all.n, LABELS * n) * n; /* columns to a label */
    int64_t most = 1;
    char top[MT_HUMAN_MAX];
    for (size_t i = 0; i < c->all.n; i++)
        most = c->all.v[i].bytes > most ? c->all.v[i].bytes : most;
    mt_buf_adds(out, "<figure class=\"columns panel\"><figcaption>");
    mt_page_text(out, c->caption);
    if (n > 1)
        mt_buf_addf(out, ": of each %zu the highest", n);
    mt_buf_addf(out, " <span>the axis begins at 0 and ends at %s</span></figcaption>",
                mt_human_bytes(most, top));
    mt_buf_adds(out, "<div class=\"plot\"><ul>");
    for (size_t i = 0; i < c->all.n; i += n)
        add_bar(highest(c, i, n), most, out);
    mt_buf_adds(out, "</ul>");
    for (size_t i = 0; i < MT_ARRAY_LEN(c->lines); i++)
        add_line(c, i, most, out);
    mt_buf_adds(out, "</div><ul class=\"labels\" aria-hidden=\"true\">");
    for (size_t i = 0; i < c->all.n; i += each)
        add_label(&c->all.v[i], out);
    mt_buf_adds(out, "</ul></figure>\n");
}

/* ---- steps in shades ---- */

enum { ROWS = 96, STEPS = 60, SHADES = 9, WORDS = 10 };

void mt_page_heat_free(struct mt_page_heat *h)
{
    free(h->rows);
    free(h->columns);
    free(h->bytes);
}

int64_t mt_page_heat_at(const struct mt_page_heat *h, size_t row, size_t rows, size_t column,
                        size_t columns)
{
    int64_t most = MT_UNKNOWN;
    for (size_t i = row; i < row + rows && i < h->row_n; i++)
        for (size_t k = column; k < column + columns && k < h->column_n; k++)
            if (h->bytes[i * h->column_n + k] > most)
                most = h->bytes[i * h->column_n + k];
    return most;
}

static void add_heat_head(const struct mt_page_heat *h, size_t columns, struct mt_buf *out)
{
    enum { LABELS = 12 };
    const size_t fields = (h->column_n + columns - 1) / columns, each = together(fields, LABELS);
    mt_buf_adds(out, "<thead><tr><td></td>");
    for (size_t i = 0; i < fields; i++) {
        size_t first = i * columns, last = first + columns - 1;
        last = last < h->column_n ? last : h->column_n - 1;
        mt_buf_addf(out, "<th scope=\"col\" title=\"step %lld", (long long)h->columns[first]);
        if (last > first)
            mt_buf_addf(out, " to %lld", (long long)h->columns[last]);
        if (i % each == 0)
            mt_buf_addf(out, "\">%s%lld</th>", i ? "" : "step ", (long long)h->columns[first]);
        else
            mt_buf_adds(out, "\"></th>");
    }
    mt_buf_adds(out, "</tr></thead>\n<tbody>\n");
}

static void add_heat_row(const struct mt_page_heat *h, size_t row, size_t rows, size_t columns,
                         int64_t most, struct mt_buf *out)
{
    const size_t last = row + rows < h->row_n ? row + rows - 1 : h->row_n - 1;
    char size[MT_HUMAN_MAX];
    mt_buf_adds(out, "<tr><th scope=\"row\">");
    mt_page_text(out, h->rows[row]);
    if (last > row) {
        mt_buf_adds(out, " to ");
        mt_page_text(out, h->rows[last]);
    }
    mt_buf_adds(out, "</th>");
    for (size_t k = 0; k < h->column_n; k += columns) {
        int64_t v = mt_page_heat_at(h, row, rows, k, columns);
        if (v == MT_UNKNOWN) {
            mt_buf_adds(out, "<td class=\"c-heat\" title=\"no such step\"></td>");
            continue;
        }
        mt_buf_addf(out, "<td class=\"c-heat h%d\" data-v=\"%lld\" title=\"",
                    (int)((double)v / (double)most * SHADES), (long long)v);
        add_exact(out, v);
        mt_buf_addf(out, "\">%s</td>", h->column_n <= WORDS ? mt_human_bytes(v, size) : "");
    }
    mt_buf_adds(out, "</tr>\n");
}

void mt_page_heat_html(const struct mt_page_heat *h, struct mt_buf *out)
{
    const size_t rows = together(h->row_n, ROWS), columns = together(h->column_n, STEPS);
    char size[MT_HUMAN_MAX];
    int64_t most = mt_page_heat_at(h, 0, h->row_n, 0, h->column_n);
    most = most > 0 ? most : 1;
    mt_buf_addf(out,
                "<div class=\"panel heat%s\"><table><caption>The peak of each rank in each "
                "step</caption>",
                h->row_n > 24 ? " dense" : "");
    add_heat_head(h, columns, out);
    for (size_t row = 0; row < h->row_n; row += rows)
        add_heat_row(h, row, rows, columns, most, out);
    mt_buf_adds(out, "</tbody></table></div>\n<p class=\"foot scale\">0 B ");
    for (int i = 0; i <= SHADES; i++)
        mt_buf_addf(out, "<i class=\"h%d\"></i>", i);
    mt_buf_addf(out, " %s", mt_human_bytes(most, size));
    if (rows > 1 || columns > 1)
        mt_buf_addf(out, "; a field is the highest of %zu steps of %zu ranks", columns, rows);
    mt_buf_adds(out, "</p>\n");
}
