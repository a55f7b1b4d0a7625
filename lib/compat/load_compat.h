/*
 * load_compat.h - a stored run as input of compat_torch.h.
 */
#ifndef MT_LOAD_COMPAT_H
#define MT_LOAD_COMPAT_H

#include "lib/base/map.h"
#include "lib/compat/compat_torch.h"
#include "lib/run/runs.h"

struct mt_compat_run {
    MT_VEC(struct mt_torch_op) ops;
    MT_VEC(struct mt_torch_record) records;
    MT_VEC(const char *) texts; /* names and shapes; owned */
    struct mt_map text_of;      /* string id of the database -> index into texts */
    struct mt_torch_marks marks;
    bool profile_memory;
    const char *device; /* "CUDA", ... if the run has device memory; NULL = none */
    struct mt_torch_input input;
};

/* Zero-initialise *out; free with mt_compat_run_free also on failure. */
enum mt_status mt_load_compat(struct mt_db *db, const struct mt_run *run, struct mt_compat_run *out,
                              struct mt_err *err);
void mt_compat_run_free(struct mt_compat_run *c);

#endif
