#include "lib/model/process.h"

#include "lib/base/hash.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOMENT_BITS = 62, /* as in lib/build/validate.c */
    LEVEL_BITS = 60,
    PROCESSES = 1 << 12,       /* at most: a device each */
    LEVELS_PER_CHECK = 1 << 14 /* between two looks at memory */
};

void mt_process_open(struct mt_process_log *log, struct mt_recording *rec)
{
    *log = (struct mt_process_log){
        .rec = rec, .mark_first = rec->other_events.n, .seed = mt_hash_seed()};
    rec->summed = rec->without_ops = true;
    rec->time_unit = "ns";
}

void mt_process_free(struct mt_process_log *log)
{
    mt_rec_beside(log->rec, &log->beside, 0);
    for (size_t i = 0; i < log->all.n; i++)
        mt_buf_free(&log->all.v[i].packer.packed);
    mt_vec_free(&log->all);
    mt_map_free(&log->by_number);
    mt_map_free(&log->by_name);
    mt_map_free(&log->taken);
}

/* Levels are packed in a few bytes, but reports unpack all that one process had. */
static enum mt_status check_memory(struct mt_process_log *log, struct mt_err *err)
{
    enum { FOR_A_LEVEL = 2 * sizeof(struct mt_level) }; /* in a vector that grows */
    mt_rec_beside(log->rec, &log->beside,
                  mt_vec_bytes(&log->all) + log->rec->history.curve.packed.n +
                      log->rec->event_n * FOR_A_LEVEL);
    return mt_rec_check_memory(log->rec, err);
}

static enum mt_status check(int64_t t, int64_t value, struct mt_err *err)
{
    if (t >= 0 && t < (int64_t)1 << MOMENT_BITS && value >= 0 && value < (int64_t)1 << LEVEL_BITS)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "a figure of the process cannot be true: %s",
            value < 0 || value >= (int64_t)1 << LEVEL_BITS ? "it is negative, or beyond 1 EiB"
                                                           : "its time is out of range");
    mt_err_hint(err, "Nothing was imported. The file is damaged, or no recorder wrote it.");
    return MT_EINPUT;
}

size_t mt_process_find(const struct mt_process_log *log, int64_t number)
{
    uint32_t at = mt_map_get(&log->by_number, (uint64_t)number);
    return at == MT_MAP_NONE ? SIZE_MAX : at;
}

/* Whether no device is called so yet; then one is. */
static bool take_name(struct mt_process_log *log, const char *name)
{
    uint32_t *taken = mt_map_at(&log->taken, mt_hash_short(log->seed, name, strlen(name)));
    bool free = *taken == MT_MAP_NONE;
    *taken = 1;
    return free;
}

enum mt_status mt_process_of(struct mt_process_log *log, int64_t number, size_t *process,
                             struct mt_err *err)
{
    char name[MT_DEVICE_NAME];
    *process = mt_process_find(log, number);
    if (*process != SIZE_MAX)
        return MT_OK;
    if (log->all.n == PROCESSES) {
        MT_FAIL(err, MT_ELIMIT, "more than %d processes", PROCESSES);
        mt_err_hint(err, "Nothing was imported. Keep the lines of those that matter, and import "
                         "that file.");
        return MT_ELIMIT;
    }
    *process = log->all.n;
    *mt_map_at(&log->by_number, (uint64_t)number) = (uint32_t)*process;
    *mt_vec_push(&log->all) = (struct mt_process){
        .number = number,
        .device = (uint16_t)mt_rec_device(log->rec, MT_DEVICE_PROCESS,
                                          number < 0 || number > INT32_MAX ? -1 : (int)number),
        .peak_b = MT_UNKNOWN,
        .peak_ns = MT_UNKNOWN};
    mt_rec_device_name(log->rec, &log->rec->devices.v[log->all.v[*process].device], name);
    take_name(log, name);
    return MT_OK;
}

/* As much of the name as fits: its ends, which tell one from the other. */
static void shorten(const char *kind, const char *s, size_t n, char out[MT_DEVICE_NAME])
{
    size_t at = (size_t)snprintf(out, MT_DEVICE_NAME, "%s:", kind), room = MT_DEVICE_NAME - 1 - at;
    size_t first = n > room ? (room - 1) / 2 : n, last = n > room ? room - 1 - first : 0;
    for (size_t i = 0; i < n; i++) {
        if (i == first)
            out[at++] = '~';
        if (i < first || i >= n - last)
            out[at++] = isalnum((unsigned char)s[i]) || strchr("._-:/@", s[i]) ? s[i] : '_';
    }
    out[at] = '\0';
}

/* A device of that name, or of one like it that no other has. */
static uint32_t name_device(struct mt_process_log *log, const char *kind, const char *s, size_t n,
                            bool *same)
{
    char name[MT_DEVICE_NAME], number[16];
    shorten(kind, s, n, name);
    const size_t len = strlen(name);
    for (int i = 2; !take_name(log, name); i++) {
        size_t end = (size_t)snprintf(number, sizeof number, "~%d", i);
        memcpy(name + (len + end < sizeof name ? len : sizeof name - 1 - end), number, end + 1);
    }
    size_t before = strlen(kind) + 1;
    *same = strlen(name + before) == n && memcmp(name + before, s, n) == 0;
    return mt_strtab_add(&log->rec->strings, name, strlen(name)) + 1;
}

enum mt_status mt_process_named(struct mt_process_log *log, const char *kind, const char *s,
                                size_t n, size_t *process, struct mt_err *err)
{
    uint32_t full = mt_strtab_add(&log->rec->strings, s, n) + 1;
    bool same;
    uint32_t known = mt_map_get(&log->by_name, full);
    *process = known;
    if (known != MT_MAP_NONE)
        return MT_OK;
    MT_TRY(mt_process_of(log, INT32_MAX - (int64_t)log->all.n, process, err));
    struct mt_process *p = &log->all.v[*process];
    p->full = full;
    *mt_map_at(&log->by_name, full) = (uint32_t)*process;
    uint32_t name = name_device(log, kind, s, n, &same);
    log->rec->devices.v[p->device].name = name;
    return same ? MT_OK : mt_process_mark(log, *process, 0, "name", s, n, 0, err);
}

/* The first process was there before its first level, and had as much; a child was not. */
static void put(struct mt_process_log *log, struct mt_process *p, int64_t t, int64_t bytes)
{
    struct mt_curve *curve = &log->rec->history.curve;
    if (!p->any) {
        p->start_b = p == log->all.v || p->older ? bytes : 0;
        p->level_b = p->start_b;
        mt_packer_start(&p->packer, p->device, p->start_b);
        if (p->start_b == bytes)
            mt_packer_look(&p->packer, curve, p->level_n, t);
    }
    if (p->level_b != bytes)
        p->kept = p->level_n;
    mt_packer_add(&p->packer, curve, p->level_n++, t, bytes - p->level_b, MT_ORIGIN_OUTSIDE);
    p->any = true;
    p->level_b = bytes;
    if (p->peak_b == MT_UNKNOWN || bytes > p->peak_b) {
        p->peak_b = bytes;
        p->peak_ns = t;
        p->peak_level = p->level_n - 1;
    }
}

enum mt_status mt_process_level(struct mt_process_log *log, size_t process, int64_t t,
                                int64_t bytes, struct mt_err *err)
{
    struct mt_process *p = &log->all.v[process];
    MT_TRY(check(t, bytes, err));
    if (t < p->now && p->any) {
        mt_rec_note(log->rec, MT_NOTE_CLOCK, -1, 0);
        t = p->now;
    }
    p->now = t;
    mt_lull_add(&log->rec->lull, t);
    put(log, p, t, bytes);
    MT_TRY(mt_process_until(log, t, err));
    return ++log->rec->event_n % LEVELS_PER_CHECK ? MT_OK : check_memory(log, err);
}

/* The level of the peak stands in the curve at the time of the level that was read with it. */
enum mt_status mt_process_peak(struct mt_process_log *log, size_t process, int64_t bytes,
                               struct mt_err *err)
{
    struct mt_process *p = &log->all.v[process];
    int64_t level = p->level_b;
    MT_TRY(check(0, bytes, err));
    if (p->peak_b != MT_UNKNOWN && bytes <= p->peak_b)
        return MT_OK;
    if (!p->any) {
        p->peak_b = bytes;
        return MT_OK;
    }
    put(log, p, p->now, bytes);
    put(log, p, p->now, level);
    return MT_OK;
}

enum mt_status mt_process_sample(struct mt_process_log *log, size_t process, int metric, int64_t t,
                                 int64_t value, struct mt_err *err)
{
    struct mt_recording *r = log->rec;
    MT_TRY(check(t, value, err));
    mt_lull_add(&r->lull, t);
    *mt_vec_push(&r->samples) = (struct mt_sample){.t_ns = t,
                                                   .value = value,
                                                   .order = (uint32_t)r->samples.n,
                                                   .device = log->all.v[process].device,
                                                   .metric = (uint8_t)metric,
                                                   .event = MT_GONE};
    MT_TRY(mt_process_until(log, t, err));
    return r->samples.n % LEVELS_PER_CHECK ? MT_OK : check_memory(log, err);
}

enum mt_status mt_process_mark(struct mt_process_log *log, size_t process, int64_t t,
                               const char *action, const char *text, size_t n, int64_t bytes,
                               struct mt_err *err)
{
    struct mt_recording *r = log->rec;
    MT_TRY(check(t, bytes, err));
    *mt_vec_push(&r->other_events) =
        (struct mt_other_event){.t_ns = t,
                                .bytes = bytes,
                                .action = mt_strtab_add(&r->strings, action, strlen(action)),
                                .text = mt_strtab_add(&r->strings, text, n),
                                .device = log->all.v[process].device};
    MT_TRY(mt_process_until(log, t, err));
    return r->other_events.n % LEVELS_PER_CHECK ? MT_OK : check_memory(log, err);
}

enum mt_status mt_process_until(struct mt_process_log *log, int64_t t, struct mt_err *err)
{
    MT_TRY(check(t, 0, err));
    log->rec->end_ns = t > log->rec->end_ns ? t : log->rec->end_ns;
    return MT_OK;
}

void mt_process_sole(struct mt_process_log *log)
{
    if (log->all.n == 1 && !log->all.v[0].full)
        log->rec->devices.v[log->all.v[0].device].index = -1;
}

int64_t mt_process_whole(int64_t bytes, int64_t unit, int64_t off)
{
    int64_t whole = mt_wrap_add(bytes, unit / 2) / unit * unit;
    int64_t by = mt_wrap_sub(bytes, whole);
    return by >= -off && by <= off ? whole : bytes;
}

bool mt_process_is_device(const char *device)
{
    static const char named[] = "process:";
    return strcmp(device, "process") == 0 || strcmp(device, MT_PROCESSES_NAME) == 0 ||
           (strncmp(device, named, sizeof named - 1) == 0 && device[sizeof named - 1]);
}

bool mt_process_is_child(const char *device)
{
    static const char before[] = "process:";
    const char *number = device + sizeof before - 1;
    return strncmp(device, before, sizeof before - 1) == 0 && *number &&
           number[strspn(number, "0123456789")] == '\0';
}

/* ---- into the recording ---- */

static int mark_cmp(const void *a, const void *b)
{
    const struct mt_other_event *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    return x->action < y->action ? -1 : x->action > y->action;
}

void mt_process_looked(struct mt_process_log *log, size_t process)
{
    struct mt_process *p = &log->all.v[process];
    if (p->kept + 1 >= p->level_n)
        return;
    p->kept = p->level_n - 1;
    mt_packer_look(&p->packer, &log->rec->history.curve, p->kept, p->now);
}

static void close_process(struct mt_process_log *log, struct mt_process *p)
{
    struct mt_recording *r = log->rec;
    struct mt_device *d = &r->devices.v[p->device];
    mt_process_looked(log, (size_t)(p - log->all.v));
    if (p->any)
        mt_packer_end(&p->packer, &r->history.curve);
    d->start_b = p->any ? p->start_b : 0;
    d->alloc_b = d->alloc_n = d->freed_b = d->freed_n = MT_UNKNOWN;
    d->at_end_b = d->at_end_n = MT_UNKNOWN;
    d->peak_b = p->peak_b;
    d->peak_ns = p->peak_ns;
    d->peak_record = p->peak_ns == MT_UNKNOWN ? SIZE_MAX : (size_t)p->peak_level;
    d->knows = mt_process_knows(p) | (r->steps.n ? MT_KNOWS_STEPS : 0);
    r->summed_n += (uint64_t)p->level_n;
}

enum mt_status mt_process_close(struct mt_process_log *log, struct mt_err *err)
{
    struct mt_recording *r = log->rec;
    for (size_t i = 0; i < log->all.n; i++)
        close_process(log, &log->all.v[i]);
    if (r->other_events.n > log->mark_first)
        qsort(r->other_events.v + log->mark_first, r->other_events.n - log->mark_first,
              sizeof *r->other_events.v, mark_cmp);
    return check_memory(log, err);
}
