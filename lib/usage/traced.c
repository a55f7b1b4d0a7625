#include "lib/usage/traced.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A trace in a group of the run. */
struct candidate {
    int64_t run, pid;
    bool to_end; /* it was recorded until the program ended */
};
typedef MT_VEC(struct candidate) candidates;

static enum mt_status find(struct mt_db *db, int64_t run, candidates *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_TRACES_BESIDE, &s, err));
    mt_stmt_bind(s, "i", run);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_vec_push(out) =
            (struct candidate){mt_stmt_int(s, 0), mt_stmt_int_or(s, 1, -1), mt_stmt_int(s, 2)};
    }
}

/* The PID of the command that was recorded; -1: its run does not say. */
static enum mt_status pid_of_command(struct mt_db *db, int64_t run, int64_t *out,
                                     struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = -1;
    MT_TRY(mt_db_query(db, MT_Q_RUN_PID, &s, err));
    mt_stmt_bind(s, "i", run);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    *out = mt_stmt_int_or(s, 0, -1);
    return mt_stmt_step(s, &row, err);
}

/* Whether another device of the run has that PID. */
static enum mt_status is_of_another(struct mt_db *db, const struct mt_run *run, int64_t pid,
                                    bool *is, struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n;
    MT_TRY(mt_run_devices(db, run, &all, &n, err));
    *is = false;
    for (size_t i = 0; i < n; i++) {
        const char *colon = strchr(all[i].name, ':');
        *is |= colon && strtoll(colon + 1, NULL, 10) == pid;
    }
    free(all);
    return MT_OK;
}

/* A process is called "process:PID", the command itself "process". */
enum mt_status mt_process_has_pid(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *process, int64_t pid, bool *is,
                                  struct mt_err *err)
{
    const char *colon = strchr(process->name, ':');
    int64_t own = colon ? strtoll(colon + 1, NULL, 10) : -1;
    *is = false;
    if (!colon && strcmp(process->name, "process") != 0)
        return MT_OK; /* several together */
    if (!colon)
        MT_TRY(pid_of_command(db, run->id, &own, err));
    *is = pid < 0 || own == pid;
    if (own >= 0 || pid < 0)
        return MT_OK;
    bool other;
    MT_TRY(is_of_another(db, run, pid, &other, err));
    *is = !other;
    return MT_OK;
}

static enum mt_status load(struct mt_db *db, const struct mt_run *run, const struct candidate *c,
                           struct mt_traced *t, bool *there, struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n;
    *there = false;
    MT_TRY(mt_run_get(db, c->run, &t->run, err));
    t->offset_ns = mt_wrap_sub(t->run.start_ns, run->start_ns);
    t->known = (struct mt_window){t->offset_ns, mt_wrap_add(t->offset_ns, t->run.dur_ns)};
    if (t->known.from_ns > run->dur_ns || t->known.to_ns < 0)
        return MT_OK;
    if (c->to_end)
        t->known.to_ns = INT64_MAX;
    MT_TRY(mt_run_devices(db, &t->run, &all, &n, err));
    for (size_t i = 0; i < n && !*there; i++) {
        *there = all[i].type == MT_DEVICE_CPU && mt_device_knows(&all[i], MT_KNOWS_LEVEL);
        t->device = all[i];
    }
    free(all);
    if (!*there)
        return MT_OK;
    MT_TRY(mt_levels_load(db, &t->run, &t->device, &t->levels, err));
    for (size_t i = 0; i < t->levels.all.n; i++)
        mt_wrap_inc(&t->levels.all.v[i].t_ns, t->offset_ns);
    return MT_OK;
}

static enum mt_status load_all(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *process, const candidates *found,
                               struct mt_traced_all *out, struct mt_err *err)
{
    for (size_t i = 0; i < found->n; i++) {
        struct mt_traced t = {0};
        bool is;
        MT_TRY(mt_process_has_pid(db, run, process, found->v[i].pid, &is, err));
        if (!is)
            continue;
        enum mt_status st = load(db, run, &found->v[i], &t, &is, err);
        if (st == MT_OK && is)
            *mt_vec_push(&out->all) = t;
        else
            mt_levels_free(&t.levels);
        MT_TRY(st);
    }
    return MT_OK;
}

enum mt_status mt_traced_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *process, struct mt_traced_all *out,
                              struct mt_err *err)
{
    candidates found = {0};
    *out = (struct mt_traced_all){0};
    enum mt_status st = run->start_ns ? find(db, run->id, &found, err) : MT_OK;
    if (st == MT_OK)
        st = load_all(db, run, process, &found, out, err);
    mt_vec_free(&found);
    return st;
}

enum mt_status mt_traced_unplaced(struct mt_db *db, const struct mt_run *run, int64_t *n,
                                  char name[256], struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *n = 0;
    MT_TRY(mt_db_query(db, MT_Q_TRACES_UNPLACED, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    *n = mt_stmt_int(s, 0);
    snprintf(name, 256, "%s", mt_stmt_text(s, 1));
    mt_stmt_end(s);
    return MT_OK;
}

void mt_traced_free(struct mt_traced_all *t)
{
    for (size_t i = 0; i < t->all.n; i++)
        mt_levels_free(&t->all.v[i].levels);
    mt_vec_free(&t->all);
}

void mt_traced_levels(const struct mt_traced_all *t, struct mt_levels *out, struct mt_window *known)
{
    *out = (struct mt_levels){0};
    *known = (struct mt_window){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < t->all.n; i++) {
        const struct mt_traced *one = &t->all.v[i];
        *mt_vec_push(&out->all) = (struct mt_level){one->known.from_ns, one->levels.start_b, 0};
        for (size_t k = 0; k < one->levels.all.n; k++)
            *mt_vec_push(&out->all) = one->levels.all.v[k];
        known->from_ns = i ? known->from_ns : one->known.from_ns;
        known->to_ns = one->known.to_ns;
    }
    out->start_b = out->all.n ? out->all.v[0].level_b : 0;
}
