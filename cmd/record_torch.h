/*
 * record_torch.h - `memtool record --torch`: traces of PyTorch of the processes that are recorded.
 */
#ifndef MT_RECORD_TORCH_CMD_H
#define MT_RECORD_TORCH_CMD_H

#include "cmd/recorder.h"
#include "lib/base/err.h"
#include "lib/base/mem.h"
#include <stdbool.h>

struct mt_record_torch {
    const char
        *asked; /* --torch: "": so many steps as usual; "all", or a number; NULL: not asked */
    bool stacks;
    char steps[24]; /* of optimizers; "": all */
    char *hook;     /* folder of our sitecustomize.py */
    char *folder;   /* where traces go */
    bool keep;      /* not all that is there became a run: what did not stays */
};

/* Makes the folder. Errors: MT_EUSAGE; MT_EIO: the hook is not installed, or no folder can be made.
 */
enum mt_status mt_record_torch_begin(struct mt_record_torch *t, struct mt_err *err);
/* In the process that becomes the command: sets its environment. */
void mt_record_torch_env(const struct mt_record_torch *t);
/* The command has ended: tells the recorder what there is no trace of, and what the profiler did.
 */
void mt_record_torch_said(const struct mt_record_torch *t, struct mt_recorder *r);
/* Imports the traces into the database at path; they and the run of that name are a group called
 * like it. Says so, and what failed, on stderr; that is to be kept. */
void mt_record_torch_import(struct mt_record_torch *t, const char *path, const char *run);
/* Removes the folder; where something is to be kept, says where it is. */
void mt_record_torch_end(struct mt_record_torch *t);

#endif
