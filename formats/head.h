/*
 * head.h - what probes ask of the first bytes of a file.
 */
#ifndef MT_FORMAT_HEAD_H
#define MT_FORMAT_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether the text is among the n bytes. */
static inline bool mt_head_has(const char *head, size_t n, const char *text)
{
    return memmem(head, n, text, strlen(text)) != NULL;
}

/* Where a JSON document begins in the n bytes: behind blanks. n: nowhere. */
static inline size_t mt_head_json(const char *head, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char)(head[i] - 1) < ' ')
        i++;
    return i;
}

/* Whether a JSON object begins there. */
static inline bool mt_head_is_object(const char *head, size_t n)
{
    size_t i = mt_head_json(head, n);
    return i < n && head[i] == '{';
}

#endif
