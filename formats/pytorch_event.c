#include "formats/pytorch_event.h"

#include <string.h>

/* Where the intervals of a category run. Anything not listed counts as an interval of a host
 * thread. */
static const struct mt_category {
    const char *name;
    uint8_t n;
    uint8_t cls, kind;
    bool old; /* of 1.8 and 1.9 alone */
} categories[] = {
#define HOST(text, kind)                                                                           \
    {                                                                                              \
        text, sizeof text - 1, MT_EVENT_OP, kind, false                                            \
    }
#define DEVICE(text)                                                                               \
    {                                                                                              \
        text, sizeof text - 1, MT_EVENT_DEVICE, MT_FRAME_OTHER, false                              \
    }
#define NOTHING(text)                                                                              \
    {                                                                                              \
        text, sizeof text - 1, MT_EVENT_NONE, MT_FRAME_OTHER, false                                \
    }
    HOST("cpu_op", MT_FRAME_OP),
    HOST("python_function", MT_FRAME_PYTHON),
    DEVICE("kernel"),
    HOST("cuda_runtime", MT_FRAME_RUNTIME),
    HOST("user_annotation", MT_FRAME_ANNOTATION),
    {"Operator", 8, MT_EVENT_OP, MT_FRAME_OP, true},
    HOST("Runtime", MT_FRAME_RUNTIME),
    HOST("cuda_driver", MT_FRAME_RUNTIME),
    HOST("mtia_runtime", MT_FRAME_RUNTIME),
    HOST("glow_runtime", MT_FRAME_RUNTIME),
    HOST("xpu_runtime", MT_FRAME_RUNTIME),
    HOST("xpu_driver", MT_FRAME_RUNTIME),
    HOST("privateuse1_runtime", MT_FRAME_RUNTIME),
    HOST("privateuse1_driver", MT_FRAME_RUNTIME),
    DEVICE("gpu_memcpy"),
    DEVICE("gpu_memset"),
    DEVICE("gpu_user_annotation"),
    DEVICE("gpu_user_Annotation"),
    DEVICE("Kernel"),
    DEVICE("Memcpy"),
    DEVICE("Memset"),
    DEVICE("cuda_sync"),
    DEVICE("cuda_event"),
    DEVICE("xpu_sync"),
    DEVICE("hpu_op"),
    DEVICE("mtia_ccp_events"),
    DEVICE("mtia_insight"),
    DEVICE("cuda_profiler_range"),
    DEVICE("collective_comm"),
    DEVICE("xpu_scope_profiler"),
    {"Trace", 5, MT_EVENT_TRACE, MT_FRAME_OTHER, false},
    NOTHING("overhead"),
    NOTHING("external_correlation"),
#undef HOST
#undef DEVICE
#undef NOTHING
};

static const struct mt_category *category_of(struct mt_slice cat)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(categories); i++)
        if (categories[i].n == cat.n && memcmp(categories[i].name, cat.s, cat.n) == 0)
            return &categories[i];
    return NULL;
}

/* Names that 1.8 and 1.9, which call everything an Operator, give to annotations. */
static bool is_annotation_name(struct mt_slice name)
{
    static const char *const starts[] = {"ProfilerStep#", "Optimizer.", "enumerate(DataLoader)#"};
    for (size_t i = 0; i < MT_ARRAY_LEN(starts); i++)
        if (name.n > strlen(starts[i]) && memcmp(name.s, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* A value as a slice; arrays and objects are kept as their text. */
static inline const char *value(struct mt_json *j, const char *p, struct mt_slice *out)
{
    p = mt_json_space(p);
    if (*p == '"')
        return mt_json_string(j, p, out);
    if (*p != '{' && *p != '[')
        return mt_json_scalar(j, p, out);
    const char *q = mt_json_skip_rest(j, p + 1);
    if (q)
        *out = (struct mt_slice){p, (uint32_t)(q - p), false};
    return q;
}

/* True when ph and cat already say that the event is not for us. */
static inline bool not_for_us(struct mt_event *ev)
{
    const struct mt_category *c = ev->category;
    switch (ev->ph) {
    case 'X':
        if (!c || c->cls == MT_EVENT_OP || c->cls == MT_EVENT_TRACE)
            return false;
        ev->cls = c->cls;
        return true;
    case 's':
    case 'f':
    case 't':
    case 'C':
        ev->cls = MT_EVENT_NONE;
        return true;
    default:
        return false;
    }
}

static const char *phase_letter(struct mt_json *j, const char *p, char *ph)
{
    struct mt_slice text = {0};
    if (p[0] == '"' && p[1] >= 'A' && p[1] != '\\' && p[2] == '"') { /* all in use */
        *ph = p[1];
        return p + 3;
    }
    p = value(j, p, &text);
    *ph = text.n == 1 ? text.s[0] : '?';
    return p;
}

static void classify_interval(struct mt_event *ev, enum mt_event_class cls)
{
    const struct mt_category *c = ev->category;
    ev->cls = c && c->cls != MT_EVENT_OP ? (enum mt_event_class)c->cls : cls;
    ev->kind = c ? (enum mt_frame_kind)c->kind : MT_FRAME_OTHER;
    ev->old_category = c && c->old;
    if (ev->kind == MT_FRAME_OP && (ev->seen & MT_HAS_NAME) && is_annotation_name(ev->name))
        ev->kind = MT_FRAME_ANNOTATION;
}

/* Whether a ph is one that Chrome traces have, for us or not. */
static bool is_phase(char ph)
{
    return ph && strchr("XBEiIMstfCbneSTpFNODPRcvVa(),=L", ph);
}

static enum mt_event_class instant_class(const struct mt_event *ev)
{
    if (!(ev->seen & MT_HAS_NAME))
        return MT_EVENT_BROKEN;
    return MT_TEXT_IS(ev->name, "[memory]")        ? MT_EVENT_MEMORY
           : MT_TEXT_IS(ev->name, "[OutOfMemory]") ? MT_EVENT_OOM
                                                   : MT_EVENT_NONE;
}

static void classify(struct mt_event *ev)
{
    switch (ev->ph) {
    case 'X':
        classify_interval(ev, MT_EVENT_OP);
        break;
    case 'B':
        classify_interval(ev, MT_EVENT_BEGIN);
        break;
    case 'E':
        classify_interval(ev, MT_EVENT_END);
        break;
    case 'i':
    case 'I':
        ev->cls = instant_class(ev);
        break;
    case 'M':
        ev->cls = MT_EVENT_META;
        break;
    default:
        ev->cls = is_phase(ev->ph) || !ev->seen ? MT_EVENT_NONE : MT_EVENT_BROKEN;
    }
}

static const char *category(struct mt_json *j, const char *p, struct mt_event *ev)
{
    struct mt_slice text = {0};
    p = value(j, p, &text);
    ev->category = p ? category_of(text) : NULL;
    return p;
}

static inline void set_valid(struct mt_event *ev, uint32_t bit, bool valid)
{
    ev->seen |= bit;
    ev->valid = valid ? ev->valid | bit : ev->valid & ~bit;
}

/* A number that is not written as recorders write it, or something else. */
static const char *odd_number(struct mt_json *j, const char *p, const struct mt_gap *gap,
                              struct mt_event *ev)
{
    struct mt_slice text;
    void *slot = (char *)ev + gap->slot;
    int64_t v = 0;
    if (!(p = value(j, p, &text)))
        return NULL;
    bool valid = gap->kind == MT_GAP_US    ? mt_json_us_to_ns(text, &v, &ev->decimals)
                 : gap->bit == MT_HAS_ADDR ? mt_json_address(text, &v)
                                           : mt_json_int(text, &v);
    if (gap->kind == MT_GAP_ID)
        *(struct mt_id *)slot = (struct mt_id){v, text};
    else
        *(int64_t *)slot = v;
    set_valid(ev, gap->bit, valid);
    return p;
}

/* The value behind a gap, of any kind whose value is kept. */
static inline const char *keep(struct mt_json *j, const char *p, const struct mt_gap *gap,
                               struct mt_event *ev)
{
    void *slot = (char *)ev + gap->slot;
    const char *end;
    switch (gap->kind) {
    case MT_GAP_TEXT:
        ev->seen |= gap->bit;
        return value(j, p, slot);
    case MT_GAP_US:
        end = mt_json_plain_us(p, slot, &ev->decimals);
        break;
    case MT_GAP_ID:
        end = mt_json_plain_int(p, &((struct mt_id *)slot)->number);
        break;
    default:
        end = mt_json_plain_int(p, slot);
    }
    if (!end)
        return odd_number(j, p, gap, ev);
    set_valid(ev, gap->bit, true);
    return end;
}

const char *mt_event_scan(struct mt_keys *k, struct mt_json *j, const char *p, struct mt_event *ev)
{
    struct mt_gap *gap = &k->gap[0];
    ev->cls = MT_EVENT_NONE;
    ev->kind = MT_FRAME_OP;
    ev->ph = '\0';
    ev->decimals = false;
    ev->seen = ev->valid = 0;
    ev->category = NULL;
    for (p++; (p = mt_keys_next(k, j, p, &gap));) {
        switch (gap->kind) {
        case MT_GAP_TEXT:
        case MT_GAP_INT:
        case MT_GAP_US:
        case MT_GAP_ID:
            p = keep(j, p, gap, ev);
            break;
        case MT_GAP_MARK:
            ev->seen |= gap->bit;
            p = mt_json_skip(j, p);
            break;
        case MT_GAP_SKIPPED:
            p = mt_json_skip(j, p);
            break;
        case MT_GAP_PH:
            p = phase_letter(j, p, &ev->ph);
            if (p && not_for_us(ev))
                return mt_json_skip_rest(j, p);
            break;
        case MT_GAP_CAT:
            p = category(j, p, ev);
            if (p && not_for_us(ev))
                return mt_json_skip_rest(j, p);
            break;
        case MT_GAP_END:
            classify(ev);
            return p;
        default: /* into or out of args */
            break;
        }
        if (!p)
            return NULL;
    }
    return NULL;
}
