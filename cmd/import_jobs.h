/*
 * import_jobs.h - folders that each have the ranks of a job.
 */
#ifndef MT_IMPORT_JOBS_H
#define MT_IMPORT_JOBS_H

#include "formats/format.h"

struct mt_found_file {
    char *path;
    const struct mt_reader *reader; /* NULL: not known */
};

struct mt_found {
    struct mt_found_file *v;
    size_t n, cap;
};

/*
 * Says on stderr where folders inside one that is read as one group look like several jobs: the
 * same ranks in each, of the same reader, and no names that count steps or are hosts.
 */
void mt_import_tell_jobs(const char *folder, const struct mt_found *files);

#endif
