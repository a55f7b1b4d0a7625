/*
 * pickles.h - writes the pickles that tests of snapshots read: texts, integers, members of dicts.
 */
#ifndef MT_TEST_PICKLES_H
#define MT_TEST_PICKLES_H

#include "lib/base/mem.h"
#include <string.h>

static inline void put_text(struct mt_buf *out, const char *s)
{
    char head[5] = {'X', (char)strlen(s)};
    mt_buf_add(out, head, sizeof head);
    mt_buf_adds(out, s);
}

static inline void put_int(struct mt_buf *out, int64_t v)
{
    mt_buf_add(out, "\x8a\x08", 2);
    mt_buf_add(out, (const char *)&v, sizeof v);
}

static inline void put_member(struct mt_buf *out, const char *key, int64_t v)
{
    put_text(out, key);
    put_int(out, v);
}

static inline void put_text_member(struct mt_buf *out, const char *key, const char *v)
{
    put_text(out, key);
    put_text(out, v);
}

#endif
