#include "formats/memray_lines.h"

#include <stdbool.h>

enum { NO_LINE = -128 }; /* 3.10: these instructions belong to no line */

/* Pairs of bytes: so many bytes of instructions further, so many lines. */
static int64_t line_39(const uint8_t *t, size_t n, int64_t line, int64_t byte)
{
    for (size_t i = 0, at = 0; i + 1 < n; i += 2) {
        at += t[i];
        if ((int64_t)at > byte)
            break;
        line += (int8_t)t[i + 1];
    }
    return line;
}

/* The same, but the lines are those of the bytes they stand with. */
static int64_t line_310(const uint8_t *t, size_t n, int64_t line, int64_t byte)
{
    for (size_t i = 0, at = 0; i + 1 < n; i += 2) {
        at += t[i];
        line += (int8_t)t[i + 1] == NO_LINE ? 0 : (int8_t)t[i + 1];
        if ((int64_t)at > byte)
            break;
    }
    return line;
}

struct table {
    const uint8_t *p, *end;
};

static uint32_t varint(struct table *t)
{
    uint32_t v = 0;
    for (unsigned shift = 0; t->p < t->end; shift += 6) {
        uint8_t b = *t->p++;
        v |= shift < 32 ? (uint32_t)(b & 63) << shift : 0;
        if (!(b & 64))
            break;
    }
    return v;
}

static int64_t signed_varint(struct table *t)
{
    uint32_t v = varint(t);
    return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

static void skip(struct table *t, ptrdiff_t n)
{
    t->p = t->end - t->p < n ? t->end : t->p + n;
}

/* By how many lines an entry of this kind goes on. */
static int64_t entry(struct table *t, unsigned kind)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    int64_t lines;
    switch (kind) {
    case NONE:
        return 0;
    case LONG:
        lines = signed_varint(t);
        for (int i = 0; i < 3; i++) /* end line, columns */
            varint(t);
        return lines;
    case NO_COLUMNS:
        return signed_varint(t);
    case ONE_LINE:
    case ONE_LINE + 1:
    case ONE_LINE + 2:
        skip(t, 2);
        return (int64_t)kind - ONE_LINE;
    default:
        skip(t, 1);
        return 0;
    }
}

/* Entries of 1 to 8 instructions. */
static int64_t line_311(struct table t, int64_t line, int64_t instruction)
{
    for (int64_t at = 0; t.p < t.end && *t.p;) {
        uint8_t head = *t.p++;
        line += entry(&t, head >> 3 & 15);
        at += (head & 7) + 1;
        if (at > instruction)
            return line;
    }
    return 0;
}

int64_t mt_memray_line(uint32_t python, const char *table, size_t n, int64_t first_line,
                       int64_t instruction)
{
    const uint8_t *t = (const uint8_t *)table;
    int64_t line;
    if (!n || instruction < 0)
        return 0;
    if (python >= 0x030b0000)
        line = line_311((struct table){t, t + n}, first_line, instruction / 2);
    else if (python >= 0x030a0000)
        line = line_310(t, n, first_line, instruction * 2);
    else
        line = line_39(t, n, first_line, instruction);
    return line > 0 && line <= INT32_MAX ? line : 0;
}
