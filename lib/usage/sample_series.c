#include "lib/usage/sample_series.h"

#include "gen/queries.h"
#include "lib/model/recording.h"

#include <string.h>

static const int queries[MT_SAMPLE_KINDS] = {
    [MT_SAMPLE_VALUES] = MT_Q_SAMPLES, [MT_SAMPLE_ENDS] = MT_Q_SAMPLE_ENDS};

/* What a connection keeps. */
struct kept {
    int64_t run, changes; /* of the database, when it was read */
    struct mt_samples of[MT_SAMPLE_KINDS];
};

static void clear(struct mt_samples *s)
{
    for (size_t i = 0; i < s->series.n; i++)
        mt_vec_free(&s->series.v[i].all);
    mt_vec_free(&s->series);
    mt_vec_free(&s->devices);
    mt_strtab_free(&s->names);
    mt_map_free(&s->device_at);
    mt_map_free(&s->series_at);
    *s = (struct mt_samples){0};
}

static void forget(void *of)
{
    struct kept *k = of;
    for (int i = 0; i < MT_SAMPLE_KINDS; i++)
        clear(&k->of[i]);
    free(k);
}

/* The series of that name of a device, made if it is new. */
static struct mt_sample_series *series_of(struct mt_samples *s, int64_t device, const char *name)
{
    uint32_t *d = mt_map_at(&s->device_at, (uint64_t)device);
    if (*d == MT_MAP_NONE) {
        *d = (uint32_t)s->devices.n;
        *mt_vec_push(&s->devices) = (struct mt_sample_device){MT_MAP_NONE, MT_MAP_NONE};
    }
    uint32_t id = mt_strtab_add(&s->names, name, strlen(name));
    uint32_t *at = mt_map_at(&s->series_at, (uint64_t)*d << 32 | id);
    if (*at == MT_MAP_NONE) {
        struct mt_sample_device *of = &s->devices.v[*d];
        *at = (uint32_t)s->series.n;
        *mt_vec_push(&s->series) =
            (struct mt_sample_series){.name = mt_strtab_get(&s->names, id), .next = MT_MAP_NONE};
        *(of->last == MT_MAP_NONE ? &of->first : &s->series.v[of->last].next) = *at;
        of->last = *at;
    }
    return &s->series.v[*at];
}

static enum mt_status read_all(struct mt_db *db, int64_t run, enum mt_sample_kind kind,
                               struct mt_samples *s, struct mt_err *err)
{
    struct mt_stmt *q;
    bool row;
    MT_TRY(mt_db_query(db, queries[kind], &q, err));
    mt_stmt_bind(q, "iI", run, s->device);
    for (;;) {
        MT_TRY(mt_stmt_step(q, &row, err));
        if (!row)
            return MT_OK;
        struct mt_sample_series *series = series_of(s, mt_stmt_int(q, 0), mt_stmt_text(q, 1));
        *mt_vec_push(&series->all) = (struct mt_sample_value){mt_stmt_int(q, 2), mt_stmt_int(q, 3)};
    }
}

static struct kept *kept_of(struct mt_db *db, int64_t run)
{
    struct kept *k = mt_db_kept(db);
    const int64_t changes = mt_db_changes(db);
    if (k && k->run == run && k->changes == changes)
        return k;
    k = mt_alloc(sizeof *k);
    *k = (struct kept){.run = run, .changes = changes};
    mt_db_keep(db, k, forget);
    return k;
}

enum mt_status mt_sample_series_load(struct mt_db *db, int64_t run, int64_t device,
                                     enum mt_sample_kind kind, const struct mt_samples **out,
                                     struct mt_err *err)
{
    struct mt_samples *s = &kept_of(db, run)->of[kind];
    bool any = s->read;
    *out = s;
    if (any && (s->device == device || s->device == MT_UNKNOWN))
        return MT_OK;
    clear(s);
    s->device = any ? MT_UNKNOWN : device;
    mt_strtab_init(&s->names);
    enum mt_status st = read_all(db, run, kind, s, err);
    s->read = st == MT_OK;
    if (st != MT_OK)
        clear(s);
    return st;
}

const struct mt_sample_series *mt_sample_first(const struct mt_samples *s, int64_t device)
{
    uint32_t d = mt_map_get(&s->device_at, (uint64_t)device);
    return d == MT_MAP_NONE ? NULL : &s->series.v[s->devices.v[d].first];
}

const struct mt_sample_series *mt_sample_next(const struct mt_samples *s,
                                              const struct mt_sample_series *series)
{
    return series->next == MT_MAP_NONE ? NULL : &s->series.v[series->next];
}

const struct mt_sample_series *mt_sample_find(const struct mt_samples *s, int64_t device,
                                              const char *name)
{
    const struct mt_sample_series *series = mt_sample_first(s, device);
    while (series && strcmp(series->name, name) != 0)
        series = mt_sample_next(s, series);
    return series;
}
