/*
 * built.h - recordings written down as text, built, and told again as text: for tests of
 * lib/build/build.h with answers worked out by hand.
 *
 * A line of a recording is one of
 *     THREAD op START END NAME         also: annotation, runtime, python, other
 *     THREAD op#SEQ START END NAME     a forward op with its sequence number
 *     THREAD op<SEQ START END NAME     a backward op of that number
 *     THREAD mem TIME BYTES ADDR DEVICE    ADDR is hexadecimal. 0: none; 1 to ff: places far from
 *                                          each other; DEVICE cpu, cuda, cuda1
 *     THREAD oom TIME BYTES DEVICE         an allocation that failed
 *     - marker REGEX                   the step marker to build with
 *     - whole_us                       the times were recorded in whole microseconds
 *     - trace_start TIME               when the recorder says that it began
 * THREAD is a number, of process 1, or PROCESS:NUMBER. Behind a NAME may stand " | SHAPE". Times
 * are nanoseconds. Lines are recorded in their order.
 */
#ifndef MT_TEST_BUILT_H
#define MT_TEST_BUILT_H

#include "lib/build/build.h"
#include "tests/unit/rows.h"

/* Builds the recording; free it in any case. */
enum mt_status built(struct mt_recording *r, const char *text, struct mt_err *err);

/* The op of that number: thread by thread, in order of start. *thread may be NULL. */
const struct mt_op *op_at(const struct mt_recording *r, uint32_t op, uint32_t *thread);

/* What each appends to out, a line each: */
void tell_tree(struct mt_recording *r, struct mt_buf *out);    /* NAME calls time self, indented */
void tell_nodes(struct mt_recording *r, struct mt_buf *out);   /* NAME top scope module phase */
void tell_records(struct mt_recording *r, struct mt_buf *out); /* TIME BYTES in NAME, mate TIME */
void tell_devices(struct mt_recording *r, struct mt_buf *out); /* totals, peak, explicit rows */
void tell_stats(struct mt_recording *r, struct mt_buf *out);   /* NAME DEVICE self | with subtree */
void tell_steps(struct mt_recording *r, struct mt_buf *out);   /* NUMBER START END */
void tell_forward(struct mt_recording *r, struct mt_buf *out); /* NAME <- forward NAME */
void tell_span(struct mt_recording *r, struct mt_buf *out);    /* START END */
void tell_notes(struct mt_recording *r, struct mt_buf *out);   /* KIND COUNT */

/* A row of a test: what `tell` says of `text`, and the notes left (NULL: not compared). */
struct told {
    const char *name, *text, *want, *notes;
};
void check_told(const struct told *row, void (*tell)(struct mt_recording *, struct mt_buf *));

#endif
