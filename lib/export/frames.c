/* A function as text that every format can hold, and its parts. */
#include "lib/export/stacks.h"

#include "lib/base/utf8.h"
#include <string.h>

/* Digits up to `end`, which must follow; 0: no such. */
static int64_t line_before(const char *s, char end, const char **behind)
{
    int64_t line = 0;
    while (*s >= '0' && *s <= '9' && line < INT32_MAX)
        line = 10 * line + (*s++ - '0');
    *behind = s + 1;
    return *s == end ? line : 0;
}

/* Takes apart "train.py(12): main" and "train.py:12 main", as PyTorch's recorders name functions of
 * Python. False: it is neither. */
static bool take_apart(const char *text, struct mt_buf *file, int64_t *line, const char **name)
{
    for (const char *p = text + 1; *text && *p; p++) {
        const char *behind;
        if (*p != '(' && *p != ':')
            continue;
        *line = line_before(p + 1, *p == '(' ? ')' : ' ', &behind);
        if (!*line || (*p == '(' && (behind[0] != ':' || behind[1] != ' ')))
            continue;
        *name = *p == '(' ? behind + 2 : behind;
        mt_buf_set(file, text, (size_t)(p - text));
        return **name != '\0';
    }
    return false;
}

/* Where its file and line are known, "train.py:12 main" is main. */
static const char *without_place(const char *name, const char *file, int64_t line)
{
    const char *slash = strrchr(file, '/'), *rest;
    struct mt_buf base = {0};
    int64_t own;
    bool same = take_apart(name, &base, &own, &rest) && own == line &&
                strcmp(base.s, slash ? slash + 1 : file) == 0;
    mt_buf_free(&base);
    return same ? rest : name;
}

static uint32_t add_text(struct mt_stacks *s, const struct mt_buf *b)
{
    return mt_strtab_add(&s->strings, b->n ? b->s : "", b->n);
}

uint32_t mt_stacks_frame(struct mt_stacks *s, const char *name, const char *file, int64_t line)
{
    struct mt_buf path = {0}, clean = {0}, text = {0};
    struct mt_stack_frame f = {.line = line};
    bool apart = !*file && take_apart(name, &path, &f.line, &name);
    name = *file ? without_place(name, file, line) : name;
    mt_utf8_clean(&clean, *name ? name : "[no name]");
    f.name = add_text(s, &clean);
    mt_buf_add(&text, clean.s, clean.n);
    mt_buf_clear(&clean);
    mt_utf8_clean(&clean, apart ? path.s : file);
    f.file = add_text(s, &clean);
    if (clean.n && f.line > 0)
        mt_buf_addf(&text, " (%s:%lld)", clean.s, (long long)f.line);
    else if (clean.n)
        mt_buf_addf(&text, " (%s)", clean.s);
    f.text = add_text(s, &text);
    mt_buf_free(&path);
    mt_buf_free(&clean);
    mt_buf_free(&text);
    uint32_t *at = mt_map_at(&s->frame_of, f.text);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)s->frames.n;
        *mt_vec_push(&s->frames) = f;
    }
    return *at;
}
