/*
 * by_frames.h - what each block of an allocator's snapshot is for, as far as the functions on its
 * call path tell: a module's forward, autograd's engine, an optimizer, the building of a model. No
 * snapshot says when an operator begins and ends, so this is less sure than what categories.c tells
 * of traces. docs/categories.md has the rules F1 to F11.
 */
#ifndef MT_BY_FRAMES_H
#define MT_BY_FRAMES_H

#include "lib/model/recording.h"

/* Gives each allocation a rule; nothing where no call path tells anything. The recording is a
 * snapshot whose records are paired. */
void mt_build_by_frames(struct mt_recording *r);

#endif
