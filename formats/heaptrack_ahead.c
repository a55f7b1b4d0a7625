#include "formats/heaptrack_ahead.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/input/fields.h"

enum {
    PARCELS = 4,
    EVENTS = 1 << 14,    /* of a parcel, at most */
    PARTS = 1 << 9,      /* the same */
    TEXT_B = 1 << 14,    /* of other lines, before a parcel is full */
    DIGITS = 7,          /* of an event: twice its kind is a number of 32 bits */
    MANY_KINDS = 1 << 13 /* whose numbers are of any length */
};

/* A part as long as it lies in a parcel. */
struct part {
    uint32_t event_n;
    bool has_line;
    uint64_t offset;
    size_t line_at; /* in the text */
    struct mt_line line;
};

struct parcel {
    uint32_t events[EVENTS];
    struct part parts[PARTS];
    size_t event_n, part_n;
    struct mt_buf text; /* of the other lines, each with a zero byte behind it */
    bool last;
    struct mt_err failed; /* behind the last part, where it has no line */
};

struct mt_ht_ahead {
    /* The reader's. */
    uint64_t taken; /* parcels; the last one is in use */
    const struct parcel *at;
    size_t part, event; /* of it, that come next */
    void (*progress)(void *closure);
    bool has_thread; /* else there is no room for one: the reader does its work */
    pthread_t thread;

    /* Both threads', under the lock. Parcel number i stands in parcels[i % PARCELS]. */
    pthread_mutex_t lock;
    pthread_cond_t was_filled, was_taken;
    uint64_t filled;
    bool stop; /* the reader wants no more */

    /* The thread's, but for parcels that are filled. */
    struct mt_lines *lines;
    uint64_t kind_n; /* before the next line */
    struct parcel parcels[PARCELS];
};

/* ---- the thread ---- */

/* "+ 3f" at p, as heaptrack writes it. Returns the next line; NULL: it is anything else, or does
 * not end in the window, behind which are zero bytes. many: numbers are of any length. */
static inline const char *event_line(const char *p, bool many, uint32_t *event)
{
    const unsigned sign = (unsigned char)*p - (unsigned)'+'; /* of "-" 2 */
    unsigned digit, n = 0;
    uint32_t kind = 0;
    if (sign & ~2u || p[1] != ' ')
        return NULL;
    p += 2;
    if (many)
        n = mt_hex_eight(p, &kind);
    else
        for (; n <= DIGITS && (digit = mt_hex_digit(p[n])) < 16; n++)
            kind = kind << 4 | digit;
    /* No branch asks whether it frees, or is of kind 0: that is not to be guessed. */
    *event = kind << 1 | sign >> 1;
    const bool zeros = (*p == '0') & (n > 1);
    return p[n] == '\n' && n - 1 < DIGITS && !zeros ? p + n + 1 : NULL;
}

/* The events that come next, up to any other line or the end of the window. Returns how many. */
static inline size_t event_lines(struct mt_lines *l, uint64_t kind_n, bool many, uint32_t *out,
                                 size_t most)
{
    const char *at = l->at;
    size_t n = 0;
    for (const char *next; n < most && at < l->end; n++, at = next)
        if (!(next = event_line(at, many, &out[n])) || out[n] / 2 >= kind_n)
            break;
    l->at = at;
    return n;
}

static void add_line(struct mt_ht_ahead *a, struct parcel *p, struct part *part)
{
    part->line_at = p->text.n;
    mt_buf_add(&p->text, part->line.s, part->line.n);
    mt_buf_addc(&p->text, '\0');
    a->kind_n += *part->line.s == 'a';
}

static void fill(struct mt_ht_ahead *a, struct parcel *p)
{
    struct mt_lines *const l = a->lines;
    p->event_n = p->part_n = 0;
    mt_buf_clear(&p->text);
    while (!p->last && p->part_n < PARTS && p->event_n < EVENTS && p->text.n < TEXT_B) {
        struct part *part = &p->parts[p->part_n++];
        uint32_t *to = p->events + p->event_n;
        const size_t room = EVENTS - p->event_n;
        *part = (struct part){.offset = mt_lines_offset(l)};
        part->event_n =
            (uint32_t)(a->kind_n < MANY_KINDS ? event_lines(l, a->kind_n, false, to, room)
                                              : event_lines(l, a->kind_n, true, to, room));
        p->event_n += part->event_n;
        if (part->event_n == room)
            return;
        p->last =
            mt_lines_next(l, &part->line, &part->has_line, &p->failed) != MT_OK || !part->has_line;
        part->has_line = !p->last;
        if (part->has_line)
            add_line(a, p, part);
    }
}

static struct parcel *wait_for_room(struct mt_ht_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->filled - a->taken == PARCELS - 1 && !a->stop) /* but for that in use */
        pthread_cond_wait(&a->was_taken, &a->lock);
    struct parcel *p = a->stop ? NULL : &a->parcels[a->filled % PARCELS];
    pthread_mutex_unlock(&a->lock);
    return p;
}

static void *run(void *context)
{
    struct mt_ht_ahead *a = context;
    struct parcel *p;
    bool last = false;
    while (!last && (p = wait_for_room(a))) {
        fill(a, p);
        last = p->last;
        pthread_mutex_lock(&a->lock);
        a->filled++;
        pthread_cond_signal(&a->was_filled);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

/* ---- the reader ---- */

struct mt_ht_ahead *mt_ht_ahead_start(struct mt_lines *lines, size_t kind_n)
{
    struct mt_ht_ahead *a = mt_alloc(sizeof *a);
    a->lines = lines;
    a->kind_n = kind_n;
    a->progress = lines->progress;
    lines->progress = NULL; /* which the thread must not call */
    for (size_t i = 0; i < PARCELS; i++)
        a->parcels[i].failed = (struct mt_err)MT_ERR_INIT;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->was_filled, NULL);
    pthread_cond_init(&a->was_taken, NULL);
    a->has_thread = mt_thread_start(&a->thread, run, a) == 0;
    return a;
}

static void take_parcel(struct mt_ht_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    if (!a->has_thread) {
        fill(a, &a->parcels[a->filled % PARCELS]);
        a->filled++;
    }
    while (a->taken == a->filled)
        pthread_cond_wait(&a->was_filled, &a->lock);
    a->at = &a->parcels[a->taken++ % PARCELS];
    /* Not for each one: waking a thread costs, too. */
    if (a->filled - a->taken <= 1)
        pthread_cond_signal(&a->was_taken);
    pthread_mutex_unlock(&a->lock);
    a->part = a->event = 0;
    if (a->progress)
        a->progress(a->lines->closure);
}

enum mt_status mt_ht_ahead_next(struct mt_ht_ahead *a, struct mt_ht_part *out, bool *any,
                                struct mt_err *err)
{
    while (!a->at || (a->part == a->at->part_n && !a->at->last))
        take_parcel(a);
    *out = (struct mt_ht_part){0};
    *any = a->part < a->at->part_n;
    if (!*any) {
        if (a->at->failed.code != MT_OK)
            *err = a->at->failed;
        return a->at->failed.code;
    }
    const struct part *part = &a->at->parts[a->part++];
    *out = (struct mt_ht_part){.events = a->at->events + a->event,
                               .event_n = part->event_n,
                               .offset = part->offset,
                               .has_line = part->has_line,
                               .line = part->line};
    if (part->has_line)
        out->line.s = a->at->text.s + part->line_at;
    a->event += part->event_n;
    return MT_OK;
}

uint64_t mt_ht_part_offset(const struct mt_ht_part *part, size_t event)
{
    uint64_t offset = part->offset;
    for (size_t i = 0; i < event; i++) {
        offset += 4; /* "+ 0" and the end of the line */
        for (uint32_t kind = part->events[i] / 2; kind >>= 4;)
            offset++;
    }
    return offset;
}

void mt_ht_ahead_stop(struct mt_ht_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->was_taken);
    pthread_mutex_unlock(&a->lock);
    if (a->has_thread)
        pthread_join(a->thread, NULL);
    for (size_t i = 0; i < PARCELS; i++)
        mt_buf_free(&a->parcels[i].text);
    pthread_cond_destroy(&a->was_filled);
    pthread_cond_destroy(&a->was_taken);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
