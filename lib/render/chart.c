#include "lib/render/chart.h"

#include <math.h>
#include <stdlib.h>

void mt_chart_free(struct mt_chart *c)
{
    mt_vec_free(&c->steps);
    mt_vec_free(&c->ooms);
    mt_vec_free(&c->lanes);
    mt_vec_free(&c->footer);
}

struct picking {
    const struct mt_chart *c;
    double gap;
    double *x;    /* of every step */
    double *next; /* of the next one picked */
    bool *picked;
};

/* Whether the steps whose number `every` divides stand apart, all but a tenth of them. */
static bool fits(const struct picking *p, int64_t every)
{
    size_t all = 0, placed = 0;
    double last = -HUGE_VAL;
    for (size_t i = 0; i < p->c->steps.n; i++) {
        if (p->c->steps.v[i].value % every)
            continue;
        all++;
        if (p->x[i] - last < p->gap)
            continue;
        placed++;
        last = p->x[i];
    }
    return all - placed <= all / 10;
}

/* Picks those for which there is room between the ones picked before, and before the end. */
static void pick(struct picking *p, int64_t every, double end)
{
    double last = -HUGE_VAL, next = end;
    for (size_t i = p->c->steps.n; i-- > 0;)
        p->next[i] = next = p->picked[i] ? p->x[i] : next;
    for (size_t i = 0; i < p->c->steps.n; i++) {
        if (p->c->steps.v[i].value % every == 0 && p->x[i] - last >= p->gap &&
            p->next[i] - p->x[i] >= p->gap)
            p->picked[i] = true;
        last = p->picked[i] ? p->x[i] : last;
    }
}

void mt_chart_pick_steps(const struct mt_chart *c, const struct mt_axis *t, double size, double gap,
                         bool *picked)
{
    static const int times[] = {1, 2, 5};
    struct picking p = {.c = c, .gap = gap, .picked = picked};
    int64_t every[60] = {1};
    int n = 0;
    p.x = mt_alloc((c->steps.n + 1) * sizeof *p.x);
    p.next = mt_alloc((c->steps.n + 1) * sizeof *p.next);
    for (size_t i = 0; i < c->steps.n; i++) {
        p.x[i] = mt_axis_place(t, c->steps.v[i].t_ns, size);
        picked[i] = false;
    }
    for (int64_t ten = 1; n < 54 && !fits(&p, every[n]); n++) {
        ten *= n % 3 == 2 ? 10 : 1;
        every[n + 1] = ten * times[(n + 1) % 3];
    }
    pick(&p, every[n], HUGE_VAL);
    while (n-- > 0)
        pick(&p, every[n], size);
    free(p.x);
    free(p.next);
}
