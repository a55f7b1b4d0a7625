#include "formats/stack_text.h"

#include "formats/python_frames.h"
#include "lib/input/fields.h"

#include <string.h>

void mt_stack_text_init(struct mt_stack_text *t, struct mt_path_tree *paths,
                        const struct mt_read_opts *opts)
{
    *t = (struct mt_stack_text){.paths = paths, .opts = opts};
    mt_strtab_init(&t->functions);
    mt_strtab_init(&t->stacks);
}

void mt_stack_text_free(struct mt_stack_text *t)
{
    mt_strtab_free(&t->functions);
    mt_strtab_free(&t->stacks);
    mt_vec_free(&t->steps);
    mt_vec_free(&t->nodes);
    mt_vec_free(&t->stack);
    mt_map_free(&t->inside);
    mt_buf_free(&t->text);
}

uint64_t mt_stack_text_bytes(const struct mt_stack_text *t)
{
    return mt_strtab_bytes(&t->functions) + mt_strtab_bytes(&t->stacks) + mt_vec_bytes(&t->steps) +
           mt_vec_bytes(&t->nodes) + mt_map_bytes(&t->inside);
}

/* ---- a function ---- */

/* Whether what stands in parentheses behind a function is a file or a library, not parameters. */
static bool is_place(const char *s)
{
    if (*s == '<' || strchr(s, '/'))
        return true;
    return strchr(s, '.') && !strchr(s, ' ') && strspn(s, ".") < strlen(s);
}

static bool is_library(const char *s)
{
    const char *so = strstr(s, ".so"), *slash = strrchr(s, '/');
    size_t n = strlen(s);
    if (so && (!so[3] || so[3] == '.'))
        return true;
    if (n > 6 && strcmp(s + n - 6, ".dylib") == 0)
        return true;
    return slash && *s != '<' && !strchr(slash, '.'); /* a program */
}

/* Takes ":12" off the end. */
static int64_t take_line(char *s)
{
    char *colon = strrchr(s, ':');
    int64_t line;
    if (!colon || !colon[1])
        return 0;
    struct mt_fields f = mt_fields_of(colon + 1, strlen(colon + 1));
    if (!mt_field_decimal(&f, &line) || f.p < f.end || line < 0)
        return 0;
    *colon = '\0';
    return line;
}

/* The text in its own place: "f (a.c:12)". */
static struct mt_native_frame frame_of(char *text)
{
    struct mt_native_frame f = {text, "", "", 0};
    size_t n = strlen(text);
    char *open = n && text[n - 1] == ')' ? strrchr(text, '(') : NULL;
    if (!open || open < text + 2 || open[-1] != ' ')
        return f;
    text[n - 1] = '\0';
    if (!is_place(open + 1)) {
        text[n - 1] = ')';
        return f;
    }
    f.line = take_line(open + 1);
    *(is_library(open + 1) ? &f.object : &f.file) = open + 1;
    open[-1] = '\0';
    return f;
}

struct mt_native_step mt_stack_text_function(struct mt_stack_text *t, const char *s, size_t n)
{
    uint32_t id = mt_strtab_add(&t->functions, s, n);
    if (id < t->steps.n)
        return t->steps.v[id];
    mt_buf_set(&t->text, s, strnlen(s, n));
    const struct mt_native_frame f = frame_of(t->text.s);
    struct mt_native_step step = mt_python_is(f.file)
                                     ? mt_python_step(t->paths, f.name, f.file, f.line)
                                     : mt_native_step(t->paths, &f, t->opts->alloc_fn);
    *mt_vec_push(&t->steps) = step;
    return step;
}

/* ---- a stack ---- */

uint32_t mt_stack_node(struct mt_path_tree *paths, const struct mt_read_opts *opts, uint32_t around,
                       struct mt_native_step *stack, size_t n)
{
    if (!n)
        return around;
    for (size_t i = 0; i < n / 2; i++) {
        struct mt_native_step outer = stack[i];
        stack[i] = stack[n - 1 - i];
        stack[n - 1 - i] = outer;
    }
    return mt_native_path(paths, around, stack, n, opts->cpp_frames == MT_CPP_ALL);
}

static uint32_t new_node(struct mt_stack_text *t, uint32_t around, const char *s, size_t n)
{
    const char *end = s + n;
    t->stack.n = 0;
    for (const char *next; s < end; s = next + (next < end)) {
        const char *p = s;
        next = memchr(s, ';', (size_t)(end - s));
        next = next ? next : end;
        size_t left = (size_t)(next - p);
        for (; left && (unsigned char)*p <= ' '; left--)
            p++;
        while (left && (unsigned char)p[left - 1] <= ' ')
            left--;
        if (left)
            mt_native_push_inner(&t->stack, 0, mt_stack_text_function(t, p, left));
    }
    return mt_stack_node(t->paths, t->opts, around, t->stack.v, t->stack.n);
}

uint32_t mt_stack_text_node(struct mt_stack_text *t, uint32_t around, const char *s, size_t n)
{
    uint32_t id = mt_strtab_add(&t->stacks, s, n);
    while (id >= t->nodes.n)
        *mt_vec_push(&t->nodes) = MT_UNASKED_NODE;
    uint32_t *node = &t->nodes.v[id];
    bool asked = *node != MT_UNASKED_NODE;
    if (around != MT_NONE) {
        node = mt_map_at(&t->inside, (uint64_t)around << 32 | id);
        asked = *node != MT_MAP_NONE;
    }
    if (!asked)
        *node = new_node(t, around, s, n);
    return *node;
}
