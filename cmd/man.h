/*
 * man.h - the part of the manual pages that the option tables know.
 *
 * docs/man/memtool-NAME.mdoc holds what a person writes: a line `.Dd DATE`, then the sections
 * DESCRIPTION, EXAMPLES and any that belong between them. docs/man/page.awk puts both together.
 */
#ifndef MT_CMD_MAN_H
#define MT_CMD_MAN_H

#include "cmd/cmd.h"

/* Appends the page of a command, or of memtool itself (NULL), in mdoc: name, synopsis and options,
 * with the line `.\" DESCRIPTION` where the written part belongs. */
void mt_man_page(const struct mt_cmd *cmd, struct mt_buf *out);

#endif
