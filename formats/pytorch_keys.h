/*
 * pytorch_keys.h - finds the members of an event (pytorch_event.h), and fast: a recorder writes
 * events of one kind all alike, so what stood between two values the last time mostly stands there
 * again, byte by byte. Comparing with it saves taking it apart. Where nothing known fits, the text
 * is read the ordinary way and remembered. The result is the same either way.
 */
#ifndef MT_PYTORCH_KEYS_H
#define MT_PYTORCH_KEYS_H

#include "lib/input/json.h"
#include "lib/input/stream.h"

/* What follows behind a gap. */
enum mt_gap_kind {
    MT_GAP_START,    /* an event's first member */
    MT_GAP_TEXT,     /* a value to be kept: struct mt_slice */
    MT_GAP_INT,      /* int64_t */
    MT_GAP_US,       /* microseconds, kept as nanoseconds: int64_t */
    MT_GAP_ID,       /* struct mt_id */
    MT_GAP_MARK,     /* a value of which only matters that it is there */
    MT_GAP_SKIPPED,  /* a value that is not needed */
    MT_GAP_PH,       /* the value of "ph" */
    MT_GAP_CAT,      /* the value of "cat" */
    MT_GAP_ARGS,     /* the first member of the object "args" */
    MT_GAP_ARGS_END, /* what stands behind "args" */
    MT_GAP_END,      /* what stands behind the event */
};

enum { MT_GAP_BYTES = 64, MT_GAP_NEXT = 4, MT_GAP_N = 128 };
_Static_assert((int)MT_GAP_BYTES <= MT_STREAM_PAD, "gaps are compared beyond the window's end");

/* The text between two values, such as `, "tid": `; zero bytes behind it, one at least. */
struct mt_gap {
    _Alignas(16) char text[MT_GAP_BYTES];
    uint8_t n, last; /* bytes; where the last 16 of them begin that are compared at once */
    uint16_t behind; /* of those a bit for each that is behind the text */
    uint8_t kind;    /* enum mt_gap_kind */
    bool in_args;    /* what follows is inside "args" */
    uint16_t slot;   /* offset in struct mt_event of the value, where it is kept */
    uint32_t bit;    /* enum mt_event_value; 0: the value is not kept */
    uint8_t next[MT_GAP_NEXT]; /* gaps met behind this one, by number; 0 = no more */
};

/* The gaps of a file. Zero-initialise. */
struct mt_keys {
    struct mt_gap gap[MT_GAP_N]; /* [0] is in front of every event's first member */
    unsigned n;                  /* without [0] */
    struct mt_gap other;         /* the last one that was not remembered */
};

/* The slow way: takes the text at p behind the gap *at apart. */
const char *mt_keys_read(struct mt_keys *k, struct mt_json *j, const char *p, struct mt_gap **at);

static inline bool mt_gap_is_at(const struct mt_gap *g, const char *p)
{
#ifdef __SSE2__
    for (unsigned i = 0;; i += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(p + i));
        __m128i b = _mm_load_si128((const __m128i *)(g->text + i));
        unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
        if (i == g->last)
            return (same | g->behind) == 0xffff;
        if (same != 0xffff)
            return false;
    }
#else
    return memcmp(p, g->text, g->n) == 0;
#endif
}

/*
 * p is behind the value that followed the gap *at (of an event's beginning: behind its '{').
 * Returns the position of the next value and sets *at to the gap in front of it, or NULL with
 * j->stop. At the end of an object that is the position behind its '}'.
 */
static inline const char *mt_keys_next(struct mt_keys *k, struct mt_json *j, const char *p,
                                       struct mt_gap **at)
{
    for (int i = 0; i < MT_GAP_NEXT && (*at)->next[i]; i++) {
        struct mt_gap *g = &k->gap[(*at)->next[i]];
        if (mt_gap_is_at(g, p)) {
            *at = g;
            return p + g->n;
        }
    }
    return mt_keys_read(k, j, p, at);
}

#endif
