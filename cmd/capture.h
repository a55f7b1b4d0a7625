/*
 * capture.h - runs another command in this process and takes the report that it would show. What a
 * command answers is so the same wherever it is shown.
 */
#ifndef MT_CAPTURE_H
#define MT_CAPTURE_H

#include "cmd/cmd.h"
#include "cmd/common.h"

/*
 * Runs "peak --by phase" with these arguments, and gives the taker its reports, as people read
 * them, or the picture that --format names.
 * Options are afterwards what they were. *code: the exit code it would have. Errors: those of the
 * command.
 */
enum mt_status mt_capture(const char *line, const struct mt_args *args, const struct mt_taker *to,
                          int *code, struct mt_err *err);

#endif
