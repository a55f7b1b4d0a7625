#include "lib/analysis/findings.h"

#include "lib/model/notes.h"
#include <string.h>

static void compare(const struct mt_rule *rule, const char *device, const struct mt_loaded *new,
                    struct mt_findings *out)
{
    const struct mt_repeats *base = out->base ? &out->base->figures : NULL;
    bool same = out->base && mt_loaded_overlap(new, out->base);
    struct mt_checked *c = mt_vec_push(&out->v);
    if (device)
        mt_check_rule_on(rule, device, &new->figures, base, same, c);
    else
        mt_check_rule(rule, &new->figures, base, same, c);
}

/* Of the findings about the devices of a run, from the first on: where the rule is about sites of
 * some device, those without any say nothing; else one is enough. */
static void drop_without_sites(struct mt_findings *out, size_t first)
{
    size_t kept = first;
    bool any = false;
    for (size_t i = first; i < out->v.n; i++)
        any |= !out->v.v[i].nothing_matches;
    for (size_t i = first; i < out->v.n; i++)
        if (!out->v.v[i].nothing_matches || (!any && i == first))
            out->v.v[kept++] = out->v.v[i];
    out->v.n = kept;
}

/* A rule that names no device is for every one that a run has. */
static void compare_devices(const struct mt_rule *rule, const struct mt_loaded *new,
                            struct mt_findings *out)
{
    struct mt_strtab names;
    size_t first = out->v.n;
    mt_strtab_init(&names);
    for (size_t i = 0; i < new->figures.v.n && !rule->device; i++) {
        const struct mt_baseline *run = &new->figures.v.v[i];
        for (size_t k = 0; k < run->devices.n; k++)
            mt_strtab_add(&names, run->devices.v[k].name, strlen(run->devices.v[k].name));
    }
    for (uint32_t i = 0; i < names.n; i++)
        compare(rule, mt_strtab_get(&names, i), new, out);
    if (!names.n)
        compare(rule, NULL, new, out);
    mt_strtab_free(&names);
    drop_without_sites(out, first);
}

/* Every run as if it were the only one. */
static void compare_each(const struct mt_rule *rule, struct mt_findings *out)
{
    for (size_t i = 0; i < out->new->runs.n; i++) {
        struct mt_loaded one = {0}; /* borrows; not to be freed */
        size_t first = out->v.n;
        one.figures.v.v = &out->new->figures.v.v[i];
        one.runs.v = &out->new->runs.v[i];
        one.figures.v.n = one.runs.n = 1;
        compare_devices(rule, &one, out);
        for (size_t k = first; k < out->v.n; k++)
            out->v.v[k].new_index = out->v.v[k].look_index = i;
    }
}

void mt_findings_find(const struct mt_rules *rules, const struct mt_loaded *new,
                      const struct mt_loaded *base, bool each, struct mt_findings *out)
{
    *out = (struct mt_findings){.new = new, .base = base, .each = each, .rule_n = rules->v.n};
    for (size_t i = 0; i < rules->v.n; i++)
        if (each)
            compare_each(&rules->v.v[i], out);
        else
            compare_devices(&rules->v.v[i], new, out);
    for (size_t i = 0; i < out->v.n; i++)
        out->n_of[out->v.v[i].verdict]++;
}

void mt_findings_free(struct mt_findings *f)
{
    mt_vec_free(&f->v);
}

size_t mt_findings_devices(const struct mt_findings *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->v.n; i++) {
        size_t k = 0;
        while (k < i && strcmp(f->v.v[k].device, f->v.v[i].device) != 0)
            k++;
        n += k == i;
    }
    return n;
}

unsigned mt_findings_about(const struct mt_findings *f, const struct mt_baseline *run)
{
    static const unsigned figures[MT_FIG_BASELINE_N] = {
        [MT_FIG_AT_PEAK_B] = MT_ABOUT_LEVELS,
        [MT_FIG_AT_END_B] = MT_ABOUT_END | MT_ABOUT_LIFETIMES,
        [MT_FIG_PER_STEP_B] = MT_ABOUT_END | MT_ABOUT_LIFETIMES | MT_ABOUT_STEPS,
        [MT_FIG_SELF_ALLOC_B] = MT_ABOUT_SUMS | MT_ABOUT_STEPS,
        [MT_FIG_SELF_ALLOC_N] = MT_ABOUT_SUMS | MT_ABOUT_STEPS};
    unsigned all = 0;
    for (size_t i = 0; i < f->v.n; i++) {
        const struct mt_rule *rule = f->v.v[i].rule;
        const struct mt_baseline_device *d = mt_baseline_same_device(run, f->v.v[i].device);
        enum mt_figure figure = rule->kind->figure;
        bool alive =
            figure == MT_FIG_AT_PEAK_B || figure == MT_FIG_AT_END_B || figure == MT_FIG_PER_STEP_B;
        all |= (figure < MT_FIG_BASELINE_N ? figures[figure] : (unsigned)MT_ABOUT_SUMS) |
               (d && d->unseen && alive ? MT_ABOUT_UNSEEN : 0u) |
               (rule->op || rule->scope ? MT_ABOUT_SITES | MT_ABOUT_SCOPES : 0u) |
               (rule->kind->growth && alive ? MT_ABOUT_STEPS : 0u);
    }
    return all;
}

bool mt_findings_of_levels(const struct mt_findings *f)
{
    bool any = false;
    for (size_t i = 0; i < f->v.n; i++) {
        const struct mt_rule *rule = f->v.v[i].rule;
        enum mt_figure figure = rule->kind->figure;
        any |=
            (figure == MT_FIG_AT_PEAK_B || figure == MT_FIG_AT_END_B) && !rule->op && !rule->scope;
    }
    return any;
}
