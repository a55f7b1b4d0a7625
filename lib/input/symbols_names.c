/* What symbols and debug information say of a place. */
#include "lib/input/symbols_parts.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, INLINED_MAX = 256 };

/* libstdc++'s; NULL: it is no mangled name. The result is freed by the caller. */
extern char *__cxa_demangle(const char *name, char *buf, size_t *n, int *status);

static const char *keep(struct mt_symbols *s, const char *text)
{
    return mt_strtab_get(&s->texts, mt_strtab_add(&s->texts, text, strlen(text)));
}

static const char *keep_name(struct mt_symbols *s, const char *name)
{
    int status;
    char *plain = strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
    const char *kept = keep(s, plain ? plain : name);
    free(plain);
    return kept;
}

/* ---- ranges ---- */

static int by_start(const void *a, const void *b)
{
    const struct mt_symbols_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

/* The innermost range that an address is in, or the last; NULL = none. Of sorted ones, nested or
 * apart. */
static const struct mt_symbols_range *range_at(const mt_symbols_ranges *r, uint64_t address)
{
    enum { BACK = 64 };
    size_t low = 0, high = r->n; /* the last that starts at or before it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->v[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < BACK && low > i; i++)
        if (address < r->v[low - 1 - i].end)
            return &r->v[low - 1 - i];
    return NULL;
}

static bool is_code(const struct mt_symbols_module *m, uint64_t address)
{
    for (size_t i = 0; i < m->loads.n; i++) {
        const struct mt_symbols_load *l = &m->loads.v[i];
        if (l->is_code && address >= l->address && address - l->address < l->memory_n)
            return true;
    }
    return false;
}

/* ---- symbols ---- */

/* Of several names of one function the same is taken always: the one better known, the shorter. */
static int by_start_and_name(const void *a, const void *b)
{
    const struct mt_symbols_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->bind != y->bind)
        return x->bind > y->bind ? -1 : 1;
    size_t n = strlen(x->name), k = strlen(y->name);
    if (n != k)
        return n > k ? -1 : 1;
    return strcmp(y->name, x->name);
}

static void read_symbols(struct mt_symbols_module *m)
{
    int n = dwfl_module_getsymtab(m->mod);
    for (int i = 0; i < n; i++) {
        GElf_Sym sym;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(m->mod, i, &sym, &address, NULL, NULL, NULL);
        int type = GELF_ST_TYPE(sym.st_info), bind = GELF_ST_BIND(sym.st_info);
        if (!name || !*name || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
            sym.st_shndx == SHN_UNDEF || !sym.st_size || address + sym.st_size < address)
            continue;
        *mt_vec_push(&m->symbols) = (struct mt_symbols_range){.start = address,
                                                              .end = address + sym.st_size,
                                                              .name = name,
                                                              .bind = bind == STB_GLOBAL ? 0
                                                                      : bind == STB_WEAK ? 1
                                                                                         : 2};
    }
    if (m->symbols.n)
        qsort(m->symbols.v, m->symbols.n, sizeof *m->symbols.v, by_start_and_name);
}

/* ---- units ---- */

/* Adds the ranges of a DIE. */
static struct mt_symbols_range *add_ranges(const struct mt_symbols_module *m, Dwarf_Die *die,
                                           mt_symbols_ranges *to, size_t *n)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    *n = 0;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
        if (start < end && is_code(m, start + m->bias)) {
            *mt_vec_push(to) = (struct mt_symbols_range){.start = start, .end = end};
            ++*n;
        }
    return to->v + to->n - *n;
}

static void read_units(struct mt_symbols_module *m)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    size_t n;
    while (dwarf_get_units(m->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        if (type != DW_UT_compile && type != DW_UT_partial && type != DW_UT_skeleton)
            continue;
        struct mt_symbols_range *r = add_ranges(m, &die, &m->code, &n);
        for (size_t i = 0; i < n; i++)
            r[i].unit = (uint32_t)m->units.n;
        if (n)
            *mt_vec_push(&m->units) = (struct mt_symbols_unit){.die = die};
    }
    if (m->code.n)
        qsort(m->code.v, m->code.n, sizeof *m->code.v, by_start);
}

/* Debug information that has its second part elsewhere is of no use without that: libdw would look
 * for it by itself, wherever the file says. */
static bool lacks_part(struct mt_symbols_module *m)
{
    const char *name;
    const void *id;
    return dwelf_dwarf_gnu_debugaltlink(m->dwarf, &name, &id) > 0 && !m->has_alt;
}

static void read_names(struct mt_symbols *s, struct mt_symbols_module *m)
{
    void **userdata;
    struct mt_symbols_asked asked = {s, false};
    m->has_names = true;
    dwfl_module_info(m->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
    *userdata = &asked;
    m->dwarf = dwfl_module_getdwarf(m->mod, &m->bias);
    m->has_alt = asked.has_alt;
    read_symbols(m);
    *userdata = NULL;
    if (m->dwarf && lacks_part(m))
        m->dwarf = NULL;
    if (m->dwarf)
        read_units(m);
}

/* ---- functions of a unit ---- */

static bool holds_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram;
}

static void add_functions(const struct mt_symbols_module *m, Dwarf_Die *around, int depth,
                          mt_symbols_ranges *to)
{
    Dwarf_Die die;
    size_t n;
    if (depth > DEPTH_MAX || dwarf_child(around, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram) {
            struct mt_symbols_range *r = add_ranges(m, &die, to, &n);
            for (size_t i = 0; i < n; i++)
                r[i].die = dwarf_dieoffset(&die);
        }
        if (holds_functions(tag))
            add_functions(m, &die, depth + 1, to);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static struct mt_symbols_unit *unit_at(struct mt_symbols_module *m, uint64_t address)
{
    const struct mt_symbols_range *r = range_at(&m->code, address);
    struct mt_symbols_unit *u = r ? &m->units.v[r->unit] : NULL;
    if (u && !u->indexed) {
        u->indexed = true;
        add_functions(m, &u->die, 0, &u->functions);
        if (u->functions.n)
            qsort(u->functions.v, u->functions.n, sizeof *u->functions.v, by_start);
    }
    return u;
}

/* The functions at an address into s->scopes, outermost first: one, and what is inlined in it. */
static void find_scopes(struct mt_symbols *s, struct mt_symbols_module *m,
                        struct mt_symbols_unit *u, uint64_t address)
{
    const struct mt_symbols_range *r = range_at(&u->functions, address);
    Dwarf_Die die;
    s->scopes.n = 0;
    if (!r || !dwarf_offdie(m->dwarf, r->die, &die))
        return;
    *mt_vec_push(&s->scopes) = die;
    for (int depth = 0; depth < INLINED_MAX && dwarf_child(&die, &die) == 0; depth++) {
        bool found = false;
        do {
            int tag = dwarf_tag(&die);
            found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
                    dwarf_haspc(&die, address) == 1;
            if (found && tag == DW_TAG_inlined_subroutine)
                *mt_vec_push(&s->scopes) = die;
        } while (!found && dwarf_siblingof(&die, &die) == 0);
        if (!found)
            return;
    }
}

static const char *name_of(struct mt_symbols *s, Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
        name = dwarf_formstring(&attr);
    if (!name)
        name = dwarf_diename(die);
    return name ? keep_name(s, name) : "";
}

/* Where an inlined function is called from. */
static void set_call(struct mt_symbols *s, struct mt_symbols_unit *u, Dwarf_Die *inlined,
                     struct mt_code_frame *f)
{
    Dwarf_Attribute attr;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) == 0 &&
        line <= INT32_MAX)
        f->line = (int64_t)line;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &file) == 0 &&
        dwarf_getsrcfiles(&u->die, &files, &n) == 0 && file < n) {
        const char *path = dwarf_filesrc(files, file, NULL, NULL);
        f->file = path ? keep(s, path) : "";
    }
}

/* Where in the innermost function it is. */
static void set_line(struct mt_symbols *s, struct mt_symbols_unit *u, uint64_t address,
                     struct mt_code_frame *f)
{
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, address);
    const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    int n;
    if (path)
        f->file = keep(s, path);
    if (line && dwarf_lineno(line, &n) == 0)
        f->line = n;
}

void mt_symbols_find(struct mt_symbols *s, struct mt_symbols_module *m, uint64_t address)
{
    if (!m->has_names)
        read_names(s, m);
    const struct mt_symbols_range *symbol = range_at(&m->symbols, address);
    uint64_t inside = address - m->bias;
    struct mt_symbols_unit *u = m->dwarf ? unit_at(m, inside) : NULL;
    s->scopes.n = 0;
    if (u)
        find_scopes(s, m, u, inside);
    for (size_t i = s->scopes.n; i-- > 0;) {
        struct mt_code_frame f = {name_of(s, &s->scopes.v[i]), "", 0};
        if (i + 1 == s->scopes.n)
            set_line(s, u, inside, &f);
        else
            set_call(s, u, &s->scopes.v[i + 1], &f);
        if (i == 0 && !*f.function && symbol)
            f.function = keep_name(s, symbol->name);
        *mt_vec_push(&s->frames) = f;
    }
    if (!s->scopes.n && symbol)
        *mt_vec_push(&s->frames) = (struct mt_code_frame){keep_name(s, symbol->name), "", 0};
    if (!s->scopes.n && symbol && u)
        set_line(s, u, inside, &s->frames.v[0]);
}
