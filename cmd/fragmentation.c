/* memtool fragmentation: where reserved bytes go that nobody uses, and why an allocation failed. */
#include "cmd/common.h"
#include "cmd/view.h"
#include "lib/analysis/oom_advice.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/usage/oom.h"
#include <stdio.h>
#include <stdlib.h>

enum { OOMS_SHOWN = 5, HOLDERS_SHOWN = 5 };
#define FIT_MAX_B ((int64_t)1 << 50) /* no device has more: 1 PiB */

static const char *device_name, *fit_text;
static int64_t fit_b; /* fit_text */

/* A time worth looking at. */
struct moment {
    const char *name;
    struct mt_seg_moment at;
    const struct mt_oom *oom; /* the allocation that failed then; NULL: none */
};

static struct mt_cell *add_row(struct mt_report *r, const struct moment *m, const char *what,
                               int64_t bytes, const struct mt_segments *s)
{
    struct mt_cell *c = mt_report_row(r)->cells;
    c[0] = mt_cell_text(mt_report_text(r, m->name));
    c[1] = mt_cell_text(what);
    c[2] = mt_cell_int(bytes);
    if (s && s->size_b > 0)
        c[3] = mt_cell_real(100.0 * (double)bytes / (double)s->size_b);
    return c;
}

static void add_state(struct mt_report *r, const struct moment *m, const struct mt_segments *s)
{
    add_row(r, m, "reserved", s->size_b, s)[4] = mt_cell_int((int64_t)s->all.n);
    add_row(r, m, "requested", s->requested_b, s)[4] = mt_cell_int((int64_t)s->blocks.n);
    add_row(r, m, "rounding", mt_wrap_sub(s->used_b, s->requested_b), s);
    add_row(r, m, "split", s->split_b, s)[4] = mt_cell_int(s->hole_n);
    add_row(r, m, "unused", s->unused_b, s)[4] = mt_cell_int(s->unused_n);
    add_row(r, m, "largest_hole", s->largest_hole_b, NULL);
}

/* A failed allocation: what was asked for, what there was, and who held the most. */
static void add_oom(struct mt_report *r, const struct moment *m, const struct mt_segments *s)
{
    struct mt_seg_sites sites = {0};
    add_row(r, m, "asked_for", m->oom->asked_b, NULL);
    if (m->oom->device_free_b != INT64_MIN)
        add_row(r, m, "device_free", m->oom->device_free_b, NULL);
    add_state(r, m, s);
    mt_seg_sites(s, 0, s->blocks.n, &sites);
    for (size_t i = 0; i < sites.rows.n && i < HOLDERS_SHOWN; i++) {
        struct mt_cell *c = add_row(r, m, "held", sites.rows.v[i].bytes, s);
        c[4] = mt_cell_int(sites.rows.v[i].n);
        c[5] = mt_cell_text(mt_report_text(r, mt_strtab_get(&s->strings, sites.rows.v[i].site)));
    }
    mt_vec_free(&sites.rows);
}

/* A part in percent with one decimal: neither all nor nothing where it is not. */
static double percent(int64_t part, int64_t whole)
{
    double exact = whole ? 100.0 * (double)part / (double)whole : 0;
    if (part < whole && exact > 99.9)
        return 99.9;
    return part > 0 && exact < 0.1 ? 0.1 : exact;
}

static void describe(const struct mt_view *v, struct mt_report *r, const struct mt_segments *s)
{
    char held[MT_HUMAN_MAX], idle[MT_HUMAN_MAX];
    int64_t free_b = mt_wrap_add(s->split_b, s->unused_b);
    free(r->title);
    r->title = mt_asprintf("%s · %s · %s reserved at the end, %s (%.1f %%) of it not in use",
                           v->run.name, v->device.name, mt_human_bytes(s->size_b, held),
                           mt_human_bytes(free_b, idle), percent(free_b, s->size_b));
}

static enum mt_status look(const struct mt_view *v, struct mt_report *r, const struct moment *m,
                           struct mt_err *err)
{
    struct mt_segments s = {0};
    char lost[MT_HUMAN_LONG];
    enum mt_status st = mt_segments_load(v->db, &v->run, &v->device, m->at, &s, err);
    if (st == MT_OK && m->at.event == MT_AT_END)
        describe(v, r, &s);
    if (st == MT_OK && m->oom)
        add_oom(r, m, &s);
    else if (st == MT_OK)
        add_state(r, m, &s);
    if (s.lost_n)
        mt_report_note(r, "%s: %s %s in no segment known at that time.", m->name,
                       mt_human_plural(s.lost_n, "block", lost), s.lost_n == 1 ? "lies" : "lie");
    mt_segments_free(&s);
    return st;
}

static struct moment moment_of(struct mt_report *r, const struct mt_oom *oom)
{
    char at[MT_HUMAN_MAX];
    return (struct moment){mt_report_textf(r, "out of memory at %s", mt_human_ns(oom->t_ns, at)),
                           oom->at, oom};
}

/* Each failed allocation, as far as they are few. */
static enum mt_status look_at_ooms(const struct mt_view *v, struct mt_report *r,
                                   const struct mt_ooms *ooms, struct mt_err *err)
{
    for (size_t i = 0; i < ooms->all.n && i < OOMS_SHOWN; i++) {
        const struct moment m = moment_of(r, &ooms->all.v[i]);
        MT_TRY(look(v, r, &m, err));
    }
    r->left_out_n = ooms->all.n > OOMS_SHOWN ? (int64_t)ooms->all.n - OOMS_SHOWN : 0;
    if (r->left_out_n)
        mt_report_note(r, "%lld more failed allocation%s not looked at.", (long long)r->left_out_n,
                       r->left_out_n == 1 ? " is" : "s are");
    return MT_OK;
}

static enum mt_status show_state(const struct mt_view *v, struct mt_report *r,
                                 const struct mt_ooms *ooms, struct mt_err *err)
{
    const struct moment end = {"end", MT_SEG_AT_END, NULL};
    struct moment peak = {.name = "reserved peak"};
    bool known;
    mt_report_columns(r, "moment what bytes_b share_pct count_n site");
    MT_TRY(look(v, r, &end, err));
    MT_TRY(mt_reserved_peak(v->db, &v->run, &v->device, &peak.at, &known, err));
    if (known)
        MT_TRY(look(v, r, &peak, err));
    else if (!v->device.one_moment)
        mt_report_note(r, "%s: " MT_RESERVED_UNSEEN, v->device.name);
    MT_TRY(look_at_ooms(v, r, ooms, err));
    mt_report_footer(r,
                     "reserved = requested + rounding + split (free in segments partly in use) + "
                     "unused (segments with nothing in use)");
    if (known || ooms->all.n)
        mt_report_footer(r,
                         "Before the end, blocks freed since are assumed to be rounded to 512 B: "
                         "part of split may be rounding.");
    struct mt_buf run = {0};
    mt_shell_word(&run, v->run.name);
    if (ooms->all.n)
        mt_report_footer(r, "What would have made it fit: memtool fragmentation %s --fit %lld",
                         run.s, (long long)ooms->all.v[0].asked_b);
    mt_buf_free(&run);
    return MT_OK;
}

static void add_advices(struct mt_report *r, const struct mt_oom_advices *all)
{
    static const char *const words[] = {
        [MT_FITS_NO] = "no", [MT_FITS_YES] = "yes", [MT_FITS_UNKNOWN] = "unknown"};
    for (size_t i = 0; i < all->rows.n; i++) {
        struct mt_cell *c = mt_report_row(r)->cells;
        c[0] = mt_cell_text(words[all->rows.v[i].fits]);
        c[1] = mt_cell_int(all->rows.v[i].gives_b);
        c[2] = mt_cell_text(all->rows.v[i].remedy);
        c[3] = mt_cell_text(mt_report_text(r, all->rows.v[i].why));
    }
}

/* Where an allocation failed, the time of the first one is looked at; else the end. */
static enum mt_status show_fit(const struct mt_view *v, struct mt_report *r,
                               const struct mt_ooms *ooms, struct mt_err *err)
{
    struct mt_segments s = {0};
    struct mt_oom_advices all = {0};
    char size[MT_HUMAN_MAX];
    const struct mt_oom *oom = ooms->all.n ? &ooms->all.v[0] : NULL;
    mt_report_columns(r, "fits gives_b remedy why");
    r->columns.v[2].whole = true;
    enum mt_status st =
        mt_segments_load(v->db, &v->run, &v->device, oom ? oom->at : MT_SEG_AT_END, &s, err);
    struct mt_oom_advice_request asked = {.size_b = fit_b,
                                          .device_free_b = oom ? oom->device_free_b : INT64_MIN,
                                          .stream = oom ? oom->stream : INT64_MIN,
                                          .pool = oom ? oom->pool : NULL,
                                          .failed_b = oom ? oom->asked_b : 0};
    if (st == MT_OK) {
        mt_oom_advice(&s, &asked, &all);
        if (all.several_streams)
            mt_report_note(r, "Assumed to be on stream %lld, which has the most bytes in use.",
                           (long long)all.stream);
        if (all.pool_assumed)
            mt_report_note(r, "Assumed to be in the default pool: the file does not say in which.");
        free(r->title);
        r->title = mt_asprintf("%s · %s · %s, %s: %s", v->run.name, v->device.name,
                               mt_human_bytes(fit_b, size),
                               oom ? moment_of(r, oom).name : "at the end", all.verdict);
        add_advices(r, &all);
    }
    mt_report_param(r, "fit_b", mt_cell_int(fit_b));
    mt_oom_advices_free(&all);
    mt_segments_free(&s);
    return st;
}

static enum mt_status read_fit(struct mt_err *err)
{
    if (!fit_text || (mt_parse_size(fit_text, &fit_b) && fit_b > 0 && fit_b <= FIT_MAX_B))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "invalid --fit size '%s'", fit_text);
    mt_err_hint(err, "Write 512MiB, 2GiB or a number of bytes, up to 1 PiB.");
    return MT_EUSAGE;
}

/* An allocation that failed on another device than the one shown. */
static enum mt_status note_failed(const struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_run_device failed;
    bool found;
    MT_TRY(mt_oom_device(v->db, &v->run, NULL, &failed, &found, err));
    if (found)
        mt_report_note(r, "An allocation failed on %s: --device %s explains it.", failed.name,
                       failed.name);
    return MT_OK;
}

static enum mt_status fill(const struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_ooms ooms = {0};
    r->keep_order = true;
    enum mt_status st = mt_ooms_load(v->db, &v->run, &v->device, &ooms, err);
    if (st == MT_OK)
        st = fit_text ? show_fit(v, r, &ooms, err) : show_state(v, r, &ooms, err);
    if (st == MT_OK && !ooms.all.n && v->other_n)
        st = note_failed(v, r, err);
    mt_ooms_free(&ooms);
    return st;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    mt_view_about(v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS);
    if (v->has_device)
        MT_TRY(fill(v, r, err));
    else
        mt_report_no_memory(r, &v->run);
    mt_report_others(r, v->other_n);
    return mt_show(r, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE, device_name, MT_KNOWS_SEGMENTS, NULL};
    MT_TRY(read_fit(err));
    return mt_report_on_view(args, &wanted, "memtool.fragmentation", show, err);
}

static const struct mt_opt opts[] = {
    {"fit", 0, MT_OPT_STRING, &fit_text, "SIZE",
     "would an allocation of SIZE fit, why not, what would help (at the first failed allocation, "
     "else at the end)"},
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cuda:0, ... (default: the one with most bytes allocated)"},
    {0},
};

const struct mt_cmd mt_cmd_fragmentation = {
    .name = "fragmentation",
    .summary = "reserved but unused bytes, failed allocations explained, would SIZE fit",
    .usage = "[options] [RUN]",
    .examples = "  memtool fragmentation snap\n"
                "  memtool fragmentation snap --fit 2GiB\n",
    .opts = opts,
    .args_max = 1,
    .run = run,
};
