/* memtool advise: what to change in a program, and what its peak would be then. */
#include "cmd/advise.h"
#include "cmd/category_line.h"
#include "cmd/common.h"
#include "lib/advice/advice.h"
#include "lib/advice/batch.h"
#include "lib/advice/inputs.h"
#include "lib/base/human.h"
#include "lib/run/knows.h"
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 1 << 20 };

static const char *device_name, *only, *least_text, *tolerance_text, *verify;
static struct mt_batch_asked batch = {.batch = MT_UNKNOWN};
static int64_t accumulate = MT_UNKNOWN, chunks = MT_UNKNOWN, every = MT_UNKNOWN;
static bool all;
static double least_pct = 5, tolerance = 10;
static struct mt_advice_choice choice = {4, 8, 1, false};
static const unsigned needed = MT_KNOWS_CATEGORIES | MT_KNOWS_BLOCKS;
static int code; /* the command's exit code */

double mt_advise_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static bool is_shown(const struct mt_advice *a, const struct mt_advice_facts *f)
{
    return all || (a->applies && mt_advise_percent(a->saving_b, f->peak_b) >= least_pct);
}

/* The command that compares with what the changed program recorded; allocated. */
static char *verify_with(const struct mt_view *v, const struct mt_advice *a)
{
    struct mt_buf b = {0}, only_these = {0};
    mt_buf_adds(&b, "memtool advise ");
    mt_shell_word(&b, v->run.name);
    for (const char *p = a->rule->id; *p; p++)
        mt_buf_addc(&only_these, *p == '+' ? ',' : *p);
    mt_buf_addf(&b, " --verify NEWRUN --only %s", only_these.s);
    if (strstr(a->rule->id, "accumulate") && accumulate != MT_UNKNOWN)
        mt_buf_addf(&b, " --accumulate %lld", (long long)accumulate);
    if (strstr(a->rule->id, "chunked_loss") && chunks != MT_UNKNOWN)
        mt_buf_addf(&b, " --chunks %lld", (long long)chunks);
    if (strstr(a->rule->id, "checkpoint") && choice.every > 1)
        mt_buf_addf(&b, " --every %lld", (long long)choice.every);
    mt_buf_free(&only_these);
    return b.s;
}

static void add_row(struct mt_report *r, const struct mt_view *v, const struct mt_advice *a,
                    const struct mt_advice_facts *f)
{
    char *command = verify_with(v, a);
    mt_advise_add_row(r, a, f->peak_b, command);
    free(command);
}

/* " (0.1 %)", of what grows " (0.1 %, but it grows by 644 B a step)" */
static void add_small(struct mt_buf *to, const struct mt_advice *a, const struct mt_advice_facts *f)
{
    char bytes[MT_HUMAN_MAX];
    mt_buf_addf(to, " (%.1f %%", mt_advise_percent(a->saving_b, f->peak_b));
    if (a->growth.per_step_b > 0)
        mt_buf_addf(to, ", but it grows by %s a step",
                    mt_human_bytes((int64_t)(a->growth.per_step_b + 0.5), bytes));
    mt_buf_addc(to, ')');
}

/* What was tried and would not lower the peak much, and what there is no place for. */
static void add_rest(struct mt_report *r, const struct mt_advices *a,
                     const struct mt_advice_facts *f)
{
    struct mt_buf small = {0}, none = {0}, worse = {0};
    for (size_t i = 0; i < a->all.n; i++) {
        const struct mt_advice *one = &a->all.v[i];
        struct mt_buf *to = !one->applies ? &none : one->saving_b < 0 ? &worse : &small;
        if (is_shown(one, f))
            continue;
        mt_buf_addf(to, "%s%s", to->n ? ", " : "", one->rule->id);
        if (one->applies)
            add_small(to, one, f);
    }
    if (small.n)
        mt_report_footer(r, "saves less than %g %%: %s", least_pct, small.s);
    if (worse.n)
        mt_report_footer(r, "would raise the peak: %s", worse.s);
    if (none.n)
        mt_report_footer(r, "does not apply here (--all says why): %s", none.s);
    mt_buf_free(&small);
    mt_buf_free(&none);
    mt_buf_free(&worse);
}

static void describe(struct mt_report *r, const struct mt_view *v, const struct mt_advice_facts *f)
{
    char peak[MT_HUMAN_MAX], at[MT_HUMAN_MAX];
    free(r->title);
    r->title = mt_asprintf("%s · %s · peak %s%s at %s", v->run.name, v->device.name,
                           mt_at_most(&v->device, f->peak_b), mt_human_bytes(f->peak_b, peak),
                           mt_human_ns(v->device.peak_ns, at));
    mt_report_footer(
        r, "Each saving is for that change alone, and savings do not add up; only recorded "
           "bytes are counted.");
}

/* Where nothing helps: why the peak is what it is. */
static enum mt_status say_why(struct mt_report *r, const struct mt_view *v, struct mt_err *err)
{
    struct mt_category_parts parts;
    struct mt_buf line = {0};
    MT_TRY(mt_category_parts_at_peak(v->db, &v->device, &parts, err));
    mt_category_line(&line, &parts);
    r->empty = line.n ? mt_report_textf(
                            r, "no change that was tried would lower the peak: it holds %s", line.s)
                      : "no change that was tried would lower the peak; memtool peak says who "
                        "allocated it";
    mt_buf_free(&line);
    return MT_OK;
}

/* No batch has more parts than numbers. */
static enum mt_status check_parts(const struct mt_view *v, const struct mt_advice_facts *f,
                                  struct mt_err *err)
{
    struct mt_inputs inputs;
    mt_inputs_find(f, &inputs);
    const int64_t least = inputs.smallest_b;
    mt_inputs_free(&inputs);
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
        if (is_shown(&a.all.v[i], f))
            add_row(r, v, &a.all.v[i], f);
    if (st == MT_OK) {
        add_rest(r, &a, f);
        describe(r, v, f);
    }
    mt_advices_free(&a);
    mt_strtab_free(&strings);
    return st;
}

/* Shows why this run cannot tell: what an error says. */
static enum mt_status show_no_answer(struct mt_report *r, const struct mt_err *why,
                                     struct mt_err *err)
{
    char *sentence = mt_asprintf("%s.", why->what);
    mt_report_cannot_tell(r, sentence, *why->hint ? why->hint : NULL);
    free(sentence);
    code = 3;
    return mt_show(r, err);
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_advice_facts f = {0};
    struct mt_err why = MT_ERR_INIT;
    mt_advise_columns(r);
    mt_view_about(v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    if (!only && v->has_device && mt_run_is_snapshot(&v->run) &&
        mt_device_knows(&v->device, MT_KNOWS_SEGMENTS)) {
        MT_TRY(mt_advise_reserved(v, r, least_pct, all, err));
        mt_report_others(r, v->other_n);
        return mt_show(r, err);
    }
    enum mt_status st = v->has_device ? mt_knows(&v->run, &v->device, needed, &why)
                                      : mt_fail_no_memory(&v->run, "", &why);
    if (st == MT_OK)
        st = mt_advice_facts_load(&v->blocks, &v->device, &f, &why);
    if (st == MT_OK)
        st = fill(v, r, &f, err);
    if (err->cannot_tell) {
        why = *err;
        *err = (struct mt_err)MT_ERR_INIT;
    }
    mt_advice_facts_free(&f);
    if (why.code == MT_EUSAGE)
        return show_no_answer(r, &why, err);
    if (why.code != MT_OK)
        *err = why;
    MT_TRY(st);
    MT_TRY(say_why(r, v, err));
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

static enum mt_status read_number(int64_t given, const char *option, int64_t *out,
                                  struct mt_err *err)
{
    if (given == MT_UNKNOWN)
        return MT_OK;
    *out = given;
    if (given > 1 && given <= PARTS_MAX)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--%s is 2 or more, %d at most", option, PARTS_MAX);
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
                         : every != MT_UNKNOWN      ? "--every"
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
    MT_TRY(read_number(accumulate, "accumulate", &choice.accumulate, err));
    MT_TRY(read_number(chunks, "chunks", &choice.chunks, err));
    MT_TRY(read_number(every, "every", &choice.every, err));
    if (args->n <= 1)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "advice is for one run");
    mt_err_hint(err, "Several runs are for batch sizes: memtool advise a:16 b:32 --batch 64.");
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name, 0, NULL};
    bool sizes = batch.batch != MT_UNKNOWN || batch.fit || mt_advise_has_sizes(args);
    batch.device = device_name;
    MT_TRY(check_batch(sizes, err));
    if (sizes)
        return mt_advise_batch(args, &batch, exit_code, err);
    MT_TRY(check_choice(args, err));
    if (!verify) {
        enum mt_status st = mt_report_on_view(args, &wanted, "memtool.advise", show, err);
        *exit_code = code;
        return st;
    }
    const struct mt_verify_asked asked = {
        verify, device_name, only, &choice, accumulate != MT_UNKNOWN, tolerance, least_pct};
    return mt_advise_verify(args->n ? args->v[0] : NULL, &asked, exit_code, err);
}

static const struct mt_opt opts[] = {
    {"only", 0, MT_OPT_STRING, &only, "LIST",
     "try only these pieces of advice, by the names below; of two or more also all together"},
    {"verify", 0, MT_OPT_STRING, &verify, "NEWRUN",
     "compare the prediction with NEWRUN, which the changed program recorded; exit 1 if the "
     "prediction was too good"},
    {"tolerance", 0, MT_OPT_STRING, &tolerance_text, "PCT",
     "with --verify: how far below the predicted saving the recorded one may lie (default: 10%)"},
    {"min-saving", 0, MT_OPT_STRING, &least_text, "PCT",
     "leave out what lowers the peak by less (default: 5%)"},
    {"all", 0, MT_OPT_FLAG, &all, NULL,
     "show every piece of advice: with small savings, with none, and why others do not apply"},
    {"accumulate", 0, MT_OPT_INT, &accumulate, "N",
     "the number of micro-batches that accumulate makes of a batch (default: 4)"},
    {"chunks", 0, MT_OPT_INT, &chunks, "N",
     "the number of parts that chunked_loss cuts the loss into (default: 8)"},
    {"every", 0, MT_OPT_INT, &every, "N",
     "checkpoint each Nth of the repeated layers, from the first on (default: all)"},
    {"batch", 0, MT_OPT_INT, &batch.batch, "N",
     "predict the peak at batch size N, from runs given as RUN:SIZE"},
    {"fit", 0, MT_OPT_STRING, &batch.fit, "SIZE",
     "find the largest batch size whose peak is at most SIZE, from runs given as RUN:SIZE"},
    {"reserve", 0, MT_OPT_STRING, &batch.reserved, "SIZE",
     "with --fit: keep so much of it free for other things"},
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cpu, cuda:0, ... (default: the one with most bytes allocated)"},
    {0},
};

static const struct mt_glossary_entry bounds[] = {
    {"saves X", "the new peak follows from the recording (exact)"},
    {"saves about X",
     "variables that name results for longer, or what an operator needs for itself "
     "at another size, cannot be seen"},
    {"saves up to X", "something is held for longer than the recording shows, so the saving is X "
                      "at most (up_to)"},
    {NULL, NULL},
};

static const struct mt_glossary_entry names[] = {
    {"no_grad", "turn autograd off where no backward pass follows"},
    {"stop_keeping", "keep nothing that grows from step to step: lists of results, caches, hooks"},
    {"detach", "keep values, not graphs, from one iteration to the next"},
    {"clone", "keep of results only what is needed, as copies: a view of a part holds the whole"},
    {"checkpoint", "recompute the activations of repeated layers in backward"},
    {"accumulate", "add up gradients over smaller batches before the optimizer steps"},
    {"zero_grad_early", "free gradients as soon as the optimizer has stepped"},
    {"set_to_none", "free gradients instead of filling them with zeros"},
    {"foreach_false", "step the optimizer tensor by tensor"},
    {"fused", "use the optimizer's fused form, which needs no copies of all tensors"},
    {"chunked_loss", "compute the output layer and the loss in parts"},
    {"load_on_demand", "make each batch when it is needed"},
    {"del_before_backward", "delete results that backward does not need, before it begins"},
    {"del_results", "delete results of a program without layers once nothing takes them any more"},
    {"bfloat16", "keep the model and what it computes in bfloat16; always listed last, as it "
                 "changes the numbers"},
    {NULL, NULL},
};

static const struct mt_glossary_entry of_snapshots[] = {
    {"empty_cache", "give segments back that hold nothing"},
    {"expandable_segments", "let segments grow and shrink, so that free ranges serve any size"},
    {NULL, NULL},
};

static const struct mt_glossary_entry no_figures[] = {
    {"autocast", "torch.autocast: which results it makes smaller depends on the device"},
    {"pin_memory", "pinned memory is in no trace and no snapshot"},
    {NULL, NULL},
};

static const struct mt_glossary words[] = {
    {"Pieces of advice", names, "only"},
    {"Of allocator snapshots, whose peaks are those of reserved memory", of_snapshots, NULL},
    {"What no recording tells (exit code 3)", no_figures, NULL},
    {"How sure a saving is", bounds, NULL},
    {NULL, NULL, NULL},
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
    .words = words,
    .args_max = 3,
    .run = run,
};
