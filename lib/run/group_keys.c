#include "lib/run/group_keys.h"

#include <string.h>

static const char *const names[MT_BY_LABEL_KEY] = {
#define NAME(key, name, span, ops, meaning) [MT_BY_##key] = (name),
    MT_GROUP_KEYS_OF_OPS(NAME)
#undef NAME
};

static const struct {
    enum mt_key_span span;
    bool needs_ops;
} keys_of[MT_BY_LABEL_KEY] = {
#define KEY(key, name, span, ops, meaning) [MT_BY_##key] = {span, ops},
    MT_GROUP_KEYS_OF_OPS(KEY)
#undef KEY
};

/* A key of labels is one of a label. */
static enum mt_group_key kind_of(enum mt_group_key key)
{
    return key < MT_BY_LABEL_KEY ? key : MT_BY_LABEL;
}

/* "label:tenant", in the order in which they were asked for. */
static char label_names[MT_LABEL_KEYS][256];

const char *mt_group_key_name(enum mt_group_key key)
{
    return key < MT_BY_LABEL_KEY ? names[key] : label_names[key - MT_BY_LABEL_KEY];
}

const char *mt_group_label_key(enum mt_group_key key)
{
    return key < MT_BY_LABEL_KEY ? NULL : mt_group_key_name(key) + strlen(MT_LABEL_KEY);
}

static bool is_name(enum mt_group_key key, const char *name, size_t n)
{
    const char *is = mt_group_key_name(key);
    return strlen(is) == n && memcmp(is, name, n) == 0;
}

enum mt_group_key mt_group_key_find(const char *name, size_t n)
{
    size_t prefix = strlen(MT_LABEL_KEY);
    bool of_label = n > prefix && memcmp(name, MT_LABEL_KEY, prefix) == 0;
    if (!n || n >= sizeof *label_names)
        return MT_BY_N;
    for (int key = 0; key < MT_BY_N; key++) {
        if (is_name((enum mt_group_key)key, name, n))
            return (enum mt_group_key)key;
        if (of_label && key >= MT_BY_LABEL_KEY && !*label_names[key - MT_BY_LABEL_KEY]) {
            memcpy(label_names[key - MT_BY_LABEL_KEY], name, n);
            return (enum mt_group_key)key;
        }
    }
    return MT_BY_N;
}

bool mt_group_needs_ops(const enum mt_group_key *keys, int key_n)
{
    bool needs = false;
    for (int k = 0; k < key_n; k++)
        needs |= keys_of[kind_of(keys[k])].needs_ops;
    return needs;
}

bool mt_group_has(const enum mt_group_key *keys, int key_n, enum mt_group_key key)
{
    while (key_n > 0 && keys[key_n - 1] != key)
        key_n--;
    return key_n > 0;
}

bool mt_group_calls_outermost(const enum mt_group_key *keys, int key_n)
{
    bool part = false, op = false;
    for (int k = 0; k < key_n; k++) {
        part |= keys_of[kind_of(keys[k])].span == MT_SPAN_PART;
        op |= keys_of[kind_of(keys[k])].span == MT_SPAN_OP;
    }
    return part && !op;
}
