#include "formats/prometheus.h"

#include "lib/base/sort.h"
#include "lib/input/fields.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN = -1, VALUES_PER_CHECK = 1 << 14, DIGITS = 9, NUMBER = 64 };
static const int64_t milli = 1000 * 1000;
static const int64_t most = INT64_C(1) << 60; /* bytes that there can be */
static const char name_key[] = "__name__", type_key[] = "memtype";

/* What a metric is: a level, the best of which is that of its owner (the rank), or a value beside
 * that. */
static const struct meaning {
    const char *name;
    const char *type; /* its label memtype; NULL: it has none */
    bool container;
    int rank;   /* 0: never a level */
    int metric; /* enum mt_metric; OWN: */
    const char *own;
} meanings[] = {
    {"process_resident_memory_bytes", NULL, false, 1, MT_METRIC_RSS, NULL},
    {"process_virtual_memory_bytes", NULL, false, 0, MT_METRIC_VIRTUAL, NULL},
    {"windows_process_working_set_bytes", NULL, false, 1, MT_METRIC_RSS, NULL},
    {"namedprocess_namegroup_memory_bytes", "resident", false, 1, MT_METRIC_RSS, NULL},
    {"namedprocess_namegroup_memory_bytes", "virtual", false, 0, MT_METRIC_VIRTUAL, NULL},
    {"namedprocess_namegroup_memory_bytes", "swapped", false, 0, MT_METRIC_SWAP, NULL},
    {"namedprocess_namegroup_memory_bytes", "proportionalResident", false, 0, MT_METRIC_PSS, NULL},
    {"container_memory_working_set_bytes", NULL, true, 3, OWN, "working_set"},
    {"container_memory_usage_bytes", NULL, true, 2, MT_METRIC_CGROUP, NULL},
    {"container_memory_rss", NULL, true, 1, MT_METRIC_ANON, NULL},
    {"container_memory_mapped_file", NULL, true, 0, OWN, "mapped_file"},
    {"container_memory_cache", NULL, true, 0, OWN, "cache"},
    {"container_memory_swap", NULL, true, 0, MT_METRIC_SWAP, NULL},
    {"container_spec_memory_limit_bytes", NULL, true, 0, OWN, "limit"},
};

/* The level of a container, by its rank. */
static const char *const levels[] = {
    NULL, "what containers have in anonymous memory, without files (container_memory_rss)",
    "what the control groups of containers count, with all files that are cached "
    "(container_memory_usage_bytes)",
    "what the control groups of containers count, less the files in their caches that were not "
    "used lately (container_memory_working_set_bytes)"};

void mt_prometheus_open(struct mt_prometheus *p, struct mt_recording *rec)
{
    *p = (struct mt_prometheus){.rec = rec};
    mt_process_open(&p->log, rec);
    mt_strtab_init(&p->texts);
}

void mt_prometheus_free(struct mt_prometheus *p)
{
    mt_rec_beside(p->rec, &p->beside, 0);
    mt_process_free(&p->log);
    mt_strtab_free(&p->texts);
    mt_vec_free(&p->labels);
    mt_vec_free(&p->owners);
    mt_vec_free(&p->series);
    mt_vec_free(&p->values);
    for (int i = 0; i < 2; i++) {
        mt_map_free(&p->owner_at[i]);
        mt_map_free(&p->called[i]);
    }
    mt_map_free(&p->series_at);
}

static enum mt_status check_memory(struct mt_prometheus *p, struct mt_err *err)
{
    mt_rec_beside(p->rec, &p->beside,
                  mt_strtab_bytes(&p->texts) + mt_vec_bytes(&p->values) + mt_vec_bytes(&p->series) +
                      mt_vec_bytes(&p->owners));
    return mt_rec_check_memory(p->rec, err);
}

/* ---- series ---- */

bool mt_prometheus_reads(const char *name, size_t n)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(meanings); i++)
        if (strlen(meanings[i].name) == n && memcmp(meanings[i].name, name, n) == 0)
            return true;
    return false;
}

void mt_prometheus_begin(struct mt_prometheus *p)
{
    p->labels.n = 0;
}

void mt_prometheus_label(struct mt_prometheus *p, const char *key, size_t key_n, const char *value,
                         size_t value_n)
{
    if (!value_n) /* a label without text is none */
        return;
    uint32_t k = mt_strtab_add(&p->texts, key, key_n);
    *mt_vec_push(&p->labels) =
        (struct mt_prometheus_label){k, mt_strtab_add(&p->texts, value, value_n)};
}

static const char *label(const struct mt_prometheus *p, const char *key)
{
    for (size_t i = 0; i < p->labels.n; i++)
        if (strcmp(mt_strtab_get(&p->texts, p->labels.v[i].key), key) == 0)
            return mt_strtab_get(&p->texts, p->labels.v[i].value);
    return NULL;
}

static int meaning_of(const struct mt_prometheus *p)
{
    const char *name = label(p, name_key), *type = label(p, type_key);
    for (size_t i = 0; name && i < MT_ARRAY_LEN(meanings); i++)
        if (strcmp(meanings[i].name, name) == 0 &&
            (!meanings[i].type || (type && strcmp(meanings[i].type, type) == 0)))
            return (int)i;
    return -1;
}

/* In order of their names, those of one name in any. */
static int by_key(const void *a, const void *b, void *texts)
{
    const struct mt_prometheus_label *x = a, *y = b;
    int order = strcmp(mt_strtab_get(texts, x->key), mt_strtab_get(texts, y->key));
    return order ? order : (x->value > y->value) - (x->value < y->value);
}

/* A text in which no comma and no backslash is taken for one between labels. */
static void add_escaped(struct mt_buf *to, const char *s)
{
    for (; *s; s++) {
        if (*s == ',' || *s == '\\')
            mt_buf_addc(to, '\\');
        mt_buf_addc(to, *s);
    }
}

/* "a=1,b=2" of all labels but those that say what is counted, in order of their names; the first of
 * those with one name. */
static uint32_t identity_of(struct mt_prometheus *p)
{
    struct mt_buf text = {0};
    mt_buf_adds(&text, "");
    if (p->labels.n)
        qsort_r(p->labels.v, p->labels.n, sizeof *p->labels.v, by_key, &p->texts);
    for (size_t i = 0; i < p->labels.n; i++) {
        const struct mt_prometheus_label *l = &p->labels.v[i];
        const char *key = mt_strtab_get(&p->texts, l->key);
        if ((i && l[-1].key == l->key) || strcmp(key, name_key) == 0 || strcmp(key, type_key) == 0)
            continue;
        mt_buf_adds(&text, text.n ? "," : "");
        add_escaped(&text, key);
        mt_buf_addc(&text, '=');
        add_escaped(&text, mt_strtab_get(&p->texts, l->value));
    }
    uint32_t id = mt_strtab_add(&p->texts, text.s, text.n);
    mt_buf_free(&text);
    return id;
}

/* What people call it, of the labels that are there: "namespace/pod/container" or the name or id of
 * a container, "job@instance" or the name of a group of processes. */
static uint32_t name_of(struct mt_prometheus *p, bool container, uint32_t identity)
{
    static const char *const pod[] = {"namespace", "pod", "container", NULL};
    static const char *const docker[] = {"name", NULL}, *const group[] = {"id", NULL};
    static const char *const named[] = {"groupname", NULL}, *const process[] = {"process", NULL};
    static const char *const job[] = {"job", "instance", NULL};
    static const char *const *const of_container[] = {pod, docker, group, NULL};
    static const char *const *const of_process[] = {named, process, job, NULL};
    struct mt_buf text = {0};
    for (const char *const *const *keys = container ? of_container : of_process; *keys && !text.n;
         keys++)
        for (const char *const *key = *keys; *key; key++) {
            const char *value = label(p, *key);
            if (value)
                mt_buf_addf(&text, "%s%s", !text.n ? "" : container ? "/" : "@", value);
        }
    uint32_t name = text.n ? mt_strtab_add(&p->texts, text.s, text.n) : identity;
    mt_buf_free(&text);
    return name;
}

/* Of two that are called the same the later one has all its labels for a name. */
static uint32_t owner_of(struct mt_prometheus *p, bool container)
{
    uint32_t identity = identity_of(p), name = name_of(p, container, identity);
    uint32_t *known = mt_map_at(&p->owner_at[container], identity);
    if (*known != MT_MAP_NONE)
        return *known;
    *known = (uint32_t)p->owners.n;
    uint32_t *first = mt_map_at(&p->called[container], name);
    if (*first == MT_MAP_NONE)
        *first = (uint32_t)p->owners.n;
    else
        name = identity;
    *mt_vec_push(&p->owners) = (struct mt_prometheus_owner){
        .identity = identity, .name = name, .container = container, .process = SIZE_MAX};
    return (uint32_t)p->owners.n - 1;
}

enum mt_status mt_prometheus_find(struct mt_prometheus *p, uint32_t *series, struct mt_err *err)
{
    enum { MOST = 1 << 14 };
    int meaning = meaning_of(p);
    *series = MT_NONE;
    if (meaning < 0)
        return MT_OK;
    uint32_t owner = owner_of(p, meanings[meaning].container);
    uint32_t *known = mt_map_at(&p->series_at, (uint64_t)owner << 32 | (uint32_t)meaning);
    *series = *known;
    if (*known != MT_MAP_NONE)
        return MT_OK;
    if (p->series.n == MOST)
        return MT_FAIL(err, MT_ELIMIT, "more than %d series of memory", MOST);
    *known = *series = (uint32_t)p->series.n;
    *mt_vec_push(&p->series) = (struct mt_prometheus_series){
        .owner = owner, .meaning = meaning, .round = -1, .last_ns = INT64_MIN};
    return MT_OK;
}

/* ---- values ---- */

bool mt_prometheus_number(const char *s, size_t n, int64_t *bytes)
{
    char text[NUMBER], *end;
    *bytes = MT_UNKNOWN;
    if (!n || n >= sizeof text || *s == ' ')
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    double v = strtod(text, &end);
    if (end != text + n || v < 0)
        return false;
    if (isfinite(v))
        *bytes = v < 9e18 ? llround(v) : INT64_MAX;
    return true;
}

bool mt_prometheus_time(const char *s, size_t n, int64_t *ns)
{
    static const int64_t not_seconds = INT64_C(4000000000); /* of the year 2096 */
    struct mt_fields f = mt_fields_of(s, n), g = f;
    int64_t whole;
    if (mt_field_decimal(&g, &whole) && whole >= not_seconds)
        return mt_field_end(&g) && whole <= INT64_MAX / milli && (*ns = whole * milli, true);
    return mt_field_fraction(&f, DIGITS, ns) && *ns >= 0 && mt_field_end(&f);
}

/* A limit that is none is 0, or more than there can be. */
static bool is_limit(const struct meaning *m)
{
    return m->own && strcmp(m->own, "limit") == 0;
}

enum mt_status mt_prometheus_value(struct mt_prometheus *p, uint32_t series, int64_t t_ns,
                                   bool placed, int64_t bytes, struct mt_err *err)
{
    struct mt_prometheus_owner *o = &p->owners.v[p->series.v[series].owner];
    const struct meaning *m = &meanings[p->series.v[series].meaning];
    if (bytes >= most) {
        if (!is_limit(m))
            mt_rec_note(p->rec, MT_NOTE_SKIPPED, -1, 0);
        return MT_OK;
    }
    if (bytes > 0 && m->rank > o->rank)
        o->rank = m->rank;
    struct mt_prometheus_series *of = &p->series.v[series];
    if (p->ordered && placed && t_ns < of->last_ns)
        mt_rec_note(p->rec, MT_NOTE_ORDER, -1, 0);
    of->last_ns = placed ? t_ns : of->last_ns;
    *mt_vec_push(&p->values) = (struct mt_prometheus_value){t_ns, series, placed, bytes};
    return p->values.n % VALUES_PER_CHECK ? MT_OK : check_memory(p, err);
}

static enum mt_status process_of(struct mt_prometheus *p, struct mt_prometheus_owner *o,
                                 struct mt_err *err)
{
    const char *name = mt_strtab_get(&p->texts, o->name);
    if (o->process != SIZE_MAX)
        return MT_OK;
    if (!o->container && (p->owners.n == 1 || !*name)) /* the only one, or one without labels */
        return mt_process_of(&p->log, -1, &o->process, err);
    return mt_process_named(&p->log, o->container ? "container" : "process", name, strlen(name),
                            &o->process, err);
}

static enum mt_status give(struct mt_prometheus *p, const struct mt_prometheus_value *v, int64_t t,
                           struct mt_err *err)
{
    const struct meaning *m = &meanings[p->series.v[v->series].meaning];
    struct mt_prometheus_owner *o = &p->owners.v[p->series.v[v->series].owner];
    bool is_level = m->rank && m->rank == o->rank;
    if (!o->rank || (is_level && !v->bytes)) /* what has ended has none */
        return mt_process_until(&p->log, t, err);
    if (is_limit(m) && !v->bytes)
        return MT_OK;
    MT_TRY(process_of(p, o, err));
    if (is_level)
        return mt_process_level(&p->log, o->process, t, v->bytes, err);
    int metric = m->metric == OWN ? mt_rec_metric(p->rec, m->own) : m->metric;
    return metric < 0 ? MT_OK : mt_process_sample(&p->log, o->process, metric, t, v->bytes, err);
}

static void note_levels(struct mt_prometheus *p)
{
    int rank = 0;
    for (size_t i = 0; i < p->owners.n; i++)
        if (p->owners.v[i].container && p->owners.v[i].rank > rank)
            rank = p->owners.v[i].rank;
    if (!rank)
        return;
    mt_rec_note(p->rec, MT_NOTE_LEVEL, -1, 0);
    mt_rec_note_detail(p->rec, MT_NOTE_LEVEL, "%s", levels[rank]);
}

enum mt_status mt_prometheus_close(struct mt_prometheus *p, bool zoned, struct mt_err *err)
{
    bool placed = false;
    int64_t first = 0;
    mt_sort_by_time(p->values.v, p->values.n, sizeof *p->values.v, NULL);
    for (size_t i = p->values.n; i-- > 0;)
        if (p->values.v[i].placed) {
            placed = true;
            first = p->values.v[i].t_ns;
        }
    p->rec->time_unit = placed ? "ns" : "samples";
    p->rec->base_ns = placed && zoned ? first : 0;
    for (size_t i = 0; i < p->values.n; i++) {
        const struct mt_prometheus_value *v = &p->values.v[i];
        if (placed && !v->placed)
            mt_rec_note(p->rec, MT_NOTE_SKIPPED, -1, 0);
        else
            MT_TRY(give(p, v, v->t_ns - first, err));
    }
    MT_TRY(mt_reader_found(p->rec,
                           "Of processes and containers memtool reads "
                           "process_resident_memory_bytes, container_memory_working_set_bytes and "
                           "those beside them (docs/formats/prometheus.md).",
                           err));
    note_levels(p);
    return mt_process_close(&p->log, err);
}
