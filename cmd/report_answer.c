/* What the page says first: what this is, and the answer in a few sentences. Its figures are taken
 * from the reports below it. */
#include "cmd/report.h"

#include "cmd/leaks.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/model/notes.h"
#include "lib/page/page.h"
#include "lib/render/run_notes.h"
#include "lib/run/knows.h"
#include "lib/usage/samples.h"
#include <stdio.h>
#include <string.h>

static int64_t total_of(const struct mt_report *r, const char *name)
{
    for (size_t i = 0; i < r->totals.n; i++)
        if (strcmp(r->totals.v[i].name, name) == 0 && r->totals.v[i].value.kind == MT_CELL_INT)
            return r->totals.v[i].value.i;
    return MT_UNKNOWN;
}

/* What was asked for, copied; NULL: nothing of that name. */
static char *param_of(const struct mt_report *r, const char *name)
{
    for (size_t i = 0; i < r->params.n; i++)
        if (strcmp(r->params.v[i].name, name) == 0 && r->params.v[i].value.kind == MT_CELL_TEXT)
            return mt_strdup(r->params.v[i].value.s);
    return NULL;
}

static int64_t int_at(const struct mt_report *r, size_t row, const char *column)
{
    int at = mt_report_find_column(r, column);
    const struct mt_cell *cell = at < 0 ? NULL : &r->rows.v[row].cells[at];
    return cell && cell->kind == MT_CELL_INT ? cell->i : MT_UNKNOWN;
}

static const char *text_at(const struct mt_report *r, size_t row, const char *column)
{
    int at = mt_report_find_column(r, column);
    const struct mt_cell *cell = at < 0 ? NULL : &r->rows.v[row].cells[at];
    return cell && cell->kind == MT_CELL_TEXT ? cell->s : "";
}

/* A share of the whole in percent: neither all nor nothing where it is not. */
static const char *share(int64_t part, int64_t whole, char out[MT_HUMAN_MAX])
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

/* A bar of what is alive by category, the largest first, and what its colours are. */
static void remember_categories(struct mt_page_found *f, const struct mt_report *r)
{
    struct mt_buf key = {0};
    char size[MT_HUMAN_MAX], part[MT_HUMAN_MAX];
    double sum = 0;
    const char *figure = mt_report_find_column(r, "at_peak_b") >= 0 ? "at_peak_b" : "live_b";
    for (size_t i = 0; i < r->rows.n; i++)
        sum += int_at(r, i, figure) > 0 ? (double)int_at(r, i, figure) : 0;
    mt_buf_adds(&f->categories, "<div class=\"parts\" aria-hidden=\"true\">");
    for (size_t i = 0; i < r->rows.n && sum > 0; i++) {
        int64_t bytes = int_at(r, i, figure);
        struct mt_buf name = {0};
        if (bytes <= 0)
            continue;
        add_class(&name, text_at(r, i, "category"));
        mt_buf_addf(&f->categories, "<i class=\"%s\" style=\"flex-grow:%.4f\"></i>", name.s,
                    100 * (double)bytes / sum);
        mt_buf_addf(&key, "<li><i class=\"%s\"></i>", name.s);
        mt_page_text(&key, text_at(r, i, "category"));
        mt_buf_addf(&key, " <span>%s \u00b7 ", mt_human_bytes(bytes, size));
        mt_page_text(&key, share(bytes, (int64_t)sum, part));
        mt_buf_adds(&key, "</span></li>");
        mt_buf_free(&name);
    }
    mt_buf_addf(&f->categories, "</div><ul class=\"key\">%s</ul>\n", key.n ? key.s : "");
    mt_buf_free(&key);
}

/* What a title says behind the runs and the device: "peak 2 MiB at 3 ms". Names of runs may have
 * anything in them. */
static char *behind_device(const struct mt_report *r)
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
        f->peak_title = behind_device(r);
        f->peak_b = total_of(r, "peak_b");
        if (f->peak_b == MT_UNKNOWN)
            f->peak_b = total_of(r, "live_b"); /* of the moment when it was written */
        f->at_ns = total_of(r, "at_ns");
    } else if (mt_report_find_column(r, "category") >= 0 && !f->categories.n)
        remember_categories(f, r);
}

static void remember_reserved(struct mt_page_found *f, const struct mt_report *r)
{
    int64_t idle = 0;
    if (f->reserved_b > 0 || mt_report_find_column(r, "moment") < 0)
        return; /* whether something would fit */
    for (size_t i = 0; i < r->rows.n && strcmp(text_at(r, i, "moment"), "end") == 0; i++) {
        const char *what = text_at(r, i, "what");
        int64_t bytes = int_at(r, i, "bytes_b");
        if (strcmp(what, "reserved") == 0)
            f->reserved_b = bytes;
        if (strcmp(what, "split") == 0 || strcmp(what, "unused") == 0)
            idle = mt_wrap_add(idle, bytes);
    }
    f->idle_b = idle;
}

static void remember_advice(struct mt_page_found *f, const struct mt_report *r)
{
    if (!r->rows.n || f->saving)
        return;
    const char *what = text_at(r, 0, "evidence"); /* "keep the model in bfloat16: ..." */
    f->saving = *what ? mt_strndup(what, strcspn(what, ":")) : mt_strdup(text_at(r, 0, "advice"));
    f->saving_bound = mt_strdup(text_at(r, 0, "bound"));
    f->saved_of = param_of(r, "of");
    f->saving_b = int_at(r, 0, "saving_b");
    f->saved_peak_b = int_at(r, 0, "new_peak_b");
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
        const char *device = text_at(r, i, "device");
        bool grows = strncmp(text_at(r, i, "verdict"), "grows", strlen("grows")) == 0;
        if (grows && strcmp(device, text_at(r, 0, "device")) != 0)
            f->leaks_elsewhere = mt_asprintf("%s grows", device);
    }
}

static void remember_leaks(struct mt_page_found *f, const struct mt_report *r)
{
    f->leaks_title = behind_device(r);
    f->leak_per_step_b = total_of(r, "leak_per_step_b");
    remember_elsewhere(f, r);
}

void mt_page_remember(struct mt_page_found *f, const struct mt_report *r)
{
    if (strcmp(r->schema, "memtool.peak") == 0)
        remember_peak(f, r);
    else if (strcmp(r->schema, "memtool.leaks") == 0 && !f->leaks_title)
        remember_leaks(f, r);
    else if (strcmp(r->schema, "memtool.diff") == 0 && !f->change_title) {
        f->change_title = behind_device(r);
        f->base_peak_b = total_of(r, "base_peak_b");
        f->new_peak_b = total_of(r, "new_peak_b");
    } else if (strcmp(r->schema, "memtool.fragmentation") == 0)
        remember_reserved(f, r);
    else if (strcmp(r->schema, "memtool.advise") == 0)
        remember_advice(f, r);
}

void mt_page_found_free(struct mt_page_found *f)
{
    free(f->peak_title);
    free(f->leaks_title);
    free(f->leaks_elsewhere);
    free(f->change_title);
    free(f->top);
    free(f->saving);
    free(f->saving_bound);
    free(f->saved_of);
    mt_buf_free(&f->categories);
}

/* ---- what this is ---- */

static void add_fact(struct mt_buf *out, const char *text)
{
    mt_buf_adds(out, "<li>");
    mt_page_text(out, text);
    mt_buf_adds(out, "</li>");
}

static void add_badge(struct mt_buf *out, const char *kind, const char *text)
{
    mt_buf_addf(out, "<li class=\"%s\">", kind);
    mt_page_text(out, text);
    mt_buf_adds(out, "</li>");
}

static void add_badges(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_view *v = &p->view;
    char text[MT_HUMAN_LONG], unit[MT_HUMAN_LONG], resolution[MT_HUMAN_LONG + 16];
    bool traces = v->run.op_n > 0;
    mt_buf_adds(out, "<ul class=\"badges\">");
    add_badge(out, v->run.record_n ? "known" : "lacks",
              mt_human_plural(v->run.record_n, "memory record", text));
    if (v->run.node_n)
        add_badge(out, "known", mt_human_plural(v->run.node_n, "call path", text));
    if (v->run.resolution_ns > 0 && strcmp(v->run.time_unit, "ns") == 0) {
        snprintf(resolution, sizeof resolution, "times to %s",
                 mt_human_ns(v->run.resolution_ns, unit));
        add_badge(out, "known", resolution);
    }
    if (!v->blocks.steps.all.n && traces)
        add_badge(out, "lacks", "no steps");
    if (v->has_device && mt_device_has_events(&v->device) && !mt_device_categorizes(&v->device))
        add_badge(out, "lacks", "does not say what memory is for");
    if (v->has_device && v->device.one_moment)
        add_badge(out, "warns", "no history: one moment only");
    mt_buf_adds(out, "</ul>\n");
}

/* What import noted about the file: each a sentence. */
static void add_notes(const struct mt_page_made *p, struct mt_buf *out)
{
    struct mt_report notes;
    char n[MT_HUMAN_LONG];
    mt_report_init(&notes, "memtool.report", 1);
    mt_notes_of_run(&notes, p->view.run.name, &p->view.run.notes, MT_ABOUT_ALL);
    if (notes.notes.n) {
        mt_buf_addf(out, "<details class=\"notes\"><summary>%s on the recording</summary><ul>",
                    mt_human_plural((int64_t)notes.notes.n, "note", n));
        for (size_t i = 0; i < notes.notes.n; i++)
            add_fact(out, notes.notes.v[i]);
        mt_buf_adds(out, "</ul></details>\n");
    }
    mt_report_free(&notes);
}

void mt_page_header(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_view *v = &p->view;
    char words[96], text[MT_HUMAN_LONG];
    const char *file = strrchr(v->run.source, '/');
    mt_buf_adds(out, "<h1>");
    mt_page_text(out, v->run.name);
    if (p->base) {
        mt_buf_adds(out, " <small>against ");
        mt_page_text(out, p->base);
        mt_buf_adds(out, "</small>");
    }
    mt_buf_adds(out, "</h1>\n<ul class=\"facts\">");
    mt_format_words(v->run.format, words);
    add_fact(out, words);
    add_fact(out, file ? file + 1 : v->run.source);
    if (v->has_device)
        add_fact(out, v->device.shown);
    if (v->blocks.steps.all.n)
        add_fact(out, mt_human_plural((int64_t)v->blocks.steps.all.n, "step", text));
    if (v->run.dur_ns > 0)
        add_fact(out, mt_human_span(v->run.time_unit, v->run.dur_ns, text));
    if (v->run.op_n)
        add_fact(out, mt_human_plural(v->run.op_n, "op", text));
    mt_buf_adds(out, "</ul>\n");
    add_badges(p, out);
    add_notes(p, out);
}

/* ---- the answer ---- */

static void add_bold(struct mt_buf *out, const char *text)
{
    mt_buf_adds(out, "<b>");
    mt_page_text(out, text);
    mt_buf_adds(out, "</b>");
}

static void say_peak(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    const struct mt_run_device *d = &p->view.device;
    char size[MT_HUMAN_LONG], when[MT_HUMAN_LONG];
    if (d->one_moment) {
        mt_buf_adds(out, "When the file was written, ");
        add_bold(out, mt_human_bytes(f->peak_b, size));
        mt_buf_adds(out, " were alive. Whether that is the peak <b>cannot be told</b>: the file "
                         "has no history. ");
        return;
    }
    mt_buf_addf(out, "Memory peaked at %s", mt_at_most(d, f->peak_b));
    add_bold(out, mt_human_bytes(f->peak_b, size));
    if (f->at_ns != MT_UNKNOWN)
        mt_buf_addf(out, ", %s into the run", mt_human_time(p->view.run.time_unit, f->at_ns, when));
    const char *in = strstr(f->peak_title, ", in ");
    if (in)
        mt_page_text(out, in);
    mt_buf_adds(out, ". ");
}

static void say_top(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    char size[MT_HUMAN_LONG], part[MT_HUMAN_MAX];
    if (!f->top || !*f->top || f->top_b <= 0 || f->peak_b <= 0)
        return;
    mt_buf_adds(out, "The largest part of it, ");
    add_bold(out, mt_human_bytes(f->top_b, size));
    mt_buf_adds(out, " (");
    mt_page_text(out, share(f->top_b, f->peak_b, part));
    if (strcmp(f->top, "[before trace]") == 0) {
        mt_buf_adds(out, "), is older than the recording. ");
        return;
    }
    if (strcmp(f->top, "[no addresses]") == 0) { /* nobody knows whose */
        mt_buf_adds(out,
                    "), is in records without addresses: who holds it <b>cannot be told</b>. ");
        return;
    }
    mt_buf_adds(out, "), was allocated in ");
    add_bold(out, f->top);
    mt_buf_adds(out, ". ");
}

/* The site that holds most, in whatever phases: the tables tell these apart. */
static void take_top(void *closure, const struct mt_report *r)
{
    struct mt_page_found *f = closure;
    if (!r->rows.n || f->top)
        return;
    f->top = mt_strdup(text_at(r, 0, "site"));
    f->top_b = int_at(r, 0, r->columns.v[0].name);
}

static void find_top(struct mt_page_made *p)
{
    const struct mt_taker to = {take_top, NULL, &p->found};
    const struct mt_args args = {&p->ref, 1};
    struct mt_err err = MT_ERR_INIT; /* the section on the peak says it */
    int code = 0;
    char *line = mt_asprintf("peak --by=site --limit=1%s%s", p->device ? " --device=" : "",
                             p->device ? p->device : "");
    mt_capture(line, &args, &to, &code, &err);
    free(line);
}

static enum mt_status say_ooms(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err)
{
    struct mt_levels ooms = {0};
    char size[MT_HUMAN_LONG], when[MT_HUMAN_LONG];
    if (!p->view.has_device)
        return MT_OK;
    enum mt_status st =
        mt_samples_load(p->view.db, &p->view.run, &p->view.device, "oom", &ooms, err);
    if (st == MT_OK && ooms.all.n) {
        mt_buf_addf(out, "The program ran out of memory at %s: <b>%s</b> could not be allocated. ",
                    mt_human_time(p->view.run.time_unit, ooms.all.v[0].t_ns, when),
                    mt_human_bytes(ooms.all.v[0].level_b, size));
    }
    mt_levels_free(&ooms);
    return st;
}

static void add_finding(struct mt_buf *out, const char *label, const char *css_class,
                        const char *figure, const char *sentence, const char *section)
{
    mt_buf_addf(out, "<div class=\"finding\"><h3>%s</h3><p class=\"figure %s\">", label, css_class);
    mt_page_text(out, figure);
    mt_buf_adds(out, "</p><p>");
    mt_page_text(out, sentence);
    mt_buf_addf(out, " <a href=\"#%s\">More</a></p></div>\n", section);
}

static void find_change(const struct mt_page_found *f, struct mt_buf *out)
{
    char size[MT_HUMAN_MAX], figure[MT_HUMAN_LONG];
    if (!f->change_title || f->base_peak_b == MT_UNKNOWN || f->new_peak_b == MT_UNKNOWN)
        return;
    int64_t change = mt_wrap_sub(f->new_peak_b, f->base_peak_b);
    snprintf(figure, sizeof figure, "%s%s%s",
             change > 0   ? "\u25b2 +"
             : change < 0 ? "\u25bc "
                          : "= ",
             mt_human_bytes(change, size), change ? "" : " change");
    add_finding(out, "Against the base",
                change > 0   ? "more"
                : change < 0 ? "less"
                             : "",
                figure, f->change_title, "change");
}

/* Of the leaks: what `memtool leaks --fail` says of all devices by its exit code. Sums of call
 * paths, or dumps, tell what stays, and no verdict on it. */
static void find_leaks(const struct mt_page_found *f, struct mt_buf *out)
{
    static const char *const classes[] = {"good", "more", "", "dim"};
    static const char *const figures[] = {"\u2713 None", "\u25b2 Leak", "No verdict",
                                          "Cannot tell"};
    char size[MT_HUMAN_MAX];
    struct mt_buf figure = {0}, said = {0};
    const char *title = f->leaks_title ? f->leaks_title : "";
    bool sums = strncmp(title, "alive at the end", strlen("alive at the end")) == 0;
    size_t kind = !f->leaks_title ? 3 : sums ? 2 : (size_t)f->leaks_code;
    if (f->leaks_title && f->leak_per_step_b > 0)
        mt_buf_addf(&figure, "\u25b2 +%s every step", mt_human_bytes(f->leak_per_step_b, size));
    else
        mt_buf_adds(&figure, figures[kind]);
    mt_buf_adds(&said, title);
    if (f->leaks_elsewhere)
        mt_buf_addf(&said, " \u00b7 %s", f->leaks_elsewhere);
    add_finding(out, "Leaks", classes[kind], figure.s, said.s, "leaks");
    mt_buf_free(&figure);
    mt_buf_free(&said);
}

static void find_reserved(const struct mt_page_found *f, struct mt_buf *out)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX], sentence[160];
    if (f->reserved_b <= 0)
        return;
    snprintf(sentence, sizeof sentence, "of %s that the allocator holds at the end, not in use.",
             mt_human_bytes(f->reserved_b, b));
    add_finding(out, "Reserved beyond what is used", "", mt_human_bytes(f->idle_b, a), sentence,
                "reserved");
}

static void find_saving(const struct mt_page_found *f, struct mt_buf *out)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX], figure[MT_HUMAN_LONG], sentence[200];
    if (!f->saving || f->saving_b <= 0)
        return;
    snprintf(figure, sizeof figure, "%s %s",
             strcmp(f->saving_bound, "up_to") == 0 ? "up to" : f->saving_bound,
             mt_human_bytes(f->saving_b, a));
    snprintf(sentence, sizeof sentence, "%.100s; then the peak%s%s is %s%s.", f->saving,
             f->saved_of ? " of what is " : "", f->saved_of ? f->saved_of : "",
             strcmp(f->saving_bound, "up_to") == 0 ? "at least " : "",
             mt_human_bytes(f->saved_peak_b, b));
    add_finding(out, "Largest saving", "", figure, sentence, "advice");
}

enum mt_status mt_page_answer(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err)
{
    const struct mt_page_found *f = &p->found;
    char size[MT_HUMAN_LONG];
    mt_buf_adds(out, "<p class=\"answer\">");
    MT_TRY(say_ooms(p, out, err));
    if (f->peak_title && f->peak_b != MT_UNKNOWN) {
        say_peak(p, out);
        find_top(p);
        say_top(p, out);
    } else
        mt_buf_adds(out, "How high memory was <b>cannot be told</b>. ");
    if (f->leaks_title && f->leak_per_step_b > 0)
        mt_buf_addf(out, "It leaks <b>%s every step</b>.",
                    mt_human_bytes(f->leak_per_step_b, size));
    mt_buf_adds(out, "</p>\n");
    mt_buf_adds(out, f->categories.n ? f->categories.s : "");
    mt_buf_adds(out, "<div class=\"findings\">\n");
    find_change(f, out);
    find_leaks(f, out);
    find_reserved(f, out);
    find_saving(f, out);
    mt_buf_adds(out, "</div>\n");
    return MT_OK;
}
