/* Stacks of C in memray's files (--native), and what of them call paths keep: what a library does
 * for the innermost function of Python. */
#include "formats/memray_parts.h"

#include <string.h>

void mt_mr_native_init(struct mt_mr_native *v, const struct mt_read_opts *opts)
{
    *v = (struct mt_mr_native){.opts = opts};
    mt_strtab_init(&v->names);
}

void mt_mr_native_free(struct mt_mr_native *v)
{
    mt_strtab_free(&v->names);
    mt_vec_free(&v->ranges);
    mt_vec_free(&v->parts);
    mt_vec_free(&v->frames);
    mt_vec_free(&v->steps);
    mt_vec_free(&v->stack);
    mt_map_free(&v->nodes);
}

uint64_t mt_mr_native_bytes(const struct mt_mr_native *v)
{
    return mt_strtab_bytes(&v->names) + mt_vec_bytes(&v->ranges) + mt_vec_bytes(&v->frames) +
           mt_vec_bytes(&v->parts) + mt_vec_bytes(&v->steps) + mt_map_bytes(&v->nodes) +
           mt_symbols_bytes(v->opts->symbols);
}

/* ---- modules, and where they lie ---- */

void mt_mr_native_unload(struct mt_mr_native *v)
{
    v->ranges.n = v->parts.n = 0;
    v->part_n = 0;
}

/* All parts of a module are there. */
static void add_module(struct mt_mr_native *v)
{
    const char *path = mt_strtab_get(&v->names, v->name);
    const struct mt_code_module is = {
        .path = path, .build_id = "", .parts = v->parts.v, .part_n = v->parts.n};
    struct mt_symbols *symbols = v->opts->symbols;
    uint32_t module = symbols ? mt_symbols_module(symbols, &is) : 0;
    for (size_t i = 0; i < v->parts.n; i++) {
        uint64_t first = v->base + v->parts.v[i].start, end = first + v->parts.v[i].size;
        if (first >= v->base && end > first)
            *mt_vec_push(&v->ranges) = (struct mt_mr_range){first, end, v->base, v->name, module};
    }
    v->sorted = false;
}

void mt_mr_native_module(struct mt_mr_native *v, const char *path, uint64_t part_n, uint64_t base)
{
    v->name = mt_strtab_add(&v->names, path, strlen(path));
    v->base = base;
    v->part_n = part_n;
    v->parts.n = 0;
}

void mt_mr_native_part(struct mt_mr_native *v, uint64_t start, uint64_t size)
{
    if (!v->part_n)
        return;
    *mt_vec_push(&v->parts) = (struct mt_code_part){start, size};
    if (!--v->part_n)
        add_module(v);
}

static int by_start(const void *a, const void *b)
{
    const struct mt_mr_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The range an address is in; NULL = none. */
static const struct mt_mr_range *range_of(struct mt_mr_native *v, uint64_t address)
{
    if (!v->sorted && v->ranges.n)
        qsort(v->ranges.v, v->ranges.n, sizeof *v->ranges.v, by_start);
    v->sorted = true;
    size_t low = 0, high = v->ranges.n; /* the last range that starts at or before it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->ranges.v[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < v->ranges.v[low - 1].end ? &v->ranges.v[low - 1] : NULL;
}

/* ---- frames ---- */

void mt_mr_native_frame(struct mt_mr_native *v, uint64_t ip, uint64_t parent)
{
    bool known = parent <= v->frames.n; /* else damage: it is taken for an outermost one */
    *mt_vec_push(&v->frames) =
        (struct mt_mr_native_frame){.ip = ip, .parent = known ? (uint32_t)parent : 0};
}

static bool is_interpreter(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "libpython", 9) == 0 || strncmp(name, "python", 6) == 0;
}

/* The same frame, but never a site: that is the line of Python. */
static struct mt_native_step aside(struct mt_path_tree *p, struct mt_native_step step)
{
    const struct mt_path_frame *f = &p->frames.v[step.frame];
    const struct mt_frame *is = &p->rec->frames.v[f->frame];
    const uint32_t texts[] = {is->name, is->object, is->file};
    char *own[3];
    for (int i = 0; i < 3; i++)
        own[i] =
            mt_asprintf("%s", texts[i] == MT_NONE ? "" : mt_strtab_get(&p->rec->strings, texts[i]));
    step.frame = mt_path_frame(p, own[0], own[1], own[2], f->line, MT_PATH_ASIDE);
    for (int i = 0; i < 3; i++)
        free(own[i]);
    return step;
}

/* What lies at a frame's place, by the modules as they lie when it is met first. */
static void resolve(struct mt_mr_native *v, struct mt_path_tree *p, struct mt_mr_native_frame *f)
{
    uint64_t address = f->ip ? f->ip - 1 : 0;
    const struct mt_mr_range *in = range_of(v, address);
    const char *object = in ? mt_strtab_get(&v->names, in->name) : "";
    f->resolved = true;
    f->interpreter = is_interpreter(object);
    if (f->interpreter)
        return;
    f->first = (uint32_t)v->steps.n;
    f->n = mt_native_at(p, v->opts->alloc_fn, in ? v->opts->symbols : NULL, in ? in->module : 0,
                        object, in ? address - in->base : address, &v->steps);
    for (size_t i = f->first; i < v->steps.n; i++)
        v->steps.v[i] = aside(p, v->steps.v[i]);
}

/* The frames from the innermost one out to the interpreter, in v->stack; whether that is there. Of
 * what is too deep for a path, one frame more. */
static bool walk(struct mt_mr_native *v, struct mt_path_tree *p, uint64_t id)
{
    v->stack.n = 0;
    while (id && v->stack.n <= MT_STACK_MAX) {
        struct mt_mr_native_frame *f = &v->frames.v[id - 1];
        if (!f->resolved)
            resolve(v, p, f);
        if (f->interpreter)
            return true;
        for (uint32_t i = 0; i < f->n; i++)
            *mt_vec_push(&v->stack) = v->steps.v[f->first + i];
        id = f->parent;
    }
    return false;
}

/* Whether no function of Python is around: nothing is, or only the thread. */
static bool is_outermost(const struct mt_path_tree *p, uint32_t node)
{
    const struct mt_recording *r = p->rec;
    return node == MT_NONE || r->frames.v[r->nodes.v[node].frame].kind == MT_FRAME_THREAD;
}

uint32_t mt_mr_native_node(struct mt_mr_native *v, struct mt_path_tree *p, uint32_t python,
                           uint64_t id)
{
    bool all = v->opts->cpp_frames == MT_CPP_ALL;
    if (!id || id > v->frames.n || v->opts->cpp_frames == MT_CPP_NONE)
        return python;
    uint32_t *known = mt_map_at(&v->nodes, (uint64_t)(python + 1u) << 32 | (uint32_t)id);
    if (*known != MT_MAP_NONE)
        return *known - 1u;
    uint32_t node = python;
    bool called = walk(v, p, id);
    size_t first = 0;
    while (!all && first < v->stack.n && v->stack.v[first].kind == MT_NATIVE_ALLOCATOR)
        first++;
    bool deep = v->stack.n > MT_STACK_MAX;
    if (deep || (is_outermost(p, python) && !called && v->stack.n))
        node = mt_native_path(p, node, v->stack.v, v->stack.n, all);
    else if (called)
        for (size_t i = v->stack.n; i-- > first;)
            node = mt_path_node(p, node, v->stack.v[i].frame);
    *mt_map_at(&v->nodes, (uint64_t)(python + 1u) << 32 | (uint32_t)id) = node + 1u;
    return node;
}
