/* The files of modules and of their debug information: opened with care, and compared with what was
 * recorded. */
#include "lib/input/symbols_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 800, BUILD_ID_MAX = 64 };
static const off_t size_max = (off_t)1 << 32;
static const char debug_folder[] = "/usr/lib/debug";

int mt_symbols_open_file(const char *path, enum mt_symbols_why *why)
{
    struct stat before, now;
    char magic[SELFMAG];
    *why = MT_SYMBOLS_NO_FILE;
    if (stat(path, &before) != 0)
        return -1;
    *why = MT_SYMBOLS_NO_ELF;
    if (!S_ISREG(before.st_mode) || before.st_size > size_max) /* a device is not even opened */
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, &now) == 0 && now.st_dev == before.st_dev && now.st_ino == before.st_ino &&
        S_ISREG(now.st_mode) && pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
        memcmp(magic, ELFMAG, SELFMAG) == 0)
        return fd;
    close(fd);
    return -1;
}

/* ---- debug information in files of its own ---- */

/* Opens a file of debug information, if it has that build id; else -1. The path is kept in *found,
 * or freed. */
static int open_debug(char *path, const void *id, size_t id_n, char **found)
{
    enum mt_symbols_why why;
    const void *own;
    int fd = mt_symbols_open_file(path, &why);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    bool same =
        elf && dwelf_elf_gnu_build_id(elf, &own) == (ssize_t)id_n && memcmp(own, id, id_n) == 0;
    elf_end(elf);
    if (same) {
        *found = path;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return -1;
}

static char *path_by_id(const char *sysroot, const unsigned char *id, size_t n)
{
    struct mt_buf path = {0};
    mt_buf_addf(&path, "%s%s/.build-id/%02x/", sysroot, debug_folder, id[0]);
    for (size_t i = 1; i < n; i++)
        mt_buf_addf(&path, "%02x", id[i]);
    mt_buf_adds(&path, ".debug");
    return path.s;
}

/* Where debug information with a build id may be: the place for it, or where a link in `file` says.
 */
static int find_debug(const char *sysroot, const unsigned char *id, ssize_t id_n, const char *file,
                      const char *link, char **found)
{
    const char *slash = strrchr(file, '/');
    const int folder_n = slash ? (int)(slash - file) : 0;
    int fd = -1;
    if (id_n < 2 || id_n > BUILD_ID_MAX)
        return -1;
    fd = open_debug(path_by_id(sysroot, id, (size_t)id_n), id, (size_t)id_n, found);
    if (fd < 0 && link && *link == '/')
        fd = open_debug(mt_asprintf("%s%s", sysroot, link), id, (size_t)id_n, found);
    else if (fd < 0 && link && slash) {
        static const char *const within[] = {"", "/.debug"};
        for (size_t i = 0; i < MT_ARRAY_LEN(within) && fd < 0; i++)
            fd = open_debug(mt_asprintf("%.*s%s/%s", folder_n, file, within[i], link), id,
                            (size_t)id_n, found);
        if (fd < 0)
            fd = open_debug(mt_asprintf("%s%s%.*s/%s", sysroot, debug_folder, folder_n, file, link),
                            id, (size_t)id_n, found);
    }
    return fd;
}

/* libdwfl asks for the debug information of a module; or, without a sum of it, for the part of that
 * which several modules share. Its own way to look would ask servers, too. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    struct mt_symbols_asked *asked = *userdata;
    const char *sysroot = asked && asked->s->sysroot ? asked->s->sysroot : "";
    const unsigned char *id;
    GElf_Addr at;
    Dwarf_Addr bias;
    const void *alt_id;
    (void)name, (void)base;
    if (!file || !asked)
        return -1;
    if (!link || crc) {
        int n = dwfl_module_build_id(mod, &id, &at);
        return find_debug(sysroot, id, n, file, link, found);
    }
    ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwfl_module_getdwarf(mod, &bias), &link, &alt_id);
    int fd = find_debug(sysroot, alt_id, n, file, link, found);
    asked->has_alt |= fd >= 0;
    return fd;
}

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    (void)mod, (void)userdata, (void)name, (void)base, (void)file, (void)elf;
    return -1; /* it was given */
}

/* ---- the module itself ---- */

static void read_loads(struct mt_symbols_module *m)
{
    GElf_Ehdr head;
    GElf_Phdr p;
    size_t n = 0;
    m->loads.n = 0;
    if (!gelf_getehdr(m->elf, &head) || (head.e_type != ET_EXEC && head.e_type != ET_DYN) ||
        elf_getphdrnum(m->elf, &n) != 0)
        return;
    m->x86 = head.e_machine == EM_X86_64 || head.e_machine == EM_386;
    m->arm64 = head.e_machine == EM_AARCH64;
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(m->elf, (int)i, &p) && p.p_type == PT_LOAD)
            *mt_vec_push(&m->loads) = (struct mt_symbols_load){p.p_vaddr, p.p_offset, p.p_filesz,
                                                               p.p_memsz, p.p_flags & PF_X};
}

static bool has_build_id(const struct mt_symbols_module *m)
{
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(m->elf, &id);
    struct mt_buf hex = {0};
    for (ssize_t i = 0; i < n; i++)
        mt_buf_addf(&hex, "%02x", ((const unsigned char *)id)[i]);
    bool same = hex.n && strcasecmp(hex.s, m->is.build_id) == 0;
    mt_buf_free(&hex);
    return same;
}

/* Whether a part of the file is mapped like that: from a page on, to a page. */
static bool has_mapping(const struct mt_symbols_module *m, const struct mt_code_part *p)
{
    for (size_t i = 0; i < m->loads.n; i++) {
        const struct mt_symbols_load *l = &m->loads.v[i];
        uint64_t first = l->offset & ~(uint64_t)(MT_SYMBOLS_PAGE - 1);
        uint64_t end =
            (l->offset + l->file_n + MT_SYMBOLS_PAGE - 1) & ~(uint64_t)(MT_SYMBOLS_PAGE - 1);
        if (l->is_code && p->start == first && p->size == end - first)
            return true;
    }
    return false;
}

/* Whether the file is what was recorded. */
static bool is_same(const struct mt_symbols_module *m)
{
    const struct mt_code_module *is = &m->is;
    if (*is->build_id)
        return has_build_id(m);
    if (!is->by_offset && is->part_n && is->part_n != m->loads.n)
        return false;
    for (size_t i = 0; i < is->part_n; i++) {
        const struct mt_code_part *p = &is->parts[i];
        if (is->by_offset ? !has_mapping(m, p)
                          : p->start != m->loads.v[i].address || p->size != m->loads.v[i].memory_n)
            return false;
    }
    return true;
}

/* Opens a file if it can be the module; m->why says so. */
static void open_path(struct mt_symbols *s, struct mt_symbols_module *m, const char *path)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                             .find_debuginfo = find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    int fd = mt_symbols_open_file(path, &m->why);
    if (fd < 0)
        return;
    m->why = MT_SYMBOLS_NO_ELF;
    m->dwfl = s->open_n < FILES_MAX ? dwfl_begin(&callbacks) : NULL;
    if (m->dwfl) {
        GElf_Addr bias;
        dwfl_report_begin(m->dwfl);
        m->mod = dwfl_report_elf(m->dwfl, path, path, fd, 0, true);
        dwfl_report_end(m->dwfl, NULL, NULL);
        m->elf = m->mod ? dwfl_module_getelf(m->mod, &bias) : NULL;
    }
    if (!m->mod)
        close(fd);
    if (m->elf)
        read_loads(m);
    if (m->loads.n)
        m->why = is_same(m) ? MT_SYMBOLS_FOUND : MT_SYMBOLS_OTHER;
    if (m->why == MT_SYMBOLS_FOUND)
        s->open_n++;
    else
        mt_symbols_close(m);
}

void mt_symbols_open(struct mt_symbols *s, struct mt_symbols_module *m)
{
    const char *path = m->is.path, *slash = strrchr(path, '/');
    m->why = s->off ? MT_SYMBOLS_OFF : MT_SYMBOLS_NO_FILE;
    if (s->off || (!slash && !s->sysroot)) /* such as "[vdso]" */
        return;
    if (!s->sysroot) {
        open_path(s, m, path);
        return;
    }
    char *there = mt_asprintf("%s/%s", s->sysroot, path);
    open_path(s, m, there);
    free(there);
    if (m->why == MT_SYMBOLS_FOUND || !slash)
        return;
    enum mt_symbols_why why = m->why;
    there = mt_asprintf("%s%s", s->sysroot, slash);
    open_path(s, m, there);
    free(there);
    if (m->why != MT_SYMBOLS_FOUND && why != MT_SYMBOLS_NO_FILE)
        m->why = why;
}

void mt_symbols_close(struct mt_symbols_module *m)
{
    for (size_t i = 0; i < m->units.n; i++)
        mt_vec_free(&m->units.v[i].functions);
    mt_vec_free(&m->units);
    mt_vec_free(&m->code);
    mt_vec_free(&m->symbols);
    mt_vec_free(&m->loads);
    dwfl_end(m->dwfl);
    m->dwfl = NULL;
    m->mod = NULL;
    m->elf = NULL;
}
