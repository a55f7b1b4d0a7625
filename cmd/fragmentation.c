/* memtool fragmentation: where reserved bytes go that nobody uses, and why an allocation failed. */
#include "cmd/common.h"
#include "gen/queries.h"
#include "lib/analysis/oom_advice.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"
#include <stdio.h>
#include <stdlib.h>

enum { OOMS_SHOWN = 5, HOLDERS_SHOWN = 5 };
#define FIT_MAX_B ((int64_t)1 << 50) /* no device has more: 1 PiB */

static const char *device_name, *fit_text;

struct view {
    struct mt_db *db;
    struct mt_run run;
    struct mt_run_device device;
    struct mt_report *report;
};

/* A moment worth looking at. */
struct moment {
    const char *name;
    struct mt_seg_moment at;
    int64_t asked_b, device_free_b; /* of a failed allocation; INT64_MIN: none, unknown */
    int64_t stream;                 /* the same */
    const char *pool;               /* the same; NULL: unknown */
};

static struct mt_cell *add_row(struct view *v, const struct moment *m, const char *what,
                               int64_t bytes, const struct mt_segments *s)
{
    struct mt_cell *c = mt_report_row(v->report)->cells;
    c[0] = mt_cell_text(mt_report_text(v->report, m->name));
    c[1] = mt_cell_text(what);
    c[2] = mt_cell_int(bytes);
    if (s && s->size_b > 0)
        c[3] = mt_cell_real(100.0 * (double)bytes / (double)s->size_b);
    return c;
}

static void add_state(struct view *v, const struct moment *m, const struct mt_segments *s)
{
    add_row(v, m, "reserved", s->size_b, s)[4] = mt_cell_int((int64_t)s->all.n);
    add_row(v, m, "requested", s->requested_b, s)[4] = mt_cell_int((int64_t)s->blocks.n);
    add_row(v, m, "rounding", mt_wrap_sub(s->used_b, s->requested_b), s);
    add_row(v, m, "split", s->split_b, s)[4] = mt_cell_int(s->hole_n);
    add_row(v, m, "unused", s->unused_b, s)[4] = mt_cell_int(s->unused_n);
    add_row(v, m, "largest_hole", s->largest_hole_b, NULL);
}

/* A failed allocation: what was asked for, what there was, and who held the most. */
static void add_oom(struct view *v, const struct moment *m, const struct mt_segments *s)
{
    struct mt_seg_sites sites = {0};
    add_row(v, m, "asked_for", m->asked_b, NULL);
    if (m->device_free_b != INT64_MIN)
        add_row(v, m, "device_free", m->device_free_b, NULL);
    add_state(v, m, s);
    mt_seg_sites(s, 0, s->blocks.n, &sites);
    for (size_t i = 0; i < sites.rows.n && i < HOLDERS_SHOWN; i++) {
        struct mt_cell *c = add_row(v, m, "held", sites.rows.v[i].bytes, s);
        c[4] = mt_cell_int(sites.rows.v[i].n);
        c[5] = mt_cell_text(
            mt_report_text(v->report, mt_strtab_get(&s->strings, sites.rows.v[i].site)));
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

static void describe(struct view *v, const struct mt_segments *s)
{
    char held[MT_HUMAN_MAX], idle[MT_HUMAN_MAX];
    int64_t free_b = mt_wrap_add(s->split_b, s->unused_b);
    free(v->report->title);
    v->report->title =
        mt_asprintf("%s · %s · %s reserved at the end, %s (%.1f %%) of it not in use", v->run.name,
                    v->device.name, mt_human_bytes(s->size_b, held), mt_human_bytes(free_b, idle),
                    percent(free_b, s->size_b));
}

static enum mt_status look(struct view *v, const struct moment *m, struct mt_err *err)
{
    struct mt_segments s = {0};
    char lost[MT_HUMAN_LONG];
    bool oom = m->asked_b != INT64_MIN;
    enum mt_status st = mt_segments_load(v->db, &v->run, &v->device, m->at, &s, err);
    if (st == MT_OK && m->at.event == MT_AT_END)
        describe(v, &s);
    if (st == MT_OK && oom)
        add_oom(v, m, &s);
    else if (st == MT_OK)
        add_state(v, m, &s);
    if (s.lost_n)
        mt_report_note(v->report, "%s: %s lie in no segment known at that time.", m->name,
                       mt_human_plural(s.lost_n, "block", lost));
    mt_segments_free(&s);
    return st;
}

/* Of samples: the last record before and the event, none before the first. */
static struct mt_seg_moment moment_of(const struct mt_stmt *s, int record)
{
    return (struct mt_seg_moment){mt_stmt_int_or(s, record, -1), mt_stmt_int_or(s, record + 1, -1)};
}

static enum mt_status find_peak(struct view *v, struct moment *peak, bool *known,
                                struct mt_err *err)
{
    struct mt_stmt *s;
    *known = false;
    if (v->device.one_moment)
        return MT_OK;
    MT_TRY(mt_db_query(v->db, MT_Q_RESERVED_PEAK, &s, err));
    mt_stmt_bind(s, "ii", v->run.id, v->device.id);
    MT_TRY(mt_stmt_step(s, known, err));
    if (!*known)
        return MT_OK;
    *peak =
        (struct moment){"reserved peak", moment_of(s, 2), INT64_MIN, INT64_MIN, INT64_MIN, NULL};
    bool row = true;
    while (row)
        MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}

typedef MT_VEC(struct moment) moments;

static enum mt_status find_ooms(struct view *v, moments *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    char at[MT_HUMAN_MAX];
    MT_TRY(mt_db_query(v->db, MT_Q_OOMS, &s, err));
    mt_stmt_bind(s, "ii", v->run.id, v->device.id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const char *pool = mt_stmt_text(s, 6);
        *mt_vec_push(out) = (struct moment){
            mt_report_textf(v->report, "out of memory at %s", mt_human_ns(mt_stmt_int(s, 0), at)),
            moment_of(s, 3),
            mt_stmt_int(s, 1),
            mt_stmt_int_or(s, 2, INT64_MIN),
            mt_stmt_int_or(s, 5, INT64_MIN),
            pool ? mt_report_text(v->report, pool) : NULL};
    }
}

static enum mt_status show_state(struct view *v, const moments *ooms, struct mt_err *err)
{
    struct mt_report *r = v->report;
    const struct moment end = {"end", MT_SEG_AT_END, INT64_MIN, INT64_MIN, INT64_MIN, NULL};
    struct moment peak;
    bool known;
    mt_report_columns(r, "moment what bytes_b share_pct count_n site");
    MT_TRY(look(v, &end, err));
    MT_TRY(find_peak(v, &peak, &known, err));
    if (known)
        MT_TRY(look(v, &peak, err));
    for (size_t i = 0; i < ooms->n && i < OOMS_SHOWN; i++)
        MT_TRY(look(v, &ooms->v[i], err));
    r->left_out_n = ooms->n > OOMS_SHOWN ? (int64_t)ooms->n - OOMS_SHOWN : 0;
    if (r->left_out_n)
        mt_report_note(r, "%lld more failed allocation%s not looked at.", (long long)r->left_out_n,
                       r->left_out_n == 1 ? " is" : "s are");
    mt_report_footer(r,
                     "reserved = requested + rounding + split (free in segments partly in use) + "
                     "unused (segments with nothing in use)");
    if (known || ooms->n)
        mt_report_footer(r,
                         "Before the end, blocks freed since are assumed to be rounded to 512 B: "
                         "part of split may be rounding.");
    struct mt_buf run = {0};
    mt_shell_word(&run, v->run.name);
    if (ooms->n)
        mt_report_footer(r, "What would have made it fit: memtool fragmentation %s --fit %lld",
                         run.s, (long long)ooms->v[0].asked_b);
    mt_buf_free(&run);
    return MT_OK;
}

/* On which stream it would be is a guess where there are several. */
static void note_stream(struct mt_report *r, const struct mt_segments *s)
{
    int64_t busiest = mt_oom_advice_busiest_stream(s);
    bool several = false;
    for (size_t i = 0; i < s->all.n; i++)
        several |= s->all.v[i].stream != busiest;
    if (several)
        mt_report_note(r, "Assumed to be on stream %lld, which has the most bytes in use.",
                       (long long)busiest);
}

/* Where an allocation failed, the moment of the first one is looked at; else the end. */
static enum mt_status show_fit(struct view *v, const moments *ooms, int64_t size_b,
                               struct mt_err *err)
{
    static const char *const words[] = {
        [MT_FITS_NO] = "no", [MT_FITS_YES] = "yes", [MT_FITS_UNKNOWN] = "unknown"};
    struct mt_report *r = v->report;
    struct mt_segments s = {0};
    struct mt_oom_advices all = {0};
    char size[MT_HUMAN_MAX];
    const struct moment *oom = ooms->n ? &ooms->v[0] : NULL;
    mt_report_columns(r, "fits gives_b remedy why");
    r->columns.v[2].whole = true;
    enum mt_status st =
        mt_segments_load(v->db, &v->run, &v->device, oom ? oom->at : MT_SEG_AT_END, &s, err);
    if (st == MT_OK) {
        const struct mt_oom_advice_request asked = {size_b, oom ? oom->device_free_b : INT64_MIN,
                                                    oom ? oom->stream : INT64_MIN,
                                                    oom ? oom->pool : NULL};
        mt_oom_advice(&s, &asked, &all);
        if (asked.stream == INT64_MIN)
            note_stream(r, &s);
        free(r->title);
        r->title =
            mt_asprintf("%s · %s · %s, %s: %s", v->run.name, v->device.name,
                        mt_human_bytes(size_b, size), oom ? oom->name : "at the end", all.verdict);
    }
    for (size_t i = 0; i < all.rows.n; i++) {
        struct mt_cell *c = mt_report_row(r)->cells;
        c[0] = mt_cell_text(words[all.rows.v[i].fits]);
        c[1] = mt_cell_int(all.rows.v[i].gives_b);
        c[2] = mt_cell_text(all.rows.v[i].remedy);
        c[3] = mt_cell_text(mt_report_text(r, all.rows.v[i].why));
    }
    mt_report_param(r, "fit_b", mt_cell_int(size_b));
    mt_oom_advices_free(&all);
    mt_segments_free(&s);
    return st;
}

static enum mt_status read_fit(int64_t *size_b, struct mt_err *err)
{
    *size_b = 0;
    if (!fit_text || (mt_parse_size(fit_text, size_b) && *size_b > 0 && *size_b <= FIT_MAX_B))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "invalid --fit size '%s'", fit_text);
    mt_err_hint(err, "Write 512MiB, 2GiB or a number of bytes, up to 1 PiB.");
    return MT_EUSAGE;
}

static enum mt_status fill(struct view *v, int64_t size_b, struct mt_err *err)
{
    moments ooms = {0};
    v->report->keep_order = true;
    enum mt_status st = find_ooms(v, &ooms, err);
    if (st == MT_OK)
        st = fit_text ? show_fit(v, &ooms, size_b, err) : show_state(v, &ooms, err);
    mt_vec_free(&ooms);
    return st;
}

static enum mt_status show(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                           struct mt_err *err)
{
    struct view v = {.db = db, .run = *run, .report = r};
    bool none;
    int others;
    int64_t size_b;
    MT_TRY(read_fit(&size_b, err));
    MT_TRY(mt_knows(run, NULL, MT_KNOWS_SEGMENTS, err));
    MT_TRY(mt_run_device(db, run, device_name, &v.device, &none, &others, err));
    mt_report_about(r, run, none ? NULL : &v.device);
    if (none)
        mt_report_no_memory(r, run);
    else
        MT_TRY(fill(&v, size_b, err));
    mt_report_others(r, others);
    return mt_show(r, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    return mt_report_on_run(args, "memtool.fragmentation", show, err);
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
