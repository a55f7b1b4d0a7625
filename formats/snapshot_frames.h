/*
 * snapshot_frames.h - what a frame of an allocator snapshot is: its name in call paths, whether it
 * says anything, and how well it names the place in the user's code. All of it is read off the
 * function's name and file. docs/formats/cuda-snapshot.md states the rules.
 */
#ifndef MT_SNAPSHOT_FRAMES_H
#define MT_SNAPSHOT_FRAMES_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

/* How well a frame names the place: the best one of a path is its `top`. Of equals the innermost
 * counts among Python frames, the outermost among native ones. */
enum mt_snap_rank {
    MT_RANK_NONE,    /* annotations, the autograd engine's own loop */
    MT_RANK_NATIVE,  /* C and C++ */
    MT_RANK_TORCH,   /* Python of PyTorch, of the standard library, generated code */
    MT_RANK_PACKAGE, /* Python of other installed packages */
    MT_RANK_USER,    /* the user's own Python */
};

struct mt_snap_look {
    bool python;
    bool noise; /* a native frame that says nothing: interpreter, dispatcher, allocator, recorder */
    bool module; /* forward() of an nn.Module */
    uint8_t rank;
    uint8_t phase; /* enum mt_phase the frame marks; MT_PHASE_OTHER = none */
    uint8_t tells; /* enum mt_tells */
};

/* What a frame is, by its function, file and line as the snapshot has them; native ones have a line
 * below 0 or a file that is no Python. */
struct mt_snap_look mt_snap_look(const char *name, const char *file, int64_t line);

/* The frame's text: "model.py:42 forward", "at::native::empty_cuda". */
void mt_snap_frame_text(struct mt_buf *out, const char *name, const char *file, int64_t line);

#endif
