#include "cmd/categories_file.h"

#include "cmd/opts.h"
#include "cmd/output.h"
#include "lib/input/lines.h"
#include "lib/run/own_categories.h"

static struct mt_own_categories own;

static enum mt_status read_lines(struct mt_stream *in, struct mt_err *err)
{
    struct mt_lines lines = {.in = in};
    struct mt_line line;
    bool any;
    for (int64_t n = 1;; n++) {
        MT_TRY(mt_lines_next(&lines, &line, &any, err));
        if (!any)
            return MT_OK;
        size_t mark = n == 1 && line.n >= 3 && memcmp(line.s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        if (mt_own_categories_add(&own, line.s + mark, line.n - mark, err) == MT_OK)
            continue;
        err->code = MT_EINPUT;
        err->line = n;
        err->offset = (int64_t)line.offset;
        return err->code;
    }
}

enum mt_status mt_categories_file(const char *path, const char **by, struct mt_err *err)
{
    struct mt_stream *in = NULL;
    if (!path)
        return MT_OK;
    if (*by && !mt_has_word(*by, "category")) {
        MT_FAIL(err, MT_EUSAGE, "--categories is for --by category, and --by is %s", *by);
        mt_err_hint(err, "Nothing was read. Leave out --by, or name category in it.");
        return MT_EUSAGE;
    }
    mt_output_spare(path);
    enum mt_status st = mt_stream_open(path, &in, err);
    if (st == MT_OK)
        st = read_lines(in, err);
    mt_stream_close(in);
    if (st != MT_OK) {
        mt_err_input(err, path);
        err->hint[0] = '\0'; /* it is of imports */
        mt_err_hint(err,
                    "Nothing was shown. A line is NAME = REGULAR EXPRESSION, or a comment that "
                    "begins with #.");
        return st;
    }
    mt_own_categories_use(&own);
    *by = *by ? *by : "category";
    return MT_OK;
}
