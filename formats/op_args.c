#include "formats/op_args.h"

#include "formats/op_tensors.h"
#include "lib/base/hash.h"
#include <string.h>

void mt_op_args_free(struct mt_op_args_reader *a)
{
    mt_map_free(&a->known);
    mt_vec_free(&a->rule_of);
}

uint64_t mt_op_args_bytes(const struct mt_op_args_reader *a)
{
    return mt_map_bytes(&a->known) + mt_vec_bytes(&a->rule_of);
}

static unsigned rule_of(struct mt_op_args_reader *a, struct mt_recording *rec, uint32_t name)
{
    while (a->rule_of.n <= name)
        *mt_vec_push(&a->rule_of) = 0;
    if (!a->rule_of.v[name])
        a->rule_of.v[name] = (uint8_t)(mt_op_rule(mt_strtab_get(&rec->strings, name)) + 1);
    return a->rule_of.v[name] - 1u;
}

static bool has_digits(struct mt_slice s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.s[i] >= '0' && s.s[i] <= '9')
            return true;
    return false;
}

/* "([8, 64], [], [])" of an op that is asked for a size; false: it has a tensor, or is asked for
 * none. */
static bool add_asked(struct mt_buf *out, const struct mt_op_inputs *in)
{
    struct mt_dims list;
    bool any = false;
    for (int i = 0; i < in->n; i++) {
        const struct mt_op_input *input = &in->v[i];
        bool sizes = mt_input_list(input->concrete, &list) && list.n;
        if (input->kind == MT_INPUT_TENSOR || input->kind == MT_INPUT_TENSORS)
            return false;
        mt_buf_adds(out, i ? ", " : "(");
        mt_buf_add(out, sizes ? input->concrete.s : "[]", sizes ? input->concrete.n : 2);
        any |= sizes;
    }
    mt_buf_addc(out, ')');
    return any;
}

static uint32_t new_args(struct mt_recording *rec, unsigned rule, const struct mt_event *ev,
                         bool details, bool sized)
{
    struct mt_op_inputs in;
    struct mt_buf asked = {0};
    struct mt_op_args args = {.made_at = (uint32_t)rec->made.n};
    details = details && mt_op_inputs_read(ev->shape, ev->types, ev->concrete, &in);
    bool any = details && !sized && add_asked(&asked, &in);
    args.shape =
        mt_strtab_add(&rec->strings, any ? asked.s : ev->shape.s, any ? asked.n : ev->shape.n);
    mt_buf_free(&asked);
    if (details)
        mt_op_tensors(rule, &in, rec);
    args.made_n = (uint32_t)rec->made.n - args.made_at;
    *mt_vec_push(&rec->args) = args;
    return (uint32_t)rec->args.n - 1;
}

uint32_t mt_op_args_of(struct mt_op_args_reader *a, struct mt_recording *rec, uint32_t name,
                       const struct mt_event *ev)
{
    const uint32_t needed = MT_HAS_TYPES | MT_HAS_CONCRETE;
    unsigned rule = 0;
    bool details = (ev->seen & needed) == needed, sized = false;
    if (!a->seed)
        a->seed = mt_hash_seed() | 1;
    if (details) {
        rule = rule_of(a, rec, name);
        sized = has_digits(ev->shape);
        details = rule || !sized;
    }
    uint64_t key = mt_hash_short(a->seed, ev->shape.s, ev->shape.n);
    if (details) {
        key = mt_hash_short(key + rule, ev->types.s, ev->types.n);
        key = mt_hash_short(key, ev->concrete.s, ev->concrete.n);
    }
    uint32_t *known = mt_map_at(&a->known, key), new = *known;
    if (new == MT_MAP_NONE)
        *known = new = new_args(rec, rule, ev, details, sized);
    return new;
}
