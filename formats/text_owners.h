/*
 * text_owners.h - whose figures stand in a line of a log of text, as far as it says so:
 * "[rank1]: RSS 220 MB", "pid=4711 RSS 220 MB", "worker 0 rss 100 MB worker 1 rss 730 MB".
 */
#ifndef MT_TEXT_OWNERS_H
#define MT_TEXT_OWNERS_H

#include "formats/text_kernel.h"
#include "formats/text_tags.h"
#include "lib/base/mem.h"
#include "lib/base/strtab.h"
#include "lib/input/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MT_TEXT_OWNERS = 1000,  /* that are told apart; further ones are unclear */
    MT_TEXT_MENTIONS = 256, /* of a line; of more none is clear */
    MT_TEXT_NOBODY = 0      /* owner of figures that no line says the owner of */
};
#define MT_TEXT_UNCLEAR UINT32_MAX /* one of several owners, and nobody knows which */

struct mt_text_owners {
    bool one, several;                       /* it is known how many processes wrote the log */
    enum mt_text_tag_verdict tags[MT_TAG_N]; /* what numbers in front of lines are */
    struct mt_text_tags front;               /* what is known of these */
    bool unlearnt[MT_TAG_N];                 /* a figure is there */
    bool watched;                            /* these may be others behind the log's begin, */
    uint64_t learnt_n;                       /* so many bytes */
    uint32_t told; /* the line under way tells of a worker, "worker 3 done": its figures may be the
                      worker's, or those of who tells that; which, of these names; 0: it does not */
    struct mt_text_kernel kernel; /* whose the kernel's lines are that come */
    bool pids;                    /* other lines have PIDs, too */
    struct mt_strtab told_names;  /* the first is "" */
    struct mt_strtab names;       /* of owners, "rank1", by their number; the first is "" */
    MT_VEC(struct mt_text_mention {
        char word[64]; /* small letters; or a name */
        uint64_t number;
        bool named;         /* a name has no number */
        size_t at;          /* in the line, with what belongs to it */
        size_t first, next; /* where its word stands first, and next; SIZE_MAX: no more */
        bool several;       /* its word stands there with other numbers, too */
        bool begun;         /* "spawned worker pid 7": what is in front of it is of another */
    })
    mentions; /* of the line under way */
};

void mt_text_owners_init(struct mt_text_owners *o);
void mt_text_owners_free(struct mt_text_owners *o);
/* Judges whether what stands in front of the lines of a log says whose they are, by as much of its
 * begin as there is; nothing is consumed. said: what they say of memory --pattern tells. one,
 * several: it is known that one process wrote it, or that several did. */
struct mt_text_owners_known {
    bool said, one, several;
};
void mt_text_owners_learn(struct mt_text_owners *o, struct mt_stream *in,
                          struct mt_text_owners_known known);
/* Each whole line as it comes, which is at that byte of the log: behind its begin numbers may tell
 * apart what they did not there. */
void mt_text_owners_watch(struct mt_text_owners *o, const char *line, size_t n, uint64_t at);
/* All lines were there. Why whose they are is not known though numbers stand in front of them;
 * NULL: there is no doubt. */
const char *mt_text_owners_doubt(const struct mt_text_owners *o);
/* At that byte of a line is something else: what stands in front of lines there is no owner. */
void mt_text_owners_unlearn(struct mt_text_owners *o, const char *line, size_t n, size_t at);
/* Looks for those that a line of n bytes mentions, and puts blanks in their place. */
void mt_text_owners_take(struct mt_text_owners *o, char *line, size_t n);
/* The owner of a figure that stands at that byte of the line. */
uint32_t mt_text_owners_at(struct mt_text_owners *o, size_t at);
/* The owner that a worker is who is told of, by told, if any line was its own; else
 * MT_TEXT_NOBODY. */
uint32_t mt_text_owners_told(const struct mt_text_owners *o, uint32_t told);
/* That of all figures of the line; MT_TEXT_NOBODY where it mentions several. */
uint32_t mt_text_owners_line(struct mt_text_owners *o);
/* Whether an owner may be none, but what one process tells of: a client or a node. */
bool mt_text_owners_told_of(const struct mt_text_owners *o, uint32_t owner);
/* Whether the line mentions a process as that of a device: "[gpu0]". */
bool mt_text_owners_by_device(const struct mt_text_owners *o);

/* Whether it is that of the only process whose lines of the kernel's came: they may be of whose the
 * other lines are, though these say "[rank0]". */
bool mt_text_owners_is_kernel(const struct mt_text_owners *o, uint32_t owner);

#endif
