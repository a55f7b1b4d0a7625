/* The table of output formats. */
#include "lib/render/render_parts.h"

#include <string.h>
#include <strings.h>

const struct mt_output_format mt_output_formats[MT_FORMAT_N] = {
    [MT_FORMAT_TABLE] = {"table", NULL, NULL, true, true, false, false, mt_render_table},
    [MT_FORMAT_CSV] = {"csv", NULL, ".csv", false, false, false, false, mt_render_csv},
    [MT_FORMAT_TSV] = {"tsv", NULL, ".tsv", false, false, false, false, mt_render_tsv},
    [MT_FORMAT_JSON] = {"json", NULL, ".json", false, false, true, false, mt_render_json},
    [MT_FORMAT_JSONL] = {"jsonl", NULL, ".jsonl", false, false, false, true, mt_render_jsonl},
    [MT_FORMAT_MARKDOWN] = {"markdown", "md", ".md", true, false, false, false, mt_render_markdown},
    [MT_FORMAT_SVG] = {"svg", NULL, ".svg", true, true, false, false, NULL},
    [MT_FORMAT_HTML] = {"html", NULL, ".html", true, true, false, false, NULL},
};

const struct mt_output_format *mt_format_by_name(const char *name)
{
    for (size_t i = 0; i < MT_FORMAT_N; i++) {
        const struct mt_output_format *f = &mt_output_formats[i];
        if (strcmp(name, f->name) == 0 || (f->alias && strcmp(name, f->alias) == 0))
            return f;
    }
    return NULL;
}

const struct mt_output_format *mt_format_by_ending(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < MT_FORMAT_N; i++)
        if (mt_output_formats[i].ending && strcasecmp(dot, mt_output_formats[i].ending) == 0)
            return &mt_output_formats[i];
    return NULL;
}

bool mt_ending_is_foreign(const char *path)
{
    static const char *const endings[] = {
        ".png",  ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".xlsx", ".xls", ".ods", ".parquet",
        ".yaml", ".yml", ".xml",  ".gz",  ".zst",  ".bz2", ".xz",   ".zip", ".db",  ".sqlite",
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < MT_ARRAY_LEN(endings); i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

void mt_render(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    mt_output_formats[how->format].write(r, how, out);
}
