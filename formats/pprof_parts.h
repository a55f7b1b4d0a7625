/*
 * pprof_parts.h - the insides of the reader of pprof's profiles, shared by pprof.c (what the file
 * has) and pprof_figures.c (what samples are of call paths).
 */
#ifndef MT_PPROF_PARTS_H
#define MT_PPROF_PARTS_H

#include "formats/format.h"
#include "formats/native_paths.h"
#include "formats/sampled.h"
#include "lib/base/map.h"
#include "lib/input/protobuf.h"
#include "lib/model/heap.h"

enum {
    MT_PPROF_TYPES = 64,  /* values of a sample */
    MT_PPROF_LABELS = 64, /* of a sample that are kept */
    MT_PPROF_LINES = 256, /* of a location: functions inlined in each other */
    MT_PPROF_PER_CHECK = 4096,
};

/* What values of samples can be to us. */
enum mt_pprof_figure {
    MT_PPROF_ALLOC_N,
    MT_PPROF_ALLOC_B,
    MT_PPROF_END_N,
    MT_PPROF_END_B,
    MT_PPROF_FIGURE_N
};

struct mt_pprof_type {
    uint64_t type, unit; /* strings */
};

struct mt_pprof {
    struct mt_proto_stream proto;
    uint64_t at; /* where the field under way begins */
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    uint64_t beside; /* counted in rec->beside_bytes */

    struct mt_strtab texts;
    MT_VEC(uint32_t) strings; /* of the string table -> texts */
    MT_VEC(struct mt_pprof_type) types;
    bool types_end;                /* something else came behind them */
    bool types_again, names_again; /* behind that; a further empty name */
    uint64_t again_at;             /* where the first of both was */
    struct mt_pprof_type period_type;
    uint64_t comment; /* the last one that stands alone: a string */
    bool at_peak;     /* what is in use was so at the peak, as memtool exports it */
    int64_t period;
    struct mt_map mapping_of, location_of, function_of; /* id -> index */
    MT_VEC(struct mt_pprof_mapping { uint64_t start, limit, offset, file, build_id; }) mappings;
    MT_VEC(struct mt_pprof_function { uint64_t name, file; }) functions;
    MT_VEC(struct mt_pprof_line {
        uint64_t function;
        int64_t line;
    })
    lines;
    MT_VEC(struct mt_pprof_location {
        uint64_t mapping, address;
        size_t first, n; /* of lines, innermost first */
        size_t step;     /* of steps, and 1 more; 0 = not made yet */
        bool there;      /* not only referred to */
    })
    locations;
    MT_VEC(uint32_t) stacks; /* indices of locations, innermost first */
    MT_VEC(int64_t) values;
    MT_VEC(struct mt_pprof_label { uint64_t key, text; }) labels; /* strings; where they are kept */
    struct mt_buf text;                                           /* scratch */
    MT_VEC(struct mt_pprof_sample {
        size_t first, n, first_value, first_label, label_n;
        uint32_t value_n;
    })
    samples;

    mt_native_steps steps;               /* of locations: one of each line, or one */
    MT_VEC(struct mt_native_step) stack; /* scratch */
    int column[MT_PPROF_FIGURE_N];       /* index of the value, -1 = none */
    int64_t unit[MT_PPROF_FIGURE_N];
    struct mt_sampled sampled;
    uint64_t missing_n; /* things referred to that are not in the file */
};

/* The limit holds for what is kept beside the recording, too. */
enum mt_status mt_pprof_check_memory(struct mt_pprof *r, struct mt_err *err);
/* Something is not there: the file is not whole. err: why, or none yet. MT_OK with --partial. */
enum mt_status mt_pprof_cut(struct mt_pprof *r, struct mt_err *err);
/* All has been read: gives what the samples say to the recording. */
enum mt_status mt_pprof_give(struct mt_pprof *r, struct mt_err *err);

#endif
