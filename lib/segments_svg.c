/* The picture of an allocator's segments. No script; light and dark by the reader's own setting. */
#include "lib/human.h"
#include "lib/segments.h"
#include "lib/wrap.h"
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1200,
    LEFT = 190,  /* of the bars: labels stand before them */
    BAR_W = 860, /* of the largest segment */
    BAR_H = 14,
    ROW_H = 20,
    TOP = 64,
    COLORS = 12,    /* sites with a colour of their own; the rest shares one */
    BARS_MAX = 2000 /* more cannot be read */
};

static const char style[] =
    "<style>"
    "svg{background:#fff;font:12px system-ui,sans-serif}text{fill:#222}.dim{fill:#666}"
    ".seg{fill:#eceff1;stroke:#b0bec5;stroke-width:.5}"
    ".c0{fill:#1f77b4}.c1{fill:#ff7f0e}.c2{fill:#2ca02c}.c3{fill:#d62728}.c4{fill:#9467bd}"
    ".c5{fill:#8c564b}.c6{fill:#e377c2}.c7{fill:#bcbd22}.c8{fill:#17becf}.c9{fill:#3949ab}"
    ".c10{fill:#00796b}.c11{fill:#f4511e}.rest{fill:#78909c}"
    "@media (prefers-color-scheme:dark){svg{background:#14181c}text{fill:#e6e6e6}.dim{fill:#9aa}"
    ".seg{fill:#263238;stroke:#455a64}.rest{fill:#90a4ae}}"
    "</style>\n";

static void add_text(struct mt_buf *out, const char *s)
{
    struct mt_buf safe = {0};
    mt_escape_short(&safe, s); /* control bytes and bad UTF-8 have no place in XML either */
    for (const char *p = safe.s; *p; p++)
        if (*p == '<' || *p == '>' || *p == '&' || *p == '"')
            mt_buf_addf(out, "&#%d;", *p);
        else
            mt_buf_addc(out, *p);
    mt_buf_free(&safe);
}

static int color_of(const struct mt_seg_sites *sites, uint32_t site)
{
    for (size_t i = 0; i < sites->rows.n && i < COLORS; i++)
        if (sites->rows.v[i].site == site)
            return (int)i;
    return -1;
}

static void add_class(struct mt_buf *out, int color)
{
    if (color < 0)
        mt_buf_adds(out, "rest");
    else
        mt_buf_addf(out, "c%d", color);
}

static void add_block(struct mt_buf *out, const struct mt_segments *s, const struct mt_seg_block *b,
                      const struct mt_seg_sites *sites, double scale, double y)
{
    char size[MT_HUMAN_MAX];
    double width = (double)b->size_b * scale;
    mt_buf_adds(out, "<rect class=\"");
    add_class(out, color_of(sites, b->site));
    mt_buf_addf(out, "\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"><title>%s, ",
                LEFT + (double)b->at * scale, y, width < 0.3 ? 0.3 : width, BAR_H,
                mt_human_bytes(b->bytes_b, size));
    add_text(out, mt_strtab_get(&s->strings, b->site));
    mt_buf_adds(out, b->pending ? ", freed but in use by a stream</title></rect>\n"
                                : "</title></rect>\n");
}

static void add_segment(struct mt_buf *out, const struct mt_segments *s, const struct mt_seg *g,
                        const struct mt_seg_sites *sites, double scale, double y)
{
    char size[MT_HUMAN_MAX], free_b[MT_HUMAN_MAX];
    mt_buf_addf(out,
                "<text class=\"dim\" x=\"8\" y=\"%.0f\">0x%llx</text>"
                "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n",
                y + 11, (unsigned long long)g->address, LEFT - 8, y + 11,
                mt_human_bytes(g->size_b, size));
    mt_buf_addf(out,
                "<rect class=\"seg\" x=\"%d\" y=\"%.0f\" width=\"%.2f\" height=\"%d\">"
                "<title>%s free, stream 0x%llx, pool %s</title></rect>\n",
                LEFT, y, (double)g->size_b * scale, BAR_H,
                mt_human_bytes(mt_wrap_sub(g->size_b, g->used_b), free_b),
                (unsigned long long)g->stream, mt_strtab_get(&s->strings, g->pool));
    for (uint32_t i = 0; i < g->block_n; i++)
        add_block(out, s, &s->blocks.v[g->first_block + i], sites, scale, y);
}

static void add_legend(struct mt_buf *out, const struct mt_segments *s,
                       const struct mt_seg_sites *sites, double y)
{
    char size[MT_HUMAN_MAX];
    for (size_t i = 0; i < sites->rows.n && i <= COLORS; i++) {
        bool rest = i == COLORS;
        int64_t bytes = 0;
        for (size_t k = i; k < (rest ? sites->rows.n : i + 1); k++)
            mt_wrap_inc(&bytes, sites->rows.v[k].bytes);
        mt_buf_adds(out, "<rect class=\"");
        add_class(out, rest ? -1 : (int)i);
        mt_buf_addf(out,
                    "\" x=\"%d\" y=\"%.0f\" width=\"14\" height=\"12\"/><text x=\"%d\" y=\"%.0f\" "
                    "text-anchor=\"end\">%s</text><text x=\"%d\" y=\"%.0f\">",
                    LEFT, y + (double)i * ROW_H, LEFT + 100, y + (double)i * ROW_H + 11,
                    mt_human_bytes(bytes, size), LEFT + 112, y + (double)i * ROW_H + 11);
        add_text(out, rest ? "[others]" : mt_strtab_get(&s->strings, sites->rows.v[i].site));
        mt_buf_adds(out, "</text>\n");
    }
}

void mt_segments_svg(struct mt_buf *out, const struct mt_segments *s, const char *title)
{
    struct mt_seg_sites sites = {0};
    int64_t largest = 1;
    size_t bars = s->all.n < BARS_MAX ? s->all.n : BARS_MAX;
    for (size_t i = 0; i < s->all.n; i++)
        largest = s->all.v[i].size_b > largest ? s->all.v[i].size_b : largest;
    mt_seg_sites(s, 0, s->blocks.n, &sites);
    size_t legend = sites.rows.n < COLORS + 1 ? sites.rows.n : COLORS + 1;
    size_t height = TOP + (bars + legend + 1) * ROW_H + 20;
    mt_buf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
                "viewBox=\"0 0 %d %zu\">\n%s<text x=\"8\" y=\"22\" font-weight=\"bold\">",
                WIDTH, height, WIDTH, height, style);
    add_text(out, title);
    mt_buf_addf(out,
                "</text>\n<text class=\"dim\" x=\"8\" y=\"42\">%zu segments by address%s; grey is "
                "free, colours are blocks by the place that allocated them</text>\n",
                s->all.n, bars < s->all.n ? ", the first 2000 shown" : "");
    for (size_t i = 0; i < bars; i++)
        add_segment(out, s, &s->all.v[i], &sites, BAR_W / (double)largest,
                    (double)(TOP + i * ROW_H));
    add_legend(out, s, &sites, (double)(TOP + (bars + 1) * ROW_H));
    mt_buf_adds(out, "</svg>\n");
    mt_vec_free(&sites.rows);
}
