/* The help of a command, made of its table. */
#include "cmd/opts.h"

#include "lib/base/human.h"
#include "lib/render/render.h"

#include <stdlib.h>
#include <string.h>

/* "-n, --limit N", "    --color[=WHEN]" */
static void add_spec(struct mt_buf *out, const struct mt_opt *opt)
{
    if (opt->letter)
        mt_buf_addf(out, "-%c, --%s", opt->letter, opt->name);
    else
        mt_buf_addf(out, "    --%s", opt->name);
    if (opt->kind == MT_OPT_OPTIONAL)
        mt_buf_addf(out, "[=%s]", opt->arg);
    else if (opt->kind != MT_OPT_FLAG)
        mt_buf_addf(out, " %s", opt->arg);
}

static size_t spec_width(const struct mt_opt *opts)
{
    size_t width = 0;
    struct mt_buf spec = {0};
    for (; opts && opts->name; opts++) {
        mt_buf_clear(&spec);
        add_spec(&spec, opts);
        width = spec.n > width ? spec.n : width;
    }
    mt_buf_free(&spec);
    return width;
}

struct page {
    const struct mt_cmd *cmd;
    int width, spec; /* columns of the page, and of the names of options */
    FILE *out;
};

/* Words that begin at a column, and go on below it. */
static void put_words(const struct page *p, const char *words, int indent)
{
    enum { WORDS_MIN = 20 }; /* fewer columns are none to write in */
    struct mt_buf text = {0};
    int width = p->width > 0 && p->width < indent + WORDS_MIN ? indent + WORDS_MIN : p->width;
    mt_wrap_words(&text, words, width, indent);
    fprintf(p->out, "%s\n", text.s);
    mt_buf_free(&text);
}

/* Which endings of -o say a format that the command writes. */
static const char *output_help(const struct mt_cmd *cmd)
{
    static struct mt_buf text;
    const char *formats = mt_formats_of(cmd), *last = NULL;
    size_t n = 0;
    mt_buf_clear(&text);
    mt_buf_adds(&text, "write there instead of standard output");
    for (size_t i = 0; i <= MT_FORMAT_N; i++) {
        const char *ending = i < MT_FORMAT_N && mt_has_word(formats, mt_output_formats[i].name)
                                 ? mt_output_formats[i].ending
                                 : NULL;
        if (i == MT_FORMAT_N && mt_has_word(formats, "junit"))
            ending = ".xml";
        if (!ending)
            continue;
        if (last)
            mt_buf_addf(&text, "%s %s", n++ ? "," : ";", last);
        last = ending;
    }
    if (n)
        mt_buf_addf(&text, " and %s say the format", last);
    return text.s;
}

/* What an option that all commands have means to this one. */
static const char *common_help(const struct mt_cmd *cmd, const struct mt_opt *opt)
{
    if (strcmp(opt->name, "format") == 0)
        return mt_formats_of(cmd);
    if (strcmp(opt->name, "output") == 0)
        return mt_cmd_takes(cmd, "format") ? output_help(cmd)
                                           : "write there instead of standard output";
    return opt->help;
}

static void put_options(const struct page *p, const char *heading, const struct mt_opt *opts)
{
    struct mt_buf spec = {0};
    bool common = opts != p->cmd->opts, any = false;
    for (; opts && opts->name; opts++) {
        if (common && !mt_cmd_takes(p->cmd, opts->name))
            continue;
        if (!any)
            fprintf(p->out, "\n%s:\n", heading);
        any = true;
        mt_buf_clear(&spec);
        add_spec(&spec, opts);
        fprintf(p->out, "  %-*s  ", p->spec, spec.s);
        put_words(p, common ? common_help(p->cmd, opts) : opts->help, p->spec + 4);
    }
    mt_buf_free(&spec);
}

static void put_meanings(const struct page *p)
{
    for (const struct mt_glossary *words = p->cmd->words; words && words->title; words++) {
        int width = 0;
        for (const struct mt_glossary_entry *w = words->all; w->word; w++)
            width = (int)strlen(w->word) > width ? (int)strlen(w->word) : width;
        fprintf(p->out, "\n%s:\n", words->title);
        for (const struct mt_glossary_entry *w = words->all; w->word; w++) {
            fprintf(p->out, "  %-*s  ", width, w->word);
            put_words(p, w->meaning, width + 4);
        }
    }
}

/* What a SIZE looks like, where an option takes one. */
static void put_sizes(const struct page *p)
{
    for (const struct mt_opt *o = p->cmd->opts; o && o->name; o++)
        if (o->arg && strcmp(o->arg, "SIZE") == 0) {
            fputc('\n', p->out);
            put_words(p,
                      "SIZE: 512, 64KiB, 1.5GiB. K, Ki and KiB count by 1024, so do M, G and T; "
                      "kB, MB, GB and TB by 1000.",
                      0);
            return;
        }
}

void mt_opts_help(const struct mt_cmd *cmd, const struct mt_opt *common, int width, FILE *out)
{
    size_t own = spec_width(cmd->opts), shared = spec_width(common);
    struct page p = {.cmd = cmd, .width = width, .out = out};
    char *first = mt_asprintf("memtool %s - %s", cmd->name, cmd->summary);
    p.spec = (int)(own > shared ? own : shared);
    put_words(&p, first, 0);
    free(first);
    fprintf(out, "\nUsage: memtool %s %s\n", cmd->name, cmd->usage);
    if (cmd->examples && *cmd->examples) {
        bool ended = cmd->examples[strlen(cmd->examples) - 1] == '\n';
        fprintf(out, "\nExamples:\n%s%s", cmd->examples, ended ? "" : "\n");
    }
    put_options(&p, "Options", cmd->opts);
    put_sizes(&p);
    put_meanings(&p);
    put_options(&p, "Common options", common);
}
