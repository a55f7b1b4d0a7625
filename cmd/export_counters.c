/* memtool export: curves over time, for Perfetto. */
#include "cmd/export.h"

#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/run/knows.h"
#include <errno.h>
#include <string.h>

static struct mt_export_asked asked;

/* The recording itself, for an archive. */
struct trace {
    FILE *file;
    bool gzip;
};

static enum mt_status refuse_trace(const char *path, const char *why, struct mt_err *err)
{
    mt_err_input(err, path);
    MT_FAIL(err, MT_EUSAGE, "%s", why);
    mt_err_hint(err, "Nothing was written. --format perfetto-json writes the curves alone.");
    return MT_EUSAGE;
}

static enum mt_status open_trace(const struct mt_view *v, struct trace *t, struct mt_err *err)
{
    const char *path;
    unsigned char head[2] = "";
    if (strcmp(v->run.format, "pytorch-trace") != 0)
        return refuse_trace(v->run.source, "is no trace of PyTorch, which Perfetto could open",
                            err);
    MT_TRY(mt_export_source(&v->run, &asked, &path, err));
    t->file = fopen(path, "rb");
    if (!t->file)
        return refuse_trace(path, strerror(errno), err);
    size_t n = fread(head, 1, sizeof head, t->file);
    t->gzip = n == sizeof head && head[0] == 0x1f && head[1] == 0x8b;
    if (!t->gzip && head[0] != '{' && head[0] != '[' && head[0] > ' ')
        return refuse_trace(path, "is compressed in a way that Perfetto does not read", err);
    return MT_OK;
}

static void note_times(const struct mt_run *run, struct mt_report *r)
{
    if (strcmp(run->time_unit, "ns") != 0)
        mt_report_note(r, "The times of %s count %s: in the file each is a nanosecond.", run->name,
                       run->time_unit);
}

static enum mt_status write_file(struct mt_counters *c, const struct trace *t, struct mt_err *err)
{
    FILE *out;
    bool whole = true;
    MT_TRY(mt_output_open(&out, err));
    if (asked.format->archive)
        whole = asked.format->archive(c, t->file, t->gzip, out);
    else
        asked.format->counters(c, out);
    if (!whole) {
        MT_FAIL(err, MT_EIO, "the trace cannot be read, or there is no room in $TMPDIR");
        mt_err_hint(err, "Nothing was written.");
    }
    struct mt_err ignored = MT_ERR_INIT;
    enum mt_status st = mt_output_close(out, whole, whole ? err : &ignored);
    return whole ? st : MT_EIO;
}

static enum mt_status check_curves(const struct mt_view *v, const struct mt_counters *c,
                                   struct mt_err *err)
{
    if (c->all.n && *v->run.time_unit)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no curve over time%s%s", v->run.name,
            asked.device ? " of " : "", asked.device ? asked.device : "");
    mt_err_hint(err, "Nothing was written. Formats of call paths do without: pprof, collapsed, "
                     "speedscope.");
    return MT_EUSAGE;
}

static enum mt_status export_view(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_counters c = {0};
    struct trace trace = {0};
    enum mt_status st = MT_OK;
    if (asked.format->archive)
        st = open_trace(v, &trace, err);
    if (st == MT_OK)
        st = mt_counters_load(v->db, &v->run, mt_view_device(v), &v->blocks.steps, &c, err);
    if (st == MT_OK)
        st = check_curves(v, &c, err);
    if (st == MT_OK)
        st = write_file(&c, &trace, err);
    if (st == MT_OK) {
        mt_view_about(v, r, MT_ABOUT_LEVELS | MT_ABOUT_TIMES);
        note_times(&v->run, r);
        mt_show_notes(r);
    }
    mt_counters_free(&c);
    if (trace.file)
        fclose(trace.file);
    return st;
}

enum mt_status mt_export_counters(const struct mt_args *args, const struct mt_export_asked *what,
                                  struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_STEPS | (what->device ? MT_VIEW_DEVICE : 0),
                                          what->device, 0, NULL};
    asked = *what;
    return mt_report_on_view(args, &wanted, "memtool.export", export_view, err);
}
