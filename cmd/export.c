/* memtool export: a run in other forms. */
#include "cmd/common.h"
#include "cmd/repeats.h"
#include "lib/model/kind_words.h"

static bool baseline;
static const char *group;
static int64_t warmup = 1;

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
    enum mt_status st = mt_load_repeats(args, group, false, warmup, &runs, err);
    if (st == MT_OK)
        st = check_memory(&runs, err);
    if (st == MT_OK)
        st = check_alike(&runs, err);
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

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    if (baseline)
        return export_baseline(args, err);
    MT_FAIL(err, MT_EUSAGE, "nothing to export is named");
    mt_err_hint(err, "Nothing was written. Add --baseline.");
    return MT_EUSAGE;
}

static const struct mt_opt opts[] = {
    {"baseline", 0, MT_OPT_FLAG, &baseline, NULL,
     "what memtool check --baseline FILE compares with: JSON to keep in git"},
    {"group", 0, MT_OPT_STRING, &group, "NAME", "the runs of this group, as repeats"},
    {"warmup", 0, MT_OPT_INT, &warmup, "N", "steps that may build up state (default: 1)"},
    {0},
};

const struct mt_cmd mt_cmd_export = {
    .name = "export",
    .summary = "write figures of a run to a file: a baseline for memtool check",
    .usage = "--baseline [options] [RUN ...]",
    .examples = "  memtool export --baseline -o memory.json\n"
                "  memtool export --baseline r1 r2 r3 -o memory.json\n",
    .opts = opts,
    .formats = "json",
    .without = "format bytes",
    .args_max = (size_t)-1,
    .run = run,
};
