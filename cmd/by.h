/*
 * by.h - the option --by. What a command groups by is one list, the words of its help: from there
 * parsing, --help, the man page and completion have the keys.
 */
#ifndef MT_BY_H
#define MT_BY_H

#include "cmd/cmd.h"
#include "lib/render/report.h"
#include "lib/run/group_keys.h"
#include "lib/run/runs.h"

/* For the words of a command: these are its keys. */
#define MT_WORDS_OF_BY(keys)                                                                       \
    {                                                                                              \
        "Words of --by, alone or several (top,phase)", keys, "by"                                  \
    }
/* Where blocks were allocated; what ops have besides; and what reports of several devices have. */
extern const struct mt_glossary_entry mt_by_of_blocks[], mt_by_of_ops[], mt_by_of_devices[];

struct mt_by {
    enum mt_group_key v[MT_BY_N];
    int n;       /* > 0 */
    bool device; /* "device" is among them: each device apart */
};

/*
 * Parses "name,scope" (NULL, or "device" alone: `fallback`). Errors: MT_EUSAGE: a key that `cmd`
 * does not take (listing those it does) or that is named twice.
 */
enum mt_status mt_by_parse(const struct mt_cmd *cmd, const char *by, const char *fallback,
                           struct mt_by *out, struct mt_err *err);

/* Where sites are the user's functions, each of which calls many ops, the blocks of a function are
 * told apart by their top ops, too, unless keys were asked for: what grows could else not be seen
 * beside what comes and goes. Errors: MT_EDB. */
enum mt_status mt_by_finer(struct mt_by *by, const char *asked, struct mt_db *db,
                           const struct mt_run *run, struct mt_err *err);

#define MT_NOTE_OF_LINES                                                                           \
    "The line of a site is that of the function's def: PyTorch's profiler records no other."

/* Notes where categories are less sure, if rows are by them. */
void mt_by_note_frames(const struct mt_by *by, const struct mt_run *run, struct mt_report *r);

/* The same, and which line it is that such sites have. Errors: MT_EDB. */
enum mt_status mt_by_note_lines(const struct mt_by *by, struct mt_db *db, const struct mt_run *run,
                                struct mt_report *r, struct mt_err *err);

/* What rows by these keys show besides their figures: enum mt_about, or-ed. */
unsigned mt_by_about(const struct mt_by *by);

/* Refuses keys that nothing of such a device can be grouped by, and labels that the run has not.
 * Errors: MT_EUSAGE, MT_EDB. */
enum mt_status mt_by_known(const struct mt_by *by, struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, struct mt_err *err);

/* The same keys with "label" for labels that were asked for by name: of several runs, one may have
 * such a label and another not. */
struct mt_by mt_by_any_label(const struct mt_by *by);

#endif
