#include "cmd/upgrade.h"

#include "cmd/again.h"
#include "cmd/common.h"
#include "cmd/scratch.h"
#include "lib/base/human.h"
#include "lib/render/term.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run as the older database has it. */
struct run {
    char *name, *source, *imported_at, *key;
    char *path; /* where its file is; NULL: it is gone */
    char hash[33];
    struct mt_import_opts how;
    int64_t id; /* in the new database */
};

struct membership {
    char *group;
    size_t run;
};

struct upgrade {
    char *path; /* the database, no link */
    int64_t version;
    struct mt_db *db; /* keeps writers out */
    MT_VEC(struct run) runs;
    MT_VEC(struct membership) members; /* those that joined first come first */
};

static void release(struct upgrade *u)
{
    mt_db_close(u->db);
    for (size_t i = 0; i < u->runs.n; i++) {
        struct run *r = &u->runs.v[i];
        mt_vec_free(&r->how.bases);
        free(r->name), free(r->source), free(r->imported_at), free(r->key), free(r->path);
    }
    for (size_t i = 0; i < u->members.n; i++)
        free(u->members.v[i].group);
    mt_vec_free(&u->runs);
    mt_vec_free(&u->members);
    free(u->path);
}

/* ---- what is there ---- */

static char *column(const struct mt_stmt *s, int i)
{
    const char *text = mt_stmt_text(s, i);
    return mt_strdup(text ? text : "");
}

static enum mt_status read_runs(struct upgrade *u, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row, sure;
    MT_TRY(mt_db_prepare(
        u->db, "SELECT name, source, imported_at, content_hash FROM run ORDER BY id", &s, err));
    enum mt_status st;
    while ((st = mt_stmt_step(s, &row, err)) == MT_OK && row) {
        struct run r = {.name = column(s, 0),
                        .source = column(s, 1),
                        .imported_at = column(s, 2),
                        .key = column(s, 3)};
        if (mt_import_of_key(r.key, &r.how, r.hash) && !r.how.series_n)
            r.path = mt_again_source(u->path, r.source, r.hash, &sure);
        *mt_vec_push(&u->runs) = r;
    }
    mt_stmt_free(s);
    return st;
}

/* Until version 6 a run had one group, and no order but that of import. */
static enum mt_status read_groups(struct upgrade *u, struct mt_err *err)
{
    static const char any[] = "SELECT 1 FROM sqlite_master WHERE name = 'run_group'",
                      several[] = "SELECT g.name, r.name FROM run_group g JOIN run r "
                                  "ON r.id = g.run_id ORDER BY g.joined",
                      one[] = "SELECT group_name, name FROM run WHERE group_name <> '' ORDER BY id";
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_prepare(u->db, any, &s, err));
    enum mt_status st = mt_stmt_step(s, &row, err);
    mt_stmt_free(s);
    MT_TRY(st);
    MT_TRY(mt_db_prepare(u->db, row ? several : one, &s, err));
    while ((st = mt_stmt_step(s, &row, err)) == MT_OK && row) {
        const char *name = mt_stmt_text(s, 1);
        for (size_t i = 0; name && i < u->runs.n; i++)
            if (strcmp(u->runs.v[i].name, name) == 0)
                *mt_vec_push(&u->members) = (struct membership){column(s, 0), i};
    }
    mt_stmt_free(s);
    return st;
}

/* Not a view that makes up runs without an end. */
static enum mt_status check_tables(struct upgrade *u, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_prepare(u->db,
                         "SELECT 1 FROM sqlite_master WHERE name IN ('run', 'run_group') "
                         "AND (type <> 'table' OR rootpage = 0)",
                         &s, err));
    enum mt_status st = mt_stmt_step(s, &row, err);
    mt_stmt_free(s);
    MT_TRY(st);
    if (!row)
        return MT_OK;
    mt_err_input(err, u->path);
    return MT_FAIL(err, MT_EDB, "the runs in this database were not created by memtool");
}

/* ---- where files are gone ---- */

static void add_option(struct mt_buf *out, const char *option, const char *value)
{
    if (!value)
        return;
    mt_buf_addf(out, " --%s ", option);
    mt_shell_word(out, value);
}

/* The command that imports a run again. */
static void tell_command(const struct upgrade *u, size_t run, const char *to)
{
    static const char *const cpp[] = {NULL, "all", "none"};
    const struct run *r = &u->runs.v[run];
    struct mt_buf line = {0}, safe = {0};
    mt_buf_adds(&line, "  memtool import ");
    mt_shell_word(&line, r->path);
    add_option(&line, "name", r->name);
    for (size_t i = 0; i < u->members.n; i++)
        if (u->members.v[i].run == run)
            add_option(&line, "group", u->members.v[i].group);
    add_option(&line, "step-marker", r->how.step_marker);
    add_option(&line, "pattern", r->how.pattern);
    add_option(&line, "processes", mt_import_processes_word(r->how.processes));
    add_option(&line, "alloc-fn", r->how.alloc_fn);
    add_option(&line, "cpp-frames", cpp[r->how.cpp_frames]);
    mt_buf_adds(&line, r->how.library_sites ? " --library-sites" : "");
    add_option(&line, "values", mt_import_values_word(r->how.values));
    add_option(&line, "split", mt_import_split_words(r->how.split));
    add_option(&line, "sysroot", r->how.sysroot);
    mt_buf_adds(&line, r->how.no_symbols ? " --no-symbols" : "");
    for (size_t i = 0; i < r->how.bases.n; i++)
        mt_buf_addf(&line, " --base %s=%lld", r->how.bases.v[i].device,
                    (long long)r->how.bases.v[i].bytes);
    add_option(&line, "db", to);
    mt_escape_terminal(&safe, line.s);
    fprintf(stderr, "%s\n", safe.s);
    mt_buf_free(&line);
    mt_buf_free(&safe);
}

static enum mt_status fail_older(const struct upgrade *u, struct mt_err *err, const char *why)
{
    mt_err_input(err, u->path);
    return MT_FAIL(err, MT_EDB,
                   "the database has schema version %lld; this memtool knows version %d%s",
                   (long long)u->version, MT_SCHEMA_VERSION, why);
}

/* Names the runs whose files are gone, and says how the others get into a database of their own. */
static enum mt_status check_sources(const struct upgrade *u, struct mt_err *err)
{
    struct mt_buf gone = {0};
    size_t gone_n = 0, series_n = 0;
    for (size_t i = 0; i < u->runs.n; i++) {
        const struct run *r = &u->runs.v[i];
        bool piped = strcmp(r->source, "-") == 0;
        if (r->path)
            continue;
        series_n += r->how.series_n > 0;
        if (gone_n++ < 3)
            mt_buf_addf(&gone, "%s'%.60s' (%.100s%s)", gone_n > 1 ? ", " : "", r->name,
                        piped ? "standard input" : r->source,
                        r->how.series_n ? " and others: import --series" : "");
    }
    if (!gone_n)
        return MT_OK;
    char *why =
        mt_asprintf(". The files of %zu of its %zu runs are gone%s: %s%s", gone_n, u->runs.n,
                    series_n ? ", or not known by name" : "", gone.s, gone_n > 3 ? ", ..." : "");
    char *to = mt_asprintf("%s.new", u->path);
    fail_older(u, err, why);
    if (gone_n < u->runs.n)
        fputs("Those that are there can be imported into another database:\n", stderr);
    for (size_t i = 0; i < u->runs.n; i++)
        if (u->runs.v[i].path)
            tell_command(u, i, to);
    mt_err_hint(err, series_n
                         ? "Nothing was changed. Import the dumps of each series again, with "
                           "--series, into another database (--db); or use the memtool that made "
                           "this one."
                         : "Nothing was changed. Put the files back and memtool imports them again "
                           "by itself; or use another database (--db); or the memtool that made "
                           "this one.");
    free(why);
    free(to);
    mt_buf_free(&gone);
    return err->code;
}

/* ---- importing again ---- */

static enum mt_status import_run(struct mt_db *to, struct run *r, struct mt_err *err)
{
    struct mt_recording rec;
    struct mt_store_result result = {0};
    bool other;
    r->how.name = r->name;
    r->how.source = r->source;
    r->how.imported_at = r->imported_at;
    enum mt_status st = mt_again_read(r->path, r->name, &r->how, r->hash, &rec, &other, err);
    if (st == MT_OK)
        st = mt_import_store(to, r->path, &r->how, &rec, r->hash, &result, err);
    r->id = result.run_id;
    mt_buf_free(&result.joined);
    mt_buf_free(&result.latest);
    mt_rec_free(&rec);
    return st;
}

static enum mt_status import_all(struct upgrade *u, const char *scratch, struct mt_err *err)
{
    struct mt_db *to = NULL;
    enum mt_status st = mt_db_open(scratch, MT_DB_WRITE, &to, NULL, err);
    for (size_t i = 0; st == MT_OK && i < u->runs.n; i++) {
        st = import_run(to, &u->runs.v[i], err);
        if (st != MT_OK)
            mt_show_note("The run '%s' could not be imported again: %s is as it was.",
                         u->runs.v[i].name, u->path);
    }
    if (st == MT_OK)
        st = mt_db_begin(to, err);
    for (size_t i = 0; st == MT_OK && i < u->members.n; i++)
        st = mt_store_join(to, u->runs.v[u->members.v[i].run].id, u->members.v[i].group, err);
    if (st == MT_OK)
        st = mt_db_commit(to, err);
    mt_db_close(to);
    return st;
}

/* The new database beside the old one, under a name that Ctrl-C knows; *fd: it is open, but not in
 * the place of a standard stream that is closed. NULL: errno. */
static char *begin(const struct upgrade *u, char **journal, int *fd)
{
    static const char ending[] = ".tmp";
    sigset_t before;
    struct stat info;
    char *scratch = mt_asprintf("%s.XXXXXX%s", u->path, ending);
    mt_scratch_hold(&before);
    int made = mkostemps(scratch, (int)sizeof ending - 1, O_CLOEXEC), code = errno;
    if (made >= 0) {
        *journal = mt_asprintf("%s-journal", scratch);
        mt_scratch_add(scratch);
        mt_scratch_add(*journal);
        if (stat(u->path, &info) == 0)
            (void)!fchmod(made, info.st_mode & 0777);
        *fd = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(made);
    } else {
        free(scratch);
        scratch = NULL;
    }
    mt_scratch_release(&before);
    errno = code;
    return scratch;
}

static enum mt_status replace(struct upgrade *u, struct mt_err *err)
{
    int fd;
    struct stat older;
    char *journal = NULL, *scratch = begin(u, &journal, &fd), n[MT_HUMAN_LONG];
    if (!scratch) {
        char *why = mt_asprintf(", and no new one can be made beside it: %s", strerror(errno));
        fail_older(u, err, why);
        mt_err_hint(err, "Nothing was changed. Use a copy of it in a folder that you can write in, "
                         "or another database (--db).");
        free(why);
        return err->code;
    }
    mt_show_note("%s has schema version %lld, this memtool knows %d: importing its %s again.",
                 u->path, (long long)u->version, MT_SCHEMA_VERSION,
                 mt_human_plural((int64_t)u->runs.n, "run", n));
    enum mt_status st = import_all(u, scratch, err);
    if (st == MT_OK && stat(u->path, &older) == 0)
        mt_scratch_like(fd, &older); /* now that nothing is to be written */
    if (fd >= 0)
        close(fd);
    if (st == MT_OK)
        st = mt_db_settle_older(u->db, err);
    if (st == MT_OK && rename(scratch, u->path) != 0) {
        mt_err_input(err, u->path);
        st = MT_FAIL(err, MT_EIO, "the new database cannot take its place: %s", strerror(errno));
        mt_err_hint(err, "Nothing was changed.");
    }
    if (st != MT_OK)
        unlink(scratch);
    mt_scratch_drop(scratch);
    mt_scratch_drop(journal);
    free(scratch);
    free(journal);
    return st;
}

/* Whether another process has replaced the database while this one waited for it. */
static bool is_replaced(const char *path, ino_t inode)
{
    struct stat info;
    return stat(path, &info) != 0 || info.st_ino != inode;
}

enum mt_status mt_upgrade_older(const char *path, struct mt_err *err)
{
    struct upgrade u = {.version = mt_db_file_version(path)};
    struct stat info;
    enum mt_status st = MT_OK;
    if (u.version <= 0 || u.version >= MT_SCHEMA_OLDEST || stat(path, &info) != 0)
        return MT_OK;
    u.path = realpath(path, NULL);
    if (!u.path)
        return MT_OK; /* who opens it says why */
    if (access(u.path, W_OK) != 0) {
        fail_older(&u, err, ", and may not be changed");
        mt_err_hint(err, "Nothing was changed. Use a copy of it that you can write, or another "
                         "database (--db).");
        free(u.path);
        return err->code;
    }
    MT_TRY_OUT(mt_db_open_older(u.path, &u.db, &u.version, err));
    /* its log may know of another version than the file did */
    if (is_replaced(u.path, info.st_ino) || u.version >= MT_SCHEMA_OLDEST)
        goto out;
    MT_TRY_OUT(check_tables(&u, err));
    MT_TRY_OUT(read_runs(&u, err));
    MT_TRY_OUT(read_groups(&u, err));
    MT_TRY_OUT(check_sources(&u, err));
    st = replace(&u, err);
out:
    release(&u);
    return st;
}
