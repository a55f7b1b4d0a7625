#include "cmd/man.h"

#include "cmd/common.h"
#include <ctype.h>

/* A line of plain text: nothing in it may act as mdoc. */
static void add_text(struct mt_buf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        mt_buf_adds(out, "\\&");
    for (; *text; text++) {
        mt_buf_addc(out, *text);
        mt_buf_adds(out, *text == '\\' ? "e" : "");
    }
    mt_buf_addc(out, '\n');
}

static void add_options(const struct mt_opt *opts, struct mt_buf *out)
{
    mt_buf_adds(out, ".Bl -tag -width Ds\n");
    for (const struct mt_opt *o = opts; o->name; o++) {
        mt_buf_adds(out, ".It ");
        if (o->letter)
            mt_buf_addf(out, "Fl %c , ", o->letter);
        mt_buf_addf(out, "Fl -%s", o->name);
        if (o->kind == MT_OPT_OPTIONAL)
            mt_buf_addf(out, " Ns Op = Ns Ar %s", o->arg);
        else if (o->kind != MT_OPT_FLAG)
            mt_buf_addf(out, " Ar %s", o->arg);
        mt_buf_addc(out, '\n');
        add_text(out, o->help);
    }
    mt_buf_adds(out, ".El\n");
}

static void add_words(const struct mt_glossary *words, struct mt_buf *out)
{
    for (; words && words->title; words++) {
        mt_buf_adds(out, ".Ss ");
        add_text(out, words->title);
        mt_buf_adds(out, ".Bl -tag -width Ds\n");
        for (const struct mt_glossary_entry *w = words->all; w->word; w++) {
            mt_buf_adds(out, ".It ");
            add_text(out, w->word);
            add_text(out, w->meaning);
        }
        mt_buf_adds(out, ".El\n");
    }
}

static void begin(struct mt_buf *out, const char *command, const char *summary)
{
    struct mt_buf name = {0};
    mt_buf_addf(&name, "memtool%s%s", *command ? "-" : "", command);
    mt_buf_adds(out, ".Dt ");
    for (const char *c = name.s; *c; c++)
        mt_buf_addc(out, (char)toupper((unsigned char)*c));
    mt_buf_addf(out, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", name.s);
    add_text(out, summary);
    mt_buf_adds(out, ".Sh SYNOPSIS\n.Nm memtool\n");
    mt_buf_free(&name);
}

static void command_page(const struct mt_cmd *cmd, struct mt_buf *out)
{
    begin(out, cmd->name, cmd->summary);
    mt_buf_addf(out, ".Cm %s\n", cmd->name);
    if (*cmd->usage)
        add_text(out, cmd->usage);
    mt_buf_adds(out, ".\\\" DESCRIPTION\n");
    if (cmd->opts->name) {
        mt_buf_adds(out, ".Pp\nIts options are:\n");
        add_options(cmd->opts, out);
    }
    add_words(cmd->words, out);
    mt_buf_adds(out, ".Pp\nCommon options, the environment, files and exit codes are "
                     "described in\n.Xr memtool 1 .\n");
}

static void main_page(struct mt_buf *out)
{
    begin(out, "", "explain where the memory of a PyTorch program goes");
    mt_buf_adds(out, ".Ar command\n[options] [argument ...]\n.\\\" DESCRIPTION\n"
                     ".Pp\nThe commands are:\n.Bl -tag -width Ds\n");
    for (size_t i = 0; mt_commands[i]; i++) {
        mt_buf_addf(out, ".It Xr memtool-%s 1\n", mt_commands[i]->name);
        add_text(out, mt_commands[i]->summary);
    }
    mt_buf_adds(out, ".El\n.Pp\nCommands have these options in common; one that has no use for an "
                     "option refuses it:\n");
    add_options(mt_common_opts, out);
}

void mt_man_page(const struct mt_cmd *cmd, struct mt_buf *out)
{
    if (cmd)
        command_page(cmd, out);
    else
        main_page(out);
}
