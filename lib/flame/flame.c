#include "lib/flame/flame.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/python_files.h"
#include <string.h>

void mt_flame_lay(struct mt_flame *f, const struct mt_stacks *s, enum mt_measure measure)
{
    MT_VEC(struct {
        uint32_t node;
        int64_t next; /* where its next child begins */
    })
    open = {0};
    f->stacks = s;
    f->measure = measure;
    f->total = mt_stacks_sum(s, measure);
    f->base = mt_stacks_sum(s, MT_MEASURE_BASE);
    int64_t next = 0;
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        const struct mt_stack_node *n = &s->nodes.v[i];
        if (n->total[measure] <= 0)
            continue;
        while (open.n && open.v[open.n - 1].node != n->parent)
            open.n--;
        int64_t *x = open.n ? &open.v[open.n - 1].next : &next;
        *mt_vec_push(&f->boxes) = (struct mt_flame_box){i, (int)open.n, *x, n->total[measure]};
        int64_t begin = *x;
        mt_wrap_inc(x, n->total[measure]);
        mt_vec_push(&open);
        open.v[open.n - 1].node = i;
        open.v[open.n - 1].next = begin;
        f->level_n = (int)open.n > f->level_n ? (int)open.n : f->level_n;
    }
    mt_vec_free(&open);
}

void mt_flame_free(struct mt_flame *f)
{
    mt_vec_free(&f->boxes);
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

enum mt_flame_kind mt_flame_kind(const struct mt_stacks *s, const struct mt_stack_node *n)
{
    const struct mt_stack_frame *f = &s->frames.v[n->frame];
    const char *name = mt_stacks_text(s, f->name), *file = mt_stacks_text(s, f->file);
    size_t length = strlen(file);
    if (*name == '[' && n->parent == MT_NONE)
        return MT_FLAME_OUTSIDE;
    if (length > 3 && strcmp(file + length - 3, ".py") == 0)
        return mt_python_owner(file, length) == MT_CODE_USER ? MT_FLAME_USER : MT_FLAME_LIBRARY;
    if (*name == '<')
        return MT_FLAME_LIBRARY;
    if (has(name, "Backward") || has(name, "autograd") || n->phase == MT_PHASE_BACKWARD)
        return MT_FLAME_BACKWARD;
    if (length || *name == '[')
        return MT_FLAME_NATIVE;
    return MT_FLAME_OP;
}

int mt_flame_change(const struct mt_flame *f, const struct mt_flame_box *b)
{
    const struct mt_stack_node *n = &f->stacks->nodes.v[b->node];
    int64_t most = f->total > f->base ? f->total : f->base;
    double change = (double)n->total[f->measure] - (double)n->total[MT_MEASURE_BASE];
    if (!f->compared || most <= 0)
        return 0;
    double share = change / (double)most; /* a fifth of it all is as strong as it gets */
    int strength = (int)(share * 25 + (share > 0 ? 0.999 : -0.999));
    return change > -0.5 && change < 0.5 ? 0 : strength > 5 ? 5 : strength < -5 ? -5 : strength;
}

void mt_flame_tell(const struct mt_flame *f, const struct mt_flame_box *b, struct mt_buf *out)
{
    const struct mt_stack_node *n = &f->stacks->nodes.v[b->node];
    bool bytes = mt_measure_is_bytes((int)f->measure);
    char size[MT_HUMAN_LONG];
    mt_buf_adds(out, mt_stacks_text(f->stacks, f->stacks->frames.v[n->frame].text));
    mt_buf_addf(out, ": %s, %.1f %%",
                bytes ? mt_human_with_exact(b->width, size)
                      : mt_human_plural(b->width, "block", size),
                f->total ? 100.0 * (double)b->width / (double)f->total : 0.0);
    int64_t change = mt_wrap_sub(b->width, n->total[MT_MEASURE_BASE]);
    if (f->compared)
        mt_buf_addf(out, ", %s%s since", change > 0 ? "+" : "",
                    bytes ? mt_human_with_exact(change, size) : mt_human_count(change, size));
}
