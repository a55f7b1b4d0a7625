/* memtool export: a part of an allocator snapshot, as a snapshot. */
#include "cmd/export.h"

#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/view.h"
#include "formats/snapshot_cut.h"
#include "lib/base/wrap.h"

static struct mt_export_asked asked;

/* From the run's clock to that of the file. */
static int64_t shifted(int64_t t_ns, const struct mt_run *run)
{
    return t_ns == INT64_MIN || t_ns == INT64_MAX ? t_ns : mt_wrap_add(t_ns, run->start_ns);
}

static enum mt_status write_file(const struct mt_run *run, const struct mt_window *w,
                                 struct mt_err *err)
{
    const struct mt_snap_window window = {shifted(w->from_ns, run), shifted(w->to_ns, run)};
    struct mt_stream *in = NULL;
    const char *path;
    FILE *out;
    MT_TRY(mt_export_source(run, &asked, &path, err));
    MT_TRY(mt_stream_open(path, &in, err));
    enum mt_status st = mt_output_open(&out, err);
    if (st == MT_OK) {
        st = mt_snapshot_cut(in, &window, out, err);
        struct mt_err ignored = MT_ERR_INIT;
        enum mt_status closed = mt_output_close(out, st == MT_OK, st == MT_OK ? err : &ignored);
        st = st == MT_OK ? closed : st;
    }
    mt_stream_close(in);
    return st;
}

static enum mt_status export_view(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_window w;
    if (!mt_run_is_snapshot(&v->run)) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' is no snapshot of an allocator", v->run.name);
        mt_err_hint(err,
                    "Nothing was written. --format %s cuts such a snapshot; curves of any run "
                    "are for Perfetto.",
                    asked.format->name);
        return MT_EUSAGE;
    }
    MT_TRY(mt_view_note_steps(v, asked.step, r, err));
    MT_TRY(mt_window_parse(asked.from, asked.to, asked.step, &v->run, &v->blocks.steps, &w, err));
    MT_TRY(write_file(&v->run, &w, err));
    mt_show_notes(r);
    return MT_OK;
}

enum mt_status mt_export_snapshot(const struct mt_args *args, const struct mt_export_asked *what,
                                  struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_STEPS, NULL, 0, NULL};
    asked = *what;
    return mt_report_on_view(args, &wanted, "memtool.export", export_view, err);
}
