/* memtool export: the recording that a run was imported from. */
#include "cmd/export.h"

#include "cmd/import_file.h"
#include "cmd/output.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum mt_status mt_export_source(const struct mt_run *run, const struct mt_export_asked *asked,
                                const char **path, struct mt_err *err)
{
    char hash[33];
    const char *why = NULL;
    *path = asked->source ? asked->source : run->source;
    if (access(*path, R_OK) != 0 || !mt_import_hash(*path, hash))
        why = errno ? strerror(errno) : "cannot be read";
    else if (strncmp(hash, run->content, sizeof hash - 1) != 0)
        why = "is not what the run was imported from";
    if (!why) {
        mt_output_spare(*path);
        return MT_OK;
    }
    mt_err_input(err, *path);
    MT_FAIL(err, MT_EUSAGE, "%s", why);
    mt_err_hint(err,
                "Nothing was written. %s is made of the recording itself: --source FILE says "
                "where it is.",
                asked->format->name);
    return MT_EUSAGE;
}
