/* What one run holds at its peak beyond another, by site: of `ranks` and `trend`. */
#include "cmd/common.h"
#include "cmd/ranks.h"
#include "lib/analysis/diff.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/render/columns.h"
#include "lib/render/run_notes.h"
#include "lib/render/table.h"
#include "lib/run/knows.h"
#include <string.h>

/* Of a report of its own, or behind those of runs. */
static void add_columns(const struct mt_peak_change *how, struct mt_report *out)
{
    const size_t before_n = out->columns.n;
    mt_report_column(out, "at_peak_delta_b", "AT PEAK", MT_UNIT_CHANGE);
    mt_report_column(out, "base_at_peak_b", how->base, MT_UNIT_BYTES);
    mt_report_column(out, "new_at_peak_b", how->new, MT_UNIT_BYTES);
    if (mt_report_find_column(out, "site") < 0)
        mt_report_column(out, "site", NULL, MT_UNIT_NONE);
    out->keep_order = true;
    mt_report_fit_rows(out, before_n);
}

static void add_row(const char *section, struct mt_report *out, const struct mt_rank *rank,
                    const struct mt_diff_row *of)
{
    int64_t base = of->at[0].v[MT_FIG_AT_PEAK_B].i, new = of->at[1].v[MT_FIG_AT_PEAK_B].i;
    if (base == new)
        return;
    struct mt_row *row = mt_report_row(out);
    row->explicit_row = of->explicit_row;
    mt_report_put(out, row, "section", mt_cell_text(section));
    mt_rank_put(out, row, rank);
    mt_report_put(out, row, "run", mt_cell_text(mt_report_text(out, rank->name)));
    mt_report_put(out, row, "base_at_peak_b", mt_cell_int(base));
    mt_report_put(out, row, "new_at_peak_b", mt_cell_int(new));
    mt_report_put(out, row, "at_peak_delta_b", mt_cell_int(mt_wrap_sub(new, base)));
    mt_report_put(out, row, "site", mt_cell_text(mt_report_text(out, of->key[0])));
}

static enum mt_status load_side(const struct mt_ranks *r, const struct mt_rank *rank,
                                struct mt_diff *d, int s, struct mt_err *err)
{
    struct mt_diff_side *side = &d->side[s];
    side->device = *rank->device;
    return mt_ranks_open(r, rank, &side->db, &side->run, err);
}

/* Sites that are lines of code in both, or top ops in both. */
static enum mt_status settle_sites(struct mt_diff *d, struct mt_err *err)
{
    bool lines[2];
    for (int s = 0; s < 2; s++)
        MT_TRY(mt_run_has_lines(d->side[s].db, &d->side[s].run, &lines[s], err));
    d->keys[0] = lines[0] == lines[1] ? MT_BY_SITE : MT_BY_TOP;
    d->key_n = 1;
    return MT_OK;
}

static void describe(const struct mt_rank *base, const struct mt_rank *new, const struct mt_diff *d,
                     struct mt_report *out)
{
    char bytes[MT_HUMAN_MAX];
    mt_report_total(out, "compared_to", mt_cell_text(mt_report_text(out, base->name)));
    int64_t change = mt_wrap_sub(new->figure_b, base->figure_b);
    bool exact = !base->device->doubt_at_peak_b && !new->device->doubt_at_peak_b;
    if (!out->left_out_n)
        mt_report_footer(out, "= %s%s%s", change > 0 ? "+" : "", mt_human_bytes(change, bytes),
                         exact ? " exactly" : "");
    for (int s = 0; s < 2; s++) {
        const struct mt_diff_side *side = &d->side[s];
        mt_report_older(out, &side->run, &side->device);
        mt_notes_of_run(out, side->run.name, &side->run.notes, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    }
}

static enum mt_status show(struct mt_diff *d, const struct mt_rank *base, const struct mt_rank *new,
                           const struct mt_peak_change *how, struct mt_report *out,
                           struct mt_err *err)
{
    static const struct mt_sort by_change = {.column = "at_peak_delta_b", .by_size = true};
    add_columns(how, out);
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct mt_diff_row row = mt_diff_row(d, i);
        add_row(how->section, out, new, &row);
    }
    if (mt_people_read()) {
        const struct mt_rows shown = {
            .limit = how->rows->limit, .people = 10, .min_b = how->rows->min_b};
        mt_table_sort(out, &by_change);
        MT_TRY(mt_rows_apply(&shown, out, "at_peak_delta_b", err));
        mt_rows_footer(&shown, out, NULL, "");
    }
    describe(base, new, d, out);
    return MT_OK;
}

enum mt_status mt_ranks_change(const struct mt_ranks *r, const struct mt_rank *base,
                               const struct mt_rank *new, const struct mt_peak_change *how,
                               struct mt_report *out, struct mt_err *err)
{
    struct mt_diff d = {0};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(load_side(r, base, &d, 0, err));
    MT_TRY_OUT(load_side(r, new, &d, 1, err));
    MT_TRY_OUT(settle_sites(&d, err));
    for (int s = 0; s < 2; s++)
        MT_TRY_OUT(mt_diff_load(&d, s, MT_DIFF_LIVES, 1, err));
    mt_diff_compare(&d);
    if (!mt_formats_alike(d.side[0].run.format, d.side[1].run.format))
        mt_note_recorders(out, &d.side[0].run, &d.side[1].run);
    const bool known = mt_diff_peak_sites_known(&d.side[0]);
    const struct mt_diff_side *lacks = &d.side[known];
    if (known && mt_diff_peak_sites_known(lacks))
        st = show(&d, base, new, how, out, err);
    else
        mt_report_note(out, "Which sites hold more is not known: %s %s.", lacks->run.name,
                       mt_knows_lack(&lacks->run, &lacks->device, MT_KNOWS_BLOCKS));
out:
    for (int s = 0; s < 2; s++)
        if (d.side[s].db && d.side[s].db != r->db)
            mt_db_close(d.side[s].db);
    mt_diff_free(&d);
    return st;
}

enum mt_status mt_ranks_compare(const struct mt_ranks *r, const struct mt_rows *rows,
                                struct mt_report *out, struct mt_err *err)
{
    const struct mt_peak_change how = {"outlier", "MEDIAN", "MOST", rows};
    size_t most_at = mt_ranks_most(r);
    if (most_at == r->all.n)
        return MT_OK;
    const struct mt_rank *most = &r->all.v[most_at];
    const struct mt_rank_cluster *c = &r->clusters.v[most->cluster];
    const struct mt_rank *median = &r->all.v[c->median];
    if (median == most || median->figure_b == most->figure_b)
        return MT_OK;
    if (mt_people_read())
        out->title = mt_asprintf("what %s holds%s beyond %s%s", mt_rank_words(out, most),
                                 r->at_end ? "" : " at its peak", mt_rank_words(out, median),
                                 c->spread.n > 2 ? ", the median" : "");
    return mt_ranks_change(r, median, most, &how, out, err);
}
