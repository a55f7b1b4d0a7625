#include "formats/pytorch_keys.h"

#include "formats/pytorch_event.h"
#include <stddef.h>

static const struct key {
    const char *name;
    uint8_t n, kind;
    bool in_args;
    uint16_t slot;
} keys[] = {
#define KEY(text, kind, in_args, slot)                                                             \
    {                                                                                              \
        text, sizeof text - 1, kind, in_args, slot                                                 \
    }
#define EVENT(text, member) KEY(text, MT_GAP_KEPT, false, offsetof(struct mt_event, member))
#define ARG(text, member)   KEY(text, MT_GAP_KEPT, true, offsetof(struct mt_event, member))
    KEY("ph", MT_GAP_PH, false, 0),
    KEY("cat", MT_GAP_CAT, false, 0),
    KEY("args", MT_GAP_ARGS, false, 0),
    EVENT("name", name),
    EVENT("pid", pid),
    EVENT("tid", tid),
    EVENT("ts", ts),
    EVENT("dur", dur),
    ARG("Ev Idx", order),
    ARG("Profiler Event Index", order),
    ARG("Input Dims", shape),
    ARG("Input dims", shape),
    ARG("Sequence number", seq),
    ARG("Fwd thread id", fwd_thread),
    ARG("Device Type", device_type),
    ARG("Device Id", device_id),
    ARG("Addr", addr),
    ARG("Bytes", bytes),
    ARG("Total Allocated", total_allocated),
    ARG("Total Reserved", total_reserved),
    ARG("finished", finished),
    ARG("CallFrom", call_from),
    ARG("name", arg_name),
#undef KEY
#undef EVENT
#undef ARG
};

static const struct key *find_key(struct mt_slice name, bool in_args)
{
    static const struct key unknown = {.kind = MT_GAP_SKIPPED};
    for (size_t i = 0; i < MT_ARRAY_LEN(keys); i++)
        if (keys[i].n == name.n && keys[i].in_args == in_args &&
            memcmp(keys[i].name, name.s, name.n) == 0)
            return &keys[i];
    return &unknown;
}

/* The value of "args" begins at p. */
static const char *enter_args(const char *p, struct mt_gap *g, bool *repeats)
{
    if (*p == '{') {
        g->in_args = true;
        return p + 1;
    }
    g->kind = MT_GAP_SKIPPED;
    *repeats = false; /* the same text may stand in front of an object */
    return p;
}

/* Reads up to the next value or the end of the object; *g says what was found, and *repeats whether
 * the same text means the same again. */
static const char *read_gap(struct mt_json *j, const char *p, const struct mt_gap *before,
                            struct mt_gap *g, bool *repeats)
{
    struct mt_slice name;
    *g = (struct mt_gap){.in_args = before->in_args};
    *repeats = true;
    p = mt_json_space(p);
    if (before->kind != MT_GAP_START && before->kind != MT_GAP_ARGS && *p != '}') {
        if (*p != ',')
            return mt_json_stop_at(j, p, "',' or '}' is missing");
        p = mt_json_space(p + 1);
    }
    while (*p == ',') /* empty or trailing members, as some writers leave */
        p = mt_json_space(p + 1);
    if (*p == '}') {
        g->kind = before->in_args ? MT_GAP_ARGS_END : MT_GAP_END;
        g->in_args = false;
        return p + 1;
    }
    if (*p != '"')
        return mt_json_stop_at(j, p, "a key is missing");
    if (!(p = mt_json_string(j, p, &name)) ||
        !(p = mt_json_expect(j, p, ':', "':' is missing behind a key")))
        return NULL;
    const struct key *key = find_key(name, before->in_args);
    g->kind = key->kind;
    g->slot = key->slot;
    p = mt_json_space(p);
    return key->kind == MT_GAP_ARGS ? enter_args(p, g, repeats) : p;
}

/* Number of the gap, which is added if it is new; 0 if there is no room. */
static uint8_t number_of(struct mt_keys *k, const struct mt_gap *g)
{
    for (unsigned i = 1; i <= k->n; i++) {
        const struct mt_gap *old = &k->gap[i];
        if (old->n == g->n && old->kind == g->kind && old->in_args == g->in_args &&
            old->slot == g->slot && memcmp(old->text, g->text, g->n) == 0)
            return (uint8_t)i;
    }
    if (k->n + 1 == MT_GAP_N)
        return 0;
    k->gap[++k->n] = *g;
    return (uint8_t)k->n;
}

const char *mt_keys_read(struct mt_keys *k, struct mt_json *j, const char *p, struct mt_gap **at)
{
    struct mt_gap g, *before = *at;
    bool repeats;
    const char *next = read_gap(j, p, before, &g, &repeats);
    if (!next)
        return NULL;
    uint8_t number = 0;
    if (repeats && next - p < MT_GAP_BYTES) {
        g.n = (uint8_t)(next - p);
        g.tail = (uint16_t)((1u << g.n % 16) - 1);
        memcpy(g.text, p, g.n);
        number = number_of(k, &g);
    }
    if (!number) {
        k->other = g;
        *at = &k->other;
        return next;
    }
    for (int i = 0; i < MT_GAP_NEXT; i++)
        if (!before->next[i]) {
            before->next[i] = number;
            break;
        }
    *at = &k->gap[number];
    return next;
}
