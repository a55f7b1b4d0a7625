/*
 * stacks.h - the call paths of a run with what they allocated and hold: what `memtool export` and
 * `memtool flame` are made of.
 */
#ifndef MT_CMD_STACKS_H
#define MT_CMD_STACKS_H

#include "cmd/peak.h"
#include "lib/export/load.h"

struct mt_view_stacks {
    struct mt_stacks stacks;
    char moment[64]; /* "at the peak, 7.855 ms" */
    /* private */
    struct mt_peak peak;
    struct mt_stacks_alive at, end;
};

struct mt_view_stacks_asked {
    const char *at; /* a moment; NULL: the peak, where that is known, or the end */
    bool phases;    /* paths of different phases apart */
    bool end;       /* with what is alive at the end, and how long blocks lived */
    enum mt_stacks_by by;
};

/* The stacks of a view (MT_VIEW_DEVICE | MT_VIEW_BLOCKS) that has a device; the report
 * says which it is about, with notes.
 * Not finished yet (mt_stacks_finish). Close them also on failure. Errors: MT_EUSAGE: the run does
 * not know what is asked for; MT_EDB. */
enum mt_status mt_view_stacks_open(struct mt_view *v, const struct mt_view_stacks_asked *asked,
                                   struct mt_report *r, struct mt_view_stacks *out,
                                   struct mt_err *err);
/* Notes how many paths were folded: less than least_b (-1: not given). */
void mt_note_folded(struct mt_report *r, size_t n, int64_t least_b);
void mt_view_stacks_close(struct mt_view_stacks *s);

#endif
