#include "cmd/repeats.h"

#include "cmd/common.h"
#include "cmd/output.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a command line names the run later: references that move are replaced by the name. */
static void name_of(const char *ref, const struct mt_run *run, char *out, size_t size)
{
    bool moves = !ref || ref[0] == '@' || strncmp(ref, "baseline:", 9) == 0;
    snprintf(out, size, "%s", moves ? run->name : ref);
}

/* By what was recorded: a run may be in two databases, under two names. */
static bool same_recording(const struct mt_loaded_run *a, const struct mt_loaded_run *b)
{
    return a->id && b->id && strcmp(a->hash, b->hash) == 0;
}

static enum mt_status add_run(const char *ref, struct mt_db *db, const struct mt_run *run,
                              int64_t warmup, struct mt_loaded *out, struct mt_err *err)
{
    struct mt_loaded_run named = {.id = run->id};
    MT_TRY(mt_run_hash(db, run, named.hash, sizeof named.hash, err));
    size_t known_n = out->hashes.n;
    if (mt_strtab_add(&out->hashes, named.hash, strlen(named.hash)) < known_n) {
        mt_show_note("%s is the same recording as one named before, and counts once.", run->name);
        return MT_OK;
    }
    name_of(ref, run, named.name, sizeof named.name);
    memcpy(named.lost, run->lost, sizeof named.lost);
    *mt_vec_push(&out->runs) = named;
    return mt_baseline_measure(db, run, warmup, mt_vec_push(&out->figures.v), err);
}

static enum mt_status load_run(const char *ref, int64_t warmup, struct mt_loaded *out,
                               struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    enum mt_status st = mt_open_run(ref, &db, &run, err);
    if (st == MT_OK)
        st = add_run(ref, db, &run, warmup, out, err);
    mt_db_close(db);
    return st;
}

static enum mt_status load_file(const char *path, struct mt_loaded *out, struct mt_err *err)
{
    struct mt_loaded_run *named = mt_vec_push(&out->runs);
    mt_output_spare(path);
    *named = (struct mt_loaded_run){0};
    snprintf(named->name, sizeof named->name, "%s", path);
    return mt_baseline_read(path, mt_vec_push(&out->figures.v), err);
}

static enum mt_status load_group(const char *group, int64_t warmup, struct mt_loaded *out,
                                 struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run_names names = {0};
    enum mt_status st = mt_open_for_reading(&db, err);
    if (st == MT_OK)
        st = mt_runs_of_group(db, group, INT64_MAX, &names, err);
    for (size_t i = names.n; i-- > 0 && st == MT_OK;) /* the oldest first */
        st = load_run(names.v[i], warmup, out, err);
    mt_run_names_free(&names);
    mt_db_close(db);
    return st;
}

enum mt_status mt_load_repeats(const struct mt_args *refs, const char *group, bool files,
                               int64_t warmup, struct mt_loaded *out, struct mt_err *err)
{
    bool file = false;
    *out = (struct mt_loaded){0};
    mt_strtab_init(&out->hashes);
    for (size_t i = 0; i < refs->n; i++) {
        bool this_file = files && mt_baseline_is_file(refs->v[i]);
        MT_TRY(this_file ? load_file(refs->v[i], out, err)
                         : load_run(refs->v[i], warmup, out, err));
        file |= this_file;
    }
    if (group)
        MT_TRY(load_group(group, warmup, out, err));
    if (!out->runs.n)
        MT_TRY(load_run(NULL, warmup, out, err));
    if (!file || out->runs.n == 1)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "a baseline file cannot be one of several repeats");
    mt_err_hint(err, "Nothing was compared. A file may itself hold several: memtool export "
                     "--baseline RUN RUN ... -o FILE");
    return MT_EUSAGE;
}

void mt_loaded_free(struct mt_loaded *l)
{
    mt_repeats_free(&l->figures);
    if (l->hashes.slot)
        mt_strtab_free(&l->hashes);
    mt_vec_free(&l->runs);
}

bool mt_loaded_overlap(const struct mt_loaded *a, const struct mt_loaded *b)
{
    for (size_t i = 0; i < a->runs.n; i++)
        for (size_t k = 0; k < b->runs.n; k++)
            if (same_recording(&a->runs.v[i], &b->runs.v[k]))
                return true;
    return false;
}
