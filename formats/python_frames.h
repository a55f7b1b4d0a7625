/*
 * python_frames.h - functions of Python in stacks, as heap tools write them: how they read in call
 * paths, and which of them can be a site.
 */
#ifndef MT_PYTHON_FRAMES_H
#define MT_PYTHON_FRAMES_H

#include "formats/native_paths.h"

/* Whether a file is one of Python: "train.py", "<frozen runpy>". */
bool mt_python_is(const char *file);

/* Whether a function of C says nothing of the program: of the interpreter, of an allocator. */
bool mt_python_is_inside(const char *name, const char *file, int64_t line);

/* Number of mt_path_frame: "model.py:42 forward". What is not the user's own code is no site,
 * unless there is nothing else, or rec->library_sites. name, file: "" = unknown; line 0 = unknown.
 */
uint32_t mt_python_frame(struct mt_path_tree *p, const char *name, const char *file, int64_t line);

/* The same, ready for stacks that have frames of C, too. */
struct mt_native_step mt_python_step(struct mt_path_tree *p, const char *name, const char *file,
                                     int64_t line);

#endif
