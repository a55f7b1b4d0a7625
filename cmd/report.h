/*
 * report.h - the parts of `memtool report`. Its tables are the reports of other commands
 * (capture.h), so that no figure of the page is computed a second time.
 */
#ifndef MT_CMD_REPORT_H
#define MT_CMD_REPORT_H

#include "cmd/capture.h"
#include "cmd/ranks.h"
#include "cmd/view.h"
#include "lib/analysis/change_point.h"
#include "lib/base/human.h"

/* What the beginning of the page says, gathered from the reports below it. MT_UNKNOWN: not known.
 */
struct mt_page_found {
    /* Of their reports, what stands behind runs and device; NULL: there is none. */
    char *peak_title, *leaks_title, *change_title;
    int64_t peak_b, at_ns;
    struct mt_page_top {
        char *site;
        int64_t bytes;
    } tops[2]; /* what holds most at the peak; where nobody knows that, at the end */
    int64_t of_model_b[3], of_backward_b[2]; /* at the peak: parameters, gradients, the optimizer's
                                                state; activations, what autograd keeps */
    char *phase;                             /* in which most of that was allocated, and so much */
    int64_t phase_b, at_end_b, leak_per_step_b, leak_site_b;
    char *leak_site;       /* of the largest leak; NULL: unknown */
    int leaks_code;        /* of `memtool leaks --fail`, which judges all devices */
    char *leaks_why;       /* they cannot be told at all; NULL: they can */
    char *leaks_elsewhere; /* a device that is not shown and leaks, in words; NULL: none */
    int64_t asked_b;       /* by the last allocation that failed; 0: none did */
    /* When that was, "out of memory at 12 ms", on which device, where that is another one than the
     * page is about; who asked, what PyTorch held then, the largest free range in it, what was free
     * on the device; what would have made it fit. NULL: nothing is known of it; nothing would have.
     */
    struct mt_page_oom {
        char *when, *on, *site, *remedy, *why;
        int64_t reserved_b, hole_b, free_b;
        bool perhaps; /* nobody knows whether the remedy would have */
        bool judged;  /* whether something would have made it fit */
    } oom;
    int64_t base_peak_b, new_peak_b, base_end_b, new_end_b;
    int64_t reserved_b, idle_b; /* at the end: in all, and not in use */
    int64_t saving_b, saved_peak_b;
    char *saving, *saving_bound; /* the largest piece of advice, and "about", "up_to" */
    char *saved_of;              /* of what its peaks are: "reserved"; NULL: of what is alive */
    struct mt_buf categories;    /* the bar of what is alive at the peak, and its key; HTML */
    /* Of groups: what is said of outliers, how the highest peak differs from the median, where most
     * of that is, and where the peak changed over the runs. NULL: nothing is. */
    char *outliers, *more_title, *more_site, *changed;
    int64_t more_site_b;
};

/* Of a page on a group of runs. */
struct mt_page_group {
    struct mt_ranks runs;          /* all, in the order in which they joined */
    struct mt_ranks ranks;         /* one for each rank; where has_ranks */
    bool has_ranks;                /* recorders or names of files say which is which */
    bool has_trend;                /* several runs are of one rank, or of none */
    struct mt_change_point change; /* of the peaks of runs that know theirs; */
    size_t changed_in;             /* the run that it came with, by index */
};

struct mt_page_made {
    struct mt_view view;              /* of a run */
    struct mt_page_group *group;      /* NULL: the page is on a run */
    const char *name;                 /* of the run, or the group */
    const char *ref, *base, *device;  /* as they were given; base, device NULL: they were not */
    char *not_compared;               /* why there is no change from the base; NULL: there is */
    struct mt_buf nav, body, figures; /* HTML; the last: what columns mean */
    struct mt_buf curve, paths;       /* JSON; empty: none */
    struct mt_page_found found;
};

/* Keeps of a report what the answer needs (report_answer.c). */
void mt_page_remember(struct mt_page_found *found, const struct mt_report *r);
void mt_page_found_free(struct mt_page_found *found);

/* The name of the run, facts of its file and how good the data are; the answer. */
void mt_page_header(struct mt_page_made *p, struct mt_buf *out);
void mt_page_answer(struct mt_page_made *p, struct mt_buf *out);
/* Its sentences (report_say.c), and what holds most, from reports of its own. */
void mt_page_say(struct mt_page_made *p, struct mt_buf *out);
void mt_page_find_tops(struct mt_page_made *p);

/* Parts of both: a fact, a figure in bold, a finding with a link to its section; a share in
 * percent. */
void mt_page_fact(struct mt_buf *out, const char *text);
void mt_page_bold(struct mt_buf *out, const char *text);
void mt_page_finding(struct mt_buf *out, const char *label, const char *css_class,
                     const char *figure, const char *sentence, const char *section);
const char *mt_page_share(int64_t part, int64_t whole, char out[MT_HUMAN_MAX]);

/* A cell of a report, or a figure of the whole: MT_UNKNOWN or "" where there is none such. */
int64_t mt_page_int_at(const struct mt_report *r, size_t row, const char *column);
int64_t mt_page_total_of(const struct mt_report *r, const char *name);
const char *mt_page_text_at(const struct mt_report *r, size_t row, const char *column);

/* What the title of a report says behind the runs and the device, which the page names once:
 * "peak 2 MiB at 3 ms". Allocated; "": nothing. */
char *mt_page_behind_device(const struct mt_report *r);

/* The name of a run, of a file the last two parts of its path; borrowed. */
const char *mt_page_short(const char *name);

/* The page on a group (report_group.c). Errors: those of mt_ranks_load. */
enum mt_status mt_page_group_load(struct mt_page_made *p, struct mt_err *err);
void mt_page_group_free(struct mt_page_group *g);
void mt_page_group_header(struct mt_page_made *p, struct mt_buf *out);
void mt_page_group_answer(struct mt_page_made *p, struct mt_buf *out);
/* Its pictures. */
void mt_page_add_ranks(struct mt_page_made *p, struct mt_buf *out);
void mt_page_add_trend(struct mt_page_made *p, struct mt_buf *out);
enum mt_status mt_page_add_steps(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err);

/* The rows of `advise` as cards (report_advice.c). */
void mt_page_advice(const struct mt_report *r, struct mt_buf *out);
/* "keep the model in bfloat16", allocated. */
char *mt_page_advice_what(const struct mt_report *r, size_t row);

/* All sections, in their order (report_sections.c). Errors: those of the database. */
enum mt_status mt_page_sections(struct mt_page_made *p, struct mt_err *err);

/* The curve, or why there is none; the call paths (report_pictures.c). Errors: those of the
 * database.
 */
enum mt_status mt_page_add_curve(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err);
void mt_page_add_paths(struct mt_page_made *p, struct mt_buf *out);

/* What stands in place of a section that cannot be told: why, and what would tell. */
void mt_page_cannot(struct mt_buf *out, const struct mt_err *err);

/* How the peak of the base became that of the run, by site and by category, where it is known.
 */
void mt_page_add_bridges(struct mt_page_made *p, struct mt_buf *out);

/* The device that a report is asked of, with the base or without; NULL: the command chooses. */
const char *mt_page_device_for(const struct mt_page_made *p, bool base);

/* "At the prompt: memtool peak base", with a button to copy it. */
void mt_page_prompt(struct mt_page_made *p, const char *line, bool base, struct mt_buf *out);

#endif
