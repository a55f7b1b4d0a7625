#include "formats/heap_stacks.h"

#include "lib/base/hash.h"

#include <string.h>

bool mt_heap_counts_add(struct mt_heap_counts *to, const struct mt_heap_counts *c)
{
    to->end_n += c->end_n;
    to->end_b += c->end_b;
    to->alloc_n += c->alloc_n;
    to->alloc_b += c->alloc_b;
    return to->end_n <= mt_heap_count_max && to->end_b <= mt_heap_count_max &&
           to->alloc_n <= mt_heap_count_max && to->alloc_b <= mt_heap_count_max;
}

static uint64_t key_of(struct mt_heap_stacks *s, const struct mt_heap_stack *t)
{
    if (!s->seed)
        s->seed = mt_hash_seed();
    uint64_t key = mt_hash_short(s->seed, &t->counts, sizeof t->counts);
    key = mt_hash_short(key, s->addresses.v + t->first, t->n * sizeof *s->addresses.v);
    return mt_hash_short(key, s->named.v + t->first_named, t->named_n * sizeof *s->named.v);
}

static bool same(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static bool equal(const struct mt_heap_stacks *s, const struct mt_heap_stack *a,
                  const struct mt_heap_stack *b)
{
    const uint64_t *addresses = s->addresses.v;
    const struct mt_native_step *named = s->named.v;
    return same(&a->counts, &b->counts, sizeof a->counts) && a->n == b->n &&
           a->named_n == b->named_n &&
           same(addresses + a->first, addresses + b->first, a->n * sizeof *addresses) &&
           same(named + a->first_named, named + b->first_named, a->named_n * sizeof *named);
}

void mt_heap_stacks_fold(struct mt_heap_stacks *s)
{
    if (!s->of.n)
        return;
    const struct mt_heap_stack *last = &s->of.v[s->of.n - 1];
    if (last->thread)
        return;
    uint32_t *at = mt_map_at(&s->same, key_of(s, last));
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)(s->of.n - 1);
        return;
    }
    struct mt_heap_stack *before = &s->of.v[*at];
    if (before == last || before->times == UINT32_MAX || !equal(s, before, last))
        return;
    before->times++;
    s->addresses.n = last->first;
    s->named.n = last->first_named;
    s->of.n--;
}

uint64_t mt_heap_stacks_bytes(const struct mt_heap_stacks *s)
{
    return mt_vec_bytes(&s->of) + mt_vec_bytes(&s->addresses) + mt_vec_bytes(&s->named) +
           mt_map_bytes(&s->same);
}

void mt_heap_stacks_free(struct mt_heap_stacks *s)
{
    mt_vec_free(&s->of);
    mt_vec_free(&s->addresses);
    mt_vec_free(&s->named);
    mt_map_free(&s->same);
}
