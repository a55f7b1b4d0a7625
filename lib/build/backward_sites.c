#include "lib/build/backward_sites.h"

#include "lib/build/phases.h"
#include "lib/model/python_files.h"

#include <stdlib.h>
#include <string.h>

enum kind { UNASKED, OTHER, LINE, MODULE }; /* of a frame */

static bool is_line(const struct mt_recording *r, uint32_t frame)
{
    return r->frames.v[frame].kind == MT_FRAME_PYTHON &&
           mt_python_is_users(mt_rec_frame_name(r, frame));
}

static bool is_module(const struct mt_recording *r, uint32_t frame)
{
    return r->frames.v[frame].kind == MT_FRAME_PYTHON && r->frames.v[frame].instance >= 0;
}

/* All frames that a recorder names are there before ops are nested; those made later are of ops. */
static enum kind kind_of(const struct mt_backward_sites *s, uint32_t frame)
{
    return frame < s->kind_n ? (enum kind)s->kinds[frame] : OTHER;
}

void mt_backward_sites_init(struct mt_backward_sites *s, struct mt_recording *r)
{
    bool lines = false;
    *s = (struct mt_backward_sites){.r = r, .kind_n = r->frames.n};
    s->kinds = mt_alloc(r->frames.n + 1);
    for (uint32_t i = 0; i < r->frames.n; i++) {
        s->kinds[i] = is_module(r, i) ? MODULE : is_line(r, i) ? LINE : OTHER;
        lines |= s->kinds[i] == LINE;
    }
    if (!lines)
        return;
    s->nested = mt_alloc((r->threads.n + 1) * sizeof *s->nested);
    s->forward = mt_forward_ops_find(r);
}

void mt_backward_sites_free(struct mt_backward_sites *s)
{
    mt_forward_ops_free(s->forward);
    free(s->nested);
    free(s->kinds);
    mt_map_free(&s->places);
    mt_map_free(&s->frames);
    mt_map_free(&s->known);
}

static bool has_python(const struct mt_recording *r, const struct mt_thread *t)
{
    for (uint32_t i = 0; i < t->ops.n; i++)
        if (r->frames.v[r->labels.v[t->ops.v[i].label].frame].kind == MT_FRAME_PYTHON)
            return true;
    return false;
}

uint32_t *mt_backward_order(const struct mt_backward_sites *s)
{
    const struct mt_recording *r = s->r;
    uint32_t *order = mt_alloc((r->threads.n + 1) * sizeof *order), n = 0;
    bool *first = mt_alloc(r->threads.n + 1);
    for (uint32_t t = 0; t < r->threads.n; t++)
        if ((first[t] = !s->forward || has_python(r, &r->threads.v[t])))
            order[n++] = t;
    for (uint32_t t = 0; t < r->threads.n; t++)
        if (!first[t])
            order[n++] = t;
    free(first);
    return order;
}

/* The node of a forward op, MT_NONE: it has none yet. */
static uint32_t node_of(const struct mt_backward_sites *s, uint32_t op)
{
    const struct mt_recording *r = s->r;
    uint32_t low = 0, high = (uint32_t)r->threads.n; /* the last thread that begins at most there */
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;
        if (r->threads.v[mid].op_base <= op)
            low = mid;
        else
            high = mid;
    }
    uint32_t at = op - r->threads.v[low].op_base;
    return at < s->nested[low] ? r->threads.v[low].ops.v[at].node : MT_NONE;
}

/* Puts the modules around a node in front, outermost first: "Gpt_0.Block_3". */
static void add_layer(const struct mt_backward_sites *s, uint32_t node, struct mt_buf *out)
{
    MT_VEC(uint32_t) modules = {0};
    for (; node != MT_NONE; node = s->r->nodes.v[node].parent)
        if (kind_of(s, s->r->nodes.v[node].frame) == MODULE)
            *mt_vec_push(&modules) = s->r->nodes.v[node].frame;
    for (size_t i = modules.n; i-- > 0 && out->n <= MT_LAYER_BYTES_MAX;)
        mt_buf_addf(out, "%s%s_%d", out->n ? "." : "",
                    mt_rec_frame_name(s->r, modules.v[i]) + strlen(MT_MODULE_FRAME),
                    (int)s->r->frames.v[modules.v[i]].instance);
    mt_vec_free(&modules);
}

/* The same frame at the place of a forward op: `line` is the frame of its line. */
static uint32_t new_frame(struct mt_backward_sites *s, uint32_t frame, uint32_t line, uint32_t node)
{
    struct mt_recording *r = s->r;
    struct mt_python_function f;
    struct mt_buf text = {0};
    struct mt_frame placed = r->frames.v[frame];
    mt_python_function_parse(mt_rec_frame_name(r, line), &f);
    mt_python_site(&text, &f);
    placed.file = mt_strtab_add(&r->strings, text.s, text.n);
    mt_buf_clear(&text);
    add_layer(s, node, &text);
    placed.object = text.n ? mt_strtab_add(&r->strings, text.s, text.n) : MT_NONE;
    mt_buf_free(&text);
    uint32_t *place = mt_map_at(&s->places, (uint64_t)placed.file << 32 | placed.object);
    if (*place == MT_MAP_NONE)
        *place = (uint32_t)s->places.n;
    uint32_t *known = mt_map_at(&s->frames, (uint64_t)frame << 32 | *place);
    if (*known == MT_MAP_NONE) {
        *known = (uint32_t)r->frames.n;
        *mt_vec_push(&r->frames) = placed;
    }
    return *known;
}

/* The frame of an engine op whose forward op has that node. */
static uint32_t frame_at(struct mt_backward_sites *s, uint32_t frame, uint32_t node)
{
    uint32_t line = node;
    while (line != MT_NONE && kind_of(s, s->r->nodes.v[line].frame) != LINE)
        line = s->r->nodes.v[line].parent;
    return line == MT_NONE ? frame : new_frame(s, frame, s->r->nodes.v[line].frame, node);
}

uint32_t mt_backward_frame(struct mt_backward_sites *s, uint32_t thread, uint32_t frame)
{
    const struct mt_recording *r = s->r;
    if (!s->forward)
        return frame;
    const struct mt_op *op = &r->threads.v[thread].ops.v[s->nested[thread]];
    if (!op->fwd_thread || !mt_frame_is_engine(r, frame))
        return frame;
    uint32_t forward = mt_forward_op(s->forward, r->threads.v[thread].process, op->seq);
    if (forward == MT_NONE || forward == MT_FORWARD_AMBIGUOUS)
        return frame;
    const uint32_t node = node_of(s, forward);
    if (node == MT_NONE)
        return frame;
    uint32_t *known = mt_map_at(&s->known, (uint64_t)frame << 32 | node);
    if (*known == MT_MAP_NONE)
        *known = frame_at(s, frame, node);
    return *known;
}
