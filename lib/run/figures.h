/*
 * figures.h - the figures of groups, sites and devices, one row of a table each: what it is called,
 * how it adds up, what a run must know to have it, what keeps it. Tables, diff, check, baselines
 * and `help columns` read the table; CONTRIBUTING.md says how to add a figure.
 */
#ifndef MT_FIGURES_H
#define MT_FIGURES_H

#include "lib/run/load.h"

enum mt_figure {
    /* those that baselines have, in the order of their files */
    MT_FIG_AT_PEAK_B, /* of a device: its peak */
    MT_FIG_SELF_NET_B,
    MT_FIG_AT_END_B,
    MT_FIG_SELF_ALLOC_B,
    MT_FIG_SELF_FREED_B,
    MT_FIG_SELF_ALLOC_N,
    MT_FIG_SELF_FREED_N,
    MT_FIG_CALLS_N,
    MT_FIG_STEP_N,
    MT_FIG_PER_STEP_B, /* rates come last */
    MT_FIG_SUSPECT_PER_STEP_B,
    MT_FIG_BASELINE_N,
    /* others */
    MT_FIG_AT_PEAK_N = MT_FIG_BASELINE_N,
    MT_FIG_NET_B,
    MT_FIG_ALLOC_B,
    MT_FIG_FREED_B,
    MT_FIG_SELF_AT_PEAK_B,
    MT_FIG_SELF_AT_END_B,
    MT_FIG_LEAK_AT_END_B,
    MT_FIG_PER_STEP_N,
    MT_FIG_RECOMPUTED_N,
    MT_FIG_SELF_TIME_NS,
    MT_FIG_TIME_NS,
    /* those that only some formats have (lib/model/extras.h) */
    MT_FIG_SELF_TEMPORARY_N,
    MT_FIG_TEMPORARY_N,
    MT_FIG_SELF_TEMPORARY_B,
    MT_FIG_TEMPORARY_B,
    MT_FIG_SELF_TEMPORARY_MOST_N,
    MT_FIG_TEMPORARY_MOST_N,
    MT_FIG_SELF_READ_B,
    MT_FIG_READ_B,
    MT_FIG_SELF_WRITTEN_B,
    MT_FIG_WRITTEN_B,
    MT_FIG_SELF_MEAN_LIFETIME_NS,
    MT_FIG_MEAN_LIFETIME_NS,
    MT_FIG_SELF_SHORT_LIVED_N,
    MT_FIG_SHORT_LIVED_N,
    MT_FIG_SELF_COPIED_B,
    MT_FIG_COPIED_B,
    MT_FIG_SELF_COPIES_N,
    MT_FIG_COPIES_N,
    MT_FIG_SELF_UNITS_N,
    MT_FIG_UNITS_N,
    MT_FIG_SELF_EVENTS_N,
    MT_FIG_EVENTS_N,
    /* of processes (lib/analysis/growth.h) */
    MT_FIG_RSS_PER_STEP_B,
    MT_FIG_RSS_PER_MINUTE_B,
    MT_FIG_N
};

/* How figures of one kind become one. */
enum mt_adds {
    MT_ADDS_WHOLE, /* .i; wraps around (wrap.h) */
    MT_ADDS_KNOWN, /* .i; below 0: unknown, and so is the sum */
    MT_ADDS_RATE   /* .r */
};

/* What of a group or a run is not known; its figures are 0 then. */
enum mt_unknown {
    MT_UNKNOWN_PEAK = 1,   /* what it holds at the peak */
    MT_UNKNOWN_END = 2,    /* at_end_b */
    MT_UNKNOWN_GROWTH = 4, /* of leaks; what is found of it nevertheless is no 0 */
    MT_UNKNOWN_ALLOC = 8,  /* what it allocates and frees */
    MT_UNKNOWN_CALLS = 16,
    MT_UNKNOWN_TIME = 32,
    MT_UNKNOWN_FREED = 64 /* what it frees, and so what it keeps of what it allocates */
};

/* What keeps a figure. */
enum mt_kept {
    MT_KEPT_OPS = 1,    /* diff, of what ops did */
    MT_KEPT_BLOCKS = 2, /* diff, of what is alive */
    MT_KEPT_DEVICE = 4, /* baselines, of a device */
    MT_KEPT_SUMMED = 8, /* the same, as the sum of its sites */
    MT_KEPT_SITES = 16, /* baselines, of sites */
    MT_KEPT_HEAVY = 32, /* files of baselines have the sites that most of it is made of */
    MT_KEPT_TABLE = 64, /* memtool table, of groups */
};

/* Sections of diff. */
enum mt_diff_section {
    MT_SECTION_TOTAL,
    MT_SECTION_PEAK,
    MT_SECTION_END,
    MT_SECTION_OP,
    MT_SECTION_LEAK,
    MT_SECTION_N
};

struct mt_figure_def {
    const char *name;           /* of its column, with the unit: self_net_b */
    const char *title;          /* heading for people */
    const char *meaning;        /* a clause for help; NULL: no column has it by itself */
    enum mt_adds adds;          /* groups to one, sites to a device */
    bool lasts;                 /* grows with the length of a run: --per-step divides it */
    unsigned needs;             /* enum mt_knows: what a run has to know */
    unsigned device_needs;      /* of a whole device; 0: the same */
    unsigned unknown;           /* with which of enum mt_unknown it is not known */
    unsigned lost_by, least_by; /* enum mt_gap: with which a device's is unknown; is that much at
                                   least */
    unsigned kept;              /* enum mt_kept */
    unsigned sections;          /* of diff, a bit each */
    const char *in_device, *in_site, *in_each; /* key in the files of baselines: of a device, of a
                                                  site, of each repeat. NULL: it has none */
};
extern const struct mt_figure_def mt_figure_defs[MT_FIG_N];

/* The figure of that column; MT_FIG_N: none. */
enum mt_figure mt_figure_find(const char *name);

union mt_value {
    int64_t i;
    double r; /* of rates */
};

/* The figures of a group, or of a whole run. */
struct mt_figures {
    unsigned unknown; /* enum mt_unknown, or-ed */
    union mt_value v[MT_FIG_N];
};

/* Adds one value to another, as the figure adds. */
void mt_figure_add(enum mt_figure f, union mt_value *to, const union mt_value *v);

/* Some of the figures, in the order of their ids. */
struct mt_figure_set {
    size_t n;
    enum mt_figure v[MT_FIG_N];
};
struct mt_figure_set mt_figures_kept(unsigned kept);

/* ---- the sources ---- */

/* What ops of a group did; what is alive of them, as their nodes know it. Of further figures
 * MT_UNKNOWN is none. */
void mt_group_figures(const struct mt_group *from, struct mt_figures *out);
/* Of a whole device of a run; MT_UNKNOWN where it does not say. */
void mt_device_figures(const struct mt_run *run, const struct mt_run_device *device,
                       struct mt_figures *out);

/* Divides what grows with the length of a run by its steps; 0 steps: not at all. */
void mt_figures_per_step(struct mt_figures *f, int64_t step_n);
void mt_figure_per_step(enum mt_figure f, union mt_value *v, int64_t step_n);

#endif
