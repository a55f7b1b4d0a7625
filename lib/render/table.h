/*
 * table.h - the memory table: which columns, which sort keys, and how groups become a report.
 */
#ifndef MT_TABLE_H
#define MT_TABLE_H

#include "lib/render/report.h"
#include "lib/run/load.h"

/* The sort key a name stands for: one of ours, PyTorch's or an old alias. */
struct mt_sort {
    const char *column; /* machine name of the column */
    bool by_size;       /* largest magnitude first (ours); false: descending, as PyTorch sorts */
    const char *device; /* "cpu", "cuda": the device the key implies; NULL = none */
    bool then_name; /* rows that are equal in that: by the inclusive figure, then by their keys */
    const struct mt_table_paths *paths; /* of rows whose call paths have no text yet; else NULL */
    size_t first_n; /* rows that matter: the others come behind them in any order. 0: all */
};

/* Errors: MT_EUSAGE naming the nearest keys. */
enum mt_status mt_table_sort_key(const char *key, struct mt_sort *out, struct mt_err *err);

/* Append the names of all figures and the name's, or all sort keys; a blank behind each. */
void mt_table_column_names(struct mt_buf *out);
void mt_table_sort_names(struct mt_buf *out);

/* What must be known to sort by a column (enum mt_knows); and what is sorted by where nobody says.
 */
unsigned mt_table_needs(const char *column);
const char *mt_table_sort_default(unsigned knows);

/* Adds the columns: figures, the grouping keys, `device` where asked for. knows: enum mt_knows, of
 * any device of the table. Figures that only some formats have are there where it knows them; all:
 * anyhow. */
void mt_table_columns(struct mt_report *r, const enum mt_group_key *keys, int key_n, bool device,
                      unsigned knows, bool all);

/* Call paths whose texts are made for the rows that are left in the end: until then the cells of
 * their column are numbers of nodes. */
struct mt_table_paths {
    struct mt_tree tree; /* of the groups; every device of a run has the same nodes */
    struct mt_paths of;  /* what tree.paths was while they were grouped */
    /* Of mt_table_paths_stream: the rows, the next of them, and the text of the one before. */
    MT_VEC(struct mt_row) rows;
    size_t next, cell_n;
    int column;
    struct mt_buf text;
};
void mt_table_paths_put(struct mt_report *r, const struct mt_table_paths *paths);
/* The same where rows are written one by one: each has its text only then. The report's rows move
 * to `paths`, which must outlive what is written. */
void mt_table_paths_stream(struct mt_report *r, struct mt_table_paths *paths);
void mt_table_paths_free(struct mt_table_paths *paths);

/* Adds the groups as rows, adding their self_net_b to *net_b. device NULL: no such column. numbers:
 * their paths are those of nodes (mt_table_paths). knows: of the device of the groups. */
void mt_table_rows(struct mt_report *r, const struct mt_groups *g, int key_n, const char *device,
                   bool numbers, unsigned knows, int64_t *net_b);

/* Sorts the rows, largest figures first, names by the alphabet, what is unknown behind all of its
 * size; the column is shown then. One that the table is without: by its last one. */
void mt_table_sort(struct mt_report *r, const struct mt_sort *sort);

#endif
