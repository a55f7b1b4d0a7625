#include "lib/page/page.h"

#include "lib/base/human.h"
#include "lib/flame/flame.h"
#include "lib/render/svg.h"

#include <stdio.h>

static const struct {
    enum mt_measure measure;
    const char *name, *words; /* to the script, to people; NULL: the caller's */
} measures[] = {{MT_MEASURE_ALIVE_B, "peak", NULL},
                {MT_MEASURE_ALLOC_B, "allocated", "Allocated"},
                {MT_MEASURE_END_B, "end", "At end"},
                {MT_MEASURE_ALLOC_N, "count", "Allocated"},
                {MT_MEASURE_BASE, "base", "Before"}};

static void add_names(const struct mt_stacks *s, struct mt_buf *out)
{
    mt_buf_adds(out, "\"names\":[");
    for (size_t i = 0; i < s->frames.n; i++) {
        struct mt_buf words = {0};
        mt_escape_short(&words, mt_stacks_text(s, s->frames.v[i].text));
        mt_buf_adds(out, i ? ",\"" : "\"");
        mt_escape_json(out, words.n ? words.s : "");
        mt_buf_addc(out, '"');
        mt_buf_free(&words);
    }
    mt_buf_adds(out, "]");
}

static void add_measure(const struct mt_stacks *s, enum mt_measure measure, struct mt_buf *out)
{
    size_t last = 0;
    bool first = true;
    for (size_t i = 0; i < s->nodes.n; i++) {
        int64_t v = s->nodes.v[i].self[measure];
        if (!v)
            continue;
        mt_buf_addf(out, "%s%zu,%lld", first ? "" : ",", i - last, (long long)v);
        last = i;
        first = false;
    }
}

void mt_page_paths_json(const struct mt_stacks *s, struct mt_buf *out)
{
    int *level = mt_alloc((s->nodes.n + 1) * sizeof *level);
    mt_buf_addc(out, '{');
    add_names(s, out);
    mt_buf_adds(out, ",\"level\":[");
    for (size_t i = 0; i < s->nodes.n; i++) {
        uint32_t parent = s->nodes.v[i].parent;
        level[i] = parent == MT_NONE ? 0 : level[parent] + 1;
        mt_buf_addf(out, "%s%d", i ? "," : "", level[i]);
    }
    mt_buf_adds(out, "],\"name\":[");
    for (size_t i = 0; i < s->nodes.n; i++)
        mt_buf_addf(out, "%s%u", i ? "," : "", s->nodes.v[i].frame);
    mt_buf_adds(out, "],\"kind\":\"");
    for (size_t i = 0; i < s->nodes.n; i++)
        mt_buf_addf(out, "%d", (int)mt_flame_kind(s, &s->nodes.v[i]));
    mt_buf_adds(out, "\",\"measures\":{");
    const char *comma = "";
    for (size_t m = 0; m < MT_ARRAY_LEN(measures); m++) {
        if (!s->knows[measures[m].measure])
            continue;
        mt_buf_addf(out, "%s\"%s\":[", comma, measures[m].name);
        add_measure(s, measures[m].measure, out);
        mt_buf_adds(out, "]");
        comma = ",";
    }
    mt_buf_adds(out, "}}");
    free(level);
}

/* ---- for readers without script ---- */

enum {
    WIDTH = 1072,
    ROW = 19,
    NARROWEST = 3,
    LEVELS = 40,
    BOXES = 500
};                                    /* pixels; what is drawn */
static const double character = 7.25; /* of the font */

/* A box of that class; its label as far as there is room. */
static void add_box(struct mt_buf *out, const char *kind, double x, int level, double width,
                    const char *label, const char *title)
{
    struct mt_buf said = {0}, words = {0}, cut = {0};
    int room = (int)((width - 6) / character);
    mt_escape_short(&said, title);
    mt_svg_box(out, kind, x, (double)level * ROW, width - 1, ROW - 1, said.s);
    if (room > 2) {
        mt_escape_short(&words, label);
        mt_cut_end(&cut, words.s, room, false);
        mt_svg_text(out, "name", x + 3, (double)level * ROW + 13, cut.s);
    }
    mt_buf_free(&cut);
    mt_buf_free(&words);
    mt_buf_free(&said);
}

static void add_path(struct mt_buf *out, const struct mt_flame *f, const struct mt_flame_box *b)
{
    const struct mt_stack_node *node = &f->stacks->nodes.v[b->node];
    double scale = WIDTH / (double)f->total;
    char kind[16];
    struct mt_buf said = {0};
    snprintf(kind, sizeof kind, "f%d", (int)mt_flame_kind(f->stacks, node));
    mt_flame_tell(f, b, &said);
    add_box(out, kind, (double)b->x * scale, b->level + 1, (double)b->width * scale,
            mt_stacks_text(f->stacks, f->stacks->frames.v[node->frame].text), said.s);
    mt_buf_free(&said);
}

static bool is_drawn(const struct mt_flame *f, const struct mt_flame_box *b, double narrowest)
{
    return b->level < LEVELS && (double)b->width * WIDTH >= narrowest * (double)f->total;
}

/* The narrowest box that is drawn, so that they are not too many for a page. */
static double narrowest_of(const struct mt_flame *f)
{
    for (double pixels = NARROWEST;; pixels *= 1.5) {
        size_t n = 0;
        for (size_t i = 0; i < f->boxes.n; i++)
            n += is_drawn(f, &f->boxes.v[i], pixels);
        if (n <= BOXES)
            return pixels;
    }
}

static void add_paths(struct mt_buf *out, const struct mt_flame *f, const char *words)
{
    struct mt_buf boxes = {0}, all = {0};
    char size[MT_HUMAN_LONG];
    int levels = 1;
    double narrowest = narrowest_of(f);
    mt_buf_addf(&all, "%s: %s", words,
                mt_measure_is_bytes((int)f->measure) ? mt_human_with_exact(f->total, size)
                                                     : mt_human_plural(f->total, "block", size));
    add_box(&boxes, "fall", 0, 0, WIDTH, all.s, all.s);
    for (size_t i = 0; i < f->boxes.n; i++) {
        const struct mt_flame_box *b = &f->boxes.v[i];
        if (!is_drawn(f, b, narrowest))
            continue;
        add_path(&boxes, f, b);
        levels = b->level + 2 > levels ? b->level + 2 : levels;
    }
    mt_buf_addf(out,
                "<svg class=\"still\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Call paths, "
                "the outermost on top\">\n%s</svg>\n",
                WIDTH, levels * ROW, boxes.s);
    mt_buf_free(&all);
    mt_buf_free(&boxes);
}

void mt_page_paths_svg(const struct mt_stacks *s, const char *alive, struct mt_buf *out)
{
    for (size_t m = 0; m < MT_ARRAY_LEN(measures); m++) {
        if (!s->knows[measures[m].measure] || mt_stacks_sum(s, measures[m].measure) <= 0)
            continue;
        struct mt_flame f = {0};
        mt_flame_lay(&f, s, measures[m].measure);
        add_paths(out, &f, measures[m].words ? measures[m].words : alive);
        mt_flame_free(&f);
        return;
    }
}
