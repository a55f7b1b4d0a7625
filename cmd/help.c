#include "cmd/common.h"
#include "cmd/man.h"
#include "cmd/opts.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool man;

static void overview(int width, FILE *out)
{
    enum { INDENT = 17 };
    fputs("memtool explains where the memory of a PyTorch program goes.\n\n"
          "  memtool import trace.json.gz            read a profiler trace into .memtool.db\n"
          "  memtool table --sort self_cpu_memory    who allocated what\n"
          "  memtool peak                            what was alive when memory peaked\n"
          "  memtool diff run1 run2                  what changed between two runs\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; mt_commands[i]; i++) {
        struct mt_buf summary = {0};
        mt_wrap_words(&summary, mt_commands[i]->summary, width, INDENT);
        fprintf(out, "  %-14s %s\n", mt_commands[i]->name, summary.s);
        mt_buf_free(&summary);
    }
    struct mt_buf rest = {0};
    mt_wrap_words(
        &rest,
        "`memtool help COMMAND` shows its options and explains its terms (site, phase, "
        "verdicts ...), `memtool help columns` the columns of reports. A RUN is a name, an id, the "
        "beginning of a name, @latest, "
        "@latest~1, baseline:GROUP (the latest of a group), or a file (kept in a cache: "
        "memtool help runs). Exit codes: 0 done, 1 a condition you asked for is true, 2 an "
        "error, 3 inconclusive.",
        width, 0);
    fprintf(out, "\n%s\n", rest.s);
    mt_buf_free(&rest);
}

static void columns(int width, FILE *out)
{
    enum { INDENT = 21 };
    fputs("Columns of reports, by the names that csv, json, --columns and --sort have:\n", out);
    struct mt_column_def d;
    for (size_t i = 0; mt_column_at(i, &d); i++) {
        struct mt_buf meaning = {0};
        mt_wrap_words(&meaning, d.meaning, width, INDENT);
        fprintf(out, "  %-18s %s\n", d.name, meaning.s);
        mt_buf_free(&meaning);
    }
    fputs("\nEndings: _b bytes, _ns nanoseconds, _n a number, _pct percent.\n", out);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    bool about_columns = args->n && strcmp(args->v[0], "columns") == 0;
    const struct mt_cmd *cmd = args->n && !about_columns ? mt_cmd_find(args->v[0], err) : NULL;
    struct mt_buf page = {0};
    char *text = NULL;
    size_t n = 0;
    if (args->n && !cmd && !about_columns)
        return err->code;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return MT_FAIL(err, MT_EIO, "not enough memory to write the help");
    if (man) {
        mt_man_page(cmd, &page);
        fputs(page.s, out);
    } else if (cmd)
        mt_opts_help(cmd, mt_common_opts, mt_help_width(), out);
    else if (about_columns)
        columns(mt_help_width(), out);
    else
        overview(mt_help_width(), out);
    fclose(out);
    enum mt_status st = mt_show_text(text, err);
    mt_buf_free(&page);
    free(text);
    return st;
}

static const struct mt_opt opts[] = {
    {"man", 0, MT_OPT_FLAG, &man, NULL, "write what the manual page is made of instead (mdoc)"},
    {0},
};

const struct mt_cmd mt_cmd_help = {
    .name = "help",
    .summary = "show the commands, or the options of one",
    .usage = "[options] [COMMAND | columns]",
    .opts = opts,
    .without = "format bytes",
    .args_max = 1,
    .run = run,
};
