/* memtool import FOLDER: which files in it, and in folders inside it, are recordings. */
#include "cmd/import_folder.h"

#include "cmd/import_file.h"
#include "cmd/import_jobs.h"
#include "lib/base/human.h"
#include "lib/base/strtab.h"
#include "lib/input/stream.h"
#include "lib/run/job.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 8, MOST = 100000 }; /* folders inside each other; files that are looked at */

/* What a folder has. */
struct walk {
    const char *folder; /* as it was named */
    const struct mt_folder_opts *opts;
    struct mt_found all;            /* recordings */
    struct mt_import_paths unclear; /* do not say what their numbers are */
    struct mt_import_paths unread;  /* empty, or not to be opened */
    struct mt_import_paths links;   /* to files */
    struct mt_import_paths passed;
    size_t file_n, folder_n, hidden_n, link_n, deep_n; /* link_n: to folders */
};

void mt_import_paths_free(struct mt_import_paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i]);
    mt_vec_free(p);
}

static int path_cmp(const void *a, const void *b)
{
    return mt_import_path_cmp(*(char *const *)a, *(char *const *)b);
}

/* The reader of what the file looks like; NULL: of nothing. */
static const struct mt_reader *reader_of(const struct walk *w, struct mt_stream *in)
{
    struct mt_err ignored = MT_ERR_INIT;
    const char *head = NULL;
    size_t n = 0;
    if (!w->opts->pattern)
        return mt_reader_likely(in);
    mt_stream_peek(in, MT_PROBE_BYTES, &head, &n, &ignored);
    return mt_text_pattern_is_in(w->opts->pattern, head, n) ? &mt_reader_memory_text : NULL;
}

/* Sorts a file into what it is. Takes the path. */
static void look_at_file(struct walk *w, char *path, const struct stat *info)
{
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_stream *in = NULL;
    w->file_n++;
    if (!info->st_size || access(path, R_OK) != 0) {
        *mt_vec_push(&w->unread) = path;
        return;
    }
    const struct mt_reader *reader =
        mt_stream_open(path, &in, &ignored) == MT_OK ? reader_of(w, in) : NULL;
    mt_stream_close(in);
    if (!reader)
        *mt_vec_push(&w->passed) = path;
    else if (strcmp(reader->name, "collapsed") == 0 && !w->opts->values)
        *mt_vec_push(&w->unclear) = path;
    else
        *mt_vec_push(&w->all) = (struct mt_found_file){path, reader};
}

static enum mt_status walk(struct walk *w, const char *folder, int depth, struct mt_err *err);

/* Takes the path of an entry. */
static enum mt_status look_at(struct walk *w, char *path, int depth, struct mt_err *err)
{
    struct stat info, target;
    enum mt_status st = MT_OK;
    const bool there = lstat(path, &info) == 0;
    const bool link = there && S_ISLNK(info.st_mode) && stat(path, &target) == 0;
    if (there && S_ISREG(info.st_mode)) {
        look_at_file(w, path, &info);
        return MT_OK;
    }
    if (link && S_ISREG(target.st_mode)) {
        *mt_vec_push(&w->links) = path;
        return MT_OK;
    }
    if (!there || (S_ISLNK(info.st_mode) && !link)) { /* such as a link to a file that is gone */
        w->file_n++;
        *mt_vec_push(&w->unread) = path;
        return MT_OK;
    }
    w->link_n += link && S_ISDIR(target.st_mode);
    if (there && S_ISDIR(info.st_mode)) {
        w->folder_n++;
        w->deep_n += w->opts->nested && depth == DEEPEST;
        if (w->opts->nested && depth < DEEPEST)
            st = walk(w, path, depth + 1, err);
    }
    free(path);
    return st;
}

static enum mt_status too_many(const struct walk *w, struct mt_err *err)
{
    mt_err_input(err, w->folder);
    MT_FAIL(err, MT_EUSAGE, "there are more than 100,000 files below this folder");
    mt_err_hint(err, "Nothing was imported. Name those inside it that have recordings.");
    return MT_EUSAGE;
}

static enum mt_status walk(struct walk *w, const char *folder, int depth, struct mt_err *err)
{
    enum mt_status st = MT_OK;
    const size_t n = strlen(folder);
    const char *slash = n && folder[n - 1] == '/' ? "" : "/";
    DIR *dir = opendir(folder);
    if (!dir && depth) { /* reading it says why */
        *mt_vec_push(&w->all) = (struct mt_found_file){mt_strdup(folder), NULL};
        return MT_OK;
    }
    if (!dir) {
        mt_err_input(err, folder);
        return MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    }
    for (struct dirent *e; st == MT_OK && (e = readdir(dir));) {
        const bool self = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        w->hidden_n += e->d_name[0] == '.' && !self;
        if (e->d_name[0] != '.')
            st = look_at(w, mt_asprintf("%s%s%s", folder, slash, e->d_name), depth, err);
        if (st == MT_OK && w->file_n > MOST)
            st = too_many(w, err);
    }
    closedir(dir);
    return st;
}

/* ---- what was put off ---- */

static void add_text(struct mt_strtab *t, const char *text)
{
    mt_strtab_add(t, text, strlen(text));
}

/* found: paths below the root. */
static bool is_found(const struct mt_strtab *found, const char *root, const char *path)
{
    char *real = realpath(path, NULL);
    const size_t n = strlen(root);
    const bool is =
        real && strncmp(real, root, n) == 0 && real[n] == '/' && mt_strtab_has(found, real + n + 1);
    free(real);
    return is;
}

/* Links to files that are found themselves are not a second one. */
static void follow_links(struct walk *w)
{
    struct mt_strtab found;
    char *root = realpath(w->folder, NULL);
    const size_t folder_n = strlen(w->folder);
    mt_strtab_init(&found);
    for (size_t i = 0; i < w->all.n && w->links.n; i++)
        add_text(&found, w->all.v[i].path + folder_n + (w->folder[folder_n - 1] != '/'));
    for (size_t i = 0; i < w->links.n; i++) {
        struct stat info;
        char *path = w->links.v[i];
        if ((root && is_found(&found, root, path)) || stat(path, &info) != 0)
            free(path);
        else
            look_at_file(w, path, &info);
    }
    w->links.n = 0;
    mt_strtab_free(&found);
    free(root);
}

static const char *ending(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot ? dot : "";
}

/* What cannot be opened fails, as if it had been named. An empty rank3.pickle beside others is what
 * a rank failed to write; an empty marker is not. */
static void judge_unread(struct walk *w)
{
    struct mt_strtab endings;
    mt_strtab_init(&endings);
    for (size_t i = 0; i < w->all.n && w->unread.n; i++)
        add_text(&endings, ending(w->all.v[i].path));
    for (size_t i = 0; i < w->unread.n; i++) {
        char *path = w->unread.v[i];
        if (access(path, R_OK) != 0 || mt_strtab_has(&endings, ending(path)))
            *mt_vec_push(&w->all) = (struct mt_found_file){path, NULL};
        else
            *mt_vec_push(&w->passed) = path;
    }
    w->unread.n = 0;
    mt_strtab_free(&endings);
}

/* What is called as recordings are but for its numbers, and is none, is one that was cut at its
 * beginning, or overwritten: reading it says what is wrong. */
static void judge_passed(struct walk *w)
{
    struct mt_strtab names;
    const size_t n = w->passed.n;
    mt_strtab_init(&names);
    for (size_t i = 0; i < w->all.n; i++) {
        char *name = mt_without_numbers(w->all.v[i].path);
        add_text(&names, name);
        free(name);
    }
    w->passed.n = 0;
    for (size_t i = 0; i < n; i++) {
        char *path = w->passed.v[i], *name = mt_without_numbers(path);
        if (mt_strtab_has(&names, name))
            *mt_vec_push(&w->all) = (struct mt_found_file){path, NULL};
        else
            w->passed.v[w->passed.n++] = path;
        free(name);
    }
    mt_strtab_free(&names);
}

/* Stacks with numbers may be of times, as prof.export_stacks() writes them beside a trace; where
 * there is nothing else, they are meant. */
static void judge_unclear(struct walk *w)
{
    if (w->all.n)
        return;
    for (size_t i = 0; i < w->unclear.n; i++)
        *mt_vec_push(&w->all) = (struct mt_found_file){w->unclear.v[i], NULL};
    w->unclear.n = 0;
}

/* ---- what is said ---- */

/* A few of the files, by their paths in the folder: " (a, b, c, ...)". */
static void add_names(struct mt_buf *out, const struct walk *w, struct mt_import_paths *files)
{
    enum { SHOWN = 3 };
    const size_t n = strlen(w->folder);
    qsort(files->v, files->n, sizeof *files->v, path_cmp);
    for (size_t i = 0; i < files->n && i < SHOWN; i++) {
        const char *inside = files->v[i] + n;
        mt_buf_adds(out, i ? ", " : " (");
        mt_escape_terminal(out, inside + (*inside == '/'));
    }
    mt_buf_adds(out, files->n > SHOWN ? ", ...)" : ")");
}

/* Lest a broken one goes unnoticed. */
static void tell_passed_over(struct walk *w)
{
    static const char *const why[2][2] = {
        {"do not look like recordings and were", "does not look like a recording and was"},
        {"have no line that matches --pattern and were",
         "has no line that matches --pattern and was"}};
    struct mt_buf where = {0}, names = {0};
    char n[MT_HUMAN_LONG];
    mt_escape_terminal(&where, w->folder);
    if (w->passed.n) {
        add_names(&names, w, &w->passed);
        fprintf(stderr, "%s: %zu of %zu files %s passed over%s\n", where.s, w->passed.n, w->file_n,
                why[w->opts->pattern != NULL][w->passed.n == 1], names.s);
    }
    if (w->unclear.n) {
        mt_buf_clear(&names);
        add_names(&names, w, &w->unclear);
        fprintf(stderr,
                "%s: %s of stacks, which may count times as well as bytes, passed over%s; "
                "--values at-end takes them\n",
                where.s, mt_human_plural((int64_t)w->unclear.n, "file", n), names.s);
    }
    mt_buf_clear(&names);
    const struct {
        size_t n;
        const char *is, *are;
    } skipped[] = {{w->hidden_n, "hidden file or folder", "hidden files and folders"},
                   {w->link_n, "link to a folder", "links to folders"},
                   {w->deep_n, "folder 8 levels down", "folders 8 levels down"}};
    for (size_t i = 0; i < MT_ARRAY_LEN(skipped); i++)
        if (skipped[i].n)
            mt_buf_addf(&names, "%s%zu %s", names.n ? ", " : "", skipped[i].n,
                        skipped[i].n == 1 ? skipped[i].is : skipped[i].are);
    if (names.n)
        fprintf(stderr, "%s: not looked into: %s\n", where.s, names.s);
    mt_buf_free(&where);
    mt_buf_free(&names);
}

static enum mt_status nothing_found(const struct walk *w, struct mt_err *err)
{
    char files[MT_HUMAN_LONG];
    mt_err_input(err, w->folder);
    MT_FAIL(err, MT_EUSAGE, "there is no %s in this folder (%s looked at%s)",
            w->opts->pattern ? "text with a line that matches --pattern" : "trace",
            mt_human_plural((int64_t)w->file_n, "file", files),
            w->hidden_n ? "; hidden ones were not" : "");
    if (w->folder_n && !w->opts->nested)
        mt_err_hint(err, "Nothing was imported. With --series folders inside it are not searched: "
                         "name the one that has the dumps.");
    else if (w->link_n)
        mt_err_hint(err, "Nothing was imported. Links to folders are not followed: name what they "
                         "lead to.");
    else if (w->deep_n)
        mt_err_hint(err,
                    "Nothing was imported. Folders more than %d levels down are not searched: "
                    "name one further inside.",
                    DEEPEST);
    else
        mt_err_hint(err, "Nothing was imported.");
    return MT_EUSAGE;
}

static int found_cmp(const void *a, const void *b)
{
    const struct mt_found_file *x = a, *y = b;
    return mt_import_path_cmp(x->path, y->path);
}

enum mt_status mt_import_folder(const char *folder, const struct mt_folder_opts *opts,
                                struct mt_import_paths *out, struct mt_err *err)
{
    struct walk w = {.folder = folder, .opts = opts};
    enum mt_status st = walk(&w, folder, 0, err);
    if (st == MT_OK) {
        follow_links(&w);
        judge_unclear(&w);
        judge_passed(&w);
        judge_unread(&w);
        st = w.all.n ? MT_OK : nothing_found(&w, err);
    }
    if (st == MT_OK) {
        qsort(w.all.v, w.all.n, sizeof *w.all.v, found_cmp);
        tell_passed_over(&w);
        if (opts->grouped)
            mt_import_tell_jobs(folder, &w.all);
    }
    for (size_t i = 0; i < w.all.n; i++)
        *mt_vec_push(out) = w.all.v[i].path;
    mt_vec_free(&w.all);
    mt_import_paths_free(&w.unclear);
    mt_import_paths_free(&w.unread);
    mt_import_paths_free(&w.links);
    mt_import_paths_free(&w.passed);
    return st;
}
