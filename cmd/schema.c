/* memtool schema: what the database consists of, and rollups in others (memtool export --rollup).
 */
#include "cmd/common.h"
#include "gen/assets.h"
#include "gen/queries.h"
#include "lib/base/nearest.h"
#include <stdlib.h>
#include <string.h>

static const char *dialect;

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

/* Another database that rollups go to: how its tables are made, and what is asked of them. */
static const struct dialect {
    const char *name, *tables,
        *reports; /* reports: blocks, each below "-- name: NAME"; NULL: none */
} dialects[] = {{"clickhouse", mt_asset_clickhouse_schema_sql, mt_asset_clickhouse_reports_sql},
                {"duckdb", mt_asset_duckdb_sql, NULL}};

#define BLOCK "-- name: "

static void add_reports(const struct dialect *d, struct mt_buf *names)
{
    const char *at = d->reports;
    while (at && (at = strstr(at, BLOCK))) {
        at += strlen(BLOCK);
        mt_buf_adds(names, names->n ? ", " : "");
        mt_buf_add(names, at, strcspn(at, "\n"));
    }
}

/* A block without its name, up to the next. */
static enum mt_status show_report(const struct dialect *d, const char *wanted, struct mt_err *err)
{
    struct mt_buf names = {0};
    char *line = mt_asprintf(BLOCK "%s\n", wanted);
    const char *at = d->reports ? strstr(d->reports, line) : NULL;
    const char *from = at ? at + strlen(line) : NULL, *end = at ? strstr(from, "\n" BLOCK) : NULL;
    free(line);
    if (at) {
        char *text = mt_strndup(from, end ? (size_t)(end - from) : strlen(from));
        enum mt_status st = mt_show_text(text, err);
        free(text);
        return st;
    }
    add_reports(d, &names);
    MT_FAIL(err, MT_EUSAGE, "there is no query '%s' for %s", wanted, d->name);
    mt_err_hint(err, "There are: %s.", names.n ? names.s : "none");
    mt_buf_free(&names);
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    const char *wanted = args->n ? args->v[0] : NULL;
    (void)exit_code;
    for (size_t i = 0; dialect && i < MT_ARRAY_LEN(dialects); i++)
        if (strcmp(dialects[i].name, dialect) == 0)
            return wanted ? show_report(&dialects[i], wanted, err)
                          : mt_show_text(dialects[i].tables, err);
    if (dialect && strcmp(dialect, "sqlite") != 0) {
        MT_FAIL(err, MT_EUSAGE, "unknown --dialect '%s'", dialect);
        mt_err_hint(err, "There are: sqlite, clickhouse, duckdb.");
        return MT_EUSAGE;
    }
    return wanted ? show_one(wanted, err) : mt_show_text(mt_queries[MT_Q_SCHEMA].sql, err);
}

static const struct mt_opt opts[] = {
    {"dialect", 0, MT_OPT_STRING, &dialect, "DIALECT",
     "sqlite: memtool's own; clickhouse: tables for rollups, or the query of that name: ranks, "
     "spread, steps, sites, trend, peak, live; duckdb: a rollup as Parquet (default: sqlite)"},
    {0},
};
static const struct mt_values values[] = {{"dialect", "sqlite clickhouse duckdb", NULL}, {0}};

const struct mt_cmd mt_cmd_schema = {
    .name = "schema",
    .summary = "show the tables and views, every column explained",
    .usage = "[--dialect DIALECT] [TABLE|VIEW|QUERY]",
    .examples = "  memtool schema | less\n"
                "  memtool schema v_device\n"
                "  memtool schema --dialect clickhouse | clickhouse-client --multiquery\n"
                "  memtool schema --dialect clickhouse ranks\n",
    .opts = opts,
    .values = values,
    .without = "format bytes",
    .args_max = 1,
    .run = run,
};
