/* A trace and its counters as one file that Perfetto opens as one timeline: an archive with a
 * manifest (perfetto.dev/docs/visualization/merging-traces). */
#include "lib/export/formats.h"

#include "lib/export/tar.h"
#include <string.h>

/* Neither file has a clock that Perfetto knows: the counters are pinned to that of the trace. */
static char *manifest_of(const char *trace)
{
    return mt_asprintf("{\"perfetto_manifest\":{\"version\":1,\"files\":[{\"path\":\"%s\"},\n"
                       "{\"path\":\"memory.json\",\"clocks\":{\"sync_to\":{\"file\":\"%s\"},"
                       "\"offset_ns\":0}}]}}\n",
                       trace, trace);
}

/* How long a file is; it is read from its begin next. */
static int64_t length_of(FILE *in)
{
    int64_t n = fseeko(in, 0, SEEK_END) == 0 ? ftello(in) : -1;
    rewind(in);
    return n;
}

static bool put_file(FILE *out, const char *name, FILE *in)
{
    char piece[1 << 14];
    int64_t n = length_of(in), left = n;
    if (n < 0)
        return false;
    mt_tar_begin(out, name, (uint64_t)n);
    while (left > 0) {
        size_t most = left < (int64_t)sizeof piece ? (size_t)left : sizeof piece;
        size_t got = fread(piece, 1, most, in);
        if (!got)
            return false;
        fwrite(piece, 1, got, out);
        left -= (int64_t)got;
    }
    mt_tar_pad(out, (uint64_t)n);
    return true;
}

bool mt_export_perfetto_tar(struct mt_counters *c, FILE *trace, bool gzip, FILE *out)
{
    FILE *counters = tmpfile();
    const char *name = gzip ? "trace.json.gz" : "trace.json";
    char *manifest = manifest_of(name);
    size_t n = strlen(manifest);
    c->named = false;
    bool ok = counters != NULL;
    if (ok) {
        mt_export_perfetto_json(c, counters);
        mt_tar_begin(out, "manifest.json", n);
        fwrite(manifest, 1, n, out);
        mt_tar_pad(out, n);
        ok = fflush(counters) == 0 && put_file(out, name, trace) &&
             put_file(out, "memory.json", counters);
        mt_tar_end(out);
        fclose(counters);
    }
    free(manifest);
    return ok;
}
