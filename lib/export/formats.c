/* The table of formats. */
#include "lib/export/formats.h"

#include <string.h>

const struct mt_export_format mt_export_formats[] = {
    {"pprof", ".pb.gz .pprof", true, false, false, mt_export_pprof},
    {"collapsed", ".folded .collapsed", false, true, false, mt_export_collapsed},
    {"speedscope", ".speedscope.json", false, false, false, mt_export_speedscope},
    {"dhat", ".dhat.json", false, false, true, mt_export_dhat},
    {0},
};

const struct mt_export_format *mt_export_format_by_name(const char *name)
{
    for (const struct mt_export_format *f = mt_export_formats; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static bool ends_with(const char *path, const char *ending, size_t n)
{
    size_t length = strlen(path);
    return length > n && memcmp(path + length - n, ending, n) == 0;
}

const struct mt_export_format *mt_export_format_by_ending(const char *path)
{
    for (const struct mt_export_format *f = mt_export_formats; f->name; f++)
        for (const char *e = f->endings; *e; e += strspn(e, " ")) {
            size_t n = strcspn(e, " ");
            if (ends_with(path, e, n))
                return f;
            e += n;
        }
    return NULL;
}

void mt_export_flush(struct mt_buf *text, FILE *out, size_t least)
{
    if (text->n < least)
        return;
    fwrite(text->s, 1, text->n, out);
    mt_buf_clear(text);
}
