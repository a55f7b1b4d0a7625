/* process_log.h - what readers of process logs make of a text, in words. */
#ifndef TEST_PROCESS_LOG_H
#define TEST_PROCESS_LOG_H

#include "formats/format.h"

/*
 * Reads n bytes; where: NULL, or as --pattern. Adds time unit and end; of each device its first and
 * its last level and when that began, the peak; other values; steps; notes; or the error.
 */
void read_process_log(struct mt_buf *out, const struct mt_reader *reader, const char *text,
                      size_t n, const char *where);

/* A printed text, and what read_process_log says of it; a row's test (rows.h). */
struct text_file {
    const char *name, *text, *want;
};
void test_text_file(void **state);

/* Adds a line for each device: its changes and looks, "number:level@time". */
void describe_looks(struct mt_buf *out, const struct mt_recording *r);

#endif
