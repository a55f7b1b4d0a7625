/* Reports on one run that take a group: they are about the rank that holds most. */
#include "cmd/common.h"
#include "cmd/ranks.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include <stdio.h>

/* Which rank it is, and between which others its figure lies. Figures of ranks are never added up:
 * their peaks are of different times and devices. */
static void describe(const struct mt_ranks *r, const struct mt_rank *most, struct mt_report *out)
{
    char peak[MT_HUMAN_MAX], least[MT_HUMAN_MAX], n[MT_HUMAN_LONG], unknown[MT_HUMAN_LONG];
    int64_t least_b = most->figure_b, unknown_n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        const int64_t figure_b = r->all.v[i].figure_b;
        unknown_n += figure_b == MT_UNKNOWN;
        least_b = figure_b != MT_UNKNOWN && figure_b < least_b ? figure_b : least_b;
    }
    mt_ranks_note_apart(r, out);
    mt_report_param(out, "group", mt_cell_text(mt_report_text(out, r->group)));
    mt_report_total(out, "rank", mt_cell_known(most->place.rank));
    mt_report_total(out, "rank_n", mt_cell_int((int64_t)r->all.n));
    const char *line =
        mt_report_textf(out, "of the %s of %s, %s holds most%s: %s, the least %s",
                        mt_human_plural((int64_t)r->all.n, "rank", n), r->group,
                        mt_rank_words(out, most), r->at_end ? "" : " at its peak",
                        mt_human_bytes(most->figure_b, peak), mt_human_bytes(least_b, least));
    if (unknown_n)
        line = mt_report_textf(out, "%s; of %s nothing is known", line,
                               mt_human_plural(unknown_n, "rank", unknown));
    if (mt_people_read())
        mt_report_footer(out, "%s; memtool ranks compares them", line);
    else
        mt_report_note(out, "What is shown is of one run: %s.", line);
}

/* The rank that has most, of ranks that are loaded. */
static enum mt_status choose(const struct mt_ranks *r, char run[256], char device[32],
                             struct mt_report *out, struct mt_err *err)
{
    size_t at = mt_ranks_most(r);
    if (at == r->all.n) {
        MT_FAIL(err, MT_EUSAGE, "nothing is known of the peak of any rank of '%s'", r->group);
        struct mt_buf group = {0};
        mt_shell_word(&group, r->group);
        mt_err_hint(err, "`memtool ranks %s` says what is known of them.", group.s);
        mt_buf_free(&group);
        return MT_EUSAGE;
    }
    const struct mt_rank *most = &r->all.v[at];
    snprintf(run, 256, "%s", most->name);
    snprintf(device, 32, "%s", most->device->name);
    describe(r, most, out);
    return MT_OK;
}

static enum mt_status find_rank(const struct mt_args *args, const char *group,
                                const struct mt_view_wanted *wanted, char run[256], char device[32],
                                struct mt_report *out, struct mt_err *err)
{
    struct mt_narrow narrow;
    struct mt_ranks ranks = {.narrow = &narrow};
    const struct mt_args of_group = {.v = &group, .n = 1};
    if (args->n) {
        MT_FAIL(err, MT_EUSAGE, "a report is on a run or on a group, not on both");
        mt_err_hint(err, "Nothing was done. Leave out '%s', or --group.", args->v[0]);
        return MT_EUSAGE;
    }
    MT_TRY(mt_narrow_parse(wanted->category, &narrow, err));
    enum mt_status st = mt_ranks_load(&of_group, wanted->device, &ranks, out, err);
    if (st == MT_OK)
        st = choose(&ranks, run, device, out, err);
    mt_ranks_free(&ranks);
    return st;
}

enum mt_status mt_report_on_group(const struct mt_args *args, const char *group,
                                  const struct mt_view_wanted *wanted, const char *schema,
                                  mt_use_view *use, struct mt_err *err)
{
    struct mt_view v = {0};
    struct mt_report report;
    char run[256], device[32];
    struct mt_view_wanted of = *wanted;
    const char *ref = args->n ? args->v[0] : NULL;
    enum mt_status st = MT_OK;
    mt_report_init(&report, schema, 1);
    if (group) {
        st = find_rank(args, group, wanted, run, device, &report, err);
        of.device = device;
        ref = run;
    }
    if (st == MT_OK)
        st = mt_view_open(&v, ref, &of, err);
    if (st == MT_OK)
        st = use(&v, &report, err);
    mt_report_free(&report);
    mt_view_close(&v);
    return st;
}

enum mt_status mt_report_on_view(const struct mt_args *args, const struct mt_view_wanted *wanted,
                                 const char *schema, mt_use_view *use, struct mt_err *err)
{
    return mt_report_on_group(args, NULL, wanted, schema, use, err);
}
