/*
 * categories_file.h - the option --categories: words of the user's own for call paths.
 */
#ifndef MT_CATEGORIES_FILE_H
#define MT_CATEGORIES_FILE_H

#include "cmd/cmd.h"

#define MT_CATEGORIES_OPT(value)                                                                   \
    {                                                                                              \
        "categories", 0, MT_OPT_STRING, &(value), "FILE",                                          \
            "categories of your own, which --by category shows first: lines NAME = REGEX, for "    \
            "call "                                                                                \
            "paths"                                                                                \
    }

/*
 * Reads the file (NULL: the option is not given) for --by category of this process; says where it
 * has no category. *by, the value
 * of --by, becomes "category" where none is given. Errors: MT_EUSAGE: --by asks for something else;
 * MT_EIO; MT_EINPUT with the line.
 */
enum mt_status mt_categories_file(const char *path, const char **by, struct mt_err *err);
/* When the report is there: says where nothing of the file matched. */
void mt_categories_file_end(void);

#endif
