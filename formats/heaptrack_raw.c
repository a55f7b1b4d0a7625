/* Raw logs of heaptrack: docs/formats/heaptrack.md. */
#include "formats/heaptrack_raw.h"

#include <string.h>

void mt_ht_raw_init(struct mt_ht_raw *r, struct mt_ht_tables *tables, struct mt_heap *heap,
                    struct mt_symbols *symbols)
{
    *r = (struct mt_ht_raw){.tables = tables, .heap = heap, .symbols = symbols};
    mt_strtab_init(&r->names);
}

void mt_ht_raw_free(struct mt_ht_raw *r)
{
    mt_buf_free(&r->exe);
    mt_strtab_free(&r->names);
    mt_vec_free(&r->ranges);
    mt_vec_free(&r->parts);
    mt_vec_free(&r->steps);
    mt_vec_free(&r->places);
    mt_map_free(&r->place_of);
    mt_vec_free(&r->temporary);
}

uint64_t mt_ht_raw_bytes(const struct mt_ht_raw *r)
{
    return mt_strtab_bytes(&r->names) + mt_vec_bytes(&r->ranges) + mt_vec_bytes(&r->parts) +
           mt_vec_bytes(&r->places) + mt_map_bytes(&r->place_of) + mt_vec_bytes(&r->temporary) +
           mt_symbols_bytes(r->symbols);
}

/* ---- modules ---- */

/* A name: its length and so many bytes, or a word. */
static bool take_name(const struct mt_ht_raw *r, struct mt_fields *f, const char **s, size_t *n)
{
    uint64_t size;
    if (!r->sized)
        return mt_field_word(f, s, n);
    if (!mt_field_hex(f, &size) || f->p == f->end || *f->p != ' ' ||
        (size_t)(f->end - f->p) - 1 < size)
        return false;
    *s = f->p + 1;
    *n = (size_t)size;
    f->p += 1 + size;
    return true;
}

bool mt_ht_raw_exe(struct mt_ht_raw *r, struct mt_fields f)
{
    const char *s;
    size_t n;
    if (!r->sized)
        mt_field_rest(&f, &s, &n);
    else if (!take_name(r, &f, &s, &n) || !mt_field_end(&f))
        return false;
    mt_buf_set(&r->exe, s, n);
    return true;
}

/* Its parts are in r->parts. */
static void add_module(struct mt_ht_raw *r, uint32_t name, uint64_t base)
{
    const struct mt_code_module is = {.path = mt_strtab_get(&r->names, name),
                                      .build_id = "",
                                      .parts = r->parts.v,
                                      .part_n = r->parts.n};
    uint32_t module = r->symbols ? mt_symbols_module(r->symbols, &is) : 0;
    r->sorted = false;
    for (size_t i = 0; i < r->parts.n; i++) {
        uint64_t first = base + r->parts.v[i].start, end = first + r->parts.v[i].size;
        if (first >= base && end > first)
            *mt_vec_push(&r->ranges) = (struct mt_ht_range){first, end, base, name, module};
    }
}

/* "name base (start size)...", addresses in the module; "-" forgets them all. */
bool mt_ht_raw_module(struct mt_ht_raw *r, struct mt_fields f)
{
    const char *s;
    size_t n;
    uint64_t base, start, size;
    if (!take_name(r, &f, &s, &n))
        return false;
    if (n == 1 && *s == '-' && mt_field_end(&f)) {
        r->ranges.n = 0;
        return true;
    }
    if (!mt_field_hex(&f, &base))
        return false;
    if (n == 1 && *s == 'x' && r->exe.n) {
        s = r->exe.s;
        n = r->exe.n;
    }
    r->parts.n = 0;
    while (mt_field_hex(&f, &start)) {
        if (!mt_field_hex(&f, &size))
            return false;
        *mt_vec_push(&r->parts) = (struct mt_code_part){start, size};
    }
    if (!mt_field_end(&f))
        return false;
    add_module(r, mt_strtab_add(&r->names, s, strnlen(s, n)), base);
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct mt_ht_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The range an address is in; NULL = none. */
static const struct mt_ht_range *range_of(struct mt_ht_raw *r, uint64_t address)
{
    if (!r->sorted && r->ranges.n)
        qsort(r->ranges.v, r->ranges.n, sizeof *r->ranges.v, by_start);
    r->sorted = true;
    size_t low = 0, high = r->ranges.n; /* the last range that starts at or before it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->ranges.v[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < r->ranges.v[low - 1].end ? &r->ranges.v[low - 1] : NULL;
}

/* ---- stacks ---- */

/* Number in the tables of the call that returns to an address, in the modules as they lie now. */
static uint32_t ip_of(struct mt_ht_raw *r, uint64_t returns_to)
{
    uint64_t address = returns_to ? returns_to - 1 : 0;
    const struct mt_ht_range *in = range_of(r, address);
    struct mt_ht_place p = {.place = in ? address - in->base : address,
                            .name = in ? in->name : MT_NONE};
    uint32_t *at = mt_map_at(&r->place_of, address);
    if (*at != MT_MAP_NONE && r->places.v[*at].place == p.place && r->places.v[*at].name == p.name)
        return r->places.v[*at].ip;
    *at = (uint32_t)r->places.n;
    r->steps.n = 0;
    uint32_t n = mt_native_at(&r->tables->paths, r->tables->alloc_fn, in ? r->symbols : NULL,
                              in ? in->module : 0, in ? mt_strtab_get(&r->names, in->name) : "",
                              p.place, &r->steps);
    p.ip = mt_ht_push_ip(r->tables, r->steps.v, n);
    *mt_vec_push(&r->places) = p;
    return p.ip;
}

bool mt_ht_raw_trace(struct mt_ht_raw *r, struct mt_fields f)
{
    uint64_t address, parent;
    bool good =
        mt_field_hex(&f, &address) && mt_field_hex(&f, &parent) && parent < r->tables->traces.n;
    mt_ht_push_trace(r->tables, good ? ip_of(r, address) : 0, good ? (uint32_t)parent : 0);
    return good;
}

/* ---- events ---- */

enum mt_status mt_ht_raw_alloc(struct mt_ht_raw *r, struct mt_fields f, bool *good,
                               struct mt_err *err)
{
    uint64_t bytes, trace, address;
    *good = mt_field_hex(&f, &bytes) && mt_field_hex(&f, &trace) && mt_field_hex(&f, &address) &&
            bytes <= INT64_MAX && trace < r->tables->traces.n;
    if (!*good)
        return MT_OK;
    r->last = address;
    return mt_heap_alloc_at(r->heap, address, mt_ht_trace_node(r->tables, (uint32_t)trace),
                            (int64_t)bytes, err);
}

enum mt_status mt_ht_raw_dealloc(struct mt_ht_raw *r, struct mt_fields f, bool *good,
                                 struct mt_err *err)
{
    uint64_t address;
    uint32_t node;
    *good = mt_field_hex(&f, &address);
    if (!*good)
        return MT_OK;
    if (address && address == r->last && mt_heap_block_at(r->heap, address, &node)) {
        while (r->temporary.n <= node + 1u)
            *mt_vec_push(&r->temporary) = 0;
        r->temporary.v[node + 1u]++;
    }
    r->last = 0;
    return mt_heap_free_at(r->heap, address, err);
}

void mt_ht_raw_restart(struct mt_ht_raw *r)
{
    r->last = 0;
    r->temporary.n = 0;
}

void mt_ht_raw_close(struct mt_ht_raw *r)
{
    mt_heap_knows_extra(r->heap, "temporary_n");
    for (size_t i = 0; i < r->temporary.n; i++)
        if (r->temporary.v[i])
            mt_heap_extra(r->heap, (uint32_t)i - 1u, "temporary_n", r->temporary.v[i]);
}
