/*
 * runs.h - what `memtool runs` does besides listing runs: changes to them, and the cache.
 */
#ifndef MT_RUNS_CMD_H
#define MT_RUNS_CMD_H

#include "lib/run/runs.h"

/* Runs that the command line names. */
struct mt_chosen {
    struct mt_run *v;
    size_t n, cap;
};

/* Whether the run of that id is among them. */
bool mt_is_chosen(const struct mt_chosen *chosen, int64_t id);

struct mt_run_changes {
    bool remove, shrink;
    const char *rename, *group; /* NULL: as it is; group "": none */
};

/*
 * The runs of the references and of the group (NULL: of none), each once. whole: a reference must
 * be a whole name, for what follows cannot be taken back. Errors: MT_EUSAGE, MT_EDB.
 */
enum mt_status mt_choose_runs(struct mt_db *db, const char *const *refs, size_t ref_n,
                              const char *group, bool whole, struct mt_chosen *out,
                              struct mt_err *err);

/* Makes the changes to the runs named, all or none, and says on standard output what was done.
 * Errors: MT_EUSAGE, MT_EDB. */
enum mt_status mt_change_runs(const char *const *refs, size_t ref_n, const char *group,
                              const struct mt_run_changes *changes, struct mt_err *err);

/* Shows what the cache for files given as runs holds; empties it, saying what that gave back. */
enum mt_status mt_show_cache(struct mt_err *err);
enum mt_status mt_clear_cache(struct mt_err *err);

#endif
