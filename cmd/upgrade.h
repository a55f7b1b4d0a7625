/*
 * upgrade.h - a database of an older memtool, whose runs are imported again from the files they
 * came from. What can be upgraded in place is (lib/db/db_upgrade.h).
 */
#ifndef MT_UPGRADE_H
#define MT_UPGRADE_H

#include "lib/base/err.h"

/*
 * Where the database at path is older than what can be upgraded in place, imports its runs again
 * into a new one, which takes its place when it is whole; names, groups, options and times of
 * import stay. Says so on stderr. Of any other file, and of none, nothing is done. Errors: MT_EDB:
 * a file is gone or has changed (said, and what to do); those of an import. The database is as it
 * was then.
 */
enum mt_status mt_upgrade_older(const char *path, struct mt_err *err);

#endif
