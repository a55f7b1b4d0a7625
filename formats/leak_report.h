/*
 * leak_report.h - what leak checkers report (LeakSanitizer, memcheck): stacks, and what they
 * allocated that is alive at the end, by kind of leak. Each kind is a root of call paths, so that
 * `table` and `tree` show what it holds in all: "[definitely lost]".
 *
 * A report is small, and is kept whole until it is closed.
 */
#ifndef MT_LEAK_REPORT_H
#define MT_LEAK_REPORT_H

#include "formats/format.h"
#include "formats/native_paths.h"
#include "lib/base/map.h"
#include "lib/input/fields.h"
#include "lib/model/heap.h"

#define MT_LEAK_SIZE_MAX (INT64_C(1) << 60) /* of one record; more cannot be true */

enum mt_leak_kind {
    MT_LEAK_DIRECT, /* of LeakSanitizer: nothing points to it */
    MT_LEAK_INDIRECT,
    MT_LEAK_DEFINITE, /* of memcheck: nothing points to it */
    MT_LEAK_INDIRECTLY_LOST,
    MT_LEAK_POSSIBLE,
    MT_LEAK_REACHABLE,
    MT_LEAK_SUPPRESSED,
    MT_LEAK_KIND_N
};

struct mt_leak_record {
    enum mt_leak_kind kind;
    int64_t bytes, blocks; /* blocks MT_UNKNOWN: the report does not say */
    uint64_t process;
    size_t first, n; /* of `steps`, innermost first */
    uint32_t next;   /* of the same report; MT_NONE: the last */
    bool dropped;    /* its process has reported anew */
    const char
        *why; /* the report lists no stacks for it: static text; NULL: it is a record of it */
};

/* The records of one process, by the first of each report; MT_NONE: none. */
struct mt_leak_process {
    uint32_t last;    /* report */
    uint32_t earlier; /* one, which that may repeat */
};

struct mt_leak_report {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    MT_VEC(struct mt_leak_record) records;
    MT_VEC(struct mt_native_step) steps;
    MT_VEC(uint64_t) calls; /* addresses of these; 0 = unknown */
    MT_VEC(struct mt_leak_process) processes;
    struct mt_map process_at;
    uint64_t beside;  /* counted in rec->beside_bytes */
    uint64_t added_n; /* records ever added */
    uint64_t again_n; /* reports that a later one stands for */
    uint64_t apart_n; /* reports under the number of a process that another one had, too */
    size_t dropped_n; /* records that are still there, though dropped */
};

/* ---- sizes as valgrind writes them: 0..MT_LEAK_SIZE_MAX ---- */

/* "1,200", or "1,200 (+24)" where it is compared with an earlier report. */
bool mt_leak_take_size(struct mt_fields *f, int64_t *v);
/* A size of bytes, or "12 (4 direct, 8 indirect)". */
bool mt_leak_take_bytes(struct mt_fields *f, int64_t *direct, int64_t *indirect);

/* ---- the report ---- */

void mt_leak_report_init(struct mt_leak_report *r, const struct mt_read_opts *opts,
                         struct mt_recording *rec);
void mt_leak_report_free(struct mt_leak_report *r);

/* What follows are the frames of this. bytes and blocks: 0..MT_LEAK_SIZE_MAX. Errors:
 * MT_ELIMIT. */
enum mt_status mt_leak_report_add(struct mt_leak_report *r, enum mt_leak_kind kind, int64_t bytes,
                                  int64_t blocks, uint64_t process, struct mt_err *err);
/* The next frame of the last record, innermost first. Very deep ones are left out. */
void mt_leak_report_frame(struct mt_leak_report *r, const struct mt_native_frame *f,
                          uint64_t address);
/* A process reports anew: what it reported before no longer holds. */
void mt_leak_report_forget(struct mt_leak_report *r, uint64_t process);
/* The same where the number may be that of another process (each container's first one is 1): what
 * was reported before stays if none of its stacks, by their addresses, comes again. */
void mt_leak_report_again(struct mt_leak_report *r, uint64_t process);
/*
 * The report's own total of a process, of one kind or (MT_LEAK_KIND_N) of all. What its records
 * lack of that, if blocks is MT_UNKNOWN in bytes alone, has no call path (MT_NOTE_UNLISTED; why:
 * static text); where they have more, that holds (MT_NOTE_MOMENT_SUM). Errors: MT_ELIMIT.
 */
enum mt_status mt_leak_report_total(struct mt_leak_report *r, enum mt_leak_kind kind, int64_t bytes,
                                    int64_t blocks, uint64_t process, const char *why,
                                    struct mt_err *err);

/* Makes of it what is alive at the end of one device. Errors: as mt_heap_sums. */
enum mt_status mt_leak_report_close(struct mt_leak_report *r, struct mt_err *err);

#endif
