#include "tests/unit/built.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *frame_name(const struct mt_recording *r, uint32_t frame)
{
    static struct mt_buf shown[4]; /* several may stand in one line */
    static int next;
    struct mt_buf *b = &shown[next++ % 4];
    mt_buf_clear(b);
    if (frame == MT_NONE)
        return "-";
    const struct mt_frame *f = &r->frames.v[frame];
    mt_buf_adds(b, mt_strtab_get(&r->strings, f->name));
    if (f->instance >= 0)
        mt_buf_addf(b, "_%d", f->instance);
    return b->s;
}

const struct mt_op *op_at(const struct mt_recording *r, uint32_t op, uint32_t *thread)
{
    size_t low = 0, high = r->threads.n;
    while (high - low > 1) {
        size_t mid = (low + high) / 2;
        if (r->threads.v[mid].op_base <= op)
            low = mid;
        else
            high = mid;
    }
    if (thread)
        *thread = (uint32_t)low;
    return &r->threads.v[low].ops.v[op - r->threads.v[low].op_base];
}

static const char *op_name(const struct mt_recording *r, uint32_t op)
{
    if (op == MT_NONE)
        return "-";
    const struct mt_label *l = &r->labels.v[op_at(r, op, NULL)->label];
    return mt_strtab_get(&r->strings, l->recorded);
}

static void add_op(struct mt_recording *r, uint32_t thread, const char *kind, const char *rest)
{
    static const char *const kinds[] = {"op", "annotation", "runtime", "python", "other"};
    struct mt_err err = MT_ERR_INIT;
    struct mt_op *op;
    int64_t start, end;
    int n = 0;
    uint32_t k = 0;
    size_t length = strcspn(kind, "#<");
    while (strlen(kinds[k]) != length || strncmp(kinds[k], kind, length) != 0)
        k++;
    assert_int_equal(sscanf(rest, "%" SCNd64 " %" SCNd64 " %n", &start, &end, &n), 2);
    const char *bar = strstr(rest + n, " | ");
    size_t name_n = bar ? (size_t)(bar - rest) - (size_t)n : strlen(rest + n);
    uint32_t name = mt_strtab_add(&r->strings, rest + n, name_n);
    assert_int_equal(mt_rec_op(r, thread, &op, &err), MT_OK);
    op->start_ns = start;
    op->end_ns = end;
    op->label = mt_rec_label(r, name, (enum mt_frame_kind)k);
    if (bar) {
        op->args = (uint32_t)r->args.n;
        *mt_vec_push(&r->args) =
            (struct mt_op_args){.shape = mt_strtab_add(&r->strings, bar + 3, strlen(bar + 3))};
    }
    if (kind[length])
        op->seq = atoi(kind + length + 1);
    op->fwd_thread = kind[length] == '<';
}

static uint16_t device_of(struct mt_recording *r, const char *name)
{
    int index = name[1] == 'u' ? atoi(name + 4) : -1;
    return (uint16_t)mt_rec_device(r, index < 0 ? 0 : 1, index);
}

static void add_oom(struct mt_recording *r, const char *rest)
{
    struct mt_sample s = {.metric = MT_METRIC_OOM, .order = (uint32_t)r->event_n};
    char device[16];
    assert_int_equal(sscanf(rest, "%" SCNd64 " %" SCNd64 " %15s", &s.t_ns, &s.value, device), 3);
    s.device = device_of(r, device);
    *mt_vec_push(&r->samples) = s;
}

static void add_record(struct mt_recording *r, uint32_t thread, const char *rest)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_record *rec;
    int64_t t, bytes;
    uint64_t addr;
    char device[16];
    assert_int_equal(
        sscanf(rest, "%" SCNd64 " %" SCNd64 " %" SCNx64 " %15s", &t, &bytes, &addr, device), 4);
    assert_int_equal(mt_rec_record(r, &rec, &err), MT_OK);
    rec->t_ns = t;
    rec->bytes = bytes;
    rec->addr = addr < 0x100 ? addr << 20 : addr;
    rec->has_addr = addr != 0;
    rec->thread = thread;
    rec->device = device_of(r, device);
    if (!addr)
        mt_rec_note(r, MT_NOTE_NO_ADDRESS, -1, 0);
}

enum mt_status built(struct mt_recording *r, const char *text, struct mt_err *err)
{
    static const char marked[] = "- marker ";
    char *copy = mt_strdup(text), *save = NULL, *marker = NULL;
    mt_rec_init(r);
    r->whole_us = false;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, marked, sizeof marked - 1) == 0) {
            marker = line + sizeof marked - 1;
            continue;
        }
        if (strcmp(line, "- whole_us") == 0) {
            r->whole_us = true;
            continue;
        }
        if (sscanf(line, "- trace_start %" SCNd64, &r->trace_start_ns) == 1)
            continue;
        int pid = 1, tid, n = 0;
        char kind[16];
        if (sscanf(line, "%d:%d %15s %n", &pid, &tid, kind, &n) != 3) {
            pid = 1;
            assert_int_equal(sscanf(line, "%d %15s %n", &tid, kind, &n), 2);
        }
        uint32_t thread = mt_rec_thread(r, pid, MT_NONE, tid, MT_NONE);
        if (strcmp(kind, "mem") == 0)
            add_record(r, thread, line + n);
        else if (strcmp(kind, "oom") == 0)
            add_oom(r, line + n);
        else
            add_op(r, thread, kind, line + n);
        r->event_n++;
    }
    enum mt_status st = mt_build(r, marker, err);
    free(copy);
    return st;
}

static void tell_below(struct mt_recording *r, uint32_t parent, int depth, struct mt_buf *out)
{
    for (uint32_t i = 0; i < r->nodes.n; i++) {
        const struct mt_node *n = &r->nodes.v[i];
        if (n->parent != parent)
            continue;
        mt_buf_addf(out, "%*s%s %" PRId64 " %" PRId64 " %" PRId64 "\n", depth * 2, "",
                    frame_name(r, n->frame), n->calls_n, n->time_ns, n->self_time_ns);
        tell_below(r, i, depth + 1, out);
    }
}

void tell_tree(struct mt_recording *r, struct mt_buf *out)
{
    tell_below(r, MT_NONE, 0, out);
}

void tell_nodes(struct mt_recording *r, struct mt_buf *out)
{
    for (size_t i = 0; i < r->nodes.n; i++) {
        const struct mt_node *n = &r->nodes.v[i];
        mt_buf_addf(out, "%s: %s %s %s %s\n", frame_name(r, n->frame), frame_name(r, n->top),
                    frame_name(r, n->scope), frame_name(r, n->module), mt_phase_names[n->phase]);
    }
}

void tell_records(struct mt_recording *r, struct mt_buf *out)
{
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        mt_buf_addf(out, "%" PRId64 " %+" PRId64 " %s%s", rec->t_ns, rec->bytes,
                    rec->unseen ? "unseen" : "in ", rec->unseen ? "" : op_name(r, rec->op));
        if (rec->mate != MT_NONE)
            mt_buf_addf(out, ", mate %" PRId64, r->records.v[rec->mate].t_ns);
        mt_buf_addc(out, '\n');
    }
}

void tell_devices(struct mt_recording *r, struct mt_buf *out)
{
    for (size_t i = 0; i < r->devices.n; i++) {
        const struct mt_device *d = &r->devices.v[i];
        char name[32];
        mt_device_name(d->type, d->index, name);
        mt_buf_addf(out, "%s +%" PRId64 " -%" PRId64 " end %" PRId64, name, d->alloc_b, d->freed_b,
                    d->at_end_b);
        if (d->peak_record == SIZE_MAX)
            mt_buf_adds(out, " no peak");
        else
            mt_buf_addf(out, " peak %" PRId64 " at %" PRId64, d->peak_b, d->peak_ns);
        mt_buf_addf(out, ", outside %" PRId64 " (+%" PRId64 " -%" PRId64 " peak %" PRId64 ")",
                    d->outside_n, d->outside_alloc_b, d->outside_freed_b, d->outside_at_peak_b);
        mt_buf_addf(out, ", before %" PRId64 " (peak %" PRId64 ")", d->before_freed_b,
                    d->before_at_peak_b);
        if (d->unseen_n || d->alloc_unseen_n)
            mt_buf_addf(out, ", unseen %" PRId64 " (%" PRId64 ")", d->unseen_n, d->unseen_b);
        if (d->alloc_unseen_n)
            mt_buf_addf(out, ", born %" PRId64 " (%" PRId64 ")", d->alloc_unseen_n,
                        d->alloc_unseen_b);
        if (d->unseen_n || d->alloc_unseen_n)
            mt_buf_addf(out, ", doubt %" PRId64 " and %" PRId64, d->doubt_at_peak_b,
                        d->doubt_at_end_b);
        mt_buf_addc(out, '\n');
    }
}

static void tell_sums(const struct mt_sums *s, struct mt_buf *out)
{
    mt_buf_addf(out, " +%" PRId64 " -%" PRId64 " n%" PRId64 " peak %" PRId64 " end %" PRId64,
                s->alloc_b, s->freed_b, s->alloc_n, s->at_peak_b, s->at_end_b);
}

void tell_stats(struct mt_recording *r, struct mt_buf *out)
{
    const struct mt_sums none = {0};
    for (size_t n = 0; n < r->nodes.n; n++)
        for (size_t i = 0; i < r->totals.n; i++) {
            const struct mt_node_total *s = &r->totals.v[i];
            const struct mt_device *d = &r->devices.v[s->device];
            const bool shared = r->nodes.v[n].stat_node != MT_NONE;
            char device[32];
            if (s->node != (shared ? r->nodes.v[n].stat_node : n))
                continue;
            mt_device_name(d->type, d->index, device);
            mt_buf_addf(out, "%s %s:", frame_name(r, r->nodes.v[n].frame), device);
            tell_sums(shared || s->stat == MT_NONE ? &none : &r->stats.v[s->stat].self, out);
            mt_buf_adds(out, " |");
            tell_sums(&s->total, out);
            mt_buf_addc(out, '\n');
        }
}

void tell_steps(struct mt_recording *r, struct mt_buf *out)
{
    for (size_t i = 0; i < r->steps.n; i++)
        mt_buf_addf(out, "%" PRId64 " %" PRId64 " %" PRId64 "\n", r->steps.v[i].number,
                    r->steps.v[i].start_ns, r->steps.v[i].end_ns);
}

void tell_forward(struct mt_recording *r, struct mt_buf *out)
{
    for (uint32_t i = 0; i < r->op_n; i++) {
        const struct mt_op *op = op_at(r, i, NULL);
        if (mt_op_is_backward(op))
            mt_buf_addf(out, "%s <- %s\n", op_name(r, i), op_name(r, op->fwd));
    }
}

void tell_span(struct mt_recording *r, struct mt_buf *out)
{
    mt_buf_addf(out, "%" PRId64 " %" PRId64 "\n", r->start_ns, r->end_ns);
}

void tell_notes(struct mt_recording *r, struct mt_buf *out)
{
    for (int k = 0; k < MT_NOTE_N; k++)
        if (r->notes[k].count)
            mt_buf_addf(out, "%s%s %" PRIu64, out->n ? ", " : "", mt_note_names[k],
                        r->notes[k].count);
}

void check_told(const struct told *row, void (*tell)(struct mt_recording *, struct mt_buf *))
{
    struct mt_recording r;
    struct mt_err err = MT_ERR_INIT;
    struct mt_buf text = {0}, notes = {0};
    assert_int_equal(built(&r, row->text, &err), MT_OK);
    tell(&r, &text);
    assert_string_equal(text.s ? text.s : "", row->want);
    tell_notes(&r, &notes);
    if (row->notes)
        assert_string_equal(notes.s ? notes.s : "", row->notes);
    mt_buf_free(&text);
    mt_buf_free(&notes);
    mt_rec_free(&r);
}
