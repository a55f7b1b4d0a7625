/*
 * live_said.h - steps and marks of a run that grows while it is recorded (live.h).
 */
#ifndef MT_LIVE_SAID_H
#define MT_LIVE_SAID_H

#include "lib/record/live.h"

struct mt_live_said {
    MT_VEC(struct mt_step) steps; /* the last one, and those before it that are not written */
    bool known;                   /* the database has it that there are steps */
    int64_t step_n, mark_n;       /* in all */
    bool under_way;               /* the last step has not ended */
    MT_VEC(struct mt_seen) marks; /* not in the database yet; texts are owned */
};
void mt_live_said_free(struct mt_live_said *said);

/* Takes a step, a mark (whose text it keeps a copy of), or what is neither; notes of what it leaves
 * out go to rec. Whether it is the first step. */
bool mt_live_said_take(struct mt_live_said *said, const struct mt_seen *seen,
                       struct mt_recording *rec);

/* Writes what is new; a step under way lasts until t_ns. device: id of the command's. */
enum mt_status mt_live_said_write(struct mt_live_said *said, struct mt_db *db, int64_t run,
                                  int64_t device, int64_t t_ns, struct mt_err *err);

#endif
