#include "cmd/cmd.h"
#include "cmd/common.h"
#include "cmd/opts.h"
#include "lib/human.h"
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mt_cmd *const mt_commands[] = {
    &mt_cmd_import, &mt_cmd_runs,       &mt_cmd_info,     &mt_cmd_table,         &mt_cmd_tree,
    &mt_cmd_peak,   &mt_cmd_timeline,   &mt_cmd_leaks,    &mt_cmd_diff,          &mt_cmd_check,
    &mt_cmd_export, &mt_cmd_memory,     &mt_cmd_segments, &mt_cmd_fragmentation, &mt_cmd_query,
    &mt_cmd_schema, &mt_cmd_completion, &mt_cmd_help,     &mt_cmd_version,       NULL,
};

static const struct mt_cmd *find_command(const char *name, struct mt_err *err)
{
    const char *names[MT_ARRAY_LEN(mt_commands)];
    size_t n = 0;
    for (; mt_commands[n]; n++) {
        names[n] = mt_commands[n]->name;
        if (strcmp(name, names[n]) == 0)
            return mt_commands[n];
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return &mt_cmd_help;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return &mt_cmd_version;
    struct mt_buf near = {0};
    MT_FAIL(err, MT_EUSAGE, "there is no command '%s'", name);
    mt_nearest(name, names, n, &near);
    mt_err_hint(err, "%s%s%s`memtool help` lists the commands.", near.n ? "Did you mean " : "",
                near.n ? near.s : "", near.n ? "? " : "");
    mt_buf_free(&near);
    return NULL;
}

static int exit_code(const struct mt_err *err)
{
    mt_print_error(err);
    return err->code == MT_EINTERRUPT ? 130 : 2;
}

int main(int argc, char **argv)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_args args = {0};
    int code = 0;
    setlocale(LC_CTYPE, "");
    /* A write that cannot be done is an error with a message, not a silent end. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const struct mt_cmd *cmd = argc < 2 ? &mt_cmd_help : find_command(argv[1], &err);
    if (!cmd)
        return exit_code(&err);
    enum mt_status st =
        mt_opts_parse(cmd, mt_common_opts, argc > 1 ? argc - 1 : 0, argv + 1, &args, &err);
    if (mt_common.help) {
        mt_opts_help(cmd, mt_common_opts, stdout);
        st = MT_OK;
        err = (struct mt_err)MT_ERR_INIT;
    } else if (st == MT_OK) {
        mt_human_exactly(mt_common.bytes);
        st = cmd->run(&args, &code, &err);
    }
    if (st == MT_OK)
        st = mt_check_stdout(&err);
    free(args.v);
    return st == MT_OK ? code : exit_code(&err);
}
