#include "cmd/categories_file.h"

#include "cmd/common.h"
#include "cmd/opts.h"
#include "cmd/output.h"
#include "lib/input/lines.h"
#include "lib/run/own_categories.h"

static struct mt_own_categories own;
static const char *file;

static enum mt_status add_line(void *closure, const char *s, size_t n, struct mt_err *err)
{
    return mt_own_categories_add(closure, s, n, err);
}

enum mt_status mt_categories_file(const char *path, const char **by, struct mt_err *err)
{
    if (!path)
        return MT_OK;
    if (*by && !mt_has_word(*by, "category")) {
        MT_FAIL(err, MT_EUSAGE, "--categories is for --by category, and --by is %s", *by);
        mt_err_hint(err, "Nothing was read. Leave out --by, or name category in it.");
        return MT_EUSAGE;
    }
    mt_output_spare(path);
    MT_TRY(mt_lines_file(path, add_line, &own, "Nothing was shown.",
                         "A line is NAME = REGULAR EXPRESSION, or a comment that begins with #.",
                         err));
    mt_own_categories_use(&own);
    file = path;
    if (!own.v.n)
        mt_show_note("%s has no category; a line is NAME = REGULAR EXPRESSION", path);
    *by = *by ? *by : "category";
    return MT_OK;
}

void mt_categories_file_end(void)
{
    if (file && mt_own_categories_unmatched())
        mt_show_note("no call path matches a category of %s; --by path shows them", file);
}
