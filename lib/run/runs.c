#include "lib/run/runs.h"

#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/base/mem.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mt_status unknown_run(struct mt_db *db, const char *ref, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    struct mt_buf near = {0};
    MT_FAIL(err, MT_EUSAGE, "there is no run '%s'", ref);
    if (strcmp(ref, "-") == 0) {
        mt_err_hint(err, "`memtool import -` reads standard input; what it imports has a name.");
        return err->code;
    }
    struct mt_err ignored = MT_ERR_INIT;
    if (mt_db_query(db, MT_Q_RUN_NAMES, &s, &ignored) != MT_OK)
        return err->code;
    int shown = 0;
    for (int pass = 0; pass < 2 && !shown; pass++) /* near names, else the latest ones */
        while (mt_stmt_step(s, &row, &ignored) == MT_OK && row) {
            const char *name = mt_stmt_text(s, 0);
            bool close = mt_edit_distance(name, ref) * 2 <= (int)strlen(ref) || strstr(name, ref);
            if ((pass || close) && shown < 5)
                mt_buf_addf(&near, "%s%s", shown++ ? ", " : "", name);
        }
    mt_err_hint(err, "%s%s%s`memtool runs` lists all.", shown ? "Runs: " : "", shown ? near.s : "",
                shown ? ". " : "");
    mt_buf_free(&near);
    return err->code;
}

/* *id = 0 when no run is called so. */
static enum mt_status find_name(struct mt_db *db, const char *ref, int64_t *id, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_BY_NAME, &s, err));
    mt_stmt_bind(s, "s", ref);
    MT_TRY(mt_stmt_step(s, &row, err));
    *id = row ? mt_stmt_int(s, 0) : 0;
    mt_stmt_end(s);
    return MT_OK;
}

/* The number that a reference is in digits, else 0. */
static int64_t number_of(const char *ref)
{
    errno = 0;
    long long number = ref[strspn(ref, "0123456789")] ? 0 : strtoll(ref, NULL, 10);
    return errno ? 0 : number;
}

/* *id = 0 when no run has that id. */
static enum mt_status find_id(struct mt_db *db, const char *ref, int64_t *id, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *id = 0;
    int64_t number = number_of(ref);
    if (!number)
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_RUN_EXISTS, &s, err));
    mt_stmt_bind(s, "i", number);
    MT_TRY(mt_stmt_step(s, &row, err));
    *id = row ? number : 0;
    mt_stmt_end(s);
    return MT_OK;
}

/* *id = 0 when no name begins so. */
static enum mt_status match_name(struct mt_db *db, const char *ref, int64_t *id, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    struct mt_buf all = {0};
    int n = 0;
    enum mt_status st = MT_OK;
    *id = 0;
    MT_TRY(mt_db_query(db, MT_Q_RUN_MATCH, &s, err));
    mt_stmt_bind(s, "s", ref);
    for (;;) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        if (n++ == 0)
            *id = mt_stmt_int(s, 0);
        mt_buf_addf(&all, "%s%s", n > 1 ? ", " : "", mt_stmt_text(s, 1));
    }
    if (n > 1) {
        st = MT_FAIL(err, MT_EUSAGE, "'%s' could be several runs: %s", ref, all.s);
        mt_err_hint(err, "Give more of the name.");
    }
out:
    mt_stmt_end(s);
    mt_buf_free(&all);
    return st;
}

static enum mt_status latest(struct mt_db *db, int64_t back, int64_t *id, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_LATEST, &s, err));
    mt_stmt_bind(s, "i", back);
    MT_TRY(mt_stmt_step(s, &row, err));
    *id = row ? mt_stmt_int(s, 0) : 0;
    mt_stmt_end(s);
    if (*id)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE,
            back ? "there are not that many runs" : "the database holds no run yet");
    mt_err_hint(err, back ? "`memtool runs` lists them, the latest last."
                          : "Import one: memtool import trace.json");
    return MT_EUSAGE;
}

enum mt_status mt_runs_of_group(struct mt_db *db, const char *group, int64_t most,
                                struct mt_run_ids *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    struct mt_buf known = {0};
    MT_TRY(mt_db_query(db, MT_Q_RUN_OF_GROUP, &s, err));
    mt_stmt_bind(s, "si", group, most);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        *mt_vec_push(out) = mt_stmt_int(s, 0);
    }
    if (out->n)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "there is no group '%s'", group);
    struct mt_err ignored = MT_ERR_INIT;
    if (mt_db_query(db, MT_Q_GROUP_NAMES, &s, &ignored) == MT_OK)
        while (mt_stmt_step(s, &row, &ignored) == MT_OK && row)
            mt_buf_addf(&known, "%s%s", known.n ? ", " : "", mt_stmt_text(s, 0));
    mt_err_hint(err, "%s%s%s`memtool import --group NAME` makes one.", known.n ? "Groups: " : "",
                known.n ? known.s : "", known.n ? ". " : "");
    mt_buf_free(&known);
    return MT_EUSAGE;
}

enum mt_status mt_group_latest(struct mt_db *db, char *out, size_t size, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_GROUP_NAMES, &s, err));
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row) {
        snprintf(out, size, "%s", mt_stmt_text(s, 0));
        while (row)
            MT_TRY(mt_stmt_step(s, &row, err));
        return MT_OK;
    }
    MT_FAIL(err, MT_EUSAGE, "no run is in a group");
    mt_err_hint(err, "`memtool import FOLDER --group NAME` makes one, `memtool runs --set-group "
                     "NAME RUN ...` of runs that are there.");
    return MT_EUSAGE;
}

/* The latest run of a group. */
static enum mt_status latest_of(struct mt_db *db, const char *group, int64_t *id,
                                struct mt_err *err)
{
    struct mt_run_ids ids = {0};
    enum mt_status st = mt_runs_of_group(db, group, 1, &ids, err);
    *id = ids.n ? ids.v[0] : 0;
    mt_vec_free(&ids);
    return st;
}

static enum mt_status resolve(struct mt_db *db, const char *ref, int64_t *id, struct mt_err *err)
{
    char *end;
    if (!ref || strcmp(ref, "@latest") == 0)
        return latest(db, 0, id, err);
    if (!*ref) {
        MT_FAIL(err, MT_EUSAGE, "the name of the run is empty");
        mt_err_hint(err, "Is a variable not set? `memtool runs` lists the runs.");
        return MT_EUSAGE;
    }
    if (strncmp(ref, "@latest~", 8) == 0) {
        long long back = strtoll(ref + 8, &end, 10);
        if (*end == '\0' && back >= 0)
            return latest(db, back, id, err);
    }
    if (strncmp(ref, "baseline:", 9) == 0)
        return latest_of(db, ref + 9, id, err);
    MT_TRY(find_name(db, ref, id, err));
    if (!*id)
        MT_TRY(find_id(db, ref, id, err));
    if (!*id)
        MT_TRY(match_name(db, ref, id, err));
    return *id ? MT_OK : unknown_run(db, ref, err);
}

bool mt_run_is_id(const char *ref, const struct mt_run *run)
{
    return *ref && number_of(ref) == run->id;
}

bool mt_run_is_beginning(const char *ref, const struct mt_run *run)
{
    size_t n = strlen(ref);
    return strncmp(run->name, ref, n) == 0 && run->name[n] && !mt_run_is_id(ref, run);
}

bool mt_device_is_bounded(const struct mt_run_device *device)
{
    return device->unseen_n || device->alloc_unseen_n || device->doubt_at_peak_b ||
           device->doubt_at_end_b;
}

const char *mt_at_most(const struct mt_run_device *device, int64_t level_b)
{
    bool sure = !level_b || (level_b == device->peak_b && !device->doubt_at_peak_b);
    return mt_device_is_bounded(device) && !sure ? "at most " : "";
}

const char *mt_peak_words(const struct mt_run_device *device, char words[MT_HUMAN_LONG])
{
    char peak[MT_HUMAN_MAX];
    if (device->one_moment || device->peak_b == MT_UNKNOWN)
        return "unknown";
    snprintf(words, MT_HUMAN_LONG, "%s%s", mt_at_most(device, device->peak_b),
             mt_human_bytes(device->peak_b, peak));
    return words;
}

bool mt_run_same(const struct mt_run *a, const struct mt_run *b)
{
    return a->content[0] && strcmp(a->content, b->content) == 0;
}

/* What a run says of itself makes room and indexes it: its counts must be ones that can be. */
static enum mt_status check_counts(const struct mt_run *r, struct mt_err *err)
{
    const int64_t counts[] = {r->op_n, r->record_n, r->record_end, r->alloc_n, r->node_n};
    const int64_t firsts[] = {r->op_first, r->alloc_first, r->node_first};
    bool sound = true;
    for (size_t i = 0; i < MT_ARRAY_LEN(counts); i++)
        sound &= counts[i] >= 0 && counts[i] < UINT32_MAX;
    for (size_t i = 0; i < MT_ARRAY_LEN(firsts); i++)
        sound &= firsts[i] >= 0 && firsts[i] < INT64_MAX - UINT32_MAX;
    if (sound)
        return MT_OK;
    MT_FAIL(err, MT_EDB, "the database is damaged: run '%s' cannot have as many rows as it says",
            r->name);
    mt_err_hint(err,
                "Nothing was changed. Import the recording again, into a new database (--db).");
    return MT_EDB;
}

/* A damaged database may say anything. */
static enum mt_run_kind kind_of(int64_t kind)
{
    return kind >= 0 && kind < MT_RUN_KIND_N ? (enum mt_run_kind)kind : MT_RUN_TRACE;
}

/* Of a run of records, each device says itself what it frees that is older (mt_report_older). */
static enum mt_status read_notes(struct mt_db *db, struct mt_run *run, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row, records = run->kind == MT_RUN_TRACE || run->kind == MT_RUN_SNAPSHOT;
    MT_TRY(mt_db_query(db, MT_Q_RUN_NOTES, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const char *kind = mt_stmt_text(s, 0);
        if (!records || strcmp(kind, mt_note_names[MT_NOTE_BEFORE]) != 0)
            mt_run_notes_add(&run->notes, kind, mt_stmt_text(s, 1));
    }
}

enum mt_status mt_run_get(struct mt_db *db, int64_t id, struct mt_run *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_GET, &s, err));
    mt_stmt_bind(s, "i", id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_FAIL(err, MT_EUSAGE, "there is no run %lld", (long long)id);
    *out = (struct mt_run){.id = mt_stmt_int(s, 0),
                           .start_ns = mt_stmt_int(s, 5),
                           .dur_ns = mt_stmt_int_or(s, 6, 0),
                           .whole_us = mt_stmt_int(s, 7) != 0,
                           .event_n = mt_stmt_int(s, 8),
                           .op_n = mt_stmt_int(s, 9),
                           .record_n = mt_stmt_int(s, 10),
                           .alloc_n = mt_stmt_int(s, 11),
                           .node_n = mt_stmt_int(s, 12),
                           .op_first = mt_stmt_int(s, 13),
                           .alloc_first = mt_stmt_int(s, 14),
                           .node_first = mt_stmt_int(s, 15),
                           .record_end = mt_stmt_int(s, 16),
                           .unwritten = mt_stmt_int(s, 18) != 0,
                           .kind = kind_of(mt_stmt_int(s, 19)),
                           .resolution_ns = mt_stmt_int_or(s, 21, 0),
                           .imported_by = (int)mt_stmt_int_or(s, 22, MT_SCHEMA_VERSION)};
    snprintf(out->name, sizeof out->name, "%s", mt_stmt_text(s, 1));
    snprintf(out->source, sizeof out->source, "%s", mt_stmt_text(s, 2));
    snprintf(out->format, sizeof out->format, "%s", mt_stmt_text(s, 3));
    snprintf(out->step_marker, sizeof out->step_marker, "%s", mt_stmt_text(s, 4));
    snprintf(out->content, sizeof out->content, "%s", mt_stmt_text(s, 17));
    snprintf(out->time_unit, sizeof out->time_unit, "%s", mt_stmt_text(s, 20));
    mt_stmt_end(s);
    MT_TRY(read_notes(db, out, err));
    return check_counts(out, err);
}

enum mt_status mt_run_find(struct mt_db *db, const char *ref, struct mt_run *out,
                           struct mt_err *err)
{
    int64_t id;
    MT_TRY(resolve(db, ref, &id, err));
    return mt_run_get(db, id, out, err);
}

static void read_device(const struct mt_stmt *s, struct mt_run_device *d)
{
    int c = 3;
    *d = (struct mt_run_device){.id = mt_stmt_int(s, 0), .type = (int)mt_stmt_int(s, 2)};
    int64_t *const figures[] = {&d->alloc_b,          &d->freed_b,         &d->net_b,
                                &d->alloc_n,          &d->freed_n,         &d->start_b,
                                &d->peak_b,           &d->peak_ns,         &d->peak_record,
                                &d->at_end_b,         &d->at_end_n,        &d->before_freed_b,
                                &d->before_at_peak_b, &d->outside_n,       &d->outside_alloc_b,
                                &d->outside_freed_b,  &d->outside_alloc_n, &d->outside_at_peak_b,
                                &d->outside_at_end_b, &d->older_b,         &d->unseen_b,
                                &d->unseen_n,         &d->doubt_at_peak_b, &d->doubt_at_end_b,
                                &d->alloc_unseen_b,   &d->alloc_unseen_n,  &d->one_moment,
                                &d->older_least_b,    &d->older_most_b,    &d->older_used,
                                &d->total_peak_b,     &d->above_b,         &d->below_b,
                                &d->missing_b};
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++, c++)
        *figures[i] = mt_stmt_int_or(s, c, INT64_MIN);
    snprintf(d->name, sizeof d->name, "%s", mt_stmt_text(s, 1));
    snprintf(d->shown, sizeof d->shown, "%s", d->name);
    d->knows = (unsigned)mt_stmt_int(s, c++) & ~MT_KNOWS_FREED;
    d->knows |= d->freed_b != MT_UNKNOWN ? MT_KNOWS_FREED : 0u;
    d->frees_nothing = d->alloc_n > 0 && d->freed_n == 0;
    snprintf(d->older_from, sizeof d->older_from, "%s", mt_stmt_text(s, c));
}

const char *mt_device_categories(const struct mt_run_device *device)
{
    return device->only ? device->shown + strlen(device->name) + strlen(": ") : "";
}

int64_t mt_run_kept(const struct mt_run *run, const struct mt_run_device *device)
{
    return device->older_from[0] && !mt_run_is_snapshot(run)
               ? mt_wrap_sub(device->start_b, device->before_freed_b)
               : 0;
}

int64_t mt_run_written_ns(const struct mt_run *run)
{
    const int64_t epoch = INT64_C(1000000000000000000); /* other clocks begin when a machine does */
    bool dump = run->kind == MT_RUN_SNAPSHOT || (run->kind == MT_RUN_HEAP && !*run->time_unit);
    int64_t at = mt_wrap_add(run->start_ns, run->kind == MT_RUN_SNAPSHOT ? run->dur_ns : 0);
    return dump && at >= epoch ? at : MT_UNKNOWN;
}

bool mt_run_is_older(const struct mt_run *run)
{
    /* when traces got tensors, after categories, and snapshots got categories */
    static const int since[MT_RUN_KIND_N] = {[MT_RUN_TRACE] = 11, [MT_RUN_SNAPSHOT] = 13};
    return run->imported_by < since[run->kind];
}

bool mt_run_is_snapshot(const struct mt_run *run)
{
    return strcmp(run->format, "cuda-snapshot") == 0;
}

const char *mt_run_how_to_record(const struct mt_run *run)
{
    if (run->kind != MT_RUN_TRACE && run->kind != MT_RUN_SNAPSHOT)
        return "Nothing was allocated while it was recorded, or the file ends before that.";
    if (mt_run_is_snapshot(run))
        return "This snapshot has neither segments nor events; record history with "
               "torch.cuda.memory._record_memory_history() before the run.";
    if (mt_run_notes_lost(&run->notes))
        return "The part of the file that was read has no memory records: PyTorch writes them "
               "after the "
               "ops. "
               "Copy the whole file and import it again, or record again.";
    if (run->unwritten)
        return "This run was recorded with profile_memory=True, but PyTorch wrote no memory "
               "records; "
               "profile_all_threads=True writes none, record without it.";
    return run->op_n ? "Memory is recorded with profile(profile_memory=True)."
                     : "This run has no ops either. A profiler with a schedule discards one cycle "
                       "as the next begins: export in on_trace_ready, or give the schedule "
                       "repeat=1.";
}

const char *mt_run_how_to_mark(const struct mt_run *run)
{
    return mt_kind_words[run->kind].no_steps;
}

enum mt_status mt_run_devices(struct mt_db *db, const struct mt_run *run,
                              struct mt_run_device **out, size_t *n, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_VEC(struct mt_run_device) all = {0};
    MT_TRY(mt_db_query(db, MT_Q_DEVICES, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        enum mt_status st = mt_stmt_step(s, &row, err);
        if (st != MT_OK)
            mt_vec_free(&all);
        MT_TRY(st);
        if (!row)
            break;
        read_device(s, mt_vec_push(&all));
    }
    *out = all.v;
    *n = all.n;
    return MT_OK;
}

enum mt_status mt_run_device(struct mt_db *db, const struct mt_run *run, const char *name,
                             struct mt_run_device *out, bool *none, int *other_n,
                             struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n, found;
    MT_TRY(mt_run_devices(db, run, &all, &n, err));
    found = n;
    for (int whole = 1; whole >= 0 && found == n; whole--)
        for (found = 0; found < n; found++)
            if (mt_device_is(all[found].name, name, whole))
                break;
    *none = found == n;
    *other_n = (int)n - 1;
    if (found < n)
        *out = all[found];
    else if (name) {
        struct mt_buf list = {0};
        for (size_t i = 0; i < n; i++)
            mt_buf_addf(&list, "%s%s", i ? ", " : "", all[i].name);
        MT_FAIL(err, MT_EUSAGE, "run '%s' has no device '%s'", run->name, name);
        if (n)
            mt_err_hint(err, "Devices: %s.", list.s);
        else
            mt_err_hint(err, "%s", mt_run_how_to_record(run));
        mt_buf_free(&list);
    }
    free(all);
    return err->code;
}
