/* What the answer needs, kept from the reports of the page. */
#include "cmd/report.h"

#include "cmd/leaks.h"
#include "cmd/oom.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/categories.h"
#include "lib/page/page.h"
#include <stdio.h>
#include <string.h>

int64_t mt_page_total_of(const struct mt_report *r, const char *name)
{
    for (size_t i = 0; i < r->totals.n; i++)
        if (strcmp(r->totals.v[i].name, name) == 0 && r->totals.v[i].value.kind == MT_CELL_INT)
            return r->totals.v[i].value.i;
    return MT_UNKNOWN;
}

static const char *total_text(const struct mt_report *r, const char *name)
{
    for (size_t i = 0; i < r->totals.n; i++)
        if (strcmp(r->totals.v[i].name, name) == 0 && r->totals.v[i].value.kind == MT_CELL_TEXT)
            return r->totals.v[i].value.s;
    return NULL;
}

/* What was asked for, copied; NULL: nothing of that name. */
static char *param_of(const struct mt_report *r, const char *name)
{
    for (size_t i = 0; i < r->params.n; i++)
        if (strcmp(r->params.v[i].name, name) == 0 && r->params.v[i].value.kind == MT_CELL_TEXT)
            return mt_strdup(r->params.v[i].value.s);
    return NULL;
}

int64_t mt_page_int_at(const struct mt_report *r, size_t row, const char *column)
{
    int at = mt_report_find_column(r, column);
    const struct mt_cell *cell = at < 0 ? NULL : &r->rows.v[row].cells[at];
    return cell && cell->kind == MT_CELL_INT ? cell->i : MT_UNKNOWN;
}

const char *mt_page_text_at(const struct mt_report *r, size_t row, const char *column)
{
    int at = mt_report_find_column(r, column);
    const struct mt_cell *cell = at < 0 ? NULL : &r->rows.v[row].cells[at];
    return cell && cell->kind == MT_CELL_TEXT ? cell->s : "";
}

/* A share of the whole in percent: neither all nor nothing where it is not. */
const char *mt_page_share(int64_t part, int64_t whole, char out[MT_HUMAN_MAX])
{
    double percent = whole > 0 ? 100 * (double)part / (double)whole : 0;
    if (part < whole && percent > 99)
        return "over 99 %";
    if (part > 0 && percent < 0.1)
        return "< 0.1 %";
    snprintf(out, MT_HUMAN_MAX, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
    return out;
}

/* "[before trace]" is the class "before-trace". */
static void add_class(struct mt_buf *out, const char *category)
{
    mt_buf_adds(out, "k-");
    for (; *category; category++)
        if ((*category >= 'a' && *category <= 'z') || *category == ' ')
            mt_buf_addc(out, *category == ' ' ? '-' : *category);
}

static void count_kind(struct mt_page_found *f, const char *category, int64_t bytes)
{
    const struct {
        enum mt_category category;
        int64_t *sum;
    } kinds[] = {{MT_CATEGORY_PARAMETER, &f->of_model_b[0]},
                 {MT_CATEGORY_GRADIENT, &f->of_model_b[1]},
                 {MT_CATEGORY_OPTIMIZER_STATE, &f->of_model_b[2]},
                 {MT_CATEGORY_ACTIVATION, &f->of_backward_b[0]},
                 {MT_CATEGORY_RECOMPUTED, &f->of_backward_b[0]},
                 {MT_CATEGORY_KEPT, &f->of_backward_b[0]},
                 {MT_CATEGORY_AUTOGRAD_DETAIL, &f->of_backward_b[1]}};
    for (size_t i = 0; i < MT_ARRAY_LEN(kinds); i++)
        if (strcmp(category, mt_category_names[kinds[i].category]) == 0)
            *kinds[i].sum = mt_wrap_add(*kinds[i].sum, bytes);
}

/* A bar of what is alive by category, the largest first, and what its colours are. */
static void remember_categories(struct mt_page_found *f, const struct mt_report *r)
{
    struct mt_buf key = {0};
    char size[MT_HUMAN_MAX], part[MT_HUMAN_MAX];
    double sum = 0;
    const char *figure = mt_report_find_column(r, "at_peak_b") >= 0 ? "at_peak_b" : "live_b";
    for (size_t i = 0; i < r->rows.n; i++)
        sum += mt_page_int_at(r, i, figure) > 0 ? (double)mt_page_int_at(r, i, figure) : 0;
    mt_buf_adds(&f->categories, "<div class=\"parts\" aria-hidden=\"true\">");
    for (size_t i = 0; i < r->rows.n && sum > 0; i++) {
        int64_t bytes = mt_page_int_at(r, i, figure);
        struct mt_buf name = {0};
        if (bytes <= 0)
            continue;
        count_kind(f, mt_page_text_at(r, i, "category"), bytes);
        add_class(&name, mt_page_text_at(r, i, "category"));
        mt_buf_addf(&f->categories, "<i class=\"%s\" style=\"flex-grow:%.4f\"></i>", name.s,
                    100 * (double)bytes / sum);
        mt_buf_addf(&key, "<li><i class=\"%s\"></i>", name.s);
        mt_page_text(&key, mt_page_text_at(r, i, "category"));
        mt_buf_addf(&key, " <span>%s \u00b7 ", mt_human_bytes(bytes, size));
        mt_page_text(&key, mt_page_share(bytes, (int64_t)sum, part));
        mt_buf_adds(&key, "</span></li>");
        mt_buf_free(&name);
    }
    mt_buf_addf(&f->categories, "</div><ul class=\"key\">%s</ul>\n", key.n ? key.s : "");
    mt_buf_free(&key);
}

/* What a title says behind the runs and the device: "peak 2 MiB at 3 ms". Names of runs may have
 * anything in them. */
char *mt_page_behind_device(const struct mt_report *r)
{
    const char *title = r->title ? r->title : "", *dot;
    for (size_t i = 0; i < MT_ARRAY_LEN(r->runs) && r->runs[i].name; i++) {
        size_t n = strlen(r->runs[i].name), arrow = i ? strlen(" -> ") : 0;
        if (strncmp(title, " -> ", arrow) == 0 && strncmp(title + arrow, r->runs[i].name, n) == 0)
            title += arrow + n;
    }
    for (int i = 0; i < 2 && (dot = strstr(title, " \u00b7 ")); i++)
        title = dot + strlen(" \u00b7 ");
    return mt_strdup(title);
}

static void remember_peak(struct mt_page_found *f, const struct mt_report *r)
{
    if (!f->peak_title) {
        f->peak_title = mt_page_behind_device(r);
        f->peak_b = mt_page_total_of(r, "peak_b");
        if (f->peak_b == MT_UNKNOWN)
            f->peak_b = mt_page_total_of(r, "live_b"); /* of the moment when it was written */
        f->at_ns = mt_page_total_of(r, "at_ns");
    } else if (mt_report_find_column(r, "category") >= 0 && !f->categories.n) {
        remember_categories(f, r);
    } else if (mt_report_find_column(r, "phase") >= 0 && !f->phase && r->rows.n) {
        f->phase = mt_strdup(mt_page_text_at(r, 0, "phase"));
        f->phase_b = mt_page_int_at(r, 0, r->columns.v[0].name);
    }
}

static void remember_reserved(struct mt_page_found *f, const struct mt_report *r)
{
    int64_t idle = 0;
    if (f->reserved_b > 0 || mt_report_find_column(r, "moment") < 0)
        return; /* whether something would fit */
    for (size_t i = 0; i < r->rows.n && strcmp(mt_page_text_at(r, i, "moment"), "end") == 0; i++) {
        const char *what = mt_page_text_at(r, i, "what");
        int64_t bytes = mt_page_int_at(r, i, "bytes_b");
        if (strcmp(what, "reserved") == 0)
            f->reserved_b = bytes;
        if (strcmp(what, "split") == 0 || strcmp(what, "unused") == 0)
            idle = mt_wrap_add(idle, bytes);
    }
    f->idle_b = idle;
}

/* Of the pieces that people read: what was known when it failed, and what would have helped. */
static void remember_oom(struct mt_page_found *f, const struct mt_report *r)
{
    struct mt_page_oom *oom = &f->oom;
    if (!oom->when) {
        const char *site = total_text(r, "site");
        char *title = mt_page_behind_device(r);
        oom->when = mt_strndup(title, strcspn(title, ":"));
        oom->site = site ? mt_strdup(site) : NULL;
        oom->reserved_b = oom->hole_b = oom->free_b = MT_UNKNOWN;
        free(title);
    }
    for (size_t i = 0; i < r->rows.n; i++) {
        const char *what = mt_page_text_at(r, i, "what");
        const int64_t bytes = mt_page_int_at(r, i, "bytes_b");
        if (strcmp(what, MT_OOM_RESERVED) == 0)
            oom->reserved_b = bytes;
        if (strcmp(what, MT_OOM_HOLE) == 0)
            oom->hole_b = bytes;
        if (strcmp(what, MT_OOM_FREE) == 0)
            oom->free_b = bytes;
        oom->judged = oom->judged || mt_report_find_column(r, "fits") >= 0;
        const char *fits = mt_page_text_at(r, i, "fits");
        const bool yes = strcmp(fits, "yes") == 0, perhaps = strcmp(fits, "unknown") == 0;
        if ((!oom->remedy && perhaps) || ((!oom->remedy || oom->perhaps) && yes)) {
            free(oom->remedy);
            free(oom->why);
            oom->perhaps = perhaps;
            oom->remedy = mt_strdup(mt_page_text_at(r, i, "remedy"));
            oom->why = mt_strdup(mt_page_text_at(r, i, "why"));
        }
    }
}

static void remember_advice(struct mt_page_found *f, const struct mt_report *r)
{
    if (!r->rows.n || f->saving)
        return;
    f->saving = mt_page_advice_what(r, 0);
    f->saving_bound = mt_strdup(mt_page_text_at(r, 0, "bound"));
    f->saved_of = param_of(r, "of");
    f->saving_b = mt_page_int_at(r, 0, "saving_b");
    f->saved_peak_b = mt_page_int_at(r, 0, "new_peak_b");
}

/* A device that is not shown and grows all the same, or else one that cannot be judged. */
static void remember_elsewhere(struct mt_page_found *f, const struct mt_report *r)
{
    static const char *const begins[] = {MT_LEAKS_THERE, MT_LEAKS_PERHAPS};
    for (size_t k = 0; k < MT_ARRAY_LEN(begins); k++)
        for (size_t i = 0; i < r->notes.n && !f->leaks_elsewhere; i++)
            if (strncmp(r->notes.v[i], begins[k], strlen(begins[k])) == 0)
                f->leaks_elsewhere = mt_strndup(r->notes.v[i], strcspn(r->notes.v[i], ";"));
    for (size_t i = 1; i < r->rows.n && !f->leaks_elsewhere; i++) { /* of processes */
        const char *device = mt_page_text_at(r, i, "device");
        bool grows = strncmp(mt_page_text_at(r, i, "verdict"), "grows", strlen("grows")) == 0;
        if (grows && strcmp(device, mt_page_text_at(r, 0, "device")) != 0)
            f->leaks_elsewhere = mt_asprintf("%s grows", device);
    }
}

static void remember_leaks(struct mt_page_found *f, const struct mt_report *r)
{
    f->leaks_title = mt_page_behind_device(r);
    f->leak_per_step_b = mt_page_total_of(r, "leak_per_step_b");
    f->at_end_b = mt_page_total_of(r, "at_end_b");
    if (f->leak_per_step_b > 0 && r->rows.n && mt_page_int_at(r, 0, "per_step_b") > 0) {
        f->leak_site = mt_strdup(mt_page_text_at(r, 0, "site"));
        f->leak_site_b = mt_page_int_at(r, 0, "per_step_b");
    }
    for (size_t i = 0; !f->peak_title && i < r->rows.n && i < MT_ARRAY_LEN(f->tops); i++)
        f->tops[i] = (struct mt_page_top){mt_strdup(mt_page_text_at(r, i, "site")),
                                          mt_page_int_at(r, i, "at_end_b")};
    remember_elsewhere(f, r);
}

/* Of `ranks` the ranks, and what the highest has more than the median. */
static void remember_ranks(struct mt_page_found *f, const struct mt_report *r)
{
    if (mt_report_find_column(r, "over_median_b") >= 0)
        for (size_t i = 0; i < r->footer.n && !f->outliers; i++)
            if (strstr(r->footer.v[i], "outlier"))
                f->outliers = mt_strdup(r->footer.v[i]);
    for (size_t i = 0; i < r->rows.n && r->title && !f->more_site; i++) {
        const int64_t more_b = mt_page_int_at(r, i, "at_peak_delta_b");
        if (more_b <= 0)
            continue; /* it has less of that */
        f->more_title = mt_strdup(r->title);
        f->more_site = mt_strdup(mt_page_text_at(r, i, "site"));
        f->more_site_b = more_b;
    }
}

/* What is said of the peak: "peak: MARKS  changed from ..."; of dumps "alive: ...". */
static void remember_trend(struct mt_page_found *f, const struct mt_report *r)
{
    for (size_t i = 0; i < r->footer.n && !f->changed; i++) {
        const char *line = r->footer.v[i], *said = strstr(line, "  ");
        if (strncmp(line, "peak: ", strlen("peak: ")) == 0 ||
            strncmp(line, "alive: ", strlen("alive: ")) == 0)
            f->changed = mt_strdup(said ? said + 2 : strchr(line, ' ') + 1);
    }
}

/* The sites that hold most, in whatever phases: the tables tell these apart. */
static void take_tops(void *closure, const struct mt_report *r)
{
    struct mt_page_found *f = closure;
    size_t n = 0;
    for (size_t i = 0; i < r->rows.n && n < MT_ARRAY_LEN(f->tops) && !f->tops[n].site; i++) {
        const char *site = mt_page_text_at(r, i, "site");
        if (n && *site == '[')
            continue; /* who comes next, of those that have a name */
        f->tops[n++] =
            (struct mt_page_top){mt_strdup(site), mt_page_int_at(r, i, r->columns.v[0].name)};
    }
}

void mt_page_find_tops(struct mt_page_made *p)
{
    const struct mt_taker to = {take_tops, NULL, &p->found};
    const struct mt_args args = {&p->ref, 1};
    struct mt_err err = MT_ERR_INIT; /* the section on the peak says it */
    int code = 0;
    char *line = mt_asprintf("peak --by=site --limit=8%s%s", p->device ? " --device=" : "",
                             p->device ? p->device : "");
    mt_capture(line, &args, &to, &code, &err);
    free(line);
}

void mt_page_remember(struct mt_page_found *f, const struct mt_report *r)
{
    if (strcmp(r->schema, "memtool.peak") == 0)
        remember_peak(f, r);
    else if (strcmp(r->schema, "memtool.leaks") == 0 && !f->leaks_title)
        remember_leaks(f, r);
    else if (strcmp(r->schema, "memtool.diff") == 0 && !f->change_title) {
        f->change_title = mt_page_behind_device(r);
        f->base_peak_b = mt_page_total_of(r, "base_peak_b");
        f->new_peak_b = mt_page_total_of(r, "new_peak_b");
        f->base_end_b = mt_page_total_of(r, "base_at_end_b");
        f->new_end_b = mt_page_total_of(r, "new_at_end_b");
    } else if (strcmp(r->schema, "memtool.fragmentation") == 0)
        remember_reserved(f, r);
    else if (strcmp(r->schema, "memtool.advise") == 0)
        remember_advice(f, r);
    else if (strcmp(r->schema, "memtool.oom") == 0)
        remember_oom(f, r);
    else if (strcmp(r->schema, "memtool.ranks") == 0)
        remember_ranks(f, r);
    else if (strcmp(r->schema, "memtool.trend") == 0)
        remember_trend(f, r);
}

void mt_page_found_free(struct mt_page_found *f)
{
    free(f->peak_title);
    free(f->leaks_title);
    free(f->leaks_why);
    free(f->leaks_elsewhere);
    free(f->change_title);
    free(f->tops[0].site);
    free(f->tops[1].site);
    free(f->phase);
    free(f->leak_site);
    free(f->oom.when);
    free(f->oom.on);
    free(f->oom.site);
    free(f->oom.remedy);
    free(f->oom.why);
    free(f->saving);
    free(f->saving_bound);
    free(f->saved_of);
    free(f->outliers);
    free(f->more_title);
    free(f->more_site);
    free(f->changed);
    mt_buf_free(&f->categories);
}
