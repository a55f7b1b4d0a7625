/* Flame graphs on a terminal: a line for each level, boxes as wide as they can be told apart. */
#include "lib/flame/flame.h"

#include "lib/base/human.h"
#include "lib/render/render.h"
#include <string.h>

/* Backgrounds, of 256 colours and of all; the text on them is dark. */
struct color {
    int of_256;
    uint32_t rgb;
};
static const struct color kinds[MT_FLAME_KIND_N] = {
    [MT_FLAME_USER] = {114, 0x87d787},   [MT_FLAME_LIBRARY] = {110, 0x87afd7},
    [MT_FLAME_OP] = {215, 0xffaf5f},     [MT_FLAME_BACKWARD] = {183, 0xd7afff},
    [MT_FLAME_NATIVE] = {186, 0xd7d787}, [MT_FLAME_OUTSIDE] = {250, 0xbcbcbc}};
static const struct color changes[11] = {{27, 0x3d7fe0},  {33, 0x5c97ea},  {75, 0x7fb2f2},
                                         {117, 0xa3cbf8}, {153, 0xc6e0fb}, {250, 0xbcbcbc},
                                         {224, 0xfbdcdc}, {217, 0xf8bcbc}, {210, 0xf49a9a},
                                         {203, 0xee7676}, {196, 0xe65252}};

enum { LEVELS_MOST = 24 };

struct canvas {
    const struct mt_flame *f;
    int width;
    bool ascii;
    int colors;
    struct mt_buf *out;
};

static int column(const struct canvas *v, int64_t x)
{
    return v->f->total ? (int)((double)x / (double)v->f->total * v->width + 0.5) : 0;
}

/* The text of a box in its columns, cut at its end; what changed begins with the sign of that. */
static void add_text(const struct canvas *v, const struct mt_flame_box *b, int columns)
{
    const struct mt_stacks *s = v->f->stacks;
    struct mt_buf text = {0}, cut = {0};
    const struct mt_stack_frame *f = &s->frames.v[s->nodes.v[b->node].frame];
    const int change = mt_flame_change(v->f, b);
    const char *sign = change > 0 ? "+ " : change < 0 ? "- " : "";
    mt_buf_adds(&text, sign);
    mt_escape_short(&text, mt_stacks_text(s, f->text));
    if (mt_display_width(text.s) > columns) {
        mt_buf_clear(&text);
        mt_buf_adds(&text, sign);
        mt_escape_short(&text, mt_stacks_text(s, f->name));
    }
    if (columns > 2)
        mt_cut_end(&cut, text.s, columns, v->ascii);
    mt_buf_adds(v->out, cut.n ? cut.s : "");
    for (int n = columns - (cut.n ? mt_display_width(cut.s) : 0); n > 0; n--)
        mt_buf_addc(v->out, ' ');
    mt_buf_free(&text);
    mt_buf_free(&cut);
}

/* A little darker, by the name: neighbours differ, and a function looks the same everywhere. */
static uint32_t shade(uint32_t rgb, const char *name)
{
    uint32_t hash = 0, shown = 0;
    for (; *name; name++)
        hash = hash * 31 + (unsigned char)*name;
    for (int shift = 0; shift <= 16; shift += 8)
        shown |= ((rgb >> shift & 0xff) * (100 - hash % 12) / 100) << shift;
    return shown;
}

static void add_color(const struct canvas *v, const struct mt_flame_box *b)
{
    const struct mt_flame *f = v->f;
    const struct mt_stack_node *n = &f->stacks->nodes.v[b->node];
    const struct color *c =
        f->compared ? &changes[5 + mt_flame_change(f, b)] : &kinds[mt_flame_kind(f->stacks, n)];
    const char *name = mt_stacks_text(f->stacks, f->stacks->frames.v[n->frame].text);
    uint32_t rgb = f->compared ? c->rgb : shade(c->rgb, name);
    if (v->colors > 256)
        mt_buf_addf(v->out, "\033[30;48;2;%u;%u;%um", rgb >> 16, rgb >> 8 & 0xff, rgb & 0xff);
    else
        mt_buf_addf(v->out, "\033[30;48;5;%dm", c->of_256);
}

static void add_box(const struct canvas *v, const struct mt_flame_box *b, int columns)
{
    if (v->colors)
        add_color(v, b);
    else
        mt_buf_adds(v->out, v->ascii ? "|" : "▏");
    add_text(v, b, columns - (v->colors ? 0 : 1));
    if (v->colors)
        mt_buf_adds(v->out, "\033[0m");
}

/* A level; boxes of it stand in boxes.v in order of x. */
static void add_line(const struct canvas *v, int level)
{
    int at = 0;
    for (size_t i = 0; i < v->f->boxes.n; i++) {
        const struct mt_flame_box *b = &v->f->boxes.v[i];
        if (b->level != level)
            continue;
        int from = column(v, b->x), to = column(v, b->x + b->width);
        if (to - from < 1)
            continue;
        for (; at < from; at++)
            mt_buf_addc(v->out, ' ');
        bool gap = to - from > 2 && v->colors; /* between neighbours */
        add_box(v, b, to - from - gap);
        if (gap)
            mt_buf_addc(v->out, ' ');
        at = to;
    }
    while (v->out->n && v->out->s[v->out->n - 1] == ' ')
        v->out->s[--v->out->n] = '\0';
    mt_buf_addc(v->out, '\n');
}

/* Which levels are left out: those of which nothing can be seen; and where there are many, those
 * whose boxes are as wide as those of the next. */
static bool *find_chains(const struct canvas *v)
{
    const struct mt_flame *f = v->f;
    struct seen {
        uint64_t hash;
        size_t n;
    } *levels = mt_alloc(((size_t)f->level_n + 1) * sizeof *levels);
    bool *chain = mt_alloc((size_t)f->level_n + 1);
    for (size_t i = 0; i < f->boxes.n; i++) {
        const struct mt_flame_box *b = &f->boxes.v[i];
        int from = column(v, b->x), to = column(v, b->x + b->width);
        if (to - from < 1)
            continue;
        struct seen *l = &levels[b->level];
        l->hash = (l->hash ^ ((uint64_t)from << 32 | (uint32_t)to)) * UINT64_C(0x9E3779B97F4A7C15);
        l->n++;
    }
    for (int i = 0; i < f->level_n; i++) {
        bool same = levels[i].hash == levels[i + 1].hash && levels[i].n == levels[i + 1].n;
        chain[i] = !levels[i].n || (same && f->level_n > LEVELS_MOST);
    }
    free(levels);
    return chain;
}

int mt_flame_text(const struct mt_flame *f, int width, bool ascii, int colors, struct mt_buf *out)
{
    struct canvas v = {f, width, ascii, colors, out};
    bool *chain = find_chains(&v);
    int left_out = 0;
    for (int level = 0; level < f->level_n; level++) {
        left_out += chain[level];
        if (!chain[level])
            add_line(&v, level);
    }
    free(chain);
    return left_out;
}
