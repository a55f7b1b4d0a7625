#include "cmd/view.h"

#include "cmd/again.h"
#include "cmd/cache.h"
#include "cmd/common.h"
#include "cmd/name_or_file.h"
#include "cmd/output.h"
#include "cmd/upgrade.h"
#include "gen/queries.h"
#include "lib/analysis/baseline.h"
#include "lib/base/human.h"
#include "lib/run/knows.h"
#include "lib/run/merge.h"
#include "lib/run/time_arg.h"
#include "lib/usage/gaps.h"
#include "lib/usage/traced.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum mt_status mt_open_for_reading(struct mt_db **out, struct mt_err *err)
{
    char *path = NULL;
    MT_TRY(mt_db_path(mt_common.db, &path, err));
    enum mt_status st = mt_upgrade_older(path, err);
    if (st == MT_OK)
        st = mt_db_open(path, MT_DB_READ, out, NULL, err);
    if (st == MT_OK)
        mt_output_spare(path);
    free(path);
    return st;
}

/* Only import has the option that an importer's error advises. */
static void name_import(const char *path, struct mt_err *err)
{
    static const char option[] = "--partial";
    char *at = strstr(err->hint, option);
    if (!at)
        return;
    struct mt_buf hint = {0};
    mt_buf_addf(&hint, "%.*s`memtool import --partial ", (int)(at - err->hint), err->hint);
    mt_shell_word(&hint, path);
    mt_buf_addf(&hint, "`%s", at + sizeof option - 1);
    err->hint[0] = '\0';
    mt_err_hint(err, "%s", hint.s);
    mt_buf_free(&hint);
}

static enum mt_status open_file(const char *path, struct mt_db **db, struct mt_run *run,
                                struct mt_err *err)
{
    if (!mt_baseline_is_file(path)) {
        enum mt_status st = mt_cache_open(path, db, run, err);
        if (st != MT_OK)
            name_import(path, err);
        return st;
    }
    mt_err_input(err, path);
    MT_FAIL(err, MT_EUSAGE, "is a baseline: figures to check against, not a recording");
    struct mt_buf word = {0};
    mt_shell_word(&word, path);
    mt_err_hint(err,
                "It was not read. `memtool check RUN --baseline %s` compares a run with it; "
                "anything else needs the recording it was made from.",
                word.s);
    mt_buf_free(&word);
    return MT_EUSAGE;
}

/* Whether a reference that is no file here can only mean one: "x.json", "old/x". */
static bool means_file(const char *ref)
{
    static const char *const endings[] = {".json", ".gz",   ".zst", ".lz4", ".pickle",
                                          ".pkl",  ".xml",  ".log", ".txt", ".bin",
                                          ".out",  ".heap", ".pb",  ".csv", ".jsonl"};
    const char *dot = strrchr(ref, '.');
    bool ends = false;
    for (size_t i = 0; dot && i < MT_ARRAY_LEN(endings); i++)
        ends |= strcmp(dot, endings[i]) == 0;
    return ends || strchr(ref, '/');
}

static bool no_database(void)
{
    struct mt_err err = MT_ERR_INIT;
    char *path = NULL;
    bool none = mt_db_path(mt_common.db, &path, &err) == MT_OK && access(path, F_OK) != 0;
    free(path);
    return none;
}

static enum mt_status no_file(const char *ref, struct mt_err *err)
{
    mt_err_input(err, ref);
    MT_FAIL(err, MT_EIO, "cannot be read: %s",
            access(ref, R_OK) != 0 ? strerror(errno) : "not a regular file");
    mt_err_hint(err, "Nor is there a database with a run of that name.");
    return MT_EIO;
}

bool mt_is_folder(const char *ref)
{
    struct stat info;
    return ref && stat(ref, &info) == 0 && S_ISDIR(info.st_mode);
}

enum mt_status mt_folder_given(const char *ref, const struct mt_err *unknown, struct mt_err *err)
{
    struct mt_buf word = {0};
    char *more = mt_strdup(unknown->code == MT_EUSAGE ? unknown->hint : "");
    mt_shell_word(&word, ref);
    mt_err_input(err, ref);
    MT_FAIL(err, MT_EUSAGE, "this is a folder, not a run");
    err->hint[0] = '\0';
    mt_err_hint(err, "memtool import %s --group NAME reads the recordings in it.%s%s", word.s,
                *more ? " " : "", more);
    mt_buf_free(&word);
    free(more);
    return MT_EUSAGE;
}

/* The reference of `unknown` names no run, and no file that could be read. */
static enum mt_status unknown_ref(const char *ref, const struct mt_err *unknown, struct mt_err *err)
{
    if (mt_is_folder(ref) && (unknown->code == MT_EUSAGE || no_database()))
        return mt_folder_given(ref, unknown, err);
    bool meant = ref && means_file(ref);
    if (meant && no_database())
        return no_file(ref, err);
    *err = *unknown;
    if (!meant || err->code != MT_EUSAGE)
        return err->code;
    err->hint[0] = '\0';
    if (access(ref, R_OK) == 0)
        mt_err_hint(err, "What is at that path is no regular file. %s", unknown->hint);
    else if (errno == ENOENT || errno == ENOTDIR)
        mt_err_hint(err, "Nor is there such a file. %s", unknown->hint);
    else
        mt_err_hint(err, "The file cannot be read: %s. %s", strerror(errno), unknown->hint);
    return MT_EUSAGE;
}

/* What an older memtool did not read of a run is read now. */
static enum mt_status renew(struct mt_db *db, struct mt_run *run, struct mt_err *err)
{
    char *path = NULL;
    enum mt_status st = MT_OK;
    if (mt_run_is_older(run)) {
        MT_TRY(mt_db_path(mt_common.db, &path, err));
        st = mt_again_renew(path, db, run, err);
        free(path);
    }
    mt_db_reads(db, run->id);
    return st;
}

/* Files of one name are imported as their paths: such a path is the run, with the options that it
 * was imported with, as long as the file is what it was. ./FILE is no such name. To know this no
 * older database is imported again. */
static bool is_imported_path(const char *path)
{
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_db *db = NULL;
    struct mt_run run;
    char *where = NULL;
    bool is = strncmp(path, "./", 2) != 0 && mt_db_path(mt_common.db, &where, &ignored) == MT_OK &&
              mt_db_open(where, MT_DB_READ, &db, NULL, &ignored) == MT_OK &&
              mt_run_find(db, path, &run, &ignored) == MT_OK && mt_is_run_of_file(&run, path);
    mt_db_close(db);
    free(where);
    return is;
}

/* A name wins over a file of that name, unless it is written with a folder; the file over a name
 * that only begins so. */
enum mt_status mt_open_run(const char *ref, struct mt_db **db, struct mt_run *run,
                           struct mt_err *err)
{
    bool file = ref && mt_cache_is_file(ref);
    *db = NULL;
    if (file && strchr(ref, '/') && !is_imported_path(ref))
        return open_file(ref, db, run, err);
    struct mt_err unknown = MT_ERR_INIT;
    enum mt_status st = mt_open_for_reading(db, &unknown);
    if (st == MT_OK)
        st = mt_run_find(*db, ref, run, &unknown);
    if (st == MT_OK && !(file && mt_run_is_beginning(ref, run))) {
        mt_output_spare_source(run);
        if (file)
            mt_note_written_since(*db, run, ref);
        return renew(*db, run, err);
    }
    if (!file)
        return unknown_ref(ref, &unknown, err);
    mt_db_close(*db);
    *db = NULL;
    return open_file(ref, db, run, err);
}

enum mt_status mt_run_device_like(struct mt_db *db, const struct mt_run *run, const char *named,
                                  const char *like, struct mt_run_device *out, bool *none,
                                  int *other_n, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    char name[sizeof out->name];
    snprintf(name, sizeof name, "%s", like ? like : ""); /* it may be that of *out */
    MT_TRY(mt_run_device(db, run, named, out, none, other_n, err));
    if (!named || strcmp(out->name, named) == 0)
        return MT_OK;
    MT_TRY(mt_run_devices(db, run, &all, &n, err));
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0)
            *out = all[i];
    free(all);
    return MT_OK;
}

enum mt_status mt_view_open_blocks(struct mt_view *v, struct mt_err *err)
{
    mt_steps_free(&v->blocks.steps);
    MT_TRY(mt_allocations_open(v->db, &v->run, &v->blocks, err));
    return mt_steps_load_marks(v->db, &v->run, &v->blocks.steps, err);
}

void mt_view_close_blocks(struct mt_view *v)
{
    mt_tree_free(&v->blocks.tree);
    v->blocks.tree = (struct mt_tree){0};
}

static enum mt_status open_view(struct mt_view *v, const char *ref,
                                const struct mt_view_wanted *wanted, struct mt_err *err)
{
    bool none = true;
    MT_TRY(mt_open_run(ref, &v->db, &v->run, err));
    MT_TRY(mt_knows(&v->run, NULL, wanted->need, err));
    if (wanted->parts & MT_VIEW_DEVICE)
        MT_TRY(mt_run_device(v->db, &v->run, wanted->device, &v->device, &none, &v->other_n, err));
    v->has_device = !none;
    MT_TRY(mt_narrow_parse(wanted->category, &v->narrow, err));
    if (v->has_device)
        MT_TRY(mt_narrow_device(v->db, &v->run, &v->narrow, &v->device, err));
    if (wanted->parts & MT_VIEW_TREE) {
        MT_TRY(mt_load_rollup(v->db, &v->run, none ? NULL : &v->device, &v->tree, err));
        if (v->tree.has_lines)
            mt_tree_merge(&v->tree);
    }
    if (wanted->parts & MT_VIEW_BLOCKS && v->has_device)
        return mt_view_open_blocks(v, err);
    if (!(wanted->parts & MT_VIEW_STEPS))
        return MT_OK;
    MT_TRY(mt_steps_load(v->db, &v->run, &v->blocks.steps, err));
    return mt_steps_load_marks(v->db, &v->run, &v->blocks.steps, err);
}

enum mt_status mt_view_open(struct mt_view *v, const char *ref, const struct mt_view_wanted *wanted,
                            struct mt_err *err)
{
    *v = (struct mt_view){0};
    return open_view(v, ref, wanted, err);
}

void mt_view_close(struct mt_view *v)
{
    mt_allocations_close(&v->blocks);
    mt_tree_free(&v->tree);
    mt_db_close(v->db);
}

void mt_view_about(const struct mt_view *v, struct mt_report *report, unsigned shown)
{
    mt_report_about(report, &v->run, mt_view_device(v), shown);
}

enum mt_status mt_view_note_traces(const struct mt_view *v, struct mt_report *report,
                                   struct mt_err *err)
{
    int64_t n;
    char name[256];
    MT_TRY(mt_traced_unplaced(v->db, &v->run, &n, name, err));
    if (n)
        mt_report_note(report,
                       "%s%s not shown beside %s: the %s does not say when it began, so nothing "
                       "places one on the other's clock.",
                       name, n > 1 ? " and other traces of the group are" : " is", v->run.name,
                       v->run.start_ns > 0 ? "trace" : "recording of the process");
    return MT_OK;
}

enum mt_status mt_view_known_until(const struct mt_view *v, int64_t *out, struct mt_err *err)
{
    unsigned gaps;
    MT_TRY(mt_run_gaps(v->db, &v->run, &v->device, &gaps, err));
    return mt_run_known_until(v->db, &v->run, gaps, out, err);
}

enum mt_status mt_view_note_steps(const struct mt_view *v, const char *range,
                                  struct mt_report *report, struct mt_err *err)
{
    struct mt_step_range asked;
    struct mt_stmt *s;
    bool row;
    if (!range)
        return MT_OK;
    MT_TRY(mt_step_range_parse(range, &asked, err));
    MT_TRY(mt_db_query(v->db, MT_Q_INFO_STEPS, &s, err));
    mt_stmt_bind(s, "i", v->run.id);
    MT_TRY(mt_stmt_step(s, &row, err));
    int64_t n = row ? mt_stmt_int(s, 0) : 0, first = n ? mt_stmt_int(s, 1) : 0,
            last = n ? mt_stmt_int(s, 2) : 0;
    mt_stmt_end(s);
    bool open = asked.to == INT64_MAX; /* "2..": to the last, whichever that is */
    if (n && (asked.from < first || (asked.to > last && !open)))
        mt_report_note(report,
                       "--step %s: the steps of %s go from %lld to %lld; there are no "
                       "others.",
                       range, v->run.name, (long long)first, (long long)last);
    return MT_OK;
}
