/*
 * memtool leaks of runs without single blocks: what is alive at the end, where it was allocated,
 * and, where there are moments, which sites rise through the later ones.
 */
#include "cmd/by.h"
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/analysis/site_moments.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

struct ends {
    struct mt_view *v;
    const struct mt_leaks_wanted *wanted;
    struct mt_report *r;
    struct mt_leaks_answer *answer;
    struct mt_live_groups groups; /* at the end, where that is known */
    struct mt_site_moments sites; /* none where there are no moments */
    struct mt_leaks_suppressed suppressed;
    bool end_known;
    bool timed; /* times are ns */
    bool dumps; /* of a process that ran on */
    unsigned gaps;
    struct sites {
        int64_t n, bytes;
    } rising, rose; /* of the rows; rose: of dumps, some of which hold more than the one before, and
                       go on */
};

static void describe(struct ends *e)
{
    char bytes[MT_HUMAN_MAX], blocks[MT_HUMAN_LONG];
    struct mt_report *r = e->r;
    const struct mt_run *run = &e->v->run;
    const struct mt_run_device *d = &e->v->device;
    bool counted = d->at_end_n != MT_UNKNOWN;
    if (e->end_known)
        r->title = mt_asprintf("%s · %s · alive at the end%s: %s%s%s", run->name, d->name,
                               e->gaps ? " of what was recorded" : "",
                               counted ? mt_human_plural(d->at_end_n, "block", blocks) : "",
                               counted ? ", " : "", mt_human_bytes(d->at_end_b, bytes));
    else
        r->title = mt_asprintf("%s · %s · alive at the end: unknown", run->name, d->name);
    bool known = e->end_known && !(e->gaps & ~(unsigned)MT_GAPS_OF_ENDS);
    mt_report_total(r, "at_end_b", known ? mt_cell_int(d->at_end_b) : (struct mt_cell){0});
    mt_report_total(r, "at_end_n",
                    known && counted ? mt_cell_int(d->at_end_n) : (struct mt_cell){0});
    mt_report_total(r, "suppressed_b",
                    known ? mt_cell_int(e->suppressed.all.bytes) : (struct mt_cell){0});
    if (e->end_known && !known)
        mt_report_note(r, "What is alive at the end is unknown: %s %s.", run->name,
                       mt_gaps_text(e->gaps));
    if (!e->end_known)
        mt_report_note(r, "%s %s: shown is what rises.", run->name,
                       mt_knows_lack(run, d, MT_KNOWS_AT_END));
    r->empty = e->end_known ? "nothing is alive at the end" : "nothing rises in its later half";
}

static void describe_rising(struct ends *e)
{
    char bytes[MT_HUMAN_MAX], sites[MT_HUMAN_LONG];
    if (e->rising.n)
        mt_report_footer(
            e->r, "rising %s: %s by %s",
            e->sites.each ? "from dump to dump" : "through the later half of the recording",
            mt_human_plural(e->rising.n, "site", sites), mt_human_bytes(e->rising.bytes, bytes));
    if (e->rose.n)
        mt_report_footer(e->r, "may leak, as it rose at times, and still does%s: %s by %s",
                         e->sites.each ? "" : " in the later half of the recording",
                         mt_human_plural(e->rose.n, "site", sites),
                         mt_human_bytes(e->rose.bytes, bytes));
}

static bool rises(const struct mt_site_trend *moments)
{
    return moments && moments->trend == MT_TREND_RISES;
}

/* Between two dumps that hold the same, or less, it may have paused. What is full does not go on.
 */
static bool may_rise(const struct ends *e, const struct mt_site_trend *moments)
{
    return e->dumps && moments && moments->goes_on &&
           (moments->trend == MT_TREND_ROSE || moments->trend == MT_TREND_DIPS);
}

static void count(struct sites *sites, const struct mt_site_trend *site)
{
    sites->n += site != NULL;
    mt_wrap_inc(&sites->bytes, site ? site->grew : 0);
}

/* at_end NULL: nothing, or it is unknown; moments NULL: how it came to that is unknown. */
static void add_row(struct ends *e, const char *const *key, bool explicit_row,
                    const struct mt_live_total *at_end, const struct mt_site_trend *moments)
{
    struct mt_row *row = mt_report_row(e->r);
    const bool grew = moments && moments->grew != MT_UNKNOWN;
    const char *trend = moments ? mt_trend_names[moments->trend] : NULL;
    int c = 0;
    row->explicit_row = explicit_row;
    if (e->end_known)
        row->cells[c] = mt_cell_int(at_end ? at_end->bytes : 0);
    c++;
    if (e->end_known && at_end && at_end->blocks_n >= 0)
        row->cells[c] = mt_cell_int(at_end->blocks_n);
    c++;
    if (grew)
        row->cells[c] = mt_cell_int(moments->grew);
    c++;
    if (grew && moments->per_hour != MT_UNKNOWN)
        row->cells[c] = mt_cell_int(moments->per_hour);
    c++;
    if (trend)
        row->cells[c] = mt_cell_text(trend);
    c++;
    for (int k = 0; k < e->wanted->key_n; k++)
        row->cells[c++] = mt_cell_text(mt_report_text(e->r, key[k]));
    if (moments == &e->sites.suppressed)
        return;
    count(&e->rising, rises(moments) ? moments : NULL);
    count(&e->rose, may_rise(e, moments) ? moments : NULL);
}

/* What is alive at the end; any of it is a leak, as nothing else can be told. But a process that
 * runs on when it is dumped holds what it needs: what rises from dump to dump is a leak there, and
 * what does so at times may be. */
static void add_alive(struct ends *e)
{
    for (size_t i = 0; i < e->groups.rows.n; i++) {
        const struct mt_live_group *g = &e->groups.rows.v[i];
        const struct mt_site_trend *s = mt_site_moments_find(&e->sites, g->key, g->explicit_row);
        const bool by_growth = e->dumps && (rises(s) || may_rise(e, s));
        bool large = (by_growth ? s->grew : g->at[0].bytes) >= e->wanted->min_b;
        e->answer->leaking |= large && (e->dumps ? rises(s) : g->at[0].bytes > 0);
        e->answer->unknown |= large && may_rise(e, s);
        e->r->left_out_n += !large;
        if (large)
            add_row(e, g->key, g->explicit_row, &g->at[0], s);
    }
}

/* What is no leak, in one row. */
static void add_suppressed(struct ends *e)
{
    const char *key[MT_BY_N];
    for (int k = 0; k < e->wanted->key_n; k++)
        key[k] = "[suppressed]";
    if (e->suppressed.by.n)
        add_row(e, key, true, &e->suppressed.all, NULL);
    else if (!e->end_known && e->sites.suppressed.most_b)
        add_row(e, key, true, NULL, &e->sites.suppressed);
}

/* What rises, where nobody knows what is alive at the end: it may be freed then. */
static void add_rising(struct ends *e)
{
    for (size_t i = 0; i < e->sites.all.n; i++) {
        const struct mt_site_trend *s = &e->sites.all.v[i];
        if (!rises(s) && !e->wanted->all)
            continue;
        bool large = (rises(s) ? s->grew : s->most_b) >= e->wanted->min_b;
        e->r->left_out_n += !large;
        if (large)
            add_row(e, s->key, s->explicit_row, NULL, s);
    }
}

/* Whether people need to see by how much: something that is alive at the end has changed; and what
 * that is in an hour. */
static bool any_grew(const struct ends *e, bool *timed)
{
    bool grew = e->sites.judged && !e->end_known;
    *timed = grew;
    for (size_t i = 0; i < e->groups.rows.n && e->sites.judged; i++) {
        const struct mt_live_group *g = &e->groups.rows.v[i];
        const struct mt_site_trend *s = mt_site_moments_find(&e->sites, g->key, g->explicit_row);
        grew |= s && s->grew != 0;
        *timed |= s && s->per_hour != MT_UNKNOWN;
    }
    *timed &= e->timed;
    return grew;
}

static void add_columns(struct ends *e)
{
    struct mt_report *r = e->r;
    bool timed, grew = any_grew(e, &timed);
    mt_report_columns(r, e->end_known ? "at_end_b at_end_n" : "-at_end_b -at_end_n");
    mt_report_columns(r, grew ? "growth_b" : "-growth_b");
    mt_report_columns(r, grew && timed ? "per_hour_b" : "-per_hour_b");
    mt_report_columns(r, e->sites.judged ? "trend" : "-trend");
    for (int k = 0; k < e->wanted->key_n; k++)
        mt_report_column(r, mt_group_key_name(e->wanted->keys[k]), NULL, MT_UNIT_NONE);
    r->keep_order = true;
}

static enum mt_status load(struct ends *e, struct mt_err *err)
{
    const struct mt_run_device *d = &e->v->device;
    struct mt_live_set live = {0};
    enum mt_status st = MT_OK;
    uint32_t *of = e->wanted->suppressions
                       ? mt_suppressions_of_nodes(e->wanted->suppressions, &e->v->blocks.tree)
                       : NULL;
    mt_live_groups_init(&e->groups, &e->v->blocks, e->wanted->keys, e->wanted->key_n);
    MT_TRY_OUT(mt_run_gaps(e->v->db, &e->v->run, d, &e->gaps, err));
    if (e->end_known)
        MT_TRY_OUT(mt_live_at(&e->v->blocks, d, MT_AT_END, &live, err));
    if (e->end_known && of)
        mt_leaks_suppress(&live, e->wanted->suppressions, of, &e->suppressed);
    if (e->end_known)
        mt_live_groups_add(&e->groups, &live, mt_wrap_sub(d->at_end_b, e->suppressed.all.bytes), 0);
    if (mt_device_knows(d, MT_KNOWS_MOMENTS))
        MT_TRY_OUT(mt_site_moments_load(&e->v->blocks, d, e->wanted->keys, e->wanted->key_n, of,
                                        e->end_known ? &e->groups : NULL, &e->sites, err));
out:
    free(of);
    mt_live_set_free(&live);
    return st;
}

static enum mt_status show(struct ends *e, struct mt_err *err)
{
    struct mt_rows asked = *e->wanted->rows;
    const char *by = e->end_known ? "at_end_b" : "growth_b";
    add_columns(e);
    (e->end_known ? add_alive : add_rising)(e);
    add_suppressed(e);
    mt_table_sort(e->r, &(struct mt_sort){.column = by, .by_size = true});
    e->gaps &= ~(unsigned)MT_GAP_PEAK;
    e->answer->unknown |= e->gaps != 0 || !e->end_known || (e->dumps && !e->sites.judged);
    /* more may be alive, */
    if (e->gaps & ~(unsigned)MT_GAPS_OF_ENDS) /* and what seems to be may be freed */
        e->answer->leaking = false;
    describe(e);
    MT_TRY(mt_rows_apply(&asked, e->r, by, err));
    asked.min_b = e->wanted->min_b; /* applied above */
    mt_rows_footer(&asked, e->r, NULL, "");
    describe_rising(e);
    if (e->end_known)
        mt_leaks_describe_suppressed(&e->suppressed, e->r);
    else
        mt_leaks_describe_held(&e->sites, e->wanted->suppressions, e->r);
    return MT_OK;
}

enum mt_status mt_leaks_at_end(struct mt_view *v, const struct mt_leaks_wanted *w,
                               struct mt_report *r, struct mt_leaks_answer *answer,
                               struct mt_err *err)
{
    struct ends e = {.v = v, .wanted = w, .r = r, .answer = answer};
    e.end_known = mt_device_knows(&v->device, MT_KNOWS_AT_END);
    e.dumps = mt_run_notes_get(&v->run.notes, MT_NOTE_DUMPS);
    e.timed = strcmp(v->run.time_unit, "ns") == 0;
    enum mt_status st = load(&e, err);
    if (st == MT_OK && !e.sites.judged)
        st = mt_knows(&v->run, &v->device, MT_KNOWS_AT_END, err);
    if (st == MT_OK)
        st = show(&e, err);
    mt_site_moments_free(&e.sites);
    mt_live_groups_free(&e.groups);
    mt_leaks_suppressed_free(&e.suppressed);
    return st;
}
