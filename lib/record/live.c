#include "lib/record/live.h"

#include "gen/queries.h"
#include "lib/record/live_said.h"
#include "lib/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LEVELS = 1 << 14, /* of a process, before intervals grow */
    GROW = 8
};

/* What the database has of a process, and its levels that are not in the curve yet. */
struct written {
    int64_t pid, device, chunk; /* ids; 0: none yet */
    bool changed;
    int64_t stride, taken, levels; /* levels of an interval, those of this one, and kept so far */
    struct mt_level min, max, last;
};

/* From when on something of a process is not there any more. */
struct end {
    size_t process;
    int64_t t_ns;
    const char *action; /* of the event that says so */
};

struct mt_live {
    struct mt_db *db;
    int64_t run, sample_n, meta_n;
    char name[256], hash[40];
    struct mt_recording rec; /* what waits to be written */
    struct mt_process_log log;
    MT_VEC(struct written) all;
    MT_VEC(struct end) ends; /* that are not written yet */
    struct mt_live_said said;
};

/* ---- the run ---- */

/* Nothing else is called so. */
static void make_hash(char hash[40])
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(hash, 40, "recorded-%llx-%x",
             (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec,
             (unsigned)getpid());
}

static enum mt_status note_unended(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(live->db, MT_Q_NOTE_ADD, &s, err));
    mt_stmt_bind(s, "isiIis", live->run, mt_note_names[MT_NOTE_CUT], (int64_t)1, INT64_MIN,
                 (int64_t)0,
                 "the recorder has not ended: it was killed, or still runs; what it saw is kept");
    return mt_stmt_run(s, err);
}

/* The run, with the note, in one transaction. */
static enum mt_status make_run(struct mt_live *live, const struct mt_recording *rec,
                               const struct mt_store_opts *how, struct mt_err *err)
{
    struct mt_store_result stored = {0};
    MT_TRY(mt_db_begin_alone(live->db, err));
    enum mt_status st = mt_store_in(live->db, rec, how, &stored, err);
    mt_buf_free(&stored.joined);
    mt_buf_free(&stored.latest);
    live->run = stored.run_id;
    snprintf(live->name, sizeof live->name, "%s", stored.name);
    if (st == MT_OK)
        st = note_unended(live, err);
    if (st == MT_OK)
        st = mt_db_commit(live->db, err);
    if (st != MT_OK)
        mt_db_rollback(live->db);
    return st;
}

enum mt_status mt_live_open(struct mt_db *db, const struct mt_live_opts *opts, struct mt_live **out,
                            struct mt_err *err)
{
    struct mt_recording rec;
    struct mt_live *live = mt_alloc(sizeof *live);
    *live = (struct mt_live){.db = db};
    mt_rec_init(&live->rec);
    mt_process_open(&live->log, &live->rec);
    make_hash(live->hash);
    mt_rec_init(&rec);
    rec.format = "record";
    rec.kind = MT_RUN_PROCESS;
    rec.summed = rec.without_ops = true;
    rec.time_unit = "ns";
    rec.start_ns = rec.end_ns = 0;
    rec.base_ns = opts->start_ns;
    rec.resolution_ns = opts->interval_ns;
    mt_rec_meta_text(&rec, "cmd", opts->command, strlen(opts->command));
    if (opts->torch)
        mt_rec_meta(&rec, "with_torch", "true", 4);
    live->meta_n = (int64_t)rec.meta.n;
    const struct mt_store_opts how = {
        .name = opts->name, .source = opts->program, .hash = live->hash};
    enum mt_status st = make_run(live, &rec, &how, err);
    mt_rec_free(&rec);
    *out = live;
    if (st != MT_OK) {
        mt_live_free(live);
        *out = NULL;
    }
    return st;
}

void mt_live_free(struct mt_live *live)
{
    if (!live)
        return;
    mt_process_free(&live->log);
    mt_rec_free(&live->rec);
    mt_vec_free(&live->all);
    mt_vec_free(&live->ends);
    mt_live_said_free(&live->said);
    free(live);
}

const char *mt_live_name(const struct mt_live *live)
{
    return live->name;
}

/* ---- what was seen ---- */

void mt_seen_free(const struct mt_seen *seen)
{
    if (seen->kind == MT_SEEN_MARK || seen->kind == MT_SEEN_DAMAGED)
        free(seen->text);
}

static enum mt_status put_level(struct mt_live *live, size_t i, const struct mt_level *l,
                                struct mt_err *err)
{
    struct written *w = &live->all.v[i];
    w->changed = true;
    if (++w->levels % LEVELS == 0)
        w->stride *= GROW;
    return mt_process_level(&live->log, i, l->t_ns, l->level_b, err);
}

/* The extremes of the interval and its last level, in order of time. */
static enum mt_status end_interval(struct mt_live *live, size_t i, struct mt_err *err)
{
    struct written *w = &live->all.v[i];
    const struct mt_level min = w->min, max = w->max, last = w->last;
    if (!w->taken)
        return MT_OK;
    w->taken = 0;
    bool min_first = min.t_ns <= max.t_ns;
    if (min.t_ns < last.t_ns || max.t_ns < last.t_ns) {
        const struct mt_level *a = min_first ? &min : &max, *b = min_first ? &max : &min;
        if (a->t_ns < last.t_ns)
            MT_TRY(put_level(live, i, a, err));
        if (b->t_ns < last.t_ns && b->t_ns > a->t_ns)
            MT_TRY(put_level(live, i, b, err));
    }
    return put_level(live, i, &last, err);
}

static enum mt_status take_level(struct mt_live *live, size_t i, int64_t t, int64_t bytes,
                                 struct mt_err *err)
{
    struct written *w = &live->all.v[i];
    const struct mt_level l = {t, bytes, 0};
    if (!w->taken++) {
        w->min = w->max = l;
    } else {
        w->min = bytes < w->min.level_b ? l : w->min;
        w->max = bytes > w->max.level_b ? l : w->max;
    }
    w->last = l;
    return w->taken < w->stride ? MT_OK : end_interval(live, i, err);
}

static enum mt_status take(struct mt_live *live, const struct mt_seen *s, struct mt_err *err)
{
    size_t i;
    switch (s->kind) {
    case MT_SEEN_PROCESS:
        MT_TRY(mt_process_of(&live->log, (int64_t)live->all.n - 1, &i, err));
        *mt_vec_push(&live->all) = (struct written){.pid = s->value, .stride = 1, .changed = true};
        live->log.all.v[i].older = s->older;
        return MT_OK;
    case MT_SEEN_LEVEL:
        return take_level(live, s->process, s->t_ns, s->value, err);
    case MT_SEEN_PEAK:
        MT_TRY(end_interval(live, s->process, err));
        live->all.v[s->process].changed = true;
        return mt_process_peak(&live->log, s->process, s->value, err);
    case MT_SEEN_END:
        *mt_vec_push(&live->ends) = (struct end){s->process, s->t_ns, "exit"};
        return MT_OK;
    case MT_SEEN_UNCOUNTED:
        *mt_vec_push(&live->ends) = (struct end){s->process, s->t_ns, "malloc_end"};
        return MT_OK;
    case MT_SEEN_SAMPLE:
        return mt_process_sample(&live->log, s->process, s->metric, s->t_ns, s->value, err);
    default:
        if (mt_live_said_take(&live->said, s, &live->rec))
            for (i = 0; i < live->all.n; i++)
                live->all.v[i].changed = true; /* it knows steps from now on */
        return MT_OK;
    }
}

enum mt_status mt_live_take(struct mt_live *live, const struct mt_seen *seen, size_t n,
                            struct mt_err *err)
{
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < n; i++) {
        if (st == MT_OK)
            st = take(live, &seen[i], err);
        mt_seen_free(&seen[i]);
    }
    return st;
}

/* ---- into the database ---- */

/* The command is "process"; its descendants have their PIDs, later ones of a PID a number, too; all
 * of them are "processes". */
static enum mt_status add_device(struct mt_live *live, size_t i, struct mt_err *err)
{
    struct mt_stmt *s;
    struct written *w = &live->all.v[i];
    char name[64];
    int again = 1;
    mt_device_name(MT_DEVICE_PROCESS, i ? (int)w->pid : -1, name);
    if (w->pid == MT_PROCESSES)
        snprintf(name, sizeof name, MT_PROCESSES_NAME);
    for (size_t k = 1; k < i; k++)
        again += live->all.v[k].pid == w->pid;
    if (i && again > 1)
        snprintf(name + strlen(name), 16, ":%d", again);
    MT_TRY(mt_db_query(live->db, MT_Q_LIVE_DEVICE_ADD, &s, err));
    mt_stmt_bind(s, "isii", live->run, name, (int64_t)MT_DEVICE_PROCESS, i ? w->pid : -1);
    MT_TRY(mt_stmt_run(s, err));
    w->device = mt_db_last_id(live->db);
    return MT_OK;
}

/* A chunk that is full, or not yet: it is written anew until it is. */
static enum mt_status write_chunk(struct mt_live *live, size_t i, const struct mt_usage_chunk *c,
                                  const char *packed, size_t n, bool full, struct mt_err *err)
{
    struct mt_stmt *s;
    struct written *w = &live->all.v[i];
    if (w->chunk) {
        MT_TRY(mt_db_query(live->db, MT_Q_LIVE_CHUNK, &s, err));
        mt_stmt_bind(s, "iiiiiiiiiiiibi", c->start_b, c->first_record, c->first_ns, c->min.t_ns,
                     c->min.level_b, c->min.record, c->max.t_ns, c->max.level_b, c->max.record,
                     c->last.t_ns, c->last.level_b, c->last.record, packed, n, w->chunk);
        MT_TRY(mt_stmt_run(s, err));
    } else {
        MT_TRY(mt_db_query(live->db, MT_Q_CHUNK_ADD, &s, err));
        mt_stmt_bind(s, "iiiiiiiiiiiiib", w->device, c->start_b, c->first_record, c->first_ns,
                     c->min.t_ns, c->min.level_b, c->min.record, c->max.t_ns, c->max.level_b,
                     c->max.record, c->last.t_ns, c->last.level_b, c->last.record, packed, n);
        MT_TRY(mt_stmt_run(s, err));
        w->chunk = mt_db_last_id(live->db);
    }
    if (full)
        w->chunk = 0;
    return MT_OK;
}

static enum mt_status write_curve(struct mt_live *live, struct mt_err *err)
{
    struct mt_curve *c = &live->rec.history.curve;
    for (size_t i = 0; i < c->chunks.n; i++) {
        const struct mt_usage_chunk *k = &c->chunks.v[i];
        MT_TRY(write_chunk(live, k->device, k, c->packed.s + k->at, k->bytes, true, err));
    }
    c->chunks.n = 0;
    mt_buf_clear(&c->packed);
    for (size_t i = 0; i < live->all.n; i++) {
        const struct mt_packer *p = &live->log.all.v[i].packer;
        if (live->all.v[i].changed && p->now.change_n)
            MT_TRY(write_chunk(live, i, &p->now, p->packed.s, p->packed.n, false, err));
    }
    return MT_OK;
}

static enum mt_status write_devices(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    for (size_t i = 0; i < live->all.n; i++) {
        struct written *w = &live->all.v[i];
        const struct mt_process *p = &live->log.all.v[i];
        if (!w->changed)
            continue;
        MT_TRY(mt_db_query(live->db, MT_Q_LIVE_DEVICE, &s, err));
        mt_stmt_bind(s, "iiIIIi", w->device, p->start_b, p->peak_b, p->peak_ns,
                     p->peak_ns == MT_UNKNOWN ? MT_UNKNOWN : p->peak_level,
                     (int64_t)(mt_process_knows(p) | (live->said.step_n ? MT_KNOWS_STEPS : 0)));
        MT_TRY(mt_stmt_run(s, err));
        w->changed = false;
    }
    return MT_OK;
}

static enum mt_status write_samples(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_recording *r = &live->rec;
    for (size_t i = 0; i < r->samples.n; i++) {
        const struct mt_sample *p = &r->samples.v[i];
        MT_TRY(mt_db_query(live->db, MT_Q_SAMPLE_ADD, &s, err));
        mt_stmt_bind(s, "iiiisiIIII", live->run, live->sample_n++, live->all.v[p->device].device,
                     p->t_ns, mt_metric_names[p->metric], p->value, INT64_MIN, INT64_MIN, INT64_MIN,
                     INT64_MIN);
        MT_TRY(mt_stmt_run(s, err));
    }
    r->samples.n = 0;
    return MT_OK;
}

/* Where curves end that go no further. */
static enum mt_status write_ends(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    for (size_t i = 0; i < live->ends.n; i++) {
        const struct end *e = &live->ends.v[i];
        MT_TRY(mt_db_query(live->db, MT_Q_EVENT_ADD, &s, err));
        mt_stmt_bind(s, "iiiiIsiis", live->run, live->said.mark_n++, live->all.v[e->process].device,
                     e->t_ns, INT64_MIN, e->action, (int64_t)0, (int64_t)0, NULL);
        MT_TRY(mt_stmt_run(s, err));
    }
    live->ends.n = 0;
    return MT_OK;
}

static enum mt_status write_meta(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_recording *r = &live->rec;
    for (size_t i = 0; i < r->meta.n; i++) {
        MT_TRY(mt_db_query(live->db, MT_Q_META_ADD, &s, err));
        mt_stmt_bind(s, "iiss", live->run, live->meta_n++,
                     mt_strtab_get(&r->strings, r->meta.v[i].key),
                     mt_strtab_get(&r->strings, r->meta.v[i].value));
        MT_TRY(mt_stmt_run(s, err));
    }
    r->meta.n = 0;
    return MT_OK;
}

static enum mt_status write_notes(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_buf text = {0};
    enum mt_status st = MT_OK;
    for (int i = 0; i < MT_NOTE_N && st == MT_OK; i++) {
        const struct mt_note *n = &live->rec.notes[i];
        if (!n->count)
            continue;
        mt_buf_clear(&text);
        mt_note_text(&text, (enum mt_note_kind)i, n);
        st = mt_db_query(live->db, MT_Q_NOTE_ADD, &s, err);
        if (st != MT_OK)
            break;
        mt_stmt_bind(s, "isiIis", live->run, mt_note_names[i], (int64_t)n->count, INT64_MIN,
                     n->bytes, text.s);
        st = mt_stmt_run(s, err);
    }
    mt_buf_free(&text);
    return st;
}

/* Another run may have the id of one that was deleted. */
static enum mt_status check_there(struct mt_live *live, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(live->db, MT_Q_RUN_BY_HASH, &s, err));
    mt_stmt_bind(s, "s", live->hash);
    MT_TRY(mt_stmt_step(s, &row, err));
    bool there = row && mt_stmt_int(s, 0) == live->run;
    mt_stmt_end(s);
    if (there)
        return MT_OK;
    MT_FAIL(err, MT_EDB, "run '%s' was deleted while it was recorded", live->name);
    live->name[0] = '\0';
    return MT_EDB;
}

static enum mt_status write_all(struct mt_live *live, int64_t t_ns, bool ended, struct mt_err *err)
{
    struct mt_stmt *s;
    int64_t level_n = 0;
    MT_TRY(check_there(live, err));
    for (size_t i = 0; i < live->all.n; i++) {
        level_n += live->log.all.v[i].level_n;
        if (!live->all.v[i].device)
            MT_TRY(add_device(live, i, err));
    }
    MT_TRY(write_curve(live, err));
    MT_TRY(write_devices(live, err));
    MT_TRY(write_samples(live, err));
    MT_TRY(write_meta(live, err));
    if (live->all.n)
        MT_TRY(
            mt_live_said_write(&live->said, live->db, live->run, live->all.v[0].device, t_ns, err));
    MT_TRY(write_ends(live, err));
    MT_TRY(mt_db_query(live->db, MT_Q_LIVE_RUN, &s, err));
    mt_stmt_bind(s, "iiii", live->run, t_ns, (int64_t)live->rec.event_n, level_n);
    MT_TRY(mt_stmt_run(s, err));
    if (!ended)
        return MT_OK;
    MT_TRY(write_notes(live, err));
    MT_TRY(mt_db_query(live->db, MT_Q_LIVE_ENDED, &s, err));
    mt_stmt_bind(s, "is", live->run, mt_note_names[MT_NOTE_CUT]);
    return mt_stmt_run(s, err);
}

/* Who uses the database for long must not end a recording: what there is then comes with the next.
 */
static enum mt_status in_transaction(struct mt_live *live, int64_t t_ns, bool ended,
                                     struct mt_err *err)
{
    struct mt_err failed = MT_ERR_INIT;
    enum mt_status st = mt_db_begin_alone(live->db, &failed);
    if (st != MT_OK && !ended && mt_db_is_busy(live->db))
        return MT_OK;
    if (st == MT_OK) {
        st = write_all(live, t_ns, ended, &failed);
        if (st == MT_OK)
            st = mt_db_commit(live->db, &failed);
        if (st != MT_OK)
            mt_db_rollback(live->db);
    }
    if (st != MT_OK)
        *err = failed;
    return st;
}

enum mt_status mt_live_write(struct mt_live *live, int64_t t_ns, struct mt_err *err)
{
    return in_transaction(live, t_ns, false, err);
}

void mt_live_meta(struct mt_live *live, const char *key, const char *json, size_t n)
{
    mt_rec_meta(&live->rec, key, json, n);
}

void mt_live_note(struct mt_live *live, enum mt_note_kind kind, int64_t bytes, const char *detail)
{
    mt_rec_note(&live->rec, kind, -1, bytes);
    mt_rec_note_detail(&live->rec, kind, "%s", detail);
}

enum mt_status mt_live_end(struct mt_live *live, int64_t t_ns, struct mt_err *err)
{
    for (size_t i = 0; i < live->all.n; i++) {
        MT_TRY(end_interval(live, i, err));
        mt_process_looked(&live->log, i);
        live->all.v[i].changed = true;
    }
    return in_transaction(live, t_ns, true, err);
}
