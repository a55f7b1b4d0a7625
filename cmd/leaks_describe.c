/* memtool leaks: what the sites of a run with events come to, in sentences. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/base/human.h"
#include "lib/usage/gaps.h"
#include <math.h>

enum { STEPS_ENOUGH = 5 }; /* in a recording, to tell a leak by */

static bool are_few(const struct mt_allocations *lives, const struct mt_leaks_wanted *w)
{
    return !mt_leaks_can_tell((int64_t)lives->steps.all.n, w->warmup);
}

static const char *human(struct mt_report *r, double bytes)
{
    char text[MT_HUMAN_MAX];
    return mt_report_text(r, mt_human_bytes((int64_t)fmin(bytes + 0.5, 9e18), text));
}

/* What leaks, and what is constant. */
static bool cannot_tell(const struct mt_allocations *lives, const struct mt_leaks *found,
                        const struct mt_leaks_wanted *w)
{
    return are_few(lives, w) || found->gaps & MT_GAPS_OF_FREES;
}

/* Whole where it can be, in totals. */
static struct mt_cell total_rate(double rate)
{
    return rate == (double)(int64_t)rate ? mt_cell_int((int64_t)rate) : mt_cell_real(rate);
}

/* "+644 B in 2 blocks every step", "+100 B in 1 block every 3 steps" */
static void describe_rate(struct mt_report *r, const struct mt_leaks_sum *leak,
                          struct mt_buf *title)
{
    enum { STEPS_MAX = 20 };
    char text[MT_HUMAN_LONG];
    int64_t steps = 1;
    double blocks = leak->per_step_n;
    while (steps < STEPS_MAX && fabs(blocks * (double)steps - round(blocks * (double)steps)) > 1e-6)
        steps++;
    bool uneven = steps > 2 && blocks > 1; /* it grows in every step, not by as much in each */
    if (steps == STEPS_MAX || uneven || blocks * (double)steps > 9e15) {
        mt_buf_addf(title, "about +%s in %s blocks a step", human(r, leak->per_step_b),
                    mt_human_number(blocks, text));
        return;
    }
    mt_buf_addf(title, "+%s in %s every ", human(r, leak->per_step_b * (double)steps),
                mt_human_plural(llround(blocks * (double)steps), "block", text));
    mt_buf_adds(title, steps == 1 ? "step" : mt_human_plural(steps, "step", text));
}

/* "no leak, 1 candidate that grows 200 B a step" */
static void describe_growth(struct mt_report *r, const struct mt_allocations *lives,
                            const struct mt_leaks *found, const struct mt_leaks_sum *leak,
                            const struct mt_leaks_sum *candidate, const struct mt_leaks_wanted *w,
                            struct mt_buf *title)
{
    if (leak->rows) {
        mt_buf_adds(title, "leak: ");
        describe_rate(r, leak, title);
    } else if (are_few(lives, w))
        mt_buf_adds(title, "too few to detect a leak");
    else if (found->gaps || (candidate->growing_n && found->frees_unknown))
        mt_buf_adds(title, "inconclusive");
    else if (w->min_b > 0)
        mt_buf_addf(title, "no leak of %s or more", human(r, (double)w->min_b));
    else
        mt_buf_adds(title, "no leak");
    if (candidate->growing_n)
        mt_buf_addf(title, ", %lld candidate%s%s %s a step", (long long)candidate->growing_n,
                    candidate->growing_n == 1 ? " that grows" : "s that grow",
                    candidate->doubtful_n ? " at most" : "", human(r, candidate->per_step_b));
}

static bool is_given_up(const struct mt_leak *l)
{
    return !l->whole && l->growth_steps && !l->at_end_n;
}

static void explain_candidates(struct mt_report *r, const struct mt_run *run,
                               const struct mt_leaks *found, const struct mt_leaks_wanted *w)
{
    struct mt_buf name = {0};
    bool whole = false, given_up = false;
    for (size_t i = 0; i < found->rows.n; i++) {
        const struct mt_leak *l = &found->rows.v[i];
        whole |= l->whole && mt_leaks_large_enough(l, w->min_b);
        given_up |= is_given_up(l) && mt_leaks_large_enough(l, w->min_b);
    }
    mt_shell_word(&name, run->name);
    if (whole)
        mt_report_note(r,
                       "No site grows by itself, but what the device holds rises in every step. "
                       "`memtool peak %s --per step` says where most came from in each.",
                       name.s);
    if (given_up)
        mt_report_note(r, "What grew and is not alive at the end was freed after the last step, as "
                          "is what a function keeps until it returns.");
    mt_buf_free(&name);
}

void mt_leaks_describe(struct mt_report *r, const struct mt_run_device *d,
                       const struct mt_allocations *lives, const struct mt_leaks *found,
                       const struct mt_leaks_wanted *w)
{
    struct mt_buf title = {0};
    char steps[MT_HUMAN_LONG];
    struct mt_leaks_sum leak = mt_leaks_sum(found, MT_VERDICT_LEAK, &w->min_b);
    struct mt_leaks_sum candidate = mt_leaks_sum(found, MT_VERDICT_CANDIDATE, &w->min_b);
    mt_buf_addf(&title, "%s · %s · ", lives->run->name, d->shown);
    if (!lives->steps.all.n)
        mt_buf_adds(&title, "no steps: everything alive at the end");
    else {
        mt_buf_addf(&title, "%s, the first %s warm-up · ",
                    mt_human_plural((int64_t)lives->steps.all.n, "step", steps),
                    w->warmup == 1 ? "is" : mt_report_textf(r, "%lld are", (long long)w->warmup));
        describe_growth(r, lives, found, &leak, &candidate, w, &title);
    }
    r->title = title.s;
    bool end_known = !(found->gaps & MT_GAPS_OF_FREES);
    mt_report_total(r, "at_end_b", end_known ? mt_cell_int(d->at_end_b) : (struct mt_cell){0});
    bool unfreed = found->frees_unknown && candidate.growing_n;
    bool known = leak.rows || (!cannot_tell(lives, found, w) && !found->gaps && !unfreed);
    mt_report_total(r, "leak_per_step_b",
                    known ? total_rate(leak.per_step_b) : (struct mt_cell){0});
    mt_report_total(r, "leak_at_end_b", known ? mt_cell_int(leak.at_end_b) : (struct mt_cell){0});
    mt_report_total(r, "candidate_per_step_b", total_rate(candidate.per_step_b));
    if (candidate.doubtful_n)
        mt_report_note(r,
                       "%s: frees of %s went unrecorded, so the remaining blocks may be freed too.",
                       candidate.doubtful_n == 1 ? "The candidate may not be a leak"
                                                 : "Candidates may not be leaks",
                       candidate.doubtful_n == 1 ? "its site" : "their sites");
    explain_candidates(r, lives->run, found, w);
    if (unfreed)
        mt_report_note(r,
                       "%s: it may be a leak, or a thread that the program starts frees it, which "
                       "the profiler does not see.",
                       d->frees_nothing ? "Nothing was freed in this recording"
                                        : "In most steps nothing was freed");
    if (leak.rows)
        mt_report_footer(r, "at this rate %s after 1,000 steps, %s after 100,000",
                         human(r, leak.per_step_b * 1e3), human(r, leak.per_step_b * 1e5));
}

static const char *steps_left(struct mt_report *r, const struct mt_allocations *lives,
                              int64_t warmup)
{
    char steps[MT_HUMAN_LONG];
    int64_t n = (int64_t)lives->steps.all.n;
    return mt_report_text(r, mt_human_plural(n > warmup ? n - warmup : 0, "step", steps));
}

void mt_leaks_explain_rest(struct mt_report *r, const struct mt_allocations *lives,
                           const struct mt_leaks *found, int64_t kept_b,
                           const struct mt_leaks_wanted *w)
{
    static const char born_once[] =
        "allocated once and constant since (such as parameters, optimizer state)";
    const struct {
        enum mt_verdict verdict;
        const char *why;
    } reasons[] = {
        {MT_VERDICT_STATE, cannot_tell(lives, found, w) ? "older than the recording" : born_once},
        {MT_VERDICT_LAST_STEP, "allocated in the last step (such as gradients, results)"},
        {MT_VERDICT_CACHE, "in bounded caches, whose blocks are freed after some steps"}};
    struct mt_buf text = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(reasons); i++) {
        struct mt_leaks_sum s = mt_leaks_sum(found, reasons[i].verdict, NULL);
        if (s.at_end_b)
            mt_buf_addf(&text, "%s%s %s", text.n ? "; " : "", human(r, (double)s.at_end_b),
                        reasons[i].why);
    }
    if (kept_b) /* no row: nobody saw these blocks */
        mt_buf_addf(&text, "%s%s older than the recording", text.n ? "; " : "",
                    human(r, (double)kept_b));
    if (text.n)
        mt_report_footer(r, "alive at the end%s: %s%s",
                         cannot_tell(lives, found, w) || found->gaps ? "" : " but not leaking",
                         text.s, w->all ? "" : ". --all lists them");
    mt_buf_free(&text);
    if (found->gaps & MT_GAPS_OF_FREES)
        mt_report_note(r, "%s %s: what seems to be alive may have been freed.", lives->run->name,
                       mt_gaps_text(found->gaps));
    else if (found->gaps)
        mt_report_note(r, "%s %s: earlier growth is unknown.", lives->run->name,
                       mt_gaps_text(found->gaps));
    if (!lives->steps.all.n)
        mt_report_note(r, "Without steps nothing can be called a leak. %s",
                       mt_run_how_to_mark(lives->run));
    else if (lives->steps.all.n < STEPS_ENOUGH)
        mt_report_note(r, "%zu step%s few to detect a leak; record %d or more.", lives->steps.all.n,
                       lives->steps.all.n == 1 ? " is" : "s are", STEPS_ENOUGH);
    else if (are_few(lives, w))
        mt_report_note(r, "A warm-up of %lld leaves %s to detect a leak with; %d are needed.",
                       (long long)w->warmup, steps_left(r, lives, w->warmup), MT_LEAK_STEPS);
}

void mt_leaks_say_too_few(struct mt_report *r, const struct mt_allocations *lives,
                          const struct mt_leaks_wanted *w)
{
    if (!lives->steps.all.n)
        mt_report_unanswered(r, "Without steps nothing can be called a leak.",
                             mt_run_how_to_mark(lives->run));
    else if (are_few(lives, w))
        mt_report_unanswered(
            r, "There are too few steps to detect a leak.",
            mt_report_textf(r, "Record %d or more, or lower --warmup.", STEPS_ENOUGH));
}
