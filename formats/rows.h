/*
 * rows.h - what programs write themselves of their memory: rows with named columns. Readers of
 * texts (rows_csv.c, rows_jsonl.c) take rows apart; this knows what columns mean, and gives them to
 * the heap. docs/formats/events.md says which there are.
 */
#ifndef MT_ROWS_H
#define MT_ROWS_H

#include "formats/format.h"
#include "formats/stack_text.h"
#include "lib/model/heap.h"

enum mt_rows_column {
    MT_COL_TIME,
    MT_COL_OP,
    MT_COL_ADDRESS,
    MT_COL_OLD_ADDRESS,
    MT_COL_SIZE,
    MT_COL_STACK,
    MT_COL_BYTES, /* of what, import --values tells */
    MT_COL_BLOCKS,
    MT_COL_ALLOC_B,
    MT_COL_ALLOC_N,
    MT_COL_AT_PEAK_B,
    MT_COL_AT_PEAK_N,
    MT_COL_AT_END_B,
    MT_COL_AT_END_N,
    MT_COL_TEMPORARY_B,
    MT_COL_TEMPORARY_N,
    MT_COL_RSS,
    MT_COL_N
};

/* What a column of that name is (case does not matter). digits: of MT_COL_TIME, decimals that make
 * its unit nanoseconds. MT_COL_N: none that is known. */
enum mt_rows_column mt_rows_column(const char *name, size_t n, int *digits);

/* Columns (bits) that a row with this op goes without: of a free, the size. Rows that name their
 * own columns may begin with one. */
unsigned mt_rows_spared(const char *op, size_t n);

/* Whether rows with these columns (bits) are of a kind that is known. */
bool mt_rows_are_known(unsigned columns);

struct mt_row {
    struct mt_row_value {
        const char *s; /* NULL: it has none */
        size_t n;
    } v[MT_COL_N];
    int time_digits;
    bool has_node; /* the stack is this node already */
    uint32_t node;
};

/* ---- values of a row (rows_values.c); false: it is none of the kind ---- */

/* Whether it has a value there; an empty one is none. */
bool mt_row_has(const struct mt_row *row, enum mt_rows_column c);
/* A whole number, 0 or more; ".0" may follow, as where columns of numbers became fractions. */
bool mt_row_count(const struct mt_row *row, enum mt_rows_column c, int64_t *v);
/* The same, and MT_UNKNOWN where it is missing. */
bool mt_row_figure(const struct mt_row *row, enum mt_rows_column c, int64_t *v);
/* A decimal number, or a hexadecimal one that begins with 0x. */
bool mt_row_address(const struct mt_row *row, enum mt_rows_column c, uint64_t *v);
/* The time in nanoseconds: 1.5, or 1.5e-05. */
bool mt_row_time(const struct mt_row *row, int64_t *t);

/* ---- all rows ---- */

struct mt_rows {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_stack_text stacks;
    struct mt_heap *heap;
    enum mt_rows_kind { MT_ROWS_EVENTS, MT_ROWS_SUMS, MT_ROWS_SERIES } kind;
    unsigned columns;                          /* bits of those that count */
    unsigned named;                            /* and of all that are known, be they left out */
    enum mt_rows_column bytes_are, blocks_are; /* of sums; MT_COL_N: left out */
    bool lacks_temporary[2];                   /* of sums, some row: bytes, blocks */
    MT_VEC(struct mt_rows_label {
        uint32_t key, value; /* strings of the recording */
    })
    labels;                   /* of the row to come */
    uint32_t thread;          /* of the row to come, MT_NONE: none */
    struct mt_strtab others;  /* names of columns that are not known */
    struct mt_strtab writers; /* processes, as columns name them */
    struct mt_buf writer;     /* of the row to come: all such columns together */
    struct mt_map owners;     /* of events: whose a live block is, of all but the first of them */
    bool freed_others;        /* some freed a block that another allocated */
    struct mt_buf left_out;   /* the same as a list for people */
    const char *wrong;        /* the last row does not fit: why, static text; else NULL */
    uint64_t row_n, beside;   /* beside: counted in rec->beside_bytes */

    int64_t first_time;
    bool timed; /* first_time is known */

    MT_VEC(struct mt_rows_held {
        int64_t t;
        uint32_t node;
        int64_t bytes, blocks, rss;
    })
    held; /* of a series: all rows, as these may be in any order */
};

void mt_rows_init(struct mt_rows *r, const struct mt_read_opts *opts, struct mt_recording *rec);
void mt_rows_free(struct mt_rows *r);

/* A column that is not known, or comes twice: it is left out with a note. */
void mt_rows_leave_out(struct mt_rows *r, const char *name, size_t n);

/* Whether a column that is not known is the thread, or a label, of rows that are to be kept apart
 * by it (import --split); then its value for the row to come. */
bool mt_rows_keeps(const struct mt_rows *r, const char *name, size_t n);
void mt_rows_tell(struct mt_rows *r, const char *name, size_t name_n, const char *value,
                  size_t value_n);
/* A name without the blanks around it. */
void mt_rows_trim(const char **name, size_t *n);

/* Whether a column that is not known says whose row it is: its pid, process or rank; then who. */
bool mt_rows_is_process(const char *name, size_t n);
void mt_rows_process(struct mt_rows *r, const char *value, size_t n);
/* Who wrote the row to come; MT_NONE: unknown. Then what an event of it frees and allocates; 0:
 * nothing. */
uint32_t mt_rows_writer(struct mt_rows *r);
void mt_rows_own(struct mt_rows *r, uint32_t writer, uint64_t freed, uint64_t allocated);
/* All rows are read: notes where several processes wrote them, and that makes figures wrong. */
void mt_rows_note_processes(struct mt_rows *r);
/* The node that the row to come is inside of: of its thread and its labels; MT_NONE. */
uint32_t mt_rows_root(struct mt_rows *r);

/* The columns of the first row: what kind of rows they are. Errors: MT_EINPUT, what is missing. */
enum mt_status mt_rows_begin(struct mt_rows *r, unsigned columns, struct mt_err *err);
/* Columns of a row to come that rows before it may not have had, where each row names its own.
 * r->wrong: it does not go with those. */
void mt_rows_more(struct mt_rows *r, unsigned columns);
/* A row. r->wrong: it does not fit, and nothing was done. Errors: as of heap.h. */
enum mt_status mt_rows_add(struct mt_rows *r, const struct mt_row *row, struct mt_err *err);
/* There are no more. */
enum mt_status mt_rows_end(struct mt_rows *r, struct mt_err *err);

#endif
