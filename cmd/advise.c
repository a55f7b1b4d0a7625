/* memtool advise: what to change in a program, and what its peak would be then. */
#include "cmd/advise.h"
#include "cmd/common.h"
#include "lib/advice/advice.h"
#include "lib/advice/batch.h"
#include "lib/base/human.h"
#include "lib/model/kind_words.h"
#include "lib/render/columns.h"
#include <stdlib.h>

enum { SITES_SHOWN = 3, PARTS_MAX = 1 << 20 };

static const char *device_name, *only, *least_text, *tolerance_text, *verify;
static struct mt_batch_asked batch = {.batch = MT_UNKNOWN};
static int64_t accumulate = MT_UNKNOWN, chunks = MT_UNKNOWN;
static bool all;
static double least_pct = 5, tolerance = 10;
static struct mt_advice_choice choice = {4, 8};

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static bool has_effect(const struct mt_advice *a, const struct mt_advice_facts *f)
{
    return a->applies && percent(a->saving_b, f->peak_b) >= least_pct;
}

/* What to change, what was found, what it costs and how it is written: a paragraph. */
static const char *paragraph(struct mt_report *r, const struct mt_advice *a)
{
    struct mt_buf b = {0};
    char bytes[MT_HUMAN_MAX], blocks[MT_HUMAN_LONG];
    mt_buf_addf(&b, "%s: %s", a->rule->what, a->because);
    if (a->at_peak_n)
        mt_buf_addf(&b, "; at the peak %s in %s of ", mt_human_bytes(a->at_peak_b, bytes),
                    mt_human_plural(a->at_peak_n, "block", blocks));
    for (size_t i = 0; i < a->sites.n && i < SITES_SHOWN; i++)
        mt_buf_addf(&b, "%s%s", i ? ", " : "", a->sites.v[i].name);
    if (a->sites.n > SITES_SHOWN)
        mt_buf_addf(&b, " and %zu more", a->sites.n - SITES_SHOWN);
    mt_buf_addf(&b, ". Then the peak is %s", a->new_peak_ns == MT_UNKNOWN ? "at the start" : "at ");
    if (a->new_peak_ns != MT_UNKNOWN)
        mt_buf_addf(&b, "%s, in %s", mt_human_ns(a->new_peak_ns, bytes),
                    mt_phase_names[a->new_peak_phase]);
    if (a->rule->price)
        mt_buf_addf(&b, ". It costs: %s", a->rule->price);
    if (a->price_ns != MT_UNKNOWN)
        mt_buf_addf(&b, ", %s a step", mt_human_ns(a->price_ns, bytes));
    mt_buf_addf(&b, ". Write: %s", a->how);
    const char *text = mt_report_text(r, b.s);
    mt_buf_free(&b);
    return text;
}

static void add_row(struct mt_report *r, const struct mt_advice *a, const struct mt_advice_facts *f)
{
    struct mt_cell *c = mt_report_row(r)->cells;
    int i = 0;
    c[i++] = mt_cell_int(a->new_peak_b);
    c[i++] = mt_cell_int(a->saving_b);
    c[i++] = mt_cell_real(percent(a->saving_b, f->peak_b));
    c[i++] = mt_cell_text(mt_advice_bound_names[a->bound]);
    c[i++] = mt_cell_text(mt_report_text(r, a->rule->id));
    c[i++] = mt_cell_int(f->peak_b);
    c[i++] = mt_cell_int(a->at_peak_b);
    c[i++] = mt_cell_int(a->at_peak_n);
    if (a->new_peak_ns != MT_UNKNOWN) {
        c[i] = mt_cell_int(a->new_peak_ns);
        c[i + 1] = mt_cell_text(mt_phase_names[a->new_peak_phase]);
    }
    i += 2;
    if (a->price_ns != MT_UNKNOWN)
        c[i] = mt_cell_int(a->price_ns);
    i++;
    if (a->sites.n)
        c[i] = mt_cell_text(mt_report_text(r, a->sites.v[0].name));
    i++;
    c[i++] = mt_cell_text(mt_report_text(r, a->because));
    c[i++] = mt_cell_text(mt_report_text(r, a->how));
    c[i++] = mt_cell_text(paragraph(r, a));
}

/* What was tried and would not lower the peak much, and what there is no place for. */
static void add_rest(struct mt_report *r, const struct mt_advices *a,
                     const struct mt_advice_facts *f)
{
    struct mt_buf small = {0}, none = {0}, worse = {0};
    for (size_t i = 0; i < a->all.n; i++) {
        const struct mt_advice *one = &a->all.v[i];
        struct mt_buf *to = !one->applies ? &none : one->saving_b < 0 ? &worse : &small;
        if (has_effect(one, f) || (all && one->applies))
            continue;
        mt_buf_addf(to, "%s%s", to->n ? ", " : "", one->rule->id);
        if (one->applies)
            mt_buf_addf(to, " (%.1f %%)", percent(one->saving_b, f->peak_b));
    }
    if (small.n)
        mt_report_footer(r, "saves less than %g %%: %s", least_pct, small.s);
    if (worse.n)
        mt_report_footer(r, "would raise the peak: %s", worse.s);
    if (none.n)
        mt_report_footer(r, "done already, or not to be done here: %s", none.s);
    mt_buf_free(&small);
    mt_buf_free(&none);
    mt_buf_free(&worse);
}

static void describe(struct mt_report *r, const struct mt_view *v, const struct mt_advice_facts *f)
{
    char peak[MT_HUMAN_MAX], at[MT_HUMAN_MAX];
    free(r->title);
    r->title = mt_asprintf("%s · %s · peak %s at %s", v->run.name, v->device.name,
                           mt_human_bytes(f->peak_b, peak), mt_human_ns(v->device.peak_ns, at));
    r->empty = "no change that was tried would lower the peak";
    mt_report_footer(r,
                     "Each saving is for that change alone, of bytes that were recorded; they do "
                     "not add up.");
    struct mt_buf run = {0};
    mt_shell_word(&run, v->run.name);
    mt_report_footer(r, "Record the changed program and compare: memtool advise %s --verify NEWRUN",
                     run.s);
    mt_buf_free(&run);
}

/* No batch has more parts than numbers. */
static enum mt_status check_parts(const struct mt_view *v, const struct mt_advice_facts *f,
                                  struct mt_err *err)
{
    int64_t least = mt_batch_smallest_input(f);
    if (accumulate == MT_UNKNOWN || !least || accumulate <= least)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE,
            "a batch cannot be cut into %lld parts: the smallest input of run '%s' has %lld B",
            (long long)accumulate, v->run.name, (long long)least);
    mt_err_hint(err, "--accumulate is the number of smaller batches, at most the size of one.");
    return MT_EUSAGE;
}

static enum mt_status fill(struct mt_view *v, struct mt_report *r, const struct mt_advice_facts *f,
                           struct mt_err *err)
{
    struct mt_advices a = {0};
    struct mt_strtab strings;
    MT_TRY(check_parts(v, f, err));
    mt_strtab_init(&strings);
    enum mt_status st = mt_advices_find(f, &choice, only, &strings, &a, err);
    for (size_t i = 0; st == MT_OK && i < a.all.n; i++)
        if (has_effect(&a.all.v[i], f) || (all && a.all.v[i].applies))
            add_row(r, &a.all.v[i], f);
    if (st == MT_OK) {
        add_rest(r, &a, f);
        describe(r, v, f);
    }
    mt_advices_free(&a);
    mt_strtab_free(&strings);
    return st;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_advice_facts f = {0};
    r->keep_order = true;
    mt_report_columns(r,
                      "new_peak_b saving_b saving_pct bound advice -peak_b -at_peak_b -at_peak_n "
                      "-new_peak_ns -new_peak_phase -price_ns -site -because -how evidence");
    mt_view_about(v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    if (!v->has_device) {
        mt_report_no_memory(r, &v->run);
        return mt_show(r, err);
    }
    enum mt_status st = mt_advice_facts_load(&v->blocks, &v->device, &f, err);
    if (st == MT_OK)
        st = fill(v, r, &f, err);
    mt_advice_facts_free(&f);
    MT_TRY(st);
    mt_report_older(r, &v->run, &v->device);
    mt_report_others(r, v->other_n);
    return mt_show(r, err);
}

/* "5%", "5", "2.5%". */
static enum mt_status read_percent(const char *text, const char *option, double most, double *out,
                                   struct mt_err *err)
{
    char *end;
    if (!text)
        return MT_OK;
    double percent = strtod(text, &end);
    end += *end == '%';
    if (end != text && !*end && percent >= 0 && percent <= most) {
        *out = percent;
        return MT_OK;
    }
    MT_FAIL(err, MT_EUSAGE, "invalid --%s '%s'", option, text);
    mt_err_hint(err, "Write a percentage: 5%%, 0.5%%.");
    return MT_EUSAGE;
}

static enum mt_status read_parts(int64_t given, int64_t *out, struct mt_err *err)
{
    if (given == MT_UNKNOWN)
        return MT_OK;
    *out = given;
    if (given > 1 && given <= PARTS_MAX)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--accumulate and --chunks are 2 or more, %d at most", PARTS_MAX);
    return MT_EUSAGE;
}

/* What is not for batch sizes, or for them alone. */
static enum mt_status check_batch(bool sizes, struct mt_err *err)
{
    const char *option = only                       ? "--only"
                         : verify                   ? "--verify"
                         : least_text               ? "--min-saving"
                         : all                      ? "--all"
                         : tolerance_text           ? "--tolerance"
                         : accumulate != MT_UNKNOWN ? "--accumulate"
                         : chunks != MT_UNKNOWN     ? "--chunks"
                                                    : NULL;
    if (sizes && option) {
        MT_FAIL(err, MT_EUSAGE, "%s is for advice, not for batch sizes", option);
        mt_err_hint(err, "Leave it out, or the sizes.");
        return MT_EUSAGE;
    }
    if (!sizes && tolerance_text && !verify) {
        MT_FAIL(err, MT_EUSAGE, "--tolerance is of --verify");
        mt_err_hint(err, "memtool advise base --verify changed --tolerance 5%%");
        return MT_EUSAGE;
    }
    return MT_OK;
}

static enum mt_status check_choice(const struct mt_args *args, struct mt_err *err)
{
    MT_TRY(read_percent(least_text, "min-saving", 100, &least_pct, err));
    MT_TRY(read_percent(tolerance_text, "tolerance", 1000, &tolerance, err));
    MT_TRY(read_parts(accumulate, &choice.accumulate, err));
    MT_TRY(read_parts(chunks, &choice.chunks, err));
    if (args->n <= 1)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "advice is for one run");
    mt_err_hint(err, "Several runs are for batch sizes: memtool advise a:16 b:32 --batch 64.");
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name,
                                          MT_KNOWS_CATEGORIES | MT_KNOWS_BLOCKS, NULL};
    bool sizes = batch.batch != MT_UNKNOWN || batch.fit || mt_advise_has_sizes(args);
    batch.device = device_name;
    MT_TRY(check_batch(sizes, err));
    if (sizes)
        return mt_advise_batch(args, &batch, exit_code, err);
    MT_TRY(check_choice(args, err));
    if (!verify)
        return mt_report_on_view(args, &wanted, "memtool.advise", show, err);
    const struct mt_verify_asked asked = {verify, device_name, only, &choice, tolerance, least_pct};
    return mt_advise_verify(args->n ? args->v[0] : NULL, &asked, exit_code, err);
}

static const struct mt_opt opts[] = {
    {"only", 0, MT_OPT_STRING, &only, "LIST",
     "only these: no_grad, detach, checkpoint, accumulate, bfloat16, zero_grad_early, set_to_none, "
     "foreach_false, fused, chunked_loss, load_on_demand, del_before_backward"},
    {"verify", 0, MT_OPT_STRING, &verify, "NEWRUN",
     "compare with what the changed program recorded; exit 1 where it is further off"},
    {"tolerance", 0, MT_OPT_STRING, &tolerance_text, "PCT",
     "than so much of what it saved (default: 10%)"},
    {"min-saving", 0, MT_OPT_STRING, &least_text, "PCT",
     "what lowers the peak by less is not shown (default: 5%)"},
    {"all", 0, MT_OPT_FLAG, &all, NULL, "show that, too"},
    {"accumulate", 0, MT_OPT_INT, &accumulate, "N", "micro-batches of a batch (default: 4)"},
    {"chunks", 0, MT_OPT_INT, &chunks, "N", "parts of the loss (default: 8)"},
    {"batch", 0, MT_OPT_INT, &batch.batch, "N", "the peak at that batch size, of RUN:SIZE"},
    {"fit", 0, MT_OPT_STRING, &batch.fit, "SIZE", "the largest batch whose peak is at most SIZE"},
    {"reserve", 0, MT_OPT_STRING, &batch.reserved, "SIZE", "less this, for other things"},
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cpu, cuda:0, ... (default: the one with most bytes allocated)"},
    {0},
};

const struct mt_cmd mt_cmd_advise = {
    .name = "advise",
    .summary = "what to change, and what the peak would be then",
    .usage = "[options] [RUN[:SIZE] ...]",
    .examples = "  memtool advise base\n"
                "  memtool advise base --only checkpoint,accumulate --accumulate 8\n"
                "  memtool advise base --verify changed --only checkpoint\n"
                "  memtool advise small:16 large:32 --fit 24GiB\n",
    .opts = opts,
    .args_max = 3,
    .run = run,
};
