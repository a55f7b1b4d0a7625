#include "formats/snapshot_regions.h"

#include <stdlib.h>
#include <string.h>

enum { LANES_MAX = 64 };

/* ---- which end is whose ---- */

static void find_due(struct mt_snap_marks *m)
{
    const struct mt_snap_mark *begun = NULL; /* the nearest behind */
    for (size_t i = m->all.n; i-- > 0;) {
        struct mt_snap_mark *mark = &m->all.v[i];
        begun = mark->start ? mark : begun;
        mark->due_ns = mark->t_ns + (!begun || begun->t_ns != mark->t_ns);
    }
}

void mt_snap_marks_pair(struct mt_snap_marks *m)
{
    struct mt_map open = {0}; /* name -> mark + 1 of the last one open, 0 = none */
    for (uint32_t i = 0; i < m->all.n; i++) {
        struct mt_snap_mark *mark = &m->all.v[i];
        uint32_t *last = mt_map_at(&open, mark->name);
        *last = *last == MT_MAP_NONE ? 0 : *last;
        mark->mate = MT_NONE;
        if (mark->start) {
            mark->number = *last;
            *last = i + 1;
        } else if (*last) {
            mark->mate = *last - 1;
            m->all.v[mark->mate].mate = i;
            *last = m->all.v[mark->mate].number;
        }
    }
    mt_map_free(&open);
    find_due(m);
}

/* ---- lanes ---- */

static struct mt_snap_region *top_of(const struct mt_snap_lane *lane)
{
    return lane->open.n ? &lane->open.v[lane->open.n - 1] : NULL;
}

static void find_innermost(struct mt_snap_regions *g)
{
    const struct mt_snap_region *last = NULL;
    for (size_t i = 0; i < g->lanes.n; i++) {
        const struct mt_snap_region *top = top_of(&g->lanes.v[i]);
        if (top && (!last || top->number > last->number))
            last = top;
    }
    g->node = last ? last->node : MT_NONE;
}

/* The recording's first thread is there from the start, and the first lane of the first device that
 * has any. */
static struct mt_snap_lane *new_lane(struct mt_snap_regions *g, struct mt_recording *rec)
{
    uint32_t thread = 0;
    if (rec->threads.v[0].ops.n)
        thread = mt_rec_thread(rec, 0, MT_NONE, (int64_t)rec->threads.n, MT_NONE);
    struct mt_snap_lane *lane = mt_vec_push(&g->lanes);
    *lane = (struct mt_snap_lane){.thread = thread};
    return lane;
}

/* Where a region ends in time to lie in what is open there: in the one begun last, if it can, else
 * in none. Where lanes run out it is cut. */
static struct mt_snap_lane *choose_lane(struct mt_snap_regions *g, struct mt_recording *rec,
                                        int64_t *end_ns)
{
    struct mt_snap_lane *around = NULL, *empty = NULL;
    for (size_t i = 0; i < g->lanes.n; i++) {
        struct mt_snap_lane *lane = &g->lanes.v[i];
        const struct mt_snap_region *top = top_of(lane);
        if (!top)
            empty = empty ? empty : lane;
        else if (top->end_ns >= *end_ns && (!around || top->number > top_of(around)->number))
            around = lane;
    }
    if (around || empty)
        return around ? around : empty;
    if (g->lanes.n < LANES_MAX)
        return new_lane(g, rec);
    struct mt_snap_lane *last = &g->lanes.v[g->lanes.n - 1];
    *end_ns = top_of(last)->end_ns;
    mt_rec_note(rec, MT_NOTE_OVERLAP, -1, 0);
    return last;
}

/* ---- regions ---- */

static void begin(struct mt_snap_regions *g, const struct mt_snap_marks *marks,
                  struct mt_snap_mark *mark, struct mt_snap_paths *paths, struct mt_recording *rec,
                  const char *text)
{
    mark->number = g->begun_n++;
    int64_t end_ns = mark->mate == MT_NONE ? INT64_MAX : marks->all.v[mark->mate].t_ns;
    end_ns = end_ns > mark->t_ns ? end_ns : mark->t_ns;
    struct mt_snap_lane *lane = choose_lane(g, rec, &end_ns);
    const struct mt_snap_region *around = top_of(lane);
    uint32_t label =
        mt_rec_label(rec, mt_strtab_add(&rec->strings, text, strlen(text)), MT_FRAME_ANNOTATION);
    uint32_t node = mt_snap_region_node(paths, rec, around ? around->node : MT_NONE,
                                        rec->labels.v[label].frame);
    struct mt_thread *t = &rec->threads.v[lane->thread];
    uint32_t op = (uint32_t)t->ops.n;
    rec->busy_n += !op;
    *mt_vec_push(&t->ops) = (struct mt_op){.start_ns = mark->t_ns,
                                           .end_ns = mark->t_ns,
                                           .label = label,
                                           .args = MT_NONE,
                                           .fwd = MT_NONE,
                                           .parent = around ? around->op : MT_NONE,
                                           .node = node};
    rec->op_n++;
    *mt_vec_push(&lane->open) =
        (struct mt_snap_region){.number = mark->number, .op = op, .node = node, .end_ns = end_ns};
}

/* The innermost region of a lane ends, by t_ns. */
static void end_top(struct mt_snap_lane *lane, struct mt_recording *rec, int64_t t_ns)
{
    const struct mt_snap_region *top = &lane->open.v[--lane->open.n];
    struct mt_op *op = &rec->threads.v[lane->thread].ops.v[top->op];
    struct mt_node *node = &rec->nodes.v[op->node];
    int64_t end_ns = top->end_ns < t_ns ? top->end_ns : t_ns;
    op->end_ns = end_ns > op->start_ns ? end_ns : op->start_ns;
    int64_t dur = op->end_ns - op->start_ns;
    node->calls_n++;
    node->time_ns += dur;
    node->self_time_ns += dur;
    if (lane->open.n)
        rec->nodes.v[top_of(lane)->node].self_time_ns -= dur;
}

/* Ends a region and what lies in it; nothing where it was cut and has ended before. */
static void end(struct mt_snap_regions *g, uint32_t number, struct mt_recording *rec)
{
    for (size_t i = 0; i < g->lanes.n; i++) {
        struct mt_snap_lane *lane = &g->lanes.v[i];
        size_t at = lane->open.n;
        while (at && lane->open.v[at - 1].number > number)
            at--;
        if (!at || lane->open.v[at - 1].number != number)
            continue;
        while (lane->open.n >= at)
            end_top(lane, rec, INT64_MAX);
        return;
    }
}

void mt_snap_region_mark(struct mt_snap_regions *g, struct mt_snap_marks *marks,
                         struct mt_snap_paths *paths, struct mt_recording *rec,
                         const struct mt_strtab *strings)
{
    struct mt_snap_mark *mark = &marks->all.v[marks->at++];
    if (mark->start)
        begin(g, marks, mark, paths, rec, mt_strtab_get(strings, mark->name));
    else if (mark->mate != MT_NONE)
        end(g, marks->all.v[mark->mate].number, rec);
    else
        mt_rec_note(rec, MT_NOTE_UNMATCHED_BE, -1, 0);
    find_innermost(g);
}

void mt_snap_regions_end(struct mt_snap_regions *g, struct mt_recording *rec, int64_t t_ns)
{
    for (size_t i = 0; i < g->lanes.n; i++) {
        while (g->lanes.v[i].open.n) {
            mt_rec_note(rec, MT_NOTE_UNMATCHED_BE, -1, 0);
            end_top(&g->lanes.v[i], rec, t_ns);
        }
        mt_vec_free(&g->lanes.v[i].open);
    }
    mt_vec_free(&g->lanes);
}
