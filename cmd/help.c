#include "cmd/common.h"
#include "cmd/man.h"
#include "cmd/opts.h"
#include <stdio.h>
#include <string.h>

static bool man;

static enum mt_status overview(void)
{
    puts("memtool explains where the memory of a PyTorch program goes.\n\n"
         "  memtool import trace.json.gz            read a profiler trace into .memtool.db\n"
         "  memtool table --sort self_cpu_memory    who allocated what\n"
         "  memtool peak                            what was alive when memory peaked\n"
         "  memtool diff run1 run2                  what changed between two runs\n\n"
         "Commands:");
    for (size_t i = 0; mt_commands[i]; i++)
        printf("  %-14s %s\n", mt_commands[i]->name, mt_commands[i]->summary);
    puts(
        "\n`memtool help COMMAND` shows its options and explains its words (site, phase, verdicts "
        "...).\n"
        "A RUN is a name, an id, the beginning of a name, @latest, @latest~1, baseline:GROUP (the\n"
        "latest of a group), or a file (kept in a cache: memtool help runs). Exit codes: 0 done,\n"
        "1 a condition you asked for is true, 2 an error, 3 it cannot be told whether it is true.");
    return MT_OK;
}

static const struct mt_cmd *find(const char *name, struct mt_err *err)
{
    const char *names[64];
    size_t n = 0;
    for (; mt_commands[n]; n++) {
        names[n] = mt_commands[n]->name;
        if (strcmp(names[n], name) == 0)
            return mt_commands[n];
    }
    struct mt_buf near = {0};
    MT_FAIL(err, MT_EUSAGE, "there is no command '%s'", name);
    mt_nearest(name, names, n, &near);
    if (near.n)
        mt_err_hint(err, "Did you mean %s?", near.s);
    mt_err_hint(err, "`memtool help` lists the commands.");
    mt_buf_free(&near);
    return NULL;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const struct mt_cmd *cmd = args->n ? find(args->v[0], err) : NULL;
    if (args->n && !cmd)
        return err->code;
    if (man) {
        struct mt_buf page = {0};
        mt_man_page(cmd, &page);
        enum mt_status st = mt_show_text(page.s, err);
        mt_buf_free(&page);
        return st;
    }
    if (!cmd)
        return overview();
    mt_opts_help(cmd, mt_common_opts, stdout);
    return MT_OK;
}

static const struct mt_opt opts[] = {
    {"man", 0, MT_OPT_FLAG, &man, NULL, "write what the manual page is made of instead (mdoc)"},
    {0},
};

const struct mt_cmd mt_cmd_help = {
    .name = "help",
    .summary = "show the commands, or the options of one",
    .usage = "[options] [COMMAND]",
    .opts = opts,
    .args_max = 1,
    .run = run,
};
