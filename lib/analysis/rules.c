#include "lib/analysis/rules.h"

#include "lib/base/finder.h"
#include "lib/base/human.h"
#include "lib/input/json_doc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct mt_rule_kind mt_rule_kinds[MT_RULE_N] = {
    [MT_RULE_PEAK] = {"max-peak", MT_FIG_AT_PEAK_B, false, false, false, "peak", "SIZE", "2GiB"},
    [MT_RULE_PEAK_GROWTH] = {"max-peak-growth", MT_FIG_AT_PEAK_B, true, false, false, "peak", "X",
                             "5%"},
    [MT_RULE_PER_STEP] = {"max-growth-per-step", MT_FIG_PER_STEP_B, false, false, false,
                          "growth per step", "SIZE", "1KiB"},
    [MT_RULE_ALLOC_GROWTH] = {"max-alloc-growth", MT_FIG_SELF_ALLOC_B, true, false, true,
                              "bytes allocated", "X", "10%"},
    [MT_RULE_ALLOC_COUNT_GROWTH] = {"max-alloc-count-growth", MT_FIG_SELF_ALLOC_N, true, true, true,
                                    "allocations", "X", "10%"},
    [MT_RULE_AT_END_GROWTH] = {"max-at-end-growth", MT_FIG_AT_END_B, true, false, false,
                               "bytes alive at the end", "X", "1MiB"},
    [MT_RULE_AT_END] = {"max-at-end", MT_FIG_AT_END_B, false, false, false,
                        "bytes alive at the end", "SIZE", "1MiB"},
    [MT_RULE_TEMPORARY] = {"max-temporary", MT_FIG_TEMPORARY_N, false, true, false,
                           "temporary allocations", "N", "1000"},
    [MT_RULE_RSS] = {"max-rss", MT_FIG_AT_PEAK_B, false, false, false, "peak rss", "SIZE", "2GiB",
                     true},
    [MT_RULE_RSS_GROWTH] = {"max-rss-growth", MT_FIG_AT_PEAK_B, true, false, false, "peak rss", "X",
                            "5%", true},
    [MT_RULE_RSS_PER_STEP] = {"max-rss-growth-per-step", MT_FIG_RSS_PER_STEP_B, false, false, false,
                              "rss", "SIZE", "64KiB", true},
    [MT_RULE_RSS_PER_MINUTE] = {"max-rss-growth-per-minute", MT_FIG_RSS_PER_MINUTE_B, false, false,
                                false, "rss", "SIZE", "1MiB", true},
};

void mt_rules_free(struct mt_rules *r)
{
    for (size_t i = 0; i < r->v.n; i++) {
        struct mt_rule *rule = &r->v.v[i];
        char *const texts[] = {rule->name, rule->limit, rule->device, rule->op, rule->scope};
        void *const compiled[] = {rule->op_finder, rule->scope_finder};
        for (size_t k = 0; k < MT_ARRAY_LEN(texts); k++)
            free(texts[k]);
        for (size_t k = 0; k < MT_ARRAY_LEN(compiled); k++)
            if (compiled[k]) {
                mt_finder_free(compiled[k]);
                free(compiled[k]);
            }
    }
    mt_vec_free(&r->v);
}

static bool parse_count(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end > text && !*end && errno == 0;
}

static enum mt_status parse_limit(struct mt_rule *rule, struct mt_err *err)
{
    const struct mt_rule_kind *k = rule->kind;
    bool percent = mt_parse_percent(rule->limit, &rule->percent);
    if (percent && k->growth)
        return MT_OK;
    rule->percent = -1;
    if (percent) {
        MT_FAIL(err, MT_EUSAGE, "%s '%s': a percentage of what?", k->name, rule->limit);
        mt_err_hint(err, "Nothing was checked. Write a %s, such as %s.",
                    k->count ? "number" : "size", k->sample);
        return MT_EUSAGE;
    }
    bool known = k->count ? parse_count(rule->limit, &rule->amount)
                          : mt_parse_size(rule->limit, &rule->amount);
    if (known && rule->amount >= 0)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "%s '%s' is %s", k->name, rule->limit,
            !k->growth ? k->count ? "not a number" : "not a size"
            : k->count ? "neither a percentage nor a number"
                       : "neither a percentage nor a size");
    mt_err_hint(err, "Nothing was checked. Write %s, for example.", k->sample);
    return MT_EUSAGE;
}

static enum mt_status compile(const char *what, const char *text, void **out, struct mt_err *err)
{
    if (!text)
        return MT_OK;
    struct mt_finder *finder = mt_alloc(sizeof *finder);
    if (mt_finder_make(finder, what, text, err) == MT_OK) {
        *out = finder;
        return MT_OK;
    }
    free(finder);
    mt_err_hint(err, "Nothing was checked. Write \\( for a literal bracket.");
    return MT_EUSAGE;
}

enum mt_status mt_rules_add(struct mt_rules *r, enum mt_rule_id kind, const char *limit,
                            const struct mt_rule_about *about, struct mt_err *err)
{
    struct mt_rule *rule = mt_vec_push(&r->v);
    *rule = (struct mt_rule){.kind = &mt_rule_kinds[kind],
                             .name = mt_strdup(about->name),
                             .limit = mt_strdup(limit),
                             .percent = -1,
                             .device = mt_strdup(about->device),
                             .op = mt_strdup(about->op),
                             .scope = mt_strdup(about->scope)};
    MT_TRY(parse_limit(rule, err));
    MT_TRY(mt_narrow_parse(about->category, &rule->narrow, err));
    bool whole = rule->kind->process || mt_baseline_has_other(rule->kind->figure);
    if (whole && (rule->op || rule->scope || rule->narrow.set)) {
        MT_FAIL(err, MT_EUSAGE, "%s is about all that a %s, not %s", rule->kind->name,
                rule->kind->process ? "process has in memory" : "device allocates",
                rule->narrow.set ? "a category" : "an op or a scope");
        mt_err_hint(err, "Nothing was checked. %s",
                    rule->kind->process ? "Limits of ops are for traces of it."
                                        : "`memtool table` has them by site.");
        return MT_EUSAGE;
    }
    MT_TRY(compile("op", rule->op, &rule->op_finder, err));
    return compile("scope", rule->scope, &rule->scope_finder, err);
}

void mt_rules_categories(const struct mt_rules *r, struct mt_narrows *out)
{
    for (size_t i = 0; i < r->v.n; i++) {
        const struct mt_narrow *n = &r->v.v[i].narrow;
        size_t k = 0;
        while (k < out->v.n && out->v.v[k].set != n->set)
            k++;
        if (n->set && k == out->v.n)
            *mt_vec_push(&out->v) = *n;
    }
}

bool mt_rule_is_about(const struct mt_rule *rule, const struct mt_baseline_site *site)
{
    if (rule->op_finder && !mt_finder_finds(rule->op_finder, site->op))
        return false;
    return !rule->scope_finder || (site->scope && mt_finder_finds(rule->scope_finder, site->scope));
}

/* ---- the file ---- */

/* Keys of a rule: those below, and the names of the rules. */
enum { ABOUT_N = 5 };
static const char *const about_keys[ABOUT_N] = {"name", "device", "op", "scope", "category"};

static enum mt_status read_limit(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                 enum mt_rule_id kind, const struct mt_rule_about *about,
                                 struct mt_rules *r, struct mt_err *err)
{
    if (v->kind != MT_JSON_DOC_SCALAR) /* a number stands for itself: bytes, or pieces */
        MT_TRY(mt_json_doc_want(d, v, MT_JSON_DOC_TEXT, err));
    return mt_rules_add(r, kind, v->text, about, err) == MT_OK ? MT_OK : mt_json_doc_at(d, v, err);
}

static enum mt_status read_rule(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                const struct mt_rule_about *defaults, struct mt_rules *r,
                                struct mt_err *err)
{
    const char *keys[ABOUT_N + MT_RULE_N];
    const char *texts[ABOUT_N] = {NULL, defaults->device, defaults->op, defaults->scope,
                                  defaults->category};
    size_t before = r->v.n;
    for (int i = 0; i < ABOUT_N; i++)
        keys[i] = about_keys[i];
    for (int i = 0; i < MT_RULE_N; i++)
        keys[ABOUT_N + i] = mt_rule_kinds[i].name;
    MT_TRY(mt_json_doc_keys(d, from, keys, MT_ARRAY_LEN(keys), err));
    for (int i = 0; i < ABOUT_N; i++) {
        const struct mt_json_doc_value *v = mt_json_doc_get(d, from, about_keys[i]);
        if (!v)
            continue;
        MT_TRY(mt_json_doc_want(d, v, MT_JSON_DOC_TEXT, err));
        texts[i] = v->text;
    }
    const struct mt_rule_about about = {texts[0], texts[1], texts[2], texts[3], texts[4]};
    for (int i = 0; i < MT_RULE_N; i++) {
        const struct mt_json_doc_value *v = mt_json_doc_get(d, from, mt_rule_kinds[i].name);
        if (v)
            MT_TRY(read_limit(d, v, (enum mt_rule_id)i, &about, r, err));
    }
    if (r->v.n > before)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "a rule without a limit");
    mt_err_hint(err, "Nothing was checked. Give it one, such as \"max-peak\": \"2GiB\".");
    return mt_json_doc_at(d, from, err);
}

static enum mt_status read_rules(const struct mt_json_doc *d, const struct mt_rule_about *about,
                                 struct mt_rules *r, struct mt_err *err)
{
    static const char *const keys[] = {"schema", "version", "rules"};
    const struct mt_json_doc_value *root = mt_json_doc_root(d), *list;
    MT_TRY(mt_json_doc_schema(d, "memtool.rules", 1, err));
    MT_TRY(mt_json_doc_keys(d, root, keys, MT_ARRAY_LEN(keys), err));
    list = mt_json_doc_get(d, root, "rules");
    if (!list) {
        MT_FAIL(err, MT_EINPUT, "\"rules\" is missing");
        return mt_json_doc_at(d, root, err);
    }
    MT_TRY(mt_json_doc_want(d, list, MT_JSON_DOC_ARRAY, err));
    for (const struct mt_json_doc_value *v = mt_json_doc_first(d, list); v;
         v = mt_json_doc_next(d, v))
        MT_TRY(read_rule(d, v, about, r, err));
    return MT_OK;
}

static enum mt_status use_doc(enum mt_status st, struct mt_json_doc *d,
                              const struct mt_rule_about *about, struct mt_rules *r,
                              struct mt_err *err)
{
    if (st == MT_OK)
        st = read_rules(d, about, r, err);
    if (st != MT_OK)
        mt_err_hint(err, "Nothing was checked. docs/ci.md has the format of rules.");
    mt_json_doc_free(d);
    return st;
}

enum mt_status mt_rules_read(const char *path, const struct mt_rule_about *about,
                             struct mt_rules *r, struct mt_err *err)
{
    struct mt_json_doc d;
    return use_doc(mt_json_doc_read(path, &d, err), &d, about, r, err);
}

enum mt_status mt_rules_parse(const char *path, const char *text, size_t n,
                              const struct mt_rule_about *about, struct mt_rules *r,
                              struct mt_err *err)
{
    struct mt_json_doc d;
    return use_doc(mt_json_doc_parse(path, text, n, &d, err), &d, about, r, err);
}
