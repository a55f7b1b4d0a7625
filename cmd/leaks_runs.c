/* memtool leaks RUN RUN ...: what grows from run to run. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/align.h"
#include "lib/human.h"
#include "lib/leaks.h"
#include "lib/table.h"
#include "lib/wrap.h"
#include <stdlib.h>
#include <string.h>

/* A site, and what of it is alive at the end of each run. */
struct site {
    const char *key[MT_BY_N]; /* owned by the report */
    bool explicit_row;
    int64_t *at_end_b;
};

struct sites {
    struct mt_strtab forms; /* id = index of the site */
    MT_VEC(struct site) all;
    size_t run_n;
    struct mt_run_device device; /* of the run before: all are asked for the same */
};

static struct site *site_of(struct sites *s, const struct mt_live_group *g, int key_n,
                            struct mt_report *r)
{
    struct mt_buf form = {0};
    for (int k = 0; k < key_n; k++) {
        mt_align_form(&form, g->key[k]);
        mt_buf_addc(&form, '\x1f');
    }
    uint32_t id = mt_strtab_add(&s->forms, form.s, form.n);
    mt_buf_free(&form);
    if (id == s->all.n) {
        struct site *new = mt_vec_push(&s->all);
        *new = (struct site){.explicit_row = g->explicit_row,
                             .at_end_b = mt_alloc(s->run_n * sizeof *new->at_end_b)};
        for (int k = 0; k < key_n; k++)
            new->key[k] = mt_report_text(r, g->key[k]);
    }
    return &s->all.v[id];
}

/* What is alive at the end of one run. */
static enum mt_status add_run(struct sites *s, size_t i, const char *ref, const char *device_name,
                              const enum mt_group_key *keys, int key_n, struct mt_report *r,
                              struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    struct mt_lives lives = {0};
    struct mt_live live = {0};
    struct mt_live_groups groups = {0};
    const char *wanted = device_name ? device_name : s->device.id ? s->device.name : NULL;
    bool none = false;
    int others;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_open_run(ref, &db, &run, err));
    MT_TRY_OUT(mt_run_device(db, &run, wanted, &s->device, &none, &others, err));
    if (i == 0 || i == s->run_n - 1) {
        r->runs[i > 0].id = run.id;
        r->runs[i > 0].name = mt_strdup(run.name);
    }
    mt_report_lost(r, run.name, run.lost);
    if (none) {
        st = MT_FAIL(err, MT_EUSAGE, "run '%s' holds no memory records", run.name);
        mt_err_hint(err, "Record them with profile(profile_memory=True).");
        goto out;
    }
    MT_TRY_OUT(mt_lives_known(&run, &s->device, err));
    MT_TRY_OUT(mt_lives_open(db, &run, &lives, err));
    MT_TRY_OUT(mt_live_at(&lives, &s->device, MT_AT_END, &live, err));
    mt_live_groups_init(&groups, &lives, keys, key_n);
    mt_live_groups_add(&groups, &live, live.sum_b, 0);
    for (size_t g = 0; g < groups.rows.n; g++) {
        const struct mt_live_group *group = &groups.rows.v[g];
        mt_wrap_inc(&site_of(s, group, key_n, r)->at_end_b[i], group->at[0].bytes);
    }
    mt_live_groups_free(&groups);
out:
    mt_live_free(&live);
    mt_lives_close(&lives);
    mt_db_close(db);
    return st;
}

enum { RUNS_MIN = 3 }; /* to call growth a leak */

static enum mt_verdict judge(const struct site *site, size_t run_n)
{
    size_t rises = 0, falls = 0;
    for (size_t i = 1; i < run_n; i++) {
        rises += site->at_end_b[i] > site->at_end_b[i - 1];
        falls += site->at_end_b[i] < site->at_end_b[i - 1];
    }
    if (rises == run_n - 1 && run_n >= RUNS_MIN)
        return MT_VERDICT_LEAK;
    return rises && !falls ? MT_VERDICT_CANDIDATE : MT_VERDICT_STATE;
}

static void add_row(struct mt_report *r, const struct site *site, size_t run_n, int key_n,
                    enum mt_verdict verdict)
{
    struct mt_row *row = mt_report_row(r);
    int64_t first = site->at_end_b[0], last = site->at_end_b[run_n - 1];
    int64_t change = mt_wrap_sub(last, first), intervals = (int64_t)run_n - 1;
    int c = 0;
    row->explicit_row = site->explicit_row;
    row->cells[c++] = mt_cell_int(change);
    row->cells[c++] = change % intervals ? mt_cell_real((double)change / (double)intervals)
                                         : mt_cell_int(change / intervals);
    row->cells[c++] = mt_cell_int(first);
    row->cells[c++] = mt_cell_int(last);
    row->cells[c++] = mt_cell_text(mt_verdict_names[verdict]);
    for (int k = 0; k < key_n; k++)
        row->cells[c++] = mt_cell_text(site->key[k]);
}

static void add_columns(struct mt_report *r, const enum mt_group_key *keys, int key_n)
{
    mt_report_column(r, "change_b", "CHANGE", MT_UNIT_CHANGE);
    mt_report_column(r, "per_run_b", "PER RUN", MT_UNIT_CHANGE);
    mt_report_column(r, "first_at_end_b", "FIRST", MT_UNIT_BYTES);
    mt_report_column(r, "at_end_b", "LAST", MT_UNIT_BYTES);
    mt_report_column(r, "verdict", "VERDICT", MT_UNIT_NONE);
    for (int k = 0; k < key_n; k++)
        mt_report_column(r, mt_group_key_names[keys[k]], NULL, MT_UNIT_NONE);
    r->keep_order = true;
    r->empty = "nothing is alive at the end of any run";
}

enum mt_status mt_leaks_over_runs(const struct mt_args *refs, const char *device_name,
                                  const enum mt_group_key *keys, int key_n, int64_t min_b,
                                  struct mt_report *r, struct mt_leaks_answer *answer,
                                  struct mt_err *err)
{
    struct sites s = {.run_n = refs->n};
    enum mt_status st = MT_OK;
    char first[MT_HUMAN_MAX], last[MT_HUMAN_MAX];
    int64_t sum[2] = {0, 0};
    mt_strtab_init(&s.forms);
    add_columns(r, keys, key_n);
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY_OUT(add_run(&s, i, refs->v[i], device_name, keys, key_n, r, err));
    for (size_t i = 0; i < s.all.n; i++) {
        const struct site *site = &s.all.v[i];
        enum mt_verdict verdict = judge(site, s.run_n);
        int64_t change = mt_wrap_sub(site->at_end_b[s.run_n - 1], site->at_end_b[0]);
        add_row(r, site, s.run_n, key_n, verdict);
        if (change / (int64_t)(s.run_n - 1) >= min_b) {
            answer->leaking |= verdict == MT_VERDICT_LEAK;
            answer->unknown |= verdict == MT_VERDICT_CANDIDATE && s.run_n < RUNS_MIN;
        }
        mt_wrap_inc(&sum[0], site->at_end_b[0]);
        mt_wrap_inc(&sum[1], site->at_end_b[s.run_n - 1]);
    }
    const struct mt_sort by_change = {"change_b", true, NULL};
    mt_table_sort(r, &by_change);
    r->title =
        mt_asprintf("%zu runs, %s to %s · alive at the end %s -> %s", s.run_n, r->runs[0].name,
                    r->runs[1].name, mt_human_bytes(sum[0], first), mt_human_bytes(sum[1], last));
    if (answer->unknown)
        mt_report_note(r, "Two runs are too few to call growth a leak; compare %d or more.",
                       RUNS_MIN);
    mt_report_total(r, "first_at_end_b", mt_cell_int(sum[0]));
    mt_report_total(r, "at_end_b", mt_cell_int(sum[1]));
out:
    for (size_t i = 0; i < s.all.n; i++)
        free(s.all.v[i].at_end_b);
    mt_vec_free(&s.all);
    mt_strtab_free(&s.forms);
    return st;
}
