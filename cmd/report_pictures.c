/* What the page draws: the curve, and the call paths. */
#include "cmd/report.h"

#include "cmd/stacks.h"
#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/run/knows.h"

static const char *why_no_curve(const struct mt_page_made *p)
{
    if (!p->view.has_device)
        return mt_run_how_to_record(&p->view.run);
    return p->view.run.kind == MT_RUN_SNAPSHOT
               ? "It says what was alive when it was written, and no history of it. Start the "
                 "history before the program's work: torch.cuda.memory._record_memory_history()."
               : "It says what was alive then, or was allocated in all, and nothing of the times "
                 "between.";
}

static void add_no_curve(const struct mt_page_made *p, struct mt_buf *out)
{
    struct mt_err why = MT_ERR_INIT;
    MT_FAIL(&why, MT_EUSAGE, "%s",
            !p->view.has_device                   ? "it has no memory records"
            : p->view.run.kind == MT_RUN_SNAPSHOT ? "the recording is of one moment"
                                                  : "it says nothing of memory over time");
    mt_err_hint(&why, "%s", why_no_curve(p));
    mt_page_cannot(out, &why);
}

enum mt_status mt_page_add_curve(struct mt_page_made *p, struct mt_buf *out, struct mt_err *err)
{
    struct mt_page_curve c = {0};
    char size[MT_HUMAN_MAX];
    enum mt_status st = MT_OK;
    bool level = p->view.has_device && mt_device_knows(&p->view.device, MT_KNOWS_LEVEL) &&
                 !p->view.device.one_moment && p->view.run.dur_ns > 0;
    if (level)
        st = mt_view_open_blocks(&p->view, err);
    if (level && st == MT_OK)
        st = mt_page_curve_load(&p->view.blocks, &p->view.device, &c, err);
    if (st == MT_OK && level) {
        mt_page_curve_json(&c, &p->curve);
        mt_buf_addf(out, "<div id=\"curve\" class=\"panel\">\n");
        mt_page_curve_svg(&c, out);
        mt_buf_adds(out, "</div>\n");
        for (size_t i = 0; i < c.ooms.all.n && i < 3; i++)
            mt_buf_addf(out, "<p class=\"note\">Out of memory: %s could not be allocated.</p>\n",
                        mt_human_bytes(c.ooms.all.v[i].level_b, size));
        mt_page_prompt(p, "timeline", false, out);
    } else if (st == MT_OK) {
        add_no_curve(p, out);
    }
    mt_page_curve_free(&c);
    mt_view_close_blocks(&p->view);
    return st;
}

/* Adds what the paths of the base hold at its peak. */
static enum mt_status add_base(struct mt_page_made *p, struct mt_stacks *s, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS,
                                          p->device ? p->device : p->view.device.name, 0, NULL};
    const struct mt_view_stacks_asked asked = {NULL, false, false, MT_STACKS_BY_ALL};
    struct mt_view base;
    struct mt_view_stacks other;
    struct mt_report notes;
    mt_report_init(&notes, "memtool.flame", 1);
    enum mt_status st = mt_view_open(&base, p->base, &wanted, err);
    if (st == MT_OK && base.has_device) {
        st = mt_view_stacks_open(&base, &asked, &notes, &other, err);
        if (st == MT_OK)
            mt_stacks_add_base(s, &other.stacks, MT_MEASURE_ALIVE_B);
        mt_view_stacks_close(&other);
    }
    mt_report_free(&notes);
    mt_view_close(&base);
    return st;
}

/* What is folded next: paths of less than that, of what all paths have. */
static int64_t fold_more(const struct mt_stacks *s, int64_t least_b)
{
    enum { PART = 2500 };
    int64_t most_b = 0;
    if (least_b > 0)
        return least_b * 4;
    for (int m = 0; m < MT_MEASURE_N; m++)
        if (mt_measure_is_bytes(m)) {
            const int64_t sum_b = mt_stacks_sum(s, (enum mt_measure)m);
            most_b = sum_b > most_b ? sum_b : most_b;
        }
    return most_b > PART ? most_b / PART : 1;
}

/* Folds more and more until the paths have room in the page; still: a picture of them. */
static enum mt_status load_paths(struct mt_page_made *p, const char *alive, struct mt_buf *still,
                                 struct mt_err *err)
{
    enum { PATHS_BYTES = 480 * 1024, PATH_BYTES = 5, TRIES = 8 }; /* a path: its level, its name */
    const struct mt_view_stacks_asked asked = {NULL, false, true, MT_STACKS_BY_ALL};
    enum mt_status st = mt_view_open_blocks(&p->view, err);
    int64_t least_b = -1;
    for (int tries = 0; tries < TRIES && st == MT_OK; tries++) {
        struct mt_view_stacks s;
        struct mt_report notes;
        mt_report_init(&notes, "memtool.flame", 1);
        st = mt_view_stacks_open(&p->view, &asked, &notes, &s, err);
        if (st == MT_OK && p->base) {
            struct mt_err why = MT_ERR_INIT; /* the section on the change says it */
            add_base(p, &s.stacks, &why);
        }
        /* what has no room in any case */
        for (; st == MT_OK && tries + 1 < TRIES &&
               mt_stacks_left(&s.stacks, least_b) > PATHS_BYTES / PATH_BYTES;
             tries++)
            least_b = fold_more(&s.stacks, least_b);
        if (st == MT_OK) {
            mt_buf_clear(&p->paths);
            mt_stacks_finish(&s.stacks, least_b);
            mt_page_paths_json(&s.stacks, &p->paths);
            mt_buf_clear(still);
            mt_page_paths_svg(&s.stacks, alive, still);
            least_b = fold_more(&s.stacks, least_b);
        }
        mt_view_stacks_close(&s);
        mt_report_free(&notes);
        if (p->paths.n <= PATHS_BYTES)
            break;
    }
    mt_view_close_blocks(&p->view);
    return st;
}

/* The command for the call paths of the base, as an attribute. */
static void add_base_command(const struct mt_page_made *p, struct mt_buf *out)
{
    struct mt_buf line = {0};
    if (!p->base)
        return;
    mt_buf_adds(&line, "memtool flame ");
    mt_shell_word(&line, p->base);
    if (p->device) {
        mt_buf_adds(&line, " --device ");
        mt_shell_word(&line, p->device);
    }
    mt_buf_adds(out, " data-base=\"");
    mt_page_text(out, line.s);
    mt_buf_adds(out, "\"");
    mt_buf_free(&line);
}

void mt_page_add_paths(struct mt_page_made *p, struct mt_buf *out)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_buf still = {0};
    const struct mt_run_device *d = &p->view.device;
    bool peak = p->view.has_device && mt_device_knows(d, MT_KNOWS_PEAK) && !d->one_moment;
    const char *alive = peak ? "At peak" : "Alive";
    if (p->view.has_device && load_paths(p, alive, &still, &err) == MT_OK) {
        mt_buf_addf(out, "<div id=\"flame-graph\" data-alive=\"%s\"", alive);
        add_base_command(p, out);
        mt_buf_addf(out, ">\n%s</div>\n", still.n ? still.s : "");
        mt_page_prompt(p, "flame", false, out);
    } else {
        if (!p->view.has_device)
            mt_fail_no_memory(&p->view.run, "", &err);
        mt_buf_clear(&p->paths);
        mt_page_cannot(out, &err);
    }
    mt_buf_free(&still);
}
