/* memtool skill: how an agent, or a person in a hurry, uses memtool. */
#include "cmd/cmd.h"
#include "cmd/common.h"
#include "gen/assets.h"

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)args, (void)exit_code;
    return mt_show_text(mt_asset_SKILL_md, err);
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_skill = {
    .name = "skill",
    .summary = "what an agent needs to know to use memtool: SKILL.md",
    .usage = "",
    .examples = "  memtool skill\n"
                "  memtool skill -o SKILL.md\n",
    .opts = opts,
    .formats = "markdown",
    .without = "db format bytes ascii no-color no-pager",
    .run = run,
};
