/*
 * mem.h - memory of memtool itself: allocation that cannot fail, growing arrays, string buffers.
 *
 * mt_alloc() and friends never return NULL. When the system refuses, they end the process with
 * exit code 2 and a message: at that point nothing else can be done, and an import is a database
 * transaction, so nothing stored is lost. Limits on what an *input* may make us allocate are
 * checked before (MT_ELIMIT).
 */
#ifndef MT_MEM_H
#define MT_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define MT_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *mt_alloc(size_t bytes);            /* zeroed */
void *mt_realloc(void *p, size_t bytes); /* new part not zeroed */
char *mt_strdup(const char *s);          /* NULL stays NULL */
char *mt_strndup(const char *s, size_t n);
char *mt_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define MT_VEC_FIRST 16 /* elements that it first has room for */

/* A growing array of any type: struct { T *v; size_t n, cap; }. Zero-initialise; free with
 * mt_vec_free. Elements move when it grows: keep indexes, not pointers. */
#define MT_VEC(...)                                                                                \
    struct {                                                                                       \
        __VA_ARGS__ *v;                                                                            \
        size_t n, cap;                                                                             \
    }
#define mt_vec_push(vec)                                                                           \
    ((vec)->n == (vec)->cap                                                                        \
         ? (void)((vec)->v = mt_vec_grow((vec)->v, &(vec)->cap, sizeof *(vec)->v))                 \
         : (void)0,                                                                                \
     (vec)->v + (vec)->n++)
#define mt_vec_free(vec)                                                                           \
    do {                                                                                           \
        free((vec)->v);                                                                            \
        (vec)->v = NULL;                                                                           \
        (vec)->n = (vec)->cap = 0;                                                                 \
    } while (0)
/* Gives it room for so many elements and no more; not less than it has. */
#define mt_vec_room(vec, most)                                                                     \
    ((vec)->cap = (most),                                                                          \
     (vec)->v = mt_realloc((vec)->v, ((vec)->cap + !(vec)->cap) * sizeof *(vec)->v))
/* What it takes, about. */
#define mt_vec_bytes(vec) ((uint64_t)(vec)->cap * sizeof *(vec)->v)
/* Internal to mt_vec_push: returns the array grown to at least one more element. */
void *mt_vec_grow(void *v, size_t *cap, size_t elem_bytes);

/* A growing NUL-terminated string. Zero-initialise; s is NULL until the first append. */
struct mt_buf {
    char *s;
    size_t n, cap;
};
void mt_buf_add(struct mt_buf *b, const char *s, size_t n);
void mt_buf_adds(struct mt_buf *b, const char *s);
void mt_buf_addc(struct mt_buf *b, char c);
void mt_buf_addf(struct mt_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mt_buf_clear(struct mt_buf *b);                        /* keeps the memory */
void mt_buf_set(struct mt_buf *b, const char *s, size_t n); /* in place of what it holds */
void mt_buf_free(struct mt_buf *b);

#endif
