/* What the page says first: what this is, and the answer in a few sentences. Its figures are taken
 * from the reports below it (report_found.c). */
#include "cmd/report.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/model/notes.h"
#include "lib/page/page.h"
#include "lib/render/run_notes.h"
#include "lib/run/knows.h"
#include <stdio.h>
#include <string.h>

/* ---- what this is ---- */

void mt_page_fact(struct mt_buf *out, const char *text)
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

/* What options of the profiler add: why sites are ops, and tensors have no shapes. */
static void add_recorded(const struct mt_view *v, struct mt_buf *out)
{
    struct mt_err err = MT_ERR_INIT; /* then nothing is said of it */
    bool lines = false;
    if (mt_run_has_lines(v->db, &v->run, &lines, &err) == MT_OK)
        add_badge(out, lines ? "known" : "lacks",
                  lines ? "Python stacks" : "no Python stacks: no lines of code");
    if (mt_knows_tensors(v->db, &v->run, &v->device, &err) == MT_OK)
        add_badge(out, "known", "shapes of tensors");
    else if (err.code == MT_EUSAGE)
        add_badge(out, "lacks", "no shapes of tensors");
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
    if (v->run.kind == MT_RUN_TRACE && v->has_device)
        add_recorded(v, out);
    if (!v->blocks.steps.all.n && traces)
        add_badge(out, "lacks", "no steps");
    if (v->has_device && mt_device_has_events(&v->device) && !mt_device_categorizes(&v->device))
        add_badge(out, "lacks", "does not say what memory is for");
    if (v->has_device && mt_device_categorizes_by_frames(&v->device))
        add_badge(out, "warns", "what memory is for is told by frames");
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
            mt_page_fact(out, notes.notes.v[i]);
        mt_buf_adds(out, "</ul></details>\n");
    }
    mt_report_free(&notes);
}

const char *mt_page_short(const char *name)
{
    const char *last = strrchr(name, '/'), *at = last;
    while (at && at > name && at[-1] != '/')
        at--;
    return at && *name == '/' ? at : name;
}

void mt_page_header(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_view *v = &p->view;
    char words[96], text[MT_HUMAN_LONG];
    const char *file = strrchr(v->run.source, '/');
    mt_buf_adds(out, "<h1>");
    mt_page_text(out, mt_page_short(v->run.name));
    if (p->base) {
        mt_buf_adds(out, " <small>against ");
        mt_page_text(out, mt_page_short(p->base));
        mt_buf_adds(out, "</small>");
    }
    mt_buf_adds(out, "</h1>\n<ul class=\"facts\">");
    mt_format_words(v->run.format, words);
    mt_page_fact(out, words);
    mt_page_fact(out, file ? file + 1 : v->run.source);
    if (v->has_device)
        mt_page_fact(out, v->device.shown);
    if (v->blocks.steps.all.n)
        mt_page_fact(out, mt_human_plural((int64_t)v->blocks.steps.all.n, "step", text));
    if (v->run.dur_ns > 0)
        mt_page_fact(out, mt_human_span(v->run.time_unit, v->run.dur_ns, text));
    if (v->run.op_n)
        mt_page_fact(out, mt_human_plural(v->run.op_n, "op", text));
    mt_buf_adds(out, "</ul>\n");
    add_badges(p, out);
    add_notes(p, out);
}

/* ---- findings ---- */

void mt_page_finding(struct mt_buf *out, const char *label, const char *css_class,
                     const char *figure, const char *sentence, const char *section)
{
    mt_buf_addf(out, "<div class=\"finding\"><h3>%s</h3><p class=\"figure %s\">", label, css_class);
    mt_page_text(out, figure);
    mt_buf_adds(out, "</p><p>");
    mt_page_text(out, sentence);
    mt_buf_addf(out, " <a href=\"#%s\" aria-label=\"More: %s\">More</a></p></div>\n", section,
                label);
}

/* What would have made room for the allocation that failed. */
static void find_fit(const struct mt_page_found *f, struct mt_buf *out)
{
    struct mt_buf figure = {0}, said = {0};
    if (!f->oom.judged)
        return;
    mt_buf_addf(&figure, "%s%s", f->oom.perhaps ? "Perhaps " : "",
                f->oom.remedy ? f->oom.remedy : "Use less memory");
    if (f->oom.remedy)
        mt_buf_addf(&said, "%s have made room: %s.", f->oom.perhaps ? "may" : "would", f->oom.why);
    else
        mt_buf_adds(&said, "nothing that the allocator could have done makes room.");
    mt_page_finding(out, "To make it fit", f->oom.remedy ? "" : "more", figure.s, said.s, "oom");
    mt_buf_free(&figure);
    mt_buf_free(&said);
}

static void find_change(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    char size[MT_HUMAN_MAX], before[MT_HUMAN_MAX], after[MT_HUMAN_MAX], figure[MT_HUMAN_LONG];
    struct mt_buf end = {0};
    if (p->not_compared)
        mt_page_finding(out, "Against the base", "dim", "Cannot tell", p->not_compared, "change");
    const bool peaks = f->base_peak_b != MT_UNKNOWN && f->new_peak_b != MT_UNKNOWN;
    const int64_t base = peaks ? f->base_peak_b : f->base_end_b;
    const int64_t new = peaks ? f->new_peak_b : f->new_end_b;
    if (!f->change_title || base == MT_UNKNOWN || new == MT_UNKNOWN)
        return;
    int64_t change = mt_wrap_sub(new, base);
    snprintf(figure, sizeof figure, "%s%s%s",
             change > 0   ? "\u25b2 +"
             : change < 0 ? "\u25bc "
                          : "= ",
             mt_human_bytes(change, size), change ? "" : " change");
    mt_buf_addf(&end, "alive at the end %s -> %s", mt_human_bytes(base, before),
                mt_human_bytes(new, after));
    mt_page_finding(out, "Against the base",
                    change > 0   ? "more"
                    : change < 0 ? "less"
                                 : "",
                    figure, peaks ? f->change_title : end.s, "change");
    mt_buf_free(&end);
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
    const char *title = f->leaks_title ? f->leaks_title : f->leaks_why ? f->leaks_why : "";
    bool sums = strncmp(title, "alive at the end", strlen("alive at the end")) == 0;
    size_t kind = !f->leaks_title ? 3 : sums ? 2 : (size_t)f->leaks_code;
    if (f->leaks_title && f->leak_per_step_b > 0)
        mt_buf_addf(&figure, "\u25b2 +%s every step", mt_human_bytes(f->leak_per_step_b, size));
    else
        mt_buf_adds(&figure, figures[kind]);
    mt_buf_adds(&said, title);
    if (f->leaks_elsewhere)
        mt_buf_addf(&said, " \u00b7 %s", f->leaks_elsewhere);
    mt_page_finding(out, "Leaks", classes[kind], figure.s, said.s, "leaks");
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
    mt_page_finding(out, "Reserved beyond what is used", "", mt_human_bytes(f->idle_b, a), sentence,
                    "reserved");
}

static void find_saving(const struct mt_page_found *f, struct mt_buf *out)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX], figure[MT_HUMAN_LONG], sentence[200];
    if (!f->saving || f->saving_b <= 0 || (f->oom.judged && f->saved_of))
        return; /* what the allocator could give back was judged above */
    snprintf(figure, sizeof figure, "%s%s",
             strcmp(f->saving_bound, "up_to") == 0   ? "up to "
             : strcmp(f->saving_bound, "about") == 0 ? "about "
                                                     : "",
             mt_human_bytes(f->saving_b, a));
    snprintf(sentence, sizeof sentence, "%.100s; then the peak%s%s is %s%s.", f->saving,
             f->saved_of ? " of what is " : "", f->saved_of ? f->saved_of : "",
             strcmp(f->saving_bound, "up_to") == 0 ? "at least " : "",
             mt_human_bytes(f->saved_peak_b, b));
    mt_page_finding(out, "Largest saving", "", figure, sentence, "advice");
}

void mt_page_answer(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    mt_page_say(p, out);
    mt_buf_adds(out, f->categories.n ? f->categories.s : "");
    mt_buf_adds(out, "<div class=\"findings\">\n");
    find_fit(f, out);
    find_change(p, out);
    find_leaks(f, out);
    find_reserved(f, out);
    find_saving(f, out);
    mt_buf_adds(out, "</div>\n");
}
