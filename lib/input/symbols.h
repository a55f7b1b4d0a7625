/*
 * symbols.h - functions, files and lines of places in code: from the programs and libraries that
 * lie where a log says they did, their symbols and their debug information (elfutils' libdw).
 *
 * A log may come from anywhere, and so may the paths in it. What is opened are regular ELF files of
 * at most 4 GiB, for reading; nothing is asked of the network. A file counts only if it is what the
 * log was recorded with, as far as the log tells: by build id, or by where its parts lie.
 */
#ifndef MT_SYMBOLS_H
#define MT_SYMBOLS_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

struct mt_symbols;

/* sysroot: folder in which to look instead, for the path of a module and for its name alone; NULL =
 * the machine's own. off: nothing is looked for, but counted. */
struct mt_symbols *mt_symbols_new(bool off, const char *sysroot);
/* Accepts NULL. */
void mt_symbols_free(struct mt_symbols *s);

uint64_t mt_symbols_bytes(const struct mt_symbols *s); /* memory in use, without files; s NULL: 0 */

/* A part of a module that is loaded, or was mapped. */
struct mt_code_part {
    uint64_t start, size;
};

/* What a log says of a program or library. */
struct mt_code_module {
    const char *path;     /* "" = unknown */
    const char *build_id; /* in hex; "" = unknown */
    /* All parts, as its program headers have them: addresses and sizes in memory; n 0: unknown. Or,
     * of places by offset, those mapped with code: offsets and sizes in the file. */
    const struct mt_code_part *parts;
    size_t part_n;
    bool by_offset;  /* places are offsets in the file, else addresses as it was linked */
    bool from_start; /* the latter count from where the file begins in memory, or do not */
    bool of_calls;   /* all places are in calls */
};

/* Number of a module. What m points at is copied. Nothing is opened yet. */
uint32_t mt_symbols_module(struct mt_symbols *s, const struct mt_code_module *m);

/* A function at a place: texts belong to s, "" and 0 are unknown. */
struct mt_code_frame {
    const char *function, *file; /* function: as a person reads it */
    int64_t line;
};

/*
 * The functions at a place (of a call: a byte in front of where it returns to), innermost of those
 * inlined first; *frames is valid until the next call. 0: it has no name. Each call looks: who asks
 * keeps the answer.
 */
size_t mt_symbols_at(struct mt_symbols *s, uint32_t module, uint64_t place,
                     const struct mt_code_frame **frames);

/* How many places had no name; says where and why: "3 in files that are not here (a, b)". */
uint64_t mt_symbols_unnamed(const struct mt_symbols *s, struct mt_buf *why);

#endif
