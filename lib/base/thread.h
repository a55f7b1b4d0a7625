/*
 * thread.h - threads of memtool's own.
 */
#ifndef MT_THREAD_H
#define MT_THREAD_H

#include <pthread.h>

/*
 * Starts a thread that takes no signals: they are for the thread that started it, whose system
 * calls Ctrl-C must interrupt, and who alone cleans up. Returns 0 or an errno.
 */
int mt_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
