/*
 * db_upgrade.h - databases of older versions, upgraded in place.
 *
 * A change of the schema, be it of a view alone, is a change of queries/schema.sql, the next
 * MT_SCHEMA_VERSION, a row in the table in db_upgrade.c, and a copy of the new schema and a
 * database of it in tests/schema, from which tests check that the steps lead to the same tables,
 * and that no version changes any more. A step can only add what it can fill in: where that needs
 * the recording, the runs are imported again instead (cmd/upgrade.h), and MT_SCHEMA_OLDEST rises.
 */
#ifndef MT_DB_UPGRADE_H
#define MT_DB_UPGRADE_H

#include "lib/db/db.h"

/* From one version to the next. Views are made anew afterwards: only tables and indexes. */
struct mt_db_step {
    int from;        /* the version before; the first row is of the oldest */
    const char *sql; /* NULL ends the table */
};

/* Those of this memtool. */
extern const struct mt_db_step mt_db_steps[];

/*
 * Takes a database whose version has a step as far as the steps lead, in one transaction; of any
 * other version it stays as it is. Errors: MT_EDB, nothing is changed then.
 */
enum mt_status mt_db_upgrade(struct mt_db *db, const struct mt_db_step *steps, struct mt_err *err);

#endif
