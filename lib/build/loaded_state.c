#include "lib/build/loaded_state.h"

#include "lib/model/categories.h"
#include <stdlib.h>

enum { SCALAR_B = 4 };

/* By size, the latest first. */
static int loaded_cmp(const void *a, const void *b)
{
    const struct mt_loaded *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->record > y->record ? -1 : x->record < y->record;
}

/* The first of a size, and how many there are of it. */
static const struct mt_loaded *of_size(const struct mt_loaded *v, size_t n, uint16_t device,
                                       int64_t bytes, size_t *found)
{
    const struct mt_loaded key = {bytes, UINT32_MAX, device};
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (loaded_cmp(&v[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (*found = 0; low + *found < n; ++*found)
        if (v[low + *found].device != device || v[low + *found].bytes != bytes)
            break;
    return v + low;
}

static void take(struct mt_recording *r, const struct mt_loaded *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        r->records.v[v[i].record].rule = MT_CATEGORY_R2;
}

static size_t must_have(int times, size_t tensors)
{
    return (size_t)times * tensors;
}

void mt_loaded_state_find(struct mt_recording *r, const struct mt_optimizers *o,
                          const struct mt_left_sizes *sizes, struct mt_loaded *loaded, size_t n)
{
    const struct mt_left_size *v = sizes->all.v;
    size_t tensors = 0, found;
    if (o->least <= 0 || o->least != o->most || !sizes->all.n || !n)
        return;
    qsort(loaded, n, sizeof *loaded, loaded_cmp);
    for (size_t i = 0; i < sizes->all.n; i++) {
        of_size(loaded, n, v[i].device, v[i].bytes, &found);
        if (found < must_have(o->least, v[i].n))
            return;
        tensors += v[i].n;
    }
    for (size_t i = 0; i < sizes->all.n; i++)
        take(r, of_size(loaded, n, v[i].device, v[i].bytes, &found), must_have(o->least, v[i].n));
    for (size_t d = 0; d < r->devices.n; d++)
        if (r->devices.v[d].type == MT_DEVICE_CPU) {
            const struct mt_loaded *first = of_size(loaded, n, (uint16_t)d, SCALAR_B, &found);
            size_t wanted = must_have(o->least_scalars, tensors);
            take(r, first, found < wanted ? found : wanted);
        }
}
