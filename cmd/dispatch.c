/* From the words of a command line to the command that they name. */
#include "cmd/categories_file.h"
#include "cmd/cmd.h"
#include "cmd/common.h"
#include "cmd/opts.h"
#include "lib/base/human.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mt_cmd *const mt_commands[] = {
    &mt_cmd_import,     &mt_cmd_record,        &mt_cmd_runs,    &mt_cmd_info,
    &mt_cmd_table,      &mt_cmd_tree,          &mt_cmd_report,  &mt_cmd_flame,
    &mt_cmd_peak,       &mt_cmd_timeline,      &mt_cmd_leaks,   &mt_cmd_advise,
    &mt_cmd_diff,       &mt_cmd_check,         &mt_cmd_export,  &mt_cmd_memory,
    &mt_cmd_segments,   &mt_cmd_fragmentation, &mt_cmd_oom,     &mt_cmd_ranks,
    &mt_cmd_trend,      &mt_cmd_query,         &mt_cmd_schema,  &mt_cmd_skill,
    &mt_cmd_completion, &mt_cmd_help,          &mt_cmd_version, NULL,
};

/*
 * The arguments of the command, its name first: the options in front of it go behind it.
 * Returns their number; 0: there is no command. Free *out.
 */
static int arrange(int argc, char **argv, char ***out)
{
    int front = mt_opts_leading(mt_common_opts, argc - 1, argv + 1);
    int rest = argc - 1 - front;
    *out = mt_alloc((size_t)(argc + 1) * sizeof **out);
    if (!rest)
        return 0;
    (*out)[0] = argv[1 + front];
    memcpy(*out + 1, argv + 1, (size_t)front * sizeof *argv);
    memcpy(*out + 1 + front, argv + 2 + front, (size_t)(rest - 1) * sizeof *argv);
    return argc - 1;
}

const struct mt_cmd *mt_cmd_find(const char *name, struct mt_err *err)
{
    const char *names[MT_ARRAY_LEN(mt_commands)];
    size_t n = 0;
    for (; mt_commands[n]; n++) {
        names[n] = mt_commands[n]->name;
        if (strcmp(name, names[n]) == 0)
            return mt_commands[n];
    }
    struct mt_buf near = {0};
    MT_FAIL(err, MT_EUSAGE, "there is no command '%s'", name);
    mt_nearest(name, names, n, &near);
    mt_err_hint(err, "%s%s%s`memtool help` lists the commands.", near.n ? "Did you mean " : "",
                near.n ? near.s : "", near.n ? "? " : "");
    mt_buf_free(&near);
    return NULL;
}

/* Without a command: memtool alone, memtool --help, memtool --version, other options beside it. */
static const struct mt_cmd *no_command(int argc, char **argv, struct mt_err *err)
{
    if (argc < 2)
        return &mt_cmd_help;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return &mt_cmd_help;
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0)
            return &mt_cmd_version;
    }
    if (!mt_opts_known(mt_common_opts, argv[1], err))
        return NULL;
    MT_FAIL(err, MT_EUSAGE, "a command is missing after '%s'", argv[1]);
    mt_err_hint(err, "`memtool help` lists the commands.");
    return NULL;
}

static enum mt_status run_command(const struct mt_cmd *cmd, int argc, char **argv, int *code,
                                  struct mt_err *err)
{
    struct mt_args args = {0};
    enum mt_status st = mt_opts_parse(cmd, mt_common_opts, argc, argv, &args, err);
    if (mt_common.help) {
        mt_opts_help(cmd, mt_common_opts, mt_help_width(), stdout);
        *err = (struct mt_err)MT_ERR_INIT;
        st = MT_OK;
    } else if (st == MT_OK) {
        mt_human_exactly(mt_common.bytes);
        st = mt_settle_format(cmd, err);
        if (st == MT_OK)
            st = cmd->run(&args, code, err);
        if (st == MT_OK)
            mt_categories_file_end();
        struct mt_err failed = MT_ERR_INIT;
        if (mt_show_unanswered(cmd->name, err, &failed) != MT_OK)
            *err = failed;
    }
    if (st == MT_EUSAGE && err->code == st)
        mt_err_hint(err, "Usage and options: memtool help %s", cmd->name);
    free(args.v);
    return st;
}

enum mt_status mt_dispatch(int argc, char **argv, int *code, struct mt_err *err)
{
    char **words;
    int n = arrange(argc, argv, &words);
    const struct mt_cmd *cmd = n ? mt_cmd_find(words[0], err) : no_command(argc, argv, err);
    enum mt_status st = cmd ? run_command(cmd, n, words, code, err) : err->code;
    if (st == MT_OK)
        st = mt_check_stdout(err);
    free(words);
    return st;
}
