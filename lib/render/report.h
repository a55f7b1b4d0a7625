/*
 * report.h - a finished report: columns, rows, totals, notes. Every command that shows rows fills
 * one of these; render.h writes it as table, csv, tsv, json or markdown. The columns and rows are
 * the same in each format.
 */
#ifndef MT_REPORT_H
#define MT_REPORT_H

#include "lib/base/err.h"
#include "lib/base/mem.h"
#include "lib/base/strtab.h"
#include <stdbool.h>
#include <stdint.h>

enum mt_cell_kind {
    MT_CELL_NULL = 0, /* unknown or does not apply: "-", an empty csv field, json null */
    MT_CELL_INT,
    MT_CELL_REAL,
    MT_CELL_TEXT, /* any bytes; what a terminal could act on is escaped when shown */
    MT_CELL_BOOL, /* true or false */
    MT_CELL_JSON, /* a JSON value; csv and tsv have its text */
};

struct mt_cell {
    enum mt_cell_kind kind; /* says which of these is set: i also of a BOOL, s of JSON */
    union {
        int64_t i;
        double r;
        const char *s; /* borrowed from the report (mt_report_text) or static */
    };
};

/* How a column is shown in a table for people. csv, tsv and json always have the raw value.
 * Reals have 4 significant digits there; with MT_UNIT_BYTES and _NS they are rounded first. */
enum mt_unit {
    MT_UNIT_NONE,   /* integers as they are, text left aligned */
    MT_UNIT_BYTES,  /* 132.2 MiB */
    MT_UNIT_CHANGE, /* bytes with their sign: +132.2 MiB */
    MT_UNIT_NS,     /* 165.7 ms; where the run counts another unit, that */
    MT_UNIT_COUNT,  /* 12,838 */
    MT_UNIT_TREE,   /* text with indent: `depth` tree levels are drawn before it */
    MT_UNIT_WORDS,  /* sentences: wrapped where there is no room, never cut; the last column */
};

/* How people read the texts of a column. */
enum mt_text {
    MT_TEXT_SHORT,  /* mt_escape_short */
    MT_TEXT_OPS,    /* mt_escape_op */
    MT_TEXT_STORED, /* as they are: what an SQL statement finds */
};

struct mt_column {
    const char *name;  /* machine name with its unit: self_net_b; borrowed or static */
    const char *title; /* heading in a table for people: SELF NET; NULL: the name in capitals */
    enum mt_unit unit;
    enum mt_text text;
    bool hidden; /* only in csv, tsv and json */
    bool whole;  /* text that is cut only where nothing else can be */
    int spare;   /* what is left out of a table wider than its terminal: the highest first, those
                    of 0 only when it is still too wide, figures from the right; a line below says
                    which */
    const char *time_unit; /* of MT_UNIT_NS, where times count another; borrowed; NULL: ns */
    bool wanted;           /* somebody asked for it, or rows are sorted by it: it stays */
};

struct mt_row {
    struct mt_cell *cells; /* one per column */
    bool explicit_row;     /* [outside ops] and its like: shown dim */
    const char *tree;      /* drawn before the MT_UNIT_TREE column, e.g. "│  ├─ "; NULL: none.
                              Three columns a level; borrowed like the cells' texts */
    const char *lines;     /* what a table for people shows in place of the cells: lines, up to
                              the tab of each what its words are wrapped behind; NULL: the cells.
                              All rows have them, or none; borrowed like texts */
};

struct mt_report {
    const char *schema; /* "memtool.table" */
    int version;
    char *title;     /* first line of the table, NULL: none. "base · cpu · net 0 B · peak ..." */
    char *title_end; /* right-hand end of that line ("sorted by self_net_b"), NULL: none */
    char *figure;    /* lines drawn below the title in tables for people, each ended by \n and safe
                        for the terminal (chart.h); NULL: none */
    MT_VEC(struct mt_column) columns;
    MT_VEC(struct mt_row) rows;
    /* Rows after `rows` that are too many to hold: fills one cell per column (NULL cells at first),
     * texts being borrowed from elsewhere; false after the last. NULL: none. csv, tsv and json
     * write them one by one; for the others call mt_report_collect first. */
    bool (*next)(void *closure, struct mt_cell *cells);
    void *closure;
    /* After the last row of `next`: whether all came, with the error if not. NULL: always. */
    enum mt_status (*ended)(void *closure, struct mt_err *err);
    int64_t left_out_n;   /* rows not shown: cut by --limit, --min, --name, or not looked at */
    bool left_out_more;   /* or perhaps more than these: not all were counted */
    int64_t cut_n;        /* of these: cut by mt_report_limit (cmd/common.h) */
    const char *left_out; /* what is said of them (mt_rows_footer); NULL: nothing */
    struct {
        char *why, *ask_instead; /* sentences; why NULL: there is an answer */
    } cannot_tell;               /* mt_report_cannot_tell */
    MT_VEC(char *) notes;        /* whole sentences; after the table on stderr, and in json */
    struct mt_strtab noted;      /* the first noted_n of them, for mt_report_note_once */
    size_t noted_n;
    MT_VEC(char *) footer; /* lines below the table on stdout, for people only; no newlines */
    const char *empty; /* what people read instead of no rows; NULL: "no rows"; static or a text of
                          the report */
    bool keep_order;   /* people's tables too show the columns in this order; else the one called
                          `name`, or of MT_UNIT_TREE, comes last there */
    struct mt_run_ref {
        int64_t id;
        char *name;
        char *time_unit; /* what its times count, where that is not ns; NULL: ns, or none */
    } runs[2];           /* runs the report is about (mt_report_run); id 0 = none */
    MT_VEC(struct mt_param {
        const char *name; /* static */
        const char *of;   /* a total's device: it lies in totals.devices.DEVICE; NULL: none */
        struct mt_cell value;
    })
    params, totals;       /* json envelope: what was asked for; figures of the whole */
    MT_VEC(char *) owned; /* texts freed with the report */
};

void mt_report_init(struct mt_report *r, const char *schema, int version);
void mt_report_free(struct mt_report *r);

/* Copies s into the report and returns the copy; NULL stays NULL. */
const char *mt_report_text(struct mt_report *r, const char *s);
const char *mt_report_textf(struct mt_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Names the first (0) or second run that the report is about. time_unit: what its columns that end
 * in _ns count, "ns" mostly; "" or NULL: it knows no time. */
void mt_report_run(struct mt_report *r, int which, int64_t id, const char *name,
                   const char *time_unit);

/* All columns come before the first row. */
void mt_report_column(struct mt_report *r, const char *name, const char *title, enum mt_unit unit);
/* Keeps the rows for which keep says so. Returns how many went. */
size_t mt_report_keep(struct mt_report *r, bool (*keep)(const void *closure, const struct mt_row *),
                      const void *closure);
/* Hides the columns in which no cell is known. */
void mt_report_hide_empty(struct mt_report *r);
/* Index of the column of that machine name, or -1. */
int mt_report_find_column(const struct mt_report *r, const char *name);
/* Whether a word of a user's means a column: its name or heading (NULL: none) in any case. */
bool mt_column_is(const char *name, const char *title, const char *word);
/* Appends a row of NULL cells, one per column so far. Valid until the next row is added. */
struct mt_row *mt_report_row(struct mt_report *r);
/* Gives rows that are there NULL cells for the columns added behind the first before_n. */
void mt_report_fit_rows(struct mt_report *r, size_t before_n);
/* Sets the cell of that column, where the report has it. */
void mt_report_put(const struct mt_report *r, struct mt_row *row, const char *column,
                   struct mt_cell cell);
/* Makes the rows of `next` ordinary rows. */
void mt_report_collect(struct mt_report *r);
void mt_report_note(struct mt_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A note, unless it is there already. */
void mt_report_note_once(struct mt_report *r, const char *note);
void mt_report_footer(struct mt_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void mt_report_param(struct mt_report *r, const char *name, struct mt_cell value);
void mt_report_total(struct mt_report *r, const char *name, struct mt_cell value);
/* A figure of one device. */
void mt_report_device_total(struct mt_report *r, const char *device, const char *name,
                            struct mt_cell value);

/*
 * Says that there is no answer, why, and what to ask instead (NULL: nothing), both sentences:
 * people read them in place of rows; json has them as
 * "answer":null,"cannot_tell":{"why":...,"ask_instead":...}, the other formats as notes. Commands
 * that judge exit with 3 then. Of several calls the first counts.
 */
void mt_report_cannot_tell(struct mt_report *r, const char *why, const char *ask_instead);
/* "Cannot tell: WHY ASK_INSTEAD", allocated; NULL: there is an answer. */
char *mt_report_cannot_tell_text(const struct mt_report *r);

struct mt_cell mt_cell_int(int64_t i);
struct mt_cell mt_cell_known(int64_t i); /* the same; MT_UNKNOWN gives a NULL cell */
struct mt_cell mt_cell_real(double v);
struct mt_cell mt_cell_text(const char *s); /* NULL gives a NULL cell */
struct mt_cell mt_cell_bool(bool v);
struct mt_cell mt_cell_json(const char *s); /* NULL: the same */

/*
 * Keeps only the named columns, in that order (sets keep_order), hidden ones shown too.
 * names: comma separated names or headings, in any case; blanks around them do not matter.
 * Returns NULL, or the first unknown name as an allocated string (the report is then unchanged).
 */
char *mt_report_select(struct mt_report *r, const char *names);

#endif
