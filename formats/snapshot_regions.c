#include "formats/snapshot_regions.h"

#include <stdlib.h>
#include <string.h>

static void begin(struct mt_snap_regions *g, struct mt_snap_paths *paths, struct mt_recording *rec,
                  const char *text, uint32_t name, int64_t t_ns)
{
    uint32_t label =
        mt_rec_label(rec, mt_strtab_add(&rec->strings, text, strlen(text)), MT_FRAME_ANNOTATION);
    uint32_t node =
        mt_snap_region_node(paths, rec, mt_snap_region_of(g), rec->labels.v[label].frame);
    struct mt_thread *t = &rec->threads.v[0];
    uint32_t op = (uint32_t)t->ops.n;
    *mt_vec_push(&t->ops) =
        (struct mt_op){.start_ns = t_ns,
                       .end_ns = t_ns,
                       .label = label,
                       .shape = MT_NONE,
                       .fwd = MT_NONE,
                       .parent = g->open.n ? g->open.v[g->open.n - 1].op : MT_NONE,
                       .node = node};
    rec->op_n++;
    *mt_vec_push(&g->open) = (struct mt_snap_region){name, op, node};
}

static void end(struct mt_snap_regions *g, struct mt_recording *rec, size_t at, int64_t t_ns)
{
    struct mt_op *op = &rec->threads.v[0].ops.v[g->open.v[at].op];
    struct mt_node *node = &rec->nodes.v[op->node];
    op->end_ns = t_ns > op->start_ns ? t_ns : op->start_ns;
    int64_t dur = op->end_ns - op->start_ns;
    node->calls_n++;
    node->time_ns += dur;
    node->self_time_ns += dur;
    if (op->parent != MT_NONE)
        rec->nodes.v[rec->threads.v[0].ops.v[op->parent].node].self_time_ns -= dur;
    memmove(&g->open.v[at], &g->open.v[at + 1], (g->open.n - at - 1) * sizeof *g->open.v);
    g->open.n--;
}

void mt_snap_region_mark(struct mt_snap_regions *g, struct mt_snap_paths *paths,
                         struct mt_recording *rec, const struct mt_strtab *strings, uint32_t name,
                         bool start, int64_t t_ns)
{
    if (start) {
        begin(g, paths, rec, mt_strtab_get(strings, name), name, t_ns);
        return;
    }
    /* Regions of several threads may overlap: the innermost of that name ends. */
    for (size_t i = g->open.n; i-- > 0;)
        if (g->open.v[i].name == name) {
            end(g, rec, i, t_ns);
            return;
        }
    mt_rec_note(rec, MT_NOTE_UNMATCHED_BE, -1, 0);
}

void mt_snap_regions_end(struct mt_snap_regions *g, struct mt_recording *rec, int64_t t_ns)
{
    while (g->open.n) {
        mt_rec_note(rec, MT_NOTE_UNMATCHED_BE, -1, 0);
        end(g, rec, g->open.n - 1, t_ns);
    }
    mt_vec_free(&g->open);
}
