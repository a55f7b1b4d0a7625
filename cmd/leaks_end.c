/* memtool leaks of runs without single blocks: what is alive at the end, where it was allocated. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"

static void describe(struct mt_report *r, const struct mt_run *run, const struct mt_run_device *d,
                     unsigned gaps)
{
    char bytes[MT_HUMAN_MAX], blocks[MT_HUMAN_LONG];
    bool counted = d->at_end_n != MT_UNKNOWN;
    r->title = mt_asprintf("%s · %s · alive at the end%s: %s%s%s", run->name, d->name,
                           gaps ? " of what was recorded" : "",
                           counted ? mt_human_plural(d->at_end_n, "block", blocks) : "",
                           counted ? ", " : "", mt_human_bytes(d->at_end_b, bytes));
    bool lost = gaps & ~(unsigned)MT_GAPS_OF_ENDS;
    mt_report_total(r, "at_end_b", lost ? (struct mt_cell){0} : mt_cell_int(d->at_end_b));
    mt_report_total(r, "at_end_n",
                    counted && !lost ? mt_cell_int(d->at_end_n) : (struct mt_cell){0});
    if (lost)
        mt_report_note(r, "What is alive at the end is unknown: %s %s.", run->name,
                       mt_gaps_text(gaps));
    r->empty = "nothing is alive at the end";
}

static void add_row(struct mt_report *r, const struct mt_live_group *g, int key_n)
{
    struct mt_row *row = mt_report_row(r);
    int64_t blocks_n = g->at[0].blocks_n;
    row->explicit_row = g->explicit_row;
    row->cells[0] = mt_cell_int(g->at[0].bytes);
    row->cells[1] = blocks_n < 0 ? (struct mt_cell){0} : mt_cell_int(blocks_n);
    for (int k = 0; k < key_n; k++)
        row->cells[2 + k] = mt_cell_text(mt_report_text(r, g->key[k]));
}

static void add_rows(struct mt_report *r, const struct mt_live_groups *groups,
                     const struct mt_leaks_wanted *w, struct mt_leaks_answer *answer)
{
    mt_report_columns(r, "at_end_b at_end_n");
    for (int k = 0; k < w->key_n; k++)
        mt_report_column(r, mt_group_key_names[w->keys[k]], NULL, MT_UNIT_NONE);
    for (size_t i = 0; i < groups->rows.n; i++) {
        const struct mt_live_group *g = &groups->rows.v[i];
        bool large = g->at[0].bytes >= w->min_b;
        answer->leaking |= large && g->at[0].bytes > 0;
        if (large)
            add_row(r, g, w->key_n);
        else
            r->left_out_n++;
    }
    r->keep_order = true;
    mt_table_sort(r, &(struct mt_sort){"at_end_b", true, NULL, false});
}

enum mt_status mt_leaks_at_end(struct mt_view *v, const struct mt_leaks_wanted *w,
                               struct mt_report *r, struct mt_leaks_answer *answer,
                               struct mt_err *err)
{
    const struct mt_run_device *d = &v->device;
    struct mt_live_set live = {0};
    struct mt_live_groups groups = {0};
    struct mt_rows asked = *w->rows;
    unsigned gaps;
    enum mt_status st = MT_OK;
    MT_TRY(mt_knows(&v->run, d, MT_KNOWS_AT_END, err));
    MT_TRY(mt_run_gaps(v->db, &v->run, d, &gaps, err));
    MT_TRY_OUT(mt_live_at(&v->blocks, d, MT_AT_END, &live, err));
    mt_live_groups_init(&groups, &v->blocks, w->keys, w->key_n);
    mt_live_groups_add(&groups, &live, d->at_end_b, 0);
    add_rows(r, &groups, w, answer);
    mt_live_groups_free(&groups);
    gaps &= ~(unsigned)MT_GAP_PEAK;
    answer->unknown |= gaps != 0;          /* more may be alive, */
    if (gaps & ~(unsigned)MT_GAPS_OF_ENDS) /* and what seems to be may have been freed */
        answer->leaking = false;
    describe(r, &v->run, d, gaps);
    MT_TRY_OUT(mt_rows_apply(&asked, r, "at_end_b", err));
    asked.min_b = w->min_b; /* applied above */
    mt_rows_footer(&asked, r, NULL, "");
out:
    mt_live_set_free(&live);
    return st;
}
