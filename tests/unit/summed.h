/*
 * summed.h - heap logs as text in a test, and what reading them leaves.
 */
#ifndef MT_TEST_SUMMED_H
#define MT_TEST_SUMMED_H

#include "formats/format.h"

/* want: the device's figures, then self figures of each path (allocated/at peak/at end), then
 * notes; or the error. Where the name says "further figures", also how many events there are,
 * and the further figures of paths. */
struct summed_file {
    const char *name; /* of the test; has the options that it is read with */
    const char *text, *want;
};

void summed_test(const struct summed_file *f, const struct mt_reader *reader);

/* What reading a text leaves, with further figures; to be freed. */
char *summed_text(const char *text, const struct mt_reader *reader);

/* Cut behind any byte: either it says so, or nothing is missing; whole: lengths of which the latter
 * is true. */
void summed_test_cuts(const char *text, const struct mt_reader *reader, const size_t *whole,
                      size_t whole_n);

#endif
