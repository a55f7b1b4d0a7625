/* memtool diff of two groups: rank by rank, and what changed in the one that grew most. */
#include "cmd/common.h"
#include "cmd/diff.h"
#include "cmd/ranks.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include <stdlib.h>
#include <string.h>

static int64_t delta_of(const struct mt_diff_pair_of_ranks *p)
{
    const int64_t base = p->side[0]->figure_b, new = p->side[1]->figure_b;
    return base == MT_UNKNOWN || new == MT_UNKNOWN ? MT_UNKNOWN : mt_wrap_sub(new, base);
}

/* What grew most comes first. */
static int by_delta(const void *a, const void *b)
{
    const struct mt_diff_pair_of_ranks *x = a, *y = b;
    const int64_t p = x->side[0]->place.rank, q = y->side[0]->place.rank;
    if (x->delta_b != y->delta_b)
        return x->delta_b > y->delta_b ? -1 : 1;
    return p < q ? -1 : p > q;
}

/* Ranks of both groups are in order. */
static void match(struct mt_diff_groups *of)
{
    const struct mt_ranks *g = of->ranks;
    for (size_t i = 0, k = 0; i < g[0].all.n; i++) {
        const struct mt_rank *base = &g[0].all.v[i];
        while (k < g[1].all.n && g[1].all.v[k].place.rank != MT_UNKNOWN &&
               g[1].all.v[k].place.rank < base->place.rank)
            k++;
        if (k == g[1].all.n || base->place.rank == MT_UNKNOWN ||
            g[1].all.v[k].place.rank != base->place.rank)
            continue;
        struct mt_diff_pair_of_ranks *p = mt_vec_push(&of->pairs);
        *p = (struct mt_diff_pair_of_ranks){{base, &g[1].all.v[k]}, 0};
        p->delta_b = delta_of(p);
    }
    if (of->pairs.n)
        qsort(of->pairs.v, of->pairs.n, sizeof *of->pairs.v, by_delta);
}

static void add_row(const struct mt_diff_pair_of_ranks *p, struct mt_report *r)
{
    struct mt_row *row = mt_report_row(r);
    const int64_t figures[] = {p->delta_b, p->side[0]->figure_b, p->side[1]->figure_b};
    static const char *const columns[] = {"peak_delta_b", "base_peak_b", "new_peak_b"};
    mt_report_put(r, row, "section", mt_cell_text("rank"));
    mt_report_put(r, row, "rank", mt_cell_int(p->side[0]->place.rank));
    mt_report_put(r, row, "base_run", mt_cell_text(mt_report_text(r, p->side[0]->name)));
    mt_report_put(r, row, "new_run", mt_cell_text(mt_report_text(r, p->side[1]->name)));
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++)
        if (figures[i] != MT_UNKNOWN)
            mt_report_put(r, row, columns[i], mt_cell_int(figures[i]));
}

/* judged: whether they got worse is told. */
static void add_columns(struct mt_report *r, bool judged)
{
    const size_t before_n = r->columns.n;
    mt_report_columns(r, "rank");
    mt_report_column(r, "peak_delta_b", "PEAK", MT_UNIT_CHANGE);
    mt_report_column(r, "base_peak_b", "BASE PEAK", MT_UNIT_BYTES);
    mt_report_column(r, "new_peak_b", "NEW PEAK", MT_UNIT_BYTES);
    mt_report_column(r, "base_run", "BASE", MT_UNIT_NONE);
    mt_report_column(r, "new_run", "NEW", MT_UNIT_NONE);
    if (judged)
        mt_report_column(r, "verdict", "VERDICT", MT_UNIT_NONE);
    mt_report_fit_rows(r, before_n);
}

static void note_apart(const struct mt_diff_groups *g, struct mt_report *r)
{
    char n[MT_HUMAN_LONG];
    for (int s = 0; s < 2; s++) {
        const size_t apart_n = g->ranks[s].all.n - g->pairs.n;
        if (apart_n)
            mt_report_note(r, "%s of %s %s no counterpart in %s and %s not compared.",
                           mt_human_plural((int64_t)apart_n, "rank", n), g->ranks[s].group,
                           apart_n == 1 ? "has" : "have", g->ranks[!s].group,
                           apart_n == 1 ? "is" : "are");
    }
}

static enum mt_status choose(struct mt_diff_groups *g, struct mt_err *err)
{
    const struct mt_diff_pair_of_ranks *first = g->pairs.v;
    if (!g->pairs.n || first->delta_b == MT_UNKNOWN) {
        MT_FAIL(err, MT_EUSAGE, "%s and %s have no rank in common whose peaks are known",
                g->ranks[0].group, g->ranks[1].group);
        mt_err_cannot_tell(err);
        struct mt_buf group = {0};
        mt_shell_word(&group, g->ranks[0].group);
        mt_err_hint(err, "`memtool ranks %s` says what ranks a group has.", group.s);
        mt_buf_free(&group);
        return MT_EUSAGE;
    }
    g->rank = first->side[0]->place.rank;
    g->rank_n = g->pairs.n;
    for (int s = 0; s < 2; s++) {
        g->runs[s] = first->side[s]->name;
        g->devices[s] = first->side[s]->device->name;
    }
    return MT_OK;
}

enum mt_status mt_diff_groups_load(struct mt_diff_groups *g, const struct mt_strings *names,
                                   const char *device, const char *category, bool judged,
                                   struct mt_err *err)
{
    g->judged = judged;
    mt_report_init(&g->report, "memtool.diff", 1);
    MT_TRY(mt_narrow_parse(category, &g->narrow, err));
    for (int s = 0; s < 2; s++) {
        const struct mt_args of = {.v = &names->v[s], .n = 1};
        const char *same = s && !device ? g->ranks[0].device : device;
        g->ranks[s].narrow = &g->narrow;
        enum mt_status st = mt_ranks_load(&of, same, &g->ranks[s], &g->report, err);
        if (st == MT_EUSAGE && !device && g->ranks[s].asked) /* what BASE has, which nobody named */
            mt_err_cannot_tell(err);
        MT_TRY(st);
    }
    match(g);
    MT_TRY(choose(g, err));
    add_columns(&g->report, judged);
    g->report.keep_order = true;
    for (size_t i = 0; i < g->pairs.n; i++)
        add_row(&g->pairs.v[i], &g->report);
    note_apart(g, &g->report);
    return MT_OK;
}

/* ---- --exit-code ---- */

enum { EXPLAINED_MOST = 5 }; /* ranks */

/* What was told of a few of the ranks with the worst answer. */
static void explain(const struct mt_rank *rank, const struct mt_report *notes, struct mt_report *r)
{
    for (size_t i = 0; i < notes->notes.n; i++)
        mt_report_note(r, "%s: %s", mt_rank_words(r, rank), notes->notes.v[i]);
}

static void note_answers(const int64_t n[MT_DIFF_WORSE + 1], struct mt_report *r)
{
    char all[MT_HUMAN_LONG], open[MT_HUMAN_LONG] = "", count[MT_HUMAN_MAX], worse[MT_HUMAN_MAX];
    if (n[MT_DIFF_OPEN])
        snprintf(open, sizeof open, "; of %s it cannot be told",
                 mt_human_count(n[MT_DIFF_OPEN], count));
    mt_report_note(
        r, "Of %s %s got worse%s.",
        mt_human_plural(n[MT_DIFF_NOT_WORSE] + n[MT_DIFF_OPEN] + n[MT_DIFF_WORSE], "rank", all),
        n[MT_DIFF_WORSE] ? mt_human_count(n[MT_DIFF_WORSE], worse) : "none", open);
}

/* Ranks of which nothing is known: those that one group alone has, and those that neither has,
 * though they are of the job. */
static int64_t count_untold(const struct mt_diff_groups *g)
{
    int64_t alone_n[2], missing_n = 0;
    for (int s = 0; s < 2; s++)
        alone_n[s] = (int64_t)(g->ranks[s].all.n - g->pairs.n);
    for (int s = 0; s < 2; s++) {
        const int64_t n = g->ranks[s].missing_n - alone_n[!s];
        missing_n = n > missing_n ? n : missing_n;
    }
    return alone_n[0] + alone_n[1] + missing_n;
}

/* Whether both runs have the device that is compared; else what is told of it. */
static bool has_device(const struct mt_diff_groups *g, const struct mt_diff_pair_of_ranks *pair,
                       struct mt_report *notes)
{
    for (int s = 0; s < 2; s++)
        if (!pair->side[s]->device) {
            mt_report_note(notes, "Run '%s' has no device %s: cannot tell whether that got worse.",
                           pair->side[s]->name, g->ranks[s].device);
            return false;
        }
    return true;
}

enum mt_status mt_diff_groups_judge(struct mt_diff_groups *g, mt_diff_judge_pair *judge,
                                    void *closure, struct mt_report *r, enum mt_diff_answer *answer,
                                    struct mt_err *err)
{
    static const char *const words[] = {"not worse", "cannot tell", "worse"};
    enum mt_diff_answer *told = mt_alloc(g->pairs.n * sizeof *told);
    struct mt_report *notes = mt_alloc(g->pairs.n * sizeof *notes);
    int64_t n[MT_DIFF_WORSE + 1] = {0}, explained_n = 0;
    enum mt_status st = MT_OK;
    *answer = MT_DIFF_NOT_WORSE;
    for (size_t i = 0; i < g->pairs.n; i++)
        mt_report_init(&notes[i], "memtool.diff", 1);
    for (size_t i = 0; i < g->pairs.n && st == MT_OK; i++) {
        told[i] = MT_DIFF_OPEN;
        if (has_device(g, &g->pairs.v[i], &notes[i]))
            st = judge(closure, &g->pairs.v[i], &notes[i], &told[i], err);
        if (st != MT_OK)
            break;
        n[told[i]]++;
        *answer = mt_diff_worst(*answer, told[i]);
        mt_report_put(&g->report, &g->report.rows.v[i], "verdict", mt_cell_text(words[told[i]]));
    }
    n[MT_DIFF_OPEN] += count_untold(g);
    if (st == MT_OK)
        note_answers(n, r);
    for (size_t i = 0; i < g->pairs.n; i++) {
        bool tells = st == MT_OK && *answer != MT_DIFF_NOT_WORSE && told[i] == *answer;
        if (tells && explained_n++ < EXPLAINED_MOST)
            explain(g->pairs.v[i].side[1], &notes[i], r);
        mt_report_free(&notes[i]);
    }
    if (n[MT_DIFF_OPEN])
        *answer = mt_diff_worst(*answer, MT_DIFF_OPEN);
    free(notes);
    free(told);
    return st;
}

/* Behind the rows that are there. */
static void append(const struct mt_report *from, bool judged, struct mt_report *to)
{
    add_columns(to, judged);
    for (size_t i = 0; i < from->rows.n; i++) {
        struct mt_row *row = mt_report_row(to);
        mt_report_put(to, row, "section", mt_cell_text("rank"));
        for (size_t c = 0; c < from->columns.n; c++) {
            struct mt_cell cell = from->rows.v[i].cells[c];
            if (cell.kind == MT_CELL_TEXT)
                cell.s = mt_report_text(to, cell.s);
            mt_report_put(to, row, from->columns.v[c].name, cell);
        }
    }
}

enum mt_status mt_diff_groups_report(struct mt_diff_groups *g, const struct mt_rows *rows,
                                     struct mt_diff_reports *out, struct mt_err *err)
{
    struct mt_report *r = &g->report, *whole = out->v[0];
    const struct mt_rows shown = {.limit = rows->limit, .people = 10, .min_b = rows->min_b};
    mt_report_param(whole, "base_group", mt_cell_text(mt_report_text(whole, g->ranks[0].group)));
    mt_report_param(whole, "new_group", mt_cell_text(mt_report_text(whole, g->ranks[1].group)));
    mt_report_total(whole, "rank", mt_cell_int(g->rank));
    mt_report_total(whole, "rank_n", mt_cell_int((int64_t)g->rank_n));
    for (size_t i = 0; i < r->notes.n; i++)
        mt_report_note(out->v[out->n - 1], "%s", r->notes.v[i]);
    if (!mt_people_read()) {
        if (!rows->columns)
            append(r, g->judged, whole);
        return MT_OK;
    }
    for (size_t i = 0; i < r->notes.n; i++)
        free(r->notes.v[i]);
    r->notes.n = 0;
    r->title =
        mt_asprintf("%s → %s · %zu ranks · %s%s%s", g->ranks[0].group, g->ranks[1].group, g->rank_n,
                    g->ranks[0].device, *g->narrow.words ? ": " : "", g->narrow.words);
    MT_TRY(mt_rows_apply(&shown, r, "peak_delta_b", err));
    const int64_t delta_b = g->pairs.v[0].delta_b;
    mt_report_footer(r, "%sbelow, what changed in rank %lld%s", delta_b ? "" : "no peak grew; ",
                     (long long)g->rank,
                     delta_b > 0   ? ", whose peak grew most"
                     : delta_b < 0 ? ", whose peak fell least"
                                   : "");
    mt_rows_footer(&shown, r, NULL, "");
    return MT_OK;
}

void mt_diff_groups_free(struct mt_diff_groups *g)
{
    mt_report_free(&g->report);
    mt_vec_free(&g->pairs);
    for (int s = 0; s < 2; s++)
        mt_ranks_free(&g->ranks[s]);
}
