/* The figures of the groups of a run, of which there may be a million. */
#include "lib/analysis/diff_parts.h"

void mt_diff_part_init(struct mt_diff_part *p, unsigned kept)
{
    p->set = mt_figures_kept(kept);
}

void mt_diff_part_free(struct mt_diff_part *p)
{
    for (size_t i = 0; i < p->set.n; i++)
        mt_numbers_free(&p->v[i]);
}

/* Of the figure at i of the set. Rates are kept as the bits that they are. */
static union mt_value value_of(const struct mt_diff_part *p, size_t i, uint32_t group)
{
    return (union mt_value){.i = mt_numbers_get(&p->v[i], group)};
}

static void add_value(struct mt_diff_part *p, size_t i, uint32_t group, union mt_value v)
{
    if (!v.i)
        return;
    union mt_value sum = value_of(p, i, group);
    mt_figure_add(p->set.v[i], &sum, &v);
    mt_numbers_put(&p->v[i], group, sum.i);
}

void mt_diff_part_add(struct mt_diff_part *p, uint32_t group, const struct mt_figures *f)
{
    for (size_t i = 0; i < p->set.n; i++)
        add_value(p, i, group, f->v[p->set.v[i]]);
}

void mt_diff_part_merge(struct mt_diff_part *p, uint32_t to, uint32_t from)
{
    for (size_t i = 0; i < p->set.n; i++)
        add_value(p, i, to, value_of(p, i, from));
}

void mt_diff_part_keep(struct mt_diff_part *p, const bool *marked, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->set.n; i++) {
        if (!p->v[i].n)
            continue;
        mt_numbers_keep(&p->v[i], marked, n);
        p->v[kept] = p->v[i];
        p->set.v[kept++] = p->set.v[i];
    }
    p->set.n = kept;
}

void mt_diff_part_read(const struct mt_diff_part *p, uint32_t group, struct mt_figures *out)
{
    for (size_t i = 0; i < p->set.n; i++)
        out->v[p->set.v[i]] = value_of(p, i, group);
}

void mt_diff_part_soon(const struct mt_diff_part *p, uint32_t group)
{
    for (size_t i = 0; i < p->set.n; i++)
        mt_numbers_soon(&p->v[i], group);
}

void mt_diff_part_per_step(struct mt_diff_part *p, int64_t step_n)
{
    for (size_t i = 0; i < p->set.n; i++)
        for (uint32_t group = 0; group < p->v[i].n; group++) {
            union mt_value v = value_of(p, i, group);
            mt_figure_per_step(p->set.v[i], &v, step_n);
            mt_numbers_put(&p->v[i], group, v.i);
        }
}
