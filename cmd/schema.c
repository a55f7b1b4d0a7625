#include "cmd/common.h"
#include "gen/queries.h"

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)args, (void)exit_code;
    return mt_show_text(mt_queries[MT_Q_SCHEMA].sql, err);
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_schema = {
    .name = "schema",
    .summary = "show the tables and views, with every column explained",
    .usage = "",
    .examples = "  memtool schema | less\n",
    .opts = opts,
    .without = "format bytes",
    .run = run,
};
