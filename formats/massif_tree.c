#include "formats/massif_tree.h"

#include "formats/valgrind_frames.h"
#include "lib/input/fields.h"

#include <string.h>

enum { DEPTH_MAX = 1024 }; /* frames of a path */

void mt_massif_tree_init(struct mt_massif_tree *t, const struct mt_read_opts *opts,
                         struct mt_recording *rec)
{
    *t = (struct mt_massif_tree){.depth = MT_MASSIF_DEPTH, .opts = opts, .rec = rec};
    mt_path_tree_init(&t->paths, rec);
    t->below = mt_native_explicit(&t->paths, MT_UNLISTED);
    t->cut = mt_native_explicit(&t->paths, MT_STACK_CUT);
}

void mt_massif_tree_free(struct mt_massif_tree *t)
{
    mt_path_tree_free(&t->paths);
    mt_vec_free(&t->held);
    mt_vec_free(&t->levels);
    mt_vec_free(&t->stack);
    mt_vec_free(&t->calls);
    mt_buf_free(&t->text);
}

void mt_massif_tree_clear(struct mt_massif_tree *t)
{
    t->state = MT_MASSIF_UNKNOWN;
    t->held.n = t->levels.n = t->stack.n = t->calls.n = 0;
}

void mt_massif_tree_break(struct mt_massif_tree *t, uint64_t offset, bool note)
{
    if (note)
        mt_rec_note(t->rec, MT_NOTE_SKIPPED, (int64_t)offset, 0);
    mt_massif_tree_clear(t);
    t->state = MT_MASSIF_BROKEN;
}

static uint32_t path_of(struct mt_massif_tree *t, struct mt_native_step around)
{
    bool has = around.frame != MT_NONE;
    uint32_t root = has ? mt_path_node(&t->paths, MT_NONE, around.frame) : MT_NONE;
    if (!t->stack.n)
        return root;
    return mt_native_path(&t->paths, root, t->stack.v, t->stack.n,
                          t->opts->cpp_frames == MT_CPP_ALL);
}

static void hold(struct mt_massif_tree *t, struct mt_native_step around, int64_t bytes)
{
    if (bytes)
        *mt_vec_push(&t->held) = (struct mt_massif_held){path_of(t, around), bytes};
}

/* The node's children are all read: what they do not hold is its own. */
static bool close_level(struct mt_massif_tree *t)
{
    static const struct mt_native_step nothing = {MT_NONE, MT_NATIVE_CODE};
    struct mt_massif_level done = t->levels.v[--t->levels.n];
    if (done.sum > done.bytes)
        return false;
    if (done.sum && done.bytes > done.sum)
        mt_rec_note(t->rec, MT_NOTE_CALLERS, -1, done.bytes - done.sum);
    if (done.bytes > done.sum) {
        bool cut = !done.sum &&
                   (int64_t)mt_valgrind_calls(t->stack.v, t->calls.v, t->calls.n) >= t->depth &&
                   !mt_native_is_rooted(t->stack.v, t->stack.n);
        hold(t, cut ? t->cut : nothing, done.bytes - done.sum);
    }
    if (t->stack.n)
        t->calls.n = --t->stack.n;
    if (t->levels.n)
        t->levels.v[t->levels.n - 1].sum += done.bytes;
    return true;
}

/* Closes what has no more children to come. */
static bool close_levels(struct mt_massif_tree *t)
{
    while (t->levels.n && !t->levels.v[t->levels.n - 1].children)
        if (!close_level(t))
            return false;
    return true;
}

/* A node below another: n bytes at s are its text. */
static void add_child(struct mt_massif_tree *t, const char *s, size_t n,
                      const struct mt_massif_level *node)
{
    t->levels.v[t->levels.n - 1].children--;
    mt_buf_set(&t->text, s, n);
    struct mt_native_frame frame = mt_valgrind_frame(t->text.s, mt_vec_push(&t->calls));
    *mt_vec_push(&t->stack) = mt_native_step(&t->paths, &frame, t->opts->alloc_fn);
    *mt_vec_push(&t->levels) = *node;
}

/* "in 3 places, all below massif's threshold (1.00%)" */
static bool add_below(struct mt_massif_tree *t, const struct mt_massif_level *node)
{
    struct mt_massif_level *around = &t->levels.v[t->levels.n - 1];
    hold(t, t->below, node->bytes);
    around->children--;
    around->sum += node->bytes;
    return !node->children;
}

/* " n2: 67236864 0x1091D1: leaf_alloc (alloclab.c:14)"; false: it cannot be so. */
static bool add_node(struct mt_massif_tree *t, const struct mt_line *line)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    struct mt_massif_level node = {0};
    const char *s;
    size_t n, blanks = 0;
    while (blanks < line->n && line->s[blanks] == ' ')
        blanks++;
    if (blanks != t->levels.n || blanks > DEPTH_MAX || !mt_field_take(&f, "n") ||
        !mt_field_decimal(&f, &node.children) || node.children < 0 || !mt_field_take(&f, ":") ||
        !mt_field_decimal(&f, &node.bytes) || node.bytes < 0)
        return false;
    mt_field_rest(&f, &s, &n);
    if (!blanks) {
        *mt_vec_push(&t->levels) = node;
        return close_levels(t);
    }
    const struct mt_massif_level *around = &t->levels.v[t->levels.n - 1];
    if (node.bytes > around->bytes - around->sum)
        return false;
    if (n > 3 && memcmp(s, "in ", 3) == 0)
        return add_below(t, &node) && close_levels(t);
    add_child(t, s, n, &node);
    return close_levels(t);
}

void mt_massif_tree_line(struct mt_massif_tree *t, const struct mt_line *line)
{
    if (t->state == MT_MASSIF_BROKEN)
        return;
    if (!mt_massif_tree_lacks(t) || !add_node(t, line))
        mt_massif_tree_break(t, line->offset, true);
    else
        t->state = t->levels.n ? MT_MASSIF_OPEN : MT_MASSIF_DONE;
}
