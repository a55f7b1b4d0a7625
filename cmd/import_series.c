/* memtool import --series: dumps of one process as one run. */
#include "cmd/import_file.h"
#include "lib/base/hash.h"
#include "lib/build/build.h"
#include "lib/model/series.h"
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- whose dumps they are ---- */

/* What stands before the process's own numbers in names that recorders give, with the process:
 * jemalloc's PREFIX.PID.SEQ.iN.heap, or .f at the end; gperftools' PREFIX.NNNN.heap. */
static const char *const names[] = {"^(.*[.][0-9]+)[.][0-9]+[.][a-z][0-9]*[.]heap([.](gz|zst))?$",
                                    "^(.*)[.][0-9]{4,}[.]heap([.](gz|zst))?$"};

/* n = 0: the name does not say. Points into path. */
static const char *process_of(const char *path, size_t *n)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    regmatch_t at[2];
    regex_t re;
    *n = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(names) && !*n; i++) {
        if (regcomp(&re, names[i], REG_EXTENDED) != 0)
            continue;
        if (regexec(&re, name, 2, at, 0) == 0)
            *n = (size_t)at[1].rm_eo;
        regfree(&re);
    }
    return name;
}

int mt_import_path_cmp(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (!isdigit((unsigned char)*x) || !isdigit((unsigned char)*y)) {
            if (*x != *y)
                return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++, y++;
            continue;
        }
        x += strspn(x, "0"), y += strspn(y, "0");
        size_t n = strspn(x, "0123456789"), m = strspn(y, "0123456789");
        int order = n != m ? (n < m ? -1 : 1) : strncmp(x, y, n);
        if (order)
            return order;
        x += n, y += m;
    }
    return *x || *y ? (*y ? -1 : 1) : strcmp(a, b);
}

static int dump_cmp(const void *a, const void *b)
{
    return mt_import_path_cmp(*(char *const *)a, *(char *const *)b);
}

void mt_import_series_sort(char **paths, size_t n)
{
    bool numbered = true, by_name = true;
    for (size_t i = 0; i < n; i++) {
        size_t name_n;
        process_of(paths[i], &name_n);
        numbered &= name_n > 0;
        by_name &= !i || strcmp(paths[i - 1], paths[i]) < 0;
    }
    if (numbered || by_name)
        qsort(paths, n, sizeof *paths, dump_cmp);
}

static enum mt_status check_process(char *const *paths, size_t n, struct mt_err *err)
{
    size_t first_n, next_n;
    const char *first = process_of(paths[0], &first_n);
    for (size_t i = 1; i < n; i++) {
        const char *next = process_of(paths[i], &next_n);
        if (first_n == next_n && strncmp(first, next, first_n) == 0)
            continue;
        MT_FAIL(err, MT_EUSAGE, "dumps of several processes: %s and %s", first, next);
        mt_err_hint(err, "Nothing was imported. --series makes a run of the dumps of one: name "
                         "its files.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

/* A file, and the place that it was named at. */
struct named {
    dev_t device;
    ino_t inode;
    size_t at;
};

static int named_cmp(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

/* A dump that counts twice would be a moment at which nothing grew. */
static enum mt_status check_once(char *const *paths, size_t n, struct mt_err *err)
{
    struct named *all = mt_alloc((n + 1) * sizeof *all);
    size_t all_n = 0, twice = 0;
    struct stat info;
    for (size_t i = 0; i < n; i++)
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &info) == 0)
            all[all_n++] = (struct named){info.st_dev, info.st_ino, i};
    qsort(all, all_n, sizeof *all, named_cmp);
    for (size_t i = 1; i < all_n && !twice; i++)
        if (all[i].device == all[i - 1].device && all[i].inode == all[i - 1].inode)
            twice = all[i].at;
    free(all);
    if (!twice)
        return MT_OK;
    mt_err_input(err, paths[twice]);
    MT_FAIL(err, MT_EUSAGE, "this file is named twice");
    mt_err_hint(err, "Nothing was imported. Each dump of --series counts once: name it once.");
    return MT_EUSAGE;
}

/* ---- reading ---- */

/* The series is of the format of its first dump. */
static enum mt_status begin(struct mt_recording *rec, const struct mt_recording *dump,
                            const char *name, struct mt_err *err)
{
    if (!rec->format) {
        rec->format = dump->format;
        rec->kind = dump->kind;
    }
    if (strcmp(rec->format, dump->format) == 0)
        return MT_OK;
    mt_err_input(err, name);
    MT_FAIL(err, MT_EUSAGE, "a file of %s, after one of %s", dump->format, rec->format);
    mt_err_hint(err, "Nothing was imported. --series makes a run of the dumps of one process.");
    return MT_EUSAGE;
}

static enum mt_status add_dump(struct mt_series *series, const char *path,
                               const struct mt_import_opts *how, struct mt_recording *rec,
                               struct mt_hash *hash, struct mt_err *err)
{
    struct mt_recording dump;
    char hex[33];
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_import_parse(path, how, &dump, hex, err));
    MT_TRY_OUT(begin(rec, &dump, path, err));
    MT_TRY_OUT(mt_series_add(series, &dump, path, err));
    mt_hash_add(hash, hex, strlen(hex));
out:
    if (st != MT_OK)
        mt_err_input(err, path);
    mt_rec_free(&dump);
    return st;
}

enum mt_status mt_import_series(char *const *paths, size_t n, const struct mt_import_opts *how,
                                struct mt_recording *rec, char hash[33], struct mt_err *err)
{
    struct mt_hash *all = mt_hash_new();
    struct mt_series *series = mt_series_new(rec);
    enum mt_status st = MT_OK;
    mt_rec_init(rec);
    mt_import_limit(NULL, how, rec);
    MT_TRY_OUT(check_once(paths, n, err));
    MT_TRY_OUT(check_process(paths, n, err));
    for (size_t i = 0; i < n; i++)
        MT_TRY_OUT(add_dump(series, paths[i], how, rec, all, err));
    mt_hash_hex(all, hash);
    MT_TRY_OUT(mt_series_close(series, err));
    MT_TRY_OUT(mt_base_apply(rec, &how->bases, err));
    st = mt_build_ops(rec, NULL, err);
out:
    mt_series_free(series);
    mt_hash_free(all);
    return st;
}
