/* Python's stacks in memray's files. */
#include "formats/memray_lines.h"
#include "formats/memray_parts.h"
#include "formats/python_frames.h"

#include <stdio.h>
#include <string.h>

void mt_mr_stacks_free(struct mt_mr_stacks *s)
{
    for (size_t i = 0; i < s->threads.n; i++)
        mt_vec_free(&s->threads.v[i].stack);
    mt_path_tree_free(&s->paths);
    mt_strtab_free(&s->texts);
    mt_buf_free(&s->tables);
    mt_vec_free(&s->codes);
    mt_vec_free(&s->threads);
    mt_map_free(&s->code_of);
    mt_map_free(&s->frame_of);
    mt_map_free(&s->thread_of);
}

uint64_t mt_mr_stacks_bytes(const struct mt_mr_stacks *s)
{
    uint64_t n = mt_path_tree_bytes(&s->paths) + mt_strtab_bytes(&s->texts) + s->tables.cap +
                 mt_vec_bytes(&s->codes) + mt_map_bytes(&s->code_of) + mt_map_bytes(&s->frame_of) +
                 mt_map_bytes(&s->thread_of) + mt_vec_bytes(&s->threads);
    for (size_t i = 0; i < s->threads.n; i++)
        n += mt_vec_bytes(&s->threads.v[i].stack);
    return n;
}

void mt_mr_add_code(struct mt_mr_stacks *s, uint64_t id, const char *name, const char *file,
                    int64_t first_line, const char *table, size_t n)
{
    uint32_t *at = mt_map_at(&s->code_of, id);
    if (*at != MT_MAP_NONE)
        memset(s->calls, 0, sizeof s->calls);
    *at = (uint32_t)s->codes.n;
    *mt_vec_push(&s->codes) =
        (struct mt_mr_code){.name = mt_strtab_add(&s->texts, name, strlen(name)),
                            .file = mt_strtab_add(&s->texts, file, strlen(file)),
                            .first_line = first_line,
                            .table = s->tables.n,
                            .table_n = n};
    mt_buf_add(&s->tables, table, n);
}

uint32_t mt_mr_line(struct mt_mr_stacks *s, const char *name, const char *file, int64_t line)
{
    return mt_python_frame(&s->paths, name, file, line);
}

uint32_t mt_mr_frame(struct mt_mr_stacks *s, uint64_t code, int64_t instruction)
{
    uint32_t i = mt_map_get(&s->code_of, code);
    uint64_t key = (uint64_t)i << 32 | (uint32_t)instruction;
    uint32_t *at = mt_map_at(&s->frame_of, key);
    if (*at != MT_MAP_NONE)
        return *at;
    uint32_t frame;
    if (i == MT_MAP_NONE) {
        frame = mt_mr_line(s, "", "", 0);
    } else {
        const struct mt_mr_code *c = &s->codes.v[i];
        const char *table = c->table_n ? s->tables.s + c->table : "";
        int64_t line = mt_memray_line(s->python, table, c->table_n, c->first_line, instruction);
        frame = mt_mr_line(s, s->texts.v[c->name].s, s->texts.v[c->file].s, line);
    }
    return *at = frame;
}

/* The root of what a thread allocates. Numbers of the system's are others in each run. */
static uint32_t root(struct mt_mr_stacks *s, uint64_t thread)
{
    char name[32] = "main thread";
    if (!thread)
        snprintf(name, sizeof name, "[unknown thread]");
    else if (thread != s->main_thread)
        snprintf(name, sizeof name, "thread %zu", ++s->other_n);
    return mt_path_root(&s->paths, MT_NONE, name, MT_PATH_THREAD);
}

void mt_mr_switch(struct mt_mr_stacks *s, uint64_t thread)
{
    uint32_t *at = mt_map_at(&s->thread_of, thread);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)s->threads.n;
        *mt_vec_push(&s->threads) =
            (struct mt_mr_thread){.skip = thread == s->main_thread ? s->skip : 0,
                                  .root = s->split ? root(s, thread) : MT_NONE};
    }
    s->now = *at;
}

void mt_mr_push(struct mt_mr_stacks *s, uint32_t frame)
{
    uint32_t node = mt_mr_node(s);
    struct mt_mr_thread *t = mt_mr_now(s);
    node = t->stack.n < t->skip ? t->root : mt_path_node(&s->paths, node, frame);
    *mt_vec_push(&t->stack) = node;
}

void mt_mr_push_call(struct mt_mr_stacks *s, uint64_t code, int64_t instruction)
{
    uint32_t parent = mt_mr_node(s) + 1u;
    struct mt_mr_thread *t = mt_mr_now(s);
    uint64_t hash = (code ^ (uint64_t)instruction << 20 ^ (uint64_t)parent << 32) *
                    UINT64_C(0x9e3779b97f4a7c15);
    struct mt_mr_call *known = &s->calls[hash >> 52];
    if (t->stack.n < t->skip) {
        mt_mr_push(s, mt_mr_frame(s, code, instruction));
        return;
    }
    if (!known->node || known->code != code || known->instruction != instruction ||
        known->parent != parent) {
        uint32_t node = mt_path_node(&s->paths, parent - 1u, mt_mr_frame(s, code, instruction));
        *known = (struct mt_mr_call){code, instruction, parent, node + 1u};
    }
    *mt_vec_push(&t->stack) = known->node - 1u;
}

bool mt_mr_pop(struct mt_mr_stacks *s, size_t n)
{
    struct mt_mr_thread *t = mt_mr_now(s);
    if (n > t->stack.n)
        return false;
    t->stack.n -= n;
    return true;
}
