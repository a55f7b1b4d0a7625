#include "lib/analysis/suppressions.h"

#include "gen/queries.h"
#include "lib/input/fields.h"
#include "lib/input/json_doc.h"
#include "lib/input/lines.h"
#include <stdlib.h>
#include <string.h>

void mt_suppressions_free(struct mt_suppressions *s)
{
    for (size_t i = 0; i < s->v.n; i++)
        free(s->v.v[i]);
    mt_vec_free(&s->v);
}

/* Takes a line "leak:PATTERN", or one that says nothing. */
static enum mt_status add_line(void *closure, const char *line, size_t line_n, struct mt_err *err)
{
    struct mt_suppressions *s = closure;
    struct mt_fields f = mt_fields_of(line, line_n);
    const char *pattern;
    size_t n = 0;
    if (mt_field_end(&f) || *f.p == '#')
        return MT_OK;
    if (mt_field_take(&f, "leak:"))
        mt_field_rest(&f, &pattern, &n);
    if (!n)
        return MT_FAIL(err, MT_EINPUT, "this is no suppression of leaks");
    *mt_vec_push(&s->v) = mt_strndup(pattern, n);
    return MT_OK;
}

enum mt_status mt_suppressions_read(struct mt_suppressions *s, const char *path, struct mt_err *err)
{
    return mt_lines_file(path, add_line, s, "Nothing was judged.",
                         "A line is \"leak:\" and a pattern for functions, files or libraries, or "
                         "a comment that begins with #.",
                         err);
}

void mt_suppressions_add_usual(struct mt_suppressions *s)
{
    static const char *const usual[] = {
        "__nss_module_allocate", "__gconv_read_conf",  "__new_exitfn",  "tzset_internal",
        "dl_open_worker",        "g_main_context_new", "g_thread_self",
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(usual); i++)
        *mt_vec_push(&s->v) = mt_strdup(usual[i]);
}

enum mt_status mt_suppressions_add_embedded(struct mt_suppressions *s, struct mt_db *db,
                                            const struct mt_run *run, struct mt_err *err)
{
    struct mt_stmt *rows;
    bool row;
    enum mt_status st;
    MT_TRY(mt_db_query(db, MT_Q_RUN_SUPPRESSIONS, &rows, err));
    mt_stmt_bind(rows, "i", run->id);
    while ((st = mt_stmt_step(rows, &row, err)) == MT_OK && row) {
        struct mt_err ignored = MT_ERR_INIT;
        struct mt_json_doc doc = {0};
        const char *json = mt_stmt_text(rows, 0);
        if (mt_json_doc_parse("", json, strlen(json), &doc, &ignored) == MT_OK &&
            mt_json_doc_root(&doc)->kind == MT_JSON_DOC_TEXT) {
            const char *text = mt_json_doc_root(&doc)->text;
            /* heaptrack leaves out what it does not know, too */
            add_line(s, text, strlen(text), &ignored);
        }
        mt_json_doc_free(&doc);
    }
    return st;
}

/* ---- matching ---- */

bool mt_suppression_matches(const char *pattern, const char *text)
{
    bool at_start = *pattern == '^', any = false;
    pattern += at_start;
    if (!*text)
        return false;
    while (*pattern) {
        if (*pattern == '*') {
            pattern++;
            at_start = false;
            any = true;
            continue;
        }
        if (*pattern == '$')
            return !*text || any;
        size_t n = strcspn(pattern, "*$");
        const char *found = memmem(text, strlen(text), pattern, n);
        if (!found || (at_start && found != text))
            return false;
        text = found + n;
        pattern += n;
        at_start = any = false;
    }
    return true;
}

enum { UNASKED = UINT32_MAX - 1 };

/* A pattern that matches a text of the tree; known: by its id. */
static uint32_t pattern_of(const struct mt_suppressions *s, const struct mt_tree *t, uint32_t text,
                           uint32_t *known)
{
    if (text == MT_NONE)
        return MT_NONE;
    if (known[text] != UNASKED)
        return known[text];
    known[text] = MT_NONE;
    for (size_t i = 0; i < s->v.n && known[text] == MT_NONE; i++)
        if (mt_suppression_matches(s->v.v[i], mt_strtab_get(&t->strings, text)))
            known[text] = (uint32_t)i;
    return known[text];
}

uint32_t *mt_suppressions_of_nodes(const struct mt_suppressions *s, const struct mt_tree *t)
{
    uint32_t *of = mt_alloc((t->nodes.n + 1) * sizeof *of);
    uint32_t *known = mt_alloc((t->strings.n + 1) * sizeof *known);
    for (uint32_t i = 0; i < t->strings.n; i++)
        known[i] = UNASKED;
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *n = &t->nodes.v[i];
        const uint32_t texts[] = {n->frame, n->file, n->object};
        of[i] = n->parent < i ? of[n->parent] : MT_NONE;
        for (size_t k = 0; k < MT_ARRAY_LEN(texts) && of[i] == MT_NONE; k++)
            of[i] = pattern_of(s, t, texts[k], known);
    }
    free(known);
    return of;
}
