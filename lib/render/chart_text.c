/*
 * A character of the picture is a grid of dots: 2 x 4 in braille, 1 x 1 in ASCII. One bucket is one
 * column of dots.
 */
#include "lib/render/chart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUTTER     11 /* columns left of the plot: a label of 9, a blank, the axis */
#define WIDTH_MIN  40
#define HEIGHT_MIN 8
#define AROUND     4 /* lines beside the plot: peak, axis, times, steps */
#define STEP_GAP   4 /* columns between steps at least */

enum dot { DOT_LEVEL = 1, DOT_RANGE = 2, DOT_SECOND = 4, DOT_PART = 8, DOT_THIRD = 16 };

struct canvas {
    const struct mt_chart *c;
    struct mt_buf *out;
    int cols, rows; /* characters of the plot */
    int wide, high; /* dots of a character */
    uint8_t *dots;  /* rows * high lines of cols * wide dots, from the top */
    bool *step;     /* columns where one of the steps shown begins */
    bool *picked;   /* the steps shown */
    struct mt_axis y, t;
};

size_t mt_chart_text_buckets(int width, bool ascii)
{
    return (size_t)((width > WIDTH_MIN ? width : WIDTH_MIN) - GUTTER) * (ascii ? 1 : 2);
}

/* Line of dots of a value, 0 at the bottom. */
static int dot_of(const struct canvas *v, int64_t value)
{
    return (int)(mt_axis_place(&v->y, value, v->rows * v->high - 1) + 0.5);
}

static uint8_t *dot_at(const struct canvas *v, int x, int y)
{
    return &v->dots[(v->rows * v->high - 1 - y) * v->cols * v->wide + x];
}

/* The buckets of a column of dots: when there are fewer buckets than columns, a bucket is wider. */
static const struct mt_bucket *bucket_of(const struct canvas *v, const struct mt_buckets *b, int x)
{
    return &b->all.v[(size_t)x * b->all.n / (size_t)(v->cols * v->wide)];
}

static void plot_area(struct canvas *v, const struct mt_bucket *b, int x)
{
    int zero = dot_of(v, 0), least = dot_of(v, b->min_b), most = dot_of(v, b->max_b);
    for (int y = least < zero ? least : zero; y <= (most > zero ? most : zero); y++) {
        bool solid = (y <= least && y >= zero) || (y >= most && y <= zero) || y == most;
        *dot_at(v, x, y) |= solid ? DOT_LEVEL : DOT_RANGE;
    }
}

static void plot_line(struct canvas *v, const struct mt_bucket *b, int x, enum dot dot)
{
    for (int y = dot_of(v, b->min_b); y <= dot_of(v, b->max_b); y++)
        *dot_at(v, x, y) |= dot;
}

static void plot_beside(struct canvas *v, size_t i, int x)
{
    const struct mt_bucket *b = bucket_of(v, v->c->beside[i].buckets, x);
    if (mt_bucket_unknown(b))
        return;
    plot_line(v, b, x, i ? DOT_THIRD : DOT_SECOND);
    for (int y = dot_of(v, 0); v->c->within && !i && y < dot_of(v, b->min_b); y++)
        *dot_at(v, x, y) |= DOT_PART;
}

static void plot(struct canvas *v)
{
    for (int x = 0; x < v->cols * v->wide; x++) {
        const struct mt_bucket *b = bucket_of(v, v->c->level, x);
        if (!mt_bucket_unknown(b) && v->c->within)
            plot_line(v, b, x, DOT_LEVEL);
        else if (!mt_bucket_unknown(b))
            plot_area(v, b, x);
        for (size_t i = 0; i < v->c->beside_n; i++)
            plot_beside(v, i, x);
    }
}

static int column_of(const struct canvas *v, int64_t t_ns)
{
    int col = (int)mt_axis_place(&v->t, t_ns, v->cols);
    return col < v->cols ? col : v->cols - 1;
}

static void style(const struct canvas *v, const char *code)
{
    if (v->c->color)
        mt_buf_addf(v->out, "\033[%sm", code);
}

static void pad(struct mt_buf *out, int n)
{
    for (; n > 0; n--)
        mt_buf_addc(out, ' ');
}

static void end_line(struct mt_buf *out)
{
    while (out->n && out->s[out->n - 1] == ' ')
        out->s[--out->n] = '\0';
    mt_buf_addc(out, '\n');
}

/* A character from its dots; *kinds gets what is in it. */
static void add_cell(const struct canvas *v, int col, int row, int *kinds)
{
    static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned shown = 0;
    *kinds = 0;
    for (int y = 0; y < v->high; y++)
        for (int x = 0; x < v->wide; x++) {
            int line = row * v->high + y, at = col * v->wide + x;
            uint8_t dot = v->dots[line * v->cols * v->wide + at];
            *kinds |= dot;
            if ((dot & ~(DOT_RANGE | DOT_PART)) || (dot && (line + at) % 2))
                shown |= braille[y][x];
        }
    if (v->c->ascii)
        mt_buf_addc(v->out, *kinds & DOT_LEVEL    ? '#'
                            : *kinds & DOT_RANGE  ? ':'
                            : *kinds & DOT_THIRD  ? '='
                            : *kinds & DOT_SECOND ? '-'
                            : *kinds & DOT_PART   ? ':'
                            : v->step[col]        ? '.'
                                                  : ' ');
    else if (shown) {
        unsigned cp = 0x2800 + shown;
        char text[] = {(char)0xe2, (char)(0x80 | (cp >> 6 & 0x3f)), (char)(0x80 | (cp & 0x3f)), 0};
        mt_buf_adds(v->out, text);
    } else
        mt_buf_adds(v->out, v->step[col] ? "┊" : " ");
}

static void add_plot_line(const struct canvas *v, int row)
{
    const char *last = "";
    for (int col = 0; col < v->cols; col++) {
        struct mt_buf *out = v->out;
        size_t from = out->n;
        int kinds;
        add_cell(v, col, row, &kinds);
        if (!v->c->color)
            continue;
        const char *code = kinds & (DOT_LEVEL | DOT_RANGE) ? "36"
                           : kinds & DOT_THIRD             ? "35"
                           : kinds                         ? "33"
                                                           : "2";
        char *cell = mt_strdup(out->s + from);
        out->s[out->n = from] = '\0';
        if (strcmp(code, last) != 0)
            mt_buf_addf(out, "\033[0;%sm", code);
        mt_buf_adds(out, cell);
        last = code;
        free(cell);
    }
    if (v->c->color)
        mt_buf_adds(v->out, "\033[0m");
    end_line(v->out);
}

static void add_gutter(const struct canvas *v, const char *label, const char *axis)
{
    style(v, "2");
    pad(v->out, GUTTER - 2 - mt_display_width(label));
    mt_buf_adds(v->out, label);
    mt_buf_addf(v->out, " %s", axis);
    style(v, "0");
}

static void add_plot(const struct canvas *v)
{
    char text[MT_HUMAN_MAX];
    int64_t tick = v->y.first;
    int ticks_n = (int)(((uint64_t)v->y.to - (uint64_t)tick) / (uint64_t)v->y.step);
    for (int row = 0; row < v->rows; row++) {
        const char *label = "";
        /* Ticks come from the bottom; the one that falls into this line. */
        for (int k = ticks_n; k >= 0; k--) {
            int64_t value = tick + k * v->y.step;
            if (v->rows - 1 - dot_of(v, value) / v->high == row)
                label = mt_axis_label_bytes(value, text);
        }
        add_gutter(v, label, v->c->ascii ? (*label ? "+" : "|") : *label ? "┤" : "│");
        add_plot_line(v, row);
    }
}

/* Writes a label at a column of the line that began at `from`, if there is room behind the last. */
static void put_at(const struct canvas *v, size_t from, int col, const char *label)
{
    int used = v->out->n > from ? mt_display_width(v->out->s + from) : 0;
    int width = mt_display_width(label);
    if (col + width > v->cols)
        col = v->cols - width;
    if (col < 0 || (used && col < used + 1))
        return;
    pad(v->out, col - used);
    mt_buf_adds(v->out, label);
}

static void add_peak(const struct canvas *v)
{
    char bytes[MT_HUMAN_MAX], when[MT_HUMAN_LONG];
    struct mt_buf label = {0};
    if (v->c->peak_ns == INT64_MIN) {
        end_line(v->out);
        return;
    }
    int col = column_of(v, v->c->peak_ns);
    mt_human_bytes(v->c->peak_b, bytes);
    mt_human_time(v->c->time_unit ? v->c->time_unit : "ns", v->c->peak_ns, when);
    const char *sign = v->c->ascii ? "v" : "▼";
    mt_buf_addf(&label, "%s %s at %s", sign, bytes, when);
    if (col + mt_display_width(label.s) > v->cols) {
        mt_buf_clear(&label);
        mt_buf_addf(&label, "%s at %s %s", bytes, when, sign);
        col -= mt_display_width(label.s) - 1;
    }
    pad(v->out, GUTTER + (col > 0 ? col : 0));
    style(v, "1;31");
    mt_buf_adds(v->out, label.s);
    style(v, "0");
    end_line(v->out);
    mt_buf_free(&label);
}

static void add_ooms(const struct canvas *v)
{
    if (!v->c->ooms.n)
        return;
    char *line = mt_alloc((size_t)v->cols + 1);
    memset(line, ' ', (size_t)v->cols);
    for (size_t i = 0; i < v->c->ooms.n; i++)
        line[column_of(v, v->c->ooms.v[i].t_ns)] = 'x';
    add_gutter(v, "oom", v->c->ascii ? "|" : "│");
    style(v, "1;31");
    mt_buf_adds(v->out, line);
    style(v, "0");
    end_line(v->out);
    free(line);
}

static int64_t tick_at(const struct canvas *v, int col)
{
    for (int64_t t = v->t.first; t <= v->t.to; t += v->t.step)
        if (column_of(v, t) == col)
            return t;
    return INT64_MIN;
}

static void add_time_axis(const struct canvas *v)
{
    char text[MT_HUMAN_MAX];
    add_gutter(v, "", v->c->ascii ? "+" : "└");
    style(v, "2");
    for (int col = 0; col < v->cols; col++) {
        bool tick = tick_at(v, col) != INT64_MIN;
        mt_buf_adds(v->out, v->c->ascii ? (tick ? "+" : "-") : tick ? "┬" : "─");
    }
    style(v, "0");
    mt_buf_addc(v->out, '\n');
    pad(v->out, GUTTER);
    size_t from = v->out->n;
    for (int64_t t = v->t.first; t <= v->t.to; t += v->t.step)
        put_at(v, from, column_of(v, t), mt_axis_label_ns(&v->t, t, text));
    end_line(v->out);
}

static void add_step_numbers(const struct canvas *v)
{
    char text[MT_HUMAN_MAX];
    if (!v->c->steps.n)
        return;
    mt_buf_addf(v->out, "%*s", GUTTER, "step  ");
    size_t from = v->out->n;
    for (size_t i = 0; i < v->c->steps.n; i++) {
        if (!v->picked[i])
            continue;
        snprintf(text, sizeof text, "%lld", (long long)v->c->steps.v[i].value);
        put_at(v, from, column_of(v, v->c->steps.v[i].t_ns), text);
    }
    end_line(v->out);
}

static void add_lanes(const struct canvas *v)
{
    for (size_t i = 0; i < v->c->lanes.n; i++) {
        const struct mt_chart_lane *lane = &v->c->lanes.v[i];
        mt_buf_addf(v->out, "%*s  ", GUTTER - 2, lane->name);
        mt_sparkline(v->out, lane->values, v->c->level->all.n, (size_t)v->cols, v->c->ascii);
        end_line(v->out);
    }
}

static void range_of(const struct mt_buckets *b, int64_t *least, int64_t *most)
{
    for (size_t k = 0; b && k < b->all.n; k++) {
        if (b->all.v[k].min_b < *least)
            *least = b->all.v[k].min_b;
        if (b->all.v[k].max_b > *most)
            *most = b->all.v[k].max_b;
    }
}

static void pick_steps(struct canvas *v)
{
    const struct mt_chart *c = v->c;
    v->picked = mt_alloc((c->steps.n + 1) * sizeof *v->picked);
    int width =
        c->steps.n ? snprintf(NULL, 0, "%lld", (long long)c->steps.v[c->steps.n - 1].value) + 1 : 0;
    mt_chart_pick_steps(c, &v->t, v->cols, width > STEP_GAP ? width : STEP_GAP, v->picked);
    for (size_t i = 0; i < c->steps.n; i++)
        if (v->picked[i])
            v->step[column_of(v, c->steps.v[i].t_ns)] = true;
}

void mt_chart_text(struct mt_buf *out, const struct mt_chart *c)
{
    struct canvas v = {.c = c, .out = out, .wide = c->ascii ? 1 : 2, .high = c->ascii ? 1 : 4};
    int64_t least = 0, most = 1;
    range_of(c->level, &least, &most);
    for (size_t i = 0; i < c->beside_n; i++)
        range_of(c->beside[i].buckets, &least, &most);
    v.cols = (c->width > WIDTH_MIN ? c->width : WIDTH_MIN) - GUTTER;
    v.rows = (c->height > HEIGHT_MIN ? c->height : HEIGHT_MIN) - AROUND;
    v.y = mt_axis_bytes(least, most, v.rows / 3 + 2);
    v.t = mt_axis_ns(c->shown.from_ns, c->shown.to_ns, v.cols / 12 + 1);
    v.t.unit = c->time_unit;
    v.dots = mt_alloc((size_t)(v.cols * v.wide * v.rows * v.high));
    v.step = mt_alloc((size_t)v.cols * sizeof *v.step);
    pick_steps(&v);
    plot(&v);
    add_peak(&v);
    add_plot(&v);
    add_ooms(&v);
    add_time_axis(&v);
    add_step_numbers(&v);
    add_lanes(&v);
    free(v.dots);
    free(v.step);
    free(v.picked);
}

void mt_sparkline(struct mt_buf *out, const int64_t *values, size_t n, size_t cells, bool ascii)
{
    int64_t most = 0;
    for (size_t k = 0; k < n; k++)
        most = values[k] > most ? values[k] : most;
    mt_sparkline_below(out, values, n, cells, most, ascii);
}

void mt_sparkline_below(struct mt_buf *out, const int64_t *values, size_t n, size_t cells,
                        int64_t most, bool ascii)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    for (size_t i = 0; i < cells && n; i++) {
        int64_t best = 0;
        size_t from = i * n / cells, to = (i + 1) * n / cells;
        for (size_t k = from; k < to || k == from; k++)
            best = values[k] > best ? values[k] : best;
        int eighth = most ? (int)((double)best / (double)most * 8 + 0.999) : 0;
        mt_buf_adds(out, (ascii ? plain : blocks)[eighth > 8 ? 8 : eighth]);
    }
}
