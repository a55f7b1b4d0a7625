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
    if (outer != MT_NONE) {
        const char *around = mt_strtab_get(&t->strings, outer);
        if (strlen(around) > MT_LAYER_BYTES_MAX)
            return outer;
        mt_buf_addf(&layer, "%s.", around);
    }
    mt_buf_adds(&layer, text + n);
    return take(t, &layer);
}

static bool lacks_line(const struct mt_tree *t, const struct mt_tree_node *n)
{
    return t->has_lines && n->line == MT_NONE;
}

void mt_tree_line_add(struct mt_buf *out, const struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    const char *name = mt_strtab_get(&t->strings, n->line);
    struct mt_python_function f;
    if (!n->line_is_text && mt_python_function_parse(name, &f))
        mt_python_site(out, &f);
    else
        mt_buf_adds(out, name);
}

/* Many nodes have the line of one function. */
static uint32_t known_line(struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    struct mt_buf text = {0};
    if (n->line_is_text)
        return n->line;
    uint32_t *line = mt_map_at(&t->lines, n->line);
    if (*line == MT_MAP_NONE) {
        mt_tree_line_add(&text, t, node);
        *line = take(t, &text);
    }
    return *line;
}

uint32_t mt_tree_line(struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    struct mt_buf text = {0};
    if (n->line != MT_NONE)
        return known_line(t, node);
    if (!lacks_line(t, n))
        return n->top;
    mt_buf_addf(&text, MT_LINE_UNKNOWN "%s", mt_strtab_get(&t->strings, n->top));
    return take(t, &text);
}

void mt_site_add(struct mt_buf *out, const char *top, const char *scope)
{
    enum { MOST = 8192 };
    mt_buf_adds(out, top);
    if (!scope || strcmp(scope, top) == 0 || strlen(top) + strlen(scope) > MOST)
        return;
    mt_buf_adds(out, " in ");
    mt_buf_adds(out, scope);
}

/* line: that of the node, or its top op. */
static void site_add(struct mt_buf *out, const struct mt_tree *t, const struct mt_tree_node *n,
                     const char *line)
{
    mt_buf_adds(out, lacks_line(t, n) ? MT_LINE_UNKNOWN : "");
    mt_site_add(out, line, n->scope == MT_NONE ? NULL : mt_strtab_get(&t->strings, n->scope));
}

void mt_tree_site_add(struct mt_buf *out, const struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    struct mt_buf line = {0};
    if (n->line != MT_NONE)
        mt_tree_line_add(&line, t, node);
    else
        mt_buf_adds(&line, mt_strtab_get(&t->strings, n->top));
    site_add(out, t, n, line.s);
    mt_buf_free(&line);
}

uint32_t mt_tree_site_text(struct mt_tree *t, uint32_t node)
{
    const struct mt_tree_node *n = &t->nodes.v[node];
    if (n->scope == MT_NONE)
        return mt_tree_line(t, node);
    const uint32_t line = n->line == MT_NONE ? n->top : known_line(t, node);
    mt_buf_clear(&t->site); /* many are asked for: its room is kept */
    site_add(&t->site, t, n, mt_strtab_get(&t->strings, line));
    return mt_strtab_add(&t->strings, t->site.s, t->site.n);
}
