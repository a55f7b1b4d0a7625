/* Which sites explain a failure. */
#include "lib/analysis/check_parts.h"

#include "lib/run/match.h"
#include "lib/usage/held.h"
#include <stdlib.h>
#include <string.h>

/* The median of what the repeats have of a site. */
static int64_t middle_of(const struct mt_baseline *b, const struct mt_baseline_site *s,
                         enum mt_figure f)
{
    if (!s->differs)
        return s->v[f];
    int64_t spread, *values = mt_alloc(b->repeats.n * sizeof *values);
    for (size_t i = 0; i < b->repeats.n; i++)
        values[i] = mt_baseline_figure_in(s, f, i);
    int64_t median = mt_median(values, b->repeats.n, &spread, NULL);
    free(values);
    return median;
}

enum { KEY_N = 3 }; /* of a site */

static struct mt_match_key *names_of(const struct mt_baseline_device *d, const char **keys)
{
    struct mt_match_key *names = mt_alloc((d->sites.n + 1) * sizeof *names);
    for (size_t i = 0; i < d->sites.n; i++, keys += KEY_N) {
        const struct mt_baseline_site *s = &d->sites.v[i];
        keys[0] = s->op;
        keys[1] = s->scope && strcmp(s->scope, s->op) != 0 ? s->scope : ""; /* as older files */
        keys[2] = s->line ? s->line : "";
        names[i] = (struct mt_match_key){.key = keys, .explicit_row = s->explicit_row};
    }
    return names;
}

static bool has_lines(const struct mt_baseline_device *d)
{
    bool has = false;
    for (size_t i = 0; i < d->sites.n; i++)
        has |= d->sites.v[i].line != NULL;
    return has;
}

/* By what sites match: lines tell them apart unless only one side has any, as where a baseline was
 * written before there were lines. */
static int key_n_of(const struct mt_baseline_device *const side[2])
{
    bool alike = !side[0]->sites.n || has_lines(side[0]) == has_lines(side[1]);
    return alike ? KEY_N : KEY_N - 1;
}

static int text_cmp(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* The larger one first, of two alike the one whose names come first: in whatever order a run and a
 * file have their sites. */
static bool is_before(const struct mt_explain *a, const struct mt_explain *b)
{
    if (a->amount != b->amount)
        return a->amount > b->amount;
    int order = text_cmp(a->op, b->op);
    order = order ? order : text_cmp(a->scope, b->scope);
    return (order ? order : text_cmp(a->line, b->line)) < 0;
}

/* Puts a site among the largest; it must grow or hold something. */
static void offer(struct mt_checked *c, struct mt_explain site)
{
    size_t at = c->explain_n;
    if (site.amount <= 0 || strcmp(site.op, MT_HELD_UNKNOWN) == 0)
        return;
    while (at > 0 && is_before(&site, &c->explain[at - 1]))
        at--;
    if (at == MT_EXPLAIN_MAX)
        return;
    if (c->explain_n < MT_EXPLAIN_MAX)
        c->explain_n++;
    memmove(&c->explain[at + 1], &c->explain[at], (c->explain_n - 1 - at) * sizeof site);
    c->explain[at] = site;
}

/* Adds the line of another site to that of a row; "": they have none, or several. */
static void add_line(const char **line, const char *own)
{
    own = own ? own : "";
    if (!*line)
        *line = own;
    else if (strcmp(*line, own) != 0)
        *line = "";
}

void mt_check_explain(const struct mt_rule *rule, const struct mt_baseline *base,
                      const struct mt_baseline *new, struct mt_checked *c)
{
    static const enum mt_group_key keys[KEY_N] = {MT_BY_TOP, MT_BY_SCOPE, MT_BY_LINE};
    static const struct mt_baseline_device nothing;
    const struct mt_baseline *in[2] = {base ? base : new, new};
    const struct mt_baseline_device *side[2] = {base ? mt_baseline_same_device(base, c->device)
                                                     : &nothing,
                                                mt_baseline_same_device(new, c->device)};
    enum mt_figure f = rule->kind->figure;
    if (f >= MT_FIG_BASELINE_N) /* of whole devices */
        return;
    const char **texts[2] = {mt_alloc((KEY_N * side[0]->sites.n + 1) * sizeof **texts),
                             mt_alloc((KEY_N * side[1]->sites.n + 1) * sizeof **texts)};
    struct mt_match_key *names[2] = {names_of(side[0], texts[0]), names_of(side[1], texts[1])};
    struct mt_matches a;
    mt_match_groups(names[0], side[0]->sites.n, names[1], side[1]->sites.n, keys, key_n_of(side),
                    MT_MATCH_TOLERANT, &a);
    int64_t other = mt_check_other(rule, in[0], side[0], f);
    int64_t *change = mt_alloc((a.rows.n + 1) * sizeof *change);
    bool *about = mt_alloc((a.rows.n + 1) * sizeof *about);
    const char **lines = mt_alloc((a.rows.n + 1) * sizeof *lines);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < side[s]->sites.n; i++) {
            const struct mt_baseline_site *site = &side[s]->sites.v[i];
            int64_t v = mt_check_is_partial(rule) ? middle_of(in[s], site, f) : site->v[f];
            change[names[s][i].row] = mt_baseline_add(change[names[s][i].row], s ? v : -v);
            about[names[s][i].row] |= mt_rule_is_about(rule, site);
            if (s)
                add_line(&lines[names[s][i].row], site->line);
        }
    for (size_t i = 0; i < a.rows.n; i++) {
        if (!a.rows.v[i].in[0]) /* it may be among what the baseline lumps together */
            change[i] = mt_baseline_add(change[i], -other);
        if (about[i])
            offer(c, (struct mt_explain){a.rows.v[i].key[0],
                                         a.rows.v[i].key[1][0] ? a.rows.v[i].key[1] : NULL,
                                         lines[i] && *lines[i] ? lines[i] : NULL, change[i]});
    }
    free(change);
    free(about);
    free(lines);
    mt_matches_free(&a);
    for (int s = 0; s < 2; s++) {
        free(names[s]);
        free(texts[s]);
    }
}
