#include "formats/mapped.h"

void mt_mapped_init(struct mt_mapped *m)
{
    *m = (struct mt_mapped){0};
    mt_strtab_init(&m->paths);
}

void mt_mapped_free(struct mt_mapped *m)
{
    mt_strtab_free(&m->paths);
    mt_vec_free(&m->ranges);
    mt_vec_free(&m->modules);
}

uint64_t mt_mapped_bytes(const struct mt_mapped *m)
{
    return mt_strtab_bytes(&m->paths) + mt_vec_bytes(&m->ranges);
}

bool mt_mapped_add(struct mt_mapped *m, struct mt_fields f)
{
    static const char deleted[] = " (deleted)"; /* since it was loaded */
    const size_t k = sizeof deleted - 1;
    struct mt_mapped_range r;
    const char *word, *path, *may;
    size_t word_n, n;
    if (!mt_field_hex(&f, &r.start) || f.p == f.end || *f.p++ != '-' || !mt_field_hex(&f, &r.end) ||
        !mt_field_word(&f, &may, &word_n) || word_n != 4 || !mt_field_hex(&f, &r.offset) ||
        !mt_field_word(&f, &word, &word_n) || !mt_field_word(&f, &word, &word_n) ||
        r.end <= r.start)
        return false;
    mt_field_rest(&f, &path, &n);
    r.deleted = n > k && memcmp(path + n - k, deleted, k) == 0;
    n -= r.deleted ? k : 0;
    if (!n)
        return true;
    r.is_code = may[2] == 'x';
    r.path = mt_strtab_add(&m->paths, path, n);
    *mt_vec_push(&m->ranges) = r;
    m->sorted = false;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct mt_mapped_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

const char *mt_mapped_at(struct mt_mapped *m, uint64_t address, uint64_t *place)
{
    if (!m->sorted && m->ranges.n)
        qsort(m->ranges.v, m->ranges.n, sizeof *m->ranges.v, by_start);
    m->sorted = true;
    size_t low = 0, high = m->ranges.n; /* the last range that starts at or before it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->ranges.v[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *place = address;
    if (!low || address >= m->ranges.v[low - 1].end)
        return "";
    const struct mt_mapped_range *r = &m->ranges.v[low - 1];
    *place = address - r->start + r->offset;
    return mt_strtab_get(&m->paths, r->path);
}

uint32_t mt_mapped_module(struct mt_mapped *m, struct mt_symbols *symbols, const char *object)
{
    MT_VEC(struct mt_code_part) parts = {0};
    uint32_t path = mt_strtab_add(&m->paths, object, strlen(object));
    bool deleted = false;
    while (m->modules.n <= path)
        *mt_vec_push(&m->modules) = UINT32_MAX;
    if (m->modules.v[path] != UINT32_MAX)
        return m->modules.v[path];
    for (size_t i = 0; i < m->ranges.n; i++) {
        const struct mt_mapped_range *r = &m->ranges.v[i];
        if (r->path == path && r->is_code)
            *mt_vec_push(&parts) = (struct mt_code_part){r->offset, r->end - r->start};
        deleted |= r->path == path && r->deleted;
    }
    m->modules.v[path] =
        mt_symbols_module(symbols, &(struct mt_code_module){.path = deleted ? "" : object,
                                                            .build_id = "",
                                                            .parts = parts.v,
                                                            .part_n = parts.n,
                                                            .by_offset = true,
                                                            .of_calls = true});
    mt_vec_free(&parts);
    return m->modules.v[path];
}
