/* Where the database is. */
#include "lib/run/runs.h"

#include "lib/base/mem.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whoever can write in a folder above this one can put a database there, or a link to one. */
static enum mt_status check_owner(const char *path, struct mt_err *err)
{
    struct stat file, link;
    if (stat(path, &file) != 0 || lstat(path, &link) != 0 ||
        (file.st_uid == geteuid() && link.st_uid == geteuid()))
        return MT_OK;
    mt_err_input(err, path);
    MT_FAIL(err, MT_EDB, "this database was found, not named, and belongs to another user");
    mt_err_hint(err, "It was neither read nor changed. If it is the one you mean, name it with "
                     "--db or MEMTOOL_DB.");
    return MT_EDB;
}

static char *find_database(void)
{
    char *here = getcwd(NULL, 0);
    for (char *end = here ? here + strlen(here) : NULL; end; end = strrchr(here, '/')) {
        *end = '\0';
        char *path = mt_asprintf("%s/.memtool.db", here);
        if (access(path, F_OK) == 0) {
            free(here);
            return path;
        }
        free(path);
    }
    free(here);
    return mt_strdup(".memtool.db");
}

enum mt_status mt_db_path(const char *given, char **out, struct mt_err *err)
{
    const char *env = getenv("MEMTOOL_DB");
    *out = NULL;
    if (!given && env && *env)
        given = env;
    if (given) {
        *out = mt_strdup(given);
        return MT_OK;
    }
    char *found = find_database();
    enum mt_status st = check_owner(found, err);
    if (st == MT_OK)
        *out = found;
    else
        free(found);
    return st;
}
