#include "lib/analysis/baseline_parts.h"

#include "gen/queries.h"
#include "lib/analysis/diff.h"
#include "lib/analysis/doubt.h"
#include "lib/run/knows.h"
#include "lib/run/sites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mt_baseline_free(struct mt_baseline *b)
{
    for (size_t i = 0; i < b->devices.n; i++) {
        for (size_t k = 0; k < b->devices.v[i].sites.n; k++)
            mt_vec_free(&b->devices.v[i].sites.v[k].each);
        mt_vec_free(&b->devices.v[i].sites);
        mt_step_levels_free(&b->devices.v[i].levels);
        for (size_t k = 0; k < b->devices.v[i].steps.n; k++)
            mt_step_levels_free(&b->devices.v[i].steps.v[k].levels);
        mt_vec_free(&b->devices.v[i].steps);
    }
    mt_vec_free(&b->devices);
    mt_vec_free(&b->repeats);
    mt_vec_free(&b->contents);
    if (b->texts.slot)
        mt_strtab_free(&b->texts);
}

const struct mt_baseline_device *mt_baseline_device(const struct mt_baseline *b, const char *name)
{
    for (int whole = 1; whole >= 0; whole--)
        for (size_t i = 0; i < b->devices.n; i++)
            if (mt_device_is(b->devices.v[i].name, name, whole))
                return &b->devices.v[i];
    return NULL;
}

const struct mt_baseline_device *mt_baseline_same_device(const struct mt_baseline *b,
                                                         const char *name)
{
    const struct mt_baseline_device *d = mt_baseline_device(b, name);
    return d && strcmp(d->name, name) == 0 ? d : NULL;
}

bool mt_baseline_has_whole(const struct mt_baseline *b, const char *narrowed)
{
    bool any = false;
    for (size_t i = 0; i < b->devices.n; i++) {
        size_t n = strlen(b->devices.v[i].name);
        any |= strncmp(b->devices.v[i].name, narrowed, n) == 0 && narrowed[n] == ':';
    }
    return any;
}

/* ---- measuring ---- */

/* What a damaged database holds may lie anywhere. */
static int64_t bounded(int64_t v)
{
    return v > MT_BASELINE_MOST ? MT_BASELINE_MOST : v < -MT_BASELINE_MOST ? -MT_BASELINE_MOST : v;
}

/* What a rate adds to the sum of those before it, in whole bytes: they add up to the sum rounded.
 */
static int64_t up_after(double *sum, double rate)
{
    int64_t before = mt_baseline_up(*sum);
    *sum += rate;
    return mt_baseline_up(*sum) - before;
}

enum { LINE_KEY = 2 }; /* behind top op and scope, where sites have lines */

/* The line of a site whose keys are so many. */
static const char *line_of(struct mt_baseline *b, const struct mt_match_key *from, int key_n)
{
    bool known = key_n > LINE_KEY && !from->explicit_row &&
                 strncmp(from->key[LINE_KEY], MT_LINE_UNKNOWN, strlen(MT_LINE_UNKNOWN)) != 0;
    return known ? mt_baseline_text(b, from->key[LINE_KEY]) : NULL;
}

static void add_site(struct mt_baseline *b, struct mt_baseline_device *to,
                     const struct mt_match_key *from, int key_n, const struct mt_figures *f,
                     bool unseen)
{
    const char *scope = from->key[1];
    bool plain = from->explicit_row || strcmp(scope, "[no scope]") == 0;
    struct mt_baseline_site site = {.op = mt_baseline_text(b, from->key[0]),
                                    .scope = plain ? NULL : mt_baseline_text(b, scope),
                                    .line = line_of(b, from, key_n),
                                    .explicit_row = from->explicit_row,
                                    .unseen = unseen};
    const struct mt_figure_set kept = mt_figures_kept(MT_KEPT_SITES);
    bool any = false; /* sites without any figure say nothing */
    for (size_t i = 0; i < kept.n; i++) {
        enum mt_figure k = kept.v[i];
        bool rate = mt_figure_defs[k].adds == MT_ADDS_RATE;
        if (rate)
            site.rate[mt_baseline_rate(k)] = f->v[k].r;
        site.v[k] = bounded(rate ? up_after(&to->rate[mt_baseline_rate(k)], f->v[k].r) : f->v[k].i);
        any |= site.v[k] != 0;
    }
    if (any)
        *mt_vec_push(&to->sites) = site;
}

static void sum_sites(struct mt_baseline_device *d, enum mt_figure figure)
{
    d->v[figure] = 0;
    for (size_t i = 0; i < d->sites.n; i++)
        d->v[figure] = mt_baseline_add(d->v[figure], d->sites.v[i].v[figure]);
}

static uint32_t add_site_name(struct mt_strtab *names, const char *op, const char *scope)
{
    char *both = mt_asprintf("%s\n%s", op, scope);
    uint32_t id = mt_strtab_add(names, both, strlen(both));
    free(both);
    return id;
}

/* The names of the sites that lose frees, or have blocks that nobody saw allocated. */
static enum mt_status find_losing(struct mt_diff_side *s, struct mt_strtab *names,
                                  struct mt_err *err)
{
    struct mt_tree *t = &s->lives->tree;
    struct mt_doubt doubt = {0};
    enum mt_status st = mt_doubt_load(s->lives, &s->device, &doubt, err);
    for (uint32_t i = 0; i < t->nodes.n && st == MT_OK && mt_device_is_bounded(&s->device); i++) {
        const struct mt_tree_node *n = &t->nodes.v[i];
        if (!mt_doubt_loses(&doubt, i))
            continue;
        const uint32_t top = mt_tree_top(t, i); /* may add a text */
        add_site_name(names, mt_strtab_get(&t->strings, top),
                      n->scope == MT_NONE ? "[no scope]" : mt_strtab_get(&t->strings, n->scope));
    }
    if (mt_doubt_loses(&doubt, MT_NONE) || s->device.alloc_unseen_n)
        add_site_name(names, "[outside ops]", "[outside ops]");
    mt_doubt_free(&doubt);
    return st;
}

/* The sites of a device that is loaded. */
static enum mt_status add_sites(struct mt_baseline *b, struct mt_baseline_device *to,
                                struct mt_diff *d, struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[0];
    struct mt_strtab losing;
    mt_strtab_init(&losing);
    enum mt_status st = find_losing(s, &losing, err);
    uint32_t losing_n = losing.n;
    for (uint32_t i = 0; i < s->groups.n && st == MT_OK; i++) {
        const struct mt_match_key *name = &s->groups.v[i];
        const struct mt_figures f = mt_diff_figures(s, i);
        bool unseen = losing_n && add_site_name(&losing, name->key[0], name->key[1]) < losing_n;
        add_site(b, to, name, d->key_n, &f, unseen);
    }
    mt_strtab_free(&losing);
    return st;
}

/* What gaps of the recording leave of its figures. open: so is which blocks they are of. */
static void mark_gaps(struct mt_baseline_device *d, unsigned gaps, bool lives_known, bool open)
{
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        d->least[f] = gaps & mt_figure_defs[f].least_by;
        if (gaps & mt_figure_defs[f].lost_by)
            d->v[f] = MT_BASELINE_UNKNOWN;
    }
    d->least[MT_FIG_AT_PEAK_B] |= !lives_known;
    if (open)
        d->v[MT_FIG_AT_PEAK_B] = MT_BASELINE_UNKNOWN;
}

static int64_t bounded_or_unknown(int64_t v)
{
    return v < 0 ? MT_BASELINE_UNKNOWN : bounded(v);
}

static void measure_older(const struct mt_run *run, const struct mt_run_device *device,
                          struct mt_baseline_device *to)
{
    bool told = device->older_from[0] != '\0';
    to->older_b = told ? bounded(mt_run_kept(run, device)) : MT_BASELINE_UNKNOWN;
    to->older_left_out = device->older_used;
    to->older_least_b = bounded_or_unknown(device->older_least_b);
    to->older_most_b = bounded_or_unknown(device->older_most_b);
}

/* What runs of sums do not know at all. */
static void mark_lacks(const struct mt_run *run, const struct mt_run_device *device,
                       struct mt_baseline_device *to)
{
    for (int f = 0; f < MT_FIG_BASELINE_N && !mt_device_has_events(device); f++) {
        const struct mt_figure_def *def = &mt_figure_defs[f];
        unsigned needs = def->device_needs ? def->device_needs : def->needs;
        if (mt_device_knows(device, needs))
            continue;
        to->unknown[f].why = mt_knows_lack(run, device, needs);
        to->v[f] = MT_BASELINE_UNKNOWN;
    }
}

/* Levels by step, bounded as all figures. */
static enum mt_status measure_levels(struct mt_diff_side *s, struct mt_baseline_device *to,
                                     struct mt_err *err)
{
    struct mt_step_levels *l = &to->levels;
    MT_TRY(mt_step_levels_load(s->db, &s->run, &s->device, &s->lives->steps, l, err));
    for (size_t i = 0; i < l->rises.n; i++)
        l->rises.v[i].level_b = bounded(l->rises.v[i].level_b);
    for (size_t i = 0; i < l->ends.n; i++)
        l->ends.v[i].level_b = bounded(l->ends.v[i].level_b);
    l->last_b = bounded(l->last_b);
    l->after_b = bounded(l->after_b);
    return MT_OK;
}

/* What a device knows of itself, and what its sites add up to. */
static void measure_figures(const struct mt_diff_side *s, bool growth_known,
                            struct mt_baseline_device *to)
{
    struct mt_figures whole;
    mt_device_figures(&s->run, &s->device, &whole);
    whole.v[MT_FIG_STEP_N].i = s->step_n;
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        const struct mt_figure_def *def = &mt_figure_defs[f];
        if (def->kept & MT_KEPT_SUMMED)
            sum_sites(to, (enum mt_figure)f);
        else
            to->v[f] = whole.v[f].i == MT_UNKNOWN ? MT_BASELINE_UNKNOWN : bounded(whole.v[f].i);
        if (def->unknown == MT_UNKNOWN_GROWTH && !growth_known)
            to->v[f] = MT_BASELINE_UNKNOWN;
    }
}

static enum mt_status measure_device(struct mt_allocations *lives,
                                     const struct mt_run_device *device, struct mt_baseline *b,
                                     struct mt_err *err)
{
    struct mt_db *db = lives->db;
    const struct mt_run *run = lives->run;
    struct mt_diff d = {.keys = {MT_BY_TOP, MT_BY_SCOPE, [LINE_KEY] = MT_BY_LINE}};
    struct mt_baseline_device *to = mt_vec_push(&b->devices);
    bool lines = false;
    *to =
        (struct mt_baseline_device){.unseen = mt_device_is_bounded(device),
                                    .doubt = {[MT_FIG_AT_PEAK_B] = bounded(device->doubt_at_peak_b),
                                              [MT_FIG_AT_END_B] = bounded(device->doubt_at_end_b)}};
    measure_older(run, device, to);
    snprintf(to->name, sizeof to->name, "%s", device->shown);
    to->only = device->only;
    snprintf(to->sites_of, sizeof to->sites_of, "%s", run->name);
    d.side[0].db = db;
    d.side[0].run = *run;
    d.side[0].device = *device;
    d.side[0].lives = lives;
    enum mt_status st = mt_run_has_lines(db, run, &lines, err);
    d.key_n = LINE_KEY + lines;
    if (st == MT_OK)
        st = mt_diff_load(&d, 0, MT_DIFF_OPS | MT_DIFF_LIVES, b->warmup, err);
    if (st == MT_OK)
        st = measure_levels(&d.side[0], to, err);
    if (st == MT_OK)
        st = add_sites(b, to, &d, err);
    if (st == MT_OK)
        st = mt_baseline_measure_temporary(db, run, device, d.side[0].gaps, &to->other[0], err);
    bool known = mt_allocations_are_known(device);
    measure_figures(&d.side[0], known && mt_leaks_can_tell(d.side[0].step_n, b->warmup), to);
    mark_gaps(to, d.side[0].gaps, known || !mt_device_has_events(device),
              mt_categories_are_open(run, device, d.side[0].gaps));
    mark_lacks(run, device, to);
    if (st == MT_OK)
        st =
            mt_baseline_measure_process(db, run, device, d.side[0].gaps, &lives->steps, b, to, err);
    mt_baseline_explain_unknown(device, d.side[0].gaps, to);
    mt_diff_free(&d);
    return st;
}

/* What recorded it, if the recording says so: a JSON text, its quotes are cut. */
static enum mt_status read_torch(struct mt_db *db, const struct mt_run *run, struct mt_baseline *b,
                                 struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_TORCH, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    const char *text = mt_stmt_text(s, 0) + (*mt_stmt_text(s, 0) == '"');
    snprintf(b->torch, sizeof b->torch, "%.*s", (int)strcspn(text, "\"\\"), text);
    return mt_stmt_step(s, &row, err);
}

/* How high the peak of blocks may be between the snapshots of massif. */
static enum mt_status read_most(struct mt_db *db, const struct mt_run *run, struct mt_baseline *b,
                                struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_BLOCKS_AT_MOST, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    for (size_t i = 0; i < b->devices.n; i++)
        b->devices.v[i].blocks_most_b = mt_stmt_int_or(s, 0, 0);
    return mt_stmt_step(s, &row, err);
}

/* A device of some categories. Where it does not say what memory is for, all is unknown. */
static enum mt_status measure_narrowed(struct mt_allocations *lives, struct mt_run_device device,
                                       const struct mt_narrow *narrow, struct mt_baseline *b,
                                       struct mt_err *err)
{
    const unsigned need = MT_KNOWS_CATEGORIES | MT_KNOWS_BLOCKS;
    if (mt_device_knows(&device, need)) {
        MT_TRY(mt_narrow_device(lives->db, lives->run, narrow, &device, err));
        return measure_device(lives, &device, b, err);
    }
    struct mt_baseline_device *to = mt_vec_push(&b->devices);
    *to = (struct mt_baseline_device){.only = narrow->set};
    snprintf(to->name, sizeof to->name, "%s: %s", device.name, narrow->words);
    for (int f = 0; f < MT_BASELINE_UNKNOWN_N; f++)
        to->unknown[f].why = mt_knows_lack(lives->run, &device, need);
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        to->v[f] = MT_BASELINE_UNKNOWN;
    return MT_OK;
}

enum mt_status mt_baseline_measure(struct mt_allocations *lives, int64_t warmup,
                                   const struct mt_narrows *narrows, struct mt_baseline *out,
                                   struct mt_err *err)
{
    struct mt_db *db = lives->db;
    const struct mt_run *run = lives->run;
    struct mt_run_device *all = NULL;
    size_t n = 0;
    *out = (struct mt_baseline){.warmup = warmup, .run_n = 1};
    mt_strtab_init(&out->texts);
    snprintf(out->run, sizeof out->run, "%s", run->name);
    snprintf(out->source, sizeof out->source, "%s", run->source);
    snprintf(out->format, sizeof out->format, "%s", run->format);
    if (run->content[0])
        *mt_vec_push(&out->contents) = mt_baseline_text(out, run->content);
    MT_TRY(read_torch(db, run, out, err));
    enum mt_status st = mt_run_devices(db, run, &all, &n, err);
    for (size_t i = 0; i < n && st == MT_OK; i++)
        st = measure_device(lives, &all[i], out, err);
    if (st == MT_OK)
        st = read_most(db, run, out, err);
    for (size_t k = 0; narrows && k < narrows->v.n; k++)
        for (size_t i = 0; i < n && st == MT_OK; i++)
            st = measure_narrowed(lives, all[i], &narrows->v.v[k], out, err);
    free(all);
    return st;
}
