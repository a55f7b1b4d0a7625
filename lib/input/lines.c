#include "lib/input/lines.h"

/* Asks the stream for a window that goes on behind the lines used and the `left` bytes that are no
 * whole line. */
static enum mt_status next_window(struct mt_lines *l, size_t left, struct mt_err *err)
{
    size_t n;
    const char *p;
    if (l->at > l->window)
        mt_stream_consume(l->in, (size_t)(l->at - l->window));
    l->window = l->at = l->end = NULL;
    MT_TRY(mt_stream_peek(l->in, left + 1, &p, &n, err));
    l->window = l->at = p;
    l->end = p + n;
    if (l->progress)
        l->progress(l->closure);
    return MT_OK;
}

static enum mt_status too_long(const struct mt_lines *l, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "a line is longer than 16 MiB");
    err->offset = (int64_t)mt_lines_offset(l);
    mt_err_hint(err, "Nothing was imported. The file is damaged, or is not such a text.");
    return MT_EINPUT;
}

enum mt_status mt_lines_more(struct mt_lines *l, struct mt_line *out, bool *any, struct mt_err *err)
{
    for (;;) {
        size_t left = (size_t)(l->end - l->at), n;
        if (left >= MT_LINE_MAX)
            return too_long(l, err);
        MT_TRY(next_window(l, left, err));
        n = (size_t)(l->end - l->at);
        const char *end = n > left ? memchr(l->at + left, '\n', n - left) : NULL;
        if (end)
            return mt_lines_next(l, out, any, err);
        if (n > left)
            continue;
        *out = (struct mt_line){.s = l->at, .n = n, .offset = mt_lines_offset(l), .cut = true};
        l->at = l->end;
        *any = n > 0;
        return MT_OK;
    }
}

static enum mt_status take_lines(struct mt_lines *lines,
                                 enum mt_status (*take)(void *closure, const char *s, size_t n,
                                                        struct mt_err *err),
                                 void *closure, struct mt_err *err)
{
    struct mt_line line;
    bool any;
    for (int64_t n = 1;; n++) {
        MT_TRY(mt_lines_next(lines, &line, &any, err));
        if (!any)
            return MT_OK;
        if (memchr(line.s, '\0', line.n))
            MT_FAIL(err, MT_EINPUT, "a NUL byte: this is no text");
        else if (take(closure, line.s, line.n, err) == MT_OK)
            continue;
        err->code = MT_EINPUT;
        err->line = n;
        err->offset = (int64_t)line.offset;
        return MT_EINPUT;
    }
}

enum mt_status mt_lines_file(const char *path,
                             enum mt_status (*take)(void *closure, const char *s, size_t n,
                                                    struct mt_err *err),
                             void *closure, const char *done, const char *rule, struct mt_err *err)
{
    struct mt_lines lines = {0};
    enum mt_status st = mt_stream_open(path, &lines.in, err);
    if (st == MT_OK)
        st = take_lines(&lines, take, closure, err);
    mt_stream_close(lines.in);
    if (st == MT_OK)
        return MT_OK;
    bool of_line = st == MT_EINPUT && err->line > 0;
    mt_err_input(err, path);
    err->hint[0] = '\0'; /* it is of imports */
    mt_err_hint(err, "%s%s%s", done, of_line ? " " : "", of_line ? rule : "");
    return st;
}
