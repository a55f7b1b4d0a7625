/*
 * finder.h - what the rules of categories ask (docs/categories.md), of one process: shared by
 * categories.c, which goes through them, and category_model.c, which finds the model.
 */
#ifndef MT_FINDER_H
#define MT_FINDER_H

#include "lib/build/above.h"
#include "lib/build/assigned.h"
#include "lib/build/gradients.h"
#include "lib/build/places.h"
#include "lib/build/processes.h"
#include "lib/build/rounds.h"
#include "lib/build/trainings.h"

/* Of one process. */
struct mt_finder {
    struct mt_recording *r;
    struct mt_backwards backwards;
    const uint32_t *records; /* its own, by device */
    size_t record_n;
    struct mt_place *places;
    const struct mt_map *assigned; /* ops: mt_assigned_find */
    struct mt_round_list rounds;
    struct mt_trainings trainings;
    bool reduces; /* DistributedDataParallel is at work */
    bool sharded; /* gradients are not as large as what learns, and building leaves nodes, too */
    struct mt_above leaf, step, graph; /* ops around one: as in places.h; that left a node for
                                          backward */
};

/* A block: where and how long it lived. */
struct mt_life {
    const struct mt_record *alloc;
    const struct mt_place *place, *freed; /* NULL: outside ops, or not freed */
    int64_t born_ns, died_ns;             /* INT64_MAX: never */
};

/* Whether a record begins a block that has a category. */
static inline bool mt_has_category(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->bytes >= 0 && !r->devices.v[rec->device].no_addresses;
}

struct mt_life mt_life_of(const struct mt_finder *f, const struct mt_record *rec);
/* Whether torch.tensor makes it of a list of numbers. */
bool mt_is_of_numbers(const struct mt_finder *f, const struct mt_record *rec);

/* Whether a block is there before the first step of an optimizer and after the last one of its
 * training. */
bool mt_spans_steps(const struct mt_training *t, const struct mt_life *l);
/* Whether an op around it, or the one itself, left a node for backward. */
bool mt_is_of_graph(struct mt_finder *f, const struct mt_record *rec);
/* Made as the building of a model does it. That may compute, too - scales, tables of positions -
 * but no graph: until one begins, what was made empty for nn.init to fill is a layer's. */
bool mt_is_of_building(const struct mt_finder *f, const struct mt_life *l);

/* R2 and R7, of blocks that no rule has taken yet: which are a model's parameters, and which the
 * state of an optimizer that its steps do not make. */
void mt_find_model(struct mt_finder *f, const struct mt_processes *p, uint32_t process);

#endif
