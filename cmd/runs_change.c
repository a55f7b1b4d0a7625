/* Deletes, renames and groups runs. */
#include "cmd/runs.h"

#include "cmd/common.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/store/store.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mt_is_chosen(const struct mt_chosen *chosen, int64_t id)
{
    for (size_t i = 0; i < chosen->n; i++)
        if (chosen->v[i].id == id)
            return true;
    return false;
}

static void add_once(struct mt_chosen *out, const struct mt_run *run)
{
    if (!mt_is_chosen(out, run->id))
        *mt_vec_push(out) = *run;
}

enum mt_status mt_choose_runs(struct mt_db *db, const char *const *refs, size_t ref_n,
                              const char *group, bool whole, struct mt_chosen *out,
                              struct mt_err *err)
{
    struct mt_run run;
    struct mt_run_ids ids = {0};
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < ref_n; i++) {
        MT_TRY_OUT(mt_run_find(db, refs[i], &run, err));
        if (whole && mt_run_is_beginning(refs[i], &run)) {
            st = MT_FAIL(err, MT_EUSAGE, "'%s' is only the start of a name: '%s'", refs[i],
                         run.name);
            mt_err_hint(err, "Nothing was changed. Changes need full names or ids.");
            goto out;
        }
        add_once(out, &run);
    }
    if (group)
        MT_TRY_OUT(mt_runs_of_group(db, group, INT64_MAX, &ids, err));
    for (size_t i = ids.n; i-- > 0;) { /* the oldest first */
        MT_TRY_OUT(mt_run_get(db, ids.v[i], &run, err));
        add_once(out, &run);
    }
out:
    mt_vec_free(&ids);
    return st;
}

/* A line of what was done; names in it make no line of their own. */
__attribute__((format(printf, 2, 3))) static void add_line(struct mt_buf *done, const char *fmt,
                                                           ...)
{
    va_list ap;
    char *line = NULL;
    va_start(ap, fmt);
    if (vasprintf(&line, fmt, ap) >= 0)
        mt_escape_terminal(done, line);
    va_end(ap);
    mt_buf_addc(done, '\n');
    free(line);
}

/* What cannot be meant together. */
static enum mt_status check(const struct mt_run_changes *c, const struct mt_chosen *chosen,
                            struct mt_err *err)
{
    bool edit = c->rename || c->group;
    if (c->remove && edit)
        MT_FAIL(err, MT_EUSAGE, "--delete cannot be combined with --rename or --set-group");
    else if ((c->remove || edit) && !chosen->n)
        MT_FAIL(err, MT_EUSAGE, "no run is named");
    else if (!c->remove && !edit && chosen->n)
        MT_FAIL(err, MT_EUSAGE, "--shrink applies to the database, not to a run");
    else if (c->rename && chosen->n != 1)
        MT_FAIL(err, MT_EUSAGE, "--rename gives one name, but there are %zu runs", chosen->n);
    if (err->code)
        mt_err_hint(err,
                    "Nothing was changed. Write: memtool runs --delete RUN ..., --rename NAME RUN, "
                    "--set-group NAME RUN ..., or --shrink; `memtool runs` lists the runs.");
    return err->code;
}

static enum mt_status set_group(struct mt_db *db, const struct mt_run_changes *c,
                                const struct mt_run *run, struct mt_buf *done, struct mt_err *err)
{
    struct mt_buf left = {0};
    const char *quote = *c->group ? "'" : "";
    enum mt_status st = mt_store_set_group(db, run->id, c->group, &left, err);
    add_line(done, "'%s' (id %lld) is now in %s%s%s%s%s%s", c->rename ? c->rename : run->name,
             (long long)run->id, *c->group ? "group " : "no group", quote, c->group, quote,
             left.n ? ", and no longer in " : "", left.n ? left.s : "");
    mt_buf_free(&left);
    return st;
}

static enum mt_status change(struct mt_db *db, const struct mt_run_changes *c,
                             const struct mt_run *run, struct mt_buf *done, struct mt_err *err)
{
    char ops[MT_HUMAN_MAX], blocks[MT_HUMAN_MAX];
    if (c->remove) {
        MT_TRY(mt_store_delete(db, run->id, err));
        add_line(done, "deleted '%s' (id %lld): %s ops, %s blocks", run->name, (long long)run->id,
                 mt_human_count(run->op_n, ops), mt_human_count(run->alloc_n, blocks));
    }
    if (c->rename) {
        MT_TRY(mt_store_rename(db, run->id, c->rename, err));
        add_line(done, "renamed '%s' (id %lld) to '%s'", run->name, (long long)run->id, c->rename);
    }
    return c->group ? set_group(db, c, run, done, err) : MT_OK;
}

/* All changes in one transaction. */
static enum mt_status change_all(struct mt_db *db, const struct mt_run_changes *c,
                                 const struct mt_chosen *chosen, struct mt_buf *done,
                                 struct mt_err *err)
{
    for (size_t i = 0; i < chosen->n; i++)
        MT_TRY(change(db, c, &chosen->v[i], done, err));
    if (c->remove)
        MT_TRY(mt_store_sweep(db, err));
    return mt_db_commit(db, err);
}

static enum mt_status tell_space(struct mt_db *db, const struct mt_run_changes *c,
                                 struct mt_buf *done, struct mt_err *err)
{
    char size[MT_HUMAN_MAX], rest[MT_HUMAN_MAX];
    int64_t before_b, size_b, free_b;
    MT_TRY(mt_db_space(db, &before_b, &free_b, err));
    if (!c->shrink) {
        if (c->remove)
            add_line(done,
                     "the database keeps its size, %s; %s of it are free for later imports, "
                     "--shrink returns them to the disk",
                     mt_human_bytes(before_b, size), mt_human_bytes(free_b, rest));
        return MT_OK;
    }
    if (mt_db_shrink(db, err) != MT_OK) {
        if (mt_db_is_unwritable(db)) /* its own hint says what to do */
            return err->code;
        err->hint[0] = '\0';
        mt_err_hint(err,
                    "The database could not be shrunk and is as large as it was%s. It needs "
                    "space for a second copy, and nobody else using it; try again.",
                    done->n ? "; the runs are changed as said" : "");
        return err->code;
    }
    MT_TRY(mt_db_space(db, &size_b, &free_b, err));
    add_line(done, "the database shrank from %s to %s", mt_human_bytes(before_b, size),
             mt_human_bytes(size_b, rest));
    return MT_OK;
}

/* For writing a database that is there: none is made. */
static enum mt_status open_for_change(struct mt_db **db, struct mt_err *err)
{
    char *path;
    MT_TRY(mt_open_for_reading(db, err));
    mt_db_close(*db);
    *db = NULL;
    MT_TRY(mt_db_path(mt_common.db, &path, err));
    enum mt_status st = mt_db_open(path, MT_DB_WRITE, db, NULL, err);
    free(path);
    return st;
}

enum mt_status mt_change_runs(const char *const *refs, size_t ref_n, const char *group,
                              const struct mt_run_changes *changes, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_chosen chosen = {0};
    struct mt_buf done = {0};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(open_for_change(&db, err));
    MT_TRY_OUT(mt_db_begin(db, err)); /* what a reference means must not change meanwhile */
    MT_TRY_OUT(mt_choose_runs(db, refs, ref_n, group, true, &chosen, err));
    MT_TRY_OUT(check(changes, &chosen, err));
    MT_TRY_OUT(change_all(db, changes, &chosen, &done, err));
    st = tell_space(db, changes, &done, err);
    fputs(done.n ? done.s : "",
          stdout); /* what was committed is said even where shrinking failed */
out:
    mt_db_close(db);
    mt_vec_free(&chosen);
    mt_buf_free(&done);
    return st;
}
