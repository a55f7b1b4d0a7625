/*
 * text_time_v.h - what /usr/bin/time -v says beside memory: the command, its time, how it ended.
 */
#ifndef MT_TEXT_TIME_V_H
#define MT_TEXT_TIME_V_H

#include "lib/input/fields.h"
#include "lib/model/recording.h"

/* Whether the line f, at an offset of the file, is one of these. What it says goes into the
 * recording; *elapsed_ns: how long the command ran. A time that cannot be read is noted, and -1. */
bool mt_text_time_v(struct mt_fields f, int64_t offset, struct mt_recording *rec,
                    int64_t *elapsed_ns);

#endif
