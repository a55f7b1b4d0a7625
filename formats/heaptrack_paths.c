#include "formats/heaptrack_paths.h"

enum {
    DEPTH_MAX = 62,    /* of the stacks that heaptrack records: 64, less its own two */
    INLINED_MAX = 256, /* functions at a pointer; no compiler makes so many of one place */
};

void mt_ht_tables_init(struct mt_ht_tables *t, struct mt_recording *rec, bool all_frames,
                       const regex_t *alloc_fn)
{
    *t = (struct mt_ht_tables){.all_frames = all_frames, .alloc_fn = alloc_fn};
    mt_path_tree_init(&t->paths, rec);
    mt_buf_addc(&t->text, '\0');
    *mt_vec_push(&t->strings) = 0; /* string 0 is unknown */
    *mt_vec_push(&t->ips) = (struct mt_ht_ip){0};
    *mt_vec_push(&t->traces) = (struct mt_ht_trace){.node = MT_NONE, .outer.path = MT_HT_UNASKED};
}

void mt_ht_tables_free(struct mt_ht_tables *t)
{
    mt_path_tree_free(&t->paths);
    mt_buf_free(&t->text);
    mt_vec_free(&t->strings);
    mt_vec_free(&t->frames);
    mt_vec_free(&t->ips);
    mt_vec_free(&t->traces);
    mt_vec_free(&t->stack);
    mt_vec_free(&t->ends);
}

uint64_t mt_ht_tables_bytes(const struct mt_ht_tables *t)
{
    return mt_path_tree_bytes(&t->paths) + t->text.cap + mt_vec_bytes(&t->strings) +
           mt_vec_bytes(&t->frames) + mt_vec_bytes(&t->ips) + mt_vec_bytes(&t->traces) +
           mt_vec_bytes(&t->stack) + mt_vec_bytes(&t->ends);
}

/* ---- entries ---- */

bool mt_ht_add_string(struct mt_ht_tables *t, struct mt_fields f, bool sized)
{
    uint64_t n = 0;
    bool good = !sized || mt_field_hex(&f, &n);
    const char *s = f.p < f.end && *f.p == ' ' ? f.p + 1 : f.p;
    size_t left = (size_t)(f.end - s);
    good &= !sized || n == left;
    *mt_vec_push(&t->strings) = t->text.n;
    mt_buf_add(&t->text, s, strnlen(s, left));
    mt_buf_addc(&t->text, '\0');
    return good;
}

/* A number of an entry of a table that comes before this place. */
static bool number(struct mt_fields *f, size_t n, uint32_t *out)
{
    uint64_t v;
    if (!mt_field_hex(f, &v) || v >= n)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* function [file line], as often as there are functions inlined in each other. */
static bool add_frames(struct mt_ht_tables *t, struct mt_fields *f, struct mt_ht_ip *ip)
{
    while (!mt_field_end(f)) {
        struct mt_ht_frame frame = {.step.frame = MT_NONE};
        uint64_t line = 0;
        if (ip->n == INLINED_MAX || !number(f, t->strings.n, &frame.function))
            return false;
        if (!mt_field_end(f) && (!number(f, t->strings.n, &frame.file) || !mt_field_hex(f, &line)))
            return false;
        frame.line = line <= INT32_MAX ? (int64_t)line : 0;
        *mt_vec_push(&t->frames) = frame;
        ip->n++;
    }
    return true;
}

bool mt_ht_add_ip(struct mt_ht_tables *t, struct mt_fields f)
{
    uint64_t address;
    struct mt_ht_ip ip = {.first = (uint32_t)t->frames.n};
    bool good = mt_field_hex(&f, &address) && number(&f, t->strings.n, &ip.module) &&
                add_frames(t, &f, &ip);
    if (!ip.n) { /* the module alone is known, or nothing */
        *mt_vec_push(&t->frames) = (struct mt_ht_frame){.step.frame = MT_NONE};
        ip.n = 1;
    }
    *mt_vec_push(&t->ips) = ip;
    return good;
}

bool mt_ht_add_trace(struct mt_ht_tables *t, struct mt_fields f)
{
    struct mt_ht_trace trace = {0};
    bool good =
        number(&f, t->ips.n, &trace.ip) && trace.ip && number(&f, t->traces.n, &trace.parent);
    mt_ht_push_trace(t, good ? trace.ip : 0, trace.parent);
    return good;
}

void mt_ht_push_trace(struct mt_ht_tables *t, uint32_t ip, uint32_t parent)
{
    *mt_vec_push(&t->traces) = (struct mt_ht_trace){.ip = ip,
                                                    .parent = ip ? parent : 0,
                                                    .node = ip ? MT_HT_UNASKED : MT_NONE,
                                                    .outer.path = MT_HT_UNASKED};
}

uint32_t mt_ht_push_ip(struct mt_ht_tables *t, const struct mt_native_step *steps, uint32_t n)
{
    *mt_vec_push(&t->ips) = (struct mt_ht_ip){.first = (uint32_t)t->frames.n, .n = n};
    for (uint32_t i = 0; i < n; i++)
        *mt_vec_push(&t->frames) = (struct mt_ht_frame){.step = steps[i]};
    return (uint32_t)t->ips.n - 1;
}

bool mt_ht_read_kind(const struct mt_ht_tables *t, struct mt_fields f, int64_t *bytes,
                     uint32_t *trace)
{
    uint64_t n;
    *trace = 0;
    bool good = mt_field_hex(&f, &n) && n <= INT64_MAX && number(&f, t->traces.n, trace);
    *bytes = good ? (int64_t)n : -1;
    return good;
}

/* ---- nodes ---- */

static const char *text(const struct mt_ht_tables *t, uint32_t string)
{
    return t->text.s + t->strings.v[string];
}

static struct mt_native_step step_of(struct mt_ht_tables *t, const struct mt_ht_ip *ip,
                                     struct mt_ht_frame *f)
{
    if (f->step.frame == MT_NONE)
        f->step = mt_native_step(&t->paths,
                                 &(struct mt_native_frame){.name = text(t, f->function),
                                                           .object = text(t, ip->module),
                                                           .file = text(t, f->file),
                                                           .line = f->line},
                                 t->alloc_fn);
    return f->step;
}

/* A stack as far as it has been walked. */
struct walk {
    size_t depth;
    bool has_main, has_code; /* among its frames: main; a function that is no allocator */
};

static void walk_trace(struct mt_ht_tables *t, uint32_t trace, struct walk *w)
{
    const struct mt_ht_ip *ip = &t->ips.v[t->traces.v[trace].ip];
    for (uint32_t i = 0; i < ip->n; i++) {
        struct mt_native_step step = step_of(t, ip, &t->frames.v[ip->first + i]);
        w->has_main |= step.kind == MT_NATIVE_MAIN;
        w->has_code |= step.kind != MT_NATIVE_ALLOCATOR;
        *mt_vec_push(&t->stack) = step;
        *mt_vec_push(&t->ends) = i ? 0 : trace;
    }
    w->depth++;
}

/* Whether the path of what is walked goes on from that of the trace around it: both have the same
 * root, and all frames of that one. */
static bool goes_on(const struct mt_ht_tables *t, const struct mt_ht_outer *around,
                    const struct walk *w)
{
    if (around->path == MT_HT_UNASKED)
        return false;
    bool cut = !around->is_rooted && around->depth + w->depth >= DEPTH_MAX;
    return around->is_cut == cut &&
           (t->all_frames || (w->has_code && (around->has_main || !w->has_main)));
}

/* Makes the path of what is walked, inside of *outer, which becomes the whole. */
static void make_path(struct mt_ht_tables *t, struct mt_ht_outer *outer)
{
    size_t first, end = t->stack.n;
    bool fresh = outer->path == MT_NONE;
    mt_native_own(t->stack.v, &first, &end, fresh, t->all_frames);
    /* Where nothing but the start of a thread is left, that is no part of deeper paths. */
    bool lasts = !fresh || t->all_frames || t->stack.v[end - 1].kind != MT_NATIVE_START;
    for (size_t i = t->stack.n; i-- > first;) {
        uint32_t trace = t->ends.v[i];
        outer->depth += trace && outer->depth < DEPTH_MAX;
        if (i >= end)
            continue;
        outer->path = mt_path_node(&t->paths, outer->path, t->stack.v[i].frame);
        outer->has_main |= t->stack.v[i].kind == MT_NATIVE_MAIN;
        if (trace && lasts)
            t->traces.v[trace].outer = *outer;
    }
}

/* What is walked is deeper than a path can be: of it the innermost functions stay. */
static bool too_deep(struct mt_ht_tables *t)
{
    if (t->stack.n <= MT_STACK_MAX)
        return false;
    t->stack.n = t->ends.n = MT_STACK_MAX;
    return true;
}

static uint32_t node_of(struct mt_ht_tables *t, uint32_t trace)
{
    struct walk w = {0};
    t->stack.n = t->ends.n = 0;
    while (trace && t->stack.n <= MT_STACK_MAX && !goes_on(t, &t->traces.v[trace].outer, &w)) {
        walk_trace(t, trace, &w);
        trace = t->traces.v[trace].parent;
    }
    struct mt_ht_outer outer = {.path = MT_NONE};
    if (too_deep(t)) {
        trace = 0;
        outer.is_cut = true;
    } else if (trace) {
        outer = t->traces.v[trace].outer;
    } else {
        outer.is_rooted = mt_native_is_rooted(t->stack.v, t->stack.n);
        outer.is_cut = !outer.is_rooted && w.depth >= DEPTH_MAX;
    }
    if (!trace && outer.is_cut) {
        *mt_vec_push(&t->stack) = mt_native_explicit(&t->paths, MT_STACK_CUT);
        *mt_vec_push(&t->ends) = 0;
    }
    if (t->stack.n)
        make_path(t, &outer);
    return outer.path;
}

uint32_t mt_ht_trace_node(struct mt_ht_tables *t, uint32_t trace)
{
    uint32_t *node = &t->traces.v[trace].node;
    if (*node == MT_HT_UNASKED)
        *node = node_of(t, trace);
    return *node;
}
