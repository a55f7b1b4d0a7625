/* What memtool check found, in words. */
#include "cmd/check.h"
#include "lib/base/human.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_amount(struct mt_buf *out, const struct mt_rule_kind *kind, int64_t v)
{
    char text[MT_HUMAN_MAX];
    mt_buf_adds(out, kind->count ? mt_human_count(v, text) : mt_human_bytes(v, text));
}

void mt_finding_subject(const struct mt_checked *c, struct mt_buf *out)
{
    mt_buf_adds(out, "");
    if (c->rule->op)
        mt_buf_addf(out, "op %s", c->rule->op);
    if (c->rule->scope)
        mt_buf_addf(out, "%sscope %s", c->rule->op ? ", " : "", c->rule->scope);
}

/* Figures that differ too little to be told apart as people read them. */
static bool same_text(const struct mt_rule_kind *kind, int64_t a, int64_t b)
{
    char ta[MT_HUMAN_MAX], tb[MT_HUMAN_MAX];
    return !kind->count && strcmp(mt_human_bytes(a, ta), mt_human_bytes(b, tb)) == 0;
}

/* As diff rounds it, and with more digits where these tell it from the limit. */
static void add_percent(struct mt_buf *out, double percent, double limit)
{
    enum { DECIMALS_MAX = 12 };
    char text[MT_HUMAN_MAX], plain[MT_HUMAN_MAX];
    int decimals = mt_percent_decimals(percent);
    for (decimals = decimals < 0 ? 1 : decimals; decimals <= DECIMALS_MAX; decimals++) {
        snprintf(plain, sizeof plain, "%.*f", decimals, fmin(percent, 1e15));
        double shown = strtod(plain, NULL);
        if ((shown > limit) == (percent > limit) && (shown < limit) == (percent < limit))
            break;
    }
    mt_buf_addf(out, "%s %%", mt_human_decimal(percent, decimals, text));
}

static void add_open(struct mt_buf *out, const struct mt_checked *c, int64_t v, int64_t unlisted)
{
    mt_buf_adds(out, mt_check_is_open(v, unlisted) ? "at most " : "");
    add_amount(out, c->rule->kind, mt_check_is_open(v, unlisted) ? unlisted : v);
}

static void add_growth(const struct mt_checked *c, struct mt_buf *out)
{
    const struct mt_rule_kind *kind = c->rule->kind;
    int64_t change = c->measured - c->base;
    if (mt_check_is_open(c->base, c->base_unlisted) || mt_check_is_open(c->measured, c->unlisted)) {
        mt_buf_adds(out, " went from ");
        add_open(out, c, c->base, c->base_unlisted);
        mt_buf_adds(out, " to ");
        add_open(out, c, c->measured, c->unlisted);
        return;
    }
    if (!change) {
        mt_buf_adds(out, " stayed at ");
        add_amount(out, kind, c->base);
        return;
    }
    mt_buf_adds(out, change > 0 ? " grew " : " fell ");
    if (c->base > 0) {
        double percent = 100 * fabs((double)change) / (double)c->base;
        add_percent(out, percent, change > 0 ? c->rule->percent : -1); /* a fall exceeds nothing */
    } else {
        mt_buf_adds(out, "by ");
        add_amount(out, kind, change > 0 ? change : -change);
    }
    mt_buf_adds(out, " (");
    add_amount(out, kind, c->base);
    mt_buf_adds(out, " -> ");
    add_amount(out, kind, c->measured);
    if (same_text(kind, c->base, c->measured) || c->rule->percent < 0) {
        mt_buf_adds(out, change > 0 ? ", +" : ", ");
        add_amount(out, kind, change);
    }
    mt_buf_adds(out, ")");
}

/* Exact figures, where what is compared with the limit reads like it. */
static void add_bytes(const struct mt_checked *c, struct mt_buf *out)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    int64_t is = c->measured, limit = c->limit;
    if (c->rule->kind->growth) {
        is -= c->base;
        limit = c->rule->amount;
    }
    if (c->rule->percent < 0 && is != limit && same_text(c->rule->kind, is, limit))
        mt_buf_addf(out, " (%s B %c %s B)", mt_human_count(is, a), is > limit ? '>' : '<',
                    mt_human_count(limit, b));
}

static void add_spread(const struct mt_checked *c, struct mt_buf *out)
{
    size_t new_n = c->repeat_n;
    if (new_n > 1 || c->spread > 0) {
        mt_buf_adds(out, ", spread ");
        add_amount(out, c->rule->kind, c->spread);
    }
    if (new_n > 1)
        mt_buf_addf(out, " over %zu repeats", new_n);
    if (c->base_spread > 0) {
        mt_buf_adds(out, ", spread of the baseline ");
        add_amount(out, c->rule->kind, c->base_spread);
    }
}

/* As it is written; a bare number is one of bytes. */
static void add_limit(struct mt_buf *out, const struct mt_rule *rule)
{
    bool bare =
        rule->amount && !rule->kind->count && !rule->limit[strspn(rule->limit, "0123456789")];
    mt_buf_addf(out, ", limit %s%s", rule->limit, bare ? " B" : "");
}

void mt_finding_text(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out)
{
    const struct mt_rule *rule = c->rule;
    struct mt_buf subject = {0};
    mt_finding_subject(c, &subject);
    if (rule->name)
        mt_buf_addf(out, "%s: ", rule->name);
    if (f->each && !c->of_no_run)
        mt_buf_addf(out, "%s: ", f->new->runs.v[c->new_index].name);
    mt_buf_adds(out, rule->kind->what);
    const char *of = strstr(c->device, ": "); /* "cpu: activations", with --category */
    if (of)
        mt_buf_addf(out, " of %s on %.*s", of + 2, (int)(of - c->device), c->device);
    else if (c->device[0])
        mt_buf_addf(out, " %s %s",
                    rule->kind->process || rule->kind->figure == MT_FIG_AT_PEAK_B ? "of" : "on",
                    c->device);
    if (c->or_child)
        mt_buf_adds(out, " or a child of it");
    mt_buf_addf(out, "%s%s", subject.n ? ", " : "", subject.s);
    mt_buf_free(&subject);
    if (c->measured != MT_BASELINE_UNKNOWN && c->limit != MT_BASELINE_UNKNOWN) {
        if (rule->kind->growth)
            add_growth(c, out);
        else if (c->other)
            mt_buf_addf(out, " %s", c->other->words);
        else {
            bool several = rule->kind->count || strncmp(rule->kind->what, "bytes", 5) == 0;
            const char *bound = c->most                       ? " at most"
                                : c->least == (c->doubt != 0) ? "" /* or it is both */
                                : c->least                    ? " at least"
                                                              : " at most";
            mt_buf_addf(out, " %s%s ", several ? "are" : "is", bound);
            add_amount(out, rule->kind, c->measured);
        }
        add_limit(out, rule);
        add_bytes(c, out);
        add_spread(c, out);
    } else
        add_limit(out, rule);
    if (c->why[0])
        mt_buf_addf(out, ": %s", c->why);
}

void mt_finding_explained(const struct mt_checked *c, struct mt_buf *out)
{
    mt_buf_adds(out, "");
    for (size_t i = 0; i < c->explain_n; i++) {
        const struct mt_explain *e = &c->explain[i];
        mt_buf_adds(out, i ? ", " : "");
        mt_baseline_site_add(out, e->line, e->op, e->scope);
        mt_buf_adds(out, c->rule->kind->growth ? " +" : " ");
        add_amount(out, c->rule->kind, e->amount);
    }
}

static void add_argument(struct mt_buf *out, const char *word)
{
    mt_buf_addc(out, ' ');
    mt_shell_word(out, word);
}

/* The options that name device and categories; first: the device that is shown without. */
static void add_device(struct mt_buf *out, const struct mt_checked *c, const char *first)
{
    const struct mt_narrow *narrow = &c->rule->narrow;
    size_t n = strlen(c->device) - (narrow->set ? strlen(narrow->words) + strlen(": ") : 0);
    char *device = mt_strndup(c->device, n);
    if (c->rule->device || (*first && strcmp(first, device) != 0)) {
        mt_buf_adds(out, " --device");
        add_argument(out, device);
    }
    free(device);
    if (!narrow->set)
        return;
    struct mt_buf words = {0};
    for (const char *p = narrow->words; *p; p++)
        if (*p != ' ' || p[-1] != ',')
            mt_buf_addc(&words, *p == ' ' ? '-' : *p);
    mt_buf_adds(out, " --category");
    add_argument(out, words.s);
    mt_buf_free(&words);
}

void mt_finding_look(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out)
{
    static const char *const verbs[MT_RULE_N] = {
        [MT_RULE_PEAK] = "peak",
        [MT_RULE_PEAK_GROWTH] = "peak",
        [MT_RULE_PER_STEP] = "leaks",
        [MT_RULE_ALLOC_GROWTH] = "table --by site --sort self_alloc_b",
        [MT_RULE_ALLOC_COUNT_GROWTH] = "table --by site --sort self_alloc_n",
        [MT_RULE_AT_END_GROWTH] = "leaks --all",
        [MT_RULE_AT_END] = "leaks --all",
        [MT_RULE_TEMPORARY] = "table --by site --sort self_temporary_n",
        [MT_RULE_RSS] = "memory",
        [MT_RULE_RSS_GROWTH] = "memory",
        [MT_RULE_RSS_PER_STEP] = "leaks",
        [MT_RULE_RSS_PER_MINUTE] = "leaks"};
    const struct mt_rule_kind *kind = c->rule->kind;
    mt_buf_adds(out, "");
    if (!c->look)
        return;
    const struct mt_loaded_run *base = f->base ? &f->base->runs.v[c->base_index] : NULL;
    bool both = kind->growth && base->id; /* a file has no blocks to compare with */
    mt_buf_addf(out, "memtool %s", both ? "diff" : verbs[kind - mt_rule_kinds]);
    if (both)
        add_argument(out, base->name);
    add_argument(out, f->new->runs.v[c->look_index].name);
    const struct mt_baseline_device *first =
        mt_baseline_device(&f->new->figures.v.v[c->look_index], NULL);
    add_device(out, c, first ? first->name : "");
}

void mt_findings_sum(const struct mt_findings *f, struct mt_buf *out)
{
    static const char *const words[MT_CHECK_N] = {"passed", "failed", "inconclusive"};
    static const enum mt_check_verdict order[] = {MT_CHECK_FAIL, MT_CHECK_INCONCLUSIVE,
                                                  MT_CHECK_PASS};
    const char *separator = ": ";
    size_t run_n = f->each ? f->new->runs.n : 1;
    char text[MT_HUMAN_LONG];
    mt_buf_adds(out, mt_human_plural((int64_t)f->rule_n, "rule", text));
    if (f->each)
        mt_buf_addf(out, " for each of %s", mt_human_plural((int64_t)run_n, "run", text));
    else if (f->unnamed) {
        mt_buf_adds(out, " for ");
        mt_escape_terminal(out, f->new->runs.v[0].name);
    }
    if (f->v.n - f->of_no_run_n > f->rule_n * run_n)
        mt_buf_addf(out, " on %s",
                    mt_human_plural((int64_t)mt_findings_devices(f), "device", text));
    for (size_t i = 0; i < MT_ARRAY_LEN(order); i++)
        if (f->n_of[order[i]]) {
            mt_buf_addf(out, "%s%lld %s", separator, (long long)f->n_of[order[i]], words[order[i]]);
            separator = ", ";
        }
}
