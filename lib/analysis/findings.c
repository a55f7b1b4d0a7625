#include "lib/analysis/findings.h"

#include "lib/model/notes.h"
#include "lib/model/process.h"
#include "lib/model/recording.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a run is of a process, be it that nothing was seen of it. */
static bool is_process(const struct mt_loaded *of, size_t i)
{
    const struct mt_baseline *run = &of->figures.v.v[i];
    bool any = of->runs.v[i].process;
    for (size_t k = 0; k < run->devices.n; k++)
        any |= mt_process_is_device(run->devices.v[k].name);
    return any;
}

static bool some_process(const struct mt_loaded *of)
{
    bool any = false;
    for (size_t i = 0; i < of->figures.v.n; i++)
        any |= is_process(of, i);
    return any;
}

/* Of runs of a group those that are of processes, for rules of these: traces of them may be there,
 * too. All if there are none. at: which they are. Borrows; free the vectors. */
static struct mt_loaded of_processes(const struct mt_loaded *of, size_t *at)
{
    struct mt_loaded out = {0};
    bool any = some_process(of);
    for (size_t i = 0; i < of->figures.v.n; i++)
        if (!any || is_process(of, i)) {
            at[out.figures.v.n] = i;
            *mt_vec_push(&out.figures.v) = of->figures.v.v[i];
            *mt_vec_push(&out.runs) = of->runs.v[i];
        }
    return out;
}

static void compare_runs(const struct mt_rule *rule, const char *device,
                         const struct mt_loaded *new, const struct mt_findings *with,
                         struct mt_checked *c)
{
    const struct mt_repeats *base = with->base ? &with->base->figures : NULL;
    bool same = with->base && mt_loaded_overlap(new, with->base);
    if (device)
        mt_check_rule_on(rule, device, &new->figures, base, same, c);
    else
        mt_check_rule(rule, &new->figures, base, same, c);
}

static void compare(const struct mt_rule *rule, const char *device, const struct mt_loaded *new,
                    struct mt_findings *out)
{
    struct mt_checked *c = mt_vec_push(&out->v);
    if (!rule->kind->process) {
        compare_runs(rule, device, new, out, c);
        return;
    }
    size_t *at = mt_alloc(new->figures.v.n * sizeof *at);
    struct mt_loaded some = of_processes(new, at);
    compare_runs(rule, device, &some, out, c);
    c->new_index = at[c->new_index];
    c->look_index = at[c->look_index];
    mt_vec_free(&some.figures.v);
    mt_vec_free(&some.runs);
    free(at);
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

/* The run alone, and what is known of it. Borrows; not to be freed. */
static struct mt_loaded alone(const struct mt_loaded *of, size_t i)
{
    struct mt_loaded one = {0};
    one.figures.v.v = &of->figures.v.v[i];
    one.runs.v = &of->runs.v[i];
    one.figures.v.n = one.runs.n = 1;
    return one;
}

/* A process that was not there long: unless it grows, that says nothing. */
static bool is_young(const struct mt_rule *rule, const struct mt_baseline *run, const char *device)
{
    const enum mt_figure f = rule->kind->figure;
    const struct mt_baseline_device *d = mt_baseline_same_device(run, device);
    if (!d || !mt_baseline_has_other(f))
        return false;
    const struct mt_baseline_other *growth = &d->other[mt_baseline_other(f)];
    return growth->young && !growth->grows;
}

/* Processes that the first one started are others in every run: a limit is for each of them, and
 * what one grew by since another run nobody knows. young: those too that were not there long. */
static void compare_child(const struct mt_rule *rule, const char *device, bool young,
                          const struct mt_loaded *new, struct mt_findings *out)
{
    for (size_t i = 0; i < new->figures.v.n && !rule->kind->growth; i++) {
        struct mt_loaded one = alone(new, i);
        if (!mt_baseline_same_device(&new->figures.v.v[i], device) ||
            (!young && is_young(rule, &new->figures.v.v[i], device)))
            continue;
        compare(rule, device, &one, out);
        struct mt_checked *c = &out->v.v[out->v.n - 1];
        c->new_index = c->look_index = i;
    }
    out->child_n += rule->kind->growth;
}

/* Whether a run has a device that is called as the rule names it; else that may be a kind. */
static bool is_named(const struct mt_repeats *of, const struct mt_rule *rule)
{
    for (size_t i = 0; i < of->v.n; i++)
        if (mt_baseline_same_device(&of->v.v[i], rule->device))
            return true;
    return false;
}

/* The devices that a rule is for, of those that are not only looked at where they are named. */
static void add_devices(const struct mt_repeats *of, const struct mt_rule *rule,
                        struct mt_strtab *names)
{
    if (rule->device && is_named(of, rule))
        return;
    for (size_t i = 0; i < of->v.n; i++) {
        const struct mt_baseline *run = &of->v.v[i];
        for (size_t k = 0; k < run->devices.n; k++) {
            const struct mt_baseline_device *d = &run->devices.v[k];
            if (strcmp(d->name, MT_PROCESSES_NAME) != 0 && d->only == rule->narrow.set &&
                mt_device_is(d->name, rule->device, false) &&
                (!rule->kind->process || mt_process_is_device(d->name)))
                mt_strtab_add(names, d->name, strlen(d->name));
        }
    }
}

/* A rule that names no device is for every one that a run has, one that names a kind for all of it;
 * and one of growth for those of the baseline, too: a device that is missing has not kept it. */
static void compare_devices(const struct mt_rule *rule, const struct mt_loaded *new,
                            struct mt_findings *out)
{
    struct mt_strtab names;
    size_t first = out->v.n;
    mt_strtab_init(&names);
    add_devices(&new->figures, rule, &names);
    if ((!rule->device || names.n) && rule->kind->growth && out->base)
        add_devices(&out->base->figures, rule, &names);
    for (uint32_t i = 0; i < names.n; i++)
        if (mt_process_is_child(mt_strtab_get(&names, i)))
            compare_child(rule, mt_strtab_get(&names, i), false, new, out);
        else
            compare(rule, mt_strtab_get(&names, i), new, out);
    const bool none = out->v.n == first && !rule->kind->growth; /* each was brief */
    for (uint32_t i = 0; i < names.n && none; i++)
        compare_child(rule, mt_strtab_get(&names, i), true, new, out);
    if (!names.n)
        compare(rule, NULL, new, out);
    mt_strtab_free(&names);
    drop_without_sites(out, first);
}

/* Every run as if it were the only one. */
static void compare_each(const struct mt_rule *rule, struct mt_findings *out)
{
    for (size_t i = 0; i < out->new->runs.n; i++) {
        struct mt_loaded one = alone(out->new, i);
        size_t first = out->v.n;
        if (rule->kind->process && some_process(out->new) && !is_process(&one, 0))
            continue; /* a trace beside them */
        compare_devices(rule, &one, out);
        for (size_t k = first; k < out->v.n; k++)
            out->v.v[k].new_index = out->v.v[k].look_index = i;
    }
}

/* Ranks that are not there have not kept a rule: one that ran out of memory writes no file. */
static void add_missing(const struct mt_rule *rule, const char *missing, struct mt_findings *out)
{
    struct mt_checked *c = mt_vec_push(&out->v);
    *c = (struct mt_checked){.rule = rule,
                             .verdict = MT_CHECK_INCONCLUSIVE,
                             .measured = MT_BASELINE_UNKNOWN,
                             .limit = MT_BASELINE_UNKNOWN,
                             .base = MT_BASELINE_UNKNOWN,
                             .spread = MT_BASELINE_UNKNOWN,
                             .base_spread = MT_BASELINE_UNKNOWN,
                             .of_no_run = true};
    snprintf(c->why, sizeof c->why, "%c%.*s", tolower((unsigned char)*missing),
             (int)strcspn(missing + 1, "."), missing + 1);
    out->of_no_run_n++;
}

static void add_about(const struct mt_checked *c, struct mt_findings *out)
{
    static const unsigned figures[MT_FIG_BASELINE_N] = {
        [MT_FIG_AT_PEAK_B] = MT_ABOUT_LEVELS,
        [MT_FIG_AT_END_B] = MT_ABOUT_END | MT_ABOUT_LIFETIMES,
        [MT_FIG_PER_STEP_B] = MT_ABOUT_END | MT_ABOUT_LIFETIMES | MT_ABOUT_STEPS,
        [MT_FIG_SELF_ALLOC_B] = MT_ABOUT_SUMS | MT_ABOUT_STEPS,
        [MT_FIG_SELF_ALLOC_N] = MT_ABOUT_SUMS | MT_ABOUT_STEPS};
    const struct mt_rule *rule = c->rule;
    enum mt_figure figure = rule->kind->figure;
    bool alive =
        figure == MT_FIG_AT_PEAK_B || figure == MT_FIG_AT_END_B || figure == MT_FIG_PER_STEP_B;
    unsigned other = rule->kind->process ? MT_ABOUT_LIFETIMES | MT_ABOUT_STEPS : MT_ABOUT_SUMS;
    out->about |= (figure < MT_FIG_BASELINE_N ? figures[figure] : other) |
                  (rule->op || rule->scope ? MT_ABOUT_SITES | MT_ABOUT_SCOPES : 0u) |
                  (rule->kind->growth && alive ? MT_ABOUT_STEPS : 0u);
    if (alive)
        mt_strtab_add(&out->living, c->device, strlen(c->device));
}

void mt_findings_find(const struct mt_rules *rules, const struct mt_loaded *new,
                      const struct mt_loaded *base, bool each, const char *missing,
                      struct mt_findings *out)
{
    *out = (struct mt_findings){.new = new, .base = base, .each = each, .rule_n = rules->v.n};
    for (size_t i = 0; i < rules->v.n; i++)
        if (each)
            compare_each(&rules->v.v[i], out);
        else
            compare_devices(&rules->v.v[i], new, out);
    for (size_t i = 0; missing && i < rules->v.n; i++)
        add_missing(&rules->v.v[i], missing, out);
    mt_strtab_init(&out->living);
    for (size_t i = 0; i < out->v.n; i++) {
        out->n_of[out->v.v[i].verdict]++;
        add_about(&out->v.v[i], out);
    }
}

void mt_findings_free(struct mt_findings *f)
{
    mt_vec_free(&f->v);
    mt_strtab_free(&f->living);
}

size_t mt_findings_devices(const struct mt_findings *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->v.n; i++) {
        size_t k = 0;
        while (k < i && strcmp(f->v.v[k].device, f->v.v[i].device) != 0)
            k++;
        n += k == i && !f->v.v[i].of_no_run;
    }
    return n;
}

unsigned mt_findings_about(const struct mt_findings *f, const struct mt_baseline *run)
{
    bool unseen = false;
    for (size_t i = 0; i < run->devices.n; i++)
        unseen |= run->devices.v[i].unseen && mt_strtab_has(&f->living, run->devices.v[i].name);
    return f->about | (unseen ? MT_ABOUT_UNSEEN : 0u);
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
