/* What memtool check found, as table, reports and Markdown. */
#include "cmd/check.h"
#include "cmd/common.h"
#include "cmd/repeats.h"
#include "lib/base/human.h"
#include "lib/render/render.h"
#include "lib/render/run_notes.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum mt_check_format format;
} formats[] = {{"table", MT_CHECK_TABLE},       {"csv", MT_CHECK_REPORT},
               {"tsv", MT_CHECK_REPORT},        {"json", MT_CHECK_REPORT},
               {"markdown", MT_CHECK_MARKDOWN}, {"github", MT_CHECK_GITHUB},
               {"junit", MT_CHECK_JUNIT}};

enum mt_check_format mt_check_format_of(const char *name)
{
    for (size_t i = 0; name && i < MT_ARRAY_LEN(formats); i++)
        if (strcmp(name, formats[i].name) == 0)
            return formats[i].format;
    return MT_CHECK_TABLE;
}

/* ---- lines for a terminal ---- */

typedef void use_finding(const struct mt_findings *f, const struct mt_checked *c,
                         struct mt_buf *out);

static void explained(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out)
{
    (void)f;
    mt_finding_explained(c, out);
}

/* A line, if there is something to say, with a word before it; wrapped at a terminal's width. */
static void add_line(struct mt_buf *out, const char *before, use_finding *use,
                     const struct mt_findings *f, const struct mt_checked *c, int width)
{
    struct mt_buf text = {0}, safe = {0};
    use(f, c, &text);
    if (text.n) {
        mt_escape_short(&safe, text.s);
        mt_buf_adds(out, before);
        mt_wrap_words(out, safe.s, width, (int)strlen(before));
        mt_buf_addc(out, '\n');
    }
    mt_buf_free(&text);
    mt_buf_free(&safe);
}

static void table(const struct mt_findings *f, int width, struct mt_buf *out)
{
    static const char *const signs[MT_CHECK_N] = {"pass  ", "FAIL  ", "?     "};
    for (size_t i = 0; i < f->v.n; i++) {
        const struct mt_checked *c = &f->v.v[i];
        add_line(out, signs[c->verdict], mt_finding_text, f, c, width);
        add_line(out, "      largest: ", explained, f, c, width);
        add_line(out, "      see: ", mt_finding_look, f, c, 0); /* to be copied */
    }
    mt_findings_sum(f, out);
    mt_buf_addc(out, '\n');
}

/* ---- reports ---- */

static const char *text_by(struct mt_report *r, use_finding *use, const struct mt_findings *f,
                           const struct mt_checked *c)
{
    struct mt_buf text = {0};
    use(f, c, &text);
    const char *kept = text.n ? mt_report_text(r, text.s) : NULL;
    mt_buf_free(&text);
    return kept;
}

static void subject(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out)
{
    (void)f;
    mt_finding_subject(c, out);
}

/* Figures stand in the column of bytes or in that of pieces. */
enum column {
    RULE,
    NAME,
    DEVICE,
    SUBJECT,
    VERDICT,
    LIMIT,
    MEASURED_B,
    LIMIT_B,
    BASELINE_B,
    SPREAD_B,
    BASELINE_SPREAD_B,
    MEASURED_N,
    LIMIT_N,
    BASELINE_N,
    SPREAD_N,
    BASELINE_SPREAD_N,
    EXPLAINED_BY,
    LOOK,
    WHY,
    RUN,              /* the one the figures are of; of repeats the median */
    MEASURED_LEAST_B, /* of growth of processes, with 95 % confidence */
    MEASURED_MOST_B,
    COLUMN_N
};
static const char *const columns[COLUMN_N] = {"rule",
                                              "name",
                                              "device",
                                              "subject",
                                              "verdict",
                                              "limit",
                                              "measured_b",
                                              "limit_b",
                                              "baseline_b",
                                              "spread_b",
                                              "baseline_spread_b",
                                              "measured_n",
                                              "limit_n",
                                              "baseline_n",
                                              "spread_n",
                                              "baseline_spread_n",
                                              "explained_by",
                                              "look",
                                              "why",
                                              "run",
                                              "measured_least_b",
                                              "measured_most_b"};

static void add_row(struct mt_report *r, const struct mt_findings *f, const struct mt_checked *c)
{
    const bool open[] = {mt_check_is_open(c->measured, c->unlisted), false,
                         mt_check_is_open(c->base, c->base_unlisted), false, false};
    const int64_t figures[] = {c->measured, c->limit, c->base, c->spread, c->base_spread};
    struct mt_cell *cells = mt_report_row(r)->cells;
    cells[RULE] = mt_cell_text(c->rule->kind->name);
    cells[NAME] = mt_cell_text(mt_report_text(r, c->rule->name));
    cells[DEVICE] = mt_cell_text(c->device[0] ? mt_report_text(r, c->device) : NULL);
    cells[SUBJECT] = mt_cell_text(text_by(r, subject, f, c));
    cells[VERDICT] = mt_cell_text(mt_check_names[c->verdict]);
    cells[LIMIT] = mt_cell_text(mt_report_text(r, c->rule->limit));
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++)
        if (!open[i] && figures[i] != MT_BASELINE_UNKNOWN)
            cells[(c->rule->kind->count ? MEASURED_N : MEASURED_B) + i] = mt_cell_int(figures[i]);
    cells[EXPLAINED_BY] = mt_cell_text(text_by(r, explained, f, c));
    cells[LOOK] = mt_cell_text(text_by(r, mt_finding_look, f, c));
    cells[WHY] = mt_cell_text(c->why[0] ? mt_report_text(r, c->why) : NULL);
    if (c->other) {
        cells[MEASURED_LEAST_B] = mt_cell_int(c->other->low);
        cells[MEASURED_MOST_B] = mt_cell_int(c->other->high);
    }
    if (c->measured != MT_BASELINE_UNKNOWN || (f->each && !c->of_no_run))
        cells[RUN] = mt_cell_text(mt_report_text(r, f->new->runs.v[c->new_index].name));
}

static void name_runs(struct mt_report *r, const struct mt_findings *f)
{
    const struct mt_loaded *sides[2] = {f->base ? f->base : f->new, f->base ? f->new : NULL};
    for (int s = 0; s < 2; s++)
        if (sides[s] && sides[s]->runs.v[0].id)
            mt_report_run(r, s, sides[s]->runs.v[0].id, sides[s]->figures.v.v[0].run, NULL);
    mt_report_param(r, "run", mt_cell_text(mt_report_text(r, f->new->runs.v[0].name)));
    mt_report_param(r, "run_n", mt_cell_int((int64_t)f->new->runs.n));
    mt_report_param(r, "each", mt_cell_int(f->each));
    mt_report_param(r, "baseline",
                    mt_cell_text(f->base ? mt_report_text(r, f->base->runs.v[0].name) : NULL));
}

/* Whether a file of a baseline was made of what the run was read from. */
static bool is_baseline_of(const struct mt_baseline *file, const struct mt_baseline *run)
{
    for (size_t i = 0; i < file->contents.n; i++)
        for (size_t k = 0; k < run->contents.n; k++)
            if (strcmp(file->contents.v[i], run->contents.v[k]) == 0)
                return true;
    return false;
}

static void note_same_recording(const struct mt_findings *f, struct mt_report *r)
{
    const struct mt_baseline *file = &f->base->figures.v.v[0];
    for (size_t i = 0; !f->base->runs.v[0].id && i < f->new->runs.n; i++)
        if (is_baseline_of(file, &f->new->figures.v.v[i]))
            mt_report_note(
                r, "The baseline is the run itself: '%s' was read from the same bytes as %s.",
                f->new->runs.v[i].name,
                file->run_n > 1 ? "one of the runs that it was made of" : "it");
}

static bool is_by_frames(const struct mt_loaded *l)
{
    for (size_t i = 0; l && i < l->runs.n; i++)
        if (l->runs.v[i].by_frames)
            return true;
    return false;
}

/* How many runs a baseline was made of, that of a file, too. */
static int64_t runs_of(const struct mt_loaded *base)
{
    int64_t n = 0;
    for (size_t i = 0; i < base->figures.v.n; i++)
        n += base->figures.v.v[i].run_n;
    return n;
}

static void note_median(const struct mt_findings *f, struct mt_report *r)
{
    if (mt_loaded_are_ranks(f->base) || (mt_loaded_are_ranks(f->new) && runs_of(f->base) > 1))
        mt_report_note(r, MT_NOTE_MEDIAN);
}

/* A limit that massif's peak keeps may be exceeded as the program ended. */
static void note_massif(const struct mt_findings *f, struct mt_report *r)
{
    bool keeps = false;
    for (size_t i = 0; i < f->v.n; i++)
        keeps |=
            f->v.v[i].verdict == MT_CHECK_PASS && f->v.v[i].rule->kind->figure == MT_FIG_AT_PEAK_B;
    for (size_t i = 0; keeps && i < f->new->runs.n; i++)
        if (strcmp(f->new->figures.v.v[i].format, "massif") == 0) {
            mt_report_note(r,
                           "massif records nothing as a program ends: what '%s' allocated last, "
                           "and did not free, may be missing.",
                           f->new->runs.v[i].name);
            return;
        }
}

/* ---- notes of runs: what is alike of many, but for its figures, is said once ---- */

struct said {
    struct mt_strtab kinds; /* texts without figures */
    MT_VEC(struct mt_said_note {
        const char *run; /* the first */
        char *text;      /* behind its name */
        int64_t more_n;  /* other runs */
    })
    notes;
};

/* Behind a number and its unit, if it has one. */
static const char *behind_figure(const char *at)
{
    at += strspn(at, "0123456789.,");
    while (!isdigit((unsigned char)at[-1])) /* of the sentence */
        at--;
    const size_t unit_n = *at == ' ' ? strcspn(at + 1, " ,.;:)") : 0;
    return unit_n && mt_is_unit(at + 1, unit_n) ? at + 1 + unit_n : at;
}

static void say(struct said *s, const char *run, const char *text)
{
    struct mt_buf kind = {0};
    for (const char *at = text; *at;)
        if (isdigit((unsigned char)*at))
            at = behind_figure(at);
        else
            mt_buf_add(&kind, at++, 1);
    const uint32_t id = mt_strtab_add(&s->kinds, kind.s, kind.n);
    mt_buf_free(&kind);
    if (id < s->notes.n)
        s->notes.v[id].more_n++;
    else
        *mt_vec_push(&s->notes) = (struct mt_said_note){run, mt_asprintf("%s", text), 0};
}

static void say_notes(struct said *s, const struct mt_findings *f, const struct mt_loaded_run *run,
                      const struct mt_baseline *figures)
{
    struct mt_report one;
    mt_report_init(&one, "memtool.check", 1);
    mt_notes_of_run(&one, "", &run->notes, mt_findings_about(f, figures));
    if (mt_findings_of_levels(f))
        mt_notes_of_older(&one, "", &run->notes);
    for (size_t i = 0; i < one.notes.n; i++)
        say(s, run->name, one.notes.v[i]);
    mt_report_free(&one);
}

static void add_notes_of_runs(const struct mt_findings *f, const struct mt_loaded *of,
                              struct mt_report *r)
{
    struct said s = {0};
    mt_strtab_init(&s.kinds);
    for (size_t i = 0; of && i < of->runs.n; i++)
        say_notes(&s, f, &of->runs.v[i], &of->figures.v.v[i]);
    for (size_t i = 0; i < s.notes.n; i++) {
        const struct mt_said_note *note = &s.notes.v[i];
        char more[MT_HUMAN_LONG];
        char *text = note->more_n
                         ? mt_asprintf("%s (%s alike)%s", note->run,
                                       mt_human_plural(note->more_n, "more run", more), note->text)
                         : mt_asprintf("%s%s", note->run, note->text);
        mt_report_note_once(r, text); /* a run may be its own baseline */
        free(text);
        free(note->text);
    }
    mt_strtab_free(&s.kinds);
    mt_vec_free(&s.notes);
}

/* What makes a comparison doubtful without forbidding it. */
static void add_notes(const struct mt_findings *f, struct mt_report *r)
{
    add_notes_of_runs(f, f->base, r);
    add_notes_of_runs(f, f->new, r);
    if (is_by_frames(f->new) || is_by_frames(f->base))
        mt_report_note(r, MT_NOTE_BY_FRAMES);
    note_massif(f, r);
    if (f->child_n)
        mt_report_note(r, "Growth of processes that the first one started is not judged: they are "
                          "others in every run.");
    if (!f->base)
        return;
    const struct mt_baseline *a = &f->base->figures.v.v[0], *b = &f->new->figures.v.v[0];
    if (a->torch[0] && b->torch[0] && strcmp(a->torch, b->torch) != 0)
        mt_report_note(r, "The baseline was recorded with PyTorch %s, the run with %s.", a->torch,
                       b->torch);
    if (a->warmup != b->warmup)
        mt_report_note(r, "The baseline has a warm-up of %lld steps, the run of %lld.",
                       (long long)a->warmup, (long long)b->warmup);
    note_same_recording(f, r);
    note_median(f, r);
}

/* The first finding that nobody can tell says why. */
static void say_inconclusive(const struct mt_findings *f, struct mt_report *r)
{
    size_t i = 0;
    if (f->n_of[MT_CHECK_FAIL] || !f->n_of[MT_CHECK_INCONCLUSIVE])
        return;
    while (f->v.v[i].verdict != MT_CHECK_INCONCLUSIVE)
        i++;
    mt_report_unanswered(r, mt_report_textf(r, "%s.", text_by(r, mt_finding_text, f, &f->v.v[i])),
                         "Rows that are inconclusive say what is missing.");
}

static void machine_report(const struct mt_findings *f, struct mt_report *r)
{
    mt_report_init(r, "memtool.check", 1);
    name_runs(r, f);
    add_notes(f, r);
    for (int i = 0; i < COLUMN_N; i++)
        mt_report_column(r, columns[i], NULL, MT_UNIT_NONE);
    for (size_t i = 0; i < f->v.n; i++)
        add_row(r, f, &f->v.v[i]);
    say_inconclusive(f, r);
    mt_report_total(r, "passed_n", mt_cell_int(f->n_of[MT_CHECK_PASS]));
    mt_report_total(r, "failed_n", mt_cell_int(f->n_of[MT_CHECK_FAIL]));
    mt_report_total(r, "inconclusive_n", mt_cell_int(f->n_of[MT_CHECK_INCONCLUSIVE]));
}

/* For people: what a job summary or a comment shows. */
static void markdown_report(const struct mt_findings *f, struct mt_report *r)
{
    struct mt_buf sum = {0};
    mt_report_init(r, "memtool.check", 1);
    mt_findings_sum(f, &sum);
    add_notes(f, r);
    r->title = mt_asprintf("Memory of %s: %s", f->new->figures.v.v[0].run, sum.s);
    mt_buf_free(&sum);
    mt_report_column(r, "verdict", NULL, MT_UNIT_NONE);
    mt_report_column(r, "finding", NULL, MT_UNIT_WORDS);
    mt_report_column(r, "explained_by", "EXPLAINED BY", MT_UNIT_NONE);
    mt_report_column(r, "look", NULL, MT_UNIT_NONE);
    for (size_t i = 0; i < f->v.n; i++) {
        const struct mt_checked *c = &f->v.v[i];
        struct mt_cell *cells = mt_report_row(r)->cells;
        cells[0] = mt_cell_text(mt_check_names[c->verdict]);
        cells[1] = mt_cell_text(text_by(r, mt_finding_text, f, c));
        cells[2] = mt_cell_text(text_by(r, explained, f, c));
        cells[3] = mt_cell_text(text_by(r, mt_finding_look, f, c));
    }
}

/* ---- the summary of a GitHub step ---- */

enum { SUMMARY_MAX_B = 1000000 }; /* GitHub drops a step's summary beyond 1 MiB */

static enum mt_status append_summary(const struct mt_findings *f, struct mt_err *err)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    struct mt_report r;
    struct mt_render how = {.format = MT_FORMAT_MARKDOWN};
    char *text = NULL;
    size_t n = 0;
    if (!path || !*path)
        return MT_OK;
    FILE *memory = open_memstream(&text, &n), *out = fopen(path, "a");
    markdown_report(f, &r);
    if (memory) {
        mt_render(&r, &how, memory);
        fclose(memory);
    }
    mt_report_free(&r);
    bool cut = n > SUMMARY_MAX_B;
    for (n = cut ? SUMMARY_MAX_B : n; cut && n > 0 && text[n - 1] != '\n';)
        n--;
    bool good = text && out && fwrite(text, 1, n, out) == n &&
                (!cut || fputs("\nmore rules than a summary can hold\n", out) >= 0);
    int failed = errno;
    if (out && fclose(out) != 0 && good) {
        good = false;
        failed = errno;
    }
    free(text);
    if (good)
        return MT_OK;
    mt_err_input(err, path);
    MT_FAIL(err, MT_EIO, "the summary ($GITHUB_STEP_SUMMARY) cannot be written: %s",
            strerror(failed));
    mt_err_hint(err, "The annotations were written. Unset the variable to do without a summary.");
    return MT_EIO;
}

static enum mt_status show_text(const struct mt_findings *f, enum mt_check_format format,
                                struct mt_err *err)
{
    struct mt_buf text = {0};
    struct mt_report notes;
    mt_buf_adds(&text, "");
    if (format == MT_CHECK_TABLE)
        table(f, mt_show_width(), &text);
    else if (format == MT_CHECK_GITHUB)
        mt_check_github(f, &text);
    else
        mt_check_junit(f, &text);
    enum mt_status st = mt_show_text(text.s, err);
    mt_buf_free(&text);
    mt_report_init(&notes, "memtool.check", 1);
    add_notes(f, &notes);
    mt_show_notes(&notes);
    mt_report_free(&notes);
    if (st == MT_OK && format == MT_CHECK_GITHUB)
        st = append_summary(f, err);
    return st;
}

enum mt_status mt_check_show(const struct mt_findings *f, enum mt_check_format format,
                             struct mt_err *err)
{
    struct mt_report r;
    if (format != MT_CHECK_REPORT && format != MT_CHECK_MARKDOWN)
        return show_text(f, format, err);
    (format == MT_CHECK_REPORT ? machine_report : markdown_report)(f, &r);
    enum mt_status st = mt_show(&r, err);
    mt_report_free(&r);
    return st;
}
