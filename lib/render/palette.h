/*
 * palette.h - the colours of pictures: as many as can be told apart, on white and on black.
 */
#ifndef MT_PALETTE_H
#define MT_PALETTE_H

#include "lib/base/mem.h"

#define MT_PALETTE_N 40

/* Appends CSS rules that fill the classes b0, b1, ... with the first n colours (<= MT_PALETTE_N),
 * no two alike, and those of what is summed up: "rest", a grey that none of them is, and "older", a
 * paler one. */
void mt_palette_css(struct mt_buf *out, size_t n);

#endif
