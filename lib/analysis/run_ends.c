#include "lib/analysis/run_ends.h"

#include "lib/analysis/doubt.h"
#include "lib/base/wrap.h"
#include "lib/run/match.h"
#include "lib/run/runs.h"
#include <stdlib.h>
#include <string.h>

void mt_run_ends_init(struct mt_run_ends *e, const enum mt_group_key *keys, int key_n, size_t run_n)
{
    *e = (struct mt_run_ends){.keys = keys, .key_n = key_n, .run_n = run_n};
    mt_strtab_init(&e->texts);
}

void mt_run_ends_free(struct mt_run_ends *e)
{
    for (size_t i = 0; i < e->sites.n; i++)
        free(e->sites.v[i].at_end);
    mt_vec_free(&e->sites);
    mt_strtab_free(&e->texts);
}

static struct mt_match_key *names_of(const struct mt_run_ends *e)
{
    struct mt_match_key *names = mt_alloc((e->sites.n + 1) * sizeof *names);
    for (size_t i = 0; i < e->sites.n; i++) {
        names[i].explicit_row = e->sites.v[i].explicit_row;
        names[i].key = e->sites.v[i].key;
    }
    return names;
}

static struct mt_match_key *names_of_groups(const struct mt_live_groups *g)
{
    struct mt_match_key *names = mt_alloc((g->rows.n + 1) * sizeof *names);
    for (size_t i = 0; i < g->rows.n; i++) {
        names[i].explicit_row = g->rows.v[i].explicit_row;
        names[i].key = g->rows.v[i].key;
    }
    return names;
}

static void hold(struct mt_run_end *to, const struct mt_run_end *from)
{
    mt_wrap_inc(&to->most_b, from->most_b);
    mt_wrap_inc(&to->least_b, from->least_b);
}

static const char *text(struct mt_run_ends *e, const char *s)
{
    return mt_strtab_get(&e->texts, mt_strtab_add(&e->texts, s, strlen(s)));
}

/* The sites of all runs so far and those of run i become one list. doubt_b: of its groups. */
static void join(struct mt_run_ends *e, size_t i, const struct mt_live_groups *g,
                 const int64_t *doubt_b)
{
    struct mt_match_key *was = names_of(e), *is = names_of_groups(g);
    struct mt_matches a;
    mt_match_groups(was, e->sites.n, is, g->rows.n, e->keys, e->key_n, MT_MATCH_TOLERANT, &a);
    struct mt_run_ends_site *all = mt_alloc((a.rows.n + 1) * sizeof *all);
    for (size_t row = 0; row < a.rows.n; row++) {
        const struct mt_match_row *from = &a.rows.v[row];
        all[row].explicit_row = from->explicit_row;
        all[row].at_end = mt_alloc(e->run_n * sizeof *all[row].at_end);
        for (int k = 0; k < e->key_n; k++) /* what run i has goes with it */
            all[row].key[k] = from->in[1] ? text(e, from->key[k]) : from->key[k];
    }
    for (size_t k = 0; k < e->sites.n; k++) {
        for (size_t run = 0; run < i; run++)
            hold(&all[was[k].row].at_end[run], &e->sites.v[k].at_end[run]);
        free(e->sites.v[k].at_end);
    }
    for (size_t k = 0; k < g->rows.n; k++) {
        int64_t bytes = g->rows.v[k].at[0].bytes;
        hold(&all[is[k].row].at_end[i],
             &(struct mt_run_end){bytes, mt_wrap_sub(bytes, doubt_b[k])});
    }
    free(e->sites.v);
    e->sites.v = all;
    e->sites.n = a.rows.n;
    e->sites.cap = a.rows.n + 1;
    mt_matches_free(&a);
    free(was);
    free(is);
}

/* What of each group may be dead; allocated. */
static enum mt_status doubt_of(struct mt_allocations *blocks, const struct mt_run_device *device,
                               const struct mt_live_set *live, struct mt_live_groups *groups,
                               int64_t **out, struct mt_err *err)
{
    struct mt_doubt doubt = {0};
    *out = mt_alloc((groups->rows.n + 1) * sizeof **out);
    enum mt_status st = mt_doubt_load(blocks, device, &doubt, err);
    for (size_t i = 0; i < live->blocks.n && st == MT_OK && device->doubt_at_end_b; i++) {
        const struct mt_allocation *life = &live->blocks.v[i];
        if (mt_doubt_life(&doubt, life))
            mt_wrap_inc(&(*out)[mt_allocation_group(&groups->grouper, life)], life->bytes);
    }
    mt_doubt_free(&doubt);
    return st;
}

enum mt_status mt_run_ends_add(struct mt_run_ends *e, size_t i, struct mt_allocations *blocks,
                               const struct mt_run_device *device, struct mt_err *err)
{
    struct mt_live_set live = {0};
    struct mt_live_groups groups = {0};
    int64_t *doubt_b = NULL;
    MT_TRY(mt_live_at(blocks, device, MT_AT_END, &live, err));
    mt_live_groups_init(&groups, blocks, e->keys, e->key_n);
    mt_live_groups_add(&groups, &live, mt_wrap_add(live.sum_b, mt_run_kept(blocks->run, device)),
                       0);
    enum mt_status st = doubt_of(blocks, device, &live, &groups, &doubt_b, err);
    if (st == MT_OK)
        join(e, i, &groups, doubt_b);
    free(doubt_b);
    mt_live_groups_free(&groups);
    mt_live_set_free(&live);
    return st;
}

enum mt_verdict mt_run_ends_judge(const struct mt_run_ends *e, const struct mt_run_ends_site *site,
                                  bool *doubtful)
{
    size_t run_n = e->run_n, rises = 0, falls = 0, sure = 0;
    for (size_t i = 1; i < run_n; i++) {
        rises += site->at_end[i].most_b > site->at_end[i - 1].most_b;
        falls += site->at_end[i].most_b < site->at_end[i - 1].most_b;
        sure += site->at_end[i].least_b > site->at_end[i - 1].most_b;
    }
    bool leak = rises == run_n - 1 && run_n >= MT_RUN_ENDS_MIN;
    *doubtful = leak && sure < rises;
    if (leak && !*doubtful && !e->unknown)
        return MT_VERDICT_LEAK;
    return rises && !falls ? MT_VERDICT_CANDIDATE : MT_VERDICT_STATE;
}

bool mt_run_ends_renamed(const struct mt_run_ends *e, int64_t min_b)
{
    double all = 0;
    bool renamed = false, rises = e->run_n >= MT_RUN_ENDS_MIN;
    for (size_t i = 1; i < e->run_n && rises; i++) {
        int64_t sum = 0, gone = 0, new = 0;
        for (size_t k = 0; k < e->sites.n; k++) {
            int64_t was = e->sites.v[k].at_end[i - 1].most_b, is = e->sites.v[k].at_end[i].most_b;
            mt_wrap_inc(&sum, mt_wrap_sub(is, was));
            mt_wrap_inc(&gone, is ? 0 : was);
            mt_wrap_inc(&new, was ? 0 : is);
        }
        rises = sum > 0;
        all += (double)sum;
        renamed |= gone > 0 && new >= gone;
    }
    return rises && renamed && all >= (double)min_b * (double)(e->run_n - 1);
}
