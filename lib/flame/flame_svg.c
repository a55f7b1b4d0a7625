/* Flame graphs as pictures. Coordinates are pixels; boxes say in data attributes what they are in
 * bytes, for the script. */
#include "lib/flame/flame.h"

#include "gen/assets.h"
#include "lib/base/human.h"
#include "lib/render/svg.h"
#include <string.h>

enum { SIDE = 10, HEAD = 52, FOOT = 14, ROW = 17, WIDTH_LEAST = 400 };
static const double character = 7.25, seen = 0.3; /* pixels: of the font; what is drawn */

/* Four shades of each, by name, so that equal functions look alike in any picture. */
static const char *const shades[MT_FLAME_KIND_N][4] = {
    [MT_FLAME_USER] = {"#8fd19e", "#7cc98d", "#a3dcb0", "#6fc082"},
    [MT_FLAME_LIBRARY] = {"#a9c7e8", "#9abce2", "#b9d3ee", "#8cb2dc"},
    [MT_FLAME_OP] = {"#f5b971", "#f2ad5c", "#f8c58a", "#eda24c"},
    [MT_FLAME_BACKWARD] = {"#d0b5f0", "#c6a7ec", "#dcc6f5", "#bb99e6"},
    [MT_FLAME_NATIVE] = {"#e3d98a", "#dbd077", "#ebe3a1", "#d2c667"},
    [MT_FLAME_OUTSIDE] = {"#c9cdd2", "#c1c6cc", "#d2d6da", "#b8bec5"}};
/* From what lost most to what won most; colours that a colour-blind reader can tell apart. */
static const char *const changes[11] = {"#2166ac", "#4393c3", "#74add1", "#abd0e6",
                                        "#d1e5f0", "#e4e6e8", "#fde0d2", "#fbbfa4",
                                        "#f4977b", "#e06950", "#c53a3a"};
static const char *const kinds[MT_FLAME_KIND_N] = {"your Python",          "libraries' Python",
                                                   "operators and scopes", "backward",
                                                   "native code",          "no call path"};

struct picture {
    const struct mt_flame *f;
    struct mt_buf *out;
    double width;
    size_t hidden_n;
};

static void add_xml(struct mt_buf *out, const char *text)
{
    struct mt_buf words = {0};
    mt_escape_short(&words, text);
    mt_escape_xml(out, words.s);
    mt_buf_free(&words);
}

static const char *color_of(const struct mt_flame *f, const struct mt_flame_box *b)
{
    const struct mt_stacks *s = f->stacks;
    const struct mt_stack_node *n = &s->nodes.v[b->node];
    unsigned hash = 5381;
    if (f->compared)
        return changes[5 + mt_flame_change(f, b)];
    for (const char *p = mt_stacks_text(s, s->frames.v[n->frame].name); *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    return shades[mt_flame_kind(s, n)][hash % 4];
}

static const char *text_of(const struct mt_flame *f, const struct mt_flame_box *b)
{
    const struct mt_stacks *s = f->stacks;
    return mt_stacks_text(s, s->frames.v[s->nodes.v[b->node].frame].text);
}

static const char *size_of(const struct mt_flame *f, const struct mt_flame_box *b,
                           char out[MT_HUMAN_LONG])
{
    return mt_measure_is_bytes((int)f->measure) ? mt_human_bytes(b->width, out)
                                                : mt_human_plural(b->width, "block", out);
}

/* A name in so many characters, with its size where both fit; the script does the same. */
static void add_label(struct mt_buf *out, const struct mt_flame *f, const struct mt_flame_box *b,
                      int room)
{
    struct mt_buf cut = {0}, words = {0};
    char size[MT_HUMAN_LONG];
    mt_escape_short(&words, text_of(f, b));
    if (mt_display_width(words.s) + 3 + (int)strlen(size_of(f, b, size)) <= room)
        mt_buf_addf(&words, " \u00b7 %s", size);
    mt_cut_end(&cut, words.s, room, false);
    mt_escape_xml(out, cut.n ? cut.s : "");
    mt_buf_free(&words);
    mt_buf_free(&cut);
}

static double scale_of(const struct picture *p)
{
    return p->f->total ? p->width / (double)p->f->total : 0;
}

/* Characters that a box has room for. */
static int room_of(const struct picture *p, const struct mt_flame_box *b)
{
    return (int)(((double)b->width * scale_of(p) - 6) / character);
}

static void count_hidden(struct picture *p)
{
    for (size_t i = 0; i < p->f->boxes.n; i++)
        p->hidden_n += (double)p->f->boxes.v[i].width * scale_of(p) < seen;
}

static void add_box(struct picture *p, const struct mt_flame_box *b)
{
    double scale = scale_of(p);
    double x = (double)b->x * scale, w = (double)b->width * scale;
    int y = HEAD + b->level * ROW, room = room_of(p, b);
    struct mt_buf said = {0};
    if (w < seen)
        return;
    mt_flame_tell(p->f, b, &said);
    mt_buf_addf(
        p->out,
        "<g class=\"box\" tabindex=\"0\" data-x=\"%lld\" data-w=\"%lld\" data-l=\"%d\"><title>",
        (long long)b->x, (long long)b->width, b->level);
    add_xml(p->out, said.s);
    mt_buf_addf(p->out,
                "</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"1\" "
                "fill=\"%s\"/>",
                x, y, w, ROW - 1, color_of(p->f, b));
    if (room > 2) {
        mt_buf_addf(p->out, "<text x=\"%.1f\" y=\"%d\">", x + 3, y + 12);
        add_label(p->out, p->f, b, room);
        mt_buf_adds(p->out, "</text>");
    }
    mt_buf_adds(p->out, "</g>\n");
    mt_buf_free(&said);
}

/* What the colours mean, at the right end of the second line. */
static void add_legend(struct picture *p)
{
    bool used[MT_FLAME_KIND_N] = {false};
    double x = SIDE + p->width;
    if (p->f->compared) {
        mt_svg_text(p->out, "sub dim r", x, 38, "red: more than before, blue: less");
        return;
    }
    for (size_t i = 0; i < p->f->boxes.n; i++)
        used[mt_flame_kind(p->f->stacks, &p->f->stacks->nodes.v[p->f->boxes.v[i].node])] = true;
    for (int k = MT_FLAME_KIND_N; k-- > 0;) {
        if (!used[k])
            continue;
        x -= 6.6 * (double)strlen(kinds[k]);
        mt_svg_text(p->out, "sub dim", x, 38, kinds[k]);
        mt_buf_addf(p->out, "<rect x=\"%.1f\" y=\"29\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
                    x - 14, shades[k][0]);
        x -= 28;
    }
}

/* ---- names without room ---- */

enum { NAMED = 10 };
static const double least_share = 0.005; /* of all */

/* The widest boxes whose names have no room, so that the picture can be read where nothing can be
 * pointed at. */
struct unnamed {
    const struct mt_flame_box *v[NAMED];
    size_t n;
};

static void find_unnamed(const struct picture *p, struct unnamed *out)
{
    const struct mt_flame *f = p->f;
    for (size_t i = 0; i < f->boxes.n; i++) {
        const struct mt_flame_box *b = &f->boxes.v[i];
        struct mt_buf words = {0};
        mt_escape_short(&words, text_of(f, b));
        bool fits = mt_display_width(words.s) <= room_of(p, b);
        mt_buf_free(&words);
        if (fits || (double)b->width < least_share * (double)f->total)
            continue;
        size_t k = out->n < NAMED ? out->n++ : NAMED;
        for (; k > 0 && out->v[k - 1]->width < b->width; k--)
            if (k < NAMED)
                out->v[k] = out->v[k - 1];
        if (k < NAMED)
            out->v[k] = b;
    }
}

static void add_unnamed(const struct picture *p, const struct unnamed *u, int y)
{
    if (u->n)
        mt_svg_text(p->out, "sub dim", SIDE, y + 8,
                    "Without room for their names, the widest first:");
    for (size_t i = 0; i < u->n; i++) {
        struct mt_buf said = {0}, words = {0}, cut = {0};
        mt_flame_tell(p->f, u->v[i], &said);
        mt_escape_short(&words, said.s);
        mt_cut_end(&cut, words.s, (int)(p->width / character), false);
        mt_svg_text(p->out, "sub below", SIDE, y + 8 + (double)(i + 1) * ROW, cut.s);
        mt_buf_free(&cut);
        mt_buf_free(&words);
        mt_buf_free(&said);
    }
}

static size_t draw(const struct mt_flame *f, int width, struct mt_buf *out)
{
    width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
    struct picture p = {f, out, width - 2 * SIDE, 0};
    char n[MT_HUMAN_LONG];
    struct unnamed unnamed = {{NULL}, 0};
    find_unnamed(&p, &unnamed);
    const int below = HEAD + f->level_n * ROW + FOOT;
    int height = below + (unnamed.n ? (int)(unnamed.n + 1) * ROW : 0);
    mt_svg_begin(out, width, height, f->title, mt_asset_flame_css);
    mt_buf_addf(
        out, "<svg class=\"flame\" data-width=\"%.0f\" data-total=\"%lld\" overflow=\"visible\">\n",
        p.width, (long long)f->total);
    mt_svg_text(out, "head", SIDE, 21, f->title);
    mt_buf_addf(out, "<text class=\"sub dim status\" x=\"%d\" y=\"38\">", SIDE);
    count_hidden(&p);
    add_xml(out, f->what);
    if (p.hidden_n)
        mt_buf_addf(out, " %s too narrow to be seen %s left out.",
                    mt_human_plural((int64_t)p.hidden_n, "function", n),
                    p.hidden_n == 1 ? "is" : "are");
    mt_buf_adds(out, "</text>\n");
    add_legend(&p);
    mt_buf_addf(out, "<g transform=\"translate(%d)\">\n", SIDE);
    for (size_t i = 0; i < f->boxes.n; i++)
        add_box(&p, &f->boxes.v[i]);
    mt_buf_adds(out, "</g>\n");
    add_unnamed(&p, &unnamed, below);
    mt_buf_adds(out, "</svg>\n");
    return p.hidden_n;
}

size_t mt_flame_svg(const struct mt_flame *f, int width, struct mt_buf *out)
{
    size_t hidden = draw(f, width, out);
    mt_buf_addf(out, "<script><![CDATA[\n%s]]></script>\n", mt_asset_flame_js);
    mt_svg_end(out);
    return hidden;
}

size_t mt_flame_html(const struct mt_flame *f, int width, struct mt_buf *out)
{
    mt_buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    add_xml(out, f->title);
    mt_buf_addf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", mt_asset_page_css);
    mt_buf_adds(out,
                "<p><label>Search <input class=\"search\" type=\"search\" "
                "placeholder=\"regular expression\"></label> Click a box to zoom in, Escape to "
                "go back.</p>\n");
    size_t hidden = draw(f, width, out);
    mt_svg_end(out);
    mt_buf_adds(out, "<p>In the terminal: <code>");
    add_xml(out, f->command);
    mt_buf_addf(out, "</code></p>\n<script>\n%s</script>\n</body>\n</html>\n", mt_asset_flame_js);
    return hidden;
}
