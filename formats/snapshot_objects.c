#include "formats/snapshot_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No block is larger than this, and no file's times lie beyond that. */
#define SIZE_MAX_B  ((int64_t)1 << 50)
#define TIME_MAX_US ((int64_t)1 << 52)

enum { UNKNOWN_KEPT = 16, NAME_SHOWN = 40, LABEL_MAX = 200 };

enum key {
    K_ACTION,
    K_ADDR,
    K_DEVICE_FREE,
    K_SIZE,
    K_STREAM,
    K_TIME_US,
    K_FRAMES,
    K_POOL_ID,
    K_USER_METADATA,
    K_CATEGORY,
    K_COMPILE_CONTEXT,
    K_NAME,
    K_FILENAME,
    K_LINE,
    K_STATE,
    K_ADDRESS,
    K_REQUESTED_SIZE,
    K_HISTORY,
    K_BLOCKS,
    K_TOTAL_SIZE,
    K_DEVICE,
    K_SEGMENT_TYPE,
    K_SEGMENT_POOL_ID,
    K_IS_EXPANDABLE,
    K_STAGE,
    K_N
};
static const char *const keys[K_N] = {
    "action",          "addr",           "device_free",     "size",          "stream",
    "time_us",         "frames",         "pool_id",         "user_metadata", "category",
    "compile_context", "name",           "filename",        "line",          "state",
    "address",         "requested_size", "history",         "blocks",        "total_size",
    "device",          "segment_type",   "segment_pool_id", "is_expandable", "stage"};

/* Their string ids follow those of the keys. */
static const char *const actions[MT_SNAP_ACTION_N] = {
    [MT_SNAP_ALLOC] = "alloc",
    [MT_SNAP_FREE_REQUESTED] = "free_requested",
    [MT_SNAP_FREE_COMPLETED] = "free_completed",
    [MT_SNAP_SEGMENT_ALLOC] = "segment_alloc",
    [MT_SNAP_SEGMENT_FREE] = "segment_free",
    [MT_SNAP_SEGMENT_MAP] = "segment_map",
    [MT_SNAP_SEGMENT_UNMAP] = "segment_unmap",
    [MT_SNAP_OOM] = "oom",
    [MT_SNAP_SNAPSHOT] = "snapshot",
    [MT_SNAP_ANNOTATE] = "annotate",
    [MT_SNAP_USER_DEFINED] = "user_defined",
    [MT_SNAP_WORKSPACE] = "workspace_snapshot",
};

void mt_snap_objects_init(struct mt_snap_objects *o, enum mt_cpp_frames cpp)
{
    *o = (struct mt_snap_objects){.pool = MT_NONE};
    mt_snap_paths_init(&o->paths, cpp);
}

void mt_snap_objects_free(struct mt_snap_objects *o)
{
    mt_snap_paths_free(&o->paths);
    mt_vec_free(&o->events);
    mt_vec_free(&o->words);
    mt_vec_free(&o->blocks);
    mt_vec_free(&o->final_blocks);
    mt_vec_free(&o->segments);
    mt_vec_free(&o->annotations);
    mt_vec_free(&o->unknown);
}

void mt_snap_objects_add_words(struct mt_strtab *strings)
{
    for (size_t i = 0; i < K_N; i++)
        mt_strtab_add(strings, keys[i], strlen(keys[i]));
    for (size_t i = 0; i < MT_SNAP_ACTION_N; i++)
        mt_strtab_add(strings, actions[i], strlen(actions[i]));
}

uint64_t mt_snap_objects_bytes(const struct mt_snap_objects *o)
{
    return o->events.n * sizeof *o->events.v + o->words.n * sizeof *o->words.v +
           o->blocks.n * sizeof *o->blocks.v + o->final_blocks.n * sizeof *o->final_blocks.v +
           o->segments.n * sizeof *o->segments.v + o->annotations.n * sizeof *o->annotations.v +
           mt_snap_paths_bytes(&o->paths);
}

static bool is_size(int64_t bytes)
{
    return bytes >= 0 && bytes <= SIZE_MAX_B;
}

static int64_t int_of(const struct mt_pickle *p, mt_pvalue v, int64_t otherwise)
{
    int64_t i;
    return mt_pickle_int(p, v, &i) ? i : otherwise;
}

static uint32_t str_of(mt_pvalue v)
{
    return mt_pickle_kind(v) == MT_PICKLE_STR ? mt_pickle_number(v) : MT_NONE;
}

static uint32_t path_of(struct mt_snap_objects *o, const struct mt_pickle *p, mt_pvalue v)
{
    if (mt_pickle_is_token(v, MT_TOKEN_PATH))
        return mt_pickle_number(v);
    size_t n;
    const mt_pvalue *items = mt_pickle_items(p, v, &n);
    return mt_snap_path(&o->paths, items, n, MT_TOKEN_FRAME);
}

/* A pool's two numbers as text: "0,0". */
static uint32_t pool_of(struct mt_snap_objects *o, struct mt_pickle *p, mt_pvalue v)
{
    size_t n;
    int64_t a, b;
    char text[48];
    if (v == o->pool_value) /* equal tuples are one value */
        return o->pool;
    o->pool_value = v;
    o->pool = MT_NONE;
    const mt_pvalue *items = mt_pickle_items(p, v, &n);
    if (n != 2 || !mt_pickle_int(p, items[0], &a) || !mt_pickle_int(p, items[1], &b))
        return MT_NONE;
    snprintf(text, sizeof text, "%llu,%llu", (unsigned long long)a, (unsigned long long)b);
    return o->pool = mt_strtab_add(mt_pickle_strings(p), text, strlen(text));
}

static bool says_nothing(struct mt_pickle *p, mt_pvalue v)
{
    const char *s = mt_pickle_str(p, v);
    return !v || mt_pickle_kind(v) == MT_PICKLE_NONE || (s && (!*s || strcmp(s, "N/A") == 0));
}

/* How many of the n bytes at s to keep so that they are at most max and end with a character. */
static size_t whole_part(const char *s, size_t n, size_t max)
{
    if (n <= max)
        return n;
    while (max > 0 && (s[max] & 0xc0) == 0x80)
        max--;
    return max;
}

/* What an event was labelled with, as one line of text: by the user, else by a profile, else by
 * torch.compile (the number of the graph: "torch.compile 0/0"). */
static uint32_t label_of(struct mt_pickle *p, const mt_pvalue *f)
{
    static const struct {
        enum key key;
        const char *prefix;
    } labels[] = {{K_USER_METADATA, ""}, {K_CATEGORY, ""}, {K_COMPILE_CONTEXT, "torch.compile "}};
    struct mt_buf text = {0};
    size_t i = 0;
    while (i < MT_ARRAY_LEN(labels) && says_nothing(p, f[labels[i].key]))
        i++;
    if (i == MT_ARRAY_LEN(labels))
        return MT_NONE;
    const char *s = mt_pickle_str(p, f[labels[i].key]);
    mt_buf_adds(&text, labels[i].prefix);
    if (s)
        mt_buf_add(&text, s, strnlen(s, LABEL_MAX + 1)); /* enough to see that it is cut */
    else
        mt_pickle_json(p, f[labels[i].key], &text);
    size_t n = whole_part(text.s, text.n, LABEL_MAX);
    uint32_t id = n ? mt_strtab_add(mt_pickle_strings(p), text.s, n) : MT_NONE;
    mt_buf_free(&text);
    return id;
}

static void note_unknown(struct mt_snap_objects *o, uint32_t action)
{
    o->unknown_n++;
    for (size_t i = 0; i < o->unknown.n; i++)
        if (o->unknown.v[i] == action)
            return;
    if (action != MT_NONE && o->unknown.n < UNKNOWN_KEPT)
        *mt_vec_push(&o->unknown) = action;
}

void mt_snap_unknown_names(const struct mt_snap_objects *o, const struct mt_strtab *strings,
                           size_t max, struct mt_buf *out)
{
    for (size_t i = 0; i < o->unknown.n; i++) {
        const char *name = mt_strtab_get(strings, o->unknown.v[i]), *comma = out->n ? ", " : "";
        size_t n = whole_part(name, strlen(name), NAME_SHOWN);
        if (out->n + strlen(comma) + n > max)
            return;
        mt_buf_addf(out, "%s%.*s", comma, (int)n, name);
    }
}

static mt_pvalue event(struct mt_snap_objects *o, struct mt_pickle *p, const mt_pvalue *f)
{
    struct mt_snap_event e = {
        .addr = (uint64_t)int_of(p, f[K_ADDR], 0),
        .size = int_of(p, f[K_SIZE], 0),
        .time_us = int_of(p, f[K_TIME_US], MT_GONE),
        .stream = int_of(p, f[K_STREAM], 0),
        .path = path_of(o, p, f[K_FRAMES]),
        .label = label_of(p, f),
        .pool = pool_of(o, p, f[K_POOL_ID]),
        .action = MT_SNAP_ACTION_N,
    };
    uint32_t word = str_of(f[K_ACTION]);
    bool known = word >= K_N && word < K_N + MT_SNAP_ACTION_N;
    if (known && is_size(e.size))
        e.action = (uint8_t)(word - K_N);
    else
        *mt_vec_push(&o->words) = (struct mt_snap_word){(uint32_t)o->events.n, word};
    if (!known)
        note_unknown(o, word);
    o->bad_n += !is_size(e.size);
    if (f[K_DEVICE_FREE])
        e.addr = (uint64_t)int_of(p, f[K_DEVICE_FREE], 0);
    if (e.time_us > TIME_MAX_US || e.time_us < -TIME_MAX_US)
        e.time_us = MT_GONE;
    o->timed_n += e.time_us != MT_GONE;
    o->has_category |= f[K_CATEGORY] != 0;
    *mt_vec_push(&o->events) = e;
    return mt_pickle_token(MT_TOKEN_EVENT, (uint32_t)o->events.n - 1);
}

const char *mt_snap_action_name(const struct mt_snap_objects *o, const struct mt_strtab *strings,
                                const struct mt_snap_event *e)
{
    if (e->action < MT_SNAP_ACTION_N)
        return actions[e->action];
    uint32_t event = (uint32_t)(e - o->events.v);
    size_t low = 0, high = o->words.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (o->words.v[mid].event < event)
            low = mid + 1;
        else
            high = mid;
    }
    bool known =
        low < o->words.n && o->words.v[low].event == event && o->words.v[low].word != MT_NONE;
    return known ? mt_strtab_get(strings, o->words.v[low].word) : "[none]";
}

/* Blocks of torch 1.13 and 2.0 keep size and frames in their `history`. */
static void add_history(struct mt_snap_objects *o, struct mt_pickle *p, mt_pvalue history,
                        struct mt_snap_block *b)
{
    size_t n;
    const mt_pvalue *items = mt_pickle_items(p, history, &n);
    if (!n)
        return;
    b->requested = int_of(p, mt_pickle_find(p, items[0], "real_size"), b->requested);
    if (b->path == MT_NONE)
        b->path = path_of(o, p, mt_pickle_find(p, items[0], "frames"));
}

static mt_pvalue block(struct mt_snap_objects *o, struct mt_pickle *p, const mt_pvalue *f)
{
    struct mt_snap_block b = {.address = (uint64_t)int_of(p, f[K_ADDRESS], 0),
                              .size = int_of(p, f[K_SIZE], 0),
                              .path = path_of(o, p, f[K_FRAMES]),
                              .has_address = f[K_ADDRESS] != 0};
    const char *state = mt_pickle_str(p, f[K_STATE]);
    b.state = !state || strcmp(state, "inactive") == 0 ? MT_BLOCK_FREED
              : strcmp(state, "active_allocated") == 0 ? MT_BLOCK_ACTIVE
                                                       : MT_BLOCK_PENDING_FREE;
    b.requested = b.size;
    add_history(o, p, f[K_HISTORY], &b);
    b.requested = int_of(p, f[K_REQUESTED_SIZE], b.requested);
    bool bad = !is_size(b.size);
    if (bad)
        b.requested = b.size = 0;
    if (!is_size(b.requested) || b.requested > b.size) {
        bad = b.state != MT_BLOCK_FREED; /* of a free block it says nothing */
        b.requested = b.size;
    }
    o->bad_n += bad;
    *mt_vec_push(&o->blocks) = b;
    return mt_pickle_token(MT_TOKEN_BLOCK, (uint32_t)o->blocks.n - 1);
}

static mt_pvalue segment(struct mt_snap_objects *o, struct mt_pickle *p, const mt_pvalue *f)
{
    const char *type = mt_pickle_str(p, f[K_SEGMENT_TYPE]);
    struct mt_snap_segment s = {.address = (uint64_t)int_of(p, f[K_ADDRESS], 0),
                                .device = int_of(p, f[K_DEVICE], 0),
                                .total = int_of(p, f[K_TOTAL_SIZE], 0),
                                .stream = int_of(p, f[K_STREAM], 0),
                                .path = path_of(o, p, f[K_FRAMES]),
                                .pool = pool_of(o, p, f[K_SEGMENT_POOL_ID]),
                                .first_block = (uint32_t)o->final_blocks.n,
                                .small = type && strcmp(type, "small") == 0,
                                .expandable = int_of(p, f[K_IS_EXPANDABLE], 0) != 0};
    size_t n;
    const mt_pvalue *items = mt_pickle_items(p, f[K_BLOCKS], &n);
    uint64_t at = s.address;
    for (size_t i = 0; i < n; i++) {
        if (!mt_pickle_is_token(items[i], MT_TOKEN_BLOCK))
            continue;
        struct mt_snap_block *b = &o->blocks.v[mt_pickle_number(items[i])];
        if (!b->has_address) /* old files: blocks lie one behind the other */
            b->address = at;
        at = b->address + (uint64_t)b->size;
        *mt_vec_push(&o->final_blocks) = mt_pickle_number(items[i]);
        s.block_n++;
    }
    if (!is_size(s.total)) {
        o->bad_n++;
        s.total = 0;
    }
    *mt_vec_push(&o->segments) = s;
    return mt_pickle_token(MT_TOKEN_SEGMENT, (uint32_t)o->segments.n - 1);
}

static mt_pvalue annotation(struct mt_snap_objects *o, struct mt_pickle *p, const mt_pvalue *f)
{
    const char *stage = mt_pickle_str(p, f[K_STAGE]);
    struct mt_snap_annotation a = {.device = int_of(p, f[K_DEVICE], 0),
                                   .time_us = int_of(p, f[K_TIME_US], MT_GONE),
                                   .name = str_of(f[K_NAME]),
                                   .start = stage && strcmp(stage, "START") == 0};
    if (a.name == MT_NONE || a.time_us > TIME_MAX_US || a.time_us < -TIME_MAX_US) /* or no time */
        return 0;
    *mt_vec_push(&o->annotations) = a;
    return mt_pickle_token(MT_TOKEN_ANNOTATION, (uint32_t)o->annotations.n - 1);
}

mt_pvalue mt_snap_dict(struct mt_snap_objects *o, struct mt_pickle *p, const mt_pvalue *v, size_t n)
{
    mt_pvalue f[K_N] = {0};
    for (size_t i = 0; i + 1 < n; i += 2) {
        uint32_t key = str_of(v[i]);
        if (key < K_N)
            f[key] = v[i + 1];
    }
    if (f[K_ACTION])
        return event(o, p, f);
    if (f[K_BLOCKS] && f[K_TOTAL_SIZE])
        return segment(o, p, f);
    if (f[K_STATE] && f[K_SIZE])
        return block(o, p, f);
    if (f[K_STAGE])
        return annotation(o, p, f);
    if (f[K_FILENAME] && f[K_NAME])
        return mt_pickle_token(MT_TOKEN_FRAME, mt_snap_frame_number(&o->paths, str_of(f[K_NAME]),
                                                                    str_of(f[K_FILENAME]),
                                                                    int_of(p, f[K_LINE], 0)));
    return 0;
}

mt_pvalue mt_snap_list(struct mt_snap_objects *o, const mt_pvalue *v, size_t n)
{
    if (!mt_pickle_is_token(v[0], MT_TOKEN_FRAME))
        return 0;
    uint32_t path = mt_snap_path(&o->paths, v, n, MT_TOKEN_FRAME);
    return path == MT_NONE ? 0 : mt_pickle_token(MT_TOKEN_PATH, path);
}
