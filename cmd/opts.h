/*
 * opts.h - the one command-line parser; works on the option tables of cmd.h.
 */
#ifndef MT_OPTS_H
#define MT_OPTS_H

#include "cmd/cmd.h"
#include "lib/base/nearest.h"
#include <stdio.h>

/*
 * Parses argv[1..] of a command (argv[0] is the command's name) by its own table and the table of
 * options that every command has (`common`); either may be NULL. Options and positional arguments
 * may be mixed; "--" ends options; "-" is positional; --name=VALUE, --name VALUE, -nVALUE,
 * -n VALUE; flags of one letter may stand together; unique prefixes of long names are accepted. A
 * value that looks like an option ("-x", not "-" or "-5") must be joined by "=" or to the letter.
 * An option of one value is given once; a flag may stand there again. After the flag `help` the
 * number of arguments does not matter. args->v is allocated (free it), as is the array of a
 * MT_OPT_LIST. Errors: MT_EUSAGE: unknown option (nearest names in the hint), one the command is
 * without, missing, bad or second value, too few or many arguments; the hint ends with "memtool
 * help NAME". args is empty then; options before the wrong one are set.
 */
enum mt_status mt_opts_parse(const struct mt_cmd *cmd, const struct mt_opt *common, int argc,
                             char **argv, struct mt_args *args, struct mt_err *err);

/* Whether the list of words, with commas or blanks between them, has that one. NULL: an empty list.
 */
bool mt_has_word(const char *list, const char *word);

/* Whether the command has a use for the common option of that name (cmd.h: without). */
bool mt_cmd_takes(const struct mt_cmd *cmd, const char *common);

/* How many of the arguments, options and their values, stand before the first that is neither: the
 * common options in front of a command. */
int mt_opts_leading(const struct mt_opt *common, int argc, char **argv);

/* Whether an option in front of no command is one that all commands have, or --version. Errors:
 * MT_EUSAGE: it is none; the nearest are in the hint. */
bool mt_opts_known(const struct mt_opt *common, const char *text, struct mt_err *err);

/* Writes the help of one command: summary, usage, examples, options, words, common options; their
 * texts wrapped at `width` columns (opts_help.c). */
void mt_opts_help(const struct mt_cmd *cmd, const struct mt_opt *common, int width, FILE *out);

/* First complaint about a table (duplicate name or letter, missing help or value, upper case), or
 * NULL. The text is valid until the next call. For the tests. */
const char *mt_opts_check(const struct mt_opt *opts);

/* The formats a command writes reports in, ", " between them; static, until the next call. */
const char *mt_formats_of(const struct mt_cmd *cmd);

/* How many bytes the value of an option takes, for those who keep it aside. */
size_t mt_opt_size(const struct mt_opt *opt);

#endif
