#include "formats/snapshot_paths.h"

#include <stdlib.h>
#include <string.h>

void mt_snap_paths_init(struct mt_snap_paths *s, enum mt_cpp_frames cpp)
{
    *s = (struct mt_snap_paths){.cpp = cpp};
    mt_strtab_init(&s->frame_keys);
    mt_strtab_init(&s->lists);
}

void mt_snap_paths_free(struct mt_snap_paths *s)
{
    mt_strtab_free(&s->frame_keys);
    mt_strtab_free(&s->lists);
    mt_vec_free(&s->frames);
    mt_vec_free(&s->path);
    mt_vec_free(&s->list_path);
    mt_vec_free(&s->rank);
    mt_map_free(&s->links);
    mt_map_free(&s->nodes);
    mt_map_free(&s->children);
}

uint64_t mt_snap_paths_bytes(const struct mt_snap_paths *s)
{
    return mt_strtab_bytes(&s->frame_keys) + s->frames.n * sizeof *s->frames.v +
           mt_map_bytes(&s->links) + s->path.n * sizeof *s->path.v + mt_strtab_bytes(&s->lists) +
           s->list_path.n * sizeof *s->list_path.v + mt_map_bytes(&s->nodes) +
           mt_map_bytes(&s->children) + s->rank.n * sizeof *s->rank.v;
}

uint32_t mt_snap_frame_number(struct mt_snap_paths *s, uint32_t name, uint32_t file, int64_t line)
{
    uint64_t key[2] = {(uint64_t)name << 32 | file, (uint64_t)line};
    uint32_t id = mt_strtab_add(&s->frame_keys, (const char *)key, sizeof key);
    if (id == s->frames.n)
        *mt_vec_push(&s->frames) =
            (struct mt_snap_frame){.name = name, .file = file, .line = line, .frame = MT_NONE};
    return id;
}

/* Frames come innermost first; the path is linked from the outermost on. */
static uint32_t link_path(struct mt_snap_paths *s, const mt_pvalue *v, size_t n)
{
    uint32_t path = MT_NONE;
    for (size_t i = n; i-- > 0;) {
        uint32_t frame = mt_pickle_number(v[i]);
        uint32_t *next = mt_map_at(&s->links, (uint64_t)(path + 1u) << 32 | frame);
        if (*next == MT_NONE) {
            *next = (uint32_t)s->path.n;
            *mt_vec_push(&s->path) = (struct mt_snap_link){path, frame};
        }
        path = *next;
    }
    return path;
}

uint32_t mt_snap_path(struct mt_snap_paths *s, const mt_pvalue *v, size_t n, uint32_t token_type)
{
    if (!n || n > UINT32_MAX / sizeof *v)
        return MT_NONE;
    /* Lists are many, different ones few: asking for the whole list first is the short way. */
    uint32_t id = mt_strtab_add(&s->lists, (const char *)v, n * sizeof *v);
    if (id < s->list_path.n)
        return s->list_path.v[id];
    bool frames = true;
    for (size_t i = 0; i < n; i++)
        frames &= mt_pickle_is_token(v[i], token_type);
    return *mt_vec_push(&s->list_path) = frames ? link_path(s, v, n) : MT_NONE;
}

static const char *text(const struct mt_strtab *strings, uint32_t id)
{
    return id == MT_NONE ? "" : mt_strtab_get(strings, id);
}

static struct mt_snap_frame *resolve(struct mt_snap_paths *s, struct mt_recording *rec,
                                     const struct mt_strtab *strings, uint32_t frame)
{
    struct mt_snap_frame *f = &s->frames.v[frame];
    if (f->frame != MT_NONE)
        return f;
    struct mt_buf name = {0};
    f->look = mt_snap_look(text(strings, f->name), text(strings, f->file), f->line);
    if (f->look.python && rec->library_sites)
        f->look.rank = MT_RANK_USER;
    mt_snap_frame_text(&name, text(strings, f->name), text(strings, f->file), f->line);
    uint32_t label = mt_rec_label(rec, mt_rec_name(rec, name.s, name.n),
                                  f->look.python ? MT_FRAME_PYTHON : MT_FRAME_NATIVE);
    f->frame = rec->labels.v[label].frame;
    mt_buf_free(&name);
    return f;
}

/* The child of that frame, made if need be. */
static uint32_t child(struct mt_snap_paths *s, struct mt_recording *rec, uint32_t parent,
                      uint32_t frame, const struct mt_snap_look *look)
{
    uint32_t *node = mt_map_at(&s->children, (uint64_t)(parent + 1u) << 32 | frame);
    if (*node != MT_NONE)
        return *node;
    *node = (uint32_t)rec->nodes.n;
    struct mt_node n = {.parent = parent,
                        .frame = frame,
                        .top = frame,
                        .scope = MT_NONE,
                        .module = MT_NONE,
                        .phase = look->phase,
                        .tells = look->tells};
    uint8_t rank = look->rank;
    if (parent != MT_NONE) {
        const struct mt_node *outer = &rec->nodes.v[parent];
        uint8_t theirs = s->rank.v[parent];
        n.scope = outer->scope;
        n.module = outer->module;
        n.tells |= outer->tells;
        if (look->phase == MT_PHASE_OTHER ||
            (look->phase == MT_PHASE_FORWARD && outer->phase != MT_PHASE_OTHER))
            n.phase = outer->phase;
        if (theirs > rank || (theirs == rank && rank <= MT_RANK_NATIVE && rank != MT_RANK_NONE)) {
            n.top = outer->top;
            rank = theirs;
        }
    }
    n.module = look->module ? frame : n.module;
    *mt_vec_push(&rec->nodes) = n;
    *mt_vec_push(&s->rank) = rank;
    return (uint32_t)rec->nodes.n - 1;
}

static uint32_t extend(struct mt_snap_paths *s, struct mt_recording *rec,
                       const struct mt_strtab *strings, uint32_t region, uint32_t node,
                       uint32_t frame)
{
    const struct mt_snap_frame *f = resolve(s, rec, strings, frame);
    if (!f->look.python && s->cpp != MT_CPP_ALL &&
        (f->look.noise ||
         (s->cpp == MT_CPP_NONE && (node != region || f->look.rank == MT_RANK_NONE))))
        return node;
    /* Overloads that call each other read alike. */
    if (!f->look.python && node != MT_NONE && rec->nodes.v[node].frame == f->frame)
        return node;
    return child(s, rec, node, f->frame, &f->look);
}

uint32_t mt_snap_node(struct mt_snap_paths *s, struct mt_recording *rec,
                      const struct mt_strtab *strings, uint32_t region, uint32_t path)
{
    MT_VEC(uint32_t) way = {0};
    uint32_t node = region;
    for (uint32_t at = path; at != MT_NONE; at = s->path.v[at].outer) {
        uint32_t known = mt_map_get(&s->nodes, (uint64_t)(region + 1u) << 32 | at);
        if (known != MT_MAP_NONE) {
            node = known ? known - 1 : MT_NONE;
            break;
        }
        *mt_vec_push(&way) = at;
    }
    while (way.n) {
        uint32_t at = way.v[--way.n];
        node = extend(s, rec, strings, region, node, s->path.v[at].frame);
        *mt_map_at(&s->nodes, (uint64_t)(region + 1u) << 32 | at) = node + 1;
    }
    mt_vec_free(&way);
    return node;
}

uint32_t mt_snap_region_node(struct mt_snap_paths *s, struct mt_recording *rec, uint32_t outer,
                             uint32_t frame)
{
    const char *name = mt_strtab_get(&rec->strings, rec->frames.v[frame].name);
    struct mt_snap_look look = {.rank = MT_RANK_NONE, .phase = MT_PHASE_OTHER};
    if (strncmp(name, "Optimizer.", 10) == 0)
        look.phase = MT_PHASE_OPTIMIZER;
    else if (strncmp(name, "enumerate(DataLoader)#", 22) == 0)
        look.phase = MT_PHASE_DATA;
    uint32_t node = child(s, rec, outer, frame, &look);
    if (strcmp(name, "ProfilerStep*") != 0)
        rec->nodes.v[node].scope = frame;
    return node;
}
