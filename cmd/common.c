#include "cmd/common.h"

#include "cmd/opts.h"
#include "cmd/output.h"
#include "lib/base/human.h"
#include "lib/render/render.h"
#include "lib/render/term.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct mt_common mt_common;
static const struct mt_taker *taker; /* NULL: what is shown is written */

const struct mt_opt mt_common_opts[] = {
    {"db", 'd', MT_OPT_STRING, &mt_common.db, "FILE",
     "database (default: $MEMTOOL_DB, else .memtool.db here or above)"},
    {"format", 0, MT_OPT_STRING, &mt_common.format, "F", "output format"},
    {"output", 'o', MT_OPT_STRING, &mt_common.output, "FILE",
     "write there instead of standard output; .csv, .tsv, .json, .md, .svg and .html say the "
     "format"},
    {"bytes", 0, MT_OPT_FLAG, &mt_common.bytes, NULL, "exact figures instead of KiB and ms"},
    {"ascii", 0, MT_OPT_FLAG, &mt_common.ascii, NULL, "no characters beyond ASCII"},
    {"no-color", 0, MT_OPT_FLAG, &mt_common.no_color, NULL, "no colours"},
    {"no-pager", 0, MT_OPT_FLAG, &mt_common.no_pager, NULL, "do not page long output"},
    {"verbose", 'v', MT_OPT_FLAG, &mt_common.verbose, NULL, "show where in memtool an error arose"},
    {"help", 'h', MT_OPT_FLAG, &mt_common.help, NULL, "show the command's help"},
    {0},
};

enum mt_status mt_check_stdout(struct mt_err *err)
{
    int failed = mt_stdout_end();
    if (!failed || failed == EPIPE) /* a reader that has seen enough is no failure */
        return MT_OK;
    MT_FAIL(err, MT_EIO, "the output could not be written: %s", strerror(failed));
    mt_err_hint(err, "What was written is not complete.");
    return MT_EIO;
}

int mt_show_width(void)
{
    return mt_output_is_stdout() ? mt_term_probe(MT_COLOR_NEVER).width : 0;
}

static void show_note(const char *note)
{
    static const char before[] = "note: ";
    struct mt_buf safe = {0}, text = {0};
    mt_escape_terminal(&safe, note);
    mt_wrap_words(&text, safe.s, mt_term_probe(MT_COLOR_NEVER).err_width, sizeof before - 1);
    fprintf(stderr, "%s%s\n", before, text.s);
    mt_buf_free(&safe);
    mt_buf_free(&text);
}

void mt_show_note(const char *fmt, ...)
{
    va_list ap;
    char *note = NULL;
    va_start(ap, fmt);
    if (vasprintf(&note, fmt, ap) >= 0)
        show_note(note);
    va_end(ap);
    free(note);
}

void mt_show_notes(const struct mt_report *report)
{
    for (size_t i = 0; i < report->notes.n && !taker; i++)
        show_note(report->notes.v[i]);
}

/* The name of the format that the ending of -o stands for, where there is such a file; NULL: none.
 * JUnit's reports, of the command that writes them, end as any XML does. */
static const char *format_of_file(const struct mt_cmd *cmd)
{
    const char *dot = mt_output_is_stdout() ? NULL : strrchr(mt_common.output, '.');
    const struct mt_output_format *format = dot ? mt_format_by_ending(dot) : NULL;
    if (format)
        return format->name;
    return dot && strcasecmp(dot, ".xml") == 0 && mt_has_word(cmd->more_formats, "junit") ? "junit"
                                                                                          : NULL;
}

/* The ending of the file names no format that a command with a form of its own does not write. */
static enum mt_status check_ending(const struct mt_cmd *cmd, struct mt_err *err)
{
    const char *meant = format_of_file(cmd);
    if (!meant || !mt_cmd_takes(cmd, "output") ||
        (cmd->formats && mt_has_word(cmd->formats, meant)))
        return MT_OK;
    mt_err_input(err, mt_common.output);
    MT_FAIL(err, MT_EUSAGE, "output format '%s' is not available here", meant);
    mt_err_hint(err, "Nothing was written. %s writes %s; name the file so.", cmd->name,
                cmd->formats ? cmd->formats : "text");
    return MT_EUSAGE;
}

/* Text under a name that promises a picture, a spreadsheet or something compressed, unless a format
 * is asked for. Exports have endings of their own. */
static enum mt_status check_foreign(const struct mt_cmd *cmd, struct mt_err *err)
{
    const char *formats = mt_formats_of(cmd);
    bool draws = mt_has_word(formats, "svg"), pages = mt_has_word(formats, "html");
    bool rows = mt_cmd_takes(cmd, "format");
    if (mt_common.format || mt_output_is_stdout() || !(rows || pages) ||
        !mt_cmd_takes(cmd, "output") || format_of_file(cmd) ||
        !mt_ending_is_foreign(mt_common.output))
        return MT_OK;
    mt_err_input(err, mt_common.output);
    MT_FAIL(err, MT_EUSAGE, "%s writes no %s files", cmd->name, strrchr(mt_common.output, '.'));
    mt_err_hint(err, "Nothing was written. %s",
                draws && pages ? "-o FILE.svg writes a picture, -o FILE.html a page for a browser."
                : draws        ? "-o FILE.svg writes a picture, -o FILE.csv rows."
                : pages        ? "-o FILE.html writes a page for a browser."
                               : "-o FILE.csv writes rows, which spreadsheets open.");
    return MT_EUSAGE;
}

enum mt_status mt_settle_format(const struct mt_cmd *cmd, struct mt_err *err)
{
    const char *formats = mt_formats_of(cmd);
    const char *asked = mt_common.format;
    MT_TRY(check_foreign(cmd, err));
    if (!mt_cmd_takes(cmd, "format"))
        return check_ending(cmd, err);
    if (!mt_common.format)
        mt_common.format = format_of_file(cmd);
    if (mt_common.format && mt_format_by_name(mt_common.format))
        mt_common.format = mt_format_by_name(mt_common.format)->name;
    if (!mt_common.format || mt_has_word(formats, mt_common.format))
        return MT_OK;
    if (!asked)
        mt_err_input(err, mt_common.output);
    MT_FAIL(err, MT_EUSAGE, "output format '%s' is not available here", mt_common.format);
    mt_err_hint(err, "Nothing was written. %s knows: %s.%s", cmd->name, formats,
                asked ? "" : " --format names one where the ending of the file does not.");
    return MT_EUSAGE;
}

/* The format for reports; of a text or picture that the command makes itself, the table's. */
static const struct mt_output_format *format_of_reports(void)
{
    const struct mt_output_format *asked =
        mt_common.format ? mt_format_by_name(mt_common.format) : NULL;
    return asked && asked->write ? asked : &mt_output_formats[MT_FORMAT_TABLE];
}

bool mt_people_read(void)
{
    return format_of_reports()->people;
}

static struct mt_render how_to_show(struct mt_term *term)
{
    const struct mt_output_format *format = format_of_reports();
    bool screen = mt_output_is_stdout() && format->screen;
    *term = mt_term_probe(mt_common.no_color ? MT_COLOR_NEVER : MT_COLOR_AUTO);
    return (struct mt_render){.format = (enum mt_format)(format - mt_output_formats),
                              .width = screen ? term->width : 0,
                              .bytes = mt_common.bytes,
                              .color = screen && term->color,
                              .ascii = mt_common.ascii || !term->utf8};
}

struct mt_render mt_show_how(void)
{
    struct mt_term term;
    return how_to_show(&term);
}

int mt_help_width(void)
{
    enum { WIDTH = 80 };
    int width = mt_show_width();
    return width ? width : WIDTH;
}

void mt_show_to(const struct mt_taker *to)
{
    taker = to;
}

bool mt_show_is_taken(void)
{
    return taker;
}

enum mt_status mt_show(const struct mt_report *report, struct mt_err *err)
{
    return mt_show_all(&report, 1, err);
}

enum mt_status mt_show_all(const struct mt_report *const *reports, size_t n, struct mt_err *err)
{
    FILE *out;
    struct mt_term term;
    struct mt_render how = how_to_show(&term);
    for (size_t i = 0; i < n && taker && taker->report; i++)
        taker->report(taker->closure, reports[i]);
    if (taker)
        return MT_OK;
    MT_TRY(mt_output_open(&out, err));
    how.terminal = isatty(fileno(out));
    if (mt_output_is_stdout() && mt_output_formats[how.format].screen && !mt_common.no_pager)
        mt_pager_start(&term);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc('\n', out);
        mt_render(reports[i], &how, out);
    }
    enum mt_status ended = MT_OK, st;
    for (size_t i = 0; i < n && ended == MT_OK; i++)
        if (reports[i]->ended)
            ended = reports[i]->ended(reports[i]->closure, err);
    if (ended != MT_OK)
        mt_err_hint(err, "%sNothing was changed.",
                    out == stdout ? "What was written is not all. " : "");
    st = mt_output_close(out, ended == MT_OK, err);
    st = ended == MT_OK ? st : ended;
    for (size_t i = 0; i < n && !mt_output_formats[how.format].notes_inside; i++) {
        mt_show_notes(reports[i]);
        if (mt_people_read()) /* csv and tsv have no place for the rest */
            continue;
        char *no_answer = mt_report_cannot_tell_text(reports[i]);
        if (no_answer)
            show_note(no_answer);
        free(no_answer);
        if (reports[i]->left_out)
            show_note(reports[i]->left_out);
    }
    return st;
}

static bool wants(enum mt_format format)
{
    return mt_common.format && mt_format_by_name(mt_common.format) == &mt_output_formats[format];
}

bool mt_show_wants_svg(void)
{
    return wants(MT_FORMAT_SVG);
}

bool mt_show_wants_html(void)
{
    return wants(MT_FORMAT_HTML);
}

/* Most such texts are safe already; escaping twice changes nothing. */
static void put_text(const char *text, FILE *out)
{
    struct mt_buf safe = {0};
    while (isatty(fileno(out)) && *text) {
        size_t n = strcspn(text, "\n");
        char *line = mt_strndup(text, n);
        mt_escape_terminal(&safe, line);
        fprintf(out, "%s%s", safe.s ? safe.s : "", text[n] ? "\n" : "");
        mt_buf_clear(&safe);
        free(line);
        text += n + (text[n] != '\0');
    }
    mt_buf_free(&safe);
    fputs(text, out);
}

enum mt_status mt_show_text(const char *text, struct mt_err *err)
{
    FILE *out;
    if (taker && taker->text)
        taker->text(taker->closure, text);
    if (taker)
        return MT_OK;
    MT_TRY(mt_output_open(&out, err));
    put_text(text, out);
    return mt_output_close(out, true, err);
}

void mt_report_unanswered(struct mt_report *report, const char *why, const char *ask_instead)
{
    if (wants(MT_FORMAT_JSON))
        mt_report_cannot_tell(report, why, ask_instead);
}

enum mt_status mt_show_unanswered(const char *command, const struct mt_err *why, struct mt_err *err)
{
    struct mt_report report;
    char *schema, *sentence;
    if (!why->cannot_tell || !wants(MT_FORMAT_JSON))
        return MT_OK;
    schema = mt_asprintf("memtool.%s", command);
    sentence = mt_asprintf("%s.", why->what);
    mt_report_init(&report, schema, 1);
    mt_report_cannot_tell(&report, sentence, *why->hint ? why->hint : NULL);
    enum mt_status st = mt_show(&report, err);
    mt_report_free(&report);
    free(schema);
    free(sentence);
    return st;
}

void mt_report_limit(struct mt_report *report, int64_t limit)
{
    if (limit <= 0 || report->rows.n <= (size_t)limit)
        return;
    report->cut_n += (int64_t)report->rows.n - limit;
    report->left_out_n += (int64_t)report->rows.n - limit;
    for (size_t i = (size_t)limit; i < report->rows.n; i++)
        free(report->rows.v[i].cells);
    report->rows.n = (size_t)limit;
}

static void add_place(struct mt_buf *out, const struct mt_err *err)
{
    char count[MT_HUMAN_MAX];
    if (err->offset < 0)
        return;
    mt_buf_addf(out, " (at byte %s", mt_human_count(err->offset, count));
    if (err->line > 0)
        mt_buf_addf(out, ", line %s", mt_human_count(err->line, count));
    mt_buf_adds(out, ")");
}

void mt_print_error(const struct mt_err *err)
{
    struct mt_buf text = {0}, safe = {0};
    mt_buf_adds(&text, "memtool: ");
    if (err->input[0])
        mt_buf_addf(&text, "%s: ", err->input);
    mt_buf_adds(&text, err->what);
    add_place(&text, err);
    mt_escape_terminal(&safe, text.s);
    fprintf(stderr, "%s\n", safe.s);
    mt_buf_clear(&safe);
    if (err->hint[0]) {
        mt_escape_terminal(&safe, err->hint);
        fprintf(stderr, "%s\n", safe.s);
    }
    if (mt_common.verbose && err->src_file)
        fprintf(stderr, "  at %s:%d\n", err->src_file, err->src_line);
    mt_buf_free(&text);
    mt_buf_free(&safe);
}
