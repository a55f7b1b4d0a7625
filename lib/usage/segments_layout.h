/*
 * segments_layout.h - where the segments of an allocator stand in a picture of limited height.
 */
#ifndef MT_SEGMENTS_LAYOUT_H
#define MT_SEGMENTS_LAYOUT_H

#include "lib/usage/segments.h"

#define MT_SEG_SECTIONS_MAX 8
#define MT_SEG_BARS_MAX     3000
#define MT_SEG_BAR_MIN      2 /* pixels: no segment is narrower */
#define MT_SEG_BAR_GAP      1 /* pixels between two of them */
#define MT_SEG_LINES_MIN    32

struct mt_seg_bar {
    uint32_t seg; /* number in s->all */
    uint32_t section;
    uint32_t line;   /* from the top, 0 is the first */
    double x, width; /* pixels from the left end of the line */
};

/* Segments of one pool and stream: they share no memory with others. */
struct mt_seg_section {
    uint32_t pool; /* string */
    int64_t stream;
    bool mixed; /* the last one: all pools and streams that have no section of their own */
    int64_t segments_n, size_b, used_b;
};

struct mt_seg_layout {
    MT_VEC(struct mt_seg_bar) bars; /* from the top left, line by line */
    MT_VEC(struct mt_seg_section) sections;
    size_t lines;
    bool packed;                         /* several segments stand in one line */
    int64_t left_n, left_b, left_used_b; /* the smallest, which are not shown */
};

/*
 * Sections with most bytes first, in them segments in order of address; each in a line of its own
 * where there are lines enough, else side by side. Of several sections each has a heading in the
 * line above its first segment. Width is size, on one scale for all: the largest
 * that gets along with `lines` lines of `width` pixels. What is too many to be told apart even then
 * is left out, the smallest segments first. lines >= MT_SEG_LINES_MIN. Zeroed *out is fine to free.
 */
void mt_seg_layout(const struct mt_segments *s, double width, size_t lines,
                   struct mt_seg_layout *out);
void mt_seg_layout_free(struct mt_seg_layout *l);

#endif
