/* Reading the file of a baseline; baseline_write.c writes it. */
#include "lib/analysis/baseline_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_B = 4096 };
static const int64_t LARGEST = INT64_C(1) << 53; /* so that sums and differences stay in range */

const char *const mt_baseline_older_keys[] = {"older_b", "older_least_b", "older_most_b"};

/* Names of rows that are no ops. An op may be called the same, and says so. */
static const char *const explicit_names[] = {"[outside ops]",  "[freed unseen]", "[before trace]",
                                             "[no addresses]", "[all sites]",    "[other]"};

bool mt_baseline_is_explicit(const char *op)
{
    bool is = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(explicit_names); i++)
        is |= strcmp(op, explicit_names[i]) == 0;
    return is;
}

bool mt_baseline_is_file(const char *path)
{
    char head[HEAD_B + 1];
    struct stat info;
    bool regular = stat(path, &info) == 0 && S_ISREG(info.st_mode); /* a pipe would be waited for */
    FILE *in = regular ? fopen(path, "rb") : NULL;
    size_t n = in ? fread(head, 1, HEAD_B, in) : 0;
    if (in)
        fclose(in);
    return memmem(head, n, MT_BASELINE_SCHEMA, strlen(MT_BASELINE_SCHEMA)) != NULL;
}

static enum mt_status read_text(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                char *out, size_t size, struct mt_err *err)
{
    if (!v)
        return MT_OK;
    MT_TRY(mt_json_doc_want(d, v, MT_JSON_DOC_TEXT, err));
    snprintf(out, size, "%s", v->text);
    return MT_OK;
}

/* Whether that figure, of the others, may be less than 0. */
static int may_fall(int f)
{
    bool may = f == MT_FIG_SELF_NET_B || mt_figure_defs[f].adds == MT_ADDS_RATE;
    return may ? MT_BASELINE_MAY_FALL : 0;
}

enum mt_status mt_baseline_read_figure(const struct mt_json_doc *d,
                                       const struct mt_json_doc_value *v, int may, int64_t *out,
                                       struct mt_err *err)
{
    *out = MT_BASELINE_UNKNOWN;
    if (may & MT_BASELINE_MAY_BE_NULL && v->kind == MT_JSON_DOC_SCALAR &&
        strcmp(v->text, "null") == 0)
        return MT_OK;
    MT_TRY(mt_json_doc_int(d, v, out, err));
    const bool in_range = *out >= -LARGEST && *out <= LARGEST;
    if (in_range && (*out >= 0 || may & MT_BASELINE_MAY_FALL))
        return MT_OK;
    MT_FAIL(err, MT_EINPUT,
            in_range ? "a figure must not be negative: %s" : "a figure is out of range: %s",
            v->text);
    return mt_json_doc_at(d, v, err);
}

static enum mt_status read_flag(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                bool *out, struct mt_err *err)
{
    *out = v && v->kind == MT_JSON_DOC_SCALAR && strcmp(v->text, "true") == 0;
    if (!v || *out || (v->kind == MT_JSON_DOC_SCALAR && strcmp(v->text, "false") == 0))
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "\"%s\" must be true or false", v->key);
    return mt_json_doc_at(d, v, err);
}

enum mt_status mt_baseline_read_pair(const struct mt_json_doc *d,
                                     const struct mt_json_doc_value *pair, int may,
                                     int64_t figures[2], size_t *n, struct mt_err *err)
{
    const struct mt_json_doc_value *v;
    *n = 0;
    MT_TRY(mt_json_doc_want(d, pair, MT_JSON_DOC_ARRAY, err));
    for (v = mt_json_doc_first(d, pair); v; v = mt_json_doc_next(d, v), ++*n)
        if (*n < 2)
            MT_TRY(mt_baseline_read_figure(d, v, may, &figures[*n], err));
    return MT_OK;
}

/* A repeat, counted from 0, and its figure; others have none. */
static enum mt_status read_repeat(const struct mt_json_doc *d, const struct mt_json_doc_value *pair,
                                  const char *key, int may, int64_t from, size_t repeat_n,
                                  int64_t figures[2], struct mt_err *err)
{
    size_t n;
    MT_TRY(mt_baseline_read_pair(d, pair, may, figures, &n, err));
    if (n == 2 && figures[0] >= from && figures[0] < (int64_t)repeat_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT,
            "\"%s\" must list pairs, the number of a repeat, ever larger ones from 0 on, and its "
            "figure",
            key);
    return mt_json_doc_at(d, pair, err);
}

/* The figures of each repeat, where they are not the same in all: of each, or pairs of those that
 * have any. */
static enum mt_status read_each(const struct mt_json_doc *d, const struct mt_json_doc_value *list,
                                size_t repeat_n, enum mt_figure f, struct mt_baseline_site *site,
                                struct mt_err *err)
{
    size_t n = 0;
    int64_t next[2] = {0};
    MT_TRY(mt_json_doc_want(d, list, MT_JSON_DOC_ARRAY, err));
    const struct mt_json_doc_value *v = mt_json_doc_first(d, list);
    const bool pairs = v && v->kind == MT_JSON_DOC_ARRAY;
    for (; v; v = mt_json_doc_next(d, v), n++, next[0]++) {
        if (pairs)
            MT_TRY(read_repeat(d, v, list->key, may_fall(f), next[0], repeat_n, next, err));
        else if (n < repeat_n)
            MT_TRY(mt_baseline_read_figure(d, v, may_fall(f), &next[1], err));
        if (next[1] && next[0] < (int64_t)repeat_n)
            mt_baseline_each_at(site, (size_t)next[0])[f] = next[1];
    }
    if (pairs || n == repeat_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "\"%s\" has %zu figures of %zu repeats", list->key, n, repeat_n);
    return mt_json_doc_at(d, list, err);
}

static enum mt_status read_figures(const struct mt_json_doc *d,
                                   const struct mt_json_doc_value *from, size_t repeat_n,
                                   struct mt_baseline_site *site, struct mt_err *err)
{
    const struct mt_json_doc_value *v, *each[MT_FIG_BASELINE_N] = {0};
    int64_t in_all[MT_FIG_BASELINE_N] = {0}; /* of every repeat */
    bool any = false;
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        if (!mt_figure_defs[f].in_site)
            continue;
        if ((v = mt_json_doc_get(d, from, mt_figure_defs[f].in_site)))
            MT_TRY(mt_baseline_read_figure(d, v, may_fall(f), &site->v[f], err));
        each[f] = mt_json_doc_get(d, from, mt_figure_defs[f].in_each);
        site->differs |= each[f] != NULL;
        in_all[f] = each[f] ? 0 : site->v[f];
        any |= in_all[f] != 0;
    }
    for (size_t i = 0; i < repeat_n && site->differs && any; i++)
        memcpy(mt_baseline_each_at(site, i), in_all, sizeof in_all);
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        if (each[f])
            MT_TRY(read_each(d, each[f], repeat_n, (enum mt_figure)f, site, err));
    if (site->differs)
        mt_baseline_each_settle(site, repeat_n);
    return MT_OK;
}

static enum mt_status read_site(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                struct mt_baseline *b, struct mt_baseline_device *to,
                                struct mt_err *err)
{
    const char *keys[2 * MT_FIG_BASELINE_N + 4] = {"op", "scope", "line", "is_op"};
    size_t n = 4;
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        if (mt_figure_defs[f].in_site) {
            keys[n++] = mt_figure_defs[f].in_site;
            keys[n++] = mt_figure_defs[f].in_each;
        }
    MT_TRY(mt_json_doc_keys(d, from, keys, n, err));
    const struct mt_json_doc_value *op = mt_json_doc_get(d, from, "op"),
                                   *scope = mt_json_doc_get(d, from, "scope"),
                                   *line = mt_json_doc_get(d, from, "line");
    if (!op) {
        MT_FAIL(err, MT_EINPUT, "a site without \"op\"");
        return mt_json_doc_at(d, from, err);
    }
    MT_TRY(mt_json_doc_want(d, op, MT_JSON_DOC_TEXT, err));
    if (scope)
        MT_TRY(mt_json_doc_want(d, scope, MT_JSON_DOC_TEXT, err));
    if (line)
        MT_TRY(mt_json_doc_want(d, line, MT_JSON_DOC_TEXT, err));
    bool is_op;
    MT_TRY(read_flag(d, mt_json_doc_get(d, from, "is_op"), &is_op, err));
    struct mt_baseline_site *site = mt_vec_push(&to->sites);
    *site = (struct mt_baseline_site){.op = mt_baseline_text(b, op->text),
                                      .scope = scope ? mt_baseline_text(b, scope->text) : NULL,
                                      .line = line ? mt_baseline_text(b, line->text) : NULL,
                                      .explicit_row = !is_op && mt_baseline_is_explicit(op->text)};
    return read_figures(d, from, b->repeats.n, site, err);
}

static enum mt_status read_spread(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                  struct mt_baseline_device *to, struct mt_err *err)
{
    const char *keys[MT_FIG_BASELINE_N];
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        keys[f] = mt_figure_defs[f].in_device;
    MT_TRY(mt_json_doc_keys(d, from, keys, MT_FIG_BASELINE_N, err));
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        const struct mt_json_doc_value *v = mt_json_doc_get(d, from, keys[f]);
        if (v)
            MT_TRY(mt_baseline_read_figure(d, v, 0, &to->spread[f], err));
    }
    return MT_OK;
}

static enum mt_status read_older(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                 struct mt_baseline_device *to, struct mt_err *err)
{
    int64_t *const figures[] = {&to->older_b, &to->older_least_b, &to->older_most_b};
    const struct mt_json_doc_value *v, *left_out = mt_json_doc_get(d, from, "older_left_out");
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++) {
        *figures[i] = MT_BASELINE_UNKNOWN;
        if ((v = mt_json_doc_get(d, from, mt_baseline_older_keys[i])))
            MT_TRY(mt_baseline_read_figure(d, v, MT_BASELINE_MAY_BE_NULL, figures[i], err));
    }
    to->older_unsaid = !left_out && !mt_json_doc_get(d, from, mt_baseline_older_keys[0]);
    return read_flag(d, left_out, &to->older_left_out, err);
}

/* The name of a device, which none before it has. */
static enum mt_status read_device_name(const struct mt_json_doc *d,
                                       const struct mt_json_doc_value *v,
                                       const struct mt_baseline *b, struct mt_baseline_device *to,
                                       struct mt_err *err)
{
    MT_TRY(read_text(d, v, to->name, sizeof to->name, err));
    for (size_t i = 0; i + 1 < b->devices.n; i++)
        if (strcmp(b->devices.v[i].name, to->name) == 0) {
            MT_FAIL(err, MT_EINPUT, "the device \"%s\" appears a second time here", to->name);
            return mt_json_doc_at(d, v, err);
        }
    return MT_OK;
}

static enum mt_status read_device(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                  struct mt_baseline *b, struct mt_err *err)
{
    enum { OPTIONAL_N = 13, OTHER_N = 15 };
    const char *keys[MT_BASELINE_FIRST_N + OTHER_N] = {
        MT_BASELINE_UNKNOWN_KEY,
        mt_figure_defs[MT_BASELINE_FIRST_N].in_device,
        "spread",
        "sites_of",
        "older_left_out",
        mt_baseline_older_keys[0],
        mt_baseline_older_keys[1],
        mt_baseline_older_keys[2],
        mt_baseline_step_keys[0],
        mt_baseline_step_keys[1],
        mt_baseline_step_keys[2],
        mt_baseline_step_keys[3],
        MT_BASELINE_STEPS_KEY,
        "device",
        "sites"};
    for (int f = 0; f < MT_BASELINE_FIRST_N; f++)
        keys[OTHER_N + f] = mt_figure_defs[f].in_device;
    MT_TRY(mt_json_doc_keys(d, from, keys, MT_ARRAY_LEN(keys), err));
    struct mt_baseline_device *to = mt_vec_push(&b->devices);
    *to = (struct mt_baseline_device){0};
    for (size_t i = OPTIONAL_N; i < MT_ARRAY_LEN(keys); i++)
        if (!mt_json_doc_get(d, from, keys[i])) {
            MT_FAIL(err, MT_EINPUT, "a device without \"%s\"", keys[i]);
            return mt_json_doc_at(d, from, err);
        }
    MT_TRY(read_device_name(d, mt_json_doc_get(d, from, "device"), b, to, err));
    MT_TRY(
        read_text(d, mt_json_doc_get(d, from, "sites_of"), to->sites_of, sizeof to->sites_of, err));
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        const struct mt_json_doc_value *v = mt_json_doc_get(d, from, mt_figure_defs[f].in_device);
        to->v[f] = MT_BASELINE_UNKNOWN;
        if (v)
            MT_TRY(mt_baseline_read_figure(d, v, MT_BASELINE_MAY_BE_NULL | may_fall(f), &to->v[f],
                                           err));
    }
    MT_TRY(mt_baseline_read_unknown(d, from, b, to, err));
    MT_TRY(read_older(d, from, to, err));
    MT_TRY(mt_baseline_read_steps(d, from, b->repeats.n, to, err));
    if (mt_json_doc_get(d, from, "spread"))
        MT_TRY(read_spread(d, mt_json_doc_get(d, from, "spread"), to, err));
    const struct mt_json_doc_value *sites = mt_json_doc_get(d, from, "sites");
    MT_TRY(mt_json_doc_want(d, sites, MT_JSON_DOC_ARRAY, err));
    for (const struct mt_json_doc_value *s = mt_json_doc_first(d, sites); s;
         s = mt_json_doc_next(d, s))
        MT_TRY(read_site(d, s, b, to, err));
    return MT_OK;
}

/* The texts of a list: names of repeats, or hashes of contents. */
static enum mt_status read_texts(const struct mt_json_doc *d, const struct mt_json_doc_value *list,
                                 struct mt_baseline *b, bool repeats, struct mt_err *err)
{
    MT_TRY(mt_json_doc_want(d, list, MT_JSON_DOC_ARRAY, err));
    for (const struct mt_json_doc_value *v = mt_json_doc_first(d, list); v;
         v = mt_json_doc_next(d, v)) {
        MT_TRY(mt_json_doc_want(d, v, MT_JSON_DOC_TEXT, err));
        const char *text = mt_baseline_text(b, v->text);
        if (repeats)
            *mt_vec_push(&b->repeats) = text;
        else
            *mt_vec_push(&b->contents) = text;
    }
    return MT_OK;
}

static enum mt_status read_repeats(const struct mt_json_doc *d,
                                   const struct mt_json_doc_value *list, struct mt_baseline *b,
                                   struct mt_err *err)
{
    MT_TRY(read_texts(d, list, b, true, err));
    if (b->repeats.n && (int64_t)b->repeats.n == b->run_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "\"repeats\" names %zu runs, but \"runs_n\" is %lld", b->repeats.n,
            (long long)b->run_n);
    return mt_json_doc_at(d, list, err);
}

static enum mt_status read_all(const struct mt_json_doc *d, struct mt_baseline *b,
                               struct mt_err *err)
{
    static const char *const keys[] = {"schema", "version", "run",      "source", "format", "torch",
                                       "runs_n", "repeats", "contents", "warmup", "devices"};
    const struct mt_json_doc_value *root = mt_json_doc_root(d);
    MT_TRY(mt_json_doc_schema(d, MT_BASELINE_SCHEMA, MT_BASELINE_VERSION, err));
    MT_TRY(mt_json_doc_keys(d, root, keys, MT_ARRAY_LEN(keys), err));
    MT_TRY(read_text(d, mt_json_doc_get(d, root, "run"), b->run, sizeof b->run, err));
    MT_TRY(read_text(d, mt_json_doc_get(d, root, "source"), b->source, sizeof b->source, err));
    MT_TRY(read_text(d, mt_json_doc_get(d, root, "format"), b->format, sizeof b->format, err));
    MT_TRY(read_text(d, mt_json_doc_get(d, root, "torch"), b->torch, sizeof b->torch, err));
    const struct mt_json_doc_value *runs = mt_json_doc_get(d, root, "runs_n"),
                                   *warmup = mt_json_doc_get(d, root, "warmup"),
                                   *repeats = mt_json_doc_get(d, root, "repeats"),
                                   *contents = mt_json_doc_get(d, root, "contents"),
                                   *devices = mt_json_doc_get(d, root, "devices");
    b->run_n = 1;
    if (runs)
        MT_TRY(mt_json_doc_int(d, runs, &b->run_n, err));
    if (repeats)
        MT_TRY(read_repeats(d, repeats, b, err));
    if (contents)
        MT_TRY(read_texts(d, contents, b, false, err));
    if (warmup)
        MT_TRY(mt_json_doc_int(d, warmup, &b->warmup, err));
    if (!devices) {
        MT_FAIL(err, MT_EINPUT, "\"devices\" is missing");
        return mt_json_doc_at(d, root, err);
    }
    MT_TRY(mt_json_doc_want(d, devices, MT_JSON_DOC_ARRAY, err));
    for (const struct mt_json_doc_value *v = mt_json_doc_first(d, devices); v;
         v = mt_json_doc_next(d, v))
        MT_TRY(read_device(d, v, b, err));
    return MT_OK;
}

static enum mt_status use_doc(enum mt_status st, struct mt_json_doc *d, struct mt_baseline *out,
                              struct mt_err *err)
{
    *out = (struct mt_baseline){0};
    mt_strtab_init(&out->texts);
    if (st == MT_OK)
        st = read_all(d, out, err);
    if (st != MT_OK)
        mt_err_hint(err, "Nothing was compared. `memtool export --baseline RUN -o FILE` writes a "
                         "baseline anew.");
    mt_json_doc_free(d);
    return st;
}

enum mt_status mt_baseline_read(const char *path, struct mt_baseline *out, struct mt_err *err)
{
    struct mt_json_doc d;
    return use_doc(mt_json_doc_read(path, &d, err), &d, out, err);
}

enum mt_status mt_baseline_parse(const char *path, const char *text, size_t n,
                                 struct mt_baseline *out, struct mt_err *err)
{
    struct mt_json_doc d;
    return use_doc(mt_json_doc_parse(path, text, n, &d, err), &d, out, err);
}
