/* The change from the base's peak to the new one, as a bridge of what `diff --section peak` says.
 */
#include "cmd/report.h"

#include "lib/page/page.h"
#include "lib/render/columns.h"
#include <string.h>

struct taking {
    struct mt_buf *out;
    bool drawn;
};

/* What the row is about: all its texts but the section and how it was matched. */
static const char *name_of(struct mt_report *texts, const struct mt_report *r, size_t row)
{
    struct mt_buf name = {0};
    for (size_t c = 0; c < r->columns.n; c++) {
        const struct mt_cell *cell = &r->rows.v[row].cells[c];
        const char *column = r->columns.v[c].name;
        if (cell->kind == MT_CELL_TEXT && *cell->s && strcmp(column, "section") != 0 &&
            strcmp(column, "match") != 0)
            mt_buf_addf(&name, "%s%s", name.n ? " in " : "", cell->s);
    }
    const char *kept = mt_report_text(texts, name.n ? name.s : "-");
    mt_buf_free(&name);
    return kept;
}

static void take(void *closure, const struct mt_report *r)
{
    struct taking *t = closure;
    struct mt_report texts;
    struct mt_page_bridge bridge = {.base = r->runs[0].name ? mt_page_short(r->runs[0].name) : NULL,
                                    .new = r->runs[1].name ? mt_page_short(r->runs[1].name) : NULL,
                                    .base_b = mt_page_total_of(r, "base_peak_b"),
                                    .new_b = mt_page_total_of(r, "new_peak_b")};
    bool known = bridge.base_b >= 0 && bridge.new_b >= 0 && r->rows.n;
    mt_report_init(&texts, "memtool.diff", 1);
    for (size_t i = 0; i < r->rows.n && known; i++) {
        int at = mt_report_find_column(r, "at_peak_delta_b");
        known = at >= 0 && r->rows.v[i].cells[at].kind == MT_CELL_INT;
        if (known)
            *mt_vec_push(&bridge.all) =
                (struct mt_page_change){name_of(&texts, r, i), r->rows.v[i].cells[at].i, i};
    }
    t->drawn = known && mt_page_bridge_html(&bridge, t->out);
    mt_vec_free(&bridge.all);
    mt_report_free(&texts);
}

/* Nothing where it cannot be told: the report of the change says why. */
static void add_bridge(struct mt_page_made *p, const char *label, const char *line,
                       struct mt_buf *out)
{
    struct mt_buf html = {0};
    struct taking t = {&html, false};
    const struct mt_taker to = {take, NULL, &t};
    const char *refs[] = {p->base, p->ref}, *device = mt_page_device_for(p, true);
    const struct mt_args args = {refs, 2};
    struct mt_err err = MT_ERR_INIT;
    int code = 0;
    char *whole =
        mt_asprintf("%s --format=csv%s%s", line, device ? " --device=" : "", device ? device : "");
    if (mt_capture(whole, &args, &to, &code, &err) == MT_OK && t.drawn) {
        mt_buf_addf(out, "<div class=\"tab\" data-label=\"%s\">\n%s", label, html.s);
        mt_page_prompt(p, line, true, out);
        mt_buf_adds(out, "</div>\n");
    }
    mt_buf_free(&html);
    free(whole);
}

void mt_page_add_bridges(struct mt_page_made *p, struct mt_buf *out)
{
    if (p->not_compared)
        return;
    add_bridge(p, "By site", "diff --section=peak", out);
    add_bridge(p, "By category", "diff --section=peak --by=category", out);
}
