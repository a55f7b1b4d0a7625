#include "lib/build/loaded_state.h"

#include "lib/model/categories.h"
#include <stdlib.h>

enum { SCALAR_B = 4 };

/* By size and kind, the latest first. */
static int loaded_cmp(const void *a, const void *b)
{
    const struct mt_loaded *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->record > y->record ? -1 : x->record < y->record;
}

/* Those of a size and kind, sorted. */
struct found {
    const struct mt_loaded *v;
    size_t n;
};

static struct found of_size(const struct mt_loaded *v, size_t n, uint16_t device, int64_t bytes,
                            enum mt_loaded_kind kind)
{
    const struct mt_loaded key = {bytes, UINT32_MAX, device, (uint8_t)kind};
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (loaded_cmp(&v[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    struct found is = {v + low, 0};
    while (low + is.n < n && v[low + is.n].device == device && v[low + is.n].bytes == bytes &&
           v[low + is.n].kind == kind)
        is.n++;
    return is;
}

/* What lacks of the state of a size. */
static size_t lacking(const struct mt_loaded *v, size_t n, uint16_t device, int64_t bytes,
                      size_t wanted)
{
    const size_t known = of_size(v, n, device, bytes, MT_LOADED_STATE).n;
    return known < wanted ? wanted - known : 0;
}

/* Takes so many of these, the latest first; the first record of these and before. */
static uint32_t take(struct mt_recording *r, struct found of, size_t n, uint32_t first)
{
    for (size_t i = 0; i < of.n && i < n; i++) {
        r->records.v[of.v[i].record].rule = MT_CATEGORY_R2;
        first = of.v[i].record < first ? of.v[i].record : first;
    }
    return first;
}

/* Whether what lacks is there, of each size. */
static bool is_there(const struct mt_left_sizes *sizes, int times, const struct mt_loaded *v,
                     size_t n)
{
    bool known = false;
    for (size_t i = 0; i < sizes->all.n; i++) {
        const struct mt_left_size *s = &sizes->all.v[i];
        known |= of_size(v, n, s->device, s->bytes, MT_LOADED_STATE).n > 0;
    }
    for (size_t i = 0; i < sizes->all.n; i++) {
        const struct mt_left_size *s = &sizes->all.v[i];
        const size_t lack = lacking(v, n, s->device, s->bytes, (size_t)times * s->n);
        const size_t maybe = of_size(v, n, s->device, s->bytes, MT_LOADED_MAYBE).n;
        const size_t other = of_size(v, n, s->device, s->bytes, MT_LOADED_OTHER).n;
        const bool model = times < 2 || maybe + other < lack + s->n; /* its checkpoint, or itself */
        if (maybe < lack || (known && lack && model))
            return false;
    }
    return true;
}

uint32_t mt_loaded_state_find(struct mt_recording *r, const struct mt_optimizers *o,
                              const struct mt_left_sizes *sizes, struct mt_loaded *loaded, size_t n)
{
    size_t tensors = 0;
    uint32_t first = MT_NONE;
    if (o->least <= 0 || o->least != o->most || !n)
        return MT_NONE;
    qsort(loaded, n, sizeof *loaded, loaded_cmp);
    if (!is_there(sizes, o->least, loaded, n))
        return MT_NONE;
    for (size_t i = 0; i < sizes->all.n; i++) {
        const struct mt_left_size *s = &sizes->all.v[i];
        const size_t lack = lacking(loaded, n, s->device, s->bytes, (size_t)o->least * s->n);
        first = take(r, of_size(loaded, n, s->device, s->bytes, MT_LOADED_MAYBE), lack, first);
        tensors += s->n;
    }
    for (size_t d = 0; d < r->devices.n && first != MT_NONE; d++)
        if (r->devices.v[d].type == MT_DEVICE_CPU) {
            const size_t lack =
                lacking(loaded, n, (uint16_t)d, SCALAR_B, (size_t)o->least_scalars * tensors);
            take(r, of_size(loaded, n, (uint16_t)d, SCALAR_B, MT_LOADED_MAYBE), lack, first);
        }
    return first;
}
