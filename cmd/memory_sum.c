/* memtool memory: what the rss of a process consists of, in a sentence that adds up. */
#include "cmd/memory_process.h"

#include "lib/base/human.h"
#include "lib/base/mem.h"
#include <stdio.h>
#include <string.h>

static const struct mt_counted *find(const struct mt_process_counts *counts, const char *metric)
{
    for (size_t i = 1; i < counts->all.n; i++)
        if (strcmp(counts->all.v[i].metric, metric) == 0)
            return &counts->all.v[i];
    return NULL;
}

static int64_t at(const struct mt_process_counts *counts, const char *metric, int64_t t_ns)
{
    const struct mt_counted *c = find(counts, metric);
    return c ? mt_process_counted_at(counts, c, t_ns) : MT_UNKNOWN;
}

/* What of rss was taken for a part. */
struct known {
    bool files, unseen, stacks;
    enum taken { TAKEN, MISSING, TOO_MUCH } pytorch, malloc;
};

/* Takes a part out of what is left, and names it. */
static enum taken take(struct mt_buf *out, int64_t *left, int64_t part, const char *words)
{
    char text[MT_HUMAN_MAX];
    if (part == MT_UNKNOWN)
        return MISSING;
    if (part > *left)
        return TOO_MUCH;
    *left -= part;
    if (part)
        mt_buf_addf(out, "%s %s, ", mt_human_bytes(part, text), words);
    return TAKEN;
}

/* They are read seldom; nobody expects that they change much. */
static bool take_stacks(struct mt_buf *out, int64_t *left, const struct mt_process_counts *counts,
                        int64_t t_ns)
{
    char words[64], when[MT_HUMAN_MAX];
    const struct mt_counted *c = find(counts, "stacks");
    int64_t i = c ? mt_levels_at(&c->levels, t_ns) : -1;
    if (i < 0)
        return false;
    snprintf(words, sizeof words, "of stacks (as read at %s)",
             mt_human_ns(mt_levels_time(&c->levels, i, 0), when));
    return take(out, left, mt_counted_at(c, t_ns), words) == TAKEN;
}

/* A peak that no sample saw was at some time since the one before: tensors may be freed again. */
static void say_between(struct mt_buf *out, const struct mt_process_counts *counts, int64_t t_ns,
                        int64_t rss_b, int64_t pytorch_b)
{
    const struct mt_levels *rss = &counts->all.v[0].levels;
    const struct mt_counted *pytorch = find(counts, MT_COUNTED_PYTORCH);
    int64_t before = mt_levels_before(rss, t_ns), most_b, last_b;
    char most[MT_HUMAN_MAX], since[MT_HUMAN_MAX];
    if (before < 0 || pytorch_b == MT_UNKNOWN ||
        rss_b <= mt_levels_value(rss, mt_levels_at(rss, t_ns)))
        return;
    const struct mt_window w = {mt_levels_time(rss, before, 0), t_ns + 1};
    mt_process_counted_within(counts, pytorch, &w, &most_b, &last_b);
    if (most_b > pytorch_b)
        mt_buf_addf(out,
                    " The peak is between two samples: since the one before, at %s, PyTorch "
                    "had up to %s.",
                    mt_human_ns(w.from_ns, since), mt_human_bytes(most_b, most));
}

/* What the rest may be, and why it is no smaller. */
static void say_rest(struct mt_buf *out, int64_t left, const struct known *k)
{
    char text[MT_HUMAN_MAX];
    mt_buf_addf(out, "and %s other: %smappings, Python's arenas", mt_human_bytes(left, text),
                k->stacks ? "" : "stacks, ");
    if (!k->files)
        mt_buf_adds(out, ", mapped files, shared memory");
    if (k->malloc == MISSING)
        mt_buf_adds(out, ", the rest of malloc (`record --malloc` tells how much)");
    mt_buf_adds(out, ".");
    if (k->pytorch == MISSING)
        mt_buf_adds(out, " What PyTorch has of it is unknown (`record --torch` tells).");
    if (k->malloc == TOO_MUCH || k->pytorch == TOO_MUCH)
        mt_buf_addf(out, " %s has more than that: %s.",
                    k->pytorch == TOO_MUCH ? "PyTorch" : "malloc",
                    k->unseen ? "it is of what no sample shows, or was not touched"
                              : "not all of it was touched");
}

/* Parts are counted less often than rss, and a peak is the kernel's: how much more that is than all
 * parts; 0 where these are not known. Less than these: < 0. */
static int64_t unseen(const struct mt_process_counts *counts, int64_t t_ns, int64_t rss_b)
{
    static const char *const parts[] = {"anon", "file", "shmem"};
    for (size_t i = 0; i < MT_ARRAY_LEN(parts); i++) {
        int64_t part = at(counts, parts[i], t_ns);
        if (part == MT_UNKNOWN)
            return 0;
        rss_b -= part;
    }
    return rss_b;
}

void mt_memory_process_sum(struct mt_report *r, const struct mt_run_device *d,
                           const struct mt_process_counts *counts, int64_t t_ns, int64_t rss_b)
{
    struct mt_buf out = {0};
    struct known k;
    char rss[MT_HUMAN_MAX], time[MT_HUMAN_MAX];
    int64_t left = rss_b, pytorch = at(counts, MT_COUNTED_PYTORCH, t_ns);
    int64_t in_use = at(counts, "malloc_in_use", t_ns), unseen_b = unseen(counts, t_ns, rss_b);
    if (rss_b == MT_UNKNOWN || mt_device_is_processes(d) ||
        (pytorch == MT_UNKNOWN && in_use == MT_UNKNOWN) || unseen_b < 0)
        return;
    k.unseen = unseen_b > 0;
    take(&out, &left, unseen_b, "whose parts no sample shows");
    k.files = take(&out, &left, at(counts, "file", t_ns), "mapped files") == TAKEN;
    k.files &= take(&out, &left, at(counts, "shmem", t_ns), "shared memory") == TAKEN;
    k.pytorch = take(&out, &left, pytorch, "that PyTorch allocated");
    if (k.pytorch == TAKEN && in_use != MT_UNKNOWN) /* its blocks are malloc's, most of them */
        in_use = in_use > pytorch ? in_use - pytorch : 0;
    k.malloc = take(&out, &left, in_use,
                    k.pytorch == TAKEN ? "of malloc beside that" : "of malloc in use");
    take(&out, &left, at(counts, "malloc_held", t_ns), "that malloc holds (at most)");
    k.stacks = take_stacks(&out, &left, counts, t_ns);
    say_rest(&out, left, &k);
    say_between(&out, counts, t_ns, rss_b, pytorch);
    mt_report_footer(r, "rss of %s at %s is %s: %s", d->name, mt_human_ns(t_ns, time),
                     mt_human_bytes(rss_b, rss), out.s);
    mt_buf_free(&out);
}
