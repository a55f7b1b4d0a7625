#include "lib/build/spans.h"

#include <stdlib.h>

static struct mt_span span_of(const struct mt_recording *r, uint32_t record)
{
    const struct mt_record *rec = &r->records.v[record];
    uint64_t end = rec->addr + (uint64_t)(rec->bytes < 0 ? -rec->bytes : rec->bytes);
    return (struct mt_span){rec->addr, end < rec->addr ? UINT64_MAX : end, record};
}

bool mt_span_known(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->bytes != 0 && rec->has_addr && !r->devices.v[rec->device].no_addresses;
}

static uint64_t space_key(const struct mt_recording *r, uint32_t record)
{
    const struct mt_record *rec = &r->records.v[record];
    if (rec->unseen)
        rec = &r->records.v[rec->mate];
    return (uint64_t)r->threads.v[rec->thread].process << 16 | rec->device;
}

static int span_cmp(const void *a, const void *b)
{
    const struct mt_span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

void mt_spans_collect(struct mt_spans *s, const struct mt_recording *r,
                      bool (*wanted)(const struct mt_record *rec))
{
    *s = (struct mt_spans){0};
    for (uint32_t i = 0; i < r->records.n; i++) {
        if (!wanted(&r->records.v[i]) || !mt_span_known(r, &r->records.v[i]))
            continue;
        uint32_t *at = mt_map_at(&s->space_of, space_key(r, i));
        if (*at == MT_NONE) {
            *at = (uint32_t)s->spaces.n;
            *mt_vec_push(&s->spaces) = (struct mt_space){.leaf_n = 1};
        }
        *mt_vec_push(&s->spaces.v[*at].all) = span_of(r, i);
    }
    for (size_t i = 0; i < s->spaces.n; i++) {
        struct mt_space *one = &s->spaces.v[i];
        qsort(one->all.v, one->all.n, sizeof *one->all.v, span_cmp);
        while (one->leaf_n < one->all.n)
            one->leaf_n *= 2;
        one->most = mt_alloc(2 * one->leaf_n * sizeof *one->most);
    }
}

void mt_spans_free(struct mt_spans *s)
{
    for (size_t i = 0; i < s->spaces.n; i++) {
        mt_vec_free(&s->spaces.v[i].all);
        free(s->spaces.v[i].most);
    }
    mt_vec_free(&s->spaces);
    mt_map_free(&s->space_of);
}

/* Opens a span, or closes it (end 0). */
static void set_end(struct mt_space *s, size_t span, uint64_t end)
{
    size_t node = s->leaf_n + span;
    for (s->most[node] = end; node > 1; node /= 2) {
        uint64_t most = s->most[node] > s->most[node ^ 1] ? s->most[node] : s->most[node ^ 1];
        if (s->most[node / 2] == most)
            return;
        s->most[node / 2] = most;
    }
}

/* An open span that overlaps another one, among the n leaves of a node from one on. */
static uint32_t overlapping(const struct mt_space *s, size_t node, uint32_t first, uint32_t n,
                            const struct mt_span *with)
{
    if (s->most[node] <= with->start || first >= s->all.n || s->all.v[first].start >= with->end)
        return MT_NONE;
    if (n == 1)
        return first;
    uint32_t found = overlapping(s, 2 * node + 1, first + n / 2, n / 2, with);
    return found != MT_NONE ? found : overlapping(s, 2 * node, first, n / 2, with);
}

static struct mt_space *space_of(const struct mt_spans *s, const struct mt_recording *r,
                                 uint32_t record)
{
    uint32_t space = mt_map_get(&s->space_of, space_key(r, record));
    return space == MT_NONE ? NULL : &s->spaces.v[space];
}

void mt_spans_open(struct mt_spans *s, const struct mt_recording *r, uint32_t record)
{
    struct mt_space *space = space_of(s, r, record);
    const struct mt_span key = span_of(r, record);
    const struct mt_span *at =
        bsearch(&key, space->all.v, space->all.n, sizeof *space->all.v, span_cmp);
    set_end(space, (size_t)(at - space->all.v), key.end);
}

uint32_t mt_spans_take(struct mt_spans *s, const struct mt_recording *r, uint32_t record)
{
    struct mt_space *space = space_of(s, r, record);
    const struct mt_span with = span_of(r, record);
    uint32_t found = MT_NONE;
    if (space)
        found = overlapping(space, 1, 0, (uint32_t)space->leaf_n, &with);
    if (found == MT_NONE)
        return MT_NONE;
    set_end(space, found, 0);
    return space->all.v[found].record;
}
