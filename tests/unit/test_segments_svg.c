/* lib/usage/segments_layout.h and lib/render/segments_svg.c: pictures that fit a page however much
 * is in them.
 */
#include "lib/base/wrap.h"
#include "lib/usage/segments_layout.h"
#include "tests/unit/rows.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often `what` occurs. */
static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

struct segments_row {
    const char *name;
    uint32_t n, pools;
    int64_t largest_b; /* the first; the others are of 2 and 20 MiB in turns; 0: as these */
    uint32_t blocks;   /* of each */
    bool packed, all;  /* expected */
    size_t sections;
};

#define MIB (INT64_C(1) << 20)

static const struct segments_row segments_rows[] = {
    {"segments: none", 0, 1, 0, 0, false, true, 0},
    {"segments: one", 1, 1, 0, 3, false, true, 1},
    {"segments: as many as there are lines", 50, 1, 0, 3, false, true, 1},
    {"segments: one more", 51, 1, 0, 3, true, true, 1},
    {"segments: headings want lines too", 48, 2, 0, 3, false, true, 2},
    {"segments: two headings and one more", 49, 2, 0, 3, true, true, 2},
    {"segments: a thousand", 1010, 1, 0, 12, true, true, 1},
    {"segments: a thousand in a hundred pools", 1010, 100, 0, 3, true, true, 8},
    {"segments: one of 80 GiB and small ones", 900, 2, 80 * 1024 * MIB, 5, true, true, 2},
    {"segments: more than can be told apart", 40000, 3, 0, 20, true, false, 3},
    {"segments: a few with very many blocks", 4, 1, 0, 100000, false, true, 1},
    {"segments: of strange sizes", 60, 1, INT64_MAX, 3, true, true, 1},
    {"segments: of no size", 60, 1, -5, 3, true, true, 1},
};

static void make_segments(const struct segments_row *row, struct mt_segments *s)
{
    char pool[20];
    uint32_t site[20], pools[100];
    mt_strtab_init(&s->strings);
    for (uint32_t i = 0; i < 20; i++) {
        snprintf(pool, sizeof pool, "site<%u>", i);
        site[i] = mt_strtab_add(&s->strings, pool, strlen(pool));
    }
    for (uint32_t i = 0; i < row->pools; i++) {
        snprintf(pool, sizeof pool, "%u,1", i);
        pools[i] = mt_strtab_add(&s->strings, pool, strlen(pool));
    }
    for (uint32_t i = 0; i < row->n; i++) {
        int64_t size = i % 2 ? 2 * MIB : 20 * MIB;
        size = row->largest_b < 0 || (!i && row->largest_b) ? row->largest_b : size;
        struct mt_seg *g = mt_vec_push(&s->all);
        *g = (struct mt_seg){.address = (uint64_t)(i + 1) << 30,
                             .size_b = size,
                             .pool = pools[i % row->pools],
                             .stream = i % row->pools % 3};
        g->first_block = (uint32_t)s->blocks.n;
        g->block_n = row->blocks;
        for (uint32_t k = 0; k < row->blocks; k++)
            *mt_vec_push(&s->blocks) =
                (struct mt_seg_block){.at = size / (row->blocks + 1) * k,
                                      .size_b = size / (row->blocks + 1) / (k % 3 + 1),
                                      .bytes_b = 100,
                                      .site = site[k % 20],
                                      .pending = k % 4 == 3};
        mt_wrap_inc(&s->size_b, size);
    }
}

/* Nothing overlaps or is too wide, and what stands nowhere is summed up. */
static void test_layout(void **state)
{
    const struct segments_row *row = *state;
    struct mt_segments s = {0};
    struct mt_seg_layout l;
    make_segments(row, &s);
    mt_seg_layout(&s, 990, 50, &l);
    int64_t bytes = l.left_b;
    assert_true(l.lines <= 50);
    assert_int_equal(l.packed, row->packed);
    assert_int_equal(l.sections.n, row->sections);
    assert_int_equal(l.left_n == 0, row->all);
    assert_int_equal((int64_t)l.bars.n + l.left_n, row->n);
    assert_true(l.bars.n <= MT_SEG_BARS_MAX);
    for (size_t i = 0; i < l.bars.n; i++) {
        const struct mt_seg_bar *b = &l.bars.v[i], *before = i ? b - 1 : NULL;
        const struct mt_seg *g = &s.all.v[b->seg];
        mt_wrap_inc(&bytes, g->size_b);
        assert_true(b->width >= MT_SEG_BAR_MIN && b->x >= 0 && b->x + b->width < 990.01);
        assert_true(b->line < l.lines);
        const struct mt_seg_section *section = &l.sections.v[b->section];
        assert_true(section->mixed || (g->pool == section->pool && g->stream == section->stream));
        if (!before)
            continue;
        assert_true(b->section > before->section || b->seg > before->seg);
        assert_true(b->line > before->line || b->x >= before->x + before->width + MT_SEG_BAR_GAP);
        assert_true(row->packed || b->line > before->line);
    }
    assert_int_equal(bytes, s.size_b);
    mt_seg_layout_free(&l);
    mt_segments_free(&s);
}

/* The picture fits a page and stays small, and has a tooltip for each thing. */
static void test_segments(void **state)
{
    const struct segments_row *row = *state;
    struct mt_segments s = {0};
    struct mt_buf out = {0};
    make_segments(row, &s);
    mt_segments_svg(&out, &s, "title");
    double height = strtod(strstr(out.s, "height=\"") + strlen("height=\""), NULL);
    size_t drawn = row->n < MT_SEG_BARS_MAX ? row->n : MT_SEG_BARS_MAX;
    assert_true(height <= 1450);
    assert_true(out.n < 2500000);
    assert_int_equal(count(out.s, "<rect class=\"seg\""), drawn + 1); /* and in the legend */
    if (row->n && row->n <= 51) /* wide enough for a block each */
        assert_true(count(out.s, "</title></rect>") > row->n);
    assert_int_equal(count(out.s, "Not drawn: the smallest") == 0, row->all);
    assert_int_equal(count(out.s, "<site"), 0);
    mt_buf_free(&out);
    mt_segments_free(&s);
}

int main(void)
{
    static struct row_tests t;
    setlocale(LC_CTYPE, "C.UTF-8");
    ROWS_ADD(&t, test_layout, segments_rows);
    ROWS_ADD(&t, test_segments, segments_rows);
    return ROWS_RUN(&t, "segments svg");
}
