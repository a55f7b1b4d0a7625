#include "lib/model/recording.h"

#include "lib/base/hash.h"
#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include "lib/base/search.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mt_phase_names[MT_PHASE_N] = {"other",     "forward",      "backward",
                                                "optimizer", "data loading", "recomputed"};
const char *const mt_kept_names[MT_KEPT_N] = {NULL, "option", "file", "recorder"};

void mt_rec_init(struct mt_recording *r)
{
    *r = (struct mt_recording){
        .whole_us = true, .last_thread = MT_NONE, .trace_start_ns = MT_GONE, .time_unit = "ns"};
    mt_strtab_init(&r->strings);
    mt_strtab_init(&r->thread_keys);
    mt_strtab_init(&r->process_keys);
    for (int i = 0; i < MT_NOTE_N; i++)
        r->notes[i].first_offset = -1;
}

void mt_rec_free(struct mt_recording *r)
{
    for (size_t i = 0; i < r->threads.n; i++)
        mt_vec_free(&r->threads.v[i].ops);
    mt_vec_free(&r->threads);
    mt_strtab_free(&r->strings);
    mt_strtab_free(&r->thread_keys);
    mt_strtab_free(&r->process_keys);
    mt_map_free(&r->label_of);
    mt_map_free(&r->frame_of);
    mt_map_free(&r->device_of);
    mt_vec_free(&r->frames);
    mt_vec_free(&r->labels);
    mt_vec_free(&r->devices);
    mt_vec_free(&r->args);
    mt_vec_free(&r->made);
    mt_vec_free(&r->records);
    mt_vec_free(&r->told);
    mt_vec_free(&r->samples);
    mt_vec_free(&r->own_metrics);
    mt_vec_free(&r->older);
    mt_vec_free(&r->other_events);
    mt_vec_free(&r->segments);
    mt_vec_free(&r->blocks);
    mt_vec_free(&r->nodes);
    mt_vec_free(&r->stats);
    mt_vec_free(&r->totals);
    mt_vec_free(&r->category_stats);
    mt_vec_free(&r->extras);
    mt_vec_free(&r->size_stats);
    mt_history_free(&r->history);
    mt_vec_free(&r->unseen);
    mt_map_free(&r->losing);
    mt_vec_free(&r->steps);
    mt_vec_free(&r->meta);
}

int64_t mt_step_begun(const struct mt_step *v, size_t n, int64_t t_ns)
{
    return n ? (int64_t)mt_count_up_to(&v->start_ns, n, sizeof *v, t_ns) - 1 : -1;
}

int64_t mt_step_dating(const struct mt_step *v, size_t n, int64_t run_end_ns, int64_t t_ns)
{
    int64_t i = mt_step_begun(v, n, t_ns);
    bool over = i >= 0 && t_ns >= v[i].end_ns && v[i].end_ns < run_end_ns;
    return over && i == (int64_t)n - 1 ? (int64_t)n : i;
}

uint32_t mt_rec_thread(struct mt_recording *r, int64_t pid, uint32_t pid_name, int64_t tid,
                       uint32_t tid_name)
{
    if (r->last_thread != MT_NONE) {
        const struct mt_thread *t = &r->threads.v[r->last_thread];
        if (t->pid == pid && t->tid == tid && t->pid_name == pid_name && t->tid_name == tid_name)
            return r->last_thread;
    }
    struct {
        int64_t pid, tid;
        uint32_t pid_name, tid_name;
    } key = {pid, tid, pid_name, tid_name};
    uint32_t id = mt_strtab_add(&r->thread_keys, (const char *)&key, sizeof key);
    if (id == r->threads.n) {
        const int64_t process[] = {pid, pid_name};
        *mt_vec_push(&r->threads) = (struct mt_thread){
            .pid = pid,
            .tid = tid,
            .pid_name = pid_name,
            .tid_name = tid_name,
            .name = MT_NONE,
            .process = mt_strtab_add(&r->process_keys, (const char *)process, sizeof process)};
    }
    return r->last_thread = id;
}

uint32_t mt_rec_name(struct mt_recording *r, const char *s, size_t n)
{
    if (n <= MT_NAME_BYTES_MAX)
        return mt_strtab_add(&r->strings, n ? s : "", n);
    struct mt_buf cut = {0};
    size_t fits = MT_NAME_BYTES_MAX;
    while (((unsigned char)s[fits] & 0xc0) == 0x80 && fits)
        fits--;
    mt_buf_add(&cut, s, fits);
    mt_buf_addf(&cut, "... [%zu bytes, %016llx]", n, (unsigned long long)mt_hash_short(0, s, n));
    uint32_t known_n = r->strings.n, id = mt_strtab_add(&r->strings, cut.s, cut.n);
    if (id == known_n)
        mt_rec_note(r, MT_NOTE_LONG_NAMES, -1, (int64_t)n);
    mt_buf_free(&cut);
    return id;
}

/* "<built-in method empty of type object at 0x7f40>" -> without " at 0x7f40". */
static void cut_addresses(struct mt_buf *out, const char *s)
{
    const char *at;
    while ((at = strstr(s, " at 0x"))) {
        mt_buf_add(out, s, (size_t)(at - s));
        s = at + 6;
        s += strspn(s, "0123456789abcdefABCDEF");
    }
    mt_buf_adds(out, s);
}

/* How much of an operator's name is left without its overload: "aten::add" of "aten::add.Tensor".
 * An overload does not begin with a digit, as "model::layer.0" would. */
static size_t without_overload(const char *s)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t space = strspn(s, word), n = strlen(s);
    if (!space || strncmp(s + space, "::", 2) != 0)
        return n;
    size_t name = space + 2 + strspn(s + space + 2, word);
    bool has_overload =
        name > space + 2 && s[name] == '.' && s[name + 1] && !isdigit((unsigned char)s[name + 1]);
    return has_overload && strspn(s + name + 1, word) == n - name - 1 ? name : n;
}

/* The name in call paths of a recorded name, and the instance number behind it. */
static int32_t cut_name(struct mt_buf *out, const char *s, enum mt_frame_kind kind)
{
    static const char step[] = "ProfilerStep#", module[] = "nn.Module: ";
    if (strncmp(s, step, sizeof step - 1) == 0) {
        mt_buf_adds(out, "ProfilerStep*");
        return -1;
    }
    if (kind != MT_FRAME_PYTHON) {
        mt_buf_add(out, s, kind == MT_FRAME_OP ? without_overload(s) : strlen(s));
        return -1;
    }
    const char *low = strrchr(s, '_');
    if (strncmp(s, module, sizeof module - 1) == 0 && low && low[1] &&
        strspn(low + 1, "0123456789") == strlen(low + 1) && strlen(low + 1) < 9) {
        mt_buf_add(out, s, (size_t)(low - s));
        return (int32_t)strtol(low + 1, NULL, 10);
    }
    cut_addresses(out, s);
    return -1;
}

static uint32_t frame_of(struct mt_recording *r, uint32_t recorded, enum mt_frame_kind kind)
{
    struct mt_buf cut = {0};
    int32_t instance = cut_name(&cut, mt_strtab_get(&r->strings, recorded), kind);
    uint32_t name = mt_rec_name(r, cut.s, cut.n);
    mt_buf_free(&cut);
    uint64_t key = ((uint64_t)name * MT_FRAME_KIND_N + kind) << 30 ^ (uint32_t)(instance + 1);
    uint32_t *frame = mt_map_at(&r->frame_of, key);
    if (*frame == MT_NONE) {
        *frame = (uint32_t)r->frames.n;
        *mt_vec_push(&r->frames) = (struct mt_frame){.name = name,
                                                     .object = MT_NONE,
                                                     .file = MT_NONE,
                                                     .instance = instance,
                                                     .kind = (uint8_t)kind};
    }
    return *frame;
}

uint32_t mt_rec_label(struct mt_recording *r, uint32_t recorded, enum mt_frame_kind kind)
{
    uint32_t *slot = mt_map_at(&r->label_of, (uint64_t)recorded * MT_FRAME_KIND_N + kind);
    if (*slot == MT_NONE) {
        *slot = (uint32_t)r->labels.n;
        const char *text = mt_strtab_get(&r->strings, recorded);
        *mt_vec_push(&r->labels) = (struct mt_label){mt_rec_name(r, text, strlen(text)), 0};
        r->labels.v[*slot].frame = frame_of(r, recorded, kind);
    }
    return *slot;
}

static uint64_t device_key(int type, int index)
{
    return (uint64_t)(uint32_t)type << 32 | (uint32_t)index;
}

bool mt_rec_may_have_device(const struct mt_recording *r, int type, int index)
{
    return r->devices.n < MT_DEVICES_MAX ||
           mt_map_get(&r->device_of, device_key(type, index)) != MT_MAP_NONE;
}

uint32_t mt_rec_device(struct mt_recording *r, int type, int index)
{
    uint32_t *known = mt_map_at(&r->device_of, device_key(type, index));
    if (*known != MT_MAP_NONE)
        return *known;
    *known = (uint32_t)r->devices.n;
    *mt_vec_push(&r->devices) = (struct mt_device){
        .type = type, .index = index, .kept_least_b = MT_GONE, .kept_most_b = MT_GONE};
    return (uint32_t)r->devices.n - 1;
}

void mt_rec_meta(struct mt_recording *r, const char *key, const char *json, size_t n)
{
    uint32_t name = mt_strtab_add(&r->strings, key, strlen(key));
    *mt_vec_push(&r->meta) = (struct mt_meta){name, mt_strtab_add(&r->strings, json, n)};
}

void mt_rec_meta_text(struct mt_recording *r, const char *key, const char *s, size_t n)
{
    struct mt_buf json = {0};
    mt_json_quote(&json, s, n);
    mt_rec_meta(r, key, json.s, json.n);
    mt_buf_free(&json);
}

uint64_t mt_rec_bytes(const struct mt_recording *r)
{
#define BYTES(vec) ((uint64_t)(vec).n * sizeof *(vec).v)
    const uint64_t pairing = r->without_ops ? 0 : 8 * sizeof(struct mt_map_slot); /* of a record */
    /* A vector begins with room for a few: that counts where threads are many. */
    return (r->op_n + r->busy_n * MT_VEC_FIRST) * sizeof(struct mt_op) + BYTES(r->threads) +
           BYTES(r->args) + BYTES(r->made) + r->records.n * pairing + BYTES(r->records) +
           BYTES(r->told) + BYTES(r->samples) + BYTES(r->older) + BYTES(r->other_events) +
           BYTES(r->segments) + BYTES(r->blocks) + BYTES(r->nodes) + BYTES(r->stats) +
           BYTES(r->totals) + BYTES(r->category_stats) + BYTES(r->extras) + BYTES(r->steps) +
           BYTES(r->meta) + BYTES(r->frames) + BYTES(r->labels) + BYTES(r->devices) +
           mt_strtab_bytes(&r->strings) + mt_strtab_bytes(&r->thread_keys) +
           mt_strtab_bytes(&r->process_keys) + mt_map_bytes(&r->label_of) +
           mt_map_bytes(&r->frame_of) + mt_map_bytes(&r->device_of) + r->beside_bytes;
#undef BYTES
}

bool mt_rec_grew(const struct mt_recording *r)
{
    enum { NODES_PER_CHECK = 1 << 16 };
    return r->nodes.n - r->looked_n >= NODES_PER_CHECK;
}

/* of: "2,000 call paths" */
static enum mt_status too_many(const char *of, struct mt_err *err)
{
    MT_FAIL(err, MT_ELIMIT, "has more than %s, more than a file of its size should", of);
    mt_err_hint(err, "Nothing was imported. `memtool import --max-memory SIZE` imports it, and "
                     "reports may take several gigabytes.");
    return MT_ELIMIT;
}

enum mt_status mt_rec_check_memory(struct mt_recording *r, struct mt_err *err)
{
    const uint64_t numbers = UINT32_MAX - 1;
    char limit[MT_HUMAN_MAX], things[MT_HUMAN_LONG], records[MT_HUMAN_LONG];
    r->looked_n = r->nodes.n;
    if (r->op_n >= numbers || r->records.n >= numbers || r->strings.n >= MT_STRTAB_MAX) {
        MT_FAIL(err, MT_ELIMIT, "has more ops, memory records or names than memtool supports");
        mt_err_hint(err, "Nothing was imported. Record fewer steps at a time.");
        return MT_ELIMIT;
    }
    if (r->max_nodes && r->nodes.n > r->max_nodes)
        return too_many(mt_human_plural((int64_t)r->max_nodes, "call path", things), err);
    if (r->max_name_b && mt_strtab_bytes(&r->strings) > r->max_name_b) {
        snprintf(things, sizeof things, "%s of names",
                 mt_human_bytes((int64_t)r->max_name_b, limit));
        return too_many(things, err);
    }
    if (!r->max_bytes || mt_rec_bytes(r) < r->max_bytes)
        return MT_OK;
    mt_human_plural((int64_t)(r->without_ops ? r->event_n : r->op_n),
                    r->without_ops ? "event" : "op", things);
    MT_FAIL(err, MT_ELIMIT, "needs more than %s of memory%s%s (%s, %s so far)",
            mt_human_bytes((int64_t)r->max_bytes, limit), r->max_why ? ", " : "",
            r->max_why ? r->max_why : "", things,
            mt_human_plural((int64_t)r->records.n, "memory record", records));
    mt_err_hint(err, "Nothing was imported. `memtool import --max-memory SIZE` allows more.");
    return MT_ELIMIT;
}

void mt_rec_beside(struct mt_recording *r, uint64_t *counted, uint64_t now)
{
    r->beside_bytes += now - *counted;
    *counted = now;
}

enum mt_status mt_rec_op(struct mt_recording *r, uint32_t thread, struct mt_op **op,
                         struct mt_err *err)
{
    if ((r->op_n & 1023) == 0)
        MT_TRY(mt_rec_check_memory(r, err));
    r->busy_n += !r->threads.v[thread].ops.n;
    *op = mt_vec_push(&r->threads.v[thread].ops);
    **op = (struct mt_op){.args = MT_NONE, .seq = -1, .order = (uint32_t)r->event_n};
    r->op_n++;
    return MT_OK;
}

enum mt_status mt_rec_record(struct mt_recording *r, struct mt_record **rec, struct mt_err *err)
{
    if ((r->records.n & 1023) == 0)
        MT_TRY(mt_rec_check_memory(r, err));
    *rec = mt_vec_push(&r->records);
    **rec = (struct mt_record){.order = (uint32_t)r->event_n, .op = MT_NONE, .mate = MT_NONE};
    return MT_OK;
}

void mt_rec_told(struct mt_recording *r, int64_t reserved_b, int64_t total_b)
{
    const struct mt_told *last = r->told.n ? &r->told.v[r->told.n - 1] : NULL;
    if (!last || last->reserved_b != reserved_b || last->total_b != total_b)
        *mt_vec_push(&r->told) = (struct mt_told){reserved_b, total_b};
    r->records.v[r->records.n - 1].told = (uint32_t)r->told.n;
}

void mt_rec_note(struct mt_recording *r, enum mt_note_kind kind, int64_t offset, int64_t bytes)
{
    mt_rec_note_n(r, kind, 1, offset);
    mt_wrap_inc(&r->notes[kind].bytes, bytes);
}

void mt_rec_note_n(struct mt_recording *r, enum mt_note_kind kind, uint64_t n, int64_t offset)
{
    struct mt_note *note = &r->notes[kind];
    if (!note->count)
        note->first_offset = offset;
    note->count += n;
}

void mt_rec_note_detail(struct mt_recording *r, enum mt_note_kind kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->notes[kind].detail, sizeof r->notes[kind].detail, fmt, args);
    va_end(args);
}

int mt_rec_metric(struct mt_recording *r, const char *name)
{
    for (int i = 0; i < MT_METRIC_N; i++)
        if (strcmp(mt_metric_names[i], name) == 0)
            return i;
    uint32_t id = mt_strtab_add(&r->strings, name, strlen(name));
    size_t at = 0;
    while (at < r->own_metrics.n && r->own_metrics.v[at] != id)
        at++;
    if (MT_METRIC_N + at > UINT8_MAX)
        return -1;
    if (at == r->own_metrics.n)
        *mt_vec_push(&r->own_metrics) = id;
    return MT_METRIC_N + (int)at;
}

const char *mt_rec_metric_name(const struct mt_recording *r, int metric)
{
    return metric < MT_METRIC_N
               ? mt_metric_names[metric]
               : mt_strtab_get(&r->strings, r->own_metrics.v[metric - MT_METRIC_N]);
}

void mt_rec_device_name(const struct mt_recording *r, const struct mt_device *d,
                        char out[MT_DEVICE_NAME])
{
    if (d->name)
        snprintf(out, MT_DEVICE_NAME, "%s", mt_strtab_get(&r->strings, d->name - 1));
    else
        mt_device_name(d->type, d->index, out);
}
