#include "lib/run/sites.h"

#include "lib/model/python_files.h"
#include <string.h>

static uint32_t take(struct mt_tree *t, struct mt_buf *text)
{
    uint32_t id = mt_strtab_add(&t->strings, text->s, text->n);
    mt_buf_free(text);
    return id;
}

static uint32_t op_or_python(struct mt_tree *t, const struct mt_tree_node *n, uint32_t name)
{
    static const char python[] = "[Python]";
    const bool own = t->has_ops && n->is_python && name == n->frame;
    return own ? mt_strtab_add(&t->strings, python, sizeof python - 1) : name;
}

uint32_t mt_tree_op(struct mt_tree *t, uint32_t node)
{
    return op_or_python(t, &t->nodes.v[node], t->nodes.v[node].frame);
}

uint32_t mt_tree_top(struct mt_tree *t, uint32_t node)
{
    return op_or_python(t, &t->nodes.v[node], t->nodes.v[node].top);
}

uint32_t mt_site_of_frame(struct mt_tree *t, uint32_t name)
{
    struct mt_python_function f;
    struct mt_buf text = {0};
    if (!mt_python_function_parse(mt_strtab_get(&t->strings, name), &f) ||
        mt_python_owner(f.file, f.file_n) != MT_CODE_USER)
        return MT_NONE;
    mt_python_site(&text, &f);
    return take(t, &text);
}

uint32_t mt_site_of_backward(struct mt_tree *t, uint32_t forward)
{
    struct mt_buf text = {0};
    if (forward == MT_NONE)
        return MT_NONE;
    mt_buf_addf(&text, MT_BACKWARD_OF "%s", mt_strtab_get(&t->strings, forward));
    return take(t, &text);
}

uint32_t mt_layer_of_frame(struct mt_tree *t, uint32_t name, uint32_t outer)
{
    const char *text = mt_strtab_get(&t->strings, name);
    const size_t n = strlen(MT_MODULE_FRAME);
    struct mt_buf layer = {0};
    if (strncmp(text, MT_MODULE_FRAME, n) != 0)
        return MT_NONE;
    if (outer != MT_NONE)
        mt_buf_addf(&layer, "%s.", mt_strtab_get(&t->strings, outer));
    mt_buf_adds(&layer, text + n);
    return take(t, &layer);
}

static bool lacks_line(const struct mt_tree *t, const struct mt_tree_node *n)
{
    return t->has_lines && n->line == MT_NONE;
}

static uint32_t line_or_top(const struct mt_tree *t, const struct mt_tree_node *n)
{
    return t->has_lines && n->line != MT_NONE ? n->line : n->top;
}

uint32_t mt_tree_line(struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    struct mt_buf text = {0};
    if (!lacks_line(t, n))
        return line_or_top(t, n);
    mt_buf_addf(&text, MT_LINE_UNKNOWN "%s", mt_strtab_get(&t->strings, n->top));
    return take(t, &text);
}

/* A scope says nothing of itself. */
static bool is_in_scope(const struct mt_tree *t, const struct mt_tree_node *n)
{
    return n->scope != MT_NONE && n->scope != line_or_top(t, n);
}

void mt_site_add(struct mt_buf *out, const char *top, const char *scope)
{
    mt_buf_adds(out, top);
    if (scope && strcmp(scope, top) != 0)
        mt_buf_addf(out, " in %s", scope);
}

void mt_tree_site_add(struct mt_buf *out, const struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    mt_buf_adds(out, lacks_line(t, n) ? MT_LINE_UNKNOWN : "");
    mt_site_add(out, mt_strtab_get(&t->strings, line_or_top(t, n)),
                is_in_scope(t, n) ? mt_strtab_get(&t->strings, n->scope) : NULL);
}

uint32_t mt_tree_site_text(struct mt_tree *t, uint32_t node)
{
    struct mt_buf text = {0};
    if (!is_in_scope(t, &t->nodes.v[node]))
        return mt_tree_line(t, node);
    mt_tree_site_add(&text, t, node);
    return take(t, &text);
}
