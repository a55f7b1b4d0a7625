#include "cmd/repeats.h"

#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/ranks.h"
#include "cmd/view.h"
#include "lib/run/job.h"
#include "lib/run/job_folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a command line names the run later: references that move are replaced by the name, and so are
 * beginnings of it, which another run may have tomorrow. */
static void name_of(const char *ref, const struct mt_run *run, char *out, size_t size)
{
    bool moves = !ref || ref[0] == '@' || strncmp(ref, "baseline:", 9) == 0 ||
                 strncmp(ref, run->name, strlen(ref)) == 0;
    snprintf(out, size, "%s", moves ? run->name : ref);
}

static bool is_there(struct mt_loaded *l, const char *content)
{
    uint32_t known_n = l->contents.n;
    return *content && mt_strtab_add(&l->contents, content, strlen(content)) < known_n;
}

/* lives: zeroed, or of another run of the database. */
static enum mt_status add_run(const char *ref, struct mt_db *db, const struct mt_run *run,
                              const struct mt_repeats_asked *asked, struct mt_allocations *lives,
                              struct mt_loaded *out, struct mt_err *err)
{
    if (is_there(out, run->content)) {
        mt_show_note("%s is the same recording as one named before; it counts once.", run->name);
        return MT_OK;
    }
    struct mt_job_place place;
    MT_TRY(mt_job_place(db, run, &place, err));
    struct mt_loaded_run *named = mt_vec_push(&out->runs);
    *named = (struct mt_loaded_run){.id = run->id,
                                    .how_to_record = mt_run_how_to_record(run),
                                    .process = run->kind == MT_RUN_PROCESS,
                                    .rank = place.rank,
                                    .rank_n = place.rank_n};
    if (!place.told)
        mt_folder_hosts(run->source, named->host, sizeof named->host);
    name_of(ref, run, named->name, sizeof named->name);
    memcpy(named->content, run->content, sizeof named->content);
    named->notes = run->notes;
    named->by_frames = run->kind == MT_RUN_SNAPSHOT && asked->narrows && asked->narrows->v.n;
    struct mt_baseline *figures = mt_vec_push(&out->figures.v);
    *figures = (struct mt_baseline){0};
    MT_TRY(mt_allocations_open_sites(db, run, lives, err));
    return mt_baseline_measure(lives, asked->warmup, asked->narrows, figures, err);
}

static enum mt_status load_run(const char *ref, const struct mt_repeats_asked *asked,
                               struct mt_loaded *out, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    struct mt_allocations lives = {0};
    enum mt_status st = mt_open_run(ref, &db, &run, err);
    if (st == MT_OK)
        st = add_run(ref, db, &run, asked, &lives, out, err);
    mt_allocations_close(&lives);
    mt_db_close(db);
    return st;
}

static enum mt_status load_file(const char *path, struct mt_loaded *out, struct mt_err *err)
{
    struct mt_loaded_run *named = mt_vec_push(&out->runs);
    mt_output_spare(path);
    *named = (struct mt_loaded_run){.rank = MT_UNKNOWN, .rank_n = MT_UNKNOWN};
    snprintf(named->name, sizeof named->name, "%s", path);
    return mt_baseline_read(path, mt_vec_push(&out->figures.v), err);
}

static enum mt_status load_group(const struct mt_repeats_asked *asked, struct mt_loaded *out,
                                 struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run_ids ids = {0};
    struct mt_run run;
    struct mt_allocations lives = {0}; /* what runs share is read once */
    enum mt_status st = mt_open_for_reading(&db, err);
    if (st == MT_OK)
        st = mt_runs_of_group(db, asked->group, INT64_MAX, &ids, err);
    for (size_t i = ids.n; i-- > 0 && st == MT_OK;) { /* the oldest first */
        st = mt_run_get(db, ids.v[i], &run, err);
        if (st == MT_OK) {
            mt_output_spare_source(&run);
            st = add_run(NULL, db, &run, asked, &lives, out, err);
        }
    }
    mt_allocations_close(&lives);
    mt_vec_free(&ids);
    mt_db_close(db);
    return st;
}

enum mt_status mt_load_repeats(const struct mt_args *refs, const struct mt_repeats_asked *asked,
                               struct mt_loaded *out, struct mt_err *err)
{
    bool file = false;
    *out = (struct mt_loaded){0};
    mt_strtab_init(&out->contents);
    for (size_t i = 0; i < refs->n; i++) {
        bool this_file = asked->files && mt_baseline_is_file(refs->v[i]);
        MT_TRY(this_file ? load_file(refs->v[i], out, err) : load_run(refs->v[i], asked, out, err));
        file |= this_file;
    }
    if (asked->group)
        MT_TRY(load_group(asked, out, err));
    if (!out->runs.n)
        MT_TRY(load_run(NULL, asked, out, err));
    if (!file || out->runs.n == 1)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "a baseline file cannot be one of several repeats");
    mt_err_hint(err, "Nothing was compared. A file may itself hold several: memtool export "
                     "--baseline RUN RUN ... -o FILE");
    return MT_EUSAGE;
}

bool mt_loaded_are_ranks(const struct mt_loaded *l)
{
    const struct mt_loaded_run *first = NULL;
    bool differ = false;
    for (size_t i = 0; i < l->runs.n; i++) {
        const struct mt_loaded_run *run = &l->runs.v[i];
        if (run->rank == MT_UNKNOWN)
            continue;
        first = first ? first : run;
        differ |= run->rank != first->rank || strcmp(run->host, first->host) != 0;
    }
    return differ;
}

static int rank_cmp(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

char *mt_loaded_missing_ranks(const struct mt_loaded *l)
{
    int64_t *ranks = mt_alloc((l->runs.n + 1) * sizeof *ranks), rank_n = 0;
    bool hosts = false; /* each may count its own */
    for (size_t i = 0; i < l->runs.n; i++) {
        const struct mt_loaded_run *run = &l->runs.v[i];
        ranks[i] = run->rank;
        rank_n = run->rank_n > rank_n ? run->rank_n : rank_n;
        hosts |= run->host[0] != '\0';
    }
    qsort(ranks, l->runs.n, sizeof *ranks, rank_cmp);
    char *text = hosts ? NULL : mt_ranks_missing_text(rank_n, ranks, l->runs.n, NULL);
    free(ranks);
    return text;
}
