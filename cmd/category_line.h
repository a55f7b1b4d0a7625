/*
 * category_line.h - the line that says what is alive in the words of who trains models:
 * "parameters 4.1 MiB, gradients 4.1 MiB, activations 46.7 MiB, other 317 KiB".
 */
#ifndef MT_CATEGORY_LINE_H
#define MT_CATEGORY_LINE_H

#include "lib/render/report.h"
#include "lib/usage/live.h"

enum mt_category_part {
    MT_PART_PARAMETERS,
    MT_PART_GRADIENTS,
    MT_PART_OPTIMIZER_STATE,
    MT_PART_ACTIVATIONS,
    MT_PART_OTHER,
    MT_PART_OLDER, /* than the recording */
    MT_PART_N
};

struct mt_category_parts {
    bool known;     /* else nothing is */
    bool by_frames; /* told by the frames of a snapshot, not by operators */
    int64_t bytes[MT_PART_N];
};

/* What is alive at a moment of a device whose level is level_b. */
struct mt_category_parts mt_category_parts_of(const struct mt_run_device *device,
                                              const struct mt_live_set *live, int64_t level_b);
/* The same at its peak, from what is stored. Errors: MT_EDB. */
enum mt_status mt_category_parts_at_peak(struct mt_db *db, const struct mt_run_device *device,
                                         struct mt_category_parts *out, struct mt_err *err);

/* Adds them to the totals of a report: "parameters_b", behind a prefix such as "base_". */
void mt_category_totals(struct mt_report *r, const char *prefix,
                        const struct mt_category_parts *parts);

/* Appends the line without a line end; nothing where no model is known to be there. */
void mt_category_line(struct mt_buf *out, const struct mt_category_parts *parts);
/* Appends to a line what of inputs, activations and unknown blocks is of steps before that one
 * (INT64_MIN: the moment is in none), where it is worth words. */
void mt_category_add_earlier(struct mt_buf *line, const struct mt_live_set *live, int64_t step);
/* The same of two runs: "activations 46.7 -> 12.1 MiB" where they differ. */
void mt_category_line_of_two(struct mt_buf *out, const struct mt_category_parts parts[2]);

/* A line as a report's figure: wrapped where the terminal ends; allocated, NULL: nothing is there.
 * Takes the line. */
char *mt_category_figure(struct mt_buf *line);

#endif
