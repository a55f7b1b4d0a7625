/*
 * stored.h - a recording written down as text (built.h), in a database of its own, opened the way
 * commands open a run.
 */
#ifndef MT_TEST_STORED_H
#define MT_TEST_STORED_H

#include "lib/run/load.h"
#include "tests/unit/built.h"

struct stored {
    struct mt_recording rec;
    struct mt_db *db;
    struct mt_run run;
    struct mt_run_device device; /* the first; the text must have a memory record */
    char path[256];
};

void stored_open(struct stored *s, const char *text);
void stored_close(struct stored *s);

#endif
