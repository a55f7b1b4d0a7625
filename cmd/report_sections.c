/* The sections of the page: each the reports of some commands, the curve and the call paths. */
#include "cmd/report.h"

#include "cmd/stacks.h"
#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/run/knows.h"
#include "lib/usage/process.h"
#include <string.h>

/* What a section is about, so that it is shown. */
enum { ALWAYS = 0, OF_BASE = 1, OF_PROCESS = 2, OF_SEGMENTS = 4, NO_PROCESS = 8 };

struct tab {
    const char *label, *line; /* NULL ends the list */
    bool must;                /* why it cannot be told is said; others are left out then */
};

static const struct section {
    const char *id, *nav, *heading, *say;
    unsigned of;
    enum { REPORTS, CURVE, PATHS } what;
    bool stacked; /* the reports stand below each other, not behind tabs */
    struct tab tabs[8];
} sections[] = {
    {"over-time", "Over time", "Memory over time", NULL, ALWAYS, CURVE, false, {{0}}},
    {"alive",
     "Alive",
     "Alive at the peak",
     "What held memory when it was highest.",
     NO_PROCESS,
     REPORTS,
     false,
     {{"By site", "peak --limit=200", true},
      {"By category", "peak --by=category", false},
      {"By module", "peak --by=module --limit=200", false},
      {"By phase", "peak --by=phase", false},
      {"By step", "peak --per=step --limit=200", false}}},
    {"process",
     "Process",
     "Memory of the process",
     "What was counted of it, at its peak.",
     OF_PROCESS,
     REPORTS,
     true,
     {{"At the peak", "peak", true}, {"Where it is", "memory", false}}},
    {"paths",
     "Call paths",
     "Call paths",
     "Who called whom, the outermost on top. Wide frames hold much; look for wide frames that have "
     "nothing below them.",
     NO_PROCESS,
     PATHS,
     false,
     {{0}}},
    {"leaks",
     "Leaks",
     "Leaks",
     "Whether memory grows from step to step.",
     ALWAYS,
     REPORTS,
     true,
     {{"Leaks", "leaks --all --limit=200", true}}},
    {"change",
     "Before and after",
     "Before and after",
     "What changed since the base; red is more, blue is less.",
     OF_BASE,
     REPORTS,
     true,
     {{"Change", "diff --limit=50", true}}},
    {"reserved",
     "Reserved",
     "Reserved memory",
     "What the allocator holds from the driver beyond what the program uses.",
     NO_PROCESS,
     REPORTS,
     true,
     {{"Fragmentation", "fragmentation", true}, {"Segments", "segments --limit=100", false}}},
    {"advice",
     "Advice",
     "Advice",
     "What the peak would be if one thing were changed: savings do not add up.",
     NO_PROCESS,
     REPORTS,
     true,
     {{"Advice", "advise", true}}},
    {"operators",
     "Operators",
     "Who allocated",
     "All that was allocated in the recording, by operator or function.",
     NO_PROCESS,
     REPORTS,
     false,
     {{"By name", "table --limit=100", true}, {"By site", "table --by=site --limit=100", false}}},
    {"file", "File", "What the file says", NULL, ALWAYS, REPORTS, true, {{"Facts", "info", true}}},
};

void mt_page_cannot(struct mt_buf *out, const struct mt_err *err)
{
    mt_buf_adds(out, "<div class=\"cannot\"><b class=\"ring\" aria-hidden=\"true\">?</b><div>"
                     "<h3>Cannot tell: ");
    mt_page_text(out, err->what);
    mt_buf_adds(out, "</h3><p>");
    mt_page_text(out, err->hint);
    mt_buf_adds(out, "</p></div></div>\n");
}

static void add_word(struct mt_buf *out, const char *word)
{
    struct mt_buf quoted = {0};
    mt_shell_word(&quoted, word);
    mt_page_text(out, quoted.s);
    mt_buf_free(&quoted);
}

/* " --by=phase --limit=200" as people write it: " --by phase". How many rows are shown is the
 * page's own affair. */
static void add_options(struct mt_buf *out, const char *options)
{
    for (size_t n; *options; options += n) {
        n = 1 + strcspn(options + 1, " ");
        if (strncmp(options, " --limit=", 9) == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            mt_buf_addc(out, options[i] == '=' ? ' ' : options[i]);
    }
}

void mt_page_prompt(struct mt_page_made *p, const char *line, bool base, struct mt_buf *out)
{
    size_t name = strcspn(line, " ");
    mt_buf_addf(out, "<p class=\"prompt\">At the prompt <code>memtool %.*s ", (int)name, line);
    if (base) {
        add_word(out, p->base);
        mt_buf_addc(out, ' ');
    }
    add_word(out, p->ref);
    add_options(out, line + name);
    if (p->device) {
        mt_buf_adds(out, " --device ");
        add_word(out, p->device);
    }
    mt_buf_adds(out, "</code> <button type=\"button\" class=\"copy\">Copy</button></p>\n");
}

/* ---- reports of commands ---- */

struct taking {
    struct mt_page_made *page;
    const char *label;
    struct mt_buf html;
};

static void add_lines(struct mt_buf *out, const char *css_class, char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mt_buf_addf(out, "<p class=\"%s\">", css_class);
        mt_page_text(out, lines[i]);
        mt_buf_adds(out, "</p>\n");
    }
}

static void take(void *closure, const struct mt_report *r)
{
    struct taking *t = closure;
    mt_page_remember(&t->page->found, r);
    if (r->title) {
        mt_buf_adds(&t->html, "<p class=\"title\">");
        mt_page_text(&t->html, r->title);
        mt_buf_adds(&t->html, "</p>\n");
    }
    if (r->rows.n) {
        mt_buf_adds(&t->html, "<div class=\"panel\">");
        mt_render_html_table(r, r->title ? r->title : t->label, &t->html);
        mt_buf_adds(&t->html, "</div>\n");
    } else {
        mt_buf_adds(&t->html, "<p class=\"none\">");
        mt_page_text(&t->html, r->empty ? r->empty : "no rows");
        mt_buf_adds(&t->html, "</p>\n");
    }
    add_lines(&t->html, "foot", r->footer.v, r->footer.n);
    add_lines(&t->html, "note", r->notes.v, r->notes.n);
}

/* Appends what a command answers. false: it cannot, and that need not be said. */
static bool add_report(struct mt_page_made *p, const struct section *s, const struct tab *tab,
                       struct mt_buf *out)
{
    struct taking t = {.page = p, .label = tab->label};
    struct mt_err err = MT_ERR_INIT;
    int code = 0;
    bool base = s->of & OF_BASE;
    const char *refs[] = {base ? p->base : p->ref, p->ref};
    const struct mt_args args = {refs, base ? 2 : 1};
    char *line = mt_asprintf("%s%s", tab->line, p->device_option);
    enum mt_status st = mt_capture(line, &args, take, &t, &code, &err);
    if (st == MT_OK)
        mt_buf_adds(out, t.html.n ? t.html.s : "");
    else if (tab->must)
        mt_page_cannot(out, &err);
    if (st == MT_OK || tab->must)
        mt_page_prompt(p, tab->line, base, out);
    mt_buf_free(&t.html);
    free(line);
    return st == MT_OK || tab->must;
}

static void add_reports(struct mt_page_made *p, const struct section *s, struct mt_buf *out)
{
    for (size_t i = 0; s->tabs[i].line; i++) {
        struct mt_buf one = {0};
        if (add_report(p, s, &s->tabs[i], &one)) {
            mt_buf_addf(out, "<div class=\"%s\" data-label=\"%s\">\n", s->stacked ? "part" : "tab",
                        s->tabs[i].label);
            mt_buf_adds(out, one.s);
            mt_buf_adds(out, "</div>\n");
        }
        mt_buf_free(&one);
    }
}

/* ---- the curve and the call paths ---- */

static enum mt_status add_curve(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err)
{
    struct mt_page_curve c = {0};
    char size[MT_HUMAN_MAX];
    enum mt_status st = MT_OK;
    bool level = p->view.has_device && mt_device_knows(&p->view.device, MT_KNOWS_LEVEL) &&
                 !p->view.device.one_moment && p->view.run.dur_ns > 0;
    if (level)
        st = mt_page_curve_load(&p->view.blocks, &p->view.device, &c, err);
    if (st == MT_OK && level) {
        mt_page_curve_json(&c, &p->curve);
        mt_buf_addf(out, "<div id=\"curve\" class=\"panel\">\n");
        mt_page_curve_svg(&c, out);
        mt_buf_adds(out, "</div>\n");
        for (size_t i = 0; i < c.ooms.all.n && i < 3; i++)
            mt_buf_addf(out, "<p class=\"note\">Out of memory: %s could not be allocated.</p>\n",
                        mt_human_bytes(c.ooms.all.v[i].level_b, size));
        mt_page_prompt(p, "timeline", false, out);
    } else if (st == MT_OK) {
        struct mt_err why = MT_ERR_INIT;
        MT_FAIL(&why, MT_EUSAGE, "%s",
                p->view.has_device ? "the recording is of one moment" : "it has no memory records");
        mt_err_hint(&why, "%s",
                    p->view.has_device
                        ? "It says what was alive when it was written, and no history "
                          "of it. Start the history before the program's work: "
                          "torch.cuda.memory._record_memory_history()."
                        : mt_run_how_to_record(&p->view.run));
        mt_page_cannot(out, &why);
    }
    mt_page_curve_free(&c);
    return st;
}

/* Folds more and more until the paths have room in the page. Returns what was folded last. */
static enum mt_status load_paths(struct mt_page_made *p, int64_t *least_b, struct mt_err *err)
{
    enum { PATHS_BYTES = 480 * 1024 };
    const struct mt_view_stacks_asked asked = {NULL, false, true};
    enum mt_status st = MT_OK;
    *least_b = -1;
    for (int tries = 0; tries < 8 && st == MT_OK; tries++) {
        struct mt_view_stacks s;
        struct mt_report notes;
        mt_report_init(&notes, "memtool.flame", 1);
        st = mt_view_stacks_open(&p->view, &asked, &notes, &s, err);
        if (st == MT_OK) {
            mt_buf_clear(&p->paths);
            mt_stacks_finish(&s.stacks, *least_b);
            mt_page_paths_json(&s.stacks, &p->paths);
            int64_t sum_b = mt_stacks_sum(&s.stacks, MT_MEASURE_ALLOC_B);
            *least_b = *least_b > 0 ? *least_b * 4 : sum_b / 2500;
        }
        mt_view_stacks_close(&s);
        mt_report_free(&notes);
        if (p->paths.n <= PATHS_BYTES)
            break;
    }
    return st;
}

static void add_paths(struct mt_page_made *p, struct mt_buf *out)
{
    struct mt_err err = MT_ERR_INIT;
    int64_t least_b;
    if (!p->view.has_device || load_paths(p, &least_b, &err) != MT_OK) {
        if (!p->view.has_device)
            mt_fail_no_memory(&p->view.run, "", &err);
        mt_buf_clear(&p->paths);
        mt_page_cannot(out, &err);
        return;
    }
    mt_buf_adds(out,
                "<div id=\"flame-graph\"><noscript><p>The flame graph needs a script; the table of "
                "sites and <code>memtool tree</code> say the same.</p></noscript></div>\n");
    mt_page_prompt(p, "flame", false, out);
}

/* ---- all of them ---- */

static bool is_shown(const struct mt_page_made *p, unsigned of)
{
    bool process = p->view.has_device && (mt_device_is_process(&p->view.device) ||
                                          mt_device_is_processes(&p->view.device));
    return !(of & OF_BASE && !p->base) && !(of & OF_PROCESS && !process) &&
           !(of & NO_PROCESS && process);
}

static enum mt_status add_section(struct mt_page_made *p, const struct section *s,
                                  struct mt_err *err)
{
    struct mt_buf *out = &p->body;
    enum mt_status st = MT_OK;
    const char *heading = s->heading;
    if (strcmp(s->id, "alive") == 0 && p->view.has_device && p->view.device.one_moment)
        heading = "Alive when the file was written";
    mt_buf_addf(&p->nav, "<a href=\"#%s\">%s</a>", s->id, s->nav);
    mt_buf_addf(out, "<section id=\"%s\"><h2>%s</h2>\n", s->id, heading);
    if (s->say)
        mt_buf_addf(out, "<p class=\"say\">%s</p>\n", s->say);
    if (s->what == CURVE)
        st = add_curve(p, out, err);
    else if (s->what == PATHS)
        add_paths(p, out);
    else
        add_reports(p, s, out);
    mt_buf_adds(out, "</section>\n");
    return st;
}

enum mt_status mt_page_sections(struct mt_page_made *p, struct mt_err *err)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(sections); i++)
        if (is_shown(p, sections[i].of))
            MT_TRY(add_section(p, &sections[i], err));
    return MT_OK;
}
