/*
 * heaptrack_raw.h - what raw logs of heaptrack (`heaptrack --raw`) have and others do not: modules
 * and where they lie, instruction pointers in these, blocks with addresses.
 */
#ifndef MT_HEAPTRACK_RAW_H
#define MT_HEAPTRACK_RAW_H

#include "formats/heaptrack_paths.h"
#include "lib/model/heap.h"

struct mt_ht_raw {
    struct mt_ht_tables *tables;
    struct mt_heap *heap;
    struct mt_symbols *symbols; /* NULL = none */
    bool sized;                 /* names have their length before them, as in file version 3 */
    struct mt_buf exe;          /* path of the program; "" = unknown */
    struct mt_strtab names;     /* of modules */
    MT_VEC(struct mt_ht_range {
        uint64_t start, end, base;
        uint32_t name;
        uint32_t module; /* of symbols */
    })
    ranges; /* where modules lie now */
    bool sorted;
    MT_VEC(struct mt_code_part) parts; /* scratch: of the last module */
    mt_native_steps steps;             /* scratch */
    MT_VEC(struct mt_ht_place {
        uint64_t place; /* in the module; without one, the address */
        uint32_t name;  /* of the module; MT_NONE: in none */
        uint32_t ip;    /* number in the tables */
    })
    places;
    struct mt_map place_of;    /* address -> places: the last that was there */
    uint64_t last;             /* the event before allocated this; 0 = it was another */
    MT_VEC(int64_t) temporary; /* blocks that the very next event freed, by node + 1 */
};

void mt_ht_raw_init(struct mt_ht_raw *r, struct mt_ht_tables *tables, struct mt_heap *heap,
                    struct mt_symbols *symbols);
void mt_ht_raw_free(struct mt_ht_raw *r);
uint64_t mt_ht_raw_bytes(const struct mt_ht_raw *r); /* memory in use, about */

/* Each takes what stands behind the letter of its line. False, or *good false: the line is damaged,
 * and left out; a trace keeps its number. */
bool mt_ht_raw_exe(struct mt_ht_raw *r, struct mt_fields f);
bool mt_ht_raw_module(struct mt_ht_raw *r, struct mt_fields f);
bool mt_ht_raw_trace(struct mt_ht_raw *r, struct mt_fields f);
enum mt_status mt_ht_raw_alloc(struct mt_ht_raw *r, struct mt_fields f, bool *good,
                               struct mt_err *err);
enum mt_status mt_ht_raw_dealloc(struct mt_ht_raw *r, struct mt_fields f, bool *good,
                                 struct mt_err *err);

/* heaptrack was attached here. */
void mt_ht_raw_restart(struct mt_ht_raw *r);
/* Gives the figures that only raw logs have, at the end. */
void mt_ht_raw_close(struct mt_ht_raw *r);

#endif
