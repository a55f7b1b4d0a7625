/* What DHAT says of call paths becomes the recording's. */
#include "formats/dhat_parts.h"
#include "formats/valgrind_frames.h"
#include "lib/base/human.h"

enum { CUT_AT = 10 }; /* stacks of as many calls as the longest are cut, if it has so many */

enum mt_status mt_dhat_check_memory(struct mt_dhat *r, struct mt_err *err)
{
    uint64_t now = mt_vec_bytes(&r->sums) + mt_vec_bytes(&r->stacks) + mt_vec_bytes(&r->frames) +
                   mt_vec_bytes(&r->addresses) + mt_path_tree_bytes(&r->paths);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* Whether the figures can be true. */
static bool is_sound(const struct mt_dhat_path *p, bool lifetimes)
{
    for (int i = 0; i < MT_DHAT_FIGURE_N; i++)
        if (p->v[i] < 0 && p->v[i] != MT_UNKNOWN)
            return false;
    if (p->v[MT_DHAT_TB] == MT_UNKNOWN || p->v[MT_DHAT_TBK] == MT_UNKNOWN)
        return false;
    for (int i = MT_DHAT_GB; lifetimes && i <= MT_DHAT_EBK; i += 2)
        if (p->v[i] == MT_UNKNOWN || p->v[i + 1] == MT_UNKNOWN || p->v[i] > p->v[MT_DHAT_TB] ||
            p->v[i + 1] > p->v[MT_DHAT_TBK])
            return false;
    return true;
}

/* The frames of a stack; those that are not in a table which was cut off are unknown. */
static enum mt_status stack_of(struct mt_dhat *r, const struct mt_dhat_path *p,
                               struct mt_native_step *out, struct mt_err *err)
{
    static const struct mt_native_frame unknown = {"", "", "", 0};
    for (size_t i = 0; i < p->n; i++) {
        uint32_t frame = r->stacks.v[p->first + i];
        if (frame < r->frames.n) {
            out[i] = r->frames.v[frame];
        } else if (r->rec->notes[MT_NOTE_CUT].count) {
            out[i] = mt_native_step(&r->paths, &unknown, NULL);
        } else {
            MT_FAIL(err, MT_EINPUT, "a stack has frame %u, and its table only %zu", frame,
                    r->frames.n);
            return mt_reader_refuse((int64_t)p->offset, "The file is damaged: record it again.",
                                    err);
        }
    }
    return MT_OK;
}

static void give_extra(struct mt_dhat *r, uint32_t node, const char *figure, int64_t value)
{
    if (value != MT_UNKNOWN)
        mt_heap_extra(r->heap, node, figure, value);
}

/* Reads, writes and lifetimes. */
static void give_extras(struct mt_dhat *r, const struct mt_dhat_path *p, uint32_t node)
{
    int64_t lifetime = p->v[MT_DHAT_TL], blocks = p->v[MT_DHAT_TBK];
    give_extra(r, node, "read_b", p->v[MT_DHAT_RB]);
    give_extra(r, node, "written_b", p->v[MT_DHAT_WB]);
    if (lifetime == MT_UNKNOWN || !r->lifetimes)
        return;
    bool fits = lifetime <= INT64_MAX / r->tick;
    if (r->rec->time_unit)
        mt_heap_extra(r->heap, node, "lifetime_ns", fits ? lifetime * r->tick : -1);
    if (r->short_lived != MT_UNKNOWN)
        mt_heap_extra(r->heap, node, "short_lived_n",
                      blocks && (lifetime - 1) / blocks < r->short_lived ? blocks : 0);
}

/* What is no memory has figures of its own, and no others. */
static void give_counts(struct mt_dhat *r, uint32_t node, int64_t amount, int64_t n)
{
    bool copies = r->mode == MT_DHAT_COPY;
    mt_heap_extra(r->heap, node, copies ? "copied_b" : "units_n", amount);
    mt_heap_extra(r->heap, node, copies ? "copies_n" : "events_n", n);
}

static enum mt_status give(struct mt_dhat *r, const struct mt_dhat_path *p, uint32_t node,
                           struct mt_err *err)
{
    if (r->mode != MT_DHAT_HEAP) {
        give_counts(r, node, p->v[MT_DHAT_TB], p->v[MT_DHAT_TBK]);
        return MT_OK;
    }
    struct mt_sums s = {.alloc_b = p->v[MT_DHAT_TB],
                        .alloc_n = p->v[MT_DHAT_TBK],
                        .at_peak_b = p->v[MT_DHAT_GB],
                        .at_peak_n = p->v[MT_DHAT_GBK],
                        .at_end_b = p->v[MT_DHAT_EB],
                        .at_end_n = p->v[MT_DHAT_EBK]};
    enum mt_status st = mt_heap_sums(r->heap, node, &s, err);
    if (st == MT_EINPUT && err->offset < 0)
        err->offset = (int64_t)p->offset;
    if (node != MT_NONE)
        give_extras(r, p, node);
    return st;
}

static size_t calls_of(const struct mt_dhat *r, const struct mt_dhat_path *p)
{
    struct mt_native_step stack[MT_DHAT_STACK];
    uint64_t addresses[MT_DHAT_STACK];
    for (size_t i = 0; i < p->n; i++) {
        uint32_t frame = r->stacks.v[p->first + i];
        bool is = frame < r->frames.n;
        stack[i] = is ? r->frames.v[frame] : (struct mt_native_step){MT_NONE, MT_NATIVE_CODE};
        addresses[i] = is ? r->addresses.v[frame] : 0;
    }
    return mt_valgrind_calls(stack, addresses, p->n);
}

/* The node of a stack; MT_NONE: it has no frames. longest: calls of the longest stack. */
static enum mt_status node_of(struct mt_dhat *r, const struct mt_dhat_path *p, size_t longest,
                              uint32_t *node, struct mt_err *err)
{
    struct mt_native_step stack[MT_DHAT_STACK];
    *node = MT_NONE;
    if (!p->n)
        return MT_OK;
    MT_TRY(stack_of(r, p, stack, err));
    if (longest >= CUT_AT && !mt_native_is_rooted(stack, p->n) && calls_of(r, p) == longest)
        *node = mt_path_node(&r->paths, MT_NONE, mt_native_explicit(&r->paths, MT_STACK_CUT).frame);
    *node = mt_native_path(&r->paths, *node, stack, p->n, r->opts->cpp_frames == MT_CPP_ALL);
    return MT_OK;
}

static enum mt_status give_all(struct mt_dhat *r, struct mt_err *err)
{
    size_t longest = 0;
    if (r->mode == MT_DHAT_HEAP) {
        mt_heap_knows(r->heap, r->lifetimes ? MT_SUM_ALL : MT_SUM_ALLOC_B | MT_SUM_ALLOC_N);
    } else {
        mt_heap_knows(r->heap, 0);
        give_counts(r, MT_NONE, 0, 0); /* known, be there none */
    }
    for (size_t i = 0; i < r->sums.n; i++) {
        size_t calls = calls_of(r, &r->sums.v[i]);
        longest = calls > longest ? calls : longest;
    }
    for (size_t i = 0; i < r->sums.n; i++) {
        const struct mt_dhat_path *p = &r->sums.v[i];
        uint32_t node;
        if (!is_sound(p, r->lifetimes && r->mode == MT_DHAT_HEAP)) {
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)p->offset, 0);
            r->left_out_n++;
            continue;
        }
        MT_TRY(node_of(r, p, longest, &node, err));
        MT_TRY(give(r, p, node, err));
        if (i % 256 == 0)
            MT_TRY(mt_dhat_check_memory(r, err));
    }
    return MT_OK;
}

enum mt_status mt_dhat_give(struct mt_dhat *r, struct mt_err *err)
{
    char paths[MT_HUMAN_LONG];
    MT_TRY(give_all(r, err));
    if (!r->sums.n || r->left_out_n < r->sums.n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "none of its figures can be true (%s)",
            mt_human_plural((int64_t)r->sums.n, "call path", paths));
    return mt_reader_refuse((int64_t)r->sums.v[0].offset,
                            "Copy the file again, or record it again.", err);
}
