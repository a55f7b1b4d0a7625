/*
 * memray_parts.h - the insides of the reader of memray's files, shared by memray*.c.
 */
#ifndef MT_MEMRAY_PARTS_H
#define MT_MEMRAY_PARTS_H

#include "formats/format.h"
#include "formats/native_paths.h"
#include "lib/base/ranges.h"
#include "lib/input/cursor.h"
#include "lib/model/heap.h"
#include "lib/model/paths.h"

/* A number told as a difference to the last one. */
static inline uint64_t mt_mr_delta(struct mt_cursor *c, uint64_t *last)
{
    return *last += (uint64_t)mt_cursor_signed(c);
}

static const int64_t mt_mr_ms_ns = 1000000;

/* ---- what Python ran ---- */

struct mt_mr_code {
    uint32_t name, file; /* ids of `texts` */
    int64_t first_line;
    size_t table, table_n; /* in `tables` */
};

struct mt_mr_stacks {
    struct mt_path_tree paths;
    uint32_t python; /* version */
    struct mt_strtab texts;
    struct mt_buf tables;
    MT_VEC(struct mt_mr_code) codes;
    struct mt_map code_of;  /* id of the file -> codes */
    struct mt_map frame_of; /* code and instruction, or id of a frame -> number of mt_path_frame */
    struct mt_map thread_of;
    MT_VEC(struct mt_mr_thread {
        MT_VEC(uint32_t) stack; /* node up to each frame */
        size_t skip;            /* of these frames are memray's own */
        uint32_t root;          /* node around all; MT_NONE */
        struct mt_mr_recent {   /* the two that were allocated last */
            uint64_t address, bytes;
            uint32_t node;
            bool any;
        } recent[2];
        unsigned latest; /* of these */
    })
    threads;
    struct mt_mr_call { /* the path of a call from another path, as it was last */
        uint64_t code;
        int64_t instruction;
        uint32_t parent, node; /* plus 1; node 0: none yet */
    } calls[1 << 12];
    uint32_t now; /* thread; MT_NONE: none yet */
    uint64_t main_thread;
    size_t skip;
    bool split;     /* threads are kept apart, */
    size_t other_n; /* others than the main thread by their number from 1 on */
};

void mt_mr_stacks_free(struct mt_mr_stacks *s);
uint64_t mt_mr_stacks_bytes(const struct mt_mr_stacks *s); /* memory in use, about */
/* A code object; a second one of the same id replaces the first. */
void mt_mr_add_code(struct mt_mr_stacks *s, uint64_t id, const char *name, const char *file,
                    int64_t first_line, const char *table, size_t n);
/* Number of mt_path_frame of a code object at an instruction; of a function at a line. */
uint32_t mt_mr_frame(struct mt_mr_stacks *s, uint64_t code, int64_t instruction);
uint32_t mt_mr_line(struct mt_mr_stacks *s, const char *name, const char *file, int64_t line);
void mt_mr_switch(struct mt_mr_stacks *s, uint64_t thread);
void mt_mr_push(struct mt_mr_stacks *s, uint32_t frame);
/* The same of a code object at an instruction. */
void mt_mr_push_call(struct mt_mr_stacks *s, uint64_t code, int64_t instruction);
bool mt_mr_pop(struct mt_mr_stacks *s, size_t n); /* false: there are not as many */
/* The thread under way. */
static inline struct mt_mr_thread *mt_mr_now(struct mt_mr_stacks *s)
{
    if (s->now == MT_NONE)
        mt_mr_switch(s, 0);
    return &s->threads.v[s->now];
}
/* The path of what it allocates. */
static inline uint32_t mt_mr_node(struct mt_mr_stacks *s)
{
    const struct mt_mr_thread *t = mt_mr_now(s);
    return t->stack.n ? t->stack.v[t->stack.n - 1] : t->root;
}

/* ---- what ran in C ---- */

struct mt_mr_native {
    const struct mt_read_opts *opts;
    struct mt_strtab names; /* of modules */
    MT_VEC(struct mt_mr_range {
        uint64_t start, end, base;
        uint32_t name, module; /* the latter of symbols */
    })
    ranges; /* where modules lie now */
    bool sorted;
    uint32_t name; /* the module whose parts come, as many as part_n */
    uint64_t base, part_n;
    MT_VEC(struct mt_code_part) parts;
    MT_VEC(struct mt_mr_native_frame {
        uint64_t ip;
        uint32_t parent;   /* a frame's number + 1; 0 = none */
        uint32_t first, n; /* in steps */
        bool resolved, interpreter;
    })
    frames;
    mt_native_steps steps, stack;
    struct mt_map nodes; /* node of Python + 1, frame -> node + 1 */
};

void mt_mr_native_init(struct mt_mr_native *v, const struct mt_read_opts *opts);
void mt_mr_native_free(struct mt_mr_native *v);
uint64_t mt_mr_native_bytes(const struct mt_mr_native *v); /* memory in use, about */
/* All modules are forgotten: those that are loaded now follow, each with its parts. */
void mt_mr_native_unload(struct mt_mr_native *v);
void mt_mr_native_module(struct mt_mr_native *v, const char *path, uint64_t part_n, uint64_t base);
void mt_mr_native_part(struct mt_mr_native *v, uint64_t start, uint64_t size);
/* The next frame: numbers go from 1. parent 0: it is outermost. */
void mt_mr_native_frame(struct mt_mr_native *v, uint64_t ip, uint64_t parent);
/* The path of what is allocated in a frame (0: none), below that of Python (MT_NONE: none). */
uint32_t mt_mr_native_node(struct mt_mr_native *v, struct mt_path_tree *p, uint32_t python,
                           uint64_t id);

/* ---- the reader ---- */

enum {
    MT_MR_OLDEST = 6, /* its records are others than those of all later ones */
    MT_MR_NEWEST = 13,
    MT_MR_ENDS = 8,   /* a record says that it is the last since */
    MT_MR_CODES = 12, /* files have code objects since */
    MT_MR_RECENT = 16
};

struct mt_memray {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_stream *in;
    struct mt_heap *heap;
    uint64_t beside; /* counted in rec->beside_bytes */
    struct mt_cursor c;
    bool whole;  /* the window goes to the end of the file */
    bool done;   /* the recorder's own end has been read */
    bool padded; /* nothing but zeros may follow: the process was killed, */
    size_t torn; /* which left so many bytes of a record */

    int version;
    bool native;
    uint64_t event_n, told_n; /* allocations and frees: read, and in all. 0: it was killed */
    int64_t start_ms, end_ms;
    struct mt_mr_stacks stacks;
    struct mt_mr_native natives;

    /* records of every event */
    struct mt_mr_deltas {
        uint64_t address, native, ip, frame, line;
    } last;
    uint64_t recent[MT_MR_RECENT]; /* addresses, in a ring: records tell one of the 15 from */
    unsigned latest;               /* this one on */
    struct mt_ranges mapped;       /* with their nodes */
    MT_VEC(struct mt_mr_temporary { int64_t n, bytes; }) temporary; /* by node + 1 */

    /* records of sums */
    MT_VEC(uint32_t) frames; /* numbers of mt_path_frame */
    MT_VEC(struct mt_mr_trace {
        uint32_t frame, parent; /* parent: traces + 1 */
        uint32_t depth;         /* 1 = the outermost function */
        uint32_t node[2];       /* plus 1, 0 = not made yet: of all functions, without skipped */
    })
    traces;
    MT_VEC(uint32_t) walk; /* scratch */
};

enum mt_status mt_mr_check_memory(struct mt_memray *r, struct mt_err *err);
/* Reads one record of r->c. r->c.more: it goes on behind the window, nothing has happened yet. */
typedef enum mt_status mt_mr_record(struct mt_memray *r, struct mt_err *err);
/* Records of a window, as far as they are complete; what is left of it stays. */
static inline enum mt_status mt_mr_each(struct mt_memray *r, mt_mr_record *read, struct mt_err *err)
{
    while (!r->done && r->c.p < r->c.end) {
        const char *start = r->c.p;
        const enum mt_status st = read(r, err);
        if (r->padded) {
            r->torn = (size_t)(r->c.p - start);
            return st;
        }
        if (r->c.more || st != MT_OK) {
            r->c.p = start;
            return st;
        }
        if (mt_rec_grew(r->rec))
            MT_TRY(mt_mr_check_memory(r, err));
    }
    return MT_OK;
}
/* These of events, and of sums. */
enum mt_status mt_mr_events(struct mt_memray *r, struct mt_err *err);
enum mt_status mt_mr_sums(struct mt_memray *r, struct mt_err *err);
/* One of an event, of version 6. */
enum mt_status mt_mr_first_event(struct mt_memray *r, struct mt_err *err);

/* What an allocator's record does. */
enum mt_act { MT_MR_ALLOCATES, MT_MR_FREES, MT_MR_MAPS, MT_MR_UNMAPS, MT_MR_UNKNOWN };

/* Does that. native: the frame of C in which it is allocated; 0 = unknown. */
enum mt_status mt_mr_apply(struct mt_memray *r, enum mt_act act, uint64_t address, uint64_t bytes,
                           uint64_t native, struct mt_err *err);
/* A function that the file numbers begins; n return. */
enum mt_status mt_mr_push_named(struct mt_memray *r, uint64_t id, struct mt_err *err);
enum mt_status mt_mr_return(struct mt_memray *r, size_t n, struct mt_err *err);
/* So many milliseconds after the start. */
enum mt_status mt_mr_at(struct mt_memray *r, uint64_t ms, uint64_t rss, struct mt_err *err);

/* Whether the file's head says that there are more events than were read. */
static inline bool mt_mr_is_told(const struct mt_memray *r)
{
    return r->version < MT_MR_ENDS && r->event_n < r->told_n;
}

/* What all events amount to. */
void mt_mr_events_end(struct mt_memray *r);
/* For a record that makes no sense. */
enum mt_status mt_mr_damaged(const char *what, struct mt_err *err);
enum mt_status mt_mr_unknown_allocator(struct mt_err *err);

/* Records of both kinds of files that say nothing about memory; false: it is none of them. */
bool mt_mr_other(struct mt_memray *r, unsigned type);

#endif
