/*
 * told_base.h - what a trace cannot know and is told: how much of a device was in use before the
 * recording began and stayed so to its end, such as the parameters of a model. A level that all
 * others stand on, so it goes into mt_device.start_b (docs/older.md).
 */
#ifndef MT_TOLD_BASE_H
#define MT_TOLD_BASE_H

#include "lib/model/recording.h"

/* The key of a trace's metadata that says so: a number of bytes, of the CPU, or an object of such
 * numbers by device. */
#define MT_BASE_KEY "memtool_base"

struct mt_base {
    char device[32];
    int64_t bytes;
};
struct mt_bases {
    struct mt_base *v;
    size_t n, cap;
};

/* Appends what "8MiB" (of the CPU) or "cuda:0=1.5GiB" means. Errors: MT_EUSAGE: it means nothing,
 * or the device is there already. */
enum mt_status mt_base_parse(const char *text, struct mt_bases *out, struct mt_err *err);

/* Sets mt_device.kept_b of a recording that is read and not built. Errors: MT_EUSAGE: it has no
 * such device, or knows older blocks itself. */
enum mt_status mt_base_apply(struct mt_recording *r, const struct mt_bases *bases,
                             struct mt_err *err);

/* The same by the file's own word (MT_BASE_KEY), for devices that nobody has told of. What cannot
 * be understood is noted. */
void mt_base_read_meta(struct mt_recording *r);

#endif
