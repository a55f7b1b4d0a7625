/* Runs side by side as a picture of its own. */
#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/render/svg.h"
#include <string.h>

enum {
    LEFT = 20,
    TOP = 64,
    WIDTH = 900,
    HEIGHT = 240, /* of the highest column */
    BOTTOM = 40,
    COLUMN_W = 60, /* with the gap behind it, at most */
    LABEL_W = 90,  /* names of runs are so far apart at least */
    NAME_W = 14    /* columns of a name */
};

static const char style[] =
    ".bar{fill:#0969da}.mark{fill:#bc4c00}.none{fill:none;stroke:#818b98;stroke-dasharray:2 2}\n"
    ".level{stroke:#1f2328;stroke-dasharray:5 3}.axis{stroke:#59636e}\n"
    "@media(prefers-color-scheme:dark){.bar{fill:#4493f8}.mark{fill:#f0883e}"
    ".level{stroke:#e6edf3}.axis{stroke:#9198a1}}\n";

struct picture {
    const struct mt_page_columns *c;
    struct mt_buf *out;
    size_t as_one, n; /* columns drawn as one; those that are drawn */
    double w;
    int64_t most;
};

static double y_of(const struct picture *p, int64_t bytes)
{
    return bytes > 0 ? TOP + HEIGHT - (double)bytes / (double)p->most * HEIGHT : TOP + HEIGHT;
}

/* The highest of those that are drawn as one; one that is marked goes before. */
static const struct mt_page_bar *bar_at(const struct picture *p, size_t at)
{
    const struct mt_page_bar *best = NULL;
    for (size_t i = at * p->as_one; i < (at + 1) * p->as_one && i < p->c->all.n; i++) {
        const struct mt_page_bar *b = &p->c->all.v[i];
        if (!best || (b->marked != best->marked ? b->marked : b->bytes > best->bytes))
            best = b;
    }
    return best;
}

static void add_bar(const struct picture *p, size_t at, size_t labels)
{
    const struct mt_page_bar *b = bar_at(p, at);
    const double x = LEFT + p->w * (double)at, w = p->w > 3 ? p->w - 2 : p->w;
    const double y = b->bytes == MT_UNKNOWN ? TOP : y_of(p, b->bytes);
    char size[MT_HUMAN_LONG];
    struct mt_buf words = {0}, safe = {0}, cut = {0};
    mt_buf_addf(&words, "%s: %s", b->name,
                b->bytes == MT_UNKNOWN ? "unknown" : mt_human_with_exact(b->bytes, size));
    mt_svg_box(p->out,
               b->bytes == MT_UNKNOWN ? "none"
               : b->marked            ? "mark"
                                      : "bar",
               x, y, w, TOP + HEIGHT - y, words.s);
    if (at % labels == 0) {
        mt_escape_terminal(&safe, b->label);
        mt_cut_middle(&cut, safe.s, NAME_W, false);
        mt_svg_text(p->out, "dim", x, TOP + HEIGHT + 18, cut.s);
    }
    mt_buf_free(&words);
    mt_buf_free(&safe);
    mt_buf_free(&cut);
}

static void add_levels(const struct picture *p)
{
    const double w = p->w * (double)p->n;
    for (size_t i = 0; i < MT_ARRAY_LEN(p->c->lines); i++) {
        const double y = y_of(p, p->c->lines[i].bytes);
        if (p->c->lines[i].bytes == MT_UNKNOWN)
            continue;
        mt_svg_line(p->out, "level", LEFT + w * p->c->lines[i].from, y,
                    LEFT + w * p->c->lines[i].to, y);
        mt_svg_text(p->out, "dim", LEFT + w * p->c->lines[i].from, y - 5, p->c->lines[i].words);
    }
}

void mt_page_columns_svg(const struct mt_page_columns *c, const char *title, struct mt_buf *out)
{
    struct picture p = {.c = c, .out = out, .most = 1};
    struct mt_buf safe = {0};
    p.as_one = (c->all.n + WIDTH - 1) / WIDTH;
    p.as_one += p.as_one == 0;
    p.n = (c->all.n + p.as_one - 1) / p.as_one;
    p.w = p.n * COLUMN_W > WIDTH ? (double)WIDTH / (double)p.n : COLUMN_W;
    for (size_t i = 0; i < c->all.n; i++)
        p.most = c->all.v[i].bytes > p.most ? c->all.v[i].bytes : p.most;
    mt_escape_terminal(&safe, title);
    mt_svg_begin(out, LEFT + WIDTH + 20, TOP + HEIGHT + BOTTOM, safe.s, style);
    mt_svg_text(out, "title", LEFT, 26, safe.s);
    mt_svg_text(out, "dim", LEFT, 46, c->caption);
    for (size_t i = 0; i < p.n; i++)
        add_bar(&p, i, (size_t)(LABEL_W / p.w) + 1);
    add_levels(&p);
    mt_svg_line(out, "axis", LEFT, TOP + HEIGHT, LEFT + p.w * (double)p.n, TOP + HEIGHT);
    mt_svg_end(out);
    mt_buf_free(&safe);
}
