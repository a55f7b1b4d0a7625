/* memtool check: whether the memory of a run keeps to the rules. */
#include "cmd/check.h"
#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/repeats.h"
#include "lib/run/group_keys.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char rules_here[] = "memtool.json";

static const char *limits[MT_RULE_N], *group, *rules_file;
static struct mt_rule_about about;
static struct mt_strings baselines;
static int64_t warmup = 1;
static bool each;

/* file: the rules read, which are none; NULL: there is no file. */
static enum mt_status no_rules(const char *file, struct mt_err *err)
{
    struct mt_buf all = {0};
    for (int i = 0; i < MT_RULE_N; i++)
        mt_buf_addf(&all, "%s--%s %s", i ? ", " : "", mt_rule_kinds[i].name, mt_rule_kinds[i].arg);
    if (file)
        MT_FAIL(err, MT_EUSAGE, "no rule is given, and there is none in %s", file);
    else
        MT_FAIL(err, MT_EUSAGE, "no rule is given, and there is no %s in this folder", rules_here);
    mt_err_hint(err, "Nothing was checked. Rules: %s; or --rules FILE (docs/ci.md).", all.s);
    mt_buf_free(&all);
    return MT_EUSAGE;
}

/* A link to nothing is a file that cannot be read. */
static bool rules_are_here(void)
{
    struct stat st;
    return lstat(rules_here, &st) == 0;
}

static enum mt_status collect_rules(struct mt_rules *out, struct mt_err *err)
{
    const char *file = rules_file ? rules_file : rules_are_here() ? rules_here : NULL;
    if (file)
        mt_output_spare(file);
    if (file)
        MT_TRY(mt_rules_read(file, &about, out, err));
    for (int i = 0; i < MT_RULE_N; i++)
        if (limits[i])
            MT_TRY(mt_rules_add(out, (enum mt_rule_id)i, limits[i], &about, err));
    return out->v.n ? MT_OK : no_rules(file, err);
}

/* The runs of a group are the job, and have to be all of it; who names runs means these. */
static void find(const struct mt_rules *rules, const struct mt_loaded *new,
                 const struct mt_loaded *base, struct mt_findings *found)
{
    const bool ranks = mt_loaded_are_ranks(new);
    char *missing = ranks ? mt_loaded_missing_ranks(new) : NULL;
    if (ranks && !each)
        mt_show_note("These are ranks of a job, not repeats: each is checked by itself.");
    if (missing && group)
        mt_show_note("Of ranks that are not there nothing is known: name the runs to check these "
                     "alone.");
    else if (missing)
        mt_show_note("%s", missing);
    mt_findings_find(rules, new, base, each || ranks, group ? missing : NULL, found);
    free(missing);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    struct mt_rules rules = {0};
    struct mt_loaded new = {0}, base = {0};
    struct mt_findings found = {0};
    const struct mt_args base_refs = {.v = baselines.v, .n = baselines.n};
    struct mt_narrows narrows = {0};
    const struct mt_repeats_asked asked = {.group = group, .warmup = warmup, .narrows = &narrows};
    const struct mt_repeats_asked asked_base = {
        .files = true, .warmup = warmup, .narrows = &narrows};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(collect_rules(&rules, err));
    mt_rules_categories(&rules, &narrows);
    MT_TRY_OUT(mt_load_repeats(args, &asked, &new, err));
    if (baselines.n)
        MT_TRY_OUT(mt_load_repeats(&base_refs, &asked_base, &base, err));
    find(&rules, &new, baselines.n ? &base : NULL, &found);
    found.unnamed =
        new.runs.n == 1 && !group && (!args->n || strcmp(args->v[0], new.runs.v[0].name) != 0);
    MT_TRY_OUT(mt_check_show(&found, mt_check_format_of(mt_common.format), err));
    *exit_code = found.n_of[MT_CHECK_FAIL] ? 1 : found.n_of[MT_CHECK_INCONCLUSIVE] ? 3 : 0;
out:
    mt_findings_free(&found);
    mt_loaded_free(&new);
    mt_loaded_free(&base);
    mt_rules_free(&rules);
    mt_vec_free(&narrows.v);
    mt_vec_free(&baselines);
    return st;
}

static const struct mt_opt opts[] = {
    {"max-peak", 0, MT_OPT_STRING, &limits[MT_RULE_PEAK], "SIZE", "the peak is at most this"},
    {"max-peak-growth", 0, MT_OPT_STRING, &limits[MT_RULE_PEAK_GROWTH], "X",
     "the peak grew by at most this since the baseline: 5% or a size"},
    {"max-growth-per-step", 0, MT_OPT_STRING, &limits[MT_RULE_PER_STEP], "SIZE",
     "leaks grow by at most this per step (see memtool help leaks)"},
    {"max-alloc-growth", 0, MT_OPT_STRING, &limits[MT_RULE_ALLOC_GROWTH], "X",
     "at most this more is allocated than in the baseline: 10% or a size"},
    {"max-alloc-count-growth", 0, MT_OPT_STRING, &limits[MT_RULE_ALLOC_COUNT_GROWTH], "X",
     "at most this more allocations: 10% or a number"},
    {"max-at-end-growth", 0, MT_OPT_STRING, &limits[MT_RULE_AT_END_GROWTH], "X",
     "at most this more is alive at the end: 10% or a size"},
    {"max-at-end", 0, MT_OPT_STRING, &limits[MT_RULE_AT_END], "SIZE",
     "at most this is alive at the end"},
    {"max-temporary", 0, MT_OPT_STRING, &limits[MT_RULE_TEMPORARY], "N",
     "at most N allocations are temporary, freed before the next is made, in logs that "
     "tell (heaptrack, memray)"},
    {"max-rss", 0, MT_OPT_STRING, &limits[MT_RULE_RSS], "SIZE",
     "no process has more in memory at any time (runs of memtool record, process logs)"},
    {"max-rss-growth", 0, MT_OPT_STRING, &limits[MT_RULE_RSS_GROWTH], "X",
     "the most that a process has in memory grew by at most this since the baseline: 5% or a size"},
    {"max-rss-growth-per-step", 0, MT_OPT_STRING, &limits[MT_RULE_RSS_PER_STEP], "SIZE",
     "what a process has in memory grows by at most this per step"},
    {"max-rss-growth-per-minute", 0, MT_OPT_STRING, &limits[MT_RULE_RSS_PER_MINUTE], "SIZE",
     "the same per minute, for programs without steps"},
    {"baseline", 0, MT_OPT_LIST, &baselines, "RUN|FILE",
     "what growth is measured from; several runs are repeats"},
    {"rules", 0, MT_OPT_STRING, &rules_file, "FILE",
     "more rules (default: memtool.json here; -: standard input)"},
    {"group", 0, MT_OPT_STRING, &group, "NAME",
     "the runs of this group, as repeats; ranks of a job are checked one by one"},
    {"each", 0, MT_OPT_FLAG, &each, NULL,
     "check each run separately: where repeats must all keep the rules, too"},
    {"device", 0, MT_OPT_STRING, &about.device, "D",
     "cpu, cuda:0, ..., or cuda for all of that kind (default: every device of the run)"},
    {"category", 0, MT_OPT_STRING, &about.category, "LIST",
     "judge only memory for that: parameters, gradients, optimizer-state, activations, other ... "
     "(traces with addresses)"},
    {"op", 0, MT_OPT_STRING, &about.op, "REGEX",
     "judge only the memory allocated under top ops whose names match"},
    {"scope", 0, MT_OPT_STRING, &about.scope, "REGEX",
     "judge only the memory allocated in scopes whose names match"},
    {"warmup", 0, MT_OPT_INT, &warmup, "N", "steps that may build up state (default: 1)"},
    {0},
};

static const struct mt_glossary_entry rule_words[] = {
    {"growth", "the figure of RUN minus that of the baseline, or the increase in percent"},
    {"repeats", "several runs of the same program; their spread tells noise from a change"},
    {"top op", MT_GROUP_KEY_TOP},
    {"scope", "the innermost record_function() annotation around an op"},
    {0}};
static const struct mt_glossary words[] = {{"Words", rule_words, NULL}, {0}};

static const struct mt_values values[] = {{"category", mt_category_words, NULL}, {0}};

const struct mt_cmd mt_cmd_check = {
    .name = "check",
    .summary = "fail when memory breaks a rule: for CI",
    .usage = "[options] [RUN ...]",
    .examples = "  memtool check new --baseline base --max-peak-growth 5%\n"
                "  memtool check --max-peak 2GiB --max-growth-per-step 0\n"
                "  memtool check --baseline memory.json --max-peak-growth 5% --format github\n"
                "  memtool check r1 r2 r3 --baseline memory.json --format junit -o junit.xml\n"
                "  memtool check --group job --max-peak 20GiB\n",
    .opts = opts,
    .values = values,
    .words = words,
    .more_formats = "github, junit",
    .args_max = (size_t)-1,
    .run = run,
};
