/*
 * devices.h - what memory is on, by the numbers that PyTorch has for it (c10::DeviceType).
 */
#ifndef MT_DEVICES_H
#define MT_DEVICES_H

#include <stdbool.h>

/* Devices of a recording that files of strangers may have: reports look at all records for each. */
enum { MT_DEVICES_MAX = 128 };

/* Numbers of our own where PyTorch has none: pinned memory of the host, and forks that call
 * themselves privateuse1. */
enum {
    MT_DEVICE_CPU = 0,
    MT_DEVICE_CUDA = 1,
    MT_DEVICE_XPU = 12,
    MT_DEVICE_HOST = 100,
    MT_DEVICE_NPU,
    MT_DEVICE_MLU,
    MT_DEVICE_MUSA,
    MT_DEVICE_HEAP = 110,    /* malloc and its like, native or of Python */
    MT_DEVICE_PROCESS = 111, /* what the system counts of a process */
    MT_DEVICE_UNNAMED = 112  /* the recording does not say which */
};

/* The index of the device that stands for all processes of a run together. */
enum { MT_PROCESSES = -2 };
#define MT_PROCESSES_NAME "processes"

#define MT_DEVICE_NAME 32 /* bytes of a name, with its end */
/* "cpu", "cuda:0" ... for a c10::DeviceType number and index. */
void mt_device_name(int type, int index, char out[32]);

/* Whether a device is the one that is asked for: by its whole name, or, where none is called so, by
 * its kind: "cuda" is cuda:0 and the like. NULL: any is. */
bool mt_device_is(const char *own, const char *asked, bool whole);

#endif
