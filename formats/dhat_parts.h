/*
 * dhat_parts.h - what dhat.c, which reads the document, and dhat_paths.c, which makes call paths of
 * what it says, share.
 */
#ifndef MT_DHAT_PARTS_H
#define MT_DHAT_PARTS_H

#include "formats/format.h"
#include "formats/native_paths.h"
#include "lib/input/json_walk.h"
#include "lib/model/heap.h"

enum { MT_DHAT_STACK = MT_STACK_MAX + 1 }; /* frames of a path; more say no more */

/* Figures of a path, as the file names them. */
enum mt_dhat_figure {
    MT_DHAT_TB,
    MT_DHAT_TBK,
    MT_DHAT_TL,
    MT_DHAT_GB,
    MT_DHAT_GBK,
    MT_DHAT_EB,
    MT_DHAT_EBK,
    MT_DHAT_RB,
    MT_DHAT_WB,
    MT_DHAT_FIGURE_N
};

/* What the file counts (--mode). */
enum mt_dhat_mode { MT_DHAT_HEAP, MT_DHAT_COPY, MT_DHAT_AD_HOC };

struct mt_dhat_path {
    int64_t v[MT_DHAT_FIGURE_N]; /* MT_UNKNOWN: not there */
    size_t first, n;             /* of `stacks`, innermost first */
    uint64_t offset;
};

struct mt_dhat {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_json_walk w;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    MT_VEC(struct mt_dhat_path) sums;
    MT_VEC(uint32_t) stacks; /* numbers of frames */
    MT_VEC(struct mt_native_step) frames;
    MT_VEC(uint64_t) addresses; /* of frames */
    struct mt_buf text, unit;   /* scratch; the time's unit */
    int64_t version, end, peak; /* MT_UNKNOWN: not there */
    int64_t short_lived;        /* "tuth": up to which mean a lifetime is short; MT_UNKNOWN */
    int64_t tick;               /* what one of the file's times is in the recording's */
    enum mt_dhat_mode mode;
    bool lifetimes; /* "bklt": the moments of the peak and the end are known */
    bool has_sums, has_frames;
    size_t left_out_n; /* of `sums` */
    uint64_t beside;   /* counted in rec->beside_bytes */
};

/* The memory limit holds for what is kept beside the recording, too. */
enum mt_status mt_dhat_check_memory(struct mt_dhat *r, struct mt_err *err);

/* Call paths with their figures, of a document that was read. Errors: MT_EINPUT, also where none of
 * the figures can be true; MT_ELIMIT. */
enum mt_status mt_dhat_give(struct mt_dhat *r, struct mt_err *err);

#endif
