/*
 * categories.h - what blocks of a PyTorch trace are for, and the rules that tell it. A block has
 * one rule for life; docs/categories.md states them. The numbers stand in the database.
 */
#ifndef MT_CATEGORIES_H
#define MT_CATEGORIES_H

#include "lib/model/recording.h"

enum mt_category {
    MT_CATEGORY_NONE, /* the run does not say */
    MT_CATEGORY_PARAMETER,
    MT_CATEGORY_OPTIMIZER_STATE,
    MT_CATEGORY_INPUT,
    MT_CATEGORY_TEMPORARY,
    MT_CATEGORY_ACTIVATION,
    MT_CATEGORY_RECOMPUTED,
    MT_CATEGORY_GRADIENT,
    MT_CATEGORY_AUTOGRAD_DETAIL,
    MT_CATEGORY_UNKNOWN,
    MT_CATEGORY_BEFORE, /* older than the recording: no rule sees it */
    MT_CATEGORY_KEPT,   /* activations that outlive their iterations */
    MT_CATEGORY_N
};

enum mt_category_rule {
    MT_CATEGORY_NO_RULE,
    MT_CATEGORY_R1,
    MT_CATEGORY_R2,
    MT_CATEGORY_R3,
    MT_CATEGORY_R4,
    MT_CATEGORY_R5,
    MT_CATEGORY_R5B,
    MT_CATEGORY_R6,
    MT_CATEGORY_R7,
    MT_CATEGORY_R8,
    MT_CATEGORY_R9,
    MT_CATEGORY_R10,         /* not alive when the next backward pass begins, */
    MT_CATEGORY_R10_GRAPH,   /* alive then: freed in backward, */
    MT_CATEGORY_R10_PROGRAM, /* or not */
    MT_CATEGORY_R11,
    MT_CATEGORY_R12,
    MT_CATEGORY_R10_NO_GRAPH, /* R10 where nothing is left for backward: under no_grad */
    /* by the frames of snapshots (lib/build/by_frames.c) */
    MT_CATEGORY_F1,
    MT_CATEGORY_F2,
    MT_CATEGORY_F3,
    MT_CATEGORY_F4,
    MT_CATEGORY_F5,
    MT_CATEGORY_F6,
    MT_CATEGORY_F7,
    MT_CATEGORY_F8,
    MT_CATEGORY_F9,
    MT_CATEGORY_F10,
    MT_CATEGORY_F10_GRAPH, /* freed by autograd's engine */
    MT_CATEGORY_F11,
    MT_CATEGORY_OLDER, /* no rule: older than the recording, though its call path is known */
    MT_CATEGORY_R12B,  /* as R12, but of an op that left a node for backward */
    MT_CATEGORY_R5C,   /* a bucket of DistributedDataParallel */
    MT_CATEGORY_RULE_N
};

extern const char *const mt_category_names[MT_CATEGORY_N];    /* as reports show them */
extern const uint8_t mt_category_of_rule[MT_CATEGORY_RULE_N]; /* enum mt_category */
/* "R5b": as docs/categories.md and v_alloc.why call them; else as the category is called. */
extern const char *const mt_category_rule_names[MT_CATEGORY_RULE_N];

/* What a block is for that a record allocates or frees: of a built recording. */
static inline enum mt_category mt_rec_category(const struct mt_recording *r,
                                               const struct mt_record *rec)
{
    if (rec->bytes >= 0)
        return (enum mt_category)mt_category_of_rule[rec->rule];
    if (rec->mate != MT_NONE)
        return (enum mt_category)mt_category_of_rule[r->records.v[rec->mate].rule];
    return r->categorized ? MT_CATEGORY_BEFORE : MT_CATEGORY_NONE;
}

#endif
