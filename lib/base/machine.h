/*
 * machine.h - how much memory there is for this process, and how many cores.
 */
#ifndef MT_MACHINE_H
#define MT_MACHINE_H

#include <stdint.h>

/*
 * The memory of the machine in bytes, or what a cgroup (v1, v2) or the process's own limit allows
 * of it, if that is less. root: what stands in front of /proc and /sys, "" but in tests.
 */
uint64_t mt_machine_memory(const char *root);

/* Cores that this process may run on, 1 or more. */
int mt_machine_cores(void);

#endif
