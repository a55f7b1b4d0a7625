#include "formats/pytorch_event.h"

#include <string.h>

/* Where the intervals of a category run. Anything not listed counts as an interval of a host
 * thread. */
static const struct category {
    const char *name;
    uint8_t n;
    uint8_t cls, kind;
} categories[] = {
#define HOST(text, kind)                                                                           \
    {                                                                                              \
        text, sizeof text - 1, MT_EVENT_OP, kind                                                   \
    }
#define DEVICE(text)                                                                               \
    {                                                                                              \
        text, sizeof text - 1, MT_EVENT_DEVICE, MT_FRAME_OTHER                                     \
    }
#define NOTHING(text)                                                                              \
    {                                                                                              \
        text, sizeof text - 1, MT_EVENT_NONE, MT_FRAME_OTHER                                       \
    }
    HOST("cpu_op", MT_FRAME_OP),
    HOST("python_function", MT_FRAME_PYTHON),
    DEVICE("kernel"),
    HOST("cuda_runtime", MT_FRAME_RUNTIME),
    HOST("user_annotation", MT_FRAME_ANNOTATION),
    HOST("Operator", MT_FRAME_OP),
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
    {"Trace", 5, MT_EVENT_TRACE, MT_FRAME_OTHER},
    NOTHING("overhead"),
    NOTHING("external_correlation"),
#undef HOST
#undef DEVICE
#undef NOTHING
};

static const struct category *category_of(struct mt_slice cat)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(categories); i++)
        if (categories[i].n == cat.n && memcmp(categories[i].name, cat.s, cat.n) == 0)
            return &categories[i];
    return NULL;
}

static bool is(struct mt_slice s, const char *text, size_t n)
{
    return s.n == n && memcmp(s.s, text, n) == 0;
}
#define IS(slice, text) is(slice, text, sizeof text - 1)

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
static const char *value(struct mt_json *j, const char *p, struct mt_slice *out, bool *text)
{
    p = mt_json_space(p);
    if (text)
        *text = *p == '"';
    if (*p == '"')
        return mt_json_string(j, p, out);
    if (*p != '{' && *p != '[')
        return mt_json_scalar(j, p, out);
    const char *q = mt_json_skip_rest(j, p + 1);
    if (q)
        *out = (struct mt_slice){p, (uint32_t)(q - p), false};
    return q;
}

/* Where the value of an args key goes, NULL = nowhere. */
static struct mt_slice *arg_slot(struct mt_event *ev, struct mt_slice key)
{
    switch (key.n) {
    case 4:
        return IS(key, "Addr") ? &ev->addr : IS(key, "name") ? &ev->arg_name : NULL;
    case 5:
        return IS(key, "Bytes") ? &ev->bytes : NULL;
    case 6:
        return IS(key, "Ev Idx") ? &ev->order : NULL;
    case 8:
        if (IS(key, "finished"))
            ev->finished = true;
        else if (IS(key, "CallFrom"))
            ev->call_from = true;
        return NULL;
    case 9:
        return IS(key, "Device Id") ? &ev->device_id : NULL;
    case 10:
        return IS(key, "Input Dims") || IS(key, "Input dims") ? &ev->shape : NULL;
    case 11:
        return IS(key, "Device Type") ? &ev->device_type : NULL;
    case 13:
        return IS(key, "Fwd thread id") ? &ev->fwd_thread : NULL;
    case 14:
        return IS(key, "Total Reserved") ? &ev->total_reserved : NULL;
    case 15:
        return IS(key, "Sequence number")   ? &ev->seq
               : IS(key, "Total Allocated") ? &ev->total_allocated
                                            : NULL;
    case 20:
        return IS(key, "Profiler Event Index") ? &ev->order : NULL;
    default:
        return NULL;
    }
}

/* Calls `member` for each key of the object whose '{' is at p, with the position of the value. */
static inline __attribute__((always_inline)) const char *
object(struct mt_json *j, const char *p, struct mt_event *ev,
       const char *(*member)(struct mt_json *, const char *, struct mt_event *, struct mt_slice key,
                             bool *done))
{
    struct mt_slice key;
    bool done = false;
    p = mt_json_space(p + 1);
    while (*p != '}') {
        if (*p == ',') { /* empty or trailing members, as some writers leave */
            p = mt_json_space(p + 1);
            continue;
        }
        if (*p != '"')
            return mt_json_stop_at(j, p, "a key is missing");
        if (!(p = mt_json_string(j, p, &key)) ||
            !(p = mt_json_expect(j, p, ':', "':' is missing behind a key")) ||
            !(p = member(j, p, ev, key, &done)))
            return NULL;
        if (done)
            return mt_json_skip_rest(j, p);
        p = mt_json_space(p);
        if (*p == ',')
            p = mt_json_space(p + 1);
        else if (*p != '}')
            return mt_json_stop_at(j, p, "',' or '}' is missing");
    }
    return p + 1;
}

static const char *arg_member(struct mt_json *j, const char *p, struct mt_event *ev,
                              struct mt_slice key, bool *done)
{
    (void)done;
    struct mt_slice *slot = arg_slot(ev, key);
    return slot ? value(j, p, slot, NULL) : mt_json_skip(j, p);
}

/* True when ph and cat already say that the event is not for us. */
static bool not_for_us(struct mt_event *ev)
{
    if (ev->ph == 's' || ev->ph == 'f' || ev->ph == 't' || ev->ph == 'C') {
        ev->cls = MT_EVENT_NONE;
        return true;
    }
    if (ev->ph != 'X' || !ev->cat.s)
        return false;
    const struct category *c = category_of(ev->cat);
    if (!c || c->cls == MT_EVENT_OP || c->cls == MT_EVENT_TRACE)
        return false;
    ev->cls = c->cls;
    return true;
}

static const char *event_member(struct mt_json *j, const char *p, struct mt_event *ev,
                                struct mt_slice key, bool *done)
{
    switch (key.n) {
    case 2:
        if (IS(key, "ts"))
            return value(j, p, &ev->ts, NULL);
        if (IS(key, "ph")) {
            struct mt_slice ph = {0};
            p = value(j, p, &ph, NULL);
            ev->ph = ph.n == 1 ? ph.s[0] : '?';
            *done = p && not_for_us(ev);
            return p;
        }
        break;
    case 3:
        if (IS(key, "pid"))
            return value(j, p, &ev->pid, &ev->pid_text);
        if (IS(key, "tid"))
            return value(j, p, &ev->tid, &ev->tid_text);
        if (IS(key, "dur"))
            return value(j, p, &ev->dur, NULL);
        if (IS(key, "cat")) {
            p = value(j, p, &ev->cat, NULL);
            *done = p && not_for_us(ev);
            return p;
        }
        break;
    case 4:
        if (IS(key, "name"))
            return value(j, p, &ev->name, NULL);
        if (IS(key, "args")) {
            p = mt_json_space(p);
            return *p == '{' ? object(j, p, ev, arg_member) : mt_json_skip(j, p);
        }
        break;
    default:
        break;
    }
    return mt_json_skip(j, p);
}

static void classify_interval(struct mt_event *ev, enum mt_event_class cls)
{
    const struct category *c = ev->cat.s ? category_of(ev->cat) : NULL;
    ev->cls = c && c->cls != MT_EVENT_OP ? (enum mt_event_class)c->cls : cls;
    ev->kind = c ? (enum mt_frame_kind)c->kind : MT_FRAME_OTHER;
    if (ev->kind == MT_FRAME_OP && is_annotation_name(ev->name))
        ev->kind = MT_FRAME_ANNOTATION;
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
        ev->cls = IS(ev->name, "[memory]")        ? MT_EVENT_MEMORY
                  : IS(ev->name, "[OutOfMemory]") ? MT_EVENT_OOM
                                                  : MT_EVENT_NONE;
        break;
    case 'M':
        ev->cls = MT_EVENT_META;
        break;
    default:
        ev->cls = MT_EVENT_NONE;
    }
}

const char *mt_event_scan(struct mt_json *j, const char *p, struct mt_event *ev)
{
    memset(ev, 0, sizeof *ev);
    ev->cls = MT_EVENT_NONE;
    p = object(j, p, ev, event_member);
    if (p && ev->cls == MT_EVENT_NONE)
        classify(ev);
    return p;
}
