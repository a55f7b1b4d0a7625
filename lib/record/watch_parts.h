/*
 * watch_parts.h - what the files of watch.h share.
 */
#ifndef MT_WATCH_PARTS_H
#define MT_WATCH_PARTS_H

#include "lib/record/watch.h"

/* Processor time of this thread, ns: what a look costs, however long others keep it waiting. */
int64_t mt_watch_cpu(void);

/* Appends to w->seen; t: ns, as the look has it. process: as announced. */
void mt_watch_tell(struct mt_watch *w, enum mt_seen_kind kind, uint32_t process, int64_t t,
                   int64_t value);
/* The same of a metric, if it is another value than it was told last: told. */
void mt_watch_tell_metric(struct mt_watch *w, uint32_t process, int64_t told[MT_METRIC_N],
                          int metric, int64_t t, int64_t value);
/* How long to wait until something is told again that was told n times: ever longer. */
int64_t mt_watch_less(int64_t *n, int64_t *step);

/* All of them, who have just been looked at: what they have together, and, now and then, what each
 * shares. */
void mt_watch_together(struct mt_watch *w, int64_t t);
/* There are no more looks: what the last one saw. */
void mt_watch_together_end(struct mt_watch *w);

/* Threads and processor time of a process that was looked at, of one that has ended, and of all
 * together; and what is known when the command has ended. parts: it is time to tell them. */
void mt_watch_work(struct mt_watch *w, struct mt_watched *p, int64_t t, bool parts);
void mt_watch_work_ended(struct mt_watch *w, struct mt_watched *p);
void mt_watch_work_together(struct mt_watch *w, int64_t t, bool parts);
void mt_watch_work_end(struct mt_watch *w, int64_t t, const struct mt_watch_ended *how);

/* The control group of the command: when it begins, and from time to time. */
void mt_watch_group_begin(struct mt_watch *w, pid_t pid);
void mt_watch_group(struct mt_watch *w, int64_t t);

#endif
