#include "cmd/common.h"
#include "gen/queries.h"
#include "lib/base/nearest.h"
#include <stdlib.h>
#include <string.h>

/* Where the next table or view begins in the schema, and its name; NULL: there are no more. */
static const char *next_object(const char *at, char name[64])
{
    static const char *const begins[] = {"\nCREATE TABLE ", "\nCREATE VIEW "};
    const char *first = NULL, *word = NULL;
    for (size_t i = 0; i < MT_ARRAY_LEN(begins); i++) {
        const char *found = strstr(at, begins[i]);
        if (found && (!first || found < first)) {
            first = found;
            word = found + strlen(begins[i]);
        }
    }
    if (!first)
        return NULL;
    snprintf(name, 64, "%.*s", (int)strcspn(word, " ("), word);
    return first + 1;
}

/* With what is said above it, and up to the end of the statement. */
static char *text_of(const char *sql, const char *object)
{
    const char *from = object, *end = strstr(object, ";\n");
    for (;;) {
        const char *line = from - 1;
        while (line > sql && line[-1] != '\n')
            line--;
        if (line <= sql || line[0] != '-')
            break;
        from = line;
    }
    return mt_strndup(from, end ? (size_t)(end + 2 - from) : strlen(from));
}

static enum mt_status show_one(const char *wanted, struct mt_err *err)
{
    const char *sql = mt_queries[MT_Q_SCHEMA].sql;
    char names[128][64];
    const char *list[128];
    size_t n = 0;
    for (const char *at = sql; n < MT_ARRAY_LEN(names) && (at = next_object(at, names[n])); n++) {
        list[n] = names[n];
        if (strcmp(names[n], wanted) != 0)
            continue;
        char *text = text_of(sql, at);
        enum mt_status st = mt_show_text(text, err);
        free(text);
        return st;
    }
    struct mt_buf near = {0};
    mt_did_you_mean(wanted, list, n, &near);
    MT_FAIL(err, MT_EUSAGE, "there is no table or view '%s'", wanted);
    mt_err_hint(err, "%s`memtool schema` shows all.", near.s);
    mt_buf_free(&near);
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    return args->n ? show_one(args->v[0], err) : mt_show_text(mt_queries[MT_Q_SCHEMA].sql, err);
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_schema = {
    .name = "schema",
    .summary = "show the tables and views, every column explained",
    .usage = "[TABLE|VIEW]",
    .examples = "  memtool schema | less\n  memtool schema v_device\n",
    .opts = opts,
    .without = "format bytes",
    .args_max = 1,
    .run = run,
};
