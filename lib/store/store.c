#include "lib/store/store.h"

#include "gen/queries.h"
#include "lib/base/mem.h"
#include "lib/model/categories.h"
#include "lib/store/store_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mt_status mt_store_string(struct mt_writer *w, uint32_t string, int64_t *id,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    if ((*id = w->string_id[string]))
        return MT_OK;
    const char *text = mt_strtab_get(&w->r->strings, string);
    MT_TRY(mt_db_query(w->db, MT_Q_STRING_FIND, &s, err));
    mt_stmt_bind(s, "s", text);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row) {
        *id = mt_stmt_int(s, 0);
    } else {
        MT_TRY(mt_db_query(w->db, MT_Q_STRING_ADD, &s, err));
        mt_stmt_bind(s, "s", text);
        MT_TRY(mt_stmt_run(s, err));
        *id = mt_db_last_id(w->db);
    }
    w->string_id[string] = *id;
    return MT_OK;
}

/* Strings the bulk rows refer to get their ids before, while SQLite is not busy with the rows. */
static enum mt_status intern_op_strings(struct mt_writer *w, struct mt_err *err)
{
    int64_t id;
    const struct mt_recording *r = w->r;
    for (size_t i = 0; i < r->labels.n; i++)
        MT_TRY(mt_store_string(w, r->labels.v[i].recorded, &id, err));
    for (size_t i = 0; i < r->args.n; i++)
        MT_TRY(mt_store_string(w, r->args.v[i].shape, &id, err));
    return MT_OK;
}

/* Tensors of blocks, once it is known which op made each. */
static enum mt_status intern_tensors(struct mt_writer *w, struct mt_err *err)
{
    int64_t id;
    const struct mt_recording *r = w->r;
    for (size_t i = 0; i < r->records.n && r->made.n; i++) {
        uint32_t tensor = mt_rec_tensor(r, &r->records.v[i]);
        if (tensor != MT_NONE)
            MT_TRY(mt_store_string(w, tensor, &id, err));
    }
    return MT_OK;
}

static const char *id_text(const struct mt_writer *w, int64_t number, uint32_t name, char out[32])
{
    if (name != MT_NONE)
        return mt_strtab_get(&w->r->strings, name);
    snprintf(out, 32, "%lld", (long long)number);
    return out;
}

static enum mt_status write_threads(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    for (size_t i = 0; i < w->r->threads.n; i++) {
        const struct mt_thread *t = &w->r->threads.v[i];
        char pid[32], tid[32];
        MT_TRY(mt_db_query(w->db, MT_Q_THREAD_ADD, &s, err));
        mt_stmt_bind(s, "iisssii", w->thread + (int64_t)i, w->run,
                     id_text(w, t->pid, t->pid_name, pid), id_text(w, t->tid, t->tid_name, tid),
                     t->name == MT_NONE ? NULL : mt_strtab_get(&w->r->strings, t->name),
                     (int64_t)t->ops.n, w->op + (int64_t)t->op_base);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

static enum mt_status write_note(struct mt_writer *w, enum mt_note_kind kind, struct mt_err *err)
{
    const struct mt_note *n = &w->r->notes[kind];
    struct mt_buf text = {0};
    struct mt_stmt *s;
    MT_TRY(mt_db_query(w->db, MT_Q_NOTE_ADD, &s, err));
    mt_note_text(&text, kind, n);
    mt_stmt_bind(s, "isiIis", w->run, mt_note_names[kind], (int64_t)n->count,
                 n->first_offset < 0 ? INT64_MIN : n->first_offset, n->bytes, text.s);
    enum mt_status st = mt_stmt_run(s, err);
    mt_buf_free(&text);
    return st;
}

static enum mt_status write_small(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_recording *r = w->r;
    for (size_t i = 0; i < r->meta.n; i++) {
        MT_TRY(mt_db_query(w->db, MT_Q_META_ADD, &s, err));
        mt_stmt_bind(s, "iiss", w->run, (int64_t)i, mt_strtab_get(&r->strings, r->meta.v[i].key),
                     mt_strtab_get(&r->strings, r->meta.v[i].value));
        MT_TRY(mt_stmt_run(s, err));
    }
    for (size_t i = 0; i < r->steps.n; i++) {
        const struct mt_step *p = &r->steps.v[i];
        MT_TRY(mt_db_query(w->db, MT_Q_STEP_ADD, &s, err));
        mt_stmt_bind(s, "iiiii", w->run, (int64_t)i, p->number, p->start_ns - r->start_ns,
                     p->end_ns - r->start_ns);
        MT_TRY(mt_stmt_run(s, err));
    }
    for (int k = 0; k < MT_NOTE_N; k++)
        if (r->notes[k].count)
            MT_TRY(write_note(w, (enum mt_note_kind)k, err));
    return MT_OK;
}

static int sample_cmp(const void *a, const void *b)
{
    const struct mt_sample *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Only changes of a value are stored; every failed allocation is. */
static enum mt_status write_samples(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_recording *r = w->r;
    int64_t position = 0, pool;
    if (r->samples.n)
        qsort(r->samples.v, r->samples.n, sizeof *r->samples.v, sample_cmp);
    for (size_t i = 0; i < r->samples.n; i++) {
        const struct mt_sample *p = &r->samples.v[i];
        if (i && p->metric != MT_METRIC_OOM && p->metric != MT_METRIC_DEVICE_FREE &&
            p[-1].metric == p->metric && p[-1].device == p->device && p[-1].value == p->value)
            continue;
        pool = INT64_MIN;
        if (p->has_stream && p->pool != MT_NONE)
            MT_TRY(mt_store_string(w, p->pool, &pool, err));
        int64_t node = p->has_node ? w->node + (int64_t)p->node : INT64_MIN;
        MT_TRY(mt_db_query(w->db, MT_Q_SAMPLE_ADD, &s, err));
        mt_stmt_bind(s, "iiiisiIIIII", w->run, position++, w->device + p->device,
                     p->t_ns - r->start_ns, mt_rec_metric_name(r, p->metric), p->value,
                     p->record_n ? (int64_t)p->record_n - 1 : INT64_MIN, p->event,
                     p->has_stream ? p->stream : INT64_MIN, pool, node);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

static void op_row(void *closure, uint64_t row, int64_t *cells)
{
    struct mt_writer *w = closure;
    const struct mt_recording *r = w->r;
    while (row >= r->threads.v[w->at_thread].op_base + r->threads.v[w->at_thread].ops.n)
        w->at_thread++;
    const struct mt_thread *t = &r->threads.v[w->at_thread];
    const struct mt_op *op = &t->ops.v[row - t->op_base];
    const struct mt_label *label = &r->labels.v[op->label];
    bool cut = label->recorded != r->frames.v[label->frame].name;
    cells[0] = w->node + op->node;
    cells[1] = op->parent == MT_NONE ? INT64_MIN : w->op + op->parent;
    cells[2] = op->start_ns - r->start_ns;
    cells[3] = op->end_ns - op->start_ns;
    cells[4] = op->args == MT_NONE ? INT64_MIN : w->string_id[r->args.v[op->args].shape];
    cells[5] = cut ? w->string_id[label->recorded] : INT64_MIN;
    cells[6] = op->fwd == MT_NONE ? INT64_MIN : w->op + op->fwd;
}

static int64_t op_ref(const struct mt_writer *w, const struct mt_record *rec)
{
    return !rec || rec->op == MT_NONE || w->r->without_ops ? INT64_MIN : w->op + rec->op;
}

static int64_t node_ref(const struct mt_writer *w, const struct mt_record *rec)
{
    return !rec || rec->op == MT_NONE || !w->r->without_ops ? INT64_MIN : w->node + rec->op;
}

static void older_row(const struct mt_writer *w, uint64_t i, int64_t *cells)
{
    const struct mt_older *o = &w->r->older.v[i];
    for (int c = 0; c < MT_DB_ROW_CELLS; c++)
        cells[c] = INT64_MIN;
    cells[0] = w->device + o->device;
    cells[1] = o->bytes;
    cells[10] = o->node == MT_NONE ? INT64_MIN : w->node + o->node;
    cells[12] = o->node == MT_NONE || !w->r->categorized ? INT64_MIN : MT_CATEGORY_OLDER;
}

/* Rows: what mt_rec_is_block() says of the records, in their order, then older blocks. */
static void alloc_row(void *closure, uint64_t row, int64_t *cells)
{
    struct mt_writer *w = closure;
    const struct mt_record *all = w->r->records.v;
    for (; w->at_alloc <= row; w->at_alloc++) {
        while (w->at_record < w->r->records.n && !mt_rec_is_block(&all[w->at_record]))
            w->at_record++;
        w->at_record++;
    }
    if (w->at_record > w->r->records.n) {
        older_row(w, row - (w->alloc_n - w->r->older.n), cells);
        return;
    }
    const struct mt_record *rec = &all[w->at_record - 1];
    const struct mt_record *alloc = rec->bytes >= 0 ? rec : NULL;
    const struct mt_record *death = rec->bytes < 0         ? rec
                                    : rec->mate != MT_NONE ? &all[rec->mate]
                                                           : NULL;
    cells[0] = w->device + rec->device;
    cells[1] = rec->bytes < 0 ? -rec->bytes : rec->bytes;
    cells[2] = alloc ? alloc->t_ns - w->r->start_ns : INT64_MIN;
    cells[3] = op_ref(w, alloc);
    cells[4] = alloc && !alloc->unseen ? w->thread + alloc->thread : INT64_MIN;
    cells[5] = death ? death->t_ns - w->r->start_ns : INT64_MIN;
    cells[6] = op_ref(w, death);
    cells[7] = death && !death->unseen ? w->thread + death->thread : INT64_MIN;
    cells[8] = alloc ? alloc - all : INT64_MIN;
    cells[9] = death ? death - all : INT64_MIN;
    cells[10] = node_ref(w, alloc);
    cells[11] = node_ref(w, death);
    cells[12] = alloc && alloc->rule ? (int64_t)alloc->rule : INT64_MIN;
    uint32_t tensor = alloc ? mt_rec_tensor(w->r, alloc) : MT_NONE;
    cells[13] = tensor != MT_NONE ? w->string_id[tensor] : INT64_MIN;
}

static enum mt_status write_run(struct mt_writer *w, const struct mt_store_opts *o,
                                const char *name, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_recording *r = w->r;
    MT_TRY(mt_db_query(w->db, MT_Q_RUN_ADD, &s, err));
    mt_stmt_bind(s, "issssiIisiiiiiiiiisIsi", w->run, name, o->source, r->format, o->hash,
                 r->start_ns + r->base_ns, r->time_unit ? r->end_ns - r->start_ns : MT_UNKNOWN,
                 (int64_t)r->whole_us, r->step_marker, (int64_t)r->event_n, (int64_t)r->op_n,
                 (int64_t)(r->summed ? r->summed_n : r->records.n - r->unseen_n),
                 (int64_t)w->alloc_n, (int64_t)r->nodes.n, w->op, w->alloc, w->node,
                 (int64_t)r->kind, r->time_unit, r->resolution_ns ? r->resolution_ns : MT_UNKNOWN,
                 o->imported_at, (int64_t)MT_SCHEMA_VERSION);
    return mt_stmt_run(s, err);
}

static enum mt_status write_all(struct mt_writer *w, const struct mt_store_opts *o,
                                const char *name, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(w->db, MT_Q_NEXT_IDS, &s, err));
    MT_TRY(mt_stmt_step(s, &row, err));
    int64_t *const ids[] = {&w->run,    &w->op,     &w->alloc,  &w->node,
                            &w->device, &w->thread, &w->segment};
    for (int i = 0; i < (int)MT_ARRAY_LEN(ids); i++)
        *ids[i] = mt_stmt_int(s, i);
    w->run = o->again ? o->again : w->run;
    MT_TRY(mt_stmt_step(s, &row, err));
    MT_TRY(intern_op_strings(w, err));
    MT_TRY(mt_db_insert_rows(w->db, MT_Q_OP_ADD_ALL, w->r->op_n, op_row, w, err));
    if (o->complete)
        o->complete(o->closure);
    MT_TRY(intern_tensors(w, err));
    for (size_t i = 0; i < w->r->records.n; i++)
        w->alloc_n += mt_rec_is_block(&w->r->records.v[i]);
    w->alloc_n += w->r->older.n;
    MT_TRY(write_run(w, o, name, err));
    MT_TRY(mt_store_devices(w, err));
    MT_TRY(write_threads(w, err));
    MT_TRY(mt_store_nodes(w, err));
    MT_TRY(write_small(w, err));
    MT_TRY(write_samples(w, err));
    MT_TRY(mt_store_history(w, err));
    MT_TRY(mt_db_insert_rows(w->db, MT_Q_ALLOC_ADD_ALL, w->alloc_n, alloc_row, w, err));
    return mt_store_segments(w, err);
}

enum mt_status mt_store_in(struct mt_db *db, const struct mt_recording *r,
                           const struct mt_store_opts *opts, struct mt_store_result *out,
                           struct mt_err *err)
{
    struct mt_writer w = {.db = db, .r = r};
    struct mt_kept kept = {0};
    enum mt_status st = MT_OK;
    *out = (struct mt_store_result){0};
    w.string_id = mt_alloc((r->strings.n + 1u) * sizeof *w.string_id);
    w.frame_id = mt_alloc((r->frames.n + 1) * sizeof *w.frame_id);
    MT_TRY_OUT(mt_store_check_content(db, opts, &kept, out, err));
    if (!out->existed) {
        MT_TRY_OUT(mt_store_choose_name(db, opts, &kept, out, err));
        MT_TRY_OUT(write_all(&w, opts, out->name, err));
        MT_TRY_OUT(mt_store_take_groups(db, w.run, opts, err));
        if (out->replaced_n)
            MT_TRY_OUT(mt_store_sweep(db, err));
        out->run_id = w.run;
    }
out:
    free(w.string_id);
    free(w.frame_id);
    return st;
}

enum mt_status mt_store(struct mt_db *db, const struct mt_recording *r,
                        const struct mt_store_opts *opts, struct mt_store_result *out,
                        struct mt_err *err)
{
    *out = (struct mt_store_result){0};
    MT_TRY(mt_db_begin(db, err));
    enum mt_status st = mt_store_in(db, r, opts, out, err);
    if (st == MT_OK)
        st = mt_db_commit(db, err);
    if (st != MT_OK)
        mt_db_rollback(db);
    return st;
}

enum mt_status mt_store_known(struct mt_db *db, const struct mt_store_opts *opts,
                              struct mt_store_result *out, struct mt_err *err)
{
    struct mt_kept kept = {0};
    *out = (struct mt_store_result){0};
    if (opts->replace)
        return MT_OK;
    MT_TRY(mt_db_begin(db, err));
    enum mt_status st = mt_store_check_content(db, opts, &kept, out, err);
    if (st == MT_OK)
        st = mt_db_commit(db, err);
    if (st != MT_OK)
        mt_db_rollback(db);
    return st;
}

enum mt_status mt_store_hashes(struct mt_db *db, char *const *sources, size_t n, char **out,
                               struct mt_err *err)
{
    struct mt_strtab all;
    struct mt_stmt *s;
    bool row = true;
    enum mt_status st = MT_OK;
    mt_strtab_init(&all);
    uint32_t *ids = mt_alloc((n + 1) * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = mt_strtab_add(&all, sources[i], strlen(sources[i]));
    const uint32_t asked_n = all.n;
    char **hashes = mt_alloc((n + 1) * sizeof *hashes);
    MT_TRY_OUT(mt_db_query(db, MT_Q_RUN_SOURCES, &s, err));
    for (;;) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        const char *source = mt_stmt_text(s, 0);
        uint32_t id = mt_strtab_add(&all, source, strlen(source));
        if (id >= asked_n)
            continue;
        free(hashes[id]);
        hashes[id] = mt_strdup(mt_stmt_text(s, 1));
    }
    for (size_t i = 0; i < n; i++)
        out[i] = hashes[ids[i]] ? mt_strdup(hashes[ids[i]]) : NULL;
out:
    for (size_t i = 0; i < n; i++)
        free(hashes[i]);
    free(hashes);
    free(ids);
    mt_strtab_free(&all);
    return st;
}
