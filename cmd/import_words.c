#include "cmd/import_words.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/steps_advice.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A figure with its name before it; what is not known is left out. */
static void describe_figure(struct mt_buf *out, const char *name, int64_t bytes)
{
    char text[MT_HUMAN_MAX];
    if (bytes != MT_UNKNOWN)
        mt_buf_addf(out, "%s %s   ", name, mt_human_bytes(bytes, text));
}

/* A moment of the run, in its unit. */
static void add_moment(struct mt_buf *out, const struct mt_recording *r, int64_t t)
{
    char text[MT_HUMAN_LONG];
    mt_buf_adds(out, mt_human_time(r->time_unit, t, text));
}

/* Over what time; of one that counts samples, their number says it. */
static void add_span(struct mt_buf *out, const struct mt_recording *r)
{
    char text[MT_HUMAN_LONG];
    if (r->time_unit && strcmp(r->time_unit, "samples") != 0 && r->end_ns > r->start_ns)
        mt_buf_addf(out, " over %s", mt_human_span(r->time_unit, r->end_ns - r->start_ns, text));
}

static void describe_device(struct mt_buf *out, const struct mt_recording *r,
                            const struct mt_device *d)
{
    char dev[32], p[MT_HUMAN_MAX];
    bool sums = r->kind != MT_RUN_TRACE && r->kind != MT_RUN_SNAPSHOT;
    bool one_moment = r->notes[MT_NOTE_STATE_ONLY].count, at_end = sums || one_moment;
    bool peak = !one_moment && d->peak_b != MT_UNKNOWN;
    struct mt_buf shown = {0};
    mt_rec_device_name(r, d, dev);
    mt_escape_terminal(&shown, dev);
    mt_buf_addf(out, "  %-6s ", shown.s ? shown.s : "");
    mt_buf_free(&shown);
    describe_figure(out, "allocated", one_moment ? MT_UNKNOWN : d->alloc_b);
    describe_figure(out, "freed", one_moment ? MT_UNKNOWN : d->freed_b);
    describe_figure(out, at_end ? "at the end" : "net",
                    at_end ? d->at_end_b : d->alloc_b - d->freed_b);
    mt_buf_addf(out, "peak %s%s%s", r->kind == MT_RUN_PROCESS ? "rss " : "",
                peak && d->doubt_at_peak_b ? "at most " : "",
                peak ? mt_human_bytes(d->peak_b, p) : "unknown");
    if (d->peak_record != SIZE_MAX && r->time_unit) {
        mt_buf_adds(out, " at ");
        add_moment(out, r, d->peak_ns - r->start_ns);
    }
    if (d->start_b && r->kind != MT_RUN_PROCESS && !one_moment)
        mt_buf_addf(out, "   %s older than the recording", mt_human_bytes(d->start_b, p));
    mt_buf_addc(out, '\n');
}

enum { DEVICES_SHOWN = 32 };

struct by_peak {
    int64_t peak_b; /* MT_UNKNOWN is the least */
    size_t device;
};

static int peak_cmp(const void *a, const void *b)
{
    const struct by_peak *x = a, *y = b;
    if (x->peak_b != y->peak_b)
        return x->peak_b > y->peak_b ? -1 : 1;
    return x->device < y->device ? -1 : 1;
}

/* Of many processes those with the largest peaks. */
static void describe_devices(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    const size_t n = r->devices.n, shown = n > DEVICES_SHOWN ? DEVICES_SHOWN : n;
    struct by_peak *order = mt_alloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct by_peak){r->devices.v[i].peak_b, i};
    if (n > shown)
        qsort(order, n, sizeof *order, peak_cmp);
    for (size_t i = 0; i < shown; i++)
        describe_device(out, r, &r->devices.v[order[i].device]);
    if (n > shown) {
        char more[MT_HUMAN_MAX];
        mt_buf_addf(out, "  %s more, none with a larger peak: memtool memory ",
                    mt_human_count((int64_t)(n - shown), more));
        mt_shell_word(out, run);
        mt_buf_addc(out, '\n');
    }
    free(order);
}

static size_t threads_with_ops(const struct mt_recording *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->threads.n; i++)
        n += r->threads.v[i].ops.n > 0;
    return n;
}

/* There are some, and no telling which; the note has advice of its own. */
static bool steps_unknown(const struct mt_recording *r)
{
    return r->notes[MT_NOTE_STEPS_UNKNOWN].count || r->notes[MT_NOTE_STEPS_APART].count;
}

static void describe_steps(struct mt_buf *out, const struct mt_recording *r, const char *marker)
{
    char steps[MT_HUMAN_LONG];
    if (r->steps.n)
        mt_buf_addf(out, "%s (%s)\n", mt_human_plural((int64_t)r->steps.n, "step", steps),
                    r->step_marker);
    else if (steps_unknown(r))
        mt_buf_adds(out, "steps unknown\n");
    else if (marker)
        mt_buf_addf(out, "no steps: no %s matches --step-marker '%s'\n",
                    r->without_ops ? "scope" : "name", marker);
    else
        mt_buf_adds(out, "no step markers\n");
}

/* What a heap log is of: its events, the moments that the recorder looked at, or what is left. */
static void describe_heap(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    char paths[MT_HUMAN_LONG], allocs[MT_HUMAN_LONG], frees[MT_HUMAN_LONG];
    const struct mt_device *d = r->devices.n ? &r->devices.v[0] : NULL;
    mt_escape_terminal(out, run);
    mt_buf_addf(out, ": heap log of %s, %s\n", r->format,
                mt_human_plural((int64_t)r->nodes.n, "call path", paths));
    if (d && d->alloc_n == MT_UNKNOWN && d->at_end_n == MT_UNKNOWN && !r->summed_n)
        return;
    mt_buf_adds(out, "  ");
    if (d && d->alloc_n != MT_UNKNOWN)
        mt_buf_addf(out, "%s", mt_human_plural(d->alloc_n, "allocation", allocs));
    else if (d && !r->summed_n && d->at_end_n != MT_UNKNOWN)
        mt_buf_addf(out, "%s alive at the end", mt_human_plural(d->at_end_n, "block", allocs));
    else if (r->summed_n)
        mt_buf_addf(out, "%s", mt_human_plural((int64_t)r->summed_n, "moment", allocs));
    else
        mt_buf_adds(out, "sums of bytes, no counts of blocks");
    if (d && d->freed_n != MT_UNKNOWN)
        mt_buf_addf(out, ", %s", mt_human_plural(d->freed_n, "free", frees));
    add_span(out, r);
    mt_buf_addc(out, '\n');
}

static void describe_processes(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    char number[MT_HUMAN_MAX], samples[MT_HUMAN_LONG];
    mt_escape_terminal(out, run);
    mt_buf_addf(out, ": process log of %s, %s process%s", r->format,
                mt_human_count((int64_t)r->devices.n, number), r->devices.n == 1 ? "" : "es");
    if (r->steps.n)
        mt_buf_addf(out, ", %s", mt_human_plural((int64_t)r->steps.n, "step", samples));
    mt_buf_adds(out, "\n  ");
    mt_buf_adds(out, mt_human_plural((int64_t)r->event_n, "sample", samples));
    add_span(out, r);
    mt_buf_addc(out, '\n');
}

static void describe_run(struct mt_buf *out, const struct mt_recording *r, const char *run,
                         const char *marker)
{
    char parts[MT_HUMAN_LONG], events[MT_HUMAN_LONG], records[MT_HUMAN_LONG], time[MT_HUMAN_MAX];
    bool snapshot = r->without_ops;
    size_t part_n = snapshot ? r->devices.n : threads_with_ops(r);
    uint64_t n = snapshot ? r->event_n : r->op_n;
    mt_escape_terminal(out, run);
    mt_buf_addf(out, ": %s, %s, ", snapshot ? "allocator snapshot" : "PyTorch trace",
                mt_human_plural((int64_t)part_n, snapshot ? "device" : "thread", parts));
    describe_steps(out, r, marker);
    mt_buf_addf(out, "  %s, %s over %s\n",
                mt_human_plural((int64_t)n, snapshot ? "event" : "op", events),
                mt_human_plural((int64_t)(r->records.n - r->unseen_n), "memory record", records),
                mt_human_ns(r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0, time));
}

static void describe_notes(struct mt_buf *out, const struct mt_recording *r)
{
    const char *advice = mt_steps_advice(&(struct mt_steps_source){
        .marker = r->step_marker,
        .any = r->steps.n,
        .rounds = r->notes[MT_NOTE_STEPS_ROUNDS].count,
        .snapshot = r->without_ops,
    });
    struct mt_buf text = {0};
    for (int k = 0; k < MT_NOTE_N; k++) {
        const struct mt_note *n = &r->notes[k];
        if (!n->count)
            continue;
        mt_buf_clear(&text);
        mt_note_text(&text, (enum mt_note_kind)k, n);
        mt_buf_adds(out, "  note: ");
        mt_escape_terminal(out, text.s);
        mt_buf_addc(out, '\n');
    }
    mt_buf_free(&text);
    if (advice && !r->summed && !steps_unknown(r))
        mt_buf_addf(out, "  steps: %s\n", advice);
}

/* What --split was to keep apart, of a heap log that does not say it. */
static void describe_unsplit(struct mt_buf *out, const struct mt_recording *r, unsigned split)
{
    static const struct {
        unsigned bit;
        enum mt_frame_kind kind;
        const char *word, *why;
    } all[] = {{MT_SPLIT_THREAD, MT_FRAME_THREAD, "thread", "does not say which thread allocates"},
               {MT_SPLIT_LABEL, MT_FRAME_LABEL, "label", "has no labels"},
               {MT_SPLIT_SIZE, MT_FRAME_SIZE, "size", "does not say how large blocks are"}};
    unsigned has = 0;
    for (size_t i = 0; i < r->frames.n; i++)
        has |= 1u << r->frames.v[i].kind;
    for (size_t i = 0; i < MT_ARRAY_LEN(all) && r->nodes.n; i++)
        if (split & all[i].bit && !(has >> all[i].kind & 1))
            mt_buf_addf(out, "  note: --split %s changes nothing here: the file %s\n", all[i].word,
                        all[i].why);
}

/* Options that say nothing of such a recording. */
static void describe_unused(struct mt_buf *out, const struct mt_recording *r,
                            const struct mt_import_opts *how)
{
    const bool ops = r->kind == MT_RUN_TRACE, heap = r->kind == MT_RUN_HEAP;
    const bool stacks = heap || r->kind == MT_RUN_SNAPSHOT;
    const struct {
        const char *option, *of;
        bool given, used;
    } all[] = {
        {"--step-marker", "traces and snapshots", how->step_marker,
         ops || r->kind == MT_RUN_SNAPSHOT},
        {"--split", "heap logs", how->split, heap},
        {"--values", "heap logs that do not say what their numbers are",
         how->values != MT_MEANS_UNSAID, r->values_unsaid},
        {"--processes", "logs of text", how->processes != MT_WRITERS_UNSAID,
         strcmp(r->format, "memory-text") == 0},
        {"--alloc-fn", "heap logs", how->alloc_fn, heap},
        {"--library-sites", "snapshots and heap logs", how->library_sites, stacks},
        {"--cpp-frames", "snapshots and heap logs", how->cpp_frames != MT_CPP_FOLD, stacks},
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++)
        if (all[i].given && !all[i].used)
            mt_buf_addf(out, "  note: %s is for %s: it changes nothing here\n", all[i].option,
                        all[i].of);
    if (heap)
        describe_unsplit(out, r, how->split);
}

/* One of very many: a line. */
static void describe_briefly(struct mt_buf *out, const struct mt_recording *r, const char *run)
{
    char device[32], peak[MT_HUMAN_MAX], notes[MT_HUMAN_LONG];
    int64_t note_n = 0;
    mt_escape_terminal(out, run);
    if (r->kind == MT_RUN_PROCESS || r->summed)
        mt_buf_addf(out, ": %s log of %s", r->kind == MT_RUN_PROCESS ? "process" : "heap",
                    r->format);
    else
        mt_buf_adds(out, r->without_ops ? ": allocator snapshot" : ": PyTorch trace");
    for (size_t i = 0; i < r->devices.n; i++) {
        const struct mt_device *d = &r->devices.v[i];
        const bool known = !r->notes[MT_NOTE_STATE_ONLY].count && d->peak_b != MT_UNKNOWN;
        mt_rec_device_name(r, d, device);
        mt_buf_addf(out, ", %s peak %s%s", device, known && d->doubt_at_peak_b ? "at most " : "",
                    known ? mt_human_bytes(d->peak_b, peak) : "unknown");
    }
    for (int k = 0; k < MT_NOTE_N; k++)
        note_n += r->notes[k].count > 0;
    if (note_n)
        mt_buf_addf(out, ", %s", mt_human_plural(note_n, "note", notes));
    mt_buf_addc(out, '\n');
}

void mt_import_summarise(const struct mt_recording *r, const char *run,
                         const struct mt_import_opts *how)
{
    struct mt_buf out = {0};
    if (how->brief)
        describe_briefly(&out, r, run);
    else if (r->kind == MT_RUN_PROCESS)
        describe_processes(&out, r, run);
    else if (r->summed)
        describe_heap(&out, r, run);
    else
        describe_run(&out, r, run, how->step_marker);
    if (!how->brief) {
        describe_devices(&out, r, run);
        describe_notes(&out, r);
    }
    describe_unused(&out, r, how);
    struct mt_buf safe = {0};
    for (char *line = out.s, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        mt_buf_clear(&safe);
        mt_escape_terminal(&safe, line);
        puts(safe.s ? safe.s : "");
    }
    mt_buf_free(&safe);
    mt_buf_free(&out);
}

static void add_groups(struct mt_buf *out, const char *before, const struct mt_buf *groups,
                       const char *after)
{
    if (!groups->n)
        return;
    mt_buf_addf(out, "%s group%s ", before, strstr(groups->s, ", ") ? "s" : "");
    mt_escape_terminal(out, groups->s);
    mt_buf_adds(out, after);
}

/* Reports without the name of a run are of the one imported last, which may be another. */
void mt_import_existed(const char *path, bool alone, const struct mt_store_result *result)
{
    struct mt_buf out = {0};
    mt_escape_terminal(&out, path);
    mt_buf_adds(&out, ": already imported as run '");
    mt_escape_terminal(&out, result->name);
    mt_buf_addf(&out, "' (id %lld); ", (long long)result->run_id);
    add_groups(&out, "now in", &result->joined, " too");
    mt_buf_adds(&out, result->joined.n && result->latest.n ? ", " : "");
    add_groups(&out, "now the latest of", &result->latest, "");
    const bool same = !result->joined.n && !result->latest.n;
    mt_buf_adds(&out, same ? "nothing changed" : "");
    if (same && alone) {
        struct mt_buf name = {0};
        mt_shell_word(&name, result->name);
        mt_buf_adds(&out, "; `memtool peak ");
        mt_escape_terminal(&out, name.s);
        mt_buf_adds(&out, "` shows it");
        mt_buf_free(&name);
    }
    puts(out.s);
    mt_buf_free(&out);
}

void mt_import_replaced(const char *run)
{
    struct mt_buf out = {0};
    mt_escape_terminal(&out, run);
    printf("  replaced the run '%s'\n", out.s);
    mt_buf_free(&out);
}
