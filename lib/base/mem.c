#include "lib/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void out_of_memory(void)
{
    static const char text[] = "memtool: out of memory; nothing was stored by this command.\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(2);
}

void *mt_alloc(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *mt_realloc(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *mt_strdup(const char *s)
{
    return s ? mt_strndup(s, strlen(s)) : NULL;
}

char *mt_strndup(const char *s, size_t n)
{
    char *copy = mt_alloc(n + 1);
    memcpy(copy, s, n);
    return copy;
}

char *mt_asprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = mt_alloc((size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

void *mt_vec_grow(void *v, size_t *cap, size_t elem_bytes)
{
    size_t grown = *cap ? *cap * 2 : MT_VEC_FIRST;
    if (grown > SIZE_MAX / elem_bytes)
        out_of_memory();
    *cap = grown;
    return mt_realloc(v, grown * elem_bytes);
}

static void buf_reserve(struct mt_buf *b, size_t more)
{
    if (b->n + more + 1 <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < b->n + more + 1)
        cap *= 2;
    b->s = mt_realloc(b->s, cap);
    b->cap = cap;
}

void mt_buf_add(struct mt_buf *b, const char *s, size_t n)
{
    buf_reserve(b, n);
    if (n)
        memcpy(b->s + b->n, s, n);
    b->n += n;
    b->s[b->n] = '\0';
}

void mt_buf_adds(struct mt_buf *b, const char *s)
{
    mt_buf_add(b, s, strlen(s));
}

void mt_buf_addc(struct mt_buf *b, char c)
{
    mt_buf_add(b, &c, 1);
}

void mt_buf_addf(struct mt_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    buf_reserve(b, (size_t)n);
    va_start(ap, fmt);
    vsnprintf(b->s + b->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->n += (size_t)n;
}

void mt_buf_clear(struct mt_buf *b)
{
    b->n = 0;
    if (b->s)
        b->s[0] = '\0';
}

void mt_buf_set(struct mt_buf *b, const char *s, size_t n)
{
    b->n = 0;
    mt_buf_add(b, s, n);
}

void mt_buf_free(struct mt_buf *b)
{
    free(b->s);
    *b = (struct mt_buf){0};
}
