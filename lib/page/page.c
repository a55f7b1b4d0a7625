#include "lib/page/page.h"

#include "gen/assets.h"
#include "lib/base/human.h"
#include <string.h>

void mt_page_text(struct mt_buf *out, const char *s)
{
    struct mt_buf words = {0};
    mt_escape_short(&words, s);
    mt_escape_xml(out, words.n ? words.s : "");
    mt_buf_free(&words);
}

void mt_page_base64(struct mt_buf *out, const char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < n ? (unsigned char)bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            mt_buf_addc(out, i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
}

/* No text in it ends the script or begins a comment: "<" stands in strings alone. */
static void add_json(struct mt_buf *out, const char *json)
{
    for (const char *p = json; *p;) {
        size_t n = strcspn(p, "<");
        mt_buf_add(out, p, n);
        p += n;
        if (*p) {
            mt_buf_adds(out, "\\u003c");
            p++;
        }
    }
}

static const struct {
    const char *name, *text;
} assets[] = {{"css", mt_asset_report_css},     {"flame.css", mt_asset_flame_css},
              {"flame.js", mt_asset_flame_js},  {"tables.js", mt_asset_tables_js},
              {"curve.js", mt_asset_curve_js},  {"paths.js", mt_asset_paths_js},
              {"report.js", mt_asset_report_js}};

static void add_part(const struct mt_page_part *parts, const char *name, size_t n,
                     struct mt_buf *out)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(assets); i++)
        if (strlen(assets[i].name) == n && strncmp(assets[i].name, name, n) == 0)
            mt_buf_adds(out, assets[i].text);
    for (; parts->name; parts++)
        if (strlen(parts->name) == n && strncmp(parts->name, name, n) == 0 && parts->html)
            parts->json ? add_json(out, parts->html) : mt_buf_adds(out, parts->html);
}

void mt_page_write(const struct mt_page_part *parts, struct mt_buf *out)
{
    const char *p = mt_asset_report_html;
    for (const char *begin; (begin = strstr(p, "{{"));) {
        const char *name = begin + 2, *end = strstr(name, "}}");
        mt_buf_add(out, p, (size_t)(begin - p));
        add_part(parts, name, (size_t)(end - name), out);
        p = end + 2;
    }
    mt_buf_adds(out, p);
}
