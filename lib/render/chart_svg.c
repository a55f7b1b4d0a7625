#include "lib/base/wrap.h"
#include "lib/render/chart.h"
#include "lib/render/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT        76 /* room around the plot */
#define RIGHT       20
#define TOP         70
#define BOTTOM      30
#define LEGEND_ROW  19
#define LANE        28 /* height of one, */
#define LANE_AREA   20 /* and of what is drawn in it */
#define WIDTH_MIN   300
#define WIDTH_MAX   4000
#define HEIGHT_MIN  160
#define POINTS_MAX  16000 /* of all bands together: a few hundred KB */
#define BUCKETS_MIN 100
#define OOMS_MAX    100 /* markers */
#define LINE_GAP    20  /* pixels between the lines where steps begin */
#define KEY_W       110 /* pixels between what curves are */
#define DIGIT_W     7   /* of a number; between two of them are as many pixels as two digits */

struct picture {
    const struct mt_chart *c;
    struct mt_buf *out;
    double w, h; /* of the plot */
    struct mt_axis y, t;
    size_t *stack; /* bands from the bottom; NULL: none */
};

static const char style[] =
    ".grid{stroke:#d1d9e0}.axis{stroke:#59636e}.step{stroke:#818b98;stroke-dasharray:2 3}\n"
    ".area{fill:#0969da;opacity:.45}.range{fill:#0969da;opacity:.25}"
    ".line{fill:none;stroke:#0969da;stroke-width:1.2}\n"
    ".second{fill:none;stroke:#bc4c00;stroke-width:1.4}.key2{fill:#bc4c00}"
    ".part{fill:#bc4c00;opacity:.35}\n"
    ".third{fill:none;stroke:#8250df;stroke-width:1.4}.key3{fill:#8250df}\n"
    ".top{fill:none;stroke:#1f2328;stroke-width:.8}\n"
    ".mark{fill:#cf222e}.oom{stroke:#cf222e;stroke-width:1.5}\n"
    ".label{font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:4px;"
    "stroke-linejoin:round}\n"
    "@media(prefers-color-scheme:dark){"
    ".grid{stroke:#2f353d}.axis{stroke:#9198a1}.step{stroke:#656c76}.area,.range{fill:#4493f8}"
    ".line{stroke:#4493f8}.second{stroke:#f0883e}.key2,.part{fill:#f0883e}"
    ".third{stroke:#a371f7}.key3{fill:#a371f7}.top{stroke:#e6edf3}"
    ".mark{fill:#ff7b72}.oom{stroke:#ff7b72}.label{stroke:#0d1117}}\n";

static int clamp(int v, int least, int most)
{
    return v < least ? least : v > most ? most : v;
}

size_t mt_chart_svg_buckets(int width, size_t bands_n)
{
    size_t n = (size_t)clamp(width, WIDTH_MIN, WIDTH_MAX) - LEFT - RIGHT;
    size_t least = BUCKETS_MIN, most = bands_n ? POINTS_MAX / bands_n : n;
    return most > n ? n : most < least ? least : most;
}

static double x_of(const struct picture *p, int64_t t_ns)
{
    return LEFT + mt_axis_place(&p->t, t_ns, p->w);
}

static double y_of(const struct picture *p, int64_t bytes)
{
    return TOP + p->h - mt_axis_place(&p->y, bytes, p->h);
}

static void draw_grid(const struct picture *p)
{
    char text[MT_HUMAN_MAX];
    for (int64_t v = p->y.first; v <= p->y.to; v += p->y.step) {
        double y = y_of(p, v);
        mt_svg_line(p->out, v ? "grid" : "axis", LEFT, y, LEFT + p->w, y);
        mt_svg_text(p->out, "dim r", LEFT - 8, y + 4, mt_axis_label_bytes(v, text));
    }
    for (int64_t t = p->t.first; t <= p->t.to; t += p->t.step) {
        double x = x_of(p, t), bottom = TOP + p->h;
        mt_svg_line(p->out, "axis", x, bottom, x, bottom + 5);
        mt_svg_text(p->out, x > LEFT + p->w - 20 ? "dim r" : "dim m", x, bottom + 19,
                    mt_axis_label_ns(&p->t, t, text));
    }
}

/* Draws the lines of as many steps as stand `gap` apart, or their numbers. */
static void draw_marks_of_steps(const struct picture *p, double gap, bool numbers)
{
    char text[MT_HUMAN_MAX];
    bool *picked = mt_alloc(p->c->steps.n * sizeof *picked);
    mt_chart_pick_steps(p->c, &p->t, p->w, gap, picked);
    for (size_t i = 0; i < p->c->steps.n; i++) {
        double x = x_of(p, p->c->steps.v[i].t_ns);
        snprintf(text, sizeof text, "%lld", (long long)p->c->steps.v[i].value);
        if (picked[i] && numbers)
            mt_svg_text(p->out, "dim m", x, TOP - 6, text);
        else if (picked[i])
            mt_svg_line(p->out, "step", x, TOP, x, TOP + p->h);
    }
    free(picked);
}

/* Where steps begin: as many lines and numbers as can be told apart. */
static void draw_steps(const struct picture *p)
{
    char text[MT_HUMAN_MAX];
    if (!p->c->steps.n)
        return;
    int digits =
        snprintf(text, sizeof text, "%lld", (long long)p->c->steps.v[p->c->steps.n - 1].value);
    mt_svg_text(p->out, "dim r", LEFT - 8, TOP - 6, "step");
    draw_marks_of_steps(p, LINE_GAP, false);
    draw_marks_of_steps(p, (digits + 2) * DIGIT_W, true);
}

enum edge { EDGE_MIN, EDGE_MAX };

/* A curve over the buckets from..to, as a line or as the area between it and 0. */
static void draw_part(const struct picture *p, const struct mt_buckets *b, size_t from, size_t to,
                      enum edge edge, const char *css_class, bool area)
{
    struct mt_svg_path path;
    mt_svg_path_begin(&path, p->out, css_class);
    for (size_t k = from; k < to; k++) {
        const struct mt_bucket *v = &b->all.v[k];
        double y = y_of(p, edge == EDGE_MIN ? v->min_b : v->max_b);
        if (k == from)
            mt_svg_path_move(&path, x_of(p, v->start_ns), area ? y_of(p, 0) : y);
        mt_svg_path_to_y(&path, y);
        mt_svg_path_to_x(&path, x_of(p, v->end_ns));
    }
    if (area)
        mt_svg_path_to_y(&path, y_of(p, 0));
    mt_svg_path_end(&path, area, NULL);
}

/* All that is known of a curve. */
static void draw_curve(const struct picture *p, const struct mt_buckets *b, enum edge edge,
                       const char *css_class, bool area)
{
    for (size_t k = 0, from = 0; k <= b->all.n; k++)
        if (k == b->all.n || mt_bucket_unknown(&b->all.v[k])) {
            if (k > from)
                draw_part(p, b, from, k, edge, css_class, area);
            from = k + 1;
        }
}

/* The area between two curves, there along the upper and back along the lower. */
static void draw_band(const struct picture *p, const int64_t *low, const int64_t *high,
                      const char *css_class, const char *name)
{
    const struct mt_buckets *b = p->c->level;
    struct mt_svg_path path;
    mt_svg_path_begin(&path, p->out, css_class);
    mt_svg_path_move(&path, x_of(p, b->all.v[0].start_ns), y_of(p, low[0]));
    for (size_t k = 0; k < b->all.n; k++) {
        mt_svg_path_to_y(&path, y_of(p, high[k]));
        mt_svg_path_to_x(&path, x_of(p, b->all.v[k].end_ns));
    }
    for (size_t k = b->all.n; k-- > 0;) {
        mt_svg_path_to_y(&path, y_of(p, low[k]));
        mt_svg_path_to_x(&path, x_of(p, b->all.v[k].start_ns));
    }
    mt_svg_path_end(&path, true, name);
}

/* The class of the colour of a band; name: room for it. */
static const char *band_class(const struct mt_bands *b, size_t i, char name[MT_HUMAN_MAX])
{
    size_t named = b->all.n - b->before - b->other;
    snprintf(name, MT_HUMAN_MAX, "b%zu", i);
    return i < named ? name : b->other && i == named ? "rest" : "older";
}

/* "aten::relu in block_1, forward", cut to `width` characters. */
static void band_name(struct mt_buf *out, const struct mt_bands *b, size_t i, int width)
{
    const struct mt_band *band = &b->all.v[i];
    struct mt_buf whole = {0}, safe = {0};
    for (int k = 0; k < (band->explicit_row ? 1 : b->key_n); k++)
        mt_buf_addf(&whole, "%s%s", k ? ", " : "", band->key[k] ? band->key[k] : "-");
    mt_escape_short(&safe, whole.s);
    mt_buf_clear(out);
    mt_cut_middle(out, safe.s, width, false);
    mt_buf_free(&whole);
    mt_buf_free(&safe);
}

/*
 * Bands from the bottom up. Older blocks come first; where they are less than nothing, as in a
 * damaged run, the others begin below 0, so that they end at the level.
 */
static void draw_bands(const struct picture *p)
{
    char class[MT_HUMAN_MAX];
    const struct mt_bands *b = p->c->bands;
    size_t n = b->bucket_n;
    int64_t *low = mt_alloc((n + 1) * sizeof *low), *high = mt_alloc((n + 1) * sizeof *high);
    struct mt_buf name = {0};
    for (size_t at = 0; at < b->all.n; at++) {
        size_t i = p->stack[at];
        bool before = b->before && i + 1 == b->all.n;
        for (size_t k = 0; k < n; k++)
            high[k] = mt_wrap_add(low[k], b->all.v[i].bytes[k]);
        for (size_t k = 0; before && k < n; k++)
            high[k] = high[k] > 0 ? high[k] : 0;
        band_name(&name, b, i, 100);
        draw_band(p, low, high, band_class(b, i, class), name.s);
        memcpy(low, before ? b->all.v[i].bytes : high, n * sizeof *low);
    }
    draw_curve(p, p->c->level, EDGE_MAX, "top", false);
    mt_buf_free(&name);
    free(low);
    free(high);
}

static void draw_marks(const struct picture *p)
{
    char bytes[MT_HUMAN_MAX], when[MT_HUMAN_LONG], text[MT_HUMAN_MAX + 2 * MT_HUMAN_LONG];
    for (size_t i = 0; i < p->c->ooms.n && i < OOMS_MAX; i++) {
        double x = x_of(p, p->c->ooms.v[i].t_ns);
        mt_svg_line(p->out, "oom", x, TOP, x, TOP + p->h);
        snprintf(text, sizeof text, "out of memory: %s",
                 mt_human_bytes(p->c->ooms.v[i].value, bytes));
        if (i < 3)
            mt_svg_text(p->out, x < LEFT + p->w * 0.7 ? "label" : "label r",
                        x < LEFT + p->w * 0.7 ? x + 6 : x - 6, TOP + p->h - 8 - 16 * (double)i,
                        text);
    }
    if (p->c->peak_ns == INT64_MIN)
        return;
    double x = x_of(p, p->c->peak_ns), y = y_of(p, p->c->peak_b);
    bool left = x > LEFT + p->w * 0.7;
    snprintf(text, sizeof text, "peak %s at %s", mt_human_bytes(p->c->peak_b, bytes),
             mt_human_time(p->c->time_unit ? p->c->time_unit : "ns", p->c->peak_ns, when));
    mt_svg_circle(p->out, "mark", x, y, 4);
    mt_svg_text(p->out, left ? "label r" : "label", left ? x - 8 : x + 8, y - 8, text);
}

/* Each by its own largest value. */
static void draw_lanes(const struct picture *p, double y)
{
    const struct mt_buckets *b = p->c->level;
    for (size_t i = 0; i < p->c->lanes.n; i++, y += LANE) {
        const struct mt_chart_lane *lane = &p->c->lanes.v[i];
        struct mt_svg_path path;
        int64_t most = 1;
        for (size_t k = 0; k < b->all.n; k++)
            most = lane->values[k] > most ? lane->values[k] : most;
        mt_svg_text(p->out, "dim r", LEFT - 8, y + LANE_AREA, lane->name);
        mt_svg_line(p->out, "grid", LEFT, y + LANE_AREA, LEFT + p->w, y + LANE_AREA);
        mt_svg_path_begin(&path, p->out, "range");
        mt_svg_path_move(&path, x_of(p, b->all.v[0].start_ns), y + LANE_AREA);
        for (size_t k = 0; k < b->all.n; k++) {
            double part = lane->values[k] > 0 ? (double)lane->values[k] / (double)most : 0;
            mt_svg_path_to_y(&path, y + LANE_AREA - part * LANE_AREA);
            mt_svg_path_to_x(&path, x_of(p, b->all.v[k].end_ns));
        }
        mt_svg_path_to_y(&path, y + LANE_AREA);
        mt_svg_path_end(&path, true, NULL);
    }
}

/* Which curve is which. */
static void draw_keys(const struct picture *p, double y)
{
    const struct mt_chart *c = p->c;
    for (size_t i = 0; i <= c->beside_n; i++) {
        const char *what = i ? c->beside[i - 1].what : c->what;
        bool area = c->within ? i == 1 : !i;
        const char *line = !i ? "area" : i == 1 ? "key2" : "key3";
        double x = LEFT + KEY_W * (double)i;
        mt_svg_rect(p->out, area && i ? "part" : line, x, area ? y - 11 : y - 6, 12, area ? 12 : 2);
        mt_svg_text(p->out, "", x + 20, y, what);
    }
}

static void draw_legend(const struct picture *p, double y)
{
    char bytes[MT_HUMAN_MAX];
    const struct mt_bands *b = p->c->bands;
    struct mt_buf name = {0};
    for (size_t at = b ? b->all.n : 0; at-- > 0; y += LEGEND_ROW) { /* in order as in the picture */
        size_t i = p->stack[at];
        mt_svg_rect(p->out, band_class(b, i, bytes), LEFT, y - 11, 12, 12);
        mt_svg_text(p->out, "r", LEFT + 96, y, mt_human_bytes(b->all.v[i].at_peak_b, bytes));
        band_name(&name, b, i, clamp(((int)p->w - 110) / 7, 20, 120));
        mt_svg_text(p->out, "mono", LEFT + 108, y, name.s);
    }
    if (!b && p->c->beside_n) {
        draw_keys(p, y);
        y += LEGEND_ROW;
    }
    for (size_t i = 0; i < p->c->footer.n; i++, y += LEGEND_ROW)
        mt_svg_text(p->out, "dim", LEFT, y + 3, p->c->footer.v[i]);
    mt_buf_free(&name);
}

static void range_of(const struct mt_chart *c, int64_t *least, int64_t *most)
{
    *least = 0;
    *most = 1;
    for (size_t i = 0; i <= c->beside_n; i++) {
        const struct mt_buckets *curve = i ? c->beside[i - 1].buckets : c->level;
        for (size_t k = 0; k < curve->all.n; k++) {
            const struct mt_bucket *b = &curve->all.v[k];
            *least = b->min_b < *least ? b->min_b : *least;
            *most = b->max_b > *most ? b->max_b : *most;
        }
    }
    const struct mt_bands *bands = c->bands;
    for (size_t k = 0; bands && bands->before && k < bands->bucket_n; k++) {
        int64_t before = bands->all.v[bands->all.n - 1].bytes[k];
        *least = before < *least ? before : *least;
    }
}

static void draw_title(const struct picture *p)
{
    struct mt_buf safe = {0}, title = {0}, what = {0};
    mt_escape_short(&safe, p->c->title);
    mt_cut_middle(&title, safe.s, clamp((int)p->w / 8, 20, 200), false);
    mt_svg_text(p->out, "title", 16, 24, title.s);
    mt_buf_addf(&what, "%s bytes over the time since the run began%s", p->c->what,
                p->c->bands ? ", by allocation site; steady sites lie at the bottom" : "");
    mt_svg_text(p->out, "dim", 16, 42, what.s);
    mt_buf_free(&safe);
    mt_buf_free(&title);
    mt_buf_free(&what);
}

static void begin(struct picture *p, double width, double height)
{
    const struct mt_bands *b = p->c->bands;
    struct mt_buf css = {0};
    mt_buf_adds(&css, style);
    if (b) {
        mt_palette_css(&css, b->all.n - b->before - b->other);
        p->stack = mt_alloc((b->all.n + 1) * sizeof *p->stack);
        mt_bands_stack(b, p->stack);
    }
    mt_svg_begin(p->out, width, height, p->c->title, css.s);
    mt_buf_free(&css);
}

void mt_chart_svg(struct mt_buf *out, const struct mt_chart *c)
{
    int64_t least, most;
    int width = clamp(c->width, WIDTH_MIN, WIDTH_MAX);
    int height = clamp(c->height, HEIGHT_MIN, WIDTH_MAX);
    size_t rows = c->footer.n + (c->bands ? c->bands->all.n : c->beside_n > 0);
    double lanes = (double)c->lanes.n * LANE;
    double legend = lanes + (rows ? (double)rows * LEGEND_ROW + 14 : 0);
    struct picture p = {.c = c, .out = out, .w = width - LEFT - RIGHT};
    p.h = height - TOP - BOTTOM;
    range_of(c, &least, &most);
    most += most < INT64_MAX / 2 ? most / 10 : 0; /* room for the peak's label */
    p.y = mt_axis_bytes(least, most, clamp((int)p.h / 45, 3, 20));
    p.t = mt_axis_ns(c->shown.from_ns, c->shown.to_ns, clamp((int)p.w / 90, 3, 40));
    p.t.unit = c->time_unit;
    begin(&p, width, height + legend);
    draw_title(&p);
    draw_grid(&p);
    if (c->bands)
        draw_bands(&p);
    else {
        const struct mt_buckets *filled = c->within ? c->beside[0].buckets : c->level;
        draw_curve(&p, filled, EDGE_MAX, c->within ? "part" : "range", true);
        if (!c->within)
            draw_curve(&p, filled, EDGE_MIN, "area", true);
        draw_curve(&p, c->level, EDGE_MAX, "line", false);
    }
    for (size_t i = 0; i < c->beside_n; i++)
        draw_curve(&p, c->beside[i].buckets, EDGE_MAX, i ? "third" : "second", false);
    draw_steps(&p);
    draw_marks(&p);
    draw_lanes(&p, height);
    draw_legend(&p, height + lanes + 14);
    mt_svg_end(out);
    free(p.stack);
}
