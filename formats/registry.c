#include "formats/format.h"

#include "formats/text_hint.h"
#include "lib/base/mem.h"
#include "lib/input/fields.h"
#include "lib/model/heap.h"
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define READER(id, name, reads) &mt_reader_##id,
static const struct mt_reader *const formats[] = {MT_READERS(READER)};

#define DASHES "--------------------------------------------------------------------------------"

/* What files that are not for us look like, for the error message. */
static const struct look {
    const char *magic;
    size_t n;
    const char *is, *hint;
} looks[] = {
    {"SQLite format 3", 15, "an SQLite database", "To read a memtool database, name it with --db."},
    {"PK\x03\x04", 4, "a zip archive", "Unpack it first."},
    {"\xfd"
     "7zXZ",
     5, "an xz file", "Unpack it first (xz -d), or compress with zstd."},
    {"BZh", 3, "a bzip2 file", "Unpack it first (bunzip2), or compress with zstd."},
    {"\x02\x21\x4c\x18", 4, "an LZ4 file of the legacy format", "Unpack it first (lz4 -d)."},
    {"\x7f"
     "ELF",
     4, "a program, not a recording", ""},
    {"\x89PNG", 4, "a picture", ""},
    {"%PDF", 4, "a PDF document", ""},
    {"\x1f\x8b", 2, "a gzip file that is compressed once more", "Unpack it once first."},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file that is compressed once more", "Unpack it once first."},
    {"\x04\x22\x4d\x18", 4, "an LZ4 file that is compressed once more", "Unpack it once first."},
    {"# strings: 0\n# ips: 0", 21, "a file of heaptrack without a single line of the program",
     "The program was killed, or ended by _exit() or exec(), before heaptrack wrote what it had."},
    {"reading file \"", 14, "what heaptrack_print shows of a file",
     "Import that file itself (.zst), which heaptrack wrote."},
    {DASHES "\nCommand:", sizeof DASHES + 8, "what ms_print shows of a file",
     "Import that file itself, which massif wrote."},
    {"<", 1, "HTML or XML", "Save the trace itself (trace.json), not the page that shows it."},
};
static const struct look tar = {"ustar", 5, "a tar archive", "Unpack it first (tar -xf)."};

static bool is_at(const struct look *look, const char *head, size_t n, size_t at)
{
    return n >= at + look->n && memcmp(head + at, look->magic, look->n) == 0;
}

/* NULL: like nothing that is known. */
static const struct look *look_of(const char *head, size_t n)
{
    enum { TAR_AT = 257 };
    size_t skip = 0;
    while (skip < n && head[skip] && strchr(" \t\r\n", head[skip]))
        skip++;
    for (size_t i = 0; i < MT_ARRAY_LEN(looks); i++)
        if (is_at(&looks[i], head, n, skip))
            return &looks[i];
    return is_at(&tar, head, n, TAR_AT) ? &tar : NULL;
}

static enum mt_status not_recognised(const char *head, size_t n, struct mt_err *err)
{
    static const char how[] =
        "Nothing was imported. memtool reads the JSON that PyTorch's prof.export_chrome_trace() "
        "writes, the pickle of torch.cuda.memory._dump_snapshot(), and logs of heap tools and of "
        "what processes have in memory: `memtool help import` lists them.";
    if (n == 0) {
        MT_FAIL(err, MT_EINPUT, "the file is empty");
        mt_err_hint(err, "Nothing was imported. The recording was probably never written.");
        return MT_EINPUT;
    }
    if (n > 1 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0)) {
        MT_FAIL(err, MT_EINPUT, "this is text in UTF-16");
        mt_err_hint(err,
                    "Nothing was imported. PowerShell's > writes UTF-16: convert the file to UTF-8 "
                    "first (iconv -f UTF-16 -t UTF-8 FILE > NEW).");
        return MT_EINPUT;
    }
    const struct look *look = look_of(head, n);
    if (look) {
        MT_FAIL(err, MT_EINPUT, "this is %s, not a trace", look->is);
        mt_err_hint(err, "%s%s%s", how, look->hint[0] ? " " : "", look->hint);
        return MT_EINPUT;
    }
    size_t text = 0;
    while (text < n &&
           ((unsigned char)head[text] >= ' ' || (head[text] >= '\t' && head[text] <= '\r')))
        text++;
    MT_FAIL(err, MT_EINPUT,
            text == n ? "this is text of no known format"
                      : "this is binary data of no known format");
    struct mt_buf pattern = {0};
    if (text == n && mt_text_hint(head, n, &pattern))
        mt_err_hint(err, "%s Lines of this one fit, perhaps: --pattern '%s'.", how, pattern.s);
    mt_buf_free(&pattern);
    mt_err_hint(err, "%s%s", how,
                text == n
                    ? " Of another log, whose lines have sizes of memory, --pattern says where: "
                      "--pattern 'mem={rss:MB}'."
                    : "");
    return MT_EINPUT;
}

/* Nothing is consumed. */
static enum mt_status look_at_head(struct mt_stream *in, const char **head, size_t *n,
                                   struct mt_err *err)
{
    enum mt_status st = mt_stream_peek(in, MT_PROBE_BYTES, head, n, err);
    if (st == MT_EINPUT && *n) { /* damaged behind these bytes: the reader will meet it */
        *err = (struct mt_err)MT_ERR_INIT;
        st = MT_OK;
    }
    return st;
}

/* What the readers make of a head. */
struct guess {
    const struct mt_reader *best, *tied; /* tied: it scores the same; NULL: none */
    int score;
};

/* Asks those that read lines, or the others, until one scores `enough`. */
static void ask(struct guess *g, const char *head, size_t n, bool reads_lines, int enough)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(formats) && g->score < enough; i++) {
        int score = formats[i]->reads_lines == reads_lines ? formats[i]->probe(head, n) : 0;
        assert(!reads_lines || score < MT_PROBE_SURE);
        if (score > g->score)
            *g = (struct guess){formats[i], NULL, score};
        else if (score && score == g->score)
            g->tied = formats[i];
    }
}

const struct mt_reader *mt_reader_likely(struct mt_stream *in)
{
    enum { LIKELY = 90 };
    struct mt_err ignored = MT_ERR_INIT;
    struct guess g = {0};
    const char *head;
    size_t n;
    if (look_at_head(in, &head, &n, &ignored) != MT_OK)
        return NULL;
    ask(&g, head, n, false, LIKELY);
    ask(&g, head, n, true, LIKELY);
    return g.score >= LIKELY ? g.best : NULL;
}

enum mt_status mt_reader_of(struct mt_stream *in, const struct mt_reader **out, struct mt_err *err)
{
    struct guess g = {0};
    const char *head;
    size_t n;
    MT_TRY(look_at_head(in, &head, &n, err));
    ask(&g, head, n, false, INT_MAX);
    if (g.score < MT_PROBE_SURE)
        ask(&g, head, n, true, MT_PROBE_SURE);
    *out = g.best;
    if (g.tied)
        return MT_FAIL(err, MT_EINPUT, "looks equally like %s and %s", g.best->name, g.tied->name);
    return *out ? MT_OK : not_recognised(head, n, err);
}

/* Places in code of which nobody knows the function, and why. */
static void note_symbols(const struct mt_symbols *symbols, struct mt_recording *rec)
{
    struct mt_note *note = &rec->notes[MT_NOTE_NO_SYMBOLS];
    struct mt_buf why = {0};
    note->count = mt_symbols_unnamed(symbols, &why);
    note->first_offset = -1;
    if (note->count)
        snprintf(note->detail, sizeof note->detail, "%s", why.s);
    mt_buf_free(&why);
}

/* A log of text whose lines begin as JSON does is taken for a trace, which it is not: where its
 * lines say sizes of memory the hint is how to read it. */
static enum mt_status read_or_hint(const struct mt_reader *reader, struct mt_stream *in,
                                   const struct mt_read_opts *opts, struct mt_recording *rec,
                                   struct mt_err *err)
{
    static const char *const none[] = {"not a trace: ", "JSON of another tool: "};
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_buf pattern = {0};
    const char *head;
    size_t n;
    const bool hint = reader == &mt_reader_pytorch_trace &&
                      look_at_head(in, &head, &n, &ignored) == MT_OK &&
                      mt_text_hint(head, n, &pattern);
    const enum mt_status st = reader->read(in, opts, rec, err);
    for (size_t i = 0; i < MT_ARRAY_LEN(none) && hint && st == MT_EINPUT; i++)
        if (strncmp(err->what, none[i], strlen(none[i])) == 0) {
            err->hint[0] = '\0';
            mt_err_hint(err,
                        "Nothing was imported. If this is a log, its lines fit, perhaps: "
                        "--pattern '%s'.",
                        pattern.s);
        }
    mt_buf_free(&pattern);
    return st;
}

enum mt_status mt_reader_read(const struct mt_reader *reader, struct mt_stream *in,
                              const struct mt_read_opts *opts, struct mt_recording *rec,
                              struct mt_err *err)
{
    rec->format = reader->name;
    rec->kind = reader->kind;
    rec->split_sizes = opts->split & MT_SPLIT_SIZE;
    rec->library_sites = opts->library_sites;
    MT_TRY(read_or_hint(reader, in, opts, rec, err));
    if (rec->split_sizes && rec->summed)
        mt_heap_drop_bare_paths(rec);
    if (opts->symbols)
        note_symbols(opts->symbols, rec);
    return MT_OK;
}

enum mt_status mt_reader_cut(const struct mt_read_opts *opts, struct mt_recording *rec,
                             uint64_t offset, const char *what, struct mt_err *err)
{
    if (opts->partial) {
        *err = (struct mt_err)MT_ERR_INIT;
        if (!rec->notes[MT_NOTE_CUT].count)
            mt_rec_note(rec, MT_NOTE_CUT, (int64_t)offset, 0);
        return MT_OK;
    }
    MT_FAIL(err, MT_EINPUT, "%s", what); /* unless it has failed already */
    return mt_reader_refuse((int64_t)offset, "--partial keeps what is there.", err);
}

/* Whether nothing but what moves a terminal's cursor, or shows it, is in the line: what redraws a
 * table ends so. */
static bool moves_cursor(const struct mt_line *line)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    bool any = false;
    for (; mt_field_take(&f, "\x1b["); any = true) {
        while (f.p < f.end && *f.p >= ' ' && *f.p < '@')
            f.p++;
        if (f.p == f.end)
            return false;
        f.p++;
    }
    return any && mt_field_end(&f);
}

enum mt_status mt_reader_line(struct mt_lines *lines, struct mt_line *line,
                              const struct mt_read_opts *opts, struct mt_recording *rec, bool *any,
                              struct mt_err *err)
{
    enum mt_status st = mt_lines_next(lines, line, any, err);
    if (st != MT_EINPUT && !(st == MT_OK && *any && line->cut))
        return st;
    *any = false;
    if (st == MT_OK && moves_cursor(line))
        return MT_OK;
    return mt_reader_cut(
        opts, rec, mt_lines_offset(lines),
        "its last line does not end: the file was cut off, or lacks only its last newline", err);
}

enum mt_status mt_reader_found(const struct mt_recording *rec, const char *hint, struct mt_err *err)
{
    if (rec->event_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "holds no value of memory that can be read");
    return mt_reader_refuse(-1, hint, err);
}

enum mt_status mt_reader_json_rest(struct mt_json_walk *walk, struct mt_recording *rec,
                                   struct mt_err *err)
{
    uint64_t n, first = 0;
    MT_TRY(mt_json_walk_rest(walk, &n, &first, err));
    if (n)
        mt_rec_note_n(rec, MT_NOTE_TRAILING, n, (int64_t)first);
    return MT_OK;
}

enum mt_status mt_reader_refuse(int64_t offset, const char *hint, struct mt_err *err)
{
    if (err->offset < 0)
        err->offset = offset;
    mt_err_hint(err, "Nothing was imported. %s", hint);
    return MT_EINPUT;
}

enum mt_status mt_reader_two(const char *what, uint64_t offset, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "holds two %s, one behind the other", what);
    return mt_reader_refuse((int64_t)offset, "Take them apart and import each.", err);
}
