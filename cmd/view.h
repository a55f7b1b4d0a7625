/*
 * view.h - what a command looks at: the database, a run of it, a device, and of these what the
 * command reads. One call opens it, one closes it.
 */
#ifndef MT_VIEW_H
#define MT_VIEW_H

#include "cmd/cmd.h"
#include "lib/db/db.h"
#include "lib/render/report.h"
#include "lib/usage/live.h"
#include "lib/usage/narrow.h"

/* Opens the database of --db, MEMTOOL_DB or .memtool.db (lib/run/runs.h) for reading; one of an
 * older memtool is upgraded (cmd/upgrade.h). */
enum mt_status mt_open_for_reading(struct mt_db **out, struct mt_err *err);

/* Whether a reference is the path of a folder; then, where it is no run either, says what to do
 * with it. unknown: that no run or group is called so, may be err. Returns MT_EUSAGE. */
bool mt_is_folder(const char *ref);
enum mt_status mt_folder_given(const char *ref, const struct mt_err *unknown, struct mt_err *err);

/* The database, and the run of a reference (NULL: @latest) or of a file, which is imported into the
 * cache if need be (cmd/cache.h). Close *db also on failure (NULL-safe). */
enum mt_status mt_open_run(const char *ref, struct mt_db **db, struct mt_run *run,
                           struct mt_err *err);

struct mt_view {
    struct mt_db *db;
    struct mt_run run;
    bool has_device;              /* else the run has none: no memory records */
    struct mt_run_device device;  /* the one asked for, else the one with most bytes allocated */
    int other_n;                  /* devices of the run beside it */
    struct mt_narrow narrow;      /* what the device is narrowed to */
    struct mt_tree tree;          /* MT_VIEW_TREE; else empty */
    struct mt_allocations blocks; /* MT_VIEW_BLOCKS; of MT_VIEW_STEPS its steps alone */
};

/* What is opened beside the run. */
enum mt_view_part {
    MT_VIEW_DEVICE = 1, /* else has_device is false */
    MT_VIEW_STEPS = 2,  /* blocks.steps */
    MT_VIEW_BLOCKS = 4, /* call tree and steps, to read blocks with; nothing without a device */
    MT_VIEW_TREE = 8,   /* an item for each call path, with the stored figures of the device */
};

struct mt_view_wanted {
    unsigned parts;       /* enum mt_view_part, or-ed */
    const char *device;   /* name; NULL: the one with most bytes allocated */
    unsigned need;        /* enum mt_knows: what the run must know to be worth a look; 0: nothing */
    const char *category; /* of --category: the device is narrowed to it; NULL: it is not */
};

/* As mt_run_device; where `named` is only the kind of the device, the one that is called as `like`
 * is in the run before (NULL: there is none), if this run has that. */
enum mt_status mt_run_device_like(struct mt_db *db, const struct mt_run *run, const char *named,
                                  const char *like, struct mt_run_device *out, bool *none,
                                  int *other_n, struct mt_err *err);

/*
 * Opens a view of the run of a reference (NULL: @latest) or file. It stays where it is: blocks
 * refer to its run. Close it also on failure. Errors: those of mt_open_run; MT_EUSAGE: no such
 * device, or the run does not know what is needed; MT_EDB.
 */
enum mt_status mt_view_open(struct mt_view *v, const char *ref, const struct mt_view_wanted *wanted,
                            struct mt_err *err);
void mt_view_close(struct mt_view *v);

/* Of a view that has a device and was opened without MT_VIEW_BLOCKS: these, as long as they are
 * needed. Close them also on failure; steps stay. Errors: MT_EDB. */
enum mt_status mt_view_open_blocks(struct mt_view *v, struct mt_err *err);
void mt_view_close_blocks(struct mt_view *v);

/* Its device; NULL: the run has none. */
static inline const struct mt_run_device *mt_view_device(const struct mt_view *v)
{
    return v->has_device ? &v->device : NULL;
}

/* Says in the report which run and device it is about, and what import noted about what it shows
 * (mt_report_about). */
void mt_view_about(const struct mt_view *v, struct mt_report *report, unsigned shown);

/* Notes of a process which traces in its group cannot be shown beside it. Errors: MT_EDB. */
enum mt_status mt_view_note_traces(const struct mt_view *v, struct mt_report *report,
                                   struct mt_err *err);

/* Up to when levels of its device are known (mt_run_known_until). Errors: MT_EDB. */
enum mt_status mt_view_known_until(const struct mt_view *v, int64_t *out, struct mt_err *err);

/* Notes which steps the run has, where a range of --step (NULL: none) goes beyond them. Errors:
 * MT_EUSAGE: it is no range; MT_EDB. */
enum mt_status mt_view_note_steps(const struct mt_view *v, const char *range,
                                  struct mt_report *report, struct mt_err *err);

/* The row of --group in an option table; value: const char *. */
#define MT_GROUP_OPT(value)                                                                        \
    {                                                                                              \
        "group", 0, MT_OPT_STRING, &(value), "NAME",                                               \
            "of the runs of this group, the ranks of a job, the one with the highest peak"         \
    }

/*
 * What most commands do: opens a view of the run of their argument (none: @latest) and has use()
 * fill a report of that schema (version 1) and show it.
 */
typedef enum mt_status mt_use_view(struct mt_view *view, struct mt_report *report,
                                   struct mt_err *err);
enum mt_status mt_report_on_view(const struct mt_args *args, const struct mt_view_wanted *wanted,
                                 const char *schema, mt_use_view *use, struct mt_err *err);

/* The same, or, of a group (NULL: none), on its run with the highest peak and the device that has
 * it; the report says which rank that is. Errors: of mt_ranks_load, too; MT_EUSAGE: a run is named
 * beside the group, or no peak is known. */
enum mt_status mt_report_on_group(const struct mt_args *args, const char *group,
                                  const struct mt_view_wanted *wanted, const char *schema,
                                  mt_use_view *use, struct mt_err *err);

#endif
