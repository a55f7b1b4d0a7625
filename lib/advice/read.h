/*
 * read.h - what facts have of the database as it is: ops and blocks.
 */
#ifndef MT_ADVICE_READ_H
#define MT_ADVICE_READ_H

#include "lib/advice/facts.h"

/* Fills ops, blocks and records of facts that have a run, a device and a tree, and splits them by
 * process (processes.h). Errors: MT_EDB. */
enum mt_status mt_advice_read(struct mt_allocations *blocks, struct mt_advice_facts *f,
                              struct mt_err *err);

#endif
