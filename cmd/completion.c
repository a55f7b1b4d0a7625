#include "cmd/common.h"
#include "cmd/opts.h"
#include <stdio.h>
#include <string.h>

/* One word list per command; the shells differ only in the frame around it. */
static void words_of(const struct mt_cmd *cmd, struct mt_buf *out)
{
    const struct mt_opt *tables[] = {cmd->opts, mt_common_opts};
    for (size_t t = 0; t < 2; t++)
        for (const struct mt_opt *o = tables[t]; o->name; o++)
            if (t == 0 || mt_cmd_takes(cmd, o->name))
                mt_buf_addf(out, "--%s ", o->name);
}

static void names(struct mt_buf *out)
{
    for (size_t i = 0; mt_commands[i]; i++)
        mt_buf_addf(out, "%s%s", i ? " " : "", mt_commands[i]->name);
}

static void bash(struct mt_buf *out)
{
    mt_buf_adds(out, "_memtool() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
                     "  if [ \"$COMP_CWORD\" -eq 1 ]; then words='");
    names(out);
    mt_buf_adds(out, "'; else case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; mt_commands[i]; i++) {
        mt_buf_addf(out, "    %s) words='", mt_commands[i]->name);
        words_of(mt_commands[i], out);
        mt_buf_adds(out, "' ;;\n");
    }
    mt_buf_adds(out, "  esac; fi\n"
                     "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                     "  [[ $cur == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "
                     "-f -- \"$cur\")\n"
                     "}\ncomplete -F _memtool memtool\n");
}

static void zsh(struct mt_buf *out)
{
    mt_buf_adds(out, "#compdef memtool\nautoload -U +X bashcompinit && bashcompinit\n");
    bash(out);
}

static void fish(struct mt_buf *out)
{
    for (size_t i = 0; mt_commands[i]; i++) {
        const struct mt_cmd *c = mt_commands[i];
        mt_buf_addf(out, "complete -c memtool -n __fish_use_subcommand -a %s -d '%s'\n", c->name,
                    c->summary);
        const struct mt_opt *tables[] = {c->opts, mt_common_opts};
        for (size_t t = 0; t < 2; t++)
            for (const struct mt_opt *o = tables[t]; o->name; o++)
                if (t == 0 || mt_cmd_takes(c, o->name))
                    mt_buf_addf(out,
                                "complete -c memtool -n '__fish_seen_subcommand_from %s' -l %s\n",
                                c->name, o->name);
    }
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    static const struct {
        const char *name;
        void (*write)(struct mt_buf *);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < MT_ARRAY_LEN(shells); i++)
        if (strcmp(args->v[0], shells[i].name) == 0) {
            struct mt_buf text = {0};
            shells[i].write(&text);
            enum mt_status st = mt_show_text(text.s, err);
            mt_buf_free(&text);
            return st;
        }
    MT_FAIL(err, MT_EUSAGE, "no completion for the shell '%s'", args->v[0]);
    mt_err_hint(err, "There is: bash, zsh, fish.");
    return MT_EUSAGE;
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_completion = {
    .name = "completion",
    .summary = "write shell completion for bash, zsh or fish",
    .usage = "SHELL",
    .examples = "  memtool completion bash > ~/.local/share/bash-completion/completions/memtool\n",
    .opts = opts,
    .without = "format bytes",
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
