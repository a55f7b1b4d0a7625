/* Puts records that nobody saw among those of the file. */
#include "lib/build/build.h"

#include <assert.h>
#include <stdlib.h>

static struct mt_record made_of(const struct mt_recording *r, const struct mt_inserted *v)
{
    const struct mt_record *mate = &r->records.v[v->mate];
    assert(mate->mate == MT_NONE && mate->has_addr);
    return (struct mt_record){.t_ns = v->t_ns,
                              .bytes = -mate->bytes,
                              .addr = mate->addr,
                              .order = r->records.v[v->before].order,
                              .thread = MT_NONE,
                              .op = MT_NONE,
                              .mate = v->mate,
                              .device = mate->device,
                              .has_addr = true,
                              .unseen = true};
}

/* Where each record goes. */
static uint32_t *new_places(const struct mt_recording *r, const struct mt_inserted *v, size_t n)
{
    uint32_t *to = mt_alloc((r->records.n + 1) * sizeof *to);
    size_t done = 0;
    for (uint32_t i = 0; i < r->records.n; i++) {
        while (done < n && v[done].before == i)
            done++;
        to[i] = i + (uint32_t)done;
    }
    return to;
}

void mt_rec_insert(struct mt_recording *r, const struct mt_inserted *v, size_t n)
{
    uint32_t *to = new_places(r, v, n), old_n = (uint32_t)r->records.n;
    struct mt_record *made = mt_alloc((n + 1) * sizeof *made);
    for (size_t k = 0; k < n; k++) {
        assert(v[k].before <= old_n && (!k || v[k - 1].before <= v[k].before));
        made[k] = made_of(r, &v[k]);
    }
    for (size_t k = 0; k < n; k++)
        mt_vec_push(&r->records);
    struct mt_record *all = r->records.v;
    for (uint32_t i = old_n; i-- > 0;) { /* from the end: none is overwritten before it moves */
        all[to[i]] = all[i];
        if (all[to[i]].mate != MT_NONE)
            all[to[i]].mate = to[all[to[i]].mate];
    }
    for (size_t k = 0; k < n; k++) { /* the k-th stands k places behind where it was put */
        uint32_t at = v[k].before + (uint32_t)k;
        all[at] = made[k];
        all[at].mate = to[v[k].mate];
        all[all[at].mate].mate = at;
    }
    r->unseen_n += n;
    free(made);
    free(to);
}
