/* Figures of runs in steps as a picture of its own. */
#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/render/svg.h"
#include <stdio.h>

enum {
    LEFT = 150, /* room around the fields: names of rows stand before them */
    TOP = 64,
    BOTTOM = 58,
    WIDTH = 900,    /* of all fields, at most */
    HEIGHT = 1200,  /* the same */
    FIELD_W = 60,   /* of one, at most */
    FIELD_H = 18,   /* the same */
    FIELDS = 16000, /* that are drawn: a megabyte or so */
    NAME_W = 20,    /* columns of a name */
    LABEL_H = 12,   /* lines of text are so far apart at least */
    LABEL_W = 40,   /* numbers of steps are */
    SHADES = 9      /* of the highest figure: the last of ten */
};

/* Of one hue, from pale to dark: apart for the colour-blind, too, and on paper. */
static const char style[] =
    ".h0{fill:#eef4fb}.h1{fill:#d4e4f5}.h2{fill:#b9d5f0}.h3{fill:#9fc5ea}.h4{fill:#7da9d9}"
    ".h5{fill:#5c8ec9}.h6{fill:#3a72b8}.h7{fill:#2c5a98}.h8{fill:#1d4278}.h9{fill:#0f2a58}\n"
    ".none{fill:none;stroke:#818b98;stroke-width:.5;stroke-dasharray:2 2}\n"
    "@media(prefers-color-scheme:dark){"
    ".h0{fill:#1b2530}.h1{fill:#1f3144}.h2{fill:#243c57}.h3{fill:#28486b}.h4{fill:#2e547e}"
    ".h5{fill:#356190}.h6{fill:#3b6da3}.h7{fill:#5284bc}.h8{fill:#689bd5}.h9{fill:#7fb2ee}}\n";

struct picture {
    const struct mt_page_heat *h;
    struct mt_buf *out;
    size_t rows, columns; /* that are drawn as one */
    double w, height;     /* of a field */
    int64_t most;
};

static size_t together(size_t n, size_t most)
{
    return most && n > most ? (n + most - 1) / most : 1;
}

static size_t drawn(size_t n, size_t as_one)
{
    return (n + as_one - 1) / as_one;
}

static size_t last_of(size_t first, size_t as_one, size_t n)
{
    return first + as_one < n ? first + as_one - 1 : n - 1;
}

static void add_field(const struct picture *p, size_t row, size_t column)
{
    const struct mt_page_heat *h = p->h;
    const size_t last_row = last_of(row, p->rows, h->row_n);
    const size_t last_column = last_of(column, p->columns, h->column_n);
    int64_t v = mt_page_heat_at(h, row, p->rows, column, p->columns);
    char size[MT_HUMAN_LONG], css[16] = "none";
    struct mt_buf words = {0};
    mt_buf_adds(&words, h->rows[row]);
    if (last_row > row)
        mt_buf_addf(&words, " to %s", h->rows[last_row]);
    mt_buf_addf(&words, ", step %lld", (long long)h->columns[column]);
    if (last_column > column)
        mt_buf_addf(&words, " to %lld", (long long)h->columns[last_column]);
    mt_buf_addf(&words, ": %s", v == MT_UNKNOWN ? "unknown" : mt_human_with_exact(v, size));
    if (v != MT_UNKNOWN)
        snprintf(css, sizeof css, "h%d", v > 0 ? (int)((double)v / (double)p->most * SHADES) : 0);
    mt_svg_box(p->out, css, LEFT + p->w * (double)(column / p->columns),
               TOP + p->height * (double)(row / p->rows), p->w, p->height, words.s);
    mt_buf_free(&words);
}

static void add_row(const struct picture *p, size_t row, size_t labels)
{
    struct mt_buf safe = {0}, cut = {0};
    const size_t at = row / p->rows;
    if (at % labels == 0) {
        mt_escape_terminal(&safe, p->h->rows[row]);
        mt_cut_middle(&cut, safe.s, NAME_W, false);
        mt_svg_text(p->out, "r", LEFT - 8, TOP + p->height * ((double)at + .5) + 4, cut.s);
    }
    for (size_t k = 0; k < p->h->column_n; k += p->columns)
        add_field(p, row, k);
    mt_buf_free(&safe);
    mt_buf_free(&cut);
}

static void add_steps(const struct picture *p, double y)
{
    const size_t labels = together(drawn(p->h->column_n, p->columns),
                                   (size_t)(p->w * (double)p->h->column_n / LABEL_W) + 1);
    char number[24];
    for (size_t k = 0; k < p->h->column_n; k += p->columns * labels) {
        snprintf(number, sizeof number, "%lld", (long long)p->h->columns[k]);
        mt_svg_text(p->out, "m dim", LEFT + p->w * ((double)(k / p->columns) + .5), y, number);
    }
    mt_svg_text(p->out, "r dim", LEFT - 8, y, "step");
}

static void add_scale(const struct picture *p, double y)
{
    enum { SIDE = 16 };
    char most[MT_HUMAN_MAX], css[16];
    struct mt_buf words = {0};
    mt_svg_text(p->out, "r dim", LEFT - 8, y + 12, "0 B");
    for (int i = 0; i <= SHADES; i++) {
        snprintf(css, sizeof css, "h%d", i);
        mt_svg_rect(p->out, css, LEFT + i * SIDE, y, SIDE, SIDE);
    }
    mt_buf_adds(&words, mt_human_bytes(p->most, most));
    if (p->rows > 1 || p->columns > 1)
        mt_buf_addf(&words, "; a field is the highest of %zu steps of %zu ranks", p->columns,
                    p->rows);
    mt_svg_text(p->out, "dim", LEFT + (SHADES + 1) * SIDE + 8, y + 12, words.s);
    mt_buf_free(&words);
}

void mt_page_heat_svg(const struct mt_page_heat *h, const char *title, struct mt_buf *out)
{
    struct picture p = {.h = h, .out = out};
    struct mt_buf safe = {0};
    p.rows = together(h->row_n, HEIGHT / 2);
    const size_t row_n = drawn(h->row_n, p.rows);
    p.columns = together(h->column_n, row_n ? FIELDS / row_n : 1);
    const size_t column_n = drawn(h->column_n, p.columns);
    p.w = column_n * FIELD_W > WIDTH ? (double)WIDTH / (double)column_n : FIELD_W;
    p.height = row_n * FIELD_H > HEIGHT ? (double)HEIGHT / (double)row_n : FIELD_H;
    p.most = mt_page_heat_at(h, 0, h->row_n, 0, h->column_n);
    p.most = p.most > 0 ? p.most : 1;
    const double end = TOP + p.height * (double)row_n;
    mt_escape_terminal(&safe, title);
    mt_svg_begin(out, LEFT + WIDTH + 20, end + BOTTOM, safe.s, style);
    mt_svg_text(out, "title", 20, 26, safe.s);
    mt_svg_text(out, "dim", 20, 46, "the peak of each rank in each step");
    for (size_t i = 0; i < h->row_n; i += p.rows)
        add_row(&p, i, together(row_n, (size_t)((end - TOP) / LABEL_H) + 1));
    add_steps(&p, end + 16);
    add_scale(&p, end + 30);
    mt_svg_end(out);
    mt_buf_free(&safe);
}
