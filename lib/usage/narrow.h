/*
 * narrow.h - a device of which some categories are looked at: reports on it are about these blocks
 * alone, as if the others were not there.
 */
#ifndef MT_NARROW_H
#define MT_NARROW_H

#include "lib/run/category_words.h"
#include "lib/run/runs.h"

/* What --category asks for. */
struct mt_narrow {
    unsigned set; /* categories, as bits; 0: all */
    char words[MT_CATEGORY_WORDS_MAX];
};

/* Parses the value of the option (NULL: not given, all). Errors: mt_category_set_parse. */
enum mt_status mt_narrow_parse(const char *list, struct mt_narrow *out, struct mt_err *err);

/* What a device is narrowed to. */
struct mt_narrow mt_narrow_of(const struct mt_run_device *device);

/*
 * Makes all figures of a device those of the blocks that are asked for: levels, the peak and when
 * it is, sums, what is alive at the end. What is older than the recording is in none of them:
 * older_used says that it may be of these categories, and older_most_b is known where the size of
 * all of it is. What is in doubt is what of these blocks may have been freed unseen, at their own
 * peak and at the end. Errors: MT_EUSAGE: the run does not say of each block what it is for;
 * MT_EDB.
 */
enum mt_status mt_narrow_device(struct mt_db *db, const struct mt_run *run,
                                const struct mt_narrow *to, struct mt_run_device *device,
                                struct mt_err *err);

#endif
