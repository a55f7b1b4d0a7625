/* Batches that are there before they are needed. */
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/map.h"

enum { LATER = 2, LOADED = 3 };

/* Whether a block is data that is there before the first backward pass, and after the second step.
 */
static bool is_loaded_early(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    return b->category == MT_CATEGORY_INPUT && b->node != MT_NONE &&
           b->alloc_ns < f->backwards.v[0].start_ns && b->freed_ns >= mt_steps_until(f->steps, 1);
}

/* How many of them each place makes of a size, and how many the rarest: of several kinds, as
 * images and labels, that many batches are made. *kinds: those of which there are some. */
static uint32_t count_loaded(const struct mt_advice_facts *f, struct mt_map *made, uint32_t *kinds)
{
    uint32_t least = UINT32_MAX;
    *kinds = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        if (!is_loaded_early(f, &f->blocks.v[i]))
            continue;
        uint32_t *k = mt_map_at(made, mt_advice_site_key(&f->blocks.v[i]));
        *k = *k == MT_MAP_NONE ? 1 : *k + 1;
        *kinds += *k == LOADED;
    }
    for (size_t i = 0; *kinds && i < f->blocks.n; i++) {
        uint32_t n = is_loaded_early(f, &f->blocks.v[i])
                         ? mt_map_get(made, mt_advice_site_key(&f->blocks.v[i]))
                         : UINT32_MAX;
        least = n >= LOADED && n < least ? n : least;
    }
    return least;
}

/* How many of all of a kind a batch has: those for which there is one of the rarest kind; of one
 * kind alone as many as steps have on average. */
static size_t of_batch(size_t all, uint32_t least, uint32_t kinds, size_t step_n)
{
    size_t batch_n = kinds > 1 ? least : step_n;
    return (all + batch_n - 1) / batch_n;
}

bool mt_advise_load_on_demand(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct mt_map made = {0}, number = {0}; /* by site: of all, and so far */
    bool any = false;
    char n[MT_HUMAN_LONG];
    uint32_t kinds;
    int64_t batch_n = 0;
    if (!f->backwards.n || f->steps->all.n < LATER)
        return false;
    uint32_t least = count_loaded(f, &made, &kinds);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t all = is_loaded_early(f, b) ? mt_map_get(&made, mt_advice_site_key(b)) : 0;
        if (all < LOADED)
            continue;
        size_t step_n = f->steps->all.n;
        uint32_t *k = mt_map_at(&number, mt_advice_site_key(b));
        *k = *k == MT_MAP_NONE ? 0 : *k + 1;
        struct mt_life *life = &p->lives.all.v[i];
        size_t step = *k / of_batch(all, least, kinds, step_n);
        bool needed = step < step_n;
        life->from = needed ? mt_advice_record(f, f->steps->all.v[step].start_ns) : 0;
        life->to = needed ? mt_advice_record(f, f->steps->all.v[step].end_ns) : 0;
        p->touched[i] = any = true;
        batch_n++;
    }
    mt_map_free(&number);
    mt_map_free(&made);
    p->bound = kinds > 1 ? MT_BOUND_EXACT : MT_BOUND_ABOUT;
    if (any)
        mt_buf_addf(&p->because, "%s are made before the first step and kept",
                    mt_human_plural(batch_n, "block", n));
    return any;
}
