/* memtool ranks: what is read of the run of each rank that is shown. */
#include "cmd/ranks.h"
#include "cmd/view.h"
#include "lib/run/knows.h"
#include "lib/usage/memstats.h"
#include "lib/usage/oom.h"
#include <string.h>

/* The largest of the live sites, as a text of the report. */
static const char *largest_site(struct mt_report *r, struct mt_live_groups *g)
{
    const struct mt_live_group *most = NULL;
    for (size_t i = 0; i < g->rows.n; i++)
        if (!most || g->rows.v[i].at[0].bytes > most->at[0].bytes)
            most = &g->rows.v[i];
    return most ? mt_report_text(r, most->key[0]) : NULL;
}

/* Of the peak: its step, the phase of the op that made it, and the largest site. lives: zeroed, or
 * of another rank. */
static enum mt_status add_peak(struct mt_report *r, struct mt_row *row, struct mt_db *db,
                               const struct mt_run *run, const struct mt_run_device *d,
                               struct mt_allocations *lives, struct mt_err *err)
{
    static const enum mt_group_key site = MT_BY_SITE;
    struct mt_live_set live = {0};
    struct mt_live_groups groups = {0};
    enum mt_status st = MT_OK;
    int64_t record = d->peak_record == MT_UNKNOWN ? -1 : d->peak_record;
    MT_TRY_OUT(mt_allocations_open_sites(db, run, lives, err));
    mt_live_groups_init(&groups, lives, &site, 1);
    MT_TRY_OUT(mt_live_at(lives, d, d->one_moment ? MT_AT_END : record, &live, err));
    mt_live_groups_add(&groups, &live, d->peak_b, 0);
    if (d->peak_ns != MT_UNKNOWN && !d->one_moment)
        mt_report_put(r, row, "peak_step",
                      mt_cell_known(mt_steps_number_at(&lives->steps, d->peak_ns)));
    for (size_t i = live.blocks.n; i-- > 0;)
        if (live.blocks.v[i].alloc_record == d->peak_record && record >= 0 &&
            live.blocks.v[i].origin.node != MT_NONE)
            mt_report_put(
                r, row, "phase",
                mt_cell_text(
                    mt_phase_names[lives->tree.nodes.v[live.blocks.v[i].origin.node].phase]));
    mt_report_put(r, row, "site", mt_cell_text(largest_site(r, &groups)));
out:
    mt_live_groups_free(&groups);
    mt_live_set_free(&live);
    return st;
}

/* How often it ran out of memory, on whichever of the devices compared; where that would not be
 * recorded, nobody knows. */
static enum mt_status add_ooms(const struct mt_ranks *ranks, const struct mt_rank *rank,
                               struct mt_report *r, struct mt_row *row, struct mt_db *db,
                               const struct mt_run *run, struct mt_err *err)
{
    enum mt_status st = MT_OK;
    size_t n = 0;
    for (size_t i = 0; i < rank->device_n && st == MT_OK; i++) {
        const struct mt_run_device *d = &rank->devices[i];
        struct mt_ooms ooms = {0};
        if (!mt_device_is(d->name, ranks->device, true) &&
            !mt_device_is(d->name, ranks->device, false))
            continue;
        st = mt_ooms_load(db, run, d, &ooms, err);
        n += ooms.all.n;
        mt_ooms_free(&ooms);
    }
    if (st == MT_OK && (n || mt_knows_failures(run)))
        mt_report_put(r, row, "oom_n", mt_cell_int((int64_t)n));
    return st;
}

/* What the allocator held, and how often it ran out of memory: of devices with segments. */
static enum mt_status add_reserved(const struct mt_ranks *ranks, const struct mt_rank *rank,
                                   struct mt_report *r, struct mt_row *row, struct mt_db *db,
                                   const struct mt_run *run, struct mt_err *err)
{
    static const struct mt_window whole = {INT64_MIN, INT64_MAX};
    struct mt_memstat_row stats[MT_STAT_N];
    if (!mt_device_knows(rank->device, MT_KNOWS_SEGMENTS))
        return MT_OK;
    MT_TRY(mt_memstats(db, run, rank->device, &whole, stats, err));
    if (stats[MT_STAT_RESERVED].known)
        mt_report_put(r, row, "reserved_peak_b", mt_cell_known(stats[MT_STAT_RESERVED].peak_b));
    return add_ooms(ranks, rank, r, row, db, run, err);
}

/* What is read of the run itself. */
static enum mt_status add_details(const struct mt_ranks *ranks, const struct mt_rank *rank,
                                  struct mt_report *r, struct mt_row *row,
                                  struct mt_allocations *lives, struct mt_err *err)
{
    struct mt_db *db;
    struct mt_run run;
    if (!rank->device)
        return MT_OK;
    enum mt_status st = mt_ranks_open(ranks, rank, &db, &run, err);
    if (st == MT_OK)
        st = add_peak(r, row, db, &run, rank->device, lives, err);
    if (st == MT_OK)
        st = add_reserved(ranks, rank, r, row, db, &run, err);
    if (db != ranks->db) { /* the next one is of another database */
        mt_allocations_close(lives);
        *lives = (struct mt_allocations){0};
    }
    mt_ranks_close(ranks, db);
    return st;
}

bool mt_rank_is_detail(const char *column)
{
    static const char *const details[] = {"peak_step", "phase", "reserved_peak_b", "oom_n", "site"};
    for (size_t i = 0; column && i < MT_ARRAY_LEN(details); i++)
        if (strcmp(column, details[i]) == 0)
            return true;
    return false;
}

enum mt_status mt_ranks_add_details(const struct mt_ranks *ranks, struct mt_report *r,
                                    struct mt_err *err)
{
    const int run = mt_report_find_column(r, "run");
    struct mt_allocations lives = {0};
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < r->rows.n; i++)
        for (size_t k = 0; k < ranks->all.n && st == MT_OK; k++)
            if (ranks->all.v[k].name == r->rows.v[i].cells[run].s) /* others may be called that */
                st = add_details(ranks, &ranks->all.v[k], r, &r->rows.v[i], &lives, err);
    mt_allocations_close(&lives);
    return st;
}
