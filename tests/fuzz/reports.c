#include "tests/fuzz/reports.h"

#include "cmd/cmd.h"
#include "cmd/common.h"
#include "cmd/opts.h"
#include "lib/base/hash.h"
#include "lib/base/utf8.h"
#include "lib/input/json_doc.h"
#include "tests/fuzz/reports_lines.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- databases nobody keeps ---- */

/* SQLite calls these: what is written here need not outlive a power cut. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

static char folder[256];
static struct {
    char *db, *journal, *input; /* paths in the folder */
    char *bytes;                /* the database with the sample alone */
    size_t n;
} empty;

static void remove_folder(void)
{
    unlink(empty.journal);
    unlink(empty.db);
    unlink(empty.input);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/memtool-fuzz-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        abort();
    }
    empty.db = mt_asprintf("%s/db", folder);
    empty.journal = mt_asprintf("%s/db-journal", folder);
    empty.input = mt_asprintf("%s/input", folder);
    atexit(remove_folder);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        abort();
    }
}

static void read_empty(void)
{
    FILE *f = fopen(empty.db, "rb");
    struct mt_buf all = {0};
    char part[4096];
    for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
        mt_buf_add(&all, part, n);
    if (f)
        fclose(f);
    empty.bytes = all.s;
    empty.n = all.n;
}

/* ---- options as they were before the first command ---- */

struct kept {
    const struct mt_opt *opt;
    union {
        bool flag;
        int64_t number;
        const char *text;
        struct mt_strings list;
    } value;
};
static MT_VEC(struct kept) kept;

static void keep_options(const struct mt_opt *opt)
{
    for (; opt && opt->name; opt++) {
        struct kept *k = mt_vec_push(&kept);
        k->opt = opt;
        memcpy(&k->value, opt->value, mt_opt_size(opt));
    }
}

/* Lists are freed by their commands. */
static void restore_options(void)
{
    for (size_t i = 0; i < kept.n; i++)
        memcpy(kept.v[i].opt->value, &kept.v[i].value, mt_opt_size(kept.v[i].opt));
}

/* ---- one command line ---- */

struct answer {
    enum mt_status status;
    int code;
    struct mt_err err;
    char *out, *notes;
    size_t out_n, notes_n;
};

static void fail(const char *line, const struct answer *a, const char *why)
{
    fprintf(stderr, "memtool %s\n%s: status %d, exit code %d\n%s%s\n%s\n%s\n", line, why,
            (int)a->status, a->code, a->out, a->notes, a->err.what, a->err.hint);
    abort();
}

/* The words of a line, and what all lines have. They live until the next call. */
static int words_of(const char *line, char **words, int max)
{
    static char *text;
    int n = 0;
    free(text);
    text = mt_asprintf("memtool %s --no-pager --no-color --db %s", line, empty.db);
    for (char *p = strtok(text, " "); p && n < max; p = strtok(NULL, " "))
        words[n++] = p;
    words[n] = NULL;
    for (int i = 0; i < n; i++)
        for (char *p = words[i]; (p = strchr(p, '~'));)
            *p = ' ';
    return n;
}

static void run_line(const char *line, struct answer *a)
{
    enum { WORDS = 32 };
    char *words[WORDS + 1];
    FILE *screen = stdout, *errors = stderr;
    *a = (struct answer){.err = MT_ERR_INIT};
    int n = words_of(line, words, WORDS);
    stdout = open_memstream(&a->out, &a->out_n);
    stderr = open_memstream(&a->notes, &a->notes_n);
    a->status = mt_dispatch(n, words, &a->code, &a->err);
    fclose(stdout);
    fclose(stderr);
    stdout = screen;
    stderr = errors;
    restore_options();
}

static void free_answer(struct answer *a)
{
    free(a->out);
    free(a->notes);
}

/* Whether it is text of which nothing acts on a terminal. */
static bool is_text(const char *s, size_t n)
{
    uint32_t c = 0;
    const char *end = s + n;
    for (int length; s < end; s += length) {
        length = mt_utf8_next(s, &c);
        if (!length || (c != '\n' && mt_utf8_acts(c)))
            return false;
    }
    return true;
}

static bool has(const char *line, const char *part)
{
    return strstr(line, part) != NULL;
}

static void look_at(const char *line, const struct answer *a)
{
    bool json = has(line, "json") || has(line, "export");
    bool raw = has(line, "csv") || has(line, "tsv"); /* any bytes, as recorded */
    struct mt_err err = MT_ERR_INIT;
    struct mt_json_doc doc;
    if ((!raw && !is_text(a->out, a->out_n)) || !is_text(a->notes, a->notes_n))
        fail(line, a, "its output is no text");
    if (!json || !a->out_n)
        return;
    if (mt_json_doc_parse("its output", a->out, a->out_n, &doc, &err) != MT_OK) {
        fprintf(stderr, "%s at byte %lld\n", err.what, (long long)err.offset);
        fail(line, a, "its output is no JSON");
    }
    mt_json_doc_free(&doc);
}

static void report(const char *line, bool must_work)
{
    struct answer a;
    run_line(line, &a);
    if (a.status != MT_OK && a.status != MT_EUSAGE)
        fail(line, &a, "failed");
    if (a.status != MT_OK && (must_work || !a.err.what[0] || !a.err.hint[0]))
        fail(line, &a, must_work ? "does not work with the sample" : "fails without a hint");
    if (a.code != 0 && a.code != 1 && a.code != 3)
        fail(line, &a, "another exit code");
    look_at(line, &a);
    free_answer(&a);
}

/* Whether the input was taken. */
static bool import(const char *options)
{
    struct answer a;
    char *line = mt_asprintf("import %s --name input --max-memory 64MiB %s", empty.input, options);
    run_line(line, &a);
    bool done = a.status == MT_OK;
    if (!done && a.status != MT_EINPUT && a.status != MT_ELIMIT && a.status != MT_EUSAGE)
        fail(line, &a, "failed");
    if (!is_text(a.out, a.out_n) || !is_text(a.notes, a.notes_n))
        fail(line, &a, "its output is no text");
    free_answer(&a);
    free(line);
    return done;
}

/* ---- all of them ---- */

/* How many lines there are for any recording. */
static size_t common_n(void)
{
    size_t n = 0;
    while (fuzz_reports_lines[n])
        n++;
    return n;
}

static const char *line_of(const struct fuzz_reports *what, size_t i)
{
    size_t n = common_n();
    return i < n ? fuzz_reports_lines[i] : what->more[i - n];
}

static void begin(const struct fuzz_reports *what)
{
    struct answer a;
    setlocale(LC_CTYPE, "C.UTF-8");
    make_folder();
    keep_options(mt_common_opts);
    for (size_t i = 0; mt_commands[i]; i++)
        keep_options(mt_commands[i]->opts);
    char *lines[] = {mt_asprintf("import %s --name base", what->base),
                     mt_asprintf("import %s --name input", what->sample)};
    for (size_t i = 0; i < MT_ARRAY_LEN(lines); i++) {
        run_line(lines[i], &a);
        if (a.status != MT_OK)
            fail(lines[i], &a, "the sample cannot be imported");
        free_answer(&a);
        free(lines[i]);
        if (i == 0)
            read_empty();
    }
    const char *line;
    for (size_t i = 0; (line = line_of(what, i)); i++)
        report(line, !what->refuses || i >= common_n());
}

void fuzz_reports(const struct fuzz_reports *what, const uint8_t *data, size_t n)
{
    static const char *const options[] = {"", "--partial", "--step-marker .", "--cpp-frames all"};
    enum { AT_ONCE = 4 }; /* lines for one input, when fuzzing */
    uint64_t chance = mt_hash_short(0, data, n);
    size_t line_n = 0;
    if (!empty.bytes)
        begin(what);
    unlink(empty.journal);
    write_file(empty.db, empty.bytes, empty.n);
    write_file(empty.input, data, n);
    if (!import(options[chance % MT_ARRAY_LEN(options)]) && !import("--partial"))
        return;
    while (line_of(what, line_n))
        line_n++;
#ifdef MT_FUZZING
    for (int i = 0; i < AT_ONCE; i++, chance = mt_hash_short(chance, data, n))
        report(line_of(what, chance % line_n), false);
#else
    for (size_t i = 0; i < line_n; i++)
        report(line_of(what, i), false);
#endif
}
