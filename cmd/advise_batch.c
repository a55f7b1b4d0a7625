/* memtool advise RUN:16 RUN:32 --fit 24GiB: the peak at other batch sizes. */
#include "cmd/advise.h"
#include "cmd/common.h"
#include "lib/advice/batch.h"
#include "lib/advice/verify.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, REFUSED_PERCENT = 2 };
static const int64_t most_n = (int64_t)1 << 31;

struct recorded {
    struct mt_view view;
    struct mt_advice_facts facts;
    int64_t n;
};

struct batches {
    const struct mt_batch_asked *asked;
    struct recorded all[RUNS]; /* by size, a third behind the first two */
    int n;
    struct mt_batch batch;
    int64_t fit_b;
    double off_pct; /* the third, as far as it differs */
    char
        *apart; /* why runs are of different programs, allocated; NULL: as far as is known of one */
    int *exit_code;
    struct mt_report *r;
};

/* The size behind a run's name; 0: there is none. *name_n: how long the name is. */
static int64_t size_of(const char *arg, size_t *name_n)
{
    const char *colon = strrchr(arg, ':');
    char *end;
    if (!colon || colon == arg || colon[1] < '0' || colon[1] > '9')
        return 0;
    long long n = strtoll(colon + 1, &end, 10);
    *name_n = (size_t)(colon - arg);
    return *end || n < 1 || n > most_n ? 0 : n;
}

bool mt_advise_has_sizes(const struct mt_args *args)
{
    size_t n;
    for (size_t i = 0; i < args->n; i++)
        if (size_of(args->v[i], &n))
            return true;
    return false;
}

/* The device is that of the first run. */
static enum mt_status open_one(struct batches *b, const char *arg, struct mt_err *err)
{
    const char *device = b->n ? b->all[0].view.device.name : b->asked->device;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device,
                                          MT_KNOWS_CATEGORIES | MT_KNOWS_BLOCKS, NULL};
    struct recorded *one = &b->all[b->n];
    size_t name_n = 0;
    one->n = size_of(arg, &name_n);
    if (!one->n) {
        MT_FAIL(err, MT_EUSAGE, "'%s' has no batch size", arg);
        mt_err_hint(err, "Write it behind the run: memtool advise base:16 --batch 64.");
        return MT_EUSAGE;
    }
    char *name = mt_strndup(arg, name_n);
    enum mt_status st = mt_view_open(&one->view, name, &wanted, err);
    b->n++; /* to be closed, whatever happened */
    free(name);
    MT_TRY(st);
    if (one->view.has_device)
        return mt_advice_facts_load(&one->view.blocks, &one->view.device, &one->facts, err);
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no memory records", one->view.run.name);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "%s", mt_run_how_to_record(&one->view.run));
    return MT_EUSAGE;
}

/* The first two are those that predict. */
static enum mt_status choose(struct batches *b, struct mt_err *err)
{
    struct mt_batch_run runs[2] = {{&b->all[0].facts, b->all[0].n},
                                   {&b->all[1].facts, b->all[1].n}};
    if (b->n > 1 && runs[0].n > runs[1].n) {
        runs[0] = (struct mt_batch_run){&b->all[1].facts, b->all[1].n};
        runs[1] = (struct mt_batch_run){&b->all[0].facts, b->all[0].n};
    }
    if (b->n > 1 && runs[0].n == runs[1].n) {
        MT_FAIL(err, MT_EUSAGE, "both runs have a batch size of %lld", (long long)runs[0].n);
        mt_err_hint(err, "A prediction takes runs of different sizes, or one run.");
        return MT_EUSAGE;
    }
    if (b->n > 1 && runs[0].f->peak_b > runs[1].f->peak_b) {
        MT_FAIL(err, MT_EUSAGE, "the run with the smaller batch has the higher peak");
        mt_err_hint(err, "They cannot be of one program at two sizes.");
        return MT_EUSAGE;
    }
    mt_batch_init(&b->batch, runs, b->n > 1 ? 2 : 1);
    return MT_OK;
}

static enum mt_status read_size(const char *text, const char *option, int64_t *out,
                                struct mt_err *err)
{
    *out = 0;
    if (!text || (mt_parse_size(text, out) && *out > 0))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "invalid --%s size '%s'", option, text);
    mt_err_hint(err, "Write 512MiB, 24GiB or a number of bytes.");
    return MT_EUSAGE;
}

/* What learns does not grow with the batch. */
static void compare_models(struct batches *b)
{
    const struct mt_verify_run first = {.name = b->all[0].view.run.name, .facts = &b->all[0].facts};
    for (int i = 1; i < b->n && !b->apart; i++) {
        const struct mt_verify_run next = {.name = b->all[i].view.run.name,
                                           .facts = &b->all[i].facts};
        b->apart = mt_verify_differ_in_model(&first, &next);
        b->apart = b->apart ? b->apart : mt_verify_differ_in_optimizer(&first, &next);
    }
}

static void add_row(struct batches *b, int64_t n, int64_t recorded_b)
{
    struct mt_cell *c = mt_report_row(b->r)->cells;
    int64_t peak = mt_batch_peak(&b->batch, n);
    c[0] = mt_cell_int(n);
    if (peak != INT64_MAX)
        c[1] = mt_cell_int(peak);
    if (recorded_b != MT_UNKNOWN)
        c[2] = mt_cell_int(recorded_b);
    c[4] = mt_cell_text(mt_batch_method_names[b->batch.method]);
}

static void add_recorded(struct batches *b)
{
    for (int i = 0; i < b->n; i++)
        add_row(b, b->all[i].n, b->all[i].facts.peak_b);
    if (b->n < RUNS)
        return;
    const struct recorded *third = &b->all[2];
    double peak = (double)mt_batch_peak(&b->batch, third->n);
    b->off_pct = 100.0 * (peak - (double)third->facts.peak_b) / (double)third->facts.peak_b;
    b->r->rows.v[b->r->rows.n - 1].cells[3] = mt_cell_real(b->off_pct);
}

/* What cannot be told of one run. */
static void note_unsure(struct batches *b, int64_t n)
{
    char least[MT_HUMAN_MAX];
    int64_t bytes = mt_batch_least(&b->batch, n);
    if (!b->batch.unsure || n < 1 || bytes >= mt_batch_peak(&b->batch, n))
        return;
    mt_report_note(
        b->r,
        "The peak at %lld is up to that, and %s at least: of blocks that are as large as "
        "weights, are kept, or are scratch of matrix products one run does not show "
        "whether they grow with the batch.",
        (long long)n, mt_human_bytes(bytes, least));
}

static void note_method(struct batches *b)
{
    static const char *const how[MT_BATCH_N] = {
        [MT_BATCH_ONE] = "From one run: what is of the batch grows with it, the rest stays. Give a "
                         "second run of another size, which shows it.",
        [MT_BATCH_BLOCKS] = "From two runs: both have the same blocks, and each is a line through "
                            "its two sizes.",
        [MT_BATCH_LINE] =
            "From two runs: their blocks differ, so it is a line through their peaks; "
            "where the peak moves, that is some percent off.",
    };
    mt_report_footer(b->r, "%s", how[b->batch.method]);
    mt_report_footer(b->r, "It leaves out what was allocated before the recording, and what an "
                           "allocator holds beyond what is in use.");
}

static bool is_refused(const struct batches *b)
{
    return b->off_pct > REFUSED_PERCENT || b->off_pct < -REFUSED_PERCENT;
}

/* Whether some runs count what is older than their recordings, and others do not. */
static bool differ_in_older(const struct batches *b)
{
    int n = 0;
    for (int i = 0; i < b->n; i++)
        n += b->all[i].view.device.older_from[0] != '\0';
    return n && n < b->n;
}

/* No figure, and why. */
static enum mt_status cannot_tell(struct batches *b, struct mt_err *err)
{
    if (differ_in_older(b)) {
        mt_report_cannot_tell(b->r,
                              "some of these runs count memory allocated before their recording, "
                              "and others do not.",
                              "Import all with --base.");
    } else if (b->apart) {
        mt_report_cannot_tell(b->r, b->apart, "Record runs of one program, in the same way.");
    } else if (is_refused(b)) {
        char *why =
            mt_asprintf("the third run is %.1f %% off what the others predict.", b->off_pct);
        mt_report_cannot_tell(b->r, why, "Record runs of one program that differ in nothing else.");
        free(why);
    } else {
        mt_report_cannot_tell(b->r,
                              b->n > 1
                                  ? "these runs do not show how the peak grows with the batch."
                                  : "this run does not show how the peak grows with the batch.",
                              "Record a size at which what is of the batch is a larger part of the "
                              "peak.");
    }
    *b->exit_code = 3;
    return mt_show(b->r, err);
}

static void add_fit(struct batches *b, int64_t n)
{
    char bytes[MT_HUMAN_MAX];
    if (n)
        add_row(b, n, MT_UNKNOWN);
    add_row(b, n + 1, MT_UNKNOWN);
    mt_human_bytes(b->fit_b, bytes);
    if (n)
        mt_report_footer(b->r, "The largest batch within %s is %lld.", bytes, (long long)n);
    else
        mt_report_footer(b->r, "Not even a batch of 1 fits in %s.", bytes);
}

static enum mt_status show(struct batches *b, struct mt_err *err)
{
    int64_t held_b;
    MT_TRY(read_size(b->asked->fit, "fit", &b->fit_b, err));
    MT_TRY(read_size(b->asked->reserved, "reserve", &held_b, err));
    if (b->asked->fit && held_b >= b->fit_b) {
        MT_FAIL(err, MT_EUSAGE, "--reserve leaves nothing of --fit");
        return MT_EUSAGE;
    }
    b->fit_b -= held_b;
    b->r->keep_order = true;
    b->r->title = mt_asprintf("%s · %s · peak at other batch sizes", b->all[0].view.run.name,
                              b->all[0].view.device.name);
    mt_report_columns(b->r, "batch_n new_peak_b peak_b=RECORDED -deviation_pct method");
    b->r->columns.v[3].hidden = b->n < RUNS;
    for (int i = 0; i < b->n; i++)
        mt_view_about(&b->all[i].view, b->r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    for (int i = 0; i < b->n; i++)
        mt_report_older(b->r, &b->all[i].view.run, &b->all[i].view.device);
    add_recorded(b);
    compare_models(b);
    int64_t fit = b->asked->fit ? mt_batch_fit(&b->batch, b->fit_b) : 0;
    if (differ_in_older(b) || b->apart || is_refused(b) || !mt_batch_grows(&b->batch) ||
        fit == MT_UNKNOWN)
        return cannot_tell(b, err);
    if (b->asked->batch != MT_UNKNOWN)
        add_row(b, b->asked->batch, MT_UNKNOWN);
    if (b->asked->fit)
        add_fit(b, fit);
    note_unsure(b, b->asked->fit ? fit : b->asked->batch);
    note_method(b);
    return mt_show(b->r, err);
}

static enum mt_status check_asked(const struct mt_args *args, const struct mt_batch_asked *asked,
                                  struct mt_err *err)
{
    bool is_size = asked->batch >= 1 && asked->batch <= most_n;
    if (args->n && (asked->batch == MT_UNKNOWN ? asked->fit != NULL : is_size))
        return MT_OK;
    if (asked->batch != MT_UNKNOWN && !is_size)
        MT_FAIL(err, MT_EUSAGE, "--batch is 1 or more, %lld at most", (long long)most_n);
    else
        MT_FAIL(err, MT_EUSAGE, "%s", args->n ? "nothing is asked of the batch sizes" : "no run");
    mt_err_hint(err, "memtool advise base:16 --batch 64, or memtool advise base:16 --fit 24GiB");
    return MT_EUSAGE;
}

enum mt_status mt_advise_batch(const struct mt_args *args, const struct mt_batch_asked *asked,
                               int *exit_code, struct mt_err *err)
{
    struct batches b = {.asked = asked, .exit_code = exit_code};
    struct mt_report report;
    enum mt_status st = MT_OK;
    MT_TRY(check_asked(args, asked, err));
    mt_report_init(&report, "memtool.advise_batch", 1);
    b.r = &report;
    for (size_t i = 0; i < args->n && st == MT_OK; i++)
        st = open_one(&b, args->v[i], err);
    if (st == MT_OK)
        st = choose(&b, err);
    if (st == MT_OK)
        st = show(&b, err);
    mt_batch_free(&b.batch);
    free(b.apart);
    for (int i = 0; i < b.n; i++) {
        mt_advice_facts_free(&b.all[i].facts);
        mt_view_close(&b.all[i].view);
    }
    mt_report_free(&report);
    return st;
}
