/* Advice as cards: of each row of `advise` what to change, what it saves and costs, where, and how
 * to check it. */
#include "cmd/report.h"

#include "lib/input/json_doc.h"
#include "lib/page/page.h"
#include <string.h>

/* What stands before a figure. */
static const struct {
    const char *bound, *saving, *peak;
} bounds[] = {{"about", "about ", "about "}, {"up_to", "up to ", "at least "}, {"", "", ""}};

static size_t bound_of(const struct mt_report *r, size_t row)
{
    size_t i = 0;
    while (*bounds[i].bound && strcmp(bounds[i].bound, mt_page_text_at(r, row, "bound")) != 0)
        i++;
    return i;
}

char *mt_page_advice_what(const struct mt_report *r, size_t row)
{
    const char *evidence = mt_page_text_at(r, row, "evidence"); /* "keep the model in ...: ..." */
    return *evidence ? mt_strndup(evidence, strcspn(evidence, ":"))
                     : mt_strdup(mt_page_text_at(r, row, "advice"));
}

/* A figure in words, with the exact one beside it. */
static void add_figure(struct mt_buf *out, const char *tag, const char *column, int64_t bytes,
                       const char *before)
{
    char size[MT_HUMAN_MAX], exact[MT_HUMAN_MAX];
    mt_buf_addf(out, "<%s class=\"c-%s\" data-v=\"%lld\" title=\"%s B\">%s%s</%s>", tag, column,
                (long long)bytes, mt_human_count(bytes, exact), before, mt_human_bytes(bytes, size),
                tag);
}

/* The saving, and the new peak as a bar within today's. */
static void add_saving(const struct mt_report *r, size_t row, struct mt_buf *out)
{
    const size_t bound = bound_of(r, row);
    const int64_t saving = mt_page_int_at(r, row, "saving_b");
    const int64_t peak = mt_page_int_at(r, row, "peak_b");
    const int64_t new = mt_page_int_at(r, row, "new_peak_b");
    const char *phase = mt_page_text_at(r, row, "new_peak_phase");
    char share[MT_HUMAN_MAX];
    mt_buf_adds(out, "<p class=\"saving\">");
    add_figure(out, "b", "saving_b", saving, bounds[bound].saving);
    mt_buf_adds(out, " less <span>");
    mt_page_text(out, mt_page_share(saving, peak, share));
    mt_buf_addf(out,
                "</span></p>\n<div class=\"rests\" aria-hidden=\"true\"><i style=\"width:%.1f%%\">"
                "</i></div>\n<p class=\"then\">the peak becomes ",
                peak > 0 && new > 0 ? 100 * (double)new / (double)peak : 0);
    add_figure(out, "b", "new_peak_b", new, bounds[bound].peak);
    mt_buf_adds(out, " of ");
    add_figure(out, "span", "peak_b", peak, "");
    if (*phase && strcmp(phase, "other") != 0) {
        mt_buf_adds(out, ", in ");
        mt_page_text(out, phase);
    }
    mt_buf_adds(out, "</p>\n");
}

static const char *text_of(const struct mt_json_doc *d, const struct mt_json_doc_value *site,
                           const char *key)
{
    const struct mt_json_doc_value *v = mt_json_doc_get(d, site, key);
    return v && v->text && strcmp(v->text, "null") != 0 ? v->text : "";
}

/* "train.py:12 step · aten::relu in forward, module Net.Block · 8 MiB". */
static void add_site(const struct mt_json_doc *d, const struct mt_json_doc_value *site,
                     struct mt_buf *out)
{
    const char *source = text_of(d, site, "source"), *scope = text_of(d, site, "scope");
    const char *module = text_of(d, site, "module");
    mt_buf_adds(out, "<li>");
    if (*source) {
        mt_buf_adds(out, "<code class=\"line\">");
        mt_page_text(out, source);
        mt_buf_adds(out, "</code> ");
    }
    mt_buf_adds(out, "<code>");
    mt_page_text(out, text_of(d, site, "name"));
    mt_buf_adds(out, "</code>");
    if (*scope) {
        mt_buf_adds(out, " in ");
        mt_page_text(out, scope);
    }
    if (*module) {
        mt_buf_adds(out, ", module ");
        mt_page_text(out, module);
    }
    mt_buf_adds(out, ": ");
    add_figure(out, "b", "at_peak_b", strtoll(text_of(d, site, "at_peak_b"), NULL, 10), "");
    mt_buf_adds(out, "</li>");
}

/* Where what is saved was allocated, the largest places first. */
static void add_sites(const struct mt_report *r, size_t row, struct mt_buf *out)
{
    enum { SHOWN = 4 };
    const int at = mt_report_find_column(r, "sites");
    const struct mt_cell *cell = &r->rows.v[row].cells[at];
    struct mt_json_doc d = {0};
    struct mt_err err = MT_ERR_INIT;
    size_t n = 0;
    char more[MT_HUMAN_LONG];
    if (at < 0 || cell->kind != MT_CELL_JSON ||
        mt_json_doc_parse("sites", cell->s, strlen(cell->s), &d, &err) != MT_OK) {
        mt_json_doc_free(&d);
        return;
    }
    for (const struct mt_json_doc_value *v = mt_json_doc_first(&d, mt_json_doc_root(&d)); v;
         v = mt_json_doc_next(&d, v), n++) {
        if (!n)
            mt_buf_adds(out, "<dt>Where</dt><dd><ul class=\"c-sites\">");
        if (n < SHOWN)
            add_site(&d, v, out);
    }
    if (n > SHOWN)
        mt_buf_addf(out, "<li>%s</li>", mt_human_plural((int64_t)n - SHOWN, "more place", more));
    if (n)
        mt_buf_adds(out, "</ul></dd>\n");
    mt_json_doc_free(&d);
}

static void add_words(const char *term, const char *column, const char *words, struct mt_buf *out)
{
    const bool code = strcmp(column, "how") == 0;
    if (!*words)
        return;
    mt_buf_addf(out, "<dt>%s</dt><dd class=\"c-%s\">%s", term, column, code ? "<code>" : "");
    mt_page_text(out, words);
    mt_buf_addf(out, "%s</dd>\n", code ? "</code>" : "");
}

static void add_price(const struct mt_report *r, size_t row, struct mt_buf *out)
{
    const int64_t ns = mt_page_int_at(r, row, "price_ns");
    const char *price = mt_page_text_at(r, row, "price");
    char time[MT_HUMAN_MAX];
    if (!*price && ns == MT_UNKNOWN)
        return;
    mt_buf_adds(out, "<dt>Price</dt><dd class=\"c-price\">");
    mt_page_text(out, price);
    if (ns != MT_UNKNOWN)
        mt_buf_addf(out, "%s<span class=\"c-price_ns\" data-v=\"%lld\">%s a step</span>",
                    *price ? ", " : "", (long long)ns, mt_human_ns(ns, time));
    mt_buf_adds(out, "</dd>\n");
}

static void add_card(const struct mt_report *r, size_t row, struct mt_buf *out)
{
    char *what = mt_page_advice_what(r, row);
    mt_buf_adds(out, "<article class=\"card\" data-advice=\"");
    mt_page_text(out, mt_page_text_at(r, row, "advice"));
    mt_buf_adds(out, "\"><h3>");
    mt_page_text(out, what);
    mt_buf_adds(out, "</h3>\n");
    add_saving(r, row, out);
    mt_buf_adds(out, "<dl>");
    add_words("Found", "because", mt_page_text_at(r, row, "because"), out);
    add_sites(r, row, out);
    add_words("Write", "how", mt_page_text_at(r, row, "how"), out);
    add_price(r, row, out);
    mt_buf_adds(out, "<dt>Check it</dt><dd class=\"c-verify\"><code>");
    mt_page_text(out, mt_page_text_at(r, row, "verify"));
    mt_buf_adds(out, "</code> <button type=\"button\" class=\"copy\">Copy</button></dd></dl>"
                     "</article>\n");
    free(what);
}

void mt_page_advice(const struct mt_report *r, struct mt_buf *out)
{
    mt_buf_adds(out, "<div class=\"cards\">\n");
    for (size_t i = 0; i < r->rows.n; i++)
        add_card(r, i, out);
    mt_buf_adds(out, "</div>\n");
}
