/* Writing the file of a baseline; baseline_file.c reads it. */
#include "lib/analysis/baseline_parts.h"
#include <stdlib.h>
#include <string.h>

static void add_text(struct mt_json_out *j, const char *key, const char *text)
{
    mt_json_put_key(j, key);
    mt_json_put_text(j, text);
}

void mt_baseline_write_int(struct mt_json_out *j, const char *key, int64_t v)
{
    mt_json_put_key(j, key);
    if (v == MT_BASELINE_UNKNOWN)
        mt_json_put_null(j);
    else
        mt_json_put_int(j, v);
}

static int site_cmp(const void *a, const void *b)
{
    const struct mt_baseline_site *x = a, *y = b;
    if (x->explicit_row != y->explicit_row)
        return x->explicit_row ? 1 : -1;
    int c = strcmp(x->op, y->op);
    c = c ? c : strcmp(x->scope ? x->scope : "", y->scope ? y->scope : "");
    return c ? c : strcmp(x->line ? x->line : "", y->line ? y->line : "");
}

void mt_baseline_write_pair(struct mt_json_out *j, int64_t a, int64_t b)
{
    mt_json_put_begin(j, "[]", false);
    mt_json_put_int(j, a);
    mt_json_put_int(j, b);
    mt_json_put_end(j);
}

/* What each repeat has, where they differ; where few of them have any, what these have. */
static void add_each(struct mt_json_out *j, const struct mt_baseline_site *s, enum mt_figure f,
                     size_t repeat_n)
{
    size_t any = 0, same = s->v[f] ? 0 : repeat_n - s->each.n;
    for (size_t i = 0; i < s->each.n; i++) {
        any += s->each.v[i].v[f] != 0;
        same += s->each.v[i].v[f] == s->v[f];
    }
    if (!s->differs || same == repeat_n)
        return;
    const bool few = any && any < repeat_n / 4;
    mt_json_put_key(j, mt_figure_defs[f].in_each);
    mt_json_put_begin(j, "[]", false);
    for (size_t i = 0; i < repeat_n && !few; i++)
        mt_json_put_int(j, mt_baseline_figure_in(s, f, i));
    for (size_t i = 0; i < s->each.n && few; i++)
        if (s->each.v[i].v[f])
            mt_baseline_write_pair(j, s->each.v[i].repeat, s->each.v[i].v[f]);
    mt_json_put_end(j);
}

static void add_site(struct mt_json_out *j, const struct mt_baseline_site *s, size_t repeat_n)
{
    mt_json_put_begin(j, "{}", false);
    add_text(j, "op", s->op);
    if (!s->explicit_row && mt_baseline_is_explicit(s->op)) {
        mt_json_put_key(j, "is_op");
        mt_json_put_bool(j, true);
    }
    if (s->scope)
        add_text(j, "scope", s->scope);
    if (s->line)
        add_text(j, "line", s->line);
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        if (!mt_figure_defs[f].in_site)
            continue;
        if (s->v[f])
            mt_baseline_write_int(j, mt_figure_defs[f].in_site, s->v[f]);
        add_each(j, s, (enum mt_figure)f, repeat_n);
    }
    mt_json_put_end(j);
}

/* Always there: a file without it was written before anybody asked. */
static void add_older(struct mt_json_out *j, const struct mt_baseline_device *d)
{
    mt_baseline_write_int(j, mt_baseline_older_keys[0], d->older_b);
    mt_json_put_key(j, "older_left_out");
    mt_json_put_bool(j, d->older_left_out);
    if (!d->older_left_out)
        return;
    mt_baseline_write_int(j, mt_baseline_older_keys[1], d->older_least_b);
    mt_baseline_write_int(j, mt_baseline_older_keys[2], d->older_most_b);
}

static void add_sites(struct mt_json_out *j, const struct mt_baseline_device *d, size_t repeat_n)
{
    struct mt_baseline_site *sites = mt_alloc((d->sites.n + 1) * sizeof *sites);
    mt_json_put_key(j, "sites");
    mt_json_put_begin(j, "[]", true);
    if (d->sites.n) {
        memcpy(sites, d->sites.v, d->sites.n * sizeof *sites);
        qsort(sites, d->sites.n, sizeof *sites, site_cmp);
    }
    for (size_t i = 0; i < d->sites.n; i++)
        add_site(j, &sites[i], repeat_n);
    mt_json_put_end(j);
    free(sites);
}

static void add_device(struct mt_json_out *j, const struct mt_baseline *b,
                       const struct mt_baseline_device *d)
{
    mt_json_put_begin(j, "{}", true);
    add_text(j, "device", d->name);
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        mt_baseline_write_int(j, mt_figure_defs[f].in_device, d->v[f]);
    mt_baseline_write_unknown(j, b, d);
    add_older(j, d);
    mt_baseline_write_steps(j, d);
    if (b->run_n > 1) {
        mt_json_put_key(j, "spread");
        mt_json_put_begin(j, "{}", false);
        for (int f = 0; f < MT_FIG_BASELINE_N; f++)
            mt_baseline_write_int(j, mt_figure_defs[f].in_device, d->spread[f]);
        mt_json_put_end(j);
        add_text(j, "sites_of", d->sites_of);
    }
    add_sites(j, d, b->repeats.n);
    mt_json_put_end(j);
}

/* In one line; nothing where there are none. */
static void add_texts(struct mt_json_out *j, const char *key, const char *const *texts, size_t n)
{
    if (!n)
        return;
    mt_json_put_key(j, key);
    mt_json_put_begin(j, "[]", false);
    for (size_t i = 0; i < n; i++)
        mt_json_put_text(j, texts[i]);
    mt_json_put_end(j);
}

void mt_baseline_write(const struct mt_baseline *b, struct mt_buf *out)
{
    const char *slash = strrchr(b->source, '/'); /* folders differ from machine to machine */
    struct mt_json_out j = {.to = out, .spaced = true, .indent = 2};
    mt_json_put_begin(&j, "{}", true);
    add_text(&j, "schema", MT_BASELINE_SCHEMA);
    mt_baseline_write_int(&j, "version", MT_BASELINE_VERSION);
    add_text(&j, "run", b->run);
    add_text(&j, "source", slash ? slash + 1 : b->source);
    add_text(&j, "format", b->format);
    if (b->torch[0])
        add_text(&j, "torch", b->torch);
    mt_baseline_write_int(&j, "runs_n", b->run_n);
    add_texts(&j, "repeats", b->repeats.v, b->repeats.n);
    add_texts(&j, "contents", b->contents.v, b->contents.n);
    mt_baseline_write_int(&j, "warmup", b->warmup);
    mt_json_put_key(&j, "devices");
    mt_json_put_begin(&j, "[]", true);
    for (size_t i = 0; i < b->devices.n; i++)
        add_device(&j, b, &b->devices.v[i]);
    mt_json_put_end(&j);
    mt_json_put_end(&j);
    mt_buf_addc(out, '\n');
}
