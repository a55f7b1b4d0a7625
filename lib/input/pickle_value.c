/* The values of the pickle machine. */
#include "lib/input/pickle_parts.h"

#include "lib/base/json_out.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 8, JSON_MAX = 64 * 1024 };

/* ---- making ---- */

mt_pvalue mt_pickle_new_int(struct mt_pickle *p, int64_t i)
{
    if (i >= -((int64_t)1 << 59) && i < (int64_t)1 << 59)
        return mt_pickle_make(MT_PICKLE_INT, (uint64_t)i);
    *mt_vec_push(&p->wides) = (struct mt_pickle_wide){(uint64_t)i, false};
    return mt_pickle_make(MT_PICKLE_WIDE, p->wides.n - 1);
}

mt_pvalue mt_pickle_new_long(struct mt_pickle *p, const uint8_t *bytes, size_t n)
{
    bool negative = n && bytes[n - 1] & 0x80;
    uint64_t bits = negative ? ~(uint64_t)0 : 0;
    uint8_t fill = negative ? 0xff : 0;
    while (n > 9 && bytes[n - 1] == fill)
        n--;
    if (n > 9 || (n == 9 && (negative || bytes[8] != 0)))
        return mt_pickle_make(MT_PICKLE_HUGE, 0);
    memcpy(&bits, bytes, n < 8 ? n : 8);
    if (negative || bits <= INT64_MAX)
        return mt_pickle_new_int(p, (int64_t)bits);
    *mt_vec_push(&p->wides) = (struct mt_pickle_wide){bits, true};
    return mt_pickle_make(MT_PICKLE_WIDE, p->wides.n - 1);
}

mt_pvalue mt_pickle_new_real(struct mt_pickle *p, double d)
{
    *mt_vec_push(&p->reals) = d;
    return mt_pickle_make(MT_PICKLE_REAL, p->reals.n - 1);
}

mt_pvalue mt_pickle_new_box(struct mt_pickle *p, enum mt_pickle_kind kind)
{
    uint32_t i;
    if (p->free_boxes.n) {
        i = p->free_boxes.v[--p->free_boxes.n];
    } else {
        i = (uint32_t)p->boxes.n;
        *mt_vec_push(&p->boxes) = (struct mt_pickle_box){0};
    }
    struct mt_pickle_box *b = &p->boxes.v[i];
    *b = (struct mt_pickle_box){.v = b->v, .cap = b->cap, .kind = (uint8_t)kind, .depth = 1};
    return mt_pickle_make(kind, i);
}

/* Notes that v becomes an item of the container. */
static void adopt(struct mt_pickle *p, uint32_t container, mt_pvalue v)
{
    if (!mt_pickle_is_box(v))
        return;
    uint8_t depth = p->boxes.v[(uint32_t)v].depth;
    if ((uint32_t)v == container)
        p->why = "a container is put into itself";
    else if (depth >= MT_PICKLE_DEPTH) {
        p->why = "containers are nested too deeply";
        p->limit = true;
    } else if (p->boxes.v[container].depth <= depth)
        p->boxes.v[container].depth = (uint8_t)(depth + 1);
}

static void append(struct mt_pickle *p, uint32_t container, const mt_pvalue *v, size_t n)
{
    struct mt_pickle_box *b = &p->boxes.v[container];
    if (b->n + n > b->cap) {
        size_t cap = b->n ? (b->n + n) * 3 / 2 : n;
        if (cap > UINT32_MAX) {
            p->why = "a container has too many items";
            p->limit = true;
            return;
        }
        b->v = mt_realloc(b->v, cap * sizeof *b->v);
        p->box_bytes += (cap - b->cap) * sizeof *b->v;
        b->cap = (uint32_t)cap;
    }
    if (n)
        memcpy(b->v + b->n, v, n * sizeof *v);
    b->n += (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        adopt(p, container, v[i]);
}

mt_pvalue mt_pickle_new_tuple(struct mt_pickle *p, const mt_pvalue *v, size_t n)
{
    bool plain = n <= 4;
    for (size_t i = 0; i < n; i++)
        plain &= !mt_pickle_is_box(v[i]);
    if (!plain) {
        mt_pvalue t = mt_pickle_new_box(p, MT_PICKLE_TUPLE);
        append(p, (uint32_t)t, v, n);
        return t;
    }
    uint32_t id = mt_strtab_add(&p->tuples, (const char *)v, n * sizeof *v);
    if (id == p->tuple_box.n) {
        mt_pvalue t = mt_pickle_new_box(p, MT_PICKLE_TUPLE);
        append(p, (uint32_t)t, v, n);
        p->boxes.v[(uint32_t)t].shared = true;
        *mt_vec_push(&p->tuple_box) = (uint32_t)t;
    }
    return mt_pickle_make(MT_PICKLE_TUPLE, p->tuple_box.v[id]);
}

/* The container at *target is from now on the token. */
static void replace(struct mt_pickle *p, mt_pvalue *target, mt_pvalue token)
{
    uint32_t i = (uint32_t)*target;
    struct mt_pickle_box *b = &p->boxes.v[i];
    *target = token;
    if (b->memo)
        p->memo.v[b->memo - 1] = token;
    if (b->shared)
        b->token = token;
    else
        *mt_vec_push(&p->free_boxes) = i;
}

void mt_pickle_fill(struct mt_pickle *p, mt_pvalue *target, const mt_pvalue *v, size_t n,
                    bool one_batch)
{
    enum mt_pickle_kind kind = mt_pickle_kind(*target);
    bool dict = kind == MT_PICKLE_DICT;
    if (kind == MT_PICKLE_TOKEN) {
        p->why = "it fills an object that was complete";
        return;
    }
    if (!dict && kind != MT_PICKLE_LIST) {
        p->why = "it fills what is neither a list nor a dict";
        return;
    }
    struct mt_pickle_box *b = mt_pickle_box(p, *target);
    if (b->token) {
        p->why = "it fills an object that was complete";
        return;
    }
    if (one_batch && b->n == 0 && n && n / (dict ? 2 : 1) < MT_PICKLE_BATCH) {
        mt_pvalue (*hook)(void *, struct mt_pickle *, const mt_pvalue *, size_t) =
            dict ? p->hooks.dict : p->hooks.list;
        mt_pvalue token = hook ? hook(p->hooks.closure, p, v, n) : 0;
        if (token) {
            replace(p, target, token);
            return;
        }
    }
    append(p, (uint32_t)*target, v, n);
}

uint64_t mt_pickle_bytes(const struct mt_pickle *p)
{
    return p->box_bytes + p->boxes.n * sizeof *p->boxes.v +
           p->free_boxes.cap * sizeof *p->free_boxes.v + p->stack.cap * sizeof *p->stack.v +
           p->memo.n * sizeof *p->memo.v + p->marks.n * sizeof *p->marks.v +
           p->wides.n * sizeof *p->wides.v + p->reals.n * sizeof *p->reals.v +
           p->tuple_box.n * sizeof *p->tuple_box.v + mt_strtab_bytes(&p->tuples) +
           mt_strtab_bytes(&p->strings);
}

/* ---- reading ---- */

bool mt_pickle_int(const struct mt_pickle *p, mt_pvalue v, int64_t *out)
{
    switch (mt_pickle_kind(v)) {
    case MT_PICKLE_INT:
        *out = (int64_t)(v << 4) >> 4;
        return true;
    case MT_PICKLE_BOOL:
        *out = (int64_t)(v & 1);
        return true;
    case MT_PICKLE_WIDE:
        *out = (int64_t)p->wides.v[(uint32_t)v].bits;
        return true;
    default:
        return false;
    }
}

bool mt_pickle_real(const struct mt_pickle *p, mt_pvalue v, double *out)
{
    if (mt_pickle_kind(v) != MT_PICKLE_REAL)
        return false;
    *out = p->reals.v[(uint32_t)v];
    return true;
}

const char *mt_pickle_str(const struct mt_pickle *p, mt_pvalue v)
{
    return mt_pickle_kind(v) == MT_PICKLE_STR ? mt_strtab_get(&p->strings, (uint32_t)v) : NULL;
}

const mt_pvalue *mt_pickle_items(const struct mt_pickle *p, mt_pvalue v, size_t *n)
{
    *n = 0;
    if (!mt_pickle_is_box(v))
        return NULL;
    const struct mt_pickle_box *b = mt_pickle_box(p, v);
    *n = b->token ? 0 : b->n;
    return b->v;
}

mt_pvalue mt_pickle_find(const struct mt_pickle *p, mt_pvalue dict, const char *key)
{
    size_t n;
    const mt_pvalue *v = mt_pickle_items(p, dict, &n);
    if (mt_pickle_kind(dict) != MT_PICKLE_DICT)
        return 0;
    while (n >= 2) {
        n -= 2;
        const char *s = mt_pickle_str(p, v[n]);
        if (s && strcmp(s, key) == 0)
            return v[n + 1];
    }
    return 0;
}

static void json(const struct mt_pickle *p, mt_pvalue v, struct mt_json_out *j, int depth);

/* A key that is no text is the text of its JSON. */
static void json_key(const struct mt_pickle *p, mt_pvalue key, struct mt_json_out *j)
{
    struct mt_buf text = {0};
    struct mt_json_out alone = {.to = &text};
    if (mt_pickle_kind(key) != MT_PICKLE_STR)
        json(p, key, &alone, 0);
    mt_json_put_key(j, text.n ? text.s : mt_pickle_str(p, key));
    mt_buf_free(&text);
}

static void json_items(const struct mt_pickle *p, mt_pvalue v, struct mt_json_out *j, int depth)
{
    size_t n;
    const mt_pvalue *items = mt_pickle_items(p, v, &n);
    bool dict = mt_pickle_kind(v) == MT_PICKLE_DICT;
    mt_json_put_begin(j, dict ? "{}" : "[]", false);
    for (size_t i = dict; i < n && j->to->n < JSON_MAX; i += dict ? 2 : 1) {
        if (dict)
            json_key(p, items[i - 1], j);
        json(p, items[i], j, depth - 1);
    }
    mt_json_put_end(j);
}

static void json(const struct mt_pickle *p, mt_pvalue v, struct mt_json_out *j, int depth)
{
    int64_t i = 0;
    double d;
    mt_pickle_int(p, v, &i);
    if (mt_pickle_kind(v) == MT_PICKLE_BOOL)
        mt_json_put_bool(j, v & 1);
    else if (mt_pickle_kind(v) == MT_PICKLE_INT)
        mt_json_put_int(j, i);
    else if (mt_pickle_kind(v) == MT_PICKLE_WIDE)
        mt_buf_addf(mt_json_put_raw(j), p->wides.v[(uint32_t)v].is_unsigned ? "%llu" : "%lld",
                    (unsigned long long)i);
    else if (mt_pickle_real(p, v, &d) && isfinite(d))
        mt_buf_addf(mt_json_put_raw(j), "%.17g", d);
    else if (mt_pickle_is_box(v) && depth > 0)
        json_items(p, v, j, depth);
    else
        mt_json_put_text(j, mt_pickle_str(p, v));
}

void mt_pickle_json(const struct mt_pickle *p, mt_pvalue v, struct mt_buf *out)
{
    struct mt_json_out j = {.to = out};
    json(p, v, &j, JSON_DEPTH);
}
