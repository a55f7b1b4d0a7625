/*
 * native_frames.h - functions of C and C++ stacks, as heap tools write them: how they read in call
 * paths, and which of them say nothing of the program. docs/formats/native-frames.md has the rules.
 */
#ifndef MT_NATIVE_FRAMES_H
#define MT_NATIVE_FRAMES_H

#include "lib/base/mem.h"

/* What a function is to the paths on which memory is allocated. */
enum mt_native_kind {
    MT_NATIVE_CODE,      /* any that is none of these */
    MT_NATIVE_ALLOCATOR, /* hands memory out, for whoever calls it: malloc, operator new */
    MT_NATIVE_MAIN,      /* the program begins with it: what is outside says nothing */
    MT_NATIVE_START,     /* begins programs and threads, outside their own first function */
};

/* name: as mt_native_name makes it; object, file: with folders or without, "" unknown. */
enum mt_native_kind mt_native_kind(const char *name, const char *object, const char *file);

/* Appends the name without return type, template arguments, parameters, version and what compilers
 * add, so that it stays the same from build to build. Where the function is unknown ("", "???", an
 * address): "[libfoo.so]" of the object's path, else "[unknown function]". */
void mt_native_name(struct mt_buf *out, const char *name, const char *object);

/* The first part of it: without return type, template arguments and parameters; may append
 * nothing. */
void mt_native_plain_name(struct mt_buf *out, const char *name);

#endif
