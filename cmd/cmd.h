/*
 * cmd.h - what a subcommand is.
 *
 * Adding a command: write cmd/NAME.c with one `const struct mt_cmd mt_cmd_NAME`, declare it below
 * and add it to mt_commands in dispatch.c. Add a folder to tests/golden, and
 * docs/man/memtool-NAME.mdoc: a line `.Dd DATE`, then the sections DESCRIPTION, EXAMPLES (lines `$
 * memtool ...` between `.Bd -literal` and `.Ed`) and SEE ALSO. `make man-update` writes below each
 * example what it prints; the tests compare. Name, synopsis and options are written by cmd/man.c
 * from the tables. Adding an option: add a row to that command's table. The row is the only place:
 * parsing, --help and completion all read it. What its value can be stands in the command's
 * `values`.
 */
#ifndef MT_CMD_H
#define MT_CMD_H

#include "lib/base/err.h"
#include "lib/base/mem.h"
#include <stdbool.h>

enum mt_opt_kind {
    MT_OPT_FLAG,     /* bool */
    MT_OPT_STRING,   /* const char *, borrowed from argv; not empty */
    MT_OPT_TEXT,     /* the same, but it may be empty */
    MT_OPT_INT,      /* int64_t, >= 0 */
    MT_OPT_SIZE,     /* int64_t bytes, >= 0: 512, 64KiB */
    MT_OPT_LIST,     /* struct mt_strings: may be given several times; none is empty */
    MT_OPT_OPTIONAL, /* const char *: --name or --name=VALUE; "" without a value */
};

struct mt_strings {
    const char **v; /* borrowed from argv */
    size_t n, cap;
};

struct mt_opt {
    const char *name; /* long name without the dashes; NULL ends the table */
    char letter;      /* short name, or 0 */
    enum mt_opt_kind kind;
    void *value;      /* where it goes; keeps its default when the option is not given */
    const char *arg;  /* placeholder in --help: "FILE"; NULL for flags */
    const char *help; /* one line */
};

/* A word of the output or of an option's values, in one line. */
struct mt_glossary_entry {
    const char *word, *meaning; /* NULL ends the table */
};
struct mt_glossary {
    const char *title; /* "Words of --by"; NULL ends the list */
    const struct mt_glossary_entry *all;
    const char *option; /* they are what this option takes: completion offers them; NULL: none */
};

/* What the value of an option can be, for completion: words with blanks between them, or a function
 * that appends such. Names of files, runs, devices, groups and formats need no row, nor do moments:
 * cmd/complete.c knows them by the placeholder. Behind LIST and KEYS values may be several. */
struct mt_values {
    const char *option; /* NULL ends the table */
    const char *words;  /* NULL: none but those of add */
    void (*add)(struct mt_buf *words);
};

struct mt_args {
    const char **v; /* positional arguments, borrowed from argv */
    size_t n;
};

struct mt_cmd {
    const char *name;
    const char *summary;  /* one line for `memtool help` */
    const char *usage;    /* "[options] [RUN]" */
    const char *examples; /* lines of "  memtool ...", shown first in --help */
    const struct mt_opt *opts;
    const struct mt_glossary *words; /* shown below the options; NULL: none */
    const struct mt_values *values;  /* of its options, for completion; NULL: none to choose from */
    size_t args_min, args_max;
    bool runs_command; /* arguments are a command: what follows its name are options of its own */
    const char *more_formats; /* for --format beside those of every report, ", " between them; NULL:
                                 none */
    const char *formats; /* of a command without --format: what endings of -o may say; NULL: none */
    const char
        *without; /* names of common options it has no use for, blanks between them; such an
                     option is refused, and neither help nor completion shows it. NULL: none */
    /* Returns the process's exit code through *exit_code only for predicates (1, 3); otherwise
     * leaves it 0. A failure is returned as status with err filled; main prints it and exits 2, or
     * with *exit_code where that is set and nobody can tell (mt_err_cannot_tell). */
    enum mt_status (*run)(const struct mt_args *args, int *exit_code, struct mt_err *err);
};

extern const struct mt_cmd mt_cmd_import, mt_cmd_record, mt_cmd_runs, mt_cmd_info, mt_cmd_table,
    mt_cmd_tree, mt_cmd_report, mt_cmd_flame, mt_cmd_peak, mt_cmd_timeline, mt_cmd_leaks,
    mt_cmd_advise, mt_cmd_diff, mt_cmd_check, mt_cmd_export, mt_cmd_memory, mt_cmd_segments,
    mt_cmd_fragmentation, mt_cmd_oom, mt_cmd_ranks, mt_cmd_trend, mt_cmd_skill, mt_cmd_query,
    mt_cmd_schema, mt_cmd_completion, mt_cmd_help, mt_cmd_version;

/* All commands in help's order, NULL-terminated (dispatch.c). */
extern const struct mt_cmd *const mt_commands[];

/* The command of that name; NULL: none, MT_EUSAGE, with those of like names. */
const struct mt_cmd *mt_cmd_find(const char *name, struct mt_err *err);

/*
 * Runs one command line, argv[0] the program's name; output goes to stdout, notes to stderr.
 * *code, 0 before: the exit code unless it fails. What options set stays set. Errors: those of the
 * command; MT_EUSAGE; MT_EIO: stdout cannot be written.
 */
enum mt_status mt_dispatch(int argc, char **argv, int *code, struct mt_err *err);

#endif
