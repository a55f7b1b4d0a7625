#include "lib/base/err.h"

#include <stdarg.h>
#include <stdio.h>

enum mt_status mt_err_set(struct mt_err *err, enum mt_status code, const char *src_file,
                          int src_line, const char *fmt, ...)
{
    if (err->code != MT_OK)
        return err->code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->what, sizeof err->what, fmt, ap);
    va_end(ap);
    err->code = code;
    err->src_file = src_file;
    err->src_line = src_line;
    return code;
}

void mt_err_hint(struct mt_err *err, const char *fmt, ...)
{
    if (err->hint[0])
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
}

void mt_err_cannot_tell(struct mt_err *err)
{
    err->cannot_tell = true;
}

void mt_err_input(struct mt_err *err, const char *input)
{
    if (!err->input[0])
        snprintf(err->input, sizeof err->input, "%s", input);
}
