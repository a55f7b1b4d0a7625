/*
 * axis.h - round ticks for axes of bytes and of time, and their labels.
 */
#ifndef MT_AXIS_H
#define MT_AXIS_H

#include "lib/base/human.h"

/* Ticks are first, first + step, ... up to `to`. */
struct mt_axis {
    int64_t from, to, first, step;
    const char *unit; /* of an axis of time that counts something else; NULL: ns */
};

/* At most `most` ticks (>= 2) within from..to. Steps of bytes are powers of two (512 KiB, 1 MiB),
 * those of time 1, 2 or 5 times a power of ten. Axes end at 2^61 at the latest. */
struct mt_axis mt_axis_bytes(int64_t from, int64_t to, int most);
struct mt_axis mt_axis_ns(int64_t from, int64_t to, int most);

/* "1.25 GiB"; "120 ms", "12.3456 s": as many decimals as the step needs, so that labels differ. */
const char *mt_axis_label_bytes(int64_t bytes, char out[MT_HUMAN_MAX]);
const char *mt_axis_label_ns(const struct mt_axis *a, int64_t ns, char out[MT_HUMAN_MAX]);

/* Where v lies between from and to: 0 .. size, linear; what is outside is put on the edge. */
double mt_axis_place(const struct mt_axis *a, int64_t v, double size);

#endif
