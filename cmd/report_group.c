/* The page on a group of runs: ranks side by side, and the trend over runs. */
#include "cmd/report.h"

#include "lib/base/wrap.h"
#include "lib/page/page.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether runs say of which rank they are, and whether some are of the same or of none. */
static void look_at_places(struct mt_page_group *g)
{
    size_t ranks_n = 0;
    for (size_t i = 0; i < g->runs.all.n; i++) {
        const struct mt_rank *rank = &g->runs.all.v[i];
        bool again = !mt_rank_is_known(rank);
        for (size_t k = 0; k < i && !again; k++)
            again = mt_rank_is_same(&g->runs.all.v[k], rank);
        g->has_trend |= again;
        ranks_n += !again;
    }
    g->has_ranks = ranks_n > 1 && !g->runs.numbered;
    g->has_trend |= !g->has_ranks;
}

static void find_change(struct mt_page_group *g)
{
    size_t n = 0;
    int64_t *known = mt_alloc((g->runs.all.n + 1) * sizeof *known);
    size_t *of = mt_alloc((g->runs.all.n + 1) * sizeof *of);
    for (size_t i = 0; i < g->runs.all.n; i++)
        if (g->runs.all.v[i].figure_b != MT_UNKNOWN) {
            known[n] = g->runs.all.v[i].figure_b;
            of[n++] = i;
        }
    if (g->runs.apart == MT_RANKS_ALIKE)
        mt_change_point_of(known, n, &g->change);
    g->changed_in = g->change.found ? of[g->change.at] : g->runs.all.n;
    free(known);
    free(of);
}

enum mt_status mt_page_group_load(struct mt_page_made *p, struct mt_err *err)
{
    const struct mt_args args = {&p->ref, 1};
    struct mt_page_group *g = p->group;
    struct mt_report notes; /* the reports on the page say the same */
    mt_report_init(&notes, "memtool.ranks", 1);
    enum mt_status st = mt_ranks_load_all(&args, p->device, &g->runs, &notes, err);
    if (st == MT_OK) {
        look_at_places(g);
        find_change(g);
    }
    if (st == MT_OK && g->has_ranks)
        st = mt_ranks_load(&args, p->device, &g->ranks, &notes, err);
    mt_report_free(&notes);
    return st;
}

void mt_page_group_free(struct mt_page_group *g)
{
    mt_ranks_free(&g->runs);
    mt_ranks_free(&g->ranks);
}

/* ---- the beginning ---- */

void mt_page_group_header(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_group *g = p->group;
    char n[MT_HUMAN_LONG];
    mt_buf_adds(out, "<h1>");
    mt_page_text(out, p->name);
    mt_buf_adds(out, " <small>a group of runs</small></h1>\n<ul class=\"facts\">");
    mt_page_fact(out, mt_human_plural((int64_t)g->runs.all.n, "run", n));
    if (g->has_ranks)
        mt_page_fact(out, mt_human_plural((int64_t)g->ranks.all.n, "rank", n));
    mt_page_fact(out, g->runs.device);
    mt_buf_adds(out, "</ul>\n");
}

static void add_size(struct mt_buf *out, int64_t bytes)
{
    char size[MT_HUMAN_MAX];
    mt_page_bold(out, mt_human_bytes(bytes, size));
}

/* "Rank 3", or the run's name. */
static const char *words_of(const struct mt_rank *rank, char out[MT_HUMAN_LONG])
{
    if (rank->place.rank == MT_UNKNOWN)
        return rank->name;
    snprintf(out, MT_HUMAN_LONG, "Rank %lld", (long long)rank->place.rank);
    return out;
}

static void say_ranks(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_ranks *r = &p->group->ranks;
    const size_t most_at = mt_ranks_most(r);
    const char *verb = r->at_end ? "hold" : "peak at";
    char words[MT_HUMAN_LONG];
    if (most_at == r->all.n) {
        mt_buf_adds(out, "How high the ranks were <b>cannot be told</b>. ");
        return;
    }
    const struct mt_rank *most = &r->all.v[most_at];
    const int64_t more_b = mt_wrap_sub(most->figure_b, r->clusters.v[most->cluster].spread.median);
    int64_t least_b = most->figure_b;
    for (size_t i = 0; i < r->all.n; i++)
        if (r->all.v[i].figure_b != MT_UNKNOWN && r->all.v[i].figure_b < least_b)
            least_b = r->all.v[i].figure_b;
    mt_buf_addf(out, "The ranks %s ", verb);
    if (least_b < most->figure_b) {
        add_size(out, least_b);
        mt_buf_adds(out, " to ");
    }
    add_size(out, most->figure_b);
    mt_buf_adds(out, ". ");
    if (more_b > 0 && p->found.more_site) {
        mt_page_bold(out, words_of(most, words));
        mt_buf_adds(out, " holds most, ");
        add_size(out, more_b);
        mt_buf_addf(out, " more than the median of %s", r->clusters.n > 1 ? "its cluster" : "all");
        mt_buf_adds(out, "; the largest part of that was allocated in ");
        mt_page_bold(out, p->found.more_site);
        mt_buf_adds(out, ". ");
    }
}

/* What the runs before the latest had. */
static void say_before(const struct mt_ranks *r, struct mt_buf *out)
{
    int64_t least_b = MT_UNKNOWN, most_b = MT_UNKNOWN;
    for (size_t i = 0; i + 1 < r->all.n; i++) {
        const int64_t b = r->all.v[i].figure_b;
        if (b == MT_UNKNOWN)
            continue;
        least_b = least_b == MT_UNKNOWN || b < least_b ? b : least_b;
        most_b = most_b == MT_UNKNOWN || b > most_b ? b : most_b;
    }
    if (most_b == MT_UNKNOWN)
        return;
    mt_buf_adds(out, "; those before it at ");
    add_size(out, least_b);
    if (least_b < most_b) {
        mt_buf_adds(out, " to ");
        add_size(out, most_b);
    }
}

static void say_trend(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_ranks *r = &p->group->runs;
    const struct mt_rank *last = &r->all.v[r->all.n - 1];
    if (last->figure_b == MT_UNKNOWN) {
        mt_buf_adds(out, "How high memory was in the latest run <b>cannot be told</b>. ");
        return;
    }
    mt_buf_adds(out, r->at_end ? "The latest run, " : "Memory peaked in the latest run, ");
    mt_page_text(out, last->name);
    mt_buf_adds(out, r->at_end ? ", holds " : ", at ");
    add_size(out, last->figure_b);
    say_before(r, out);
    mt_buf_adds(out, ". ");
    if (p->group->change.found) {
        mt_buf_adds(out, "It ");
        mt_page_text(out, p->found.changed ? p->found.changed : "changed");
        mt_buf_adds(out, ". ");
    }
}

static void find_outliers(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_ranks *r = &p->group->ranks;
    size_t outside_n = 0, judged_n = 0;
    char figure[MT_HUMAN_LONG];
    for (size_t k = 0; k < r->clusters.n; k++) {
        const struct mt_rank_cluster *c = &r->clusters.v[k];
        outside_n += c->outside_n;
        judged_n += c->judged ? c->spread.n : 0;
    }
    if (outside_n)
        snprintf(figure, sizeof figure, "\u25b2 %zu of %zu", outside_n, r->all.n);
    else
        snprintf(figure, sizeof figure, "%s", judged_n ? "\u2713 None" : "Cannot tell");
    mt_page_finding(out, "Outliers",
                    outside_n  ? "more"
                    : judged_n ? "good"
                               : "dim",
                    figure,
                    p->found.outliers ? p->found.outliers
                                      : "No rank is far from the median of those like it.",
                    "ranks");
}

static void find_more(const struct mt_page_made *p, struct mt_buf *out)
{
    char size[MT_HUMAN_MAX], figure[MT_HUMAN_LONG];
    if (!p->found.more_title)
        return;
    snprintf(figure, sizeof figure, "\u25b2 +%s", mt_human_bytes(p->found.more_site_b, size));
    struct mt_buf said = {0};
    mt_buf_addf(&said, "in %s: the most of %s.", p->found.more_site, p->found.more_title);
    mt_page_finding(out, "The worst against the median", "more", figure, said.s, "ranks");
    mt_buf_free(&said);
}

static void find_changed(const struct mt_page_made *p, struct mt_buf *out)
{
    const char *said = p->found.changed;
    if (!p->group->has_trend || !said)
        return;
    const struct mt_change_point *c = &p->group->change;
    const int64_t change_b = mt_wrap_sub(c->after, c->before);
    const bool open = strstr(said, "too few") || strstr(said, "not judged");
    char size[MT_HUMAN_MAX], figure[MT_HUMAN_LONG];
    snprintf(figure, sizeof figure, "%s%s", change_b > 0 ? "\u25b2 +" : "\u25bc ",
             mt_human_bytes(change_b, size));
    if (c->found)
        mt_page_finding(out, "Over the runs", change_b > 0 ? "more" : "less", figure, said,
                        "trend");
    else
        mt_page_finding(out, "Over the runs", open ? "dim" : "",
                        open ? "Cannot tell" : "No lasting change", said, "trend");
}

void mt_page_group_answer(struct mt_page_made *p, struct mt_buf *out)
{
    mt_buf_adds(out, "<p class=\"answer\">");
    if (p->group->has_ranks)
        say_ranks(p, out);
    if (p->group->has_trend)
        say_trend(p, out);
    mt_buf_adds(out, "</p>\n<div class=\"findings\">\n");
    if (p->group->has_ranks) {
        find_outliers(p, out);
        find_more(p, out);
    }
    find_changed(p, out);
    mt_buf_adds(out, "</div>\n");
}

/* ---- the pictures ---- */

/* A column for each run; *out's texts are the report's. */
static void add_bars(const struct mt_ranks *r, struct mt_report *texts, struct mt_page_columns *out)
{
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *rank = &r->all.v[i];
        const bool known = rank->place.rank != MT_UNKNOWN;
        const char *name = mt_rank_words(texts, rank);
        *mt_vec_push(&out->all) = (struct mt_page_bar){known ? name + strlen("rank ") : name, name,
                                                       rank->figure_b, rank->outside};
    }
}

void mt_page_add_ranks(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_ranks *r = &p->group->ranks;
    const struct mt_spread *s = &r->clusters.v[0].spread;
    struct mt_page_columns columns = {
        .caption = r->at_end ? "What each rank holds" : "Peak of each rank",
        .lines = {{MT_UNKNOWN, 0, 0, NULL}, {MT_UNKNOWN, 0, 0, NULL}}};
    struct mt_report texts;
    char size[MT_HUMAN_MAX], words[MT_HUMAN_LONG];
    mt_report_init(&texts, "memtool.ranks", 1);
    add_bars(r, &texts, &columns);
    if (r->clusters.n == 1 && s->n) {
        snprintf(words, sizeof words, "median %s", mt_human_bytes(s->median, size));
        columns.lines[0].bytes = s->median;
        columns.lines[0].to = 1;
        columns.lines[0].words = words;
    }
    mt_page_columns_html(&columns, out);
    mt_vec_free(&columns.all);
    mt_report_free(&texts);
}

/* The level before a change, or after it. */
static void add_level(struct mt_page_columns *c, size_t i, int64_t bytes, double from, double to,
                      char words[MT_HUMAN_LONG])
{
    char size[MT_HUMAN_MAX];
    snprintf(words, MT_HUMAN_LONG, "%s %s", i ? "after" : "before", mt_human_bytes(bytes, size));
    c->lines[i].bytes = bytes;
    c->lines[i].from = from;
    c->lines[i].to = to;
    c->lines[i].words = words;
}

void mt_page_add_trend(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_ranks *r = &p->group->runs;
    struct mt_page_columns columns = {
        .caption = r->at_end ? "What each run holds" : "Peak of each run",
        .lines = {{MT_UNKNOWN, 0, 0, NULL}, {MT_UNKNOWN, 0, 0, NULL}}};
    const struct mt_page_group *g = p->group;
    char words[2][MT_HUMAN_LONG];
    for (size_t i = 0; i < r->all.n; i++) {
        const struct mt_rank *run = &r->all.v[i];
        *mt_vec_push(&columns.all) =
            (struct mt_page_bar){run->name, run->name, run->figure_b, i == g->changed_in};
    }
    if (g->change.found) {
        const double at = (double)g->changed_in / (double)r->all.n;
        add_level(&columns, 0, g->change.before, 0, at, words[0]);
        add_level(&columns, 1, g->change.after, at, 1, words[1]);
    }
    mt_page_columns_html(&columns, out);
    mt_vec_free(&columns.all);
}

/* ---- ranks and steps ---- */

struct steps {
    const struct mt_ranks *ranks;
    struct mt_report texts;
    struct mt_page_heat heat;
};

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The numbers of all steps, each once. */
static void take_numbers(struct mt_page_heat *h, const struct mt_report *r)
{
    size_t n = 0;
    h->columns = mt_alloc((r->rows.n + 1) * sizeof *h->columns);
    for (size_t i = 0; i < r->rows.n; i++)
        h->columns[i] = mt_page_int_at(r, i, "step");
    qsort(h->columns, r->rows.n, sizeof *h->columns, by_number);
    for (size_t i = 0; i < r->rows.n; i++)
        if (!n || h->columns[n - 1] != h->columns[i])
            h->columns[n++] = h->columns[i];
    h->column_n = n;
}

/* Rows are in the order of ranks. */
static void take_steps(void *closure, const struct mt_report *r)
{
    struct steps *s = closure;
    struct mt_page_heat *h = &s->heat;
    const struct mt_ranks *ranks = s->ranks;
    size_t row = 0;
    take_numbers(h, r);
    h->row_n = ranks->all.n;
    h->rows = mt_alloc((h->row_n + 1) * sizeof *h->rows);
    h->bytes = mt_alloc((h->row_n * h->column_n + 1) * sizeof *h->bytes);
    for (size_t i = 0; i < h->row_n * h->column_n; i++)
        h->bytes[i] = MT_UNKNOWN;
    for (size_t i = 0; i < h->row_n; i++)
        h->rows[i] = mt_rank_words(&s->texts, &ranks->all.v[i]);
    for (size_t i = 0; i < r->rows.n; i++) {
        const int64_t number = mt_page_int_at(r, i, "step");
        const int64_t *at =
            bsearch(&number, h->columns, h->column_n, sizeof *h->columns, by_number);
        while (row < h->row_n && strcmp(ranks->all.v[row].name, mt_page_text_at(r, i, "run")) != 0)
            row++;
        if (row < h->row_n && at)
            h->bytes[row * h->column_n + (size_t)(at - h->columns)] =
                mt_page_int_at(r, i, "peak_b");
    }
}

enum mt_status mt_page_add_steps(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err)
{
    struct steps s = {.ranks = &p->group->ranks};
    const struct mt_taker to = {take_steps, NULL, &s};
    const struct mt_args args = {&p->ref, 1};
    int code = 0;
    char *line = mt_asprintf("ranks --per=step --format=csv%s%s", p->device ? " --device=" : "",
                             p->device ? p->device : "");
    mt_report_init(&s.texts, "memtool.ranks", 1);
    enum mt_status st = mt_capture(line, &args, &to, &code, err);
    if (st == MT_OK && s.heat.column_n)
        mt_page_heat_html(&s.heat, out);
    mt_page_heat_free(&s.heat);
    mt_report_free(&s.texts);
    free(line);
    return st;
}
