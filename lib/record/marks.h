/*
 * marks.h - what a recorded program says of itself: lines that it writes to a file of ours,
 *
 *   memtool:step N      step N begins, and the one before it ends
 *   memtool:step end    the step under way ends
 *   memtool:mark TEXT   something that the program names happens
 *
 * It is a file in memory, not a pipe: writing to it never waits and never fails, be the recorder
 * busy, or killed.
 */
#ifndef MT_MARKS_H
#define MT_MARKS_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

enum { MT_MARK_TEXT_MAX = 200 }; /* bytes; what is longer is cut */

struct mt_mark {
    enum mt_mark_kind {
        MT_MARK_NOTHING, /* an empty line */
        MT_MARK_STEP,
        MT_MARK_STEP_END,
        MT_MARK_TEXT,
        MT_MARK_DAMAGED /* neither of these */
    } kind;
    int64_t number;   /* of a step */
    const char *text; /* of a mark, valid UTF-8; of a damaged line, all of it, whatever it is */
    size_t n;
};
/* What a line says, which ends before its newline; text points into it. */
struct mt_mark mt_mark_of(const char *line, size_t n);

struct mt_marks {
    int fd;      /* the file; -1: there is none */
    int wake_fd; /* can be read when something was written; -1: nobody tells */
    int64_t at;  /* read so far */
    int64_t kept_from;
    struct mt_buf line; /* one whose end is not written yet */
};
/* Opens a file. Without one (the system has none to give) nothing is ever read. */
void mt_marks_open(struct mt_marks *m);
void mt_marks_close(struct mt_marks *m);
/* For a child that becomes the program: leaves the file open in it, as the number that it returns;
 * -1: there is none. */
int mt_marks_give(const struct mt_marks *m);

/* What was written since. ended: nothing follows, so that a last line needs no newline. */
typedef void mt_mark_fn(void *closure, const struct mt_mark *mark);
void mt_marks_read(struct mt_marks *m, bool ended, mt_mark_fn *use, void *closure);

#endif
