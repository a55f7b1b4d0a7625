#include "cmd/compat.h"

#include "cmd/rows.h"
#include "lib/base/human.h"
#include "lib/compat/load_compat.h"
#include "lib/render/run_notes.h"
#include <string.h>

static enum mt_status choose_rule(const char *version, const struct mt_torch_marks *marks,
                                  const struct mt_torch_rule **rule, struct mt_err *err)
{
    const char *colon = strchr(version, ':');
    size_t n = colon ? (size_t)(colon - version) : strlen(version);
    *rule = NULL;
    if (n == 5 && strncmp(version, "torch", 5) == 0)
        *rule = colon ? mt_torch_rule_by_version(colon + 1) : mt_torch_rule_guess(marks);
    if (*rule)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "unknown --compat table '%s'", version);
    mt_err_hint(err,
                "Write --compat torch, or with a version from 1.13 to 2.15: --compat torch:2.6");
    return MT_EUSAGE;
}

static enum mt_status sort_rows(struct mt_torch_table *t, const char *key, struct mt_err *err)
{
    if (!key)
        return MT_OK;
    const char *canonical = mt_torch_sort_key(key);
    if (canonical) {
        mt_torch_sort(t, canonical);
        return MT_OK;
    }
    struct mt_buf all = {0};
    for (const char *const *k = mt_torch_sort_keys; *k; k++)
        mt_buf_addf(&all, "%s%s", all.n ? ", " : "", *k);
    MT_FAIL(err, MT_EUSAGE, "PyTorch's table has no sort key '%s'", key);
    mt_err_hint(err, "Keys: %s.", all.s);
    mt_buf_free(&all);
    return MT_EUSAGE;
}

static void fill(struct mt_report *r, const struct mt_torch_table *t,
                 const struct mt_torch_rule *rule, bool by_shape)
{
    static const char *const names[] = {"name",
                                        "is_user_annotation",
                                        "input_shapes",
                                        "count",
                                        "cpu_time_total_us",
                                        "self_cpu_time_total_us",
                                        "cpu_memory_usage",
                                        "self_cpu_memory_usage",
                                        "device_memory_usage",
                                        "self_device_memory_usage"};
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++)
        if (i != 2 || by_shape)
            mt_report_column(r, names[i], NULL, MT_UNIT_NONE);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct mt_torch_row *from = &t->rows.v[i];
        struct mt_cell *c = mt_report_row(r)->cells;
        *c++ = mt_cell_text(mt_report_text(r, from->name));
        *c++ = mt_cell_int(from->is_user_annotation);
        if (by_shape)
            *c++ = mt_cell_text(strcmp(from->input_shapes, "[]") == 0
                                    ? NULL /* none recorded */
                                    : mt_report_text(r, from->input_shapes));
        *c++ = mt_cell_int(from->count);
        *c++ = mt_cell_real((double)from->cpu_time_total_ns / 1000);
        *c++ = mt_cell_real((double)from->self_cpu_time_total_ns / 1000);
        *c++ = mt_cell_int(from->cpu_memory_usage);
        *c++ = mt_cell_int(from->self_cpu_memory_usage);
        *c++ = mt_cell_int(from->device_memory_usage);
        *c++ = mt_cell_int(from->self_device_memory_usage);
    }
    mt_report_param(r, "compat", mt_cell_text(mt_report_textf(r, "torch:%s", rule->version)));
}

static void note_guess(struct mt_report *r, const struct mt_torch_table *t,
                       const struct mt_torch_marks *marks)
{
    if (marks->old_categories)
        mt_report_note(r, "the file is of PyTorch 1.8 or 1.9. The oldest rule known is that of "
                          "1.13, by which this was computed: figures may differ from PyTorch's.");
    else
        mt_report_note(r,
                       "computed by the rule of PyTorch %s, which this file looks like; "
                       "--compat torch:VERSION chooses another.",
                       mt_torch_guess_versions(marks, t));
}

static void note_doubt(struct mt_report *r, const struct mt_torch_table *t)
{
    char doubtful[MT_HUMAN_MAX], rows[MT_HUMAN_LONG], bytes[MT_HUMAN_LONG];
    int64_t most = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct mt_torch_row *w = &t->rows.v[i];
        const int64_t off[] = {w->cpu_below, w->cpu_above, w->self_cpu_below, w->self_cpu_above};
        for (size_t k = 0; k < MT_ARRAY_LEN(off); k++)
            most = off[k] > most ? off[k] : most;
    }
    if (t->doubtful_n)
        mt_report_note(
            r, "times in the file are whole microseconds: %s of %s are uncertain, by up to %s.",
            mt_human_count(t->doubtful_n, doubtful),
            mt_human_plural((int64_t)t->rows.n, "row", rows), mt_human_with_exact(most, bytes));
}

/* The table itself is PyTorch's to the byte: what is left out is said beside it. */
static void note_limit(struct mt_report *r, int64_t more_n, int64_t limit)
{
    char more[MT_HUMAN_LONG];
    if (limit > 0 && more_n > 0)
        mt_report_note(r, "%s; --limit 0 shows all.", mt_human_plural(more_n, "more row", more));
}

static void add_notes(struct mt_report *r, const struct mt_torch_table *t,
                      const struct mt_torch_marks *marks, const char *asked)
{
    if (!strchr(asked, ':'))
        note_guess(r, t, marks);
    note_doubt(r, t);
    mt_report_note(r, "ops that began and ended on different threads cannot be told from the file; "
                      "PyTorch gives them no self figures.");
}

enum mt_status mt_compat_table(struct mt_db *db, const struct mt_run *run,
                               const struct mt_compat_opts *opts, struct mt_report *report,
                               struct mt_err *err)
{
    struct mt_compat_run input = {0};
    struct mt_torch_table table = {0};
    const struct mt_torch_rule *rule;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_load_compat(db, run, &input, err));
    MT_TRY_OUT(choose_rule(opts->version, &input.marks, &rule, err));
    mt_torch_key_averages(&input.input, rule, opts->by_shape, &table);
    MT_TRY_OUT(sort_rows(&table, opts->sort, err));
    report->schema = "memtool.compat_torch";
    mt_report_run(report, 0, run->id, run->name, run->time_unit);
    mt_notes_of_run(report, run->name, &run->notes,
                    MT_ABOUT_SUMS | MT_ABOUT_SITES | MT_ABOUT_DURATIONS | MT_ABOUT_SCOPES);
    add_notes(report, &table, &input.marks, opts->version);
    if (mt_common.format && strcmp(mt_common.format, "table") != 0) {
        fill(report, &table, rule, opts->by_shape);
        mt_report_limit(report, opts->limit);
        mt_rows_footer(&(struct mt_rows){.limit = opts->limit}, report, NULL, "");
        st = mt_show(report, err);
        goto out;
    }
    note_limit(report, (int64_t)table.rows.n - opts->limit, opts->limit);
    struct mt_buf text = {0};
    struct mt_torch_text how = {.row_limit = opts->limit ? opts->limit : -1,
                                .profile_memory = input.profile_memory,
                                .by_shape = opts->by_shape,
                                .device = input.device};
    mt_torch_print(&table, rule, &how, &text);
    st = mt_show_text(text.s ? text.s : "", err);
    mt_buf_free(&text);
    mt_show_notes(report);
out:
    mt_torch_table_free(&table);
    mt_compat_run_free(&input);
    return st;
}
