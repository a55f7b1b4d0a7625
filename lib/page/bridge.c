/* From one peak to another: a bar for each change, which begins where the one above ended. */
#include "lib/page/page.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include <stdio.h>

enum { SHOWN = 14 };

/* The span of all levels that are passed. */
struct axis {
    int64_t least, most;
};

static int by_size(const void *a, const void *b)
{
    const struct mt_page_change *x = a, *y = b;
    const double p = x->bytes < 0 ? -(double)x->bytes : (double)x->bytes;
    const double q = y->bytes < 0 ? -(double)y->bytes : (double)y->bytes;
    return p < q ? 1 : p > q ? -1 : x->at < y->at ? -1 : x->at > y->at;
}

/* The largest changes, what is left in one; what did not change goes. Returns how many are in it.
 */
static size_t fold(struct mt_page_bridge *b)
{
    size_t n = 0, folded = 0;
    for (size_t i = 0; i < b->all.n; i++)
        if (b->all.v[i].bytes)
            b->all.v[n++] = b->all.v[i];
    b->all.n = n;
    if (n)
        qsort(b->all.v, n, sizeof *b->all.v, by_size);
    for (size_t i = SHOWN + 1; i < n; i++, folded++)
        b->all.v[SHOWN].bytes = mt_wrap_add(b->all.v[SHOWN].bytes, b->all.v[i].bytes);
    b->all.n = folded ? SHOWN + 1 : n;
    return folded ? folded + 1 : 0;
}

static struct axis axis_of(const struct mt_page_bridge *b)
{
    struct axis a = {b->base_b, b->base_b};
    int64_t level = b->base_b;
    for (size_t i = 0; i < b->all.n; i++) {
        level = mt_wrap_add(level, b->all.v[i].bytes);
        a.least = level < a.least ? level : a.least;
        a.most = level > a.most ? level : a.most;
    }
    return a;
}

static double place(const struct axis *a, int64_t level)
{
    const double span = (double)a->most - (double)a->least;
    return span > 0 ? 100 * ((double)level - (double)a->least) / span : 0;
}

static void add_mark(const struct axis *a, const char *name, int64_t level, struct mt_buf *out)
{
    char size[MT_HUMAN_MAX], exact[MT_HUMAN_MAX];
    mt_buf_adds(out, "<tr class=\"peak\"><th scope=\"row\">");
    mt_page_text(out, name);
    mt_buf_addf(out,
                "</th><td class=\"way\"><i class=\"mark\" style=\"left:%.2f%%\"></i></td>"
                "<td class=\"n c-bridge_peak_b\" data-v=\"%lld\" title=\"%s B\">%s</td></tr>\n",
                place(a, level), (long long)level, mt_human_count(level, exact),
                mt_human_bytes(level, size));
}

static void add_change(const struct axis *a, const char *name, int64_t from, int64_t change,
                       struct mt_buf *out)
{
    const int64_t to = mt_wrap_add(from, change);
    const double left = place(a, change < 0 ? to : from), right = place(a, change < 0 ? from : to);
    char size[MT_HUMAN_MAX], exact[MT_HUMAN_MAX];
    const char *kind = change < 0 ? "less" : "more", *sign = change > 0 ? "+" : "";
    mt_buf_adds(out, "<tr><th scope=\"row\">");
    mt_page_text(out, name);
    mt_buf_addf(
        out,
        "</th><td class=\"way\"><i class=\"%s\" style=\"left:%.2f%%;width:%.2f%%\"></i></td>"
        "<td class=\"n c-bridge_b %s\" data-v=\"%lld\" title=\"%s%s B\">%s %s%s</td></tr>\n",
        kind, left, right - left, kind, (long long)change, sign, mt_human_count(change, exact),
        change < 0 ? "\u25bc" : "\u25b2", sign, mt_human_bytes(change, size));
}

bool mt_page_bridge_html(struct mt_page_bridge *b, struct mt_buf *out)
{
    char size[MT_HUMAN_MAX], exact[MT_HUMAN_MAX], more[MT_HUMAN_LONG], words[MT_HUMAN_LONG + 16];
    int64_t level = b->base_b;
    const size_t folded = fold(b);
    const struct axis a = axis_of(b);
    const int64_t change = mt_wrap_sub(b->new_b, b->base_b);
    for (size_t i = 0; i < b->all.n; i++)
        level = mt_wrap_add(level, b->all.v[i].bytes);
    if (level != b->new_b)
        return false;
    mt_buf_adds(out, "<div class=\"bridge\"><table><caption>From the peak of ");
    mt_page_text(out, b->base);
    mt_buf_adds(out, " to that of ");
    mt_page_text(out, b->new);
    mt_buf_adds(out, "</caption>\n<tbody>\n");
    add_mark(&a, b->base, b->base_b, out);
    level = b->base_b;
    for (size_t i = 0; i < b->all.n; i++) {
        const bool rest = folded && i + 1 == b->all.n;
        snprintf(words, sizeof words, "[%s]",
                 mt_human_plural((int64_t)folded, "smaller change", more));
        add_change(&a, rest ? words : b->all.v[i].name, level, b->all.v[i].bytes, out);
        level = mt_wrap_add(level, b->all.v[i].bytes);
    }
    add_mark(&a, b->new, b->new_b, out);
    mt_buf_addf(out, "</tbody></table></div>\n<p class=\"foot\">= %s%s (%s%s B) exactly</p>\n",
                change > 0 ? "+" : "", mt_human_bytes(change, size), change > 0 ? "+" : "",
                mt_human_count(change, exact));
    return true;
}
