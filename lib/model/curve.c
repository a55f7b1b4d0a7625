#include "lib/model/curve.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

void mt_curve_free(struct mt_curve *c)
{
    mt_vec_free(&c->chunks);
    mt_buf_free(&c->packed);
}

enum { PUT_MOST = 10 }; /* bytes of a number */

/* Returns where it ends. */
static char *put(char *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (char)(v | 0x80);
    *to++ = (char)v;
    return to;
}

static inline bool get(const uint8_t *p, size_t n, size_t *at, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; *at < n && shift < 64; shift += 7) {
        uint8_t byte = p[(*at)++];
        *v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static uint64_t zigzag(int64_t v)
{
    return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

void mt_packer_start(struct mt_packer *p, uint16_t device, int64_t start_b)
{
    *p = (struct mt_packer){.now = {.device = device, .start_b = start_b}};
    p->now.last.level_b = start_b;
}

static void close_chunk(struct mt_packer *p, struct mt_curve *c)
{
    struct mt_usage_chunk *s = &p->now;
    s->at = c->packed.n;
    s->bytes = p->packed.n;
    mt_buf_add(&c->packed, p->packed.s, p->packed.n);
    mt_buf_clear(&p->packed);
    *mt_vec_push(&c->chunks) = *s;
    s->change_n = 0;
    s->start_b = s->last.level_b;
}

static void add(struct mt_packer *p, struct mt_curve *c, int64_t record, int64_t t_ns,
                int64_t bytes, uint32_t origin)
{
    struct mt_usage_chunk *s = &p->now;
    struct mt_level l = {t_ns, mt_wrap_add(s->last.level_b, bytes), record};
    if (!s->change_n) {
        s->first_record = record;
        s->first_ns = t_ns;
        s->last.t_ns = t_ns;
        s->last.record = record;
        s->min = s->max = l;
    }
    char packed[4 * PUT_MOST], *end = packed;
    end = put(end, (uint64_t)mt_wrap_sub(record, s->last.record));
    end = put(end, (uint64_t)mt_wrap_sub(t_ns, s->last.t_ns));
    end = put(end, zigzag(bytes));
    end = put(end, origin);
    mt_buf_add(&p->packed, packed, (size_t)(end - packed));
    s->min = l.level_b < s->min.level_b ? l : s->min;
    s->max = l.level_b > s->max.level_b ? l : s->max;
    s->last = l;
    if (++s->change_n == MT_CHUNK_CHANGES)
        close_chunk(p, c);
}

void mt_packer_add(struct mt_packer *p, struct mt_curve *c, int64_t record, int64_t t_ns,
                   int64_t bytes, uint32_t origin)
{
    if (bytes)
        add(p, c, record, t_ns, bytes, origin);
}

void mt_packer_look(struct mt_packer *p, struct mt_curve *c, int64_t record, int64_t t_ns)
{
    add(p, c, record, t_ns, 0, MT_ORIGIN_OUTSIDE);
}

void mt_packer_end(struct mt_packer *p, struct mt_curve *c)
{
    if (p->now.change_n)
        close_chunk(p, c);
    mt_buf_free(&p->packed);
}

bool mt_usage_chunk_unpack(const struct mt_usage_chunk *s, const uint8_t *packed, size_t n,
                           mt_change_use *use, void *closure)
{
    struct mt_change c = {.level = {s->first_ns, s->start_b, s->first_record}};
    for (size_t at = 0; at < n;) {
        uint64_t record, t_ns, bytes, origin;
        if (!get(packed, n, &at, &record) || !get(packed, n, &at, &t_ns) ||
            !get(packed, n, &at, &bytes) || !get(packed, n, &at, &origin) || origin > UINT32_MAX)
            return false;
        mt_wrap_inc(&c.level.record, (int64_t)record);
        mt_wrap_inc(&c.level.t_ns, (int64_t)t_ns);
        c.bytes = unzigzag(bytes);
        mt_wrap_inc(&c.level.level_b, c.bytes);
        c.origin = (uint32_t)origin;
        use(closure, &c);
    }
    return true;
}

void mt_pack_numbers(struct mt_buf *out, const uint32_t *v, size_t n)
{
    int64_t before = -1;
    for (size_t i = 0; i < n; i++) {
        char bytes[PUT_MOST];
        mt_buf_add(out, bytes, (size_t)(put(bytes, (uint64_t)(v[i] - before)) - bytes));
        before = v[i];
    }
}

bool mt_unpack_number(const uint8_t *packed, size_t n, size_t *at, int64_t *number)
{
    uint64_t step;
    if (!get(packed, n, at, &step) || !step || step > UINT32_MAX)
        return false;
    *number += (int64_t)step;
    return true;
}
