#include "formats/heaptrack_paths.h"

enum { DEPTH_MAX = 64 }; /* of the stacks that heaptrack records */

void mt_ht_tables_init(struct mt_ht_tables *t, struct mt_recording *rec, bool all_frames,
                       const regex_t *alloc_fn)
{
    *t = (struct mt_ht_tables){.all_frames = all_frames, .alloc_fn = alloc_fn};
    mt_path_tree_init(&t->paths, rec);
    mt_buf_addc(&t->text, '\0');
    *mt_vec_push(&t->strings) = 0; /* string 0 is unknown */
    *mt_vec_push(&t->ips) = (struct mt_ht_ip){0};
    *mt_vec_push(&t->traces) = (struct mt_ht_trace){.node = MT_NONE};
}

void mt_ht_tables_free(struct mt_ht_tables *t)
{
    mt_path_tree_free(&t->paths);
    mt_buf_free(&t->text);
    mt_vec_free(&t->strings);
    mt_vec_free(&t->frames);
    mt_vec_free(&t->ips);
    mt_vec_free(&t->traces);
    mt_vec_free(&t->infos);
    mt_vec_free(&t->stack);
}

uint64_t mt_ht_tables_bytes(const struct mt_ht_tables *t)
{
#define BYTES(vec) ((uint64_t)(vec).cap * sizeof *(vec).v)
    return mt_path_tree_bytes(&t->paths) + t->text.cap + BYTES(t->strings) + BYTES(t->frames) +
           BYTES(t->ips) + BYTES(t->traces) + BYTES(t->infos) + BYTES(t->stack);
#undef BYTES
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
        if (!number(f, t->strings.n, &frame.function))
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
    struct mt_ht_trace trace = {.node = MT_HT_UNASKED};
    bool good =
        number(&f, t->ips.n, &trace.ip) && trace.ip && number(&f, t->traces.n, &trace.parent);
    *mt_vec_push(&t->traces) = good ? trace : (struct mt_ht_trace){.node = MT_NONE};
    return good;
}

bool mt_ht_add_info(struct mt_ht_tables *t, struct mt_fields f)
{
    uint64_t bytes;
    struct mt_ht_info info = {.node = MT_HT_UNASKED};
    bool good =
        mt_field_hex(&f, &bytes) && bytes <= INT64_MAX && number(&f, t->traces.n, &info.trace);
    info.bytes = good ? (int64_t)bytes : -1;
    *mt_vec_push(&t->infos) = info;
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

static uint32_t node_of(struct mt_ht_tables *t, uint32_t trace)
{
    size_t depth = 0;
    t->stack.n = 0;
    for (; trace; trace = t->traces.v[trace].parent, depth++) {
        const struct mt_ht_ip *ip = &t->ips.v[t->traces.v[trace].ip];
        for (uint32_t i = 0; i < ip->n; i++)
            *mt_vec_push(&t->stack) = step_of(t, ip, &t->frames.v[ip->first + i]);
    }
    if (!depth)
        return MT_NONE;
    if (depth >= DEPTH_MAX && !mt_native_is_rooted(t->stack.v, t->stack.n))
        *mt_vec_push(&t->stack) = mt_native_explicit(&t->paths, MT_STACK_CUT);
    return mt_native_path(&t->paths, MT_NONE, t->stack.v, t->stack.n, t->all_frames);
}

uint32_t mt_ht_node(struct mt_ht_tables *t, struct mt_ht_info *info)
{
    uint32_t *node = &t->traces.v[info->trace].node;
    if (*node == MT_HT_UNASKED)
        *node = node_of(t, info->trace);
    return info->node = *node;
}
