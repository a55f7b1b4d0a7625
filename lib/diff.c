#include "lib/diff.h"

#include "lib/wrap.h"
#include <stdlib.h>
#include <string.h>

/* Index of groups by their keys, to collect one group's figures from several sources. */
struct collector {
    struct mt_diff_side *side;
    int key_n;
    struct mt_strtab index;
};

static struct mt_figures *figures_of(struct collector *c, const char *const *key, bool explicit_row)
{
    struct mt_buf text = {0};
    for (int k = 0; k < c->key_n; k++) {
        mt_buf_adds(&text, key[k]);
        mt_buf_addc(&text, '\x1f');
    }
    mt_buf_addc(&text, explicit_row ? '!' : ' ');
    uint32_t id = mt_strtab_add(&c->index, text.s, text.n);
    mt_buf_free(&text);
    if (id == c->side->groups.n) {
        struct mt_diff_group *g = mt_vec_push(&c->side->groups);
        *g = (struct mt_diff_group){.name = {.explicit_row = explicit_row}};
        memcpy(g->name.key, key, (size_t)c->key_n * sizeof *key);
    }
    return &c->side->groups.v[id].f;
}

static enum mt_status collect_ops(struct collector *c, const struct mt_diff *d, struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    struct mt_groups groups = {0};
    const struct mt_op_filter all = {.keys = d->keys, .key_n = d->key_n};
    enum mt_status st = MT_OK;
    if (mt_group_needs_ops(d->keys, d->key_n))
        st = mt_group_ops(s->db, &s->run, &s->device, &all, &s->tree, &groups, err);
    else
        mt_group(&s->lives->tree, d->keys, d->key_n, &groups); /* it has figures of nodes */
    for (size_t i = 0; i < groups.rows.n; i++) {
        const struct mt_group *g = &groups.rows.v[i];
        struct mt_figures *f = figures_of(c, g->key, g->explicit_row);
        mt_wrap_inc(&f->self_net_b, mt_sums_net(&g->self));
        mt_wrap_inc(&f->net_b, mt_sums_net(&g->total));
        mt_wrap_inc(&f->self_alloc_b, g->self.alloc_b);
        mt_wrap_inc(&f->self_alloc_n, g->self.alloc_n);
        mt_wrap_inc(&f->alloc_b, g->total.alloc_b);
        mt_wrap_inc(&f->calls_n, g->calls_n);
        mt_wrap_inc(&f->recomputed_n, g->recomputed_n);
        mt_wrap_inc(&f->time_ns, g->time_ns);
    }
    mt_groups_free(&groups);
    return st;
}

static enum mt_status collect_peak(struct collector *c, const struct mt_diff *d, struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    struct mt_live live = {0};
    struct mt_live_groups groups;
    int64_t record = s->device.peak_record == INT64_MIN ? -1 : s->device.peak_record;
    enum mt_status st = mt_live_at(s->lives, &s->device, record, &live, err);
    mt_live_groups_init(&groups, s->lives, d->keys, d->key_n);
    mt_live_groups_add(&groups, &live, s->device.peak_b, 0);
    for (size_t i = 0; i < groups.rows.n && st == MT_OK; i++) {
        const struct mt_live_group *g = &groups.rows.v[i];
        struct mt_figures *f = figures_of(c, g->key, g->explicit_row);
        mt_wrap_inc(&f->at_peak_b, g->at[0].bytes);
        f->at_peak_n = g->at[0].blocks_n < 0 ? -1 : f->at_peak_n + g->at[0].blocks_n;
    }
    mt_live_groups_free(&groups);
    mt_live_free(&live);
    return st;
}

static enum mt_status collect_leaks(struct collector *c, const struct mt_diff *d, int64_t warmup,
                                    struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    struct mt_leaks leaks;
    enum mt_status st = mt_leaks_find(s->lives, &s->device, d->keys, d->key_n, warmup, &leaks, err);
    for (size_t i = 0; i < leaks.rows.n && st == MT_OK; i++) {
        const struct mt_leak *l = &leaks.rows.v[i];
        struct mt_figures *f = figures_of(c, l->key, l->explicit_row);
        mt_wrap_inc(&f->at_end_b, l->at_end_b);
        if (l->verdict > MT_VERDICT_CANDIDATE || !l->growth_steps)
            continue;
        f->suspect_per_step_b += (double)l->growth_b / (double)l->growth_steps;
        s->whole.suspect_per_step_b += (double)l->growth_b / (double)l->growth_steps;
        if (l->verdict != MT_VERDICT_LEAK)
            continue;
        f->per_step_b += (double)l->growth_b / (double)l->growth_steps;
        f->per_step_n += (double)l->growth_n / (double)l->growth_steps;
        mt_wrap_inc(&f->leak_at_end_b, l->at_end_b);
        s->whole.per_step_b += (double)l->growth_b / (double)l->growth_steps;
        s->whole.per_step_n += (double)l->growth_n / (double)l->growth_steps;
        mt_wrap_inc(&s->whole.leak_at_end_b, l->at_end_b);
    }
    mt_leaks_free(&leaks);
    return st;
}

/* What no group of a side can know. */
static unsigned unknown_of(const struct mt_diff_side *s)
{
    bool lives = mt_lives_are_known(&s->device), snapshot = mt_run_is_snapshot(&s->run);
    return (lives ? 0u : MT_UNKNOWN_END) | (s->growth_known ? 0u : MT_UNKNOWN_GROWTH) |
           (s->gaps & MT_GAP_HISTORY ? MT_UNKNOWN_ALLOC : 0u) |
           (snapshot ? MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME : 0u);
}

enum mt_status mt_diff_load(struct mt_diff *d, int side, int parts, int64_t warmup,
                            struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[side];
    const struct mt_run_device *device = &s->device;
    struct collector c = {.side = s, .key_n = d->key_n};
    enum mt_status st = MT_OK;
    mt_strtab_init(&c.index);
    s->lives_lent = s->lives != NULL;
    if (!s->lives) {
        s->lives = mt_alloc(sizeof *s->lives);
        MT_TRY_OUT(mt_lives_open_with(s->db, &s->run, &s->device, s->lives, err));
    }
    MT_TRY_OUT(mt_run_gaps(s->db, &s->run, &s->gaps, err));
    s->step_n = (int64_t)s->lives->steps.all.n;
    s->growth_known = mt_lives_are_known(device) && mt_leaks_can_tell(s->step_n, warmup);
    s->whole = (struct mt_figures){.at_peak_b = device->peak_b,
                                   .self_net_b = device->net_b,
                                   .net_b = device->net_b,
                                   .self_alloc_b = device->alloc_b,
                                   .self_alloc_n = device->alloc_n,
                                   .alloc_b = device->alloc_b,
                                   .at_end_b = mt_lives_are_known(device) ? device->at_end_b : 0,
                                   .calls_n = s->run.op_n,
                                   .time_ns = s->run.dur_ns};
    s->whole.unknown = unknown_of(s);
    if (!(s->gaps & MT_GAP_HISTORY))
        s->whole.unknown &= ~(unsigned)MT_UNKNOWN_TIME; /* how long the recording is */
    if (parts & MT_DIFF_OPS)
        MT_TRY_OUT(collect_ops(&c, d, err));
    if (parts & MT_DIFF_LIVES)
        MT_TRY_OUT(collect_peak(&c, d, err));
    if (parts & MT_DIFF_LIVES && mt_lives_are_known(device))
        MT_TRY_OUT(collect_leaks(&c, d, warmup, err));
out:
    mt_strtab_free(&c.index);
    return st;
}

static void add_figures(struct mt_figures *to, const struct mt_figures *f)
{
    mt_wrap_inc(&to->at_peak_b, f->at_peak_b);
    to->at_peak_n = f->at_peak_n < 0 || to->at_peak_n < 0 ? -1 : to->at_peak_n + f->at_peak_n;
    mt_wrap_inc(&to->self_net_b, f->self_net_b);
    mt_wrap_inc(&to->net_b, f->net_b);
    mt_wrap_inc(&to->self_alloc_b, f->self_alloc_b);
    mt_wrap_inc(&to->self_alloc_n, f->self_alloc_n);
    mt_wrap_inc(&to->alloc_b, f->alloc_b);
    mt_wrap_inc(&to->calls_n, f->calls_n);
    mt_wrap_inc(&to->recomputed_n, f->recomputed_n);
    mt_wrap_inc(&to->time_ns, f->time_ns);
    mt_wrap_inc(&to->at_end_b, f->at_end_b);
    to->per_step_b += f->per_step_b;
    to->per_step_n += f->per_step_n;
    to->suspect_per_step_b += f->suspect_per_step_b;
    mt_wrap_inc(&to->leak_at_end_b, f->leak_at_end_b);
}

/* Without addresses all that is alive at the peak is in one row; of the others nothing is known. */
static void mark_unknown(const struct mt_diff_side *s, struct mt_diff_row *row,
                         struct mt_figures *f)
{
    f->unknown = unknown_of(s);
    if (!mt_lives_are_known(&s->device) && !f->at_peak_b)
        f->unknown |= MT_UNKNOWN_PEAK;
    if (row->explicit_row)
        f->unknown |= MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME;
}

static struct mt_align_key *names_of(const struct mt_diff_side *s)
{
    struct mt_align_key *names = mt_alloc((s->groups.n + 1) * sizeof *names);
    for (size_t i = 0; i < s->groups.n; i++)
        names[i] = s->groups.v[i].name;
    return names;
}

void mt_diff_compare(struct mt_diff *d)
{
    struct mt_alignment a;
    struct mt_align_key *names[2] = {names_of(&d->side[0]), names_of(&d->side[1])};
    mt_align(names[0], d->side[0].groups.n, names[1], d->side[1].groups.n, d->keys, d->key_n, &a);
    for (size_t i = 0; i < a.rows.n; i++) {
        const struct mt_align_row *from = &a.rows.v[i];
        struct mt_diff_row *row = mt_vec_push(&d->rows);
        *row = (struct mt_diff_row){.explicit_row = from->explicit_row, .match = from->match};
        memcpy(row->key, from->key, sizeof row->key);
        memcpy(row->in, from->in, sizeof row->in);
    }
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < d->side[s].groups.n; i++)
            add_figures(&d->rows.v[names[s][i].row].at[s], &d->side[s].groups.v[i].f);
    for (size_t i = 0; i < d->rows.n; i++)
        for (int s = 0; s < 2; s++)
            mark_unknown(&d->side[s], &d->rows.v[i], &d->rows.v[i].at[s]);
    memcpy(d->match_n, a.match_n, sizeof d->match_n);
    mt_alignment_free(&a);
    free(names[0]);
    free(names[1]);
}

void mt_figures_per_step(struct mt_figures *f, int64_t n)
{
    int64_t *const figures[] = {&f->self_net_b,   &f->net_b,   &f->self_alloc_b, &f->alloc_b,
                                &f->self_alloc_n, &f->calls_n, &f->recomputed_n, &f->time_ns};
    for (size_t i = 0; i < MT_ARRAY_LEN(figures) && n > 0; i++)
        *figures[i] = mt_wrap_add(*figures[i], *figures[i] < 0 ? -n / 2 : n / 2) / n;
}

void mt_diff_per_step(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        mt_figures_per_step(&d->side[s].whole, d->side[s].step_n);
        for (size_t i = 0; i < d->rows.n; i++)
            mt_figures_per_step(&d->rows.v[i].at[s], d->side[s].step_n);
    }
}

void mt_diff_free(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        if (d->side[s].lives && !d->side[s].lives_lent) {
            mt_lives_close(d->side[s].lives);
            free(d->side[s].lives);
        }
        mt_vec_free(&d->side[s].groups);
        mt_tree_free(&d->side[s].tree);
    }
    mt_vec_free(&d->rows);
}
