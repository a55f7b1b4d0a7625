/*
 * program.h - a made-up program that allocates and frees, for tests: built as a recording, stored
 * in a database of its own, and opened the way commands open a run.
 *
 *     struct program p;
 *     program_start(&p);
 *     for each step: program_step(&p); int b = program_alloc(&p, "site", 512); program_free(&p, b);
 *     program_finish(&p);       // p.run, p.device, p.lives are ready
 *     program_end(&p);
 *
 * Time runs by itself: a step takes 1 ms, an allocation 4 ns (its op from 1 to 3, its record at 2),
 * a free 1 ns. Who sets t_ns back makes things happen at once.
 */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include "lib/usage/live.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct program {
    struct mt_recording rec;
    MT_VEC(struct program_block {
        int64_t bytes;
        uint64_t addr;
    })
    blocks;
    uint32_t older_n; /* freed ones */
    uint64_t reused;  /* where the next block lies; 0 = where none was before */
    int64_t t_ns, step;
    uint32_t thread; /* that of the next events; program_thread changes it */
    uint32_t on;     /* the device of the next records; program_on changes it */
    char path[256];
    struct mt_db *db;
    struct mt_run run;
    struct mt_run_device device;
    struct mt_allocations lives;
};

void program_start(struct program *p);
void program_step(struct program *p); /* a ProfilerStep#N begins */
void program_step_at(struct program *p, int64_t start_ns, int64_t end_ns); /* wherever it lies */
void program_thread(struct program *p, int64_t tid);                       /* 1 at the start */
void program_op(struct program *p, const char *op, int64_t ns);      /* around what comes next */
void program_scope(struct program *p, const char *name, int64_t ns); /* the same, an annotation */
void program_on(struct program *p, int type, int index);             /* cpu (0, -1) at the start */
int program_alloc(struct program *p, const char *op, int64_t bytes); /* op NULL: outside ops */
void program_free(struct program *p, int block);
void program_lose(struct program *p, int block); /* freed unseen: the next one gets its memory */
/* A block older than the recording, which the level of the device counts: freed now, or never. */
void program_older(struct program *p, int64_t bytes, bool freed);
void program_finish(struct program *p);
void program_end(struct program *p);

#endif
