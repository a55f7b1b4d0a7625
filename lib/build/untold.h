/*
 * untold.h - what a recording must have had, and no rule of categories found.
 */
#ifndef MT_UNTOLD_H
#define MT_UNTOLD_H

#include "lib/build/gradients.h"

/* Notes that something learns, and no block is a parameter, or none a gradient, or none an
 * optimizer's state though one has it. What is older than the recording is known by then. */
void mt_build_untold(struct mt_recording *r, const struct mt_processes *p,
                     const struct mt_gradients *g);

#endif
