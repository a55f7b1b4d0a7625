#include "formats/python_frames.h"

#include "formats/snapshot_frames.h"

#include <string.h>

bool mt_python_is(const char *file)
{
    return mt_snap_look("", file, 1).python;
}

bool mt_python_is_inside(const char *name, const char *file, int64_t line)
{
    return mt_snap_look(name, file, line).noise;
}

uint32_t mt_python_frame(struct mt_path_tree *p, const char *name, const char *file, int64_t line)
{
    const char *slash = *file == '<' ? NULL : strrchr(file, '/');
    const struct mt_snap_look look = mt_snap_look("", file, line);
    struct mt_buf text = {0};
    mt_buf_adds(&text, slash ? slash + 1 : file);
    if (line > 0)
        mt_buf_addf(&text, ":%lld", (long long)line);
    mt_buf_addf(&text, "%s%s", *file && *name ? " " : "", name);
    bool own = !look.python || look.rank == MT_RANK_USER || p->rec->library_sites;
    const size_t known = p->frames.n;
    uint32_t frame = mt_path_frame(p, *text.s ? text.s : "[unknown function]", "", file, line,
                                   MT_PATH_PYTHON | (own ? 0 : MT_PATH_ASIDE));
    if (!own && p->frames.n > known)
        mt_rec_note(p->rec, MT_NOTE_LIBRARY, -1, 0);
    mt_buf_free(&text);
    return frame;
}

struct mt_native_step mt_python_step(struct mt_path_tree *p, const char *name, const char *file,
                                     int64_t line)
{
    return (struct mt_native_step){mt_python_frame(p, name, file, line), MT_NATIVE_CODE};
}
