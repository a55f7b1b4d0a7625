/* The answer in a few sentences: what filled memory, whether it leaks, why an allocation failed. */
#include "cmd/report.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/page/page.h"
#include "lib/usage/process.h"
#include <string.h>

void mt_page_bold(struct mt_buf *out, const char *text)
{
    mt_buf_adds(out, "<b>");
    mt_page_text(out, text);
    mt_buf_adds(out, "</b>");
}

static void say_size(struct mt_buf *out, int64_t bytes)
{
    char size[MT_HUMAN_MAX];
    mt_buf_addf(out, "<b class=\"fig\">%s</b>", mt_human_bytes(bytes, size));
}

/* "**12 MiB** (37 %)", of what was alive. */
static void say_part(struct mt_buf *out, int64_t bytes, int64_t whole)
{
    char part[MT_HUMAN_MAX];
    say_size(out, bytes);
    mt_buf_adds(out, " <span class=\"fig\">(");
    mt_page_text(out, mt_page_share(bytes, whole, part));
    mt_buf_adds(out, ")</span>");
}

static void say_oom(const struct mt_page_found *f, struct mt_buf *out)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    const struct mt_page_oom *oom = &f->oom;
    mt_buf_adds(out, "The program ran ");
    mt_page_text(out, oom->when); /* out of memory at 287 us */
    mt_buf_adds(out, oom->on ? " on " : "");
    mt_page_text(out, oom->on ? oom->on : "");
    mt_buf_adds(out, ": ");
    say_size(out, f->asked_b);
    mt_buf_adds(out, " could not be allocated");
    if (oom->site) {
        mt_buf_adds(out, " for ");
        mt_page_bold(out, oom->site);
    }
    mt_buf_adds(out, ". ");
    if (oom->reserved_b != MT_UNKNOWN && oom->hole_b != MT_UNKNOWN)
        mt_buf_addf(out, "The largest free range in the %s that PyTorch held was %s",
                    mt_human_bytes(oom->reserved_b, a), mt_human_bytes(oom->hole_b, b));
    if (oom->hole_b != MT_UNKNOWN && oom->free_b != MT_UNKNOWN)
        mt_buf_addf(out, "; %s were free on the GPU", mt_human_bytes(oom->free_b, a));
    mt_buf_adds(out, oom->hole_b != MT_UNKNOWN ? ". " : "");
}

static void say_peak(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    const struct mt_run_device *d = &p->view.device;
    char when[MT_HUMAN_LONG];
    if (d->one_moment) {
        mt_buf_adds(out, "When the file was written, ");
        say_size(out, f->peak_b);
        mt_buf_adds(out, " were alive. Whether that is the peak <b>cannot be told</b>: the file "
                         "has no history. ");
        return;
    }
    mt_buf_addf(out, "Memory%s peaked at %s", mt_device_is_process(d) ? " of the process" : "",
                mt_at_most(d, f->peak_b));
    say_size(out, f->peak_b);
    mt_human_time(p->view.run.time_unit, f->at_ns, when);
    if (f->at_ns != MT_UNKNOWN && strncmp(when, "sample ", strlen("sample ")) == 0)
        mt_buf_addf(out, ", in %s", when);
    else if (f->at_ns != MT_UNKNOWN)
        mt_buf_addf(out, ", %s into the run", when);
    const char *in = strstr(f->peak_title, ", in ");
    if (in)
        mt_page_text(out, in);
    mt_buf_adds(out, ". ");
}

/* Of runs that know no peak, what was alive when they ended. */
static void say_end(const struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    if (!p->view.has_device) {
        mt_buf_adds(out, "The file has no memory records: what filled memory <b>cannot be "
                         "told</b>. ");
        mt_page_text(out, mt_run_how_to_record(&p->view.run));
        return;
    }
    if (!f->leaks_title || f->at_end_b == MT_UNKNOWN) {
        mt_buf_adds(out, "How high memory was <b>cannot be told</b>. ");
        return;
    }
    mt_buf_adds(out, "At the end ");
    say_size(out, f->at_end_b);
    mt_buf_adds(out, " were alive; how high memory rose before that <b>cannot be told</b>. ");
}

/* Who holds most; of blocks that have no site, that they are so, and then who holds most. */
static void say_top(const struct mt_page_made *p, int64_t whole, struct mt_buf *out)
{
    const struct mt_page_top *top = p->found.tops;
    const char *in = strcmp(p->view.run.format, "pytorch-timeline") == 0
                         ? ", is "
                         : ", was allocated in "; /* sites of memory timelines are categories */
    if (whole <= 0 || !top[0].site || !*top[0].site || top[0].bytes <= 0)
        return;
    bool nameless = true;
    mt_buf_adds(out, "The largest part of it, ");
    say_part(out, top[0].bytes, whole);
    if (strcmp(top[0].site, "[before trace]") == 0) {
        mt_buf_adds(out, ", is older than the recording. ");
    } else if (strcmp(top[0].site, "[no addresses]") == 0) { /* nobody knows whose */
        mt_buf_adds(out, ", is in records without addresses: who holds it <b>cannot be told</b>. ");
    } else if (strcmp(top[0].site, "[outside ops]") == 0) {
        mt_buf_adds(out, ", has no call path: who allocated it <b>cannot be told</b>. ");
    } else {
        nameless = false;
        mt_buf_adds(out, in);
        mt_page_bold(out, top[0].site);
        mt_buf_adds(out, ". ");
    }
    if (nameless && top[1].site && *top[1].site != '[' && top[1].bytes > 0) {
        mt_buf_adds(out, "The next largest part, ");
        say_part(out, top[1].bytes, whole);
        mt_buf_adds(out, in);
        mt_page_bold(out, top[1].site);
        mt_buf_adds(out, ". ");
    }
}

static const char *const of_model[] = {"parameters", "gradients", "the optimizer's state"};
static const char *const of_backward[] = {"activations",
                                          "what autograd keeps for the backward pass"};

/* "Parameters, gradients and the optimizer's state are", of those that there are. */
static void say_list(const int64_t *bytes, const char *const *names, size_t n, struct mt_buf *out)
{
    size_t left = 0, said = 0;
    const char *last = "";
    for (size_t i = 0; i < n; i++)
        left += bytes[i] > 0;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] <= 0)
            continue;
        const char *between = !said ? "" : left == 1 ? " and " : ", ";
        mt_buf_addf(out, "%s%c%s", between, said ? names[i][0] : names[i][0] - 'a' + 'A',
                    names[i] + 1);
        last = names[i];
        said++;
        left--;
    }
    const bool plural = said > 1 || last[strlen(last) - 1] == 's';
    mt_buf_adds(out, plural ? " are" : " is");
}

/* What half or more of it is for; where nobody knows, the phase in which it was allocated. */
static void say_kinds(const struct mt_page_found *f, struct mt_buf *out)
{
    static const char *const phases[][2] = {{"forward", "the forward pass"},
                                            {"backward", "the backward pass"},
                                            {"optimizer", "the optimizer's step"},
                                            {"recomputed", "the recomputed forward pass"}};
    char part[MT_HUMAN_MAX];
    const int64_t model_b =
        mt_wrap_add(mt_wrap_add(f->of_model_b[0], f->of_model_b[1]), f->of_model_b[2]);
    const int64_t backward_b = mt_wrap_add(f->of_backward_b[0], f->of_backward_b[1]);
    const bool backward = backward_b >= model_b;
    const int64_t most = backward ? backward_b : model_b;
    if (f->categories.n && most > 0 && most >= mt_wrap_sub(f->peak_b, most)) {
        if (backward)
            say_list(f->of_backward_b, of_backward, MT_ARRAY_LEN(of_backward), out);
        else
            say_list(f->of_model_b, of_model, MT_ARRAY_LEN(of_model), out);
        mt_buf_addf(out, " <b class=\"fig\">%s</b> of it. ", mt_page_share(most, f->peak_b, part));
        return;
    }
    for (size_t i = 0; !f->categories.n && f->phase && i < MT_ARRAY_LEN(phases); i++)
        if (strcmp(f->phase, phases[i][0]) == 0 && f->phase_b > f->tops[0].bytes) {
            mt_buf_addf(out, "In all, ");
            say_part(out, f->phase_b, f->peak_b);
            mt_buf_addf(out, " was allocated in %s. ", phases[i][1]);
        }
}

static void say_leak(const struct mt_page_found *f, struct mt_buf *out)
{
    char size[MT_HUMAN_MAX];
    if (!f->leaks_title || f->leak_per_step_b <= 0)
        return;
    mt_buf_addf(out, "It leaks <b>%s every step</b>", mt_human_bytes(f->leak_per_step_b, size));
    if (f->leak_site) {
        mt_buf_adds(out, f->leak_site_b < f->leak_per_step_b ? ", most of it in " : ", in ");
        mt_page_bold(out, f->leak_site);
    }
    mt_buf_adds(out, ".");
}

void mt_page_say(struct mt_page_made *p, struct mt_buf *out)
{
    const struct mt_page_found *f = &p->found;
    const bool peak = f->peak_title && f->peak_b != MT_UNKNOWN;
    mt_buf_adds(out, "<p class=\"answer\">");
    if (f->oom.when)
        say_oom(f, out);
    if (peak) {
        say_peak(p, out);
        mt_page_find_tops(p);
        say_top(p, f->peak_b, out);
        say_kinds(f, out);
    } else {
        say_end(p, out);
        say_top(p, f->leaks_title ? f->at_end_b : 0, out);
    }
    say_leak(f, out);
    mt_buf_adds(out, "</p>\n");
}
