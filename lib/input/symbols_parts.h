/*
 * symbols_parts.h - the insides of symbols.h, shared by symbols*.c. The one place that includes
 * elfutils.
 */
#ifndef MT_SYMBOLS_PARTS_H
#define MT_SYMBOLS_PARTS_H

#include "lib/base/strtab.h"
#include "lib/input/symbols.h"
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

enum { MT_SYMBOLS_PAGE = 4096 };

/* Why a place has no name. */
enum mt_symbols_why {
    MT_SYMBOLS_FOUND,
    MT_SYMBOLS_OFF,
    MT_SYMBOLS_NO_FILE, /* it is not there */
    MT_SYMBOLS_NO_ELF,  /* it cannot be read, or is no program or library */
    MT_SYMBOLS_OTHER,   /* it is not what was recorded */
    MT_SYMBOLS_NO_NAME, /* it says nothing of that place */
    MT_SYMBOLS_WHY_N
};

/* Code from start to before end. */
struct mt_symbols_range {
    uint64_t start, end;
    union {
        Dwarf_Off die;    /* of a function */
        uint32_t unit;    /* of a unit's code */
        const char *name; /* of a symbol; bind: the lower the better known */
    };
    uint8_t bind;
};
typedef MT_VEC(struct mt_symbols_range) mt_symbols_ranges;

struct mt_symbols_module {
    struct mt_code_module is; /* with copies */
    bool opened;
    enum mt_symbols_why why;
    uint64_t unnamed_n, other_n; /* places without a name; of these, where no call is */

    Dwfl *dwfl;
    Dwfl_Module *mod;
    Elf *elf;
    bool x86, arm64; /* machines of which calls are known */
    MT_VEC(struct mt_symbols_load {
        uint64_t address, offset, file_n, memory_n;
        bool is_code;
    })
    loads;

    bool has_names; /* what follows is read */
    mt_symbols_ranges symbols;
    Dwarf *dwarf; /* NULL = there is none */
    Dwarf_Addr bias;
    bool has_alt; /* the part of it that several modules share was found */
    mt_symbols_ranges code;
    MT_VEC(struct mt_symbols_unit {
        Dwarf_Die die;
        bool indexed;
        mt_symbols_ranges functions;
    })
    units;
};

struct mt_symbols {
    bool off;
    char *sysroot; /* NULL = none */
    size_t open_n;
    uint64_t modules_b;    /* what modules point at */
    struct mt_strtab keys; /* of modules */
    MT_VEC(struct mt_symbols_module) modules;
    struct mt_strtab texts;
    MT_VEC(struct mt_code_frame) frames; /* of the last place */
    MT_VEC(Dwarf_Die) scopes;            /* scratch */
};

/* What libdwfl's questions are answered with. */
struct mt_symbols_asked {
    const struct mt_symbols *s;
    bool has_alt;
};

/* symbols_file.c */

/* Opens a regular ELF file; -1: there is none, or *why says what else is wrong with it. */
int mt_symbols_open_file(const char *path, enum mt_symbols_why *why);
/* Opens the module's file, if it is what was recorded; m->why says so. */
void mt_symbols_open(struct mt_symbols *s, struct mt_symbols_module *m);
void mt_symbols_close(struct mt_symbols_module *m);

/* symbols_names.c */

/* Puts the functions at an address into s->frames; none: nothing is known of it. */
void mt_symbols_find(struct mt_symbols *s, struct mt_symbols_module *m, uint64_t address);

#endif
