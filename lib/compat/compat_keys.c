#include "lib/compat/compat_events.h"

#include <stdlib.h>
#include <string.h>

enum { UNSEEN = UINT32_MAX - 1 };

static bool is_left_out(const char *name)
{
    static const char *const left_out[] = {
        "[memory]",
        "[OutOfMemory]",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(left_out); i++) {
        if (strcmp(name, left_out[i]) == 0)
            return true;
    }
    return false;
}

uint32_t mt_ct_name(struct mt_ct *ct, uint32_t name)
{
    uint32_t *id = &ct->name_ids[name];
    if (*id != UNSEEN)
        return *id;
    static const char step[] = "ProfilerStep#";
    const char *text = ct->in->names[name];
    if (strncmp(text, step, sizeof step - 1) == 0)
        text = "ProfilerStep*";
    *id = is_left_out(text) ? MT_CT_NONE : mt_strtab_add(ct->strings, text, strlen(text));
    return *id;
}

/* The item of a list at s up to before end, without white space around it. An item that holds lists
 * is a list of tensors: PyTorch knows no shapes for it and writes []. */
static void add_item(struct mt_buf *out, const char *s, const char *end, bool holds_lists)
{
    if (holds_lists) {
        mt_buf_adds(out, "[]");
        return;
    }
    for (; s < end; s++) {
        if (*s == ',')
            mt_buf_adds(out, ", ");
        else if (!strchr(" \t\r\n", *s))
            mt_buf_addc(out, *s);
    }
}

/* Spells shapes as Python's str() does. What is no list of lists stays as it is. */
static void spell_shapes(struct mt_buf *out, const char *text)
{
    size_t depth = 0, items = 0;
    const char *item = NULL, *s = text;
    bool holds_lists = false;
    for (; *s; s++) {
        if (*s == '[' && ++depth == 1) {
            item = s + 1;
        } else if (*s == '[') {
            holds_lists |= depth > 2;
        } else if (depth == 1 && (*s == ',' || *s == ']')) {
            size_t before = out->n;
            mt_buf_adds(out, items ? ", " : "[");
            size_t start = out->n;
            add_item(out, item, s, holds_lists);
            if (out->n == start && *s == ']') { /* "[]", or a comma before the end */
                out->n = before;
                mt_buf_adds(out, items ? "" : "[");
            }
            items++;
            item = s + 1;
            holds_lists = false;
        }
        if (*s == ']' && depth && --depth == 0)
            break;
    }
    if (*s && item) {
        mt_buf_addc(out, ']');
        return;
    }
    mt_buf_clear(out);
    mt_buf_adds(out, text);
}

/* The shapes as recorded, "[[], []]", of an op of which the sizes it asks for are known: "([8, 64],
 * [])" (lib/model/tensors.h). */
static char *recorded_shapes(const char *asked)
{
    struct mt_buf out = {0};
    mt_buf_addc(&out, '[');
    for (const char *s = asked; (s = strchr(s, '[')); s++)
        mt_buf_adds(&out, out.n > 1 ? ", []" : "[]");
    mt_buf_addc(&out, ']');
    return out.s;
}

static uint32_t shape_id(struct mt_ct *ct, uint32_t shape)
{
    uint32_t *id = &ct->shape_ids[shape];
    if (*id == UNSEEN) {
        struct mt_buf spelled = {0};
        const char *text = ct->in->shapes[shape];
        char *recorded = *text == '(' ? recorded_shapes(text) : mt_strdup(text);
        spell_shapes(&spelled, recorded);
        free(recorded);
        *id = mt_strtab_add(ct->strings, spelled.s, spelled.n);
        mt_buf_free(&spelled);
    }
    return *id;
}

uint32_t mt_ct_group(struct mt_ct *ct, uint32_t name, uint32_t shape, bool annotation)
{
    annotation = annotation && ct->rule->split_annotations;
    uint32_t spelled = !ct->by_shape || shape == UINT32_MAX ? ct->no_shapes : shape_id(ct, shape);
    uint64_t key = ((uint64_t)name * 2 + annotation) << 32 | spelled;
    uint32_t *group = mt_map_at(&ct->group_of, key);
    if (*group == MT_MAP_NONE) {
        *group = (uint32_t)ct->groups.n;
        *mt_vec_push(&ct->groups) = (struct mt_ct_group){
            .name = name, .shape = spelled, .annotation = annotation, .row = MT_CT_NONE};
    }
    return *group;
}

static uint32_t *unseen(size_t n)
{
    uint32_t *ids = mt_alloc(n * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = UNSEEN;
    return ids;
}

void mt_ct_keys_init(struct mt_ct *ct)
{
    size_t name_n = 0, shape_n = 0;
    for (size_t i = 0; i < ct->in->op_n; i++) {
        const struct mt_torch_op *op = &ct->in->ops[i];
        if (op->name >= name_n)
            name_n = (size_t)op->name + 1;
        if (op->shape != UINT32_MAX && op->shape >= shape_n)
            shape_n = (size_t)op->shape + 1;
    }
    ct->name_ids = unseen(name_n);
    ct->shape_ids = unseen(shape_n);
    ct->memory = mt_strtab_add(ct->strings, "[memory]", strlen("[memory]"));
    ct->oom = mt_strtab_add(ct->strings, "[OutOfMemory]", strlen("[OutOfMemory]"));
    ct->no_shapes = mt_strtab_add(ct->strings, "[]", strlen("[]"));
}

void mt_ct_keys_free(struct mt_ct *ct)
{
    free(ct->name_ids);
    free(ct->shape_ids);
    mt_map_free(&ct->group_of);
    mt_vec_free(&ct->groups);
}
