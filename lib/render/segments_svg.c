/* The picture of an allocator's segments, on a page however many these are. */
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/palette.h"
#include "lib/render/svg.h"
#include "lib/usage/segments_layout.h"
#include <stdio.h>

enum {
    WIDTH = 1200,
    LEFT = 190, /* of the bars: labels stand before them */
    BARS_W = 990,
    BAR_H = 14,
    ROW_H = 20,
    TOP = 64,
    ROWS_MAX = 50,
    COLORS = 12,       /* sites with a colour of their own; the rest shares one */
    BLOCKS_MAX = 8000, /* drawn: a megabyte or so */
    NAME_W = 110       /* columns of a name */
};

struct picture {
    struct mt_buf *out;
    const struct mt_segments *s;
    struct mt_seg_sites sites;
    struct mt_seg_layout layout;
    double fine; /* blocks that are narrower, in pixels, are drawn with their neighbours */
    bool merged; /* some are */
};

static const char style[] =
    ".seg{fill:#eceff1;stroke:#8fa3ad;stroke-width:.5}\n"
    "@media(prefers-color-scheme:dark){.seg{fill:#202830;stroke:#5b6f7a}}\n";

static double y_of(size_t line)
{
    return (double)(TOP + line * ROW_H);
}

static int color_of(const struct picture *p, uint32_t site)
{
    for (size_t i = 0; i < p->sites.rows.n && i < COLORS; i++)
        if (p->sites.rows.v[i].site == site)
            return (int)i;
    return -1;
}

static const char *class_of(int color, char name[MT_HUMAN_MAX])
{
    if (color < 0)
        return "rest";
    snprintf(name, MT_HUMAN_MAX, "b%d", color);
    return name;
}

/* A name of any length, cut. */
static void add_name(struct mt_buf *out, const struct picture *p, uint32_t string)
{
    struct mt_buf safe = {0}, cut = {0};
    mt_escape_short(&safe, mt_strtab_get(&p->s->strings, string));
    mt_cut_middle(&cut, safe.s, NAME_W, false);
    mt_buf_adds(out, cut.s);
    mt_buf_free(&safe);
    mt_buf_free(&cut);
}

/* Blocks that are drawn as one: a wide one, or such as lie within a few pixels. */
struct stretch {
    double from, to; /* pixels from the left end of the segment */
    uint32_t n;
    int64_t bytes_b, pending_b;
    const struct mt_seg_block *largest;
};

static void add_block(struct stretch *t, const struct mt_seg_block *b)
{
    t->n++;
    mt_wrap_inc(&t->bytes_b, b->bytes_b);
    mt_wrap_inc(&t->pending_b, b->pending ? b->bytes_b : 0);
    if (!t->largest || b->size_b > t->largest->size_b)
        t->largest = b;
}

/* The stretch that begins with block *i of the segment in a bar; *i moves behind it. Each is at
 * least p->fine wide, begins where the one before ends or later, and ends within the bar. */
static struct stretch next_stretch(const struct picture *p, const struct mt_seg_bar *bar,
                                   uint32_t *i, double after)
{
    const struct mt_seg *g = &p->s->all.v[bar->seg];
    const struct mt_seg_block *v = &p->s->blocks.v[g->first_block];
    double scale = g->size_b > 0 ? bar->width / (double)g->size_b : 0;
    double from = (double)v[*i].at * scale, end = from;
    struct stretch t = {.from = from < after ? after : from};
    bool narrow = true;
    while (*i < g->block_n && narrow) {
        double x = (double)v[*i].at * scale, width = (double)v[*i].size_b * scale;
        narrow = width < p->fine;
        if (t.n && (!narrow || x >= t.from + p->fine))
            break;
        end = x + width;
        add_block(&t, &v[(*i)++]);
    }
    t.to = end < t.from + p->fine ? t.from + p->fine : end;
    t.to = t.to < bar->width ? t.to : bar->width;
    if (t.from > t.to - p->fine)
        t.from = t.to > p->fine ? t.to - p->fine : 0;
    return t;
}

static void draw_stretch(const struct picture *p, const struct mt_seg_bar *bar,
                         const struct stretch *t)
{
    char size[MT_HUMAN_MAX], count[MT_HUMAN_LONG], pending[MT_HUMAN_MAX], class[MT_HUMAN_MAX];
    struct mt_buf title = {0};
    if (t->n > 1)
        mt_buf_addf(&title, "%s, ", mt_human_plural(t->n, "block", count));
    mt_buf_addf(&title, "%s, %s", mt_human_bytes(t->bytes_b, size),
                t->n > 1 ? "the largest from " : "");
    add_name(&title, p, t->largest->site);
    if (t->pending_b && t->n > 1)
        mt_buf_addf(&title, ", %s of it", mt_human_bytes(t->pending_b, pending));
    if (t->pending_b)
        mt_buf_adds(&title,
                    t->n > 1 ? " freed but in use by a stream" : ", freed but in use by a stream");
    mt_svg_box(p->out, class_of(color_of(p, t->largest->site), class), LEFT + bar->x + t->from,
               y_of(bar->line), t->to - t->from, BAR_H, title.s);
    mt_buf_free(&title);
}

/* Draws all blocks, or only counts what would be drawn. */
static size_t draw_blocks(const struct picture *p, const struct mt_seg_bar *bar, bool draw)
{
    size_t n = 0;
    double after = 0;
    for (uint32_t i = 0; i < p->s->all.v[bar->seg].block_n; n++) {
        struct stretch t = next_stretch(p, bar, &i, after);
        after = t.to;
        if (draw)
            draw_stretch(p, bar, &t);
    }
    return n;
}

/* How many stretches it takes to draw all blocks. */
static size_t stretches_n(const struct picture *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->layout.bars.n; i++)
        n += draw_blocks(p, &p->layout.bars.v[i], false);
    return n;
}

static void add_pool(struct mt_buf *out, const struct picture *p, uint32_t pool, int64_t stream)
{
    mt_buf_adds(out, "pool ");
    add_name(out, p, pool);
    mt_buf_addf(out, stream ? ", stream 0x%llx" : ", stream %llx", (unsigned long long)stream);
}

static void draw_segment(const struct picture *p, const struct mt_seg_bar *bar)
{
    char size[MT_HUMAN_MAX], free_b[MT_HUMAN_MAX];
    const struct mt_seg *g = &p->s->all.v[bar->seg];
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s at 0x%llx, %s free, ", mt_human_bytes(g->size_b, size),
                (unsigned long long)g->address,
                mt_human_bytes(mt_wrap_sub(g->size_b, g->used_b), free_b));
    add_pool(&title, p, g->pool, g->stream);
    mt_svg_box(p->out, "seg", LEFT + bar->x, y_of(bar->line), bar->width, BAR_H, title.s);
    draw_blocks(p, bar, true);
    mt_buf_free(&title);
}

/* Before a line: the address of its first segment, and the bytes of all. */
static void label_line(const struct picture *p, size_t first)
{
    char text[MT_HUMAN_MAX];
    const struct mt_seg_bar *v = p->layout.bars.v;
    double y = y_of(v[first].line) + 11;
    int64_t bytes = 0;
    for (size_t i = first; i < p->layout.bars.n && v[i].line == v[first].line; i++)
        mt_wrap_inc(&bytes, p->s->all.v[v[i].seg].size_b);
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)p->s->all.v[v[first].seg].address);
    mt_svg_text(p->out, "dim", 8, y, text);
    mt_svg_text(p->out, "r", LEFT - 8, y, mt_human_bytes(bytes, text));
}

static void draw_heading(const struct picture *p, const struct mt_seg_bar *first)
{
    char count[MT_HUMAN_LONG], size[MT_HUMAN_MAX], free_b[MT_HUMAN_MAX];
    const struct mt_seg_section *h = &p->layout.sections.v[first->section];
    struct mt_buf text = {0};
    if (h->mixed)
        mt_buf_adds(&text, "other pools and streams");
    else
        add_pool(&text, p, h->pool, h->stream);
    mt_buf_addf(&text, ": %s, %s, %s of it free", mt_human_plural(h->segments_n, "segment", count),
                mt_human_bytes(h->size_b, size),
                mt_human_bytes(mt_wrap_sub(h->size_b, h->used_b), free_b));
    mt_svg_text(p->out, "", LEFT, y_of(first->line - 1) + 11, text.s);
    mt_buf_free(&text);
}

static void draw_segments(const struct picture *p)
{
    const struct mt_seg_bar *v = p->layout.bars.v;
    for (size_t i = 0; i < p->layout.bars.n; i++) {
        if (p->layout.sections.n > 1 && (!i || v[i].section != v[i - 1].section))
            draw_heading(p, &v[i]);
        if (!i || v[i].line != v[i - 1].line)
            label_line(p, i);
        draw_segment(p, &v[i]);
    }
}

static void legend_row(const struct picture *p, const char *class, int64_t bytes, const char *name,
                       double y)
{
    char size[MT_HUMAN_MAX];
    mt_svg_rect(p->out, class, LEFT, y, 14, 12);
    mt_svg_text(p->out, "r", LEFT + 100, y + 11, mt_human_bytes(bytes, size));
    mt_svg_text(p->out, "", LEFT + 112, y + 11, name);
}

static size_t legend_rows(const struct picture *p)
{
    return (p->sites.rows.n < COLORS + 1 ? p->sites.rows.n : COLORS + 1) + 1;
}

static void draw_legend(const struct picture *p, double y)
{
    char class[MT_HUMAN_MAX];
    struct mt_buf name = {0};
    const struct mt_seg_sites *sites = &p->sites;
    for (size_t i = 0; i < sites->rows.n && i <= COLORS; i++, y += ROW_H) {
        bool rest = i == COLORS;
        int64_t bytes = 0;
        for (size_t k = i; k < (rest ? sites->rows.n : i + 1); k++)
            mt_wrap_inc(&bytes, sites->rows.v[k].bytes);
        mt_buf_clear(&name);
        if (rest)
            mt_buf_adds(&name, "[others]");
        else
            add_name(&name, p, sites->rows.v[i].site);
        legend_row(p, class_of(rest ? -1 : (int)i, class), bytes, name.s, y);
    }
    legend_row(p, "seg", mt_wrap_sub(p->s->size_b, p->s->used_b), "free", y);
    mt_buf_free(&name);
}

/* How to read it. */
static void draw_description(const struct picture *p)
{
    char count[MT_HUMAN_LONG];
    const struct mt_seg_layout *l = &p->layout;
    struct mt_buf text = {0};
    mt_buf_addf(&text, "%s by %saddress%s; width is size",
                mt_human_plural((int64_t)p->s->all.n, "segment", count),
                l->sections.n > 1 ? "pool, stream and " : "",
                l->packed
                    ? ", side by side, before each row the address of its first and the bytes "
                      "of all"
                    : "");
    mt_buf_addf(&text, "; colours are blocks by the place that allocated them");
    mt_svg_text(p->out, "dim", 8, 42, text.s);
    mt_buf_free(&text);
}

/* What is not drawn, or not as it is. Returns where the next row begins. */
static double draw_notes(const struct picture *p, double y)
{
    char count[MT_HUMAN_LONG], size[MT_HUMAN_MAX], used[MT_HUMAN_MAX];
    const struct mt_seg_layout *l = &p->layout;
    struct mt_buf text = {0};
    if (l->left_n) {
        mt_buf_addf(&text, "Not drawn: the smallest %s, %s, %s of it in use.",
                    mt_human_plural(l->left_n, "segment", count), mt_human_bytes(l->left_b, size),
                    mt_human_bytes(l->left_used_b, used));
        mt_svg_text(p->out, "dim", LEFT, y + 11, text.s);
        y += ROW_H;
    }
    mt_buf_clear(&text);
    if (p->merged) {
        mt_buf_addf(&text, "Blocks less than %.0f px wide are drawn as one with those beside them.",
                    p->fine);
        mt_svg_text(p->out, "dim", LEFT, y + 11, text.s);
        y += ROW_H;
    }
    mt_buf_free(&text);
    return y + ROW_H;
}

void mt_segments_svg(struct mt_buf *out, const struct mt_segments *s, const char *title)
{
    struct picture p = {.out = out, .s = s};
    struct mt_buf css = {0};
    mt_seg_sites(s, 0, s->blocks.n, &p.sites);
    mt_seg_layout(s, BARS_W, ROWS_MAX, &p.layout);
    size_t stretches = 0, blocks = 0;
    for (p.fine = 1; (stretches = stretches_n(&p)) > BLOCKS_MAX && p.fine < BARS_W;)
        p.fine += p.fine < 4 ? 1 : 4;
    for (size_t i = 0; i < p.layout.bars.n; i++)
        blocks += s->all.v[p.layout.bars.v[i].seg].block_n;
    p.merged = stretches < blocks;
    size_t rows = p.layout.lines + (p.layout.left_n > 0) + p.merged + 1 + legend_rows(&p);
    mt_buf_adds(&css, style);
    mt_palette_css(&css, COLORS);
    mt_svg_begin(out, WIDTH, y_of(rows) + 10, title, css.s);
    mt_svg_text(out, "title", 8, 22, title);
    draw_description(&p);
    draw_segments(&p);
    draw_legend(&p, draw_notes(&p, y_of(p.layout.lines)));
    mt_svg_end(out);
    mt_buf_free(&css);
    mt_seg_layout_free(&p.layout);
    mt_vec_free(&p.sites.rows);
}
