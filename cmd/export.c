/* memtool export: a run in other forms. */
#include "cmd/export.h"

#include "cmd/common.h"
#include "cmd/glossary.h"
#include "cmd/output.h"
#include "cmd/repeats.h"
#include "lib/model/kind_words.h"
#include <string.h>
#include <unistd.h>

static bool baseline;
static const char *group, *format;
enum { WARMUP = 1 };
static int64_t warmup = WARMUP;
static struct mt_export_asked asked = {.min_b = -1};

/* A baseline without devices would let everything pass, or nothing. */
static enum mt_status check_memory(const struct mt_loaded *runs, struct mt_err *err)
{
    for (size_t i = 0; i < runs->runs.n; i++) {
        const struct mt_loaded_run *run = &runs->runs.v[i];
        if (runs->figures.v.v[i].devices.n)
            continue;
        MT_FAIL(err, MT_EUSAGE, "run '%s' has no memory records to compare with", run->name);
        mt_err_hint(err, "Nothing was written. %s", run->how_to_record);
        return MT_EUSAGE;
    }
    return MT_OK;
}

/* Recorders that count differently have no median. */
static enum mt_status check_alike(const struct mt_loaded *runs, struct mt_err *err)
{
    for (size_t i = 1; i < runs->runs.n; i++) {
        const struct mt_baseline *a = &runs->figures.v.v[0], *b = &runs->figures.v.v[i];
        char one[96], other[96];
        if (mt_formats_alike(a->format, b->format))
            continue;
        mt_format_words(a->format, one);
        mt_format_words(b->format, other);
        MT_FAIL(err, MT_EUSAGE, "run '%s' is %s, '%s' %s: these count differently", a->run, one,
                b->run, other);
        mt_err_hint(err, "Nothing was written. Write a baseline for each recorder.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

static enum mt_status export_baseline(const struct mt_args *args, struct mt_err *err)
{
    struct mt_loaded runs = {0};
    struct mt_baseline whole = {0};
    struct mt_buf text = {0};
    const struct mt_repeats_asked repeats = {.group = group, .warmup = warmup};
    enum mt_status st = mt_load_repeats(args, &repeats, &runs, err);
    if (st == MT_OK)
        st = check_memory(&runs, err);
    if (st == MT_OK)
        st = check_alike(&runs, err);
    if (st == MT_OK && mt_loaded_are_ranks(&runs))
        mt_show_note(MT_NOTE_MEDIAN);
    if (st == MT_OK) {
        mt_baseline_fold(runs.figures.v.v, runs.figures.v.n, &whole);
        mt_baseline_trim(&whole);
        mt_baseline_write(&whole, &text);
        st = mt_show_text(text.s, err);
    }
    mt_buf_free(&text);
    mt_baseline_free(&whole);
    mt_loaded_free(&runs);
    return st;
}

/* The format of call paths that is asked for; NULL: none. */
static enum mt_status choose_format(struct mt_err *err)
{
    struct mt_buf names = {0};
    if (!format && !mt_output_is_stdout())
        asked.format = mt_export_format_by_ending(mt_common.output);
    if (format)
        asked.format = mt_export_format_by_name(format);
    if (asked.format)
        return MT_OK;
    const char *dot = mt_output_is_stdout() ? NULL : strrchr(mt_common.output, '.');
    if (format)
        MT_FAIL(err, MT_EUSAGE, "unknown --format '%s'", format);
    else if (dot && dot[1] && !strchr(dot, '/'))
        MT_FAIL(err, MT_EUSAGE, "no format is given, and '%s' ends as none of them",
                mt_common.output);
    else
        MT_FAIL(err, MT_EUSAGE, "no format is given");
    for (const struct mt_export_format *f = mt_export_formats; f->name; f++)
        mt_buf_addf(&names, "%s%s", names.n ? ", " : "", f->name);
    mt_err_hint(err, "Nothing was written. Add --format F, one of %s; or --baseline.", names.s);
    mt_buf_free(&names);
    return MT_EUSAGE;
}

/* Options that the format has no use for. Measures are a matter of call paths. */
static enum mt_status check_options(struct mt_err *err)
{
    const struct {
        unsigned bit;
        bool given;
        const char *name;
    } options[] = {{MT_EXPORT_AT, asked.at != NULL, "at"},
                   {MT_EXPORT_MEASURE, asked.measure && !asked.format->stacks, "measure"},
                   {MT_EXPORT_MIN, asked.min_b >= 0, "min"},
                   {MT_EXPORT_DEVICE, asked.device != NULL, "device"},
                   {MT_EXPORT_SOURCE, asked.source != NULL, "source"},
                   {MT_EXPORT_WINDOW, asked.from != NULL, "from"},
                   {MT_EXPORT_WINDOW, asked.to != NULL, "to"},
                   {MT_EXPORT_WINDOW, asked.step != NULL, "step"},
                   {MT_EXPORT_VIEW, asked.view != NULL, "view"},
                   {MT_EXPORT_ROLLUP, asked.rollup != NULL, "rollup"},
                   {MT_EXPORT_ROLLUP, asked.blocks, "blocks"},
                   {0, warmup != WARMUP, "warmup"}};
    for (size_t i = 0; i < MT_ARRAY_LEN(options); i++) {
        if (!options[i].given || asked.format->takes & options[i].bit)
            continue;
        MT_FAIL(err, MT_EUSAGE, "%s has no use for --%s", asked.format->name, options[i].name);
        mt_err_hint(err, "Nothing was written. Leave out --%s.", options[i].name);
        return MT_EUSAGE;
    }
    if (asked.format->binary && mt_output_is_stdout() && isatty(STDOUT_FILENO)) {
        MT_FAIL(err, MT_EUSAGE, "%s is no text to show on a terminal", asked.format->name);
        mt_err_hint(err, "Nothing was written. Name a file: -o run%.*s.",
                    (int)strcspn(asked.format->endings, " "), asked.format->endings);
        return MT_EUSAGE;
    }
    return MT_OK;
}

static enum mt_status refuse_rollup(const char *why, const char *hint, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "%s", why);
    mt_err_hint(err, "Nothing was written. %s", hint);
    return MT_EUSAGE;
}

static enum mt_status export_rollup(const struct mt_args *args, struct mt_err *err)
{
    if (!asked.rollup)
        return refuse_rollup("these are rows of a job, and none is named",
                             "Name its group: --rollup GROUP.", err);
    if (asked.view || args->n || group)
        return refuse_rollup("--rollup beside a view, a run or another group",
                             "--rollup takes a group, and writes all rows of it.", err);
    MT_TRY(check_options(err));
    return mt_export_rollup(&asked, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    bool others = format || asked.at || asked.device || asked.measure || asked.source ||
                  asked.from || asked.to || asked.step || asked.view || asked.rollup ||
                  asked.blocks || asked.min_b >= 0;
    if (baseline && others) {
        MT_FAIL(err, MT_EUSAGE, "--baseline beside options of other formats");
        mt_err_hint(err, "Nothing was written. A baseline takes --group and --warmup alone.");
        return MT_EUSAGE;
    }
    if (baseline)
        return export_baseline(args, err);
    MT_TRY(choose_format(err));
    if (asked.rollup || asked.blocks || asked.format->statement)
        return export_rollup(args, err);
    if (args->n > 1 || group) {
        MT_FAIL(err, MT_EUSAGE, "%s holds one run", asked.format->name);
        mt_err_hint(err, "Nothing was written. Name one run.");
        return MT_EUSAGE;
    }
    MT_TRY(check_options(err));
    return asked.format->stacks     ? mt_export_stacks(args, &asked, err)
           : asked.format->snapshot ? mt_export_snapshot(args, &asked, err)
           : asked.format->rows     ? mt_export_rows(args, &asked, err)
                                    : mt_export_counters(args, &asked, err);
}

static const struct mt_opt opts[] = {
    {"format", 0, MT_OPT_STRING, &format, "FORMAT",
     "call paths: pprof, collapsed, speedscope, dhat; curves: perfetto, perfetto-json, "
     "perfetto-tar; a part of a snapshot: snapshot; rows: csv, tsv, jsonl; of a job: clickhouse "
     "(default: by the ending "
     "of -o: .pb.gz, .folded, .speedscope.json, .dhat.json, .pftrace, .perfetto.json, "
     ".perfetto.tar, .pickle, .csv, .tsv, .jsonl)"},
    {"view", 0, MT_OPT_STRING, &asked.view, "VIEW",
     "of which view rows are: device, step, node, op, alloc, segment, block, event, note ... "
     "(`memtool schema v_alloc` says what is in one)"},
    {"rollup", 0, MT_OPT_STRING, &asked.rollup, "GROUP",
     "tsv, clickhouse: runs, steps, sites and call paths of a job (`memtool schema --dialect "
     "clickhouse` says what each column is)"},
    {"blocks", 0, MT_OPT_FLAG, &asked.blocks, NULL, "of --rollup: each block, too"},
    {"at", 0, MT_OPT_STRING, &asked.at, "TIME",
     "the moment of what is alive (see Times; default: @peak)"},
    {"measure", 0, MT_OPT_STRING, &asked.measure, "M",
     "what collapsed stacks are of: alive, allocated, alive-blocks, allocated-blocks (default: "
     "alive)"},
    {"min", 0, MT_OPT_SIZE, &asked.min_b, "SIZE",
     "fold siblings smaller than this into [other]; 0 = none (default: 0.01 % of the sum)"},
    {"device", 0, MT_OPT_STRING, &asked.device, "D",
     "cpu, cuda:0, ... (default: of call paths the one with most bytes allocated; of curves all)"},
    {"from", 0, MT_OPT_STRING, &asked.from, "TIME", "a snapshot from this time on (see Times)"},
    {"to", 0, MT_OPT_STRING, &asked.to, "TIME", "a snapshot as it was before this time"},
    {"step", 0, MT_OPT_STRING, &asked.step, "A..B", "a snapshot of these steps"},
    {"source", 0, MT_OPT_STRING, &asked.source, "FILE",
     "where the recording is, for snapshot and perfetto-tar (default: where it was imported from)"},
    {"baseline", 0, MT_OPT_FLAG, &baseline, NULL,
     "what memtool check --baseline FILE compares with: JSON to keep in git"},
    {"group", 0, MT_OPT_STRING, &group, "NAME", "the runs of this group, as repeats"},
    {"warmup", 0, MT_OPT_INT, &warmup, "N", "steps that may build up state (default: 1)"},
    {0},
};

static void add_formats(struct mt_buf *names)
{
    for (const struct mt_export_format *f = mt_export_formats; f->name; f++)
        mt_buf_addf(names, "%s%s", names->n ? " " : "", f->name);
}

static const struct mt_values values[] = {{"format", NULL, add_formats},
                                          {"view", NULL, mt_export_view_names},
                                          {"measure", mt_export_measures, NULL},
                                          {0}};
static const struct mt_glossary words[] = {MT_WORDS_OF_MOMENTS, {0}};

const struct mt_cmd mt_cmd_export = {
    .name = "export",
    .summary = "write a run for other programs, or a baseline for memtool check",
    .usage = "--format FORMAT | --baseline [options] [RUN ...]",
    .examples = "  memtool export base -o base.pb.gz\n"
                "  memtool export base -o base.pftrace\n"
                "  memtool export snap --from 150ms --to 200ms -o part.pickle\n"
                "  memtool export base --view alloc -o blocks.tsv\n"
                "  memtool export --rollup job42 --format clickhouse | clickhouse-client\n"
                "  memtool export --format collapsed --measure allocated base | less\n"
                "  memtool export --baseline -o memory.json\n"
                "  memtool export --baseline r1 r2 r3 -o memory.json\n",
    .opts = opts,
    .values = values,
    .words = words,
    .formats = "json, pprof, collapsed, speedscope, dhat, perfetto, perfetto-json, perfetto-tar, "
               "snapshot, csv, tsv, jsonl, clickhouse",
    .without = "format bytes",
    .args_max = (size_t)-1,
    .run = run,
};
