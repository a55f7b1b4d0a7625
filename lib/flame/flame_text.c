/* Flame graphs on a terminal: a line for each level, boxes as wide as they can be told apart. */
#include "lib/flame/flame.h"

#include "lib/base/human.h"
#include "lib/render/render.h"
#include <string.h>

/* Background and foreground of 256 colours; dark text on light boxes. */
static const int colors[MT_FLAME_KIND_N] = {
    [MT_FLAME_USER] = 114,     [MT_FLAME_LIBRARY] = 110, [MT_FLAME_OP] = 215,
    [MT_FLAME_BACKWARD] = 183, [MT_FLAME_NATIVE] = 186,  [MT_FLAME_OUTSIDE] = 250};
static const int changes[11] = {27, 33, 75, 117, 153, 250, 224, 217, 210, 203, 196};

enum { LEVELS_MOST = 24 };

struct canvas {
    const struct mt_flame *f;
    int width;
    bool ascii, color;
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
    mt_escape_terminal(&text, mt_stacks_text(s, f->text));
    if (mt_display_width(text.s) > columns) {
        mt_buf_clear(&text);
        mt_buf_adds(&text, sign);
        mt_escape_terminal(&text, mt_stacks_text(s, f->name));
    }
    if (columns > 2)
        mt_cut_end(&cut, text.s, columns, v->ascii);
    mt_buf_adds(v->out, cut.n ? cut.s : "");
    for (int n = columns - (cut.n ? mt_display_width(cut.s) : 0); n > 0; n--)
        mt_buf_addc(v->out, ' ');
    mt_buf_free(&text);
    mt_buf_free(&cut);
}

static void add_box(const struct canvas *v, const struct mt_flame_box *b, int columns)
{
    const struct mt_flame *f = v->f;
    int color = f->compared ? changes[5 + mt_flame_change(f, b)]
                            : colors[mt_flame_kind(f->stacks, &f->stacks->nodes.v[b->node])];
    if (v->color)
        mt_buf_addf(v->out, "\033[30;48;5;%dm", color);
    else
        mt_buf_adds(v->out, v->ascii ? "|" : "▏");
    add_text(v, b, columns - (v->color ? 0 : 1));
    if (v->color)
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
        bool gap = to - from > 2 && v->color; /* between neighbours */
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

int mt_flame_text(const struct mt_flame *f, int width, bool ascii, bool color, struct mt_buf *out)
{
    struct canvas v = {f, width, ascii, color, out};
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
