/*
 * mapped.h - which program and libraries lay where in a process: lines of /proc/PID/maps.
 */
#ifndef MT_MAPPED_H
#define MT_MAPPED_H

#include "lib/base/strtab.h"
#include "lib/input/fields.h"
#include "lib/input/symbols.h"

struct mt_mapped {
    struct mt_strtab paths;
    MT_VEC(struct mt_mapped_range {
        uint64_t start, end, offset;
        uint32_t path;
        bool is_code, deleted; /* deleted: since it was loaded */
    })
    ranges;
    bool sorted;
    MT_VEC(uint32_t) modules; /* of symbols, by path; UINT32_MAX: not asked for */
};

void mt_mapped_init(struct mt_mapped *m);
void mt_mapped_free(struct mt_mapped *m);
uint64_t mt_mapped_bytes(const struct mt_mapped *m); /* memory in use, about */

/* Takes a line of the kind "1000-2000 r-xp 00001000 fe:00 12  /bin/x"; false: it is none. Of those
 * without a path nothing is kept. */
bool mt_mapped_add(struct mt_mapped *m, struct mt_fields line);

/* The object at an address, and *place, the address in it as its symbols have it. "" where none is
 * known: *place is the address. */
const char *mt_mapped_at(struct mt_mapped *m, uint64_t address, uint64_t *place);

/* The number in `symbols` of an object that mt_mapped_at gave. */
uint32_t mt_mapped_module(struct mt_mapped *m, struct mt_symbols *symbols, const char *object);

#endif
