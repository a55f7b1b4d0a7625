#include "lib/usage/segments.h"

#include "gen/queries.h"
#include "lib/base/map.h"
#include "lib/base/wrap.h"
#include "lib/run/load.h"
#include "lib/run/sites.h"
#include <stdlib.h>
#include <string.h>

enum { GRANULE = 512 }; /* blocks are multiples of this */

static uint32_t text(struct mt_segments *s, const char *t)
{
    return mt_strtab_add(&s->strings, t, strlen(t));
}

static enum mt_status load_segments(struct mt_db *db, const struct mt_run_device *device,
                                    int64_t event, struct mt_segments *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_SEGMENTS_AT, &s, err));
    mt_stmt_bind(s, "iI", device->id, event == MT_AT_END ? INT64_MIN : event);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const char *pool = mt_stmt_text(s, 3);
        int64_t size = mt_stmt_int(s, 1);
        *mt_vec_push(&out->all) =
            (struct mt_seg){.address = (uint64_t)mt_stmt_int(s, 0),
                            .size_b = size > 0 ? size : 0,
                            .stream = mt_stmt_int(s, 2),
                            .pool = text(out, pool ? pool : MT_SEG_DEFAULT_POOL),
                            .small = mt_stmt_int(s, 4) != 0,
                            .expandable = mt_stmt_int(s, 5) != 0,
                            .alloc_ns = mt_stmt_int_or(s, 6, INT64_MIN)};
        mt_wrap_inc(&out->size_b, out->all.v[out->all.n - 1].size_b);
    }
}

/* Adds the block to the segment around its address; *at: the segment of the block before. */
static void place(struct mt_segments *out, uint64_t address, struct mt_seg_block b, size_t *at)
{
    while (*at < out->all.n &&
           address - out->all.v[*at].address >= (uint64_t)out->all.v[*at].size_b &&
           address > out->all.v[*at].address)
        ++*at;
    if (*at == out->all.n || address < out->all.v[*at].address) {
        mt_wrap_inc(&out->lost_b, b.size_b);
        out->lost_n++;
        return;
    }
    struct mt_seg *g = &out->all.v[*at];
    b.at = (int64_t)(address - g->address);
    if (b.size_b > g->size_b - b.at)
        b.size_b = g->size_b - b.at;
    if (!g->block_n++)
        g->first_block = (uint32_t)out->blocks.n;
    mt_wrap_inc(&g->used_b, b.size_b);
    mt_wrap_inc(&g->pending_b, b.pending ? b.size_b : 0);
    mt_wrap_inc(&g->requested_b, b.bytes_b);
    *mt_vec_push(&out->blocks) = b;
}

static uint32_t site_of(struct mt_segments *s, const char *top, const char *scope)
{
    struct mt_buf site = {0};
    mt_site_add(&site, top, scope);
    uint32_t id = mt_strtab_add(&s->strings, site.s, site.n);
    mt_buf_free(&site);
    return id;
}

static enum mt_status load_blocks(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, int64_t record,
                                  struct mt_segments *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    size_t at = 0;
    MT_TRY(mt_db_query(db, MT_Q_BLOCKS_AT, &s, err));
    mt_stmt_bind(s, "iiii", run->alloc_first, run->alloc_first + run->alloc_n, device->id, record);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t bytes = mt_stmt_int(s, 1), size = mt_stmt_int_or(s, 2, INT64_MIN);
        const char *top = mt_stmt_text(s, 5);
        if (size == INT64_MIN)
            size = mt_wrap_add(bytes, GRANULE - 1) / GRANULE * GRANULE;
        place(out, (uint64_t)mt_stmt_int(s, 0),
              (struct mt_seg_block){
                  .size_b = size > 0 ? size : 0,
                  .bytes_b = bytes,
                  .alloc_ns = mt_stmt_int_or(s, 4, INT64_MIN),
                  .pending = mt_stmt_int(s, 3) == 2 && record == MT_AT_END,
                  .site = top ? site_of(out, top, mt_stmt_text(s, 6)) : text(out, "[unknown]"),
              },
              &at);
    }
}

int64_t mt_seg_unit(const struct mt_segments *s, bool small)
{
    return small ? (int64_t)2 << 20 : s->settings.large_b;
}

static void find_units(struct mt_seg_hole *hole, int64_t unit)
{
    int64_t first = hole->at / unit + (hole->at % unit != 0);
    int64_t end = (hole->at + hole->size_b) / unit;
    hole->units_at = end > first ? first * unit : hole->at;
    hole->units_b = end > first ? (end - first) * unit : 0;
}

bool mt_seg_next_hole(const struct mt_segments *s, const struct mt_seg *g, struct mt_seg_hole *hole)
{
    while (hole->next_block <= g->block_n) {
        bool last = hole->next_block++ == g->block_n;
        const struct mt_seg_block *b =
            last ? NULL : &s->blocks.v[g->first_block + hole->next_block - 1];
        hole->at = hole->used_to;
        hole->size_b = (last ? g->size_b : b->at) - hole->at;
        if (!last && b->at + b->size_b > hole->used_to)
            hole->used_to = b->at + b->size_b;
        if (hole->size_b <= 0)
            continue;
        find_units(hole, mt_seg_unit(s, g->small));
        return true;
    }
    return false;
}

/* One walk per segment: the holes between its blocks. */
static void sum_segment(struct mt_segments *s, struct mt_seg *g)
{
    for (struct mt_seg_hole hole = {0}; mt_seg_next_hole(s, g, &hole);) {
        g->hole_n++;
        g->hole_b += hole.size_b;
        g->largest_hole_b = hole.size_b > g->largest_hole_b ? hole.size_b : g->largest_hole_b;
        g->units_b += hole.units_b;
    }
    mt_wrap_inc(&s->used_b, g->used_b);
    mt_wrap_inc(&s->requested_b, g->requested_b);
    mt_wrap_inc(&s->pending_b, g->pending_b);
    mt_wrap_inc(g->block_n ? &s->split_b : &s->unused_b, g->hole_b);
    s->hole_n += g->block_n ? g->hole_n : 0;
    s->unused_n += !g->block_n;
    if (g->largest_hole_b > s->largest_hole_b)
        s->largest_hole_b = g->largest_hole_b;
}

enum mt_status mt_segments_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_seg_moment moment,
                                struct mt_segments *out, struct mt_err *err)
{
    *out = (struct mt_segments){0};
    mt_strtab_init(&out->strings);
    MT_TRY(mt_alloc_settings_load(db, run, &out->settings, err));
    MT_TRY(load_segments(db, device, moment.event, out, err));
    MT_TRY(load_blocks(db, run, device, moment.record, out, err));
    for (size_t i = 0; i < out->all.n; i++)
        sum_segment(out, &out->all.v[i]);
    return MT_OK;
}

void mt_segments_free(struct mt_segments *s)
{
    mt_strtab_free(&s->strings);
    mt_vec_free(&s->all);
    mt_vec_free(&s->blocks);
}

static int site_cmp(const void *a, const void *b)
{
    const struct mt_seg_site *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

void mt_seg_sites(const struct mt_segments *s, size_t from, size_t to, struct mt_seg_sites *out)
{
    struct mt_map index = {0};
    out->rows.n = 0;
    for (size_t i = from; i < to; i++) {
        const struct mt_seg_block *b = &s->blocks.v[i];
        uint32_t *at = mt_map_at(&index, b->site);
        if (*at == MT_MAP_NONE) {
            *at = (uint32_t)out->rows.n;
            *mt_vec_push(&out->rows) = (struct mt_seg_site){.site = b->site};
        }
        mt_wrap_inc(&out->rows.v[*at].bytes, b->size_b);
        mt_wrap_inc(&out->rows.v[*at].pending_b, b->pending ? b->size_b : 0);
        out->rows.v[*at].n++;
    }
    mt_map_free(&index);
    if (out->rows.n)
        qsort(out->rows.v, out->rows.n, sizeof *out->rows.v, site_cmp);
}

void mt_seg_shares(const struct mt_segments *s, const struct mt_seg *g, int n, double *shares)
{
    uint32_t b = 0;
    for (int i = 0; i < n; i++) {
        double from = (double)g->size_b * i / n, to = (double)g->size_b * (i + 1) / n, used = 0;
        for (; b < g->block_n; b++) {
            const struct mt_seg_block *block = &s->blocks.v[g->first_block + b];
            double start = (double)block->at, end = start + (double)block->size_b;
            double overlap = (end < to ? end : to) - (start > from ? start : from);
            used += overlap > 0 ? overlap : 0;
            if (end > to)
                break; /* it reaches into the next part */
        }
        shares[i] = to > from ? used / (to - from) : 0; /* a damaged file may have no size */
    }
}
