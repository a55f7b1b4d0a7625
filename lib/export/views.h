/*
 * views.h - the views of the database that a run's rows are exported from.
 */
#ifndef MT_EXPORT_VIEWS_H
#define MT_EXPORT_VIEWS_H

struct mt_export_view {
    const char *name;  /* without v_; NULL ends the table */
    const char *order; /* the columns that its rows are in order of */
};
extern const struct mt_export_view mt_export_views[];

/* That of a name, with v_ or without; NULL: none. */
const struct mt_export_view *mt_export_view_by_name(const char *name);

/* All rows of a run (?1, its name), as SQL. Allocated. */
char *mt_export_view_sql(const struct mt_export_view *view);

#endif
