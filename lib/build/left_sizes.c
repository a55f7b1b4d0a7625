#include "lib/build/left_sizes.h"

#include <stdlib.h>

static int size_cmp(const void *a, const void *b)
{
    const struct mt_left_size *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->backward < y->backward ? -1 : x->backward > y->backward;
}

void mt_left_sizes_count(struct mt_left_sizes *s)
{
    size_t kept = 0;
    struct mt_left_size *v = s->all.v;
    if (s->all.n)
        qsort(v, s->all.n, sizeof *v, size_cmp);
    for (size_t i = 0, end; i < s->all.n; i = end) {
        struct mt_left_size one = v[i];
        for (end = i; end < s->all.n && size_cmp(&v[end], &v[i]) == 0; end++)
            one.n = (uint32_t)(end - i) + 1;
        if (kept && v[kept - 1].bytes == one.bytes && v[kept - 1].device == one.device)
            v[kept - 1].n = one.n > v[kept - 1].n ? one.n : v[kept - 1].n;
        else
            v[kept++] = one;
    }
    s->all.n = kept;
    for (size_t i = 0; i < kept; i++)
        v[i].state_n = v[i].n;
}

/* The entry of a size; NULL: there is none. */
static struct mt_left_size *find(const struct mt_left_sizes *s, const struct mt_record *alloc)
{
    size_t low = 0, high = s->all.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct mt_left_size *m = &s->all.v[mid];
        if (m->device < alloc->device || (m->device == alloc->device && m->bytes < alloc->bytes))
            low = mid + 1;
        else
            high = mid;
    }
    struct mt_left_size *found = low < s->all.n ? &s->all.v[low] : NULL;
    bool is = found && found->bytes == alloc->bytes && found->device == alloc->device;
    return is ? found : NULL;
}

bool mt_left_sizes_has(const struct mt_left_sizes *s, const struct mt_record *alloc)
{
    return find(s, alloc) != NULL;
}

uint32_t mt_left_sizes_first(const struct mt_left_sizes *s, const struct mt_record *alloc)
{
    const struct mt_left_size *found = find(s, alloc);
    return found ? found->backward : MT_NONE;
}

void mt_left_sizes_add_leaf(struct mt_left_sizes *s, const struct mt_record *alloc)
{
    struct mt_left_size *found = find(s, alloc);
    if (found)
        found->leaf_n++;
}

bool mt_left_sizes_take_leaf(struct mt_left_sizes *s, const struct mt_record *alloc)
{
    struct mt_left_size *found = find(s, alloc);
    if (!found || found->leaf_n > found->n)
        return false;
    found->leaf_n--;
    found->n--;
    return true;
}

bool mt_left_sizes_take(struct mt_left_sizes *s, const struct mt_record *alloc, bool state)
{
    struct mt_left_size *found = find(s, alloc);
    if (!found)
        return false;
    uint32_t *left = state ? &found->state_n : &found->n;
    if (!*left)
        return false;
    --*left;
    return true;
}
