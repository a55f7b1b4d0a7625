#include "lib/render/svg.h"

#include "lib/base/human.h"
#include <stdlib.h>

static const char style[] =
    "text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}\n"
    ".title{font-size:15px;font-weight:600}.dim{fill:#59636e}.r{text-anchor:end}"
    ".m{text-anchor:middle}\n"
    ".mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}.bg{fill:#fff}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9198a1}.bg{fill:#0d1117}}\n";

static long tenths(double v)
{
    return (long)(v < 0 ? v * 10 - 0.5 : v * 10 + 0.5);
}

static void add_tenths(struct mt_buf *out, long v)
{
    mt_buf_addf(out, "%s%ld", v < 0 ? "-" : "", labs(v) / 10);
    if (v % 10)
        mt_buf_addf(out, ".%ld", labs(v) % 10);
}

static void add_attribute(struct mt_buf *out, const char *name, double v)
{
    mt_buf_addf(out, " %s=\"", name);
    add_tenths(out, tenths(v));
    mt_buf_addc(out, '"');
}

static void escape(struct mt_buf *out, const char *s)
{
    struct mt_buf words = {0};
    mt_escape_short(&words, s);
    mt_escape_xml(out, words.s);
    mt_buf_free(&words);
}

static void add_title(struct mt_buf *out, const char *title)
{
    mt_buf_adds(out, "<title>");
    escape(out, title);
    mt_buf_adds(out, "</title>");
}

void mt_svg_begin(struct mt_buf *out, double width, double height, const char *title,
                  const char *css)
{
    mt_buf_adds(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    add_attribute(out, "width", width);
    add_attribute(out, "height", height);
    mt_buf_addf(out, " viewBox=\"0 0 %ld %ld\">\n", tenths(width) / 10, tenths(height) / 10);
    add_title(out, title);
    mt_buf_addf(out, "\n<style>\n%s%s</style>\n", style, css);
    mt_svg_rect(out, "bg", 0, 0, width, height);
}

void mt_svg_end(struct mt_buf *out)
{
    mt_buf_adds(out, "</svg>\n");
}

static void begin_rect(struct mt_buf *out, const char *css_class, double x, double y, double w,
                       double h)
{
    mt_buf_addf(out, "<rect class=\"%s\"", css_class);
    add_attribute(out, "x", x);
    add_attribute(out, "y", y);
    add_attribute(out, "width", w);
    add_attribute(out, "height", h);
}

void mt_svg_rect(struct mt_buf *out, const char *css_class, double x, double y, double w, double h)
{
    begin_rect(out, css_class, x, y, w, h);
    mt_buf_adds(out, "/>\n");
}

void mt_svg_box(struct mt_buf *out, const char *css_class, double x, double y, double w, double h,
                const char *title)
{
    begin_rect(out, css_class, x, y, w, h);
    mt_buf_addc(out, '>');
    add_title(out, title);
    mt_buf_adds(out, "</rect>\n");
}

void mt_svg_line(struct mt_buf *out, const char *css_class, double x1, double y1, double x2,
                 double y2)
{
    mt_buf_addf(out, "<line class=\"%s\"", css_class);
    add_attribute(out, "x1", x1);
    add_attribute(out, "y1", y1);
    add_attribute(out, "x2", x2);
    add_attribute(out, "y2", y2);
    mt_buf_adds(out, "/>\n");
}

void mt_svg_circle(struct mt_buf *out, const char *css_class, double x, double y, double r)
{
    mt_buf_addf(out, "<circle class=\"%s\"", css_class);
    add_attribute(out, "cx", x);
    add_attribute(out, "cy", y);
    add_attribute(out, "r", r);
    mt_buf_adds(out, "/>\n");
}

void mt_svg_text(struct mt_buf *out, const char *css_class, double x, double y, const char *s)
{
    mt_buf_addf(out, "<text class=\"%s\"", css_class);
    add_attribute(out, "x", x);
    add_attribute(out, "y", y);
    mt_buf_addc(out, '>');
    escape(out, s);
    mt_buf_adds(out, "</text>\n");
}

void mt_svg_path_begin(struct mt_svg_path *p, struct mt_buf *out, const char *css_class)
{
    *p = (struct mt_svg_path){.out = out};
    mt_buf_addf(out, "<path class=\"%s\" d=\"", css_class);
}

void mt_svg_path_move(struct mt_svg_path *p, double x, double y)
{
    p->x = p->end_x = tenths(x);
    p->y = tenths(y);
    mt_buf_addc(p->out, 'M');
    add_tenths(p->out, p->x);
    mt_buf_addc(p->out, ' ');
    add_tenths(p->out, p->y);
}

static void draw_to_end_x(struct mt_svg_path *p)
{
    if (p->end_x == p->x)
        return;
    mt_buf_addc(p->out, 'H');
    add_tenths(p->out, p->x = p->end_x);
}

void mt_svg_path_to_y(struct mt_svg_path *p, double y)
{
    if (tenths(y) == p->y)
        return;
    draw_to_end_x(p);
    mt_buf_addc(p->out, 'V');
    add_tenths(p->out, p->y = tenths(y));
}

void mt_svg_path_to_x(struct mt_svg_path *p, double x)
{
    p->end_x = tenths(x);
}

void mt_svg_path_end(struct mt_svg_path *p, bool closed, const char *title)
{
    draw_to_end_x(p);
    mt_buf_adds(p->out, closed ? "Z\"" : "\"");
    if (title) {
        mt_buf_addc(p->out, '>');
        add_title(p->out, title);
        mt_buf_adds(p->out, "</path>\n");
    } else
        mt_buf_adds(p->out, "/>\n");
}
