#include "rows.h"

#include "cmd/opts.h"

#include <string.h>

/* Where the options of the tables below go. */
static struct {
    bool reverse, quiet, help;
    const char *sort, *color, *db, *title;
    int64_t limit, min_b;
    struct mt_strings devices;
} got;

static const struct mt_opt own_opts[] = {
    {"sort", 's', MT_OPT_STRING, &got.sort, "KEY", "sort by KEY"},
    {"title", 0, MT_OPT_TEXT, &got.title, "TEXT", "a title, or none"},
    {"limit", 'n', MT_OPT_INT, &got.limit, "N", "at most N rows"},
    {"min", 0, MT_OPT_SIZE, &got.min_b, "SIZE", "leave out smaller rows"},
    {"device", 0, MT_OPT_LIST, &got.devices, "NAME", "this device only"},
    {"reverse", 'r', MT_OPT_FLAG, &got.reverse, NULL, "the other way round"},
    {"device-all", 0, MT_OPT_FLAG, &got.reverse, NULL, "all devices"},
    {0},
};

static const struct mt_opt common_opts[] = {
    {"db", 'd', MT_OPT_STRING, &got.db, "FILE", "the database"},
    {"color", 'c', MT_OPT_OPTIONAL, &got.color, "WHEN", "colours"},
    {"quiet", 'q', MT_OPT_FLAG, &got.quiet, NULL, "no progress"},
    {"help", 'h', MT_OPT_FLAG, &got.help, NULL, "this text"},
    {"loud", 'L', MT_OPT_FLAG, &got.quiet, NULL, "much progress"},
    {0},
};

static const struct mt_cmd command = {
    .name = "table",
    .summary = "who allocated what",
    .usage = "[options] [RUN]",
    .examples = "  memtool table base --limit 6\n",
    .opts = own_opts,
    .without = "quick loud",
    .args_min = 1,
    .args_max = 2,
};

struct parse_row {
    const char *name;
    const char *line;     /* arguments, separated by single blanks; '_' is an empty one */
    const char *expected; /* "args | options", or the error and its hint */
};

#define EMPTY(option, arg)                                                                         \
    "--" option " has an empty " arg ": Nothing was done. Is a variable not set? Leave "           \
    "--" option " out, or give it a value. All options: memtool help table"

#define TWICE(option)                                                                              \
    "--" option " is given twice: Nothing was done. It takes one value: leave the other out. All " \
    "options: memtool help table"

static const struct parse_row parse_rows[] = {
    {"an option the command is without", "base --loud",
     "table does not take --loud: Nothing was done. Leave it out."},
    {"the same by its letter", "base -qL",
     "table does not take --loud: Nothing was done. Leave it out."},
    {"one argument", "base", "base | limit 20"},
    {"two arguments", "base new", "base new | limit 20"},
    {"an empty argument", "_", " | limit 20"},
    {"long, separate", "base --sort net_b", "base | sort net_b limit 20"},
    {"long, joined", "--sort=net_b base", "base | sort net_b limit 20"},
    {"long, joined, with =", "--sort=a=b base", "base | sort a=b limit 20"},
    {"long, joined, empty", "--sort= base", EMPTY("sort", "KEY")},
    {"long, separate, empty", "--sort _ base", EMPTY("sort", "KEY")},
    {"short, empty", "base -s _", EMPTY("sort", "KEY")},
    {"a common one, empty", "base --db _", EMPTY("db", "FILE")},
    {"one of a list, empty", "base --device cpu --device=", EMPTY("device", "NAME")},
    {"optional, empty", "base --color=", EMPTY("color", "WHEN")},
    {"a text that may be empty", "base --title _", "base | limit 20 title "},
    {"short, separate", "-n 5 base", "base | limit 5"},
    {"short, joined", "-n5 base", "base | limit 5"},
    {"a unique prefix", "--so x base", "base | sort x limit 20"},
    {"an exact name that is a prefix too", "--device cpu base", "base | limit 20 device cpu"},
    {"flags together", "-rq base", "base | limit 20 reverse quiet"},
    {"flags, then a value", "-rn5 base", "base | limit 5 reverse"},
    {"twice", "-n 5 base -n 6", TWICE("limit")},
    {"twice the same", "--sort a --sort=a base", TWICE("sort")},
    {"twice, of a size", "--min 1 base --min 2", TWICE("min")},
    {"twice, a text, once empty", "--title _ base --title x", TWICE("title")},
    {"twice, by name and by letter", "--db x base -dy", TWICE("db")},
    {"twice, optional", "--color base -c", TWICE("color")},
    {"a flag twice", "-q base -rq --reverse", "base | limit 20 reverse quiet"},
    {"a list", "--device cpu base --device cuda:0", "base | limit 20 device cpu device cuda:0"},
    {"optional, left out", "--color base", "base | limit 20 color "},
    {"optional, given", "--color=never base", "base | limit 20 color never"},
    {"optional, short", "-cnever base", "base | limit 20 color never"},
    {"optional, short, left out", "-c base", "base | limit 20 color "},
    {"dash is an argument", "-", "- | limit 20"},
    {"dash is a value", "--db - base", "base | limit 20 db -"},
    {"a size", "base --min 1.5KiB", "base | limit 20 min 1536"},
    {"a negative size", "base --min -5",
     "--min takes a size like 512, 64KiB or 1.5GiB, not \"-5\": Usage and options: memtool help "
     "table"},
    {"two dashes end options", "-q -- --sort", "--sort | limit 20 quiet"},
    {"a second pair of dashes", "-- -- -q", "-- -q | limit 20"},
    {"a value that looks like an option", "--sort=--limit base", "base | sort --limit limit 20"},
    {"help needs no arguments", "--help", " | limit 20 help"},
    {"help takes any number", "a b c -h", "a b c | limit 20 help"},
    {"unknown, one near", "base --limti 3",
     "unknown option --limti: Did you mean --limit? All options: memtool help table"},
    {"unknown, two near", "base --devices 3",
     "unknown option --devices: Did you mean --device? All options: memtool help table"},
    {"unknown, its value kept out", "base --limti=3",
     "unknown option --limti: Did you mean --limit? All options: memtool help table"},
    {"unknown, none near", "base --frobnicate",
     "unknown option --frobnicate: Usage and options: memtool help table"},
    {"unknown letter", "base -x", "unknown option -x: Usage and options: memtool help table"},
    {"unknown letter among flags", "base -qx",
     "unknown option -x: Usage and options: memtool help table"},
    {"a long name with one dash", "base -limit",
     "unknown option -limit: Did you mean --limit? All options: memtool help table"},
    {"no name", "base --=x", "unknown option --: Usage and options: memtool help table"},
    {"ambiguous", "base --de cpu",
     "option --de is ambiguous: --device, --device-all: Usage and options: memtool help table"},
    {"value missing at the end", "base --sort",
     "--sort needs a value: --sort KEY: Usage and options: memtool help table"},
    {"short value missing at the end", "base -n",
     "--limit needs a value: --limit N: Usage and options: memtool help table"},
    {"an option in the value's place", "base --sort --limit 3",
     "--sort needs a value: --sort KEY: If \"--limit\" is the value, write --sort=--limit. "
     "All options: memtool help table"},
    {"a flag with a value", "base --quiet=yes",
     "--quiet takes no value: Usage and options: memtool help table"},
    {"no number", "base --limit ten",
     "--limit takes a whole number, not \"ten\": Usage and options: memtool help table"},
    {"a number and more", "base --limit 10k",
     "--limit takes a whole number, not \"10k\": Usage and options: memtool help table"},
    {"a negative number", "base --limit -1",
     "--limit takes a whole number, not \"-1\": Usage and options: memtool help table"},
    {"an empty number", "base --limit=",
     "--limit takes a whole number, not \"\": Usage and options: memtool help table"},
    {"a number too large", "base --limit 9223372036854775808",
     "--limit takes a whole number, not \"9223372036854775808\": Usage and options: memtool help "
     "table"},
    {"no size", "base --min many",
     "--min takes a size like 512, 64KiB or 1.5GiB, not \"many\": Usage and options: memtool help "
     "table"},
    {"too few", "-q",
     "an argument is missing: memtool table [options] [RUN]: Usage and options: memtool help "
     "table"},
    {"too many", "a b c",
     "unexpected argument \"c\": memtool table [options] [RUN]: Usage and options: memtool "
     "help table"},
};

static void show(struct mt_buf *out, const struct mt_args *args)
{
    for (size_t i = 0; i < args->n; i++)
        mt_buf_addf(out, "%s%s", i > 0 ? " " : "", args->v[i]);
    mt_buf_adds(out, " |");
    if (got.sort)
        mt_buf_addf(out, " sort %s", got.sort);
    mt_buf_addf(out, " limit %lld", (long long)got.limit);
    if (got.min_b)
        mt_buf_addf(out, " min %lld", (long long)got.min_b);
    for (size_t i = 0; i < got.devices.n; i++)
        mt_buf_addf(out, " device %s", got.devices.v[i]);
    if (got.title)
        mt_buf_addf(out, " title %s", got.title);
    if (got.db)
        mt_buf_addf(out, " db %s", got.db);
    if (got.color)
        mt_buf_addf(out, " color %s", got.color);
    mt_buf_addf(out, "%s%s%s", got.reverse ? " reverse" : "", got.quiet ? " quiet" : "",
                got.help ? " help" : "");
}

static void parse_as(const struct mt_cmd *cmd, const struct parse_row *row)
{
    char line[256], *argv[16], *rest = NULL, empty[] = "", name[] = "table";
    int argc = 0;
    snprintf(line, sizeof line, "%s", row->line);
    argv[argc++] = name;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = strcmp(word, "_") == 0 ? empty : word;
    memset(&got, 0, sizeof got);
    got.limit = 20;
    struct mt_args args;
    struct mt_err err = MT_ERR_INIT;
    struct mt_buf text = {0};
    enum mt_status st = mt_opts_parse(cmd, common_opts, argc, argv, &args, &err);
    assert_int_equal(st, err.code);
    if (st == MT_OK) {
        show(&text, &args);
    } else {
        assert_int_equal(st, MT_EUSAGE);
        assert_null(args.v);
        mt_buf_addf(&text, "%s: %s", err.what, err.hint);
    }
    assert_string_equal(text.s, row->expected);
    free(args.v);
    mt_vec_free(&got.devices);
    mt_buf_free(&text);
}

static void test_parse(void **state)
{
    parse_as(&command, *state);
}

/* Of a command that runs another. */
static const struct parse_row follow_rows[] = {
    {"follow: options of the other", "-q prog --sort x -r", "prog --sort x -r | limit 20 quiet"},
    {"follow: help of the other", "prog --help", "prog --help | limit 20"},
    {"follow: two dashes before", "-n 5 -- prog -q", "prog -q | limit 5"},
    {"follow: two dashes behind", "prog -- -q", "prog -- -q | limit 20"},
    {"follow: unknown to us", "-r prog --epochs 3", "prog --epochs 3 | limit 20 reverse"},
};

static void test_follow(void **state)
{
    struct mt_cmd runs = command;
    runs.args_max = 8;
    runs.runs_command = true;
    parse_as(&runs, *state);
}

struct help_row {
    const char *name;
    const struct mt_opt *own, *common;
    const char *examples;
    const char *expected;
    int width; /* 0 = any */
};

static const struct mt_opt long_opts[] = {
    {"fit", 0, MT_OPT_STRING, &got.sort, "SIZE",
     "would an allocation of that size fit, and why not"},
    {"format", 0, MT_OPT_STRING, &got.color, "F", "table or csv"},
    {0},
};

static const struct help_row help_rows[] = {
    {"help: wrapped, and sizes explained", long_opts, NULL, NULL,
     "memtool table - who allocated what\n"
     "\n"
     "Usage: memtool table [options] [RUN]\n"
     "\n"
     "Options:\n"
     "      --fit SIZE  would an allocation\n"
     "                  of that size fit,\n"
     "                  and why not\n"
     "      --format F  table or csv\n"
     "\n"
     "SIZE: 512, 64KiB, 1.5GiB. K, Ki and\n"
     "KiB count by 1024, so do M, G and T;\n"
     "kB, MB, GB and TB by 1000.\n",
     38},
    {"help: the formats of the command", NULL, long_opts, NULL,
     "memtool table - who allocated what\n"
     "\n"
     "Usage: memtool table [options] [RUN]\n"
     "\n"
     "Common options:\n"
     "      --fit SIZE  would an allocation of that size fit, and why not\n"
     "      --format F  table, csv, tsv, json, markdown, svg\n",
     0},

    {"help: all parts", own_opts, common_opts, "  memtool table base --limit 6\n",
     "memtool table - who allocated what\n"
     "\n"
     "Usage: memtool table [options] [RUN]\n"
     "\n"
     "Examples:\n"
     "  memtool table base --limit 6\n"
     "\n"
     "Options:\n"
     "  -s, --sort KEY      sort by KEY\n"
     "      --title TEXT    a title, or none\n"
     "  -n, --limit N       at most N rows\n"
     "      --min SIZE      leave out smaller rows\n"
     "      --device NAME   this device only\n"
     "  -r, --reverse       the other way round\n"
     "      --device-all    all devices\n"
     "\n"
     "SIZE: 512, 64KiB, 1.5GiB. K, Ki and KiB count by 1024, so do M, G and T; kB, MB, GB and TB "
     "by "
     "1000.\n"
     "\n"
     "Common options:\n"
     "  -d, --db FILE       the database\n"
     "  -c, --color[=WHEN]  colours\n"
     "  -q, --quiet         no progress\n"
     "  -h, --help          this text\n"
     "  -L, --loud          much progress\n",
     0},
    {"help: an example without a newline", NULL, NULL, "  memtool table",
     "memtool table - who allocated what\n"
     "\n"
     "Usage: memtool table [options] [RUN]\n"
     "\n"
     "Examples:\n"
     "  memtool table\n",
     0},
    {"help: neither", NULL, NULL, NULL,
     "memtool table - who allocated what\n"
     "\n"
     "Usage: memtool table [options] [RUN]\n",
     0},
};

static void test_help(void **state)
{
    const struct help_row *row = *state;
    struct mt_cmd cmd = command;
    cmd.opts = row->own;
    cmd.examples = row->examples;
    cmd.more_formats = "svg";
    cmd.without = NULL;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    mt_opts_help(&cmd, row->common, row->width, out);
    fclose(out);
    assert_string_equal(text, row->expected);
    free(text);
}

struct leading_row {
    const char *name;
    const char *line;
    int expected;
};

static const struct leading_row leading_rows[] = {
    {"leading: none", "runs --db x", 0},
    {"leading: a flag", "--quiet runs", 1},
    {"leading: a value", "--db x runs", 2},
    {"leading: a joined value", "--db=x runs", 1},
    {"leading: the beginning of a name", "--d x runs", 2},
    {"leading: a letter with its value", "-d x runs", 2},
    {"leading: a value joined to its letter", "-dx runs", 1},
    {"leading: letters, the last with a value", "-qd x runs", 2},
    {"leading: a joined value like its letter", "-dd runs", 1},
    {"leading: several", "-q --db x --help runs", 4},
    {"leading: unknown", "--frob runs", 1},
    {"leading: an optional value is joined", "--color runs", 1},
    {"leading: nothing behind", "--quiet", 1},
    {"leading: no value behind", "--db", 1},
    {"leading: a single dash is none", "- runs", 0},
};

static void test_leading(void **state)
{
    const struct leading_row *row = *state;
    char *line = mt_strdup(row->line), *argv[16], *rest = NULL;
    int argc = 0;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    assert_int_equal(mt_opts_leading(common_opts, argc, argv), row->expected);
    free(line);
}

struct check_row {
    const char *name;
    struct mt_opt opts[3];
    const char *expected; /* NULL: no complaint */
};

static bool place;

static const struct check_row check_rows[] = {
    {"check: fine", {{"a-1", 'a', MT_OPT_FLAG, &place, NULL, "x"}}, NULL},
    {"check: empty", {{0}}, NULL},
    {"check: upper case",
     {{"Sort", 0, MT_OPT_FLAG, &place, NULL, "x"}},
     "--Sort: name is not lower case letters, digits and dashes"},
    {"check: with its dashes",
     {{"--a", 0, MT_OPT_FLAG, &place, NULL, "x"}},
     "----a: name is not lower case letters, digits and dashes"},
    {"check: strange letter",
     {{"a", '?', MT_OPT_FLAG, &place, NULL, "x"}},
     "--a: letter is no letter or digit"},
    {"check: no value", {{"a", 0, MT_OPT_FLAG, NULL, NULL, "x"}}, "--a: nowhere to put the value"},
    {"check: no help", {{"a", 0, MT_OPT_FLAG, &place, NULL, ""}}, "--a: no help"},
    {"check: long help",
     {{"a", 0, MT_OPT_FLAG, &place, NULL, "x\ny"}},
     "--a: help of more than one line"},
    {"check: no placeholder", {{"a", 0, MT_OPT_STRING, &place, NULL, "x"}}, "--a: no placeholder"},
    {"check: placeholder of a flag",
     {{"a", 0, MT_OPT_FLAG, &place, "N", "x"}},
     "--a: a placeholder, but takes no value"},
    {"check: name taken",
     {{"a", 'a', MT_OPT_FLAG, &place, NULL, "x"}, {"a", 'b', MT_OPT_FLAG, &place, NULL, "x"}},
     "--a: name is taken"},
    {"check: letter taken",
     {{"a", 'a', MT_OPT_FLAG, &place, NULL, "x"}, {"b", 'a', MT_OPT_FLAG, &place, NULL, "x"}},
     "--b: letter is taken"},
    {"check: two without letters",
     {{"a", 0, MT_OPT_FLAG, &place, NULL, "x"}, {"b", 0, MT_OPT_FLAG, &place, NULL, "x"}},
     NULL},
};

static void test_check(void **state)
{
    const struct check_row *row = *state;
    const char *complaint = mt_opts_check(row->opts);
    if (row->expected) {
        assert_non_null(complaint);
        assert_string_equal(complaint, row->expected);
    } else {
        assert_null(complaint);
    }
}

struct near_row {
    const char *name;
    const char *word;
    const char *expected;
};

static const struct near_row near_rows[] = {
    {"near: one", "tabel", "table"},
    {"near: nearest first", "trees", "tree, trie"},
    {"near: three at most", "abc1", "abc2, abc3, abc4"},
    {"near: itself", "peak", "peak"},
    {"near: none", "frobnicate", ""},
    {"near: nothing in common", "x", ""},
    {"near: a third of a long word", "timelinetimeline", "timelinetimexxxxx"},
    {"near: empty word", "", ""},
};

static void test_near(void **state)
{
    static const char *const names[] = {
        "import", "table", "trie", "tree", "peak",
        "abc2",   "abc3",  "abc4", "abc5", "timelinetimexxxxx",
    };
    const struct near_row *row = *state;
    struct mt_buf out = {0};
    mt_buf_adds(&out, "");
    mt_nearest(row->word, names, MT_ARRAY_LEN(names), &out);
    assert_string_equal(out.s, row->expected);
    mt_buf_free(&out);
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_parse, parse_rows);
    ROWS_ADD(&t, test_follow, follow_rows);
    ROWS_ADD(&t, test_help, help_rows);
    ROWS_ADD(&t, test_leading, leading_rows);
    ROWS_ADD(&t, test_check, check_rows);
    ROWS_ADD(&t, test_near, near_rows);
    return ROWS_RUN(&t, "opts");
}
