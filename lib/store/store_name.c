/* What a run is called, and whether its content is there already. */
#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/base/mem.h"
#include "lib/store/store.h"
#include "lib/store/store_parts.h"
#include <stdio.h>
#include <string.h>

enum mt_status mt_store_find_run(struct mt_db *db, int query, const char *key, int64_t *id,
                                 char name[256], struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *id = 0;
    MT_TRY(mt_db_query(db, query, &s, err));
    mt_stmt_bind(s, "s", key);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    *id = mt_stmt_int(s, 0);
    if (name)
        snprintf(name, 256, "%s", mt_stmt_text(s, 1));
    MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}

/*
 * What tensorboard_trace_handler puts behind the name of a worker, "rank0.1795299858916001024", is
 * the time of the export: ".", then digits, milliseconds or finer. It tells nobody which run it is.
 */
static void drop_timestamp(char *name)
{
    enum { DIGITS_MIN = 13 }; /* of milliseconds; process ids and versions are shorter */
    char *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return;
    size_t n = strspn(dot + 1, "0123456789");
    if (n >= DIGITS_MIN && !dot[1 + n])
        *dot = '\0';
}

/*
 * What recorders of heaps put before the program or process: "heaptrack.prog.77", "massif.out.77".
 * A number alone is left as it is: it would mean another run.
 */
static void drop_recorder(char *name)
{
    static const char *const recorders[] = {"heaptrack.", "massif.out.", "dhat.out."};
    for (size_t i = 0; i < MT_ARRAY_LEN(recorders); i++) {
        size_t n = strlen(recorders[i]);
        const char *rest = name + n;
        if (strncmp(name, recorders[i], n) != 0 || !rest[strspn(rest, "0123456789")])
            continue;
        memmove(name, rest, strlen(rest) + 1);
        return;
    }
}

enum { NAME = 200 }; /* bytes of one that is made */

/* The last part of a path, without what says how it is packed, and when it was written. */
static void stem(const char *path, size_t n, char name[NAME])
{
    static const char *const endings[] = {".gz", ".zst",    ".lz4", ".json", ".trace",
                                          ".pt", ".pickle", ".pkl", ".heap", ".out",
                                          ".pb", ".bin",    ".raw"};
    const char *slash = memrchr(path, '/', n);
    const char *from = slash ? slash + 1 : path;
    size_t whole = (size_t)(path + n - from), fits = whole < NAME ? whole : NAME - 1;
    while (fits < whole && fits && ((unsigned char)from[fits] & 0xc0) == 0x80)
        fits--; /* no half of a character */
    snprintf(name, NAME, "%.*s", (int)fits, from);
    for (size_t i = 0; i < MT_ARRAY_LEN(endings); i++) {
        size_t len = strlen(name), e = strlen(endings[i]);
        if (len > e && strcmp(name + len - e, endings[i]) == 0)
            name[len - e] = '\0';
    }
    drop_timestamp(name);
    drop_recorder(name);
}

/* Puts the names of so many folders that a part of a path lies in before its stem, or of fewer that
 * fit. */
static void add_folders(const char *path, const char *part, int folders, char name[NAME])
{
    const char *from = part;
    struct mt_buf whole = {0};
    for (int i = 0; i < folders; i++) {
        const char *at = from;
        while (at > path && at[-1] == '/')
            at--;
        const char *end = at;
        while (at > path && at[-1] != '/')
            at--;
        const bool fits = (size_t)(part - at) + strlen(name) < NAME;
        if (at == end || !fits || strncmp(at, "./", 2) == 0 || strncmp(at, "../", 3) == 0)
            break;
        from = at;
    }
    mt_buf_add(&whole, from, (size_t)(part - from));
    mt_buf_adds(&whole, name);
    snprintf(name, NAME, "%s", whole.s);
    mt_buf_free(&whole);
}

/* Where the last part of a path begins, before end. */
static const char *last_part(const char *path, const char *end)
{
    const char *slash = memrchr(path, '/', (size_t)(end - path));
    return slash ? slash + 1 : path;
}

void mt_store_name_of(const char *source, int folders, char name[NAME])
{
    static const char group[] = "baseline:";
    const char *end = source + strlen(source), *part = last_part(source, end);
    stem(source, strlen(source), name);
    if (strcmp(name, "trace") == 0 && part > source + 1) {
        stem(source, (size_t)(part - 1 - source), name);
        part = last_part(source, part - 1);
    }
    if (strcmp(source, "-") == 0)
        snprintf(name, NAME, "stdin");
    else
        add_folders(source, part, folders, name);
    if (strncmp(name, group, sizeof group - 1) == 0)
        name[sizeof group - 2] = '-'; /* no run could be named by it */
    if (!*name || *name == '@' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        snprintf(name, NAME, "run"); /* no name for a run */
}

/* Stands for the new run in groups, until it is there. */
enum { COMING = 0 };

static enum mt_status move_groups(struct mt_db *db, int query, int64_t from, int64_t to,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, query, &s, err));
    mt_stmt_bind(s, "ii", from, to);
    return mt_stmt_run(s, err);
}

enum mt_status mt_store_join(struct mt_db *db, int64_t run, const char *group, struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, MT_Q_RUN_ADD_GROUP, &s, err));
    mt_stmt_bind(s, "is", run, group);
    return mt_stmt_run(s, err);
}

static enum mt_status leave_groups(struct mt_db *db, int64_t run, struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, MT_Q_RUN_DELETE_GROUPS, &s, err));
    mt_stmt_bind(s, "i", run);
    return mt_stmt_run(s, err);
}

enum mt_status mt_store_take_groups(struct mt_db *db, int64_t run, const struct mt_store_opts *o,
                                    struct mt_err *err)
{
    int move = o->again ? MT_Q_RUN_KEEP_GROUPS : MT_Q_RUN_MOVE_GROUPS;
    if (!o->group_n)
        return move_groups(db, move, COMING, run, err);
    MT_TRY(leave_groups(db, COMING, err));
    for (size_t i = 0; i < o->group_n; i++)
        MT_TRY(mt_store_join(db, run, o->groups[i], err));
    return MT_OK;
}

enum mt_status mt_store_set_group(struct mt_db *db, int64_t run, const char *group,
                                  struct mt_buf *left, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_store_check_group(group, err));
    MT_TRY(mt_db_query(db, MT_Q_RUN_OTHER_GROUPS, &s, err));
    mt_stmt_bind(s, "is", run, group);
    for (const char *comma = "";; comma = ", ") {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        mt_buf_addf(left, "%s'%s'", comma, mt_stmt_text(s, 0));
    }
    MT_TRY(leave_groups(db, run, err));
    return *group ? mt_store_join(db, run, group, err) : MT_OK;
}

/* Deletes the run of that name, which the new one replaces, and whose groups become those of the
 * new one. */
static enum mt_status replace(struct mt_db *db, int64_t id, const char *name,
                              struct mt_store_result *out, struct mt_err *err)
{
    snprintf(out->replaced[out->replaced_n++], sizeof out->replaced[0], "%s", name);
    MT_TRY(move_groups(db, MT_Q_RUN_MOVE_GROUPS, id, COMING, err));
    MT_TRY(leave_groups(db, id, err)); /* in which another such run was */
    return mt_store_delete(db, id, err);
}

/* Standard input, and the pipes of a shell's <(COMMAND), are others each time. */
static bool is_pipe(const char *source)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    bool is = strcmp(source, "-") == 0 || strcmp(source, "/dev/stdin") == 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(folders); i++)
        is |= strncmp(source, folders[i], strlen(folders[i])) == 0;
    return is;
}

/* Whether the run was read of that file, which may have other content by now. */
static enum mt_status is_of_source(struct mt_db *db, int64_t run, const char *source, bool *is,
                                   struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, MT_Q_RUN_OF_SOURCE, &s, err));
    mt_stmt_bind(s, "is", run, source);
    MT_TRY(mt_stmt_step(s, is, err));
    mt_stmt_end(s);
    *is = *is && !is_pipe(source);
    return MT_OK;
}

/* The run of that name, if it was read of that file. 0: it was not, or there is none. */
static enum mt_status named_of_source(struct mt_db *db, const struct mt_store_opts *o,
                                      const char *name, int64_t *taken, int64_t *id,
                                      struct mt_err *err)
{
    bool same = false;
    MT_TRY(mt_store_find_run(db, MT_Q_RUN_BY_NAME, name, taken, NULL, err));
    if (*taken && o->replace)
        MT_TRY(is_of_source(db, *taken, o->source, &same, err));
    *id = same ? *taken : 0;
    return MT_OK;
}

/* What was read of that file beside others has names of folders in its own. */
static enum mt_status find_with_folders(struct mt_db *db, const struct mt_store_opts *o,
                                        char name[256], int64_t *id, struct mt_err *err)
{
    enum { MOST = 8 };
    char made[NAME];
    int64_t taken;
    *id = 0;
    for (int folders = 0; o->replace && folders <= MOST && !*id; folders++) {
        mt_store_name_of(o->source, folders, made);
        MT_TRY(named_of_source(db, o, made, &taken, id, err));
        snprintf(name, 256, "%s", made);
    }
    return MT_OK;
}

/* A name made from the source's, with a number where others have it. A run of that file that has
 * it makes room, if wanted. */
static enum mt_status make_name(struct mt_db *db, const struct mt_store_opts *o,
                                struct mt_store_result *out, struct mt_err *err)
{
    int64_t id, taken;
    char base[NAME];
    MT_TRY(find_with_folders(db, o, out->name, &id, err));
    if (id)
        return replace(db, id, out->name, out, err);
    mt_store_name_of(o->source, o->folders, base);
    snprintf(out->name, sizeof out->name, "%s", base);
    for (int n = 2;; n++) {
        MT_TRY(named_of_source(db, o, out->name, &taken, &id, err));
        if (id)
            return replace(db, id, out->name, out, err);
        if (!taken)
            return MT_OK;
        snprintf(out->name, sizeof out->name, "%s-%d", base, n);
    }
}

enum mt_status mt_store_choose_name(struct mt_db *db, const struct mt_store_opts *o,
                                    struct mt_kept *kept, struct mt_store_result *out,
                                    struct mt_err *err)
{
    int64_t id;
    if (!o->name && kept->name[0]) {
        memcpy(out->name, kept->name, sizeof out->name);
        return MT_OK;
    }
    if (o->name) {
        snprintf(out->name, sizeof out->name, "%s", o->name);
        MT_TRY(mt_store_find_run(db, MT_Q_RUN_BY_NAME, o->name, &id, NULL, err));
        if (!id)
            return MT_OK;
        if (o->replace)
            return replace(db, id, out->name, out, err);
        MT_FAIL(err, MT_EUSAGE, "run '%s' already exists, with other content", o->name);
        mt_err_hint(err, "Nothing was imported. Choose another --name, or --replace it.");
        return MT_EUSAGE;
    }
    return make_name(db, o, out, err);
}

/* A run that is there already joins one more group, or becomes its latest. */
static enum mt_status join_group(struct mt_db *db, const char *group, struct mt_store_result *run,
                                 struct mt_err *err)
{
    struct mt_stmt *s;
    bool there, latest;
    MT_TRY(mt_db_query(db, MT_Q_RUN_IN_GROUP, &s, err));
    mt_stmt_bind(s, "is", run->run_id, group);
    MT_TRY(mt_stmt_step(s, &there, err));
    latest = there && mt_stmt_int(s, 0);
    mt_stmt_end(s);
    if (latest)
        return MT_OK;
    struct mt_buf *names = there ? &run->latest : &run->joined;
    mt_buf_addf(names, "%s'%s'", names->n ? ", " : "", group);
    return mt_store_join(db, run->run_id, group, err);
}

/* The run as it is found by its content makes room for itself. */
static enum mt_status import_again(struct mt_db *db, const struct mt_store_opts *o,
                                   struct mt_kept *kept, struct mt_store_result *out,
                                   struct mt_err *err)
{
    out->existed = out->run_id != o->again;
    if (out->existed)
        return MT_OK;
    memcpy(kept->name, out->name, sizeof kept->name);
    MT_TRY(move_groups(db, MT_Q_RUN_KEEP_GROUPS, o->again, COMING, err));
    return mt_store_delete(db, o->again, err);
}

/* The same content again: fine under the same name, an error under another. */
enum mt_status mt_store_check_content(struct mt_db *db, const struct mt_store_opts *o,
                                      struct mt_kept *kept, struct mt_store_result *out,
                                      struct mt_err *err)
{
    MT_TRY(mt_store_find_run(db, MT_Q_RUN_BY_HASH, o->hash, &out->run_id, out->name, err));
    if (o->again)
        return import_again(db, o, kept, out, err);
    if (!out->run_id)
        return MT_OK;
    if (o->replace) {
        int64_t id = out->run_id;
        out->run_id = 0;
        memcpy(kept->name, out->name, sizeof kept->name);
        return replace(db, id, out->name, out, err);
    }
    if (o->name && strcmp(o->name, out->name) != 0) {
        MT_FAIL(err, MT_EUSAGE, "this file is already imported as run '%s'", out->name);
        struct mt_buf rename = {0};
        mt_shell_word(&rename, o->name);
        mt_buf_addc(&rename, ' ');
        mt_shell_word(&rename, out->name);
        mt_err_hint(err, "Nothing was imported. Use '%s', or rename it: memtool runs --rename %s",
                    out->name, rename.s);
        mt_buf_free(&rename);
        return MT_EUSAGE;
    }
    out->existed = true;
    for (size_t i = 0; i < o->group_n; i++)
        MT_TRY(join_group(db, o->groups[i], out, err));
    return MT_OK;
}
