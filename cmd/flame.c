/* memtool flame: call paths as a flame graph. */
#include "lib/flame/flame.h"

#include "cmd/common.h"
#include "cmd/glossary.h"
#include "cmd/stacks.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/term.h"
#include <string.h>

static const char *at, *device_name, *measure_name, *base_name, *by_name;
enum { WIDTH_MOST = 16384 }; /* columns, pixels */
static int64_t width, min_b = -1;
static bool invert;

static const struct measure {
    const char *name;
    enum mt_measure measure;
    const char *at;   /* the moment it means; NULL: that of --at */
    const char *what; /* in words; NULL: alive at the moment */
} measures[] = {{"alive", MT_MEASURE_ALIVE_B, NULL, NULL},
                {"at-peak", MT_MEASURE_ALIVE_B, "@peak", NULL},
                {"at-end", MT_MEASURE_ALIVE_B, "@end", NULL},
                {"allocated", MT_MEASURE_ALLOC_B, NULL, "allocated"},
                {"count", MT_MEASURE_ALLOC_N, NULL, "blocks allocated"}};
static const struct measure *asked;
static enum mt_stacks_by by;

static enum mt_status parse_by(struct mt_err *err)
{
    by = MT_STACKS_BY_ALL;
    while (by_name && by < MT_STACKS_BY_N && strcmp(by_name, mt_stacks_by_names[by]) != 0)
        by++;
    if (by < MT_STACKS_BY_N)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "unknown --by '%s'", by_name);
    mt_err_hint(err, "Keys: all, ops, modules, lines.");
    return MT_EUSAGE;
}

static enum mt_status refuse_measure(struct mt_err *err)
{
    struct mt_buf names = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(measures); i++)
        mt_buf_addf(&names, "%s%s", i ? ", " : "", measures[i].name);
    mt_err_hint(err, "--measure is one of %s.", names.s);
    mt_buf_free(&names);
    return MT_EUSAGE;
}

static enum mt_status parse_options(struct mt_err *err)
{
    size_t i = 0;
    while (measure_name && i < MT_ARRAY_LEN(measures) && strcmp(measure_name, measures[i].name))
        i++;
    if (i == MT_ARRAY_LEN(measures)) {
        MT_FAIL(err, MT_EUSAGE, "unknown --measure '%s'", measure_name);
        return refuse_measure(err);
    }
    asked = &measures[i];
    MT_TRY(parse_by(err));
    if (width > WIDTH_MOST) {
        MT_FAIL(err, MT_EUSAGE, "--width %lld is more than can be drawn", (long long)width);
        mt_err_hint(err, "Give %d at most.", WIDTH_MOST);
        return MT_EUSAGE;
    }
    if (at && (asked->at || asked->what)) {
        MT_FAIL(err, MT_EUSAGE, "--at beside --measure %s", asked->name);
        mt_err_hint(err, "--at names the moment of what is alive; leave one of them out.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

static enum mt_status open_stacks(struct mt_view *v, struct mt_report *r,
                                  struct mt_view_stacks *out, struct mt_err *err)
{
    const struct mt_view_stacks_asked what = {asked->at ? asked->at : at, false, false, by};
    MT_TRY(mt_view_stacks_open(v, &what, r, out, err));
    if (out->stacks.knows[asked->measure])
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' does not say what was %s", v->run.name,
            asked->what ? "allocated" : "alive");
    return refuse_measure(err);
}

/* Of the run that is compared with: of which moment its figures are. */
static void note_moment(struct mt_report *r, const struct mt_run *run,
                        const struct mt_view_stacks *s)
{
    if (!asked->what)
        mt_report_note(r, "Compared with what was alive in %s %s.", run->name, s->moment);
}

/* Adds the figures of the run that is compared with. */
static enum mt_status add_base(struct mt_stacks *s, const char *device, struct mt_report *r,
                               struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device, 0, NULL};
    struct mt_view base;
    struct mt_view_stacks other;
    enum mt_status st = mt_view_open(&base, base_name, &wanted, err);
    if (st == MT_OK && !base.has_device)
        st = mt_fail_no_memory(&base.run, ": nothing to compare with", err);
    if (st == MT_OK) {
        struct mt_report notes;
        mt_report_init(&notes, r->schema, 1);
        st = open_stacks(&base, &notes, &other, err);
        for (size_t i = 0; i < notes.notes.n; i++)
            mt_report_note(r, "%s", notes.notes.v[i]);
        mt_report_free(&notes);
        if (st == MT_OK) {
            mt_stacks_add_base(s, &other.stacks, asked->measure);
            note_moment(r, &base.run, &other);
        }
        mt_view_stacks_close(&other);
    }
    mt_view_close(&base);
    return st;
}

static char *command_of(const struct mt_run *run)
{
    struct mt_buf b = {0};
    const char *const options[][2] = {{"--measure", measure_name},
                                      {"--at", at},
                                      {"--diff", base_name},
                                      {"--by", by_name},
                                      {"--device", device_name}};
    mt_buf_adds(&b, "memtool flame ");
    mt_shell_word(&b, run->name);
    for (size_t i = 0; i < MT_ARRAY_LEN(options); i++)
        if (options[i][1]) {
            mt_buf_addf(&b, " %s ", options[i][0]);
            mt_shell_word(&b, options[i][1]);
        }
    mt_buf_adds(&b, invert ? " --invert" : "");
    return b.s;
}

static const char *figure(const struct mt_flame *f, int64_t v, char out[MT_HUMAN_MAX])
{
    return mt_measure_is_bytes((int)f->measure) ? mt_human_bytes(v, out) : mt_human_count(v, out);
}

/* "base . cpu . alive at the peak, 7.855 ms: 7.629 MiB" */
static char *title_of(const struct mt_view *v, const struct mt_view_stacks *s,
                      const struct mt_flame *f)
{
    char is[MT_HUMAN_MAX], was[MT_HUMAN_MAX];
    return mt_asprintf("%s \u00b7 %s \u00b7 %s%s: %s%s%s%s", v->run.name, v->device.name,
                       asked->what ? asked->what : "alive ", asked->what ? "" : s->moment,
                       figure(f, f->total, is), f->compared ? ", before " : "",
                       f->compared ? figure(f, f->base, was) : "",
                       invert ? " \u00b7 below each function its callers" : "");
}

static enum mt_status show_picture(const struct mt_flame *f, struct mt_report *r,
                                   struct mt_err *err)
{
    struct mt_buf text = {0};
    char n[MT_HUMAN_LONG];
    int wide = width > 0 ? (int)width : 1200;
    size_t hidden =
        mt_show_wants_html() ? mt_flame_html(f, wide, &text) : mt_flame_svg(f, wide, &text);
    if (hidden)
        mt_report_note(r, "%s too narrow to be seen %s left out; --width makes the picture wider.",
                       mt_human_plural((int64_t)hidden, "function", n), hidden == 1 ? "is" : "are");
    enum mt_status st = mt_show_text(text.s, err);
    if (st == MT_OK)
        mt_show_notes(r);
    mt_buf_free(&text);
    return st;
}

static enum mt_status show_text(const struct mt_flame *f, struct mt_report *r, struct mt_err *err)
{
    struct mt_render how = mt_show_how();
    struct mt_buf text = {0};
    char n[MT_HUMAN_LONG];
    int wide = width > 0 ? (int)width : how.width ? how.width : 100;
    int left_out = mt_flame_text(f, wide, how.ascii, how.color ? mt_term_colors() : 0, &text);
    r->figure = text.s;
    if (left_out)
        mt_report_footer(r, "%s left out where nothing branches, or nothing is wide enough.",
                         mt_human_plural(left_out, "level", n));
    if (f->compared)
        mt_report_footer(r, "+ has more than before, - less");
    return mt_show(r, err);
}

/* What the other run has in paths that hold nothing now, and have no width. */
static void note_gone(const struct mt_stacks *s, const struct mt_flame *f, struct mt_report *r)
{
    char size[MT_HUMAN_MAX];
    int64_t gone = 0;
    for (size_t i = 0; i < s->nodes.n; i++)
        if (!s->nodes.v[i].total[f->measure])
            mt_wrap_inc(&gone, s->nodes.v[i].self[MT_MEASURE_BASE]);
    if (f->compared && gone)
        mt_report_note(r,
                       "%s of before %s in call paths that have nothing now: they are not drawn.",
                       figure(f, gone, size), mt_measure_is_bytes((int)f->measure) ? "is" : "are");
}

/* Of n paths the callers further up are left out. */
static void note_cut(struct mt_report *r, size_t n, int deepest)
{
    char paths[MT_HUMAN_LONG];
    if (n)
        mt_report_note(r,
                       "Of %s with more than %d functions the callers further up are left out. "
                       "Without --invert they are drawn.",
                       mt_human_plural((int64_t)n, "call path", paths), deepest);
}

static enum mt_status draw(struct mt_view *v, struct mt_view_stacks *s, struct mt_report *r,
                           struct mt_err *err)
{
    enum { DEEPEST = 128 };
    struct mt_flame f = {.compared = base_name != NULL};
    struct mt_stacks turned;
    mt_stacks_init(&turned);
    size_t cut = invert ? mt_stacks_invert(&s->stacks, asked->measure, DEEPEST, &turned) : 0;
    note_cut(r, cut, DEEPEST);
    struct mt_stacks *shown = invert ? &turned : &s->stacks;
    size_t folded = mt_stacks_finish(shown, min_b);
    if (min_b > 0) /* the others nobody could see */
        mt_note_folded(r, folded, min_b);
    mt_flame_lay(&f, shown, asked->measure);
    note_gone(shown, &f, r);
    char *command = command_of(&v->run), *title = title_of(v, s, &f);
    f.title = title;
    f.what = "Boxes are sorted by name; the x axis is not time.";
    f.command = command;
    r->title = mt_strdup(title);
    enum mt_status st = mt_show_wants_svg() || mt_show_wants_html() ? show_picture(&f, r, err)
                                                                    : show_text(&f, r, err);
    free(command);
    free(title);
    mt_flame_free(&f);
    mt_stacks_free(&turned);
    return st;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_view_stacks s;
    if (!v->has_device)
        return mt_fail_no_memory(&v->run, ": nothing to draw", err);
    enum mt_status st = open_stacks(v, r, &s, err);
    if (st == MT_OK && base_name)
        st = add_base(&s.stacks, v->device.name, r, err);
    if (st == MT_OK)
        st = draw(v, &s, r, err);
    mt_view_stacks_close(&s);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name, 0, NULL};
    (void)exit_code;
    MT_TRY(parse_options(err));
    return mt_report_on_view(args, &wanted, "memtool.flame", show, err);
}

static const struct mt_opt opts[] = {
    {"measure", 0, MT_OPT_STRING, &measure_name, "M",
     "how wide boxes are: alive (see --at), at-peak, at-end, allocated, count (default: alive)"},
    {"at", 0, MT_OPT_STRING, &at, "TIME",
     "the moment of what is alive (see Times; default: @peak)"},
    {"by", 0, MT_OPT_STRING, &by_name, "WHAT",
     "what boxes are: all, ops (and scopes), modules, lines (functions of Python) (default: all)"},
    {"diff", 0, MT_OPT_STRING, &base_name, "RUN", "colours say what changed since this run"},
    {"invert", 0, MT_OPT_FLAG, &invert, NULL, "start from the innermost functions, callers below"},
    {"min", 0, MT_OPT_SIZE, &min_b, "SIZE",
     "fold siblings smaller than this into [other]; 0 = none (default: 0.01 % of the sum)"},
    MT_DEVICE_OPT(device_name),
    {"width", 0, MT_OPT_INT, &width, "N",
     "columns (default: of the terminal), or pixels of svg and html (default: 1200)"},
    {0},
};

static const struct mt_values values[] = {{"measure", "alive at-peak at-end allocated count", NULL},
                                          {0}};
static const struct mt_glossary_entry kinds[] = {{"all", "every function that call paths have"},
                                                 {"ops", "ops and scopes"},
                                                 {"modules", "nn.Modules"},
                                                 {"lines", "functions of Python"},
                                                 {0}};
static const struct mt_glossary words[] = {
    {"Words of --by", kinds, "by"}, MT_WORDS_OF_MOMENTS, {0}};

const struct mt_cmd mt_cmd_flame = {
    .name = "flame",
    .summary = "call paths as a flame graph: on the terminal, as a picture, as a page",
    .usage = "[options] [RUN]",
    .examples = "  memtool flame base\n"
                "  memtool flame base -o base.svg\n"
                "  memtool flame new --diff base -o changed.html\n",
    .opts = opts,
    .values = values,
    .words = words,
    .args_max = 1,
    .formats = "table, svg, html",
    .run = run,
};
