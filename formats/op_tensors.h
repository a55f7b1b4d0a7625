/*
 * op_tensors.h - which tensors an op makes, from what it was called with: docs/tensors.md. Only of
 * ops whose inputs determine it, and only what they allocate themselves.
 */
#ifndef MT_OP_TENSORS_H
#define MT_OP_TENSORS_H

#include "formats/op_inputs.h"
#include "lib/model/recording.h"

/* How the tensors of an op follow from its inputs; 0: they do not, or nobody knows how. */
unsigned mt_op_rule(const char *name);

/* Adds to `made` of the recording what such an op may allocate. Two tensors of as many bytes that
 * differ are left out: nothing tells which it is. */
void mt_op_tensors(unsigned rule, const struct mt_op_inputs *in, struct mt_recording *rec);

#endif
