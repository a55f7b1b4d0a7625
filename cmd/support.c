#include "cmd/support.h"

#include "lib/base/mem.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum mt_status mt_support_path(const char *name, char **out, struct mt_err *err)
{
    static const char *const places[] = {"../lib/memtool", "support"};
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    *out = NULL;
    if (n <= 0)
        return MT_FAIL(err, MT_EIO, "cannot find its own program: %s", strerror(errno));
    program[n] = '\0';
    char *slash = strrchr(program, '/');
    *slash = '\0';
    for (size_t i = 0; i < MT_ARRAY_LEN(places); i++) {
        char *path = mt_asprintf("%s/%s/%s", program, places[i], name);
        *out = realpath(path, NULL);
        free(path);
        if (*out)
            return MT_OK;
    }
    MT_FAIL(err, MT_EIO, "its file '%s' is not installed", name);
    mt_err_hint(err, "Nothing was run. It belongs into lib/memtool beside %s: `make install`.",
                program);
    return MT_EIO;
}
