/*
 * op_args.h - what ops were called with (op_inputs.h) as the recording keeps it: once for all that
 * were called alike.
 */
#ifndef MT_OP_ARGS_H
#define MT_OP_ARGS_H

#include "formats/pytorch_event.h"
#include "lib/base/map.h"
#include "lib/model/recording.h"

/* Zero-initialise. */
struct mt_op_args_reader {
    struct mt_map known;     /* hash of all that counts -> index in args */
    MT_VEC(uint8_t) rule_of; /* string of the name -> its rule and 1 more, 0: not asked for yet */
    uint64_t seed;
};
void mt_op_args_free(struct mt_op_args_reader *a);
uint64_t mt_op_args_bytes(const struct mt_op_args_reader *a); /* memory in use, about */

/* The index in args of the recording of an event with "Input Dims". name: its string. */
uint32_t mt_op_args_of(struct mt_op_args_reader *a, struct mt_recording *rec, uint32_t name,
                       const struct mt_event *ev);

#endif
