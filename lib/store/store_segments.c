/* Writes what only snapshots of an allocator tell: segments, blocks, events. */
#include "lib/store/store_parts.h"

#include "gen/queries.h"

static int64_t relative(const struct mt_writer *w, int64_t t_ns)
{
    return t_ns == MT_GONE ? INT64_MIN : t_ns - w->r->start_ns;
}

static int64_t or_null(uint32_t id, int64_t first)
{
    return id == MT_NONE ? INT64_MIN : first + id;
}

static enum mt_status write_segment(struct mt_writer *w, size_t i, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_segment *g = &w->r->segments.v[i];
    int64_t pool = INT64_MIN;
    if (g->pool != MT_NONE)
        MT_TRY(mt_store_string(w, g->pool, &pool, err));
    MT_TRY(mt_db_query(w->db, MT_Q_SEGMENT_ADD, &s, err));
    mt_stmt_bind(s, "iiiiiIiiIIIIIIII", w->segment + (int64_t)i, w->device + g->device,
                 (int64_t)g->address, g->size, g->stream, pool, (int64_t)g->small,
                 (int64_t)g->expandable, g->allocated_b, relative(w, g->alloc_ns),
                 relative(w, g->freed_ns), or_null(g->alloc_record, 0), or_null(g->freed_record, 0),
                 or_null(g->node, w->node), g->alloc_event, g->freed_event);
    return mt_stmt_run(s, err);
}

static void block_row(void *closure, uint64_t row, int64_t *cells)
{
    const struct mt_writer *w = closure;
    const struct mt_block *b = &w->r->blocks.v[row];
    cells[0] = w->alloc + (int64_t)row;
    cells[1] = (int64_t)b->address;
    cells[2] = b->size;
    cells[3] = b->stream;
    cells[4] = b->pool == MT_NONE ? INT64_MIN : w->string_id[b->pool];
    cells[5] = or_null(b->segment, w->segment);
    cells[6] = b->state;
    cells[7] = relative(w, b->free_requested_ns);
}

static enum mt_status write_events(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_recording *r = w->r;
    for (size_t i = 0; i < r->other_events.n; i++) {
        const struct mt_other_event *e = &r->other_events.v[i];
        MT_TRY(mt_db_query(w->db, MT_Q_EVENT_ADD, &s, err));
        mt_stmt_bind(s, "iiiiIsiis", w->run, (int64_t)i, w->device + e->device,
                     e->t_ns - r->start_ns, e->record_n ? (int64_t)e->record_n - 1 : INT64_MIN,
                     mt_strtab_get(&r->strings, e->action), (int64_t)e->address, e->bytes,
                     e->text == MT_NONE ? NULL : mt_strtab_get(&r->strings, e->text));
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

enum mt_status mt_store_segments(struct mt_writer *w, struct mt_err *err)
{
    const struct mt_recording *r = w->r;
    int64_t id;
    for (size_t i = 0; i < r->segments.n; i++)
        MT_TRY(write_segment(w, i, err));
    for (size_t i = 0; i < r->blocks.n; i++)
        if (r->blocks.v[i].pool != MT_NONE && !w->string_id[r->blocks.v[i].pool])
            MT_TRY(mt_store_string(w, r->blocks.v[i].pool, &id, err));
    MT_TRY(mt_db_insert_rows(w->db, MT_Q_BLOCK_ADD_ALL, r->blocks.n, block_row, w, err));
    return write_events(w, err);
}
