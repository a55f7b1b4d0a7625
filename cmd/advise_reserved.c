/* memtool advise, of a snapshot: what the allocator holds beyond what is in use, and what gives it
 * back. What blocks are for, and what the program could do without, a snapshot does not say. */
#include "cmd/advise.h"
#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/usage/oom.h"
#include <stdlib.h>

/* What a remedy may give back of what is held; how, which is written for this state. False: it is
 * none here. */
typedef bool gives(const struct mt_segments *s, int64_t *bytes, struct mt_buf *because);

static bool gives_cache(const struct mt_segments *s, int64_t *bytes, struct mt_buf *because)
{
    char n[MT_HUMAN_LONG], size[MT_HUMAN_MAX];
    *bytes = s->unused_b;
    mt_buf_addf(because, "%s in %s without a block in use", mt_human_bytes(s->unused_b, size),
                mt_human_plural(s->unused_n, "segment", n));
    return s->unused_n > 0;
}

/* Before PyTorch 2.4 a snapshot has no settings: segments themselves say what they are. */
static bool has_expandable(const struct mt_segments *s)
{
    bool any = s->settings.expandable;
    for (size_t i = 0; i < s->all.n; i++)
        any |= s->all.v[i].expandable;
    return any;
}

static bool gives_expandable(const struct mt_segments *s, int64_t *bytes, struct mt_buf *because)
{
    char n[MT_HUMAN_LONG], size[MT_HUMAN_MAX];
    *bytes = s->split_b;
    mt_buf_addf(because,
                "%s in %s of segments that are partly in use, where larger blocks do not fit",
                mt_human_bytes(s->split_b, size), mt_human_plural(s->hole_n, "free range", n));
    return s->hole_n > 0 && !has_expandable(s);
}

static const struct remedy {
    struct mt_advice_rule rule;
    gives *of;
} remedies[] = {
    {{.id = "empty_cache",
      .what = "give segments back that hold nothing",
      .how = "torch.cuda.empty_cache() before that time",
      .price =
          "the driver is asked again for what is needed later; PyTorch does so by itself before "
          "it reports out of memory",
      .lacks = "every segment has a block in use"},
     gives_cache},
    {{.id = "expandable_segments",
      .what = "let segments grow and shrink, so that free ranges serve any size",
      .how = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
      .price = NULL,
      .lacks =
          "no free range lies in a segment that is in use, or segments are expandable already"},
     gives_expandable},
};

/* most_b: what is in use at once at some time, without which no program does. */
static void try_remedy(const struct remedy *remedy, const struct mt_segments *s, int64_t most_b,
                       struct mt_advice *out)
{
    struct mt_buf because = {0};
    *out = (struct mt_advice){.rule = &remedy->rule,
                              .bound = MT_BOUND_UP_TO, /* it may be asked for again */
                              .new_peak_ns = MT_UNKNOWN,
                              .price_ns = MT_UNKNOWN};
    int64_t bytes = 0, spare_b = mt_wrap_sub(s->size_b, most_b);
    out->applies = remedy->of(s, &bytes, &because);
    if (bytes > spare_b) {
        char most[MT_HUMAN_MAX];
        mt_buf_addf(&because, "; but %s is in use at once at another time",
                    mt_human_bytes(most_b, most));
        bytes = spare_b > 0 ? spare_b : 0;
    }
    out->bound = out->applies ? MT_BOUND_UP_TO : MT_BOUND_NONE;
    out->saving_b = bytes;
    out->new_peak_b = mt_wrap_sub(s->size_b, bytes);
    out->because = out->applies ? mt_strdup(because.s) : mt_strdup(remedy->rule.lacks);
    out->price = remedy->rule.price ? mt_strdup(remedy->rule.price) : NULL;
    out->how = mt_strdup(remedy->rule.how);
    mt_buf_free(&because);
}

static void free_one(struct mt_advice *a)
{
    free(a->because);
    free(a->price);
    free(a->how);
}

static void add_rows(struct mt_report *r, const struct mt_segments *s, int64_t most_b,
                     double least_pct, bool all)
{
    struct mt_advice advices[MT_ARRAY_LEN(remedies)];
    for (size_t i = 0; i < MT_ARRAY_LEN(remedies); i++)
        try_remedy(&remedies[i], s, most_b, &advices[i]);
    bool swap = advices[1].applies && advices[1].saving_b > advices[0].saving_b;
    for (size_t i = 0; i < MT_ARRAY_LEN(remedies); i++) {
        struct mt_advice *a = &advices[swap ? MT_ARRAY_LEN(remedies) - 1 - i : i];
        bool worth = a->applies && mt_advise_percent(a->saving_b, s->size_b) >= least_pct;
        if (worth || all)
            mt_advise_add_row(r, a, s->size_b, "memtool fragmentation NEWRUN");
        free_one(a);
    }
}

static void describe(struct mt_report *r, const struct mt_view *v, const struct mt_segments *s,
                     const char *when)
{
    char reserved[MT_HUMAN_MAX], used[MT_HUMAN_MAX];
    r->title =
        mt_asprintf("%s · %s · %s reserved %s, %s of it in use", v->run.name, v->device.name,
                    mt_human_bytes(s->size_b, reserved), when, mt_human_bytes(s->used_b, used));
    r->empty = "nothing would give back much of what is reserved";
    mt_report_param(r, "of", mt_cell_text("reserved"));
    mt_report_footer(r,
                     "Peaks are those of what is reserved. They are exact, savings are not: what "
                     "is given back may be asked for again.");
    mt_report_note(r,
                   "%s: a snapshot does not say when operators run, so nothing is said of "
                   "checkpoint, accumulate and the like: record a trace. `memtool peak` shows "
                   "which lines hold the most.",
                   v->run.name);
}

enum mt_status mt_advise_reserved(struct mt_view *v, struct mt_report *r, double least_pct,
                                  bool all, struct mt_err *err)
{
    struct mt_segments s = {0};
    struct mt_seg_moment at = MT_SEG_AT_END;
    bool known;
    MT_TRY(mt_reserved_peak(v->db, &v->run, &v->device, &at, &known, err));
    enum mt_status st =
        mt_segments_load(v->db, &v->run, &v->device, known ? at : MT_SEG_AT_END, &s, err);
    if (st == MT_OK) {
        describe(r, v, &s, known ? "at the peak" : "at the end");
        add_rows(r, &s, known ? v->device.peak_b : s.used_b, least_pct, all);
    }
    mt_segments_free(&s);
    return st;
}
