#include "lib/run/figures.h"

#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include <string.h>

#define IN(s)       (1u << MT_SECTION_##s)
#define IN_SITES(k) .in_site = k, .in_each = k "_each"
#define TABLE       MT_KEPT_TABLE
#define OPS         MT_KEPT_OPS
#define BLOCKS      MT_KEPT_BLOCKS
#define DEVICE      MT_KEPT_DEVICE
#define SITES       (MT_KEPT_SITES | MT_KEPT_HEAVY)
/* A further figure, which only some formats have. */
#define EXTRA(name)                                                                                \
    .adds = MT_ADDS_KNOWN, .lasts = true, .needs = MT_KNOWS_EXTRA(MT_EXTRA_##name),                \
    .unknown = MT_UNKNOWN_ALLOC, .least_by = MT_GAPS_INSIDE, .kept = TABLE

const struct mt_figure_def mt_figure_defs[MT_FIG_N] = {
    [MT_FIG_AT_PEAK_B] = {"at_peak_b", "AT PEAK", "in use at the device's peak",
                          .needs = MT_KNOWS_AT_PEAK, .device_needs = MT_KNOWS_PEAK,
                          .unknown = MT_UNKNOWN_PEAK, .lost_by = MT_GAPS_OF_LEVELS | MT_GAP_MEANING,
                          .least_by = MT_GAPS_INSIDE | MT_GAPS_ABOVE,
                          .kept = TABLE | BLOCKS | DEVICE | SITES, .sections = IN(TOTAL) | IN(PEAK),
                          .in_device = "peak_b", IN_SITES("at_peak_b")},
    [MT_FIG_SELF_NET_B] = {"self_net_b", "SELF NET",
                           "allocated minus freed, without what the op calls", .lasts = true,
                           .needs = MT_KNOWS_ALLOC | MT_KNOWS_FREED, .unknown = MT_UNKNOWN_FREED,
                           .lost_by = MT_GAPS_INSIDE, .kept = TABLE | OPS | DEVICE,
                           .sections = IN(OP), .in_device = "net_b"},
    [MT_FIG_AT_END_B] = {"at_end_b", "AT END", "in use at the end", .needs = MT_KNOWS_AT_END,
                         .unknown = MT_UNKNOWN_END, .lost_by = MT_GAPS_OF_FREES | MT_GAP_MEANING,
                         .least_by = MT_GAPS_OF_ENDS, .kept = TABLE | BLOCKS | DEVICE | SITES,
                         .sections = IN(TOTAL) | IN(END) | IN(LEAK), .in_device = "at_end_b",
                         IN_SITES("at_end_b")},
    [MT_FIG_SELF_ALLOC_B] = {"self_alloc_b", "SELF ALLOC", "allocated, without what the op calls",
                             .lasts = true, .needs = MT_KNOWS_ALLOC, .unknown = MT_UNKNOWN_ALLOC,
                             .lost_by = MT_GAP_HISTORY | MT_GAP_MEANING, .least_by = MT_GAPS_INSIDE,
                             .kept = TABLE | OPS | DEVICE | SITES, .sections = IN(OP),
                             .in_device = "alloc_b", IN_SITES("alloc_b")},
    [MT_FIG_SELF_FREED_B] = {"self_freed_b", "SELF FREED", "freed, without what the op calls",
                             .lasts = true, .needs = MT_KNOWS_ALLOC | MT_KNOWS_FREED,
                             .unknown = MT_UNKNOWN_FREED, .lost_by = MT_GAP_HISTORY,
                             .least_by = MT_GAPS_INSIDE, .kept = TABLE | DEVICE,
                             .in_device = "freed_b"},
    [MT_FIG_SELF_ALLOC_N] = {"self_alloc_n", "SELF ALLOCS",
                             "allocations, without what the op calls", .lasts = true,
                             .needs = MT_KNOWS_ALLOC | MT_KNOWS_COUNTS, .unknown = MT_UNKNOWN_ALLOC,
                             .lost_by = MT_GAP_HISTORY | MT_GAP_MEANING, .least_by = MT_GAPS_INSIDE,
                             .kept = TABLE | OPS | DEVICE | SITES, .sections = IN(TOTAL) | IN(OP),
                             .in_device = "alloc_n", IN_SITES("alloc_n")},
    [MT_FIG_SELF_FREED_N] = {"self_freed_n", .lasts = true,
                             .needs = MT_KNOWS_ALLOC | MT_KNOWS_FREED | MT_KNOWS_COUNTS,
                             .unknown = MT_UNKNOWN_FREED, .lost_by = MT_GAP_HISTORY,
                             .least_by = MT_GAPS_INSIDE, .kept = DEVICE, .in_device = "freed_n"},
    [MT_FIG_CALLS_N] = {"calls_n", "CALLS", "how often it ran", .lasts = true,
                        .needs = MT_KNOWS_OPS, .unknown = MT_UNKNOWN_CALLS,
                        .kept = TABLE | OPS | MT_KEPT_SUMMED | MT_KEPT_SITES,
                        .sections = IN(TOTAL) | IN(OP), .in_device = "calls_n",
                        IN_SITES("calls_n")},
    [MT_FIG_STEP_N] = {"step_n", "STEPS", "steps of the run", .kept = DEVICE,
                       .in_device = "step_n"},
    [MT_FIG_PER_STEP_B] = {"per_step_b", "PER STEP", "growth per step", .adds = MT_ADDS_RATE,
                           .needs = MT_KNOWS_STEPS, .unknown = MT_UNKNOWN_GROWTH,
                           .lost_by = MT_GAPS_OF_FREES, .least_by = MT_GAPS_INSIDE,
                           .kept = BLOCKS | MT_KEPT_SUMMED | SITES,
                           .sections = IN(TOTAL) | IN(LEAK), .in_device = "per_step_b",
                           IN_SITES("per_step_b")},
    [MT_FIG_SUSPECT_PER_STEP_B] = {"suspect_per_step_b", .adds = MT_ADDS_RATE,
                                   .needs = MT_KNOWS_STEPS, .unknown = MT_UNKNOWN_GROWTH,
                                   .lost_by = MT_GAPS_OF_FREES, .least_by = MT_GAPS_INSIDE,
                                   .kept = BLOCKS | MT_KEPT_SUMMED | SITES,
                                   .sections = IN(TOTAL) | IN(LEAK),
                                   .in_device = "suspect_per_step_b",
                                   IN_SITES("suspect_per_step_b")},
    [MT_FIG_AT_PEAK_N] = {"at_peak_n", "BLOCKS", "blocks in use at the device's peak",
                          .adds = MT_ADDS_KNOWN, .unknown = MT_UNKNOWN_PEAK, .kept = BLOCKS,
                          .sections = IN(PEAK)},
    [MT_FIG_NET_B] = {"net_b", "NET", "allocated minus freed, with what the op calls",
                      .lasts = true, .needs = MT_KNOWS_ALLOC | MT_KNOWS_FREED,
                      .unknown = MT_UNKNOWN_FREED, .kept = TABLE | OPS,
                      .sections = IN(TOTAL) | IN(OP)},
    [MT_FIG_ALLOC_B] = {"alloc_b", "ALLOC", "allocated, with what the op calls", .lasts = true,
                        .needs = MT_KNOWS_ALLOC, .unknown = MT_UNKNOWN_ALLOC, .kept = TABLE | OPS,
                        .sections = IN(TOTAL) | IN(OP)},
    [MT_FIG_FREED_B] = {"freed_b", "FREED", "freed, with what the op calls", .lasts = true,
                        .needs = MT_KNOWS_ALLOC | MT_KNOWS_FREED, .unknown = MT_UNKNOWN_FREED,
                        .kept = TABLE},
    [MT_FIG_SELF_AT_PEAK_B] = {"self_at_peak_b", "SELF AT PEAK",
                               "allocated here and in use at the device's peak",
                               .needs = MT_KNOWS_AT_PEAK, .unknown = MT_UNKNOWN_PEAK,
                               .kept = TABLE},
    [MT_FIG_SELF_AT_END_B] = {"self_at_end_b", "SELF AT END",
                              "allocated here and in use at the end", .needs = MT_KNOWS_AT_END,
                              .unknown = MT_UNKNOWN_END, .kept = TABLE},
    [MT_FIG_LEAK_AT_END_B] = {"leak_at_end_b", .unknown = MT_UNKNOWN_GROWTH, .kept = BLOCKS,
                              .sections = IN(TOTAL) | IN(LEAK)},
    [MT_FIG_PER_STEP_N] = {"per_step_n", "BLOCKS/STEP", "growth per step in blocks",
                           .adds = MT_ADDS_RATE, .unknown = MT_UNKNOWN_GROWTH, .kept = BLOCKS,
                           .sections = IN(TOTAL) | IN(LEAK)},
    [MT_FIG_RECOMPUTED_N] = {"recomputed_n", .lasts = true, .unknown = MT_UNKNOWN_CALLS,
                             .kept = OPS},
    [MT_FIG_SELF_TIME_NS] = {"self_time_ns", "SELF TIME", "time in the op, without what it calls",
                             .lasts = true, .needs = MT_KNOWS_OPS, .unknown = MT_UNKNOWN_TIME,
                             .kept = TABLE},
    [MT_FIG_TIME_NS] = {"time_ns", "TIME", "time in the op; of a record, when it was made",
                        .lasts = true, .needs = MT_KNOWS_OPS, .unknown = MT_UNKNOWN_TIME,
                        .kept = TABLE | OPS, .sections = IN(TOTAL) | IN(OP)},
    [MT_FIG_SELF_TEMPORARY_N] = {"self_temporary_n", "SELF TEMPORARY #",
                                 "blocks that it allocates itself and that are freed soon",
                                 EXTRA(TEMPORARY_N)},
    [MT_FIG_TEMPORARY_N] = {"temporary_n", "TEMPORARY #", "blocks that are freed soon",
                            EXTRA(TEMPORARY_N)},
    [MT_FIG_SELF_TEMPORARY_B] = {"self_temporary_b", "SELF TEMPORARY",
                                 "bytes that it allocates itself and that are freed soon",
                                 EXTRA(TEMPORARY_B)},
    [MT_FIG_TEMPORARY_B] = {"temporary_b", "TEMPORARY", "bytes that are freed soon",
                            EXTRA(TEMPORARY_B)},
    [MT_FIG_SELF_TEMPORARY_MOST_N] = {"self_temporary_most_n", "SELF TEMPORARY # <=",
                                      "blocks that it allocates itself and the next event frees, "
                                      "at most",
                                      EXTRA(TEMPORARY_MOST_N)},
    [MT_FIG_TEMPORARY_MOST_N] = {"temporary_most_n",
                                 "TEMPORARY # <=", "blocks that the next event frees, at most",
                                 EXTRA(TEMPORARY_MOST_N)},
    [MT_FIG_SELF_READ_B] = {"self_read_b", "SELF READ", "read from blocks that it allocates itself",
                            EXTRA(READ_B)},
    [MT_FIG_READ_B] = {"read_b", "READ", "read from the blocks", EXTRA(READ_B)},
    [MT_FIG_SELF_WRITTEN_B] = {"self_written_b", "SELF WRITTEN",
                               "written to blocks that it allocates itself", EXTRA(WRITTEN_B)},
    [MT_FIG_WRITTEN_B] = {"written_b", "WRITTEN", "written to the blocks", EXTRA(WRITTEN_B)},
    [MT_FIG_SELF_MEAN_LIFETIME_NS] = {"self_mean_lifetime_ns", "SELF LIFETIME",
                                      "mean lifetime of the blocks that it allocates itself",
                                      EXTRA(LIFETIME_NS)},
    [MT_FIG_MEAN_LIFETIME_NS] = {"mean_lifetime_ns", "LIFETIME", "mean lifetime of the blocks",
                                 EXTRA(LIFETIME_NS)},
    [MT_FIG_SELF_SHORT_LIVED_N] = {"self_short_lived_n", "SELF SHORT-LIVED",
                                   "blocks that it allocates itself, of paths whose blocks live "
                                   "short on average",
                                   EXTRA(SHORT_LIVED_N)},
    [MT_FIG_SHORT_LIVED_N] = {"short_lived_n", "SHORT-LIVED",
                              "blocks of paths whose blocks live short on average",
                              EXTRA(SHORT_LIVED_N)},
    [MT_FIG_SELF_COPIED_B] = {"self_copied_b", "SELF COPIED", "bytes that it copies itself",
                              EXTRA(COPIED_B)},
    [MT_FIG_COPIED_B] = {"copied_b", "COPIED", "bytes copied", EXTRA(COPIED_B)},
    [MT_FIG_SELF_COPIES_N] = {"self_copies_n", "SELF COPIES", "how often it copies itself",
                              EXTRA(COPIES_N)},
    [MT_FIG_COPIES_N] = {"copies_n", "COPIES", "how often something is copied", EXTRA(COPIES_N)},
    [MT_FIG_SELF_UNITS_N] = {"self_units_n", "SELF UNITS",
                             "units of its own events, whatever the program counts",
                             EXTRA(UNITS_N)},
    [MT_FIG_UNITS_N] = {"units_n", "UNITS", "units of events, whatever the program counts",
                        EXTRA(UNITS_N)},
    [MT_FIG_SELF_EVENTS_N] = {"self_events_n", "SELF EVENTS", "its own events", EXTRA(EVENTS_N)},
    [MT_FIG_EVENTS_N] = {"events_n", "EVENTS", "events", EXTRA(EVENTS_N)},
    [MT_FIG_RSS_PER_STEP_B] = {"rss_per_step_b"},
    [MT_FIG_RSS_PER_MINUTE_B] = {"rss_per_minute_b"},
};

enum mt_figure mt_figure_find(const char *name)
{
    int f = 0;
    while (f < MT_FIG_N && strcmp(mt_figure_defs[f].name, name) != 0)
        f++;
    return (enum mt_figure)f;
}

void mt_figure_add(enum mt_figure f, union mt_value *to, const union mt_value *v)
{
    switch (mt_figure_defs[f].adds) {
    case MT_ADDS_WHOLE:
        mt_wrap_inc(&to->i, v->i);
        break;
    case MT_ADDS_KNOWN:
        to->i = to->i < 0 || v->i < 0 ? -1 : mt_wrap_add(to->i, v->i);
        break;
    case MT_ADDS_RATE:
        to->r += v->r;
        break;
    }
}

struct mt_figure_set mt_figures_kept(unsigned kept)
{
    struct mt_figure_set set = {0};
    for (int f = 0; f < MT_FIG_N; f++)
        if (mt_figure_defs[f].kept & kept)
            set.v[set.n++] = (enum mt_figure)f;
    return set;
}

/* ---- the sources ---- */

static int64_t mean(int64_t sum, int64_t n)
{
    return sum == MT_UNKNOWN || n <= 0 ? MT_UNKNOWN : sum / n;
}

static void put_extras(const struct mt_group *from, struct mt_figures *out)
{
    static const enum mt_figure figures[MT_EXTRA_N] = {
        [MT_EXTRA_TEMPORARY_N] = MT_FIG_SELF_TEMPORARY_N,
        [MT_EXTRA_TEMPORARY_B] = MT_FIG_SELF_TEMPORARY_B,
        [MT_EXTRA_TEMPORARY_MOST_N] = MT_FIG_SELF_TEMPORARY_MOST_N,
        [MT_EXTRA_READ_B] = MT_FIG_SELF_READ_B,
        [MT_EXTRA_WRITTEN_B] = MT_FIG_SELF_WRITTEN_B,
        [MT_EXTRA_LIFETIME_NS] = MT_FIG_SELF_MEAN_LIFETIME_NS,
        [MT_EXTRA_SHORT_LIVED_N] = MT_FIG_SELF_SHORT_LIVED_N,
        [MT_EXTRA_COPIED_B] = MT_FIG_SELF_COPIED_B,
        [MT_EXTRA_COPIES_N] = MT_FIG_SELF_COPIES_N,
        [MT_EXTRA_UNITS_N] = MT_FIG_SELF_UNITS_N,
        [MT_EXTRA_EVENTS_N] = MT_FIG_SELF_EVENTS_N,
    }; /* the inclusive one follows */
    union mt_value *v = out->v;
    for (int i = 0; i < MT_EXTRA_N; i++) {
        v[figures[i]].i = from->extra ? from->extra->self[i] : MT_UNKNOWN;
        v[figures[i] + 1].i = from->extra ? from->extra->total[i] : MT_UNKNOWN;
    }
    union mt_value *lifetime = &v[MT_FIG_SELF_MEAN_LIFETIME_NS];
    lifetime[0].i = mean(lifetime[0].i, from->self.alloc_n);
    lifetime[1].i = mean(lifetime[1].i, from->total.alloc_n);
}

void mt_group_figures(const struct mt_group *from, struct mt_figures *out)
{
    const struct mt_sums *s = &from->self, *t = &from->total;
    *out = (struct mt_figures){.v = {[MT_FIG_SELF_NET_B].i = mt_sums_net(s),
                                     [MT_FIG_NET_B].i = mt_sums_net(t),
                                     [MT_FIG_SELF_ALLOC_B].i = s->alloc_b,
                                     [MT_FIG_ALLOC_B].i = t->alloc_b,
                                     [MT_FIG_SELF_FREED_B].i = s->freed_b,
                                     [MT_FIG_FREED_B].i = t->freed_b,
                                     [MT_FIG_SELF_ALLOC_N].i = s->alloc_n,
                                     [MT_FIG_SELF_AT_PEAK_B].i = s->at_peak_b,
                                     [MT_FIG_AT_PEAK_B].i = t->at_peak_b,
                                     [MT_FIG_AT_PEAK_N].i = t->at_peak_n,
                                     [MT_FIG_SELF_AT_END_B].i = s->at_end_b,
                                     [MT_FIG_AT_END_B].i = t->at_end_b,
                                     [MT_FIG_CALLS_N].i = from->calls_n,
                                     [MT_FIG_RECOMPUTED_N].i = from->recomputed_n,
                                     [MT_FIG_SELF_TIME_NS].i = from->self_time_ns,
                                     [MT_FIG_TIME_NS].i = from->time_ns}};
    put_extras(from, out);
}

void mt_device_figures(const struct mt_run *run, const struct mt_run_device *device,
                       struct mt_figures *out)
{
    *out = (struct mt_figures){.v = {[MT_FIG_AT_PEAK_B].i = device->peak_b,
                                     [MT_FIG_AT_END_B].i = device->at_end_b,
                                     [MT_FIG_SELF_NET_B].i = device->net_b,
                                     [MT_FIG_NET_B].i = device->net_b,
                                     [MT_FIG_SELF_ALLOC_B].i = device->alloc_b,
                                     [MT_FIG_ALLOC_B].i = device->alloc_b,
                                     [MT_FIG_SELF_FREED_B].i = device->freed_b,
                                     [MT_FIG_FREED_B].i = device->freed_b,
                                     [MT_FIG_SELF_ALLOC_N].i = device->alloc_n,
                                     [MT_FIG_SELF_FREED_N].i = device->freed_n,
                                     [MT_FIG_CALLS_N].i = run->op_n,
                                     [MT_FIG_TIME_NS].i = run->dur_ns}};
}

void mt_figure_per_step(enum mt_figure f, union mt_value *v, int64_t n)
{
    if (n > 0 && mt_figure_defs[f].lasts)
        v->i = mt_wrap_add(v->i, v->i < 0 ? -n / 2 : n / 2) / n;
}

void mt_figures_per_step(struct mt_figures *f, int64_t n)
{
    for (int i = 0; i < MT_FIG_N; i++)
        mt_figure_per_step((enum mt_figure)i, &f->v[i], n);
}
