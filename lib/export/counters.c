#include "lib/export/counters.h"

#include "gen/queries.h"
#include "lib/base/utf8.h"
#include "lib/base/wrap.h"
#include "lib/model/kind_words.h"
#include "lib/run/knows.h"
#include "lib/usage/process.h"
#include "lib/usage/sample_series.h"
#include "lib/usage/samples.h"
#include <string.h>

static char *clean(const char *s)
{
    struct mt_buf b = {0};
    mt_utf8_clean(&b, s);
    return b.s ? b.s : mt_strdup("");
}

static bool is_pid(int64_t pid)
{
    return pid > 0 && pid <= INT32_MAX;
}

/* The process of the run itself, and the clocks. */
static enum mt_status load_run(struct mt_db *db, const struct mt_run *run, struct mt_counters *c,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_EXPORT_PROCESS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    int64_t pid = row ? mt_stmt_int(s, 0) : 0;
    bool epoch = strcmp(run->time_unit, "ns") == 0 && run->start_ns > 0;
    c->epoch_ns = epoch ? run->start_ns : 0;
    c->source_ns = mt_wrap_sub(c->epoch_ns, row ? mt_stmt_int(s, 1) : 0);
    char id[17] = "";
    memcpy(id, run->content, sizeof id - 1);
    c->id = strtoull(id, NULL, 16);
    mt_stmt_end(s);
    *mt_vec_push(&c->processes) =
        (struct mt_counter_process){is_pid(pid) ? pid : 1, clean(run->name)};
    return MT_OK;
}

/* The process of a device: "process:PID" is one of its own. */
static uint32_t process_of(struct mt_counters *c, const struct mt_run_device *d)
{
    const char *colon = strchr(d->name, ':');
    int64_t pid = mt_device_is_process(d) && colon ? strtoll(colon + 1, NULL, 10) : 0;
    if (!is_pid(pid))
        return 0;
    for (uint32_t i = 0; i < c->processes.n; i++)
        if (c->processes.v[i].pid == pid)
            return i;
    *mt_vec_push(&c->processes) = (struct mt_counter_process){pid, clean(d->name)};
    return (uint32_t)c->processes.n - 1;
}

static enum mt_counter_unit unit_of(const char *metric)
{
    bool cpu = strcmp(metric, mt_metric_names[MT_METRIC_CPU]) == 0;
    return mt_metric_is_bytes(metric) ? MT_COUNTER_BYTES : cpu ? MT_COUNTER_NS : MT_COUNTER_COUNT;
}

static struct mt_counter *add_counter(struct mt_counters *c, const struct mt_run_device *d,
                                      const char *metric)
{
    uint32_t process = process_of(c, d);
    struct mt_counter *counter = mt_vec_push(&c->all);
    *counter = (struct mt_counter){.process = process,
                                   .device = clean(d->name),
                                   .metric = clean(metric),
                                   .unit = unit_of(metric)};
    return counter;
}

static enum mt_status load_ooms(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *d, struct mt_counters *c,
                                struct mt_err *err)
{
    struct mt_levels ooms;
    enum mt_status st = mt_samples_load(db, run, d, "oom", &ooms, err);
    for (size_t i = 0; st == MT_OK && i < ooms.all.n; i++)
        *mt_vec_push(&c->instants) = (struct mt_counter_instant){
            mt_asprintf("%s: out of memory", d->name), ooms.all.v[i].t_ns, ooms.all.v[i].level_b};
    mt_levels_free(&ooms);
    return st;
}

/* What was asked for in vain, and what was free then, are no curves. */
static bool is_curve(const char *metric)
{
    return strcmp(metric, "oom") != 0 && strcmp(metric, "device_free") != 0;
}

/* A counter keeps its last value; none says that nobody knows. */
static void drop_unknown(struct mt_levels *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->all.n; i++)
        if (l->all.v[i].level_b != MT_UNKNOWN)
            l->all.v[n++] = l->all.v[i];
    l->all.n = n;
}

static enum mt_status load_samples(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *d, struct mt_counters *c,
                                   struct mt_err *err)
{
    const struct mt_samples *sampled;
    size_t first = c->all.n;
    MT_TRY(mt_sample_series_load(db, run->id, d->id, MT_SAMPLE_VALUES, &sampled, err));
    for (const struct mt_sample_series *s = mt_sample_first(sampled, d->id); s;
         s = mt_sample_next(sampled, s))
        if (is_curve(s->name))
            add_counter(c, d, s->name);
    for (size_t i = first; i < c->all.n; i++) {
        MT_TRY(mt_samples_load(db, run, d, c->all.v[i].metric, &c->all.v[i].levels, err));
        drop_unknown(&c->all.v[i].levels);
    }
    return load_ooms(db, run, d, c, err);
}

static enum mt_status load_device(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *d, struct mt_counters *c,
                                  struct mt_err *err)
{
    if (mt_device_knows(d, MT_KNOWS_LEVEL) && !mt_device_is_processes(d)) {
        struct mt_counter *level = add_counter(c, d, mt_kind_words[run->kind].level);
        level->begins = true;
        MT_TRY(mt_levels_load(db, run, d, &level->levels, err));
    }
    return load_samples(db, run, d, c, err);
}

static enum mt_status load_devices(struct mt_db *db, const struct mt_run *run,
                                   struct mt_counters *c, struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n;
    MT_TRY(mt_run_devices(db, run, &all, &n, err));
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < n && st == MT_OK; i++)
        st = load_device(db, run, &all[i], c, err);
    free(all);
    return st;
}

static int by_lane(const void *a, const void *b)
{
    const struct mt_counter_slice *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Each in the first lane that is free then. */
static void add_steps(struct mt_counters *c, const struct mt_steps *steps)
{
    MT_VEC(int64_t) until = {0};
    for (size_t i = 0; i < steps->all.n; i++) {
        const struct mt_step *step = &steps->all.v[i];
        uint32_t lane = 0;
        while (lane < until.n && until.v[lane] > step->start_ns)
            lane++;
        if (lane == until.n)
            mt_vec_push(&until);
        until.v[lane] = step->end_ns;
        *mt_vec_push(&c->slices) = (struct mt_counter_slice){
            mt_asprintf("step %lld", (long long)step->number), lane, step->start_ns, step->end_ns};
    }
    mt_vec_free(&until);
    if (c->slices.n)
        qsort(c->slices.v, c->slices.n, sizeof *c->slices.v, by_lane);
}

static int by_time(const void *a, const void *b)
{
    const struct mt_counter_instant *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

enum mt_status mt_counters_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_steps *steps,
                                struct mt_counters *out, struct mt_err *err)
{
    *out = (struct mt_counters){.named = true};
    MT_TRY(load_run(db, run, out, err));
    MT_TRY(device ? load_device(db, run, device, out, err) : load_devices(db, run, out, err));
    add_steps(out, steps);
    for (size_t i = 0; i < steps->marks.n; i++)
        *mt_vec_push(&out->instants) = (struct mt_counter_instant){
            clean(steps->marks.v[i].text), steps->marks.v[i].t_ns, MT_UNKNOWN};
    if (out->instants.n)
        qsort(out->instants.v, out->instants.n, sizeof *out->instants.v, by_time);
    return MT_OK;
}

void mt_counters_free(struct mt_counters *c)
{
    for (size_t i = 0; i < c->processes.n; i++)
        free(c->processes.v[i].name);
    for (size_t i = 0; i < c->all.n; i++) {
        free(c->all.v[i].device);
        free(c->all.v[i].metric);
        mt_levels_free(&c->all.v[i].levels);
    }
    for (size_t i = 0; i < c->slices.n; i++)
        free(c->slices.v[i].name);
    for (size_t i = 0; i < c->instants.n; i++)
        free(c->instants.v[i].name);
    mt_vec_free(&c->processes);
    mt_vec_free(&c->all);
    mt_vec_free(&c->slices);
    mt_vec_free(&c->instants);
}
