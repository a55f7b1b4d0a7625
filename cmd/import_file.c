#include "cmd/import_file.h"

#include "lib/base/machine.h"
#include "lib/base/pattern.h"
#include "lib/build/build.h"
#include "lib/input/stream.h"
#include "lib/render/term.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct progress {
    struct mt_stream *in;
    struct mt_progress line;
};

static const char *const split_words[] = {"thread", "label", "size"}; /* by bit */

enum mt_status mt_import_split(const char *text, unsigned *out, struct mt_err *err)
{
    *out = 0;
    for (const char *p = text, *next; p && *p; p = next) {
        size_t n = strcspn(p, ","), i = 0;
        next = p[n] ? p + n + 1 : p + n;
        while (i < MT_ARRAY_LEN(split_words) &&
               (strlen(split_words[i]) != n || memcmp(split_words[i], p, n) != 0))
            i++;
        bool ends = p[n] && !*next; /* "thread," */
        if (i == MT_ARRAY_LEN(split_words) || *out >> i & 1 || ends) {
            MT_FAIL(err, MT_EUSAGE,
                    "--split is thread, label, size or several, as thread,label, "
                    "not '%s'",
                    text);
            mt_err_hint(err, "Nothing was imported.");
            return MT_EUSAGE;
        }
        *out |= 1u << i;
    }
    return MT_OK;
}

const char *mt_import_split_words(unsigned split)
{
    static const char *const words[] = {NULL,   "thread",      "label",      "thread,label",
                                        "size", "thread,size", "label,size", "thread,label,size"};
    return words[split & MT_SPLIT_ALL];
}

static void show_progress(void *closure)
{
    struct progress *p = closure;
    uint64_t done, total;
    mt_stream_progress(p->in, &done, &total);
    if (p->line.total_b < 0 && total)
        p->line.total_b = (int64_t)total;
    mt_progress_update(&p->line, (int64_t)done);
}

/* ---- options that are one word of a few ---- */

/* Which of n words, of which 0 may be none, the text is; NULL: 0. An error says what there is. */
static enum mt_status take_word(const char *const *words, int n, const char *option,
                                const char *choices, const char *text, int *out, struct mt_err *err)
{
    *out = 0;
    for (int i = 0; text && i < n; i++)
        if (words[i] && strcmp(text, words[i]) == 0) {
            *out = i;
            return MT_OK;
        }
    if (!text)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--%s is %s, not '%s'", option, choices, text);
    mt_err_hint(err, "Nothing was imported.");
    return MT_EUSAGE;
}

static const char *const cpp_names[] = {
    [MT_CPP_FOLD] = "fold", [MT_CPP_ALL] = "all", [MT_CPP_NONE] = "none"};

enum mt_status mt_import_cpp_frames(const char *text, enum mt_cpp_frames *out, struct mt_err *err)
{
    int i;
    enum mt_status st = take_word(cpp_names, MT_ARRAY_LEN(cpp_names), "cpp-frames",
                                  "fold, all or none", text, &i, err);
    *out = (enum mt_cpp_frames)i;
    return st;
}

static const char *const value_names[MT_MEANS_N] = {[MT_MEANS_AT_END] = "at-end",
                                                    [MT_MEANS_AT_PEAK] = "at-peak",
                                                    [MT_MEANS_ALLOCATED] = "allocated",
                                                    [MT_MEANS_TEMPORARY] = "temporary"};

enum mt_status mt_import_values(const char *text, enum mt_meaning *out, struct mt_err *err)
{
    int i;
    enum mt_status st = take_word(value_names, MT_MEANS_N, "values",
                                  "at-end, at-peak, allocated or temporary", text, &i, err);
    *out = (enum mt_meaning)i;
    return st;
}

const char *mt_import_values_word(enum mt_meaning values)
{
    return value_names[values];
}

static const char *const process_names[MT_WRITERS_N] = {
    [MT_WRITERS_ONE] = "one", [MT_WRITERS_SEVERAL] = "several"};

enum mt_status mt_import_processes(const char *text, enum mt_writers *out, struct mt_err *err)
{
    int i;
    enum mt_status st =
        take_word(process_names, MT_WRITERS_N, "processes", "one or several", text, &i, err);
    *out = (enum mt_writers)i;
    return st;
}

const char *mt_import_processes_word(enum mt_writers processes)
{
    return process_names[processes];
}

/* ---- reading ---- */

/* Damaged compression is why nothing could be made of what is in it. What can be done then depends
 * on the format: of a cut pickle nothing is left, whatever --partial could keep of a trace. */
static void blame_damage(struct mt_stream *in, const struct mt_reader *format, bool partial,
                         struct mt_err *err)
{
    struct mt_err damage = MT_ERR_INIT;
    if (mt_stream_check_rest(in, &damage) == MT_OK)
        return;
    if (format && format->binary)
        memcpy(damage.hint, err->hint, sizeof damage.hint);
    else if (partial)
        damage.hint[0] = '\0';
    *err = damage;
    mt_err_hint(err, "Nothing was imported: no event before that place is complete.");
}

static enum mt_status read_file(const char *path, const struct mt_import_opts *how,
                                const regex_t *alloc_fn, const struct mt_text_pattern *pattern,
                                struct mt_recording *rec, char hash[33], struct mt_err *err)
{
    struct mt_stream *in = NULL;
    const struct mt_reader *format = NULL;
    enum mt_status st = MT_OK;
    MT_TRY(mt_stream_open(path, &in, err));
    struct progress progress = {.in = in};
    struct mt_symbols *symbols = mt_symbols_new(how->no_symbols, how->sysroot);
    if (!how->quiet) {
        struct mt_term term = mt_term_probe(MT_COLOR_AUTO);
        mt_progress_start(&progress.line, &term, path, -1);
    }
    struct mt_read_opts opts = {.partial = how->partial,
                                .cpp_frames = how->cpp_frames,
                                .library_sites = how->library_sites,
                                .split = how->split,
                                .values = how->values,
                                .processes = how->processes,
                                .alloc_fn = alloc_fn,
                                .pattern = pattern,
                                .symbols = symbols,
                                .progress = how->quiet ? NULL : show_progress,
                                .closure = &progress};
    if (pattern)
        format = &mt_reader_memory_text;
    else
        MT_TRY_OUT(mt_reader_of(in, &format, err));
    MT_TRY_OUT(mt_reader_read(format, in, &opts, rec, err));
    mt_stream_hash(in, hash);
out:
    mt_progress_end(&progress.line);
    mt_symbols_free(symbols);
    if (st == MT_EINPUT)
        blame_damage(in, format, how->partial, err);
    mt_stream_close(in);
    if (st != MT_OK) {
        mt_err_input(err, strcmp(path, "-") == 0 ? "standard input" : path);
        if (err->offset >= 0 && !(format && format->binary))
            err->line = mt_stream_line_of(path, (uint64_t)err->offset);
        mt_err_hint(err, "Nothing was imported.");
    }
    return st;
}

bool mt_import_hash(const char *path, char hash[33])
{
    enum { WINDOW = 1 << 16 };
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_stream *in = NULL;
    const char *bytes;
    size_t n;
    if (mt_stream_open(path, &in, &ignored) != MT_OK)
        return false;
    /* damaged data are imported as far as they go */
    while (mt_stream_peek(in, WINDOW, &bytes, &n, &ignored) == MT_OK) {
        mt_stream_consume(in, n);
        if (n < WINDOW)
            break;
    }
    mt_stream_hash(in, hash);
    mt_stream_close(in);
    return true;
}

/* The content, and what shaped its import: another choice makes another run. Only what comes with
 * stacks of its own has C++ frames to choose from. */
static char *content_key(const char *hash, const struct mt_import_opts *how, bool without_ops,
                         bool summed)
{
    bool cpp = without_ops && how->cpp_frames != MT_CPP_FOLD;
    struct mt_buf key = {0};
    mt_buf_adds(&key, hash);
    if (how->step_marker)
        mt_buf_addf(&key, " step-marker %s", how->step_marker);
    if (how->pattern)
        mt_buf_addf(&key, " pattern %s", how->pattern);
    if (how->processes)
        mt_buf_addf(&key, " processes %s", process_names[how->processes]);
    if (how->alloc_fn && summed)
        mt_buf_addf(&key, " alloc-fn %s", how->alloc_fn);
    if (cpp)
        mt_buf_addf(&key, " cpp-frames %s", cpp_names[how->cpp_frames]);
    if (how->library_sites && without_ops)
        mt_buf_adds(&key, " library-sites all");
    if (how->values && summed)
        mt_buf_addf(&key, " values %s", value_names[how->values]);
    if (how->sysroot && summed)
        mt_buf_addf(&key, " sysroot %s", how->sysroot);
    if (how->no_symbols && summed)
        mt_buf_adds(&key, " symbols none");
    if (how->split && summed)
        mt_buf_addf(&key, " split %s", mt_import_split_words(how->split));
    if (how->series_n)
        mt_buf_addf(&key, " series %zu", how->series_n);
    for (size_t i = 0; i < how->bases.n; i++)
        mt_buf_addf(&key, " base %s=%lld", how->bases.v[i].device,
                    (long long)how->bases.v[i].bytes);
    return key.s;
}

/* Whether a choice counts only for some contents. */
static bool key_depends(const struct mt_import_opts *how)
{
    return how->alloc_fn || how->cpp_frames != MT_CPP_FOLD || how->library_sites || how->values ||
           how->sysroot || how->no_symbols || how->split || how->series_n;
}

bool mt_import_is_same(const char *path, const struct mt_import_opts *how, const char *key)
{
    char hash[33];
    struct stat info;
    if (key_depends(how) || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        !mt_import_hash(path, hash))
        return false;
    char *own = content_key(hash, how, false, false);
    bool same = strcmp(own, key) == 0;
    free(own);
    return same;
}

/* Cuts the last " WORD VALUE" off a key; NULL: it has none. */
static char *cut_last(char *key, const char *word)
{
    char *at = NULL;
    for (char *next = key; (next = strstr(next, word)); next++)
        at = next;
    if (!at)
        return NULL;
    *at = '\0';
    return at + strlen(word);
}

bool mt_import_of_key(char *key, struct mt_import_opts *how, char hash[33])
{
    enum { HASH = 32 };
    struct mt_err ignored = MT_ERR_INIT;
    *how = (struct mt_import_opts){0};
    if (strspn(key, "0123456789abcdef") != HASH || (key[HASH] && key[HASH] != ' '))
        return false;
    snprintf(hash, HASH + 1, "%s", key);
    key += HASH;
    for (char *base; (base = cut_last(key, " base "));)
        if (mt_base_parse(base, &how->bases, &ignored) != MT_OK)
            return false;
    for (size_t i = 0, n = how->bases.n; i < n / 2; i++) {
        struct mt_base last = how->bases.v[n - 1 - i];
        how->bases.v[n - 1 - i] = how->bases.v[i];
        how->bases.v[i] = last;
    }
    const char *series = cut_last(key, " series ");
    how->series_n = series ? (size_t)strtoul(series, NULL, 10) : 0;
    if (mt_import_split(cut_last(key, " split "), &how->split, &ignored) != MT_OK)
        return false;
    const char *symbols = cut_last(key, " symbols ");
    how->no_symbols = symbols && strcmp(symbols, "none") == 0;
    how->sysroot = cut_last(key, " sysroot ");
    if (mt_import_values(cut_last(key, " values "), &how->values, &ignored) != MT_OK)
        return false;
    const char *library = cut_last(key, " library-sites ");
    how->library_sites = library && strcmp(library, "all") == 0;
    char *cpp = cut_last(key, " cpp-frames ");
    if (mt_import_cpp_frames(cpp, &how->cpp_frames, &ignored) != MT_OK)
        return false;
    how->alloc_fn = cut_last(key, " alloc-fn ");
    if (mt_import_processes(cut_last(key, " processes "), &how->processes, &ignored) != MT_OK)
        return false;
    how->pattern = cut_last(key, " pattern ");
    how->step_marker = cut_last(key, " step-marker ");
    return !*key;
}

/* What is not asked for is half of what there is: the rest is for SQLite, for merging, for others.
 * A compressed file of a few bytes may stand for any number of events: a file may take no more than
 * any recording of its size does. */
void mt_import_limit(const char *path, const struct mt_import_opts *how, struct mt_recording *rec)
{
    static const uint64_t least = UINT64_C(1) << 30, for_a_byte = 256, for_a_path = 512,
                          for_a_name_b = 8;
    uint64_t all = how->max_memory ? (uint64_t)how->max_memory : mt_machine_memory("") / 2;
    struct stat info;
    rec->max_bytes = how->share_n > 1 ? all / (uint64_t)how->share_n + 1 : all;
    rec->max_why = how->max_memory ? NULL : "half of what this machine has for it";
    if (how->max_memory || !path || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        rec->max_bytes <= least || (uint64_t)info.st_size >= (rec->max_bytes - least) / for_a_byte)
        return;
    rec->max_bytes = least + for_a_byte * (uint64_t)info.st_size;
    rec->max_why = "more than a file of its size should";
    rec->max_nodes = rec->max_bytes / for_a_path; /* what reports take */
    rec->max_name_b = rec->max_bytes / for_a_name_b;
}

enum mt_status mt_import_parse(const char *path, const struct mt_import_opts *how,
                               struct mt_recording *rec, char hash[33], struct mt_err *err)
{
    regex_t alloc_fn;
    struct mt_text_pattern *pattern = NULL;
    mt_rec_init(rec);
    mt_import_limit(path, how, rec);
    if (how->alloc_fn && mt_pattern(&alloc_fn, "--alloc-fn", how->alloc_fn, err) != MT_OK) {
        mt_err_hint(err, "Nothing was imported.");
        return err->code;
    }
    enum mt_status st = how->pattern ? mt_text_pattern_new(how->pattern, &pattern, err) : MT_OK;
    if (st == MT_OK)
        st = read_file(path, how, how->alloc_fn ? &alloc_fn : NULL, pattern, rec, hash, err);
    else
        mt_err_hint(err, "Nothing was imported.");
    if (how->alloc_fn)
        regfree(&alloc_fn);
    mt_text_pattern_free(pattern);
    return st;
}

enum mt_status mt_import_read(const char *path, const struct mt_import_opts *how,
                              struct mt_recording *rec, char hash[33], struct mt_err *err)
{
    MT_TRY(mt_import_parse(path, how, rec, hash, err));
    enum mt_status st = mt_base_apply(rec, &how->bases, err);
    bool of_file = st != MT_OK;
    if (st == MT_OK)
        st = mt_build_ops(rec, how->step_marker, err);
    if (of_file || st == MT_EINPUT || st == MT_ELIMIT)
        mt_err_input(err, strcmp(path, "-") == 0 ? "standard input" : path);
    return st;
}

enum mt_status mt_import_store(struct mt_db *db, const char *path, const struct mt_import_opts *how,
                               struct mt_recording *rec, const char *hash,
                               struct mt_store_result *result, struct mt_err *err)
{
    struct mt_beside memory;
    char *key = content_key(hash, how, rec->without_ops, rec->summed);
    struct mt_store_opts opts = {.name = how->name,
                                 .folders = how->folders,
                                 .groups = how->groups.v,
                                 .group_n = how->groups.n,
                                 .source = how->source ? how->source : path,
                                 .hash = key,
                                 .imported_at = how->imported_at,
                                 .replace = how->replace,
                                 .again = how->again,
                                 .complete = how->built ? NULL : mt_build_wait,
                                 .closure = &memory};
    if (!how->built)
        mt_build_beside(&memory, rec);
    enum mt_status st = mt_store(db, rec, &opts, result, err);
    if (!how->built)
        mt_build_wait(&memory);
    free(key);
    return st;
}
