#include "lib/base/human.h"
#include "lib/input/symbols_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mt_symbols *mt_symbols_new(bool off, const char *sysroot)
{
    struct mt_symbols *s = mt_alloc(sizeof *s);
    *s = (struct mt_symbols){.off = off, .sysroot = sysroot ? mt_strdup(sysroot) : NULL};
    mt_strtab_init(&s->keys);
    mt_strtab_init(&s->texts);
    return s;
}

void mt_symbols_free(struct mt_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->modules.n; i++) {
        struct mt_symbols_module *m = &s->modules.v[i];
        mt_symbols_close(m);
        free((char *)m->is.path);
        free((char *)m->is.build_id);
        free((struct mt_code_part *)m->is.parts);
    }
    mt_vec_free(&s->modules);
    mt_vec_free(&s->frames);
    mt_vec_free(&s->scopes);
    mt_strtab_free(&s->keys);
    mt_strtab_free(&s->texts);
    free(s->sysroot);
    free(s);
}

uint64_t mt_symbols_bytes(const struct mt_symbols *s)
{
    return s ? mt_strtab_bytes(&s->keys) + mt_strtab_bytes(&s->texts) + mt_vec_bytes(&s->modules) +
                   s->modules_b
             : 0;
}

uint32_t mt_symbols_module(struct mt_symbols *s, const struct mt_code_module *m)
{
    struct mt_buf key = {0};
    mt_buf_addf(&key, "%s %d%d%d ", m->build_id, m->by_offset, m->from_start, m->of_calls);
    mt_buf_add(&key, (const char *)m->parts, m->part_n * sizeof *m->parts);
    mt_buf_adds(&key, m->path);
    uint32_t id = mt_strtab_add(&s->keys, key.s, key.n);
    mt_buf_free(&key);
    if (id < s->modules.n)
        return id;
    struct mt_code_part *parts = mt_alloc((m->part_n + 1) * sizeof *parts);
    for (size_t i = 0; i < m->part_n; i++)
        parts[i] = m->parts[i];
    struct mt_symbols_module *own = mt_vec_push(&s->modules);
    *own = (struct mt_symbols_module){.is = *m};
    own->is.path = mt_strdup(m->path);
    own->is.build_id = mt_strdup(m->build_id);
    own->is.parts = parts;
    s->modules_b += (m->part_n + 1) * sizeof *parts + strlen(m->path) + strlen(m->build_id);
    return id;
}

/* The address of a place in code, as the file was linked; false: there is no code. */
static bool address_of(const struct mt_symbols_module *m, uint64_t place, uint64_t *address)
{
    for (size_t i = 0; i < m->loads.n; i++) {
        const struct mt_symbols_load *l = &m->loads.v[i];
        uint64_t from = m->is.by_offset ? l->offset : l->address;
        if (!l->is_code || place < from || place - from >= l->file_n)
            continue;
        *address = place - from + l->address;
        return true;
    }
    return false;
}

/* Whether the file has a call that returns behind a place. */
static bool is_call(const struct mt_symbols_module *m, uint64_t address)
{
    enum { LONGEST = 7 };
    size_t n = 0;
    const char *file = elf_rawfile(m->elf, &n);
    const unsigned char *end = NULL;
    for (size_t i = 0; i < m->loads.n && file; i++) {
        const struct mt_symbols_load *l = &m->loads.v[i];
        uint64_t behind = address - l->address + 1; /* of the place, in this part */
        if (address >= l->address && behind <= l->file_n && behind >= LONGEST &&
            l->offset + behind <= n)
            end = (const unsigned char *)file + l->offset + behind;
    }
    if (!end)
        return false;
    if (m->arm64) {
        uint32_t word = end[-4] | end[-3] << 8 | end[-2] << 16 | (uint32_t)end[-1] << 24;
        return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000;
    }
    if (end[-5] == 0xe8)
        return true;
    for (int k = 2; k <= LONGEST; k++)
        if (end[-k] == 0xff && (end[1 - k] >> 3 & 7) == 2)
            return true;
    return false;
}

/* Whether the place can be one of what was recorded. Build ids and all parts are proof enough. */
static bool is_likely(const struct mt_symbols_module *m, uint64_t address)
{
    bool proven = *m->is.build_id || (m->is.part_n && !m->is.by_offset);
    return proven || !m->is.of_calls || (!m->x86 && !m->arm64) || is_call(m, address);
}

/* Where the file begins in memory, as it was linked: 0 but for programs that lie at fixed
 * addresses. */
static uint64_t start_of(const struct mt_symbols_module *m)
{
    uint64_t start = UINT64_MAX;
    for (size_t i = 0; i < m->loads.n; i++)
        start = m->loads.v[i].address < start ? m->loads.v[i].address : start;
    return start & ~(uint64_t)(MT_SYMBOLS_PAGE - 1);
}

/* The address of a place in code that is likely, else that of any. */
static bool find_address(const struct mt_symbols_module *m, uint64_t place, uint64_t *address)
{
    return (m->is.from_start && address_of(m, place + start_of(m), address) &&
            is_likely(m, *address)) ||
           address_of(m, place, address);
}

size_t mt_symbols_at(struct mt_symbols *s, uint32_t module, uint64_t place,
                     const struct mt_code_frame **frames)
{
    struct mt_symbols_module *m = &s->modules.v[module];
    uint64_t address;
    s->frames.n = 0;
    if (!m->opened)
        mt_symbols_open(s, m);
    m->opened = true;
    if (m->why == MT_SYMBOLS_FOUND && find_address(m, place, &address)) {
        if (is_likely(m, address))
            mt_symbols_find(s, m, address);
        else
            m->other_n++;
    }
    m->unnamed_n += s->frames.n == 0;
    *frames = s->frames.v;
    return s->frames.n;
}

/* ---- what has no name ---- */

/* How many places of a module have no name for that reason. */
static uint64_t count_of(const struct mt_symbols_module *m, enum mt_symbols_why why)
{
    if (m->why != MT_SYMBOLS_FOUND)
        return m->why == why ? m->unnamed_n : 0;
    return why == MT_SYMBOLS_OTHER     ? m->other_n
           : why == MT_SYMBOLS_NO_NAME ? m->unnamed_n - m->other_n
                                       : 0;
}

static void add_names(const struct mt_symbols *s, enum mt_symbols_why why, struct mt_buf *out)
{
    enum { SHOWN = 2 };
    size_t n = 0;
    for (size_t i = 0; i < s->modules.n; i++) {
        const char *path = s->modules.v[i].is.path, *slash = strrchr(path, '/');
        if (!count_of(&s->modules.v[i], why) || !*path || ++n > SHOWN)
            continue;
        mt_buf_addf(out, "%s%.32s", n == 1 ? " (" : ", ", slash ? slash + 1 : path);
    }
    if (n > SHOWN)
        mt_buf_adds(out, ", ...");
    mt_buf_adds(out, n ? ")" : "");
}

uint64_t mt_symbols_unnamed(const struct mt_symbols *s, struct mt_buf *why)
{
    static const char *const texts[MT_SYMBOLS_WHY_N] = {
        [MT_SYMBOLS_OFF] = "not looked for (--no-symbols)",
        [MT_SYMBOLS_NO_FILE] = "in files that are not here",
        [MT_SYMBOLS_NO_ELF] = "in files that cannot be read",
        [MT_SYMBOLS_OTHER] = "in files that differ from those recorded",
        [MT_SYMBOLS_NO_NAME] = "without symbols",
    };
    uint64_t by[MT_SYMBOLS_WHY_N] = {0}, all = 0;
    const char *before = "";
    for (int w = MT_SYMBOLS_OFF; w < MT_SYMBOLS_WHY_N; w++) {
        for (size_t i = 0; i < s->modules.n; i++)
            by[w] += count_of(&s->modules.v[i], (enum mt_symbols_why)w);
        all += by[w];
    }
    for (int w = MT_SYMBOLS_OFF; w < MT_SYMBOLS_WHY_N; w++) {
        char number[MT_HUMAN_MAX];
        if (!by[w])
            continue;
        mt_buf_adds(why, before);
        if (by[w] < all)
            mt_buf_addf(why, "%s ", mt_human_count((int64_t)by[w], number));
        mt_buf_adds(why, texts[w]);
        if (w != MT_SYMBOLS_OFF)
            add_names(s, (enum mt_symbols_why)w, why);
        before = ", ";
    }
    return all;
}
