/* The table of formats. */
#include "lib/export/formats.h"

#include <string.h>

#define STACKS (MT_EXPORT_AT | MT_EXPORT_MIN | MT_EXPORT_DEVICE)

const struct mt_export_format mt_export_formats[] = {
    {.name = "pprof",
     .endings = ".pb.gz .pprof",
     .binary = true,
     .takes = STACKS,
     .whole = true,
     .stacks = mt_export_pprof,
     .phases = true},
    {.name = "collapsed",
     .endings = ".folded .collapsed",
     .takes = STACKS | MT_EXPORT_MEASURE,
     .whole = true,
     .stacks = mt_export_collapsed},
    {.name = "speedscope",
     .endings = ".speedscope.json",
     .takes = STACKS,
     .stacks = mt_export_speedscope},
    {.name = "dhat",
     .endings = ".dhat.json",
     .takes = STACKS,
     .whole = true,
     .stacks = mt_export_dhat,
     .end = true},
    {.name = "perfetto",
     .endings = ".pftrace .perfetto-trace",
     .binary = true,
     .takes = MT_EXPORT_DEVICE,
     .counters = mt_export_perfetto},
    {.name = "perfetto-json",
     .endings = ".perfetto.json",
     .takes = MT_EXPORT_DEVICE,
     .counters = mt_export_perfetto_json},
    {.name = "perfetto-tar",
     .endings = ".perfetto.tar",
     .binary = true,
     .takes = MT_EXPORT_DEVICE | MT_EXPORT_SOURCE,
     .archive = mt_export_perfetto_tar},
    {.name = "snapshot",
     .endings = ".pickle .pkl",
     .binary = true,
     .takes = MT_EXPORT_WINDOW | MT_EXPORT_SOURCE,
     .snapshot = true},
    {.name = "csv", .endings = ".csv", .takes = MT_EXPORT_VIEW, .rows = true},
    {.name = "tsv", .endings = ".tsv", .takes = MT_EXPORT_VIEW | MT_EXPORT_ROLLUP, .rows = true},
    {.name = "jsonl", .endings = ".jsonl", .takes = MT_EXPORT_VIEW, .rows = true},
    {.name = "clickhouse",
     .endings = "",
     .takes = MT_EXPORT_ROLLUP,
     .statement = "INSERT INTO memtool.rollup FORMAT TabSeparated\n"},
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
