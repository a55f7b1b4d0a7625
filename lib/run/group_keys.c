#include "lib/run/group_keys.h"

#include <string.h>

const char *const mt_group_key_names[MT_BY_N] = {
#define NAME(key, name, span, ops, meaning) [MT_BY_##key] = (name),
    MT_GROUP_KEYS_OF_OPS(NAME)
#undef NAME
};

static const struct {
    enum mt_key_span span;
    bool needs_ops;
} keys_of[MT_BY_N] = {
#define KEY(key, name, span, ops, meaning) [MT_BY_##key] = {span, ops},
    MT_GROUP_KEYS_OF_OPS(KEY)
#undef KEY
};

enum mt_group_key mt_group_key_find(const char *name, size_t n)
{
    int key = 0;
    while (key < MT_BY_N &&
           (strlen(mt_group_key_names[key]) != n || memcmp(mt_group_key_names[key], name, n) != 0))
        key++;
    return (enum mt_group_key)key;
}

bool mt_group_needs_ops(const enum mt_group_key *keys, int key_n)
{
    bool needs = false;
    for (int k = 0; k < key_n; k++)
        needs |= keys_of[keys[k]].needs_ops;
    return needs;
}

bool mt_group_calls_outermost(const enum mt_group_key *keys, int key_n)
{
    bool part = false, op = false;
    for (int k = 0; k < key_n; k++) {
        part |= keys_of[keys[k]].span == MT_SPAN_PART;
        op |= keys_of[keys[k]].span == MT_SPAN_OP;
    }
    return part && !op;
}
