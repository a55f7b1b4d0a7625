#include "lib/usage/segments_layout.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

struct entry {
    uint32_t seg, section;
    const struct mt_seg *g;
};

struct placing {
    const struct mt_segments *s;
    struct entry *all; /* as they are to stand */
    size_t n;
    double width, largest;
    struct mt_seg_layout *out;
};

static int by_pool(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->g->pool != y->g->pool)
        return x->g->pool < y->g->pool ? -1 : 1;
    if (x->g->stream != y->g->stream)
        return x->g->stream < y->g->stream ? -1 : 1;
    return x->seg < y->seg ? -1 : x->seg > y->seg;
}

static int by_section(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return x->seg < y->seg ? -1 : x->seg > y->seg;
}

static int by_size(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->g->size_b != y->g->size_b)
        return x->g->size_b > y->g->size_b ? -1 : 1;
    return x->seg < y->seg ? -1 : x->seg > y->seg;
}

struct ranked {
    struct mt_seg_section section;
    uint32_t number; /* of the pool and stream, in order of these */
};

static int by_bytes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->section.size_b != y->section.size_b)
        return x->section.size_b > y->section.size_b ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void add_to(struct mt_seg_section *section, int64_t n, int64_t size_b, int64_t used_b)
{
    section->segments_n += n;
    mt_wrap_inc(&section->size_b, size_b);
    mt_wrap_inc(&section->used_b, used_b);
}

/* Gives each segment the section of its pool and stream. */
static void find_sections(struct placing *p)
{
    struct ranked *ranked = mt_alloc((p->n + 1) * sizeof *ranked);
    uint32_t *place = mt_alloc((p->n + 1) * sizeof *place), n = 0;
    qsort(p->all, p->n, sizeof *p->all, by_pool);
    for (size_t i = 0; i < p->n; i++) {
        const struct mt_seg *g = p->all[i].g;
        if (!i || g->pool != p->all[i - 1].g->pool || g->stream != p->all[i - 1].g->stream) {
            ranked[n] = (struct ranked){{.pool = g->pool, .stream = g->stream}, n};
            n++;
        }
        p->all[i].section = n - 1;
        add_to(&ranked[n - 1].section, 1, g->size_b, g->used_b);
    }
    qsort(ranked, n, sizeof *ranked, by_bytes);
    for (uint32_t i = 0; i < n; i++) {
        const struct mt_seg_section *from = &ranked[i].section;
        if (i < MT_SEG_SECTIONS_MAX)
            *mt_vec_push(&p->out->sections) = *from;
        place[ranked[i].number] = i < MT_SEG_SECTIONS_MAX ? i : MT_SEG_SECTIONS_MAX - 1;
        if (i < MT_SEG_SECTIONS_MAX)
            continue;
        struct mt_seg_section *last = &p->out->sections.v[MT_SEG_SECTIONS_MAX - 1];
        last->mixed = true;
        add_to(last, from->segments_n, from->size_b, from->used_b);
    }
    for (size_t i = 0; i < p->n; i++)
        p->all[i].section = place[p->all[i].section];
    free(ranked);
    free(place);
}

/* Keeps the n largest, and puts these into order. */
static void keep(struct placing *p, size_t n)
{
    qsort(p->all, p->n, sizeof *p->all, by_size);
    for (; p->n > n; p->n--) {
        const struct mt_seg *g = p->all[p->n - 1].g;
        p->out->left_n++;
        mt_wrap_inc(&p->out->left_b, g->size_b);
        mt_wrap_inc(&p->out->left_used_b, g->used_b);
    }
    p->largest = p->n && p->all[0].g->size_b > 0 ? (double)p->all[0].g->size_b : 1;
    qsort(p->all, p->n, sizeof *p->all, by_section);
}

/* Puts all in lines, at a scale of pixels per byte. */
static void place(struct placing *p, double scale, bool packed)
{
    struct mt_seg_layout *out = p->out;
    uint32_t line = 0;
    double x = 0;
    out->packed = packed;
    out->bars.n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct entry *e = &p->all[i];
        double width = (double)e->g->size_b * scale;
        width = width < MT_SEG_BAR_MIN ? MT_SEG_BAR_MIN : width;
        bool begins = !i || e->section != p->all[i - 1].section;
        if (i && (begins || !packed || x + width > p->width + 1e-6)) {
            line++;
            x = 0;
        }
        if (begins && out->sections.n > 1)
            line++;
        *mt_vec_push(&out->bars) = (struct mt_seg_bar){e->seg, e->section, line, x, width};
        x += width + MT_SEG_BAR_GAP;
    }
    out->lines = p->n ? line + 1 : 0;
}

/* At the largest scale at which they get along with the lines. */
static bool fit(struct placing *p, size_t lines)
{
    double scale = p->width / p->largest;
    place(p, scale, false);
    if (p->out->lines <= lines)
        return true;
    while (place(p, scale, true), p->out->lines > lines) {
        if (p->largest * scale <= MT_SEG_BAR_MIN)
            return false;
        scale *= 0.97;
    }
    return true;
}

void mt_seg_layout(const struct mt_segments *s, double width, size_t lines,
                   struct mt_seg_layout *out)
{
    struct placing p = {.s = s, .n = s->all.n, .width = width, .out = out};
    *out = (struct mt_seg_layout){0};
    p.all = mt_alloc((p.n + 1) * sizeof *p.all);
    for (uint32_t i = 0; i < p.n; i++)
        p.all[i] = (struct entry){.seg = i, .g = &s->all.v[i]};
    find_sections(&p);
    for (size_t n = MT_SEG_BARS_MAX; keep(&p, n), !fit(&p, lines); n = p.n / 2)
        ;
    free(p.all);
}

void mt_seg_layout_free(struct mt_seg_layout *l)
{
    mt_vec_free(&l->bars);
    mt_vec_free(&l->sections);
}
