#include "cmd/name_or_file.h"

#include "cmd/common.h"
#include "cmd/import_file.h"
#include "gen/queries.h"
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Seconds since the Unix epoch; -1: nobody knows. */
static time_t imported_at(struct mt_db *db, const struct mt_run *run)
{
    struct mt_stmt *s;
    struct mt_err ignored = MT_ERR_INIT;
    struct tm at = {0};
    bool row = false, known = false;
    if (mt_db_query(db, MT_Q_RUN_IMPORT, &s, &ignored) != MT_OK)
        return -1;
    mt_stmt_bind(s, "i", run->id);
    if (mt_stmt_step(s, &row, &ignored) == MT_OK && row)
        known = strptime(mt_stmt_text(s, 1), "%Y-%m-%dT%H:%M:%SZ", &at) != NULL;
    mt_stmt_end(s);
    return known ? timegm(&at) : -1;
}

/* Of what memtool records the source is a program. */
static bool is_own_name(const struct mt_run *run, const char *ref, struct stat *file)
{
    struct stat source;
    return strcmp(run->name, ref) == 0 && strcmp(run->format, "record") != 0 && run->content[0] &&
           stat(run->source, &source) == 0 && stat(ref, file) == 0 &&
           source.st_dev == file->st_dev && source.st_ino == file->st_ino;
}

static bool has_other_content(const struct mt_run *run, const char *ref)
{
    char hash[33];
    return mt_import_hash(ref, hash) && strcmp(hash, run->content) != 0;
}

/* What was written before the import need not be read to know. */
static bool was_written_since(struct mt_db *db, const struct mt_run *run, const char *ref,
                              const struct stat *file)
{
    time_t written = file->st_mtime > file->st_ctime ? file->st_mtime : file->st_ctime;
    return written >= imported_at(db, run) && has_other_content(run, ref);
}

/* A command may open a run several times. */
static bool is_first(const struct mt_run *run)
{
    static MT_VEC(int64_t) asked;
    for (size_t i = 0; i < asked.n; i++)
        if (asked.v[i] == run->id)
            return false;
    *mt_vec_push(&asked) = run->id;
    return true;
}

bool mt_is_run_of_file(const struct mt_run *run, const char *path)
{
    struct stat file;
    if (!is_own_name(run, path, &file))
        return false;
    /* another file may have come to be there, however old: in another folder, or with a folder that
     * was renamed */
    if (!has_other_content(run, path))
        return true;
    if (is_first(run))
        mt_show_note("%s is the name of a run, but this file has other content: the file is read, "
                     "without the options of that import.",
                     path);
    return false;
}

void mt_note_written_since(struct mt_db *db, const struct mt_run *run, const char *ref)
{
    struct stat file;
    if (is_first(run) && is_own_name(run, ref, &file) && was_written_since(db, run, ref, &file))
        mt_show_note("%s is the run of that name; the file was written since and has other "
                     "content: ./%s reads it.",
                     run->name, ref);
}
