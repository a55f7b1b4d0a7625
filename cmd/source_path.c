#include "cmd/source_path.h"

#include "lib/base/mem.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 8, ENTRIES_MAX = 50000 }; /* of folders looked through for a file */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The current folder below that of its repository: "tools/", or "". Allocated. */
static char *folder_in_repository(void)
{
    char *here = getcwd(NULL, 0);
    size_t n = here ? strlen(here) : 0;
    for (size_t root = n; root > 1; root = (size_t)(strrchr(here, '/') - here)) {
        struct stat info;
        here[root] = '\0';
        char *git = mt_asprintf("%s/.git", here);
        bool found = stat(git, &info) == 0;
        free(git);
        if (found) {
            free(here);
            here = getcwd(NULL, 0);
            char *below = here && n > root ? mt_asprintf("%s/", here + root + 1) : mt_strdup("");
            free(here);
            return below;
        }
    }
    free(here);
    return mt_strdup("");
}

/* What is behind the current folder in an absolute path; NULL: it is elsewhere. */
static const char *below_here(const char *path)
{
    char *here = getcwd(NULL, 0);
    size_t n = here ? strlen(here) : 0;
    bool below = n > 1 && strncmp(path, here, n) == 0 && path[n] == '/';
    free(here);
    return below ? path + n + 1 : NULL;
}

/* The longest end of a path that is a file here; NULL: none. */
static const char *end_here(const char *path)
{
    for (const char *end = path; end; end = (end = strchr(end, '/')) ? end + 1 : NULL)
        if (*end && *end != '/' && is_file(end))
            return end;
    return NULL;
}

struct search {
    const char *name, *tail; /* of the file; the end its path is to have: "/net/model.py" */
    char *found;
    size_t found_n, seen_n;
};

static bool ends(const char *path, const char *tail)
{
    size_t n = strlen(path), k = strlen(tail);
    return n >= k && strcmp(path + n - k, tail) == 0;
}

/* Looks through a folder, "./src"; not through hidden ones, nor what links lead to. */
static void look_in(struct search *s, const char *folder, int depth)
{
    DIR *dir = depth < DEPTH_MAX ? opendir(folder) : NULL;
    for (struct dirent *e; dir && s->seen_n < ENTRIES_MAX && (e = readdir(dir));) {
        struct stat info;
        s->seen_n++;
        if (*e->d_name == '.')
            continue;
        char *path = mt_asprintf("%s/%s", folder, e->d_name);
        if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
            look_in(s, path, depth + 1);
        } else if (strcmp(e->d_name, s->name) == 0 && ends(path, s->tail)) {
            if (!s->found_n++)
                s->found = mt_strdup(path + strlen("./"));
        }
        free(path);
    }
    if (dir)
        closedir(dir);
}

/* The only file below the current folder whose path ends like that; NULL: none, or several.
 * Allocated. */
static char *only_below(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *tail = mt_asprintf("%s%s", *path == '/' ? "" : "/", path);
    struct search s = {.name = slash ? slash + 1 : path, .tail = tail};
    look_in(&s, ".", 0);
    free(tail);
    if (s.found_n == 1 && s.seen_n < ENTRIES_MAX)
        return s.found;
    free(s.found);
    return NULL;
}

char *mt_source_path(const char *file, size_t n)
{
    char *recorded = mt_strndup(file, n), *path = NULL;
    if (strstr(recorded, "..")) /* it would lead out of the folder */
        return recorded;
    const char *below = *recorded == '/' ? below_here(recorded) : NULL;
    const char *here = below && is_file(below) ? below : end_here(recorded);
    char *found = here ? mt_strdup(here) : only_below(recorded);
    if (found) {
        char *folder = folder_in_repository();
        path = mt_asprintf("%s%s", folder, found);
        free(folder);
    }
    free(found);
    if (!path)
        return recorded;
    free(recorded);
    return path;
}
