#include "formats/pytorch_keys.h"

#include "formats/pytorch_event.h"
#include <stddef.h>

static const struct key {
    const char *name;
    uint8_t n, kind;
    bool in_args;
    uint16_t slot;
    uint32_t bit;
} keys[] = {
#define KEY(text, kind, in_args, slot, bit)                                                        \
    {                                                                                              \
        text, sizeof text - 1, kind, in_args, slot, bit                                            \
    }
#define EVENT(text, kind, member, bit)                                                             \
    KEY(text, MT_GAP_##kind, false, offsetof(struct mt_event, member), MT_HAS_##bit)
#define ARG(text, kind, member, bit)                                                               \
    KEY(text, MT_GAP_##kind, true, offsetof(struct mt_event, member), MT_HAS_##bit)
    KEY("ph", MT_GAP_PH, false, 0, 0),
    KEY("cat", MT_GAP_CAT, false, 0, 0),
    KEY("args", MT_GAP_ARGS, false, 0, 0),
    EVENT("name", TEXT, name, NAME),
    EVENT("pid", ID, pid, PID),
    EVENT("tid", ID, tid, TID),
    EVENT("ts", US, ts_ns, TS),
    EVENT("dur", US, dur_ns, DUR),
    ARG("Ev Idx", INT, order, ORDER),
    ARG("Profiler Event Index", INT, order, ORDER),
    ARG("Input Dims", TEXT, shape, SHAPE),
    ARG("Input dims", TEXT, shape, SHAPE),
    ARG("Input type", TEXT, types, TYPES),
    ARG("Concrete Inputs", TEXT, concrete, CONCRETE),
    ARG("Sequence number", INT, seq, SEQ),
    ARG("Fwd thread id", INT, fwd_thread, FWD_THREAD),
    ARG("Device Type", INT, device_type, DEVICE_TYPE),
    ARG("Device Id", INT, device_index, DEVICE_INDEX),
    ARG("Addr", INT, addr, ADDR),
    ARG("Bytes", INT, bytes, BYTES),
    ARG("Total Allocated", INT, total_b, TOTAL),
    ARG("Total Reserved", INT, reserved_b, RESERVED),
    ARG("name", TEXT, arg_name, ARG_NAME),
    KEY("finished", MT_GAP_MARK, true, 0, MT_HAS_FINISHED),
    KEY("CallFrom", MT_GAP_MARK, true, 0, MT_HAS_CALL_FROM),
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
    g->bit = key->bit;
    p = mt_json_space(p);
    return key->kind == MT_GAP_ARGS ? enter_args(p, g, repeats) : p;
}

/* Number of the gap, which is added if it is new; 0 if there is no room. */
static uint8_t number_of(struct mt_keys *k, const struct mt_gap *g)
{
    for (unsigned i = 1; i <= k->n; i++) {
        const struct mt_gap *old = &k->gap[i];
        if (old->n == g->n && old->kind == g->kind && old->in_args == g->in_args &&
            old->slot == g->slot && old->bit == g->bit && memcmp(old->text, g->text, g->n) == 0)
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
        g.last = (uint8_t)(g.n ? (g.n - 1) / 16 * 16 : 0);
        g.behind = (uint16_t)(0xffffu << (g.n - g.last));
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
