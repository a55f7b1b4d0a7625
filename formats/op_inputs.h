/*
 * op_inputs.h - what an op was called with, as PyTorch's profiler writes it: "Input Dims", "Input
 * type" and "Concrete Inputs", an element an input.
 */
#ifndef MT_OP_INPUTS_H
#define MT_OP_INPUTS_H

#include "lib/input/json.h"
#include <stdbool.h>
#include <stdint.h>

/* Types of tensors; MT_DTYPE_NONE: no tensor, or a type that is not known. */
enum mt_dtype {
    MT_DTYPE_NONE,
    MT_DTYPE_BOOL,
    MT_DTYPE_UINT8,
    MT_DTYPE_INT8,
    MT_DTYPE_INT16,
    MT_DTYPE_INT32,
    MT_DTYPE_INT64,
    MT_DTYPE_FLOAT16,
    MT_DTYPE_BFLOAT16,
    MT_DTYPE_FLOAT32,
    MT_DTYPE_FLOAT64,
    MT_DTYPE_COMPLEX64,
    MT_DTYPE_COMPLEX128,
    MT_DTYPE_FLOAT8_E5M2, /* from here on: only asked for by number */
    MT_DTYPE_FLOAT8_E4M3FN,
    MT_DTYPE_UINT16,
    MT_DTYPE_UINT32,
    MT_DTYPE_UINT64,
    MT_DTYPE_N
};

/* Its name in Python, and the bytes of an element. */
const char *mt_dtype_name(enum mt_dtype t);
int mt_dtype_bytes(enum mt_dtype t);
/* The type of that number (c10::ScalarType); MT_DTYPE_NONE: none, or one not known. */
enum mt_dtype mt_dtype_of_number(int64_t number);
/* Kinds, of which a larger one wins where two tensors meet. */
enum mt_dtype_kind { MT_KIND_BOOL, MT_KIND_INT, MT_KIND_FLOAT, MT_KIND_COMPLEX };
enum mt_dtype_kind mt_dtype_kind(enum mt_dtype t);

enum { MT_DIMS_MAX = 12, MT_INPUTS_MAX = 24, MT_LIST_MAX = 512 };

struct mt_dims {
    int n;
    int64_t v[MT_DIMS_MAX]; /* none is negative */
};

struct mt_op_input {
    enum mt_input_kind {
        MT_INPUT_NONE,    /* not given */
        MT_INPUT_TENSOR,  /* dims and type (MT_DTYPE_NONE: one not known) */
        MT_INPUT_TENSORS, /* a list of them: dims_text has their dims */
        MT_INPUT_OTHER    /* numbers and lists of them: concrete */
    } kind;
    enum mt_dtype type;
    struct mt_dims dims;
    struct mt_slice dims_text, concrete;
};

struct mt_op_inputs {
    int n;
    struct mt_op_input v[MT_INPUTS_MAX];
};

/* Takes the three texts apart. False: they are of different lengths, too long, or not as PyTorch
 * writes them. */
bool mt_op_inputs_read(struct mt_slice dims, struct mt_slice types, struct mt_slice concrete,
                       struct mt_op_inputs *out);

/* The next list of numbers of a list of them, "[1, 2], [3]": *at moves behind it. False: none. */
bool mt_dims_next(struct mt_slice *at, struct mt_dims *out);
/* "[8, 64]" as a list of numbers, which may be negative; false: it is none. */
bool mt_input_list(struct mt_slice text, struct mt_dims *out);
/* "-1", "True" as a number; false: it is none. */
bool mt_input_number(struct mt_slice text, int64_t *out);

#endif
