/*
 * history.h - what reports need of the lives of blocks without reading every block: the curve of
 * each device, which blocks are live at some marked moments, and what each site keeps from step to
 * step. Built with a recording (lib/build/build.h), stored in the tables usage_chunk,
 * live_keyframe, moment, holding, max_lifetime.
 */
#ifndef MT_HISTORY_H
#define MT_HISTORY_H

#include "lib/model/curve.h"
#include "lib/model/retained.h"

/* The blocks of a device that are live after a record. Those older than the recording have numbers
 * from `next` on. */
struct mt_live_keyframe {
    uint16_t device;
    int64_t record;   /* -1 = before the first */
    int64_t next;     /* number of the first block allocated after it */
    size_t at, bytes; /* numbers of the blocks (rows of alloc), in `live` (mt_pack_numbers) */
};

/* Where blocks are allocated: a node of the call tree, on a device. Where frees are lost
 * (mt_rec_loses_frees) blocks of each size are held apart: sizes that lose none tell more. */
struct mt_site {
    int64_t bytes; /* of each block; 0 = of any size */
    uint32_t node; /* MT_NONE = outside ops */
    uint16_t device;
};

/* Blocks of a site (of any size) that were freed before the last step ended: how many steps they
 * lived, and the last step (index) one of them was allocated in. Only where none that was allocated
 * no earlier lived longer. Frees that nobody saw are left out: who knows how long those lived.
 */
struct mt_max_lifetime {
    uint32_t site;
    int64_t life, alloc_step;
};

/* A time at which it is known what call paths hold: holdings name it by its number. */
struct mt_moment {
    int64_t t_ns;
    uint16_t device;
    uint8_t kind; /* enum mt_moment_kind */
};
/* The numbers stand in the database. */
enum mt_moment_kind {
    MT_MOMENT_STEP,     /* the end of a step */
    MT_MOMENT_TICK,     /* between two times of a log */
    MT_MOMENT_SNAPSHOT, /* the recorder looked at it then */
};

/* A gradient that is alive at the end of a recording whose gradients stay while optimizers step. */
struct mt_kept_gradient {
    uint16_t device;
    uint32_t node;
    int64_t step; /* index, of its allocation; -1 = before the first */
    int64_t bytes;
};

struct mt_history {
    MT_VEC(struct mt_moment) moments; /* where a reader gives them; else the ends of steps are it */
    struct mt_curve curve;
    MT_VEC(struct mt_live_keyframe) keyframes;
    struct mt_buf live;
    MT_VEC(struct mt_site) sites;
    struct mt_retained holdings; /* of sites by index; sorted */
    MT_VEC(struct mt_max_lifetime) max_lifetime;
    MT_VEC(struct mt_kept_gradient) kept_gradients; /* several may be alike */
};
void mt_history_free(struct mt_history *h);

#endif
