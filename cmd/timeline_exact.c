/* memtool timeline --exact: every change of the level. */
#include "cmd/common.h"
#include "cmd/timeline.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include <stdlib.h>

struct mt_timeline_changes {
    const struct mt_timeline *t;
    uint32_t *nodes;    /* by record; NULL: no op is known */
    int64_t next, last; /* index in the levels */
};

static bool next_change(void *closure, struct mt_cell *cells)
{
    struct mt_timeline_changes *c = closure;
    const struct mt_timeline *t = c->t;
    if (c->next > c->last)
        return false;
    const struct mt_level *l = &t->levels.all.v[c->next];
    cells[0] = mt_cell_int(l->t_ns);
    int64_t before = mt_levels_value(&t->levels, c->next - 1);
    if (l->level_b != MT_UNKNOWN && before != MT_UNKNOWN)
        cells[1] = mt_cell_int(mt_wrap_sub(l->level_b, before));
    if (l->level_b != MT_UNKNOWN)
        cells[2] = mt_cell_int(l->level_b);
    if (c->nodes) {
        const struct mt_tree *tree = &t->view->blocks.tree;
        bool in_run = l->record < t->view->run.record_end; /* else: a damaged database */
        uint32_t node = in_run ? c->nodes[l->record] : MT_NONE;
        cells[3] = mt_cell_text(node < tree->nodes.n
                                    ? mt_strtab_get(&tree->strings, tree->nodes.v[node].frame)
                                : node == MT_NODE_UNSEEN ? "[freed unseen]"
                                                         : "[outside ops]");
    }
    int64_t step = mt_steps_number_at(&t->view->blocks.steps, l->t_ns);
    if (step != INT64_MIN)
        cells[4] = mt_cell_int(step);
    c->next++;
    return true;
}

enum mt_status mt_timeline_exact(struct mt_timeline *t, struct mt_timeline_changes **out,
                                 struct mt_err *err)
{
    struct mt_timeline_changes *c = *out = mt_alloc(sizeof *c);
    struct mt_report *r = t->report;
    *c = (struct mt_timeline_changes){.t = t,
                                      .next = mt_levels_before(&t->levels, t->asked.from_ns) + 1,
                                      .last = mt_levels_before(&t->levels, t->asked.to_ns)};
    if (t->allocated)
        MT_TRY(mt_levels_nodes(t->view->db, &t->view->run, &t->view->device, &c->nodes, err));
    mt_report_columns(r, "time_ns change_b level_b name step");
    r->keep_order = true;
    r->next = next_change;
    r->closure = c;
    char n[MT_HUMAN_LONG];
    r->title = mt_asprintf("%s · %s · %s of %s bytes%s", t->view->run.name, t->view->device.shown,
                           mt_human_plural(c->last + 1 - c->next, "change", n), t->metric,
                           t->window ? t->window : "");
    if (t->view->device.one_moment && t->allocated)
        mt_report_no_history(r, &t->view->run);
    int64_t start_b = mt_levels_value(&t->levels, c->next - 1);
    mt_report_total(r, "start_b", mt_cell_known(start_b));
    return MT_OK;
}

void mt_timeline_changes_free(struct mt_timeline_changes *c)
{
    if (c)
        free(c->nodes);
    free(c);
}
