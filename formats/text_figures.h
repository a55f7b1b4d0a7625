/*
 * text_figures.h - the figures of a log of text, each with its owner (text_owners.h), as processes
 * of a recording. Where lines name several owners each is a process of its own; where they name
 * one, or none, all are of one process.
 */
#ifndef MT_TEXT_FIGURES_H
#define MT_TEXT_FIGURES_H

#include "formats/text_owners.h"
#include "lib/model/process.h"

struct mt_text_figures {
    struct mt_process_log log;
    MT_VEC(struct mt_text_figure {
        int64_t t, bytes;
        uint32_t owner;
        uint32_t told; /* the worker that its line tells of (text_owners.h) */
        int metric;    /* enum mt_metric, or mt_rec_metric; MT_METRIC_PEAK_RSS is a peak, too */
    })
    first;                  /* until it is known how many owners there are */
    MT_VEC(size_t) process; /* of owners; SIZE_MAX: none yet */
    MT_VEC(bool) own;       /* of owners: a line of its own says its rss */
    bool decided, apart;
    uint32_t one;        /* the owner, where all are of one process */
    bool told;           /* or perhaps so, as one may tell of them */
    bool mixed;          /* then others came, too late */
    uint32_t told_first; /* the first worker that is told of, and has no lines of its own */
    bool told_others;    /* and there are others */
};

void mt_text_figures_open(struct mt_text_figures *f, struct mt_recording *rec);
void mt_text_figures_free(struct mt_text_figures *f);
/* As they come, in order of time of each owner, who is clear. Errors: those of process.h. */
enum mt_status mt_text_figures_add(struct mt_text_figures *f, const struct mt_text_owners *owners,
                                   const struct mt_text_figure *figure, struct mt_err *err);
/* All are there. */
enum mt_status mt_text_figures_end(struct mt_text_figures *f, const struct mt_text_owners *owners,
                                   struct mt_err *err);

#endif
