/*
 * again.h - runs that are imported again from the files they came from, because an older memtool
 * imported them.
 */
#ifndef MT_AGAIN_H
#define MT_AGAIN_H

#include "cmd/import_file.h"
#include "lib/run/runs.h"

/*
 * Where a run's file is, allocated: as it was given, from here or from where the database lies
 * (db: its path, no link). Of two, the one of that content. *sure: no other file can be meant.
 * NULL: it is gone, or was no file.
 */
char *mt_again_source(const char *db, const char *source, const char *hash, bool *sure);

/* Reads the file at path as mt_import_read, for the run of that name; its content must have that
 * hash. Errors: MT_EDB, too: it has not (*other). */
enum mt_status mt_again_read(const char *path, const char *name, struct mt_import_opts *how,
                             const char *hash, struct mt_recording *rec, bool *other,
                             struct mt_err *err);

/*
 * Where an older memtool imported the run, which did not read all that this one does, imports it
 * again from its file, and says so on stderr; what users know of it stays: its name, its id, its
 * groups, when it was imported. path: of the database, open for reading as db. Where that cannot be
 * done, the run is as it was, run->not_again says why. Of files that fail or have other content
 * that is said, too, and they are not tried again. Errors: MT_EINTERRUPT; MT_EUSAGE: somebody
 * deletes the run just now; MT_EDB: or changes another one that was opened before.
 */
enum mt_status mt_again_renew(const char *path, struct mt_db *db, struct mt_run *run,
                              struct mt_err *err);

#endif
