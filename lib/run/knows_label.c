/* Which labels a run has, whether it has lines, layers and tensors: what is asked of its rows. */
#include "gen/queries.h"
#include "lib/base/nearest.h"
#include "lib/base/wrap.h"
#include "lib/model/label_text.h"
#include "lib/model/python_files.h"
#include "lib/run/knows.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64 }; /* keys */

struct keys {
    char *v[SHOWN];
    size_t n;
    bool found;
};

static void add_key(struct keys *keys, const char *key, const char *wanted)
{
    keys->found |= strcmp(key, wanted) == 0;
    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->v[i], key) == 0)
            return;
    if (keys->n < SHOWN)
        keys->v[keys->n++] = mt_asprintf("%s", key);
}

static enum mt_status read_keys(struct mt_db *db, const struct mt_run *run, const char *wanted,
                                struct keys *out, struct mt_err *err)
{
    struct mt_stmt *s;
    struct mt_buf key = {0}, value = {0};
    enum mt_status st;
    bool row = true;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_LABELS, &s, err));
    mt_stmt_bind(s, "ii", run->node_first, mt_wrap_add(run->node_first, run->node_n));
    while ((st = mt_stmt_step(s, &row, err)) == MT_OK && row)
        for (const char *at = mt_stmt_text(s, 0); at && mt_label_next(&at, &key, &value);)
            add_key(out, key.s, wanted);
    mt_buf_free(&key);
    mt_buf_free(&value);
    return st;
}

enum mt_status mt_knows_label(struct mt_db *db, const struct mt_run *run, const char *key,
                              struct mt_err *err)
{
    struct keys keys = {0};
    struct mt_buf hint = {0};
    enum mt_status st = read_keys(db, run, key, &keys, err);
    if (st == MT_OK && !keys.found) {
        mt_did_you_mean(key, (const char *const *)keys.v, keys.n, &hint);
        for (size_t i = 0; i < keys.n; i++)
            mt_buf_addf(&hint, "%s%s", i ? ", " : "Labels: ", keys.v[i]);
        MT_FAIL(err, MT_EUSAGE, "%s has no label '%s'", run->name, key);
        mt_err_hint(err, "%s.", hint.s);
        st = MT_EUSAGE;
    }
    for (size_t i = 0; i < keys.n; i++)
        free(keys.v[i]);
    mt_buf_free(&hint);
    return st;
}

enum mt_status mt_knows_tensors(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_err *err)
{
    struct mt_stmt *s;
    bool any;
    MT_TRY(mt_db_query(db, MT_Q_TENSOR_ANY, &s, err));
    mt_stmt_bind(s, "iii", run->alloc_first, mt_wrap_add(run->alloc_first, run->alloc_n),
                 device->id);
    MT_TRY(mt_stmt_step(s, &any, err));
    mt_stmt_end(s);
    if (any)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s', %s: it does not say which tensors its memory belongs to",
            run->name, device->name);
    mt_err_cannot_tell(err);
    mt_hint_again(run, err);
    mt_err_hint(err,
                "Traces recorded by PyTorch 2.1 or later with record_shapes=True do. If an older "
                "memtool imported this one, `memtool import --replace FILE` imports it again.");
    return MT_EUSAGE;
}

/* ---- functions of Python ---- */

static bool is_module(const char *name)
{
    return strncmp(name, MT_MODULE_FRAME, strlen(MT_MODULE_FRAME)) == 0;
}

/* Whether a trace has a function like that; they are mostly the outermost ones. */
static enum mt_status find_function(struct mt_db *db, const struct mt_run *run,
                                    bool (*is)(const char *name), bool *found, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *found = false;
    if (run->kind != MT_RUN_TRACE)
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_PYTHON_FRAMES, &s, err));
    mt_stmt_bind(s, "ii", run->node_first, mt_wrap_add(run->node_first, run->node_n));
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        if ((*found = is(mt_stmt_text(s, 0))))
            break;
    }
    mt_stmt_end(s);
    return MT_OK;
}

enum mt_status mt_run_has_lines(struct mt_db *db, const struct mt_run *run, bool *has,
                                struct mt_err *err)
{
    return find_function(db, run, mt_python_is_users, has, err);
}

enum mt_status mt_run_has_layers(struct mt_db *db, const struct mt_run *run, bool *has,
                                 struct mt_err *err)
{
    return find_function(db, run, is_module, has, err);
}

static enum mt_status fail_no_stacks(const struct mt_run *run, const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "run '%s': its call paths have no %s", run->name, what);
    mt_err_cannot_tell(err);
    mt_err_hint(err,
                run->kind == MT_RUN_TRACE
                    ? "Traces have them that are recorded with with_stack=True. --by site has "
                      "the top op in its scope."
                    : "Only traces of PyTorch's profiler have them. --by site has the function "
                      "that allocated.");
    return MT_EUSAGE;
}

enum mt_status mt_knows_lines(struct mt_db *db, const struct mt_run *run, struct mt_err *err)
{
    bool has;
    MT_TRY(mt_run_has_lines(db, run, &has, err));
    return has || run->kind != MT_RUN_TRACE ? MT_OK
                                            : fail_no_stacks(run, "lines of your code", err);
}

enum mt_status mt_knows_layers(struct mt_db *db, const struct mt_run *run, struct mt_err *err)
{
    bool has;
    MT_TRY(mt_run_has_layers(db, run, &has, err));
    return has ? MT_OK : fail_no_stacks(run, "nn.Modules", err);
}
