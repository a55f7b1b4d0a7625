/* The option --by, of all commands that have it. */
#include "cmd/by.h"

#include "cmd/common.h"
#include "lib/base/nearest.h"
#include "lib/run/knows.h"
#include "lib/run/own_categories.h"

#include <string.h>

#define ENTRY(key, name, span, ops, meaning) {name, meaning},
const struct mt_glossary_entry mt_by_of_blocks[] = {MT_GROUP_KEYS_OF_BLOCKS(ENTRY){0}};
const struct mt_glossary_entry mt_by_of_ops[] = {MT_GROUP_KEYS_OF_OPS(ENTRY){0}};
const struct mt_glossary_entry mt_by_of_devices[] = {
    MT_GROUP_KEYS_OF_OPS(ENTRY){"device", "each device separately"}, {0}};
#undef ENTRY

static const struct mt_glossary_entry *words_of(const struct mt_cmd *cmd)
{
    const struct mt_glossary *words = cmd->words;
    while (!words->option || strcmp(words->option, "by") != 0)
        words++;
    return words->all;
}

/* A key of labels is taken where labels are. */
static bool takes(const struct mt_cmd *cmd, const char *key, size_t n)
{
    const size_t prefix = strlen(MT_LABEL_KEY);
    if (n > prefix && memcmp(key, MT_LABEL_KEY, prefix) == 0)
        n = prefix - strlen(":");
    for (const struct mt_glossary_entry *w = words_of(cmd); w->word; w++)
        if (strlen(w->word) == n && memcmp(w->word, key, n) == 0)
            return true;
    return false;
}

static enum mt_status unknown_key(const struct mt_cmd *cmd, const char *key, size_t n,
                                  struct mt_err *err)
{
    struct mt_buf known = {0};
    const struct mt_glossary_entry *words = words_of(cmd);
    const char *names[64];
    char *given = mt_strndup(key, n);
    size_t name_n = 0;
    for (const struct mt_glossary_entry *w = words; w->word && name_n < MT_ARRAY_LEN(names); w++)
        names[name_n++] = w->word;
    mt_did_you_mean(given, names, name_n, &known);
    for (size_t i = 0; i < name_n; i++)
        mt_buf_addf(&known, "%s%s", i ? ", " : "Keys: ", names[i]);
    free(given);
    MT_FAIL(err, MT_EUSAGE, "%s: unknown --by key '%.*s'", cmd->name, (int)n, key);
    mt_err_hint(err, "%s%s.", known.s, words[1].word ? "; separate several by commas" : "");
    mt_buf_free(&known);
    return MT_EUSAGE;
}

/* Adds a key that the command takes; false: it is there already. */
static bool add(struct mt_by *out, const char *key, size_t n)
{
    enum mt_group_key found = mt_group_key_find(key, n);
    if (found == MT_BY_N) { /* the command's own */
        bool again = out->device;
        out->device = true;
        return !again;
    }
    for (int i = 0; i < out->n; i++)
        if (out->v[i] == found)
            return false;
    out->v[out->n++] = found;
    return true;
}

static enum mt_status add_list(const struct mt_cmd *cmd, const char *list, struct mt_by *out,
                               struct mt_err *err)
{
    for (const char *p = list, *next; p; p = next) { /* the last one too, be it empty */
        size_t n = strcspn(p, ",");
        next = p[n] ? p + n + 1 : NULL;
        if (!takes(cmd, p, n))
            return unknown_key(cmd, p, n, err);
        if (memchr(p, ':', n) && mt_group_key_find(p, n) == MT_BY_N) {
            MT_FAIL(err, MT_EUSAGE, "--by: too long, or more than %d keys of labels",
                    MT_LABEL_KEYS);
            mt_err_hint(err, "--by label has all labels together.");
            return MT_EUSAGE;
        }
        if (!add(out, p, n)) {
            MT_FAIL(err, MT_EUSAGE, "--by names '%.*s' twice", (int)n, p);
            mt_err_hint(err, "Name each key once.");
            return MT_EUSAGE;
        }
    }
    return MT_OK;
}

enum mt_status mt_by_parse(const struct mt_cmd *cmd, const char *by, const char *fallback,
                           struct mt_by *out, struct mt_err *err)
{
    *out = (struct mt_by){0};
    if (by)
        MT_TRY(add_list(cmd, by, out, err));
    return out->n ? MT_OK : add_list(cmd, fallback, out, err);
}

enum mt_status mt_by_known(const struct mt_by *by, struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, struct mt_err *err)
{
    static const unsigned needs[MT_BY_N] = {
        [MT_BY_MODULE] = MT_KNOWS_OPS,          [MT_BY_PHASE] = MT_KNOWS_OPS,
        [MT_BY_SHAPE] = MT_KNOWS_OPS,           [MT_BY_THREAD] = MT_KNOWS_THREADS,
        [MT_BY_FORWARD] = MT_KNOWS_OPS,         [MT_BY_STEP] = MT_KNOWS_STEPS,
        [MT_BY_OBJECT] = MT_KNOWS_PLACES,       [MT_BY_FILE] = MT_KNOWS_PLACES,
        [MT_BY_CATEGORY] = MT_KNOWS_CATEGORIES, [MT_BY_WHY] = MT_KNOWS_CATEGORIES | MT_KNOWS_BLOCKS,
        [MT_BY_LABEL] = MT_KNOWS_LABELS,        [MT_BY_SIZE] = MT_KNOWS_SIZES,
        [MT_BY_TENSOR] = MT_KNOWS_OPS,          [MT_BY_DTYPE] = MT_KNOWS_OPS};
    /* where there are events, what one of them lacks is a row of its own */
    const unsigned always = MT_KNOWS_PLACES | MT_KNOWS_CATEGORIES | MT_KNOWS_LABELS;
    const unsigned asked = mt_device_has_events(device) ? always : ~0u;
    for (int k = 0; k < by->n; k++) {
        const char *label = mt_group_label_key(by->v[k]);
        bool own = by->v[k] == MT_BY_CATEGORY && mt_own_categories_used(); /* any path may have */
        if (!own)
            MT_TRY(mt_knows(run, device, label ? MT_KNOWS_LABELS : needs[by->v[k]] & asked, err));
        if (label)
            MT_TRY(mt_knows_label(db, run, label, err));
        if (by->v[k] == MT_BY_LINE)
            MT_TRY(mt_knows_lines(db, run, err));
        if (by->v[k] == MT_BY_LAYER)
            MT_TRY(mt_knows_layers(db, run, err));
        if (by->v[k] == MT_BY_TENSOR || by->v[k] == MT_BY_DTYPE)
            MT_TRY(mt_knows_tensors(db, run, device, err));
    }
    return MT_OK;
}

struct mt_by mt_by_any_label(const struct mt_by *by)
{
    struct mt_by out = *by;
    for (int k = 0; k < out.n; k++)
        if (mt_group_label_key(out.v[k]))
            out.v[k] = MT_BY_LABEL;
    return out;
}

enum mt_status mt_by_finer(struct mt_by *by, const char *asked, struct mt_db *db,
                           const struct mt_run *run, struct mt_err *err)
{
    bool lines = false;
    if (!asked)
        MT_TRY(mt_run_has_lines(db, run, &lines, err));
    if (lines && !mt_group_has(by->v, by->n, MT_BY_TOP))
        by->v[by->n++] = MT_BY_TOP;
    return MT_OK;
}

void mt_by_note_frames(const struct mt_by *by, const struct mt_run *run, struct mt_report *r)
{
    bool told = mt_group_has(by->v, by->n, MT_BY_WHY) ||
                (mt_group_has(by->v, by->n, MT_BY_CATEGORY) && !mt_own_categories_used());
    if (told)
        mt_report_categories(r, run);
}

enum mt_status mt_by_note_lines(const struct mt_by *by, struct mt_db *db, const struct mt_run *run,
                                struct mt_report *r, struct mt_err *err)
{
    bool lines = false;
    mt_by_note_frames(by, run, r);
    if (mt_group_has(by->v, by->n, MT_BY_SITE) || mt_group_has(by->v, by->n, MT_BY_LINE))
        MT_TRY(mt_run_has_lines(db, run, &lines, err));
    if (lines)
        mt_report_note(r, MT_NOTE_OF_LINES);
    return MT_OK;
}

unsigned mt_by_about(const struct mt_by *by)
{
    unsigned about = 0;
    for (int k = 0; k < by->n; k++)
        about |= by->v[k] == MT_BY_STEP                                ? MT_ABOUT_STEPS
                 : by->v[k] == MT_BY_FORWARD                           ? MT_ABOUT_FORWARD
                 : by->v[k] == MT_BY_CATEGORY || by->v[k] == MT_BY_WHY ? MT_ABOUT_CATEGORIES
                 : by->v[k] == MT_BY_SITE || by->v[k] == MT_BY_SCOPE   ? MT_ABOUT_SCOPES
                                                                       : 0u;
    return about;
}
