#include "lib/compat/load_compat.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

static enum mt_status read_marks(struct mt_db *db, const struct mt_run *run,
                                 struct mt_compat_run *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row, events = false, flags = false;
    int64_t start = 0, base = 0; /* 0 = unknown */
    struct mt_torch_marks *m = &out->marks;
    const struct {
        const char *key;
        bool *mark;
    } booleans[] = {{"memtool.metadata_first", &m->metadata_first},
                    {"memtool.finished_in_memory", &m->finished_in_memory},
                    {"memtool.old_categories", &m->old_categories},
                    {"memtool.has_python", &m->has_python},
                    {"memtool.python_call_from", &m->python_call_from}};
    m->whole_us = run->whole_us;
    MT_TRY(mt_db_query(db, MT_Q_INFO_META, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        const char *key = mt_stmt_text(s, 0), *value = mt_stmt_text(s, 1);
        for (size_t i = 0; i < MT_ARRAY_LEN(booleans); i++)
            if (strcmp(key, booleans[i].key) == 0)
                *booleans[i].mark = strcmp(value, "true") == 0;
        if (strcmp(key, "traceEvents") == 0)
            events = true;
        else if (strcmp(key, "profile_memory") == 0)
            flags = true;
        else if (strcmp(key, "trace_id") == 0)
            m->trace_id_first = !flags;
        else if (strcmp(key, "host_name") == 0)
            m->has_host_name = true;
        else if (strcmp(key, "memtool.trace_start_ns") == 0)
            start = strtoll(value, NULL, 10);
        else if (strcmp(key, "baseTimeNanoseconds") == 0) {
            m->has_base_time = true;
            m->base_before_events = !events;
            base = strtoll(value, NULL, 10);
        }
    }
    out->input.trace_start_ns = start ? mt_wrap_add(start, base) : 0;
    return MT_OK;
}

static enum mt_status text_of(struct mt_db *db, struct mt_compat_run *c, int64_t id, uint32_t *out,
                              struct mt_err *err)
{
    uint32_t *known = mt_map_at(&c->text_of, (uint64_t)id);
    if (*known == MT_MAP_NONE) {
        struct mt_stmt *s;
        bool row;
        *known = (uint32_t)c->texts.n;
        *mt_vec_push(&c->texts) = NULL;
        MT_TRY(mt_db_query(db, MT_Q_LOAD_STRING, &s, err));
        mt_stmt_bind(s, "i", id);
        MT_TRY(mt_stmt_step(s, &row, err));
        c->texts.v[c->texts.n - 1] = mt_strdup(row ? mt_stmt_text(s, 0) : "");
        if (row)
            MT_TRY(mt_stmt_step(s, &row, err));
    }
    *out = *known;
    return MT_OK;
}

static enum mt_status read_ops(struct mt_db *db, const struct mt_run *run, struct mt_compat_run *c,
                               struct mt_err *err)
{
    static const uint8_t kinds[] = {MT_TORCH_OP, MT_TORCH_ANNOTATION, MT_TORCH_RUNTIME,
                                    MT_TORCH_PYTHON, MT_TORCH_OP};
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_COMPAT_OPS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        struct mt_torch_op op = {.start_ns = mt_wrap_add(run->start_ns, mt_stmt_int(s, 0)),
                                 .thread = (uint32_t)mt_stmt_int(s, 2),
                                 .kind = kinds[(uint64_t)mt_stmt_int(s, 3) % MT_ARRAY_LEN(kinds)],
                                 .shape = UINT32_MAX};
        op.end_ns = mt_wrap_add(op.start_ns, mt_stmt_int(s, 1));
        MT_TRY(text_of(db, c, mt_stmt_int(s, 4), &op.name, err));
        if (mt_stmt_kind(s, 5) != MT_VALUE_NULL)
            MT_TRY(text_of(db, c, mt_stmt_int(s, 5), &op.shape, err));
        *mt_vec_push(&c->ops) = op;
    }
}

static void add_record(struct mt_compat_run *c, int64_t t_ns, int64_t bytes, int64_t thread,
                       int type, int64_t place)
{
    struct mt_torch_record r = {.t_ns = t_ns,
                                .bytes = bytes,
                                .place = place,
                                .thread = (uint32_t)thread,
                                .is_cpu = type == 0 || type == 2 || type == 5,
                                .is_device = type == 1 || type == 6 || type == 20,
                                .is_xpu = type == 12};
    if (!c->device && (r.is_device || r.is_xpu))
        c->device = type == 12 ? "XPU" : type == 20 ? "PRIVATEUSE1" : "CUDA";
    *mt_vec_push(&c->records) = r;
}

static int record_cmp(const void *a, const void *b)
{
    const struct mt_torch_record *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The side of the current row's block whose time, thread and number stand in these columns. */
static void add_side(struct mt_compat_run *c, const struct mt_run *run, const struct mt_stmt *s,
                     int column, int number_column, int64_t bytes)
{
    if (mt_stmt_kind(s, column) != MT_VALUE_NULL)
        add_record(c, mt_wrap_add(run->start_ns, mt_stmt_int(s, column)), bytes,
                   mt_stmt_int(s, column + 1), (int)mt_stmt_int(s, 5),
                   mt_stmt_int(s, number_column));
}

static enum mt_status read_records(struct mt_db *db, const struct mt_run *run,
                                   struct mt_compat_run *c, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_COMPAT_ALLOCS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        add_side(c, run, s, 1, 6, mt_stmt_int(s, 0));
        add_side(c, run, s, 3, 7, mt_wrap_sub(0, mt_stmt_int(s, 0)));
    }
    MT_TRY(mt_db_query(db, MT_Q_COMPAT_OOMS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        add_record(c, mt_wrap_add(run->start_ns, mt_stmt_int(s, 0)), 0, 0, 0, INT64_MAX);
        c->records.v[c->records.n - 1].is_oom = true;
    }
    if (c->records.n)
        qsort(c->records.v, c->records.n, sizeof *c->records.v, record_cmp);
    return MT_OK;
}

enum mt_status mt_load_compat(struct mt_db *db, const struct mt_run *run, struct mt_compat_run *out,
                              struct mt_err *err)
{
    MT_TRY(read_marks(db, run, out, err));
    MT_TRY(read_ops(db, run, out, err));
    MT_TRY(read_records(db, run, out, err));
    out->profile_memory = run->record_n > 0;
    out->input.ops = out->ops.v;
    out->input.op_n = out->ops.n;
    out->input.records = out->records.v;
    out->input.record_n = out->records.n;
    out->input.names = out->input.shapes = out->texts.v;
    return MT_OK;
}

void mt_compat_run_free(struct mt_compat_run *c)
{
    for (size_t i = 0; i < c->texts.n; i++)
        free((char *)c->texts.v[i]);
    mt_vec_free(&c->texts);
    mt_vec_free(&c->ops);
    mt_vec_free(&c->records);
    mt_map_free(&c->text_of);
}
