/*
 * assigned.h - ops whose result becomes a parameter, as what a program asks next tells: it takes
 * the place of a tensor's data (`p.data = p.data * 2`, model.to(dtype)), or is detached, as
 * nn.Parameter does.
 */
#ifndef MT_ASSIGNED_H
#define MT_ASSIGNED_H

#include "lib/model/recording.h"

enum mt_assigned { MT_ASSIGNED_DATA, MT_ASSIGNED_DETACHED };

/* Fills the empty map with the numbers of such ops, the outermost ones. Of a recording that has
 * been built up to its ops. */
void mt_assigned_find(const struct mt_recording *r, struct mt_map *ops);

/* Whether an op is one of them, or lies in one: enum mt_assigned; MT_MAP_NONE: it is not. */
uint32_t mt_assigned_by(const struct mt_thread *t, const struct mt_map *ops, uint32_t op);

/* The same of the op that a block was made in. */
uint32_t mt_assigned_to(const struct mt_recording *r, const struct mt_map *ops,
                        const struct mt_record *rec);

#endif
