/* What `memtool record` says of growth, when all is written. */
#include "cmd/common.h"
#include "cmd/record_parts.h"
#include "lib/analysis/growth.h"
#include "lib/base/human.h"
#include "lib/usage/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 64 }; /* those with most memory; there may be thousands */

struct grown {
    struct mt_growth_process p;
    struct mt_growth_causes causes;
    const struct mt_run_device *device; /* NULL: none */
};

static enum mt_status load(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, const struct mt_steps *steps,
                           struct grown *out, struct mt_err *err)
{
    enum { WARMUP = 1 };
    out->device = device;
    return mt_growth_load(db, run, device, steps, WARMUP, &out->p, NULL, err);
}

/* The command itself; where only a child grows, that one. */
static enum mt_status choose(struct mt_db *db, const struct mt_run *run,
                             const struct mt_steps *steps, const struct mt_run_device *all,
                             size_t n, struct grown *out, struct mt_err *err)
{
    struct grown one, child = {0};
    size_t child_n = 0;
    *out = child;
    for (size_t i = 0; i < n; i++) {
        bool first = strcmp(all[i].name, "process") == 0;
        if (!mt_device_is_process(&all[i]) || mt_device_is_processes(&all[i]) ||
            (!first && ++child_n > CHILDREN))
            continue;
        MT_TRY(load(db, run, &all[i], steps, &one, err));
        if (first)
            *out = one;
        else if (one.p.growth.verdict == MT_GROWTH_GROWS &&
                 (!child.device || one.p.growth.grew_b > child.p.growth.grew_b))
            child = one;
    }
    if (child.device && out->device && out->p.growth.verdict != MT_GROWTH_GROWS)
        *out = child;
    return MT_OK;
}

static void say(const struct grown *g)
{
    static const char *const causes[MT_CAUSE_N] = {[MT_CAUSE_IN_USE] = ": malloc in use",
                                                   [MT_CAUSE_HELD] = ": held by the allocator",
                                                   [MT_CAUSE_OUTSIDE] = ": outside malloc"};
    struct mt_buf words = {0};
    const char *name = g->device->name;
    mt_growth_words(&g->p, &g->p.growth, &words);
    fprintf(stderr, "memtool: rss%s%s %s%s\n", strchr(name, ':') ? " of " : "",
            strchr(name, ':') ? name : "", words.s,
            causes[g->causes.most] ? causes[g->causes.most] : "");
    mt_buf_free(&words);
}

static enum mt_status say_growth(struct mt_db *db, const char *name, struct mt_err *err)
{
    struct mt_run run;
    struct mt_steps steps = {0};
    struct mt_run_device *all = NULL;
    struct grown g = {0};
    size_t n = 0;
    MT_TRY(mt_run_find(db, name, &run, err));
    enum mt_status st = mt_steps_load(db, &run, &steps, err);
    if (st == MT_OK)
        st = mt_run_devices(db, &run, &all, &n, err);
    if (st == MT_OK)
        st = choose(db, &run, &steps, all, n, &g, err);
    if (st == MT_OK && g.device)
        st = mt_growth_causes_load(db, &run, g.device, &g.p, &g.causes, err);
    if (st == MT_OK && g.device)
        say(&g);
    free(all);
    mt_steps_free(&steps);
    return st;
}

void mt_record_say_growth(struct mt_db *db, const char *run)
{
    struct mt_err err = MT_ERR_INIT;
    if (say_growth(db, run, &err) != MT_OK)
        mt_print_error(&err);
}
