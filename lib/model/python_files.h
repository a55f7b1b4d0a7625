/*
 * python_files.h - whose code a Python file is, and the functions of Python that PyTorch's profiler
 * names in its traces: "models/vit.py(41): forward".
 *
 * Traces have files relative to the folders that Python imports from, so that an installed package
 * is known by its name alone there: those of the standard library and of well-known packages are
 * listed in python_files.c; any other is taken for the user's own.
 */
#ifndef MT_PYTHON_FILES_H
#define MT_PYTHON_FILES_H

#include "lib/base/mem.h"
#include <stdbool.h>

enum mt_code_owner {
    MT_CODE_TORCH,   /* PyTorch, the standard library, generated code */
    MT_CODE_PACKAGE, /* another installed package */
    MT_CODE_USER
};

/* file: n bytes, a path or "<frozen os>". */
enum mt_code_owner mt_python_owner(const char *file, size_t n);

/* The parts of a function's name in a trace, pointers into it. */
struct mt_python_function {
    const char *file, *function;
    size_t file_n;
    int64_t line; /* where its `def` begins; of functions that ran already when the recording began,
                     where they were then */
};

/* False: it is none. */
bool mt_python_function_parse(const char *name, struct mt_python_function *out);

/* Whether a name is that of a function of the user's own. */
bool mt_python_is_users(const char *name);

/* Appends "models/vit.py:41 forward", as reports name a site. */
void mt_python_site(struct mt_buf *out, const struct mt_python_function *f);

/* The same of a site in a report: file and line of "models/vit.py:41 forward" and of
 * "(backward of) models/vit.py:41 forward in scope". False: it has none. */
bool mt_python_site_parse(const char *site, struct mt_python_function *out);

/* In front of the name of an nn.Module. */
#define MT_MODULE_FRAME "nn.Module: "
/* Bytes of the modules around an op by name, after which those further in have no layer of their
 * own: a path of n modules, each with all names around it, would take n * n. */
#define MT_LAYER_BYTES_MAX 4096

/* In front of the site of a forward op: what its backward does. */
#define MT_BACKWARD_OF "(backward of) "

#endif
