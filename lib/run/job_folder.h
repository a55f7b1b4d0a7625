/*
 * job_folder.h - what the name of a folder with recordings of a job says: a step, a host, or
 * neither.
 */
#ifndef MT_JOB_FOLDER_H
#define MT_JOB_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* "iteration_10", "epoch3": what was written at a time. name has n bytes. */
bool mt_folder_counts_steps(const char *name, size_t n);
/* The same, or a date, a time or another number, or a repeat ("run_2", "attempt_0"): it tells
 * recordings of one process apart. */
bool mt_folder_is_of_time(const char *name, size_t n);
/* "node3", "gpu-a7.cluster", "10.0.3.17": a machine. */
bool mt_folder_is_host(const char *name, size_t n);
/* Adds a folder to "rack1/node3", a text with so much room; one that does not fit is left out. */
void mt_folder_add(char *to, size_t room, const char *name, size_t n);
/* The folders of a path that are machines, "rack1/node3"; "": none is, or none fits. */
void mt_folder_hosts(const char *path, char *out, size_t room);

#endif
