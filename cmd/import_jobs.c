/* memtool import FOLDER --group: a folder that has several jobs rather than one. */
#include "cmd/import_jobs.h"

#include "lib/base/human.h"
#include "lib/run/job.h"
#include "lib/run/job_folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of a folder inside that which is read. */
struct member {
    const char *part; /* the folder's name, n bytes */
    size_t n;
    int64_t rank;
    const struct mt_reader *reader;
};

/* The length of the folders that all files are in. */
static size_t common_folder(const struct mt_found *files)
{
    const char *first = files->v[0].path;
    size_t n = strlen(first);
    for (size_t i = 1; i < files->n; i++)
        for (size_t k = 0; k < n; k++)
            if (files->v[i].path[k] != first[k])
                n = k;
    while (n && first[n - 1] != '/')
        n--;
    return n;
}

static int part_cmp(const struct member *x, const struct member *y)
{
    const size_t n = x->n < y->n ? x->n : y->n;
    const int order = memcmp(x->part, y->part, n);
    return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

static int by_rank(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->reader != y->reader)
        return x->reader < y->reader ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return part_cmp(x, y);
}

/* Whether a folder has other ranks than this member, too. */
static bool has_others(const struct member *all, size_t n, const struct member *m)
{
    bool others = false;
    for (size_t i = 0; i < n && !others; i++)
        others = part_cmp(&all[i], m) == 0 && all[i].rank != m->rank;
    return others;
}

/* skip: how much of the path of a file lies before that part. */
static void tell(const char *folder, size_t skip, const struct member *x, const struct member *y)
{
    struct mt_buf out = {0};
    char *path = mt_strndup(x->part - skip, skip + x->n), *other = mt_strndup(y->part, y->n);
    mt_escape_terminal(&out, folder);
    mt_buf_adds(&out, ": ");
    mt_escape_terminal(&out, path + skip);
    mt_buf_adds(&out, " and ");
    mt_escape_terminal(&out, other);
    mt_buf_addf(&out,
                " each have a rank %lld. If they are jobs, give each a group of its own: memtool "
                "import ",
                (long long)x->rank);
    mt_shell_word(&out, path);
    fprintf(stderr, "%s --group NAME\n", out.s);
    free(path);
    free(other);
    mt_buf_free(&out);
}

void mt_import_tell_jobs(const char *folder, const struct mt_found *files)
{
    struct member *all = mt_alloc((files->n + 1) * sizeof *all);
    const size_t skip = files->n ? common_folder(files) : 0;
    size_t n = 0;
    for (size_t i = 0; i < files->n; i++) {
        const char *part = files->v[i].path + skip, *slash = strchr(part, '/');
        struct member m = {part, slash ? (size_t)(slash - part) : 0, MT_UNKNOWN,
                           files->v[i].reader};
        m.rank = slash && m.reader ? mt_number_behind(slash + 1, "rank") : MT_UNKNOWN;
        if (m.rank != MT_UNKNOWN && !mt_folder_counts_steps(m.part, m.n) &&
            !mt_folder_is_host(m.part, m.n))
            all[n++] = m;
    }
    qsort(all, n, sizeof *all, by_rank);
    for (size_t i = 1; i < n; i++) {
        const struct member *x = &all[i - 1], *y = &all[i];
        if (x->reader != y->reader || x->rank != y->rank || part_cmp(x, y) == 0 ||
            !has_others(all, n, x) || !has_others(all, n, y))
            continue;
        tell(folder, skip, x, y);
        break;
    }
    free(all);
}
