/*
 * compat_torch.h - PyTorch's own profiler table, recomputed from a trace: key_averages() and
 * table().
 *
 * The rule differs between PyTorch versions; docs/compat-torch.md states each. Input are plain
 * arrays, so this file knows nothing of files or databases.
 */
#ifndef MT_COMPAT_TORCH_H
#define MT_COMPAT_TORCH_H

#include "lib/base/mem.h"
#include "lib/base/strtab.h"
#include <stdbool.h>
#include <stdint.h>

/* How some PyTorch versions compute their table. */
struct mt_torch_rule {
    const char *version;      /* as shown: "2.8-2.10" */
    const char *first, *last; /* versions it covers, "2.8" .. "2.10" */
    bool edges_in_double;     /* op edges go through double microseconds (2.4 to 2.10) */
    bool python_rows;         /* Python frames have rows (2.12, 2.13) */
    bool python_tree;         /* Python frames are parents and cover records (2.12 on) */
    bool whole_us; /* the file holds whole microseconds: figures can be in doubt (to 2.3) */
    bool split_annotations; /* an annotation and an op of one name are two rows (2.5 on) */
    bool xpu_is_device;     /* XPU bytes count as device memory (2.8 on) */
    bool old_units;         /* "Kb/Mb/b" instead of "KB/MB/B" in the text (to 2.7) */
};

/* What the trace file gives away about the version that wrote it. */
struct mt_torch_marks {
    bool whole_us;           /* every ts in the file is a whole microsecond (to 2.3) */
    bool old_categories;     /* ops have the category "Operator" (to 1.9) */
    bool has_base_time;      /* baseTimeNanoseconds is there (2.4 on) */
    bool base_before_events; /* ... before traceEvents (2.8 on) */
    bool finished_in_memory; /* [memory] rows have "finished" (2.8 on) */
    bool trace_id_first;     /* "trace_id" stands before "profile_memory" (2.11 on) */
    bool has_host_name;      /* "host_name" is there (2.12 on) */
    bool metadata_first;     /* the first events are metadata (ph M; 2.12 on) */
    bool has_python;         /* there are python_function events ... */
    bool python_call_from;   /* ... and they have "CallFrom" (2.14 on) */
};

/* The rule a user names: "2.6", "2.6.0", "2.6.0+cu124", "2.5-2.7". NULL: no rule covers it. */
const struct mt_torch_rule *mt_torch_rule_by_version(const char *version);
/* The rule the marks point to; where several fit, the newest of them. Never NULL. */
const struct mt_torch_rule *mt_torch_rule_guess(const struct mt_torch_marks *marks);

struct mt_torch_table;
/* All versions the marks leave open that give the same figures as that rule in this table, which
 * was computed by it: "2.12-2.15" where there are no Python frames to tell 2.13 from 2.14. */
const char *mt_torch_guess_versions(const struct mt_torch_marks *marks,
                                    const struct mt_torch_table *table);

enum mt_torch_op_kind { MT_TORCH_OP, MT_TORCH_ANNOTATION, MT_TORCH_RUNTIME, MT_TORCH_PYTHON };

struct mt_torch_op {
    int64_t start_ns, end_ns; /* absolute (Unix epoch) where the file knows it */
    uint32_t name;            /* index into names: the name as recorded */
    uint32_t shape;           /* index into shapes, UINT32_MAX: no shapes recorded */
    uint32_t thread;          /* any number, equal for ops of one thread */
    uint8_t kind;             /* enum mt_torch_op_kind */
};

struct mt_torch_record {
    int64_t t_ns, bytes;
    int64_t place;   /* among records of equal time */
    uint32_t thread; /* as in mt_torch_op */
    bool is_cpu;     /* CPU, MKLDNN, IDEEP */
    bool is_device;  /* CUDA, HIP, PrivateUse1 */
    bool is_xpu;     /* XPU: device memory under some rules */
    bool is_oom;     /* [OutOfMemory]: a row of its own, no bytes */
};

struct mt_torch_input {
    const struct mt_torch_op *ops; /* ordered within each thread: start, then file order */
    size_t op_n;
    const struct mt_torch_record *records; /* ordered by time, then file order */
    size_t record_n;
    const char *const *names;
    const char *const *shapes; /* "[[32, 3], []]" as in the file */
    /* When the profiler started, on the clock of the ops: ts of the event "PyTorch Profiler (0)"
     * (cat Trace). PyTorch's double arithmetic starts there; 0 = unknown, which can cost the last
     * digit of a time in the text. */
    int64_t trace_start_ns;
};

struct mt_torch_row {
    const char *name;         /* borrowed from the table */
    const char *input_shapes; /* PyTorch's spelling of the group key, "[[32, 3], []]", "[]" where
                                 none were recorded; NULL when not grouped by shapes */
    bool is_user_annotation;  /* false throughout where the rule does not split annotations */
    int64_t count;
    int64_t cpu_time_total_ns, self_cpu_time_total_ns;
    double cpu_time_total_us, self_cpu_time_total_us; /* as PyTorch's double arithmetic has it */
    int64_t cpu_memory_usage, self_cpu_memory_usage;  /* bytes, net */
    int64_t device_memory_usage, self_device_memory_usage; /* bytes, net */
    /* Whole-microsecond files only: how far each figure may be off, 0 = certain. The true value of
     * figure f lies in [f - below, f + above]. */
    int64_t count_below, count_above;
    int64_t cpu_below, cpu_above, self_cpu_below, self_cpu_above;
    int64_t device_below, device_above, self_device_below, self_device_above;
};

struct mt_torch_table {
    MT_VEC(struct mt_torch_row) rows; /* in key_averages() order */
    int64_t doubtful_n;               /* rows whose count or memory figures may be off */
    struct mt_strtab strings;         /* what the rows point to */
};

/* Recomputes key_averages(group_by_input_shape = by_shape) into *out, which need not be
 * initialised; free it with mt_torch_table_free. */
void mt_torch_key_averages(const struct mt_torch_input *in, const struct mt_torch_rule *rule,
                           bool by_shape, struct mt_torch_table *out);
void mt_torch_table_free(struct mt_torch_table *t);

/* The row attribute a sort key names in PyTorch: its own name ("self_cpu_memory_usage") or an alias
 * ("self_cpu_memory", "cuda_memory_usage", "cpu_time_total_us"). NULL when unknown. */
const char *mt_torch_sort_key(const char *key);
/* All canonical keys, NULL-terminated. */
extern const char *const mt_torch_sort_keys[];
/* Stable descending sort by a canonical key; no effect if it is none. */
void mt_torch_sort(struct mt_torch_table *t, const char *key);

struct mt_torch_text {
    int64_t row_limit;   /* as table(row_limit=...), negative = all */
    bool profile_memory; /* memory columns are shown */
    bool by_shape;       /* the Input Shapes column is shown, if any row has shapes */
    const char
        *device; /* "CUDA", ...: the device columns, if any row's self is positive; NULL: none */
};
/* Appends byte for byte what PyTorch's table() returns for these rows in this order; characters
 * that act on a terminal are escaped (mt_escape_terminal). */
void mt_torch_print(const struct mt_torch_table *t, const struct mt_torch_rule *rule,
                    const struct mt_torch_text *how, struct mt_buf *out);

#endif
