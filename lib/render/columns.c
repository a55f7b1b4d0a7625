/* The columns: the figures of lib/run/figures.c, and those of this table. */
#include "lib/render/columns.h"

#include "lib/render/stmt_report.h"
#include "lib/run/figures.h"
#include <assert.h>
#include <string.h>

#define BYTES  MT_UNIT_BYTES
#define CHANGE MT_UNIT_CHANGE
#define COUNT  MT_UNIT_COUNT
#define NS     MT_UNIT_NS
#define PLAIN  MT_UNIT_NONE
#define WORDS  MT_UNIT_WORDS

static const struct mt_column_def others[] = {
    /* of ops and call paths */
    {"depth", NULL, PLAIN, "depth in the call tree; the root is 0"},
    {"parent", NULL, PLAIN, "node of the caller"},
    {"node", NULL, PLAIN, "number of the call path, as in v_node"},

    /* of what is in use */
    {"live_b", "LIVE", BYTES, "in use at the time asked for"},
    {"live_n", "BLOCKS", COUNT, "blocks in use at the time asked for"},
    {"at_end_n", "BLOCKS", COUNT, "blocks in use at the end"},
    {"doubt_at_end_b", "IN DOUBT", BYTES, "of that, what may have been freed unrecorded"},
    {"largest_b", "LARGEST", BYTES, "the largest block"},
    {"age_ns", "AGE", NS, "how long it has been in use; of several, the oldest"},
    {"change_b", "CHANGE", CHANGE, "the second figure minus the first"},
    {"before_b", "BEFORE", BYTES, "in use at the first time"},
    {"after_b", "AFTER", BYTES, "in use at the second time"},
    {"before_n", "BLOCKS", COUNT, "blocks in use at the first time"},
    {"after_n", "BLOCKS AFTER", COUNT, "blocks in use at the second time"},

    /* of steps and ops, by peak --per */
    {"start_b", "START", BYTES, "in use when the step begins"},
    {"peak_b", "PEAK", BYTES, "the most in use"},
    {"end_b", "END", BYTES, "in use when the step ends"},
    {"peak_ns", "PEAK AT", NS, "time of the peak"},
    {"start_ns", "FROM", NS, "where it begins"},
    {"end_ns", "TO", NS, "where it ends"},
    {"grew_b", "LARGEST GROWTH", BYTES, "growth from START to PEAK of the site that grew most"},
    {"rise_b", "WORKSPACE", BYTES, "the most in use while the op runs, above its start"},
    {"kept_b", "KEPT", BYTES, "of that, what is still in use when the op ends"},
    {"at_ns", "AT", NS, "when that was reached"},

    /* of ranks */
    {"rank", NULL, PLAIN, "its number among the processes of the job"},
    {"host", NULL, PLAIN,
     "the folder of the machine it ran on, where ranks are counted anew on each"},
    {"local_rank", NULL, PLAIN, "its number among the processes there"},
    {"stage", NULL, PLAIN, "stage of the pipeline that the rank is in"},
    {"tp", "TP", PLAIN, "which part of the tensors of its stage the rank has"},
    {"first_rank", "FROM RANK", PLAIN, "the lowest rank among them"},
    {"last_rank", "TO RANK", PLAIN, "the highest rank among them"},
    {"over_median_b", "OVER MEDIAN", CHANGE, "the peak less the median of its cluster"},
    {"outlier", NULL, PLAIN, "further from the median than ranks that do the same"},
    {"peak_step", "STEP", PLAIN, "the step in which the peak is"},
    {"reserved_peak_b", "RESERVED", BYTES, "the most the allocator held from the driver"},
    {"oom_n", "OUT OF MEMORY", COUNT, "allocations that failed"},
    {"asked_for_b", "ASKED FOR", BYTES, "bytes of the allocation that failed"},
    {"device_free_b", "FREE ON GPU", BYTES, "what the driver had left"},
    {"in_use_b", "IN USE", BYTES, "bytes of blocks in use, as rounded"},
    {"reserved_b", "RESERVED", BYTES, "what the allocator held from the driver"},
    {"after_first_ns", "AFTER FIRST", NS, "how long after the first failed allocation"},
    {"epoch_ns", NULL, PLAIN, "the time, ns since 1970 (UTC)"},
    {"rank_n", "RANKS", COUNT, "how many ranks"},
    {"least_peak_b", "LEAST", BYTES, "the smallest peak of these ranks"},
    {"median_peak_b", "MEDIAN", BYTES, "the median of their peaks"},
    {"deviation_b", "DEVIATION", BYTES, "the median distance from that median"},
    {"outlier_n", "OUTLIERS", COUNT, "of these ranks, outliers"},
    {"steps", NULL, PLAIN, "the peaks of the steps, one mark each"},

    /* of leaks */
    {"since_step", "SINCE", PLAIN, "the first step that allocated what is in use"},
    {"last_step", "LAST", PLAIN, "the last step that did"},
    {"verdict", "VERDICT", PLAIN, "see the terms in the command's help"},
    {"per_run_b", "PER RUN", CHANGE, "change from run to run"},
    {"per_hour_b", "PER HOUR", CHANGE, "change in an hour, where times are known"},
    {"per_minute_b", "PER MINUTE", CHANGE, "growth in a minute"},
    {"per_event_b", "PER SAMPLE", CHANGE, "growth from one sample of the log to the next"},
    {"rate_least_b", "AT LEAST", CHANGE, "the least that rate may be, with 95 % confidence"},
    {"rate_most_b", "AT MOST", CHANGE, "the most that it may be"},
    {"by_b", "GREW BY", CHANGE, "by how much in all, at that rate"},
    {"looks_n", "LOOKS", COUNT, "how often the recorder looked"},
    {"parts_n", "PARTS", COUNT, "parts whose least levels were compared"},
    {"trend", NULL, PLAIN, "how it goes from time to time: see the terms in the command's help"},
    {"growth_b", "GROWTH", CHANGE, "change over the later half of the recording"},
    {"first_at_end_b", "FIRST", BYTES, "in use at the end of the first run"},

    /* of two runs */
    {"base_b", "BASE", BYTES, "the figure of the first run"},
    {"new_b", "NEW", BYTES, "the figure of the second run"},
    {"inclusive_b", "INCLUSIVE", CHANGE, "the change with what the op calls"},
    {"count", NULL, PLAIN, "blocks or calls, in both runs where they differ"},
    {"note", "", PLAIN, "why it changed, where known"},
    {"section", NULL, PLAIN, "what part of the report a row is of"},
    {"match", NULL, PLAIN, "how the rows of the two runs were matched"},
    {"run", "RUN", PLAIN, "name of the run"},

    /* of a timeline */
    {"min_b", "LEAST", BYTES, "the least in use in the interval"},
    {"max_b", "MOST", BYTES, "the most in use in the interval"},
    {"last_b", "LAST", BYTES, "in use when the interval ends"},
    {"max_ns", "MOST AT", NS, "time of the most"},
    {"reserved_min_b", "RESERVED LEAST", BYTES,
     "the least that the allocator held from the driver"},
    {"reserved_max_b", "RESERVED MOST", BYTES, "the most that it held"},
    {"reserved_last_b", "RESERVED LAST", BYTES, "what it held when the interval ends"},
    {"pytorch_min_b", "PYTORCH LEAST", BYTES, "the least that PyTorch had allocated"},
    {"pytorch_max_b", "PYTORCH MOST", BYTES, "the most"},
    {"pytorch_last_b", "PYTORCH LAST", BYTES, "what it was at the end"},
    {"malloc_held_min_b", "HELD LEAST", BYTES,
     "the least that malloc held in memory though it was free"},
    {"malloc_held_max_b", "HELD MOST", BYTES, "the most, or less"},
    {"malloc_held_last_b", "HELD LAST", BYTES, "what it was at the end, or less"},
    {"rss_min_b", "RSS LEAST", BYTES, "the least that the process had in memory"},
    {"rss_max_b", "RSS MOST", BYTES, "the most that it had"},
    {"rss_last_b", "RSS LAST", BYTES, "what it had when the interval ends"},
    {"level_b", "LEVEL", BYTES, "in use after the change"},
    {"most_b", "MOST", BYTES, "the most in use at any time"},
    {"over_time", "OVER TIME", PLAIN, "in use over time, as a line of blocks"},

    /* of memory statistics, as torch.cuda.memory_stats() counts */
    {"metric", NULL, PLAIN, "which bytes: allocated, reserved, active ..."},
    {"threads_n", "THREADS", COUNT, "threads of the process, at one time at most"},
    {"cpu_ns", "CPU", NS, "processor time that all its threads took meanwhile"},
    {"current_b", "CURRENT", BYTES, "at the end of the window"},
    {"total_alloc_b", "ALLOC", BYTES, "all that was allocated in it"},
    {"total_freed_b", "FREED", BYTES, "all that was freed in it"},
    {"current_n", "COUNT", COUNT, "number at the end of the window"},
    {"peak_n", "PEAK #", COUNT, "the largest number in it"},
    {"total_alloc_n", "ALLOC #", COUNT, "allocations in it"},
    {"total_freed_n", "FREED #", COUNT, "frees in it"},

    /* of segments and fragmentation */
    {"size_b", "SIZE", BYTES, "its size"},
    {"allocated_b", "IN USE", BYTES, "of its blocks in use"},
    {"inactive_b", "FREE", BYTES, "of its free blocks"},
    {"largest_hole_b", "LARGEST FREE", BYTES, "its largest free block"},
    {"blocks_n", "BLOCKS", COUNT, "blocks in use"},
    {"stream", NULL, PLAIN, "CUDA stream whose allocations it serves"},
    {"pool", NULL, PLAIN, "memory pool; 0,0 is the default one"},
    {"address", NULL, PLAIN, "where it begins"},
    {"map", NULL, PLAIN, "how full each sixteenth of it is"},
    {"held_by", "HELD BY", PLAIN, "the site whose blocks keep it from being freed"},
    {"pending_b", "LET GO", BYTES, "freed, but still used by a stream"},
    {"holds_b", "HOLDS OPEN", BYTES, "segments that could be freed but for this site"},
    {"segments_n", "SEGMENTS", COUNT, "how many these are"},
    {"moment", "WHEN", PLAIN, "which time of the recording"},
    {"what", NULL, PLAIN, "what the row is about"},
    {"bytes_b", "BYTES", BYTES, "how much"},
    {"share_pct", "% OF RESERVED", PLAIN, "share of what the allocator holds"},
    {"count_n", "COUNT", COUNT, "how many"},
    {"fits", NULL, PLAIN, "whether the allocation would have fit"},
    {"gives_b", "GAIN", BYTES, "how much that makes available"},
    {"remedy", NULL, PLAIN, "what to do"},
    {"why", NULL, WORDS,
     "why it would, or would not, have fit; of blocks, the rule that says what they are for"},

    /* of advice */
    {"advice", NULL, PLAIN, "what could be changed; as --only takes it"},
    {"new_peak_b", "NEW PEAK", BYTES, "the peak with that change alone"},
    {"saving_b", "SAVING", BYTES, "how much lower that is"},
    {"saving_pct", "%", PLAIN, "the saving as a share of the recorded peak"},
    {"bound", "BOUND", PLAIN,
     "exact; about; up_to: the saving is that at most; none: it does not apply"},
    {"applies", NULL, PLAIN, "whether there is anything to change"},
    {"sites", NULL, PLAIN,
     "where what it touches was allocated: a list of name (top op), scope, module, source, "
     "at_peak_b, at_peak_n, pieces_n"},
    {"price", NULL, PLAIN, "what it costs beside that time"},
    {"verify", NULL, PLAIN, "the command that compares with what the changed program recorded"},
    {"recorded_peak_b", "RECORDED", BYTES, "the peak of the changed program"},
    {"saved_b", "SAVED", BYTES, "how much lower that is than before"},
    {"error_pct", "ERROR %", PLAIN, "how far the predicted saving is off, of what was saved"},
    {"new_peak_ns", "THEN AT", NS, "when the peak is then"},
    {"new_peak_phase", "THEN IN", PLAIN, "what ran at that time"},
    {"price_ns", "PRICE", NS, "time that it costs in each step"},
    {"because", NULL, PLAIN, "what was found, or was not"},
    {"how", NULL, PLAIN, "a line of code that does it"},
    {"batch_n", "BATCH", COUNT, "size of a batch"},
    {"deviation_pct", "OFF BY %", PLAIN,
     "of a third run: how far its peak is from what the first two predict"},
    {"method", NULL, PLAIN, "one run; blocks: each block of two runs; line: their peaks alone"},
    {"evidence", "WHAT, WHY, HOW", WORDS, "what to change, what was found, and how to do it"},

    /* of lists */
    {"value", NULL, WORDS, "what is known of it"},
    {"view", NULL, PLAIN, "name of a view"},
    {"about", NULL, WORDS, "what it answers"},
    {"source", NULL, PLAIN, "file that was read"},
    {"used_at", "USED AT", PLAIN, "when it was used last"},
    {"database", NULL, PLAIN, "file that holds it"},

    /* keys of --by */
    {"name", NULL, PLAIN, "the op, or the call path to it"},
    {"device", NULL, PLAIN, "cpu, cuda:0 ..."},
    {"site", NULL, PLAIN, "a line of your code, or the top op, in its scope"},
    {"step", NULL, PLAIN, "number of the step"},
};

bool mt_column_at(size_t i, struct mt_column_def *out)
{
    for (int f = 0; f < MT_FIG_N; f++) {
        const struct mt_figure_def *def = &mt_figure_defs[f];
        if (!def->meaning || i--)
            continue;
        *out =
            (struct mt_column_def){def->name, def->title, mt_unit_of_name(def->name), def->meaning};
        return true;
    }
    if (i < MT_ARRAY_LEN(others))
        *out = others[i];
    return i < MT_ARRAY_LEN(others);
}

bool mt_column_find(const char *name, struct mt_column_def *out)
{
    for (size_t i = 0; mt_column_at(i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

/* "IN_DOUBT" as a heading. */
static const char *heading(struct mt_report *r, const char *text, size_t n)
{
    char *own = (char *)mt_report_textf(r, "%.*s", (int)n, text);
    for (char *p = own; *p; p++)
        if (*p == '_')
            *p = ' ';
    return own;
}

static void add_column(struct mt_report *r, const char *word, size_t n)
{
    bool hidden = word[0] == '-';
    const char *from = word + hidden, *title = memchr(from, '=', n - hidden);
    size_t name_n = title ? (size_t)(title - from) : n - hidden;
    char name[64] = "";
    assert(name_n < sizeof name);
    memcpy(name, from, name_n);
    struct mt_column_def d = {0};
    bool known = mt_column_find(name, &d);
    assert(known);
    (void)known;
    mt_report_column(
        r, d.name, title ? heading(r, title + 1, n - (size_t)(title + 1 - word)) : d.title, d.unit);
    r->columns.v[r->columns.n - 1].hidden = hidden;
}

void mt_report_columns(struct mt_report *r, const char *names)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, " ");
        if (n)
            add_column(r, p, n);
        p += n + (p[n] == ' ');
    }
}
