#include "cmd/cmd.h"
#include "lib/db/db.h"
#include <stdio.h>

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)args, (void)exit_code, (void)err;
    printf("memtool %s, database schema %d\n", MT_VERSION, MT_SCHEMA_VERSION);
    return MT_OK;
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_version = {
    .name = "version",
    .summary = "show the version",
    .usage = "",
    .opts = opts,
    .without = "format output bytes",
    .run = run,
};
