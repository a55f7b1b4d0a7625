/*
 * svg.h - a small SVG writer. Coordinates are pixels, written to a tenth; classes are the caller's
 * CSS, but for those every picture has: title, dim, mono, r (ends at x), m (its middle is at x), bg
 * (the ground). Text is any bytes: it is escaped, and what XML cannot hold is shown as \xNN.
 */
#ifndef MT_SVG_H
#define MT_SVG_H

#include "lib/base/mem.h"
#include <stdbool.h>

/* Begins a document with a background (class "bg"), a title for tooltips and screen readers, and a
 * style sheet, which is written as it is. Light and dark are the reader's choice. */
void mt_svg_begin(struct mt_buf *out, double width, double height, const char *title,
                  const char *css);
void mt_svg_end(struct mt_buf *out);

void mt_svg_rect(struct mt_buf *out, const char *css_class, double x, double y, double w, double h);
/* With a tooltip. */
void mt_svg_box(struct mt_buf *out, const char *css_class, double x, double y, double w, double h,
                const char *title);
void mt_svg_line(struct mt_buf *out, const char *css_class, double x1, double y1, double x2,
                 double y2);
void mt_svg_circle(struct mt_buf *out, const char *css_class, double x, double y, double r);
/* x, y: left end of the baseline, unless the class has another text-anchor. */
void mt_svg_text(struct mt_buf *out, const char *css_class, double x, double y, const char *s);

/* A path of horizontal and vertical strokes: of a curve that jumps. Strokes shorter than a tenth
 * of a pixel are left out, and those in one line drawn as one. */
struct mt_svg_path {
    struct mt_buf *out;
    long x, y, end_x; /* tenths: where the pen is; how far to the right it shall be */
};
void mt_svg_path_begin(struct mt_svg_path *p, struct mt_buf *out, const char *css_class);
void mt_svg_path_move(struct mt_svg_path *p, double x, double y);
void mt_svg_path_to_y(struct mt_svg_path *p, double y); /* straight up or down */
void mt_svg_path_to_x(struct mt_svg_path *p, double x); /* then straight on */
/* title: of its tooltip, NULL = none; closed: back to where it began. */
void mt_svg_path_end(struct mt_svg_path *p, bool closed, const char *title);

#endif
