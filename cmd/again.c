#include "cmd/again.h"

#include "cmd/common.h"
#include "gen/queries.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, R_OK) == 0;
}

/* A file in the folder of another. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return slash ? mt_asprintf("%.*s/%s", (int)(slash - path), path, name) : mt_strdup(name);
}

char *mt_again_source(const char *db, const char *source, const char *hash, bool *sure)
{
    bool here = is_file(source);
    char got[33];
    *sure = true;
    if (*source == '/' || strcmp(source, "-") == 0)
        return here ? mt_strdup(source) : NULL;
    char *there = beside(db, source);
    *sure = is_file(there);
    if (*sure && (!here || (mt_import_hash(there, got) && strcmp(got, hash) == 0)))
        return there;
    free(there);
    return here ? mt_strdup(source) : NULL;
}

enum mt_status mt_again_read(const char *path, const char *name, struct mt_import_opts *how,
                             const char *hash, struct mt_recording *rec, bool *other,
                             struct mt_err *err)
{
    char got[33];
    how->partial = true; /* of the same content it is: what was kept of it is kept again */
    *other = false;
    MT_TRY(mt_import_read(path, how, rec, got, err));
    *other = strcmp(got, hash) != 0;
    if (!*other)
        return MT_OK;
    mt_err_input(err, path);
    MT_FAIL(err, MT_EDB, "is not what the run '%.100s' was imported from any more", name);
    mt_err_hint(err, "Put the file back as it was, or use another database (--db).");
    return MT_EDB;
}

/* ---- one run ---- */

/* A run, and where it comes from. */
struct renewal {
    const char *db; /* the database, no link */
    struct mt_run *run;
    char *key, *imported_at, *source; /* source: where its file is */
    char hash[33];
    bool sure;
    int64_t lost; /* another run that was read before, and has changed since; 0: none */
    struct mt_import_opts how;
};

static enum mt_status look_up(struct renewal *r, struct mt_db *db, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_IMPORT, &s, err));
    mt_stmt_bind(s, "i", r->run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    r->key = mt_strdup(row ? mt_stmt_text(s, 0) : "");
    r->imported_at = mt_strdup(row ? mt_stmt_text(s, 1) : "");
    mt_stmt_end(s);
    if (!mt_import_of_key(r->key, &r->how, r->hash) || r->how.series_n)
        return MT_OK;
    r->how.source = r->run->source;
    r->how.imported_at = r->imported_at;
    r->how.again = r->run->id;
    r->source = mt_again_source(r->db, r->run->source, r->hash, &r->sure);
    return MT_OK;
}

static bool is_writable(const char *db)
{
    char *folder = beside(db, "."); /* a journal comes into it */
    bool is = access(db, W_OK) == 0 && access(folder, W_OK) == 0;
    free(folder);
    return is;
}

/* That it was tried: the next report need not. */
static enum mt_status note_tried(struct mt_db *to, int64_t run, struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(to, MT_Q_RUN_IMPORTED_BY, &s, err));
    mt_stmt_bind(s, "ii", run, (int64_t)MT_SCHEMA_VERSION);
    return mt_stmt_run(s, err);
}

/* Stores what was read; NULL: that it was tried. What this process reads is no longer one
 * transaction while it does: it would wait for others, who wait for it. */
static enum mt_status store(struct renewal *r, struct mt_recording *rec, struct mt_err *err)
{
    struct mt_db *to = NULL;
    struct mt_store_result result = {0};
    struct mt_err after = MT_ERR_INIT;
    MT_TRY(mt_db_readers_pause(err));
    enum mt_status st = mt_db_open(r->db, MT_DB_WRITE, &to, NULL, err);
    if (st == MT_OK)
        st = rec ? mt_import_store(to, r->source, &r->how, rec, r->hash, &result, err)
                 : note_tried(to, r->run->id, err);
    mt_db_close(to);
    if (mt_db_readers_resume(&r->lost, &after) == MT_OK || st != MT_OK)
        return st;
    *err = after;
    return err->code;
}

/* What was read of another run before and what is there now would not belong together. */
static enum mt_status check_others(const struct renewal *r, struct mt_err *err)
{
    if (!r->lost)
        return MT_OK;
    MT_FAIL(err, MT_EDB, "another memtool changed a run of this report while '%.100s' was imported",
            r->run->name);
    mt_err_hint(err, "Nothing is shown. Ask again.");
    return MT_EDB;
}

static enum mt_status import(struct renewal *r, struct mt_err *err)
{
    struct mt_recording rec;
    struct mt_err why = MT_ERR_INIT, ignored = MT_ERR_INIT;
    bool other;
    enum mt_status st =
        mt_again_read(r->source, r->run->name, &r->how, r->hash, &rec, &other, &why);
    bool read = st == MT_OK, again = other && !r->sure; /* the next may see another file */
    if (read)
        st = store(r, &rec, &why);
    mt_rec_free(&rec);
    if (st == MT_OK)
        return MT_OK;
    if (st == MT_EINTERRUPT) {
        *err = why;
        return st;
    }
    mt_show_note("Run '%s' stays as it was: %s%s%s.", r->run->name, other ? r->source : why.input,
                 other || !*why.input ? "" : ": ", other ? " has other content by now" : why.what);
    r->run->not_again = MT_AGAIN_FAILED;
    if (!read && !again)
        (void)store(r, NULL, &ignored);
    return MT_OK;
}

static enum mt_status renew(struct renewal *r, struct mt_db *db, struct mt_err *err)
{
    struct mt_run *run = r->run;
    MT_TRY(look_up(r, db, err));
    run->not_again = strcmp(run->source, "-") == 0 ? MT_AGAIN_PIPE
                     : !r->source                  ? MT_AGAIN_GONE
                     : !is_writable(r->db)         ? MT_AGAIN_READ_ONLY
                                                   : MT_AGAIN;
    if (run->not_again != MT_AGAIN)
        return MT_OK;
    mt_show_note("Run '%s' was imported by an older memtool: importing %s again.", run->name,
                 r->source);
    MT_TRY(import(r, err));
    MT_TRY(check_others(r, err));
    return run->not_again == MT_AGAIN ? mt_run_get(db, run->id, run, err) : MT_OK;
}

enum mt_status mt_again_renew(const char *path, struct mt_db *db, struct mt_run *run,
                              struct mt_err *err)
{
    struct renewal r = {.run = run};
    if (!mt_run_is_older(run))
        return MT_OK;
    char *real = realpath(path, NULL);
    r.db = real ? real : path;
    enum mt_status st = renew(&r, db, err);
    mt_vec_free(&r.how.bases);
    free(r.key), free(r.imported_at), free(r.source), free(real);
    return st;
}
