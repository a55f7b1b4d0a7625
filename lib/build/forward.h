/*
 * forward.h - which forward op a backward op belongs to, by PyTorch's sequence numbers.
 */
#ifndef MT_FORWARD_H
#define MT_FORWARD_H

#include "lib/model/recording.h"

struct mt_forward_ops;

/* The last forward op of each sequence number of each process. The ops of threads are in order of
 * start, op_base is set, and seq is still there. Freed with mt_forward_ops_free. */
struct mt_forward_ops *mt_forward_ops_find(const struct mt_recording *r);
void mt_forward_ops_free(struct mt_forward_ops *f);

enum { MT_FORWARD_AMBIGUOUS = MT_NONE - 1 }; /* the number was used on several threads */

/* Number of the forward op of a backward op, MT_NONE = none; or MT_FORWARD_AMBIGUOUS. */
uint32_t mt_forward_op(const struct mt_forward_ops *f, uint32_t process, int32_t seq);

#endif
