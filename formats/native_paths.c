#include "formats/native_paths.h"

#include <string.h>

struct mt_native_step mt_native_step(struct mt_path_tree *p, const struct mt_native_frame *f,
                                     const regex_t *alloc_fn)
{
    struct mt_buf name = {0};
    mt_native_name(&name, f->name, f->object);
    enum mt_native_kind kind = mt_native_kind(name.s, f->object, f->file);
    if (alloc_fn && regexec(alloc_fn, name.s, 0, NULL, 0) == 0)
        kind = MT_NATIVE_ALLOCATOR;
    unsigned flags = kind == MT_NATIVE_ALLOCATOR ? MT_PATH_ASIDE : 0;
    uint32_t frame = mt_path_frame(p, name.s, f->object, f->file, f->line, flags);
    mt_buf_free(&name);
    return (struct mt_native_step){frame, kind};
}

struct mt_native_step mt_native_explicit(struct mt_path_tree *p, const char *name)
{
    return (struct mt_native_step){mt_path_frame(p, name, "", "", 0, MT_PATH_ASIDE),
                                   MT_NATIVE_CODE};
}

struct mt_native_step mt_native_place(struct mt_path_tree *p, const char *object, uint64_t place)
{
    struct mt_buf name = {0};
    const char *slash = strrchr(object, '/');
    mt_buf_addf(&name, "[%s%s0x%llx]", slash ? slash + 1 : object, *object ? "+" : "",
                (unsigned long long)place);
    enum mt_native_kind kind = mt_native_kind(name.s, object, "");
    unsigned flags = kind == MT_NATIVE_ALLOCATOR ? MT_PATH_ASIDE : 0;
    uint32_t frame = mt_path_frame(p, name.s, object, "", 0, flags);
    mt_buf_free(&name);
    return (struct mt_native_step){frame, kind};
}

uint32_t mt_native_named(struct mt_path_tree *p, const regex_t *alloc_fn,
                         struct mt_symbols *symbols, uint32_t module, const char *object,
                         uint64_t place, mt_native_steps *out)
{
    const struct mt_code_frame *frames = NULL;
    size_t n = symbols ? mt_symbols_at(symbols, module, place, &frames) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct mt_native_frame f = {frames[i].function, object, frames[i].file,
                                          frames[i].line};
        *mt_vec_push(out) =
            *f.name ? mt_native_step(p, &f, alloc_fn) : mt_native_place(p, object, place);
    }
    return (uint32_t)n;
}

uint32_t mt_native_at(struct mt_path_tree *p, const regex_t *alloc_fn, struct mt_symbols *symbols,
                      uint32_t module, const char *object, uint64_t place, mt_native_steps *out)
{
    uint32_t n = mt_native_named(p, alloc_fn, symbols, module, object, place, out);
    if (!n)
        *mt_vec_push(out) = mt_native_place(p, object, place);
    return n ? n : 1;
}

void mt_native_push_inner(mt_native_steps *stack, size_t first, struct mt_native_step step)
{
    if (stack->n - first == (size_t)2 * MT_STACK_MAX) {
        memmove(stack->v + first, stack->v + stack->n - MT_STACK_MAX,
                MT_STACK_MAX * sizeof *stack->v);
        stack->n = first + MT_STACK_MAX;
    }
    *mt_vec_push(stack) = step;
}

bool mt_native_is_rooted(const struct mt_native_step *stack, size_t n)
{
    return n && (stack[n - 1].kind == MT_NATIVE_MAIN || stack[n - 1].kind == MT_NATIVE_START);
}

/* How many frames of a stack are the program's own. At least one is left. */
static size_t without_root(const struct mt_native_step *stack, size_t n)
{
    for (size_t i = n; i-- > 0;)
        if (stack[i].kind == MT_NATIVE_MAIN)
            return i + 1;
    while (n > 1 && stack[n - 1].kind == MT_NATIVE_START)
        n--;
    return n;
}

void mt_native_own(const struct mt_native_step *stack, size_t *first, size_t *end, bool whole,
                   bool all)
{
    *first = 0;
    if (all)
        return;
    if (whole)
        *end = without_root(stack, *end);
    while (*first + 1 < *end && stack[*first].kind == MT_NATIVE_ALLOCATOR)
        ++*first;
}

uint32_t mt_native_path(struct mt_path_tree *p, uint32_t around, const struct mt_native_step *stack,
                        size_t n, bool all)
{
    bool cut = n > MT_STACK_MAX;
    size_t first, end = cut ? MT_STACK_MAX : n;
    if (cut)
        around = mt_path_node(p, around, mt_native_explicit(p, MT_STACK_CUT).frame);
    mt_native_own(stack, &first, &end, !cut, all);
    for (size_t i = end; i-- > first;)
        around = mt_path_node(p, around, stack[i].frame);
    return around;
}
