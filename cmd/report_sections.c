/* The sections of the page: each the reports of some commands, the curve and the call paths. */
#include "cmd/report.h"

#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"
#include "lib/usage/oom.h"
#include "lib/usage/process.h"
#include <string.h>

/* What a section is about, so that it is shown; OF_SEGMENTS: it must be told where there are any.
 */
enum {
    ALWAYS = 0,
    OF_BASE = 1,
    OF_PROCESS = 2,
    OF_SEGMENTS = 4,
    NO_PROCESS = 8,
    OF_RANKS = 16, /* of a group */
    OF_TREND = 32,
    OF_OOM = 64, /* of an allocation that failed */
    OF_GROUP = OF_RANKS | OF_TREND,
};

struct tab {
    const char *label, *line; /* NULL ends the list */
    bool must; /* why it cannot be told is said; of others only if the recording has it */
};

static const struct section {
    const char *id, *nav, *heading, *say;
    unsigned of;
    enum {
        REPORTS,
        CURVE,
        PATHS,
        FIGURES,
        RANKS,
        STEPS,
        TREND,
        BRIDGE
    } what;       /* the last: and reports */
    bool stacked; /* the reports stand below each other, not behind tabs */
    struct tab tabs[8];
} sections[] = {
    {"ranks",
     "Ranks",
     "Ranks side by side",
     "What ranks that are alike by design have is alike; an outlier is not.",
     OF_RANKS,
     RANKS,
     true,
     {{"Ranks", "ranks --limit=200", true}, {"Spread", "ranks --by=cluster", false}}},
    {"steps",
     "Ranks and steps",
     "Ranks and steps",
     "The peak of each rank in each step. A row in stronger colour than the others holds more; one "
     "whose colour gets stronger to the right grows.",
     OF_RANKS,
     STEPS,
     true,
     {{"Steps", "ranks --per=step --limit=200", true}}},
    {"trend",
     "Over the runs",
     "Over the runs",
     "In the order in which they joined the group.",
     OF_TREND,
     TREND,
     true,
     {{"Trend", "trend --limit=200", true}}},
    {"over-time", "Over time", "Memory over time", NULL, ALWAYS, CURVE, false, {{0}}},
    {"oom",
     "Out of memory",
     "Out of memory",
     "What was asked for, who held memory then, and what would have made it fit.",
     OF_OOM,
     REPORTS,
     true,
     {{"Out of memory", "oom", true}}},
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
     {{"Leaks", "leaks --all --fail --limit=200", true}}},
    {"change",
     "Before and after",
     "Before and after",
     "What changed since the base; red is more, blue is less. Each bar begins where the one above "
     "ended.",
     OF_BASE,
     BRIDGE,
     true,
     {{"Change", "diff --limit=50", true}}},
    {"reserved",
     "Reserved",
     "Reserved memory",
     "What the allocator holds from the driver beyond what the program uses.",
     NO_PROCESS | OF_SEGMENTS,
     REPORTS,
     true,
     {{"Map of segments", "segments --format=svg", false},
      {"Fragmentation", "fragmentation", false},
      {"Segments", "segments --limit=100", false}}},
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
    {"figures",
     "Figures",
     "How each figure is defined",
     "Sizes count by 1024 and are rounded; the exact one shows where you point. Names in mono are "
     "those "
     "of csv and json.",
     ALWAYS,
     FIGURES,
     false,
     {{0}}},
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

/* The device that a report is asked of; NULL: the command chooses. Of a change it would choose that
 * of the base with most bytes: the page is about one device. */
const char *mt_page_device_for(const struct mt_page_made *p, bool base)
{
    bool chosen = base && p->view.has_device && !mt_device_is_process(&p->view.device) &&
                  !mt_device_is_processes(&p->view.device);
    return p->device ? p->device : chosen ? p->view.device.name : NULL;
}

static void add_word(struct mt_buf *out, const char *word)
{
    struct mt_buf quoted = {0};
    mt_shell_word(&quoted, word);
    mt_page_text(out, quoted.s);
    mt_buf_free(&quoted);
}

/* " --by=phase --limit=200" as people write it: " --by phase". How many rows are shown, and what
 * the page takes from the exit code, are its own affair. */
static void add_options(struct mt_buf *out, const char *options)
{
    for (size_t n; *options; options += n) {
        n = 1 + strcspn(options + 1, " ");
        if (strncmp(options, " --limit=", 9) == 0 ||
            (n == 7 && strncmp(options, " --fail", n) == 0))
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
    if (mt_page_device_for(p, base)) {
        mt_buf_adds(out, " --device ");
        add_word(out, mt_page_device_for(p, base));
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

/* What a column of the page means, each once. */
static void define(struct mt_page_made *p, const struct mt_column *column)
{
    struct mt_column_def def;
    char *mark = mt_asprintf("<dt id=\"def-%s\">", column->name);
    bool known = p->figures.n && strstr(p->figures.s, mark);
    if (!known && !column->hidden && mt_column_find(column->name, &def) && def.meaning) {
        mt_buf_addf(&p->figures, "<div>%s", mark);
        mt_render_html_heading(&p->figures, column);
        mt_buf_addf(&p->figures, " <code>%s</code></dt><dd>", column->name);
        mt_page_text(&p->figures, def.meaning);
        mt_buf_adds(&p->figures, "</dd></div>\n");
    }
    free(mark);
}

static void add_rows(struct taking *t, const struct mt_report *r)
{
    if (r->cannot_tell.why) {
        const size_t n = strlen(r->cannot_tell.why);
        struct mt_err why = MT_ERR_INIT;
        MT_FAIL(&why, MT_EUSAGE, "%.*s", (int)(n && r->cannot_tell.why[n - 1] == '.' ? n - 1 : n),
                r->cannot_tell.why);
        mt_err_hint(&why, "%s", r->cannot_tell.ask_instead ? r->cannot_tell.ask_instead : "");
        mt_page_cannot(&t->html, &why);
    } else if (r->rows.n && strcmp(r->schema, "memtool.advise") == 0) {
        mt_page_advice(r, &t->html);
    } else if (r->rows.n) {
        mt_buf_adds(&t->html, "<div class=\"panel\">");
        mt_render_html_table(r, r->title ? r->title : t->label, &t->html);
        mt_buf_adds(&t->html, "</div>\n");
    } else {
        mt_buf_adds(&t->html, "<p class=\"none\">");
        mt_page_text(&t->html, r->empty ? r->empty : "no rows");
        mt_buf_adds(&t->html, "</p>\n");
    }
}

static void add_title(struct mt_buf *out, const struct mt_report *r)
{
    const char *run = r->runs[0].name;
    const bool named = run && r->title && strncmp(r->title, run, strlen(run)) == 0;
    char *title = named ? mt_page_behind_device(r) : r->title ? mt_strdup(r->title) : NULL;
    if (title && *title) {
        mt_buf_adds(out, "<p class=\"title\">");
        mt_page_text(out, title);
        mt_buf_adds(out, "</p>\n");
    }
    free(title);
}

static void take(void *closure, const struct mt_report *r)
{
    struct taking *t = closure;
    mt_page_remember(&t->page->found, r);
    for (size_t i = 0; i < r->columns.n; i++)
        define(t->page, &r->columns.v[i]);
    add_title(&t->html, r);
    add_rows(t, r);
    add_lines(&t->html, "foot", r->footer.v, r->footer.n);
    add_lines(&t->html, "note", r->notes.v, r->notes.n);
}

static void take_picture(void *closure, const char *svg)
{
    enum { SVG_MOST = 160 * 1024 };
    struct taking *t = closure;
    size_t n = strlen(svg);
    if (n > SVG_MOST)
        return;
    mt_buf_addf(&t->html, "<img class=\"map\" alt=\"%s\" src=\"data:image/svg+xml;base64,",
                t->label);
    mt_page_base64(&t->html, svg, n);
    mt_buf_adds(&t->html, "\">\n");
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
    const char *device = mt_page_device_for(p, base);
    char *line = mt_asprintf("%s%s%s", tab->line, device ? " --device=" : "", device ? device : "");
    const struct mt_taker to = {take, take_picture, &t};
    enum mt_status st = mt_capture(line, &args, &to, &code, &err);
    bool empty = st == MT_OK && !t.html.n; /* a picture that is too large */
    if (strncmp(line, "leaks ", strlen("leaks ")) == 0) {
        p->found.leaks_code = code;
        p->found.leaks_why = st == MT_OK ? NULL : mt_strdup(err.what);
    }
    bool has = s->of & OF_SEGMENTS && mt_device_knows(&p->view.device, MT_KNOWS_SEGMENTS);
    bool said = tab->must || (st != MT_OK && (has || st != MT_EUSAGE));
    if (st == MT_OK)
        mt_buf_adds(out, empty ? "" : t.html.s);
    else if (said)
        mt_page_cannot(out, &err);
    if (base && st != MT_OK && !p->not_compared)
        p->not_compared = mt_strdup(err.what);
    if ((st == MT_OK && !empty) || said)
        mt_page_prompt(p, tab->line, base, out);
    mt_buf_free(&t.html);
    free(line);
    return (st == MT_OK && !empty) || said;
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

/* ---- all of them ---- */

static bool is_shown(const struct mt_page_made *p, const struct section *s)
{
    const unsigned of = s->of;
    if (p->group)
        return (of & OF_RANKS && p->group->has_ranks) || (of & OF_TREND && p->group->has_trend) ||
               s->what == FIGURES;
    bool process = p->view.has_device && (mt_device_is_process(&p->view.device) ||
                                          mt_device_is_processes(&p->view.device));
    return !(of & OF_GROUP) && !(of & OF_OOM && !p->found.asked_b) && !(of & OF_BASE && !p->base) &&
           !(of & OF_PROCESS && !process) && !(of & NO_PROCESS && process);
}

/* What a section draws, or says beside the reports of commands. */
static enum mt_status add_pictures(struct mt_page_made *p, const struct section *s,
                                   struct mt_buf *out, struct mt_err *err)
{
    struct mt_err why = MT_ERR_INIT; /* the report below says it */
    switch (s->what) {
    case CURVE:
        return mt_page_add_curve(p, out, err);
    case PATHS:
        mt_page_add_paths(p, out);
        break;
    case FIGURES:
        mt_buf_addf(out, "<dl class=\"figures\">\n%s</dl>\n", p->figures.n ? p->figures.s : "");
        break;
    case RANKS:
        mt_page_add_ranks(p, out);
        break;
    case STEPS:
        mt_page_add_steps(p, out, &why);
        break;
    case TREND:
        mt_page_add_trend(p, out);
        break;
    case BRIDGE:
        mt_page_add_bridges(p, out);
        break;
    case REPORTS:
        break;
    }
    return MT_OK;
}

static enum mt_status add_section(struct mt_page_made *p, const struct section *s,
                                  struct mt_err *err)
{
    struct mt_buf *out = &p->body, reports = {0};
    const char *heading = s->heading, *say = s->say;
    if (strcmp(s->id, "alive") == 0 && p->view.has_device && p->view.device.one_moment) {
        heading = "Alive when the file was written";
        say = "Whether that is the peak is not known.";
    }
    add_reports(p, s, &reports);
    if (s->what == REPORTS && !reports.n) { /* the recording has nothing of that */
        mt_buf_free(&reports);
        return MT_OK;
    }
    mt_buf_addf(&p->nav, "<a href=\"#%s\">%s</a>", s->id, s->nav);
    mt_buf_addf(out, "<section id=\"%s\"><h2>%s</h2>\n", s->id, heading);
    if (say)
        mt_buf_addf(out, "<p class=\"say\">%s</p>\n", say);
    enum mt_status st = add_pictures(p, s, out, err);
    mt_buf_adds(out, reports.n ? reports.s : "");
    mt_buf_adds(out, "</section>\n");
    mt_buf_free(&reports);
    return st;
}

/* What the program died of, if it did: on whichever device `memtool oom` shows. */
static enum mt_status find_oom(struct mt_page_made *p, struct mt_err *err)
{
    const struct mt_view *v = &p->view;
    struct mt_page_found *f = &p->found;
    struct mt_run_device device;
    struct mt_ooms ooms = {0};
    bool failed;
    if (p->group || !v->has_device)
        return MT_OK;
    MT_TRY(mt_oom_device(v->db, &v->run, p->device, &device, &failed, err));
    if (!failed)
        return MT_OK;
    enum mt_status st = mt_ooms_load(v->db, &v->run, &device, &ooms, err);
    if (st == MT_OK && ooms.all.n)
        f->asked_b = ooms.all.v[ooms.all.n - 1].asked_b;
    if (device.id != v->device.id)
        f->oom.on = mt_strdup(device.name);
    mt_ooms_free(&ooms);
    return st;
}

enum mt_status mt_page_sections(struct mt_page_made *p, struct mt_err *err)
{
    MT_TRY(find_oom(p, err));
    for (size_t i = 0; i < MT_ARRAY_LEN(sections); i++)
        if (is_shown(p, &sections[i]))
            MT_TRY(add_section(p, &sections[i], err));
    return MT_OK;
}
