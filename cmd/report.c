/* memtool report: a run, or the change from one run to another, as one page. */
#include "cmd/report.h"

#include "lib/base/human.h"
#include "lib/page/page.h"
#include "lib/run/kept_nodes.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *device_name, *group_name;

/* A page is for a browser: on a terminal nobody reads it. */
static enum mt_status check_output(const struct mt_args *args, struct mt_err *err)
{
    if (mt_common.output || !isatty(STDOUT_FILENO))
        return MT_OK;
    struct mt_buf run = {0};
    mt_shell_word(&run, args->n ? args->v[0] : "RUN");
    MT_FAIL(err, MT_EUSAGE, "the report is a page for a browser, not for a terminal");
    mt_err_hint(err, "Nothing was written. memtool report %s -o report.html writes it to a file.",
                run.s);
    mt_buf_free(&run);
    return MT_EUSAGE;
}

static char *title_of(const struct mt_page_made *p)
{
    struct mt_buf out = {0};
    mt_page_text(&out, mt_page_short(p->name));
    mt_buf_adds(&out, " \u00b7 memtool");
    return out.s;
}

static enum mt_status write_page(struct mt_page_made *p, struct mt_err *err)
{
    struct mt_buf header = {0}, answer = {0}, page = {0}, name = {0};
    MT_TRY(mt_page_sections(p, err));
    enum mt_status st = MT_OK;
    if (p->group) {
        mt_page_group_header(p, &header);
        mt_page_group_answer(p, &answer);
    } else {
        mt_page_header(p, &header);
        mt_page_answer(p, &answer);
    }
    char *title = title_of(p);
    const char *first = !p->group ? "over-time" : p->group->has_ranks ? "ranks" : "trend";
    mt_page_text(&name, mt_page_short(p->name));
    const struct mt_page_part parts[] = {{"title", title, false},
                                         {"name", name.s, false},
                                         {"first", first, false},
                                         {"nav", p->nav.s, false},
                                         {"header", header.s, false},
                                         {"answer", answer.s, false},
                                         {"body", p->body.s, false},
                                         {"version", MT_VERSION, false},
                                         {"curve", p->curve.n ? p->curve.s : "null", true},
                                         {"paths", p->paths.n ? p->paths.s : "null", true},
                                         {NULL, NULL, false}};
    mt_page_write(parts, &page);
    if (st == MT_OK)
        st = mt_show_text(page.s, err);
    free(title);
    mt_buf_free(&name);
    mt_buf_free(&header);
    mt_buf_free(&answer);
    mt_buf_free(&page);
    return st;
}

static void free_page(struct mt_page_made *p)
{
    free(p->not_compared);
    mt_buf_free(&p->nav);
    mt_buf_free(&p->body);
    mt_buf_free(&p->figures);
    mt_buf_free(&p->curve);
    mt_buf_free(&p->paths);
    mt_page_found_free(&p->found);
    mt_view_close(&p->view);
}

/* A page that says in its middle that there is no such run would be taken for an answer. */
static enum mt_status check_base(const char *base, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {0};
    struct mt_view view = {0};
    enum mt_status st = mt_view_open(&view, base, &wanted, err);
    mt_view_close(&view);
    return st;
}

/* A device that both runs have, as a text of the report; NULL: none. */
static const char *shared_device(const struct mt_page_made *p, struct mt_report *r)
{
    const char *refs[] = {p->ref, p->base}, *found = NULL;
    struct mt_run_device *devices[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    struct mt_err err = MT_ERR_INIT; /* both were opened before */
    for (int i = 0; i < 2; i++) {
        struct mt_db *db = NULL;
        struct mt_run run;
        if (mt_open_run(refs[i], &db, &run, &err) == MT_OK)
            mt_run_devices(db, &run, &devices[i], &n[i], &err);
        mt_db_close(db);
    }
    for (size_t i = 0; i < n[0] && !found; i++)
        for (size_t k = 0; k < n[1] && !found; k++)
            if (strcmp(devices[0][i].name, devices[1][k].name) == 0)
                found = mt_report_text(r, devices[0][i].name);
    free(devices[0]);
    free(devices[1]);
    return found;
}

/* Who reads the page finds it in its middle. */
static void note_not_compared(const struct mt_page_made *p)
{
    struct mt_report r;
    mt_report_init(&r, "memtool.report", 1);
    const char *device = shared_device(p, &r);
    mt_report_note(&r, "The page was written, but nothing is compared with '%s': %s. %s%s%s",
                   p->base, p->not_compared,
                   device ? "Both have " : "They have no device in common.", device ? device : "",
                   device ? ": --device compares it." : "");
    mt_show_notes(&r);
    mt_report_free(&r);
}

static enum mt_status report_run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_STEPS, device_name, 0, NULL};
    struct mt_page_made p = {.device = device_name, .base = args->n > 1 ? args->v[1] : NULL};
    enum mt_status st = p.base ? check_base(p.base, err) : MT_OK;
    if (st == MT_OK)
        st = mt_view_open(&p.view, args->n ? args->v[0] : NULL, &wanted, err);
    if (p.device && p.view.has_device) /* not its kind: of that the base may have another one */
        p.device = p.view.device.name;
    p.name = p.view.run.name;
    p.ref = args->n ? args->v[0] : p.name;
    if (st == MT_OK) {
        mt_nodes_keep(p.view.db, &p.view.run); /* every section asks for them */
        st = write_page(&p, err);
        mt_nodes_forget();
    }
    if (st == MT_OK && p.not_compared) {
        note_not_compared(&p);
        *exit_code = 3;
    }
    free_page(&p);
    return st;
}

static enum mt_status report_group(const struct mt_args *args, struct mt_err *err)
{
    struct mt_page_group group = {0};
    struct mt_page_made p = {
        .device = device_name, .group = &group, .name = group_name, .ref = group_name};
    if (args->n) {
        MT_FAIL(err, MT_EUSAGE, "a page is on a run or on a group, not on both");
        mt_err_hint(err, "Nothing was written. Leave out '%s', or --group.", args->v[0]);
        return MT_EUSAGE;
    }
    enum mt_status st = mt_page_group_load(&p, err);
    if (st == MT_OK)
        st = write_page(&p, err);
    free_page(&p);
    mt_page_group_free(&group);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    MT_TRY(check_output(args, err));
    return group_name ? report_group(args, err) : report_run(args, exit_code, err);
}

static const struct mt_opt opts[] = {
    MT_DEVICE_OPT(device_name),
    {"group", 0, MT_OPT_STRING, &group_name, "NAME",
     "the runs of this group side by side: ranks, or the trend over runs"},
    {0},
};

const struct mt_cmd mt_cmd_report = {
    .name = "report",
    .summary = "all about a run, a change or a group, as one page for a browser",
    .usage = "[options] [RUN [BASE]]",
    .examples = "  memtool report base -o base.html\n"
                "  memtool report new base -o change.html\n"
                "  memtool report trace.json.gz -o trace.html\n"
                "  memtool report --group job42 -o job.html\n",
    .opts = opts,
    .args_max = 2,
    .formats = "html",
    .run = run,
};
