/*
 * scratch.h - files and folders that are there only until they are finished: Ctrl-C removes them.
 */
#ifndef MT_SCRATCH_H
#define MT_SCRATCH_H

#include <signal.h>
#include <sys/stat.h>

/*
 * From now on a SIGINT, SIGTERM or SIGHUP that ends the process removes the file first, or
 * the folder if nothing else is in it. It need not be there yet. At most MT_SCRATCH_MAX at a time;
 * those beyond stay.
 */
#define MT_SCRATCH_MAX 8
void mt_scratch_add(const char *path);

/*
 * Between these two such a signal waits: a file is made under a name that its maker chooses, and
 * then added. *before is what was blocked already.
 */
void mt_scratch_hold(sigset_t *before);
void mt_scratch_release(const sigset_t *before);

/* A new file gets owner and mode of the one whose place it is to take, as far as that is ours to
 * say. */
void mt_scratch_like(int fd, const struct stat *old);

/* The path is finished, or gone. */
void mt_scratch_drop(const char *path);

#endif
