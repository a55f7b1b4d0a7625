#include "lib/page/page.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/run/knows.h"
#include "lib/usage/samples.h"
#include <string.h>

enum { MOMENTS_WHOLE = 3000, SPANS = 1500, PARTS_MOST = 160, PARTS_LEAST = 10 };
enum { PARTS_BYTES = 240 * 1024 }; /* of JSON */

static struct mt_bucket moment_at(int64_t start_ns, int64_t level_b, int64_t index)
{
    return (struct mt_bucket){start_ns, start_ns, level_b, level_b, level_b, index};
}

/* Each time with a change is a moment; of several at one time the highest. */
static void take_all(struct mt_page_curve *c)
{
    const struct mt_levels *l = &c->levels;
    if (!l->all.n || l->all.v[0].t_ns > 0)
        *mt_vec_push(&c->moments.all) = moment_at(0, l->start_b, -1);
    for (size_t i = 0; i < l->all.n; i++) {
        const struct mt_level *level = &l->all.v[i];
        struct mt_bucket *last = c->moments.all.n ? &c->moments.all.v[c->moments.all.n - 1] : NULL;
        bool same = last && i && l->all.v[i - 1].t_ns == level->t_ns;
        if (!same)
            *mt_vec_push(&c->moments.all) = moment_at(level->t_ns, level->level_b, (int64_t)i);
        else if (level->level_b > last->max_b)
            *last = moment_at(level->t_ns, level->level_b, (int64_t)i);
    }
}

static enum mt_status load_moments(struct mt_allocations *l, const struct mt_run_device *device,
                                   struct mt_page_curve *c, struct mt_err *err)
{
    const struct mt_window all = {0, INT64_MAX};
    const struct mt_window shown = mt_window_within(&all, l->run->dur_ns);
    size_t n;
    int64_t *times = mt_buckets_moments(&all, &shown, SPANS, &n);
    c->whole = l->run->record_n <= MOMENTS_WHOLE;
    enum mt_status st = c->whole
                            ? mt_levels_load(l->db, l->run, device, &c->levels, err)
                            : mt_levels_load_near(l->db, l->run, device, times, n, &c->levels, err);
    free(times);
    if (c->whole)
        take_all(c);
    else
        mt_buckets_fill(&c->moments, &c->levels, &all, &shown, SPANS);
    return st;
}

static enum mt_status load_samples(struct mt_allocations *l, const struct mt_run_device *device,
                                   struct mt_page_curve *c, struct mt_err *err)
{
    static const char *const beside[] = {"reserved", "rss"};
    MT_TRY(mt_samples_load(l->db, l->run, device, "oom", &c->ooms, err));
    for (size_t i = 0; i < MT_ARRAY_LEN(beside) && !c->second.all.n; i++) {
        c->second_what = beside[i];
        if (strcmp(beside[i], c->what) != 0)
            MT_TRY(mt_samples_load(l->db, l->run, device, beside[i], &c->second, err));
    }
    if (!c->second.all.n)
        c->second_what = NULL;
    return MT_OK;
}

/* How much the parts take in JSON, about. */
static size_t weight_of(const struct mt_bands *b)
{
    size_t changes = 0;
    for (size_t i = 0; i < b->all.n; i++)
        for (size_t k = 0; k < b->bucket_n; k++)
            changes += b->all.v[i].bytes[k] != (k ? b->all.v[i].bytes[k - 1] : 0);
    return changes * 11;
}

static enum mt_status load_parts(struct mt_allocations *l, const struct mt_run_device *device,
                                 struct mt_page_curve *c, struct mt_err *err)
{
    const enum mt_group_key keys[] = {MT_BY_SITE, MT_BY_CATEGORY};
    int key_n = mt_device_categorizes(device) ? 2 : 1;
    if (!mt_device_has_events(device) || !mt_device_knows(device, MT_KNOWS_BLOCKS))
        return MT_OK;
    for (size_t most = PARTS_MOST; most >= PARTS_LEAST; most /= 2) {
        mt_bands_free(&c->bands);
        MT_TRY(mt_bands_load_ever(l, device, &c->levels, NULL, &c->moments, keys, key_n, most,
                                  &c->bands, err));
        if (weight_of(&c->bands) <= PARTS_BYTES)
            break;
    }
    return MT_OK;
}

/* What sites hold at the moments of a log that knows no single blocks. */
static enum mt_status load_held(struct mt_allocations *l, const struct mt_run_device *device,
                                struct mt_page_curve *c, struct mt_err *err)
{
    static const enum mt_group_key site = MT_BY_SITE;
    if (mt_device_has_events(device) || !mt_device_knows(device, MT_KNOWS_MOMENTS))
        return MT_OK;
    MT_TRY(mt_moments_load(l, device, true, &c->at, err));
    for (size_t i = 0; i < c->at.levels.all.n; i++) {
        const struct mt_level *level = &c->at.levels.all.v[i];
        *mt_vec_push(&c->held_moments.all) = moment_at(level->t_ns, level->level_b, (int64_t)i);
    }
    for (size_t most = PARTS_MOST; most >= PARTS_LEAST; most /= 2) {
        mt_bands_free(&c->held);
        MT_TRY(mt_bands_load_ever(l, device, &c->at.levels, &c->at, &c->held_moments, &site, 1,
                                  most, &c->held, err));
        if (weight_of(&c->held) <= PARTS_BYTES)
            break;
    }
    return MT_OK;
}

enum mt_status mt_page_curve_load(struct mt_allocations *l, const struct mt_run_device *device,
                                  struct mt_page_curve *out, struct mt_err *err)
{
    *out = (struct mt_page_curve){.run = l->run,
                                  .what = mt_kind_words[l->run->kind].level,
                                  .peak_ns = device->one_moment ? MT_UNKNOWN : device->peak_ns,
                                  .steps = &l->steps};
    MT_TRY(load_moments(l, device, out, err));
    MT_TRY(load_samples(l, device, out, err));
    MT_TRY(load_held(l, device, out, err));
    return load_parts(l, device, out, err);
}

void mt_page_curve_free(struct mt_page_curve *c)
{
    mt_levels_free(&c->levels);
    mt_levels_free(&c->second);
    mt_levels_free(&c->ooms);
    mt_buckets_free(&c->moments);
    mt_bands_free(&c->bands);
    mt_moments_free(&c->at);
    mt_buckets_free(&c->held_moments);
    mt_bands_free(&c->held);
}

/* When a moment is. */
static int64_t time_of(const struct mt_page_curve *c, size_t k)
{
    const struct mt_bucket *b = &c->moments.all.v[k];
    int64_t at = mt_levels_time(&c->levels, b->max_at, b->start_ns);
    return at < b->start_ns ? b->start_ns : at;
}

static void add_curve(const int64_t *times, const struct mt_buckets *moments, struct mt_buf *out)
{
    int64_t last = 0;
    mt_buf_adds(out, "\"t\":[");
    for (size_t k = 0; k < moments->all.n; k++) {
        mt_buf_addf(out, "%s%lld", k ? "," : "", (long long)mt_wrap_sub(times[k], last));
        last = times[k];
    }
    last = 0;
    mt_buf_adds(out, "],\"b\":[");
    for (size_t k = 0; k < moments->all.n; k++) {
        mt_buf_addf(out, "%s%lld", k ? "," : "",
                    (long long)mt_wrap_sub(moments->all.v[k].max_b, last));
        last = moments->all.v[k].max_b;
    }
    mt_buf_adds(out, "]");
}

static void add_moments(const struct mt_page_curve *c, struct mt_buf *out)
{
    int64_t *times = mt_alloc((c->moments.all.n + 1) * sizeof *times);
    for (size_t k = 0; k < c->moments.all.n; k++)
        times[k] = time_of(c, k);
    add_curve(times, &c->moments, out);
    free(times);
}

/* [[time, value], ...]; of very many those that are highest in their span. */
static void add_pairs(const struct mt_levels *l, int64_t dur_ns, struct mt_buf *out)
{
    enum { PAIRS = 1200 };
    struct mt_buckets few = {0};
    const struct mt_window all = {0, INT64_MAX};
    const struct mt_window shown = mt_window_within(&all, dur_ns);
    const char *comma = "";
    mt_buf_addc(out, '[');
    if (l->all.n > PAIRS)
        mt_buckets_fill(&few, l, &all, &shown, PAIRS);
    for (size_t i = 0; i < few.all.n; i++)
        if (few.all.v[i].end_ns > l->all.v[0].t_ns) { /* nothing is known before */
            mt_buf_addf(out, "%s[%lld,%lld]", comma, (long long)few.all.v[i].start_ns,
                        (long long)few.all.v[i].max_b);
            comma = ",";
        }
    for (size_t i = 0; i < l->all.n && !few.all.n; i++)
        if (l->all.v[i].level_b != MT_UNKNOWN) {
            mt_buf_addf(out, "%s[%lld,%lld]", comma, (long long)l->all.v[i].t_ns,
                        (long long)l->all.v[i].level_b);
            comma = ",";
        }
    mt_buf_addc(out, ']');
    mt_buckets_free(&few);
}

static size_t number_of(const char **names, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    names[*n] = name;
    return (*n)++;
}

static void add_texts(const char *key, const char **texts, size_t n, struct mt_buf *out)
{
    mt_buf_addf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        struct mt_buf words = {0};
        mt_escape_short(&words, texts[i]);
        mt_buf_adds(out, i ? ",\"" : "\"");
        mt_escape_json(out, words.n ? words.s : "");
        mt_buf_addc(out, '"');
        mt_buf_free(&words);
    }
    mt_buf_addc(out, ']');
}

static void add_changes(const struct mt_band *band, size_t n, struct mt_buf *out)
{
    size_t last = 0;
    int64_t value = 0;
    const char *comma = "";
    for (size_t k = 0; k < n; k++) {
        if (band->bytes[k] == value)
            continue;
        value = band->bytes[k];
        mt_buf_addf(out, "%s%zu,%lld", comma, k - last, (long long)value);
        last = k;
        comma = ",";
    }
}

static void add_parts(const struct mt_bands *b, struct mt_buf *out)
{
    const char **sites = mt_alloc((b->all.n + 1) * sizeof *sites);
    const char **kinds = mt_alloc((b->all.n + 1) * sizeof *kinds);
    size_t site_n = 0, kind_n = 0;
    mt_buf_adds(out, ",\"parts\":[");
    for (size_t i = 0; i < b->all.n; i++) {
        const struct mt_band *band = &b->all.v[i];
        const char *site = band->key[0] ? band->key[0] : "-";
        const char *kind = b->key_n > 1 && band->key[1] ? band->key[1] : "";
        mt_buf_addf(out, "%s[%zu,%zu,[", i ? "," : "", number_of(sites, &site_n, site),
                    number_of(kinds, &kind_n, kind));
        add_changes(band, b->bucket_n, out);
        mt_buf_adds(out, "]]");
    }
    mt_buf_adds(out, "]");
    add_texts("sites", sites, site_n, out);
    add_texts("categories", kinds, kind_n, out);
    free(sites);
    free(kinds);
}

static void add_held(const struct mt_page_curve *c, struct mt_buf *out)
{
    int64_t *times = mt_alloc((c->held_moments.all.n + 1) * sizeof *times);
    for (size_t k = 0; k < c->held_moments.all.n; k++)
        times[k] = c->at.levels.all.v[k].t_ns;
    mt_buf_adds(out, ",\"held\":{");
    add_curve(times, &c->held_moments, out);
    add_parts(&c->held, out);
    mt_buf_addc(out, '}');
    free(times);
}

void mt_page_curve_json(const struct mt_page_curve *c, struct mt_buf *out)
{
    mt_buf_adds(out, "{\"unit\":\"");
    mt_escape_json(out, c->run->time_unit);
    mt_buf_addf(out, "\",\"what\":\"%s\",\"whole\":%s,\"records\":%lld,\"dur\":%lld,", c->what,
                c->whole ? "true" : "false", (long long)c->run->record_n,
                (long long)c->run->dur_ns);
    add_moments(c, out);
    mt_buf_adds(out, ",\"steps\":[");
    for (size_t i = 0; i < c->steps->all.n; i++)
        mt_buf_addf(out, "%s[%lld,%lld]", i ? "," : "", (long long)c->steps->all.v[i].number,
                    (long long)c->steps->all.v[i].start_ns);
    mt_buf_adds(out, "],\"oom\":");
    add_pairs(&c->ooms, c->run->dur_ns, out);
    if (c->second_what) {
        mt_buf_addf(out, ",\"second\":{\"what\":\"%s\",\"of\":", c->second_what);
        add_pairs(&c->second, c->run->dur_ns, out);
        mt_buf_adds(out, "}");
    }
    if (c->peak_ns != MT_UNKNOWN)
        mt_buf_addf(out, ",\"peak\":%lld", (long long)c->peak_ns);
    if (c->bands.key_n)
        add_parts(&c->bands, out);
    if (c->held.key_n)
        add_held(c, out);
    mt_buf_addc(out, '}');
}

/* Steps of at least 3 pixels, each as high as its highest moment. */
void mt_page_curve_svg(const struct mt_page_curve *c, struct mt_buf *out)
{
    enum { WIDTH = 1072, HEIGHT = 300, COLUMNS = WIDTH / 3 };
    double most = 1, dur = c->run->dur_ns > 0 ? (double)c->run->dur_ns : 1;
    double high[COLUMNS] = {0};
    size_t n = c->moments.all.n;
    for (size_t k = 0; k < n; k++) {
        double level = (double)c->moments.all.v[k].max_b;
        double to_ns = k + 1 < n ? (double)time_of(c, k + 1) : dur;
        int from = (int)((double)time_of(c, k) / dur * COLUMNS);
        int to = (int)(to_ns / dur * COLUMNS);
        for (int x = from < 0 ? 0 : from; x <= to && x < COLUMNS; x++)
            high[x] = level > high[x] ? level : high[x];
        most = level > most ? level : most;
    }
    mt_buf_addf(out,
                "<svg class=\"still\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s over "
                "time\"><path d=\"M0 %d",
                WIDTH, HEIGHT, c->what, HEIGHT);
    for (int x = 0; x < COLUMNS; x++)
        mt_buf_addf(out, "V%.1fh3", HEIGHT - high[x] / most * (HEIGHT - 10));
    mt_buf_addf(out, "V%dz\"/></svg>\n", HEIGHT);
}
