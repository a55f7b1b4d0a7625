/* memtool export --format: call paths with what they allocated and hold, for other programs. */
#include "cmd/export.h"

#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/stacks.h"
#include "lib/base/human.h"
#include "lib/run/knows.h"
#include <string.h>

const char mt_export_measures[] = "alive allocated alive-blocks allocated-blocks";

static const struct {
    const char *name;
    enum mt_measure measure;
} measures[] = {{"alive", MT_MEASURE_ALIVE_B},
                {"allocated", MT_MEASURE_ALLOC_B},
                {"alive-blocks", MT_MEASURE_ALIVE_N},
                {"allocated-blocks", MT_MEASURE_ALLOC_N}};

static struct mt_export_asked asked;
static enum mt_measure measure;

static enum mt_status refuse_measure(struct mt_err *err)
{
    struct mt_buf names = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(measures); i++)
        mt_buf_addf(&names, "%s%s", i ? ", " : "", measures[i].name);
    mt_err_hint(err, "Nothing was written. --measure is one of %s.", names.s);
    mt_buf_free(&names);
    return MT_EUSAGE;
}

static enum mt_status parse_measure(struct mt_err *err)
{
    measure = MT_MEASURE_ALIVE_B;
    if (!asked.measure)
        return MT_OK;
    if (!(asked.format->takes & MT_EXPORT_MEASURE)) {
        MT_FAIL(err, MT_EUSAGE, "%s holds all measures at once", asked.format->name);
        mt_err_hint(err, "Nothing was written. Leave out --measure.");
        return MT_EUSAGE;
    }
    size_t i = 0;
    while (i < MT_ARRAY_LEN(measures) && strcmp(asked.measure, measures[i].name) != 0)
        i++;
    if (i == MT_ARRAY_LEN(measures)) {
        MT_FAIL(err, MT_EUSAGE, "unknown --measure '%s'", asked.measure);
        return refuse_measure(err);
    }
    measure = measures[i].measure;
    if (asked.at && measure != MT_MEASURE_ALIVE_B && measure != MT_MEASURE_ALIVE_N) {
        MT_FAIL(err, MT_EUSAGE, "--at beside --measure %s", asked.measure);
        mt_err_hint(err, "--at names the moment of what is alive; leave one of them out.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

/* What the format needs, and a run may not know. */
static enum mt_status check_known(const struct mt_view *v, struct mt_err *err)
{
    if (!asked.format->end ||
        mt_device_knows(&v->device, MT_KNOWS_ALLOC | MT_KNOWS_AT_END | MT_KNOWS_BLOCKS))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "%s needs how long each block lived, which run '%s' does not know",
            asked.format->name, v->run.name);
    mt_err_hint(err, "Nothing was written. pprof, collapsed and speedscope do without.");
    return MT_EUSAGE;
}

static enum mt_status check_measure(const struct mt_view *v, const struct mt_stacks *s,
                                    struct mt_err *err)
{
    bool blocks = !mt_measure_is_bytes((int)measure);
    if (!(asked.format->takes & MT_EXPORT_MEASURE) || s->knows[measure])
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' does not say %s%s", v->run.name,
            blocks ? "how many blocks were " : "what was ",
            measure == MT_MEASURE_ALIVE_B || measure == MT_MEASURE_ALIVE_N ? "alive then"
                                                                           : "allocated");
    return refuse_measure(err);
}

/* What is deep and has many paths would fill any disk. */
static enum mt_status check_length(const struct mt_stacks *s, struct mt_err *err)
{
    const int a_number = asked.format->binary ? 2 : 7; /* bytes of a function that is one, about */
    const int64_t most_b = (int64_t)4 << 30;
    int64_t n, bytes;
    char size[MT_HUMAN_MAX];
    if (!asked.format->whole)
        return MT_OK;
    bool one = asked.format->takes & MT_EXPORT_MEASURE;
    mt_stacks_written(s, one ? measure : MT_MEASURE_N, &n, &bytes);
    bytes = one ? bytes : n > INT64_MAX / a_number ? INT64_MAX : n * a_number;
    if (bytes <= most_b)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "%s has each call path from its root on: that would be about %s",
            asked.format->name, mt_human_bytes(bytes, size));
    mt_err_hint(err, "Nothing was written. speedscope takes far less.");
    return MT_EUSAGE;
}

static enum mt_status write_file(struct mt_stacks *s, struct mt_report *r, struct mt_err *err)
{
    FILE *out;
    mt_note_folded(r, mt_stacks_finish(s, asked.min_b), asked.min_b);
    MT_TRY(check_length(s, err));
    MT_TRY(mt_output_open(&out, err));
    asked.format->stacks(s, measure, out);
    return mt_output_close(out, true, err);
}

static enum mt_status export_view(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    const struct mt_view_stacks_asked what = {asked.at, asked.format->phases, asked.format->end,
                                              MT_STACKS_BY_ALL};
    struct mt_view_stacks s;
    if (!v->has_device)
        return mt_fail_no_memory(&v->run, ": nothing to export", err);
    MT_TRY(check_known(v, err));
    enum mt_status st = mt_view_stacks_open(v, &what, r, &s, err);
    if (st == MT_OK)
        st = check_measure(v, &s.stacks, err);
    if (st == MT_OK)
        st = write_file(&s.stacks, r, err);
    if (st == MT_OK)
        mt_show_notes(r);
    mt_view_stacks_close(&s);
    return st;
}

enum mt_status mt_export_stacks(const struct mt_args *args, const struct mt_export_asked *what,
                                struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, what->device, 0, NULL};
    asked = *what;
    MT_TRY(parse_measure(err));
    return mt_report_on_view(args, &wanted, "memtool.export", export_view, err);
}
