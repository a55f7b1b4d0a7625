#include "lib/model/paths.h"

#include <stdio.h>
#include <string.h>

void mt_path_tree_init(struct mt_path_tree *p, struct mt_recording *rec)
{
    *p = (struct mt_path_tree){.rec = rec, .first = (uint32_t)rec->frames.n};
    mt_strtab_init(&p->keys);
    mt_strtab_init(&p->functions);
}

void mt_path_tree_free(struct mt_path_tree *p)
{
    mt_strtab_free(&p->keys);
    mt_strtab_free(&p->functions);
    mt_vec_free(&p->frames);
    mt_vec_free(&p->flags);
    mt_vec_free(&p->frame_of);
    mt_vec_free(&p->first_child);
    mt_map_free(&p->children);
}

uint64_t mt_path_tree_bytes(const struct mt_path_tree *p)
{
    return mt_strtab_bytes(&p->keys) + mt_strtab_bytes(&p->functions) +
           p->frames.n * sizeof *p->frames.v + p->flags.n + mt_vec_bytes(&p->first_child) +
           mt_map_bytes(&p->children);
}

static uint32_t text(struct mt_path_tree *p, const char *s)
{
    return *s ? mt_rec_name(p->rec, s, strlen(s)) : MT_NONE;
}

/* The recording's frame of a function. */
static uint32_t function(struct mt_path_tree *p, const uint32_t key[4])
{
    struct mt_recording *r = p->rec;
    uint32_t id = mt_strtab_add(&p->functions, (const char *)key, 4 * sizeof *key);
    if (id == p->frame_of.n) {
        enum mt_frame_kind kind = key[3] & MT_PATH_PYTHON     ? MT_FRAME_PYTHON
                                  : key[3] & MT_PATH_CATEGORY ? MT_FRAME_CATEGORY
                                  : key[3] & MT_PATH_THREAD   ? MT_FRAME_THREAD
                                  : key[3] & MT_PATH_LABEL    ? MT_FRAME_LABEL
                                                              : MT_FRAME_NATIVE;
        *mt_vec_push(&p->frame_of) = (uint32_t)r->frames.n;
        while (p->flags.n < r->frames.n - p->first) /* others made frames, too */
            *mt_vec_push(&p->flags) = MT_PATH_ASIDE;
        *mt_vec_push(&r->frames) = (struct mt_frame){.name = key[0],
                                                     .object = key[1],
                                                     .file = key[2],
                                                     .instance = -1,
                                                     .kind = (uint8_t)kind};
        *mt_vec_push(&p->flags) = (uint8_t)key[3];
    }
    return p->frame_of.v[id];
}

uint32_t mt_path_frame(struct mt_path_tree *p, const char *name, const char *object,
                       const char *file, int64_t line, unsigned flags)
{
    uint32_t own = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
    uint32_t shown = mt_rec_name(p->rec, name, strlen(name));
    const uint32_t key[5] = {shown, text(p, object), text(p, file), flags, own};
    uint32_t id = mt_strtab_add(&p->keys, (const char *)key, sizeof key);
    if (id == p->frames.n)
        *mt_vec_push(&p->frames) = (struct mt_path_frame){function(p, key), (int32_t)own};
    return id;
}

static bool is_aside(const struct mt_path_tree *p, uint32_t frame)
{
    return p->flags.v[frame - p->first] & MT_PATH_ASIDE;
}

/* Derives what the path says of a new node. */
static void describe(const struct mt_path_tree *p, struct mt_node *n)
{
    const struct mt_node *parent = n->parent == MT_NONE ? NULL : &p->rec->nodes.v[n->parent];
    n->top = n->frame;
    n->scope = parent ? parent->scope : MT_NONE;
    if (!parent || is_aside(p, parent->top))
        return;
    if (is_aside(p, n->frame))
        n->top = parent->top;
    else if (parent->top != n->frame)
        n->scope = parent->top;
}

/* Where the child of a node with that frame is kept; MT_NONE: it is none yet. */
static uint32_t *child_at(struct mt_path_tree *p, uint32_t parent, uint32_t frame)
{
    uint32_t *first = NULL;
    if (parent != MT_NONE) {
        while (p->first_child.n <= parent)
            *mt_vec_push(&p->first_child) = MT_NONE;
        first = &p->first_child.v[parent];
    }
    if (first && (*first == MT_NONE || p->rec->nodes.v[*first].frame == frame))
        return first;
    return mt_map_at(&p->children, (uint64_t)(parent + 1u) << 32 | frame);
}

static uint32_t child(struct mt_path_tree *p, uint32_t parent, const struct mt_path_frame *f)
{
    struct mt_recording *r = p->rec;
    uint32_t *at = child_at(p, parent, f->frame);
    if (*at == MT_NONE) {
        *at = (uint32_t)r->nodes.n;
        struct mt_node n = {
            .parent = parent, .frame = f->frame, .module = MT_NONE, .line = f->line};
        describe(p, &n);
        *mt_vec_push(&r->nodes) = n;
    }
    return *at;
}

uint32_t mt_path_node(struct mt_path_tree *p, uint32_t parent, uint32_t frame)
{
    struct mt_recording *r = p->rec;
    const struct mt_path_frame *f = &p->frames.v[frame];
    bool recurs = parent != MT_NONE && r->nodes.v[parent].frame == f->frame;
    uint32_t node = recurs ? parent : child(p, parent, f);
    if (r->nodes.v[node].line != f->line)
        r->nodes.v[node].line = 0;
    return node;
}

uint32_t mt_path_root(struct mt_path_tree *p, uint32_t parent, const char *name, unsigned flag)
{
    return mt_path_node(p, parent, mt_path_frame(p, name, "", "", 0, MT_PATH_ASIDE | flag));
}

uint32_t mt_path_thread(struct mt_path_tree *p, uint32_t number)
{
    char name[32] = "main thread";
    if (number)
        snprintf(name, sizeof name, "thread %u", number + 1);
    return mt_path_root(p, MT_NONE, name, MT_PATH_THREAD);
}
