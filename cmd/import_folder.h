/*
 * import_folder.h - which files of a folder are recordings.
 */
#ifndef MT_IMPORT_FOLDER_H
#define MT_IMPORT_FOLDER_H

#include "formats/text_pattern.h"
#include "lib/base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct mt_import_paths {
    char **v; /* allocated */
    size_t n, cap;
};
void mt_import_paths_free(struct mt_import_paths *p);

struct mt_folder_opts {
    bool nested;  /* folders inside it, too, but for hidden ones and links */
    bool grouped; /* what is found is one group: says where several folders look like jobs */
    bool values;  /* files that do not say what their numbers are count */
    const struct mt_text_pattern *pattern; /* NULL: none. Else what has a line of it counts, and
                                              nothing else */
};

/*
 * Appends the recordings of a folder, in the order of their paths, in which digits are numbers. A
 * file that is empty, or cannot be opened, is one of them where others have such an ending, and so
 * is one that is called as they are but for numbers: reading it says what is wrong. What was passed
 * over is said on stderr. Errors: MT_EIO; MT_EUSAGE: there is none.
 */
enum mt_status mt_import_folder(const char *folder, const struct mt_folder_opts *opts,
                                struct mt_import_paths *out, struct mt_err *err);

#endif
