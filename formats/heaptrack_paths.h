/*
 * heaptrack_paths.h - the tables of a heaptrack log: strings, instruction pointers, traces and
 * kinds of allocations, each numbered by its place in the file; and the nodes of the call tree that
 * these mean, made when they are first used.
 */
#ifndef MT_HEAPTRACK_PATHS_H
#define MT_HEAPTRACK_PATHS_H

#include "formats/native_paths.h"
#include "lib/input/fields.h"

/* A function at an instruction pointer; inlined ones have the same pointer. */
struct mt_ht_frame {
    uint32_t function, file; /* numbers of strings; 0 = unknown */
    int64_t line;
    struct mt_native_step step; /* frame MT_NONE: not asked for yet */
};

/* An instruction pointer: its module and its frames, innermost first. */
struct mt_ht_ip {
    uint32_t module, first, n;
};

/* What is known of a stack as the outer part of deeper ones, which then are not walked to their
 * root again. */
struct mt_ht_outer {
    uint32_t path;  /* the node of all its frames; MT_HT_UNASKED: nothing is known */
    uint8_t depth;  /* traces up to the root, at most as many as heaptrack records */
    bool has_main;  /* main is among its frames */
    bool is_rooted; /* it goes out to where programs and threads begin */
    bool is_cut;    /* its path begins with MT_STACK_CUT */
};

/* A stack: an instruction pointer, called from another stack. */
struct mt_ht_trace {
    uint32_t ip, parent; /* 0 = none */
    uint32_t node;       /* MT_HT_UNASKED: not asked for yet */
    struct mt_ht_outer outer;
};

#define MT_HT_UNASKED (UINT32_MAX - 1)

struct mt_ht_tables {
    struct mt_path_tree paths;
    bool all_frames;         /* keep what is outside of main */
    const regex_t *alloc_fn; /* further allocators; NULL = none */
    struct mt_buf text;
    MT_VEC(uint64_t) strings; /* where each begins in text, NUL-terminated */
    MT_VEC(struct mt_ht_frame) frames;
    MT_VEC(struct mt_ht_ip) ips;
    MT_VEC(struct mt_ht_trace) traces;
    MT_VEC(struct mt_native_step) stack; /* of the path being made */
    MT_VEC(uint32_t) ends; /* of each of its frames: the trace that ends there, 0 = none */
    uint32_t unknown_ip;   /* frame of a pointer about which nothing is known */
};

void mt_ht_tables_init(struct mt_ht_tables *t, struct mt_recording *rec, bool all_frames,
                       const regex_t *alloc_fn);
void mt_ht_tables_free(struct mt_ht_tables *t);
uint64_t mt_ht_tables_bytes(const struct mt_ht_tables *t); /* memory in use, about */

/* Each adds the next entry of its table, of what stands behind the letter of its line. False: the
 * line is damaged; the entry is there, and says nothing. */
bool mt_ht_add_string(struct mt_ht_tables *t, struct mt_fields f, bool sized);
bool mt_ht_add_ip(struct mt_ht_tables *t, struct mt_fields f);
bool mt_ht_add_trace(struct mt_ht_tables *t, struct mt_fields f);
/* Allocations of one size on one stack. bytes: -1 where the line is damaged. */
bool mt_ht_read_kind(const struct mt_ht_tables *t, struct mt_fields f, int64_t *bytes,
                     uint32_t *trace);

/* The same of what raw logs have: a function at an instruction pointer; a stack, of which ip 0
 * means that nothing is known. */
uint32_t mt_ht_push_ip(struct mt_ht_tables *t, const struct mt_native_step *steps, uint32_t n);
void mt_ht_push_trace(struct mt_ht_tables *t, uint32_t ip, uint32_t parent);

/* The node of a stack; MT_NONE: no call path. */
uint32_t mt_ht_trace_node(struct mt_ht_tables *t, uint32_t trace);

#endif
