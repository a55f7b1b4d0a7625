/*
 * text_table.h - tables among the lines of a log whose heading names an rss, as those of sacct, ps,
 * top and memory_profiler: what they say is not read.
 */
#ifndef MT_TEXT_TABLE_H
#define MT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum mt_text_headed { MT_TEXT_NOT_HEADED, MT_TEXT_HEADED_ALONE /* by "RSS" */, MT_TEXT_HEADED };

/* Zero-initialise. */
struct mt_text_table {
    enum mt_text_headed headed; /* rows are next */
};

/* Each line as it comes, without its end: whether it is the first row of such a table. */
bool mt_text_table_take(struct mt_text_table *t, const char *line, size_t n);

#endif
